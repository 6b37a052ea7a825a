//! What an archive may cost.

/// Bounds that the tools do not have: an archive beyond them is refused, not hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries in one archive.
    pub entries: usize,
    /// Bytes in the name of an entry.
    pub name: usize,
    /// Bytes of the central directory.
    pub directory: u64,
    /// Bytes of all entries together, unpacked.
    pub unpacked: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 65_536, name: 4096, directory: 8 << 20, unpacked: 8 << 30 }
    }
}
