//! What differs between a commit and the work tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Commit, Git, GitError, run, said};
use crate::disk::roots::join;
use crate::disk::worktree;

/// The files that differ between a commit and the work tree, those included that are in one of them only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The top of the work tree, without symbolic links.
    top: PathBuf,
    /// From the top.
    paths: BTreeSet<String>,
}

impl Git {
    /// The files that differ between a commit and the work tree. Untracked files count unless they are ignored.
    ///
    /// # Errors
    ///
    /// [`GitError::Failed`].
    pub fn changes_since(&self, commit: &Commit) -> Result<Changes, GitError> {
        let diff = ["-c", "core.fsmonitor=false", "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff"];
        let diff = diff.into_iter().chain(["--no-relative", "--ignore-submodules=dirty", &commit.id, "--"]);
        let others = ["-c", "core.fsmonitor=false", "ls-files", "-z", "--others", "--exclude-standard", "--full-name"];
        let mut paths = self.texts("diff", diff)?;
        paths.extend(self.texts("ls-files", others)?);
        Ok(Changes { top: worktree::absolute(&self.top), paths: paths.into_iter().collect() })
    }

    /// All files of a commit, from the top.
    ///
    /// # Errors
    ///
    /// [`GitError::Failed`].
    pub fn paths(&self, commit: &Commit) -> Result<Vec<String>, GitError> {
        self.texts("ls-tree", ["ls-tree", "-r", "-z", "--name-only", "--full-tree", &commit.id])
    }

    /// What git lists, asked from the top. A name that is not UTF-8 is there too, as far as it can be told.
    fn texts<'a>(&self, task: &'static str, args: impl IntoIterator<Item = &'a str>) -> Result<Vec<String>, GitError> {
        let output = run(&self.top, args)?;
        if !output.status.success() {
            return Err(GitError::Failed { task, reason: said(&output) });
        }
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }
}

impl Changes {
    /// All paths, from the top.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// True if a file changed, or what leads to it: a symbolic link, or the submodule that it is in.
    pub fn touch(&self, file: &Path) -> bool {
        self.names(file).iter().any(|name| self.holds(name))
    }

    /// True if a file changed that stands in a directory and whose name passes.
    pub fn touch_within(&self, directory: &Path, passes: impl Fn(&str) -> bool) -> bool {
        self.names(directory).iter().any(|name| {
            let prefix = if name.is_empty() { String::new() } else { format!("{name}/") };
            let within = self.paths.range(prefix.clone()..).map_while(|path| path.strip_prefix(&prefix));
            self.holds(name) || within.into_iter().any(|rest| !rest.contains('/') && passes(rest))
        })
    }

    /// True if anything changed below a directory.
    pub fn touch_below(&self, directory: &Path) -> bool {
        self.names(directory).iter().any(|name| {
            let prefix = if name.is_empty() { String::new() } else { format!("{name}/") };
            self.holds(name) || self.paths.range(prefix.clone()..).next().is_some_and(|path| path.starts_with(&prefix))
        })
    }

    /// True if the path or one that it is below is there.
    fn holds(&self, name: &str) -> bool {
        self.paths.contains(name) || name.match_indices('/').any(|(at, _)| self.paths.contains(&name[..at]))
    }

    /// What a path is called from the top: as it is written, and where symbolic links lead to.
    fn names(&self, path: &Path) -> Vec<String> {
        let written = join(&worktree::absolute(Path::new("")), &path.to_string_lossy());
        let mut places = vec![written];
        places.extend(path.canonicalize());
        places.dedup();
        places.iter().filter_map(|place| slashed(place.strip_prefix(&self.top).ok()?)).collect()
    }
}

fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_touched_by_what_leads_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for place in ["a", "b/c", "shared"] {
            std::fs::create_dir_all(top.join(place)).unwrap();
        }
        std::fs::write(top.join("shared/main.tf"), "").unwrap();
        let changes =
            |paths: &[&str]| Changes { top: top.clone(), paths: paths.iter().map(|path| (*path).to_owned()).collect() };
        let tf = |name: &str| name.strip_suffix(".tf").is_some();
        let some = changes(&["a/main.tf", "b-c", "b/c/x/y.tf", "sub"]);
        assert!(some.touch(&top.join("a/main.tf")) && some.touch(&top.join("a/../a/main.tf")));
        assert!(some.touch(&top.join("sub/deep/main.tf")));
        assert!(!some.touch(&top.join("b/main.tf")) && !some.touch(Path::new("/elsewhere/a/main.tf")));
        assert!(some.touch_within(&top.join("a"), tf) && !some.touch_within(&top.join("a"), |name| name == "x"));
        assert!(!some.touch_within(&top.join("b"), tf) && !some.touch_within(&top.join("b/c"), tf));
        assert!(!some.touch_within(&top, tf) && changes(&["main.tf"]).touch_within(&top, tf));
        assert!(some.touch_below(&top.join("b")) && some.touch_below(&top) && !some.touch_below(&top.join("shared")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../shared", top.join("a/linked")).unwrap();
            let file = top.join("a/linked/main.tf");
            assert!(changes(&["shared/main.tf"]).touch(&file) && changes(&["a/linked"]).touch(&file));
            assert!(!changes(&["a/linke"]).touch(&file));
        }
    }
}
