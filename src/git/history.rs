//! Earlier contents of a file.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Commit, Git, GitError};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::lockfile;
use crate::version::Version;

/// The last version of a file that had some text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Last {
    pub bytes: Vec<u8>,
    /// The abbreviated name of the last commit with that text.
    pub commit: String,
    /// The day of the commit that removed it; `None` if HEAD still has it.
    pub until: Option<String>,
}

impl Git {
    /// The file, by its path from the top, in the last commit in which it had a text; `None` if it never did, as far as
    /// the clone reaches. Text that a merge dropped does not count.
    pub fn last_with(&self, path: &str, text: &str) -> Result<Option<Last>, GitError> {
        let Some(head) = self.commit("HEAD")? else { return Ok(None) };
        let shown = |commit: &Commit| commit.id.get(..10).unwrap_or(&commit.id).to_owned();
        if let Some(bytes) = self.file_with(&head, path, text)? {
            return Ok(Some(Last { bytes, commit: shown(&head), until: None }));
        }
        let Some((parent, until)) = self.taken_out(path, text)? else { return Ok(None) };
        let bytes = self.file_with(&parent, path, text)?;
        Ok(bytes.map(|bytes| Last { bytes, commit: shown(&parent), until: Some(until) }))
    }

    /// When HEAD was committed, in seconds since 1970; none without a commit.
    pub fn head_time(&self) -> Result<Option<u64>, GitError> {
        let Some(head) = self.commit("HEAD")? else { return Ok(None) };
        let answer = self.launcher.run(["log", "-1", "--no-color", "--format=%ct", &head.id])?.checked("log")?;
        Ok(String::from_utf8_lossy(&answer.stdout).trim().parse().ok())
    }

    /// When a text was first added to a lock file, by the history of a commit; `None` if it never was, as far as
    /// the clone reaches.
    pub fn first_with(&self, commit: &Commit, text: &str) -> Result<Option<SystemTime>, GitError> {
        let (text, pattern) = (format!("-S{text}"), format!(":(top,glob)**/{}", lockfile::FILE_NAME));
        let args =
            ["log", "--no-textconv", "--no-ext-diff", "--no-color", "--format=%ct", &text, &commit.id, "--", &pattern];
        let answer = self.launcher.run(args)?.checked("log")?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let seconds = text.lines().last().and_then(|line| line.trim().parse().ok());
        Ok(seconds.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds)))
    }

    /// The lines with a beginning that the latest commits took out of a file, by its path from the top.
    pub fn lines_taken_out(&self, path: &str, beginning: &str) -> Result<BTreeSet<String>, GitError> {
        let path = format!(":(top,literal){path}");
        let args =
            ["log", "--max-count=200", "--no-textconv", "--no-ext-diff", "--no-color", "--format=", "--unified=0"];
        let answer = self.launcher.run(args.iter().copied().chain(["--patch", "--", &path]))?.checked("log")?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let lost = text.lines().filter_map(|line| line.strip_prefix('-'));
        Ok(lost.filter(|line| line.starts_with(beginning)).map(str::to_owned).collect())
    }

    /// The releases that lock files recorded in the latest commits that changed some, each with its provider.
    pub fn once_locked(&self) -> Result<BTreeSet<(ProviderAddr, Version)>, GitError> {
        let pattern = format!(":(top,glob)**/{}", lockfile::FILE_NAME);
        let args = ["log", "--max-count=500", "--no-textconv", "--no-ext-diff", "--no-color", "--format="];
        // With the line around each change, which names the provider where the version changed.
        let args = args.into_iter().chain(["--unified=1", "--patch", "--", &pattern]);
        let answer = self.launcher.run(args)?.checked("log")?;
        Ok(releases_in(&String::from_utf8_lossy(&answer.stdout)))
    }

    fn file_with(&self, commit: &Commit, path: &str, text: &str) -> Result<Option<Vec<u8>>, GitError> {
        let file = self.files(commit, &[path.to_owned()])?.pop().flatten();
        Ok(file.filter(|bytes| memchr::memmem::find(bytes, text.as_bytes()).is_some()))
    }

    /// The parent of the last commit that took a text out of a file, and the day of that commit.
    fn taken_out(&self, path: &str, text: &str) -> Result<Option<(Commit, String)>, GitError> {
        let (text, path) = (format!("-S{text}"), format!(":(top,literal){path}"));
        let args = ["log", "-1", "--no-textconv", "--no-ext-diff", "--no-color", "--format=%P %cs", &text, "--", &path];
        let answer = self.launcher.run(args)?.checked("log")?;
        let line = String::from_utf8_lossy(&answer.stdout);
        let words: Vec<&str> = line.split_whitespace().collect();
        // A root commit has no parent; the first one of several is the line of history that was merged into.
        let [parent, .., day] = words[..] else { return Ok(None) };
        Ok(Some((Commit::new(parent, parent), day.to_owned())))
    }
}

/// The releases in the lines of a patch of lock files, as the tools write them.
fn releases_in(patch: &str) -> BTreeSet<(ProviderAddr, Version)> {
    let (mut releases, mut provider) = (BTreeSet::new(), None);
    for line in patch.lines() {
        let line = line.get(1..).unwrap_or_default().trim();
        let value = line.split('"').nth(1).unwrap_or_default();
        if line.starts_with("provider \"") {
            // The address is a full one, so it is read alike for either tool.
            provider = ProviderAddr::parse(value, Dialect::Terraform).ok();
        } else if let (Some(addr), true, Ok(version)) = (&provider, line.starts_with("version "), value.parse()) {
            releases.insert((addr.clone(), version));
        } else if line.starts_with('@') || line == "}" {
            provider = None;
        }
    }
    releases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_patches() {
        let patch = "--- a/x/.terraform.lock.hcl\n+++ b/x/.terraform.lock.hcl\n@@ -3,4 +3,4 @@\n provider \"a.example/b/c\" {\n\
                     -  version     = \"1.0.0\"\n+  version     = \"1.1.0\"\n   constraints = \"~> 1.0\"\n@@ -20,2 +20,2 @@\n\
                     -  version = \"3.0.0\"\n+provider \"a.example/b/d\" {\n+  version = \"2.0.0\"\n+}\n";
        let found: Vec<String> = releases_in(patch).iter().map(|(addr, version)| format!("{addr} {version}")).collect();
        assert_eq!(found, ["a.example/b/c 1.0.0", "a.example/b/c 1.1.0", "a.example/b/d 2.0.0"]);
    }
}
