//! The rules for each provider, combined from flags, settings, environment and dialect.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::addr::{Hostname, ProviderAddr};
use crate::dialect::Dialect;
use crate::disk::cache::exchange;
use crate::finding::{Finding, Level, Rule};
use crate::path::worktree;
use crate::platform::Platform;
use crate::query::cached::Check;
use crate::query::select::{ProvenanceRule, ReportedRule, Rules};
use crate::release::continuity::ExpiryRules;
use crate::settings::{ExpiredKeyRule, H1Rule, Index, IndexTrust, Settings, SignatureRule, VersionPolicy};
use crate::verify::{Completion, entry};
use crate::version::Version;
use crate::witness::WitnessPlace;
use crate::workspace::RunSettings;

#[derive(Debug, Clone)]
pub(in crate::commands) struct RuleBook {
    dialect: Dialect,
    settings: Settings,
    boundary: PathBuf,
    h1: Option<H1Rule>,
    not_after: Option<SystemTime>,
    now: SystemTime,
    /// `OPENTOFU_ENFORCE_GPG_VALIDATION`
    enforce_signature: bool,
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION`
    enforce_expiry: bool,
}

impl RuleBook {
    /// By the settings, the environment and the tool of a root module.
    pub(in crate::commands) fn for_root(settings: &RunSettings) -> Self {
        let opentofu = settings.dialect == Dialect::OpenTofu;
        let mut own = settings.settings.clone().for_writing();
        if !settings.cache {
            // Requiring locally computed hashes excludes shared indexes too.
            own.indexes.clear();
        }
        let enforced = |name: &str| opentofu && settings.variables.get(name) == Some("true");
        Self {
            dialect: settings.dialect,
            settings: own,
            boundary: settings.boundary.clone(),
            h1: None,
            not_after: None,
            now: settings.now,
            enforce_signature: enforced("OPENTOFU_ENFORCE_GPG_VALIDATION"),
            enforce_expiry: enforced("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        }
    }

    /// With what the command line demands in addition.
    #[must_use]
    pub(in crate::commands) fn demanding(self, h1: Option<H1Rule>, not_after: Option<SystemTime>) -> Self {
        Self { h1, not_after, ..self }
    }

    pub(in crate::commands) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(in crate::commands) fn of(&self, addr: &ProviderAddr, platforms: &[Platform]) -> Rules {
        Rules {
            signature: self.signature(addr),
            signature_stated: self.settings.stated_signature(addr.host()) == Some(SignatureRule::Always),
            reported: self.reported(addr),
            imported: self.imported(addr),
            indexes: self.indexes(addr),
            expiry: self.expiry(),
            optional: self.optional(addr, platforms),
            unnamed: BTreeSet::new(),
            versions: self.versions(addr),
            provenance: ProvenanceRule::NotAsked,
            witnesses: None,
        }
    }

    /// Who is asked about a new release of a provider; `None` if the settings neither name nor demand anyone.
    pub(in crate::commands) fn witnesses(&self, addr: &ProviderAddr) -> Option<Arc<[WitnessPlace]>> {
        let places = self.settings.witnesses_of(addr);
        (!places.is_empty() || self.settings.policy.demands_witness(addr)).then(|| places.into())
    }

    /// How to check records of earlier runs about a release.
    pub(in crate::commands) fn check(&self, addr: &ProviderAddr) -> Check {
        Check { signature: self.signature(addr), expiry: self.expiry(), now: self.now }
    }

    /// The finding at its final level, for a version of a provider if given.
    pub(in crate::commands) fn complete(&self, finding: Finding, version: Option<&Version>) -> Finding {
        Completion::writing(&self.settings, self.now).complete(finding, version)
    }

    /// Findings of the settings about a provider and its kept or requested version, known before any request.
    pub(in crate::commands) fn against(&self, addr: &ProviderAddr, version: Option<&Version>) -> Vec<Finding> {
        let mut found = entry::of_address(addr, &self.settings);
        if let Some(version) = version {
            found.extend(entry::of_version(addr, version, &self.settings, self.now));
        }
        found.into_iter().map(|finding| self.complete(finding, version)).collect()
    }

    /// Findings of the settings about the address of a release.
    pub(in crate::commands) fn of_address(&self, addr: &ProviderAddr, version: &Version) -> Vec<Finding> {
        let found = entry::of_address(addr, &self.settings).into_iter();
        found.map(|finding| self.complete(finding, Some(version))).collect()
    }

    /// True if the settings forbid queries about a release.
    pub(in crate::commands) fn forbids(&self, addr: &ProviderAddr, version: &Version) -> bool {
        self.of_address(addr, version).iter().any(|finding| finding.level() == Level::Deny)
    }

    /// Which versions of a provider are not newly selected.
    pub(in crate::commands) fn versions(&self, addr: &ProviderAddr) -> VersionPolicy {
        let denies = |rule: Rule, version: Option<&Version>| {
            self.complete(Finding::new(rule, "").about(addr), version).level() == Level::Deny
        };
        let policy = self.settings.versions_of(addr, self.now).enforced(&self.settings, denies);
        policy.not_after(self.not_after)
    }

    /// Source: `package_authentication.go` of both tools. Terraform does not report expired keys and refuses expired
    /// signatures; `OpenTofu` treats both alike: it warns, and refuses if the environment says so.
    fn expiry(&self) -> ExpiryRules {
        let stated = self.settings.policy.expired_key.unwrap_or_default();
        if self.enforce_expiry {
            let deny = ExpiredKeyRule::Deny;
            return ExpiryRules { at_signing: deny, since: deny, signature: deny };
        }
        match self.dialect {
            Dialect::Terraform => ExpiryRules { at_signing: stated, ..ExpiryRules::default() },
            Dialect::OpenTofu => {
                ExpiryRules { at_signing: stated, since: stated.min(ExpiredKeyRule::Warn), signature: stated }
            }
        }
    }

    /// Terraform refuses unsigned releases of any registry, so its lock files must not contain one.
    fn signature(&self, addr: &ProviderAddr) -> SignatureRule {
        self.signature_of(addr.host())
    }

    /// What is demanded of all releases of a registry.
    pub(in crate::commands) fn signature_of(&self, host: &Hostname) -> SignatureRule {
        let rule = self.settings.signature_for(host);
        let strict = self.enforce_signature || self.dialect == Dialect::Terraform;
        if strict && rule == SignatureRule::IfKeysKnown { SignatureRule::Always } else { rule }
    }

    /// Source: opentofu `internal/getproviders/package_authentication.go`: reported hashes are used only from the
    /// default registry, and not if signatures are enforced.
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

    /// Imported hashes may be written unless a rule requires hashes computed here.
    fn imported(&self, addr: &ProviderAddr) -> bool {
        let of_host = self.settings.hosts.get(addr.host()).and_then(|rules| rules.h1);
        let policy = [self.h1, self.settings.policy.h1, of_host];
        !self.enforce_signature && !policy.contains(&Some(H1Rule::Verified))
    }

    /// The shared indexes to query. An index inside the working tree is excluded: the author of a change could forge it.
    fn indexes(&self, addr: &ProviderAddr) -> Vec<Index> {
        let counts = |index: &&Index| index.trust == IndexTrust::Verified || self.imported(addr);
        let all = self.settings.indexes.values().filter(counts);
        let is_within = |index: &Index| exchange::is_index_within(&index.place, &worktree::trees(&self.boundary));
        all.filter(|index| !is_within(index)).cloned().collect()
    }

    fn optional(&self, addr: &ProviderAddr, platforms: &[Platform]) -> BTreeSet<Platform> {
        platforms.iter().filter(|platform| self.settings.optional(addr, platform)).cloned().collect()
    }
}
