//! The local package directories that the CLI configuration names or implies.

use std::path::PathBuf;

use super::RunSettings;
use crate::disk::cli_config::{CliConfig, MethodKind};
use crate::error::Error;

/// The plugin cache and the filesystem mirrors of one root module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LocalPlaces {
    pub(super) plugin_cache: Option<PathBuf>,
    pub(super) mirrors: Vec<PathBuf>,
}

impl LocalPlaces {
    /// Source: `internal/command/cliconfig/provider_installation.go` and `provider_source.go` of both tools.
    pub(super) fn of(settings: &RunSettings) -> Result<Self, Error> {
        let config = CliConfig::load(&settings.variables, settings.dialect)?;
        let mirror = |kind: &MethodKind| match kind {
            MethodKind::FilesystemMirror { path } => Some(settings.root.join(path)),
            _ => None,
        };
        let stated = config.installation.as_ref().map(|installation| installation.methods.iter());
        let mirrors = stated.map_or_else(
            || config.plugin_dirs(&settings.root),
            |methods| methods.filter_map(|method| mirror(&method.kind)).collect(),
        );
        Ok(Self { plugin_cache: config.plugin_cache_dir.map(|cache| settings.root.join(cache)), mirrors })
    }
}
