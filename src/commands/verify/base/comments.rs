//! Changes that say nothing new: of comments alone. What is not read is judged by what changed of the files, and a comment decides nothing.

use std::collections::BTreeSet;

use super::{Base, name_of};
use crate::disk::files;
use crate::error::Error;
use crate::git::{ChangedFiles, FileKind};
use crate::hcl::scan::outline;
use crate::path::RepoPath;

/// What the names of files end with in which comments are found.
const NATIVE: [&str; 3] = [".tf", ".tofu", ".hcl"];

impl Base {
    /// The changes without the files in which nothing but comments changed.
    pub(super) fn changes_beside_comments(&self) -> Result<&ChangedFiles, Error> {
        self.changes_beside_comments.get_or_init(|| self.find_changes_beside_comments()).as_ref().map_err(Clone::clone)
    }

    fn find_changes_beside_comments(&self) -> Result<ChangedFiles, Error> {
        let is_file = |path: &&str| self.before.tree().kind(path) == Some(FileKind::File);
        let paths = self.changes.paths().filter(|path| is_native(path)).filter(is_file);
        let paths: Vec<RepoPath> =
            paths.filter(|path| self.changes.crossing(path).is_none()).map(RepoPath::from_git).collect();
        let before = self.texts(&self.before, &paths)?;
        let same: BTreeSet<&str> =
            before.iter().filter(|(path, old)| self.says_the_same(path, old)).map(|(path, _)| &**path).collect();
        Ok(self.changes.without(&same))
    }

    /// True if a file differs from an earlier text in comments only.
    fn says_the_same(&self, path: &str, old: &[u8]) -> bool {
        let Ok(Some(new)) = files::read(&self.top.join(path)) else { return false };
        matches!((without_comments(old), without_comments(&new)), (Some(old), Some(new)) if old == new)
    }
}

/// True for configuration; files of settings and lock files begin with a dot.
fn is_native(path: &str) -> bool {
    !name_of(path).starts_with('.') && NATIVE.iter().any(|end| path.ends_with(end))
}

/// A text without its comments, and without lines that have nothing else; `None` if it is not known what its comments are.
fn without_comments(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for comment in outline(text, 0..text.len()).ok()?.comments {
        left.push_str(&text[from..comment.start]);
        from = comment.end;
        left.truncate(left.trim_end_matches([' ', '\t']).len());
        let ends_line = text[from..].starts_with('\n');
        if ends_line && (left.is_empty() || left.ends_with('\n')) {
            from += 1;
        } else if !ends_line {
            // What a comment divides is not one word.
            left.push(' ');
        }
    }
    left.push_str(&text[from..]);
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_are_taken_out() {
        let without = |text: &str| without_comments(text.as_bytes()).unwrap();
        let plain = "a = 1\nb {\n  c = <<E\n# no comment\nE\n}\n";
        assert_eq!(without("# x\na = 1 // y\nb { # z\n  # w\n  c = <<E\n# no comment\nE\n}\n"), plain);
        assert_eq!(without(plain), plain);
        for other in ["a = 2 # x\n", "a = \"# x\"\n", "a = 1\n\n", " a = 1\n", "a = 1 /* x */\n", "a = <<E\n# y\nE\n"] {
            assert_ne!(without(other), without("a = \"\" # x\n"), "{other}");
        }
        assert_ne!(without("a = b/* x */c\n"), without("a = bc\n"));
        assert_eq!(without_comments(b"a = ["), None);
        assert_eq!(without_comments(b"\xff"), None);
    }
}
