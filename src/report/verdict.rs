//! The verdict of a gate: in words, with the count of findings and the one command that comes next. Documents begin with it. On a
//! terminal and in a log it is the last line, where the eye is when the command ends.

use crate::count::counted;
use crate::exit_code::ExitCode;
use crate::finding::{Class, Level, Rule};
use crate::outcome::Outcome;
use crate::report::groups::RootSummary;
use crate::report::problems::{FindingGroup, advice, grouped_findings};
use crate::report::{Style, printable};
use crate::step::Step;

pub(super) struct Verdict {
    pub(super) word: &'static str,
    denied: usize,
    warned: usize,
    /// A command that can be copied.
    next: Option<String>,
}

impl Verdict {
    /// `None` for a command that judges nothing, and for a `diff` without findings.
    pub(super) fn of(outcome: &Outcome) -> Option<Self> {
        let groups = grouped_findings(outcome.findings(), Style::default());
        let count = |level| groups.iter().filter(|group| group.first.level == level).count();
        let (denied, warned) = (count(Level::Deny), count(Level::Warn));
        let code = match outcome.command {
            "verify" => outcome.code,
            // Its exit code says that it could explain the change.
            "diff" if denied > 0 => ExitCode::Refused,
            "diff" if warned > 0 => ExitCode::Done,
            _ => return None,
        };
        let next = next(outcome, &groups);
        Some(Self { word: word(code, warned > 0), denied, warned, next })
    }

    /// True if there is nothing to say but that all passed.
    pub(super) fn is_plain(&self) -> bool {
        self.denied + self.warned == 0 && self.word == PASSED
    }

    /// `refused: 2 findings denied, 1 warning`.
    pub(super) fn sentence(&self) -> String {
        let denied = (self.denied > 0).then(|| counted(self.denied, "finding") + " denied");
        let warned = (self.warned > 0).then(|| counted(self.warned, "warning"));
        let counts: Vec<String> = denied.into_iter().chain(warned).collect();
        if counts.is_empty() { self.word.to_owned() } else { format!("{}: {}", self.word, counts.join(", ")) }
    }

    /// The same at the beginning of a document.
    pub(super) fn title(&self) -> String {
        let sentence = self.sentence();
        let (first, rest) = sentence.split_at(1);
        first.to_uppercase() + rest
    }

    /// The command that comes next, without control characters.
    pub(super) fn next(&self) -> Option<String> {
        self.next.as_deref().map(|command| printable(command).into_owned())
    }

    /// The last lines in a log.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let sentence = (!self.is_plain()).then(|| self.sentence());
        sentence.into_iter().chain(self.next().map(|command| format!("next: `{command}`")))
    }
}

const PASSED: &str = "passed";

/// The word of an exit code for users.
pub(super) fn word(code: ExitCode, has_warnings: bool) -> &'static str {
    match code {
        ExitCode::Done if has_warnings => "passed with warnings",
        ExitCode::Done => PASSED,
        ExitCode::Findings | ExitCode::Refused => "refused",
        ExitCode::Failed | ExitCode::Inconclusive => "could not be checked",
        ExitCode::Interrupted | ExitCode::Terminated => "interrupted",
    }
}

/// The command for the worst findings; without findings that for the first question without an answer.
fn next(outcome: &Outcome, groups: &[FindingGroup<'_>]) -> Option<String> {
    let worst = groups.iter().map(|group| group.first.level).max().filter(|level| *level > Level::Note);
    let is_open = worst != Some(Level::Deny) && outcome.errors().next().is_some();
    let Some(worst) = worst.filter(|_| !is_open) else {
        let hinted = outcome.errors().flat_map(|(_, error)| &error.hints).find_map(Step::command);
        return hinted.or_else(|| again(outcome).command()).filter(|_| outcome.code != ExitCode::Done);
    };
    let of_worst: Vec<&FindingGroup<'_>> = groups.iter().filter(|group| group.first.level == worst).collect();
    // What may be an attack is looked into before anything is accepted or written.
    if let Some(group) = of_worst.iter().find(|group| worst == Level::Deny && needs_a_look(group.first.rule)) {
        return explain(group.first.rule).command();
    }
    if of_worst.iter().any(|group| group.first.repairable) {
        return fix(outcome).command();
    }
    let advice = advice(groups, RootSummary::of(outcome, Style::default()));
    let steps = groups.iter().zip(&advice).filter(|(group, _)| group.first.level == worst);
    let command = steps.map(|(_, step)| step).find_map(Step::command);
    command.or_else(|| explain(of_worst.first()?.first.rule).command())
}

/// The same check once more.
fn again(outcome: &Outcome) -> Step {
    let base = outcome.base().map(|base| step!("`tflock verify --base {}`", base.revision));
    base.unwrap_or_else(|| step!("`tflock verify`")).at(outcome.place.clone())
}

/// The same check with repairs: what it cannot repair it lists.
fn fix(outcome: &Outcome) -> Step {
    let base = outcome.base().map(|base| step!("`tflock verify --fix --base {}`", base.revision));
    base.unwrap_or_else(|| step!("`tflock verify --fix`")).at(outcome.place.clone())
}

/// True if a person decides: no command is right for each such finding.
fn needs_a_look(rule: Rule) -> bool {
    rule.class() != Class::Other && ![Rule::HashesDropped, Rule::PinsNothing].contains(&rule)
}

fn explain(rule: Rule) -> Step {
    step!("`tflock explain {}`", rule.id())
}
