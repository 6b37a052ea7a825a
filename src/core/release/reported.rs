//! Unsigned reports of an origin about a package, checked against signed and known facts.
//!
//! Source: opentofu `internal/getproviders/package_authentication.go` compares the package that it installs; that all
//! platforms are checked against the signed checksums is our own rule, because all of them are recorded.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::version::Version;

/// What an origin reports about one package without signing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Hashes of known schemes.
    pub hashes: Vec<PackageHash>,
    /// The size of the archive in bytes, as served: may be nonsense.
    pub size: i64,
}

/// By platform.
pub type ReportedPackages = BTreeMap<Platform, Reported>;

/// What is known of the archive that a report is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownArchive {
    /// Its digest by the signed checksums; `None` if they name no archive for the platform.
    pub zh: Option<Sha256Digest>,
    /// Its `h1:` and its size in bytes, where both were computed here.
    pub computed: Option<(PackageHash, u64)>,
}

impl Reported {
    /// The `h1:` hashes.
    pub fn h1(&self) -> impl Iterator<Item = &PackageHash> {
        self.hashes.iter().filter(|hash| hash.scheme() == HashScheme::H1)
    }

    /// How the report contradicts signed or known facts; `None` if it does not.
    pub fn contradiction(&self, addr: &ProviderAddr, platform: &Platform, known: &KnownArchive) -> Option<Finding> {
        let why = self.why(platform, known)?;
        let message = format!("the registry's packages report about {addr} {why}");
        Some(Finding::new(Rule::PackagesDiffer, message).about(addr))
    }

    fn why(&self, platform: &Platform, known: &KnownArchive) -> Option<String> {
        let Some(zh) = known.zh.map(PackageHash::zh) else {
            return Some(format!("has an entry for {platform}, for which the checksums name no archive"));
        };
        if let Some(malformed) = self.hashes.iter().find(|hash| !hash.is_well_formed()) {
            return Some(format!("gives {malformed} for {platform}, which is not written as a hash of its scheme"));
        }
        if self.size <= 0 {
            return Some(format!("gives {} bytes as the size for {platform}", self.size));
        }
        let mut zhs = self.hashes.iter().filter(|hash| hash.scheme() == HashScheme::Zh).peekable();
        if zhs.peek().is_none() {
            return Some(format!("has no sha256sum in the package entry for {platform}"));
        }
        if let Some(other) = zhs.find(|hash| **hash != zh) {
            return Some(format!("gives {other} for {platform}, where the checksums give {zh}"));
        }
        let (h1, size) = known.computed.as_ref()?;
        if let Some(other) = self.h1().find(|hash| *hash != h1) {
            return Some(format!("gives {other} for {platform}, but the archive has {h1}"));
        }
        let is_size = u64::try_from(self.size).is_ok_and(|reported| reported == *size);
        (!is_size).then(|| format!("gives {} bytes as the size for {platform}, but the archive has {size}", self.size))
    }
}

/// The finding where a registry that reports about packages has no report about a wanted one.
pub fn unreported(addr: &ProviderAddr, platform: &Platform) -> Finding {
    let message = format!("the registry's packages report about {addr} has no package entry for {platform}");
    Finding::new(Rule::PackagesDiffer, message).about(addr)
}

/// The name that the archive of a package has by convention.
pub fn conventional_name(addr: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", addr.type_name())
}

/// What is wrong with the name of a package's line: another provider, version or platform, or no convention at all.
pub fn unusual_name(addr: &ProviderAddr, version: &Version, platform: &Platform, name: &str) -> Option<Finding> {
    if name == conventional_name(addr, version, platform) {
        return None;
    }
    let names_another = name.starts_with("terraform-provider-")
        && std::path::Path::new(name).extension().is_some_and(|extension| extension == "zip")
        && name.split('_').count() == 4;
    let (rule, message) = if names_another {
        let message = format!("the signed list names the package of {addr} {version} for {platform} {name:?}");
        (Rule::UnboundSignature, message)
    } else {
        let message = format!("the package of {addr} {version} for {platform} has the unusual name {name:?}");
        (Rule::UnusualPackageName, message)
    };
    Some(Finding::new(rule, message).about(addr))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    fn digest(byte: u8) -> Sha256Digest {
        Sha256Digest::from_bytes([byte; 32])
    }

    fn zh(byte: u8) -> PackageHash {
        PackageHash::zh(digest(byte))
    }

    fn h1(byte: u8) -> PackageHash {
        PackageHash::h1(digest(byte))
    }

    /// What is said against a report about an archive with digest 1, of 100 bytes with contents 11 where that is known.
    fn against(hashes: &[PackageHash], size: i64, computed: bool) -> Option<String> {
        let addr = ProviderAddr::parse("acme/widget", Dialect::OpenTofu).unwrap();
        let known = KnownArchive { zh: Some(digest(1)), computed: computed.then(|| (h1(11), 100)) };
        let reported = Reported { hashes: hashes.to_vec(), size };
        let finding = reported.contradiction(&addr, &"linux_amd64".parse().unwrap(), &known)?;
        assert_eq!(finding.rule, Rule::PackagesDiffer);
        Some(finding.message)
    }

    #[test]
    fn a_true_report_is_not_contradicted() {
        assert_eq!(against(&[zh(1), h1(11)], 100, true), None);
        assert_eq!(against(&[zh(1)], 100, true), None);
    }

    #[test]
    fn what_is_not_known_contradicts_nothing() {
        assert_eq!(against(&[zh(1), h1(12)], 99, false), None);
    }

    #[test]
    fn another_checksum() {
        assert!(against(&[zh(2)], 100, false).unwrap().contains("where the checksums give zh:0101"));
        assert!(against(&[zh(1), zh(2)], 100, false).unwrap().contains("gives zh:0202"));
    }

    #[test]
    fn no_checksum() {
        assert!(against(&[h1(11)], 100, false).unwrap().contains("no sha256sum"));
    }

    #[test]
    fn a_size_that_is_none() {
        assert!(against(&[zh(1)], 0, false).unwrap().contains("gives 0 bytes"));
    }

    #[test]
    fn another_size_than_the_archive_has() {
        assert!(against(&[zh(1)], 101, true).unwrap().contains("but the archive has 100"));
    }

    #[test]
    fn contents_that_the_index_refutes() {
        assert!(against(&[zh(1), h1(12)], 100, true).unwrap().contains("but the archive has h1:"));
    }

    #[test]
    fn a_malformed_hash() {
        for text in ["h1:zz", "zh:0A"] {
            let refusal = against(&[zh(1), text.parse().unwrap()], 100, false).unwrap();
            assert!(refusal.contains("not written as a hash"), "{refusal}");
        }
    }

    #[test]
    fn a_platform_that_the_checksums_do_not_name() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::OpenTofu).unwrap();
        let reported = Reported { hashes: vec![zh(1)], size: 100 };
        let finding = reported.contradiction(&addr, &"plan9_arm".parse().unwrap(), &KnownArchive::default()).unwrap();
        assert!(finding.message.ends_with("for plan9_arm, for which the checksums name no archive"));
    }
}

#[cfg(test)]
mod naming_tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn names_bind() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let platform = "linux_amd64".parse().unwrap();
        let rule =
            |name: &str| unusual_name(&addr, &Version::new(1, 0, 0), &platform, name).map(|finding| finding.rule);
        assert_eq!(rule("terraform-provider-widget_1.0.0_linux_amd64.zip"), None);
        assert_eq!(rule("terraform-provider-widget_0.9.0_linux_amd64.zip"), Some(Rule::UnboundSignature));
        assert_eq!(rule("terraform-provider-other_1.0.0_linux_amd64.zip"), Some(Rule::UnboundSignature));
        assert_eq!(rule("terraform-provider-widget_1.0.0_darwin_amd64.zip"), Some(Rule::UnboundSignature));
        assert_eq!(rule("widget-linux.zip"), Some(Rule::UnusualPackageName));
    }
}
