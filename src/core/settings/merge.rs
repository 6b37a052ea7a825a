//! How a nested file and the one around it become one.

use std::collections::BTreeSet;

use super::{HostRules, Index, IndexTrust, Settings};
use crate::addr::Hostname;
use crate::finding::{Level, Rule};

/// The entries of a nested file, then those of the files around it.
fn joined<T>(mut own: Vec<T>, outer: Vec<T>) -> Vec<T> {
    own.extend(outer);
    own
}

impl Settings {
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
            hosts,
            bans: joined(self.bans, outer.bans),
            levels,
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
        Settings { policy: both.policy, hosts: both.hosts, bans, indexes, levels, exemptions, ..self }
    }

    /// True if the policy, the host rules or the bans of this file are enforced by a rule.
    fn enforces(&self, rule: &str) -> bool {
        let bans: &[Rule] = if self.bans.is_empty() { &[] } else { &[Rule::Banned] };
        let of_hosts = self.hosts.values().copied().flat_map(HostRules::enforced_by).copied();
        let mut rules = bans.iter().copied().chain(self.policy.enforced_by()).chain(of_hosts);
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

/// The level of a rule as long as no settings change it.
fn default(rule: &str) -> Level {
    Rule::ALL.iter().find(|known| known.id() == rule).map_or(Level::Deny, |known| known.level())
}
