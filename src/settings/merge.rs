//! How a nested file and the one around it become one.

use super::{H1Rule, Settings};

impl Settings {
    /// Lays these settings over those of a directory further out.
    ///
    /// The nearest `platforms`, `tool` and `source` win; optional platforms and bans add up. What the outer file says of
    /// policy, nested ones can only tighten: the stricter value, host rule and level stands, and a rule whose level the
    /// outer file gives has no further exemptions.
    #[must_use]
    pub fn over(self, outer: Settings) -> Settings {
        let hosts = self.hosts.keys().chain(outer.hosts.keys());
        let hosts = hosts.filter_map(|host| Some((host.clone(), self.host_rule(&outer, host)?))).collect();
        let mut levels = outer.levels.clone();
        for (rule, level) in self.levels {
            levels.entry(rule).and_modify(|stated| *stated = level.max(*stated)).or_insert(level);
        }
        let own = self.exemptions.into_iter().filter(|exemption| !outer.levels.contains_key(&exemption.rule));
        Settings {
            exemptions: own.chain(outer.exemptions).collect(),
            platforms: self.platforms.or(outer.platforms),
            tool: self.tool.or(outer.tool),
            source: self.source.or(outer.source),
            optional_platforms: [self.optional_platforms, outer.optional_platforms].concat(),
            policy: self.policy.and(outer.policy),
            hosts,
            bans: [self.bans, outer.bans].concat(),
            levels,
        }
    }

    /// The rule for a host that either file has a block for: within a file the block goes before the policy, between
    /// files the stricter wins.
    fn host_rule(&self, outer: &Settings, host: &crate::addr::Hostname) -> Option<H1Rule> {
        let stated = |settings: &Settings| settings.hosts.get(host).copied().or(settings.policy.h1);
        stated(self).max(stated(outer))
    }
}
