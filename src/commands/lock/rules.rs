//! What flags, settings, environment and dialect together ask of each provider.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::super::{LockOptions, RunSettings};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::engine::rules::{ReportedRule, Rules};
use crate::platform::Platform;
use crate::settings::{Age, ExpiredKeyRule, H1Rule, Settings, SignatureRule};

/// The rules of one root module.
#[derive(Debug, Clone)]
pub(in crate::commands) struct RuleBook {
    dialect: Dialect,
    settings: Settings,
    h1: Option<H1Rule>,
    /// The earlier of what was asked for and what the policy wants.
    not_after: Option<SystemTime>,
    /// `OPENTOFU_ENFORCE_GPG_VALIDATION`
    enforce_signature: bool,
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION`
    enforce_expiry: bool,
}

impl RuleBook {
    /// The rules as flags, settings and environment say.
    pub(in crate::commands) fn new(settings: &RunSettings, options: &LockOptions) -> Self {
        let opentofu = settings.dialect == Dialect::OpenTofu;
        let enforced = |name: &str| opentofu && settings.variables.get(name) == Some("true");
        Self {
            dialect: settings.dialect,
            settings: settings.settings.clone(),
            h1: options.h1,
            not_after: policy_limit(settings).into_iter().chain(options.not_after).min(),
            enforce_signature: enforced("OPENTOFU_ENFORCE_GPG_VALIDATION"),
            enforce_expiry: enforced("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        }
    }

    /// The dialect of the root module.
    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The rules for one provider, of the platforms that are wanted.
    pub(in crate::commands) fn of(&self, addr: &ProviderAddr, platforms: &[Platform]) -> Rules {
        Rules {
            signature: self.signature(addr),
            reported: self.reported(addr),
            expired_key: self.expired_key(),
            optional: self.optional(addr, platforms),
            unnamed: BTreeSet::new(),
            not_after: self.not_after,
        }
    }

    fn expired_key(&self) -> ExpiredKeyRule {
        let stated = self.settings.policy.expired_key.unwrap_or_default();
        if self.enforce_expiry { ExpiredKeyRule::Deny } else { stated }
    }

    /// Terraform accepts no unsigned release of any registry, so that a lock file of its must not hold one.
    fn signature(&self, addr: &ProviderAddr) -> SignatureRule {
        let rule = self.settings.signature_for(addr.host());
        let strict = self.enforce_signature || self.dialect == Dialect::Terraform;
        if strict && rule == SignatureRule::IfKeysKnown { SignatureRule::Always } else { rule }
    }

    /// Source: opentofu `internal/getproviders/package_authentication.go`: what the registry reports counts only at the
    /// default registry, and not where signatures are enforced.
    fn reported(&self, addr: &ProviderAddr) -> ReportedRule {
        let rule = match self.h1 {
            Some(H1Rule::Verified) => H1Rule::Verified,
            _ => self.settings.h1_for(addr.host(), self.dialect),
        };
        match (rule, self.dialect) {
            (H1Rule::Registry, _) if !self.enforce_signature => ReportedRule::Write,
            (_, Dialect::OpenTofu) => ReportedRule::Check,
            (_, Dialect::Terraform) => ReportedRule::Ignore,
        }
    }

    fn optional(&self, addr: &ProviderAddr, platforms: &[Platform]) -> BTreeSet<Platform> {
        platforms.iter().filter(|platform| self.settings.optional(addr, platform)).cloned().collect()
    }
}

/// The time after which a release must not be signed, by the policy.
fn policy_limit(settings: &RunSettings) -> Option<SystemTime> {
    let age = settings.settings.policy.minimum_age.map(Age::duration).filter(|age| !age.is_zero())?;
    // A minimum age beyond all time allows nothing.
    Some(settings.now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH))
}
