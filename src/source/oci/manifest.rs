//! Manifests: indexes and images, as far as packages need them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::hash::Sha256Digest;
use crate::platform::Platform;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";

pub(super) const MEDIA_TYPES: [&str; 2] = [INDEX, IMAGE];

/// The artifact type of a provider's index. Source: opentofu `oci_registry_mirror_source.go`.
const PROVIDER: &str = "application/vnd.opentofu.provider";

/// The artifact type of a provider's package for one platform.
const TARGET: &str = "application/vnd.opentofu.provider-target";

pub const ZIP: &str = "archive/zip";

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Manifest {
    pub media_type: String,
    pub artifact_type: String,
    pub manifests: Vec<Descriptor>,
    pub layers: Vec<Descriptor>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Descriptor {
    pub media_type: String,
    pub artifact_type: String,
    /// The digest of its bytes, with its algorithm.
    pub digest: String,
    pub size: u64,
    platform: Option<Target>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Target {
    os: String,
    architecture: String,
    #[serde(rename = "os.version")]
    os_version: String,
}

#[derive(Deserialize)]
struct Tags {
    /// May be `null`, and must be there.
    #[serde(deserialize_with = "Option::deserialize")]
    tags: Option<Vec<String>>,
}

/// The tags of one page of a list.
pub(super) fn tags(body: &[u8]) -> Result<Vec<String>, String> {
    let read: Tags = serde_json::from_slice(body).map_err(|problem| format!("it is not a list of tags: {problem}"))?;
    Ok(read.tags.unwrap_or_default())
}

impl Manifest {
    /// Reads a manifest. `served_as` is its media type where it does not say one itself.
    pub(super) fn read(body: &[u8], served_as: Option<&str>) -> Result<Self, String> {
        let mut read: Self =
            serde_json::from_slice(body).map_err(|problem| format!("it is not a manifest: {problem}"))?;
        if read.media_type.is_empty() {
            served_as.unwrap_or_default().clone_into(&mut read.media_type);
        }
        Ok(read)
    }

    /// The packages of a provider's index, by platform: one each, unless the index is ambiguous. What is not for a platform
    /// alone is passed over.
    pub(super) fn packages(&self) -> Result<BTreeMap<Platform, Vec<Descriptor>>, String> {
        self.is(INDEX, PROVIDER)?;
        let mut packages: BTreeMap<Platform, Vec<Descriptor>> = BTreeMap::new();
        let targets = self.manifests.iter().filter(|it| it.artifact_type == TARGET && it.media_type == IMAGE);
        for descriptor in targets {
            let Some(target) = descriptor.platform.as_ref().filter(|target| target.os_version.is_empty()) else {
                continue;
            };
            if let Ok(platform) = Platform::new(&target.os, &target.architecture) {
                packages.entry(platform).or_default().push(descriptor.clone());
            }
        }
        Ok(packages)
    }

    pub(super) fn package(&self) -> Result<Sha256Digest, String> {
        self.archive(TARGET)
    }

    /// The digest of the only layer of an image that is a package.
    pub fn archive(&self, artifact_type: &str) -> Result<Sha256Digest, String> {
        self.is(IMAGE, artifact_type)?;
        let mut archives = self.layers.iter().filter(|layer| layer.media_type == ZIP);
        match (archives.next(), archives.count()) {
            (None, _) => Err(format!("its manifest has no layer of the type {ZIP}")),
            (Some(layer), 0) => layer.sha256(),
            (Some(_), more) => Err(format!("its manifest has {} layers of the type {ZIP}", more + 1)),
        }
    }

    fn is(&self, media_type: &str, artifact_type: &str) -> Result<(), String> {
        if self.media_type != media_type {
            return Err(format!("it has the media type {:?}, not {media_type}", self.media_type));
        }
        if self.artifact_type != artifact_type {
            return Err(format!("unexpected artifact type {:?}, where {artifact_type} is wanted", self.artifact_type));
        }
        Ok(())
    }
}

impl Descriptor {
    pub fn of_digest(digest: String) -> Self {
        Self { digest, ..Self::default() }
    }

    pub fn sha256(&self) -> Result<Sha256Digest, String> {
        let digest = self.digest.strip_prefix("sha256:").and_then(Sha256Digest::from_hex);
        digest.ok_or_else(|| format!("its digest {:?} is not of sha256", self.digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Manifest {
        Manifest::read(text.as_bytes(), None).unwrap()
    }

    fn index(targets: &str) -> Manifest {
        read(&format!(r#"{{"mediaType": "{INDEX}", "artifactType": "{PROVIDER}", "manifests": [{targets}]}}"#))
    }

    fn target(artifact: &str, platform: &str) -> String {
        format!(
            r#"{{"mediaType": "{IMAGE}", "artifactType": "{artifact}", "digest": "sha256:00", "platform": {platform}}}"#
        )
    }

    const LINUX: &str = r#"{"os": "linux", "architecture": "amd64"}"#;

    #[test]
    fn packages_by_platform() {
        let versioned = r#"{"os": "windows", "architecture": "amd64", "os.version": "10"}"#;
        let all =
            [target(TARGET, LINUX), target(TARGET, versioned), target("application/x", LINUX), target(TARGET, "null")];
        let packages = index(&all.join(",")).packages().unwrap();
        assert_eq!(packages.len(), 1);
        assert_eq!(packages[&"linux_amd64".parse().unwrap()].len(), 1);
        let twice = index(&[target(TARGET, LINUX), target(TARGET, LINUX)].join(","));
        assert_eq!(twice.packages().unwrap()[&"linux_amd64".parse().unwrap()].len(), 2);
    }

    #[test]
    fn other_artifacts_are_refused() {
        let other = read(&format!(r#"{{"mediaType": "{INDEX}", "artifactType": "application/x-lab"}}"#));
        assert!(other.packages().unwrap_err().starts_with("unexpected artifact type \"application/x-lab\""));
        assert!(read(r#"{"mediaType": "x"}"#).packages().unwrap_err().contains("media type"));
        assert!(Manifest::read(b"<html>", None).is_err());
        assert_eq!(Manifest::read(b"{}", Some(INDEX)).unwrap().media_type, INDEX);
    }

    fn image(layers: &str) -> Result<Sha256Digest, String> {
        read(&format!(r#"{{"mediaType": "{IMAGE}", "artifactType": "{TARGET}", "layers": [{layers}]}}"#)).package()
    }

    #[test]
    fn one_layer_is_the_package() {
        let layer = |kind: &str, digest: &str| format!(r#"{{"mediaType": "{kind}", "digest": "{digest}"}}"#);
        let digest = format!("sha256:{}", "0a".repeat(32));
        let zip = layer(ZIP, &digest);
        assert_eq!(image(&zip).unwrap().to_string(), "0a".repeat(32));
        assert!(image(&[zip.clone(), layer("text/plain", "x")].join(",")).is_ok());
        assert!(image("").unwrap_err().contains("no layer"));
        assert!(image(&[zip.clone(), zip].join(",")).unwrap_err().contains("2 layers"));
        assert!(image(&layer(ZIP, "sha512:00")).unwrap_err().contains("not of sha256"));
    }

    #[test]
    fn tags_of_a_page() {
        assert_eq!(tags(br#"{"name": "a", "tags": ["1.0.0", "latest"]}"#).unwrap(), ["1.0.0", "latest"]);
        assert_eq!(tags(br#"{"tags": null}"#).unwrap(), Vec::<String>::new());
        assert!(tags(b"[]").is_err() && tags(b"{}").is_err() && tags(br#"{"errors": []}"#).is_err());
    }
}
