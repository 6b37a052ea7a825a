//! `tflock git`: git is told to merge and compare our files through us, or no longer.

use std::fmt;

use crate::disk::atomic::Stored;
use crate::disk::git_config::attributes::{with_lines, without_lines};
use crate::disk::git_config::{GitConfigError, Repository};
use crate::error::Error;
use crate::lockfile;
use crate::merge::TRUST_FILE_NAME;

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
pub struct Setting {
    /// `merge.tflock.driver`, or `merge` of a file.
    pub name: String,
    /// What git says; none if nothing.
    pub found: Option<String>,
    /// What it should say.
    pub wanted: &'static str,
}

impl Setting {
    /// True if git knows it.
    pub fn is_set(&self) -> bool {
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
pub fn install(repository: &Repository) -> Result<Stored, Error> {
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
pub fn uninstall(repository: &Repository) -> Result<Stored, Error> {
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
pub fn status(repository: &Repository) -> Result<Vec<Setting>, GitConfigError> {
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
