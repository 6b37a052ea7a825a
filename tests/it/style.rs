//! Plain English: the words that `docs/dev/style.md` says to avoid, in messages, help texts and pages.

use std::fmt::Write;
use std::path::Path;

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// Words that messages, help texts and pages avoid.
const WORDS: [&str; 21] = [
    "another one",
    "are told",
    "as it is",
    "as it was",
    "asked for",
    "believed",
    "but for",
    "counts for nothing",
    "held to",
    "is gone",
    "is that of",
    "is told",
    "nobody",
    "on offer",
    "so that",
    "somebody",
    "stands",
    "tells",
    "vouch",
    "whoever",
    "work tree",
];

#[test]
fn texts_avoid_the_words_that_the_style_guide_lists() {
    let top = Path::new(TOP);
    let (mut messages, mut help, mut pages) = (Vec::new(), Vec::new(), Vec::new());
    for (path, text) in files(&top.join("src"), "rs") {
        let shown = path.strip_prefix(top).unwrap().display().to_string();
        if ["tests", "realworld", "vectors"].iter().any(|part| shown.contains(part)) {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        messages.extend(literals(code).into_iter().map(|literal| (shown.clone(), literal)));
        // The commands have their arguments next to them.
        if shown.starts_with("src/cli") || code.contains("clap::") {
            let lines = code.lines().filter_map(|line| line.trim_start().strip_prefix("/// "));
            help.push((shown, lines.collect::<Vec<_>>().join(" ")));
        }
    }
    let readme = (top.join("README.md"), std::fs::read_to_string(top.join("README.md")).unwrap());
    for (path, text) in files(&top.join("docs"), "md").into_iter().chain([readme]) {
        if !path.ends_with("style.md") {
            pages.push((path.strip_prefix(top).unwrap().display().to_string(), prose(&text)));
        }
    }
    assert!(messages.len() > 2000 && help.len() > 30 && pages.len() > 15);
    let mut wrong = String::new();
    for word in WORDS {
        for (kind, texts) in [("messages", &messages), ("help", &help), ("pages", &pages)] {
            let found: Vec<_> = texts.iter().filter(|(_, text)| has(text, word)).collect();
            if !found.is_empty() {
                writeln!(wrong, "{kind}: {word:?} in {found:#?}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "docs/dev/style.md has better words\n{wrong}");
}

/// `display` leaves backslashes and the prefix of long paths in messages on Windows.
#[test]
fn paths_are_shown_alike_on_every_system() {
    let top = Path::new(TOP);
    for (path, text) in files(&top.join("src"), "rs") {
        let is_test = path.strip_prefix(top).unwrap().to_string_lossy().contains("tests");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        assert!(is_test || !code.contains(".display()"), "{path:?}: `path::shown` names paths in messages");
    }
}

fn has(text: &str, word: &str) -> bool {
    text.to_lowercase().contains(word)
}

/// All files below a folder whose names end so.
pub fn files(folder: &Path, ending: &str) -> Vec<(std::path::PathBuf, String)> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|it| it == ending) {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

/// A page in one line, without code and what programs print.
fn prose(page: &str) -> String {
    let text: String = page.split("```").step_by(2).collect();
    let text: Vec<&str> = text.split('`').step_by(2).collect();
    text.join("`").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The string literals of Rust code, lines that a backslash ends joined.
fn literals(code: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), code);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (start, mut next) = (&rest[at..], 1);
        if start.starts_with("//") {
            next = start.find('\n').unwrap_or(start.len());
        } else if start.starts_with("'\"'") {
            next = 3;
        } else if let Some(string) = start.strip_prefix('"') {
            let is_raw = rest[..at].ends_with("r#");
            let end = if is_raw { string.find("\"#") } else { end_of_string(string) };
            let end = end.unwrap_or(start.len() - 1);
            let literal: Vec<&str> = start[1..=end].split("\\\n").map(str::trim_start).collect();
            found.push(literal.concat());
            next = end + 2;
        }
        rest = start.get(next..).unwrap_or_default();
    }
    found
}

/// Where the quote is that ends a string, after its first one.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

#[test]
fn literals_are_found() {
    let code = "a(\"one \\\"two\\\"\", '\"', b'/') // \"no\"\n\"three \\\n   four\" r#\"fi\"ve\"# 'x";
    assert_eq!(literals(code), ["one \\\"two\\\"", "three four", "fi\"ve"]);
}
