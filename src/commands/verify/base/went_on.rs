//! Configuration that went on without its lock file: in another directory, where `init` records whatever is served.

use std::collections::BTreeSet;
use std::path::Path;

use super::gone::directory_of;
use super::{Base, name_of, slashed};
use crate::commands::verify::Root;
use crate::config::is_configuration;
use crate::disk::{files, text};
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::lockfile::FILE_NAME;

/// Lines shorter than this say nothing of whose they are: brackets, ends of heredocs.
const TELLING: usize = 3;

impl Base {
    /// The directories in which the configuration of a root module goes on that lost its lock file, unless they have one
    /// or a root module that is judged calls them: then its lock file holds their providers. `judged` are all root modules
    /// of the work tree.
    ///
    /// # Errors
    ///
    /// What git says of the files of the base.
    pub fn went_on(&self, judged: &[&Root]) -> Result<Vec<Finding>, Error> {
        let mut findings = Vec::new();
        let mut left = Vec::new();
        for directory in self.left_directories() {
            let lines = self.lines_before(directory)?;
            if !lines.is_empty() {
                left.push((directory, lines));
            }
        }
        if left.is_empty() {
            return Ok(findings);
        }
        // A lock file that git ignores is not there for whoever checks the change out.
        let callers = judged.iter().filter(|root| self.changes.knows(&self.lock_path(root)));
        let reached: BTreeSet<String> = callers.flat_map(|root| root.read().1).map(|it| self.way(&it)).collect();
        for new in self.new_directories() {
            let lock = Path::new(new).join(FILE_NAME);
            if reached.contains(new) || self.changes.knows(&slashed(&lock)) {
                continue;
            }
            let place = self.top.join(new);
            if let Some((old, _)) = left.iter().find(|(_, old)| goes_on(old, &place)) {
                let [old, new] = [*old, new].map(|directory| if directory.is_empty() { "." } else { directory });
                let message = format!("the configuration of {old} moved to {new} without its dependency lock file");
                findings.push(Finding::new(Rule::LockFileMoved, message).in_file(lock));
            }
        }
        Ok(findings)
    }

    /// The directories whose lock file is gone, or that have one of whose configuration nothing is left.
    fn left_directories(&self) -> BTreeSet<&str> {
        let gone = self.changes.paths().filter(|path| is_configuration(name_of(path)) && !self.changes.stands(path));
        let stands = |directory: &str| {
            let mut before = self.before.names(directory).filter(|name| is_configuration(name));
            before.any(|name| self.changes.stands(&slashed(&Path::new(directory).join(name))))
        };
        let had_lock =
            |directory: &&str| self.before.tree().kind(&slashed(&Path::new(directory).join(FILE_NAME))).is_some();
        let emptied: BTreeSet<&str> = gone.map(directory_of).filter(had_lock).collect();
        let emptied = emptied.into_iter().filter(|directory| !stands(directory));
        self.removed().map(directory_of).chain(emptied).collect()
    }

    /// The telling lines of the configuration that stood in a directory.
    pub(super) fn lines_before(&self, directory: &str) -> Result<BTreeSet<String>, Error> {
        let path = |name: &str| if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        let paths: Vec<String> = self.before.names(directory).filter(|name| is_configuration(name)).map(path).collect();
        Ok(self.texts(&self.before, &paths)?.iter().flatten().flat_map(|text| telling(text)).collect())
    }

    /// The directories with configuration that was not there before.
    fn new_directories(&self) -> BTreeSet<&str> {
        let new = self.changes.paths().filter(|path| is_configuration(name_of(path)));
        let new = new.filter(|path| self.before.tree().kind(path).is_none() && self.changes.stands(path));
        new.map(directory_of).collect()
    }
}

/// True if half of some lines of configuration, or more, stand in a directory. Of what cannot be read it is not known
/// that it is something else.
pub(super) fn goes_on(old: &BTreeSet<String>, place: &Path) -> bool {
    let now = lines_now(place);
    !old.is_empty() && now.is_none_or(|now| old.intersection(&now).count() * 2 >= old.len())
}

/// The telling lines of the configuration in a directory; none if a file cannot be read.
fn lines_now(place: &Path) -> Option<BTreeSet<String>> {
    let names = text::names_in(place).into_iter().filter(|name| is_configuration(name));
    let texts: Option<Vec<_>> = names.map(|name| files::read(&place.join(name)).ok()).collect();
    Some(texts?.iter().flatten().flat_map(|text| telling(text)).collect())
}

fn telling(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(str::trim).filter(|line| line.len() >= TELLING).map(str::to_owned).collect()
}
