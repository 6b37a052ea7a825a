//! The text of module locks, decoded and encoded.

use std::path::Path;

use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, Body};

use super::{FILE_NAME, LockedModule, ModuleContent, ModuleKey, ModuleLock, ModuleLockFile};
use crate::config::{ModuleSource, ModuleVersion};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::hash::{HashScheme, PackageHash};
use crate::hcl::document::{self, Literal, Reader, Schema, Value, Writer, last_byte, start};
use crate::hcl::{Anchor, Comments};

pub(super) const ATTRIBUTES: [&str; 6] = ["version", "constraints", "calls", "location", "commit", "hash"];

const TOP: Schema = Schema { name: "here", attributes: &[], blocks: &["module"] };
const MODULE: Schema = Schema { name: "in a module block", attributes: &ATTRIBUTES, blocks: &[] };

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
    let version = key.version.as_ref().map(crate::config::ModuleVersion::canonical);
    text("version", version)
        .into_iter()
        .chain(text("constraints", block.constraints.clone()))
        .chain([("calls", calls)])
        .chain(text("location", content.location.clone()))
        .chain(text("commit", content.commit.clone()))
        .chain(text("hash", Some(content.hash.as_str().to_owned())))
        .collect()
}
