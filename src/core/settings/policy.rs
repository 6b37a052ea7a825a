//! The `policy` block: what is accepted, and how two of them add up; and the one judgment of a version by it.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{Ban, Date, ProviderScope, Settings};
use crate::addr::{Hostname, ProviderAddr};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::version::Version;

/// The rules by which a [`VersionPolicy`] refuses a version.
pub const VERSION_RULES: [Rule; 2] = [Rule::Banned, Rule::TooYoung];

/// What a `policy` block says; silent fields are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// The hosts that providers may come from. `None` allows every host, an empty set none.
    pub hosts: Option<BTreeSet<Hostname>>,
    /// The hosts that modules may come from: registries, archives, git. `None` allows every host, an empty set none.
    pub module_hosts: Option<BTreeSet<Hostname>>,
    pub signature: Option<SignatureRule>,
    pub expired_key: Option<ExpiredKeyRule>,
    /// Which `h1:` are written.
    pub h1: Option<H1Rule>,
    pub minimum_age: Option<Age>,
    /// The providers of which a witness has to have new releases.
    pub witnessed: Vec<ProviderScope>,
}

/// What the settings demand of the versions of one provider. Every version is judged here, whether an entry records it or
/// a command might select it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct VersionPolicy {
    bans: Vec<Arc<Ban>>,
    /// With the time of the run.
    minimum_age: Option<(Age, SystemTime)>,
    not_after: Option<SystemTime>,
    /// Rules that do not exclude a version, or any.
    tolerated: BTreeSet<(Rule, Option<Version>)>,
}

/// A version to be judged, with what is known of its release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<'a> {
    pub addr: &'a ProviderAddr,
    pub version: &'a Version,
    pub signed: Option<SystemTime>,
    /// When the history of the base recorded it first.
    pub first_seen: Option<SystemTime>,
}

/// What speaks against a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    pub rule: Rule,
    pub basis: Basis,
    /// About "it": why it is not selected.
    pub why: String,
    message: String,
}

/// What an objection rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The address and the version alone.
    Number,
    /// The date of the release.
    Date,
    /// A date is needed, and none is known.
    NoDate,
}

/// What a `host` block says; silent fields are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostRules {
    /// Which `h1:` are written.
    pub h1: Option<H1Rule>,
    pub signature: Option<SignatureRule>,
}

/// Whether releases must be signed; the greater the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SignatureRule {
    /// `never`
    Never,
    /// `if_keys_known`: if the registry names signing keys.
    IfKeysKnown,
    /// `always`
    Always,
}

/// What it means that a signing key had expired when it signed; the greater the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum ExpiredKeyRule {
    /// `allow`
    Allow,
    /// `warn`
    #[default]
    Warn,
    /// `deny`
    Deny,
}

/// Which `h1:` hashes are written; the greater the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum H1Rule {
    /// `registry`: also those that the registry reports.
    Registry,
    /// All but those that a registry reports. Has no word; the default of most registries.
    Computed,
    /// `verified`: only those computed here from an archive whose `zh:` is signed.
    Verified,
}

/// How old something must be; whole hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Age {
    hours: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an age: expected a number with h, d or w, such as 7d")]
pub struct AgeError(pub String);

impl Policy {
    pub fn allows_host(&self, host: &Hostname) -> bool {
        self.hosts.as_ref().is_none_or(|hosts| hosts.contains(host))
    }

    /// True if a witness has to have new releases of a provider.
    pub fn demands_witness(&self, addr: &ProviderAddr) -> bool {
        self.witnessed.iter().any(|scope| scope.covers(addr))
    }

    pub fn allows_module_host(&self, host: &str) -> bool {
        allow_module_host(self.module_hosts.as_ref(), host).is_ok()
    }

    /// The rules that what is stated is enforced by: nested files may not lift them. Every field has its word here.
    pub(super) fn enforced_by(&self) -> Vec<Rule> {
        let Self { hosts, module_hosts, signature, expired_key, h1: _, minimum_age, witnessed } = self;
        let stated = [
            (hosts.is_some() || module_hosts.is_some(), Rule::HostNotAllowed),
            (expired_key.is_some_and(|stated| stated > ExpiredKeyRule::Allow), Rule::ExpiredKey),
            (minimum_age.is_some(), Rule::TooYoung),
            (!witnessed.is_empty(), Rule::WitnessMissing),
        ];
        let of_signature = signature.map_or(&[][..], SignatureRule::enforced_by);
        of_signature
            .iter()
            .copied()
            .chain(stated.into_iter().filter_map(|(is_stated, rule)| is_stated.then_some(rule)))
            .collect()
    }

    /// Both together: of what both say, the stricter.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            hosts: both(self.hosts, other.hosts),
            module_hosts: both(self.module_hosts, other.module_hosts),
            // None is less than any value.
            signature: self.signature.max(other.signature),
            expired_key: self.expired_key.max(other.expired_key),
            h1: self.h1.max(other.h1),
            minimum_age: self.minimum_age.max(other.minimum_age),
            witnessed: self.witnessed.into_iter().chain(other.witnessed).collect(),
        }
    }
}

impl Settings {
    pub fn versions_of(&self, addr: &ProviderAddr, now: SystemTime) -> VersionPolicy {
        let minimum_age = self.policy.minimum_age.filter(|age| !age.duration().is_zero());
        VersionPolicy {
            bans: self.bans.iter().filter(|ban| ban.providers.covers(addr)).cloned().collect(),
            minimum_age: minimum_age.map(|age| (age, now)),
            not_after: None,
            tolerated: BTreeSet::new(),
        }
    }
}

impl VersionPolicy {
    /// Without the rules that do not deny, be it any version or one that the settings exempt.
    #[must_use]
    pub fn enforced(mut self, settings: &Settings, denies: impl Fn(Rule, Option<&Version>) -> bool) -> Self {
        let exempt = settings.exemptions.iter().map(|exemption| exemption.version.as_ref());
        for version in exempt.chain([None]) {
            let tolerated = VERSION_RULES.into_iter().filter(|rule| !denies(*rule, version));
            self.tolerated.extend(tolerated.map(|rule| (rule, version.cloned())));
        }
        self
    }

    /// Leaves out what was signed later, whatever the settings say. The protocol of registries knows no date of publication.
    #[must_use]
    pub fn not_after(self, not_after: Option<SystemTime>) -> Self {
        Self { not_after, ..self }
    }

    /// True if the date of a release matters.
    pub fn requires_age(&self) -> bool {
        self.not_after.is_some() || (self.minimum_age.is_some() && self.applies(Rule::TooYoung, None))
    }

    /// True if more than the constraints of the configuration decides which versions may be selected.
    pub fn is_limiting(&self) -> bool {
        self.requires_age() || (!self.bans.is_empty() && self.applies(Rule::Banned, None))
    }

    /// All that speaks against a version; what needs no request comes first.
    pub fn against(&self, candidate: &Candidate<'_>) -> Vec<Objection> {
        let Candidate { addr, version, .. } = candidate;
        let bans =
            self.bans.iter().filter(|ban| ban.covers(addr, version) && self.applies(Rule::Banned, Some(version)));
        let banned = bans.map(|ban| {
            let reason = ban.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            Objection {
                rule: Rule::Banned,
                basis: Basis::Number,
                why: format!("it is banned by the settings{reason}"),
                message: format!("{addr} {version} is banned by the settings{reason}"),
            }
        });
        banned.chain(self.too_young(candidate)).collect()
    }

    fn too_young(&self, candidate: &Candidate<'_>) -> Option<Objection> {
        let Candidate { addr, version, signed, first_seen } = *candidate;
        let minimum_age = self.minimum_age.filter(|_| self.applies(Rule::TooYoung, Some(version)));
        // What lies in the future has no age.
        let age_since = |since: SystemTime, now: SystemTime| now.duration_since(since).unwrap_or_default();
        let Some(since) = signed.max(first_seen) else {
            if minimum_age.is_none() && self.not_after.is_none() {
                return None;
            }
            let why = "its signature date is unknown".to_owned();
            let message = format!("the age of {addr} {version} is unknown: {why}");
            return Some(Objection { rule: Rule::TooYoung, basis: Basis::NoDate, why, message });
        };
        let too_young = minimum_age.filter(|(age, now)| age_since(since, *now) < age.duration());
        if too_young.is_none() && self.not_after.is_none_or(|limit| since <= limit) {
            return None;
        }
        let why = format!("its signature of {} is too recent", Date::of(since));
        let message = match too_young {
            None => format!("{addr} {version} is too recent: {why}"),
            Some((wanted, now)) => {
                let ago = match age_since(since, now).as_secs() / 3600 {
                    hours @ ..48 => format!("{hours} h ago"),
                    hours => format!("{} days ago", hours / 24),
                };
                let what = if first_seen == Some(since) {
                    format!("was first recorded {ago} (by the history of the base)")
                } else {
                    format!("was signed {ago} (by the signer's clock)")
                };
                format!("{addr} {version} {what}; the policy requires {wanted}")
            }
        };
        Some(Objection { rule: Rule::TooYoung, basis: Basis::Date, why, message })
    }

    fn applies(&self, rule: Rule, version: Option<&Version>) -> bool {
        !self.tolerated.iter().any(|(tolerated, of)| *tolerated == rule && (of.is_none() || of.as_ref() == version))
    }
}

impl<'a> Candidate<'a> {
    /// Nothing is known of its release.
    pub fn of(addr: &'a ProviderAddr, version: &'a Version) -> Self {
        Self { addr, version, signed: None, first_seen: None }
    }
}

impl Objection {
    pub fn finding(self, addr: &ProviderAddr) -> Finding {
        Finding::new(self.rule, self.message).about(addr)
    }
}

impl HostRules {
    /// As [`Policy::enforced_by`]; which `h1:` are written no rule enforces.
    pub(super) fn enforced_by(self) -> &'static [Rule] {
        let Self { h1: _, signature } = self;
        signature.map_or(&[], SignatureRule::enforced_by)
    }
}

impl SignatureRule {
    /// The rules by which a release without the wanted signature is refused or reported.
    fn enforced_by(self) -> &'static [Rule] {
        match self {
            Self::Never => &[],
            Self::IfKeysKnown => &[Rule::BadSignature, Rule::NoSigningKey],
            Self::Always => &[Rule::BadSignature, Rule::NoSigningKey, Rule::Unsigned, Rule::MirrorOnly],
        }
    }
}

/// Refuses a host that is not in the list of hosts for modules, if there is one.
pub fn allow_module_host(allowed: Option<&BTreeSet<Hostname>>, host: &str) -> Result<(), Error> {
    if allowed.is_none_or(|hosts| hosts.iter().any(|allowed| allowed.as_ascii() == host)) {
        return Ok(());
    }
    let message = format!("modules must not come from {host}: the settings do not name it in module_hosts");
    Err(Error::new(ErrorKind::Policy, message).hint("`policy { module_hosts = […] }` in .tflock.hcl"))
}

fn both(own: Option<BTreeSet<Hostname>>, others: Option<BTreeSet<Hostname>>) -> Option<BTreeSet<Hostname>> {
    match (own, others) {
        (Some(own), Some(others)) => Some(own.intersection(&others).cloned().collect()),
        (own, others) => own.or(others),
    }
}

impl Age {
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.hours.saturating_mul(3600))
    }
}

/// Such as those of `7d`.
fn hours_of(text: &str) -> Option<u64> {
    let unit = match text.chars().next_back()? {
        'h' => 1,
        'd' => 24,
        'w' => 24 * 7,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    let number: u64 = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    number.checked_mul(unit)
}

impl FromStr for Age {
    type Err = AgeError;

    fn from_str(text: &str) -> Result<Self, AgeError> {
        hours_of(text).map(|hours| Self { hours }).ok_or_else(|| AgeError(text.to_owned()))
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hours.is_multiple_of(24) { write!(f, "{}d", self.hours / 24) } else { write!(f, "{}h", self.hours) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        let age = |text: &str| text.parse::<Age>();
        assert_eq!(age("7d").unwrap().duration(), Duration::from_secs(7 * 86400));
        assert_eq!(age("1w"), age("7d"));
        assert_eq!(age("0d"), age("0h"));
        assert_eq!(age("36h").unwrap().to_string(), "36h");
        assert_eq!(age("48h").unwrap().to_string(), "2d");
        for bad in
            ["", "7", "d", "7m", "-1d", "+1d", "1.5d", "7 d", "99999999999999999999d", "18446744073709551615w", "7é"]
        {
            assert_eq!(age(bad), Err(AgeError(bad.to_owned())));
        }
    }
}
