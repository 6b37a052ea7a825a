//! JSON documents: one complete document for each run, even after an error. Each begins with `format_version` and
//! `command`. Absent values are `null`. Several root modules are listed under `roots`, each with the `path` of its
//! directory; a file that is `path` in a single result is `file` there.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::addr::{AddrPattern, ProviderAddr};
use crate::config::RootKind;
use crate::dialect::Dialect;
use crate::diff::{Change, Distance, Formatting, OriginChange, Standing, explain, headline, risk};
use crate::error::{Error, ExitCode};
use crate::finding::{Finding, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::LockEntry;
use crate::merge::{MergeRemark, Shortened};
use crate::modulelock::{LockedModule, ModuleChange, ModuleKey};
use crate::outcome::{
    AttributeLines, Body, Changes, Explained, Generated, GitReport, GitSetting, Listed, MergedFile, Outcome, Required,
    Review, RootOutcome, TrustReport, WorkTreeFindings,
};
use crate::provenance::BuildChange;
use crate::report::layout::hidden;
use crate::report::{sbom, shown};
use crate::requirements::Origin;
use crate::topics::{TOPICS, Topic};
use crate::trust::pins::Pin;
use crate::verify::Verified;
use crate::version::{Constraints, ModuleVersion, Version};

/// The version of the format of all documents.
const FORMAT_VERSION: &str = "1.0";

pub(super) fn render(outcome: &Outcome) -> String {
    let mut document = start(Some(outcome.command));
    if outcome.many {
        return harmless(&OfMany { start: document, outcome });
    }
    // A result and an error form one body.
    outcome.roots.iter().for_each(|root| document.append(&mut body(root)));
    document.extend(outcome.kinds.values().next().map(|kind| ("kind".to_owned(), json!(kind))));
    if let Some(error) = &outcome.error {
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
        if self.outcome.excluded > 0 {
            document.serialize_entry("excluded", &self.outcome.excluded)?;
        }
        if self.outcome.templates > 0 {
            document.serialize_entry("templates", &self.outcome.templates)?;
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
            in_list(&RootOutcome { findings, ..RootOutcome::of("", Body::Verified(verified)) }, None)
        };
        let of_root = |root: &RootOutcome| in_list(root, self.0.kinds.get(&root.path));
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
fn in_list(root: &RootOutcome, kind: Option<&RootKind>) -> Value {
    let mut object = Map::from_iter([("path".to_owned(), json!(shown(&root.path)))]);
    object.extend(kind.map(|kind| ("kind".to_owned(), json!(kind))));
    // The file that a body is about must not hide which root module it is.
    let body = body(root).into_iter();
    object.extend(body.map(|(key, value)| if key == "path" { ("file".to_owned(), value) } else { (key, value) }));
    Value::Object(object)
}

pub(super) fn failure(command: Option<&str>, error: &Error) -> String {
    let mut document = start(command);
    document.insert("error".to_owned(), json!(error));
    text(document)
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
        Ok(Body::Changes(changes)) => self::changes(changes),
        Ok(Body::Review(review)) => self::review(review),
        Ok(Body::Modules(used)) => one("modules", json!(used)),
        Ok(Body::Installed(installed)) => members(installed),
        Ok(Body::Verified(verified)) => return self::verified(verified, &root.findings),
        Ok(Body::Trust(report)) => trust(report),
        Ok(Body::Explained(explained)) => self::explained(explained),
        Ok(Body::Formatted(files)) => one("files", json!(files)),
        Ok(Body::Hashed(lines)) => one("hashes", json!(lines)),
        Ok(Body::Cache(report)) => one("cache", json!(report)),
        Ok(Body::Setup(report)) => one("setup", json!(report)),
        Ok(Body::Status(status)) => one("status", json!(status)),
        Ok(Body::Install(report)) => one("install", json!(report)),
        Ok(Body::Mirror(report)) => one("mirror", json!(report)),
        Ok(Body::Audit(report)) => one("audit", json!(report)),
        Ok(Body::Sbom(inventory)) => one("sbom", json!(sbom::cyclonedx(inventory))),
        Ok(Body::Git(reports)) => git(reports),
        Ok(Body::Merged(files)) => merged(files),
        Ok(Body::Shortened(shortened)) => self::shortened(shortened),
        Ok(Body::Generated(generated)) => self::generated(generated),
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
    let mut object = Map::from_iter([
        ("findings".to_owned(), findings.iter().map(finding).collect()),
        ("proven".to_owned(), json!(verified.proven)),
        ("unknown".to_owned(), json!(verified.unknown)),
        ("unchanged".to_owned(), json!(verified.unchanged)),
        ("believed".to_owned(), applied(verified)),
    ]);
    if let Some(error) = &verified.not_checked {
        object.insert("not_checked".to_owned(), json!(error));
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
fn applied(verified: &Verified) -> Value {
    let base = verified.base.as_ref();
    let itself = base.is_none_or(|base| base.trust_change_allowed);
    json!({
        "source": if itself { "work-tree" } else { "revision" },
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
        "constraints": constraints(&required.requirement.constraints),
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
        "constraints": constraints(&listed.entry.constraints),
        "required": listed.required,
        "hashes": { "h1": of(HashScheme::H1), "zh": of(HashScheme::Zh), "other": of(HashScheme::Other) },
        "platforms": listed.platforms,
        "signer": listed.signer,
    })
}

fn changes(changes: &Changes) -> Map<String, Value> {
    let mut object = Map::from_iter([
        ("changed".to_owned(), json!(changes.changed)),
        ("path".to_owned(), json!(shown(&changes.path))),
        ("changes".to_owned(), changes.changes.iter().map(made).collect()),
    ]);
    if !changes.edited.is_empty() {
        object.insert("edited".to_owned(), changes.edited.iter().map(|path| shown(path)).collect());
    }
    if !changes.modules.is_empty() {
        object.insert("modules".to_owned(), changes.modules.iter().map(module_change).collect());
    }
    if !changes.advice.is_empty() {
        object.insert("hints".to_owned(), json!(changes.advice));
    }
    if let Some(trust) = &changes.trust {
        object.insert("trust".to_owned(), json!(trust));
    }
    object
}

fn review(review: &Review) -> Map<String, Value> {
    let tool = |tool: Option<Dialect>| tool.map(Dialect::program);
    let header = review.text.header.map(|[old, new]| json!({ "old": tool(old), "new": tool(new) }));
    let [old, new] = &review.sides;
    let mut object = Map::from_iter([
        ("changed".to_owned(), json!(review.changed)),
        ("path".to_owned(), json!(shown(&review.path))),
        ("changes".to_owned(), review.changes.iter().map(reviewed).collect()),
        ("compared".to_owned(), json!({ "old": old, "new": new })),
        ("header".to_owned(), json!(header)),
        ("formatting".to_owned(), json!(review.text.formatting == Formatting::Changed)),
    ]);
    if !review.inconclusive.is_empty() {
        object.insert("inconclusive".to_owned(), json!(review.inconclusive));
    }
    if !review.modules.is_empty() {
        object.insert("modules".to_owned(), review.modules.iter().map(module_change).collect());
    }
    object
}

/// A change that was made; for a move also its old address, signer and whether its archives are identical.
fn made(change: &Change) -> Value {
    let mut object = self::change(change);
    if let Some(from) = &change.moved_from {
        object["moved_from"] = json!(from);
        object["archives"] = json!(change.identical.then_some("identical"));
        object["signer"] = json!(change.signer);
        object["first_use"] = json!(change.signer.is_some() && change.standing == Standing::FirstUse);
    }
    object
}

/// A change with the facts that only a review has.
fn reviewed(change: &Change) -> Value {
    let mut object = self::change(change);
    let words = explain(change);
    let [old, new] =
        [&change.old, &change.new].map(|entry| entry.as_ref().and_then(|entry| constraints(&entry.constraints)));
    let versions = change.old.as_ref().zip(change.new.as_ref());
    let distance = versions.and_then(|(old, new)| Distance::between(&old.version, &new.version));
    if let Some(hashes) = object["hashes_added"].as_array_mut() {
        for (item, added) in hashes.iter_mut().zip(&change.hashes_added) {
            item["verdict"] = json!(change.judged.get(&added.hash).map(|judged| judged.verdict));
        }
    }
    let removed = change.hashes_removed.iter().filter_map(|hash| {
        let judged = change.judged.get(hash)?;
        Some(json!({ "hash": hash, "platform": judged.platforms.first(), "verdict": judged.verdict }))
    });
    object["removed_verdicts"] = removed.collect();
    object["moved_from"] = json!(change.moved_from);
    object["distance"] = json!(distance.map(Distance::as_str));
    object["risk"] = json!(risk(change).as_str());
    object["constraints"] = json!({ "old": old, "new": new });
    object["summary"] = json!(headline(change).join("; "));
    object["warning"] = json!((!words.warning.is_empty()).then_some(words.warning));
    object["cause"] = json!(words.cause);
    object["consequence"] = json!(words.consequence);
    object["requirement_changes"] = change.callers.iter().map(caller).collect();
    object["signer"] = json!(change.signer);
    object["standing"] = json!(change.signer.as_ref().map(|_| change.standing));
    object["link"] = json!(change.link.as_ref().map(url::Url::as_str));
    object["registry_warnings"] = json!(*change.registry_warnings);
    object["signed"] = json!(change.signed.map(|signed| signed.date));
    object["build"] = json!(change.build.as_deref().map(built));
    object["required_by"] = json!(change.required_by.known());
    object["line"] = json!(change.position.map(|position| position.line));
    object
}

fn caller(caller: &OriginChange) -> Value {
    let (word, origin, was) = match caller {
        OriginChange::Came(origin) => ("came", origin, None),
        OriginChange::Went(origin) => ("went", origin, None),
        OriginChange::Changed { was, now } => ("changed", now, was.as_deref()),
    };
    json!({ "change": word, "was": was, "origin": origin })
}

fn change(change: &Change) -> Value {
    let version = |entry: &Option<LockEntry>| json!(entry.as_ref().map(|entry| &entry.version));
    json!({
        "address": change.address,
        "kind": change.kind.as_str(),
        "old": version(&change.old),
        "new": version(&change.new),
        "hashes_added": change.hashes_added,
        "hashes_removed": change.hashes_removed,
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.id(),
        "level": finding.level,
        "class": finding.rule.class(),
        "message": finding.message,
        "help": finding.help(),
        "address": finding.address,
        "file": finding.file.as_deref().map(shown),
        "line": finding.position.map(|position| position.line),
        "column": finding.position.map(|position| position.column),
    })
}

/// The text of constraints; `None` if there are none.
fn constraints(constraints: &Constraints) -> Option<String> {
    (!constraints.is_empty()).then(|| constraints.to_string())
}

fn explained(explained: &Explained) -> Map<String, Value> {
    match explained {
        Explained::Index => Map::from_iter([
            ("topics".to_owned(), TOPICS.iter().map(topic).collect()),
            ("rules".to_owned(), Rule::ALL.iter().map(|rule| self::rule(*rule)).collect()),
        ]),
        Explained::Topic(page) => one("topic", topic(page)),
        Explained::Rule(rule) => one("rule", self::rule(*rule)),
        Explained::Item(rule) => one("change", json!(rule)),
        Explained::Hash(hash) => one("hash", json!(hash)),
        Explained::Provider(provider) => members(provider),
    }
}

fn topic(topic: &Topic) -> Value {
    json!({ "name": topic.name, "title": topic.title(), "text": topic.text })
}

fn rule(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "summary": rule.summary(),
        "help": rule.help().text,
        "level": rule.level(),
        "class": rule.class(),
        "exit_code": ExitCode::of_class(rule.class()) as u8,
    })
}

fn module_change(change: &ModuleChange) -> Value {
    let [added, removed] = change.calls();
    json!({
        "source": change.key.source,
        "kind": change.kind,
        "old": change.old.as_ref().map(|(key, block)| side(key, block)),
        "new": change.new.as_ref().map(|block| side(&change.key, block)),
        "calls_added": added,
        "calls_removed": removed,
        "summary": change.sentence(),
    })
}

fn side(key: &ModuleKey, block: &LockedModule) -> Value {
    json!({
        "source": key.source,
        "version": key.version.as_ref().map(ModuleVersion::canonical),
        "location": block.content.location,
        "commit": block.content.commit,
        "hash": block.content.hash.as_str(),
    })
}

fn git(reports: &[GitReport]) -> Map<String, Value> {
    let setting = |setting: &GitSetting| json!({ "name": setting.name, "found": setting.found, "wanted": setting.wanted, "ok": setting.is_set() });
    let report = |report: &GitReport| match report {
        GitReport::Installed(attributes) => json!({ "done": "install", "attributes_changed": attributes }),
        GitReport::Uninstalled { attributes, .. } => {
            json!({ "done": "uninstall", "attributes_changed": *attributes == AttributeLines::Removed })
        }
        GitReport::Status(settings) => json!({ "settings": settings.iter().map(setting).collect::<Value>() }),
    };
    one("clones", reports.iter().map(report).collect())
}

fn merged(files: &[MergedFile]) -> Map<String, Value> {
    let remark = |remark: &MergeRemark| json!({ "address": remark.address(), "message": remark.to_string() });
    let file = |file: &MergedFile| {
        json!({
            "path": shown(&file.path),
            "merged": file.merged,
            "conflicts": file.conflicts,
            "remarks": file.remarks.iter().map(remark).collect::<Value>(),
        })
    };
    one("files", files.iter().map(file).collect())
}

/// The short form of the entries; empty for a text that is no lock file.
fn shortened(shortened: &Shortened) -> Map<String, Value> {
    let entry = |(address, entry): (&ProviderAddr, &LockEntry)| {
        let count = |scheme| entry.hashes.of(scheme).count();
        json!({
            "address": address,
            "version": entry.version,
            "constraints": constraints(&entry.constraints),
            "h1": count(HashScheme::H1),
            "zh": count(HashScheme::Zh),
            "other": count(HashScheme::Other),
        })
    };
    Map::from_iter([
        ("readable".to_owned(), json!(shortened.lock.is_some())),
        ("summary".to_owned(), shortened.lock.iter().flat_map(|lock| lock.iter().map(entry)).collect()),
    ])
}

fn generated(generated: &Generated) -> Map<String, Value> {
    match generated {
        Generated::Script(text) => one("script", json!(text)),
        Generated::Page(text) => one("page", json!(text)),
        Generated::Version(version) => one("version", json!(version)),
        // The schema is part of the program, so it parses.
        Generated::Schema(text) => one("schema", serde_json::from_str(text).unwrap_or_default()),
    }
}

fn trust(report: &TrustReport) -> Map<String, Value> {
    let pins = &report.pins;
    let providers = pins.providers.iter().map(|(pattern, pin)| pinned_provider(pattern, pin));
    let denied = pins.denied.iter().map(|(key, reason)| json!({ "signer": key, "reason": reason }));
    let republished = pins.republished.iter().map(|(republication, reason)| {
        json!({
            "address": republication.address,
            "version": republication.version,
            "date": republication.date,
            "reason": reason,
        })
    });
    Map::from_iter([
        ("path".to_owned(), json!(shown(&report.path))),
        ("changed".to_owned(), json!(report.changed.unwrap_or_default())),
        ("providers".to_owned(), providers.collect()),
        ("denied".to_owned(), denied.collect()),
        ("republished".to_owned(), republished.collect()),
    ])
}

fn pinned_provider(pattern: &AddrPattern, pin: &Pin) -> Value {
    let retired = pin.retired.iter().map(|(signer, retired)| {
        json!({
            "signer": signer,
            "versions": retired.versions,
            "reason": retired.reason,
        })
    });
    let reasons = pin.reasons.iter().map(|(signer, reason)| json!({ "signer": signer, "reason": reason }));
    json!({
        "address": pattern,
        "signers": pin.signers,
        "reasons": reasons.collect::<Value>(),
        "retired": retired.collect::<Value>(),
        "built_by": pin.built_by.as_deref(),
    })
}

fn built(change: &BuildChange) -> Value {
    let mut object = json!(change.new);
    object["comparison"] = json!(change.comparison());
    object
}
