//! What the `ref` of a git source names, and whether the tools could read it in another way.
//!
//! Where git looks for a name depends on `depth`, on the default branch and on what a clone brings along. Nothing of this is
//! imitated: a `ref` that could name two commits is ambiguous.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `get_git.go`; `gitrevisions(7)`; git `builtin/checkout.c`, `builtin/clone.c`.
//!
//! The text of module locks, decoded and encoded.

use std::path::Path;

use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, Body};
use url::Url;

use super::{Ambiguity, FILE_NAME, LockedModule, ModuleContent, ModuleKey, ModuleLock, ModuleLockFile};
use crate::config::ModuleSource;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::hash::{HashScheme, PackageHash};
use crate::hcl::document::{self, Literal, Reader, Schema, Value, Writer, last_byte, start};
use crate::hcl::{Anchor, Comments};
use crate::version::ModuleVersion;

/// First parts of names that git looks up in a place of its own.
const PREFIXES: [&str; 6] = ["heads", "tags", "remotes", "origin", "main-worktree", "worktrees"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The `ref`; none for the default branch.
    pub name: Option<String>,
    /// True if the tools clone with `--depth`, which reads `ref` as a branch or tag.
    shallow: bool,
    /// True if a parameter is written in a way that parsers do not agree on.
    is_malformed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The commit, in full; otherwise what only git can look up.
    pub commit: String,
    /// The full name of the branch or tag.
    pub name: Option<String>,
    /// The other commit, of the default branch, that the tools check out before this one: git leaves files alone that both
    /// have, as the attributes of that one made them.
    pub first: Option<String>,
    pub ambiguity: Option<Ambiguity>,
}

impl Target {
    /// One commit, by its full name.
    pub fn exactly(commit: &str) -> Self {
        Self { commit: commit.to_owned(), name: None, first: None, ambiguity: None }
    }

    /// True for a branch, which is meant to move.
    pub fn is_moving(&self) -> bool {
        self.name.as_ref().is_some_and(|name| !name.starts_with("refs/tags/"))
    }
}

impl Reference {
    pub fn of(url: &Url) -> Self {
        let query = url.query().unwrap_or_default();
        let values = |wanted: &str| {
            let pairs = url.query_pairs().filter(move |(key, _)| key == wanted);
            pairs.map(|(_, value)| value.into_owned()).collect::<Vec<_>>()
        };
        let (names, depths) = (values("ref"), values("depth"));
        let is_bad_escape = |part: &str| part.len() < 2 || !part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        let is_malformed = names.len() > 1
            || depths.len() > 1
            || query.contains(';')
            || query.split('%').skip(1).any(is_bad_escape)
            || names.iter().any(|name| name.contains(char::REPLACEMENT_CHARACTER));
        // As Go's `Atoi`: `01` and `+1` are 1, and what is no number is 0.
        let shallow = depths.iter().any(|depth| depth.parse::<i64>().is_ok_and(|depth| depth > 0));
        Self { name: names.into_iter().next().filter(|name| !name.is_empty()), shallow, is_malformed }
    }

    /// Why no repository is needed to see that the tools could read it in another way.
    pub fn ambiguity(&self) -> Option<Ambiguity> {
        if self.is_malformed {
            return Some(self.refused("the parameters of the source are read differently by different programs"));
        }
        let name = self.name.as_deref()?;
        let last = name.rsplit('/').next().unwrap_or(name).to_ascii_uppercase();
        let first = name.split('/').next().unwrap_or(name).to_ascii_lowercase();
        let is_named = name.starts_with("refs/tags/") || name.starts_with("refs/heads/");
        let is_own = PREFIXES.contains(&first.as_str()) || (first == "refs" && !is_named);
        if name == "@" || last == "HEAD" || last.ends_with("_HEAD") || is_own {
            return Some(self.refused(&format!("the ref {name:?} names different things in different clones")));
        }
        let needs_all = is_named || is_full_commit(name);
        (self.shallow && needs_all)
            .then(|| self.refused(&format!("with depth, the ref {name:?} can only name a branch or tag called so")))
    }

    /// The names to request from a repository.
    pub fn patterns(&self) -> Vec<String> {
        let Some(name) = &self.name else { return Vec::new() };
        let own = name.starts_with("refs/").then(|| name.clone());
        let names = own.into_iter().chain([format!("refs/tags/{name}"), format!("refs/heads/{name}")]);
        names.flat_map(|name| [format!("{name}^{{}}"), name]).collect()
    }

    /// Chooses from the list of `git ls-remote --symref`; `None` if nothing there has the name.
    pub fn resolve(&self, listed: &str) -> Option<Target> {
        let lines = || listed.lines().filter_map(|line| line.split_once('\t'));
        let id = |name: &str| lines().find(|(id, listed)| *listed == name && is_full_commit(id)).map(|(id, _)| id);
        let commit = |name: &str| id(&format!("{name}^{{}}")).or_else(|| id(name)).map(str::to_owned);
        let default = lines().find_map(|(target, name)| target.strip_prefix("ref: ").filter(|_| name == "HEAD"));
        let Some(name) = self.name.as_deref() else {
            let ambiguity = (self.shallow && !default.is_some_and(|name| name.starts_with("refs/heads/")))
                .then(|| self.refused("with depth, the tools take a branch, and the repository has no default branch"));
            let found = |commit| Target { commit, name: Some("HEAD".to_owned()), first: None, ambiguity };
            return commit("HEAD").map(found);
        };
        let branch = format!("refs/heads/{name}");
        let own = name.starts_with("refs/").then(|| name.to_owned());
        // On systems that fold case, the default branch is found by another spelling too.
        let folded = default.filter(|default| **default != branch && default.eq_ignore_ascii_case(&branch));
        let names = own.into_iter().chain([format!("refs/tags/{name}"), branch.clone()]);
        let mut found: Vec<(String, String)> =
            names.filter_map(|name| commit(&name).map(|commit| (name, commit))).collect();
        found.extend(folded.and_then(|name| Some((name.to_owned(), commit("HEAD")?))));
        if is_full_commit(name) {
            found.insert(0, (name.to_owned(), name.to_ascii_lowercase()));
        }
        if found.is_empty() && ["@", "HEAD", "origin", "origin/HEAD"].contains(&name) {
            found.extend(commit("HEAD").map(|commit| ("HEAD".to_owned(), commit)));
        }
        let (first, others) = found.split_first()?;
        let other = others.iter().find(|(_, commit)| *commit != first.1);
        let ambiguity =
            match other {
                Some(other) => Some(self.refused(&format!(
                    "the ref {name:?} names {} ({}) and {} ({})",
                    first.0, first.1, other.0, other.1
                ))),
                None if may_be_short(name) && !first.0.starts_with("refs/tags/") => Some(self.short(name)),
                None => self.ambiguity(),
            };
        // As `git checkout` does in a fresh clone: the default branch by its name, then a tag, then another branch.
        let is_branch = self.shallow || default == Some(branch.as_str());
        let (place, chosen) = other.filter(|(name, _)| is_branch && *name == branch).unwrap_or(first);
        let place = Some(place.clone()).filter(|place| !is_full_commit(place));
        let first = commit("HEAD").filter(|head| !self.shallow && head != chosen);
        Some(Target { commit: chosen.clone(), name: place, first, ambiguity })
    }

    /// What git itself has to look up in a clone of all branches and tags: a short commit, or a name in another spelling.
    pub fn unlisted(&self) -> Option<Target> {
        let name = self.name.as_ref()?;
        let ambiguity = self.ambiguity().or_else(|| may_be_short(name).then(|| self.short(name)))?;
        Some(Target { commit: name.clone(), name: None, first: None, ambiguity: Some(ambiguity) })
    }

    fn short(&self, name: &str) -> Ambiguity {
        self.refused(&format!("the ref {name:?} may be a short commit, and a branch or tag of that name may come"))
    }

    fn refused(&self, reason: &str) -> Ambiguity {
        // A name in full works wherever the name of a tag does.
        let tag = self.name.as_deref().filter(|name| !name.starts_with("refs/") && !name.contains('/'));
        let tag = tag.filter(|name| *name != "@" && !may_be_short(name) && !is_full_commit(name)).unwrap_or("NAME");
        let help = format!("Write the full commit or `ref=refs/tags/{tag}` in the source, without `depth`.");
        Ambiguity { reason: reason.to_owned(), help }
    }
}

/// Why the `ref` of a source could be read in another way, as far as the source shows it.
pub fn ambiguous_reference(source: &ModuleSource) -> Option<Ambiguity> {
    let ModuleSource::Remote(module) = source else { return None };
    let (Some("git"), place) = module.method() else { return None };
    Reference::of(&Url::parse(place).ok()?).ambiguity()
}

pub fn is_full_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// True for what git takes for the beginning of a commit's name, or for the output of `git describe`, unless a tag is called so.
fn may_be_short(name: &str) -> bool {
    let is_short = |text: &str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    !is_full_commit(name) && (is_short(name) || name.rsplit_once("-g").is_some_and(|(_, text)| is_short(text)))
}

const ATTRIBUTES: [&str; 6] = ["version", "constraints", "calls", "location", "commit", "hash"];

const TOP: Schema = Schema { name: "", attributes: &[], blocks: &["module"] };
const MODULE: Schema = Schema { name: " in a module block", attributes: &ATTRIBUTES, blocks: &[] };

type Anchors = Vec<(usize, Anchor<ModuleKey>)>;

pub fn decode(text: &str, file: &Path) -> Result<ModuleLockFile, Vec<Error>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut anchors = Anchors::new();
    let top = |reader: &mut Reader<'_>, body: &Body| top(reader, body, &mut anchors);
    let hinted = |error: Error| match &error.hints[..] {
        [] => error.hint("restore the file from version control, or resolve its conflict markers"),
        _ => error,
    };
    let read = document::read(text, FILE_NAME, (ErrorKind::LockFile, file), top);
    let mut found = read.map_err(|errors| errors.into_iter().map(hinted).collect::<Vec<_>>())?;
    anchors.sort_by_key(|(offset, _)| *offset);
    found.comments = Comments::find(text, &anchors);
    Ok(found)
}

fn top(reader: &mut Reader<'_>, body: &Body, anchors: &mut Anchors) -> ModuleLockFile {
    reader.check_names(body, &TOP);
    let mut found = ModuleLockFile::default();
    for block in body.blocks().filter(|block| block.ident.as_str() == "module") {
        let Some((key, locked)) = module(reader, block) else { continue };
        found.spans.entry(key.clone()).or_insert_with(|| reader.position(start(&block.ident)));
        anchor(anchors, &key, block);
        let name = format!("module {:?}", key.to_string());
        if found.lock.insert(key, locked).is_some() {
            reader.report(start(&block.ident), format!("{name} appears twice"));
        }
    }
    found
}

fn module(reader: &mut Reader<'_>, block: &Block) -> Option<(ModuleKey, LockedModule)> {
    let body = &block.body;
    reader.check_names(body, &MODULE);
    let label = reader.label(block, "module", "one label, the source of a package");
    let text = |reader: &mut Reader<'_>, name| reader.text(body, name).map(|literal| literal.text.to_owned());
    // Only a registry has versions, and without one a block would apply to all of them.
    let source = label.as_ref().map(|label| ModuleSource::parse(label.text, false, Dialect::Terraform));
    let has_versions = matches!(source, Some(Ok(ModuleSource::Registry(_)))) || body.has_attribute("version");
    let version = has_versions.then(|| {
        reader.needed(block, "module", "version", |reader, body| {
            let literal = reader.text(body, "version")?;
            reader.keep(&literal, version(&literal))
        })
    });
    let (constraints, location) = (text(reader, "constraints"), text(reader, "location"));
    let calls = reader.needed(block, "module", "calls", |reader, body| {
        let calls = reader.texts(body, "calls")?;
        Some(calls.iter().map(|call| call.text.to_owned()).collect::<Vec<_>>())
    });
    if let Some(attribute) = body.get_attribute("calls").filter(|_| calls.as_ref().is_some_and(Vec::is_empty)) {
        reader.report(start(&attribute.value), "calls must not be empty");
    }
    let commit = body.has_attribute("commit").then(|| {
        let literal = reader.text(body, "commit")?;
        reader.keep(&literal, commit(&literal))
    });
    let hash = reader.needed(block, "module", "hash", |reader, body| {
        let literal = reader.text(body, "hash")?;
        reader.keep(&literal, hash(&literal))
    });
    let calls = calls.into_iter().flatten().collect();
    let content = ModuleContent { location, commit: commit.flatten(), hash: hash? };
    let key = ModuleKey { source: label?.text.to_owned(), version: version.flatten() };
    Some((key, LockedModule { constraints, calls, content }))
}

fn version(literal: &Literal<'_>) -> Result<ModuleVersion, String> {
    let wrong =
        || format!("{:?} is not a version of a module: expected all three numbers, without a prefix", literal.text);
    let version: ModuleVersion = literal.text.parse().map_err(|_| wrong())?;
    if version.canonical() == literal.text { Ok(version) } else { Err(wrong()) }
}

fn commit(literal: &Literal<'_>) -> Result<String, String> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_commit = matches!(literal.text.len(), 40 | 64) && literal.text.bytes().all(is_hex);
    if is_commit {
        Ok(literal.text.to_owned())
    } else {
        Err(format!("{:?} is not the full name of a commit", literal.text))
    }
}

fn hash(literal: &Literal<'_>) -> Result<PackageHash, String> {
    let hash = literal.text.parse::<PackageHash>().ok();
    let hash = hash.filter(|hash| hash.scheme() == HashScheme::H1 && hash.is_well_formed());
    hash.ok_or_else(|| format!("{:?} is not an h1 hash", literal.text))
}

/// Keeps the places of a block and its parts.
fn anchor(anchors: &mut Anchors, key: &ModuleKey, block: &Block) {
    for name in ATTRIBUTES {
        let Some(attribute) = block.body.get_attribute(name) else { continue };
        anchors.push((start(&attribute.key), Anchor::Attribute(key.clone(), name)));
        let Expression::Array(items) = &attribute.value else { continue };
        for item in items {
            let text = item.as_str().unwrap_or_default().to_owned();
            anchors.push((start(item), Anchor::Item(key.clone(), name, text)));
        }
        anchors.push((last_byte(items), Anchor::ListEnd(key.clone(), name)));
    }
    anchors.push((start(&block.ident), Anchor::Block(key.clone())));
    anchors.push((last_byte(block), Anchor::BlockEnd(key.clone())));
}

impl ModuleLockFile {
    /// A file that says something, without a text before it.
    pub fn new(lock: ModuleLock) -> Self {
        let mut comments = Comments::default();
        let header = ["The modules of this configuration; kept by tflock.", "Commit it, and review its changes."];
        comments.set_above(Anchor::Header, header.map(str::to_owned).into());
        Self { lock, comments, ..Self::default() }
    }

    pub fn encode(&self) -> String {
        let mut text = Writer::new(&self.comments);
        for (key, block) in self.lock.iter() {
            text.block("", key, "module", &key.source, &attributes(key, block));
        }
        text.finish()
    }

    /// The text of one of its blocks, with the comments in and above it.
    pub fn encode_block(&self, key: &ModuleKey) -> String {
        let mut comments = self.comments.clone();
        comments.set_above(Anchor::Header, Vec::new());
        comments.set_above(Anchor::Footer, Vec::new());
        let lock = self.lock.without(|other| other != key);
        Self { lock, comments, ..Self::default() }.encode()
    }
}

fn attributes(key: &ModuleKey, block: &LockedModule) -> Vec<(&'static str, Value)> {
    let text = |name, value: Option<String>| value.map(|value| (name, Value::Text(value)));
    let content = &block.content;
    let calls = Value::List(block.calls.iter().cloned().collect());
    let version = key.version.as_ref().map(crate::version::ModuleVersion::canonical);
    text("version", version)
        .into_iter()
        .chain(text("constraints", block.constraints.clone()))
        .chain([("calls", calls)])
        .chain(text("location", content.location.clone()))
        .chain(text("commit", content.commit.clone()))
        .chain(text("hash", Some(content.hash.as_str().to_owned())))
        .collect()
}

#[cfg(test)]
mod tests;
