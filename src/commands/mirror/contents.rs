//! Reads a mirror from disk, and checks without requests whether it is complete, unchanged, and has the packages that lock
//! files require.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{MirrorArgs, MirroredRoot, PackageNeed, judged, mirrored, records};
use crate::addr::ProviderAddr;
use crate::commands::verify::{GateRoot, GateRoots, RunLimits, recalled};
use crate::disk::cache::{Cache, CacheOptions, LockedBy, ReleasePackage, ReleaseRecord};
use crate::disk::mirror::FilesystemMirror;
use crate::disk::mirror_writer::{ListedArchive, ReleaseContents, copy_names, directory_in, releases};
use crate::disk::package as packages;
use crate::disk::root_files::DirectoryLock;
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::hash::Sums;
use crate::hash::archive::Threads;
use crate::hash::{PackageHash, Sha256Digest};
use crate::outcome::{Fate, MirroredPackage, RootOutcome};
use crate::parallel;
use crate::path::shown;
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::query::engine::unrecorded;
use crate::query::question::{PackageFacts, Refusal};
use crate::release::{Release, ReleaseKey, Releases, hashes};
use crate::settings::{Settings, SourceChoice};
use crate::step::{Hole, Step};
use crate::trust::openpgp;
use crate::verify::Completion;
use crate::version::Version;

pub(super) struct MirrorFiles {
    base: PathBuf,
    pub(super) releases: BTreeMap<ReleaseKey, ReleaseContents>,
    /// The hashes of each package, or why it cannot be hashed.
    pub(super) packages: BTreeMap<PackageKey, Result<PackageFacts, String>>,
}

impl MirrorFiles {
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
            let (Some(zh), Some(h1), Some(size)) = (facts.zh, &facts.h1, facts.size) else {
                continue;
            };
            memory.record_computed(zh, h1, size);
        }
        for ((address, version), release) in &self.releases {
            let Some(sums) = &release.sums else { continue };
            let archives = Sums::decode(sums);
            let packages = archives.archives(address.type_name(), version).map(|(platform, zh)| ReleasePackage {
                file_name: hashes::conventional_name(address, version, &platform),
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
                locked: LockedBy::Never,
                disputed: false,
                download_host: None,
            });
        }
    }

    /// The problems of the mirror itself.
    pub(super) fn problems(&self, now: SystemTime) -> Vec<MirrorProblem> {
        let mut problems = Vec::new();
        for (key, release) in &self.releases {
            let about = |platform: Option<&Platform>, finding: Finding| MirrorProblem {
                release: key.clone(),
                platform: platform.cloned(),
                finding: finding.of_version(&key.1),
            };
            for platform in release.archives.keys() {
                let package = PackageKey::of(key, platform);
                if let Some(Err(problem)) = self.packages.get(&package) {
                    let file = hashes::conventional_name(&key.0, &key.1, platform);
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
                finding.remedied_by(format!("Remove {version} from index.json: nothing else of it is there."))
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
            let message = format!("the package of {key} is missing");
            return Some(self.found(Rule::MirrorIncomplete, message, address, &listed.url));
        };
        let facts = facts.as_ref().ok()?;
        let own = hashes::conventional_name(address, version, platform);
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
        let file = hashes::conventional_name(&key.address, &key.version, &key.platform);
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
pub(super) struct MirrorProblem {
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

/// The signed documents in the mirror replace the registry's answers, as the cache does for `verify --offline`.
pub(super) fn check_mirror(
    args: &MirrorArgs,
    roots: &GateRoots,
    now: SystemTime,
) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
    FilesystemMirror::open(&args.directory)?;
    let _lock = DirectoryLock::acquire_shared(&args.directory)?;
    let contents = MirrorFiles::read(&args.directory)?;
    let memory = Cache::open(CacheOptions { disabled: true, ..CacheOptions::default() });
    contents.remember(&memory);
    let known = recalled(roots, &memory);
    let mut limits = RunLimits::default();
    let (judged, mut notes) = judged(args, roots, &known, &memory, &mut limits);
    notes.extend(limits.notes());
    let locked: Vec<BTreeSet<ReleaseKey>> =
        judged.iter().map(|judged| judged.as_ref().map(locked).unwrap_or_default()).collect();
    let settings: Vec<Option<&Settings>> =
        judged.iter().map(|judged| Some(&judged.as_ref().ok()?.root.settings().settings)).collect();
    let wanted: BTreeSet<PackageKey> =
        judged.iter().flatten().flat_map(|judged| &judged.wanted).map(|(key, _)| key.clone()).collect();
    let checking = Checking { contents: &contents, known: &known };
    let checked = judged.into_iter().map(|judged| match judged {
        Ok(judged) => judged.finish(args, |root, key, need| checking.package(root, key, need)),
        Err(outcome) => *outcome,
    });
    let mut checked: Vec<RootOutcome> = checked.collect();
    let mut platforms: BTreeSet<Platform> = args.platforms.iter().cloned().collect();
    for MirrorProblem { release, platform, finding } in contents.problems(now) {
        // Without the option only the wanted packages are copied.
        platforms.extend(platform.filter(|platform| !wanted.contains(&PackageKey::of(&release, platform))));
        let mut users = checked.iter_mut().zip(&locked).filter(|(_, locked)| locked.contains(&release)).peekable();
        if users.peek().is_some() {
            users.for_each(|(outcome, _)| outcome.findings.push(finding.clone()));
        } else if let Some(first) = checked.first_mut() {
            first.findings.push(of_no_root(finding, &release));
        }
    }
    let words = words(args, &platforms);
    for (outcome, settings) in checked.iter_mut().zip(settings) {
        let found = std::mem::take(&mut outcome.findings).into_iter();
        outcome.findings = found.map(|finding| completed(finding, settings, now, &words)).collect();
    }
    Ok((checked, notes))
}

/// A finding about the mirror, complete, with the words of the command that copies again; another one as it is.
fn completed(finding: Finding, settings: Option<&Settings>, now: SystemTime, words: &[String]) -> Finding {
    if !matches!(finding.rule, Rule::MirrorAltered | Rule::MirrorIncomplete) {
        return finding;
    }
    let finding = if finding.remedy.is_none() {
        let remedy = Step::from(finding.rule.help()).filled_by(Hole::Directory, words);
        finding.remedied_by(remedy)
    } else {
        finding
    };
    let Some(settings) = settings else { return finding };
    let version = finding.version.as_deref().cloned();
    Completion::checking(settings, now).complete(finding, version.as_ref())
}

fn locked(judged: &MirroredRoot<'_>) -> BTreeSet<ReleaseKey> {
    judged.root.lock().iter().map(|(address, entry)| (address.clone(), entry.version.clone())).collect()
}

/// What follows `tflock mirror` to copy again what this run checked.
fn words(args: &MirrorArgs, platforms: &BTreeSet<Platform>) -> Vec<String> {
    let recursive = args.recursive.then(|| "-r".to_owned());
    let mut words: Vec<String> = recursive.into_iter().chain([shown(&args.directory)]).collect();
    words.extend(platforms.iter().flat_map(|platform| ["--platform".to_owned(), platform.to_string()]));
    words.extend(args.packages.option());
    words
}

/// A problem of a release that earlier runs copied for other lock files.
fn of_no_root(finding: Finding, (address, version): &ReleaseKey) -> Finding {
    if finding.remedy.is_some() {
        return finding;
    }
    let remedy = format!(
        "Find out who changed it; then restore it from a copy, or remove all files of that version: no lock file of this run \
         records {address} {version}."
    );
    finding.remedied_by(remedy)
}

struct Checking<'a> {
    contents: &'a MirrorFiles,
    known: &'a Releases,
}

impl Checking<'_> {
    /// The locked release of a package, by the signed documents in the mirror.
    fn release(&self, key: &PackageKey) -> Option<&Release> {
        let known = self.known.get(&key.release())?;
        known.release().map(AsRef::as_ref)
    }

    /// Checks that a package is there and belongs in the mirror, and that clients find it over the network.
    fn package(&self, root: &GateRoot, key: &PackageKey, need: PackageNeed) -> Vec<Result<MirroredPackage, Refusal>> {
        let facts = match self.contents.packages.get(key) {
            Some(Ok(facts)) => facts,
            None if self.is_missed(key, need) => {
                return vec![Err(lacks(key, "the mirror has no package of"))];
            }
            // An unreadable package is reported once, for the whole mirror.
            None | Some(Err(_)) => return Vec::new(),
        };
        let mut answers = Vec::new();
        let contents = self.contents.releases.get(&key.release());
        let listed = contents.and_then(|contents| contents.listed.as_ref().filter(|_| contents.indexed));
        if !listed.is_some_and(|listed| listed.contains_key(&key.platform)) {
            answers.push(Err(lacks(key, "index.json and the document of the version do not name the package of")));
        }
        // A mirror as the source may have had no signed documents to copy.
        let is_signed = root.settings().source().choice == SourceChoice::Origin;
        if is_signed && contents.is_none_or(|contents| contents.sums.is_none()) {
            answers.push(Err(lacks(key, "there is no SHA256SUMS next to the package of")));
        }
        let zh = facts.zh_hash();
        let owns = |release: &Release| zh.as_ref().is_some_and(|zh| release.owns(zh));
        answers.push(if records(root, key, facts) {
            Ok(mirrored(key, facts, Fate::Present))
        } else if self.release(key).is_some_and(owns) {
            Err(unrecorded(key).into())
        } else {
            let zh = zh.as_ref().map(PackageHash::as_str).unwrap_or_default();
            let message = format!(
                "the package of {key} in the mirror has the checksum {zh}, which neither the lock file nor a signed list next to \
                 it has",
            );
            Err(Finding::new(Rule::MirrorAltered, message).about(&key.address).of_version(&key.version).into())
        });
        answers
    }

    /// True if a missing package is required.
    fn is_missed(&self, key: &PackageKey, need: PackageNeed) -> bool {
        match need {
            PackageNeed::Named => true,
            PackageNeed::Optional => false,
            PackageNeed::Likely => {
                self.release(key).is_none_or(|release| release.platforms().any(|platform| *platform == key.platform))
            }
        }
    }
}

fn lacks(key: &PackageKey, what: &str) -> Refusal {
    Finding::new(Rule::MirrorIncomplete, format!("{what} {key}")).about(&key.address).of_version(&key.version).into()
}
