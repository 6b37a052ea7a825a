//! Locked modules as JSON.

use serde_json::{Value, json};

use crate::config::ModuleVersion;
use crate::modulelock::{LockedModule, ModuleChange, ModuleKey};

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
