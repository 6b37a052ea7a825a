//! Files of a module tree, and errors about them, as reports name them: from another base than the root module.

use std::path::{Path, PathBuf};

use super::TreeError;
use crate::config::{ConfigError, Location};
use crate::disk::roots;
use crate::error::Error;

/// A file of a tree from another base: those of the working tree are below it, those of fetched packages are where they are.
pub fn file_from(base: &Path, file: &Path) -> PathBuf {
    if file.to_string_lossy().contains("//") { file.to_owned() } else { roots::join(base, &file.to_string_lossy()) }
}

/// An error about such files, and those next to it, from another base.
pub fn placed(mut error: Error, base: &Path) -> Error {
    error.file = error.file.map(|file| file_from(base, &file));
    error.others = error.others.into_iter().map(|other| placed(other, base)).collect();
    error
}

impl TreeError {
    /// As an error about the root module in a directory, whose files reports find below `shown`.
    pub fn shown_below(self, root: &Path, shown: &Path) -> Error {
        let moved = |place: Location| Location { file: file_from(shown, &place.file).into(), ..place };
        // The root module itself has the name by which it was opened.
        let from_root = |path: PathBuf| if path == root { path } else { file_from(shown, &path) };
        let error = match self {
            Self::Config(error) => Self::Config(ConfigError { kind: error.kind.moved(moved), ..error }),
            Self::Read { path, kind } => return Self::Read { path: from_root(path), kind }.into(),
            Self::Refused { path, reason } => return Self::Refused { path: from_root(path), reason }.into(),
            Self::NamedFile(_)
            | Self::Variables { named: true, .. }
            | Self::NoConfiguration(_)
            | Self::OnlyForTofu(_) => {
                return self.into();
            }
            Self::Provider { name, argument, place, dialect, reason } => {
                Self::Provider { name, argument, place, dialect, reason: reason.moved(moved) }
            }
            Self::Module { key, place, dialect, problem } => {
                Self::Module { key, place, dialect, problem: problem.moved(moved) }
            }
            error => error,
        };
        placed(error.into(), shown)
    }
}
