//! The content of a mirror directory, file by file, as [`mirror_writer`](super::mirror_writer) lays it out.
//!
//! Packages are found here, not opened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files;
use super::mirror::{FilesystemMirror, LocalPackage};
use super::mirror_writer::{copy_names, members};
use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::hash::{HashScheme, PackageHash};
use crate::platform::Platform;
use crate::release::reported;
use crate::version::Version;

#[derive(Debug, Clone, Default)]
pub struct ReleaseContents {
    pub indexed: bool,
    /// What the document of the version says of each platform; `None` if it does not exist.
    pub listed: Option<BTreeMap<Platform, ListedArchive>>,
    pub archives: BTreeMap<Platform, PathBuf>,
    /// The unpacked packages, which the tools take before packed ones.
    pub unpacked: BTreeMap<Platform, PathBuf>,
    pub sums: Option<Vec<u8>>,
    pub signature: Option<Vec<u8>>,
    pub keys: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedArchive {
    /// Where it is: the name of a file next to the document, or any other URL.
    pub url: String,
    pub hashes: Vec<PackageHash>,
}

/// The releases that a mirror has anything of.
pub fn releases(
    mirror: &FilesystemMirror,
    addr: &ProviderAddr,
    directory: &Path,
) -> Result<BTreeMap<Version, ReleaseContents>, Error> {
    let mut releases: BTreeMap<Version, ReleaseContents> = BTreeMap::new();
    let packages = mirror.packages(addr)?;
    for (version, platform, package) in packages.iter() {
        let release = releases.entry(version.clone()).or_default();
        match package {
            LocalPackage::Packed(path) => {
                release.archives.insert(platform.clone(), path.clone());
            }
            LocalPackage::Unpacked(path) => {
                release.unpacked.insert(platform.clone(), path.clone());
                let packed = directory.join(reported::conventional_name(addr, version, platform));
                if packed.is_file() {
                    release.archives.insert(platform.clone(), packed);
                }
            }
        }
    }
    for name in members(&directory.join("index.json"), "versions")?.into_iter().flatten().map(|(name, _)| name) {
        // The tools pass over other names, too.
        if let Ok(version) = name.parse::<Version>() {
            releases.entry(version).or_default().indexed = true;
        }
    }
    for (version, release) in &mut releases {
        let of_version = members(&directory.join(format!("{version}.json")), "archives")?;
        release.listed = of_version.map(|archives| archives.iter().filter_map(listed).collect());
        let copies = copy_names(addr, version).map(|name| files::read(&directory.join(name)).ok().flatten());
        let keys;
        [release.sums, release.signature, keys] = copies;
        release.keys = keys.map(|text| armored_blocks(&String::from_utf8_lossy(&text))).unwrap_or_default();
    }
    Ok(releases)
}

fn listed((platform, value): (&String, &Value)) -> Option<(Platform, ListedArchive)> {
    let hashes = value.get("hashes").and_then(Value::as_array).into_iter().flatten();
    let hashes = hashes.filter_map(|hash| hash.as_str()?.parse::<PackageHash>().ok());
    let url = value.get("url").and_then(Value::as_str).unwrap_or_default().to_owned();
    let known = hashes.filter(|hash| hash.scheme() != HashScheme::Other);
    Some((platform.parse().ok()?, ListedArchive { url, hashes: known.collect() }))
}

pub fn armored_blocks(text: &str) -> Vec<String> {
    const BEGIN: &str = "-----BEGIN";
    let starts: Vec<usize> = text.match_indices(BEGIN).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| text[*start..end].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn copies_are_next_to_the_packages() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let names = copy_names(&addr, &Version::new(1, 4, 0));
        assert_eq!(names[0], "terraform-provider-widget_1.4.0_SHA256SUMS");
        assert!(names[1].ends_with("_SHA256SUMS.sig") && names[2].ends_with("_SHA256SUMS.asc"));
    }

    #[test]
    fn keys_follow_each_other() {
        let block =
            |name: &str| format!("-----BEGIN PGP PUBLIC KEY BLOCK-----\n{name}\n-----END PGP PUBLIC KEY BLOCK-----\n");
        let file = format!("a remark\n{}{}", block("a"), block("b"));
        assert_eq!(armored_blocks(&file), [block("a"), block("b")]);
        assert!(armored_blocks("").is_empty());
    }
}
