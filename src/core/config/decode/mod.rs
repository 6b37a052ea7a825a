//! One file: what its blocks mean. Whether it is an override decides only what must not be missing.

use std::path::Path;
use std::sync::Arc;

use crate::addr::normalise_part;
use crate::config::{Backend, Text};
use crate::dialect::Dialect;
use crate::evaluate::Meter;
use crate::evaluate::syntax::Node;
use crate::finding::LineIndex;
use crate::hcl::scan;
use crate::requirements::OriginKind;
use crate::value::{Type, Value};
use crate::version::Constraints;

use super::body::{Argument, Block, Body, BodyContents, BodySchema, Located, native};
use super::error::{ConfigError, ConfigErrorKind, first_problems};
use super::files::Syntax;
use super::json;
use super::module::{Constraint, Import, Location, ModuleCall, Names, ProviderConfig, RequiredProvider, Resource};

#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Each `required_providers` block, with its entries.
    pub(super) required: Vec<(Location, Vec<(String, RequiredProvider)>)>,
    pub(super) providers: Vec<ProviderConfig>,
    pub(super) resources: Vec<Resource>,
    pub(super) imports: Vec<Import>,
    pub(super) calls: Vec<ModuleCall>,
    /// The first `check` block, which no override file may contain.
    pub(super) check: Option<Location>,
    /// The first `language` block, for which the same is true.
    pub(super) language: Option<Location>,
    pub(super) backend: Option<Backend>,
    /// The local name of the provider of a `state_store` block, which must be one that the module declares.
    pub(super) state_store: Option<(Location, String)>,
    pub(super) names: Names,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Primary,
    Override,
}

/// The block types of a configuration file and their labels.
const FILE: BodySchema = &[
    ("terraform", 0),
    ("provider", 1),
    ("variable", 1),
    ("locals", 0),
    ("output", 1),
    ("module", 1),
    ("resource", 2),
    ("data", 2),
    ("ephemeral", 2),
    ("action", 2),
    ("moved", 0),
    ("removed", 0),
    ("import", 0),
    ("check", 1),
    ("language", 0),
    ("symbols", 1),
];
const TERRAFORM: BodySchema = &[
    ("required_providers", 0),
    ("backend", 1),
    ("cloud", 0),
    ("provider_meta", 1),
    ("encryption", 0),
    ("state_store", 1),
];

const TERRAFORM_ARGUMENTS: [&str; 3] = ["required_version", "experiments", "language"];

pub(crate) struct Reader<'a> {
    pub(super) dialect: Dialect,
    role: Role,
    syntax: Syntax,
    path: Arc<Path>,
    lines: LineIndex<'a>,
    pub(crate) errors: Vec<Located>,
}

/// Reads the top level of a file and hands it on, together with a reader for places and errors.
pub(crate) fn read_file<T>(
    path: &Path,
    text: &str,
    (dialect, role, schema): (Dialect, Role, BodySchema),
    decode: impl for<'a> FnOnce(&mut Reader<'a>, BodyContents<'a>) -> T,
) -> (T, Vec<ConfigError>) {
    let parsed;
    let syntax = Syntax::of(&path.to_string_lossy());
    let lines = LineIndex::new(text);
    let mut reader = Reader { dialect, role, syntax, path: Arc::from(path), lines, errors: Vec::new() };
    let contents = match syntax {
        Syntax::Native => match scan::outline(text, 0..text.len()) {
            Ok(outline) => native(text, outline).without_duplicates(&mut reader.errors),
            Err(error) => reader.fail(unfinished_merge(text).unwrap_or((error.at, error.kind.into()))),
        },
        Syntax::Json => match json::parse(text) {
            Ok(node) => {
                parsed = node;
                Body::Json(&parsed).contents(schema, &mut reader.errors)
            }
            Err((at, error)) => reader.fail(unfinished_merge(text).unwrap_or((at, error.into()))),
        },
    };
    let decoded = decode(&mut reader, contents);
    let place = |at| reader.lines.position(at);
    let errors = reader.errors.iter().map(|(at, kind)| ConfigError {
        file: path.to_owned(),
        position: place(*at),
        line: reader.lines.excerpt(*at),
        kind: kind.clone(),
    });
    (decoded, first_problems(errors))
}

/// Where git left both sides of a conflict in a text that does not parse.
fn unfinished_merge(text: &str) -> Option<(usize, ConfigErrorKind)> {
    let begins = |mark: &str, after: usize| {
        let lines = memchr::memmem::find_iter(&text.as_bytes()[after..], mark).map(|at| after + at);
        lines.into_iter().find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
    };
    let first = begins("<<<<<<< ", 0)?;
    begins(">>>>>>> ", first).map(|_| (first, ConfigErrorKind::ConflictMarker))
}

pub(super) fn decode(path: &Path, text: &str, dialect: Dialect, role: Role) -> (Parts, Vec<ConfigError>) {
    read_file(path, text, (dialect, role, FILE), |reader, contents| {
        let mut parts = Parts::default();
        for argument in &contents.arguments {
            reader.unexpected(argument);
        }
        for block in &contents.blocks {
            reader.block(block, &mut parts);
        }
        parts
    })
}

impl<'a> Reader<'a> {
    fn block(&mut self, block: &Block<'a>, parts: &mut Parts) {
        let done = match &*block.kind {
            "terraform" => block.labelled(0).map(|()| self.terraform(block, parts)),
            "provider" => self.provider_config(block).map(|config| parts.providers.extend(config)),
            "resource" => self.resource(block, OriginKind::Resource).map(|found| parts.resources.push(found)),
            "data" => self.resource(block, OriginKind::Data).map(|found| parts.resources.push(found)),
            "ephemeral" => self.resource(block, OriginKind::Ephemeral).map(|found| parts.resources.push(found)),
            "action" => self.resource(block, OriginKind::Action).map(|found| parts.resources.push(found)),
            "check" => block.labelled(1).map(|()| self.check(block, parts)),
            kind @ ("language" | "symbols") if self.dialect == Dialect::Terraform => {
                Err((block.at, ConfigErrorKind::OnlyOfTofu(if kind == "symbols" { "symbols" } else { "language" })))
            }
            "language" => block.labelled(0).map(|()| self.language(block, parts)),
            "import" => self.import(block).map(|import| parts.imports.push(import)),
            "module" => self.call(block).map(|call| parts.calls.push(call)),
            "variable" => block.labelled(1).map(|()| self.variable(block, &mut parts.names)),
            "locals" => block.labelled(0).map(|()| self.locals(block, &mut parts.names)),
            kind if FILE.iter().any(|(known, _)| *known == kind) => Ok(()),
            // Its meaning is unknown, so a requirement may be lost.
            _ => Err(unexpected_block(block)),
        };
        if let Err(error) = done {
            self.errors.push(error);
        }
    }

    fn terraform(&mut self, block: &Block<'a>, parts: &mut Parts) {
        let contents = block.body.contents(TERRAFORM, &mut self.errors);
        for argument in contents.arguments.iter().filter(|argument| !TERRAFORM_ARGUMENTS.contains(&&*argument.name)) {
            self.unexpected(argument);
        }
        let is_known = |kind: &str| TERRAFORM.iter().any(|(known, _)| *known == kind);
        let unknown = contents.blocks.iter().filter(|inner| !is_known(&inner.kind));
        self.errors.extend(unknown.map(unexpected_block));
        let backends = contents.blocks.iter().filter(|inner| matches!(&*inner.kind, "backend" | "cloud"));
        parts.backend = backends.map(|inner| self.backend(inner)).last().or(parts.backend.take());
        for inner in contents.blocks_of("state_store") {
            match self.state_store(inner) {
                Ok(provider) => parts.state_store = Some(provider),
                Err(error) => self.errors.push(error),
            }
        }
        for inner in contents.blocks_of("required_providers") {
            if let Err(error) = inner.labelled(0) {
                self.errors.push(error);
                continue;
            }
            let entries = self.required_providers(inner);
            parts.required.push((self.place(inner.at), entries));
        }
    }

    /// Nothing in it can be an error here: what it means is up to the tool.
    fn backend(&mut self, block: &Block<'a>) -> Backend {
        let contents = block.body.contents(&[("workspaces", 0)], &mut Vec::new());
        let hostname = contents.argument("hostname").map(|argument| self.text(&argument.value).ok().flatten());
        match (&*block.kind, block.labels.first().map(|label| &*label.text), hostname) {
            ("cloud", _, None) => Backend::Cloud(None),
            ("cloud", _, Some(Some(Text::Known(host)))) => Backend::Cloud(Some(host).filter(|host| !host.is_empty())),
            (_, Some("remote"), Some(Some(Text::Known(host)))) if !host.is_empty() => Backend::Remote(host),
            _ => Backend::Other,
        }
    }

    /// A check has at most one data source, which counts like any other of the module.
    fn check(&mut self, block: &Block<'a>, parts: &mut Parts) {
        parts.check.get_or_insert(self.place(block.at));
        let contents = block.body.contents(&[("data", 2), ("assert", 0)], &mut self.errors);
        for inner in contents.blocks_of("data") {
            match self.resource(inner, OriginKind::Data) {
                Ok(data) => parts.resources.push(data),
                Err(error) => self.errors.push(error),
            }
        }
    }

    /// Where a provider keeps the state: an experiment of Terraform. Gives the local name of the provider.
    ///
    /// Source: `internal/configs/state_store.go`.
    fn state_store(&mut self, block: &Block<'a>) -> Result<(Location, String), Located> {
        block.labelled(1)?;
        let contents = block.body.contents(&[("provider", 1)], &mut self.errors);
        let provider = contents.blocks_of("provider").next();
        let provider = provider.ok_or((block.at, ConfigErrorKind::StateStoreWithoutProvider))?;
        provider.labelled(1)?;
        let label = &provider.labels[0];
        check_local_name(&label.text, label.at)?;
        Ok((self.place(label.at), label.text.clone().into_owned()))
    }

    /// What versions of `OpenTofu` the module is for: it requires no provider. Of `compatible_with`, which other programs
    /// may extend, only the labels are checked.
    ///
    /// Source: opentofu `internal/configs/language.go`.
    fn language(&mut self, block: &Block<'a>, parts: &mut Parts) {
        parts.language.get_or_insert(self.place(block.at));
        let contents = block.body.contents(&[("compatible_with", 0)], &mut self.errors);
        let unknown = contents.arguments.iter().filter(|it| !["edition", "experiments"].contains(&&*it.name));
        unknown.for_each(|argument| self.unexpected(argument));
        for inner in &contents.blocks {
            let checked =
                if inner.kind == "compatible_with" { inner.labelled(0) } else { Err(unexpected_block(inner)) };
            self.errors.extend(checked.err());
        }
    }

    pub(crate) fn place(&self, at: usize) -> Location {
        Location { file: self.path.clone(), position: self.lines.position(at) }
    }

    fn unexpected(&mut self, argument: &Argument<'_>) {
        let name = argument.name.clone().into_owned();
        self.errors.push((argument.at, ConfigErrorKind::UnexpectedArgument(name)));
    }

    fn fail(&mut self, error: Located) -> BodyContents<'a> {
        self.errors.push(error);
        BodyContents::default()
    }
}

fn unexpected_block(block: &Block<'_>) -> Located {
    (block.at, ConfigErrorKind::UnexpectedBlock(block.kind.clone().into_owned()))
}

/// A constant string that is a version constraint; a number counts as its text, `null` as nothing.
fn constraint(argument: &Argument<'_>) -> Result<Option<Constraint>, Located> {
    let node = argument.value.read()?;
    match primitive(&node) {
        Some(Value::Null(_)) => Ok(None),
        Some(Value::String(text)) => parse_constraint(text.to_string(), node.at).map(Some),
        _ => Err((node.at, ConfigErrorKind::VersionNotText)),
    }
}

/// The value of a constant as a string, if it can be one.
fn primitive(node: &Node) -> Option<Value> {
    node.constant(&Meter::default())?.convert(&Type::String).ok()
}

fn parse_constraint(text: String, at: usize) -> Result<Constraint, Located> {
    match Constraints::parse_config(&text) {
        Ok(terms) => Ok(Constraint { text, terms }),
        Err(reason) => Err((at, ConfigErrorKind::Constraint { text, reason })),
    }
}

/// Types, names and aliases are identifiers.
fn check_name(name: &str, at: usize) -> Result<(), Located> {
    let starts = |c: char| c.is_alphabetic() || c == '_';
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if name.starts_with(starts) && name.chars().all(continues) {
        return Ok(());
    }
    Err((at, ConfigErrorKind::Name(name.to_owned())))
}

/// Local names of providers must be written in normalised form.
pub(super) fn check_local_name(name: &str, at: usize) -> Result<(), Located> {
    match normalise_part(name) {
        Err(reason) => Err((at, ConfigErrorKind::LocalName { name: name.to_owned(), reason })),
        Ok(normalised) if normalised == name => Ok(()),
        Ok(normalised) => Err((at, ConfigErrorKind::NotNormalised { name: name.to_owned(), normalised })),
    }
}

/// The local name in `NAME` or `NAME.ALIAS`. OpenTofu also takes a key in brackets behind the alias.
fn provider_reference(node: &Node, dialect: Dialect) -> Result<String, Located> {
    use crate::evaluate::syntax::Step::{Index, Name};
    let name = match node.as_reference() {
        Some((name, [] | [Name(_)])) => name,
        Some((name, [Name(_), Index(_)] | [Index(_)])) if dialect == Dialect::OpenTofu => name,
        _ => return Err((node.at, ConfigErrorKind::ProviderReference)),
    };
    check_local_name(name, node.at)?;
    Ok(name.to_owned())
}

mod blocks;
mod stack;
#[cfg(test)]
mod tests;
