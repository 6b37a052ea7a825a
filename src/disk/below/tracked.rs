//! What git tracks below a directory, asked of git.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::disk::worktree;
use crate::lockfile;
use crate::trust::pins;

/// A question to git that is under way; none where there is no work tree or no git.
pub(super) struct Question(Option<Child>);

impl Question {
    /// Asks for lock files and configuration, if the directory is in a work tree.
    pub(super) fn ask(start: &Path) -> Self {
        if worktree::top(start).is_none() {
            return Self(None);
        }
        let mut command = Command::new("git");
        command.arg("-C").arg(start);
        // The repository's settings start no programs.
        command.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--"]);
        let names = [lockfile::FILE_NAME, pins::FILE_NAME, "*.tf", "*.tf.json", "*.tofu", "*.tofu.json"];
        command.args(names.map(|name| format!(":(glob)**/{name}")));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self(command.spawn().ok())
    }

    /// The files, relative to the directory. Where git does not answer, gitignore alone decides.
    pub(super) fn answer(self) -> Vec<PathBuf> {
        let output = self.0.and_then(|child| child.wait_with_output().ok());
        let Some(output) = output.filter(|output| output.status.success()) else { return Vec::new() };
        let paths = output.stdout.split(|byte| *byte == 0).filter_map(|path| std::str::from_utf8(path).ok());
        paths.filter(|path| !path.is_empty()).map(PathBuf::from).collect()
    }
}
