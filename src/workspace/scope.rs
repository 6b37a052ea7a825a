//! Where a run works, and what holds for all its root modules.

use std::path::{Path, PathBuf};

use super::{Environment, Readings};
use crate::dialect::Dialect;
use crate::disk::roots::ModuleAccess;
use crate::outcome::advice::Top;
use crate::path::worktree::Place;
use crate::settings::SourceChoice;

/// What the global options and the surroundings say.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The directories that were named, in their order; empty for the one that the process was started in.
    pub named: Vec<PathBuf>,
    /// The tool that was named, which counts before any settings file.
    pub tool: Option<ToolChoice>,
    /// The trust file that was named, in place of the one at the top of the working tree.
    pub trust_file: Option<PathBuf>,
    /// Where packages come from, if that was named, which counts before any settings file.
    pub source: Option<SourceChoice>,
    /// True if no server may be asked.
    pub offline: bool,
    /// True if the index of known hashes is neither read nor written.
    pub no_cache: bool,
    /// Where modules come from that are not local.
    pub modules: ModuleAccess,
    pub environment: Environment,
    /// What the run has read so far.
    pub readings: Readings,
}

/// The values of `--tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    /// To be found out from the files there are, whatever settings files say.
    Auto,
    Named(Dialect),
}

impl ToolChoice {
    /// The tool, unless it is to be found out.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Auto => None,
            Self::Named(dialect) => Some(dialect),
        }
    }
}

impl Scope {
    /// One in which nothing is asked, fetched or remembered: for what must answer at once.
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

    /// The directories to work in: those that were named, else that of the process, which is empty.
    pub fn directories(&self) -> Vec<PathBuf> {
        if self.named.is_empty() { vec![PathBuf::new()] } else { self.named.clone() }
    }

    /// True if several directories were named.
    pub fn many(&self) -> bool {
        self.named.len() > 1
    }

    /// Where paths of root modules that are searched for begin: at the top of the working tree, outside of git in the
    /// directory itself. Also, whether there is a working tree.
    pub fn top(&self) -> (Top, bool) {
        let start = self.directories().into_iter().next().unwrap_or_default();
        let (from, to) = (Place::of(&self.environment.directory), Place::of(&start));
        let in_work_tree = to.top.is_some();
        let to = to.top.unwrap_or(to.directory);
        let common = from.directory.ancestors().find(|above| to.starts_with(above)).unwrap_or(Path::new("/"));
        let here = from.directory.strip_prefix(common).unwrap_or(Path::new(""));
        let below = to.strip_prefix(common).unwrap_or(&to);
        let up = std::iter::repeat_n(Path::new(".."), here.components().count()).chain([below]).collect();
        // Below the top there is nothing to go down to.
        let down = if below.as_os_str().is_empty() { here.to_owned() } else { PathBuf::new() };
        (Top { up, down }, in_work_tree)
    }

    pub fn dialect(&self) -> Option<Dialect> {
        self.tool.and_then(ToolChoice::dialect)
    }
}
