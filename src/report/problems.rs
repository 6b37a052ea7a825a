//! Findings and errors: equal ones of several root modules are grouped, and printed once.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::finding::{Finding, Level, Position, Rule};
use crate::redact;
use crate::report::groups::{RootSummary, firsts, grouped};
use crate::report::layout::{flow, width};
use crate::report::style::{Detail, Paint, Style, word_of};
use crate::report::{printable, shown};
use crate::step::Step;
use crate::words::first_of;

/// Groups equal findings of several root modules, independent of their places.
pub(super) fn grouped_findings<'a>(
    findings: impl IntoIterator<Item = (&'a Path, &'a Finding)>,
    style: Style,
) -> Vec<FindingGroup<'a>> {
    groups(findings, |_| None, style)
}

pub(super) struct FindingGroup<'a> {
    /// The message with the provider.
    pub(super) message: String,
    /// The first finding, whose place is shown.
    pub(super) first: &'a Finding,
    pub(super) paths: Vec<&'a Path>,
}

type Spot = Option<(Option<PathBuf>, Option<Position>)>;

fn groups<'a>(
    findings: impl IntoIterator<Item = (&'a Path, &'a Finding)>,
    place: impl Fn(&Finding) -> Spot,
    style: Style,
) -> Vec<FindingGroup<'a>> {
    let key = |finding: &Finding| (finding.rule, finding.level(), message(finding, style), place(finding));
    let keyed = findings.into_iter().map(|(path, finding)| (path, key(finding), finding));
    let groups = firsts(keyed).into_iter();
    let mut groups: Vec<FindingGroup<'a>> =
        groups.map(|(key, first, paths)| FindingGroup { message: key.2, first, paths }).collect();
    groups.sort_by_key(|group| rank(group.first));
    groups
}

/// What a reader has to see before the other findings has a low rank: packages that are not the recorded ones. What only a constraint
/// holds back comes last.
fn rank(finding: &Finding) -> u8 {
    match finding.rule {
        rule if rule.contradicts_record() && finding.level() == Level::Deny => 0,
        Rule::HeldBack if finding.version.is_none() => 2,
        _ => 1,
    }
}

fn message(finding: &Finding, style: Style) -> String {
    match &finding.address {
        Some(addr) if !finding.message().contains(&addr.to_string()) => {
            format!("{}: {}", style.addr(addr), printable(finding.message()))
        }
        Some(addr) => printable(&with_short_address(finding.message(), addr, style)).into_owned(),
        None => printable(finding.message()).into_owned(),
    }
}

/// A message with the address as users write it. In a path it stays as the directories are named.
fn with_short_address(message: &str, addr: &ProviderAddr, style: Style) -> String {
    let (long, short) = (addr.to_string(), style.addr(addr));
    let mut parts = message.split(&*long);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let is_path = text.ends_with(['/', '\\']) || part.starts_with(['/', '\\']);
        let address = if is_path { &long } else { &short };
        text + address + part
    })
}

fn label(finding: &Finding, style: Style) -> (String, usize) {
    let paint = match finding.level() {
        Level::Note => Paint::Aside,
        Level::Warn => Paint::Careful,
        Level::Deny => Paint::Bad,
    };
    let label = format!("{}[{}]:", word_of(finding.level()), finding.rule.id());
    (style.paint(paint, &label).to_string(), width(&label))
}

/// The most findings of one rule in texts for users; the rest is counted. JSON and SARIF list all.
pub(super) const MOST_OF_RULE: usize = 50;

/// The most notes of one rule without -v.
const MOST_NOTES: usize = 3;

/// Each finding with its rule and place; equal findings are printed once, and the next step once for each rule. Those of
/// one root module are equal only in the same place.
pub(super) fn findings<'a>(
    findings: impl IntoIterator<Item = (&'a Path, &'a Finding)>,
    naming: RootSummary,
    style: Style,
) -> String {
    let place = |finding: &Finding| (!naming.many).then(|| (finding.file.clone(), finding.position));
    let found = groups(findings, place, style);
    let steps = advice(&found, naming);
    let mut shown: HashMap<(Rule, bool), usize> = HashMap::new();
    let mut helped: HashSet<(Rule, String)> = HashSet::new();
    let mut text = String::new();
    for (group, step) in found.iter().zip(&steps).filter(|(it, _)| !is_note(it) || style.detail > Detail::Quiet) {
        let key = (group.first.rule, is_note(group));
        let is_short = key.1 && style.detail < Detail::Verbose;
        let most = if is_short { MOST_NOTES } else { MOST_OF_RULE };
        let count = shown.entry(key).or_default();
        *count += 1;
        if *count > most {
            continue;
        }
        one(&mut text, group, naming, style);
        let more = found.iter().filter(|it| (it.first.rule, is_note(it)) == key).count() - *count;
        if *count == most && more > 0 {
            let way = if is_short { "-v lists them" } else { "`--format json` lists all" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  and {more} more of this kind; {way}");
        }
        if !key.1 && helped.insert((group.first.rule, step.to_string())) {
            helps(&mut text, [step], style);
        }
    }
    text
}

/// The next step for each finding, the same in every format: one text for all findings of a rule if it fits them all.
pub(super) fn advice(found: &[FindingGroup<'_>], naming: RootSummary) -> Vec<Step> {
    let mut by_rule: HashMap<(Rule, bool), Vec<&FindingGroup<'_>>> = HashMap::new();
    for group in found {
        by_rule.entry((group.first.rule, is_note(group))).or_default().push(group);
    }
    let by_rule: HashMap<(Rule, bool), Advice> =
        by_rule.iter().map(|(rule, groups)| (*rule, Advice::of(groups, naming))).collect();
    let step = |group: &FindingGroup<'_>| {
        let shared = by_rule.get(&(group.first.rule, is_note(group))).filter(|_| group.first.remedy.is_none());
        shared.map_or_else(|| own_help(group, naming), |advice| advice.help(group, naming))
    };
    found.iter().map(step).collect()
}

fn is_note(group: &FindingGroup<'_>) -> bool {
    group.first.level() == Level::Note
}

fn one(
    text: &mut String,
    FindingGroup { message, first, paths }: &FindingGroup<'_>,
    naming: RootSummary,
    style: Style,
) {
    let (label, wide) = label(first, style);
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "{label} {}", flow(wide + 1, message, style));
    place(text, first.file.as_deref(), first.position);
    if naming.many && (first.file.is_none() || paths.len() > 1) {
        let _ = writeln!(text, "  in {}", naming.table_cell(paths));
    }
}

/// The most different next steps for one rule.
const MOST_HELPS: usize = 3;

enum Advice {
    /// One text that fits all of them.
    ForAll(Step),
    Own,
}

impl Advice {
    /// The text for all findings, if there is one, or if their own texts are too many to read.
    fn of(groups: &[&FindingGroup<'_>], naming: RootSummary) -> Self {
        let own: HashSet<String> = groups.iter().map(|group| own_help(group, naming).to_string()).collect();
        let (Some(group), true) = (groups.first(), own.len() > 1) else { return Self::Own };
        if naming.recursive {
            let shared = for_all(group.first, naming);
            // Each has a file of its own.
            if !shared.is_about_file() && groups.iter().all(|other| for_all(other.first, naming) == shared) {
                return Self::ForAll(shared);
            }
        }
        match own.len() {
            ..=MOST_HELPS => Self::Own,
            _ if naming.recursive => Self::ForAll(group.first.help_of_rule().for_all()),
            _ => Self::ForAll(group.first.help_of_rule()),
        }
    }

    fn help(&self, group: &FindingGroup<'_>, naming: RootSummary) -> Step {
        match self {
            Self::ForAll(help) => help.clone(),
            Self::Own => own_help(group, naming),
        }
    }
}

fn own_help(group: &FindingGroup<'_>, naming: RootSummary) -> Step {
    help_for(group.first, &group.paths, naming)
}

/// The next step for a finding in these root modules.
pub(super) fn help_for(finding: &Finding, paths: &[&Path], naming: RootSummary) -> Step {
    if paths.len() == 1 { finding.help() } else { for_all(finding, naming) }
}

/// The next step for a finding in several root modules.
fn for_all(finding: &Finding, naming: RootSummary) -> Step {
    if !naming.recursive {
        return finding.general_help();
    }
    let for_many = finding.rule.help_for_many().filter(|_| finding.remedy.is_none());
    for_many.map_or_else(|| finding.help().for_all(), Step::from)
}

/// How many places of equal errors are named.
const MOST_PLACES: usize = 10;

pub(super) struct Failure<'a> {
    /// The first error, whose place is shown; its next steps fit all of them.
    pub(super) error: Error,
    pub(super) paths: Vec<&'a Path>,
    /// Where each of them is.
    places: Vec<&'a Error>,
}

/// Groups errors of root modules that differ only in their places, in order of first appearance.
pub(super) fn grouped_errors<'a>(
    errors: impl IntoIterator<Item = (&'a Path, &'a Error)>,
    recursive: bool,
) -> Vec<Failure<'a>> {
    let each = errors.into_iter().flat_map(|(path, error)| error.each().map(move |error| (path, error)));
    let keyed =
        each.map(|(path, error)| ((error.kind, &error.message, &error.url, error.general_hints()), (path, error)));
    let failures = grouped(keyed).into_iter().map(|(_, same)| {
        let (mut paths, places): (Vec<&Path>, Vec<&Error>) = same.into_iter().unzip();
        paths.dedup();
        let mut error = Error { others: Vec::new(), ..places[0].clone() };
        if paths.len() > 1 {
            if recursive { error.place_in_all() } else { error.place_at(None) }
        }
        Failure { error, paths, places }
    });
    failures.collect()
}

/// Errors for users, each with the root modules that its place does not show, or for one root module with their number.
pub(super) fn failures<'a>(
    errors: impl IntoIterator<Item = (&'a Path, &'a Error)>,
    naming: RootSummary,
    style: Style,
) -> String {
    let failures = grouped_errors(errors, naming.recursive).into_iter();
    let texts = failures.map(|Failure { error, paths, places }| {
        let roots = if naming.many {
            let is_general = error.file.is_none() || paths.len() > 1;
            is_general.then(|| naming.table_cell(&paths))
        } else {
            (places.len() > 1).then(|| named_places(&places))
        };
        of_error(&error, roots, style)
    });
    texts.collect()
}

/// `2 places: a/main.tf:3:7, b/main.tf:1:1`, with the first names of many.
fn named_places(errors: &[&Error]) -> String {
    let name = |error: &&Error| {
        let file = printable(&shown(error.file.as_deref()?)).into_owned();
        Some(error.position.map_or_else(|| file.clone(), |position| format!("{file}:{position}")))
    };
    // Requests fail in any order.
    let mut places = errors.to_vec();
    places.sort_by_key(|error| (&error.file, error.position));
    let names: Vec<String> = places.iter().filter_map(name).collect();
    let count = format!("{} places", errors.len());
    if names.is_empty() { count } else { format!("{count}: {}", first_of(&names, MOST_PLACES)) }
}

/// The errors of a run that are not about a root module.
pub(super) fn error_text(error: &Error, style: Style) -> String {
    failures([(Path::new(""), error)], RootSummary::default(), style)
}

/// One error, with its root modules if given.
fn of_error(error: &Error, naming: Option<String>, style: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    let message = flow("error: ".len(), &printable(&error.message), style);
    let _ = writeln!(text, "{} {message}", style.paint(Paint::Bad, "error:"));
    // Do not repeat a path or URL that the message contains.
    let mut words = error.message.split([' ', '"', '`']).map(|word| word.trim_end_matches([':', ',', ';']));
    let file = error.file.as_deref();
    let printed = file.is_some_and(|file| words.any(|word| word == shown(file)));
    place(&mut text, file.filter(|_| error.position.is_some() || !printed), error.position);
    if let (Some(line), Some(position)) = (&error.line, error.position) {
        // The line of a module's source may contain a password.
        let _ = writeln!(text, "{:>5} | {}", position.line, printable(&redact::words(line)));
    }
    if let Some(url) = error.url.as_deref().filter(|url| !error.message.contains(url)) {
        let _ = writeln!(text, "  url: {}", printable(url));
    }
    if let Some(naming) = naming {
        let _ = writeln!(text, "  in {naming}");
    }
    helps(&mut text, &error.hints, style);
    text
}

/// The line with file, line and column; nothing without a file.
pub(super) fn place(text: &mut String, file: Option<&Path>, position: Option<Position>) {
    let Some(file) = file.filter(|file| !file.as_os_str().is_empty()) else { return };
    let file = shown(file);
    let file = printable(&file);
    let _ = match position {
        Some(position) => writeln!(text, "  --> {file}:{position}"),
        None => writeln!(text, "  --> {file}"),
    };
}

pub(super) fn helps<'a>(text: &mut String, hints: impl IntoIterator<Item = &'a Step>, style: Style) {
    for hint in hints {
        let hint = flow("  help: ".len(), &printable(&hint.to_string()), style);
        let _ = writeln!(text, "  {} {hint}", style.paint(Paint::Aside, "help:"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::ProviderAddr;
    use crate::dialect::Dialect;
    use crate::error::ErrorKind;
    use crate::outcome::advice::InvocationContext;
    use crate::outcome::{Body, Outcome, RootOutcome};
    use crate::step::Hole;
    use crate::verify::Verified;

    /// The lines of help below findings, given with their root modules, of a run in `-C named` or with `-r`.
    fn merged(found: Vec<(&str, Finding)>, named: Option<&str>) -> Vec<String> {
        let roots = found.into_iter().map(|(path, finding)| {
            let body = Ok(Body::Verified(Verified::default()));
            RootOutcome { path: path.into(), body, findings: vec![finding.in_file(Path::new(path).join("x.hcl"))] }
        });
        let mut outcome = Outcome { many: named.is_none(), ..Outcome::of_roots("verify", roots.collect()) };
        if named.is_some() {
            let findings = outcome.roots.drain(1..).flat_map(|root| root.findings).collect::<Vec<_>>();
            outcome.roots[0].findings.extend(findings);
        }
        let named: Vec<PathBuf> = named.into_iter().map(PathBuf::from).collect();
        let ctx = InvocationContext {
            recursive: named.is_empty(),
            files_from_top: true,
            named,
            ..InvocationContext::default()
        };
        let text = crate::report::render(&outcome.advised(&ctx), crate::report::Format::Human, Style::default());
        text.lines().filter_map(|line| line.strip_prefix("  help: ")).map(str::to_owned).collect()
    }

    fn finding(rule: Rule, name: &str) -> Finding {
        Finding::new(rule, name).about(&ProviderAddr::parse(&format!("acme/{name}"), Dialect::Terraform).unwrap())
    }

    #[test]
    fn advised_commands_work_in_the_current_directory() {
        let rotate = |name| finding(Rule::SignerChanged, name).filled(Hole::Fingerprint, "F1");
        let help = merged(vec![("a", rotate("x")), ("a", rotate("y"))], Some("a"));
        let own = ["x", "y"].map(|name| {
            format!(
                "Ask its publisher whether the key is theirs (`tflock -C a explain registry.terraform.io/acme/{name}` shows \
                 it and those remembered); then `tflock -C a trust rotate registry.terraform.io/acme/{name} F1 --reason \
                 TEXT`."
            )
        });
        assert_eq!(help, own);
        let stale = |name| finding(Rule::ConstraintsStale, name);
        assert_eq!(merged(vec![("a", stale("x")), ("a", stale("y"))], Some("a")), ["Run `tflock -C a lock`."]);
        assert_eq!(merged(vec![("a", stale("x")), ("a", stale("y"))], None), ["Run `tflock -C a lock`."]);
        assert_eq!(merged(vec![("a", stale("x")), ("b", stale("y"))], None), ["Run `tflock lock -r`."]);
        let strange = || Finding::new(Rule::LockNotLiteral, "x");
        let help = merged(vec![("a", strange()), ("b", Finding::new(Rule::LockNotLiteral, "y"))], None);
        assert!(help.len() == 2 && help[0].contains("-- a/x.hcl`") && help[1].contains("-- b/x.hcl`"), "{help:?}");
        // Too many to be told one by one.
        let many = ["p", "q", "r", "s"].map(|name| ("a", rotate(name)));
        let help = merged(many.to_vec(), Some("a"));
        assert!(help.len() == 1 && help[0].contains("`tflock -C a trust rotate ADDR FINGERPRINT"), "{help:?}");
    }

    #[test]
    fn missing_lock_files_are_created() {
        let missing = || Finding::new(Rule::LockFileMissing, "there is none");
        let help = merged(vec![("a", missing()), ("b", missing())], None);
        assert!(help.len() == 1 && help[0].starts_with("Run `tflock lock -r --create`"), "{help:?}");
        assert_eq!(merged(vec![("a", missing())], None), ["Run `tflock -C a lock` and commit the file."]);
    }

    fn error() -> Error {
        let mut error = Error::new(ErrorKind::NotFound, "no \x1b[0m version")
            .in_file("a/main.tf")
            .at(Position { line: 3, column: 7 })
            .about_url("https://example.com/v1")
            .hint(step!("run `tflock lock`"));
        error.others.push(Error::new(ErrorKind::Disk, "no space"));
        error
    }

    #[test]
    fn human_output_has_place_and_next_step() {
        let expected = "error: no \\u{1b}[0m version\n  --> a/main.tf:3:7\n  url: https://example.com/v1\n  help: run \
                        `tflock lock`\nerror: no space\n";
        assert_eq!(error_text(&error(), Style::default()), expected);
    }

    #[test]
    fn programs_read_every_field() {
        let expected = concat!(
            r#"{"kind":"not-found","message":"no \u001b[0m version","file":"a/main.tf","line":3,"column":7,"#,
            r#""url":"https://example.com/v1","hints":["run `tflock lock`"],"#,
            r#""others":[{"kind":"disk","message":"no space","file":null,"line":null,"column":null,"url":null,"#,
            r#""hints":[]}]}"#
        );
        assert_eq!(serde_json::json!(error()).to_string(), expected);
    }
}
