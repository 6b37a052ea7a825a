//! Blocks that have a type which implies a provider.

use crate::addr::normalise_part;
use crate::requirements::OriginKind;

use super::super::value::Step;
use super::{Block, ConfigErrorKind, Import, Located, Reader, Resource, Value, check_name, provider_reference};

impl<'a> Reader<'a> {
    pub(super) fn resource(&mut self, block: &Block<'a>, mode: OriginKind) -> Result<Resource, Located> {
        block.labelled(2)?;
        for label in &block.labels {
            check_name(&label.text, label.at)?;
        }
        let kind = &block.labels[0];
        let given = block.body.provider();
        let explicit = given.is_some();
        let provider = match given {
            Some(value) => provider_reference(&value.read_reference()?, self.dialect)?,
            None => implied_local_name(&kind.text, kind.at)?,
        };
        Ok(Resource {
            place: self.place(block.at),
            mode,
            kind: kind.text.clone().into_owned(),
            name: block.labels[1].text.clone().into_owned(),
            provider,
            explicit,
        })
    }

    pub(super) fn import(&mut self, block: &Block<'a>) -> Result<Import, Located> {
        block.labelled(0)?;
        let contents = block.body.contents(&[], &mut self.errors);
        let wrong = |at| (at, ConfigErrorKind::ImportTarget);
        let to = contents.argument("to").ok_or_else(|| wrong(block.at))?;
        let node = to.value.read_reference()?;
        let Value::Reference(steps) = &node.value else { return Err(wrong(node.at)) };
        let (in_child, target) = import_target(steps).ok_or_else(|| wrong(node.at))?;
        let provider = match contents.argument("provider") {
            Some(argument) => Some(provider_reference(&argument.value.read_reference()?, self.dialect)?),
            None => None,
        };
        if provider.is_none() && !in_child {
            implied_local_name(&target.0, node.at)?;
        }
        Ok(Import { place: self.place(block.at), in_child, target, provider })
    }
}

/// Whether the address leads into a module below, and the type and name at its end.
fn import_target(steps: &[Step]) -> Option<(bool, (String, String))> {
    let mut rest = steps;
    let mut in_child = false;
    while let [Step::Name(module), Step::Name(_), after @ ..] = rest
        && module == "module"
    {
        in_child = true;
        rest = if let [Step::Index(_), after @ ..] = after { after } else { after };
    }
    match rest {
        [Step::Name(kind), Step::Name(name)] | [Step::Name(kind), Step::Name(name), Step::Index(_)] => {
            Some((in_child, (kind.clone(), name.clone())))
        }
        _ => None,
    }
}

/// The local name that a type implies: what is before its first underscore, in normalised form.
///
/// Source: `internal/addrs/resource.go`, `ImpliedProvider`.
pub(in super::super) fn implied_local_name(kind: &str, at: usize) -> Result<String, Located> {
    let prefix = kind.split('_').next().unwrap_or(kind);
    normalise_part(prefix).map_err(|reason| (at, ConfigErrorKind::LocalName { name: prefix.to_owned(), reason }))
}
