//! The dependency lock file: `.terraform.lock.hcl`.
//!
//! [`LockFile`] is what the file says, whatever its layout. [`decode()`] reads the text strictly and reports all that is
//! wrong with it; [`LockFile::encode`] writes the one canonical text, byte for byte as the tools do. Where something
//! is in the text is kept next to the model, in [`Spans`]. The folder reads no files and sends no request.
//!
//! Source: `internal/depsfile/locks.go` and `locks_file.go`.

mod canonical;
mod content;
mod decode;
mod encode;
mod header;
mod layout;
mod spans;
mod syntax;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use decode::{Decoded, decode, salvage};
pub use header::{detect_dialect, header_dialect as detect_header};
pub use spans::{EntrySpans, Spans};

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::hash::PackageHashes;
use crate::version::{Constraints, Version};

/// True if a text is exactly what a tool writes, so there is nothing to format. False may also mean that a closer
/// look is needed.
pub fn is_canonical(text: &[u8], dialect: Dialect) -> bool {
    canonical::holds(text, dialect)
}

/// The name of the file in every root module.
pub const FILE_NAME: &str = ".terraform.lock.hcl";

/// What a dependency lock file says: one entry for each provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockFile {
    /// Boxed because a node of the map has room for eleven entries, and most files have few.
    entries: BTreeMap<ProviderAddr, Box<LockEntry>>,
}

/// The selected version of one provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockEntry {
    /// The version.
    pub version: Version,
    /// The constraints at the time of writing: a hint for users, never used to select.
    pub constraints: Constraints,
    /// The recorded hashes of its packages.
    pub hashes: PackageHashes,
}

impl LockFile {
    /// A file without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entry of a provider.
    pub fn get(&self, addr: &ProviderAddr) -> Option<&LockEntry> {
        self.entries.get(addr).map(Box::as_ref)
    }

    /// Sets the entry of a provider; gives the old one.
    pub fn insert(&mut self, addr: ProviderAddr, entry: LockEntry) -> Option<LockEntry> {
        self.entries.insert(addr, Box::new(entry)).map(|old| *old)
    }

    /// Removes the entry of a provider.
    pub fn remove(&mut self, addr: &ProviderAddr) -> Option<LockEntry> {
        self.entries.remove(addr).map(|entry| *entry)
    }

    /// The entries in the order of the file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ProviderAddr, &LockEntry)> {
        self.entries.iter().map(|(addr, entry)| (addr, &**entry))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
