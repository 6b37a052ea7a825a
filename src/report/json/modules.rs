//! Locked modules as JSON.

use serde_json::{Map, Value, json};

use crate::config::ModuleVersion;
use crate::modulelock::{LockedModule, ModuleChange, ModuleKey};
use crate::outcome::{InstalledModules, UsedModule};
use crate::report::slashed;

/// A package whose lock changed.
pub(super) fn change(change: &ModuleChange) -> Value {
    let [came, went] = change.calls();
    json!({
        "source": change.key.source,
        "kind": change.kind.as_str(),
        "old": change.old.as_ref().map(|(key, block)| side(key, block)),
        "new": change.new.as_ref().map(|block| side(&change.key, block)),
        "calls_added": came,
        "calls_removed": went,
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

/// One call of `list --modules`.
pub(super) fn used(module: &UsedModule) -> Value {
    json!({
        "call": module.call,
        "source": module.source,
        "version": module.version,
        "commit": module.commit,
        "locked": module.locked,
        "file": slashed(&module.file),
        "line": module.position.line,
        "column": module.position.column,
    })
}

/// What `get` installed.
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
        ("path".to_owned(), json!(slashed(&installed.path))),
        ("modules".to_owned(), installed.modules.iter().map(module).collect()),
    ])
}
