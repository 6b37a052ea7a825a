//! Configuration: one module directory's files, and what they need.
//!
//! Texts go in, a [`Module`] comes out, or all errors at once. Read are block headers, the argument `provider`, and the
//! few bodies that say something about providers and modules; all else is only checked for structure. Nothing is
//! evaluated, except strings that are constant, and the sources of modules (`evaluate`). The folder knows neither
//! directories nor the module tree: see `disk/roots.rs`.
//!
//! Source: `internal/configs` of both tools.

mod body;
mod contribute;
mod decode;
pub mod edit;
mod error;
mod evaluate;
mod expression;
mod files;
mod json;
mod manifest;
mod module;
mod module_select;
mod module_source;
mod module_version;
mod overrides;
mod test_files;
mod value;
mod variables;

use std::path::PathBuf;

pub use contribute::Needs;
pub use error::{ConfigError, ConfigErrorKind};
pub use evaluate::{Inputs, Scope, Surroundings, Unevaluated};
pub use expression::Expression;
pub use files::{ConfigFiles, Syntax, is_configuration, is_read, suffixes};
pub use json::JsonError;
pub use manifest::{Installed, Manifest, ManifestError};
pub use module::{
    CallSource, CallVersion, Constraint, Import, Location, Module, ModuleCall, Names, ProviderConfig, RequiredProvider,
    Resource, Text, Variable,
};
pub use module_select::{VersionList, newer_tag, version_of_tag};
pub use module_source::{ModuleSource, ModuleSourceError, RegistryModule, RemoteModule, host_of};
pub use module_version::{ModuleConstraints, ModuleVersion, ModuleVersionError};
pub use test_files::TestFile;
pub use value::Node;
pub use variables::{VariableFile, VariableValues, automatic_variable_files};

use crate::dialect::Dialect;
use decode::{Role, decode};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path, relative to the root module; its suffix gives the syntax.
    pub path: PathBuf,
    /// The text. Bytes that are not UTF-8 matter to the tools only outside of comments, and are replaced.
    pub text: String,
}

impl Module {
    /// Reads the files of one directory, in the order of loading.
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
        if errors.is_empty() { Ok(module) } else { Err(errors) }
    }
}
