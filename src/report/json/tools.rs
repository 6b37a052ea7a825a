//! The results of commands about files, packages, git and the cache as JSON.

use serde_json::{Map, Value, json};

use super::one;
use crate::hash::HashScheme;
use crate::lockfile::LockEntry;
use crate::merge::{Remark, Shortened};
use crate::outcome::{Generated, GitReport, GitSetting, MergedFile};
use crate::report::shown;

pub(super) fn git(reports: &[GitReport]) -> Map<String, Value> {
    let setting = |setting: &GitSetting| json!({ "name": setting.name, "found": setting.found, "wanted": setting.wanted, "ok": setting.is_set() });
    let report = |report: &GitReport| match report {
        GitReport::Installed(attributes) => json!({ "done": "install", "attributes_changed": attributes }),
        GitReport::Uninstalled { attributes, .. } => json!({ "done": "uninstall", "attributes_changed": attributes }),
        GitReport::Status(settings) => json!({ "settings": settings.iter().map(setting).collect::<Value>() }),
    };
    one("clones", reports.iter().map(report).collect())
}

pub(super) fn merged(files: &[MergedFile]) -> Map<String, Value> {
    let remark = |remark: &Remark| json!({ "address": remark.address(), "message": remark.to_string() });
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
pub(super) fn shortened(shortened: &Shortened) -> Map<String, Value> {
    let entry = |(address, entry): (&crate::addr::ProviderAddr, &LockEntry)| {
        let count = |scheme| entry.hashes.of(scheme).count();
        json!({
            "address": address,
            "version": entry.version,
            "constraints": super::constraints(&entry.constraints),
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

pub(super) fn generated(generated: &Generated) -> Map<String, Value> {
    match generated {
        Generated::Script(text) => one("script", json!(text)),
        Generated::Page(text) => one("page", json!(text)),
        Generated::Version(version) => one("version", json!(version)),
        // The schema is part of the program, so it parses.
        Generated::Schema(text) => one("schema", serde_json::from_str(text).unwrap_or_default()),
    }
}
