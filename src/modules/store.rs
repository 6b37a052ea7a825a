//! Fetched packages in the user's cache, and what is known of where they are.
//!
//! A package is laid out in a folder of its own and swapped in at once, so no partial package is ever found. Before
//! one is used its configuration is compared with the digests computed when it was fetched: a crash of the machine may
//! leave files without their content.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::git_package::is_control_file;
use super::unpack::UnpackedContents;
use crate::disk::cache::{MODULES, MODULES_IN_USE};
use crate::disk::own::{self, OwnFolder, Unsafe};
use crate::disk::waiting::{self, Wait, Waited};
use crate::error::{Error, ErrorKind};
use crate::hash::{PackageHash, Sha256Digest};
use crate::modulelock::Ambiguity;
use crate::path::shown;

/// How long an answer that may change is used: what a registry lists, where a branch or tag is.
const FRESH: Duration = Duration::from_secs(600);

/// Other runs that fetch the same package are waited for at most this long.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub struct Store {
    folder: Arc<OwnFolder>,
    /// The place where there is no cache, for as long as the run.
    _temporary: Option<tempfile::TempDir>,
    /// Locked while this run may read or write packages.
    at_work: OnceLock<Option<File>>,
    now: SystemTime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredModule {
    /// The key by which it is found: the name of its folder, which does not show where it came from.
    pub id: String,
    pub tree: PathBuf,
    pub record: PackageRecord,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageRecord {
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The hash of the package; `None` if only its configuration was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Why it cannot be locked, though all of it was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambiguity: Option<Ambiguity>,
    /// The configuration files, with the digests of their contents.
    pub files: BTreeMap<String, String>,
    /// All other files, where they were fetched.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// The hosts that parts of it came from: those of submodules.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hosts: BTreeSet<String>,
}

impl PackageRecord {
    /// What is noted about a package that was laid out whole.
    pub(super) fn of(source: String, contents: UnpackedContents) -> Self {
        let hash = contents.hash().ok().map(|hash| hash.to_string());
        let [files, others] = contents.files();
        let UnpackedContents { links, ambiguity, .. } = contents;
        Self { source, hash, ambiguity, files, others, links, ..Self::default() }
    }

    /// The files that no hash covers and that decide what a checkout makes of the others.
    pub(super) fn control_files(&self) -> BTreeMap<&String, &String> {
        self.others.iter().filter(|(name, _)| is_control_file(name)).collect()
    }

    /// The hash of a package that was fetched whole, by which it can be locked.
    pub fn lockable(&self) -> Result<PackageHash, Error> {
        if let Some(hash) = self.hash.as_ref().and_then(|hash| hash.parse().ok()) {
            return Ok(hash);
        }
        let message = format!("the module package from {} has no hash: it has an odd name or no file", self.source);
        Err(Error::new(ErrorKind::Package, message).about_url(&self.source))
    }
}

/// Something learnt. What it is about is the name of its file, because an address may contain a secret; so no value is an address.
#[derive(Serialize, Deserialize)]
struct Fact {
    at: u64,
    value: String,
}

impl Store {
    /// The packages below a cache directory; without one they last as long as the run.
    pub fn open(cache: Option<&Arc<OwnFolder>>, now: SystemTime) -> Result<Self, Error> {
        if let Some(cache) = cache.filter(|cache| is_usable(cache)) {
            return Ok(Self { folder: Arc::clone(cache), _temporary: None, at_work: OnceLock::new(), now });
        }
        let failed = |reason| unwritable(&std::env::temp_dir(), &reason);
        let temporary = own::temporary_directory(".tflock-", &std::env::temp_dir()).map_err(failed)?;
        let folder = Arc::new(OwnFolder::at(temporary.path()).map_err(failed)?);
        Ok(Self { folder, _temporary: Some(temporary), at_work: OnceLock::new(), now })
    }

    /// What was learnt about something that may change, if that was not long ago.
    pub fn fresh(&self, key: &str) -> Option<String> {
        let fact = self.fact(key)?;
        let age = self.seconds().checked_sub(fact.at)?;
        (age < FRESH.as_secs()).then_some(fact.value)
    }

    /// What was learnt about something, whenever that was.
    pub fn lasting(&self, key: &str) -> Option<String> {
        self.fact(key).map(|fact| fact.value)
    }

    /// Notes what was learnt. What cannot be written is only forgotten.
    pub fn learn(&self, key: &str, value: &str) {
        let fact = Fact { at: self.seconds(), value: value.to_owned() };
        let _ = serde_json::to_vec(&fact).map(|bytes| self.folder.replace(&way("facts", &id_of(key)), &bytes));
    }

    /// A package that was fetched before, if nothing of its configuration is damaged.
    pub fn package(&self, key: &str) -> Option<StoredModule> {
        self.package_of(&id_of(key))
    }

    /// The same by what was learnt of it.
    pub fn package_of(&self, id: &str) -> Option<StoredModule> {
        let is_id = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let package = way("packages", Some(id).filter(|_| is_id)?);
        // Nothing is pruned that was looked at.
        self.at_work.get_or_init(|| self.begin());
        let record: PackageRecord = serde_json::from_slice(&self.folder.read(&package.join("package.json"))?).ok()?;
        let tree = package.join("tree");
        let is_sound = |(name, digest): (&String, &String)| {
            self.folder.read(&tree.join(name)).is_some_and(|bytes| Sha256Digest::of(&bytes).to_hex() == *digest)
        };
        let is_usable = self.folder.existing(&tree).is_some() && record.files.iter().all(is_sound);
        is_usable.then(|| StoredModule { id: id.to_owned(), tree: self.folder.place().join(tree), record })
    }

    /// A new folder to lay out a package in. It goes away if nothing comes of it.
    pub fn staging(&self) -> Result<tempfile::TempDir, Error> {
        self.at_work.get_or_init(|| self.begin());
        // By its name, since git works there too.
        let place = self.folder.place().join(MODULES).join("staging");
        let made = self.folder.directory(&way("staging", "")).and_then(|_| own::temporary_directory(".tmp", &place));
        let staging = made.map_err(|reason| unwritable(&place, &reason))?;
        let tree = staging.path().join("tree");
        own::make_directories(&tree).map_err(|reason| unwritable(&tree, &reason))?;
        Ok(staging)
    }

    /// Shows other runs that this one may be using or laying out packages. If it is alone, existing folders were left by runs that
    /// were killed, and are removed.
    fn begin(&self) -> Option<File> {
        let file = self.folder.lock_file(Path::new(MODULES_IN_USE)).ok()?;
        if file.try_lock().is_ok() {
            // What cannot be removed is not looked at by anyone.
            let staging = self.folder.existing(&way("staging", ""));
            let left = staging.and_then(|staging| fs::read_dir(staging).ok()).into_iter().flatten().flatten();
            left.for_each(|entry| drop(fs::remove_dir_all(entry.path())));
        }
        // Opened again: closing a file releases its lock on every system, and one file can have both kinds of locks on Windows.
        drop(file);
        let file = self.folder.lock_file(Path::new(MODULES_IN_USE)).ok()?;
        self.wait(&file, File::try_lock_shared).then_some(file)
    }

    fn wait(&self, file: &File, attempt: fn(&File) -> Result<(), TryLockError>) -> bool {
        waiting::lock(file, attempt, PATIENCE, &self.folder.place().join(MODULES)) == Waited::Locked
    }

    /// Puts a package where all runs find it, unless it is there already.
    pub fn keep(&self, key: &str, staging: tempfile::TempDir, record: PackageRecord) -> Result<StoredModule, Error> {
        // Of two that bring the same package one is first; what others may be reading stays unchanged.
        let _one_by_one = self.turn(key);
        if let Some(known) = self.package(key) {
            return Ok(known);
        }
        let id = id_of(key);
        let place = self.folder.place().join(way("packages", &id));
        self.move_in(staging.path(), &id, &record).map_err(|reason| unwritable(&place, &reason))?;
        // It is not there any more, and must not be looked for.
        let _ = staging.keep();
        Ok(StoredModule { id, tree: place.join("tree"), record })
    }

    /// Moves a package from its staging directory to its place.
    fn move_in(&self, staging: &Path, id: &str, record: &PackageRecord) -> io::Result<()> {
        own::new_file(&staging.join("package.json"))?.write_all(&serde_json::to_vec(record)?)?;
        let place = self.folder.directory(&way("packages", ""))?.join(id);
        if place.symlink_metadata().is_ok() {
            // Moved aside first, for removing takes a while.
            let aside = own::temporary_directory(".tmp", &self.folder.directory(&way("staging", ""))?)?;
            fs::rename(&place, aside.path().join("old"))?;
        }
        fs::rename(staging, place)
    }

    /// Waits for the turn to put a package in its place, which takes next to no time.
    fn turn(&self, key: &str) -> Option<File> {
        let file = self.folder.lock_file(&way("locks", &id_of(&format!("keep {key}")))).ok()?;
        self.wait(&file, File::try_lock).then_some(file)
    }

    /// Waits until no other run fetches a package. A killed run releases the lock.
    pub async fn alone(&self, key: &str) -> Option<File> {
        let file = self.folder.lock_file(&way("locks", &id_of(key))).ok()?;
        let modules = self.folder.place().join(MODULES);
        let mut wait = Wait::new(&modules, PATIENCE);
        loop {
            match file.try_lock() {
                Ok(()) => return Some(file),
                Err(TryLockError::WouldBlock) if wait.goes_on() => tokio::time::sleep(waiting::PAUSE).await,
                Err(_) => return None,
            }
        }
    }

    fn fact(&self, key: &str) -> Option<Fact> {
        serde_json::from_slice(&self.folder.read(&way("facts", &id_of(key)))?).ok()
    }

    fn seconds(&self) -> u64 {
        self.now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// The way to something of a kind in the cache.
fn way(kind: &str, name: &str) -> PathBuf {
    let way = Path::new(MODULES).join(kind);
    if name.is_empty() { way } else { way.join(name) }
}

/// False if something is in the way of packages that must not be used: then they last as long as the run.
fn is_usable(cache: &OwnFolder) -> bool {
    let is_unsafe = |kind| cache.directory(&way(kind, "")).is_err_and(|reason| Unsafe::of(&reason).is_some());
    !["packages", "staging", "locks", "facts"].into_iter().any(is_unsafe)
}

fn id_of(key: &str) -> String {
    Sha256Digest::of(key.as_bytes()).to_hex()
}

fn unwritable(path: &Path, reason: &io::Error) -> Error {
    Error::new(ErrorKind::Disk, format!("cannot write to the cache at {}: {reason}", shown(path)))
        .in_file(path)
        .hint("set TFLOCK_CACHE_DIR to a directory that can be written, or use --no-cache")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(place: &Path, seconds: u64) -> Store {
        Store::open(Some(&Arc::new(OwnFolder::at(place).unwrap())), UNIX_EPOCH + Duration::from_secs(seconds)).unwrap()
    }

    fn kept(store: &Store, text: &str) -> StoredModule {
        let staging = store.staging().unwrap();
        fs::write(staging.path().join("tree/main.tf"), text).unwrap();
        let digest = Sha256Digest::of(text.as_bytes()).to_hex();
        let files = [("main.tf".to_owned(), digest)].into();
        store.keep("k", staging, PackageRecord { files, ..PackageRecord::default() }).unwrap()
    }

    #[test]
    fn facts_age() {
        let place = tempfile::tempdir().unwrap();
        store(place.path(), 1000).learn("k", "v");
        assert_eq!(store(place.path(), 1599).fresh("k").as_deref(), Some("v"));
        assert_eq!(store(place.path(), 1600).fresh("k"), None);
        assert_eq!(store(place.path(), 999).fresh("k"), None);
        assert_eq!(store(place.path(), 9999).lasting("k").as_deref(), Some("v"));
        assert_eq!(store(place.path(), 1000).fresh("other"), None);
    }

    #[test]
    fn packages_are_kept_and_found_again() {
        let place = tempfile::tempdir().unwrap();
        let store = store(place.path(), 0);
        assert_eq!(store.package("k"), None);
        let one = kept(&store, "one");
        assert_eq!(store.package("k"), Some(one.clone()));
        assert_eq!(store.package_of(&one.id), Some(one.clone()));
        assert!(store.package_of("k").is_none() && store.package_of("../packages").is_none());
        // Someone may be reading it.
        assert_eq!(kept(&store, "two"), one);
        assert_eq!(fs::read_to_string(one.tree.join("main.tf")).unwrap(), "one");
        assert_eq!(fs::read_dir(place.path().join(MODULES).join("staging")).unwrap().count(), 0);
    }

    #[test]
    fn damaged_packages_count_as_absent() {
        let place = tempfile::tempdir().unwrap();
        let store = store(place.path(), 0);
        let package = kept(&store, "one");
        fs::write(package.tree.join("main.tf"), "").unwrap();
        assert_eq!(store.package("k"), None);
        // What was being laid out when a run was killed is not looked at.
        drop(store.staging().unwrap().keep());
        assert_eq!(store.package("k"), None);
        kept(&store, "one");
        assert!(store.package("k").is_some());
    }

    #[test]
    fn what_killed_runs_left_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let left = || fs::read_dir(place.path().join(MODULES).join("staging")).unwrap().count();
        let first = store(place.path(), 0);
        let killed = first.staging().unwrap().keep();
        fs::write(killed.join("half"), "half").unwrap();
        // Others are at work: one of these could be theirs.
        let second = store(place.path(), 0);
        drop(second.staging().unwrap());
        assert_eq!(left(), 1);
        drop((first, second));
        let third = store(place.path(), 0);
        drop(third.staging().unwrap());
        assert_eq!(left(), 0);
    }

    #[tokio::test]
    async fn two_runs_do_not_fetch_one_package() {
        let place = tempfile::tempdir().unwrap();
        let (one, other) = (store(place.path(), 0), store(place.path(), 0));
        let held = one.alone("k").await;
        assert!(held.is_some());
        let waiting = other.alone("k");
        let mut waiting = std::pin::pin!(waiting);
        let early = tokio::time::timeout(Duration::from_millis(1), &mut waiting).await;
        assert!(early.is_err());
        drop(held);
        assert!(waiting.await.is_some());
    }
}
