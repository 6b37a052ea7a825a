//! One release from several sources: what each of them has of it becomes one.
//!
//! Pure. Where one of them knows the signed list, the packages of the others are held to it; a mirror that signs nothing
//! speaks for its own packages only.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind};
use crate::evidence::Evidence;
use crate::finding::{Finding, Rule};
use crate::hash::PackageHash;
use crate::query::answer::Selected;
use crate::query::inquiry::Inquiry;
use crate::query::question::Query;
use crate::release::{Attestation, Release, mirrors};

/// What was gathered of one release, in the order in which the sources were asked; what the last of them lacks is missing.
pub(super) fn joined(mut parts: Vec<Selected>, step: &Query) -> Option<Selected> {
    let missing = parts.last()?.missing.clone();
    let strangers = strangers(&parts, step);
    let mut whole = parts.remove(signed_or_first(parts.iter().map(|part| &part.release)));
    for part in parts {
        if !mirrors::is_vouched_by_mirror(&whole.release) {
            let own = |package: &crate::query::answer::PackageFacts| package.hashes().collect::<Vec<_>>();
            let unlisted = part
                .packages
                .iter()
                .filter_map(|(platform, package)| mirrors::unlisted(&whole.release, &[platform], &own(package)));
            let unlisted: Vec<Finding> = unlisted.collect();
            whole.release.findings.extend(unlisted);
        }
        whole.release.findings.extend(part.release.findings);
        whole.told.extend(part.told);
        whole.compute(part.packages);
    }
    whole.release.findings.extend(strangers);
    Some(Selected { missing, ..whole })
}

/// The mirrors none of whose packages is recorded, beside one that has the recorded release.
fn strangers(parts: &[Selected], step: &Query) -> Vec<Finding> {
    let differs = |part: &Selected| {
        let entry = step.recorded.as_ref().filter(|entry| entry.version == *part.version())?;
        mirrors::differs(&part.release, &entry.hashes)
    };
    let strangers: Vec<Finding> = parts.iter().filter_map(differs).collect();
    // If none has it, that is told of all of them together.
    if strangers.len() < parts.len() { strangers } else { Vec::new() }
}

/// The same of what is known of a locked release.
pub(super) fn known(mut parts: Vec<Release>) -> Option<Release> {
    if parts.is_empty() {
        return None;
    }
    let mut whole = parts.remove(signed_or_first(parts.iter()));
    for mut part in parts {
        let is_signed = !mirrors::is_vouched_by_mirror(&whole);
        if is_signed {
            let unlisted = part.archives().filter_map(|zh| {
                let zh = PackageHash::zh(*zh);
                let platforms: Vec<_> = part.platforms_of(&zh).collect();
                mirrors::unlisted(&whole, &platforms, std::slice::from_ref(&zh))
            });
            let unlisted: Vec<Finding> = unlisted.collect();
            whole.findings.extend(unlisted);
            let unbound = unbound(&part);
            part.h1.retain(|hash, _| !unbound.contains_key(hash));
            for (hash, vouched) in unbound.into_iter().filter(|(hash, _)| !whole.h1.contains_key(hash)) {
                whole.findings.push(word_of_mirror(&part, &hash));
                part.h1.insert(hash, vouched);
            }
        } else {
            whole.lines.extend(part.lines.clone());
        }
        for (h1, vouched) in part.h1 {
            whole.attest(h1, vouched);
        }
        whole.findings.extend(part.findings);
        whole.inconclusive = whole.inconclusive.or(part.inconclusive);
    }
    Some(whole)
}

/// The packages of a mirror of which a signed list says nothing, since they are no archives: they are the mirror's word.
fn unbound(part: &Release) -> BTreeMap<PackageHash, Attestation> {
    let is_archive = |vouched: &Attestation| part.lines.values().any(|line| vouched.may_be_of(line));
    let told = |vouched: &Attestation| {
        let evidence = Evidence::ReportedByMirror;
        let platforms = vouched.platforms.keys().map(|platform| (platform.clone(), evidence.clone())).collect();
        Attestation { platforms, evidence }
    };
    let unbound = part.h1.iter().filter(|(_, vouched)| !is_archive(vouched));
    unbound.map(|(hash, vouched)| (hash.clone(), told(vouched))).collect()
}

fn word_of_mirror(part: &Release, hash: &PackageHash) -> Finding {
    let message = format!(
        "only a mirror vouches for {hash} of {} {}: its package is a directory, which no signed list names",
        part.address, part.version
    );
    Finding::new(Rule::MirrorVouches, message).about(&part.address)
}

fn signed_or_first<'a>(mut releases: impl Iterator<Item = &'a Release>) -> usize {
    releases.position(|release| !mirrors::is_vouched_by_mirror(release)).unwrap_or(0)
}

/// The release with a word on recorded hashes that nothing served explains: what is not known must not pass for proven.
pub(super) fn explained(release: Release, inquiry: &Inquiry) -> Release {
    if !inquiry.depth.download || release.complete || release.inconclusive.is_some() {
        return release;
    }
    let zh = inquiry.zh.iter().filter(|_| mirrors::is_vouched_by_mirror(&release));
    let mut open = inquiry.h1.iter().chain(zh).filter(|hash| !release.owns(hash));
    let Some(first) = open.next() else { return release };
    let which = match open.count() {
        0 => first.to_string(),
        others => format!("{first} and {others} more recorded hashes"),
    };
    let message = format!("{which} of {} {}: no package that was served has it", release.address, release.version);
    let error = Error::new(ErrorKind::Unavailable, message)
        .hint("a mirror may lack the packages of other platforms: `tflock verify --source origin` asks the registry");
    Release { inconclusive: Some(error), ..release }
}
