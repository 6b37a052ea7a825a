//! The canonical text of a trust file: sorted blocks, aligned attributes, comments in their places.

use super::{BlockKey, Pin, TrustFile};
use crate::addr::AddrPattern;
use crate::hcl::document::{Value, Writer};

impl TrustFile {
    pub fn encode(&self) -> String {
        let mut text = Writer::new(&self.comments);
        for (pattern, pin) in &self.pins.providers {
            provider(&mut text, pattern, pin);
        }
        for (key, reason) in &self.pins.denied {
            let block = BlockKey::Denied(key.clone());
            text.block("", &block, "denied_signer", key.as_str(), &[("reason", Value::Text(reason.clone()))]);
        }
        for (republication, reason) in &self.pins.republished {
            let block = BlockKey::Republished(republication.clone());
            let attributes = [
                ("version", Value::Text(republication.version.to_string())),
                ("date", Value::Text(republication.date.to_string())),
                ("reason", Value::Text(reason.clone())),
            ];
            text.block("", &block, "republished", &republication.address.to_string(), &attributes);
        }
        text.finish()
    }
}

fn provider(text: &mut Writer<'_, BlockKey>, pattern: &AddrPattern, pin: &Pin) {
    let key = BlockKey::Provider(pattern.clone());
    let keys: Vec<String> = pin.signers.iter().filter_map(|signer| Some(signer.key()?.to_string())).collect();
    let unsigned = keys.len() < pin.signers.len();
    let mut attributes = Vec::new();
    if !keys.is_empty() {
        attributes.push(("signers", Value::List(keys)));
    }
    if unsigned {
        attributes.push(("unsigned", Value::True));
    }
    text.open("", &key, "provider", &pattern.to_string());
    text.attributes("  ", &key, &attributes);
    for (signer, reason) in &pin.reasons {
        let block = BlockKey::Signer(pattern.clone(), signer.clone());
        text.block("  ", &block, "signer", &signer.to_string(), &[("reason", Value::Text(reason.clone()))]);
    }
    for (signer, retired) in &pin.retired {
        let block = BlockKey::Retired(pattern.clone(), signer.clone());
        let versions = retired.versions.iter().map(ToString::to_string).collect();
        let mut attributes = vec![("versions", Value::List(versions))];
        attributes.extend(retired.reason.clone().map(|reason| ("reason", Value::Text(reason))));
        text.block("  ", &block, "retired_signer", &signer.to_string(), &attributes);
    }
    text.close("", &key);
}
