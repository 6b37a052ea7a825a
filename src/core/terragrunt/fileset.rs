//! The files that `fileset()` lists.
//!
//! Source: terraform 0.15 `lang/funcs/filesystem.go`, `FileSet`; `github.com/bmatcuk/doublestar` 1.1.5. What that refuses, and alternatives
//! in alternatives, are not read.

use std::collections::BTreeSet;

use regex::Regex;

use super::files::{DirectoryEntry, EntryKind, Files, Found};
use crate::value::{Budget, Unevaluated};

/// How deep directories may be.
const DEPTH: usize = 64;

/// What an entry of a directory costs, in elements of a collection.
const ENTRY: usize = 16;

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
        if names.contains(&"..") {
            return None;
        }
        let part = |(at, name): (usize, &&str)| match (*name, at + 1 == names.len()) {
            ("**", true) => Some(".*".to_owned()),
            ("**", false) => Some("(?:[^/]+/)*".to_owned()),
            (name, is_last) => Some(of_name(name)? + if is_last { "" } else { "/" }),
        };
        let text: String = names.iter().enumerate().map(part).collect::<Option<_>>()?;
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
            // Each entry is looked at on disk.
            budget.spend_elements(ENTRY * (entries.len() + 1))?;
            for DirectoryEntry { name, kind } in entries {
                let shown = format!("{path}/{name}");
                let path = format!("{within}{name}");
                let (is_below, is_match) = (level < self.levels, self.pattern.is_match(&path));
                match kind {
                    Found::Is(EntryKind::Directory) if is_below => open.push((path + "/", level + 1)),
                    // One that leads around itself has no end.
                    Found::Is(EntryKind::LinkedDirectory) if is_below => {
                        return Ok(Err(format!("{shown}, a symbolic link to a directory")));
                    }
                    Found::Is(EntryKind::File) if is_match => drop(found.insert(path)),
                    Found::Denied(reason) if is_below || is_match => return Ok(Err(format!("{shown}, {reason}"))),
                    Found::Is(_) | Found::Missing | Found::Denied(_) => {}
                }
            }
        }
        Ok(Ok(found))
    }
}

/// True if a path may begin with one that a pattern matches: Terragrunt copies, or leaves out, all of these.
///
/// Source: terragrunt `internal/util/file.go`, `CopyFolderContents`.
pub fn may_begin_with(pattern: &str, path: &str) -> bool {
    let names_all = pattern.split('/').all(|name| name.is_empty() || name == ".");
    if names_all || pattern.contains(['!', '^', '\\']) {
        return true;
    }
    let Some(set) = FileSet::new(pattern) else { return true };
    (1..=path.len()).filter_map(|end| path.get(..end)).any(|start| set.pattern.is_match(start))
}

/// The regular expression of a name in a pattern; `None` for one that is not read.
fn of_name(name: &str) -> Option<String> {
    let (mut text, mut rest, mut is_in_braces) = (String::new(), name.chars(), false);
    while let Some(next) = rest.next() {
        match next {
            '*' => text += "[^/]*",
            '?' => text += "[^/]",
            '[' => text += &class(&mut rest)?,
            '{' if !is_in_braces => (text, is_in_braces) = (text + "(?:", true),
            ',' if is_in_braces => text.push('|'),
            '}' if is_in_braces => (text, is_in_braces) = (text + ")", false),
            '{' | '\\' => return None,
            next => text += &regex::escape(next.encode_utf8(&mut [0; 4])),
        }
    }
    (!is_in_braces).then_some(text)
}

/// A class of characters, from behind its `[` on: single ones and ranges, of which none is refused.
fn class<'t>(rest: &mut std::str::Chars<'t>) -> Option<String> {
    let (class, behind): (&'t str, &'t str) = rest.as_str().split_once(']')?;
    *rest = behind.chars();
    let (start, class) = class.strip_prefix('^').map_or(("[[", class), |class| ("[[^", class));
    let escaped = |one: char| (!"-[\\".contains(one)).then(|| regex::escape(one.encode_utf8(&mut [0; 4])));
    let (mut text, mut inner) = (String::new(), class.chars().peekable());
    while let Some(first) = inner.next() {
        text += &escaped(first)?;
        if inner.next_if_eq(&'-').is_some() {
            text = text + "-" + &escaped(inner.next()?)?;
        }
    }
    (!text.is_empty()).then(|| format!("{start}{text}]&&[^/]]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_begins_with_a_match() {
        for (pattern, path, wanted) in [
            ("main.tf", "main.tf", true),
            ("main.tf", "main.tf.json", true),
            ("*.md", "main.tf", false),
            ("**/*.md", "a/b.tf", false),
            ("examples", "examples/a/main.tf", true),
            ("examples/**", "examples/a/main.tf", true),
            ("**/examples/", "a/examples/main.tf", true),
            ("examples", "a/main.tf", false),
            ("../x", "main.tf", true),
            ("", "main.tf", true),
            ("./", "a/main.tf", true),
            ("!x.tf", "main.tf", true),
        ] {
            assert_eq!(may_begin_with(pattern, path), wanted, "{pattern} {path}");
        }
    }

    /// As `terraform console` has it.
    #[test]
    fn patterns_are_those_of_terraform() {
        let names = ["!a.tf", ".h.tf", "a.tf", "ax.tf", "b.tf", "c.txt", "d/a.tf", "d/e/b.tf"];
        for (pattern, wanted) in [
            ("{a,b}.tf", "a.tf b.tf"),
            ("[a-b].tf", "a.tf b.tf"),
            ("[^a].tf", "b.tf"),
            ("[!a].tf", "a.tf"),
            ("{a,b*}.tf", "a.tf b.tf"),
            ("{d,e}/*.tf", "d/a.tf"),
            ("**/{a,b}.tf", "a.tf b.tf d/a.tf d/e/b.tf"),
            ("[ab]*.tf", "a.tf ax.tf b.tf"),
            ("a{x,}.tf", "a.tf ax.tf"),
            ("*.{tf,txt}", "!a.tf .h.tf a.tf ax.tf b.tf c.txt"),
            ("{[ab],c}.t*", "a.tf b.tf c.txt"),
            ("d[^x]a.tf", ""),
            ("[A-Z]*", ""),
            ("d/?.tf", "d/a.tf"),
        ] {
            let set = FileSet::new(pattern).unwrap();
            let found: Vec<&str> = names.iter().copied().filter(|name| set.pattern.is_match(name)).collect();
            assert_eq!(found.join(" "), wanted, "{pattern}");
        }
        for pattern in
            ["{,d/}a.tf", "{a,{b,c}}.*", "[a", "{a", "[]a].tf", "[a-].tf", "[c-a].tf", "d[/]a.tf", "\\a", "../a"]
        {
            assert!(FileSet::new(pattern).is_none(), "{pattern}");
        }
    }
}
