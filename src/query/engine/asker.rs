//! One source of packages, of whatever kind: the questions that all of them answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::mirror::MirrorGatherer;
use super::release::Chosen;
use super::{Equipment, Gatherer, Miss, NoOffers};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::platform::Platform;
use crate::query::answer::{Refusal, Selected};
use crate::query::question::{Query, Selection};
use crate::query::select::{Choice, Probed};
use crate::release::offer::Offer;
use crate::source::{Mirror, Source};
use crate::version::Version;

/// One source, with what it was asked already.
#[derive(Debug, Clone)]
pub(super) enum Asker {
    Registry(Arc<Gatherer>),
    Mirror(Arc<MirrorGatherer>),
}

impl Asker {
    /// A source that was asked nothing yet.
    pub(super) fn new(source: Source, equipment: &Equipment) -> Self {
        match source {
            Source::Registry(registry) => Self::Registry(Arc::new(Gatherer::new(*registry, equipment))),
            Source::Mirror(mirror) => Self::Mirror(Arc::new(MirrorGatherer::new(mirror, equipment))),
        }
    }

    pub(super) fn shown(&self) -> String {
        match self {
            Self::Registry(_) => "the origin registry".to_owned(),
            Self::Mirror(mirror) => mirror.mirror.shown(),
        }
    }

    /// The versions of a provider, ascending.
    pub(super) async fn offers(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Offer>>, Miss> {
        match self {
            Self::Registry(registry) => registry.offers(addr).await.map_err(|none| match none {
                NoOffers { absent: Some(_), .. } => Miss::Absent,
                NoOffers { refusal, .. } => Miss::Refused(refusal),
            }),
            Self::Mirror(mirror) => mirror.offers(addr).await,
        }
    }

    /// What the source tells of one version: a registry has said which platforms it has, a mirror knows no age.
    pub(super) async fn look(&self, addr: &ProviderAddr, version: &Version, step: &Query) -> Result<Probed, Refusal> {
        match self {
            Self::Mirror(mirror) => {
                let platforms = mirror.listed(addr, version).await?.keys().cloned().collect();
                Ok(Probed { platforms, signed: None })
            }
            Self::Registry(registry) => {
                let offers = registry.offers(addr).await.map_err(|none| none.refusal)?;
                let told = offers.iter().filter(|offer| offer.version == *version);
                let mut platforms: BTreeSet<Platform> = told.flat_map(|offer| offer.platforms.clone()).collect();
                if platforms.is_empty() {
                    // It says nothing of platforms, and may have them all.
                    platforms.extend(step.platforms.iter().cloned());
                }
                let limited = step.rules.exclusions.asks_for_age();
                let signed = if limited { registry.signed_on(addr, version, step).await? } else { None };
                Ok(Probed { platforms, signed })
            }
        }
    }

    /// What the source has of a release that was selected among those of all sources.
    pub(super) async fn part(&self, addr: &ProviderAddr, version: &Version, step: Query) -> Result<Selected, Refusal> {
        match self {
            Self::Mirror(mirror) => mirror.part(addr, version, &step).await,
            Self::Registry(registry) => {
                // It was selected by its age and constraints already.
                let step = Query { selection: Selection::Keep(version.clone()), ..step };
                let packages = registry.packages_of(addr, version, &step).await;
                let choice = Choice { version: version.clone(), passed_over: Vec::new() };
                Box::pin(registry.release(addr, &step, Chosen { choice, packages })).await.map(Arc::unwrap_or_clone)
            }
        }
    }

    /// Refuses where the tool would: it asks an OCI mirror for a version even if only a later source has that.
    ///
    /// Source: as seen with tofu 1.12; "not found" is passed over only where versions are listed.
    pub(super) fn must_have(&self, addr: &ProviderAddr, version: &Version) -> Result<(), Refusal> {
        let Self::Mirror(mirror) = self else { return Ok(()) };
        if !matches!(mirror.mirror, Mirror::Oci(_)) {
            return Ok(());
        }
        let message = format!(
            "{} does not have {addr} {version}, and `tofu init` asks no source after an oci_mirror for what that lacks",
            mirror.mirror.shown()
        );
        let hint = "exclude the provider from the oci_mirror, or push that version to it";
        Err(Error::new(ErrorKind::NotFound, message).hint(hint).into())
    }

    /// True if a provider that it does not have is not passed over when a package is wanted.
    pub(super) fn is_insistent(&self) -> bool {
        matches!(self, Self::Mirror(mirror) if matches!(mirror.mirror, Mirror::Oci(_)))
    }
}
