//! The result of `audit` as JSON.

use serde_json::{Map, Value, json};

use super::{errors, one};
use crate::outcome::{AuditReport, AuditedProgram, FixedBy, Vulnerability};

pub(super) fn audit(report: &AuditReport) -> Map<String, Value> {
    let database = report.database.as_ref();
    let audit = json!({
        "database": database.map(|it| json!({ "source": it.source, "modified": it.modified })),
        "programs": report.programs.iter().map(program).collect::<Value>(),
        "failed": report.failed.iter().map(errors::json).collect::<Value>(),
    });
    one("audit", audit)
}

fn program(program: &AuditedProgram) -> Value {
    let unjudged = |(module, why): &(String, String)| json!({ "module": module, "reason": why });
    json!({
        "address": program.address.to_string(),
        "version": program.version.to_string(),
        "platform": program.platform.as_str(),
        "go": program.go,
        "modules": program.modules,
        "unknown": program.unknown,
        "unjudged": program.unjudged.iter().map(unjudged).collect::<Value>(),
        "reported": program.is_reported,
        "fixed_by": match &program.fixed_by {
            Some(FixedBy::Release(version)) => Some(version.to_string()),
            Some(FixedBy::Nothing) | None => None,
        },
        "vulnerabilities": program.vulnerabilities.iter().map(vulnerability).collect::<Value>(),
    })
}

fn vulnerability(it: &Vulnerability) -> Value {
    json!({
        "id": it.id,
        "aliases": it.aliases,
        "summary": it.summary,
        "module": it.module,
        "found": it.found,
        "fixed": it.fixed,
        "by_locked_version": it.is_locked_version,
    })
}
