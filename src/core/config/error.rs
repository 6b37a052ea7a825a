//! What can be wrong with a configuration.

use std::path::PathBuf;

use crate::addr::{AddrError, PartError};
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::hcl::scan::StructureError;
use crate::version::ConstraintError;

use super::json::JsonError;
use super::module_source::ModuleSourceError;
use super::module_version::ModuleVersionError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ConfigError {
    /// The file, relative to the root module.
    pub file: PathBuf,
    pub position: Position,
    /// The line as written, for users; empty without the text.
    pub line: String,
    #[source]
    pub kind: ConfigErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigErrorKind {
    #[error(transparent)]
    Structure(#[from] StructureError),
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("conflict marker `<<<<<<<` of an unfinished merge")]
    ConflictMarker,
    #[error("this value cannot be read as an expression")]
    Expression,
    #[error("a {kind:?} block takes {wanted} labels, and this one has {found}")]
    Labels { kind: String, wanted: usize, found: usize },
    #[error("an argument named {0:?} is not expected here")]
    UnexpectedArgument(String),
    #[error("a block of type {0:?} is not expected here")]
    UnexpectedBlock(String),
    #[error("only OpenTofu 1.12 and later reads a \"language\" block")]
    LanguageBlock,
    #[error("the argument {0:?} is set twice")]
    DuplicateArgument(String),
    /// Two `required_providers` blocks in the primary files of a module.
    #[error("a module may have only one required_providers block; the other one is at {0}")]
    DuplicateRequiredProviders(String),
    #[error("{what} was already declared at {earlier}")]
    Duplicate {
        /// What, such as `module "x"`.
        what: String,
        earlier: String,
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
            ConfigErrorKind::LanguageBlock => mapped
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
