//! The result of `explain` for users, and pages of documentation.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::finding::{Level, Rule};
use crate::hash::PackageHash;
use crate::outcome::{
    Explained, ExplainedEntry, ExplainedHash, ExplainedProvider, HashOrigin, Hashed, ItemRule, RecordedAt, RecordedHash,
};
use crate::platform::Platform;
use crate::report::change::same_archives;
use crate::report::groups::grouped;
use crate::report::layout::Table;
use crate::report::parts::{Part, TextLine, lines};
use crate::report::shown;
use crate::report::style::{Detail, Style};
use crate::topics::{TOPICS, of_rule};
use crate::trust;
use crate::trust::publishers::publisher;
use crate::witness::{Opinion, WitnessAnswer};

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
    for ((addr, version), recorded) in grouped(explained.recorded.iter().map(|at| ((&at.address, &at.version), at))) {
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
    for (explained, entries) in grouped(provider.entries.iter().map(|entry| (key(entry), entry))) {
        let recorded: Vec<&RecordedAt> = entries.iter().map(|it| &it.entry).collect();
        let RecordedAt { address, version, .. } = &explained.entry;
        lines.push(TextLine::new(format!("{address} {version} in {}", places(&recorded, style))));
        lines.extend(signers(&explained));
        lines.extend(explained.witnesses.as_deref().into_iter().flat_map(witnesses));
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
        trust::signer::signed_by,
    );
    let remembered = if explained.remembered.is_empty() {
        "no signer is remembered for it".to_owned()
    } else {
        format!("remembered: {}", trust::signer::listed(&explained.remembered))
    };
    let publisher = publisher(&explained.entry.address);
    let announced = publisher.into_iter().flat_map(|publisher| publisher.keys.iter().map(move |key| (publisher, key)));
    let announced = announced.map(|(publisher, key)| {
        // A URL is never wrapped.
        below(format!("key of {}: {}, see ", publisher.name, key.fingerprint)).code(key.source)
    });
    [below(signer), below(remembered)].into_iter().chain(announced).collect()
}

/// What other places say of the release.
fn witnesses(answers: &[WitnessAnswer]) -> Vec<TextLine> {
    let below = |text: String| TextLine::new(text).indented(2);
    if answers.is_empty() {
        return vec![below("the settings name no witness that can have its archives".to_owned())];
    }
    let said = answers.iter().map(|WitnessAnswer { place, opinion, unanswered }| match (opinion, unanswered) {
        (Opinion::Agrees(count), _) => format!("{place} has {}", same_archives(*count)),
        (Opinion::Differs { file, here, there }, _) => {
            format!("{place} has another {file}: {} there, {} here", there.to_hex(), here.to_hex())
        }
        (Opinion::Silent, Some(why)) => format!("{place} says nothing of it: {why}"),
        (Opinion::Silent, None) => format!("{place} has no archive of it"),
    });
    said.map(below).collect()
}

fn list(platforms: &BTreeSet<Platform>) -> String {
    platforms.iter().map(Platform::as_str).collect::<Vec<_>>().join(", ")
}

fn origin(origin: &HashOrigin) -> String {
    let platforms =
        if origin.platforms.is_empty() { "an unknown platform".to_owned() } else { list(&origin.platforms) };
    match origin.covers {
        Hashed::Contents => format!("the files of the package for {platforms}"),
        Hashed::Archive => format!("the archive for {platforms}"),
        Hashed::OtherFile => "another file in the checksums, such as a manifest".to_owned(),
    }
}
