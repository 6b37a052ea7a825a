//! Packages in OCI registries, as OpenTofu takes modules from there.
//!
//! Source: opentofu `internal/getmodules/oci_getter.go`.

use super::address::RemoteAddress;
use super::archive::ArchiveKind;
use super::fetch::Fetcher;
use super::package::archive_key;
use super::store::StoredPackage;
use super::wanted::Wanted;
use crate::error::{Error, ErrorKind};
use crate::source::oci::{self, Descriptor, Repository};

/// What a manifest says that it is of a module.
const ARTIFACT: &str = "application/vnd.opentofu.modulepkg";

/// The tag that is meant where none is named.
const DEFAULT_TAG: &str = "latest";

impl Fetcher {
    /// The package of an artifact, by its tag or its digest.
    pub(super) async fn artifact(&self, address: &RemoteAddress, wanted: &Wanted) -> Result<StoredPackage, Error> {
        let wrong = |reason: String| {
            let message = format!("the module cannot be fetched from {}: {reason}", address.package());
            Error::new(ErrorKind::Configuration, message)
        };
        let url = &address.url;
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let name = format!("{}{port}{}", url.host_str().unwrap_or_default(), url.path());
        let repository = Repository::parse(&name).map_err(wrong)?;
        let registry = self.artifacts(address, wanted)?;
        if let Some((other, _)) = url.query_pairs().find(|(key, _)| key != "tag" && key != "digest") {
            return Err(wrong(format!("its parameter {other:?} is neither tag nor digest")));
        }
        let (manifest, what) = match (address.parameter("tag"), address.parameter("digest")) {
            (Some(_), Some(_)) => return Err(wrong("it has both a tag and a digest".to_owned())),
            (_, Some(digest)) => {
                let descriptor = Descriptor::of_digest(digest.clone());
                descriptor.sha256().map_err(wrong)?;
                (registry.manifest(&repository, &descriptor).await?, format!("@{digest}"))
            }
            (tag, None) => {
                let tag = tag.unwrap_or_else(|| DEFAULT_TAG.to_owned());
                if !is_tag(&tag) {
                    return Err(wrong(format!("{tag:?} is not a tag")));
                }
                (registry.tagged(&repository, &tag).await?, format!(":{tag}"))
            }
        };
        let unusable = |reason: String| oci::unusable(&repository, &what, &reason);
        let digest = manifest.archive(ARTIFACT).map_err(unusable)?;
        if let Some(package) = self.store().package(&archive_key(&digest.to_hex())) {
            return Ok(package);
        }
        let (blob, authorization) = registry.blob(&repository, &digest).await;
        let archive = Box::pin(self.web(wanted).download_as(&blob, authorization)).await?;
        if archive.digest != digest.to_hex() {
            let message = format!("the blob {digest} of {repository} has the digest {}", archive.digest);
            return Err(Error::new(ErrorKind::Trust, message).about_url(address.package()));
        }
        self.unpacked(archive, ArchiveKind::Zip, address.package()).await
    }
}

/// True if the tag of an address is meant to go on.
pub(super) fn is_moving(address: &RemoteAddress) -> bool {
    address.parameter("tag").is_none_or(|tag| tag == DEFAULT_TAG)
}

/// `[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}`
fn is_tag(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=128).contains(&text.len()) && text.bytes().all(inner) && !text.starts_with(['.', '-'])
}
