//! The directories and options for all root modules of a run.

use std::path::{Path, PathBuf};

use super::{Environment, Readings};
use crate::dialect::Dialect;
use crate::disk::roots::ModuleAccess;
use crate::path::worktree::{Top, WorkTree};
use crate::settings::SourceChoice;

/// The global options and the environment.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The named directories, in order; empty for the directory of the process.
    pub named: Vec<PathBuf>,
    /// The named tool, which overrides settings files.
    pub tool: Option<ToolChoice>,
    /// The named trust file, instead of the one at the top of the working tree.
    pub trust_file: Option<PathBuf>,
    /// The named source of packages, which overrides settings files.
    pub source: Option<SourceChoice>,
    pub offline: bool,
    /// True if the index of known hashes is neither read nor written.
    pub no_cache: bool,
    /// Access to modules that are not local.
    pub modules: ModuleAccess,
    pub environment: Environment,
    /// The parsed files of the run.
    pub readings: Readings,
}

/// The values of `--tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    /// Detect the tool from files, ignoring settings files.
    Auto,
    Named(Dialect),
}

impl ToolChoice {
    /// The tool; `None` if it is to be detected.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Auto => None,
            Self::Named(dialect) => Some(dialect),
        }
    }
}

impl Scope {
    /// A scope without network and cache, for quick answers.
    pub fn offline(environment: Environment, named: Vec<PathBuf>) -> Self {
        Self {
            named,
            tool: None,
            trust_file: None,
            source: None,
            offline: true,
            no_cache: true,
            modules: ModuleAccess::default(),
            environment,
            readings: Readings::default(),
        }
    }

    /// The named directories, else the directory of the process, which is empty.
    pub fn directories(&self) -> Vec<PathBuf> {
        if self.named.is_empty() { vec![PathBuf::new()] } else { self.named.clone() }
    }

    pub fn many(&self) -> bool {
        self.named.len() > 1
    }

    /// The base of paths for root modules in a search: the top of the working tree, or outside of git the directory
    /// itself. The flag is true inside a working tree.
    pub fn top(&self) -> (Top, bool) {
        let start = self.directories().into_iter().next().unwrap_or_default();
        let (from, to) = (WorkTree::of(&self.environment.directory), WorkTree::of(&start));
        let in_work_tree = to.top.is_some();
        let to = to.top.unwrap_or(to.directory);
        let common = from.directory.ancestors().find(|above| to.starts_with(above)).unwrap_or(Path::new("/"));
        let here = from.directory.strip_prefix(common).unwrap_or(Path::new(""));
        let below = to.strip_prefix(common).unwrap_or(&to);
        let up = std::iter::repeat_n(Path::new(".."), here.components().count()).chain([below]).collect();
        // At the top there is no way down.
        let down = if below.as_os_str().is_empty() { here.to_owned() } else { PathBuf::new() };
        (Top { up, down }, in_work_tree)
    }

    pub fn dialect(&self) -> Option<Dialect> {
        self.tool.and_then(ToolChoice::dialect)
    }
}
