//! Configuration that went on without its lock file: in another directory, where `init` records whatever is served.

use std::collections::BTreeSet;
use std::path::Path;

use super::gone::is_configuration;
use super::{Base, name_of};
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
            // What is still there is told as a removed lock file.
            if !lines.is_empty() && !has_configuration(&self.top.join(directory)) {
                left.push((directory, lines));
            }
        }
        if left.is_empty() {
            return Ok(findings);
        }
        let reached: BTreeSet<String> = judged.iter().flat_map(|root| root.read().1).map(|it| self.way(&it)).collect();
        for new in self.new_directories() {
            let place = self.top.join(new);
            if reached.contains(new) || text::is_there(&place.join(FILE_NAME)) {
                continue;
            }
            let lines = lines_now(&place);
            let is_from = |old: &&(&str, BTreeSet<String>)| old.1.intersection(&lines).count() * 2 >= old.1.len();
            if let Some((old, _)) = left.iter().find(is_from) {
                let message = format!("the configuration of {old} goes on in {new} without its dependency lock file");
                findings.push(Finding::new(Rule::LockFileMoved, message).in_file(Path::new(new).join(FILE_NAME)));
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

fn has_configuration(place: &Path) -> bool {
    text::names_in(place).iter().any(|name| is_configuration(name))
}

fn lines_now(place: &Path) -> BTreeSet<String> {
    let names = text::names_in(place).into_iter().filter(|name| is_configuration(name));
    // What cannot be read goes on as nothing.
    let texts = names.filter_map(|name| files::read(&place.join(name)).ok().flatten());
    texts.flat_map(|text| telling(&text)).collect()
}

fn telling(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(str::trim).filter(|line| line.len() >= TELLING).map(str::to_owned).collect()
}
