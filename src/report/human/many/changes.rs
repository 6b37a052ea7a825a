//! The changes of `lock` and related commands in several root modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use crate::outcome::{Changes, RootOutcome};
use crate::report::annotation::signed;
use crate::report::failure::helps;
use crate::report::groups::{RootSummary, Same};
use crate::report::human::changes as of_one;
use crate::report::paint::Paint;
use crate::report::wrap::{flow, width};
use crate::report::{Style, printable, shown};
use crate::trust::pins::Signer;

type Written<'a> = (&'a RootOutcome, &'a Changes);

/// Signers at the top, then each change once, then changes of the trust file.
pub(super) fn items(changed: &[Written<'_>], naming: RootSummary, style: Style) -> String {
    let mut text = signers(changed, style);
    let mut lines = Same::new();
    let mut learned = Same::new();
    let mut diffs = Same::new();
    for (root, changes) in changed {
        for change in &changes.changes {
            lines.add(&root.path, (change.address.to_string(), of_one::item(change, style)));
        }
        if changes.changed && changes.changes.is_empty() && changes.edited.is_empty() {
            lines.add(&root.path, (String::new(), of_one::Item::of_text()));
        }
        if let Some(trust) = &changes.trust {
            for line in of_one::learned(changes, trust, style) {
                learned.add(&root.path, line);
            }
        }
        if let Some(diff) = changes.diff.as_deref().filter(|diff| !diff.is_empty()) {
            // Each of several files must be named.
            diffs.add(&root.path, if changes.edited.is_empty() { without_names(diff) } else { diff });
        }
    }
    let mut lines = lines.into_items();
    lines.sort_by(|((one, _), _), ((other, _), _)| one.cmp(other));
    text.extend(lines.into_iter().map(|((_, item), paths)| behind(&item, (naming, &paths), style)));
    text.extend(learned.into_items().into_iter().map(|(line, _)| line + "\n"));
    for (diff, paths) in diffs.into_items() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}:", naming.label(&paths));
        text.push_str(&of_one::diff(diff, style));
    }
    text
}

/// An item with its root modules at the end of the line; with -v every name is below.
fn behind(item: &of_one::Item, (naming, paths): (RootSummary, &[&Path]), style: Style) -> String {
    let names_of = naming.label(paths);
    let fits = style.width.is_none() || item.columns + "  ".len() + width(&names_of) <= style.room();
    let between = if fits { "  " } else { "\n    " };
    let names = naming.names_below(paths).unwrap_or_default();
    format!("{}{between}{names_of}\n{names}{}", item.line, item.hashes)
}

/// A unified diff without the lines that name the file.
fn without_names(diff: &str) -> &str {
    diff.find("@@").map_or(diff, |at| &diff[at..])
}

/// The end of the text for a signer that this run remembered.
const FIRST_USE: &str = "first use)";

fn signers(changed: &[Written<'_>], style: Style) -> String {
    let mut signers: BTreeMap<(bool, String), BTreeSet<String>> = BTreeMap::new();
    for change in changed.iter().flat_map(|(_, changes)| &changes.changes) {
        if let Some(signed) = signed(change) {
            let key = (change.signer != Some(Signer::Unsigned), signed);
            signers.entry(key).or_default().insert(style.addr(&change.address));
        }
    }
    // A first use in one lock file is a pin for the following ones.
    let first: BTreeSet<String> = signers
        .iter()
        .filter(|((_, signed), _)| signed.ends_with(FIRST_USE))
        .flat_map(|(_, addrs)| addrs.clone())
        .collect();
    for ((_, signed), addrs) in &mut signers {
        if !signed.ends_with(FIRST_USE) {
            addrs.retain(|addr| !first.contains(addr));
        }
    }
    signers.retain(|_, addrs| !addrs.is_empty());
    signers.into_iter().fold(String::new(), |mut text, ((is_signed, signed), addrs)| {
        let addrs: Vec<String> = addrs.into_iter().collect();
        let line = flow(0, &format!("{}: {}", printable(&signed), addrs.join(", ")), style);
        let _ =
            if is_signed { writeln!(text, "{line}") } else { writeln!(text, "{}", style.paint(Paint::Careful, line)) };
        text
    })
}

pub(super) fn conclusion(changed: &[Written<'_>], style: Style) -> String {
    let written: Vec<&Changes> = of(changed, |changes| changes.written).collect();
    let edited: BTreeSet<&Path> =
        written.iter().flat_map(|changes| &changes.edited).map(std::path::PathBuf::as_path).collect();
    let trust: BTreeSet<&Path> = of(changed, |_| true)
        .filter_map(|changes| changes.trust.as_ref())
        .filter(|trust| trust.written)
        .map(|trust| trust.path.as_path())
        .collect();
    let lock_files =
        written.iter().filter(|changes| !changes.lock_stays).map(|changes| changes.path.as_path()).collect();
    let files = [(edited, "configuration files"), (lock_files, "lock files"), (trust, "trust files")];
    let files: Vec<String> = files.into_iter().filter_map(|(paths, word)| counted(&paths, word)).collect();
    let mut text = match &files[..] {
        [] => String::new(),
        [one] => format!("review and commit {one}\n"),
        [all @ .., last] => format!("review and commit {} and {last}\n", all.join(", ")),
    };
    let advice: BTreeSet<&String> = changed.iter().flat_map(|(_, changes)| changes.advice.iter()).collect();
    helps(&mut text, advice, style);
    text
}

fn of<'a>(changed: &'a [Written<'_>], which: impl Fn(&Changes) -> bool) -> impl Iterator<Item = &'a Changes> {
    changed.iter().map(|(_, changes)| *changes).filter(move |changes| which(changes))
}

/// A file by name, several files by their number.
fn counted(paths: &BTreeSet<&Path>, word: &str) -> Option<String> {
    let first = paths.first()?;
    Some(if paths.len() == 1 { printable(&shown(first)).into_owned() } else { format!("{} {word}", paths.len()) })
}
