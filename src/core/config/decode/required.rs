//! The entries of `required_providers`.
//!
//! Source: `internal/configs/provider_requirements.go`, `decodeRequiredProvidersBlock`.

use crate::addr::{ProviderSource, normalise_part};

use super::super::value::Step;
use super::{Argument, Block, Constraint, Located, Node, Reader, RequiredProvider, Syntax, Value, check_local_name};
use super::{ConfigErrorKind, parse_constraint, unexpected_block};

impl<'a> Reader<'a> {
    /// Reads the block. An entry with an error is left out.
    pub(super) fn required_providers(&mut self, block: &Block<'a>) -> Vec<(String, RequiredProvider)> {
        let contents = block.body.contents(&[], &mut self.errors);
        for inner in &contents.blocks {
            self.errors.push(unexpected_block(inner));
        }
        let mut entries = Vec::new();
        for argument in &contents.arguments {
            match self.entry(argument) {
                Ok(entry) => entries.extend(entry.map(|entry| (argument.name.clone().into_owned(), entry))),
                Err(error) => self.errors.push(error),
            }
        }
        entries
    }

    fn entry(&mut self, argument: &Argument<'a>) -> Result<Option<RequiredProvider>, Located> {
        let node = argument.value.read()?;
        let (source, source_text, version) = match node.value {
            Value::Text(text) | Value::Number(text) => (None, None, Some(parse_constraint(text, node.at)?)),
            Value::Bool(value) => (None, None, Some(parse_constraint(value.to_string(), node.at)?)),
            Value::Object(pairs) => {
                check_local_name(&argument.name, argument.at)?;
                let before = self.errors.len();
                let found = self.object(&argument.name, pairs);
                if self.errors.len() > before {
                    return Ok(None);
                }
                found
            }
            _ => return Err((node.at, ConfigErrorKind::RequirementShape(argument.name.clone().into_owned()))),
        };
        let source = match source {
            Some(source) => source,
            None => self.implied(&argument.name, argument.at)?,
        };
        Ok(Some(RequiredProvider { place: self.place(argument.at), source, source_text, version }))
    }

    fn object(
        &mut self,
        name: &str,
        pairs: Vec<(Node, Node)>,
    ) -> (Option<ProviderSource>, Option<String>, Option<Constraint>) {
        let (mut source, mut source_text, mut version) = (None, None, None);
        for (key, value) in pairs {
            let at = value.at;
            let done = match (&key.value, value.value) {
                (Value::Text(key), Value::Text(text)) if key == "version" => {
                    parse_constraint(text, at).map(|constraint| version = Some(constraint))
                }
                (Value::Text(key), _) if key == "version" => Err((at, ConfigErrorKind::VersionNotText)),
                (Value::Text(key), Value::Text(text)) if key == "source" => {
                    let parsed = ProviderSource::parse(&text, self.dialect).map(|parsed| source = Some(parsed));
                    source_text = Some(text);
                    parsed.map_err(|error| (at, error.into()))
                }
                (Value::Text(key), _) if key == "source" => Err((at, ConfigErrorKind::SourceNotText)),
                (Value::Text(key), aliases) if key == "configuration_aliases" => {
                    if are_aliases(name, aliases, self.syntax) {
                        Ok(())
                    } else {
                        Err((at, ConfigErrorKind::ConfigurationAliases(name.to_owned())))
                    }
                }
                (Value::Text(other), _) => Err((key.at, ConfigErrorKind::RequirementKey(other.clone()))),
                _ => Err((key.at, ConfigErrorKind::Expression)),
            };
            if let Err(error) = done {
                self.errors.push(error);
            }
        }
        (source, source_text, version)
    }

    /// What a local name means without a source; its case is folded first.
    fn implied(&self, name: &str, at: usize) -> Result<ProviderSource, Located> {
        let refused = |reason| (at, ConfigErrorKind::LocalName { name: name.to_owned(), reason });
        let folded = normalise_part(name).map_err(refused)?;
        ProviderSource::implied(&folded, self.dialect).map_err(|error| (at, error.into()))
    }
}

/// `[NAME]`, `[NAME.ALIAS]`; what is behind an alias is not looked at. In JSON, and only there, each is a string.
///
/// Source: `ParseProviderConfigCompact` reads two steps of the reference.
fn are_aliases(name: &str, value: Value, syntax: Syntax) -> bool {
    let Value::List(items) = value else { return false };
    items.into_iter().all(|item| {
        let item = match (item.value, syntax) {
            (Value::Text(text), Syntax::Json) => Node::reference_in_text(&text, item.at),
            (_, Syntax::Json) => return false,
            (value, Syntax::Native) => Node { value, ..item }.into_reference(),
        };
        let Value::Reference(steps) = &item.value else { return false };
        matches!(&steps[..], [Step::Name(local)] | [Step::Name(local), Step::Name(_), ..] if local == name)
    })
}
