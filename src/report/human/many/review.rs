//! What `diff` explains of many lock files.

use super::{Changed, Same, Whose};
use crate::report::human::review;
use crate::report::paint::Paint;
use crate::report::{Detail, Style};

/// Each change once, the dangerous ones first; with -v one lock file after the other.
pub(super) fn reviews(compared: &[Changed<'_>], whose: Whose, style: Style) -> String {
    if let [(_, one)] = compared {
        return review::review(one, style);
    }
    if style.detail == Detail::Verbose {
        return compared.iter().map(|(_, changes)| review::review(changes, style)).collect::<Vec<_>>().join("\n");
    }
    let mut text = titles(compared, style);
    let all = compared.iter().flat_map(|(root, changes)| changes.changes.iter().map(|change| (*root, change)));
    let columns = review::columns(all.clone().map(|(_, change)| change), style);
    let mut lines = Same::new();
    for (root, change) in all {
        lines.add(&root.path, review::Item::of(change, columns, style));
    }
    let mut lines = lines.into_items();
    lines.sort_by_key(|(item, _)| std::cmp::Reverse(item.risk));
    let mut told = Vec::new();
    for (item, paths) in lines {
        text.push_str(&whose.behind(&item.line, &paths));
        text.push_str(&item.explanation(&mut told));
    }
    let texts = Same::of(compared.iter().map(|(root, changes)| (root.path.as_path(), review::beside(changes, style))));
    for (beside, paths) in texts.into_items().into_iter().filter(|(beside, _)| !beside.is_empty()) {
        text.push_str(&whose.behind(&beside, &paths));
    }
    text
}

/// What is compared: `23 lock files: main -> the work tree`.
fn titles(compared: &[Changed<'_>], style: Style) -> String {
    let sides = compared.iter().filter_map(|(root, changes)| Some((root.path.as_path(), changes.sides.clone()?)));
    Same::of(sides).into_items().into_iter().fold(String::new(), |mut text, ([old, new], paths)| {
        let title = format!("{} lock files: {old} -> {new}", paths.len());
        text.push_str(&review::paragraph("", &crate::report::printable(&title), Paint::Strong, style));
        text
    })
}

/// How much of what, and how to see more.
pub(super) fn conclusion(compared: &[Changed<'_>], style: Style) -> String {
    review::conclusion(&compared.iter().map(|(_, changes)| *changes).collect::<Vec<_>>(), style)
}
