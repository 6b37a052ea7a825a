//! One release of a provider, and the documents a registry serves about it. Flaws are applied here.

use serde_json::{Value, json};

use super::super::keys::{self, Day, Form, Key};
use super::super::packages::{Package, PackageName, Shape, sha256};

/// What is wrong with the contents of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// The `shasum` of download documents fits nothing; SHA256SUMS is right.
    WrongShasum,
    /// The digests in SHA256SUMS fit nothing; `shasum` is right.
    WrongSums,
    /// SHA256SUMS marks its names as binary, with a star.
    StarredSums,
    /// SHA256SUMS has no line for this platform.
    ShortSums(&'static str),
    /// The archives served are sound, but not those of the checksums.
    TamperedZip,
    /// The archives are text, which the checksums cover.
    NotAZip,
    /// The signature is ASCII armored.
    ArmoredSignature,
    /// The signature is the signer's, but over another document.
    StaleSignature,
    /// The first key block listed is none.
    UnreadableKey,
    /// There is no signature document.
    MissingSignature,
    /// Download documents name this platform, whichever was requested.
    WrongTarget(&'static str),
    /// This platform is listed, but has no download document.
    MissingPlatform(&'static str),
    /// `packages` gives `h1:` hashes that fit nothing.
    PackagesWrongH1,
    /// `packages` gives `zh:` hashes that fit nothing.
    PackagesWrongZh,
    /// `packages` gives sizes that are one too large.
    PackagesWrongSize,
    /// `packages` gives another `zh:` for this platform.
    PackagesWrongOf(&'static str),
    /// `packages` leaves out this platform.
    PackagesOmit(&'static str),
}

/// A release as the builder describes it.
#[derive(Debug, Clone)]
pub struct Release {
    /// `namespace/type`.
    pub provider: String,
    pub version: String,
    pub platforms: Vec<String>,
    pub signer: Key,
    /// The keys that download documents list; the signer if none were named.
    pub listed: Option<Vec<Key>>,
    pub signed_on: Day,
    pub protocols: Vec<String>,
    /// The name of archives, with `{type}`, `{version}` and `{platform}` to be filled in.
    pub naming: String,
    pub shapes: Vec<Shape>,
    pub flaws: Vec<Flaw>,
    /// The `packages` of `OpenTofu` are served.
    pub packages: bool,
    /// Further lines of SHA256SUMS.
    pub more_sums: Vec<String>,
    /// Counts publications, from 1.
    pub edition: u32,
    /// Platforms whose packages were published once more.
    pub again: Vec<String>,
}

impl Release {
    /// A sound release, signed by [`keys::GOOD`].
    pub fn new(provider: &str, version: &str, platforms: &[&str]) -> Self {
        Self {
            provider: provider.to_owned(),
            version: version.to_owned(),
            platforms: platforms.iter().map(ToString::to_string).collect(),
            signer: keys::GOOD,
            listed: None,
            signed_on: keys::SIGNED_AT,
            protocols: vec!["5.0".to_owned()],
            naming: "terraform-provider-{type}_{version}_{platform}.zip".to_owned(),
            shapes: Vec::new(),
            flaws: Vec::new(),
            packages: false,
            more_sums: Vec::new(),
            edition: 1,
            again: Vec::new(),
        }
    }

    fn kind(&self) -> &str {
        self.provider.split_once('/').expect("namespace/type").1
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaws.contains(&flaw)
    }

    /// The honest package of a platform.
    pub fn package(&self, platform: &str) -> Package {
        let edition = self.edition + u32::from(self.again.iter().any(|again| again == platform));
        let name = PackageName { kind: self.kind(), version: &self.version, platform, edition };
        let mut package = Package::make(name, &self.shapes);
        if self.has(Flaw::NotAZip) {
            package.zip = format!("{} {} for {platform} is no archive.\n", self.kind(), self.version).into_bytes();
            package.sha256 = sha256(&package.zip);
        }
        package
    }

    /// The archive as served.
    pub fn served_zip(&self, platform: &str) -> Vec<u8> {
        if self.has(Flaw::TamperedZip) {
            let name =
                PackageName { kind: self.kind(), version: &self.version, platform, edition: self.edition + 1000 };
            return Package::make(name, &self.shapes).zip;
        }
        self.package(platform).zip
    }

    pub fn zip_name(&self, platform: &str) -> String {
        let name = self.naming.replace("{type}", self.kind()).replace("{version}", &self.version);
        name.replace("{platform}", platform)
    }

    pub fn sums_name(&self) -> String {
        format!("terraform-provider-{}_{}_SHA256SUMS", self.kind(), self.version)
    }

    /// SHA256SUMS: a line for each platform, then the further lines.
    pub fn sums(&self) -> String {
        let wrong = self.has(Flaw::WrongSums);
        let mark = if self.has(Flaw::StarredSums) { "*" } else { " " };
        let listed = self.platforms.iter().filter(|platform| {
            !self.flaws.iter().any(|flaw| matches!(flaw, Flaw::ShortSums(short) if short == platform))
        });
        let lines = listed.map(|platform| {
            let digest = if wrong { sha256(platform.as_bytes()) } else { self.package(platform).sha256 };
            format!("{digest} {mark}{}\n", self.zip_name(platform))
        });
        lines.chain(self.more_sums.iter().map(|line| format!("{line}\n"))).collect()
    }

    /// The signature document, if there is one.
    pub fn signature(&self) -> Option<Vec<u8>> {
        let form = if self.has(Flaw::ArmoredSignature) { Form::Armored } else { Form::Binary };
        let document = if self.has(Flaw::StaleSignature) { "an older document\n".to_owned() } else { self.sums() };
        (!self.has(Flaw::MissingSignature)).then(|| self.signer.sign(document.as_bytes(), self.signed_on, form))
    }

    /// What the list of versions says.
    pub fn offer(&self) -> Value {
        let platforms: Vec<Value> = self.platforms.iter().map(|platform| target(platform)).collect();
        json!({ "version": self.version, "protocols": self.protocols, "platforms": platforms })
    }

    /// The download document of a platform, if there is one. `files` is the address of the folder of this release.
    pub fn download(&self, platform: &str, files: &str) -> Option<Value> {
        let missing = |flaw: &Flaw| matches!(flaw, Flaw::MissingPlatform(name) if *name == platform);
        if !self.platforms.iter().any(|name| name == platform) || self.flaws.iter().any(missing) {
            return None;
        }
        let wrong_target = self.flaws.iter().find_map(|flaw| match flaw {
            Flaw::WrongTarget(name) => Some(*name),
            _ => None,
        });
        let mut document = target(wrong_target.unwrap_or(platform));
        let sums = format!("{files}/{}", self.sums_name());
        let wrong_shasum = self.has(Flaw::WrongShasum).then(|| sha256(b"nothing"));
        document["protocols"] = json!(self.protocols);
        document["filename"] = json!(self.zip_name(platform));
        document["download_url"] = json!(format!("{files}/{}", self.zip_name(platform)));
        document["shasums_signature_url"] = json!(format!("{sums}.sig"));
        document["shasums_url"] = json!(sums);
        document["shasum"] = json!(wrong_shasum.unwrap_or_else(|| self.package(platform).sha256));
        document["signing_keys"] = json!({ "gpg_public_keys": self.keys() });
        if self.packages {
            document["packages"] = self.packages_of_all();
        }
        Some(document)
    }

    fn keys(&self) -> Vec<Value> {
        let listed = self.listed.clone().unwrap_or_else(|| vec![self.signer]);
        let keys = listed
            .into_iter()
            .map(|key| json!({ "key_id": key.id(), "ascii_armor": key.armored(), "source": "fixture" }));
        let unreadable = self.has(Flaw::UnreadableKey).then(|| json!({ "key_id": "0", "ascii_armor": "no key" }));
        unreadable.into_iter().chain(keys).collect()
    }

    fn packages_of_all(&self) -> Value {
        let mut packages = serde_json::Map::new();
        for platform in &self.platforms {
            if self.flaws.iter().any(|flaw| matches!(flaw, Flaw::PackagesOmit(omitted) if omitted == platform)) {
                continue;
            }
            let honest = self.package(platform);
            let stranger = Package::make(
                PackageName { kind: "stranger", version: &self.version, platform, edition: self.edition },
                &[],
            );
            let h1 = if self.has(Flaw::PackagesWrongH1) { stranger.h1.clone() } else { honest.h1.clone() };
            let is_wrong = |flaw: &Flaw| matches!(flaw, Flaw::PackagesWrongOf(wrong) if wrong == platform);
            let is_wrong = self.has(Flaw::PackagesWrongZh) || self.flaws.iter().any(is_wrong);
            let zh = if is_wrong { stranger.zh() } else { honest.zh() };
            let size = honest.zip.len() + usize::from(self.has(Flaw::PackagesWrongSize));
            packages.insert(platform.clone(), json!({ "hashes": [zh, h1], "package_size": size }));
        }
        Value::Object(packages)
    }
}

fn target(platform: &str) -> Value {
    let (os, arch) = platform.split_once('_').expect("os_arch");
    json!({ "os": os, "arch": arch })
}
