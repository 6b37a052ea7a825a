//! A file system that is full at once. Root alone can mount one.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// With room for a few directories and one page; `None`, and a line on stderr, if it cannot be mounted.
    pub fn mounted() -> Option<Self> {
        let directory = super::tempdir();
        let mount = ["-t", "tmpfs", "-o", "size=4k,nr_inodes=9,mode=755", "tmpfs", directory.path().to_str().unwrap()];
        let is_mounted = Command::new("mount").args(mount).output().is_ok_and(|output| output.status.success());
        if !is_mounted {
            let _ = writeln!(std::io::stderr(), "skipped: a small file system cannot be mounted here");
        }
        is_mounted.then_some(Self(directory))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn shown(&self) -> &str {
        self.0.path().to_str().unwrap()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}
