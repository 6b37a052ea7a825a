//! The changes of one lock file within a budget.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::escape::{code, escaped, fenced, sentences, target};
use crate::diff::Change;
use crate::diff::{Risk, explain, explain_text, headline, risk, verdict_words};
use crate::error::Error;
use crate::hash::PackageHash;
use crate::outcome::Changes;
use crate::platform::Platform;
use crate::report::annotation::{signed, versions};
use crate::report::summary::{of_changes, unanswered};
use crate::report::{Style, printable};

/// What the words about something left out may need.
const RESERVE: usize = 500;

/// The most rows that are open to everybody; of more, those of routine changes are folded away.
const MOST_OPEN: usize = 20;

/// The most providers that an explanation names.
const MOST_NAMES: usize = 12;

const HEAD: &str = "| | Provider | Version | What changed |\n|---|---|---|---|\n";

/// The table, what is dangerous in words, then explanations and checksums folded away; none if not even the first line
/// fits.
pub(super) fn review(changes: &Changes, room: usize, style: Style) -> Option<String> {
    let mut page = Page { text: String::new(), room: room.checked_sub(RESERVE)?, left_out: Vec::new() };
    page.add(&intro(changes)).then_some(())?;
    if !page.add(&silent(&changes.inconclusive)) {
        page.left_out.push("why some checksums were not checked".to_owned());
    }
    table(&mut page, changes, style);
    dangers(&mut page, changes, style);
    explanations(&mut page, changes, style);
    checksums(&mut page, changes, style);
    let Page { mut text, left_out, .. } = page;
    if !left_out.is_empty() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "_Left out for lack of space: {}. `tflock diff -v` tells all._\n", left_out.join(", "));
    }
    Some(text)
}

/// A text that never grows above its room.
struct Page {
    text: String,
    room: usize,
    left_out: Vec<String>,
}

impl Page {
    /// Adds a piece if it fits.
    fn add(&mut self, piece: &str) -> bool {
        let fits = self.text.len() + piece.len() <= self.room;
        if fits {
            self.text.push_str(piece);
        }
        fits
    }

    /// Adds pieces between two lines, as many as fit into a share of what is left; gives how many did not.
    fn add_all(&mut self, before: &str, pieces: &[String], after: &str, share: usize) -> usize {
        let left = self.room.saturating_sub(self.text.len());
        let mut room = (left / share).saturating_sub(before.len() + after.len());
        let fitting = pieces.iter().take_while(|piece| {
            let fits = piece.len() <= room;
            room = room.saturating_sub(piece.len());
            fits
        });
        let fitting: Vec<&str> = fitting.map(String::as_str).collect();
        if !fitting.is_empty() {
            let _ = write!(self.text, "{before}{}{after}", fitting.concat());
        }
        pieces.len() - fitting.len()
    }
}

fn intro(changes: &Changes) -> String {
    let sides = changes.sides.as_ref().map(|[old, new]| format!("{} → {}: ", escaped(old), escaped(new)));
    let mut text = format!("{}**{}**\n\n", sides.unwrap_or_default(), escaped(&of_changes(&[changes])));
    if let Some((what, words)) = explain_text(changes.text) {
        let _ = writeln!(text, "The text: {}. {}\n", escaped(&what), sentences(&words.text()));
    }
    text
}

/// The sources that gave no answer.
pub(super) fn silent<'a>(errors: impl IntoIterator<Item = &'a Error>) -> String {
    let (told, others) = unanswered(errors);
    let mut text = String::new();
    for error in told {
        let _ = write!(text, "**Not checked:** {}", escaped(&error.message));
        for hint in &error.hints {
            let _ = write!(text, "; {}", sentences(hint));
        }
        text.push_str("\n\n");
    }
    if others > 0 {
        let _ = writeln!(text, "**Not checked either:** {others} more, for lack of an answer\n");
    }
    text
}

fn table(page: &mut Page, changes: &Changes, style: Style) {
    let all = changes.changes.len();
    let folds = |change: &&Change| all > MOST_OPEN && risk(change) == Risk::Routine;
    let (routine, open): (Vec<&Change>, Vec<&Change>) = changes.changes.iter().partition(folds);
    let rows = |changes: Vec<&Change>| changes.into_iter().map(|change| row(change, style)).collect::<Vec<_>>();
    // The rows may have most of the page: they are what everybody reads.
    let mut missing = page.add_all(HEAD, &rows(open), "\n", 1);
    let before = format!("<details>\n<summary>{} routine changes</summary>\n\n{HEAD}", routine.len());
    missing += page.add_all(&before, &rows(routine), "\n</details>\n\n", 1);
    if missing > 0 {
        page.left_out.push(format!("{missing} providers of {all}"));
    }
}

fn row(change: &Change, style: Style) -> String {
    let told = escaped(&headline(change).join("; "));
    let (word, told) = match risk(change) {
        Risk::Dangerous => ("**dangerous**", format!("**{told}**")),
        Risk::Notable => ("notable", told),
        Risk::Routine => ("", told),
    };
    let versions = match &change.link {
        Some(page) => format!("[{}]({})", arrow(change), target(page)),
        None => arrow(change),
    };
    format!("| {word} | {} | {versions} | {told} |\n", code(&style.addr(&change.address)))
}

/// The versions of a change, never broken into two lines.
fn arrow(change: &Change) -> String {
    escaped(&versions(change)).replace(" -&gt; ", "&nbsp;→&nbsp;")
}

/// The changes of equal explanation, in the order in which they come.
fn explained<'a>(changes: impl Iterator<Item = &'a Change>, style: Style) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    let mut by_words: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for change in changes {
        let words = sentences(&explain(change).text());
        if !by_words.contains_key(&words) {
            order.push(words.clone());
        }
        by_words.entry(words).or_default().push(code(&style.addr(&change.address)));
    }
    let of = |words: &String| by_words.get(words).map(|names| few(names)).unwrap_or_default();
    order.iter().map(|words| format!("- {}: {words}\n", of(words))).collect()
}

/// The first names of many.
fn few(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMES).filter(|left| *left > 1) {
        Some(left) => format!("{} and {left} more", names[..MOST_NAMES].join(", ")),
        None => names.join(", "),
    }
}

fn dangers(page: &mut Page, changes: &Changes, style: Style) {
    let dangerous = changes.changes.iter().filter(|change| risk(change) == Risk::Dangerous);
    let pieces = explained(dangerous, style);
    if page.add_all("**What is dangerous**\n\n", &pieces, "\n", 1) > 0 {
        page.left_out.push("some of what is dangerous".to_owned());
    }
}

fn explanations(page: &mut Page, changes: &Changes, style: Style) {
    let others = changes.changes.iter().filter(|change| risk(change) != Risk::Dangerous);
    let pieces = explained(others, style);
    let before = "<details>\n<summary>Why, and what follows</summary>\n\n";
    if page.add_all(before, &pieces, "\n</details>\n\n", 1) > 0 {
        page.left_out.push("some explanations".to_owned());
    }
}

fn checksums(page: &mut Page, changes: &Changes, style: Style) {
    let lists: Vec<String> = changes.changes.iter().filter_map(|change| list(change, style)).collect();
    let before = "<details>\n<summary>Checksums that came and went</summary>\n\n";
    let missing = page.add_all(before, &lists, "</details>\n\n", 1);
    if missing > 0 {
        page.left_out.push(format!("the checksums of {missing} providers"));
    }
}

/// Each checksum with what is known of it.
fn list(change: &Change, style: Style) -> Option<String> {
    let line = |sign: char, hash: &PackageHash| {
        let judged = change.judged.get(hash);
        let platforms = judged.into_iter().flat_map(|judged| &judged.platforms);
        let named: Vec<&str> = [hash.as_str()].into_iter().chain(platforms.map(Platform::as_str)).collect();
        let words = judged.map(|judged| format!(" ({})", verdict_words(judged.verdict, change))).unwrap_or_default();
        format!("{sign} {}{words}", named.join(" "))
    };
    let removed = change.hashes_removed.iter().map(|hash| line('-', hash));
    let added = change.hashes_added.iter().map(|added| line('+', &added.hash));
    let lines: Vec<String> = removed.chain(added).map(|line| printable(&line).into_owned()).collect();
    (!lines.is_empty()).then(|| {
        let signed = signed(change).map(|signed| format!(", {}", escaped(&signed))).unwrap_or_default();
        let name = format!("{} {}{signed}", code(&style.addr(&change.address)), arrow(change));
        format!("{name}\n\n{}\n", fenced("diff", &lines.join("\n")))
    })
}
