//! The shapes of a registry's answers, turned into our types at once.
//!
//! Source: `internal/getproviders/registry_client.go`, and opentofu's for `packages`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::dialect::Dialect;
use crate::hash::{HashScheme, PackageHash};
use crate::platform::Platform;
use crate::release::Offer;
use crate::release::hashes::Reported;
use crate::version::Version;

/// Why an answer cannot be used; one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("the answer is not the JSON document that the protocol requires: {0}")]
    Json(String),
    #[error("the server answered with a page in place of {0}")]
    Page(&'static str),
    #[error("the answer includes the invalid version string {text:?}: {reason}")]
    Version { text: String, reason: crate::version::VersionError },
    #[error("the answer does not have {0:?}")]
    Missing(&'static str),
    #[error("the answer has an invalid shasum {0:?}: expected 64 hexadecimal digits")]
    Shasum(String),
    /// A key of `packages` that is no platform.
    #[error("the answer includes the invalid package platform {0:?}")]
    PackagePlatform(String),
    #[error("the answer includes the invalid package hash {0:?}")]
    PackageHash(String),
    #[error("the response gives an archive only checksums of unknown formats")]
    UnknownSchemes,
    #[error("the response has the content type {0:?}, not application/json")]
    ContentType(String),
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

/// A JSON object as Go's `encoding/json` reads it into a struct: names of members in any case, the last of several
/// counts, `null` and what is not there leave the default, what is not known is passed over. Anything but an object is
/// refused; `serde`'s own derive takes an array for the members in their order.
macro_rules! object {
    ($(#[$doc:meta])* $visible:vis struct $name:ident { $($(#[$note:meta])* $of:vis $field:ident: $type:ty = $member:literal,)* }) => {
        $(#[$doc])*
        #[derive(Default)]
        $visible struct $name { $($(#[$note])* $of $field: $type,)* }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;
                impl<'de> Visitor<'de> for Members {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<$name, A::Error> {
                        let mut object = $name::default();
                        while let Some(member) = members.next_key::<String>()? {
                            match folded(&member).as_str() {
                                $($member => {
                                    if let Some(value) = members.next_value()? {
                                        object.$field = value;
                                    }
                                })*
                                _ => drop(members.next_value::<IgnoredAny>()?),
                            }
                        }
                        Ok(object)
                    }
                }
                deserializer.deserialize_map(Members)
            }
        }
    };
}

/// A name with its letters in lower case, those of other alphabets included that fold to one of ASCII.
///
/// Source: `foldName` of Go's `encoding/json`.
fn folded(name: &str) -> String {
    name.chars().map(|letter| if letter == 'ſ' { 's' } else { letter }).flat_map(char::to_lowercase).collect()
}

object! {
    /// The answer to *which versions are there*.
    pub(super) struct Versions {
        versions: Option<Vec<VersionItem>> = "versions",
        warnings: Vec<String> = "warnings",
    }
}

object! {
    struct VersionItem {
        version: String = "version",
        protocols: Vec<String> = "protocols",
        platforms: Vec<PlatformItem> = "platforms",
    }
}

object! {
    struct PlatformItem {
        os: String = "os",
        arch: String = "arch",
    }
}

object! {
    /// The answer of a network mirror to *which versions are there*.
    pub(super) struct MirrorIndex {
        pub(super) versions: Option<MemberNames> = "versions",
    }
}

/// The names of the members of an object.
pub(super) struct MemberNames(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for MemberNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = MemberNames;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<MemberNames, A::Error> {
                let mut names = MemberNames(Vec::new());
                while let Some((name, IgnoredAny)) = members.next_entry()? {
                    names.0.push(name);
                }
                Ok(names)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

object! {
    /// The answer of a network mirror to *what is in this release*.
    pub(super) struct MirrorVersion {
        pub(super) archives: Option<BTreeMap<String, MirrorArchive>> = "archives",
    }
}

object! {
    pub(super) struct MirrorArchive {
        pub(super) url: String = "url",
        pub(super) hashes: Vec<String> = "hashes",
    }
}

/// How much of what a registry warns of is shown: so many warnings, each with so many characters.
const MOST_WARNINGS: (usize, usize) = (8, 300);

impl Versions {
    /// What the registry warns of, each warning one line.
    pub(super) fn warnings(&self) -> Vec<String> {
        let (count, length) = MOST_WARNINGS;
        let lines = self.warnings.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let lines = lines.filter(|line| !line.is_empty()).take(count);
        lines.map(|line| line.chars().take(length).collect()).collect()
    }

    /// The versions, each once, ascending. Terraform passes over texts that are none, `OpenTofu` refuses the whole answer; one that
    /// has nothing else is no list of versions.
    ///
    /// Source: `internal/getproviders/registry_source.go` of Terraform 1.13 and later, and of `OpenTofu`.
    pub(super) fn offers(self, dialect: Dialect) -> Result<Vec<Offer>, WireError> {
        let (mut offers, mut refused) = (BTreeMap::new(), None);
        for item in self.versions.ok_or(WireError::Missing("versions"))? {
            let version: Version = match item.version.parse() {
                Ok(version) => version,
                Err(reason) => {
                    let error = WireError::Version { text: item.version, reason };
                    if dialect == Dialect::OpenTofu {
                        return Err(error);
                    }
                    refused.get_or_insert(error);
                    continue;
                }
            };
            let offer = Offer {
                version: version.clone(),
                protocols: item.protocols,
                platforms: item.platforms.iter().filter_map(|item| Platform::new(&item.os, &item.arch).ok()).collect(),
            };
            offers.insert(version, offer);
        }
        match refused.filter(|_| offers.is_empty()) {
            Some(error) => Err(error),
            None => Ok(offers.into_values().collect()),
        }
    }
}

object! {
    /// The answer to *what is this release*, which no protocol describes; Terraform's public registry gives it.
    pub(super) struct About {
        pub(super) source: String = "source",
        /// The tag of the release there.
        pub(super) tag: Option<String> = "tag",
    }
}

object! {
    /// The answer to *where is the package for this platform*.
    pub(super) struct Download {
        pub(super) protocols: Vec<String> = "protocols",
        pub(super) os: String = "os",
        pub(super) arch: String = "arch",
        pub(super) filename: String = "filename",
        pub(super) url: String = "download_url",
        pub(super) shasums_url: String = "shasums_url",
        pub(super) shasums_signature_url: String = "shasums_signature_url",
        pub(super) shasum: String = "shasum",
        signing_keys: SigningKeys = "signing_keys",
        packages: BTreeMap<String, Item> = "packages",
    }
}

object! {
    struct SigningKeys {
        gpg_public_keys: Vec<Key> = "gpg_public_keys",
    }
}

object! {
    struct Key {
        ascii_armor: String = "ascii_armor",
    }
}

object! {
    struct Item {
        hashes: Vec<String> = "hashes",
        size: i64 = "package_size",
    }
}

impl Download {
    pub(super) fn keys(&self) -> Vec<String> {
        self.signing_keys.gpg_public_keys.iter().map(|key| key.ascii_armor.clone()).collect()
    }

    /// What the registry reports about the packages of all platforms; empty where it reports nothing.
    pub(super) fn reported(&self) -> Result<BTreeMap<Platform, Reported>, WireError> {
        let mut reported = BTreeMap::new();
        for (key, item) in &self.packages {
            let platform: Platform = key.parse().map_err(|_| WireError::PackagePlatform(key.clone()))?;
            let mut hashes = Vec::new();
            for text in &item.hashes {
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
        let offers = read::<Versions>(body).unwrap().offers(Dialect::OpenTofu).unwrap();
        let texts: Vec<String> = offers.iter().map(|offer| offer.version.to_string()).collect();
        assert_eq!(texts, ["1.9.0", "1.10.0"]);
        assert_eq!(offers[0].platforms, ["linux_arm".parse().unwrap()]);
    }

    #[test]
    fn an_answer_that_lists_nothing_is_none() {
        let offers =
            |body: &str| read::<Versions>(body.as_bytes()).and_then(|versions| versions.offers(Dialect::Terraform));
        assert_eq!(offers(r#"{"versions":[]}"#), Ok(Vec::new()));
        for none in ["{}", r#"{"error":"rate limit exceeded"}"#, r#"{"versions":null}"#] {
            assert_eq!(offers(none), Err(WireError::Missing("versions")), "{none}");
        }
        for other in ["[]", "[[]]", "null", "\"\"", r#"{"versions":{}}"#, "<html>", ""] {
            assert!(matches!(offers(other), Err(WireError::Json(_))), "{other}");
        }
    }

    #[test]
    fn warnings_are_few_and_short_lines() {
        let warnings = |warnings: serde_json::Value| {
            let body = serde_json::json!({ "versions": [], "warnings": warnings }).to_string();
            read::<Versions>(body.as_bytes()).map(|read| read.warnings())
        };
        assert_eq!(warnings(serde_json::json!(["  moved\nto x", " "])), Ok(vec!["moved to x".to_owned()]));
        assert_eq!(warnings(serde_json::Value::Null), Ok(Vec::new()));
        let many = warnings(vec!["é".repeat(1000); 100].into()).unwrap();
        assert_eq!((many.len(), many[0].chars().count()), MOST_WARNINGS);
        assert!(matches!(warnings("moved".into()), Err(WireError::Json(_))));
    }

    #[test]
    fn members_are_found_in_any_case() {
        let body = r#"{"VERSIONS":[{"Version":"1.0.0","ProtocolS":null,"platformſ":[{"OS":"linux","Arch":"arm"}]}]}"#;
        let offers = read::<Versions>(body.as_bytes()).unwrap().offers(Dialect::OpenTofu).unwrap();
        assert_eq!(offers[0].platforms, ["linux_arm".parse().unwrap()]);
        // The keys of a map are data.
        let body = r#"{"Download_URL":"a","download_url":"b","packages":{"LINUX_arm":{"Hashes":["h1:x"]}}}"#;
        let download = read::<Download>(body.as_bytes()).unwrap();
        assert_eq!(download.url, "b");
        assert_eq!(download.packages.keys().collect::<Vec<_>>(), ["LINUX_arm"]);
    }

    #[test]
    fn one_invalid_version_invalidates_the_answer_for_tofu_alone() {
        let body = br#"{"versions":[{"version":"1.0.0"},{"version":"v1.1.0"}]}"#;
        let offers = |dialect| read::<Versions>(body).unwrap().offers(dialect);
        let error = offers(Dialect::OpenTofu).unwrap_err();
        assert!(matches!(error, WireError::Version { text, .. } if text == "v1.1.0"));
        assert_eq!(offers(Dialect::Terraform), Ok(vec![Offer::from(Version::new(1, 0, 0))]));
        let none = read::<Versions>(br#"{"versions":[{"version":"v1"},{}]}"#).unwrap().offers(Dialect::Terraform);
        assert!(matches!(none, Err(WireError::Version { text, .. }) if text == "v1"));
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
