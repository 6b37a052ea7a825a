//! The shapes of a registry's answers, turned into our types at once.
//!
//! Source: `internal/getproviders/registry_client.go`, and opentofu's for `packages`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Offer, Reported};
use crate::hash::{HashScheme, PackageHash};
use crate::platform::Platform;
use crate::version::Version;

/// Why an answer cannot be used; one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Not JSON, or JSON of another shape.
    #[error("the answer is not the JSON document that the protocol asks for: {0}")]
    Json(String),
    /// A version that is none; the tools refuse the whole answer too.
    #[error("the answer includes the invalid version string {text:?}: {reason}")]
    Version {
        /// As served.
        text: String,
        /// The rule it breaks.
        reason: crate::version::VersionError,
    },
    /// Something that every answer must have.
    #[error("the answer has no {0:?}")]
    Missing(&'static str),
    /// A checksum that is none.
    #[error("the answer has an invalid shasum {0:?}: 64 hexadecimal digits are wanted")]
    Shasum(String),
    /// A key of `packages` that is no platform.
    #[error("the answer includes the invalid package platform {0:?}")]
    PackagePlatform(String),
    /// A hash in `packages` without a scheme.
    #[error("the answer includes the invalid package hash {0:?}")]
    PackageHash(String),
}

/// Reads the first JSON value of a body; what follows it is ignored, as in the tools.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, WireError> {
    let mut values = serde_json::Deserializer::from_slice(body).into_iter::<T>();
    match values.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(WireError::Json(error.to_string())),
        None => Err(WireError::Json("it is empty".to_owned())),
    }
}

/// The answer to *which versions are there*.
#[derive(Deserialize)]
pub(super) struct Versions {
    #[serde(default)]
    versions: Option<Vec<VersionItem>>,
}

#[derive(Deserialize)]
struct VersionItem {
    #[serde(default)]
    version: String,
    #[serde(default)]
    protocols: Option<Vec<String>>,
    #[serde(default)]
    platforms: Option<Vec<PlatformItem>>,
}

#[derive(Deserialize)]
struct PlatformItem {
    #[serde(default)]
    os: String,
    #[serde(default)]
    arch: String,
}

impl Versions {
    /// The versions, each once, ascending.
    pub(super) fn offers(self) -> Result<Vec<Offer>, WireError> {
        let mut offers = BTreeMap::new();
        for item in self.versions.unwrap_or_default() {
            let version: Version =
                item.version.parse().map_err(|reason| WireError::Version { text: item.version, reason })?;
            let platforms = item.platforms.unwrap_or_default();
            let offer = Offer {
                version: version.clone(),
                protocols: item.protocols.unwrap_or_default(),
                platforms: platforms.iter().filter_map(|item| Platform::new(&item.os, &item.arch).ok()).collect(),
            };
            offers.insert(version, offer);
        }
        Ok(offers.into_values().collect())
    }
}

/// The answer to *what is this release*, which no protocol describes; Terraform's public registry gives it.
#[derive(Deserialize)]
pub(super) struct About {
    /// The repository of its source.
    #[serde(default)]
    pub(super) source: Option<String>,
    /// The tag of the release there.
    #[serde(default)]
    pub(super) tag: Option<String>,
}

/// The answer to *where is the package for this platform*.
#[derive(Deserialize)]
pub(super) struct Download {
    #[serde(default)]
    pub(super) protocols: Option<Vec<String>>,
    #[serde(default)]
    pub(super) os: String,
    #[serde(default)]
    pub(super) arch: String,
    #[serde(default)]
    pub(super) filename: String,
    #[serde(default, rename = "download_url")]
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) shasums_url: Option<String>,
    #[serde(default)]
    pub(super) shasums_signature_url: Option<String>,
    #[serde(default)]
    pub(super) shasum: String,
    #[serde(default)]
    signing_keys: Option<SigningKeys>,
    #[serde(default)]
    packages: Option<BTreeMap<String, Item>>,
}

#[derive(Deserialize, Default)]
struct SigningKeys {
    #[serde(default)]
    gpg_public_keys: Option<Vec<Key>>,
}

#[derive(Deserialize)]
struct Key {
    #[serde(default)]
    ascii_armor: String,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    hashes: Option<Vec<String>>,
    #[serde(default, rename = "package_size")]
    size: i64,
}

impl Download {
    /// The armored keys in listed order.
    pub(super) fn keys(&self) -> Vec<String> {
        let keys = self.signing_keys.as_ref().and_then(|keys| keys.gpg_public_keys.as_ref());
        keys.into_iter().flatten().map(|key| key.ascii_armor.clone()).collect()
    }

    /// What the registry reports about the packages of all platforms; empty where it reports nothing.
    pub(super) fn reported(&self) -> Result<BTreeMap<Platform, Reported>, WireError> {
        let mut reported = BTreeMap::new();
        for (key, item) in self.packages.iter().flatten() {
            let platform: Platform = key.parse().map_err(|_| WireError::PackagePlatform(key.clone()))?;
            let mut hashes = Vec::new();
            for text in item.hashes.iter().flatten() {
                let hash: PackageHash = text.parse().map_err(|_| WireError::PackageHash(text.clone()))?;
                if hash.scheme() != HashScheme::Other {
                    hashes.push(hash);
                }
            }
            reported.insert(platform, Reported { hashes, size: item.size });
        }
        Ok(reported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_sorted_and_what_follows_is_ignored() {
        let body =
            br#"{"versions":[{"version":"1.10"},{"version":"1.9.0","platforms":[{"os":"linux","arch":"arm"}]}]} junk"#;
        let offers = read::<Versions>(body).unwrap().offers().unwrap();
        let texts: Vec<String> = offers.iter().map(|offer| offer.version.to_string()).collect();
        assert_eq!(texts, ["1.9.0", "1.10.0"]);
        assert_eq!(offers[0].platforms, ["linux_arm".parse().unwrap()]);
    }

    #[test]
    fn one_invalid_version_spoils_the_answer() {
        let body = br#"{"versions":[{"version":"1.0.0"},{"version":"v1.1.0"}]}"#;
        let error = read::<Versions>(body).unwrap().offers().unwrap_err();
        assert!(matches!(error, WireError::Version { text, .. } if text == "v1.1.0"));
    }

    #[test]
    fn packages_need_platforms_and_schemes() {
        let reported = |text: &str| read::<Download>(text.as_bytes()).unwrap().reported();
        assert!(reported(r#"{"packages":{"linux":{}}}"#).is_err());
        assert!(reported(r#"{"packages":{"linux_arm":{"hashes":["x"]}}}"#).is_err());
        let good = reported(r#"{"packages":{"linux_arm":{"hashes":["h1:x","h9:y"],"package_size":3}}}"#).unwrap();
        assert_eq!(good.values().next().unwrap().hashes.len(), 1);
    }
}
