//! What the expiry of signing keys and signatures means for a release.

use crate::addr::ProviderAddr;
use crate::finding::{Finding, Level, Rule};
use crate::settings::ExpiredKeyRule;
use crate::trust::openpgp::{Lapse, Verified};
use crate::version::Version;

/// What the expiry of keys and signatures means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExpiryRules {
    /// A key that had expired when it signed.
    pub at_signing: ExpiredKeyRule,
    /// A key that has expired since.
    pub since: ExpiredKeyRule,
    /// A signature that has expired itself, or is dated in the future.
    pub signature: ExpiredKeyRule,
}

impl Default for ExpiryRules {
    /// What Terraform makes of them, with a word about the first.
    fn default() -> Self {
        Self { at_signing: ExpiredKeyRule::Warn, since: ExpiredKeyRule::Allow, signature: ExpiredKeyRule::Deny }
    }
}

impl ExpiryRules {
    /// Of each, the stricter.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        Self {
            at_signing: self.at_signing.max(other.at_signing),
            since: self.since.max(other.since),
            signature: self.signature.max(other.signature),
        }
    }

    /// What has expired about a signature, if that is to be reported: the worst thing only.
    pub fn finding(&self, addr: &ProviderAddr, version: &Version, verified: &Verified) -> Option<Finding> {
        let key = &verified.fingerprint;
        let (message, rule) = match verified {
            Verified { lapse: Some(Lapse::Expired), .. } => {
                (format!("the signature of {addr} {version} by the signing key {key} has expired"), self.signature)
            }
            Verified { lapse: Some(Lapse::Future), .. } => (
                format!("the signature of {addr} {version} by the signing key {key} is dated in the future"),
                self.signature,
            ),
            Verified { expired: true, .. } => {
                (format!("the signing key {key} had expired when it signed {addr} {version}"), self.at_signing)
            }
            Verified { expired_now: true, .. } => {
                (format!("the signing key {key} has expired since it signed {addr} {version}"), self.since)
            }
            _ => return None,
        };
        let finding = Finding::new(Rule::ExpiredKey, message).about(addr);
        match rule {
            ExpiredKeyRule::Allow => None,
            ExpiredKeyRule::Warn => Some(finding),
            ExpiredKeyRule::Deny => Some(Finding { level: Level::Deny, ..finding }),
        }
    }
}
