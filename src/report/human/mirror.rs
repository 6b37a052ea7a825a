//! The result of `mirror` for users.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;

use crate::count::counted;
use crate::finding::Level;
use crate::outcome::{Body, Fate, MirrorReport, MirroredPackage, RootOutcome};
use crate::report::paint::Paint;
use crate::report::{Detail, Style, printable, shown, size};

/// The packages of all root modules, each once, since they share the mirror: a line for each release with new packages,
/// then a line with totals.
pub(super) fn mirror(roots: &[RootOutcome], style: Style) -> String {
    let mut all: Option<MirrorReport> = None;
    let mut denied = false;
    let mut seen: HashMap<PathBuf, usize> = HashMap::new();
    for root in roots {
        let Ok(Body::Mirror(report)) = &root.body else { continue };
        denied |= root.findings.iter().any(|finding| finding.level == Level::Deny);
        let all =
            all.get_or_insert_with(|| MirrorReport { packages: Vec::new(), failed: Vec::new(), ..report.clone() });
        all.failed.extend(report.failed.iter().cloned());
        for package in &report.packages {
            let at = *seen.entry(package.file.clone()).or_insert(all.packages.len());
            match all.packages.get_mut(at) {
                // Later root modules report a package as present that an earlier one downloaded.
                Some(known) if known.fate == Fate::Present => known.fate = package.fate,
                Some(_) => {}
                None => all.packages.push(package.clone()),
            }
        }
    }
    all.map(|all| packages(&all, denied, style)).unwrap_or_default()
}

fn packages(report: &MirrorReport, denied: bool, style: Style) -> String {
    let mut text = String::new();
    let of_one_release = |one: &MirroredPackage, other: &MirroredPackage| {
        (&one.address, &one.version, one.fate) == (&other.address, &other.version, other.fate)
    };
    let mut packages: Vec<&MirroredPackage> = report.packages.iter().collect();
    packages.sort_by_key(|package| (&package.address, &package.version, package.fate as u8, &package.platform));
    for same in packages.chunk_by(|one, other| of_one_release(one, other)) {
        if report.checked || same[0].fate == Fate::Present && style.detail < Detail::Verbose {
            continue;
        }
        let platforms: Vec<&str> = same.iter().map(|package| package.platform.as_str()).collect();
        let (addr, version) = (style.addr(&same[0].address), &same[0].version);
        let line = |fate: &str| format!("+ {addr} {version}  {fate}: {}", platforms.join(", "));
        let line = match same[0].fate {
            Fate::Replaced => {
                style.paint(Paint::Careful, line("replaced") + " (the file there was not this package)").to_string()
            }
            Fate::Fetched => line("fetched"),
            Fate::Present => line("present"),
        };
        text.extend([&line, "\n"]);
    }
    let denied = denied || !report.failed.is_empty();
    let verdict = match (report.checked, denied) {
        (true, false) => "ok: ",
        (true, true) => "problems found: ",
        (false, true) => "incomplete: ",
        (false, false) => "",
    };
    let directory = shown(&report.directory);
    // Writing to a string cannot fail, here and below.
    let _ = write!(text, "{verdict}{} in {}", counted(report.packages.len(), "package"), printable(&directory));
    let come: Vec<&MirroredPackage> = packages.into_iter().filter(|package| package.fate != Fate::Present).collect();
    if !report.checked {
        let bytes = come.iter().map(|package| package.size).sum();
        let _ = match (come.len(), report.packages.len()) {
            (0, 0) => Ok(()),
            (0, _) => write!(text, ", all up to date"),
            (fetched, _) => write!(text, ", {fetched} downloaded ({})", size(bytes)),
        };
    }
    text + "\n"
}
