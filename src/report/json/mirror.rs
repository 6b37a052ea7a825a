//! The result of `mirror` as JSON.

use serde_json::{Map, Value, json};

use super::{errors, one};
use crate::hash::PackageHash;
use crate::outcome::{MirrorReport, MirroredPackage};
use crate::report::shown;

pub(super) fn mirror(report: &MirrorReport) -> Map<String, Value> {
    let package = |package: &MirroredPackage| {
        json!({
            "address": package.address.to_string(),
            "version": package.version.to_string(),
            "platform": package.platform.as_str(),
            "file": shown(&package.file),
            "bytes": package.size,
            "hashes": package.hashes.iter().map(PackageHash::as_str).collect::<Vec<_>>(),
            "fate": package.fate.as_str(),
        })
    };
    let mirror = json!({
        "directory": shown(&report.directory),
        "packages": report.packages.iter().map(package).collect::<Value>(),
        "failed": report.failed.iter().map(errors::json).collect::<Value>(),
    });
    one("mirror", mirror)
}
