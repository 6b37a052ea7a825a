//! OCI mirrors: a repository for each provider, a tag for each version, an index with a manifest for each platform.
//! Indexes and images are read as far as packages need them.
//!
//! Source: opentofu `internal/getproviders/oci_registry_mirror_source.go`,
//! `internal/command/cliconfig/provider_installation.go`.

use std::collections::BTreeMap;

use serde::Deserialize;
use url::Url;

use super::{OciClient, OciRepository, unusable};
use crate::addr::{AddrPattern, ProviderAddr};
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::net::Authorization;
use crate::platform::Platform;
use crate::source::Miss;
use crate::version::Version;

/// From the address of a provider to its repository: `REGISTRY/…` over `${hostname}`, `${namespace}` and `${type}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageTemplate(Vec<TemplatePart>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Hostname,
    Namespace,
    Type,
}

#[derive(Debug)]
pub struct OciMirror {
    client: OciClient,
    template: ImageTemplate,
    shown: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciPackage {
    repository: OciRepository,
    tag: String,
    descriptors: Vec<Descriptor>,
}

impl ImageTemplate {
    /// Parses a template. What it does not mention must be fixed by what the mirror includes.
    pub fn parse(text: &str, include: &[AddrPattern]) -> Result<Self, Error> {
        let refused = |reason: String| {
            let message = format!("{text:?} is not the template of an OCI mirror: {reason}");
            Error::new(ErrorKind::Settings, message)
                .hint("such as oci:registry.example.com/mirror/${hostname}/${namespace}/${type}")
        };
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            let (name, behind) = after.split_once('}').ok_or_else(|| refused("a ${ has no }".to_owned()))?;
            parts.push(TemplatePart::Text(before.to_owned()));
            parts.push(match name.trim() {
                "hostname" => TemplatePart::Hostname,
                "namespace" => TemplatePart::Namespace,
                "type" => TemplatePart::Type,
                other => {
                    return Err(refused(format!(
                        "it knows ${{hostname}}, ${{namespace}} and ${{type}}, not {other:?}"
                    )));
                }
            });
            rest = behind;
        }
        parts.push(TemplatePart::Text(rest.to_owned()));
        for (name, part, value) in [
            ("hostname", TemplatePart::Hostname, AddrPattern::host_text as fn(&AddrPattern) -> Option<String>),
            ("namespace", TemplatePart::Namespace, AddrPattern::namespace_text),
            ("type", TemplatePart::Type, AddrPattern::type_text),
        ] {
            let values: std::collections::BTreeSet<Option<String>> = include.iter().map(value).collect();
            let is_fixed = values.len() == 1 && values.iter().all(Option::is_some);
            if !parts.contains(&part) && !is_fixed {
                return Err(refused(format!("it must contain ${{{name}}}, unless `include` names one {name} only")));
            }
        }
        Ok(Self(parts))
    }

    pub fn repository(&self, addr: &ProviderAddr) -> Result<OciRepository, String> {
        let text = self.0.iter().map(|part| match part {
            TemplatePart::Text(text) => text,
            TemplatePart::Hostname => addr.host().as_ascii(),
            TemplatePart::Namespace => addr.namespace(),
            TemplatePart::Type => addr.type_name(),
        });
        OciRepository::parse(&text.collect::<String>())
    }
}

impl OciMirror {
    /// The mirror of a template, as it was written.
    pub fn new(client: OciClient, template: ImageTemplate, shown: &str) -> Self {
        Self { client, template, shown: shown.to_owned() }
    }

    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub fn client(&self) -> &OciClient {
        &self.client
    }

    pub fn repository(&self, addr: &ProviderAddr) -> Result<OciRepository, Error> {
        self.template.repository(addr).map_err(|reason| {
            let message = format!("the OCI mirror {} has no repository for {addr}: {reason}", self.shown);
            Error::new(ErrorKind::Settings, message)
        })
    }

    /// The versions of a provider, ascending: tags in which `_` means `+`; others are passed over.
    pub async fn versions(&self, repository: &OciRepository) -> Result<Vec<Version>, Miss> {
        let tags = self.client.tags(repository).await?;
        let mut versions: Vec<Version> = tags.iter().filter_map(|tag| tag.replace('_', "+").parse().ok()).collect();
        versions.sort();
        versions.dedup();
        Ok(versions)
    }

    pub async fn packages(
        &self,
        repository: &OciRepository,
        version: &Version,
    ) -> Result<BTreeMap<Platform, OciPackage>, Miss> {
        let tag = version.to_string().replace('+', "_");
        let index = self.client.tagged(repository, &tag).await?;
        let packages =
            index.packages().map_err(|reason| unusable(repository, &format!(":{tag}"), &reason))?.into_iter();
        let package = |descriptors| OciPackage { repository: repository.clone(), tag: tag.clone(), descriptors };
        Ok(packages.map(|(platform, descriptors)| (platform, package(descriptors))).collect())
    }

    /// Where the archive of a package is, what it takes to download it, and its digest.
    pub async fn archive(&self, package: &OciPackage) -> Result<(Url, Option<Authorization>, Sha256Digest), Miss> {
        let OciPackage { repository, tag, descriptors } = package;
        let [descriptor] = &descriptors[..] else {
            let reason = "ambiguous manifest: its index has several packages for one platform";
            return Err(unusable(repository, &format!(":{tag}"), reason).into());
        };
        let image = self.client.manifest(repository, descriptor).await?;
        let digest = image.package().map_err(|reason| unusable(repository, &format!(":{tag}"), &reason))?;
        let (url, authorization) = self.client.blob(repository, &digest).await;
        Ok((url, authorization, digest))
    }
}

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
pub struct OciManifest {
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
    platform: Option<TargetPlatform>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct TargetPlatform {
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

impl OciManifest {
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
    use crate::dialect::Dialect;

    const FULL: &str = "r.example/${hostname}/${namespace}/${type}";

    fn repository(template: &str, include: &[&str], addr: &str) -> Result<String, String> {
        let include: Vec<AddrPattern> =
            include.iter().map(|text| AddrPattern::parse(text, Dialect::OpenTofu).unwrap()).collect();
        let template = ImageTemplate::parse(template, &include).map_err(|error| error.message)?;
        let addr = ProviderAddr::parse(addr, Dialect::OpenTofu).unwrap();
        template.repository(&addr).map(|repository| repository.to_string())
    }

    #[test]
    fn templates() {
        assert_eq!(repository(FULL, &[], "acme/x").unwrap(), "r.example/registry.opentofu.org/acme/x");
        assert_eq!(repository("r:5000/${ type }-${namespace}/${hostname}", &[], "a.b/c/d").unwrap(), "r:5000/d-c/a.b");
        for wrong in
            ["r.example/${namespace}/${type}", "r.example/${hostname", "r.example/${host}/${namespace}/${type}"]
        {
            assert!(repository(wrong, &[], "acme/x").is_err(), "{wrong}");
        }
    }

    #[test]
    fn included_patterns_may_replace_template_variables() {
        let template = "r.example/${namespace}/${type}";
        assert_eq!(repository(template, &["a.b/*/*"], "a.b/c/d").unwrap(), "r.example/c/d");
        assert!(repository(template, &["a.b/*/*", "c.d/*/*"], "a.b/c/d").is_err());
        assert!(repository(template, &["*/*/*"], "a.b/c/d").is_err());
        assert_eq!(repository("r.example/one", &["a.b/c/d"], "a.b/c/d").unwrap(), "r.example/one");
    }

    #[test]
    fn addresses_that_no_repository_can_have() {
        assert!(repository(FULL, &[], "localhost:8443/acme/x").unwrap_err().contains("repository name"));
    }
}

#[cfg(test)]
mod manifest_tests {
    use super::*;

    fn read(text: &str) -> OciManifest {
        OciManifest::read(text.as_bytes(), None).unwrap()
    }

    fn index(targets: &str) -> OciManifest {
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
        assert!(OciManifest::read(b"<html>", None).is_err());
        assert_eq!(OciManifest::read(b"{}", Some(INDEX)).unwrap().media_type, INDEX);
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
