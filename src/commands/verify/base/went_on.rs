//! Configuration that went on without its lock file: in another directory, where `init` records whatever is served.

use std::collections::BTreeSet;
use std::path::Path;

use super::gone::is_configuration;
use super::{Base, name_of, slashed};
use crate::commands::verify::Root;
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
        for path in self.removed() {
            let directory = path.strip_suffix(FILE_NAME).unwrap_or(path).trim_end_matches('/');
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
            // Of what cannot be read nobody can say that it is something else.
            let lines = lines_now(&self.top.join(new));
            let is_from = |(_, old): &&(&str, BTreeSet<String>)| {
                lines.as_ref().is_none_or(|lines| old.intersection(lines).count() * 2 >= old.len())
            };
            if let Some((old, _)) = left.iter().find(is_from) {
                let [old, new] = [*old, new].map(|directory| if directory.is_empty() { "." } else { directory });
                let message = format!("the configuration of {old} goes on in {new} without its dependency lock file");
                findings.push(Finding::new(Rule::LockFileMoved, message).in_file(lock));
            }
        }
        Ok(findings)
    }

    /// The telling lines of the configuration that stood in a directory.
    fn lines_before(&self, directory: &str) -> Result<BTreeSet<String>, Error> {
        let path = |name: &str| if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        let paths: Vec<String> = self.before.names(directory).filter(|name| is_configuration(name)).map(path).collect();
        Ok(self.texts(&self.before, &paths)?.iter().flatten().flat_map(|text| telling(text)).collect())
    }

    /// The directories with configuration that was not there before.
    fn new_directories(&self) -> BTreeSet<&str> {
        let new = self.changes.paths().filter(|path| is_configuration(name_of(path)));
        let new = new.filter(|path| self.before.tree().kind(path).is_none() && self.changes.stands(path));
        new.map(|path| path.rsplit_once('/').map_or("", |(directory, _)| directory)).collect()
    }
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
