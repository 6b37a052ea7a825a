//! What the hash of a package does not show: a link has the same hash as a file with the text of its target.
//!
//! So of two packages that differ in nothing else at most one may be locked. A file that could be a link to something of
//! its package is none that anyone writes, for files end in a line feed; nor is a link whose target reads like a file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::contents::{Contents, counts};
use super::links::way;
use crate::modulelock::Ambiguity;
use crate::modules::checkout::ambiguous;
use crate::modules::is_configuration;

/// Why the hash of a package would not determine its contents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Unclear {
    #[error("the name {0:?} has a line feed")]
    LineFeed(String),
    #[error("the file {name:?} contains only {text:?}: a link to that in its place would have the same hash")]
    File { name: String, text: String },
    #[error("the link {name:?} leads to {text:?}: a file with that text in its place would have the same hash")]
    Link { name: String, text: String },
}

/// Looks through a package at some place, given its files that have one line without a line end.
pub(super) fn unclear(contents: &Contents, lines: &BTreeSet<String>, top: &Path) -> Option<Ambiguity> {
    find(contents, lines, top).map(|unclear| ambiguous(unclear.to_string()))
}

fn find(contents: &Contents, lines: &BTreeSet<String>, top: &Path) -> Option<Unclear> {
    if let Some(name) = contents.digests.keys().find(|name| name.contains('\n')) {
        return Some(Unclear::LineFeed(name.clone()));
    }
    let files = lines.iter().filter(|name| counts(name) && !contents.links.contains_key(*name));
    // What cannot be read, or is no text, is not the target of a link either.
    let mut texts = files.filter_map(|name| Some((name, fs::read_to_string(top.join(name)).ok()?)));
    if let Some((name, text)) = texts.find(|(name, text)| may_be_link(contents, name, text)) {
        return Some(Unclear::File { name: name.clone(), text });
    }
    let mut others = contents.links.iter().filter(|(name, _)| counts(name));
    let link = others.find(|(name, text)| may_be_file(contents, name, text));
    link.map(|(name, text)| Unclear::Link { name: name.clone(), text: text.clone() })
}

/// True if a link with this text would lead to another entry.
fn may_be_link(contents: &Contents, name: &str, text: &str) -> bool {
    let end = (!text.starts_with('/')).then(|| way(&contents.links, &sibling(name, text))).flatten();
    end.is_some_and(|way| way.end != name && is_entry(contents, &way.end))
}

/// True if a link reads like the content of a file, and leads to nothing that the hash covers.
fn may_be_file(contents: &Contents, name: &str, text: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "\"'={}[]()$".contains(c);
    let is_comment = is_configuration(name) && text.contains('#');
    let way = way(&contents.links, &sibling(name, text));
    let is_covered = way.is_some_and(|way| is_entry(contents, &way.end) && !way.is_hidden);
    (is_comment || text.contains(is_odd)) && !is_covered
}

fn sibling(name: &str, target: &str) -> String {
    name.rsplit_once('/').map_or_else(|| target.to_owned(), |(folder, _)| format!("{folder}/{target}"))
}

/// True for the names of files, links and the directories that they are in.
fn is_entry(contents: &Contents, place: &str) -> bool {
    let folder = format!("{place}/");
    let is_folder =
        || contents.digests.range(folder.clone()..).next().is_some_and(|(name, _)| name.starts_with(&folder));
    place.is_empty() || contents.digests.contains_key(place) || is_folder()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FILE, LINK, Sandbox, unpacked};

    /// Each two of one text: not both may be locked.
    #[test]
    fn a_link_is_not_taken_for_a_file() {
        for (name, text, sibling) in [
            ("extra.tf", "#evil", "#evil"),
            ("guard.tf", "#guard", "#guard"),
            ("a/policy.json", "../other.json", "other.json"),
            ("sub", "real", "real/main.tf"),
            ("x.txt", ".h/x", ".h/x"),
            ("top.txt", "real/..", "real/main.tf"),
            // It leads to nothing, or to what no hash covers.
            ("x.tf.json", "{}", "main.tf"),
            ("x.tf", "locals{a=1}", "main.tf"),
            ("x.tf", "#/../.h/x.tf", ".h/x.tf"),
            ("run.sh", "echo no >&2", "main.tf"),
            ("two", "a\nb", "main.tf"),
        ] {
            let why = |kind| unpacked(&Sandbox::new(), &[(sibling, FILE, "x"), (name, kind, text)]).unwrap().ambiguity;
            let reason = why(FILE).or_else(|| why(LINK)).unwrap().reason;
            assert!(reason.contains("would have the same hash") && reason.contains(name), "{reason}");
        }
    }

    #[test]
    fn ordinary_files_are_unambiguous() {
        for entries in [
            [("real/x.tf", FILE, "x\n"), ("x.tf", LINK, "real/x.tf"), ("broken", LINK, "nowhere")],
            [("VERSION", FILE, "VERSION"), ("main.tf", FILE, "# nothing yet"), ("x.tf", FILE, "// see ../main.tf")],
            [("a", FILE, ""), ("main.tf", FILE, "# see .github/x"), (".github/x", FILE, "x")],
            [("README.md", LINK, ".github/README.md"), (".github/README.md", FILE, "x"), ("b", FILE, "a\n")],
            [("a", FILE, "b\n"), ("b", FILE, "a\r\n"), (".link", FILE, "a")],
        ] {
            assert_eq!(unpacked(&Sandbox::new(), &entries).unwrap().ambiguity, None);
        }
    }

    #[cfg_attr(windows, ignore = "Windows has no such names")]
    #[test]
    fn line_feeds_in_names_are_not_clear() {
        let lines = unpacked(&Sandbox::new(), &[(".a\nb", FILE, "x")]).unwrap().ambiguity;
        assert!(lines.unwrap().reason.contains("has a line feed"));
    }
}
