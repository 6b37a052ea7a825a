//! Requests and downloads what the steps of a run need, each once, and decides nothing.
//!
//! Every answer is a cell that the first request fills and all others share, failures too: a dead host is contacted once.
//! Bytes of archives are hashed on the runtime's own threads, as many as there are cores, in the short stretches
//! between two arrivals: inflating and hashing never outrun the download, nothing is queued, and memory stays flat
//! however many packages are in flight.
//!
//! This file has what all sources of packages, of whatever kind, answer.

mod archives;
mod equipment;
mod fetch;
mod mirror;
mod provenance;
mod registry;
mod registry_release;
mod search;
mod shared_index;
mod sources;
mod witnesses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::question::{Goal, Query, Refusal, Selected};
use super::select::Probed;
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::release::{Attestation, Offer, Release, ReleaseKey, hashes};
use crate::source::{Miss, Source};
use crate::trust::Evidence;
use archives::Downloads;
use mirror::MirrorSource;
use registry::{RegistryPackages, RegistrySource};

pub use archives::{Destination, DownloadBudget};
pub use equipment::{Equipment, GatherOptions, UnusedMirrors};
pub use fetch::{FetchAnswer, FetchOrder, FetchedPackage, unrecorded};
pub use sources::SourceSet;
pub use witnesses::{SilentPlaces, WitnessAccess};

/// One source, with its answers so far.
#[derive(Debug, Clone)]
enum SourceState {
    Registry(Arc<RegistrySource>),
    Mirror(Arc<MirrorSource>),
}

impl SourceState {
    fn new(source: Source, equipment: &Equipment) -> Self {
        match source {
            Source::Registry(registry) => Self::Registry(Arc::new(RegistrySource::new(*registry, equipment))),
            Source::Mirror(mirror) => Self::Mirror(Arc::new(MirrorSource::new(mirror, equipment))),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Registry(_) => "the origin registry".to_owned(),
            Self::Mirror(mirror) => mirror.mirror.shown(),
        }
    }

    fn downloads(&self) -> &Downloads {
        match self {
            Self::Registry(registry) => &registry.downloads,
            Self::Mirror(mirror) => &mirror.downloads,
        }
    }

    async fn offers(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Offer>>, Miss> {
        match self {
            Self::Registry(registry) => registry.offers(addr).await,
            Self::Mirror(mirror) => mirror.offers(addr).await,
        }
    }

    /// What the source says about one version: a registry has said which platforms it has, a mirror knows no age.
    async fn probe(&self, key: &ReleaseKey, query: &Query) -> Result<Probed, Refusal> {
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
                if query.selection.is_complete() {
                    for platform in query
                        .platforms
                        .iter()
                        .filter(|platform| platforms.contains(platform))
                        .cloned()
                        .collect::<Vec<_>>()
                    {
                        if !registry.covers(key, &platform, query).await? {
                            platforms.remove(&platform);
                        }
                    }
                }
                let limited = query.rules.versions.requires_age();
                let signed = if limited { registry.signed_on(key, query).await? } else { None };
                Ok(Probed { platforms, signed })
            }
        }
    }

    /// What the source has of a release that was selected among those of all sources, except for what earlier ones have.
    async fn release(
        &self,
        key: &ReleaseKey,
        query: &Query,
        packages: Option<RegistryPackages>,
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
    fn require_version(&self, (addr, version): &ReleaseKey, query: &Query) -> Result<(), Refusal> {
        let Self::Mirror(mirror) = self else {
            return Ok(());
        };
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
    fn fails_if_absent(&self) -> bool {
        matches!(self, Self::Mirror(mirror) if mirror.mirror.fails_if_absent())
    }

    fn placed(&self, error: Error) -> Error {
        match self {
            Self::Mirror(mirror) => mirror.mirror.placed(error),
            Self::Registry(_) => error,
        }
    }
}

/// What was gathered of one release, in the order of the sources; what the last of them lacks is missing.
fn joined(mut parts: Vec<Selected>, query: &Query) -> Option<Selected> {
    let missing = parts.last()?.missing.clone();
    let strangers = strangers(&parts, query);
    let signed = parts.iter().position(|part| !hashes::is_mirror_only(&part.release));
    let mut whole = parts.remove(signed.unwrap_or(0));
    for Selected { mut release, packages, trusted, .. } in parts {
        let all = &mut whole.release;
        if signed.is_some() {
            let unlisted = release.archives().filter_map(|zh| {
                let zh = PackageHash::zh(*zh);
                let platforms: Vec<_> = release.platforms_of(&zh).collect();
                hashes::unlisted(all, &platforms, std::slice::from_ref(&zh))
            });
            let unlisted: Vec<Finding> = unlisted.collect();
            all.findings.extend(unlisted);
            let unbound = unbound(&release);
            release.h1.retain(|hash, _| !unbound.contains_key(hash));
            for (hash, attestation) in unbound.into_iter().filter(|(hash, _)| !all.h1.contains_key(hash)) {
                all.findings.push(word_of_mirror(&release, &hash));
                release.h1.insert(hash, attestation);
            }
        } else {
            all.lines.extend(release.lines);
        }
        for (h1, attestation) in release.h1 {
            all.attest(h1, attestation);
        }
        all.findings.extend(release.findings);
        all.inconclusive = all.inconclusive.take().or(release.inconclusive);
        whole.trusted.extend(trusted);
        whole.packages.extend(packages);
    }
    whole.release.findings.extend(strangers);
    Some(Selected { missing, ..whole })
}

/// The mirrors without a recorded package, if another mirror has the recorded release.
fn strangers(parts: &[Selected], query: &Query) -> Vec<Finding> {
    let differs = |part: &Selected| hashes::one_differs(&part.release, &query.recorded_as(part.version())?.hashes);
    let strangers: Vec<Finding> = parts.iter().filter_map(differs).collect();
    // If none has it, one error names all of them.
    if strangers.len() < parts.len() { strangers } else { Vec::new() }
}

/// The packages of a mirror of which a signed list says nothing, since they are no archives: they are the mirror's word.
fn unbound(part: &Release) -> BTreeMap<PackageHash, Attestation> {
    let is_archive = |attested: &Attestation| part.lines.values().any(|line| attested.may_be_of(line));
    let trusted = |attested: &Attestation| {
        let evidence = Evidence::ReportedByMirror;
        let platforms = attested.platforms.keys().map(|platform| (platform.clone(), evidence.clone())).collect();
        Attestation { platforms, evidence }
    };
    let unbound = part.h1.iter().filter(|(_, attested)| !is_archive(attested));
    unbound.map(|(hash, attested)| (hash.clone(), trusted(attested))).collect()
}

fn word_of_mirror(part: &Release, hash: &PackageHash) -> Finding {
    let message = format!(
        "only a mirror attests {hash} of {} {}: its package is a directory, which no signed list names",
        part.address, part.version
    );
    Finding::new(Rule::MirrorOnly, message).about(&part.address)
}

/// What is said of recorded hashes that nothing served explains, where it is open whether all was looked at: what is not known
/// must not pass for proven.
fn unexplained(release: &Release, query: &Query, by_registry: bool) -> Option<Error> {
    if release.complete || !query.explain()?.depth.download {
        return None;
    }
    let mut open = search::open(release, query);
    let (first, others) = (open.next()?, open.count());
    let Release { address, version, .. } = release;
    let (what, why, hint) = if by_registry {
        let why = "no archive that the registry names has it, and the checksums do not show which archives exist";
        ("h1", why, step!("`git log -S {}` finds who recorded it", first))
    } else {
        let hint = step!(
            "a mirror may lack the packages of other platforms: `tflock verify --source origin` checks with the registry"
        );
        ("hashes", "no package that was served has it", hint)
    };
    let which = if others == 0 { first.to_string() } else { format!("{first} and {others} more recorded {what}") };
    Some(Error::new(ErrorKind::Unavailable, format!("{which} of {address} {version}: {why}")).hint(hint))
}
