//! `module` blocks, and the variables and local values that their sources may refer to.

use crate::dialect::Dialect;

use super::super::body::RawValue;
use super::super::expression::{Expression, Source};
use super::super::json;
use super::super::module::{CallSource, CallVersion, Text, Variable};
use super::super::module_version::ModuleConstraints;
use super::{Block, ConfigErrorKind, Located, ModuleCall, Names, Reader, Role, Value, check_name};

/// The arguments of a call that are for the tool, and not for the module.
const META_ARGUMENTS: [&str; 6] = ["source", "version", "providers", "count", "for_each", "depends_on"];

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
        let inputs = contents.arguments.iter().filter(|argument| !META_ARGUMENTS.contains(&&*argument.name));
        let inputs = inputs.map(|input| (input.name.clone().into_owned(), self.expression(&input.value))).collect();
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
            Text::Expression(_) => None,
        };
        Ok(Some(CallVersion { place: self.place(value.at()), text, constraints }))
    }

    /// A string that may contain references; `None` for other values. In JSON, only OpenTofu looks for
    /// references in one.
    fn text(&mut self, value: &RawValue<'a>) -> Result<Option<Text>, Located> {
        let node = if self.dialect == Dialect::OpenTofu { value.read_template()? } else { value.read()? };
        Ok(match node.value {
            Value::Text(text) | Value::Number(text) => Some(Text::Known(text)),
            Value::Template(_) | Value::Reference(_) | Value::Unknown(_) => Some(Text::Expression(node)),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Object(_) => None,
        })
    }

    /// A variable; nothing in it can be an error here, since it may never be used.
    pub(super) fn variable(&mut self, block: &Block<'a>, names: &mut Names) {
        let mut ignored = Vec::new();
        let contents = block.body.contents(&[("validation", 0)], &mut ignored);
        let value = |name: &str| contents.argument(name).map(|argument| self.constant(&argument.value));
        let is = |name: &str| match contents.argument(name)?.value.read().ok()?.value {
            Value::Bool(value) => Some(value),
            _ => None,
        };
        let variable = Variable {
            place: self.place(block.at),
            kind: value("type"),
            default: value("default"),
            sensitive: is("sensitive"),
            ephemeral: is("ephemeral"),
            nullable: is("nullable"),
            constant: is("const"),
        };
        names.variables.insert(block.labels[0].text.clone().into_owned(), variable);
    }

    /// Local values; see [`Reader::variable`] about errors.
    pub(super) fn locals(&mut self, block: &Block<'a>, names: &mut Names) {
        let mut ignored = Vec::new();
        for argument in block.body.contents(&[], &mut ignored).arguments {
            let value = self.expression(&argument.value);
            names.locals.insert(argument.name.into_owned(), value);
        }
    }

    /// A value that is read when it is needed. In JSON its strings are templates.
    fn expression(&self, value: &RawValue<'a>) -> Expression {
        let place = self.place(value.at());
        let source = match value {
            RawValue::Native { text, range } => Source::Native(text[range.clone()].to_owned()),
            RawValue::Json(node) => Source::Templates(json::body::value(node)),
        };
        Expression { place, source }
    }

    /// A value where the tools take only constants. In JSON its strings are plain text.
    pub(in super::super) fn constant(&self, value: &RawValue<'a>) -> Expression {
        let expression = self.expression(value);
        match expression.source {
            Source::Templates(node) => Expression { source: Source::Plain(node), ..expression },
            Source::Native(_) | Source::Plain(_) => expression,
        }
    }
}
