//! The configuration and the attributes of a repository, and the versions of a file that is being merged.

use std::path::Path;

use super::{Answer, Git, GitError};

impl Git {
    /// The value of a key in the configuration of this repository; the user's and the system's do not count.
    pub fn config(&self, key: &str) -> Result<Option<String>, GitError> {
        let answer = self.launcher.run(["config", "--local", "--get", key])?;
        match answer.code {
            Some(0) => {
                let text = String::from_utf8_lossy(&answer.stdout).into_owned();
                Ok(Some(text.strip_suffix('\n').map_or(text.clone(), str::to_owned)))
            }
            Some(1) => Ok(None),
            _ => Err(failed("config", &answer)),
        }
    }

    /// Sets a key in the configuration of this repository.
    pub fn set_config(&self, key: &str, value: &str) -> Result<(), GitError> {
        let answer = self.launcher.run(["config", "--local", "--replace-all", key, value])?;
        if answer.code == Some(0) { Ok(()) } else { Err(failed("config", &answer)) }
    }

    /// Removes a key from the configuration of this repository, and its section with the last one.
    pub fn unset_config(&self, key: &str) -> Result<bool, GitError> {
        let answer = self.launcher.run(["config", "--local", "--unset-all", key])?;
        // 5: there is no such key.
        match answer.code {
            Some(0) => Ok(true),
            Some(5) => Ok(false),
            _ => Err(failed("config", &answer)),
        }
    }

    /// True if git ignores a file and tracks none by that name.
    pub fn is_ignored(&self, path: &Path) -> bool {
        let answer = self.launcher.run(["check-ignore".as_ref(), "--quiet".as_ref(), "--".as_ref(), path.as_os_str()]);
        answer.is_ok_and(|answer| answer.succeeded())
    }

    /// The value of an attribute of a path below the top, from whichever file sets it; `unspecified` if none does.
    pub fn attribute(&self, name: &str, path: &str) -> Result<String, GitError> {
        let answer = self.launcher.run(["check-attr", "-z", name, "--", path])?;
        let value = answer.stdout.split(|byte| *byte == 0).nth(2);
        match (answer.code, value) {
            (Some(0), Some(value)) => Ok(String::from_utf8_lossy(value).into_owned()),
            _ => Err(failed("check-attr", &answer)),
        }
    }

    /// A version of a file that git could not merge, by its name in the directory; `None` if git has no such version.
    pub fn stage(&self, name: &str, stage: Stage) -> Option<Vec<u8>> {
        let object = format!(":{}:{}", stage as u8, self.directory.join(name));
        let answer = self.launcher.run(["cat-file", "blob", &object]).ok()?;
        answer.succeeded().then_some(answer.stdout)
    }
}

/// A version of a file in an unfinished merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The common ancestor.
    Base = 1,
    Ours = 2,
    Theirs = 3,
}

fn failed(task: &'static str, answer: &Answer) -> GitError {
    GitError::Failed { task, reason: answer.said() }
}
