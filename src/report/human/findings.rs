//! Findings for people.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::many::{Same, Whose};
use crate::finding::{Finding, Level, Position, Rule};
use crate::outcome::advice::with_recursion;
use crate::report::failure::{helps, place};
use crate::report::paint::Paint;
use crate::report::wrap::{flow, width};
use crate::report::{Detail, Style, printable};

/// Each finding with its rule and place, equal ones once; what to do is said once for each rule.
pub(super) fn findings<'a>(findings: impl IntoIterator<Item = &'a Finding>, style: Style) -> String {
    let findings: Vec<(&Path, &Finding)> = findings.into_iter().map(|finding| (Path::new(""), finding)).collect();
    all(&groups(&findings, |finding| Some((finding.file.clone(), finding.position)), style), None, style)
}

/// The same of many root modules.
pub(super) fn shared(findings: &[(&Path, &Finding)], whose: Whose, style: Style) -> String {
    all(&together(findings, style), Some(whose), style)
}

/// Equal findings of many root modules, wherever in their files they are.
pub(in crate::report) fn together<'a>(findings: &[(&'a Path, &'a Finding)], style: Style) -> Vec<Group<'a>> {
    groups(findings, |_| None, style)
}

/// Findings of which the same is told.
pub(in crate::report) struct Group<'a> {
    /// With the provider that they are about.
    pub(in crate::report) message: String,
    /// The first of them, whose place is told.
    pub(in crate::report) first: &'a Finding,
    /// Whose they are.
    pub(in crate::report) paths: Vec<&'a Path>,
}

type Place = Option<(Option<PathBuf>, Option<Position>)>;

fn groups<'a>(findings: &[(&'a Path, &'a Finding)], place: impl Fn(&Finding) -> Place, style: Style) -> Vec<Group<'a>> {
    let mut same = Same::new();
    let mut first = HashMap::new();
    for (path, finding) in findings {
        let key = (finding.rule, finding.level, message(finding, style), place(finding));
        first.entry(key.clone()).or_insert(*finding);
        same.add(path, key);
    }
    let items = same.into_items().into_iter().filter_map(|(key, paths)| {
        let first = *first.get(&key)?;
        Some(Group { message: key.2, first, paths })
    });
    items.collect()
}

fn message(finding: &Finding, style: Style) -> String {
    match &finding.address {
        Some(addr) if !finding.message.contains(&addr.to_string()) => {
            format!("{}: {}", style.addr(addr), printable(&finding.message))
        }
        Some(addr) => printable(&finding.message.replace(&addr.to_string(), &style.addr(addr))).into_owned(),
        None => printable(&finding.message).into_owned(),
    }
}

/// Level and rule, and how many columns they take.
fn label(finding: &Finding, style: Style) -> (String, usize) {
    let (word, paint) = match finding.level {
        Level::Note => ("note", Paint::Aside),
        Level::Warn => ("warning", Paint::Careful),
        Level::Deny => ("denied", Paint::Bad),
    };
    let label = format!("{word}[{}]:", finding.rule.id());
    (style.paint(paint, &label).to_string(), width(&label))
}

fn all(found: &[Group<'_>], whose: Option<Whose>, style: Style) -> String {
    let is_told = |group: &&Group<'_>| group.first.level > Level::Note || style.detail > Detail::Quiet;
    let mut notes: HashMap<Rule, usize> = HashMap::new();
    for group in found.iter().filter(|group| group.first.level == Level::Note) {
        *notes.entry(group.first.rule).or_default() += 1;
    }
    // Of notes by one rule the first is told, and how many there are.
    let mut begun = HashSet::new();
    let is_new = |group: &&Group<'_>| {
        group.first.level > Level::Note || style.detail == Detail::Verbose || begun.insert(group.first.rule)
    };
    let told: Vec<&Group<'_>> = found.iter().filter(is_told).filter(is_new).collect();
    let mut helped = HashSet::new();
    let mut text = String::new();
    for Group { message, first, paths } in &told {
        // Writing to a string cannot fail.
        let (label, wide) = label(first, style);
        let _ = writeln!(text, "{label} {}", flow(wide + 1, message, style));
        place(&mut text, first.file.as_deref(), first.position);
        if let Some(whose) = whose.filter(|_| first.file.is_none() || paths.len() > 1) {
            let _ = writeln!(text, "  in {}", whose.cell(paths));
        }
        let others = notes.get(&first.rule).map_or(0, |count| count - 1);
        if first.level == Level::Note && others > 0 && style.detail < Detail::Verbose {
            let _ = writeln!(text, "  and {others} more of this kind; -v lists them");
        }
        if first.level > Level::Note && first.remedy.is_some() {
            let help = if paths.len() == 1 { first.help() } else { for_all(first.general_help(), whose) };
            helps(&mut text, [&help], style);
        } else if first.level > Level::Note && helped.insert(first.rule) {
            let of_rule = told.iter().filter(|it| it.first.rule == first.rule && it.first.level > Level::Note);
            let help = match (of_rule.count() == 1, paths.len() == 1) {
                (true, true) => first.help(),
                (true, false) => for_all(first.general_help(), whose),
                (false, _) => for_all(first.rule.help().to_owned(), whose),
            };
            helps(&mut text, [&help], style);
        }
    }
    text
}

/// What to do in many root modules.
fn for_all(help: String, whose: Option<Whose>) -> String {
    if whose.is_some_and(|whose| whose.recursive) { with_recursion(&help) } else { help }
}
