//! The body of a commit message: one item for each provider.

use std::fmt::Write;

use super::annotation::versions;
use super::summary::name;
use super::wrap::wrap;
use super::{Style, printable};
use crate::diff::Change;
use crate::diff::{explain_text, headline};
use crate::outcome::{Body, Outcome};

/// How wide the lines of a commit message are.
const WIDTH: usize = 72;

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let mut text = String::new();
    for root in &outcome.roots {
        let Ok(Body::Changes(changes)) = &root.body else { continue };
        if outcome.many {
            let separator = if text.is_empty() { "" } else { "\n" };
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(text, "{separator}In {}:\n", printable(&name(root)));
        }
        for change in &changes.changes {
            bullet(&mut text, &line(change, style));
        }
        if let Some((what, _)) = explain_text(changes.text) {
            bullet(&mut text, &what);
        }
    }
    text
}

fn line(change: &Change, style: Style) -> String {
    let addr = style.addr(&change.address);
    format!("{addr} {}: {}", versions(change), printable(&headline(change).join("; ")))
}

/// A list item. It never begins with `#`, which git takes for a comment.
fn bullet(text: &mut String, item: &str) {
    for (at, line) in wrap(item, WIDTH - 2, WIDTH - 2).iter().enumerate() {
        let _ = writeln!(text, "{} {line}", if at == 0 { '-' } else { ' ' });
    }
}
