//! Remembered signers as JSON.

use serde_json::{Map, Value, json};

use crate::addr::AddrPattern;
use crate::outcome::TrustReport;
use crate::report::shown;
use crate::trust::pins::Pin;

pub(super) fn report(report: &TrustReport) -> Map<String, Value> {
    let pins = &report.pins;
    let providers = pins.providers.iter().map(|(pattern, pin)| provider(pattern, pin));
    let denied = pins.denied.iter().map(|(key, reason)| json!({ "signer": key, "reason": reason }));
    let republished = pins.republished.iter().map(|(republication, reason)| {
        json!({
            "address": republication.address,
            "version": republication.version,
            "date": republication.date,
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

fn provider(pattern: &AddrPattern, pin: &Pin) -> Value {
    let retired = pin.retired.iter().map(|(signer, retired)| {
        json!({
            "signer": signer,
            "versions": retired.versions,
            "reason": retired.reason,
        })
    });
    let reasons = pin.reasons.iter().map(|(signer, reason)| json!({ "signer": signer, "reason": reason }));
    json!({
        "address": pattern,
        "signers": pin.signers,
        "reasons": reasons.collect::<Value>(),
        "retired": retired.collect::<Value>(),
    })
}
