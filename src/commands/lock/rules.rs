//! The rules for each provider, combined from flags, settings, environment and dialect.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::addr::{Hostname, ProviderAddr};
use crate::commands::LockOptions;
use crate::dialect::Dialect;
use crate::disk::cache::{Cache, exchange};
use crate::disk::root_files;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::lock::plan::{self, Intent};
use crate::lockfile::LockFile;
use crate::path::worktree;
use crate::platform::Platform;
use crate::query::cached::{self, Check};
use crate::query::select::{ProvenanceRule, ReportedRule, Rules};
use crate::release::continuity::ExpiryRules;
use crate::requirements::{Requirements, StateProviders, providers_in_state};
use crate::settings::{ExpiredKeyRule, H1Rule, Index, IndexTrust, Settings, SignatureRule, VersionPolicy};
use crate::verify::{entry, leveled};
use crate::version::Version;
use crate::workspace::{ProviderNames, RunSettings};

/// Rules that settings cannot relax when writing: each has its own option to accept it, or none.
const UNMOVED: [Rule; 11] = [
    Rule::LockFileAltered,
    Rule::Republished,
    Rule::MirrorDiffers,
    Rule::SignerChanged,
    Rule::UnsignedAfterSigned,
    Rule::SignerDenied,
    Rule::FirstUseForbidden,
    Rule::ProvenanceChanged,
    Rule::ProvenanceVersion,
    Rule::ProvenanceInvalid,
    Rule::ProvenanceMissing,
];

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
    pub(crate) fn new(settings: &RunSettings, options: &LockOptions) -> Self {
        let opentofu = settings.dialect == Dialect::OpenTofu;
        let mut own = settings.settings.clone();
        if !settings.cache {
            // Requiring locally computed hashes excludes shared indexes too.
            own.indexes.clear();
        }
        let enforced = |name: &str| opentofu && settings.variables.get(name) == Some("true");
        Self {
            dialect: settings.dialect,
            settings: own,
            boundary: settings.boundary.clone(),
            h1: options.h1,
            not_after: options.not_after,
            now: settings.now,
            enforce_signature: enforced("OPENTOFU_ENFORCE_GPG_VALIDATION"),
            enforce_expiry: enforced("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn of(&self, addr: &ProviderAddr, platforms: &[Platform]) -> Rules {
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
        }
    }

    /// How to check records of earlier runs about a release.
    pub(crate) fn check(&self, addr: &ProviderAddr) -> Check {
        Check { signature: self.signature(addr), expiry: self.expiry(), now: self.now }
    }

    /// Sets the level of a finding by the settings, for a version of a provider if given.
    pub(crate) fn leveled(&self, finding: Finding, version: Option<&Version>) -> Finding {
        if finding.level == Level::Deny && UNMOVED.contains(&finding.rule) {
            return finding;
        }
        leveled(finding, version, (&self.settings, self.now))
    }

    /// The level that the settings give a rule.
    pub(super) fn stated(&self, rule: Rule) -> Option<Level> {
        self.settings.level(rule.id())
    }

    /// Findings of the settings about a provider and its kept or requested version, known before any request.
    pub(crate) fn against(&self, addr: &ProviderAddr, version: Option<&Version>) -> Vec<Finding> {
        let mut found = entry::of_address(addr, &self.settings);
        if let Some(version) = version {
            found.extend(entry::of_version(addr, version, &self.settings, self.now));
        }
        found.into_iter().map(|finding| self.leveled(finding, version)).collect()
    }

    /// Findings of the settings about the address of a release.
    pub(in crate::commands) fn of_address(&self, addr: &ProviderAddr, version: &Version) -> Vec<Finding> {
        let found = entry::of_address(addr, &self.settings).into_iter();
        found.map(|finding| self.leveled(finding, Some(version))).collect()
    }

    /// True if the settings forbid queries about a release.
    pub(in crate::commands) fn forbids(&self, addr: &ProviderAddr, version: &Version) -> bool {
        self.of_address(addr, version).iter().any(|finding| finding.level == Level::Deny)
    }

    /// Which versions of a provider are not newly selected.
    pub(super) fn versions(&self, addr: &ProviderAddr) -> VersionPolicy {
        let denies = |rule: Rule, version: Option<&Version>| {
            self.leveled(Finding::new(rule, "").about(addr), version).level == Level::Deny
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

/// Resolves the provider names in the options for one root module.
pub(super) fn intent(settings: &RunSettings, options: &LockOptions, names: ProviderNames<'_>) -> Result<Intent, Error> {
    let parse = |text: &String| names.resolve(text);
    let only: BTreeSet<ProviderAddr> = options.providers.iter().map(parse).collect::<Result<_, _>>()?;
    let republished = options.accept_republished.iter();
    let republished = republished.map(|(text, version)| Ok((parse(text)?, version.clone())));
    let precise = options.precise.iter().map(|(text, version)| Ok((parse(text)?, version.clone())));
    let state = match &options.state {
        Some(path) => Some(state_providers(path, settings, names.requirements)?),
        None => None,
    };
    Ok(Intent {
        excluded: options.excluded.iter().map(parse).collect::<Result<_, _>>()?,
        only: (!only.is_empty()).then_some(only),
        lenient: options.found,
        dropped: BTreeSet::new(),
        upgrade: options.upgrade.clone(),
        precise: precise.collect::<Result<_, Error>>()?,
        moves: BTreeMap::new(),
        platforms: Vec::new(),
        prune: options.prune,
        state,
        reselected: BTreeMap::new(),
        republished: republished.collect::<Result<_, Error>>()?,
    })
}

fn state_providers(
    path: &Path,
    settings: &RunSettings,
    required: Option<&Requirements>,
) -> Result<StateProviders, Error> {
    let text = root_files::read_state(path)?;
    let found = providers_in_state(&text, settings.dialect)
        .map_err(|problem| Error::new(ErrorKind::Usage, problem).in_file(path))?;
    Ok(if settings.translates_state() { found.translated(required) } else { found })
}

/// The platforms of the options, else of the settings; `None` if neither names any.
pub(super) fn named_platforms(settings: &RunSettings, options: &LockOptions) -> Option<Vec<Platform>> {
    let stated = || settings.settings.platforms.clone().unwrap_or_default();
    let named = if options.platforms.is_empty() { stated() } else { options.platforms.clone() };
    (!named.is_empty()).then_some(named)
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RecordedPlatforms {
    by_entry: BTreeMap<ProviderAddr, BTreeSet<Platform>>,
    /// Platforms of any entry for which tflock or the tool fetched a package.
    fetched: BTreeSet<Platform>,
    /// Platforms known only from a registry's report: `init` writes its hashes for all platforms, whether they are used or not.
    reported: BTreeMap<Hostname, BTreeSet<Platform>>,
}

impl RecordedPlatforms {
    /// Collects the platforms of a lock file from the cache.
    pub(super) fn of(lock: &LockFile, cache: &Cache) -> Self {
        let mut locked = Self::default();
        for (addr, entry) in lock.iter() {
            let Some(release) = cached::unchecked(cache, addr, &entry.version) else {
                continue;
            };
            locked.fetched.extend(plan::fetched(&release, &entry.hashes).cloned());
            let attributed: BTreeSet<Platform> =
                release.platforms_with(&entry.hashes).map(|(platform, _)| platform.clone()).collect();
            locked.reported.entry(addr.host().clone()).or_default().extend(attributed.iter().cloned());
            locked.by_entry.insert(addr.clone(), attributed);
        }
        locked
    }

    /// The platforms to lock a provider for: this machine's, those of fetched packages, and those that its registry
    /// reports, or the registry of the entry that it takes over.
    pub(super) fn wanted(&self, addr: &ProviderAddr, from: Option<&ProviderAddr>) -> BTreeSet<Platform> {
        let hosts = [Some(addr), from].into_iter().flatten().map(ProviderAddr::host);
        let reported = hosts.filter_map(|host| self.reported.get(host)).flatten();
        self.fetched.iter().chain(reported).cloned().chain([Platform::host()]).collect()
    }

    /// The platforms of an entry; `None` without an entry, or if no platform is known.
    pub(super) fn entry(&self, addr: &ProviderAddr) -> Option<&BTreeSet<Platform>> {
        self.by_entry.get(addr)
    }
}
