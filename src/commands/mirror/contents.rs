//! Reads a mirror from disk, and checks it without regard to lock files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::disk::cache::{Cache, Locked, ReleasePackage, ReleaseRecord};
use crate::disk::mirror::FilesystemMirror;
use crate::disk::mirror_contents::{ListedArchive, ReleaseContents, releases};
use crate::disk::mirror_writer::{copy_names, directory_in};
use crate::disk::package as packages;
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::hash::Sha256Digest;
use crate::hash::archive::Threads;
use crate::hash::sums::Sums;
use crate::parallel;
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::query::answer::PackageFacts;
use crate::release::{ReleaseKey, reported};
use crate::trust::openpgp;
use crate::version::Version;

pub(super) struct Contents {
    base: PathBuf,
    pub(super) releases: BTreeMap<ReleaseKey, ReleaseContents>,
    /// The hashes of each package, or why it cannot be hashed.
    pub(super) packages: BTreeMap<PackageKey, Result<PackageFacts, String>>,
}

impl Contents {
    pub(super) fn read(base: &Path) -> Result<Self, Error> {
        let mut found = BTreeMap::new();
        let mirror = FilesystemMirror::open(base)?;
        for (addr, _) in mirror.directories()? {
            let directory = directory_in(base, &addr);
            if directory.is_dir() {
                let releases = releases(&mirror, &addr, &directory)?;
                found.extend(releases.into_iter().map(|(version, release)| ((addr.clone(), version), release)));
            }
        }
        let archives: Vec<(PackageKey, &PathBuf)> = found.iter().flat_map(archives).collect();
        let hashes = parallel::each(archives.len(), parallel::cores(), |at| {
            let hashes = packages::hash_archive(archives[at].1, Threads::One);
            hashes.map(|hashes| PackageFacts::computed(&hashes, String::new())).map_err(|problem| problem.to_string())
        });
        let packages = archives.into_iter().map(|(key, _)| key).zip(hashes).collect();
        Ok(Self { base: base.to_owned(), releases: found, packages })
    }

    /// Records the signed documents and computed hashes in the cache, as a run with a registry would.
    pub(super) fn remember(&self, memory: &Cache) {
        for facts in self.packages.values().flatten() {
            let (Some(zh), Some(h1), Some(size)) = (facts.zh, &facts.h1, facts.size) else { continue };
            memory.record_computed(zh, h1, size);
        }
        for ((address, version), release) in &self.releases {
            let Some(sums) = &release.sums else { continue };
            let archives = Sums::decode(sums);
            let packages = archives.archives(address.type_name(), version).map(|(platform, zh)| ReleasePackage {
                file_name: reported::conventional_name(address, version, &platform),
                platform,
                zh,
                h1: None,
            });
            let keys: Vec<&str> = release.keys.iter().map(String::as_str).collect();
            memory.put_release(ReleaseRecord {
                address: address.clone(),
                version: version.clone(),
                sums: memory.put_document(sums),
                signature: release.signature.as_ref().map(|signature| memory.put_document(signature)),
                keys: Some(memory.put_keys(&keys)),
                packages: packages.collect(),
                locked: Locked::Never,
                disputed: false,
                download_host: None,
            });
        }
    }

    /// The problems of the mirror itself.
    pub(super) fn problems(&self, now: SystemTime) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (key, release) in &self.releases {
            let about = |platform: Option<&Platform>, finding: Finding| Problem {
                release: key.clone(),
                platform: platform.cloned(),
                finding,
            };
            for platform in release.archives.keys() {
                let package = PackageKey::of(key, platform);
                if let Some(Err(problem)) = self.packages.get(&package) {
                    let file = reported::conventional_name(&key.0, &key.1, platform);
                    let finding = self.found(Rule::MirrorAltered, problem.clone(), &key.0, &file);
                    problems.push(about(Some(platform), finding));
                }
            }
            problems.extend(self.of_documents(key, release).map(|finding| about(None, finding)));
            for (platform, listed) in release.listed.iter().flatten() {
                let finding = self.against_document(&PackageKey::of(key, platform), listed);
                problems.extend(finding.map(|finding| about(Some(platform), finding)));
            }
            let sums = release.sums.as_deref().map(Sums::decode).unwrap_or_default();
            for (platform, zh) in sums.archives(key.0.type_name(), &key.1) {
                let finding = self.against_sums(&PackageKey::of(key, &platform), zh);
                problems.extend(finding.map(|finding| about(Some(&platform), finding)));
            }
            problems.extend(self.of_signature(key, release, now).map(|finding| about(None, finding)));
        }
        problems
    }

    /// The findings where a document is missing, or where an unpacked package hides what the documents name.
    fn of_documents(&self, (addr, version): &ReleaseKey, release: &ReleaseContents) -> impl Iterator<Item = Finding> {
        let missing = (release.indexed && release.listed.is_none()).then(|| {
            let message = format!("the index names {addr} {version}, but there is no document of that version");
            let finding = self.found(Rule::MirrorIncomplete, message, addr, "index.json");
            if release.archives.is_empty() {
                // `tflock mirror` does not write an index entry for a version without documents and packages.
                finding.remedied_by(&format!("Remove {version} from index.json: nothing else of it is there."))
            } else {
                finding
            }
        });
        let is_ours = release.indexed || release.listed.is_some() || release.sums.is_some();
        let unpacked = release.unpacked.iter().filter(move |_| is_ours).map(move |(platform, path)| {
            let message = format!(
                "an unpacked package of {addr} {version} for {platform} is in the mirror; the tools prefer it to the packed one, and only the packed one can be checked against the signed checksums"
            );
            let finding = Finding::new(Rule::MirrorAltered, message).about(addr).in_file(path);
            finding.remedied_by("Find out who put it there; then remove the directory.")
        });
        missing.into_iter().chain(unpacked)
    }

    fn found(&self, rule: Rule, message: String, addr: &ProviderAddr, file: &str) -> Finding {
        Finding::new(rule, message).about(addr).in_file(directory_in(&self.base, addr).join(file))
    }

    /// The finding for a package that differs from the document of its version.
    fn against_document(&self, key: &PackageKey, listed: &ListedArchive) -> Option<Finding> {
        let PackageKey { address, version, platform } = key;
        let file = listed.url.strip_prefix("./").unwrap_or(&listed.url);
        if !is_plain_name(file) {
            let message =
                format!("{version}.json leads to {:?} for {platform}, and not to a file next to it", listed.url);
            return Some(self.found(Rule::MirrorAltered, message, address, &format!("{version}.json")));
        }
        let Some(facts) = self.packages.get(key) else {
            let message = format!("the package of {key} is not there");
            return Some(self.found(Rule::MirrorIncomplete, message, address, &listed.url));
        };
        let facts = facts.as_ref().ok()?;
        let own = reported::conventional_name(address, version, platform);
        if listed.hashes.is_empty() && file != own {
            let message = format!(
                "{version}.json leads to {} for {platform}, without hashes, where the package of {address} {version} is in {own}",
                listed.url,
            );
            return Some(self.found(Rule::MirrorAltered, message, address, &format!("{version}.json")));
        }
        let wrong = listed.hashes.iter().find(|hash| !facts.hashes().any(|own| own == **hash))?;
        let (zh, h1) = (facts.zh_hash()?, facts.h1.as_ref()?);
        let message =
            format!("the package of {key} has the checksums {zh} and {h1}, where {version}.json gives {wrong}");
        Some(self.found(Rule::MirrorAltered, message, address, &own))
    }

    /// The finding where a package is not the one that the copied checksums name.
    fn against_sums(&self, key: &PackageKey, zh: Sha256Digest) -> Option<Finding> {
        let own = self.packages.get(key)?.as_ref().ok()?.zh.filter(|own| *own != zh)?;
        let message =
            format!("the package of {key} has the checksum zh:{own}, where SHA256SUMS next to it has zh:{zh}");
        let file = reported::conventional_name(&key.address, &key.version, &key.platform);
        Some(self.found(Rule::MirrorAltered, message, &key.address, &file))
    }

    /// The finding where the copied checksums, signature and keys do not match.
    fn of_signature(
        &self,
        (addr, version): &ReleaseKey,
        release: &ReleaseContents,
        now: SystemTime,
    ) -> Option<Finding> {
        let message = unsigned(addr, version, release, now)?;
        let [sums, ..] = copy_names(addr, version);
        Some(self.found(Rule::MirrorAltered, message, addr, &sums))
    }
}

/// Something that is wrong in a mirror.
pub(super) struct Problem {
    pub(super) release: ReleaseKey,
    /// The platform of the package that it is about.
    pub(super) platform: Option<Platform>,
    pub(super) finding: Finding,
}

fn archives<'a>(
    (key, release): (&'a ReleaseKey, &'a ReleaseContents),
) -> impl Iterator<Item = (PackageKey, &'a PathBuf)> {
    release.archives.iter().map(move |(platform, path)| (PackageKey::of(key, platform), path))
}

/// True if a URL is only a file name: no host, no path, no characters that need decoding.
fn is_plain_name(url: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+~".contains(&byte);
    !url.is_empty() && !url.starts_with('.') && url.bytes().all(is_plain)
}

/// The problem of the signature over the copied checksums, if the registry listed keys.
fn unsigned(addr: &ProviderAddr, version: &Version, release: &ReleaseContents, now: SystemTime) -> Option<String> {
    let (sums, signature) = (release.sums.as_ref()?, release.signature.as_deref().unwrap_or_default());
    let keys: Vec<&str> = release.keys.iter().map(String::as_str).collect();
    let problem = openpgp::verify(sums, signature, &keys, now).err().filter(|_| !keys.is_empty())?;
    Some(format!("the signature of SHA256SUMS does not verify for {addr} {version}: {problem}"))
}
