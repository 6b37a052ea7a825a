//! The root modules below a directory: every directory that holds a lock file.
//!
//! What git tracks is found whatever gitignore says; what it does not track follows gitignore. The folders in which the
//! tools keep what they install are left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ignore::WalkBuilder;

use crate::error::{Error, ErrorKind};
use crate::lockfile;

/// Folders of the tools, which hold copies of what other places hold.
const SKIPPED: [&str; 3] = [".git", ".terraform", ".terragrunt-cache"];

/// A directory that cannot be walked through.
#[derive(Debug, thiserror::Error)]
#[error("cannot look for root modules in {path}: {reason}")]
pub struct RootsBelowError {
    /// The directory where the walk began.
    pub path: PathBuf,
    /// Why not.
    pub reason: String,
}

/// The directories with a lock file, in the order of their paths, each as `directory` joined with the way down.
///
/// # Errors
///
/// [`RootsBelowError`] if a directory cannot be read.
pub fn roots_below(directory: &Path) -> Result<Vec<PathBuf>, RootsBelowError> {
    let failed = |reason: &dyn ToString| RootsBelowError { path: directory.to_owned(), reason: reason.to_string() };
    let mut roots: BTreeSet<PathBuf> = tracked(directory).into_iter().collect();
    let walk = WalkBuilder::new(directory)
        .hidden(false)
        .ignore(false)
        .git_global(false)
        .follow_links(false)
        .filter_entry(|entry| !entry.file_name().to_str().is_some_and(|name| SKIPPED.contains(&name)))
        .build();
    for entry in walk {
        let entry = entry.map_err(|reason| failed(&reason))?;
        if entry.file_name() == lockfile::FILE_NAME
            && let Some(root) = entry.path().parent()
        {
            roots.insert(root.to_owned());
        }
    }
    Ok(roots.into_iter().collect())
}

/// The directories whose lock files git tracks. Nothing where there is no git or no work tree: then nothing is ignored
/// that is tracked.
fn tracked(directory: &Path) -> Vec<PathBuf> {
    let patterns = [lockfile::FILE_NAME.to_owned(), format!("**/{}", lockfile::FILE_NAME)];
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(["ls-files", "-z", "--cached", "--"])
        .args(patterns.map(|pattern| format!(":(glob){pattern}")))
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let files = text.split('\0').filter(|path| !path.is_empty()).map(|path| directory.join(path));
    let skipped = |path: &Path| {
        let below = path.strip_prefix(directory).unwrap_or(path);
        below.components().any(|part| part.as_os_str().to_str().is_some_and(|name| SKIPPED.contains(&name)))
    };
    // What is tracked but gone is no root module.
    let roots = files.filter(|path| path.is_file() && !skipped(path));
    roots.filter_map(|path| path.parent().map(Path::to_owned)).collect()
}

impl From<RootsBelowError> for Error {
    fn from(error: RootsBelowError) -> Self {
        Self::new(ErrorKind::Disk, error.to_string()).in_file(error.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(top: &Path, args: &[&str]) {
        let status = Command::new("git").arg("-C").arg(top).args(args).stdout(Stdio::null()).status().unwrap();
        assert!(status.success());
    }

    #[test]
    fn tracked_lock_files_are_never_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for root in ["a", "b/c", "old", "new", ".hidden", "a/.terraform/modules/x", "a/.terragrunt-cache/y"] {
            std::fs::create_dir_all(top.join(root)).unwrap();
            std::fs::write(top.join(root).join(lockfile::FILE_NAME), "").unwrap();
        }
        std::fs::create_dir(top.join("none")).unwrap();
        let below = |roots: Vec<PathBuf>| -> Vec<String> {
            let below = roots.iter().map(|root| root.strip_prefix(top).unwrap().to_string_lossy().into_owned());
            below.collect()
        };
        assert_eq!(below(roots_below(top).unwrap()), [".hidden", "a", "b/c", "new", "old"]);
        git(top, &["init", "--quiet"]);
        git(top, &["add", "--force", "old/.terraform.lock.hcl", "a"]);
        std::fs::write(top.join(".gitignore"), "old/\nnew/\n").unwrap();
        assert_eq!(below(roots_below(top).unwrap()), [".hidden", "a", "b/c", "old"]);
        assert_eq!(below(roots_below(&top.join("b")).unwrap()), ["b/c"]);
        assert!(roots_below(&top.join("nowhere")).is_err());
    }
}
