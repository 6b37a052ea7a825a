//! One release from several sources: what each of them has of it becomes one.
//!
//! Pure. Where one of them knows the signed list, the packages of the others are checked against it; a mirror that signs nothing
//! speaks for its own packages only.

use std::collections::BTreeMap;

use super::search;
use crate::error::{Error, ErrorKind};
use crate::evidence::Evidence;
use crate::finding::{Finding, Rule};
use crate::hash::PackageHash;
use crate::query::answer::Selected;
use crate::query::question::Query;
use crate::release::{Attestation, Release, mirrors};

/// What was gathered of one release, in the order of the sources; what the last of them lacks is missing.
pub(super) fn joined(mut parts: Vec<Selected>, query: &Query) -> Option<Selected> {
    let missing = parts.last()?.missing.clone();
    let strangers = strangers(&parts, query);
    let signed = parts.iter().position(|part| !mirrors::is_mirror_only(&part.release));
    let mut whole = parts.remove(signed.unwrap_or(0));
    for Selected { mut release, packages, trusted, .. } in parts {
        let all = &mut whole.release;
        if signed.is_some() {
            let unlisted = release.archives().filter_map(|zh| {
                let zh = PackageHash::zh(*zh);
                let platforms: Vec<_> = release.platforms_of(&zh).collect();
                mirrors::unlisted(all, &platforms, std::slice::from_ref(&zh))
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
    let differs = |part: &Selected| mirrors::one_differs(&part.release, &query.recorded_as(part.version())?.hashes);
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
pub(super) fn unexplained(release: &Release, query: &Query, by_registry: bool) -> Option<Error> {
    if release.complete || !query.explain()?.depth.download {
        return None;
    }
    let mut open = search::open(release, query);
    let (first, others) = (open.next()?, open.count());
    let Release { address, version, .. } = release;
    let (what, why, hint) = if by_registry {
        let why = "no archive that the registry names has it, and the checksums do not show which archives exist";
        ("h1", why, format!("`git log -S {first}` finds who recorded it"))
    } else {
        let hint = "a mirror may lack the packages of other platforms: `tflock verify --source origin` checks with the registry";
        ("hashes", "no package that was served has it", hint.to_owned())
    };
    let which = if others == 0 { first.to_string() } else { format!("{first} and {others} more recorded {what}") };
    Some(Error::new(ErrorKind::Unavailable, format!("{which} of {address} {version}: {why}")).hint(hint))
}
