//! Directories that a search for root modules leaves out.

use std::path::{Component, Path, PathBuf};

/// A pattern of directories: names with slashes between them, `*` for any part of a name, `**` for any number of names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Exclude {
    /// The directory of the settings file, from which the pattern begins.
    folder: PathBuf,
    pattern: String,
}

/// A pattern that no directory below a settings file can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a pattern of directories below the settings file, such as \"legacy/**\"")]
pub struct ExcludeError(String);

impl Exclude {
    pub fn parse(text: &str) -> Result<Self, ExcludeError> {
        let is_name = |name: &str| !name.is_empty() && name != "." && name != ".." && !name.contains('\\');
        let pattern = text.strip_suffix('/').unwrap_or(text);
        let is_one = !pattern.starts_with('!') && pattern.split('/').all(is_name);
        if is_one {
            Ok(Self { folder: PathBuf::new(), pattern: pattern.to_owned() })
        } else {
            Err(ExcludeError(text.to_owned()))
        }
    }

    /// The same, in a settings file of this folder.
    #[must_use]
    pub fn stated_in(self, folder: &Path) -> Self {
        Self { folder: folder.join(self.folder), ..self }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    pub fn covers(&self, directory: &Path) -> bool {
        let Ok(way) = directory.strip_prefix(&self.folder) else { return false };
        let pattern: Vec<&str> = self.pattern.split('/').collect();
        // Which parts of the pattern the names so far have.
        let mut matched = vec![false; pattern.len() + 1];
        matched[0] = true;
        pass_any(&pattern, &mut matched);
        for name in way.components() {
            let Component::Normal(name) = name else { return false };
            let name = name.to_string_lossy();
            let mut next = vec![false; pattern.len() + 1];
            for (at, part) in pattern.iter().enumerate().filter(|(at, _)| matched[*at]) {
                if *part == "**" {
                    next[at] = true;
                } else if has_form(part, &name) {
                    next[at + 1] = true;
                }
            }
            pass_any(&pattern, &mut next);
            if next[pattern.len()] {
                return true;
            }
            matched = next;
        }
        false
    }
}

/// `**` means no name, too.
fn pass_any(pattern: &[&str], matched: &mut [bool]) {
    for (at, part) in pattern.iter().enumerate() {
        if *part == "**" && matched[at] {
            matched[at + 1] = true;
        }
    }
}

/// True if a name has the form of a part, in which `*` means any text.
fn has_form(part: &str, name: &str) -> bool {
    let mut pieces = part.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_directories() {
        let rows = [
            ("legacy/**", "legacy", true),
            ("legacy/**", "legacy/a/b", true),
            ("legacy/**", "legacy2", false),
            ("legacy/**", "x/legacy/a", false),
            ("legacy", "legacy/a", true),
            ("legacy/", "legacy/a", true),
            ("**/legacy", "a/b/legacy/c", true),
            ("**/legacy", "legacy", true),
            ("a/*/c", "a/b/c/d", true),
            ("a/*/c", "a/c", false),
            ("a/**/c", "a/c", true),
            ("a/**/c", "a/x/y/c", true),
            ("a/**/c", "a/x/y", false),
            ("old-*", "old-1", true),
            ("*-old-*", "a-old-b", true),
            ("*-old", "a-old-b", false),
            ("**", "a", true),
            ("a*a", "a", false),
        ];
        for (pattern, path, covered) in rows {
            let exclude = Exclude::parse(pattern).unwrap().stated_in(Path::new("/top"));
            assert_eq!(exclude.covers(&Path::new("/top").join(path)), covered, "{pattern} {path}");
            assert!(!exclude.covers(Path::new("/elsewhere/legacy")) && !exclude.covers(Path::new("/top")));
        }
        for wrong in ["", "/legacy", "../legacy", "./legacy", "a//b", "!legacy", "a\\b"] {
            assert!(Exclude::parse(wrong).is_err(), "{wrong}");
        }
    }
}
