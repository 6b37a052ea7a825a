//! A package from git: one commit of a repository, with the submodules that belong to it, and whether a checkout would change its
//! files: `.gitattributes` is in no hash, and may change what is installed.
//!
//! Which pattern of an attribute applies to which file is not imitated. An attribute that changes bytes counts wherever it is set; line
//! ends may be converted, and objects of Git LFS are named by their digest.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `get_git.go`, `fetchSubmodules`; git's own rules for relative addresses;
//! `gitattributes(5)`; git `attr.c`, `convert.c`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::address::{FetchMethod, RemoteAddress};
use super::git::{BareRepository, Extent, Submodule};
use super::refusals::{ModuleHosts, allow_url, ambiguous, refused};
use super::store::{PackageRecord, Store, StoredModule};
use super::unpack::{Builder, counts, is_read_as};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Interrupt;
use crate::modulelock::{Ambiguity, Offered, Reference, Target};
use crate::net::{Cost, RunBudget};
use crate::version::{newer_tag, version_of_tag};

/// The most submodules of a package, those of submodules counted.
const MAX_SUBMODULES: usize = 100;

#[derive(Debug, Clone)]
pub(super) struct GitPackage {
    pub(super) address: RemoteAddress,
    /// The commit, if it is known; otherwise that of the `ref`.
    pub(super) commit: Option<String>,
    pub(super) extent: Extent,
}

impl GitPackage {
    /// By what a commit of the repository is found again.
    fn key(&self, commit: &str) -> String {
        // What was kept of whole packages before was not examined for all that a checkout may change.
        let whole = if self.extent == Extent::Whole { "whole examined " } else { "" };
        format!("git {whole}{} {commit}", self.address.plain_url())
    }
}

/// Where packages are put, and the rules for fetching them.
#[derive(Debug, Clone)]
pub(super) struct GitAccess {
    pub(super) store: Arc<Store>,
    pub(super) limit: Duration,
    pub(super) interrupt: Interrupt,
    pub(super) budget: Arc<RunBudget>,
    /// The hosts that repositories may come from.
    pub(super) hosts: ModuleHosts,
    pub(super) work_tree: Option<PathBuf>,
}

/// Fetches a package, unless the store has that commit; also says why its `ref` could name a different one.
pub(super) fn fetch(access: &GitAccess, package: &GitPackage) -> Result<(StoredModule, Option<Ambiguity>), Error> {
    let store = &access.store;
    let staging = store.staging()?;
    let bare = staging.path().join("repository");
    let address = &package.address;
    let repository = access.open(&bare, address)?;
    let target = match &package.commit {
        Some(commit) => Target::exactly(commit),
        None if package.extent == Extent::Whole => judged(access, address, &repository)?,
        None => repository.resolve(&Reference::of(&address.url))?,
    };
    if let Some(known) = store.package(&package.key(&target.commit)) {
        return Ok((known, target.ambiguity));
    }
    let commit = repository.fetch(&target)?;
    let mut layout =
        PackageLayout { top: staging.path(), extent: package.extent, access, from: BTreeSet::new(), count: 0 };
    let mut builder = Builder::new(&staging.path().join("tree"));
    let submodules = repository.lay_out(&commit, package.extent, &mut builder, "")?;
    for submodule in submodules {
        layout.submodule(address, &submodule, &mut builder, "")?;
    }
    let from = layout.from;
    let contents = builder.finish().map_err(|error| refused(&address.package(), &error))?;
    access.budget.spend(Cost::Unpacked, contents.bytes)?;
    drop(repository);
    let _ = std::fs::remove_dir_all(&bare);
    let record = PackageRecord::of(address.package(), contents);
    // Of a part there is no hash.
    let is_whole = package.extent == Extent::Whole;
    let (hash, ambiguity) = if is_whole { (record.hash.clone(), record.ambiguity.clone()) } else { (None, None) };
    let record = PackageRecord { commit: Some(commit.clone()), hash, ambiguity, hosts: from, ..record };
    Ok((store.keep(&package.key(&commit), staging, record)?, target.ambiguity))
}

/// The commit that the `ref` of an address means now, whether that goes on, and why it could mean other files.
pub(super) fn resolve(access: &GitAccess, address: &RemoteAddress) -> Result<Target, Error> {
    let staging = access.store.staging()?;
    judged(access, address, &access.open(&staging.path().join("repository"), address)?)
}

/// The tools check out the default branch before a `ref`, and git leaves files alone that both commits have: what that checkout
/// changes is installed.
fn judged(access: &GitAccess, address: &RemoteAddress, repository: &BareRepository) -> Result<Target, Error> {
    let target = repository.resolve(&Reference::of(&address.url))?;
    let (None, Some(first)) = (&target.ambiguity, &target.first) else { return Ok(target) };
    let first = GitPackage { address: address.clone(), commit: Some(first.clone()), extent: Extent::Whole };
    let ambiguity = fetch(access, &first)?.0.record.ambiguity.map(|it| Ambiguity {
        reason: format!("the tools check out the default branch first, and {}", it.reason),
        help: "Add `depth=1` to a `ref` that is a tag or branch, or keep a copy of the module in the repository."
            .to_owned(),
    });
    Ok(Target { ambiguity, ..target })
}

/// What a repository has: what the `ref` of an address means now and, where that is a version, the newest tag of its kind.
pub(super) fn offered(access: &GitAccess, address: &RemoteAddress) -> Result<Offered, Error> {
    let staging = access.store.staging()?;
    let repository = access.open(&staging.path().join("repository"), address)?;
    let reference = Reference::of(&address.url);
    let commit = repository.resolve(&reference)?.commit;
    let tagged = reference.name.filter(|reference| version_of_tag(reference).is_some());
    let newer = match &tagged {
        Some(reference) => newer_tag(reference, repository.tags()?.iter().map(String::as_str)).map(str::to_owned),
        None => None,
    };
    Ok(Offered::Commit { commit, tagged, newer })
}

impl GitAccess {
    /// A repository that is empty yet. The only place from which git gets to contact a host.
    fn open(&self, bare: &Path, address: &RemoteAddress) -> Result<BareRepository, Error> {
        allow_url(self.hosts.as_ref(), &address.url)?;
        std::fs::create_dir(bare).map_err(|reason| Error::new(ErrorKind::Disk, reason.to_string()).in_file(bare))?;
        BareRepository::open(bare, address, self)
    }
}

struct PackageLayout<'a> {
    /// Where repositories are put for as long as that takes.
    top: &'a Path,
    extent: Extent,
    access: &'a GitAccess,
    /// The hosts that they came from.
    from: BTreeSet<String>,
    count: usize,
}

impl PackageLayout<'_> {
    fn submodule(
        &mut self,
        parent: &RemoteAddress,
        submodule: &Submodule,
        builder: &mut Builder,
        below: &str,
    ) -> Result<(), Error> {
        self.count += 1;
        bounded(self.count, parent)?;
        let address = address_of(parent, submodule)?;
        match address.host() {
            Some(host) => _ = self.from.insert(host),
            None if address.is_within(self.access.work_tree.as_deref()) => {}
            None => return Err(unfetched(parent, submodule, &"it is outside of the working tree")),
        }
        let bare = self.top.join(format!("submodule-{}", self.count));
        let repository = self.access.open(&bare, &address)?;
        let commit = repository.fetch(&Target::exactly(&submodule.commit))?;
        let below = if below.is_empty() { submodule.path.clone() } else { format!("{below}/{}", submodule.path) };
        let inner = repository.lay_out(&commit, self.extent, builder, &below)?;
        drop(repository);
        let _ = std::fs::remove_dir_all(&bare);
        inner.iter().try_for_each(|inner| self.submodule(&address, inner, builder, &below))
    }
}

/// Where a submodule is; relative addresses are relative to the repository as a directory.
fn address_of(parent: &RemoteAddress, submodule: &Submodule) -> Result<RemoteAddress, Error> {
    let unusable = |reason: &dyn std::fmt::Display| unfetched(parent, submodule, reason);
    if submodule.url.starts_with("./") || submodule.url.starts_with("../") {
        let mut base = parent.plain_url();
        base.set_path(&format!("{}/", base.path().trim_end_matches('/')));
        let url: Url = base.join(&submodule.url).map_err(|reason| unusable(&reason))?;
        return Ok(RemoteAddress { method: FetchMethod::Git, url, subdir: String::new() });
    }
    RemoteAddress::parse(&format!("git::{}", submodule.url))
        .or_else(|_| RemoteAddress::parse(&submodule.url))
        .map(|address| RemoteAddress { subdir: String::new(), ..address })
        .map_err(|reason| unusable(&reason))
}

fn unfetched(parent: &RemoteAddress, submodule: &Submodule, reason: &dyn std::fmt::Display) -> Error {
    let message = format!("the submodule {:?} of {} cannot be fetched: {reason}", submodule.path, parent.package());
    Error::new(ErrorKind::Package, message)
}

/// Refuses more submodules than any package has.
fn bounded(count: usize, parent: &RemoteAddress) -> Result<(), Error> {
    if count <= MAX_SUBMODULES {
        return Ok(());
    }
    let message = format!("the module package from {} has more than {MAX_SUBMODULES} submodules", parent.package());
    Err(Error::new(ErrorKind::Package, message))
}

/// Where a repository says what a checkout does.
pub(super) const ATTRIBUTES: &str = ".gitattributes";

/// Where a repository says what its submodules are.
pub(super) const SUBMODULES: &str = ".gitmodules";

/// What the files of a commit say about its checkout.
#[derive(Debug, Default)]
pub(super) struct Checkout {
    /// A file of attributes that sets one by which bytes change, and that attribute.
    converts: Option<(String, String)>,
    /// A file of attributes that has `$Id$` expanded.
    ident: Option<String>,
    /// A file that has such a text.
    expands: Option<String>,
}

impl Checkout {
    /// Takes a file into account.
    pub(super) fn file(&mut self, name: &str, is_link: bool, content: &[u8]) {
        if is_control_file(name) && (is_link || !is_exact(name)) {
            self.converts.get_or_insert((name.to_owned(), "read as a file by some systems only".to_owned()));
        } else if is_read_as(own(name), ATTRIBUTES) {
            for word in words(content) {
                if word == "ident" || word.starts_with("ident=") {
                    self.ident.get_or_insert_with(|| name.to_owned());
                } else if converts(&word) {
                    self.converts.get_or_insert_with(|| (name.to_owned(), word));
                }
            }
        } else if counts(name) && !is_link && ["$Id$", "$Id:"].iter().any(|text| has(content, text)) {
            self.expands.get_or_insert_with(|| name.to_owned());
        }
    }

    /// Why what a checkout installs is not what is hashed.
    pub(super) fn ambiguity(self) -> Option<Ambiguity> {
        let expanded = self.ident.zip(self.expands);
        let expanded = expanded
            .map(|(attributes, name)| format!("{attributes} has ident, by which a checkout may change $Id$ in {name}"));
        let reason =
            self.converts.map(|(attributes, word)| format!("a checkout may change files: {attributes}: {word}"));
        reason.or(expanded).map(ambiguous)
    }
}

/// True for files that say what git makes of others, under any name that some system takes for theirs.
pub(super) fn is_control_file(name: &str) -> bool {
    is_read_as(own(name), ATTRIBUTES) || (!name.contains('/') && is_read_as(name, SUBMODULES))
}

fn is_exact(name: &str) -> bool {
    own(name) == ATTRIBUTES || name == SUBMODULES
}

/// All words of a file of attributes but those of its comments. A quoted pattern may end where an attribute begins.
fn words(content: &[u8]) -> impl Iterator<Item = String> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let lines = content.split(|byte| *byte == b'\n');
    let lines = lines.filter(move |line| line.iter().find(|byte| !is_blank(byte)) != Some(&b'#'));
    let words = lines.flat_map(move |line| line.split(move |byte| is_blank(byte) || *byte == b'"'));
    words.map(|word| String::from_utf8_lossy(word).into_owned())
}

/// True for an attribute by which a checkout writes other bytes than are stored.
fn converts(word: &str) -> bool {
    let same = ["working-tree-encoding=utf-8", "working-tree-encoding=utf8"];
    let is_same = same.iter().any(|same| word.eq_ignore_ascii_case(same));
    (word.starts_with("working-tree-encoding") && !is_same) || (word.starts_with("filter=") && word != "filter=lfs")
}

fn has(content: &[u8], text: &str) -> bool {
    memchr::memmem::find(content, text.as_bytes()).is_some()
}

fn own(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(url: &str) -> Result<String, String> {
        let parent = RemoteAddress::parse("git::https://me:pw@h.example/a/b.git?ref=v1").unwrap();
        let submodule = Submodule { path: "m".to_owned(), commit: "1".repeat(40), url: url.to_owned() };
        let address = address_of(&parent, &submodule);
        address.map(|address| address.plain_url().to_string()).map_err(|error| error.message)
    }

    #[test]
    fn addresses_of_submodules() {
        for (url, expected) in [
            ("../c.git", "https://me:pw@h.example/a/c.git"),
            ("./c", "https://me:pw@h.example/a/b.git/c"),
            ("../../x/c", "https://me:pw@h.example/x/c"),
            ("https://o.example/c.git", "https://o.example/c.git"),
            ("git@o.example:a/c.git", "ssh://git@o.example/a/c.git"),
        ] {
            assert_eq!(placed(url).as_deref(), Ok(expected), "{url}");
        }
        for url in ["http://o.example/c", "file:///etc", "/etc", "ext::sh", "git://o.example/c"] {
            assert!(placed(url).is_err(), "{url} {:?}", placed(url));
        }
    }

    #[test]
    fn no_package_has_so_many_submodules() {
        let parent = RemoteAddress::parse("git::https://h.example/a.git").unwrap();
        assert!(bounded(100, &parent).is_ok());
        assert!(bounded(101, &parent).unwrap_err().message.contains("more than 100 submodules"));
    }
}

#[cfg(test)]
mod checkout_tests {
    use super::*;

    fn reason(attributes: &str, text: &str) -> Option<String> {
        let mut checkout = Checkout::default();
        checkout.file("a/.gitattributes", false, attributes.as_bytes());
        checkout.file("run.sh", false, text.as_bytes());
        checkout.ambiguity().map(|it| it.reason)
    }

    #[test]
    fn what_a_checkout_may_change() {
        for (attributes, text) in [
            ("*.tf ident", "$Id$"),
            ("*.tf ident", "\"$Id:\"/*$\""),
            ("[attr]mine -text ident\n* mine", "$Id$"),
            ("\"a b\"ident", "$Id$"),
            ("\u{feff}#x ident", "$Id$"),
            ("*.txt working-tree-encoding=ASCII//TRANSLIT", ""),
            ("*.ps1 working-tree-encoding=UTF-16LE eol=crlf", ""),
            ("*.tf working-tree-encoding", ""),
            ("\t*.key\tfilter=git-crypt\r", ""),
            ("*.bin filter=lfs2", ""),
            ("\"*\"filter=x", ""),
        ] {
            assert!(reason(attributes, text).is_some(), "{attributes}");
        }
    }

    #[test]
    fn files_that_a_checkout_leaves_unchanged() {
        for (attributes, text) in [
            ("", "$Id$"),
            ("* text=auto", "$Id: 1.2 $"),
            ("*.sh text eol=lf\n*.bat text eol=crlf\n*.png binary\n", ""),
            ("# ident filter=x\n  # working-tree-encoding=x\n", "$Id$"),
            ("*.tf -ident !ident -filter !filter -working-tree-encoding", "$Id$"),
            ("*.tf ident", "$ID$ $Id $Identity$"),
            ("*.bin filter=lfs diff=lfs merge=lfs -text", ""),
            ("*.ps1 working-tree-encoding=UTF-8", ""),
            ("docs/** linguist-documentation export-ignore", ""),
        ] {
            assert_eq!(reason(attributes, text), None, "{attributes}");
        }
    }

    #[test]
    fn names_that_some_system_takes_for_another() {
        for name in
            [".GitAttributes", "a/.gitattributes.", ".git\u{200c}attributes", "GITATT~1", "a/gi7d29~1", ".GITMODULES"]
        {
            let mut checkout = Checkout::default();
            checkout.file(name, false, b"");
            assert!(checkout.ambiguity().is_some(), "{name}");
        }
        let mut checkout = Checkout::default();
        checkout.file(".gitattributes", true, b"other");
        assert!(checkout.ambiguity().is_some());
        for name in ["x.gitattributes", "gitattributes", "a/.gitmodules", ".gitignore", "give~"] {
            let mut checkout = Checkout::default();
            checkout.file(name, false, b"filter=x");
            assert_eq!(checkout.ambiguity(), None, "{name}");
        }
    }
}
