//! Packages in git repositories, fetched by the git program.
//!
//! As little as is needed: the one commit, and of it only the configuration where the server can leave out the rest.
//! Nothing is checked out: files are written from the blobs, so that no filter, hook or line ending of anybody changes
//! them.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `get_git.go`; git's own rules for what a name means.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::address::RemoteAddress;
use super::unpack::{Builder, UnpackError};
use crate::error::{Error, ErrorKind};
use crate::git::{Answer, GitError, Launcher, Transports};
use crate::net::ShownUrl;

/// How long one command of git may take.
const LIMIT: Duration = Duration::from_secs(180);

/// Objects that are read at once.
const BATCH: usize = 256;

/// A repository, as far as it is here.
#[derive(Debug)]
pub(super) struct Repository {
    launcher: Launcher,
    /// As git is told.
    url: String,
    /// As people are told.
    shown: String,
}

/// What a `ref` means in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    /// The commit, in full; of a shortened one only what was written.
    pub(super) commit: String,
    /// The full name of the branch or tag.
    name: Option<String>,
}

/// Which files are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Configuration, and links that may lead to some.
    Configuration,
    /// All.
    Whole,
}

/// An entry of a commit's tree.
struct Entry {
    mode: String,
    id: String,
    name: String,
}

impl Repository {
    /// A repository that is empty here, in an existing directory.
    pub(super) fn open(bare: &Path, address: &RemoteAddress) -> Result<Self, Error> {
        let url = address.plain_url();
        let shown = ShownUrl::new(&url).as_str().to_owned();
        let repository = Self {
            launcher: Launcher::fetch(bare, Transports::Network, LIMIT).with_silent_ssh(),
            url: url.into(),
            shown,
        };
        repository.run("init", &["init", "--quiet", "--bare"])?;
        repository.run("remote", &["remote", "add", "--", "origin", &repository.url])?;
        Ok(repository)
    }

    /// The commit that a `ref` means; without one that of the default branch.
    pub(super) fn resolve(&self, reference: Option<&str>) -> Result<Resolved, Error> {
        if let Some(commit) = reference.filter(|text| is_full_commit(text)) {
            return Ok(Resolved { commit: commit.to_ascii_lowercase(), name: None });
        }
        let candidates = candidates(reference);
        let mut args = vec!["ls-remote", "--quiet", "--symref", "origin", "HEAD"];
        args.extend(candidates.iter().map(String::as_str));
        let answer = self.run("ls-remote", &args)?;
        let listed = String::from_utf8_lossy(&answer.stdout);
        if let Some(resolved) = choose(&listed, reference) {
            return Ok(resolved);
        }
        match reference {
            Some(text) if is_short_commit(text) => Ok(Resolved { commit: text.to_owned(), name: None }),
            reference => Err(self.no_commit(reference)),
        }
    }

    /// Brings a commit here, and gives its full name.
    pub(super) fn fetch(&self, resolved: &Resolved) -> Result<String, Error> {
        let shallow = ["fetch", "--quiet", "--depth=1", "--no-tags"];
        if is_full_commit(&resolved.commit) {
            let args = [&shallow[..], &["--filter=blob:none", "origin", &resolved.commit]].concat();
            if self.attempt(&args)? {
                return Ok(resolved.commit.clone());
            }
            // Else git would go on asking, blob by blob, a server that does not know what a filter is.
            for setting in ["remote.origin.promisor", "remote.origin.partialclonefilter"] {
                self.attempt(&["config", "--unset-all", setting])?;
            }
        }
        if let Some(name) = &resolved.name {
            let args = [&shallow[..], &["origin", name]].concat();
            if self.attempt(&args)?
                && let Some(commit) = self.commit("FETCH_HEAD")?
            {
                return Ok(commit);
            }
        }
        // A server that gives no commit by its name, or one of which only a part of the name is known.
        self.run("fetch", &["fetch", "--quiet", "--tags", "origin", "+refs/heads/*:refs/heads/*"])?;
        self.commit(&resolved.commit)?.ok_or_else(|| self.no_commit(Some(&resolved.commit)))
    }

    /// Lays out the files of a commit.
    pub(super) fn lay_out(&self, commit: &str, extent: Extent, builder: &mut Builder) -> Result<(), Error> {
        let answer = self.run("ls-tree", &["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let entries: Vec<Entry> = answer.texts().filter_map(|line| Entry::parse(&line)).collect();
        let wanted =
            |entry: &&Entry| extent == Extent::Whole || entry.is_link() || super::is_configuration(&entry.name);
        let files: Vec<&Entry> = entries.iter().filter(|entry| entry.is_blob()).filter(wanted).collect();
        self.complete(commit, &files)?;
        // A directory without configuration is a module as well.
        let folders: BTreeSet<&str> = entries.iter().filter_map(|entry| Some(entry.name.rsplit_once('/')?.0)).collect();
        for folder in folders {
            builder.directory(folder).map_err(|error| refused(&self.shown, &error))?;
        }
        for batch in files.chunks(BATCH) {
            self.write(batch, builder)?;
        }
        Ok(())
    }

    /// Fetches the blobs that the server left out, all at once.
    fn complete(&self, commit: &str, files: &[&Entry]) -> Result<(), Error> {
        let answer = self.run("rev-list", &["rev-list", "--objects", "--missing=print", commit])?;
        let listed = String::from_utf8_lossy(&answer.stdout);
        let missing: BTreeSet<&str> = listed.lines().filter_map(|line| line.strip_prefix('?')).collect();
        let lacking: BTreeSet<&str> =
            files.iter().map(|entry| entry.id.as_str()).filter(|id| missing.contains(id)).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let input = lines(lacking.into_iter());
        let args =
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--stdin", "origin"];
        let answer = self.launcher.run_with(args, input).map_err(|error| self.failed(error))?;
        answer.checked("fetch").map_err(|error| self.failed(error))?;
        Ok(())
    }

    fn write(&self, batch: &[&Entry], builder: &mut Builder) -> Result<(), Error> {
        let input = lines(batch.iter().map(|entry| entry.id.as_str()));
        let answer = self.launcher.run_with(["cat-file", "--batch"], input);
        let answer = answer.and_then(|answer| answer.checked("cat-file")).map_err(|error| self.failed(error))?;
        let mut rest = answer.stdout.as_slice();
        for entry in batch {
            let content = next_blob(&mut rest).ok_or_else(|| self.cut_off())?;
            let written = if entry.is_link() {
                builder.link(&entry.name, &String::from_utf8_lossy(content))
            } else {
                builder.file(&entry.name, &mut &*content)
            };
            written.map_err(|error| refused(&self.shown, &error))?;
        }
        Ok(())
    }

    /// The commit that a name means here.
    fn commit(&self, name: &str) -> Result<Option<String>, Error> {
        let wanted = format!("{name}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        let answer = self.launcher.run(args).map_err(|error| self.failed(error))?;
        let id = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        Ok((answer.succeeded() && is_full_commit(&id)).then_some(id))
    }

    /// True if git did it; that it was too slow is an error nevertheless.
    fn attempt(&self, args: &[&str]) -> Result<bool, Error> {
        Ok(self.launcher.run(args).map_err(|error| self.failed(error))?.succeeded())
    }

    fn run(&self, task: &'static str, args: &[&str]) -> Result<Answer, Error> {
        let answer = self.launcher.run(args).and_then(|answer| answer.checked(task));
        answer.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: GitError) -> Error {
        if matches!(error, GitError::Start(_)) {
            return error.into();
        }
        Error::new(ErrorKind::Unavailable, format!("cannot fetch the module from {}: {error}", self.shown))
            .about_url(&self.shown)
            .hint(format!("`git ls-remote {}` must work without a prompt", self.shown))
    }

    fn cut_off(&self) -> Error {
        Error::new(ErrorKind::Unavailable, format!("cannot fetch the module from {}: a file is missing", self.shown))
    }

    fn no_commit(&self, reference: Option<&str>) -> Error {
        let message = match reference {
            Some(reference) => {
                format!("the module's repository {} has no branch, tag or commit {reference:?}", self.shown)
            }
            None => format!("the module's repository {} has no default branch", self.shown),
        };
        Error::new(ErrorKind::NotFound, message).hint("correct the ref in the source of the module call")
    }
}

impl Entry {
    /// `MODE TYPE ID<TAB>NAME`.
    fn parse(line: &str) -> Option<Self> {
        let (head, name) = line.split_once('\t')?;
        let mut fields = head.split(' ');
        let (mode, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self { mode: mode.to_owned(), id: id.to_owned(), name: name.to_owned() })
    }

    fn is_link(&self) -> bool {
        self.mode == "120000"
    }

    /// False for submodules.
    fn is_blob(&self) -> bool {
        self.mode != "160000"
    }
}

/// What a package does that no honest one does.
pub(super) fn refused(source: &str, error: &UnpackError) -> Error {
    let kind = if matches!(error, UnpackError::Disk { .. }) { ErrorKind::Disk } else { ErrorKind::Package };
    Error::new(kind, format!("the module package from {source} is refused: {error}")).about_url(source)
}

/// The names that a `ref` may stand for.
fn candidates(reference: Option<&str>) -> Vec<String> {
    let Some(name) = reference else { return Vec::new() };
    if name.starts_with("refs/") {
        return vec![name.to_owned(), format!("{name}^{{}}")];
    }
    let branch = name.strip_prefix("origin/").unwrap_or(name);
    vec![format!("refs/tags/{name}"), format!("refs/tags/{name}^{{}}"), format!("refs/heads/{branch}")]
}

/// Chooses as `git checkout` does in a fresh clone: the default branch by its name, then a tag, then another branch.
fn choose(listed: &str, reference: Option<&str>) -> Option<Resolved> {
    let lines = || listed.lines().filter_map(|line| line.split_once('\t'));
    let commit = |name: &str| {
        let of = |name: &str| lines().find(|(id, listed)| *listed == name && is_full_commit(id));
        of(&format!("{name}^{{}}")).or_else(|| of(name)).map(|(id, _)| id.to_owned())
    };
    let found = |name: &str| commit(name).map(|commit| Resolved { commit, name: Some(name.to_owned()) });
    let Some(reference) = reference else { return found("HEAD") };
    let default = lines().find_map(|(target, name)| target.strip_prefix("ref: ").filter(|_| name == "HEAD"));
    let mut names: Vec<String> = candidates(Some(reference));
    names.retain(|name| !name.ends_with("^{}"));
    let is_default = |name: &String| Some(name.as_str()) == default && *name == format!("refs/heads/{reference}");
    names.sort_by_key(|name| !is_default(name));
    names.iter().find_map(|name| found(name))
}

fn lines<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<u8> {
    ids.flat_map(|id| [id, "\n"]).collect::<String>().into_bytes()
}

fn is_full_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_short_commit(text: &str) -> bool {
    (4..40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Takes one blob from the answer of `cat-file --batch`.
fn next_blob<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = memchr::memchr(b'\n', rest)?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let [_, "blob", size] = head.split(' ').collect::<Vec<_>>()[..] else { return None };
    let (start, size) = (end + 1, size.parse::<usize>().ok()?);
    let content = rest.get(start..start.checked_add(size)?)?;
    *rest = rest.get(start + size + 1..)?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";
    const TAG: &str = "3333333333333333333333333333333333333333";

    fn chosen(listed: &str, reference: Option<&str>) -> Option<(String, String)> {
        choose(listed, reference).map(|resolved| (resolved.commit, resolved.name.unwrap()))
    }

    #[test]
    fn names_mean_what_they_mean_in_a_fresh_clone() {
        let head = format!("ref: refs/heads/main\tHEAD\n{ONE}\tHEAD\n");
        let listed = format!(
            "{head}{ONE}\trefs/heads/main\n{TWO}\trefs/heads/v1\n{TAG}\trefs/tags/v1\n{ONE}\trefs/tags/v1^{{}}\n"
        );
        let of = |commit: &str, name: &str| Some((commit.to_owned(), name.to_owned()));
        assert_eq!(chosen(&listed, None), of(ONE, "HEAD"));
        assert_eq!(chosen(&listed, Some("main")), of(ONE, "refs/heads/main"));
        // A tag goes before a branch, and stands for the commit that it is about.
        assert_eq!(chosen(&listed, Some("v1")), of(ONE, "refs/tags/v1"));
        assert_eq!(chosen(&listed, Some("origin/v1")), of(TWO, "refs/heads/v1"));
        assert_eq!(chosen(&listed, Some("refs/heads/v1")), of(TWO, "refs/heads/v1"));
        assert_eq!(chosen(&listed, Some("v9")), None);
        // But the default branch is checked out already.
        let twin = format!("{head}{ONE}\trefs/heads/main\n{TWO}\trefs/tags/main\n");
        assert_eq!(chosen(&twin, Some("main")), of(ONE, "refs/heads/main"));
    }

    #[test]
    fn blobs_are_taken_one_by_one() {
        let mut rest: &[u8] = b"1 blob 3\na\nb\n2 blob 0\n\n3 missing\n";
        assert_eq!(next_blob(&mut rest), Some(&b"a\nb"[..]));
        assert_eq!(next_blob(&mut rest), Some(&b""[..]));
        assert_eq!(next_blob(&mut rest), None);
        assert_eq!(next_blob(&mut &b"1 blob 9\nab"[..]), None);
        assert_eq!(next_blob(&mut &b"1 blob 18446744073709551615\nab"[..]), None);
    }
}
