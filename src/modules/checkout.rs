//! Whether a checkout would change the files of a commit: `.gitattributes` is in no hash, and may change what is installed.
//!
//! Which pattern applies to which file is not imitated. An attribute that changes bytes counts wherever it is set; line ends
//! may be converted, and objects of Git LFS are named by their digest.
//!
//! Source: `gitattributes(5)`; git `attr.c`, `convert.c`.

use super::unpack::{counts, is_read_as};
use crate::modulelock::Ambiguity;

/// Where a repository says what a checkout does.
pub(super) const ATTRIBUTES: &str = ".gitattributes";

/// Where a repository says what its submodules are.
pub(super) const SUBMODULES: &str = ".gitmodules";

/// What the next step is if a file is the reason.
const HELP: &str = "Call a version of the module without it, or keep a copy of the module in the repository.";

/// What the files of a commit say about its checkout.
#[derive(Debug, Default)]
pub(super) struct Checkout {
    /// A file of attributes that sets one by which bytes change, and that attribute.
    converts: Option<(String, String)>,
    /// A file of attributes that has `$Id$` expanded.
    ident: Option<String>,
    /// A file that has such a text.
    expands: Option<String>,
}

impl Checkout {
    /// Takes a file into account.
    pub(super) fn file(&mut self, name: &str, is_link: bool, content: &[u8]) {
        if is_control_file(name) && (is_link || !is_exact(name)) {
            self.converts.get_or_insert((name.to_owned(), "read as a file by some systems only".to_owned()));
        } else if is_read_as(own(name), ATTRIBUTES) {
            for word in words(content) {
                if word == "ident" || word.starts_with("ident=") {
                    self.ident.get_or_insert_with(|| name.to_owned());
                } else if converts(&word) {
                    self.converts.get_or_insert_with(|| (name.to_owned(), word));
                }
            }
        } else if counts(name) && !is_link && ["$Id$", "$Id:"].iter().any(|text| has(content, text)) {
            self.expands.get_or_insert_with(|| name.to_owned());
        }
    }

    /// Why what a checkout installs is not what is hashed.
    pub(super) fn ambiguity(self) -> Option<Ambiguity> {
        let expanded = self.ident.zip(self.expands);
        let expanded = expanded
            .map(|(attributes, name)| format!("{attributes} has ident, by which a checkout may change $Id$ in {name}"));
        let reason =
            self.converts.map(|(attributes, word)| format!("a checkout may change files: {attributes}: {word}"));
        reason.or(expanded).map(ambiguous)
    }
}

/// A package that no spelling of its source makes lockable.
pub(super) fn ambiguous(reason: String) -> Ambiguity {
    Ambiguity { reason, help: HELP.to_owned() }
}

/// True for files that say what git makes of others, under any name that some system takes for theirs.
pub(super) fn is_control_file(name: &str) -> bool {
    is_read_as(own(name), ATTRIBUTES) || (!name.contains('/') && is_read_as(name, SUBMODULES))
}

fn is_exact(name: &str) -> bool {
    own(name) == ATTRIBUTES || name == SUBMODULES
}

/// All words of a file of attributes but those of its comments. A quoted pattern may end where an attribute begins.
fn words(content: &[u8]) -> impl Iterator<Item = String> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let lines = content.split(|byte| *byte == b'\n');
    let lines = lines.filter(move |line| line.iter().find(|byte| !is_blank(byte)) != Some(&b'#'));
    let words = lines.flat_map(move |line| line.split(move |byte| is_blank(byte) || *byte == b'"'));
    words.map(|word| String::from_utf8_lossy(word).into_owned())
}

/// True for an attribute by which a checkout writes other bytes than are stored.
fn converts(word: &str) -> bool {
    let same = ["working-tree-encoding=utf-8", "working-tree-encoding=utf8"];
    let is_same = same.iter().any(|same| word.eq_ignore_ascii_case(same));
    (word.starts_with("working-tree-encoding") && !is_same) || (word.starts_with("filter=") && word != "filter=lfs")
}

fn has(content: &[u8], text: &str) -> bool {
    memchr::memmem::find(content, text.as_bytes()).is_some()
}

fn own(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(attributes: &str, text: &str) -> Option<String> {
        let mut checkout = Checkout::default();
        checkout.file("a/.gitattributes", false, attributes.as_bytes());
        checkout.file("run.sh", false, text.as_bytes());
        checkout.ambiguity().map(|it| it.reason)
    }

    #[test]
    fn what_a_checkout_may_change() {
        for (attributes, text) in [
            ("*.tf ident", "$Id$"),
            ("*.tf ident", "\"$Id:\"/*$\""),
            ("[attr]mine -text ident\n* mine", "$Id$"),
            ("\"a b\"ident", "$Id$"),
            ("\u{feff}#x ident", "$Id$"),
            ("*.txt working-tree-encoding=ASCII//TRANSLIT", ""),
            ("*.ps1 working-tree-encoding=UTF-16LE eol=crlf", ""),
            ("*.tf working-tree-encoding", ""),
            ("\t*.key\tfilter=git-crypt\r", ""),
            ("*.bin filter=lfs2", ""),
            ("\"*\"filter=x", ""),
        ] {
            assert!(reason(attributes, text).is_some(), "{attributes}");
        }
    }

    #[test]
    fn files_that_a_checkout_leaves_unchanged() {
        for (attributes, text) in [
            ("", "$Id$"),
            ("* text=auto", "$Id: 1.2 $"),
            ("*.sh text eol=lf\n*.bat text eol=crlf\n*.png binary\n", ""),
            ("# ident filter=x\n  # working-tree-encoding=x\n", "$Id$"),
            ("*.tf -ident !ident -filter !filter -working-tree-encoding", "$Id$"),
            ("*.tf ident", "$ID$ $Id $Identity$"),
            ("*.bin filter=lfs diff=lfs merge=lfs -text", ""),
            ("*.ps1 working-tree-encoding=UTF-8", ""),
            ("docs/** linguist-documentation export-ignore", ""),
        ] {
            assert_eq!(reason(attributes, text), None, "{attributes}");
        }
    }

    #[test]
    fn names_that_some_system_takes_for_another() {
        for name in
            [".GitAttributes", "a/.gitattributes.", ".git\u{200c}attributes", "GITATT~1", "a/gi7d29~1", ".GITMODULES"]
        {
            let mut checkout = Checkout::default();
            checkout.file(name, false, b"");
            assert!(checkout.ambiguity().is_some(), "{name}");
        }
        let mut checkout = Checkout::default();
        checkout.file(".gitattributes", true, b"other");
        assert!(checkout.ambiguity().is_some());
        for name in ["x.gitattributes", "gitattributes", "a/.gitmodules", ".gitignore", "give~"] {
            let mut checkout = Checkout::default();
            checkout.file(name, false, b"filter=x");
            assert_eq!(checkout.ambiguity(), None, "{name}");
        }
    }
}
