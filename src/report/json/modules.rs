//! Locked modules as JSON.

use serde_json::{Map, Value, json};

use crate::config::ModuleVersion;
use crate::modulelock::{LockedModule, ModuleChange, ModuleKey};
use crate::outcome::{CallOnPath, InstalledModules, ModuleHolder, OutdatedModule, OutdatedModules, UsedModule};
use crate::report::shown;

pub(super) fn change(change: &ModuleChange) -> Value {
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

pub(super) fn used(module: &UsedModule) -> Value {
    json!({
        "call": module.call,
        "source": module.source,
        "version": module.version,
        "commit": module.commit,
        "locked": module.locked,
        "file": shown(&module.file),
        "line": module.position.line,
        "column": module.position.column,
    })
}

pub(super) fn installed(installed: &InstalledModules) -> Map<String, Value> {
    let module = |module: &crate::outcome::InstalledModule| {
        json!({
            "call": module.call,
            "source": module.source,
            "version": module.version,
            "changed": module.changed,
        })
    };
    Map::from_iter([
        ("path".to_owned(), json!(shown(&installed.path))),
        ("modules".to_owned(), installed.modules.iter().map(module).collect()),
    ])
}

pub(super) fn outdated(report: &OutdatedModules) -> Map<String, Value> {
    let holder = |holder: &ModuleHolder| {
        json!({
            "call": holder.call,
            "constraint": holder.constraint,
            "file": shown(&holder.file),
            "line": holder.position.line,
            "column": holder.position.column,
        })
    };
    let row = |row: &OutdatedModule| {
        json!({
            "source": row.versions.source,
            "selected": row.versions.selected,
            "allowed": row.versions.allowed,
            "newest": row.versions.newest,
            "calls": row.calls,
            "held_back_by": row.held_back_by.iter().map(holder).collect::<Value>(),
        })
    };
    let rows = report.rows.iter().map(row).collect();
    Map::from_iter([("modules".to_owned(), rows), ("complete".to_owned(), json!(report.complete))])
}

pub(super) fn call(call: &CallOnPath) -> Value {
    json!({ "name": call.name, "source": call.source, "version": call.version })
}
