//! Who may write to the package store: root modules link to its files, so whoever writes to them later writes to `.terraform`.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use super::{INSTALL, cache, leftovers, locked, place, program, stored};
use crate::support::worlds::widget;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// All directories below one, and itself.
fn folders(top: &Path) -> Vec<PathBuf> {
    let below = fs::read_dir(top).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    std::iter::once(top.to_owned()).chain(below.flat_map(|folder| folders(&folder))).collect()
}

#[test]
#[ignore = "long"]
fn what_others_may_write_to_is_not_linked() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 6] = [
        ("a program that a group may write to", |entry| chmod(&program(entry), 0o575)),
        ("a program that everybody may write to", |entry| chmod(&program(entry), 0o557)),
        ("an entry that a group may write to", |entry| chmod(entry, 0o775)),
        ("an entry that everybody may write to", |entry| chmod(entry, 0o1777)),
        ("a program of another user", |entry| chown(program(entry), Some(65534), None).unwrap()),
        ("an entry of another user", |entry| chown(entry, Some(65534), None).unwrap()),
    ];
    let registry = widget();
    for (what, change) in changes {
        if what.ends_with("another user") && !rustix::process::geteuid().is_root() {
            let _ = writeln!(std::io::stderr(), "skipped: only root can give a file to another user");
            continue;
        }
        let workspace = locked(&registry);
        workspace.tflock(&registry, INSTALL).ended_with(0);
        let entry = stored(&workspace, &registry);
        // As long as it is open, no other file gets its number.
        let before = fs::File::open(program(&entry)).unwrap();
        change(&entry);
        fs::remove_dir_all(workspace.path(".terraform")).unwrap();
        registry.forget_requests();
        let run = workspace.tflock(&registry, INSTALL).ended_with(0);
        assert!(run.stderr.contains("other users may write to it: it is discarded"), "{what}: {run}");
        assert_eq!(registry.downloads("acme/widget"), 1, "{what}");
        let installed = fs::metadata(program(&place(&workspace, &registry, ""))).unwrap();
        let discarded = before.metadata().unwrap().ino();
        assert!(installed.ino() != discarded && installed.mode() & 0o022 == 0, "{what}");
        // The new entry is ours.
        fs::remove_dir_all(workspace.path(".terraform")).unwrap();
        workspace.tflock(None, [&INSTALL[..], &["--offline"]].concat()).ended_with(0);
        assert_eq!(leftovers(&cache(&workspace)), Vec::<PathBuf>::new());
    }
}

#[test]
fn what_everybody_may_write_to_is_no_store() {
    let registry = widget();
    for folder in ["packages", "packages/v1"] {
        let workspace = locked(&registry);
        let folder = cache(&workspace).join(folder);
        fs::create_dir_all(&folder).unwrap();
        chmod(&folder, 0o777);
        let run = workspace.tflock(&registry, INSTALL).ended_with(2);
        assert!(
            run.stderr.contains("can be written by other users") && run.stderr.contains("TFLOCK_CACHE_DIR"),
            "{run}"
        );
        assert!(!workspace.has(".terraform"));
        chmod(&folder, 0o755);
        workspace.tflock(&registry, INSTALL).ended_with(0);
    }
}

#[test]
#[ignore = "long"]
fn what_we_make_only_we_may_write_to() {
    let registry = widget();
    for umask in ["000", "002", "022", "077"] {
        let workspace = locked(&registry);
        let command = format!("umask {umask}; exec \"$0\" {}", INSTALL.join(" "));
        let shell = Path::new("/bin/sh");
        workspace.program(shell, &registry, ["-c", &command, env!("CARGO_BIN_EXE_tflock")]).ended_with(0);
        for folder in folders(&cache(&workspace).join("packages/v1")) {
            let mode = fs::metadata(&folder).unwrap().mode();
            assert_eq!(mode & 0o022, 0, "{umask}: {} {mode:o}", folder.display());
        }
        // Folders of a store that was made with another umask are closed.
        folders(&cache(&workspace).join("packages/v1")).iter().skip(1).for_each(|folder| chmod(folder, 0o775));
        fs::remove_dir_all(workspace.path(".terraform")).unwrap();
        workspace.tflock(&registry, INSTALL).ended_with(0);
        fs::remove_dir_all(workspace.path(".terraform")).unwrap();
        workspace.tflock(None, [&INSTALL[..], &["--offline"]].concat()).ended_with(0);
    }
}
