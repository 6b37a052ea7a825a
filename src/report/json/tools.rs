//! The results of commands about files, packages, git and the cache as JSON.

use serde_json::{Map, Value, json};

use super::one;
use crate::hash::HashScheme;
use crate::lockfile::LockEntry;
use crate::merge::{Remark, Shortened};
use crate::outcome::{CacheReport, FormattedFile, Generated, GitReport, GitSetting, HashLine, MergedFile};
use crate::report::shown;

pub(super) fn formatted(files: &[FormattedFile]) -> Map<String, Value> {
    let file = |file: &FormattedFile| json!({ "path": shown(&file.path), "changed": file.changed, "written": file.written, "text": file.text });
    one("files", files.iter().map(file).collect())
}

pub(super) fn hashes(lines: &[HashLine]) -> Map<String, Value> {
    let line = |line: &HashLine| json!({ "hash": line.hash.as_str(), "path": shown(&line.path) });
    one("hashes", lines.iter().map(line).collect())
}

pub(super) fn cache(report: &CacheReport) -> Map<String, Value> {
    let value = match report {
        CacheReport::Directory(directory) => json!({ "directory": shown(directory) }),
        CacheReport::Stats { directory, stats } => json!({
            "directory": shown(directory),
            "computed": stats.computed,
            "imported": stats.imported,
            "documents": stats.documents,
            "releases": stats.releases,
            "modules": stats.modules,
            "packages": stats.packages,
            "bytes": stats.bytes,
        }),
        CacheReport::Exported { file, entries, text } => {
            json!({ "file": shown(file), "exported": entries, "text": text })
        }
        CacheReport::Published { index, news, known } => {
            json!({ "index": index, "published": news, "known": known })
        }
        CacheReport::Imported { file, imported, known } => {
            json!({ "file": shown(file), "imported": imported, "known": known })
        }
        CacheReport::Pruned { files, bytes } => json!({ "removed_files": files, "removed_bytes": bytes }),
    };
    one("cache", value)
}

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
    let remark = |remark: &Remark| {
        let address = remark.address().map(ToString::to_string);
        json!({ "address": address, "message": remark.to_string() })
    };
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
            "address": address.to_string(),
            "version": entry.version.to_string(),
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
