//! What command tests need: a registry over HTTPS, a directory to work in, the program in a process of its own.
//!
//! The product is steered only by what its users have: files, flags, environment and a certificate authority.
#![expect(unreachable_pub, reason = "nothing is outside of a test binary, and `pub` says what tests may use")]

pub mod browser;
pub mod dice;
pub mod extent;
pub mod followed;
pub mod generated;
pub mod github;
pub mod keys;
pub mod locked;
pub mod packages;
pub mod proposal;
pub mod registry;
pub mod run;
#[path = "../../../src/report/schema_check_tests.rs"]
pub mod schema;
pub mod sigstore;
pub mod small_disk;
#[cfg(unix)]
pub mod tools;
pub mod workspace;
pub mod worlds;
pub mod yaml;

/// Checks each row on one of eight threads: rows that wait for a server or its time limit do not wait for each other.
pub fn side_by_side<T: Sync>(rows: &[T], check: impl Fn(&T) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    check(row);
                }
            });
        }
    });
}

/// Checks rows side by side, and fails with what is wrong in each of them.
#[track_caller]
pub fn each_is_right<T: Sync>(rows: &[T], check: impl Fn(&T) -> Result<(), String> + Sync) {
    let wrong = std::sync::Mutex::new(Vec::new());
    side_by_side(rows, |row| {
        if let Err(what) = check(row) {
            wrong.lock().unwrap().push(what);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), rows.len(), wrong.join("\n----------\n"));
}

/// A directory that goes with its test. It lies in memory where there is room: tests make and remove some 100,000 files.
pub fn tempdir() -> tempfile::TempDir {
    static PLACE: std::sync::OnceLock<std::path::PathBuf> = std::sync::OnceLock::new();
    let place = PLACE.get_or_init(|| memory().unwrap_or_else(std::env::temp_dir));
    tempfile::tempdir_in(place).unwrap()
}

/// The file system in memory, if it has 2 GiB and programs may run from it, and the caller has not chosen another place.
#[cfg(target_os = "linux")]
fn memory() -> Option<std::path::PathBuf> {
    use rustix::fs::StatVfsMountFlags;

    let place = std::path::PathBuf::from("/dev/shm");
    let found = rustix::fs::statvfs(&place).ok()?;
    let fits = found.f_bavail * found.f_frsize >= 2 << 30 && !found.f_flag.contains(StatVfsMountFlags::NOEXEC);
    (fits && std::env::var_os("TMPDIR").is_none()).then_some(place)
}

#[cfg(not(target_os = "linux"))]
fn memory() -> Option<std::path::PathBuf> {
    None
}
