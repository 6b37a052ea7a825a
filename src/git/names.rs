//! Which commit a name means, and earlier contents of a file.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Git, GitError};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::lockfile;
use crate::version::Version;
use crate::words::short_commit;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// As typed.
    pub name: String,
    pub id: String,
    /// The full name of the branch or tag, if it was requested by one and that was looked up.
    pub reference: Option<String>,
}

impl Commit {
    pub(super) fn new(name: impl Into<String>, id: impl Into<String>) -> Self {
        Self { name: name.into(), id: id.into(), reference: None }
    }

    /// The commit for users: its name, and the object name if that says more.
    pub fn shown(&self) -> String {
        if self.id.starts_with(&self.name) || self.name == "HEAD" {
            self.name.clone()
        } else {
            format!("{} ({})", self.name, self.short())
        }
    }

    /// Its object name, short enough for users.
    pub fn short(&self) -> &str {
        short_commit(&self.id)
    }
}

/// What git calls all lock files of a working tree.
fn lock_file_patterns() -> [String; 2] {
    lockfile::NAME_PATTERNS.map(|name| format!(":(top,glob)**/{name}"))
}

impl Git {
    /// The commit that a name means by the rules of git, if any.
    pub fn commit(&self, name: &str) -> Result<Option<Commit>, GitError> {
        if name.is_empty() {
            return Ok(None);
        }
        let wanted = format!("{name}^{{commit}}");
        let answer = self.launcher.run(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])?;
        let id = answer.text().trim().to_owned();
        let found = answer.succeeded() && !id.is_empty();
        Ok(found.then(|| Commit::new(name, id)))
    }

    /// A commit, HEAD, and where their lines of history part, by one call of git; `None` if more calls are needed to say which
    /// they are, or why one of them is missing.
    pub fn with_head(&self, name: &str) -> Result<Option<[Commit; 3]>, GitError> {
        if name.is_empty() || name.starts_with('-') || name.contains("..") {
            return Ok(None);
        }
        let range = format!("{name}^{{commit}}...HEAD^{{commit}}");
        let answer = self.launcher.run(["rev-parse", "--revs-only", &range])?;
        let text = answer.text();
        // Git names the second end first.
        let [head, commit, base] = text.lines().collect::<Vec<_>>()[..] else { return Ok(None) };
        let Some(base) = base.strip_prefix('^').filter(|_| answer.succeeded()) else { return Ok(None) };
        let base = Commit::new(format!("merge base with {name}"), base);
        Ok(Some([Commit::new(name, commit), Commit::new("HEAD", head), base]))
    }

    pub fn known_commit(&self, name: &str) -> Result<Commit, GitError> {
        if let Some(commit) = self.commit(name)? {
            return Ok(commit);
        }
        Err(self.unknown(name)?)
    }

    /// A name that means nothing, with the branch at the remote that may have been meant.
    fn unknown(&self, name: &str) -> Result<GitError, GitError> {
        if name.starts_with("HEAD") && self.has_no_commit()? {
            return Ok(GitError::NoCommit { name: name.to_owned() });
        }
        let remote = format!("origin/{name}");
        let remote = self.commit(&remote)?.map(|commit| commit.name);
        let near = self.near_branch(name)?;
        Ok(GitError::UnknownName { name: name.to_owned(), shallow: self.shallow, remote, near })
    }

    /// The short names of all references below some paths.
    pub fn references(&self, below: &[&str]) -> Result<Vec<String>, GitError> {
        let answer = self.launcher.run(["for-each-ref", "--format=%(refname:short)"].iter().chain(below))?;
        Ok(answer.text().lines().map(str::to_owned).collect())
    }

    /// The branch that was probably meant by a name that means none.
    fn near_branch(&self, name: &str) -> Result<Option<String>, GitError> {
        // A full name never means a branch that is called by the whole of it.
        if name.starts_with("refs/") {
            return Ok(None);
        }
        let branches = self.references(&["refs/heads"])?;
        // The first branch has one of two names, depending on when git was installed.
        let near = |branch: &&String| match name {
            "main" => *branch == "master",
            "master" => *branch == "main",
            _ => strsim::osa_distance(branch, name) <= name.len() / 4,
        };
        Ok(branches.iter().filter(near).min_by_key(|branch| strsim::osa_distance(branch, name)).cloned())
    }

    /// The commit that a name must mean, and that pushing a branch or a tag cannot change.
    ///
    /// Git itself takes the first of six places in which a name may appear, tags before branches, and mentions the others
    /// on standard error only.
    ///
    /// Source: `git help revisions`, `<refname>`.
    ///
    /// The second commit is the merge base with HEAD; `None` if HEAD has no commit yet.
    pub fn certain_commit(&self, name: &str) -> Result<(Commit, Option<Commit>), GitError> {
        let (stem, suffix) = name.split_at(name.find(['~', '^', '@', ':']).unwrap_or(name.len()));
        let reference = self.reference(name, stem)?;
        if reference.is_none() && stem.starts_with("refs/") {
            return Err(self.unknown(name)?);
        }
        // What is in braces behind `@` is about a branch by its short name.
        let full = match &reference {
            Some(reference) if !suffix.starts_with('@') => format!("{reference}{suffix}"),
            _ => name.to_owned(),
        };
        let named = |commit: Commit| Commit { name: name.to_owned(), reference, ..commit };
        if let Some([commit, _, base]) = self.with_head(&full)? {
            return Ok((named(commit), Some(Commit::new(format!("merge base with {name}"), base.id))));
        }
        let commit = named(self.known_commit(&full)?);
        let head = self.commit("HEAD")?;
        let base = head.map(|head| self.merge_base(&commit, &head)).transpose()?;
        Ok((commit, base))
    }

    /// The full name of the one branch or tag that a name means, if any.
    fn reference(&self, name: &str, stem: &str) -> Result<Option<String>, GitError> {
        let is_hex = |text: &str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_own = stem == "HEAD" || stem.ends_with("_HEAD");
        // HEAD and its like come first for git as well, and so does a whole object name.
        if stem.is_empty() || is_own || stem.contains(['*', '?', '[']) || (is_hex(stem) && stem.len() >= 40) {
            return Ok(None);
        }
        let ambiguous = |candidates| Err(GitError::AmbiguousName { name: name.to_owned(), candidates });
        let (places, elsewhere) = self.places(stem)?;
        let [only] = &places[..] else {
            return if places.is_empty() { Ok(None) } else { ambiguous(places) };
        };
        let is_tag = only.starts_with("refs/tags/");
        if is_tag && !elsewhere.is_empty() {
            return ambiguous([&places[..], &elsewhere].concat());
        }
        // `origin/main`, where there is no such branch at the remote that is called origin.
        if !stem.starts_with("refs/") && !only.starts_with("refs/remotes/") && self.begins_with_remote(stem)? {
            return ambiguous(vec![only.clone(), format!("refs/remotes/{stem}")]);
        }
        let described = stem.rsplit_once("-g").map_or(stem, |(_, id)| id);
        if is_hex(described) {
            let answer = self.launcher.run(["rev-parse", &format!("--disambiguate={described}")])?;
            let ids = answer.text().into_owned();
            if let Some(id) = ids.lines().next() {
                return ambiguous(vec![only.clone(), id.to_owned()]);
            }
        }
        Ok(Some(only.clone()))
    }

    /// Where a name is among the places in which git looks, and branches of that name at remotes.
    fn places(&self, stem: &str) -> Result<(Vec<String>, Vec<String>), GitError> {
        let mut places: Vec<String> =
            ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"].map(|place| format!("{place}{stem}")).into();
        places.push(format!("refs/remotes/{stem}/HEAD"));
        if stem.starts_with("refs/") {
            // A full name means that branch, and not a tag called by the whole of it.
            places = vec![stem.to_owned()];
        }
        let of_remotes = format!("refs/remotes/*/{stem}");
        let args = ["for-each-ref", "--format=%(refname)", &of_remotes];
        let answer = self.launcher.run(args.into_iter().chain(places.iter().map(String::as_str)))?;
        let answer = answer.checked("for-each-ref")?;
        let text = answer.text();
        let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
        for found in text.lines() {
            if places.iter().any(|place| place == found) {
                here.push(found.to_owned());
            } else if found
                .strip_prefix("refs/remotes/")
                .and_then(|rest| rest.split_once('/'))
                .is_some_and(|it| it.1 == stem)
            {
                elsewhere.push(found.to_owned());
            }
        }
        Ok((here, elsewhere))
    }

    /// True if the first part of a name is what a remote is called.
    fn begins_with_remote(&self, stem: &str) -> Result<bool, GitError> {
        let Some((remote, _)) = stem.split_once('/') else { return Ok(false) };
        let key = format!("remote.{remote}.url");
        Ok(self.launcher.run(["config", "--get-all", &key])?.succeeded())
    }

    /// True if a commit is HEAD, its upstream, or an ancestor of one of them; a shallow clone may not know.
    pub fn is_in_branch(&self, commit: &Commit) -> Result<bool, GitError> {
        for branch in ["HEAD", "HEAD@{upstream}"] {
            let Some(tip) = self.commit(branch)? else { continue };
            let answer = self.launcher.run(["merge-base", "--is-ancestor", &commit.id, &tip.id])?;
            if answer.succeeded() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where two lines of history part.
    pub fn merge_base(&self, old: &Commit, new: &Commit) -> Result<Commit, GitError> {
        let answer = self.launcher.run(["merge-base", &old.id, &new.id])?;
        let text = answer.text();
        if let Some(id) = text.lines().next().filter(|id| answer.succeeded() && !id.is_empty()) {
            return Ok(Commit::new(format!("merge base with {}", old.name), id));
        }
        let (old, new) = (old.name.clone(), new.name.clone());
        Err(if self.shallow { GitError::TooShallow { old, new } } else { GitError::NoMergeBase { old, new } })
    }
}

/// The last version of a file that had some text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Last {
    pub bytes: Vec<u8>,
    /// The abbreviated name of the last commit with that text.
    pub commit: String,
    /// The day of the commit that removed it; `None` if HEAD still has it.
    pub until: Option<String>,
}

/// When a file was committed, and its bytes; `None` where the commit took it away.
pub type DatedText = (SystemTime, Option<Vec<u8>>);

impl Git {
    /// The file, by its path from the top, in the last commit in which it had a text; `None` if it never did, as far as
    /// the clone reaches. Text that a merge dropped does not count.
    pub fn last_with(&self, path: &str, text: &str) -> Result<Option<Last>, GitError> {
        let Some(head) = self.commit("HEAD")? else { return Ok(None) };
        if let Some(bytes) = self.file_with(&head, path, text)? {
            return Ok(Some(Last { bytes, commit: head.short().to_owned(), until: None }));
        }
        let Some((parent, until)) = self.before_change(path, text)? else { return Ok(None) };
        let bytes = self.file_with(&parent, path, text)?;
        Ok(bytes.map(|bytes| Last { bytes, commit: parent.short().to_owned(), until: Some(until) }))
    }

    /// The file, by its path from the top, in the last commit in which it lacked what a text stands for: HEAD, or the one before the
    /// text was added there or elsewhere in the file; `None` if it has had it as long as it was there, as far as the clone reaches.
    pub fn last_without(
        &self,
        path: &str,
        text: &str,
        lacks: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Last>, GitError> {
        let Some(head) = self.commit("HEAD")? else { return Ok(None) };
        let without = |commit: &Commit| -> Result<Option<Vec<u8>>, GitError> {
            let file = self.files(commit, &[path.to_owned()])?.pop().flatten();
            Ok(file.filter(|bytes| lacks(bytes)))
        };
        if let Some(bytes) = without(&head)? {
            return Ok(Some(Last { bytes, commit: "HEAD".to_owned(), until: None }));
        }
        let Some((parent, until)) = self.before_change(path, text)? else { return Ok(None) };
        let commit = parent.short().to_owned();
        Ok(without(&parent)?.map(|bytes| Last { bytes, commit, until: Some(until) }))
    }

    /// When HEAD was committed, in seconds since 1970; none without a commit.
    pub fn head_time(&self) -> Result<Option<u64>, GitError> {
        let Some(head) = self.commit("HEAD")? else { return Ok(None) };
        let answer = self.launcher.run(["log", "-1", "--no-color", "--format=%ct", &head.id])?.checked("log")?;
        Ok(answer.text().trim().parse().ok())
    }

    /// When a text was first added to a lock file, by the history of a commit; `None` if it never was, as far as
    /// the clone reaches.
    pub fn first_with(&self, commit: &Commit, text: &str) -> Result<Option<SystemTime>, GitError> {
        let (text, patterns) = (format!("-S{text}"), lock_file_patterns());
        let args = ["log", "--no-textconv", "--no-ext-diff", "--no-color", "--format=%ct", &text, &commit.id, "--"];
        let args = args.into_iter().chain(patterns.iter().map(String::as_str));
        let answer = self.launcher.run(args)?.checked("log")?;
        let text = answer.text();
        let seconds = text.lines().last().and_then(|line| line.trim().parse().ok());
        Ok(seconds.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds)))
    }

    /// The texts of a file, by its path from the top, after each of the latest commits that changed it, from a commit backwards.
    pub fn earlier_texts(&self, commit: &Commit, path: &str) -> Result<Vec<DatedText>, GitError> {
        let literal = format!(":(top,literal){path}");
        let args = ["log", "--max-count=200", "--no-color", "--format=%ct %H", &commit.id, "--", &literal];
        let answer = self.launcher.run(args)?.checked("log")?;
        let text = answer.text();
        let mut texts = Vec::new();
        for (seconds, id) in text.lines().filter_map(|line| line.split_once(' ')) {
            let moment = UNIX_EPOCH + Duration::from_secs(seconds.parse().unwrap_or_default());
            texts.push((moment, self.files(&Commit::new(id, id), &[path.to_owned()])?.pop().flatten()));
        }
        Ok(texts)
    }

    /// The lines with a beginning that the latest commits took out of a file, by its path from the top.
    pub fn lines_taken_out(&self, path: &str, beginning: &str) -> Result<BTreeSet<String>, GitError> {
        let path = format!(":(top,literal){path}");
        let args =
            ["log", "--max-count=200", "--no-textconv", "--no-ext-diff", "--no-color", "--format=", "--unified=0"];
        let answer = self.launcher.run(args.iter().copied().chain(["--patch", "--", &path]))?.checked("log")?;
        let text = answer.text();
        let lost = text.lines().filter_map(|line| line.strip_prefix('-'));
        Ok(lost.filter(|line| line.starts_with(beginning)).map(str::to_owned).collect())
    }

    /// The releases that lock files recorded in the latest commits that changed some, each with its provider.
    pub fn once_locked(&self) -> Result<BTreeSet<(ProviderAddr, Version)>, GitError> {
        let patterns = lock_file_patterns();
        let args = ["log", "--max-count=500", "--no-textconv", "--no-ext-diff", "--no-color", "--format="];
        // With the line around each change, which names the provider where the version changed.
        let args = args.into_iter().chain(["--unified=1", "--patch", "--"]);
        let args = args.chain(patterns.iter().map(String::as_str));
        let answer = self.launcher.run(args)?.checked("log")?;
        Ok(releases_in(&answer.text()))
    }

    fn file_with(&self, commit: &Commit, path: &str, text: &str) -> Result<Option<Vec<u8>>, GitError> {
        let file = self.files(commit, &[path.to_owned()])?.pop().flatten();
        Ok(file.filter(|bytes| memchr::memmem::find(bytes, text.as_bytes()).is_some()))
    }

    /// The parent of the last commit that added a text to a file or took it out, and the day of that commit.
    fn before_change(&self, path: &str, text: &str) -> Result<Option<(Commit, String)>, GitError> {
        let (text, path) = (format!("-S{text}"), format!(":(top,literal){path}"));
        let args = ["log", "-1", "--no-textconv", "--no-ext-diff", "--no-color", "--format=%P %cs", &text, "--", &path];
        let answer = self.launcher.run(args)?.checked("log")?;
        let line = answer.text();
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
