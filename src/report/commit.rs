//! A commit message: a subject for all changes, then one item for each.

use std::fmt::Write;

use crate::diff::{ChangeKind, explain_text};
use crate::outcome::Outcome;
use crate::report::change::versions;
use crate::report::groups::{ChangeGroup, Changed, RootSummary, root_modules, shared_items};
use crate::report::layout::{width, wrap};
use crate::report::printable;
use crate::report::style::Style;

/// The width of lines in a commit message.
const WIDTH: usize = 72;

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let changed = Changed::of(&outcome.roots);
    let naming = RootSummary::of(outcome, style);
    let several = changed.files.len() > 1;
    let mut items: Vec<String> = Vec::new();
    for group in &changed.groups {
        let roots = if several { format!("; {}", naming.label(&group.roots())) } else { String::new() };
        let addr = style.addr(&group.change.address);
        items.push(format!("{addr} {}: {}{roots}", versions(&group.change), printable(&group.headline)));
    }
    for (change, roots) in shared_items(changed.texts()) {
        let roots = if several { format!("; {}", naming.label(&roots)) } else { String::new() };
        items.extend(explain_text(change).map(|(what, _)| what + &roots));
    }
    for (change, roots) in changed.modules() {
        let roots = if several { format!("; {}", naming.label(&roots)) } else { String::new() };
        items.push(printable(&format!("module {}: {}{roots}", change.key, change.sentence())).into_owned());
    }
    if items.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n\n", subject(&changed, style));
    for item in &items {
        bullet(&mut text, item);
    }
    text
}

/// `Upgrade hashicorp/aws to 5.100.0 in 60 root modules`, or a shorter text that fits into a line.
fn subject(changed: &Changed<'_>, style: Style) -> String {
    let roots = match changed.files.len() {
        1 => String::new(),
        count => format!(" in {}", root_modules(count)),
    };
    let mut addresses: Vec<_> = changed.groups.iter().map(|group| &group.change.address).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let kinds: Vec<ChangeKind> = changed.groups.iter().map(|group| group.change.kind).collect();
    let same = kinds.first().filter(|first| kinds.iter().all(|kind| kind == *first));
    let what = match (&changed.groups[..], same, addresses.len()) {
        ([], ..) if changed.files.iter().any(|file| !file.modules.is_empty()) => "Change locked modules".to_owned(),
        ([], ..) => "Change the text of the dependency lock file".to_owned(),
        ([one], ..) => of_one(one, style),
        ([first, ..], Some(kind), 1) => format!("{} {}", verb(*kind), style.addr(&first.change.address)),
        (_, Some(kind), count) => format!("{} {count} providers", verb(*kind)),
        (_, None, 1) => format!("Change {}", style.addr(addresses[0])),
        (_, None, count) => format!("Change {count} locked providers"),
    };
    let short = |what: &str| width(what) + width(&roots) <= WIDTH;
    let what = if short(&what) { what } else { format!("Change {} locked providers", addresses.len()) };
    printable(&(what + &roots)).into_owned()
}

fn of_one(group: &ChangeGroup<'_>, style: Style) -> String {
    let change = &group.change;
    let new = change.new.as_ref().map(|new| new.version.to_string()).unwrap_or_default();
    let (verb, addr) = (verb(change.kind), style.addr(&change.address));
    match change.kind {
        ChangeKind::Upgraded | ChangeKind::Downgraded => format!("{verb} {addr} to {new}"),
        ChangeKind::Added => format!("{verb} {addr} {new}"),
        _ => format!("{verb} {addr}"),
    }
}

fn verb(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "Lock",
        ChangeKind::Removed => "Remove",
        ChangeKind::Upgraded => "Upgrade",
        ChangeKind::Downgraded => "Downgrade",
        ChangeKind::ConstraintsChanged => "Change constraints of",
        ChangeKind::HashesChanged | ChangeKind::HashesReplaced => "Change hashes of",
        ChangeKind::Moved => "Move",
    }
}

fn bullet(text: &mut String, item: &str) {
    for (at, line) in wrap(item, WIDTH - 2, WIDTH - 2).iter().enumerate() {
        let _ = writeln!(text, "{} {line}", if at == 0 { '-' } else { ' ' });
    }
}
