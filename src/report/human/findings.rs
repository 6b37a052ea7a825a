//! Findings for people.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::many::{Same, Whose};
use crate::finding::{Finding, Level, Position, Rule};
use crate::report::failure::{helps, place};
use crate::report::paint::Paint;
use crate::report::{Detail, Style, printable};

/// Each finding with its rule and place, equal ones once; what to do is said once for each rule.
pub(super) fn findings<'a>(findings: impl IntoIterator<Item = &'a Finding>, style: Style) -> String {
    let told = findings.into_iter().map(|finding| (Path::new(""), finding));
    all(&Same::of(told.map(|(path, finding)| (path, Told::of(finding, style)))).into_items(), None, style)
}

/// The same of many root modules.
pub(super) fn shared(findings: &[(&Path, &Finding)], whose: Whose, style: Style) -> String {
    all(&together(findings, style), Some(whose), style)
}

/// Equal findings with the root modules that have them; of findings that differ in their places the first place.
pub(in crate::report) fn together<'a>(findings: &[(&'a Path, &Finding)], style: Style) -> Vec<(Told, Vec<&'a Path>)> {
    let mut same = Same::new();
    let mut first: HashMap<Told, &Finding> = HashMap::new();
    for (path, finding) in findings {
        let told = Told { place: None, ..Told::of(finding, style) };
        first.entry(told.clone()).or_insert(finding);
        same.add(path, told);
    }
    let items = same.into_items().into_iter().map(|(told, paths)| {
        let place = first.get(&told).map(|finding| Place::of(finding));
        (Told { place, ..told }, paths)
    });
    items.collect()
}

/// A finding as it is told.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::report) struct Told {
    pub(in crate::report) rule: Rule,
    pub(in crate::report) level: Level,
    /// With the provider it is about.
    pub(in crate::report) message: String,
    help: String,
    /// True if the help is about this very finding, not only about its rule.
    has_remedy: bool,
    pub(in crate::report) place: Option<Place>,
}

/// Where a finding is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::report) struct Place(pub(in crate::report) Option<PathBuf>, pub(in crate::report) Option<Position>);

impl Place {
    fn of(finding: &Finding) -> Self {
        Self(finding.file.clone(), finding.position)
    }
}

impl Told {
    fn of(finding: &Finding, style: Style) -> Self {
        let message = match &finding.address {
            Some(addr) if !finding.message.contains(&addr.to_string()) => {
                format!("{}: {}", style.addr(addr), printable(&finding.message))
            }
            Some(addr) => printable(&finding.message.replace(&addr.to_string(), &style.addr(addr))).into_owned(),
            None => printable(&finding.message).into_owned(),
        };
        let place = Some(Place::of(finding));
        Self {
            rule: finding.rule,
            level: finding.level,
            message,
            help: finding.help(),
            has_remedy: finding.remedy.is_some(),
            place,
        }
    }

    fn is_told(&self, style: Style) -> bool {
        self.level > Level::Note || style.detail > Detail::Quiet
    }

    fn label(&self, style: Style) -> String {
        let (word, paint) = match self.level {
            Level::Note => ("note", Paint::Aside),
            Level::Warn => ("warning", Paint::Careful),
            Level::Deny => ("denied", Paint::Bad),
        };
        style.paint(paint, format!("{word}[{}]:", self.rule.id())).to_string()
    }
}

fn all(found: &[(Told, Vec<&Path>)], whose: Option<Whose>, style: Style) -> String {
    let told: Vec<&(Told, Vec<&Path>)> = found.iter().filter(|(told, _)| told.is_told(style)).collect();
    let mut helped = HashSet::new();
    let mut text = String::new();
    for (finding, paths) in &told {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {}", finding.label(style), finding.message);
        if let Some(Place(file, position)) = &finding.place {
            place(&mut text, file.as_deref(), *position);
            if let Some(whose) = whose.filter(|_| file.is_none() || paths.len() > 1) {
                let _ = writeln!(text, "  in {}", whose.cell(paths));
            }
        }
        if finding.has_remedy && finding.level > Level::Note {
            helps(&mut text, [&finding.help], style);
        } else if finding.level > Level::Note && helped.insert(finding.rule) {
            let of_rule = |other: &&&(Told, Vec<&Path>)| other.0.rule == finding.rule && other.0.level > Level::Note;
            let alone = told.iter().filter(of_rule).count() == 1;
            helps(&mut text, [&if alone { finding.help.clone() } else { finding.rule.help().to_owned() }], style);
        }
    }
    text
}
