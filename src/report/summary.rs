//! An outcome in a few lines: the results of root modules in numbers, the names of those with problems, and the verdict of a
//! gate: in words, with the count of findings and the one command that comes next. Documents begin with the verdict. On a
//! terminal and in a log it is the last line, where the eye is when the command ends.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::error::{Error, ExitCode};
use crate::finding::{Class, Finding, Level, Rule};
use crate::outcome::{Body, Need, Outcome, Outdated, RootOutcome};
use crate::report::groups::{
    Changed, MOST_NAMES, RootSummary, first_names, grouped, kinds, root_modules, root_modules_of, shared_items,
};
use crate::report::problems::{FindingGroup, advice, grouped_findings};
use crate::report::style::{Detail, Paint, Style};
use crate::report::{printable, shown};
use crate::step::{CommandLine, Step};
use crate::verify::Verified;
use crate::words::{counted, nonzero};

/// One line for each root module; for several, their totals and one line for those with equal problems.
pub(super) fn lines(outcome: &Outcome) -> Vec<String> {
    if outcome.unlooked.is_some() {
        return Vec::new();
    }
    if outcome.roots.is_empty() && outcome.work_tree.is_none() {
        return vec!["no lock file changed".to_owned()];
    }
    if outcome.command == "verify" && outcome.many {
        return ends(outcome, Style::default()).lines().map(str::to_owned).collect();
    }
    let total = if outcome.many { total(outcome) } else { None };
    // Of several root modules those without problems are only counted, and reviews are counted together.
    let is_review = |root: &RootOutcome| outcome.many && matches!(root.body, Ok(Body::Review(_)));
    let reviews = Changed::of(outcome.roots.iter().filter(|root| is_review(root)));
    let reviews = (!reviews.files.is_empty()).then(|| reviews.total());
    let parts = outcome.roots.iter().filter(|root| total.is_none() || !is_clean(root));
    let parts = parts.filter(|root| !is_review(root) || counted_findings(&root.findings).is_some());
    let failed = outcome.error.iter().map(|error| format!("failed: {}", error.message));
    let naming = RootSummary::of(outcome, Style::default());
    let parts = grouped(parts.map(|root| (of_root(outcome, root), root))).into_iter().map(|(what, roots)| {
        let mut paths: Vec<&Path> = roots.iter().map(|root| &*root.path).collect();
        paths.dedup();
        match paths[..] {
            [_] => format!("{}: {what}", file_name(roots[0])),
            _ => format!("{}: {what}", naming.label(&paths)),
        }
    });
    total.clone().into_iter().chain(reviews).chain(parts).chain(failed).collect()
}

pub(super) fn is_clean(root: &RootOutcome) -> bool {
    let unremarked = root.findings.iter().all(|finding| finding.level() < Level::Warn);
    match &root.body {
        Ok(Body::Verified(verified)) => unremarked && verified.inconclusive.is_empty(),
        Ok(Body::Changes(changes)) => unremarked && !changes.changed,
        Ok(_) | Err(_) => false,
    }
}

/// The lock file, or the directory of its root module.
pub(super) fn file_name(root: &RootOutcome) -> String {
    match &root.body {
        Ok(Body::Changes(changes)) => shown(&changes.path),
        Ok(Body::Review(review)) => shown(&review.path),
        _ if root.path.as_os_str().is_empty() => ".".to_owned(),
        _ => shown(&root.path),
    }
}

fn of_root(outcome: &Outcome, root: &RootOutcome) -> String {
    let findings = counted_findings(&root.findings);
    match &root.body {
        Ok(Body::Changes(_) | Body::Review(_)) => {
            [Changed::of([root]).total()].into_iter().chain(findings).collect::<Vec<_>>().join("; ")
        }
        Ok(Body::Verified(verified)) => verdict(outcome, verified, &root.findings),
        Ok(_) => findings.unwrap_or_else(|| "no findings".to_owned()),
        Err(error) => format!("failed: {}", error.message),
    }
}

fn counted_findings(found: &[Finding]) -> Option<String> {
    let count = |level| found.iter().filter(|finding| finding.level() == level).count();
    let denied = Some(count(Level::Deny)).filter(|count| *count > 0).map(|count| format!("{count} denied"));
    let others = [(count(Level::Warn), "warning"), (count(Level::Note), "note")];
    let others = others.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun));
    let parts: Vec<String> = denied.into_iter().chain(others).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The most sources without an answer that a report names.
const MOST_UNANSWERED: usize = 3;

/// The first sources without an answer, each once, and the number of the others.
pub(super) fn unanswered<'a>(errors: impl IntoIterator<Item = &'a Error>) -> (Vec<&'a Error>, usize) {
    let mut parts: Vec<&Error> = Vec::new();
    for error in errors {
        if !parts.contains(&error) {
            parts.push(error);
        }
    }
    let left = parts.len().saturating_sub(MOST_UNANSWERED);
    parts.truncate(MOST_UNANSWERED);
    (parts, left)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Reported,
    Unchanged,
    NotChecked,
    PartlyChecked,
    Newest,
    Excluded,
    SignerRefused,
    Same,
    HashesOnly,
    Passed,
    Warned,
    Unread,
    Upgradable,
    Differs,
    Changed,
    Inconclusive,
    Refused,
    Failed,
}

/// In the order of the summary; results without a word are not counted.
const WORDS: [(End, &str); 17] = [
    (End::Changed, "changed"),
    (End::Differs, "would change"),
    (End::Upgradable, "can be upgraded"),
    (End::SignerRefused, "with a newer release whose signer is refused"),
    (End::Newest, "at the newest allowed versions"),
    (End::Excluded, "at a version that is not allowed"),
    (End::Same, "up to date"),
    (End::HashesOnly, "complete, requirements not read"),
    (End::Passed, "passed"),
    (End::Warned, "passed with warnings"),
    (End::Unread, "passed, requirements not read"),
    (End::Unchanged, "unchanged"),
    (End::NotChecked, "not checked"),
    (End::PartlyChecked, "not fully checked"),
    (End::Refused, "refused"),
    (End::Inconclusive, "inconclusive"),
    (End::Failed, "failed"),
];

/// `40 root modules: 38 changed, 2 failed`, and one line for those that failed, are inconclusive or are refused for one reason.
pub(super) fn ends(outcome: &Outcome, style: Style) -> String {
    let Some(mut text) = total(outcome).filter(|_| outcome.unlooked.is_none()) else { return String::new() };
    text.push('\n');
    let roots = worst(outcome);
    for (worst, word) in [(End::Inconclusive, "inconclusive"), (End::Refused, "refused"), (End::Failed, "failed")] {
        let label = style.paint(Paint::Bad, format!("{word}:"));
        let tree = outcome.work_tree.iter().map(|tree| why(&tree.findings)).filter(|why| !why.is_empty());
        // Writing to a string cannot fail, here and below.
        for why in tree.filter(|_| worst == End::Refused) {
            let _ = writeln!(text, "{label} the repository{why}");
        }
        let of = roots.iter().filter(|(_, (end, _))| *end == worst);
        for (why, paths) in shared_items(of.map(|(path, (_, root))| (*path, why(&root.findings)))) {
            let count = root_modules(paths.len());
            let _ = match paths.len() {
                ..=MOST_NAMES => writeln!(text, "{label} {}{why}", first_names(&paths, MOST_NAMES)),
                _ if style.detail == Detail::Verbose => {
                    writeln!(text, "{label} {count}{why}: {}", first_names(&paths, usize::MAX))
                }
                all if all == roots.len() => writeln!(text, "{label} all {count}{why}"),
                _ => writeln!(text, "{label} {count}{why}: {}", first_names(&paths, 1)),
            };
        }
    }
    text
}

fn worst(outcome: &Outcome) -> BTreeMap<&Path, (End, &RootOutcome)> {
    let mut roots: BTreeMap<&Path, (End, &RootOutcome)> = BTreeMap::new();
    for root in &outcome.roots {
        // A root module may have a result and an error.
        let known = roots.entry(&root.path).or_insert((End::Reported, root));
        if end(root) > known.0 {
            *known = (end(root), root);
        }
    }
    roots
}

/// `40 root modules: 38 passed, 2 failed; 840 hashes proven`; `None` if there is nothing to count.
pub(super) fn total(outcome: &Outcome) -> Option<String> {
    let roots = worst(outcome);
    let parts = WORDS.map(|(end, word)| (roots.values().filter(|(other, _)| *other == end).count(), word));
    let parts = nonzero(parts);
    let count = root_modules_of(&kinds(outcome), roots.len(), outcome.not_counted);
    let is_dry = roots.values().any(|(end, _)| *end == End::Differs);
    let unwritten = if is_dry { "; nothing was written" } else { "" };
    (!parts.is_empty()).then(|| format!("{count}: {parts}{unwritten}{}", proven(outcome)))
}

/// The rules that refuse a root module or the working tree.
fn why(findings: &[Finding]) -> String {
    let mut rules: Vec<&str> = denied(findings).map(|finding| finding.rule.id()).collect();
    rules.sort_unstable();
    rules.dedup();
    if rules.is_empty() { String::new() } else { format!(" ({})", rules.join(", ")) }
}

fn denied(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(|finding| finding.level() == Level::Deny)
}

/// The total of proven and unknown hashes.
fn proven(outcome: &Outcome) -> String {
    let verified = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Verified(verified)) if !verified.unchanged => Some((verified.proven, verified.unknown)),
        _ => None,
    });
    let sums = verified.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1));
    match sums {
        None => String::new(),
        Some((proven, 0)) => format!("; {} proven", counted_hashes(proven)),
        Some((proven, unknown)) => format!("; {} proven, {unknown} unknown", counted_hashes(proven)),
    }
}

fn end(root: &RootOutcome) -> End {
    match &root.body {
        _ if root.code() == ExitCode::Refused && denied(&root.findings).next().is_some() => End::Refused,
        Err(error) if error.kind.is_inconclusive() => End::Inconclusive,
        Err(_) => End::Failed,
        _ if denied(&root.findings).next().is_some() => End::Refused,
        Ok(Body::Verified(verified)) if !verified.inconclusive.is_empty() => match verified.code() {
            ExitCode::Refused => End::Refused,
            ExitCode::Failed => End::Failed,
            _ => End::Inconclusive,
        },
        Ok(Body::Verified(verified)) if verified.not_checked.is_some() => End::NotChecked,
        Ok(Body::Verified(verified)) if verified.unchanged => End::Unchanged,
        Ok(Body::Verified(_)) if is_unread(root) => End::Unread,
        Ok(Body::Verified(_)) if root.findings.iter().any(|finding| finding.level() == Level::Warn) => End::Warned,
        Ok(Body::Verified(_)) => End::Passed,
        Ok(_) if root.is_upgradable() => End::Upgradable,
        Ok(Body::Outdated(report)) if report.rows.iter().any(Outdated::is_excluded) => End::Excluded,
        Ok(Body::Outdated(report)) if report.rows.iter().any(Outdated::is_signer_refused) => End::SignerRefused,
        Ok(Body::Outdated(report)) if report.complete => End::Newest,
        Ok(Body::OutdatedModules(report)) if report.complete => End::Newest,
        Ok(Body::Changes(changes)) if changes.written => End::Changed,
        Ok(Body::Changes(changes)) if changes.changed => End::Differs,
        Ok(Body::Changes(changes)) if changes.need == Need::Unchecked => End::PartlyChecked,
        Ok(Body::Changes(_)) if is_unread(root) => End::HashesOnly,
        Ok(Body::Changes(_)) => End::Same,
        Ok(_) => End::Reported,
    }
}

/// A line with totals.
pub(super) fn verified(outcome: &Outcome, verified: &Verified, found: &[Finding], style: Style) -> Option<String> {
    let denied = found.iter().any(|finding| finding.level() == Level::Deny);
    let is_silent = style.detail == Detail::Quiet && !denied && verified.inconclusive.is_empty();
    (!is_silent).then(|| verdict(outcome, verified, found))
}

/// The verdict on one root module. On its own it is that of the run, which may have failed after it, such as in a report.
pub(super) fn verdict(outcome: &Outcome, verified: &Verified, found: &[Finding]) -> String {
    let count = |level| found.iter().filter(|finding| finding.level() == level).count();
    let (denied, warned) = (count(Level::Deny), count(Level::Warn));
    let code = match (&outcome.error, denied) {
        (Some(_), _) if !outcome.many => outcome.code,
        (_, 1..) => ExitCode::Refused,
        _ => verified.code(),
    };
    let is_unread = code == ExitCode::Done && found.iter().any(says_unread);
    let verdict = if is_unread { "passed, requirements not read" } else { word(code, warned > 0) };
    if verified.not_checked.is_some() && denied + warned == 0 {
        return "not checked: the configuration could not be read at the base either".to_owned();
    }
    if verified.unchanged && denied + warned == 0 {
        return "unchanged since the base, not checked".to_owned();
    }
    let denied = (denied > 0).then(|| format!("{denied} denied"));
    let warned = (warned > 0).then(|| counted(warned, "warning"));
    let parts: Vec<String> = hashes(verified, found).into_iter().chain(denied).chain(warned).collect();
    if parts.is_empty() { verdict.to_owned() } else { format!("{verdict}: {}", parts.join(", ")) }
}

/// `12 hashes proven, 2 unknown`; `None` next to findings or missing answers if there are no hashes.
pub(super) fn hashes(verified: &Verified, found: &[Finding]) -> Option<String> {
    let all_is_well = verified.inconclusive.is_empty() && found.iter().all(|finding| finding.level() == Level::Note);
    let unknown = if verified.unknown > 0 { format!(", {} unknown", verified.unknown) } else { String::new() };
    let any = verified.proven + verified.unknown > 0 || all_is_well;
    any.then(|| format!("{} proven{unknown}", counted_hashes(verified.proven)))
}

pub(super) fn counted_hashes(count: usize) -> String {
    if count == 1 { "1 hash".to_owned() } else { format!("{count} hashes") }
}

/// True if not all requirements of a root module were read, at whatever level that is reported.
fn is_unread(root: &RootOutcome) -> bool {
    root.findings.iter().any(says_unread)
}

fn says_unread(finding: &Finding) -> bool {
    finding.rule == Rule::RequirementsUnread
}

/// How many root modules were judged, and in how many of them requirements were not read, or not all. What could not be opened
/// was not read either.
fn judged(outcome: &Outcome) -> [usize; 2] {
    let mut read: BTreeMap<&Path, bool> = BTreeMap::new();
    for root in &outcome.roots {
        let is_read = match &root.body {
            Ok(Body::Verified(verified)) if verified.unchanged => continue,
            Ok(Body::Verified(verified)) => verified.not_checked.is_none(),
            Ok(_) => true,
            Err(_) => false,
        };
        *read.entry(&root.path).or_insert(true) &= is_read && !is_unread(root);
    }
    [read.len(), read.values().filter(|is_read| !**is_read).count()]
}

pub(super) struct Verdict {
    word: &'static str,
    denied: usize,
    warned: usize,
    /// How many root modules were judged, and in how many of them requirements were not read.
    roots: [usize; 2],
    /// Why no lock file was looked at, if none was; empty if an error says it.
    unlooked: Option<String>,
    /// A command that can be copied.
    next: Option<String>,
}

impl Verdict {
    /// `None` for a command that judges nothing.
    pub(super) fn of(outcome: &Outcome) -> Option<Self> {
        if outcome.command != "verify" {
            return None;
        }
        let groups = grouped_findings(outcome.findings(), Style::default());
        let count = |level| groups.iter().filter(|group| group.first.level() == level).count();
        let (denied, warned) = (count(Level::Deny), count(Level::Warn));
        let next = next(outcome, &groups);
        let unlooked =
            outcome.unlooked.clone().map(|reason| if outcome.error.is_some() { String::new() } else { reason });
        let word = if unlooked.is_some() { NOTHING } else { word(outcome.code, warned > 0) };
        Some(Self { word, denied, warned, roots: judged(outcome), unlooked, next })
    }

    /// The same for programs: a word that does not depend on numbers.
    pub(super) fn fixed(&self) -> &'static str {
        if self.roots[1] > 0 && self.word.starts_with(PASSED) { "passed, requirements not read" } else { self.word }
    }

    /// True if there is nothing to say but that all passed.
    pub(super) fn is_plain(&self) -> bool {
        self.denied + self.warned + self.roots[1] == 0 && self.word == PASSED
    }

    /// `refused: 2 findings denied, 1 warning`.
    pub(super) fn sentence(&self) -> String {
        let denied = (self.denied > 0).then(|| counted(self.denied, "finding") + " denied");
        let warned = (self.warned > 0).then(|| counted(self.warned, "warning"));
        let counts: Vec<String> = denied.into_iter().chain(warned).collect();
        if let Some(reason) = self.unlooked.as_ref().filter(|reason| !reason.is_empty()) {
            return format!("{NOTHING}: {reason}");
        }
        let [all, unread] = self.roots;
        let word = if unread > 0 && self.word.starts_with(PASSED) {
            format!("{PASSED}, requirements not read in {unread} of {}", root_modules(all))
        } else {
            self.word.to_owned()
        };
        if counts.is_empty() { word } else { format!("{word}: {}", counts.join(", ")) }
    }

    /// The command that comes next, without control characters.
    pub(super) fn next(&self) -> Option<String> {
        self.next.as_deref().map(|command| printable(command).into_owned())
    }

    /// The last lines in a log.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let sentence = (!self.is_plain()).then(|| self.sentence());
        let next = self.next().map(|command| format!("next: `{command}`"));
        sentence.into_iter().chain(next).chain(self.checked())
    }

    /// In how many root modules requirements were compared, unless they were in all.
    pub(super) fn checked(&self) -> Option<String> {
        let [all, unread] = self.roots;
        (unread > 0 && all > 1).then(|| format!("requirements checked in {} of {}", all - unread, root_modules(all)))
    }
}

const PASSED: &str = "passed";
const NOTHING: &str = "nothing to check";

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

/// The command for the worst findings; without findings one that a question without an answer names. Never the same once more.
fn next(outcome: &Outcome, groups: &[FindingGroup<'_>]) -> Option<String> {
    let worst = groups.iter().map(|group| group.first.level()).max().filter(|level| *level > Level::Note);
    let is_open = worst != Some(Level::Deny) && outcome.errors().next().is_some();
    let Some(worst) = worst.filter(|_| !is_open) else {
        let errors = outcome.errors().map(|(_, error)| error).chain(&outcome.error);
        let hinted = errors.flat_map(|error| &error.hints).find_map(Step::command);
        return hinted.filter(|_| outcome.code != ExitCode::Done);
    };
    let of_worst: Vec<&FindingGroup<'_>> = groups.iter().filter(|group| group.first.level() == worst).collect();
    let advice = advice(groups, RootSummary::of(outcome, Style::default()));
    let mut steps = groups.iter().zip(&advice).filter(|(group, _)| group.first.level() == worst);
    // What may be an attack is looked into before anything is accepted. What repairs it accepts nothing.
    let needs_a_look = |(group, _): &(&FindingGroup<'_>, &Step)| worst == Level::Deny && needs_a_look(group.first.rule);
    if let Some((group, step)) = steps.clone().find(needs_a_look) {
        return repair(group.first.rule, step).or_else(|| look(group.first.rule, step));
    }
    if !outcome.is_repaired && of_worst.iter().any(|group| group.first.is_repairable()) {
        return fix(outcome).command();
    }
    let repair = steps.clone().find_map(|(group, step)| repair(group.first.rule, step));
    repair.or_else(|| steps.find_map(|(group, step)| look(group.first.rule, step)))
}

/// What the gate refuses on behalf of the recorded hashes: what was recorded comes back, or a person takes the hash out.
const OF_HASHES: [Rule; 5] =
    [Rule::MalformedHash, Rule::UnattestedHash, Rule::ContradictedHash, Rule::LockHashes, Rule::LockFileAltered];

/// The first command of a help that settles the finding and accepts nothing that a person has to judge.
fn repair(rule: Rule, help: &Step) -> Option<String> {
    let goes_back = |command: &CommandLine| command.has("--restore-from") || command.has("--drop-unattested");
    help.command_where(|command| {
        if OF_HASHES.contains(&rule) {
            return goes_back(command);
        }
        let writes = command.is("lock") && !command.has("--accept-republished");
        let moves_on = command.is("upgrade") && !command.has("--modules");
        let settles = ["install", "add", "fmt", "merge", "cache"].iter().any(|name| command.is(name));
        // Elsewhere `get` goes on with what is locked, and settles nothing.
        let installs = command.is("get") && rule == Rule::InstalledDiffers;
        let is_of_git = ["checkout", "rm", "mv"].iter().any(|name| command.is_git(name));
        writes || moves_on || settles || installs || is_of_git
    })
}

/// The first command of a help that shows more; else, where a person decides, the page of the rule.
fn look(rule: Rule, help: &Step) -> Option<String> {
    if rule.class() == Class::Other {
        return if OF_HASHES.contains(&rule) { None } else { help.command() };
    }
    let shows = |command: &CommandLine| {
        ["explain", "why", "diff", "list", "outdated", "status"].iter().any(|name| command.is(name))
    };
    help.command_where(shows).or_else(|| explain(rule).command())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Rule;

    /// Hashes are counted if there are some, or if there is nothing else to say.
    #[test]
    fn verdict_of_one_root_module() {
        let found = |level| vec![Finding::new(Rule::EntryMissing, String::new()).at_level(level)];
        let of = |proven, found: &[Finding]| {
            verdict(&Outcome::default(), &Verified { proven, ..Verified::default() }, found)
        };
        assert_eq!(of(0, &[]), "passed: 0 hashes proven");
        assert_eq!(of(0, &found(Level::Note)), "passed: 0 hashes proven");
        assert_eq!(of(0, &found(Level::Warn)), "passed with warnings: 1 warning");
        assert_eq!(of(0, &found(Level::Deny)), "refused: 1 denied");
        assert_eq!(of(1, &found(Level::Deny)), "refused: 1 hash proven, 1 denied");
    }
}
