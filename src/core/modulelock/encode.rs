//! The canonical text of module locks.

use super::{LockedModule, ModuleKey, ModuleLock, ModuleLockFile};
use crate::hcl::document::{Value, Writer};
use crate::hcl::{Anchor, Comments};

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
