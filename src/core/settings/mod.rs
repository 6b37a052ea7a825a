//! What a project wants: `.tflock.hcl`.
//!
//! [`decode()`] reads one file and reports all that is wrong with it; [`Settings::over`] lays a nested file over the one
//! around it. Every value is optional here, because a file may leave it out; the accessors know the defaults. The folder
//! reads no files and does not know where they are searched.
//!
//! One file serves both tools, so an address without host means the provider at either default registry.
//!
//! Besides the file, a run has these inputs: the environment's [`Variables`] and the [`Secret`]s in them.

mod changed;
pub mod decode;
mod policy;
mod source;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::addr::{AddrPattern, Hostname, PatternError, ProviderAddr};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::finding::{Level, Rule};
use crate::platform::Platform;
use crate::terragrunt::{Environment, Vouched};
use crate::version::{Constraints, Version};
use crate::witness::{REBUILT, WitnessPlace};

pub use changed::changed_keys;
pub use decode::{Date, DateError};
pub use decode::{LINKS, decode};
pub use policy::{
    Age, AgeError, Basis, Candidate, ExpiredKeyRule, H1Rule, HostRules, Objection, Policy, SignatureRule,
    VERSION_RULES, VersionPolicy, allow_module_host,
};
pub use source::{Exclude, ExcludeError};
pub use source::{Index, IndexPlace, IndexPlaceError, IndexTrust, SourceChoice, SourceError};
pub use source::{Secret, Variables};

pub const FILE_NAME: &str = ".tflock.hcl";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The wanted platforms, as written, each once; never empty.
    pub platforms: Option<Vec<Platform>>,
    /// Which tool the files are for.
    pub tool: Option<ToolChoice>,
    pub source: Option<SourceChoice>,
    /// How `install` puts packages into root modules.
    pub link: Option<LinkChoice>,
    /// Directories in which no root module is searched for.
    pub exclude: Vec<Exclude>,
    /// Platforms that some providers may lack.
    pub optional_platforms: Vec<OptionalPlatforms>,
    pub policy: Policy,
    /// The providers whose releases need provenance, pinned or not.
    pub provenance_required: Vec<ProviderScope>,
    pub hosts: BTreeMap<Hostname, HostRules>,
    /// Who is asked about new releases of the public registries.
    pub witnesses: BTreeSet<WitnessPlace>,
    /// The same for other registries, by host.
    pub host_witnesses: BTreeMap<Hostname, BTreeSet<WitnessPlace>>,
    /// Indexes of known hashes that several machines share, by name.
    pub indexes: BTreeMap<Arc<str>, Index>,
    /// Shared, as each nested file repeats those around it.
    pub bans: Vec<Arc<Ban>>,
    pub exemptions: Vec<Exemption>,
    /// The levels of rules, by id.
    pub levels: BTreeMap<String, Level>,
    /// What `get_env` of Terragrunt gives.
    pub unit_environment: Environment,
    /// What of units is vouched for.
    pub vouched: Vouched,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolChoice {
    /// `auto`: from the files.
    Auto,
    /// `terraform` or `tofu`.
    Is(Dialect),
}

/// How the package of a root module is made of that in the package store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkChoice {
    /// The first of the next three that works.
    #[default]
    Auto,
    /// Clones: files that share their blocks until one of them is written.
    Clone,
    /// Hard links, which are read-only.
    Hard,
    /// Copies.
    Copy,
    /// A symbolic link to the package in the store, as from a plugin cache.
    Symlink,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionalPlatforms {
    pub providers: ProviderScope,
    /// The platforms that they may lack.
    pub platforms: Vec<Platform>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ban {
    pub providers: ProviderScope,
    /// Which versions; without terms all of them.
    pub versions: Constraints,
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Exemption {
    pub rule: String,
    /// For which providers; all if none.
    pub providers: Option<ProviderScope>,
    /// For which advisory, by one of its ids; all if none.
    pub advisory: Option<String>,
    /// For which version; all if none.
    pub version: Option<Version>,
    pub reason: Option<String>,
    /// The first day on which it no longer applies, UTC.
    pub until: Option<Date>,
}

/// What settings may still call [`Rule::UnattestedHash`] in commands that write lock files. `verify` does not know the name:
/// settings that were written when it stood for a warning of `lock` do not weaken the gate.
pub const UNEXPLAINED_HASH: &str = "unexplained-hash";

/// How many entries of all kinds apply at one place, from all files on the way to it. Bans and exemptions of a change are
/// compared with those of its base, and each release with all of them.
const MOST_ENTRIES: usize = 1_000;

impl Settings {
    /// These settings, unless nested files have added up to more than any project needs. `path` is the innermost one.
    pub fn bounded(self, path: &Path) -> Result<Self, Error> {
        let lists = [self.bans.len(), self.exemptions.len(), self.exclude.len(), self.optional_platforms.len()];
        let lists = lists.into_iter().chain([self.provenance_required.len()]);
        let maps = [self.hosts.len(), self.indexes.len(), self.levels.len(), self.unit_environment.len()];
        let witnesses = self.host_witnesses.values().map(BTreeSet::len).sum();
        let sets = [self.vouched.plain.len(), self.vouched.harmless.len(), self.witnesses.len(), witnesses];
        let sets = sets.into_iter().chain([self.policy.witnessed.len()]);
        if lists.chain(maps).chain(sets).sum::<usize>() <= MOST_ENTRIES {
            return Ok(self);
        }
        let message = format!(
            "more than {MOST_ENTRIES} bans, exemptions, hosts and other entries apply here, which is the limit; the settings \
             files of the directories above count too"
        );
        Err(Error::new(ErrorKind::Settings, message).in_file(path).hint("remove some, or let a pattern cover several"))
    }

    /// The tool that the files are for; `None` to find out from them.
    pub fn dialect(&self) -> Option<Dialect> {
        match self.tool? {
            ToolChoice::Auto => None,
            ToolChoice::Is(dialect) => Some(dialect),
        }
    }

    /// True if a provider may lack a platform.
    pub fn optional(&self, addr: &ProviderAddr, platform: &Platform) -> bool {
        let may_lack = |line: &OptionalPlatforms| line.providers.covers(addr) && line.platforms.contains(platform);
        self.optional_platforms.iter().any(may_lack)
    }

    /// Which `h1:` are written for providers of a registry.
    ///
    /// A `host` block decides, then `h1 = "verified"` of the policy. Otherwise reports of the registry are accepted
    /// only where the tool accepts them too: `tofu` at its own registry.
    pub fn h1_for(&self, host: &Hostname, dialect: Dialect) -> H1Rule {
        let own = dialect == Dialect::OpenTofu && is_opentofu_registry(host);
        match (self.hosts.get(host).and_then(|rules| rules.h1), self.policy.h1) {
            (Some(rule), _) => rule,
            (None, Some(H1Rule::Verified)) => H1Rule::Verified,
            (None, _) if own => H1Rule::Registry,
            (None, _) => H1Rule::Computed,
        }
    }

    /// Which `h1:` the settings say are written for providers of a registry, in its `host` block or in the policy.
    pub fn stated_h1(&self, host: &Hostname) -> Option<H1Rule> {
        self.hosts.get(host).and_then(|rules| rules.h1).or(self.policy.h1)
    }

    /// Whether the settings say that releases of a registry must be signed, in its `host` block or in the policy.
    pub fn stated_signature(&self, host: &Hostname) -> Option<SignatureRule> {
        self.hosts.get(host).and_then(|rules| rules.signature).or(self.policy.signature)
    }

    /// Whether releases of a registry must be signed: the word of its `host` block or of the policy, else
    /// `if_keys_known` for registry.opentofu.org and `always` elsewhere.
    pub fn signature_for(&self, host: &Hostname) -> SignatureRule {
        let default = if is_opentofu_registry(host) { SignatureRule::IfKeysKnown } else { SignatureRule::Always };
        self.stated_signature(host).unwrap_or(default)
    }

    /// The same, as settings of a file in this folder: paths start from there.
    #[must_use]
    pub fn stated_in(self, folder: &Path) -> Self {
        let exclude = self.exclude.into_iter().map(|exclude| exclude.stated_in(folder)).collect();
        Self { source: self.source.map(|source| source.stated_in(folder)), exclude, ..self }
    }

    /// True if releases of a provider need provenance, pinned or not.
    pub fn requires_provenance(&self, addr: &ProviderAddr) -> bool {
        self.provenance_required.iter().any(|scope| scope.covers(addr))
    }

    /// Who may be asked about a release of a provider: what its `host` block names, else the witnesses of the public registries.
    pub fn witnesses_of(&self, addr: &ProviderAddr) -> Vec<WitnessPlace> {
        let own = self.host_witnesses.get(addr.host());
        let is_public = [Dialect::Terraform, Dialect::OpenTofu].map(Dialect::default_registry_host);
        let shared = Some(&self.witnesses).filter(|_| is_public.contains(&addr.host().as_ascii()));
        let places = own.or(shared).into_iter().flatten();
        places.filter(|place| place.inquiry(addr).is_some()).cloned().collect()
    }

    /// Adds platforms that are wanted whatever the settings say.
    pub fn want_platforms(&mut self, always: &[&str]) {
        for platform in always.iter().filter_map(|text| text.parse().ok()) {
            let wanted = self.platforms.get_or_insert_default();
            if !wanted.contains(&platform) {
                wanted.push(platform);
            }
        }
    }

    /// The level that is stated for a rule, by its id.
    pub fn level(&self, rule: &str) -> Option<Level> {
        self.levels.get(rule).copied()
    }
}

fn is_opentofu_registry(host: &Hostname) -> bool {
    host.as_ascii() == Dialect::OpenTofu.default_registry_host()
}

impl Ban {
    /// True if a release is banned. A ban covers everything: unlike in constraints, ranges include pre-releases, and a
    /// version means all builds of it.
    pub fn covers(&self, addr: &ProviderAddr, version: &Version) -> bool {
        let holds = |version: &Version| self.versions.terms().iter().all(|term| term.contains(version));
        self.providers.covers(addr) && (holds(version) || holds(&version.without_build()))
    }
}

/// The entries of a nested file, then those of the files around it.
fn joined<T>(mut own: Vec<T>, outer: Vec<T>) -> Vec<T> {
    own.extend(outer);
    own
}

impl Settings {
    /// The same with [`UNEXPLAINED_HASH`] under the name of its rule: of two levels the stricter.
    #[must_use]
    pub fn for_writing(mut self) -> Settings {
        let id = Rule::UnattestedHash.id();
        if let Some(level) = self.levels.remove(UNEXPLAINED_HASH) {
            self.levels.entry(id.to_owned()).and_modify(|stated| *stated = level.max(*stated)).or_insert(level);
        }
        for exemption in self.exemptions.iter_mut().filter(|exemption| exemption.rule == UNEXPLAINED_HASH) {
            id.clone_into(&mut exemption.rule);
        }
        self
    }

    /// Lays these settings over those of a directory further out.
    ///
    /// The nearest `platforms`, `tool` and `source` win; optional platforms and bans add up. What the outer file says of
    /// policy, nested ones can only tighten: the stricter value, host rule and level is; a rule whose level the outer
    /// file gives, or that its policy and bans are enforced by, has no further exemptions and is not lowered. Of an index
    /// the outer file says where it is.
    #[must_use]
    pub fn over(self, outer: Settings) -> Settings {
        let hosts = self.hosts.keys().chain(outer.hosts.keys());
        let hosts = hosts.map(|host| (host.clone(), self.host_rules(&outer, host))).collect();
        let mut levels = outer.levels.clone();
        let lowers = |rule: &str, level: Level| level < default(rule) && outer.enforces(rule);
        for (rule, level) in self.levels {
            if lowers(&rule, level) && !outer.levels.contains_key(&rule) {
                continue;
            }
            levels.entry(rule).and_modify(|stated| *stated = level.max(*stated)).or_insert(level);
        }
        let settled = |rule: &String| outer.levels.contains_key(rule) || outer.enforces(rule);
        let mut exemptions = self.exemptions;
        exemptions.retain(|exemption| !settled(&exemption.rule));
        let unit_environment = outer.unit_environment.into_iter().chain(self.unit_environment).collect();
        let vouched = Vouched {
            plain: self.vouched.plain.into_iter().chain(outer.vouched.plain).collect(),
            harmless: self.vouched.harmless.into_iter().chain(outer.vouched.harmless).collect(),
        };
        let witnesses = self.witnesses.into_iter().chain(outer.witnesses).collect();
        let mut host_witnesses = self.host_witnesses;
        for (host, places) in outer.host_witnesses {
            host_witnesses.entry(host).or_default().extend(places);
        }
        let mut indexes = self.indexes;
        for (name, index) in outer.indexes {
            let trust = indexes.get(&name).map_or(index.trust, |nested| nested.trust.max(index.trust));
            indexes.insert(name, Index { trust, ..index });
        }
        Settings {
            indexes,
            exemptions: joined(exemptions, outer.exemptions),
            platforms: self.platforms.or(outer.platforms),
            tool: self.tool.or(outer.tool),
            source: self.source.or(outer.source),
            link: self.link.or(outer.link),
            exclude: joined(self.exclude, outer.exclude),
            optional_platforms: joined(self.optional_platforms, outer.optional_platforms),
            policy: self.policy.and(outer.policy),
            provenance_required: joined(self.provenance_required, outer.provenance_required),
            hosts,
            witnesses,
            host_witnesses,
            bans: joined(self.bans, outer.bans),
            levels,
            unit_environment,
            vouched,
        }
    }

    /// The stricter of both in every rule; everything else is taken from here. For configuration that moved from a place
    /// where other settings applied, and must satisfy both.
    #[must_use]
    pub fn and_stricter(self, other: &Settings) -> Settings {
        let rules: BTreeSet<&String> = self.levels.keys().chain(other.levels.keys()).collect();
        let level = |settings: &Settings, rule: &String| settings.level(rule).unwrap_or_else(|| default(rule));
        let levels = rules.into_iter().map(|rule| (rule.clone(), level(&self, rule).max(level(other, rule)))).collect();
        let exemptions = self.exemptions.iter().filter(|own| other.exemptions.contains(own)).cloned().collect();
        let both = other.clone().over(self.clone());
        let indexes = self.indexes.iter().map(|(name, index)| {
            let trust = if other.indexes.get(name) == Some(index) { index.trust } else { IndexTrust::Reported };
            (name.clone(), Index { trust, ..index.clone() })
        });
        let indexes = indexes.collect();
        let others = other.bans.iter().filter(|ban| !self.bans.contains(ban));
        let bans = self.bans.iter().chain(others).cloned().collect();
        let Settings { policy, hosts, provenance_required, witnesses, host_witnesses, .. } = both;
        let both = Settings { policy, provenance_required, hosts, witnesses, host_witnesses, ..self };
        Settings { indexes, bans, exemptions, levels, ..both }
    }

    /// True if the policy, the host rules or the bans of this file are enforced by a rule.
    fn enforces(&self, rule: &str) -> bool {
        let bans: &[Rule] = if self.bans.is_empty() { &[] } else { &[Rule::Banned] };
        let of_hosts = self.hosts.values().copied().flat_map(HostRules::enforced_by).copied();
        let provenance = if self.provenance_required.is_empty() { &[][..] } else { &REQUIRED[..] };
        let is_witnessed = !self.witnesses.is_empty() || !self.host_witnesses.is_empty();
        let witnesses: &[Rule] = if is_witnessed { &[Rule::WitnessDiffers] } else { &[] };
        let bans = bans.iter().chain(provenance).chain(witnesses);
        let mut rules = bans.copied().chain(self.policy.enforced_by()).chain(of_hosts);
        rules.any(|enforcing| enforcing.id() == rule)
    }

    /// The rules for a host that either file has a block for: within a file the block goes before the policy, between
    /// files the stricter wins.
    fn host_rules(&self, outer: &Settings, host: &Hostname) -> HostRules {
        HostRules {
            h1: self.stated_h1(host).max(outer.stated_h1(host)),
            signature: self.stated_signature(host).max(outer.stated_signature(host)),
        }
    }
}

/// What `required` in a `provenance` block enforces.
const REQUIRED: [Rule; 4] =
    [Rule::ProvenanceChanged, Rule::ProvenanceVersion, Rule::ProvenanceInvalid, Rule::ProvenanceMissing];

/// The level of a rule as long as no settings change it.
fn default(rule: &str) -> Level {
    Rule::ALL.iter().find(|known| known.id() == rule).map_or(Level::Deny, |known| known.level())
}

/// A source address or pattern as settings have it: without host it means both default registries.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProviderScope {
    text: String,
    patterns: Vec<AddrPattern>,
}

impl ProviderScope {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let is_name = !text.contains(['/', '*']);
        let full = if is_name { format!("hashicorp/{text}") } else { text.to_owned() };
        let mut patterns = vec![AddrPattern::parse(&full, Dialect::Terraform)?];
        // OpenTofu has no providers in namespaces that it refuses.
        patterns.extend(AddrPattern::parse(&full, Dialect::OpenTofu).ok().filter(|other| !patterns.contains(other)));
        Ok(Self { text: text.to_owned(), patterns })
    }

    pub fn covers(&self, addr: &ProviderAddr) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(addr))
    }

    /// What it covers that no witness can know; `with_witnesses` are hosts whose blocks name some.
    pub fn without_witness(&self, with_witnesses: &BTreeSet<String>) -> Option<String> {
        let [terraform, tofu] = [Dialect::Terraform, Dialect::OpenTofu].map(Dialect::default_registry_host);
        self.patterns.iter().find_map(|pattern| {
            let rebuilt = REBUILT.iter().find(|namespace| pattern.reaches(terraform, namespace));
            if let Some(namespace) = rebuilt {
                return Some(format!("{terraform}/{namespace}/*"));
            }
            let is_known = |host: &String| [terraform, tofu].contains(&&**host) || with_witnesses.contains(host);
            pattern.host_text().filter(|host| !is_known(host)).map(|host| format!("the registry {host}"))
        })
    }

    pub fn includes(&self, other: &Self) -> bool {
        other.patterns.iter().all(|pattern| self.patterns.iter().any(|own| own.covers(pattern)))
    }
}

/// As written.
impl fmt::Display for ProviderScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
