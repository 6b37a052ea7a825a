//! Remembered signers as JSON.

use serde_json::{Map, Value, json};

use crate::outcome::{TrustChange, TrustReport};
use crate::report::shown;
use crate::trust::Fingerprint;
use crate::trust::pins::{Pin, Signer};

pub(super) fn signer(signer: &Signer) -> String {
    signer.to_string()
}

pub(super) fn learned(trust: &TrustChange) -> Value {
    let pinned = trust.pinned.iter();
    let pinned: Value = pinned.map(|(addr, by)| json!({ "address": addr.to_string(), "signer": signer(by) })).collect();
    let republished = trust.republished.iter();
    let republished: Value = republished
        .map(|(addr, version)| json!({ "address": addr.to_string(), "version": version.to_string() }))
        .collect();
    json!({
        "path": shown(&trust.path),
        "written": trust.written,
        "pinned": pinned,
        "denied": trust.denied.iter().map(Fingerprint::as_str).collect::<Vec<_>>(),
        "republished": republished,
    })
}

pub(super) fn report(report: &TrustReport) -> Map<String, Value> {
    let pins = &report.pins;
    let providers = pins.providers.iter().map(|(pattern, pin)| provider(&pattern.to_string(), pin));
    let denied = pins.denied.iter().map(|(key, reason)| json!({ "signer": key.as_str(), "reason": reason }));
    let republished = pins.republished.iter().map(|(republication, reason)| {
        json!({
            "address": republication.address.to_string(),
            "version": republication.version.to_string(),
            "date": republication.date.to_string(),
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

fn provider(pattern: &str, pin: &Pin) -> Value {
    let retired = pin.retired.iter().map(|(signer, retired)| {
        json!({
            "signer": signer.to_string(),
            "versions": retired.versions.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "reason": retired.reason,
        })
    });
    json!({
        "address": pattern,
        "signers": pin.signers.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "retired": retired.collect::<Value>(),
    })
}
