//! `git`: git is told to merge and compare our files through us, or no longer.

use std::fmt::{self, Write as _};

use super::Services;
use crate::disk::atomic::Stored;
use crate::disk::git_config::attributes::{FILE_NAME as ATTRIBUTES_FILE, with_lines, without_lines};
use crate::disk::git_config::{GitConfigError, Repository};
use crate::error::Error;
use crate::lockfile;
use crate::merge::TRUST_FILE_NAME;
use crate::outcome::{Body, Outcome};

/// What `git` is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// To write the attributes and the configuration of the clone.
    Install,
    /// To take them out.
    Uninstall,
    /// To tell what git knows; a setting that is missing is a difference.
    Status,
}

/// Tells git to merge and compare our files through us, or no longer.
///
/// # Errors
///
/// Those of git and of the disk.
pub fn git(request: Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let (mut text, mut notes, mut differs) = (String::new(), Vec::new(), false);
    for directory in services.scope.directories() {
        let repository = Repository::find(&directory)?;
        match request {
            Request::Install => {
                text.push_str(&told(install(&repository)?, "set"));
                let others = status(&repository)?.into_iter().filter(|setting| !setting.is_set());
                notes.extend(others.map(|setting| format!("another line decides: {setting}")));
                if !on_path(services) {
                    notes.push("git will not find tflock, which is not on PATH".to_owned());
                }
            }
            Request::Uninstall => text.push_str(&told(uninstall(&repository)?, "removed")),
            Request::Status => {
                for setting in status(&repository)? {
                    differs |= !setting.is_set();
                    // Writing to a string cannot fail.
                    let _ = writeln!(text, "{setting}");
                }
            }
        }
    }
    Ok(Outcome { notes, ..Outcome::of_body("git", Body::Text(text)) }.differing(differs))
}

/// The keys of the configuration, and their values.
const CONFIG: [(&str, &str); 3] = [
    ("merge.tflock.name", "merges dependency lock files and trust files by provider"),
    ("merge.tflock.driver", "tflock merge -- %O %A %B %L %P"),
    ("diff.tflock.textconv", "tflock textconv"),
];

/// What git must know of our files: attribute and value. `linguist-generated` may also be unset.
const ATTRIBUTES: [(&str, &str); 3] = [("merge", "tflock"), ("diff", "tflock"), ("linguist-generated", "false")];

/// One thing that git has to know, and whether it does.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    /// `merge.tflock.driver`, or `merge` of a file.
    name: String,
    /// What git says; none if nothing.
    found: Option<String>,
    /// What it should say.
    wanted: &'static str,
}

impl Setting {
    /// True if git knows it.
    fn is_set(&self) -> bool {
        let unset = self.wanted == "false" && self.found.as_deref() == Some("unset");
        unset || self.found.as_deref() == Some(self.wanted)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, found, wanted } = self;
        match found {
            _ if self.is_set() => write!(f, "ok       {name} = {wanted}"),
            Some(found) => write!(f, "differs  {name} = {found}, not {wanted}"),
            None => write!(f, "missing  {name} = {wanted}"),
        }
    }
}

/// Writes the attributes and the configuration. Tells what became of the attributes file.
///
/// # Errors
///
/// Those of git and of the disk.
fn install(repository: &Repository) -> Result<Stored, Error> {
    let stored = repository.store_attributes(&with_lines(&repository.attributes_text()?))?;
    for (key, value) in CONFIG {
        repository.set_config(key, value)?;
    }
    Ok(stored)
}

/// Takes out what [`install`] wrote. An attributes file with nothing else in it goes too.
///
/// # Errors
///
/// Those of git and of the disk.
fn uninstall(repository: &Repository) -> Result<Stored, Error> {
    let text = repository.attributes_text()?;
    let left = without_lines(&text);
    let stored = if left == text { Stored::Unchanged } else { repository.store_attributes(&left)? };
    for (key, _) in CONFIG {
        repository.unset_config(key)?;
    }
    Ok(stored)
}

/// All that git has to know.
///
/// # Errors
///
/// Those of git.
fn status(repository: &Repository) -> Result<Vec<Setting>, GitConfigError> {
    let mut settings = Vec::new();
    for (key, wanted) in CONFIG {
        settings.push(Setting { name: key.to_owned(), found: repository.config(key)?, wanted });
    }
    for file in [lockfile::FILE_NAME, TRUST_FILE_NAME] {
        for (name, wanted) in ATTRIBUTES {
            let found = repository.attribute(name, file)?;
            let found = (found != "unspecified").then_some(found);
            settings.push(Setting { name: format!("{name} of {file}"), found, wanted });
        }
    }
    Ok(settings)
}

/// What was done to the attributes file and to the configuration.
fn told(stored: Stored, done: &str) -> String {
    let attributes = match stored {
        Stored::Written => done,
        Stored::Unchanged => "unchanged",
    };
    format!("{ATTRIBUTES_FILE}: {attributes}\ngit configuration of this clone: {done}\n")
}

/// Whether git finds the program by its name.
fn on_path(services: &Services<'_>) -> bool {
    let name = format!("tflock{}", std::env::consts::EXE_SUFFIX);
    let path = services.variables().get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join(&name).is_file())
}
