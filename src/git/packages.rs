//! Packages under version control: what the tools would install without asking anybody.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Git;
use crate::path::{RepoPath, worktree};

/// The directories of a root module whose packages the tools take before those of any registry.
const PLACES: [&str; 2] = ["terraform.d/plugins", ".terraform"];

/// The names of folders in which packages are installed, or from which they are; the last one may hold such a folder.
pub const PACKAGE_FOLDERS: [&str; 4] = ["terraform.d/plugins", ".terraform", ".terragrunt-cache", "terraform.d"];

/// The folder of packages that a path leads into, or is; none if there is none on its way.
pub fn package_folder(path: &str) -> Option<&str> {
    let ends = || path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let is_one = |end: usize, name: &str| {
        path[..end].strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    PACKAGE_FOLDERS.iter().find_map(|name| ends().find(|end| is_one(*end, name)).map(|end| &path[..end]))
}

/// What git tracks in such directories, asked once for each work tree, and only where one of them is there.
#[derive(Debug, Default)]
pub struct TrackedPackages {
    /// By the top of the work tree: sorted paths from there.
    known: Mutex<BTreeMap<PathBuf, Arc<Vec<String>>>>,
}

impl TrackedPackages {
    /// Those of a root module, relative to it, each with the first file. Where there is no git or no work tree, nothing
    /// is tracked.
    pub fn of(&self, root: &Path) -> Vec<(PathBuf, PathBuf)> {
        let mut there = PLACES.into_iter().filter(|place| root.join(place).symlink_metadata().is_ok()).peekable();
        if there.peek().is_none() {
            return Vec::new();
        }
        let root = worktree::absolute(root);
        let Some(top) = worktree::top(&root) else { return Vec::new() };
        let tracked = Arc::clone(
            self.known
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(top.clone())
                .or_insert_with(|| Arc::new(tracked(&top))),
        );
        let Some(way) = RepoPath::below(&top, &root) else { return Vec::new() };
        let first = |place: &str| {
            let prefix = way.join(place).prefix();
            let at = tracked.partition_point(|path| **path < *prefix);
            let file = tracked.get(at).filter(|path| path.starts_with(&prefix))?;
            file.strip_prefix(&way.prefix()).map(PathBuf::from)
        };
        there.filter_map(|place| Some((PathBuf::from(place), first(place)?))).collect()
    }
}

/// All files below such directories that git tracks in a work tree, sorted.
fn tracked(top: &Path) -> Vec<String> {
    let patterns = PLACES.map(|place| format!(":(top,glob)**/{place}/**"));
    let args = ["ls-files", "-z", "--cached", "--"].map(str::to_owned).into_iter().chain(patterns);
    let Some(answer) = Git::open(top).and_then(|git| git.launcher.run(args)).ok() else { return Vec::new() };
    let mut paths: Vec<String> = answer.texts().collect();
    paths.sort_unstable();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_packages() {
        let rows = [
            ("a/terraform.d/plugins/x/y", Some("a/terraform.d/plugins")),
            ("terraform.d", Some("terraform.d")),
            ("terraform.d/notes", Some("terraform.d")),
            ("a/.terraform/x/terraform.d/plugins/y", Some("a/.terraform/x/terraform.d/plugins")),
            (".terragrunt-cache", Some(".terragrunt-cache")),
            ("a.terraform/x", None),
            ("a/.terraform.lock.hcl", None),
        ];
        for (path, folder) in rows {
            assert_eq!(package_folder(path), folder, "{path}");
        }
    }

    #[test]
    fn only_what_git_tracks_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("terraform.d/plugins/x")).unwrap();
        std::fs::create_dir_all(root.join(".terraform")).unwrap();
        std::fs::write(root.join("terraform.d/plugins/x/y"), "").unwrap();
        std::fs::write(root.join(".terraform/z"), "").unwrap();
        let git = |args: &[&str]| {
            let output = std::process::Command::new("git").arg("-C").arg(root).args(args).output().unwrap();
            assert!(output.status.success());
        };
        let packages = |root: &Path| TrackedPackages::default().of(root);
        git(&["init", "--quiet"]);
        assert_eq!(packages(root), []);
        git(&["add", "terraform.d"]);
        let expected = [("terraform.d/plugins".into(), "terraform.d/plugins/x/y".into())];
        assert_eq!(packages(root), expected);
        // Each root module has its own.
        for place in ["a/terraform.d/plugins/x", "a-b/.terraform", "c/terraform.d"] {
            std::fs::create_dir_all(root.join(place)).unwrap();
            std::fs::write(root.join(place).join("y"), "").unwrap();
        }
        git(&["add", "--force", "."]);
        let all = TrackedPackages::default();
        assert_eq!(all.of(&root.join("a")), expected);
        assert_eq!(all.of(&root.join("a-b")), [(".terraform".into(), ".terraform/y".into())]);
        assert_eq!(all.of(&root.join("c")), []);
        assert_eq!(all.of(root).len(), 2);
    }
}
