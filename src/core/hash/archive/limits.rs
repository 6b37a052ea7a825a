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
    /// Unpacked bytes for each byte of the archive. Deflate itself gives 1032 at best, so only an archive whose
    /// entries share their data can be beyond it.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 65_536, name: 4096, directory: 8 << 20, unpacked: 8 << 30, ratio: 1100 }
    }
}
