//! The files that `fileset()` lists.
//!
//! Source: terraform 0.15 `lang/funcs/filesystem.go`, `FileSet`; `github.com/bmatcuk/doublestar`.

use std::collections::BTreeSet;

use regex::Regex;

use super::files::{Files, Found};
use crate::value::{Budget, Unevaluated};

/// How deep directories may be.
const DEPTH: usize = 64;

/// A pattern of paths.
pub(super) struct FileSet {
    pattern: Regex,
    /// How many directories below the first one may have a file with the pattern.
    levels: usize,
}

impl FileSet {
    /// Reads a pattern; `None` for one that leads elsewhere, or that is not read.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        let names: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
        if names.contains(&"..") || pattern.contains(['\\', '{', '[']) {
            return None;
        }
        let part = |(at, name): (usize, &&str)| match (*name, at + 1 == names.len()) {
            ("**", true) => ".*".to_owned(),
            ("**", false) => "(?:[^/]+/)*".to_owned(),
            (name, is_last) => {
                let name = regex::escape(name).replace("\\*", "[^/]*").replace("\\?", "[^/]");
                name + if is_last { "" } else { "/" }
            }
        };
        let text: String = names.iter().enumerate().map(part).collect();
        let levels = if names.contains(&"**") { DEPTH } else { names.len().saturating_sub(1) };
        Some(Self { pattern: Regex::new(&format!("^{text}$")).ok()?, levels })
    }

    /// The files below a directory, relative to it; else what keeps them from being known.
    ///
    /// # Errors
    ///
    /// If that takes too much.
    pub(super) fn find(
        &self,
        files: &dyn Files,
        directory: &str,
        budget: &Budget,
    ) -> Result<Result<BTreeSet<String>, String>, Unevaluated> {
        let (mut found, mut open) = (BTreeSet::new(), vec![(String::new(), 0)]);
        while let Some((within, level)) = open.pop() {
            let path = format!("{directory}/{within}");
            let path = path.trim_end_matches('/');
            let entries = match files.list(path) {
                Found::Is(entries) => entries,
                Found::Missing => continue,
                Found::Denied(reason) => return Ok(Err(format!("{path}, {reason}"))),
            };
            budget.spend_elements(entries.len())?;
            for (name, is_directory) in entries {
                let path = format!("{within}{name}");
                if is_directory && level < self.levels {
                    open.push((path + "/", level + 1));
                } else if !is_directory && self.pattern.is_match(&path) {
                    found.insert(path);
                }
            }
        }
        Ok(Ok(found))
    }
}
