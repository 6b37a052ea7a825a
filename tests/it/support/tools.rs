//! Other programs that tests run where they are installed.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Where `.ci/run` puts what it installs from `PyPI`.
const VENV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/venv/bin");

/// Where a program is: on PATH, or where `.ci/run` installs it. None, and a line on stderr, if it is not there.
pub fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([Path::new(VENV).to_owned()]);
    let found = folders.map(|folder| folder.join(program)).find(|file| file.is_file());
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: {program} is not installed");
    }
    found
}

/// True if tests run as root, who can give files to a second user; else a line on stderr.
#[cfg(unix)]
pub fn has_second_user() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        let _ = writeln!(std::io::stderr(), "skipped: only root can give a file to another user");
    }
    is_root && found("setpriv").is_some()
}
