//! The cache as a whole, on disk.

use std::time::{Duration, SystemTime};

use super::*;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};

fn open(directory: &Path) -> Cache {
    Cache::open(CacheOptions { directory: Some(directory.to_owned()), ..CacheOptions::default() })
}

fn entry(number: u32, origin: IndexOrigin) -> IndexEntry {
    let digest = |salt: &str| Sha256Digest::of(format!("{salt}{number}").as_bytes());
    IndexEntry { zh: digest("zh"), h1: digest("h1"), size: u64::from(number), origin }
}

fn computed(number: u32) -> IndexEntry {
    entry(number, IndexOrigin::Computed)
}

fn log_of(directory: &Path, entry: &IndexEntry) -> PathBuf {
    directory.join("v1/index").join(&entry.zh.to_hex()[..3])
}

fn release(h1: Option<&str>) -> ReleaseRecord {
    let package = |platform: &str, h1: Option<&str>| ReleasePackage {
        platform: platform.parse().unwrap(),
        file_name: format!("an odd name {platform}.zip"),
        zh: Sha256Digest::of(platform.as_bytes()),
        h1: h1.map(|text| text.parse().unwrap()),
    };
    ReleaseRecord {
        disputed: false,
        download_host: Some("releases.example.com:8443".to_owned()),
        address: ProviderAddr::parse("example.com:8443/acme/x", Dialect::Terraform).unwrap(),
        version: "1.0.0-rc.1+meta".parse().unwrap(),
        sums: Sha256Digest::of(b"sums"),
        signature: Some(Sha256Digest::of(b"signature")),
        keys: None,
        packages: vec![package("darwin_arm64", None), package("linux_amd64", h1)],
        locked: LockedBy::Never,
    }
}

#[test]
fn records_of_written_lock_files_outlive_later_lookups() {
    let directory = tempfile::tempdir().unwrap();
    let (known, other) = (release(None), Sha256Digest::of(b"published again"));
    let locked = || open(directory.path()).locked(&known.address, &known.version);
    let put = |sums, note: bool| {
        let cache = open(directory.path());
        cache.put_release(ReleaseRecord { sums, ..known.clone() });
        if note {
            cache.note_locked(&known.address, &known.version);
        }
        cache.flush().unwrap();
    };
    put(known.sums, false);
    assert_eq!(locked(), None, "that it was seen proves nothing");
    put(known.sums, true);
    assert_eq!(locked(), Some(known.sums));
    put(other, false);
    assert_eq!(locked(), Some(known.sums));
    put(other, true);
    assert_eq!(locked(), None);
    put(known.sums, true);
    assert_eq!(locked(), None);
}

#[test]
fn what_is_recorded_is_found_by_later_runs() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path());
    for number in 0..300 {
        assert_eq!(cache.h1_of(&computed(number).zh), None);
        cache.record(computed(number));
        assert_eq!(cache.h1_of(&computed(number).zh), Some((computed(number).h1_hash(), u64::from(number))));
    }
    assert!(!directory.path().join("v1").exists(), "nothing is written before the end");
    cache.flush().unwrap();
    let later = open(directory.path());
    assert!((0..300).all(|number| later.h1_of(&computed(number).zh).is_some()));
    assert_eq!(later.h1_of(&computed(300).zh), None);
    assert_eq!(later.entries().len(), 300);
    let bytes = later.stats().bytes;
    later.record(computed(7));
    later.flush().unwrap();
    assert_eq!(open(directory.path()).stats().bytes, bytes, "what is known is not written again");
}

#[test]
fn imported_is_never_computed() {
    let directory = tempfile::tempdir().unwrap();
    let entry = entry(1, IndexOrigin::Imported);
    open(directory.path()).record(entry.clone());
    let cache = open(directory.path());
    assert_eq!(cache.h1_of(&entry.zh), None);
    assert_eq!(cache.imported_h1_of(&entry.zh), Some((entry.h1_hash(), 1)));
    cache.record(computed(1));
    assert_eq!(cache.h1_of(&entry.zh), Some((entry.h1_hash(), 1)));
    assert_eq!((cache.stats().computed, cache.stats().imported), (1, 1));
}

#[test]
fn damaged_and_contradictory_entries_are_missing() {
    let directory = tempfile::tempdir().unwrap();
    let (cut, twice, last) = (computed(1), computed(2), computed(3));
    open(directory.path()).record(cut.clone());
    let log = log_of(directory.path(), &cut);
    let text = std::fs::read(&log).unwrap();
    std::fs::write(&log, &text[..text.len() - 20]).unwrap();
    let cache = open(directory.path());
    assert_eq!(cache.h1_of(&cut.zh), None);
    cache.record(cut.clone());
    cache.record(twice.clone());
    cache.record(IndexEntry { h1: last.h1, ..twice.clone() });
    cache.record(last.clone());
    drop(cache);
    let cache = open(directory.path());
    assert!(cache.h1_of(&cut.zh).is_some(), "a line that was cut off does not spoil the next one");
    assert_eq!(cache.h1_of(&twice.zh), None);
    assert!(cache.h1_of(&last.zh).is_some());
    std::fs::write(&log, [&[0xFF; 300][..], b"\n\n"].concat()).unwrap();
    assert_eq!(open(directory.path()).h1_of(&cut.zh), None);

    let pruned = open(directory.path()).prune(Prune::OlderThan(SystemTime::UNIX_EPOCH)).unwrap();
    assert!(pruned.files == 0 && pruned.bytes > 300, "{pruned:?}");
    assert_eq!(open(directory.path()).entries(), [last]);
}

#[test]
fn runs_may_write_at_once() {
    let directory = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for run in 0..4_u32 {
            let directory = directory.path();
            scope.spawn(move || {
                for round in 0..3 {
                    let cache = open(directory);
                    for number in 0..50 {
                        cache.record(computed(run * 1000 + round * 100 + number));
                    }
                    cache.put_document(b"the same");
                    cache.put_release(release(None));
                    cache.flush().unwrap();
                }
            });
        }
    });
    let cache = open(directory.path());
    assert_eq!(cache.entries().len(), 600);
    assert_eq!((cache.stats().documents, cache.stats().releases), (1, 1));
}

#[test]
fn documents_are_checked_on_reading() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path());
    let digest = cache.put_document(b"sums");
    assert_eq!(digest, Sha256Digest::of(b"sums"));
    assert_eq!(cache.document(&digest).as_deref(), Some(&b"sums"[..]));
    let keys = cache.put_keys(&["first\n", "second \"key\""]);
    cache.flush().unwrap();
    let later = open(directory.path());
    assert_eq!(later.document(&digest).as_deref(), Some(&b"sums"[..]));
    assert_eq!(later.keys(&keys).unwrap(), ["first\n", "second \"key\""]);
    assert_eq!(later.keys(&digest), None);

    let file = directory.path().join(fan_out(FOLDER, &digest.to_hex()));
    std::fs::write(&file, b"forged").unwrap();
    assert_eq!(later.document(&digest), None);
    later.put_document(b"sums");
    later.flush().unwrap();
    assert_eq!(later.document(&digest).as_deref(), Some(&b"sums"[..]));
}

#[test]
fn releases() {
    let directory = tempfile::tempdir().unwrap();
    let known = release(Some("h1:abc"));
    let cache = open(directory.path());
    cache.put_release(known.clone());
    assert_eq!(cache.release(&known.address, &known.version), Some(known.clone()));
    drop(cache);

    let cache = open(directory.path());
    assert_eq!(cache.release(&known.address, &"1.0.0".parse().unwrap()), None);
    let mut less = release(None);
    less.packages.remove(0);
    cache.put_release(less.clone());
    assert_eq!(cache.release(&known.address, &known.version), Some(known.clone()), "what is known stays known");
    let other = ReleaseRecord { sums: Sha256Digest::of(b"others"), disputed: true, ..less };
    cache.put_release(other.clone());
    assert_eq!(cache.release(&known.address, &known.version), Some(other.clone()));
    drop(cache);
    assert_eq!(open(directory.path()).release(&known.address, &known.version), Some(other));

    let file = std::fs::read_dir(directory.path().join("v1/releases")).unwrap().next().unwrap().unwrap().path();
    let file = std::fs::read_dir(file).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    for at in (0..text.len()).step_by(5) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(open(directory.path()).release(&known.address, &known.version), None);
        std::fs::write(&file, &text[..at]).unwrap();
        assert_eq!(open(directory.path()).release(&known.address, &known.version), None);
    }
}

#[test]
fn pruning() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path());
    cache.record(computed(1));
    cache.put_document(b"x");
    cache.put_release(release(None));
    cache.flush().unwrap();
    let now = std::fs::metadata(log_of(directory.path(), &computed(1))).unwrap().modified().unwrap();
    let day = Duration::from_secs(86_400);
    assert_eq!(cache.prune(Prune::OlderThan(now - day)).unwrap(), Pruned::default());
    assert_eq!(cache.prune(Prune::OlderThan(now + day)).unwrap().files, 2);
    assert!(cache.h1_of(&computed(1).zh).is_some(), "facts do not age");
    std::fs::write(directory.path().join("not ours"), "").unwrap();
    assert_eq!(cache.prune(Prune::All).unwrap().files, 1);
    assert_eq!(cache.stats(), Stats::default());
    assert!(cache.h1_of(&computed(1).zh).is_none());
    assert!(directory.path().join("not ours").exists());
}

#[test]
fn places_where_no_cache_can_be() {
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(directory.path().join("file"), "").unwrap();
    let at = |place: PathBuf| {
        Cache::open(CacheOptions {
            directory: Some(place),
            work_trees: vec![directory.path().join("other"), tree.clone()],
            disabled: false,
        })
    };
    let spelt = directory.path().join("missing/../tree/c");
    for place in [tree.join("a/b"), tree.clone(), directory.path().join("file"), spelt] {
        let cache = at(place);
        assert!(cache.dir().is_none());
        assert!(cache.note().is_some());
        cache.record(computed(1));
        let digest = cache.put_document(b"x");
        cache.flush().unwrap();
        assert!(cache.h1_of(&computed(1).zh).is_some(), "it lasts as long as the run");
        assert!(cache.document(&digest).is_some());
    }
    assert_eq!(std::fs::read_dir(&tree).unwrap().count(), 0);
    let beside = directory.path().join("tree-cache");
    assert_eq!(at(beside.clone()).dir().unwrap().place(), beside);
    let off = Cache::open(CacheOptions { directory: Some(beside), disabled: true, ..CacheOptions::default() });
    assert!(off.dir().is_none() && off.note().is_none());

    let cache = open(&directory.path().join("file/below"));
    cache.record(computed(1));
    let error = Error::from(cache.flush().unwrap_err());
    assert_eq!((error.kind, error.hints.len()), (ErrorKind::Disk, 1));
}

#[cfg(unix)]
#[test]
fn directories_that_others_may_write_are_not_trusted() {
    use std::os::unix::fs::PermissionsExt as _;
    for below in ["", LAYOUT] {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join(LAYOUT)).unwrap();
        let mode = |mode| std::fs::Permissions::from_mode(mode);
        for open_to in [0o775, 0o757, 0o1777] {
            std::fs::set_permissions(directory.path().join(below), mode(open_to)).unwrap();
            let cache = open(directory.path());
            assert!(cache.h1_of(&computed(1).zh).is_none());
            assert!(cache.note().is_some_and(|note| note.contains("other users")), "{below} {open_to:o}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_into_the_work_tree_is_inside() {
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    std::os::unix::fs::symlink(&tree, directory.path().join("link")).unwrap();
    let place = directory.path().join("link/cache");
    let cache = Cache::open(CacheOptions { directory: Some(place), work_trees: vec![tree], ..CacheOptions::default() });
    assert!(cache.dir().is_none());
}
