//! Which of the releases on offer is taken.

use std::sync::Arc;
use std::time::SystemTime;

use super::{Gatherer, Miss};
use crate::addr::ProviderAddr;
use crate::ask::answer::{PassedOver, Refusal};
use crate::ask::criteria::{Criteria, ReleaseCriteria};
use crate::ask::question::Step;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::platform::Platform;
use crate::source::Offer;
use crate::version::Version;

/// The version that is taken, and newer ones that were not.
pub(super) struct Choice {
    pub(super) version: Version,
    pub(super) passed_over: Vec<(Version, PassedOver)>,
}

impl Gatherer {
    /// The newest release that will do. The recorded version does at any age and with any platforms, unless it is banned.
    pub(super) async fn choose(
        &self,
        addr: &ProviderAddr,
        step: &Step,
        criteria: &Criteria,
        offers: &[Offer],
    ) -> Result<Choice, Refusal> {
        let allowed = |allows: &dyn Fn(&Version) -> bool| {
            let mut candidates: Vec<&Offer> = offers.iter().filter(|offer| allows(&offer.version)).collect();
            candidates.sort_by(|one, other| other.version.cmp(&one.version));
            candidates
        };
        if let Some(same) = &criteria.same {
            let candidates = allowed(&|version| same.allows(version));
            if let (Some(version), passed_over) = self.newest(addr, step, &same.release_criteria(), candidates).await? {
                return Ok(Choice { version, passed_over });
            }
        }
        let candidates = allowed(&|version| criteria.allows(version));
        match self.newest(addr, step, &step.release_criteria(criteria.complete), candidates).await? {
            (Some(version), passed_over) => Ok(Choice { version, passed_over }),
            (None, passed_over) => Err(all_banned(addr, &passed_over)
                .unwrap_or_else(|| nothing_allowed(addr, criteria, offers, &passed_over).into())),
        }
    }

    /// The first of some offers that will do, and those before it.
    async fn newest(
        &self,
        addr: &ProviderAddr,
        step: &Step,
        release: &ReleaseCriteria,
        candidates: Vec<&Offer>,
    ) -> Result<(Option<Version>, Vec<(Version, PassedOver)>), Refusal> {
        let mut passed_over = Vec::new();
        for offer in candidates {
            let against = match release.ban(addr, &offer.version).map(|ban| PassedOver::Banned(ban.reason.clone())) {
                Some(banned) => Some(banned),
                None if release.recorded.as_ref() == Some(&offer.version) => None,
                None => match lacks(offer, &release.platforms) {
                    Some(platforms) => Some(PassedOver::Lacks(platforms)),
                    None => self.too_young(addr, &offer.version, step, release.limit(&offer.version)).await?,
                },
            };
            match against {
                None => return Ok((Some(offer.version.clone()), passed_over)),
                Some(why) => passed_over.push((offer.version.clone(), why)),
            }
        }
        Ok((None, passed_over))
    }

    /// Refuses a release that was asked for by its number and is too young.
    pub(super) async fn old_enough(&self, addr: &ProviderAddr, version: &Version, step: &Step) -> Result<(), Refusal> {
        match self.too_young(addr, version, step, step.rules.exclusions.limit(version)).await? {
            None => Ok(()),
            Some(why) => {
                let message = format!("{addr} {version} cannot be selected: {why}");
                Err(Finding::new(Rule::TooYoung, message).about(addr).into())
            }
        }
    }

    async fn too_young(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        step: &Step,
        limit: Option<SystemTime>,
    ) -> Result<Option<PassedOver>, Refusal> {
        let Some(limit) = limit else { return Ok(None) };
        let signed = self.signed_on(addr, version, step).await?;
        Ok((signed.is_none_or(|signed| signed > limit)).then_some(PassedOver::TooYoung(signed)))
    }

    /// When a release was signed; none if that cannot be known.
    async fn signed_on(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        step: &Step,
    ) -> Result<Option<SystemTime>, Refusal> {
        for platform in &step.platforms {
            match self.package(addr, version, platform).await {
                Ok(package) => {
                    let package = Arc::clone(&package);
                    return Ok(self.signed_sums(addr, version, &package, &step.rules).await?.made);
                }
                Err(Miss::Absent) => {}
                Err(Miss::Refused(refusal)) => return Err(refusal),
            }
        }
        Ok(None)
    }
}

/// The platforms that a release is said to lack, if any. A source that says nothing of platforms may have them all.
fn lacks(offer: &Offer, platforms: &[Platform]) -> Option<Vec<Platform>> {
    let lacks = |platform: &&Platform| !offer.platforms.is_empty() && !offer.platforms.contains(platform);
    let platforms: Vec<Platform> = platforms.iter().filter(lacks).cloned().collect();
    (!platforms.is_empty()).then_some(platforms)
}

/// The finding where bans alone leave nothing to select.
fn all_banned(addr: &ProviderAddr, passed_over: &[(Version, PassedOver)]) -> Option<Refusal> {
    let banned = |why: &PassedOver| matches!(why, PassedOver::Banned(_));
    let (version, why) = passed_over.first()?;
    if !passed_over.iter().all(|(_, why)| banned(why)) {
        return None;
    }
    let message = match passed_over.len() {
        1 => format!("{addr} {version} is the only release that may be selected, but {why}"),
        count => {
            format!("all {count} releases of {addr} that may be selected are banned; of the newest, {version}: {why}")
        }
    };
    Some(Finding::new(Rule::Banned, message).about(addr).into())
}

fn nothing_allowed(
    addr: &ProviderAddr,
    criteria: &Criteria,
    offers: &[Offer],
    passed_over: &[(Version, PassedOver)],
) -> Error {
    let newest = offers.iter().map(|offer| &offer.version).filter(|version| !version.is_prerelease()).max();
    let constrained = format!("matches the version constraint \"{}\"", criteria.constraints);
    let message = match (&criteria.within, criteria.constraints.is_empty(), passed_over.is_empty()) {
        (_, _, false) => format!("no release of provider {addr} may be selected now"),
        (Some((within, from)), true, _) => format!("no release of provider {addr} is within a {within} step of {from}"),
        (Some((within, from)), false, _) => {
            format!("no release of provider {addr} within a {within} step of {from} {constrained}")
        }
        (None, true, _) => format!("provider {addr} has no release that may be selected"),
        (None, false, _) => format!("no available release of provider {addr} {constrained}"),
    };
    let mut error = Error::new(ErrorKind::NotFound, message);
    for (version, why) in passed_over {
        error = error.hint(format!("{version} is passed over: {why}"));
    }
    if let Some(version) = newest.filter(|_| passed_over.is_empty()) {
        error = error.hint(format!("the newest release is {version}"));
    }
    error.hint(format!("`tflock why {addr}` shows which module asks for what"))
}
