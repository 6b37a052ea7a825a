//! Configuration: one module directory's files, and what they need.
//!
//! Texts go in, a [`Module`] comes out, or all errors at once. Read are block headers, the argument `provider`, and the
//! few bodies that say something about providers and modules; all else is only checked for structure. Nothing is
//! evaluated, except strings that are constant, and the sources of modules (`evaluate`). The folder knows neither
//! directories nor the module tree: see `disk/roots.rs`.
//!
//! Source: `internal/configs` of both tools.
//! Which files of a directory are configuration: `internal/configs/parser_config_dir.go`, and
//! for OpenTofu `internal/configs/parser_file_matcher.go`.

mod backend;
pub(crate) mod body;
pub(crate) mod decode;
pub mod edit;
mod error;
mod files;
pub(crate) mod json;
mod kind;
mod module;
mod module_source;
mod overrides;
mod scope;
mod side_files;

pub use backend::{Backend, StandIn, is_stand_in};
pub use error::{ConfigError, ConfigErrorKind};
pub use files::{ConfigFiles, SourceFile, Syntax, is_configuration, is_of_tofu, is_read};
pub use json::JsonError;
pub use kind::{KindTraits, RootKind, UNIT_FILES, VERSION_FILES, is_of_old_stack, is_root_configuration, suffixes};
pub use module::{
    CallSource, CallVersion, Constraint, DynamicProvider, Import, Location, Module, ModuleCall, Names, Needs,
    ProviderConfig, RequiredProvider, Resource, Text, Variable,
};
pub use module_source::{
    ModuleSource, ModuleSourceError, RegistryModule, RemoteModule, host_of, is_of_component_registry,
};
pub use scope::{Inputs, ModuleScope, ProviderProblem, Purpose, Surroundings};
pub use side_files::{Installed, Manifest, ManifestError, TestFile, VariableFile, VariableValues};

use crate::dialect::Dialect;
use decode::{Role, decode};
use error::first_problems;
pub(crate) use files::is_automatic_variable_file;

impl Module {
    /// Reads the files of one directory, those of a stack or of a module, which a unit has below its own file.
    pub fn decode_as(
        kind: RootKind,
        primary: &[SourceFile],
        overrides: &[SourceFile],
        dialect: Dialect,
    ) -> Result<Self, Vec<ConfigError>> {
        match kind {
            RootKind::Stack => Self::decode_stack(primary),
            RootKind::Module | RootKind::Unit => Self::decode(primary, overrides, dialect),
        }
    }

    /// Reads the files of a module, in the order of loading.
    pub fn decode(
        primary: &[SourceFile],
        overrides: &[SourceFile],
        dialect: Dialect,
    ) -> Result<Self, Vec<ConfigError>> {
        let mut errors = Vec::new();
        let mut read = |files: &[SourceFile], role| {
            let mut all = Vec::with_capacity(files.len());
            for file in files {
                let (parts, found) = decode(&file.path, &file.text, dialect, role);
                errors.extend(found);
                all.push(parts);
            }
            all
        };
        let primary = read(primary, Role::Primary);
        let overrides = read(overrides, Role::Override);
        let module = overrides::assemble(primary, overrides, &mut errors);
        if errors.is_empty() { Ok(module) } else { Err(first_problems(errors.into_iter())) }
    }
}
