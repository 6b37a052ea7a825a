//! The rules of settings, environment and dialect for one provider.

use std::collections::BTreeSet;
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::platform::Platform;
use crate::release::expiry::ExpiryRules;
use crate::settings::{Ban, Index, SignatureRule};
use crate::version::Version;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rules {
    pub signature: SignatureRule,
    /// True if the settings themselves say that releases must be signed, whichever source serves them.
    pub signature_stated: bool,
    /// What is made of the hashes that the origin reports next to the signed ones.
    pub reported: ReportedRule,
    pub imported: bool,
    pub indexes: Vec<Index>,
    /// What the expiry of keys and signatures means.
    pub expiry: ExpiryRules,
    /// Platforms that the provider may lack.
    pub optional: BTreeSet<Platform>,
    /// Wanted platforms that were not named and that this provider was not locked for: a package that is not there is only
    /// a warning.
    pub unnamed: BTreeSet<Platform>,
    /// Which releases are not newly selected.
    pub exclusions: Exclusion,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Exclusion {
    /// Releases to leave out: signed later than this. The protocol of registries knows no date of publication.
    pub not_after: Option<SystemTime>,
    /// Those that are too young for the policy: signed later.
    pub too_young_after: Option<SystemTime>,
    /// Versions that the policy's age does not count for.
    pub any_age: BTreeSet<Version>,
    pub bans: Vec<Ban>,
    /// Versions that no ban counts for.
    pub unbanned: BTreeSet<Version>,
}

impl Exclusion {
    pub fn requires_age(&self) -> bool {
        self.not_after.is_some() || self.too_young_after.is_some()
    }

    pub fn limit(&self, version: &Version) -> Option<SystemTime> {
        let of_policy = self.too_young_after.filter(|_| !self.any_age.contains(version));
        of_policy.into_iter().chain(self.not_after).min()
    }

    pub fn ban(&self, addr: &ProviderAddr, version: &Version) -> Option<&Ban> {
        self.bans.iter().find(|ban| ban.covers(addr, version)).filter(|_| !self.unbanned.contains(version))
    }
}

/// What is made of the origin's `packages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportedRule {
    /// Nothing, as Terraform does.
    Ignore,
    /// They must not contradict the signed checksums.
    Check,
    /// They are checked, spare downloads, and are written for all platforms.
    Write,
}

impl Default for Rules {
    /// Terraform's rules.
    fn default() -> Self {
        Self {
            signature: SignatureRule::Always,
            signature_stated: false,
            reported: ReportedRule::Ignore,
            imported: true,
            indexes: Vec::new(),
            expiry: ExpiryRules::default(),
            optional: BTreeSet::new(),
            unnamed: BTreeSet::new(),
            exclusions: Exclusion::default(),
        }
    }
}
