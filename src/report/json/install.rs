//! The result of `install` as JSON.

use serde_json::{Map, Value, json};

use super::{errors, modules, one};
use crate::outcome::{InstallReport, InstalledPackage};

pub(super) fn install(report: &InstallReport) -> Map<String, Value> {
    let package = |package: &InstalledPackage| {
        json!({
            "address": package.address.to_string(),
            "version": package.version.to_string(),
            "platform": package.platform.as_str(),
            "h1": package.h1.as_ref().map(crate::hash::PackageHash::as_str),
            "state": package.state.as_str(),
            "bytes": package.bytes,
            "downloaded": package.downloaded,
        })
    };
    let removed = report
        .removed
        .iter()
        .map(|(address, version)| json!({ "address": address.to_string(), "version": version.to_string() }));
    let install = json!({
        "packages": report.packages.iter().map(package).collect::<Value>(),
        "modules": report.modules.as_ref().map(modules::installed),
        "removed": removed.collect::<Value>(),
        "failed": report.failed.iter().map(errors::json).collect::<Value>(),
    });
    one("install", install)
}
