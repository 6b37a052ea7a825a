//! Evidence for a locked release from a mirror: what it serves of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::LOOKED_AT;
use super::evidence::too_many;
use super::mirror::MirrorGatherer;
use crate::evidence::Evidence;
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::query::answer::Refusal;
use crate::query::inquiry::Inquiry;
use crate::release::{Attestation, Release, ReleaseKey, mirrors};
use crate::source::MirrorPackages;

impl MirrorGatherer {
    /// What the mirror shows of a release: packages are looked at until each recorded hash is explained or none is left, but
    /// for platforms that an earlier source has.
    pub(super) async fn knowledge(
        self: &Arc<Self>,
        (addr, version): &ReleaseKey,
        inquiry: &Inquiry,
        seen: &BTreeSet<Platform>,
    ) -> Result<Release, Refusal> {
        let listed = self.listed(addr, version).await?;
        let mut release = self.release(addr, version, &inquiry.rules).await?;
        if !inquiry.depth.recompute {
            self.recall(&mut release);
        }
        if inquiry.depth.download {
            let mut left = likeliest_last(&listed, inquiry, seen);
            let passed_over = left.len().saturating_sub(LOOKED_AT);
            left.drain(..passed_over);
            self.look(&mut release, inquiry, (&listed, left)).await;
            let open = || inquiry.h1.iter().chain(&inquiry.zh).any(|hash| !release.owns(hash));
            if passed_over > 0 && (inquiry.depth.all_platforms || open()) {
                release.inconclusive = Some(too_many(&release, passed_over));
            }
        }
        Ok(release)
    }

    /// What the index knows of archives that are signed.
    fn recall(&self, release: &mut Release) {
        let archives: Vec<Sha256Digest> = release.archives().copied().collect();
        for zh in archives {
            if let Some((h1, _)) = self.equipment.cache.h1_of(&zh) {
                let platforms: Vec<Platform> = release.platforms_of(&PackageHash::zh(zh)).cloned().collect();
                release.attest(h1.clone(), Attestation::new(None, Evidence::Computed));
                for platform in platforms {
                    release.look_at(&platform, None, Some(&h1));
                }
            }
        }
    }

    async fn look(
        self: &Arc<Self>,
        release: &mut Release,
        inquiry: &Inquiry,
        (listed, mut left): (&MirrorPackages, Vec<Platform>),
    ) {
        loop {
            let unsigned = mirrors::is_vouched_by_mirror(release);
            let recorded = inquiry.h1.iter().chain(inquiry.zh.iter().filter(|_| unsigned));
            let open = recorded.filter(|hash| !release.owns(hash)).count();
            let count = if inquiry.depth.all_platforms { left.len() } else { open.min(left.len()) };
            let batch: BTreeSet<Platform> = left.split_off(left.len() - count).into_iter().collect();
            if batch.is_empty() {
                return;
            }
            for (platform, hashed) in self.hashed(release, listed, batch).await {
                match hashed {
                    Ok(facts) => release.look_at(&platform, facts.zh, facts.h1.as_ref()),
                    Err(Refusal::Finding(finding)) => release.findings.push(finding),
                    Err(Refusal::Revoked(finding, _)) => release.findings.push(*finding),
                    Err(Refusal::Error(error)) => {
                        release.inconclusive.get_or_insert(error);
                    }
                }
            }
        }
    }
}

/// The platforms of a release that no earlier source has; those that are likely to be recorded last.
fn likeliest_last(listed: &MirrorPackages, inquiry: &Inquiry, seen: &BTreeSet<Platform>) -> Vec<Platform> {
    let host = Platform::host();
    let mut platforms: Vec<Platform> = listed.keys().filter(|platform| !seen.contains(*platform)).cloned().collect();
    platforms.sort_by_key(|platform| (inquiry.platforms.contains(platform), *platform == host));
    platforms
}
