//! One source of packages, of whatever kind: the questions that all of them answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Equipment;
use super::archives::Downloads;
use super::mirror::MirrorSource;
use super::registry::{Packages, RegistrySource};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::platform::Platform;
use crate::query::answer::{Refusal, Selected};
use crate::query::question::{Goal, Query};
use crate::query::select::Probed;
use crate::release::ReleaseKey;
use crate::release::offer::Offer;
use crate::source::{Miss, Source};

/// One source, with its answers so far.
#[derive(Debug, Clone)]
pub(super) enum SourceState {
    Registry(Arc<RegistrySource>),
    Mirror(Arc<MirrorSource>),
}

impl SourceState {
    pub(super) fn new(source: Source, equipment: &Equipment) -> Self {
        match source {
            Source::Registry(registry) => Self::Registry(Arc::new(RegistrySource::new(*registry, equipment))),
            Source::Mirror(mirror) => Self::Mirror(Arc::new(MirrorSource::new(mirror, equipment))),
        }
    }

    pub(super) fn shown(&self) -> String {
        match self {
            Self::Registry(_) => "the origin registry".to_owned(),
            Self::Mirror(mirror) => mirror.mirror.shown(),
        }
    }

    pub(super) fn downloads(&self) -> &Downloads {
        match self {
            Self::Registry(registry) => &registry.downloads,
            Self::Mirror(mirror) => &mirror.downloads,
        }
    }

    pub(super) async fn offers(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Offer>>, Miss> {
        match self {
            Self::Registry(registry) => registry.offers(addr).await,
            Self::Mirror(mirror) => mirror.offers(addr).await,
        }
    }

    /// What the source says about one version: a registry has said which platforms it has, a mirror knows no age.
    pub(super) async fn probe(&self, key: &ReleaseKey, query: &Query) -> Result<Probed, Refusal> {
        match self {
            Self::Mirror(mirror) => {
                Ok(Probed { platforms: mirror.listed(key).await?.keys().cloned().collect(), signed: None })
            }
            Self::Registry(registry) => {
                let offers = registry.offers(&key.0).await?;
                let same = offers.iter().filter(|offer| offer.version == key.1);
                let mut platforms: BTreeSet<Platform> = same.flat_map(|offer| offer.platforms.clone()).collect();
                if platforms.is_empty() {
                    // It says nothing of platforms, and may have them all.
                    platforms.extend(query.platforms.iter().cloned());
                }
                let limited = query.rules.exclusions.requires_age();
                let signed = if limited { registry.signed_on(key, query).await? } else { None };
                Ok(Probed { platforms, signed })
            }
        }
    }

    /// What the source has of a release that was selected among those of all sources, except for what earlier ones have.
    pub(super) async fn release(
        &self,
        key: &ReleaseKey,
        query: &Query,
        packages: Option<Packages>,
        seen: &mut BTreeSet<Platform>,
    ) -> Result<Selected, Refusal> {
        match self {
            Self::Mirror(mirror) => {
                let release = Box::pin(mirror.release(key, query, seen)).await?;
                seen.extend(mirror.listed(key).await?.keys().cloned());
                Ok(release)
            }
            Self::Registry(registry) => {
                let packages = match packages {
                    Some(packages) => packages,
                    None => registry.packages_of(key, query).await,
                };
                Box::pin(registry.release(key, query, packages)).await
            }
        }
    }

    /// Refuses where the tool would: it requests a version from some mirrors even if only a later source has it.
    pub(super) fn require_version(&self, (addr, version): &ReleaseKey, query: &Query) -> Result<(), Refusal> {
        let Self::Mirror(mirror) = self else { return Ok(()) };
        if query.goal != Goal::Packages || !mirror.mirror.fails_if_absent() {
            return Ok(());
        }
        let message = format!(
            "{} does not have {addr} {version}, and `tofu init` uses no source after an oci_mirror",
            mirror.mirror.shown()
        );
        let hint = "exclude the provider from the oci_mirror, or push that version to it";
        Err(Error::new(ErrorKind::NotFound, message).hint(hint).into())
    }

    /// True if a provider that it does not have is not passed over.
    pub(super) fn fails_if_absent(&self) -> bool {
        matches!(self, Self::Mirror(mirror) if mirror.mirror.fails_if_absent())
    }

    pub(super) fn placed(&self, error: Error) -> Error {
        match self {
            Self::Mirror(mirror) => mirror.mirror.placed(error),
            Self::Registry(_) => error,
        }
    }
}
