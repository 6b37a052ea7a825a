//! What a repository tells git to make of its files when they are checked out.
//!
//! Line ends, `$Id$` and the filters that a user has are no matter: the files are read as they are stored, and what a
//! checkout makes of them means the same. In another encoding the same bytes are another text.
//!
//! Source: `gitattributes(5)`; git `attr.c`, `parse_attr_line`.

use std::collections::BTreeSet;

const FILE: &str = ".gitattributes";

const ENCODING: &str = "working-tree-encoding=";

/// True for files of attributes, on file systems that tell no case apart too.
pub(super) fn is_attributes(name: &str) -> bool {
    own(name).eq_ignore_ascii_case(FILE)
}

/// What matters of the files of a commit for what a checkout makes of them.
#[derive(Debug, Default)]
pub(super) struct CheckedOut {
    attributes: Vec<String>,
    /// The names of configuration, and of what links lead to.
    names: Vec<String>,
}

impl CheckedOut {
    /// Notes a file.
    pub(super) fn file(&mut self, name: &str, is_link: bool, content: &[u8]) {
        let text = || String::from_utf8_lossy(content).into_owned();
        if is_attributes(name) {
            self.attributes.push(text());
        }
        if is_link {
            self.names.push(text());
        } else if super::is_configuration(name) {
            self.names.push(name.to_owned());
        }
    }

    /// The first configuration that a checkout may write in another encoding.
    pub(super) fn encoded(&self) -> Option<&str> {
        encoded(&self.attributes, self.names.iter().map(String::as_str))
    }
}

/// The first of some files that a checkout may write in another encoding. A pattern is taken to cover all that end as it
/// does behind its last wildcard.
fn encoded<'a>(attributes: &[String], mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lines = || attributes.iter().flat_map(|text| text.lines()).filter_map(line);
    let mut meaning = BTreeSet::new();
    let sets = |meaning: &BTreeSet<&str>, rest: &str| {
        rest.split_ascii_whitespace().any(|word| converts(word) || meaning.contains(word))
    };
    // A macro may stand for another one.
    loop {
        let before = meaning.len();
        let macros = lines().filter_map(|(pattern, rest)| Some((pattern.strip_prefix("[attr]")?, rest)));
        let found: Vec<&str> = macros.filter(|(_, rest)| sets(&meaning, rest)).map(|(name, _)| name).collect();
        meaning.extend(found);
        if meaning.len() == before {
            break;
        }
    }
    let ends: Vec<String> = lines()
        .filter(|(pattern, rest)| !pattern.starts_with("[attr]") && sets(&meaning, rest))
        .map(|(pattern, _)| end(pattern))
        .collect();
    names.find(|name| ends.iter().any(|end| own(name).to_ascii_lowercase().ends_with(end)))
}

/// The pattern of a line, and what is behind it.
fn line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_matches([' ', '\t', '\r']);
    let is_nothing = line.is_empty() || line.starts_with('#');
    // Between quotes there may be blanks.
    let end = if line.starts_with('"') { line.rfind('"').map(|at| at + 1) } else { line.find([' ', '\t']) };
    (!is_nothing).then(|| line.split_at(end.unwrap_or(line.len())))
}

/// True for an attribute by which a checkout writes other bytes.
fn converts(word: &str) -> bool {
    let encoding = word.strip_prefix(ENCODING);
    encoding.is_some_and(|name| !["utf-8", "utf8"].iter().any(|same| name.eq_ignore_ascii_case(same)))
}

/// How all names end that a pattern covers, in lower case.
fn end(pattern: &str) -> String {
    let last = own(pattern);
    let plain = last.rfind(['*', '?', '[', ']', '\\', '"']).map_or(last, |at| &last[at + 1..]);
    plain.to_ascii_lowercase()
}

fn own(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_another_encoding() {
        for (text, covers) in [
            ("*.tf working-tree-encoding=SHIFT_JIS", true),
            ("* text=auto working-tree-encoding=UTF-16 eol=crlf", true),
            ("  /sub/m?in.TF\tworking-tree-encoding=x", true),
            ("sub/** working-tree-encoding=x", true),
            ("*.t[f] working-tree-encoding=x", true),
            ("main\\.tf working-tree-encoding=x", true),
            ("\"ma in.tf\" working-tree-encoding=x", true),
            ("[attr]one working-tree-encoding=x\n[attr]two text one\n*.tf two", true),
            ("[attr]one text two\n[attr]two working-tree-encoding=x\n*.tf -text one", true),
            // PowerShell likes it so.
            ("*.ps1 working-tree-encoding=UTF-16LE eol=crlf", false),
            ("*.tf working-tree-encoding=utf-8", false),
            ("*.tf -working-tree-encoding !working-tree-encoding", false),
            ("#*.tf working-tree-encoding=x", false),
            ("[attr]one working-tree-encoding=x\n*.tf two\n*.md one", false),
            ("*.tf text eol=crlf ident filter=lfs export-ignore diff=x", false),
        ] {
            let found = encoded(&[text.to_owned()], ["a/main.tf"].into_iter());
            assert_eq!(found.is_some(), covers, "{text}");
        }
        assert!(is_attributes("a/.GitAttributes") && !is_attributes("x.gitattributes"));
    }
}
