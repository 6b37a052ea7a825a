//! What is known of the releases of one root module, how much `verify` knows about its lock file, and the levels of
//! findings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::finding::{Finding, Level};
use crate::hash::PackageHash;
use crate::release::republished::Witness;
use crate::release::{Lookup, Release};
use crate::settings::{Exemption, Settings};
use crate::version::Version;

/// What is known for one root module.
#[derive(Debug, Clone, Default)]
pub struct Facts<'a> {
    /// The locked release of each provider.
    pub releases: BTreeMap<ProviderAddr, Lookup>,
    /// Other releases, which may explain where a hash comes from.
    pub others: &'a [Arc<Release>],
    /// What else recorded the releases that seem to be published again, by provider.
    pub witnesses: BTreeMap<ProviderAddr, Vec<Witness>>,
    /// The providers that came from a mirror inside the judged working tree.
    pub served_within: Option<&'a BTreeSet<ProviderAddr>>,
}

impl Facts<'_> {
    /// True if a change of the working tree can fill the mirror of a provider.
    pub fn is_served_within(&self, addr: &ProviderAddr) -> bool {
        self.served_within.is_some_and(|served| served.contains(addr))
    }

    /// What is known of the locked release of a provider.
    pub fn of(&self, addr: &ProviderAddr) -> &Lookup {
        self.releases.get(addr).unwrap_or(&Lookup::NotRequested)
    }

    /// What else recorded the locked release of a provider.
    pub fn witnesses(&self, addr: &ProviderAddr) -> &[Witness] {
        self.witnesses.get(addr).map_or(&[], Vec::as_slice)
    }

    /// The releases that a hash is known to belong to. Lines that name no archive count for nothing.
    pub fn owners(&self, hash: &PackageHash) -> BTreeSet<(&ProviderAddr, &Version)> {
        let of_run = self.releases.values().filter_map(Lookup::release);
        let releases = of_run.chain(self.others).filter(|release| release.owns(hash));
        releases.map(|release| (&release.address, &release.version)).collect()
    }
}

/// What `verify` knows about the recorded hashes of one root module; none is counted twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Hashes that a source attests.
    pub proven: usize,
    /// Hashes that are neither proven nor refuted.
    pub unknown: usize,
    /// Why some are unknown: sources that gave no answer. Empty if no request was sent.
    pub inconclusive: Vec<Unanswered>,
    /// True if nothing was looked at, since nothing changed since the base.
    pub unchanged: bool,
    /// Why the configuration was not checked, where it could not be read at the base either.
    pub not_checked: Option<Error>,
    /// What the working tree was compared with; `None` if it was checked only against itself.
    pub base: Option<Compared>,
    /// Each provider with each module that requires it, by dotted path.
    pub required_by: BTreeSet<(ProviderAddr, String)>,
}

impl Verified {
    /// What the questions without an answer end a run with: one whose answer policy forbids is refused.
    pub fn code(&self) -> ExitCode {
        ExitCode::all(self.inconclusive.iter().map(|it| ExitCode::of_error(&it.error)))
    }
}

/// What a change is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The revision whose settings and trust file are used, as typed.
    pub revision: String,
    /// The object name of its commit.
    pub commit: String,
    /// The object name of the commit that lock files are compared with.
    pub merge_base: String,
    /// True if changes of settings and pins were approved: then those of the working tree are used.
    pub trust_change_allowed: bool,
}

impl Compared {
    /// The merge base, short enough for users.
    pub fn short(&self) -> &str {
        self.merge_base.get(..10).unwrap_or(&self.merge_base)
    }
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// Why there is none.
    pub error: Error,
    /// True if it is about an entry that changed since the base: such a question needs its answer.
    pub changed: bool,
}

/// The finding at the level of the settings; as a note with the reason where it is exempt at a time. `version` is that
/// of the release it is about, if it is about one.
///
/// A level in the settings replaces that of the rule, not one that circumstances or the policy have given.
pub fn leveled(finding: Finding, version: Option<&Version>, (settings, now): (&Settings, SystemTime)) -> Finding {
    let stated = settings.level(finding.rule.id());
    let level = if finding.level == finding.rule.level() { stated.unwrap_or(finding.level) } else { finding.level };
    let finding = Finding { level, ..finding };
    let mut exempt = settings.exemptions.iter().filter(|exemption| covers(exemption, &finding, version, now));
    let Some(exemption) = exempt.next().filter(|_| finding.level > Level::Note) else { return finding };
    let reason = exemption.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let until = exemption.until.map(|until| format!(" until {until}")).unwrap_or_default();
    let message = format!("{} (exempt{until}{reason})", finding.message);
    Finding { level: Level::Note, message, ..finding }
}

fn covers(exemption: &Exemption, finding: &Finding, of: Option<&Version>, now: SystemTime) -> bool {
    let provider = exemption.providers.as_ref();
    let version = exemption.version.as_ref();
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    exemption.rule == finding.rule.id()
        && exemption.advisory.as_ref().is_none_or(|id| finding.advisory.as_ref().is_some_and(|ids| ids.has(id)))
        && provider.is_none_or(|scope| finding.address.as_ref().is_some_and(|addr| scope.covers(addr)))
        && version.is_none_or(|version| of == Some(version))
        && exemption.until.is_none_or(|until| i64::try_from(now).is_ok_and(|now| now < until.unix_seconds()))
}
