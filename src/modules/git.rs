//! Packages in git repositories, fetched by the git program.
//!
//! As little as is needed: the one commit, and of it only the configuration where the server can leave out the rest.
//! Nothing is checked out: files are written from the blobs, so no filter, hook or line ending changes
//! them.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `get_git.go`; git's own rules for what a name means.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::address::RemoteAddress;
use super::git_package::{Checkout, GitAccess, SUBMODULES};
use super::refusals::{ambiguous, refused, unfetched};
use super::unpack::{Builder, UnpackError, text_of};
use crate::config::is_root_configuration;
use crate::error::{Error, ErrorKind};
use crate::git::{GitError, GitOutput, Launcher, Transports};
use crate::modulelock::{Reference, Target, is_full_commit};
use crate::net::{Cost, Fault, NetError, RunBudget, ShownUrl};

/// The modes of entries of a tree that are no plain files.
const LINK: &str = "120000";
const PROGRAM: &str = "100755";

/// Objects that are read at once, and the most bytes of them, unless one has more.
const BATCH: usize = 256;
const BATCH_BYTES: u64 = 16 << 20;

/// The most bytes of a list of files, names or objects: many times that of the largest package. Of a few trees a repository
/// may make any number of files, and a server may name any number of branches.
const MAX_LIST: u64 = 64 << 20;

/// How long the list of references may take.
const LISTING: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct BareRepository {
    launcher: Launcher,
    /// As passed to git.
    url: String,
    /// As shown to users.
    shown: String,
    /// The address, and what the run may still spend on its host.
    address: Url,
    budget: Arc<RunBudget>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Submodule {
    pub(super) path: String,
    pub(super) commit: String,
    pub(super) url: String,
}

/// A section of `.gitmodules`: all values of each of its settings.
type ConfigSection = BTreeMap<String, Vec<String>>;

/// The value of a setting that is made once.
fn one<'a>(section: &'a ConfigSection, field: &str) -> Option<&'a str> {
    section.get(field).filter(|values| values.len() == 1).map(|values| values[0].as_str())
}

/// True for a section by which git does nothing but fetch and check out.
fn is_plain(section: &ConfigSection) -> bool {
    section.get("url").is_some_and(|urls| urls.len() == 1 && !urls[0].is_empty())
        && section.get("update").is_none_or(|updates| updates == &["checkout"])
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Configuration, and links that may lead to some.
    Configuration,
    Whole,
}

struct ListedObject {
    mode: String,
    id: String,
    name: String,
}

impl BareRepository {
    /// A repository that is empty here, in an existing directory.
    pub(super) fn open(bare: &Path, address: &RemoteAddress, access: &GitAccess) -> Result<Self, Error> {
        let url = address.plain_url();
        let shown = ShownUrl::new(&url).as_str().to_owned();
        let transports = if url.scheme() == "file" { Transports::Files } else { Transports::Network };
        let launcher = Launcher::fetch(bare, transports, access.limit, access.interrupt.clone())
            .with_silent_ssh()
            .at_most(MAX_LIST);
        let budget = Arc::clone(&access.budget);
        let repository = Self { launcher, url: url.as_str().to_owned(), shown, address: url, budget };
        // Before anything is set up for a host that is not contacted any more.
        repository.budget.check(&repository.address).map_err(|fault| repository.unspent(fault))?;
        repository.run("init", &["init", "--quiet", "--bare"])?;
        repository.run("remote", &["remote", "add", "--", "origin", &repository.url])?;
        Ok(repository)
    }

    /// The commit that a `ref` names; without one that of the default branch.
    pub(super) fn resolve(&self, reference: &Reference) -> Result<Target, Error> {
        let patterns = reference.patterns();
        let mut args = vec!["ls-remote", "--quiet", "--symref", "origin", "HEAD"];
        args.extend(patterns.iter().map(String::as_str));
        let answer = self.list(&args)?;
        let found = reference.resolve(&answer.text()).or_else(|| reference.unlisted());
        found.ok_or_else(|| self.no_commit(reference.name.as_deref()))
    }

    pub(super) fn tags(&self) -> Result<Vec<String>, Error> {
        let answer = self.list(&["ls-remote", "--quiet", "--refs", "--tags", "origin"])?;
        let listed = answer.text();
        let names = listed.lines().filter_map(|line| line.split_once('\t')?.1.strip_prefix("refs/tags/"));
        Ok(names.map(str::to_owned).collect())
    }

    /// Brings a commit here, and gives its full name.
    pub(super) fn fetch(&self, target: &Target) -> Result<String, Error> {
        let shallow = ["fetch", "--quiet", "--depth=1", "--no-tags"];
        if is_full_commit(&target.commit) {
            let args = [&shallow[..], &["--filter=blob:none", "origin", &target.commit]].concat();
            if self.connect(&self.launcher, &args, Vec::new())?.succeeded() {
                return Ok(target.commit.clone());
            }
            // Else git would request blob after blob from a server that does not support filters.
            for setting in ["remote.origin.promisor", "remote.origin.partialclonefilter"] {
                self.attempt(&["config", "--unset-all", setting])?;
            }
        }
        if let Some(name) = &target.name {
            let args = [&shallow[..], &["origin", name]].concat();
            if self.connect(&self.launcher, &args, Vec::new())?.succeeded()
                && let Some(commit) = self.commit("FETCH_HEAD")?
            {
                return Ok(commit);
            }
        }
        // A server that gives no commit by its name, or one of which only a part of the name is known.
        let branches = ["+refs/heads/*:refs/heads/*", "+refs/heads/*:refs/remotes/origin/*"];
        let args = [&["fetch", "--quiet", "--tags", "origin"], &branches[..]].concat();
        let answer = self.connect(&self.launcher, &args, Vec::new())?;
        answer.checked("fetch").map_err(|error| self.failed(error))?;
        self.commit(&target.commit)?.ok_or_else(|| self.no_commit(Some(&target.commit)))
    }

    /// Lays out the files of a commit below a directory of the package; gives the submodules, which belong to it too.
    pub(super) fn lay_out(
        &self,
        commit: &str,
        extent: Extent,
        builder: &mut Builder,
        below: &str,
    ) -> Result<Vec<Submodule>, Error> {
        let answer = self.run("ls-tree", &["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let entries = answer
            .records()
            .filter_map(|record| ListedObject::parse(record).transpose())
            .collect::<Result<Vec<_>, _>>();
        let entries = entries.map_err(|error| refused(&self.shown, &error))?;
        let wanted = |entry: &&ListedObject| {
            extent == Extent::Whole || entry.is_link() || entry.name == SUBMODULES || is_root_configuration(&entry.name)
        };
        let files: Vec<&ListedObject> = entries.iter().filter(|entry| entry.is_blob()).filter(wanted).collect();
        self.complete(commit, &files)?;
        // A directory without configuration is a module as well.
        let folders: BTreeSet<&str> = entries.iter().filter_map(|entry| Some(entry.name.rsplit_once('/')?.0)).collect();
        for folder in folders {
            builder.directory(&within(below, folder)).map_err(|error| refused(&self.shown, &error))?;
        }
        let sizes = self.sizes(&files)?;
        if sizes.iter().fold(0_u64, |sum, size| sum.saturating_add(*size)) > builder.bytes_left() {
            return Err(refused(&self.shown, &UnpackError::TooLarge));
        }
        let (mut rest, mut checkout) = (files.as_slice(), Checkout::default());
        for length in batches(&sizes) {
            let (batch, later) = rest.split_at(length);
            self.write(batch, builder, below, &mut checkout)?;
            rest = later;
        }
        builder.note(checkout.ambiguity());
        let (submodules, refused) = self.submodules(commit, &entries)?;
        builder.note(refused.map(ambiguous));
        Ok(submodules)
    }

    /// The submodules of a commit, and why git might take others: each must have one section that says no more than where it is.
    fn submodules(&self, commit: &str, entries: &[ListedObject]) -> Result<(Vec<Submodule>, Option<String>), Error> {
        let links: Vec<&ListedObject> = entries.iter().filter(|entry| !entry.is_blob()).collect();
        if links.is_empty() {
            return Ok((Vec::new(), None));
        }
        let mut sections = BTreeMap::<String, ConfigSection>::new();
        if entries.iter().any(|entry| entry.name == SUBMODULES) {
            let file = format!("--blob={commit}:{SUBMODULES}");
            let settings = ["config", &file, "-z", "--get-regexp", "^submodule\\..*\\.(path|url|update)$"];
            let answer = self.launcher.run(settings).map_err(|error| self.failed(error))?;
            for setting in answer.texts() {
                // A key alone has no value.
                let (key, value) = setting.split_once('\n').unwrap_or((&setting, ""));
                let Some((name, field)) = key.strip_prefix("submodule.").and_then(|rest| rest.rsplit_once('.')) else {
                    continue;
                };
                let section = sections.entry(name.to_owned()).or_default();
                section.entry(field.to_owned()).or_default().push(value.to_owned());
            }
        }
        let (mut found, mut reason) = (Vec::new(), None);
        for link in &links {
            let name = &link.name;
            let of_path = |(_, section): &(&String, &ConfigSection)| one(section, "path") == Some(name);
            let own: Vec<_> = sections.iter().filter(of_path).collect();
            let own = own.first().filter(|_| own.len() == 1).map(|(_, section)| *section);
            match own.filter(|own| is_plain(own)).and_then(|own| one(own, "url")) {
                Some(url) => {
                    found.push(Submodule { path: name.clone(), commit: link.id.clone(), url: url.to_owned() });
                }
                None => reason = reason.or_else(|| Some(format!("{SUBMODULES} has no plain section for {name:?}"))),
            }
        }
        let is_used = |section: &ConfigSection| links.iter().any(|link| one(section, "path") == Some(&link.name));
        let unused = sections.iter().find(|(_, section)| !is_used(section));
        let reason = reason
            .or_else(|| unused.map(|(name, _)| format!("the section {name:?} of {SUBMODULES} is for no submodule")));
        let words = "one section with path and url for each submodule, and no update but checkout";
        Ok((found, reason.map(|reason| format!("{reason} ({words})"))))
    }

    /// Fetches the blobs that the server left out, all at once.
    fn complete(&self, commit: &str, files: &[&ListedObject]) -> Result<(), Error> {
        let answer = self.run("rev-list", &["rev-list", "--objects", "--missing=print", commit])?;
        let listed = answer.text();
        let missing: BTreeSet<&str> = listed.lines().filter_map(|line| line.strip_prefix('?')).collect();
        let lacking: BTreeSet<&str> =
            files.iter().map(|entry| entry.id.as_str()).filter(|id| missing.contains(id)).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let input = lines(lacking.into_iter());
        let args =
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--stdin", "origin"];
        let answer = self.connect(&self.launcher, &args, input)?;
        answer.checked("fetch").map_err(|error| self.failed(error))?;
        Ok(())
    }

    /// The sizes of files, before any of them is in memory.
    fn sizes(&self, files: &[&ListedObject]) -> Result<Vec<u64>, Error> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let input = lines(files.iter().map(|entry| entry.id.as_str()));
        let answer = self.launcher.run_with(["cat-file", "--batch-check=%(objectsize)"], input);
        let answer = answer.and_then(|answer| answer.checked("cat-file")).map_err(|error| self.failed(error))?;
        let listed = answer.text();
        let sizes: Option<Vec<u64>> = listed.lines().map(|line| line.parse().ok()).collect();
        sizes.filter(|sizes| sizes.len() == files.len()).ok_or_else(|| self.cut_off())
    }

    fn write(
        &self,
        batch: &[&ListedObject],
        builder: &mut Builder,
        below: &str,
        checkout: &mut Checkout,
    ) -> Result<(), Error> {
        let input = lines(batch.iter().map(|entry| entry.id.as_str()));
        // Their sizes are known, and fit.
        let answer = self.launcher.at_most(u64::MAX).run_with(["cat-file", "--batch"], input);
        let answer = answer.and_then(|answer| answer.checked("cat-file")).map_err(|error| self.failed(error))?;
        let mut rest = answer.stdout.as_slice();
        for entry in batch {
            let content = next_blob(&mut rest).ok_or_else(|| self.cut_off())?;
            checkout.file(&entry.name, entry.is_link(), content);
            let name = within(below, &entry.name);
            let written = match entry.mode.as_str() {
                LINK => text_of(content).and_then(|target| builder.link(&name, target)),
                PROGRAM => builder.file(&name, &mut &*content).and_then(|()| builder.executable(&name)),
                _ => builder.file(&name, &mut &*content),
            };
            written.map_err(|error| refused(&self.shown, &error))?;
        }
        Ok(())
    }

    /// What a repository lists, which takes no longer than an answer over HTTP may.
    fn list(&self, args: &[&str]) -> Result<GitOutput, Error> {
        let answer = self.connect(&self.launcher.within(LISTING), args, Vec::new())?;
        let answer = answer.checked("ls-remote").map_err(|error| self.failed(error))?;
        let count = memchr::memchr_iter(b'\n', &answer.stdout).count();
        self.budget.allow(Cost::References, count as u64).map_err(|exhausted| self.unspent(exhausted.into()))?;
        Ok(answer)
    }

    /// Runs a task that connects to the server, if the run may still do so.
    fn connect(&self, launcher: &Launcher, args: &[&str], input: Vec<u8>) -> Result<GitOutput, Error> {
        self.budget.request(&self.address).map_err(|fault| self.unspent(fault))?;
        let left = self.budget.time_left().map_err(|exhausted| self.unspent(exhausted.into()))?;
        let answer = launcher.within(left).run_with(args, input);
        let fault = match &answer {
            Err(GitError::TooSlow { limit, .. }) => Some(Fault::Timeout(*limit)),
            Ok(answer) if !answer.succeeded() && is_silence(&answer.stderr) => Some(Fault::Connect(answer.said())),
            _ => None,
        };
        self.budget.ended(&self.address, fault.as_ref());
        if let (Err(GitError::TooSlow { .. }), Err(exhausted)) = (&answer, self.budget.time_left()) {
            return Err(self.unspent(exhausted.into()));
        }
        answer.map_err(|error| self.failed(error))
    }

    /// Why the server is not contacted.
    fn unspent(&self, fault: Fault) -> Error {
        unfetched(&self.shown, NetError::new(&self.address, fault))
    }

    /// The commit that a name means here.
    fn commit(&self, name: &str) -> Result<Option<String>, Error> {
        let wanted = format!("{name}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        let answer = self.launcher.run(args).map_err(|error| self.failed(error))?;
        let id = answer.text().trim().to_owned();
        Ok((answer.succeeded() && is_full_commit(&id)).then_some(id))
    }

    /// True if git did it; that it was too slow is an error nevertheless.
    fn attempt(&self, args: &[&str]) -> Result<bool, Error> {
        Ok(self.launcher.run(args).map_err(|error| self.failed(error))?.succeeded())
    }

    fn run(&self, task: &'static str, args: &[&str]) -> Result<GitOutput, Error> {
        let answer = self.launcher.run(args).and_then(|answer| answer.checked(task));
        answer.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: GitError) -> Error {
        match error {
            GitError::Start(_) => return error.into(),
            GitError::TooLarge { .. } => {
                let message = format!("the module package from {} is refused: {error}", self.shown);
                return Error::new(ErrorKind::Package, message).about_url(&self.shown);
            }
            _ => {}
        }
        Error::new(ErrorKind::Unavailable, format!("cannot fetch the module from {}: {error}", self.shown))
            .about_url(&self.shown)
            .hint(step!("`git ls-remote {}` must work without a prompt", self.shown))
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

impl ListedObject {
    /// `MODE TYPE ID<TAB>NAME`.
    fn parse(record: &[u8]) -> Result<Option<Self>, UnpackError> {
        let Some(tab) = memchr::memchr(b'\t', record) else { return Ok(None) };
        let (head, name) = (text_of(&record[..tab])?, text_of(&record[tab + 1..])?);
        let [mode, _, id] = head.split(' ').collect::<Vec<_>>()[..] else { return Ok(None) };
        Ok(Some(Self { mode: mode.to_owned(), id: id.to_owned(), name: name.to_owned() }))
    }

    fn is_link(&self) -> bool {
        self.mode == LINK
    }

    /// False for submodules.
    fn is_blob(&self) -> bool {
        self.mode != "160000"
    }
}

fn within(below: &str, name: &str) -> String {
    if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") }
}

/// True if git says that it reached no server.
fn is_silence(said: &[u8]) -> bool {
    let said = String::from_utf8_lossy(said).to_lowercase();
    let words =
        ["could not resolve", "failed to connect", "couldn't connect", "connection refused", "timed out", "too slow"];
    words.iter().any(|word| said.contains(word))
}

/// How many files are read at once, one batch after another.
fn batches(sizes: &[u64]) -> Vec<usize> {
    let (mut found, mut length, mut bytes) = (Vec::new(), 0, 0_u64);
    for size in sizes {
        if length == BATCH || (length > 0 && bytes.saturating_add(*size) > BATCH_BYTES) {
            found.push(length);
            (length, bytes) = (0, 0);
        }
        length += 1;
        bytes = bytes.saturating_add(*size);
    }
    found.extend((length > 0).then_some(length));
    found
}

fn lines<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<u8> {
    ids.flat_map(|id| [id, "\n"]).collect::<String>().into_bytes()
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

    #[test]
    fn large_files_are_read_one_by_one() {
        assert!(batches(&[]).is_empty());
        assert_eq!(batches(&[1; 600]), [256, 256, 88]);
        assert_eq!(batches(&[1, BATCH_BYTES - 1, 1, BATCH_BYTES + 1, u64::MAX, 1, 1]), [2, 1, 1, 1, 2]);
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
