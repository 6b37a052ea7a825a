//! Markdown for comments on pull requests and step summaries: a table with dangerous changes first, the rest folded.
//! Code hosts refuse long comments, so there is a limit; the last parts are left out if necessary, with a note. Text
//! from outside never becomes markup, a mention or a link.

pub(super) mod escape;
mod review;

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::Path;

use escape::{code, escaped, fenced, sentences};
use review::ReviewStyle;

use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::outcome::{Body, Explained, Outcome, RootOutcome};
use crate::report::body::lists::lists;
use crate::report::body::{audit, others};
use crate::report::groups::{Changed, RootSummary, name, root_modules};
use crate::report::opening::Opening;
use crate::report::parts::markdown;
use crate::report::problems::{Failure, FindingGroup, MOST_OF_RULE, advice, grouped_errors, grouped_findings};
use crate::report::style::{Style, word_of};
use crate::report::summary::{file_name, is_clean};
use crate::report::{shown, summary};
use crate::topics::of_rule;
use crate::words::{counted, first_of};

/// The most bytes of a document. A comment may have 65,536 characters, and the poster may add some.
pub(super) const LIMIT: usize = 62_000;

/// The command that shows what a report of changes leaves out.
const MORE: &str = "tflock diff -v";

/// How many lock files are named in a heading.
const MOST_FILES: usize = 3;

/// The most bytes of the table of findings.
const MOST_IN_TABLE: usize = LIMIT / 2;

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    if let [RootOutcome { body: Ok(Body::Explained(explained)), .. }] = &outcome.roots[..]
        && let Some(page) = page(explained)
    {
        return page;
    }
    let naming = RootSummary::of(outcome, style);
    let opening = Opening::of(outcome, &Changed::of(&outcome.roots), style);
    let mut text = opening.title.map(|title| format!("### {}\n\n", escaped(&title))).unwrap_or_default();
    let count = opening.checked.map(|line| format!("{}\n\n", escaped(&line))).unwrap_or_default();
    let next = opening.next.map(|command| format!("Next:\n\n{}\n", fenced("sh", &command)));
    let next = count + &next.unwrap_or_default();
    if outcome.many {
        let is_reported = |root: &&RootOutcome| !matches!(&root.body, Ok(Body::Changes(changes)) if !changes.changed);
        let changed = Changed::of(outcome.roots.iter().filter(is_reported));
        text.push_str(&before_changes(outcome, &changed, &next, style));
        // What changed names them already.
        let passed = if outcome.since_base.is_empty() { passed(outcome) } else { String::new() };
        if !changed.files.is_empty() {
            let heading = format!("### {} {}\n\n", title(outcome.command), files(&changed));
            let room = LIMIT.saturating_sub(text.len() + passed.len() + heading.len() + 400);
            let counted = summary::total(outcome).is_none();
            text.push_str(&heading);
            text.extend(review::review(&changed, room, ReviewStyle { naming, style, counted, more: MORE }));
        }
        let room = LIMIT.saturating_sub(text.len() + passed.len() + 400);
        text.push_str(&since_base(outcome, room, naming, style));
        text.push_str(&passed);
    } else {
        let since_base = since_base(outcome, LIMIT / 2, naming, style);
        for root in &outcome.roots {
            if outcome.unlooked.is_some() {
                // The title says all.
            } else if let Ok(Body::Verified(verified)) = &root.body {
                text.push_str(&checked(&code(&file_name(root)), summary::hashes(verified, &root.findings), outcome));
            } else {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "### {} {}\n", title(outcome.command), code(&file_name(root)));
            }
            text.push_str(&next);
            let room = LIMIT.saturating_sub(text.len() + since_base.len() + 400);
            text.push_str(&body(outcome, root, room, ReviewStyle { naming, style, counted: false, more: MORE }));
            text.push('\n');
        }
        text.push_str(&since_base);
    }
    text.extend(outcome.error.iter().map(failure));
    text + &notes(outcome)
}

/// The most bytes of the notes; the limit of a comment leaves room for more.
const MOST_OF_NOTES: usize = 1500;

/// The notes of the run, as far as there is room.
fn notes(outcome: &Outcome) -> String {
    let mut text = String::new();
    let all: Vec<String> = outcome.notes.0.iter().map(|note| format!("- {}\n", sentences(&note.to_string()))).collect();
    for (at, note) in all.iter().enumerate() {
        if text.len() + note.len() > MOST_OF_NOTES {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- {}", counted(all.len() - at, "more note"));
            break;
        }
        text.push_str(note);
    }
    if text.is_empty() { text } else { format!("\n#### Notes\n\n{text}") }
}

/// What the change does to lock files.
fn since_base(outcome: &Outcome, room: usize, naming: RootSummary, style: Style) -> String {
    let changed = Changed::of(&outcome.since_base);
    if changed.files.is_empty() {
        return String::new();
    }
    let heading = "#### Changes\n\n";
    let base = outcome.base().map(|base| &*base.revision).unwrap_or_default();
    let more = step!("`tflock diff {} --online -v`", base).at(outcome.place.clone()).command().unwrap_or_default();
    let shown = ReviewStyle { naming, style, counted: false, more: &more };
    let review = review::review(&changed, room.saturating_sub(heading.len()), shown);
    heading.to_owned()
        + &review
            .unwrap_or_else(|| "_Left out for lack of space: the changes. `tflock diff` shows them._\n\n".to_owned())
}

/// What was checked, and against what; the directory of the run has no name.
fn checked(what: &str, result: Option<String>, outcome: &Outcome) -> String {
    let what = Some(what.to_owned()).filter(|what| what != "`.`");
    let facts: Vec<String> = what.into_iter().chain(result.map(|result| escaped(&result))).collect();
    let base = outcome.base().map(|base| format!("compared with {}", code(base.name())));
    let parts: Vec<String> = Some(facts.join(": ")).filter(|facts| !facts.is_empty()).into_iter().chain(base).collect();
    if parts.is_empty() { String::new() } else { parts.join(", ") + "\n\n" }
}

/// A page of documentation, which is Markdown already.
fn page(explained: &Explained) -> Option<String> {
    match explained {
        Explained::Topic(topic) => Some(format!("{}\n", topic.text.trim_end())),
        Explained::Rule(rule) => Some(format!("# {}\n", of_rule(*rule).trim_end())),
        _ => None,
    }
}

/// The first lock files by name, and the number of the others.
fn files(changed: &Changed<'_>) -> String {
    first_of(&changed.files.iter().map(|file| code(&shown(file.path))).collect::<Vec<_>>(), MOST_FILES)
}

fn body(outcome: &Outcome, root: &RootOutcome, most: usize, shown: ReviewStyle<'_>) -> String {
    let ReviewStyle { naming, style, .. } = shown;
    let findings = table_of(root.placed_findings(), naming, style);
    let left = most.saturating_sub(findings.len());
    let text = match &root.body {
        Ok(Body::Review(_)) => {
            return findings + &review::review(&Changed::of([root]), left, shown).unwrap_or_default();
        }
        Ok(Body::Verified(verified)) => {
            return findings + &review::silent(verified.inconclusive.iter().map(|it| &it.error));
        }
        Ok(Body::Changes(_)) => review::review(&Changed::of([root]), left, shown).unwrap_or_default(),
        Ok(_) => {
            let roots = vec![RootOutcome { findings: Vec::new(), ..root.clone() }];
            results(&Outcome { roots, ..Outcome::of_roots(outcome.command, Vec::new()) }, naming, left, style)
        }
        Err(error) => failure(error),
    };
    text + &findings
}

fn title(command: &str) -> &'static str {
    match command {
        "diff" => "Dependency lock file changes in",
        _ => "Dependency lock file",
    }
}

pub(super) fn failure(error: &Error) -> String {
    error.each().fold(String::new(), |mut text, error| {
        let _ = writeln!(text, "**Failed:** {}", escaped(&error.message));
        if let Some(file) = &error.file {
            let place = error.position.map(|position| format!(":{position}")).unwrap_or_default();
            let _ = writeln!(text, "\n- at {}", code(&format!("{}{place}", shown(file))));
        }
        for hint in &error.hints {
            let _ = writeln!(text, "- {}", sentences(&hint.to_string()));
        }
        text
    })
}

/// The findings as a table, worst first, equal ones once, each next step once.
fn table_of<'a>(findings: impl Iterator<Item = (&'a Path, &'a Finding)>, naming: RootSummary, style: Style) -> String {
    let mut all = grouped_findings(findings, style);
    if all.is_empty() {
        return String::new();
    }
    all.sort_by_key(|group| std::cmp::Reverse(group.first.level()));
    let steps = advice(&all, naming);
    let mut text = "| | Finding |\n|---|---|\n".to_owned();
    let (mut of_rule, mut helped) = (HashMap::<Rule, usize>::new(), HashSet::new());
    let mut left = 0;
    for (group, step) in all.iter().zip(steps) {
        let (rule, level) = (group.first.rule, group.first.level());
        let count = of_rule.entry(rule).or_default();
        *count += 1;
        let step = sentences(&step.to_string());
        let is_new = level > Level::Note && helped.insert((rule, step.clone()));
        let row = row(group, is_new.then_some(&step), naming);
        if *count > MOST_OF_RULE || text.len() + row.len() > MOST_IN_TABLE {
            left += 1;
        } else {
            text.push_str(&row);
        }
    }
    if left > 0 {
        let _ = writeln!(text, "\n_Left out: {left} more findings._");
    }
    text.push('\n');
    text
}

/// One cell has it all, since narrow columns would break paths.
fn row(
    FindingGroup { message, first, paths }: &FindingGroup<'_>,
    step: Option<&String>,
    naming: RootSummary,
) -> String {
    let level = word_of(first.level());
    let level = if first.level() == Level::Deny { format!("**{level}**") } else { level.to_owned() };
    let line = first.position.map(|position| format!(":{position}")).unwrap_or_default();
    let file = first.file.as_deref().map(|file| code(&format!("{}{line}", shown(file))));
    let others = (paths.len() > 1).then(|| format!("in {}", escaped(&naming.label(paths))));
    let place: Vec<String> = file.into_iter().chain(others).collect();
    let place = if place.is_empty() { String::new() } else { format!("<br>{}", place.join(", ")) };
    let step = step.map(|step| format!("<br>*Next step:* {step}")).unwrap_or_default();
    format!("| {level} | {} ({}){place}{step} |\n", escaped(message), escape::link_of(first.rule))
}

/// The most names in a folded list.
const MOST_NAMES: usize = 200;

/// The part before the changes, with the next command below the first line.
fn before_changes(outcome: &Outcome, changed: &Changed<'_>, next: &str, style: Style) -> String {
    let naming = RootSummary::of(outcome, style);
    let mut text = match summary::total(outcome) {
        Some(total) if outcome.command == "verify" => checked(&escaped(&total), None, outcome),
        _ => total(outcome, changed),
    };
    text.push_str(next);
    let failed = outcome.roots.iter().filter_map(|root| Some((root.path.as_path(), root.body.as_ref().err()?)));
    for Failure { error, paths, .. } in grouped_errors(failed, naming.recursive) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}\nin {}\n", failure(&error), escaped(&naming.table_cell(&paths)));
    }
    let findings = outcome.findings().filter(|(_, finding)| !audit::covers(outcome, finding));
    text.push_str(&table_of(findings, naming, style));
    let unanswered = outcome.roots.iter().filter(|root| root.body.is_ok());
    let unanswered = grouped_errors(unanswered.flat_map(RootOutcome::errors), naming.recursive);
    text.push_str(&review::silent(unanswered.iter().map(|failure| &failure.error)));
    text + &results(outcome, naming, LIMIT, style)
}

/// The results that look the same in every format.
fn results(outcome: &Outcome, naming: RootSummary, room: usize, style: Style) -> String {
    let mut parts = lists(outcome, naming, style);
    parts.extend(others(outcome, style));
    markdown(&parts, room)
}

fn total(outcome: &Outcome, changed: &Changed<'_>) -> String {
    let total = match (outcome.roots.is_empty() && outcome.work_tree.is_none(), summary::total(outcome)) {
        (true, _) if outcome.unlooked.is_some() => return String::new(),
        (true, _) => return "No lock file changed.\n".to_owned(),
        (false, Some(total)) => total,
        (false, None) if changed.files.is_empty() => return String::new(),
        (false, None) => changed.total(),
    };
    format!("**{}**\n\n", escaped(&total))
}

/// The folded root modules without problems.
fn passed(outcome: &Outcome) -> String {
    let well: Vec<&RootOutcome> = outcome.roots.iter().filter(|root| is_clean(root)).collect();
    if well.is_empty() {
        return String::new();
    }
    let names = first_of(&well.iter().map(|root| code(&name(&root.path))).collect::<Vec<_>>(), MOST_NAMES);
    let summary = format!("{} without findings", root_modules(well.len()));
    format!("<details>\n<summary>{summary}</summary>\n\n{names}\n\n</details>\n\n")
}
