//! What is wrong with configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::json::JsonError;
use super::module_source::ModuleSourceError;
use crate::addr::{AddrError, PartError};
use crate::error::{Error, ErrorKind};
use crate::evaluate::syntax::SyntaxErrorKind;
use crate::finding::{Location, Position};
use crate::hcl::scan::StructureError;
use crate::version::{ConstraintError, ModuleVersionError};
use crate::words::counted;

/// How many problems of one file are named. A file of a few megabytes could have hundreds of thousands, all on one line.
const MOST_PROBLEMS: usize = 100;

/// The first problems of each file, and how many more it has.
pub(super) fn first_problems(problems: impl Iterator<Item = ConfigError>) -> Vec<ConfigError> {
    let mut counts: BTreeMap<PathBuf, (usize, Position)> = BTreeMap::new();
    let mut first = Vec::new();
    for problem in problems {
        let (count, last) = counts.entry(problem.file.clone()).or_insert((0, problem.position));
        *count += problem.kind.count();
        if *count <= MOST_PROBLEMS {
            *last = problem.position;
            first.push(problem);
        }
    }
    let more = counts.into_iter().filter(|(_, (count, _))| *count > MOST_PROBLEMS);
    first.extend(more.map(|(file, (count, position))| ConfigError {
        file,
        position,
        line: String::new(),
        kind: ConfigErrorKind::More(count - MOST_PROBLEMS),
    }));
    first
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ConfigError {
    /// The file, relative to the root module.
    pub file: PathBuf,
    pub position: Position,
    /// The line as written, for users, or a part of it; empty without the text.
    pub line: String,
    #[source]
    pub kind: ConfigErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigErrorKind {
    /// That many more problems of the file are not named.
    #[error("{} of this file {} not listed", counted(*.0, "more problem"), if *.0 == 1 { "is" } else { "are" })]
    More(usize),
    #[error(transparent)]
    Structure(#[from] StructureError),
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("conflict marker `<<<<<<<` of an unfinished merge")]
    ConflictMarker,
    #[error(transparent)]
    Expression(#[from] SyntaxErrorKind),
    #[error("a {kind:?} block takes {wanted} labels, and this one has {found}")]
    Labels { kind: String, wanted: usize, found: usize },
    #[error("an argument named {0:?} is not expected here")]
    UnexpectedArgument(String),
    #[error("a block of type {0:?} is not expected here")]
    UnexpectedBlock(String),
    #[error("only OpenTofu reads a {0:?} block")]
    OnlyOfTofu(&'static str),
    #[error("a state_store block needs a provider block that names its provider")]
    StateStoreWithoutProvider,
    #[error("the provider {0:?} of the state_store block must be in required_providers")]
    StateStoreProvider(String),
    #[error("the argument {0:?} is set twice")]
    DuplicateArgument(String),
    /// Two `required_providers` blocks in the primary files of a module.
    #[error("a module may have only one required_providers block; the other one is at {0}")]
    DuplicateRequiredProviders(Location),
    #[error("{what} was already declared at {earlier}")]
    Duplicate {
        /// What, such as `module "x"`.
        what: String,
        earlier: Location,
    },
    #[error("there is no {0} for this override file to change")]
    MissingBase(String),
    #[error("a {0:?} block is not allowed in an override file")]
    NotInOverride(&'static str),
    #[error("{0:?} is not a valid name: it needs a letter or underscore, then letters, digits, underscores and dashes")]
    Name(String),
    #[error("the alias of a provider configuration must be a constant string")]
    Alias,
    #[error("{name:?} is not a valid local name of a provider: {reason}")]
    LocalName {
        name: String,
        #[source]
        reason: PartError,
    },
    #[error("the local name {name:?} of a provider must be normalised: replace it with {normalised:?}")]
    NotNormalised { name: String, normalised: String },
    #[error("the entry {0:?} of required_providers must be a string or an object")]
    RequirementShape(String),
    /// A key that an entry of `required_providers` cannot have.
    #[error(
        "an entry of required_providers can contain only \"source\", \"version\" and \"configuration_aliases\", not {0:?}"
    )]
    RequirementKey(String),
    /// Anything but a list of `NAME` and `NAME.ALIAS` with the entry's own name.
    #[error("configuration_aliases of {0:?} must be a list of references, such as {0}.ALIAS")]
    ConfigurationAliases(String),
    #[error("the source of a provider must be a constant string")]
    SourceNotText,
    #[error(transparent)]
    Source(#[from] AddrError),
    #[error("provider source {0:?} is a legacy one, which cannot be installed")]
    LegacySource(String),
    /// More providers in the tree of one root module than any project needs.
    #[error("this requires one more provider than the {0} that a root module can require")]
    TooManyProviders(usize),
    #[error("a version constraint must be a constant string")]
    VersionNotText,
    #[error("invalid version constraint {text:?}: {reason}")]
    Constraint {
        text: String,
        #[source]
        reason: ConstraintError,
    },
    /// `provider =` with anything but a name and an alias.
    #[error("the argument \"provider\" takes the local name of a provider, and after a dot perhaps an alias")]
    ProviderReference,
    /// `to` of an `import` block is not the address of a resource.
    #[error("the argument \"to\" of an import block must be the address of a resource")]
    ImportTarget,
    #[error("the provider {0:?} of a stack needs a source")]
    MissingProviderSource(String),
    #[error("the provider {0:?} of a stack needs a version")]
    MissingProviderVersion(String),
    #[error("module {0:?} comes from a registry, so it needs a version")]
    MissingModuleVersion(String),
    /// Files of Terraform 1.13 next to those of later versions.
    #[error("Terraform 1.13 refuses this file next to {0}, and later versions ignore it")]
    TwoGenerations(String),
    #[error("module {0:?} has no source")]
    MissingModuleSource(String),
    #[error("the source of module {0:?} must be a string")]
    ModuleSourceNotText(String),
    #[error("invalid source of module {name:?}: {reason}")]
    ModuleSource {
        name: String,
        #[source]
        reason: ModuleSourceError,
    },
    #[error("invalid version constraint of module {name:?}: {reason}")]
    ModuleVersion {
        name: String,
        #[source]
        reason: ModuleVersionError,
    },
}

impl ConfigError {
    /// The same error, with the places that it names moved.
    #[must_use]
    pub fn moved(self, moved: impl Fn(Location) -> Location) -> Self {
        let place = moved(Location { file: self.file.as_path().into(), position: self.position });
        // The line is that of the place it was found at.
        let is_same = *place.file == *self.file && place.position == self.position;
        let line = if is_same { self.line } else { String::new() };
        let kind = self.kind.moved(moved);
        Self { file: place.file.to_path_buf(), position: place.position, line, kind }
    }
}

impl ConfigErrorKind {
    /// The same with another place that it names moved.
    #[must_use]
    pub fn moved(self, moved: impl Fn(Location) -> Location) -> Self {
        match self {
            Self::DuplicateRequiredProviders(earlier) => Self::DuplicateRequiredProviders(moved(earlier)),
            Self::Duplicate { what, earlier } => Self::Duplicate { what, earlier: moved(earlier) },
            kind => kind,
        }
    }

    fn count(&self) -> usize {
        if let Self::More(count) = self { *count } else { 1 }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let located = Error::new(ErrorKind::Configuration, error.to_string()).in_file(error.file).at(error.position);
        let mapped = located.quoting(&error.line);
        match error.kind {
            ConfigErrorKind::Constraint { .. } => {
                mapped.hint("a constraint looks like \"~> 1.2\" or \">= 1.0.0, < 2.0.0\"")
            }
            ConfigErrorKind::UnexpectedBlock(kind) if kind == "required_providers" => {
                mapped.hint("a required_providers block belongs in a `terraform` block")
            }
            ConfigErrorKind::OnlyOfTofu(_) => mapped
                .hint("if OpenTofu runs this configuration, set `tool = \"tofu\"` in .tflock.hcl, or pass --tool tofu"),
            ConfigErrorKind::ConflictMarker => mapped.hint("resolve the conflict, and run again"),
            ConfigErrorKind::TooManyProviders(_) => {
                mapped.hint("move a part of the configuration into another root module")
            }
            ConfigErrorKind::LegacySource(_) => {
                mapped.hint("write the full source address, NAMESPACE/TYPE, into required_providers")
            }
            _ => mapped,
        }
    }
}
