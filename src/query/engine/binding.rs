//! What ties a package to the signed list: its digest.

use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::hash::Sha256Digest;
use crate::hash::sums::Sums;
use crate::query::answer::Refusal;
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
    let digest = sums
        .digest_of(name)
        .map_err(|error| refuse(format!("the checksums of {addr} {version} do not vouch for {name:?}: {error}")))?;
    if digest != package.shasum {
        return Err(refuse(format!(
            "the checksum of {name:?} of {addr} {version} is {digest}, but the registry announces {}",
            package.shasum,
        )));
    }
    Ok(digest)
}
