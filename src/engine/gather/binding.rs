//! What ties a package to the signed list: its digest.

use crate::addr::ProviderAddr;
use crate::engine::facts::Refusal;
use crate::finding::{Finding, Rule};
use crate::hash::sums::Sums;
use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::source::Package;
use crate::version::Version;

/// The digest of a package by the signed list, which must be the announced one.
pub(super) fn listed(
    addr: &ProviderAddr,
    version: &Version,
    package: &Package,
    sums: &Sums,
) -> Result<Sha256Digest, Refusal> {
    let refuse = |message: String| Refusal::Finding(Finding::new(Rule::WrongChecksum, message).about(addr));
    let name = &package.file_name;
    let digest = sums.digest_of(name).map_err(|error| {
        refuse(format!("the signed checksums of {addr} {version} do not vouch for {name:?}: {error}"))
    })?;
    if digest != package.shasum {
        return Err(refuse(format!(
            "the signed checksum of {name:?} of {addr} {version} is {digest}, but the registry announces {}",
            package.shasum,
        )));
    }
    Ok(digest)
}

/// Where the origin's unsigned report contradicts what it announces.
///
/// Source: opentofu `internal/getproviders/package_authentication.go`.
pub(super) fn contradiction(
    addr: &ProviderAddr,
    platform: &Platform,
    zh: Sha256Digest,
    package: &Package,
) -> Option<Finding> {
    if package.reported.is_empty() {
        return None;
    }
    let own = PackageHash::zh(zh);
    let why = match package.reported.get(platform) {
        None => format!("has no package entry for {platform}"),
        Some(reported) if reported.size <= 0 => format!("gives {} bytes as the size for {platform}", reported.size),
        Some(reported) => {
            let mut zhs = reported.hashes.iter().filter(|hash| hash.scheme() == HashScheme::Zh).peekable();
            if zhs.peek().is_none() {
                format!("has no sha256sum in the package entry for {platform}")
            } else if let Some(other) = zhs.find(|hash| **hash != own) {
                format!("gives {other} for {platform}, where the checksums give {own}")
            } else {
                return None;
            }
        }
    };
    let message = format!("the registry's packages report about {addr} {why}");
    Some(Finding::new(Rule::PackagesDiffer, message).about(addr))
}
