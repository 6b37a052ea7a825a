//! What a mirror's release is worth: it has no signed list of packages, unless it keeps copies of what was signed.
//!
//! Pure. A mirror says nothing of the signer; what speaks for it is that it serves what is recorded.

use super::Release;
use crate::evidence::Evidence;
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::platform::Platform;

/// True if the release is not signed: it comes from a mirror without copies of the signature.
pub fn is_mirror_only(release: &Release) -> bool {
    release.signer.is_none()
}

/// True if nothing but the word of a mirror binds a hash to the release: a signed list names no package that is a directory.
pub fn is_mirror_report(release: &Release, hash: &PackageHash) -> bool {
    let reported = release.h1.get(hash).is_some_and(|attested| attested.evidence == Evidence::ReportedByMirror);
    is_mirror_only(release) || reported
}

/// The finding where a mirror has packages of a recorded release, but the lock file records none.
pub fn differs(release: &Release, recorded: &PackageHashes) -> Option<Finding> {
    differs_at("the mirror", release, recorded)
}

/// The same where several mirrors have packages of the release.
pub fn one_differs(release: &Release, recorded: &PackageHashes) -> Option<Finding> {
    differs_at("one of the mirrors", release, recorded)
}

fn differs_at(mirror: &str, release: &Release, recorded: &PackageHashes) -> Option<Finding> {
    let pins = [HashScheme::H1, HashScheme::Zh].iter().any(|scheme| recorded.of(*scheme).next().is_some());
    if !is_mirror_only(release) || !pins || recorded.iter().any(|hash| release.owns(hash)) {
        return None;
    }
    let (served, attested) = release.h1.iter().next()?;
    let platform = attested.platforms.keys().next().map(|platform| format!(" for {platform}")).unwrap_or_default();
    let message = format!(
        "{mirror} serves no recorded package of {} {}: it serves {served}{platform}, not {} recorded",
        release.address,
        release.version,
        match recorded.len() {
            1 => "the hash that is".to_owned(),
            count => format!("one of the {count} hashes that are"),
        },
    );
    Some(Finding::new(Rule::MirrorDiffers, message).about(&release.address).of_version(&release.version))
}

/// The finding where the settings themselves say that releases must be signed.
pub fn unsigned(release: &Release) -> Option<Finding> {
    let message = format!(
        "signature = \"always\" is stated for {}, and the mirror has no copy of the signature of {} {}",
        release.address.host(),
        release.address,
        release.version
    );
    let finding = Finding::new(Rule::MirrorOnly, message).about(&release.address).of_version(&release.version);
    is_mirror_only(release).then_some(Finding { level: Level::Deny, ..finding })
}

/// The finding where a mirror has another archive for some platforms than the signed list of the same release names.
pub fn unlisted(release: &Release, platforms: &[&Platform], own: &[PackageHash]) -> Option<Finding> {
    let archive = own.iter().find(|hash| hash.scheme() == HashScheme::Zh)?;
    let named: Vec<&Platform> = release.platforms_of(archive).collect();
    let is_other = !named.is_empty() && platforms.iter().any(|platform| !named.contains(platform));
    let list = |platforms: &[&Platform]| platforms.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
    let wrong = match (release.lists(archive), is_other) {
        (false, _) => "which the checksums of the release do not list".to_owned(),
        (true, true) => format!("which the checksums of the release list for {}", list(&named)),
        (true, false) => return None,
    };
    let served = if platforms.is_empty() { String::new() } else { format!(" for {}", list(platforms)) };
    let message = format!(
        "the mirror has an archive of {} {}{served} with the checksum {archive}, {wrong}",
        release.address, release.version,
    );
    Some(Finding::new(Rule::WrongChecksum, message).about(&release.address))
}

#[cfg(test)]
mod tests {
    use super::super::{Attestation, ListedLine};
    use super::*;
    use crate::addr::ProviderAddr;
    use crate::dialect::Dialect;
    use crate::evidence::Evidence;
    use crate::hash::Sha256Digest;
    use crate::trust::pins::Signer;
    use crate::version::Version;

    fn digest(byte: u8) -> Sha256Digest {
        Sha256Digest::from_bytes([byte; 32])
    }

    fn hash(text: &str) -> PackageHash {
        let byte = text[2..].parse().unwrap();
        if text.starts_with("zh") { PackageHash::zh(digest(byte)) } else { PackageHash::h1(digest(byte)) }
    }

    /// A release of which a mirror served these packages: archive and contents of one number.
    fn served(packages: &[u8]) -> Release {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let attested = || Attestation::new(Some("linux_amd64".parse().unwrap()), Evidence::Computed);
        Release {
            lines: packages.iter().map(|byte| (digest(*byte), ListedLine::archive(None))).collect(),
            h1: packages.iter().map(|byte| (PackageHash::h1(digest(*byte)), attested())).collect(),
            ..Release::new(addr, Version::new(1, 0, 0))
        }
    }

    fn rule(recorded: &[&str], packages: &[u8]) -> Option<Rule> {
        let recorded = recorded.iter().map(|text| hash(text)).collect();
        differs(&served(packages), &recorded).map(|finding| finding.rule)
    }

    #[test]
    fn one_recorded_package_identifies_the_release() {
        assert_eq!(rule(&["h11"], &[1, 2]), None);
        assert_eq!(rule(&["zh1"], &[1, 2]), None);
        assert_eq!(rule(&["zh9", "zh2"], &[1, 2]), None);
    }

    #[test]
    fn packages_without_a_recorded_hash_are_another_release() {
        assert_eq!(rule(&["h19"], &[1, 2]), Some(Rule::MirrorDiffers));
        assert_eq!(rule(&["zh9", "h19"], &[1]), Some(Rule::MirrorDiffers));
    }

    #[test]
    fn without_hashes_nothing_is_contradicted() {
        assert_eq!(rule(&[], &[1]), None);
        assert_eq!(rule(&["h19"], &[]), None);
    }

    #[test]
    fn signed_releases_are_judged_by_their_list() {
        let signed = Release { signer: Some(Signer::Unsigned), ..served(&[1]) };
        assert_eq!(differs(&signed, &[hash("h19")].into_iter().collect()), None);
        assert_eq!(unsigned(&signed), None);
        assert_eq!(unsigned(&served(&[1])).unwrap().level, Level::Deny);
        assert_eq!(unlisted(&signed, &[], &[hash("zh1")]), None);
        assert_eq!(unlisted(&signed, &[], &[hash("zh2"), hash("h11")]).unwrap().rule, Rule::WrongChecksum);
        let [linux, darwin] = ["linux_amd64", "darwin_arm64"].map(|text| text.parse::<Platform>().unwrap());
        let named = Release { lines: [(digest(1), ListedLine::archive(Some(linux.clone())))].into(), ..signed };
        assert_eq!(unlisted(&named, &[&linux], &[hash("zh1")]), None);
        let of_another = unlisted(&named, &[&darwin], &[hash("zh1")]).unwrap();
        assert!(
            of_another.message.ends_with("which the checksums of the release list for linux_amd64"),
            "{of_another:?}"
        );
        let universal =
            Release { lines: [(digest(1), ListedLine::archive([linux.clone(), darwin.clone()]))].into(), ..named };
        assert_eq!(unlisted(&universal, &[&darwin], &[hash("zh1")]), None);
        assert_eq!(unlisted(&universal, &[&darwin, &linux], &[hash("zh1")]), None);
    }
}
