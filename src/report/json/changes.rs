//! Changes of lock files and module locks as JSON.

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;
use crate::diff::{Change, Distance, Formatting, OriginChange, Standing, explain, headline, risk};
use crate::lockfile::LockEntry;
use crate::modulelock::{LockedModule, ModuleChange, ModuleKey};
use crate::outcome::{Changes, Review};
use crate::provenance::BuildChange;
use crate::report::shown;
use crate::version::{Constraints, ModuleVersion};

pub(super) fn changes(changes: &Changes) -> Map<String, Value> {
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

pub(super) fn review(review: &Review) -> Map<String, Value> {
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
    if !change.witnesses.is_empty() {
        object["witnesses"] = witnesses(change);
    }
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
    object["witnesses"] = witnesses(change);
    object["link"] = json!(change.link.as_ref().map(url::Url::as_str));
    object["registry_warnings"] = json!(*change.registry_warnings);
    object["signed"] = json!(change.signed.map(|signed| signed.date));
    object["build"] = json!(change.build.as_deref().map(built));
    object["required_by"] = json!(change.required_by.known());
    object["line"] = json!(change.position.map(|position| position.line));
    object
}

/// The other places that have the same archives.
fn witnesses(change: &Change) -> Value {
    change
        .witnesses
        .iter()
        .map(|(place, archives)| json!({ "place": place.to_string(), "archives": archives }))
        .collect()
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

/// The text of constraints; `None` if there are none.
pub(super) fn constraints(constraints: &Constraints) -> Option<String> {
    (!constraints.is_empty()).then(|| constraints.to_string())
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

fn built(change: &BuildChange) -> Value {
    let mut object = json!(change.new);
    object["comparison"] = json!(change.comparison());
    object
}
