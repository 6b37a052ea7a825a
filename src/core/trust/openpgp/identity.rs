//! What keys say of themselves: a name, and from when to when they count. It decides nothing, because the maker of a
//! key writes into it what they like; users compare it with what a publisher announces.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

#[cfg(feature = "openpgp")]
use super::judge::binding_policy;
#[cfg(feature = "openpgp")]
use super::keyring::Keyring;
use crate::settings::Date;
use crate::trust::Fingerprint;

/// The most characters of a name that are kept.
#[cfg(feature = "openpgp")]
const LONGEST: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The primary user ID, in one line; `None` without a valid one.
    pub user_id: Option<String>,
    pub created: SystemTime,
    pub expires: Option<SystemTime>,
}

pub type Identities = BTreeMap<Fingerprint, Identity>;

/// What armored keys say of themselves at a time; what does not decode is passed over.
#[cfg(feature = "openpgp")]
pub fn identities(keys: &[&str], now: SystemTime) -> Identities {
    let policy = binding_policy(now);
    let mut found = Identities::new();
    for cert in Keyring::decode(keys).in_order().flatten().flatten() {
        let Ok(fingerprint) = cert.fingerprint().to_hex().parse() else { continue };
        let valid = cert.with_policy(&policy, now).ok();
        let name = valid.as_ref().and_then(|valid| valid.primary_userid().ok());
        let expires = valid.as_ref().and_then(|valid| valid.primary_key().key_expiration_time());
        let user_id = name.map(|name| one_line(&String::from_utf8_lossy(name.userid().value())));
        let created = cert.primary_key().key().creation_time();
        found.insert(fingerprint, Identity { user_id, created, expires });
    }
    found
}

#[cfg(feature = "openpgp")]
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.user_id {
            Some(name) => write!(f, "claims to be {name:?}")?,
            None => f.write_str("has no user ID")?,
        }
        write!(f, " (created {}, ", Date::of(self.created))?;
        match self.expires {
            Some(time) => write!(f, "expires {})", Date::of(time)),
            None => f.write_str("no expiry)"),
        }
    }
}
