//! What a report begins with, and the command that comes next: the verdict of the gate. `diff` judges nothing, so it begins with the
//! most dangerous change, and what comes next is the gate.

use crate::diff::{Risk, explain_text, risk_of_text};
use crate::finding::Level;
use crate::modulelock::ModuleChangeKind;
use crate::outcome::Outcome;
use crate::report::change::versions;
use crate::report::groups::{Changed, shared_items};
use crate::report::printable;
use crate::report::style::Style;
use crate::report::summary::Verdict;
use crate::step::Step;

#[derive(Default)]
pub(super) struct Opening {
    /// The first line of a document.
    pub(super) title: Option<String>,
    /// A command that can be copied, without control characters.
    pub(super) next: Option<String>,
    /// In how many root modules requirements were compared, unless they were in all.
    pub(super) checked: Option<String>,
}

impl Opening {
    /// `changed` is what the outcome shows of changes.
    pub(super) fn of(outcome: &Outcome, changed: &Changed<'_>, style: Style) -> Self {
        if let Some(verdict) = Verdict::of(outcome) {
            let title = Some(capitalized(&verdict.sentence()));
            return Self { title, next: verdict.next(), checked: verdict.checked() };
        }
        let is_diff = outcome.command == "diff";
        let title = if is_diff { most_dangerous(changed, style) } else { None }.map(|(_, line)| capitalized(&line));
        let is_clean = is_diff && title.is_none() && outcome.findings().all(|(_, it)| it.level() < Level::Warn);
        let next = outcome.next.as_ref().filter(|_| !is_clean).and_then(Step::command);
        Self { title, next: next.map(|command| printable(&command).into_owned()), checked: None }
    }
}

/// The last lines in a log.
pub(super) fn last_lines(outcome: &Outcome, changed: &Changed<'_>, style: Style) -> Vec<String> {
    let next = |opening: Opening| opening.next.map(|command| format!("next: `{command}`"));
    match Verdict::of(outcome) {
        Some(verdict) => verdict.lines().collect(),
        None => next(Opening::of(outcome, changed, style)).into_iter().collect(),
    }
}

fn capitalized(sentence: &str) -> String {
    let (first, rest) = sentence.split_at(1);
    first.to_uppercase() + rest
}

/// `dangerous: acme/widget 1.0.0 (CHECKSUMS REPLACED under the same version: …), and 2 more`; `None` if all is routine.
pub(super) fn most_dangerous(changed: &Changed<'_>, style: Style) -> Option<(Risk, String)> {
    let groups = changed.groups.iter().filter(|group| group.risk > Risk::Routine).map(|group| {
        let release = format!("{} {}", style.addr(&group.change.address), versions(&group.change));
        (group.risk, format!("{release} ({})", printable(group.first_part())))
    });
    let texts = shared_items(changed.texts()).into_iter();
    let texts = texts.filter_map(|(text, _)| Some((risk_of_text(text)?, explain_text(text)?.0)));
    let modules = changed.modules().into_iter().map(|(change, _)| {
        let risk = if change.kind == ModuleChangeKind::ContentReplaced { Risk::Dangerous } else { Risk::Routine };
        (risk, format!("module {} ({})", printable(&change.key.to_string()), change.sentence()))
    });
    let mut all: Vec<(Risk, String)> =
        groups.chain(texts).chain(modules).filter(|(risk, _)| *risk > Risk::Routine).collect();
    all.sort_by_key(|(risk, _)| std::cmp::Reverse(*risk));
    let (worst, first) = all.first()?;
    let others = all.iter().filter(|(risk, _)| risk == worst).count() - 1;
    let more = if others > 0 { format!(", and {others} more") } else { String::new() };
    Some((*worst, format!("{}: {first}{more}", worst.as_str())))
}
