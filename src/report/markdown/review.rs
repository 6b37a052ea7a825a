//! The changes of lock files within a limit.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::diff::{Change, Risk, explain_text, verdict_words};
use crate::error::Error;
use crate::report::body::module_changes;
use crate::report::change::{build_pages, checksums, release_facts, signed, versions};
use crate::report::groups::{ChangeGroup, Changed, RootSummary, name, shared_items};
use crate::report::markdown::escape::{code, escaped, fenced, link_of, sentences, target};
use crate::report::parts::terminal;
use crate::report::printable;
use crate::report::style::Style;
use crate::report::summary::unanswered;

/// Room for the note about parts that are left out.
const RESERVE: usize = 500;

/// The most rows outside of folds; if there are more, routine changes are folded.
const MOST_OPEN: usize = 20;

/// The most providers that an explanation names.
const MOST_NAMES: usize = 12;

#[derive(Clone, Copy)]
pub(super) struct ReviewStyle<'a> {
    pub(super) naming: RootSummary,
    pub(super) style: Style,
    /// True if the total is said elsewhere.
    pub(super) counted: bool,
    /// The command that shows all.
    pub(super) more: &'a str,
}

/// One row for each change, an explanation of dangerous ones, then folded explanations and checksums; `None` if not
/// even the first line fits.
pub(super) fn review(changed: &Changed<'_>, room: usize, shown: ReviewStyle<'_>) -> Option<String> {
    let mut page = LimitedText { text: String::new(), room: room.checked_sub(RESERVE)?, left_out: Vec::new() };
    page.add(&intro(changed, shown.counted)).then_some(())?;
    if !page.add(&silent(changed.unanswered())) {
        page.left_out.push("why some checksums were not checked".to_owned());
    }
    table(&mut page, changed, shown);
    let style = shown.style;
    dangers(&mut page, changed, style);
    explanations(&mut page, changed, style);
    root_modules(&mut page, changed, style);
    checksum_lists(&mut page, changed, style);
    let modules = module_changes(changed.modules().iter().map(|(change, roots)| (*change, roots.len())));
    let modules = terminal(&[modules], style);
    if !modules.is_empty() && !page.add(&(fenced("", &modules) + "\n")) {
        page.left_out.push("the modules".to_owned());
    }
    let LimitedText { mut text, left_out, .. } = page;
    if !left_out.is_empty() {
        // Writing to a string cannot fail, here and below.
        let _ =
            writeln!(text, "_Left out for lack of space: {}. {} shows all._\n", left_out.join(", "), code(shown.more));
    }
    Some(text)
}

struct LimitedText {
    text: String,
    room: usize,
    left_out: Vec<String>,
}

impl LimitedText {
    fn add(&mut self, piece: &str) -> bool {
        let fits = self.text.len() + piece.len() <= self.room;
        if fits {
            self.text.push_str(piece);
        }
        fits
    }

    /// Adds pieces between two lines, as many as fit into a share of the remaining room; returns the number of the others.
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

fn intro(changed: &Changed<'_>, counted: bool) -> String {
    let mut text = String::new();
    if let [([old, new], _)] = &changed.sides()[..] {
        let _ = write!(text, "{} → {}{}", escaped(old), escaped(new), if counted { "\n\n" } else { ": " });
    }
    if !counted {
        let _ = writeln!(text, "**{}**\n", escaped(&changed.total()));
    }
    for (change, roots) in shared_items(changed.texts()) {
        let Some((what, words)) = explain_text(change) else { continue };
        let naming = if changed.files.len() > 1 { format!(" of {}", names(&roots)) } else { String::new() };
        let _ = writeln!(text, "The text{naming}: {}. {}\n", escaped(&what), sentences(&words.text()));
    }
    text
}

/// The sources without an answer.
pub(super) fn silent<'a>(errors: impl IntoIterator<Item = &'a Error>) -> String {
    let (stated, others) = unanswered(errors);
    let mut text = String::new();
    for error in stated {
        let _ = write!(text, "**Not checked:** {}", escaped(&error.message));
        for hint in &error.hints {
            let _ = write!(text, "; {}", sentences(&hint.to_string()));
        }
        text.push_str("\n\n");
    }
    if others > 0 {
        let _ = writeln!(text, "**Not checked either:** {others} more, for lack of an answer\n");
    }
    text
}

fn table(page: &mut LimitedText, changed: &Changed<'_>, shown: ReviewStyle<'_>) {
    let all = changed.groups.len();
    let head = "| | Provider | What changed |\n|---|---|---|\n";
    let row = |group: &&ChangeGroup<'_>| {
        let roots = (changed.files.len() > 1).then(|| format!("<br>{}", escaped(&shown.naming.label(&group.roots()))));
        row(group, &roots.unwrap_or_default(), shown.style)
    };
    let folds = |group: &&ChangeGroup<'_>| all > MOST_OPEN && group.risk == Risk::Routine;
    let (routine, open): (Vec<_>, Vec<_>) = changed.groups.iter().partition(folds);
    // Rows may use most of the page, since every reviewer reads them.
    let mut missing = page.add_all(head, &open.iter().map(row).collect::<Vec<_>>(), "\n", 1);
    let before = format!("<details>\n<summary>{} routine changes</summary>\n\n{head}", routine.len());
    missing += page.add_all(&before, &routine.iter().map(row).collect::<Vec<_>>(), "\n</details>\n\n", 1);
    if missing > 0 {
        page.left_out.push(format!("{missing} changes of {all}"));
    }
}

/// Few columns, so none is squeezed in a comment: facts about the release are below what changed, root modules below the version.
fn row(group: &ChangeGroup<'_>, roots: &str, style: Style) -> String {
    let (change, stated) = (&group.change, escaped(&group.headline));
    let (word, stated) = match group.risk {
        Risk::Dangerous => ("**dangerous**", format!("**{stated}**")),
        Risk::Notable => ("notable", stated),
        Risk::Routine => ("", stated),
    };
    let versions = match &change.link {
        Some(page) => format!("[{}]({})", arrow(change), target(page)),
        None => arrow(change),
    };
    let required_by = Some(group.required_by()).filter(|places| !places.is_empty());
    let required_by = required_by.map(|places| match places.strip_prefix("unknown: ") {
        Some(reason) => format!("what requires it is unknown: {}", escaped(reason)),
        None => format!("required by {}", escaped(&places)),
    });
    let lines = [stated, release(group, style), required_by.unwrap_or_default()];
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    format!("| {word} | {}<br>{versions}{roots} | {} |\n", code(&style.addr(&change.address)), lines.join("<br>"))
}

/// The facts about the release, and the rules that found something.
fn release(group: &ChangeGroup<'_>, style: Style) -> String {
    let facts = release_facts(&group.change, style).into_iter().map(|(_, words)| escaped(&words));
    let pages = build_pages(&group.change).into_iter().map(|(name, url)| format!("[{name}]({url})"));
    facts.chain(pages).chain(group.rules.iter().map(|rule| link_of(*rule))).collect::<Vec<_>>().join("; ")
}

fn arrow(change: &Change) -> String {
    escaped(&versions(change)).replace(" -&gt; ", "&nbsp;→&nbsp;")
}

/// Groups changes with equal explanations, in order of first appearance.
fn explained<'a>(groups: impl Iterator<Item = &'a ChangeGroup<'a>>, style: Style) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    let mut by_words: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for group in groups {
        let words = sentences(&group.explanation().text());
        if !by_words.contains_key(&words) {
            order.push(words.clone());
        }
        let (names, name) = (by_words.entry(words).or_default(), code(&style.addr(&group.change.address)));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let of = |words: &String| by_words.get(words).map(|names| few(names)).unwrap_or_default();
    order.iter().map(|words| format!("- {}: {words}\n", of(words))).collect()
}

fn few(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMES).filter(|left| *left > 1) {
        Some(left) => format!("{} and {left} more", names[..MOST_NAMES].join(", ")),
        None => names.join(", "),
    }
}

fn names(roots: &[&Path]) -> String {
    few(&roots.iter().map(|root| code(&name(root))).collect::<Vec<_>>())
}

fn dangers(page: &mut LimitedText, changed: &Changed<'_>, style: Style) {
    let pieces = explained(changed.groups.iter().filter(|group| group.risk == Risk::Dangerous), style);
    if page.add_all("**What is dangerous**\n\n", &pieces, "\n", 1) > 0 {
        page.left_out.push("some of what is dangerous".to_owned());
    }
}

/// Only for notable changes: routine explanations would be the same in each pull request.
fn explanations(page: &mut LimitedText, changed: &Changed<'_>, style: Style) {
    let pieces = explained(changed.groups.iter().filter(|group| group.risk == Risk::Notable), style);
    let before = "<details>\n<summary>Details</summary>\n\n";
    if page.add_all(before, &pieces, "\n</details>\n\n", 1) > 0 {
        page.left_out.push("some explanations".to_owned());
    }
}

/// The names of root modules that rows only count; root modules with equal changes are listed once.
fn root_modules(page: &mut LimitedText, changed: &Changed<'_>, style: Style) {
    let mut sets: Vec<(Vec<&Path>, Vec<String>)> = Vec::new();
    for group in changed.groups.iter().filter(|group| group.places.len() > 3) {
        let (roots, what) =
            (group.roots(), format!("{} {}", code(&style.addr(&group.change.address)), arrow(&group.change)));
        match sets.iter_mut().find(|(known, _)| *known == roots) {
            Some((_, rows)) => rows.push(what),
            None => sets.push((roots, vec![what])),
        }
    }
    let piece = |(roots, rows): &(Vec<&Path>, Vec<String>)| {
        let names: Vec<String> = roots.iter().map(|root| code(&name(root))).collect();
        format!("- {}: {}\n", few(rows), names.join(", "))
    };
    let pieces: Vec<String> = sets.iter().map(piece).collect();
    let missing = page.add_all("<details>\n<summary>Root modules</summary>\n\n", &pieces, "\n</details>\n\n", 2);
    if missing > 0 {
        page.left_out.push("the names of some root modules".to_owned());
    }
}

/// The checksums, unless they changed because of another version.
fn checksum_lists(page: &mut LimitedText, changed: &Changed<'_>, style: Style) {
    let about_hashes = changed.groups.iter().filter(|group| group.is_about_hashes());
    let lists: Vec<String> = about_hashes.filter_map(|group| list(&group.change, style)).collect();
    let before = "<details>\n<summary>Added and removed checksums</summary>\n\n";
    let missing = page.add_all(before, &lists, "</details>\n\n", 1);
    if missing > 0 {
        page.left_out.push(format!("the checksums of {missing} changes"));
    }
}

/// Each checksum with its verdict, removed ones first.
fn list(change: &Change, style: Style) -> Option<String> {
    let mut checksums = checksums(change);
    checksums.sort_by_key(|checksum| checksum.is_added);
    let lines = checksums.iter().map(|checksum| {
        let verdict = checksum.verdict.map(|verdict| format!(" ({})", verdict_words(verdict, change)));
        printable(&(checksum.line() + &verdict.unwrap_or_default())).into_owned()
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| {
        let signed = signed(change).map(|signed| format!(", {}", escaped(&signed))).unwrap_or_default();
        let name = format!("{} {}{signed}", code(&style.addr(&change.address)), arrow(change));
        format!("{name}\n\n{}\n", fenced("diff", &lines.join("\n")))
    })
}
