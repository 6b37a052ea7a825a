//! The result of `explain` for users, and pages of documentation.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::finding::{Level, Rule};
use crate::hash::PackageHash;
use crate::outcome::{
    Explained, ExplainedEntry, ExplainedHash, ExplainedProvider, HashOrigin, Hashed, ItemRule, RecordedAt, RecordedHash,
};
use crate::platform::Platform;
use crate::report::layout::{Paint, Table, wrap};
use crate::report::parts::{Part, TextLine, lines};
use crate::report::{Detail, Style, shown};
use crate::topics::{TOPICS, of_rule};
use crate::trust;
use crate::trust::publishers::publisher;

pub(super) fn explained(explained: &Explained, style: Style) -> Vec<Part> {
    vec![match explained {
        Explained::Index => return index(),
        Explained::Topic(topic) => Part::Page(topic.text),
        Explained::Rule(rule) => Part::Page(of_rule(*rule)),
        Explained::Item(ItemRule { id, summary, help }) => lines([*id, "", *summary, "", *help]),
        Explained::Hash(hash) => Part::Lines(self::hash(hash, style)),
        Explained::Provider(provider) => Part::Lines(self::provider(provider, style)),
    }]
}

/// How many lock files are named; more are only counted.
const MOST_FILES: usize = 3;

/// `a/.terraform.lock.hcl:3, b/.terraform.lock.hcl:3`, or their number.
fn places(recorded: &[&RecordedAt], style: Style) -> String {
    if recorded.len() > MOST_FILES && style.detail < Detail::Verbose {
        return format!("{} lock files", recorded.len());
    }
    let place = |at: &&RecordedAt| {
        let line = at.position.map(|position| format!(":{}", position.line)).unwrap_or_default();
        format!("{}{line}", shown(&at.file))
    };
    recorded.iter().map(place).collect::<Vec<_>>().join(", ")
}

/// Groups items that are equal except for their place, in order of first appearance.
fn together<T, K: PartialEq>(items: &[T], key: impl Fn(&T) -> K) -> Vec<(K, Vec<&T>)> {
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for item in items {
        let key = key(item);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => known.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// All rules and topics, one a line.
fn index() -> Vec<Part> {
    let topics = TOPICS.iter().map(|topic| [topic.name.to_owned(), topic.title().to_owned()]);
    let rules = Rule::ALL.iter().map(|rule| [rule.id().to_owned(), level(*rule).to_owned(), rule.summary().to_owned()]);
    vec![
        lines(["Topics:"]),
        Part::Table(Table::of_rows("  ", topics)),
        lines(["", "Rules, with their levels:"]),
        Part::Table(Table::of_rows("  ", rules)),
    ]
}

fn level(rule: Rule) -> &'static str {
    match rule.level() {
        Level::Note => "note",
        Level::Warn => "warn",
        Level::Deny => "deny",
    }
}

/// True for the beginning of a hash.
fn is_beginning(hash: &PackageHash) -> bool {
    let text = hash.to_string();
    let text = text.trim_end_matches(['…', '.']);
    match text.split_once(':') {
        Some(("zh", digits)) => digits.len() < 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        Some(("h1", digits)) => {
            digits.len() < 44 && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte))
        }
        _ => false,
    }
}

fn hash(explained: &ExplainedHash, style: Style) -> Vec<TextLine> {
    let mut lines = vec![TextLine::default().code(explained.hash.to_string())];
    let mut below = |text: String| lines.push(TextLine::new(text).indented(2));
    if is_beginning(&explained.hash) && explained.recorded.is_empty() && explained.releases.is_empty() {
        below("no hash that is recorded or known here begins with it".to_owned());
        return lines;
    }
    if !explained.well_formed {
        below("no package can have it: it is not written as a hash of its scheme".to_owned());
    }
    for ((addr, version), recorded) in together(&explained.recorded, |at| (at.address.clone(), at.version.clone())) {
        below(format!("recorded for {addr} {version} in {}", places(&recorded, style)));
    }
    if explained.recorded.is_empty() {
        below("recorded in no lock file here".to_owned());
    }
    for release in &explained.releases {
        below(format!("{} of {} {}", origin(&release.origin), release.address, release.version));
    }
    if explained.releases.is_empty() {
        // The question is about what lock files record.
        let next = if explained.recorded.is_empty() { "" } else { "; `tflock verify` checks with the registry" };
        below(format!("where it comes from is not known here{next}"));
    }
    lines
}

fn provider(provider: &ExplainedProvider, style: Style) -> Vec<TextLine> {
    let mut lines = Vec::new();
    let key = |it: &ExplainedEntry| {
        let anywhere = RecordedAt { file: PathBuf::new(), position: None, ..it.entry.clone() };
        ExplainedEntry { entry: anywhere, ..it.clone() }
    };
    for (explained, entries) in together(&provider.entries, key) {
        let recorded: Vec<&RecordedAt> = entries.iter().map(|it| &it.entry).collect();
        let RecordedAt { address, version, .. } = &explained.entry;
        lines.push(TextLine::new(format!("{address} {version} in {}", places(&recorded, style))));
        lines.extend(signers(&explained));
        let ExplainedEntry { hashes, build, .. } = explained;
        for RecordedHash { hash, origin: from } in hashes {
            let from = from.as_ref().map_or_else(|| "not known here".to_owned(), origin);
            lines.push(TextLine::default().code(hash.to_string()).plain("  ").plain(from).indented(2));
        }
        if let Some(build) = build {
            lines.push(TextLine::new(format!("built by {}", build.place())).indented(2));
            lines.push(TextLine::new("commit: ").code(build.commit_url()).indented(2));
            lines.extend(build.run.map(|run| TextLine::new("run: ").code(run).indented(2)));
        }
    }
    lines
}

/// The signer of the release, and the keys to compare with its own.
fn signers(explained: &ExplainedEntry) -> Vec<TextLine> {
    let below = |text: String| TextLine::new(text).indented(2);
    let signer = explained.signer.as_ref().map_or_else(
        || "its signer is not known here; `tflock verify` requests it".to_owned(),
        |signer| trust::signer::signed_by(signer),
    );
    let remembered = match explained.remembered.is_empty() {
        true => "no signer is remembered for it".to_owned(),
        false => format!("remembered: {}", trust::signer::listed(&explained.remembered)),
    };
    let publisher = publisher(&explained.entry.address);
    let announced = publisher.into_iter().flat_map(|publisher| publisher.keys.iter().map(move |key| (publisher, key)));
    let announced = announced.map(|(publisher, key)| {
        // A URL is never wrapped.
        below(format!("key of {}: {}, see ", publisher.name, key.fingerprint)).code(key.source)
    });
    [below(signer), below(remembered)].into_iter().chain(announced).collect()
}

fn list(platforms: &BTreeSet<Platform>) -> String {
    platforms.iter().map(Platform::as_str).collect::<Vec<_>>().join(", ")
}

fn origin(origin: &HashOrigin) -> String {
    let platforms =
        if origin.platforms.is_empty() { "an unknown platform".to_owned() } else { list(&origin.platforms) };
    match origin.of {
        Hashed::Contents => format!("the files of the package for {platforms}"),
        Hashed::Archive => format!("the archive for {platforms}"),
        Hashed::OtherFile => "another file in the checksums, such as a manifest".to_owned(),
    }
}

/// The columns of a page that is not printed on a terminal.
const COLUMNS: usize = 80;

/// A Markdown page as text: wrapped, with headings and labels that are bold on a terminal, and indented code.
pub(in crate::report) fn page(text: &'static str, style: Style) -> String {
    let style = Style { width: style.width.or(Some(COLUMNS)), ..style };
    let parts = text.split("```").enumerate().flat_map(|(at, part)| match at % 2 {
        0 => {
            part.trim().split("\n\n").filter(|block| !block.is_empty()).map(|block| self::block(block, style)).collect()
        }
        _ => vec![code(part)],
    });
    parts.collect::<Vec<_>>().join("\n\n") + "\n"
}

/// A fenced part: the name of the language, then the code.
fn code(part: &str) -> String {
    let lines = part.trim_end().lines().skip(1);
    lines.map(|line| format!("    {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A block between two empty lines.
fn block(block: &'static str, style: Style) -> String {
    let rows: Vec<[&str; 2]> = block.lines().filter_map(cells).collect();
    if let Some((headings, [_marks, rows @ ..])) = rows.split_first()
        && rows.len() + 2 == block.lines().count()
    {
        let rows = rows.iter().map(|row| row.map(str::to_owned));
        return Table::of(*headings, rows).map_or_else(String::new, |table| table.text(style).trim_end().to_owned());
    }
    if let Some(heading) = block.strip_prefix('#') {
        return style.paint(Paint::Strong, heading.trim_start_matches(['#', ' '])).to_string();
    }
    if let Some(items) = block.strip_prefix("- ") {
        let item = |item: &str| format!("- {}", paragraph(item, style.room() - 2).join("\n  "));
        return items.split("\n- ").map(item).collect::<Vec<_>>().join("\n");
    }
    let (label, text) = block.strip_prefix("**").and_then(|rest| rest.split_once("**")).unwrap_or(("", block));
    let lines = paragraph(&format!("{label}{text}"), style.room()).join("\n");
    match lines.strip_prefix(label) {
        Some(rest) if !label.is_empty() => format!("{}{rest}", style.paint(Paint::Strong, label)),
        _ => lines,
    }
}

/// Wraps the words of some lines at `room` columns.
fn paragraph(text: &str, room: usize) -> Vec<String> {
    wrap(&text.split_whitespace().collect::<Vec<_>>().join(" ").replace("**", ""), room, room)
}

fn cells(line: &'static str) -> Option<[&'static str; 2]> {
    let (left, right) = line.strip_prefix('|')?.strip_suffix('|')?.split_once('|')?;
    (!right.contains('|')).then(|| [left.trim(), right.trim()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_fit_into_a_terminal() {
        let style = |width| Style { width: Some(width), ..Style::default() };
        let page = "# A title\n\nSome words with\n`a command` in them.\n\n**Next step.** Some more words, so that they break.\n\n- one\n  item\n- \
                    another item with many words in it\n\n```hcl\na = 1\n\nb {\n}\n```\n\n| x | y |\n|---|---|\n| 1 | two three four five six \
                    seven eight nine |\n";
        let shown = "A title\n\nSome words with `a command` in them.\n\nNext step. Some more words, so that they\nbreak.\n\n- one item\n- another item \
                     with many words in it\n\n    a = 1\n\n    b {\n    }\n\nx  y\n1  two three four five six seven eight\n   nine\n";
        assert_eq!(super::page(page, style(40)), shown);
        let elsewhere = super::page(page, Style::default());
        assert!(
            elsewhere.contains("\n\nNext step. Some more words, so that they break.\n\n- one item\n"),
            "{elsewhere}"
        );
    }
}
