//! What git tracks below a directory.

use std::path::{Path, PathBuf};

use super::objects::escaped;
use super::{Git, Running};
use crate::config::suffixes;
use crate::lockfile;
use crate::path::RepoPath;
use crate::trust::pins;

#[derive(Debug)]
pub struct Question {
    running: Option<Running>,
    prefix: String,
}

impl Question {
    /// Lists lock files, trust files and configuration, if the directory is in a working tree.
    pub fn send(start: &Path) -> Self {
        let Ok(git) = Git::open(start) else { return Self { running: None, prefix: String::new() } };
        let names = [lockfile::FILE_NAME, pins::FILE_NAME].map(str::to_owned).into_iter();
        let names = names.chain(suffixes().map(|suffix| format!("*{suffix}")));
        let patterns = names.map(|name| format!(":(top,glob){}**/{name}", escaped(&git.directory.prefix())));
        let args = ["ls-files", "-z", "--cached", "--"].map(str::to_owned);
        let running = git.launcher.start(args.into_iter().chain(patterns), Vec::new()).ok();
        Self { running, prefix: git.directory.prefix() }
    }

    /// The files, relative to the directory. Where git does not answer, gitignore alone decides.
    pub fn answer(self) -> Vec<PathBuf> {
        let answer = self.running.and_then(|running| running.answer().ok());
        let Some(answer) = answer.filter(super::Answer::succeeded) else { return Vec::new() };
        let paths = answer.stdout.split(|byte| *byte == 0);
        let below = paths.filter_map(|path| path.strip_prefix(self.prefix.as_bytes()));
        below.filter(|path| !path.is_empty()).filter_map(path_of).collect()
    }
}

impl Git {
    /// True if git tracks something at or below a directory of the working tree, or a submodule that it is in; or if that is
    /// unknown.
    pub fn has_at(&self, place: &Path) -> bool {
        let Some(way) = RepoPath::below(&self.top, place) else { return false };
        let ways = || way.match_indices('/').map(|(at, _)| &way[..at]).chain([&*way]);
        let patterns = ways().map(|way| format!(":(top,literal){way}"));
        let args = ["ls-files", "-z", "--cached", "--"].map(str::to_owned).into_iter().chain(patterns);
        let Some(answer) = self.launcher.run(args).ok().filter(super::Answer::succeeded) else { return true };
        // What has the name of a directory is a submodule.
        let is_there = |path: String| path.starts_with(&way.prefix()) || ways().any(|way| way == path);
        answer.texts().any(is_there)
    }
}

/// The path that git names, UTF-8 or not.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not every path can be had")]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// The path that git names, if it is UTF-8.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}
