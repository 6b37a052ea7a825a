//! JSON documents: one complete document for each run, even after an error. Each begins with `format_version` and
//! `command`. Absent values are `null`. Several root modules are listed under `roots`, each with the `path` of its
//! directory; a file that is `path` in a single result is `file` there.

mod changes;
mod tools;

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::addr::ProviderAddr;
use crate::config::RootKind;
use crate::error::{Error, ExitCode};
use crate::finding::{Finding, Level};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::LockName;
use crate::outcome::{Body, Listed, Outcome, Required, RootOutcome, WorkTreeFindings};
use crate::report::groups::Changed;
use crate::report::layout::hidden;
use crate::report::opening::Opening;
use crate::report::style::Style;
use crate::report::summary::{Verdict, word};
use crate::report::{sbom, shown};
use crate::requirements::Origin;
use crate::step::Step;
use crate::verify::Verified;
use crate::version::Version;

/// The version of the format of all documents.
const FORMAT_VERSION: &str = "1.0";

pub(super) fn render(outcome: &Outcome) -> String {
    let mut document = start(Some(outcome.command));
    document.extend(run(outcome));
    if outcome.many {
        return harmless(&OfMany { start: document, outcome });
    }
    // A result and an error form one body.
    outcome.roots.iter().for_each(|root| document.append(&mut body(root)));
    document.extend(outcome.kinds.values().next().map(|kind| ("kind".to_owned(), json!(kind))));
    let errors = outcome.roots.iter().filter_map(|root| root.body.as_ref().err()).chain(&outcome.error);
    if let Some(error) = Error::all(errors.cloned()) {
        document.insert("error".to_owned(), json!(error));
    }
    text(document)
}

/// The document about several root modules.
struct OfMany<'a> {
    start: Map<String, Value>,
    outcome: &'a Outcome,
}

impl Serialize for OfMany<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = serializer.serialize_map(None)?;
        for (key, value) in &self.start {
            document.serialize_entry(key, value)?;
        }
        if let Some(providers) = by_provider(self.outcome) {
            document.serialize_entry("by_provider", &providers)?;
        }
        for (key, count) in self.outcome.not_counted.each() {
            if count > 0 {
                document.serialize_entry(key, &count)?;
            }
        }
        document.serialize_entry("roots", &Listing(self.outcome))?;
        if let Some(error) = &self.outcome.error {
            document.serialize_entry("error", error)?;
        }
        document.end()
    }
}

/// Of `list`: the locked versions of each provider, with the root modules that lock them.
fn by_provider(outcome: &Outcome) -> Option<Vec<Value>> {
    let mut providers: BTreeMap<&ProviderAddr, BTreeMap<&Version, Vec<String>>> = BTreeMap::new();
    let mut is_list = false;
    for root in &outcome.roots {
        let Ok(Body::Entries(entries)) = &root.body else { continue };
        is_list = true;
        for listed in entries.iter() {
            let versions = providers.entry(&listed.address).or_default();
            versions.entry(&listed.entry.version).or_default().push(shown(&root.path));
        }
    }
    let versions = |versions: BTreeMap<&Version, Vec<String>>| -> Value {
        versions.into_iter().map(|(version, roots)| json!({ "version": version, "roots": roots })).collect()
    };
    let providers = providers.into_iter();
    is_list.then(|| providers.map(|(addr, all)| json!({ "address": addr, "versions": versions(all) })).collect())
}

/// The list of root modules. It begins with the findings about the working tree, as if those were of its top.
struct Listing<'a>(&'a Outcome);

impl Serialize for Listing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of_tree = |tree: &WorkTreeFindings| {
            let verified = Verified { base: tree.base.clone(), ..Verified::default() };
            let findings = tree.findings.clone();
            in_list(&RootOutcome { findings, ..RootOutcome::of("", Body::Verified(verified)) }, None, true)
        };
        let of_root = |root: &RootOutcome| in_list(root, self.0.kinds.get(&root.path), false);
        serializer.collect_seq(self.0.work_tree.iter().map(of_tree).chain(self.0.roots.iter().map(of_root)))
    }
}

/// A list whose values are made one by one as they are written: all of them together take many times the memory of the
/// text.
pub(super) struct Each<I>(pub(super) I);

impl<I: Iterator<Item = Value> + Clone> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// A root module in a list of several.
fn in_list(root: &RootOutcome, kind: Option<&RootKind>, is_whole: bool) -> Value {
    let mut object = Map::from_iter([("path".to_owned(), json!(shown(LockName::directory(&root.path))))]);
    // A review names its file itself, and the working tree as a whole has none.
    if !matches!(root.body, Ok(Body::Review(_))) && !is_whole {
        object.insert("lock_file".to_owned(), json!(shown(&LockName::file(&root.path))));
    }
    object.extend(kind.map(|kind| ("kind".to_owned(), json!(kind))));
    // The file that a body is about must not hide which root module it is.
    let body = body(root).into_iter();
    object.extend(body.map(|(key, value)| if key == "path" { ("file".to_owned(), value) } else { (key, value) }));
    Value::Object(object)
}

pub(super) fn failure(command: Option<&str>, error: &Error) -> String {
    let mut document = start(command);
    let command = command.unwrap_or_default();
    let code = ExitCode::of_error(error);
    if VERDICTS.contains(&command) {
        document.insert(
            "verdict".to_owned(),
            json!(if command == "verify" { word(code, false) } else { done(code, false) }),
        );
    }
    if VERDICTS.contains(&command) || WITHOUT_VERDICT.contains(&command) {
        document.insert("exit_code".to_owned(), json!(code as u8));
        document.insert("next".to_owned(), json!(error.hints.iter().find_map(Step::command)));
        document.insert("notes".to_owned(), json!([]));
    }
    document.insert("error".to_owned(), json!(error));
    text(document)
}

/// The commands whose documents begin with a verdict.
const VERDICTS: [&str; 10] =
    ["verify", "lock", "add", "remove", "upgrade", "migrate", "install", "audit", "mirror", "outdated"];

/// The commands whose documents begin with the same, except for the verdict.
const WITHOUT_VERDICT: [&str; 3] = ["diff", "list", "status"];

/// How the run ended, the command that comes next, and what a terminal shows on standard error.
fn run(outcome: &Outcome) -> Map<String, Value> {
    let mut members = Map::new();
    let is_denied = || outcome.findings().any(|(_, finding)| finding.level() == Level::Deny);
    if VERDICTS.contains(&outcome.command) {
        let verdict = Verdict::of(outcome).map_or_else(|| done(outcome.code, is_denied()), |verdict| verdict.fixed());
        members.insert("verdict".to_owned(), json!(verdict));
    } else if !WITHOUT_VERDICT.contains(&outcome.command) {
        return members;
    }
    let next = match outcome.roots.first().map(|root| &root.body) {
        Some(Ok(Body::Status(status))) => Some(status.next.command.to_string()),
        _ => Opening::of(outcome, &Changed::of(&outcome.roots), Style::default()).next,
    };
    if let Some(reason) = &outcome.unlooked {
        members.insert("reason".to_owned(), json!(reason));
    }
    members.insert("exit_code".to_owned(), json!(outcome.code as u8));
    members.insert("next".to_owned(), json!(next));
    members.insert("notes".to_owned(), outcome.notes.0.iter().map(|note| json!(note.to_string())).collect());
    members
}

/// The verdict of a command that judges no lock file, or not only.
fn done(code: ExitCode, is_denied: bool) -> &'static str {
    match code {
        ExitCode::Done => "done",
        ExitCode::Findings if !is_denied => "differs",
        ExitCode::Findings | ExitCode::Refused => "refused",
        ExitCode::Failed => "failed",
        ExitCode::Inconclusive => "inconclusive",
        ExitCode::Interrupted | ExitCode::Terminated => "interrupted",
    }
}

fn start(command: Option<&str>) -> Map<String, Value> {
    Map::from_iter([("format_version".to_owned(), json!(FORMAT_VERSION)), ("command".to_owned(), json!(command))])
}

fn text(document: Map<String, Value>) -> String {
    harmless(&Value::Object(document))
}

/// The text of a document without characters that a terminal or a CI system would interpret: these, and `##`, are
/// escaped in strings.
pub(super) fn harmless(document: &impl Serialize) -> String {
    // Only keys that are no strings cannot be written, and there are none.
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    // Only strings have such characters.
    if text.contains("##") {
        text = text.replace("##", "#\\u0023");
    }
    // Line feeds and blanks are those of the document: below U+007F, all others are escaped already.
    if text.bytes().all(|byte| byte < 0x7f) {
        return text;
    }
    let mut units = [0; 2];
    text.chars().fold(String::with_capacity(text.len()), |mut text, character| {
        if character >= '\u{7f}' && hidden(character) {
            text.extend(character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            text.push(character);
        }
        text
    })
}

fn body(root: &RootOutcome) -> Map<String, Value> {
    let mut object = match &root.body {
        Ok(Body::Requirements(providers)) => one("requirements", providers.iter().map(required).collect()),
        Ok(Body::Entries(entries)) => one("entries", entries.iter().map(listed).collect()),
        Ok(Body::Outdated(report)) => members(report),
        Ok(Body::OutdatedModules(report)) => members(report),
        Ok(Body::Changes(changes)) => changes::changes(changes),
        Ok(Body::Review(review)) => changes::review(review),
        Ok(Body::Modules(used)) => one("modules", json!(used)),
        Ok(Body::Installed(installed)) => members(installed),
        Ok(Body::Verified(verified)) => return self::verified(verified, &root.findings),
        Ok(Body::Trust(report)) => tools::trust(report),
        Ok(Body::Explained(explained)) => tools::explained(explained),
        Ok(Body::Formatted(files)) => one("files", json!(files)),
        Ok(Body::Hashed(lines)) => one("hashes", json!(lines)),
        Ok(Body::Cache(report)) => one("cache", json!(report)),
        Ok(Body::Setup(report)) => one("setup", json!(report)),
        Ok(Body::Status(status)) => one("status", json!(status)),
        Ok(Body::Install(report)) => one("install", json!(report)),
        Ok(Body::Mirror(report)) => one("mirror", json!(report)),
        Ok(Body::Audit(report)) => one("audit", json!(report)),
        Ok(Body::Sbom(inventory)) => one("sbom", json!(sbom::cyclonedx(inventory))),
        Ok(Body::Git(reports)) => tools::git(reports),
        Ok(Body::Merged(files)) => tools::merged(files),
        Ok(Body::Shortened(shortened)) => tools::shortened(shortened),
        Ok(Body::Generated(generated)) => tools::generated(generated),
        Err(error) => one("error", json!(error)),
    };
    // Part of the body of `lock` and related commands; other bodies have it only with findings.
    if matches!(root.body, Ok(Body::Changes(_) | Body::Review(_))) || !root.findings.is_empty() {
        object.insert("findings".to_owned(), root.findings.iter().map(finding).collect());
    }
    object
}

/// The reasons for unknown hashes are present only if there are any.
fn verified(verified: &Verified, findings: &[Finding]) -> Map<String, Value> {
    let mut object = Map::from_iter([("findings".to_owned(), findings.iter().map(finding).collect())]);
    object.extend(members(verified));
    object.insert("judged_by".to_owned(), judged_by(verified));
    if let Some(error) = &verified.not_checked {
        object.insert("not_checked".to_owned(), json!(error));
    }
    if let Some(installed) = verified.installed {
        let counts = json!({ "hashed": installed.hashed, "not_installed": installed.not_installed });
        object.insert("installed".to_owned(), counts);
    }
    if !verified.repaired.is_empty() {
        object.insert("repaired".to_owned(), verified.repaired.iter().map(finding).collect());
    }
    if !verified.inconclusive.is_empty() {
        object.insert("inconclusive".to_owned(), verified.inconclusive.iter().map(|it| json!(it.error)).collect());
    }
    object
}

/// The settings and trust file that apply: without a base those of the working tree.
fn judged_by(verified: &Verified) -> Value {
    let base = verified.base.as_ref();
    let itself = base.is_none_or(|base| base.trust_change_allowed);
    json!({
        "source": if itself { "working-tree" } else { "revision" },
        "revision": base.map(|base| &base.revision),
        "commit": base.map(|base| &base.commit),
        "merge_base": base.map(|base| &base.merge_base),
    })
}

/// The members of a value that is an object.
fn members(value: &impl Serialize) -> Map<String, Value> {
    match json!(value) {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn one(key: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value)])
}

fn required(required: &Required) -> Value {
    json!({
        "address": required.address,
        "constraints": changes::constraints(&required.requirement.constraints),
        "locked": required.locked,
        "origins": required.requirement.origins.iter().map(|origin| on_path(origin, required)).collect::<Value>(),
    })
}

/// An origin with the calls on the way to it.
fn on_path(origin: &Origin, required: &Required) -> Value {
    let mut object = json!(origin);
    object["path"] = required.paths.get(&origin.module).into_iter().flatten().map(|call| json!(call)).collect();
    object
}

fn listed(listed: &Listed) -> Value {
    let of = |scheme| -> Vec<&PackageHash> { listed.entry.hashes.of(scheme).collect() };
    json!({
        "address": listed.address,
        "version": listed.entry.version,
        "constraints": changes::constraints(&listed.entry.constraints),
        "required": listed.required,
        "hashes": { "h1": of(HashScheme::H1), "zh": of(HashScheme::Zh), "other": of(HashScheme::Other) },
        "platforms": listed.platforms,
        "signer": listed.signer,
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.id(),
        "level": finding.level(),
        "class": finding.rule.class(),
        "message": finding.message(),
        "help": finding.help(),
        "address": finding.address,
        "file": finding.file.as_deref().map(shown),
        "line": finding.position.map(|position| position.line),
        "column": finding.position.map(|position| position.column),
    })
}
