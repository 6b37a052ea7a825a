//! OCI mirrors: a repository for each provider, a tag for each version, an index with a manifest for each platform.
//!
//! Source: opentofu `internal/getproviders/oci_registry_mirror_source.go`,
//! `internal/command/cliconfig/provider_installation.go`.

use std::collections::BTreeMap;

use url::Url;

use super::super::Miss;
use super::{Descriptor, OciClient, Repository, unusable};
use crate::addr::{AddrPattern, ProviderAddr};
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::net::Authorization;
use crate::platform::Platform;
use crate::version::Version;

/// From the address of a provider to its repository: `REGISTRY/…` over `${hostname}`, `${namespace}` and `${type}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Hostname,
    Namespace,
    Type,
}

#[derive(Debug)]
pub struct OciMirror {
    client: OciClient,
    template: Template,
    shown: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciPackage {
    repository: Repository,
    tag: String,
    descriptors: Vec<Descriptor>,
}

impl Template {
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
            parts.push(Part::Text(before.to_owned()));
            parts.push(match name.trim() {
                "hostname" => Part::Hostname,
                "namespace" => Part::Namespace,
                "type" => Part::Type,
                other => {
                    return Err(refused(format!(
                        "it knows ${{hostname}}, ${{namespace}} and ${{type}}, not {other:?}"
                    )));
                }
            });
            rest = behind;
        }
        parts.push(Part::Text(rest.to_owned()));
        for (name, part, value) in [
            ("hostname", Part::Hostname, AddrPattern::host_text as fn(&AddrPattern) -> Option<String>),
            ("namespace", Part::Namespace, AddrPattern::namespace_text),
            ("type", Part::Type, AddrPattern::type_text),
        ] {
            let values: std::collections::BTreeSet<Option<String>> = include.iter().map(value).collect();
            let is_fixed = values.len() == 1 && values.iter().all(Option::is_some);
            if !parts.contains(&part) && !is_fixed {
                return Err(refused(format!(
                    "it must mention ${{{name}}}, or providers of one {name} only be included"
                )));
            }
        }
        Ok(Self(parts))
    }

    pub fn repository(&self, addr: &ProviderAddr) -> Result<Repository, String> {
        let text = self.0.iter().map(|part| match part {
            Part::Text(text) => text,
            Part::Hostname => addr.host().as_ascii(),
            Part::Namespace => addr.namespace(),
            Part::Type => addr.type_name(),
        });
        Repository::parse(&text.collect::<String>())
    }
}

impl OciMirror {
    /// The mirror of a template, as it was written.
    pub fn new(client: OciClient, template: Template, shown: &str) -> Self {
        Self { client, template, shown: shown.to_owned() }
    }

    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub fn client(&self) -> &OciClient {
        &self.client
    }

    pub fn repository(&self, addr: &ProviderAddr) -> Result<Repository, Error> {
        self.template.repository(addr).map_err(|reason| {
            let message = format!("the OCI mirror {} has no repository for {addr}: {reason}", self.shown);
            Error::new(ErrorKind::Settings, message)
        })
    }

    /// The versions of a provider, ascending: tags in which `_` means `+`; others are passed over.
    pub async fn versions(&self, repository: &Repository) -> Result<Vec<Version>, Miss> {
        let tags = self.client.tags(repository).await?;
        let mut versions: Vec<Version> = tags.iter().filter_map(|tag| tag.replace('_', "+").parse().ok()).collect();
        versions.sort();
        versions.dedup();
        Ok(versions)
    }

    pub async fn packages(
        &self,
        repository: &Repository,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    const FULL: &str = "r.example/${hostname}/${namespace}/${type}";

    fn repository(template: &str, include: &[&str], addr: &str) -> Result<String, String> {
        let include: Vec<AddrPattern> =
            include.iter().map(|text| AddrPattern::parse(text, Dialect::OpenTofu).unwrap()).collect();
        let template = Template::parse(template, &include).map_err(|error| error.message)?;
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
