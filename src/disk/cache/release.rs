//! Release records: one file for each provider and version.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use super::folder::{CacheError, fan_out, files_in, replace};
use super::{Cache, LAYOUT};
use crate::addr::{AddrPattern, ProviderAddr};
use crate::config::is_stand_in;
use crate::dialect::Dialect;
use crate::disk::own::OwnFolder;
use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::version::Version;

pub(super) const FOLDER: &str = "releases";

const FIRST_LINE: &str = "tflock release 1";

/// In the place of checksums, where lock files were written by several.
const DIFFERENTLY: &str = "several";

/// Behind them, where the registry contradicted itself.
const DISPUTED: &str = "disputed";

/// Before the host of downloads.
const HOST: &str = "from=";

/// What a release was when it was last seen: hints for attribution, to be checked against the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseRecord {
    pub address: ProviderAddr,
    pub version: Version,
    pub sums: Sha256Digest,
    pub signature: Option<Sha256Digest>,
    /// The list of keys that the registry gave, by [`Cache::put_keys`].
    pub keys: Option<Sha256Digest>,
    pub packages: Vec<ReleasePackage>,
    /// What lock files were written by, under this version.
    pub locked: LockedBy,
    /// True if the registry's last answer about packages contradicted the checksums or the archives: then the registry must
    /// be queried again before the release counts as settled.
    pub disputed: bool,
    /// The host, with its port if it is not the usual one, from which the registry has packages downloaded.
    pub download_host: Option<String>,
}

/// The checksums by which runs wrote hashes of a release into lock files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LockedBy {
    /// None were written.
    #[default]
    Never,
    /// Always by this document.
    By(Sha256Digest),
    /// By this one and by another: the release was published again.
    Differently,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasePackage {
    pub platform: Platform,
    /// The name of the archive, as on its line in the sums.
    pub file_name: String,
    /// The digest of the archive.
    pub zh: Sha256Digest,
    /// The `h1:`, if a source attested it.
    pub h1: Option<PackageHash>,
}

impl Cache {
    /// Keeps what is known of a release, in place of what was known before. Of the same sums, packages and `h1:` that
    /// are known already stay known.
    pub fn put_release(&self, record: ReleaseRecord) {
        // The same address names another release where it means another host.
        if is_stand_in(record.address.host()) {
            return;
        }
        let record = match self.release(&record.address, &record.version) {
            Some(before) if before.sums == record.sums => merged(before, record),
            Some(before) => ReleaseRecord { locked: before.locked, ..record },
            None => record,
        };
        self.state().releases.insert(name(&record.address, &record.version), record);
    }

    pub fn release(&self, address: &ProviderAddr, version: &Version) -> Option<ReleaseRecord> {
        let kept = self.state().releases.get(&name(address, version)).cloned();
        kept.or_else(|| load(self.folder()?, address, version))
    }
}

impl Cache {
    /// Notes that hashes of a release were written into a lock file, by the checksums that were seen last.
    pub fn note_locked(&self, address: &ProviderAddr, version: &Version) {
        let Some(record) = self.release(address, version) else { return };
        let locked = match record.locked {
            LockedBy::Never => LockedBy::By(record.sums),
            LockedBy::By(sums) if sums == record.sums => return,
            LockedBy::By(_) | LockedBy::Differently => LockedBy::Differently,
        };
        self.state().releases.insert(name(address, version), ReleaseRecord { locked, ..record });
    }

    /// The checksums by which lock files recorded a release, if all of them did by the same.
    pub fn locked(&self, address: &ProviderAddr, version: &Version) -> Option<Sha256Digest> {
        match self.release(address, version)?.locked {
            LockedBy::By(sums) => Some(sums),
            LockedBy::Never | LockedBy::Differently => None,
        }
    }

    /// The versions of a provider that are known. Reads every release record: for what happens rarely.
    pub fn versions_of(&self, address: &ProviderAddr) -> BTreeSet<Version> {
        let of_provider = self.records().into_iter().filter(|record| record.address == *address);
        of_provider.map(|record| record.version).collect()
    }

    fn records(&self) -> Vec<ReleaseRecord> {
        let of_run: Vec<ReleaseRecord> = self.state().releases.values().cloned().collect();
        let stored = self.folder().map(stored).unwrap_or_default();
        of_run.into_iter().chain(stored).collect()
    }

    /// All key blocks that registries listed with releases of the providers of a pattern, as far as they are known. Reads
    /// every release record: for what happens rarely.
    pub fn keys_of(&self, providers: &AddrPattern) -> BTreeSet<String> {
        let records = self.records().into_iter().filter(|record| providers.matches(&record.address));
        records.filter_map(|record| self.keys(&record.keys?)).flatten().collect()
    }
}

fn stored(folder: &OwnFolder) -> Vec<ReleaseRecord> {
    let names = files_in(folder, Path::new(LAYOUT).join(FOLDER)).into_iter();
    let records = names.filter_map(|file| {
        let text = folder.read_text(&fan_out(FOLDER, file.file_name().to_str()?))?;
        let mut lines = text.lines().skip(1);
        let address = ProviderAddr::parse(lines.next()?, Dialect::Terraform).ok()?;
        let version = lines.next()?.parse().ok()?;
        decode(&text, &address, &version)
    });
    records.collect()
}

fn merged(before: ReleaseRecord, now: ReleaseRecord) -> ReleaseRecord {
    let mut packages: BTreeMap<Platform, ReleasePackage> =
        before.packages.into_iter().map(|package| (package.platform.clone(), package)).collect();
    for mut package in now.packages {
        let known = packages.get(&package.platform).filter(|known| known.zh == package.zh);
        package.h1 = package.h1.or_else(|| known.and_then(|known| known.h1.clone()));
        packages.insert(package.platform.clone(), package);
    }
    ReleaseRecord {
        signature: now.signature.or(before.signature),
        keys: now.keys.or(before.keys),
        packages: packages.into_values().collect(),
        locked: before.locked,
        download_host: now.download_host.or(before.download_host),
        ..now
    }
}

fn name(address: &ProviderAddr, version: &Version) -> String {
    Sha256Digest::of(format!("{address} {version}").as_bytes()).to_hex()
}

pub(super) fn load(folder: &OwnFolder, address: &ProviderAddr, version: &Version) -> Option<ReleaseRecord> {
    let text = folder.read_text(&fan_out(FOLDER, &name(address, version)))?;
    decode(&text, address, version)
}

pub(super) fn store(folder: &OwnFolder, record: &ReleaseRecord) -> Result<(), CacheError> {
    let way = fan_out(FOLDER, &name(&record.address, &record.version));
    let text = encode(record);
    match folder.read_text(&way) {
        Some(before) if before == text => Ok(()),
        _ => replace(folder, &way, text.as_bytes()),
    }
}

fn encode(record: &ReleaseRecord) -> String {
    let optional = |digest: Option<Sha256Digest>| digest.map_or_else(|| "-".to_owned(), Sha256Digest::to_hex);
    let locked = match record.locked {
        LockedBy::Never => String::new(),
        LockedBy::By(sums) => format!(" {}", sums.to_hex()),
        LockedBy::Differently => format!(" {DIFFERENTLY}"),
    };
    let mut text = format!(
        "{FIRST_LINE}\n{}\n{}\n{} {} {}{locked}{}{}\n",
        record.address,
        record.version,
        record.sums,
        optional(record.signature),
        optional(record.keys),
        if record.disputed { format!(" {DISPUTED}") } else { String::new() },
        record.download_host.as_ref().map(|host| format!(" {HOST}{host}")).unwrap_or_default(),
    );
    for package in record.packages.iter().filter(|package| !package.file_name.contains(char::is_control)) {
        let h1 = package.h1.as_ref().map_or("-", PackageHash::as_str);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} {} {h1} {}", package.platform, package.zh, package.file_name);
    }
    let checksum = crc32fast::hash(text.as_bytes());
    text + &format!("{checksum:08x}\n")
}

fn decode(text: &str, address: &ProviderAddr, version: &Version) -> Option<ReleaseRecord> {
    let (facts, checksum) = text.split_at_checked(text.len().checked_sub(9)?)?;
    if format!("{:08x}\n", crc32fast::hash(facts.as_bytes())) != checksum {
        return None;
    }
    let mut lines = facts.lines();
    let about = [FIRST_LINE, &address.to_string(), &version.to_string()];
    if about.iter().any(|line| lines.next() != Some(line)) {
        return None;
    }
    let mut words = lines.next()?.split(' ');
    let mut digests = words.by_ref().take(3).map(Sha256Digest::from_hex);
    let (sums, signature, keys) = (digests.next()??, digests.next()?, digests.next()?);
    // Earlier runs noted no such facts.
    let (mut locked, mut disputed, mut download_host) = (LockedBy::Never, false, None);
    for word in words {
        match (word, word.strip_prefix(HOST)) {
            (_, Some(host)) => download_host = Some(host.to_owned()),
            (DISPUTED, _) => disputed = true,
            (DIFFERENTLY, _) => locked = LockedBy::Differently,
            (sums, _) => locked = LockedBy::By(Sha256Digest::from_hex(sums)?),
        }
    }
    let packages = lines.map(decode_package).collect::<Option<_>>()?;
    Some(ReleaseRecord {
        address: address.clone(),
        version: version.clone(),
        sums,
        signature,
        keys,
        packages,
        locked,
        disputed,
        download_host,
    })
}

fn decode_package(line: &str) -> Option<ReleasePackage> {
    let mut fields = line.splitn(4, ' ');
    let platform = fields.next()?.parse().ok()?;
    let zh = Sha256Digest::from_hex(fields.next()?)?;
    let h1 = match fields.next()? {
        "-" => None,
        text => Some(text.parse().ok().filter(|hash: &PackageHash| hash.scheme() == HashScheme::H1)?),
    };
    Some(ReleasePackage { platform, zh, h1, file_name: fields.next()?.to_owned() })
}
