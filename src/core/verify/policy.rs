//! What the settings and plain sight say of a provider before anybody is asked about it.
//!
//! For every command that asks or selects, not for `verify` alone: the levels of the settings are still to be applied.

use super::lookalike;
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::settings::Settings;
use crate::version::Version;

/// What speaks against an address, whatever its version: its looks and its host.
pub fn of_address(addr: &ProviderAddr, settings: &Settings) -> Vec<Finding> {
    let seen = lookalike::looks_like(addr).map(|seen| {
        let message = format!("{addr} looks like {seen}, but is another provider");
        Finding::new(Rule::LookAlike, message)
    });
    let forbidden = (!settings.policy.allows_host(addr.host())).then(|| {
        let message = format!("the policy does not allow the host {} of {addr}", addr.host());
        Finding::new(Rule::HostNotAllowed, message)
    });
    seen.into_iter().chain(forbidden).map(|finding| finding.about(addr)).collect()
}

/// The bans of all releases of a provider, where it is not known which one is meant.
pub fn of_all_releases(addr: &ProviderAddr, settings: &Settings) -> Vec<Finding> {
    let bans = settings.bans.iter().filter(|ban| ban.versions.terms().is_empty() && ban.providers.covers(addr));
    bans.map(|_| Finding::new(Rule::Banned, format!("{addr} is banned by the settings")).about(addr)).collect()
}

/// The bans of a release.
pub fn of_release(addr: &ProviderAddr, version: &Version, settings: &Settings) -> Vec<Finding> {
    let bans = settings.bans.iter().filter(|ban| ban.covers(addr, version));
    let finding = |reason: &Option<String>| {
        let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        Finding::new(Rule::Banned, format!("{addr} {version} is banned by the settings{reason}")).about(addr)
    };
    bans.map(|ban| finding(&ban.reason)).collect()
}
