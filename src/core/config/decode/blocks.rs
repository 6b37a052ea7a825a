//! What each kind of block says: the entries of `required_providers`, `provider` blocks, blocks that have a type which
//! implies a provider, `module` blocks, and the variables and local values that their sources may refer to.
//!
//! Source: `internal/configs/provider_requirements.go`, `decodeRequiredProvidersBlock`.

use super::{
    Argument, Block, ConfigErrorKind, Import, Located, Meter, ModuleCall, Names, Node, ProviderConfig, Reader,
    RequiredProvider, Resource, Role, Syntax, Type, Value, check_local_name, check_name, constraint, parse_constraint,
    primitive, provider_reference, unexpected_block,
};
use crate::addr::{ProviderSource, normalise_part};
use crate::config::body::{BodyContents, RawValue};
use crate::config::json;
use crate::config::module::{CallSource, CallVersion, DynamicProvider, Text, Variable, implied_local_name};
use crate::dialect::Dialect;
use crate::evaluate::Expression;
use crate::evaluate::syntax::{NodeKind, Step, SyntaxErrorKind};
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
        let mut required = RequiredProvider {
            place: self.place(argument.at),
            source: ProviderSource::Legacy(String::new()),
            source_text: None,
            version: None,
            dynamic: None,
            is_evaluated: false,
        };
        let mut source = None;
        match node.kind {
            NodeKind::Object(pairs) => {
                check_local_name(&argument.name, argument.at)?;
                let before = self.errors.len();
                source = self.object(&argument.name, pairs, &mut required);
                if self.errors.len() > before {
                    return Ok(None);
                }
            }
            _ => match primitive(&node) {
                Some(Value::String(text)) => required.version = Some(parse_constraint(text.to_string(), node.at)?),
                _ => return Err((node.at, ConfigErrorKind::RequirementShape(argument.name.clone().into_owned()))),
            },
        }
        required.source = match source {
            Some(source) => source,
            None => self.implied(&argument.name, argument.at)?,
        };
        Ok(Some(required))
    }

    /// Reads the pairs of an entry; gives the source.
    fn object(
        &mut self,
        name: &str,
        pairs: Vec<(Node, Node)>,
        required: &mut RequiredProvider,
    ) -> Option<ProviderSource> {
        let mut source = None;
        let pairs: Vec<_> = pairs.into_iter().map(|(key, value)| (folded(key), folded(value))).collect();
        let has_names =
            |(key, value): &(Node, Node)| matches!(key.as_text(), Some("source" | "version")) && self.has_names(value);
        let is_dynamic = pairs.iter().any(has_names);
        for (key, value) in pairs {
            let at = value.at;
            let is_dynamic = is_dynamic && (value.as_text().is_none() || self.has_names(&value));
            let done = match (key.as_text(), value.as_text()) {
                (Some(key @ ("source" | "version")), _) if is_dynamic => {
                    let none = DynamicProvider { source: None, version: None };
                    let dynamic = required.dynamic.get_or_insert_with(|| Box::new(none));
                    let expression = Some(self.template(value));
                    *(if key == "source" { &mut dynamic.source } else { &mut dynamic.version }) = expression;
                    Ok(())
                }
                (Some("version"), Some(text)) => {
                    parse_constraint(text.to_owned(), at).map(|constraint| required.version = Some(constraint))
                }
                (Some("version"), None) => Err((at, ConfigErrorKind::VersionNotText)),
                (Some("source"), Some(text)) => {
                    let parsed = ProviderSource::parse(text, self.dialect).map(|parsed| source = Some(parsed));
                    required.source_text = Some(text.to_owned());
                    parsed.map_err(|error| (at, error.into()))
                }
                (Some("source"), None) => Err((at, ConfigErrorKind::SourceNotText)),
                (Some("configuration_aliases"), _) if are_aliases(name, &value, self.syntax) => Ok(()),
                (Some("configuration_aliases"), _) => Err((at, ConfigErrorKind::ConfigurationAliases(name.to_owned()))),
                (Some(other), _) => Err((key.at, ConfigErrorKind::RequirementKey(other.to_owned()))),
                (None, _) => Err((key.at, SyntaxErrorKind::Invalid.into())),
            };
            self.errors.extend(done.err());
        }
        source
    }

    /// True if something in a value is a name, for which Terraform evaluates it.
    fn has_names(&self, value: &Node) -> bool {
        let is_name = |kind: &NodeKind| matches!(kind, NodeKind::Name(_));
        let template = value.as_text().filter(|_| self.syntax == Syntax::Json);
        let template = template.and_then(|text| Node::parse_template(text, value.at).ok());
        self.dialect == Dialect::Terraform && template.as_ref().unwrap_or(value).contains(&is_name)
    }

    fn template(&self, value: Node) -> Expression {
        let place = self.place(value.at);
        match self.syntax {
            Syntax::Native => Expression::plain(place, value),
            Syntax::Json => Expression::templates(place, value),
        }
    }

    /// What a local name means without a source; its case is folded first.
    fn implied(&self, name: &str, at: usize) -> Result<ProviderSource, Located> {
        let refused = |reason| (at, ConfigErrorKind::LocalName { name: name.to_owned(), reason });
        let folded = normalise_part(name).map_err(refused)?;
        ProviderSource::implied(&folded, self.dialect).map_err(|error| (at, error.into()))
    }
}

/// The same, as plain text if it is a constant string.
fn folded(node: Node) -> Node {
    match node.as_text().is_none().then(|| node.constant(&Meter::default())) {
        Some(Some(Value::String(text))) => Node { at: node.at, kind: NodeKind::Text(text.to_string()) },
        _ => node,
    }
}

/// `[NAME]`, `[NAME.ALIAS]`; what is behind an alias is not looked at. In JSON, and only there, each is a string.
///
/// Source: `ParseProviderConfigCompact` reads two steps of the reference.
fn are_aliases(name: &str, value: &Node, syntax: Syntax) -> bool {
    let is_own = |node: &Node| {
        let reference = node.as_reference();
        matches!(reference, Some((local, [] | [Step::Name(_), ..])) if local == name)
    };
    let NodeKind::Tuple(items) = &value.kind else { return false };
    items.iter().all(|item| match syntax {
        Syntax::Native => is_own(item),
        Syntax::Json => {
            item.as_text().and_then(|text| Node::parse_placed(text, item.at).ok()).is_some_and(|node| is_own(&node))
        }
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
                let node = argument.value.read()?;
                let Some(Value::String(alias)) = node.constant(&Meter::default()) else {
                    return Err((argument.value.at(), ConfigErrorKind::Alias));
                };
                check_name(&alias, node.at)?;
                Some(alias.to_string())
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
        let (in_child, target) = import_target(&node).ok_or_else(|| wrong(node.at))?;
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
fn import_target(node: &Node) -> Option<(bool, (String, String))> {
    let (mut first, mut rest) = node.as_reference()?;
    let mut in_child = false;
    while let (
        "module",
        [Step::Name(_), Step::Name(next), after @ ..] | [Step::Name(_), Step::Index(_), Step::Name(next), after @ ..],
    ) = (first, rest)
    {
        in_child = true;
        (first, rest) = (next, after);
    }
    match rest {
        [Step::Name(name)] | [Step::Name(name), Step::Index(_)] => Some((in_child, (first.to_owned(), name.clone()))),
        _ => None,
    }
}

/// The arguments of a call that are for the tool, and not for the module.
const META_ARGUMENTS: [&str; 6] = ["source", "version", "providers", "count", "for_each", "depends_on"];

impl<'a> Reader<'a> {
    pub(super) fn call(&mut self, block: &Block<'a>) -> Result<ModuleCall, Located> {
        block.labelled(1)?;
        check_name(&block.labels[0].text, block.labels[0].at)?;
        let contents = block.body.contents(&[], &mut self.errors);
        self.call_named(block.labels[0].text.clone().into_owned(), block, &contents)
    }

    /// The call that a block with these contents is.
    pub(super) fn call_named(
        &mut self,
        name: String,
        block: &Block<'a>,
        contents: &BodyContents<'a>,
    ) -> Result<ModuleCall, Located> {
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
            None if value.read()?.kind == NodeKind::Null => return Ok(None),
            None => return Err((value.at(), ConfigErrorKind::VersionNotText)),
        };
        let constraints = match &text {
            Text::Known(text) => Some(text.parse::<ModuleConstraints>().map_err(refused)?),
            Text::Expression(_) => None,
        };
        Ok(Some(CallVersion { place: self.place(value.at()), text, constraints }))
    }

    /// A string that may have to be evaluated; `None` for other values.
    pub(super) fn text(&mut self, value: &RawValue<'a>) -> Result<Option<Text>, Located> {
        let node = folded(value.read_template()?);
        if let NodeKind::Text(text) = node.kind {
            return Ok(Some(Text::Known(text)));
        }
        match node.constant(&Meter::default()) {
            Some(Value::Number(number)) => Ok(Some(Text::Known(number.to_string()))),
            Some(_) => Ok(None),
            None => Ok(Some(Text::Expression(self.expression(value)))),
        }
    }

    /// A variable; nothing in it can be an error here, since it may never be used.
    pub(super) fn variable(&mut self, block: &Block<'a>, names: &mut Names) {
        let mut ignored = Vec::new();
        let contents = block.body.contents(&[("validation", 0)], &mut ignored);
        let value = |name: &str| contents.argument(name).map(|argument| self.constant(&argument.value));
        let is = |name: &str| {
            let value = contents.argument(name)?.value.read().ok()?.constant(&Meter::default())?;
            if let Value::Bool(value) = value.convert(&Type::Bool).ok()? { Some(value) } else { None }
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
    pub(super) fn expression(&self, value: &RawValue<'a>) -> Expression {
        let place = self.place(value.at());
        match value {
            RawValue::Native { text, range } => Expression::native(place, &text[range.clone()]),
            RawValue::Json(node) => Expression::templates(place, json::value(node)),
        }
    }

    /// A value where the tools take only constants. In JSON its strings are plain text.
    pub(in crate::config) fn constant(&self, value: &RawValue<'a>) -> Expression {
        match value {
            RawValue::Native { .. } => self.expression(value),
            RawValue::Json(node) => Expression::plain(self.place(value.at()), json::value(node)),
        }
    }
}
