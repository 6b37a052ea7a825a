//! `module` blocks, and the variables and local values that their sources may refer to.

use crate::dialect::Dialect;

use super::super::body::RawValue;
use super::super::module::{CallSource, CallVersion, Text, Variable};
use super::super::module_version::ModuleConstraints;
use super::super::value::Part;
use super::{Block, ConfigErrorKind, Located, ModuleCall, Names, Reader, Role, Value, check_name};

impl<'a> Reader<'a> {
    pub(super) fn call(&mut self, block: &Block<'a>) -> Result<ModuleCall, Located> {
        block.labelled(1)?;
        check_name(&block.labels[0].text, block.labels[0].at)?;
        let name = block.labels[0].text.clone().into_owned();
        let contents = block.body.contents(&[], &mut self.errors);
        let source = match contents.argument("source") {
            Some(argument) => Some(self.call_source(&name, &argument.value)?),
            None if self.role == Role::Override => None,
            None => return Err((block.at, ConfigErrorKind::MissingModuleSource(name))),
        };
        let version = match contents.argument("version") {
            Some(argument) => self.call_version(&name, &argument.value)?,
            None => None,
        };
        let inputs = contents.arguments.iter().map(|argument| argument.name.clone().into_owned()).collect();
        Ok(ModuleCall { place: self.place(block.at), name, source, version, inputs })
    }

    pub(in super::super) fn call_source(&mut self, name: &str, value: &RawValue<'a>) -> Result<CallSource, Located> {
        let text = self.text(value)?.ok_or_else(|| (value.at(), ConfigErrorKind::ModuleSourceNotText(name.into())))?;
        Ok(CallSource { place: self.place(value.at()), text })
    }

    pub(in super::super) fn call_version(
        &mut self,
        name: &str,
        value: &RawValue<'a>,
    ) -> Result<Option<CallVersion>, Located> {
        let refused = |reason| (value.at(), ConfigErrorKind::ModuleVersion { name: name.to_owned(), reason });
        let text = match self.text(value)? {
            Some(text) => text,
            None if value.read()?.value == Value::Null => return Ok(None),
            None => return Err((value.at(), ConfigErrorKind::VersionNotText)),
        };
        let constraints = match &text {
            Text::Known(text) => Some(text.parse::<ModuleConstraints>().map_err(refused)?),
            Text::Template(_) | Text::Unknown => None,
        };
        Ok(Some(CallVersion { place: self.place(value.at()), text, constraints }))
    }

    /// A string that may contain references; `None` for other values. In JSON, only OpenTofu looks for
    /// references in one.
    fn text(&mut self, value: &RawValue<'a>) -> Result<Option<Text>, Located> {
        let node = if self.dialect == Dialect::OpenTofu { value.read_template()? } else { value.read()? };
        Ok(match node.value {
            Value::Text(text) | Value::Number(text) => Some(Text::Known(text)),
            Value::Template(parts) => Some(Text::Template(parts)),
            Value::Reference(_) => match node.names() {
                Some(names) => {
                    let names = names.into_iter().map(str::to_owned).collect();
                    Some(Text::Template(vec![Part::Reference(names)]))
                }
                None => Some(Text::Unknown),
            },
            Value::Unknown => Some(Text::Unknown),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Object(_) => None,
        })
    }

    /// A variable; nothing in it can be an error here, since it may never be used.
    pub(super) fn variable(&mut self, block: &Block<'a>, names: &mut Names) {
        let mut ignored = Vec::new();
        let contents = block.body.contents(&[("validation", 0)], &mut ignored);
        let default = contents.argument("default");
        let default = default.and_then(|argument| self.text(&argument.value).ok().flatten());
        let constant = contents.argument("const").and_then(|argument| argument.value.read().ok());
        let constant = constant.is_some_and(|node| node.value == Value::Bool(true));
        names.variables.insert(block.labels[0].text.clone().into_owned(), Variable { default, constant });
    }

    /// Local values that are strings; see [`Reader::variable`] about errors.
    pub(super) fn locals(&mut self, block: &Block<'a>, names: &mut Names) {
        let mut ignored = Vec::new();
        for argument in block.body.contents(&[], &mut ignored).arguments {
            let text = self.text(&argument.value).ok().flatten().unwrap_or(Text::Unknown);
            names.locals.insert(argument.name.into_owned(), text);
        }
    }
}
