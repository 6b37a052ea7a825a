//! What each kind of block says: the entries of `required_providers`, `provider` blocks, blocks that have a type which
//! implies a provider, `module` blocks, and the variables and local values that their sources may refer to.
//!
//! Source: `internal/configs/provider_requirements.go`, `decodeRequiredProvidersBlock`.

use super::{
    Argument, Block, ConfigErrorKind, Constraint, Import, Located, ModuleCall, Names, Node, ProviderConfig, Reader,
    RequiredProvider, Resource, Role, Syntax, Value, check_local_name, check_name, constraint, parse_constraint,
    provider_reference, unexpected_block,
};
use crate::addr::{ProviderSource, normalise_part};
use crate::config::body::RawValue;
use crate::config::evaluate::{Expression, ExpressionSource};
use crate::config::json;
use crate::config::module::{CallSource, CallVersion, Text, Variable};
use crate::config::value::PathStep;
use crate::dialect::Dialect;
use crate::requirements::OriginKind;
use crate::version::ModuleConstraints;

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
        matches!(&steps[..], [PathStep::Name(local)] | [PathStep::Name(local), PathStep::Name(_), ..] if local == name)
    })
}

impl<'a> Reader<'a> {
    pub(in crate::config) fn provider_config(&mut self, block: &Block<'a>) -> Result<Option<ProviderConfig>, Located> {
        block.labelled(1)?;
        let label = &block.labels[0];
        check_local_name(&label.text, label.at)?;
        let contents = block.body.contents(&[], &mut self.errors);
        let alias = match contents.argument("alias") {
            Some(argument) => {
                let Node { at, value: Value::Text(alias) } = argument.value.read()? else {
                    return Err((argument.value.at(), ConfigErrorKind::Alias));
                };
                check_name(&alias, at)?;
                Some(alias)
            }
            None => None,
        };
        let version = match contents.argument("version") {
            Some(argument) => match constraint(argument) {
                Ok(version) => version,
                Err(error) => {
                    self.errors.push(error);
                    return Ok(None);
                }
            },
            None => None,
        };
        Ok(Some(ProviderConfig { place: self.place(block.at), name: label.text.clone().into_owned(), alias, version }))
    }
}

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
fn import_target(steps: &[PathStep]) -> Option<(bool, (String, String))> {
    let mut rest = steps;
    let mut in_child = false;
    while let [PathStep::Name(module), PathStep::Name(_), after @ ..] = rest
        && module == "module"
    {
        in_child = true;
        rest = if let [PathStep::Index(_), after @ ..] = after { after } else { after };
    }
    match rest {
        [PathStep::Name(kind), PathStep::Name(name)]
        | [PathStep::Name(kind), PathStep::Name(name), PathStep::Index(_)] => {
            Some((in_child, (kind.clone(), name.clone())))
        }
        _ => None,
    }
}

/// The local name that a type implies: what is before its first underscore, in normalised form.
///
/// Source: `internal/addrs/resource.go`, `ImpliedProvider`.
pub(in crate::config) fn implied_local_name(kind: &str, at: usize) -> Result<String, Located> {
    let prefix = kind.split('_').next().unwrap_or(kind);
    normalise_part(prefix).map_err(|reason| (at, ConfigErrorKind::LocalName { name: prefix.to_owned(), reason }))
}

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

    pub(in crate::config) fn call_source(&mut self, name: &str, value: &RawValue<'a>) -> Result<CallSource, Located> {
        let text = self.text(value)?.ok_or_else(|| (value.at(), ConfigErrorKind::ModuleSourceNotText(name.into())))?;
        Ok(CallSource { place: self.place(value.at()), text })
    }

    pub(in crate::config) fn call_version(
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
            RawValue::Native { text, range } => ExpressionSource::Native(text[range.clone()].to_owned()),
            RawValue::Json(node) => ExpressionSource::Templates(json::value(node)),
        };
        Expression { place, source }
    }

    /// A value where the tools take only constants. In JSON its strings are plain text.
    pub(in crate::config) fn constant(&self, value: &RawValue<'a>) -> Expression {
        let expression = self.expression(value);
        match expression.source {
            ExpressionSource::Templates(node) => Expression { source: ExpressionSource::Plain(node), ..expression },
            ExpressionSource::Native(_) | ExpressionSource::Plain(_) => expression,
        }
    }
}
