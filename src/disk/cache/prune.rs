//! What the cache holds, and making it smaller.

use std::fs::DirEntry;
use std::path::Path;
use std::time::SystemTime;

use super::{Cache, CacheError, Origin, document, index, release};

/// What the cache holds on disk, and of the index also what is not written yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries of the index that were computed here.
    pub computed: usize,
    /// Entries of the index that were imported.
    pub imported: usize,
    /// Documents.
    pub documents: usize,
    /// Release records.
    pub releases: usize,
    /// The size of all files, in bytes.
    pub bytes: u64,
}

/// What to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prune {
    /// Everything.
    All,
    /// The entries of the index that were imported.
    Imported,
    /// Documents and release records that were written before a time, and useless lines of the index.
    OlderThan(SystemTime),
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Files.
    pub files: usize,
    /// Bytes.
    pub bytes: u64,
}

impl Cache {
    /// Counts what is there.
    pub fn stats(&self) -> Stats {
        let entries = self.entries();
        let imported = entries.iter().filter(|entry| entry.origin == Origin::Imported).count();
        let mut stats = Stats { computed: entries.len() - imported, imported, ..Stats::default() };
        let Some(folder) = self.folder() else { return stats };
        stats.documents = files(&folder.join(document::FOLDER)).len();
        stats.releases = files(&folder.join(release::FOLDER)).len();
        stats.bytes = files(&folder).iter().map(size).sum();
        stats
    }

    /// Removes what is not wanted any more. Facts that another run records meanwhile may get lost, as if they had never
    /// been known.
    ///
    /// # Errors
    ///
    /// [`CacheError`] for the first thing that could not be removed.
    pub fn prune(&self, what: Prune) -> Result<Pruned, CacheError> {
        let mut pruned = Pruned::default();
        let Some(folder) = self.folder() else { return Ok(pruned) };
        self.flush()?;
        let unwanted: Vec<DirEntry> = match what {
            Prune::All => files(&folder),
            Prune::Imported => Vec::new(),
            Prune::OlderThan(time) => [document::FOLDER, release::FOLDER]
                .iter()
                .flat_map(|kind| files(&folder.join(kind)))
                .filter(|file| written(file).is_some_and(|at| at < time))
                .collect(),
        };
        for file in unwanted {
            pruned.files += 1;
            pruned.bytes += size(&file);
            std::fs::remove_file(file.path()).map_err(CacheError::at(&file.path()))?;
        }
        for log in files(&folder.join(index::FOLDER)) {
            pruned.bytes += index::compact(&log.path(), what != Prune::Imported)?;
        }
        self.state().index = index::Index::default();
        Ok(pruned)
    }
}

/// All files below a folder; it is at most two folders deep.
pub(super) fn files(folder: &Path) -> Vec<DirEntry> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let (folders, mut found): (Vec<_>, Vec<_>) =
        entries.partition(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    found.extend(folders.iter().flat_map(|inner| files(&inner.path())));
    found
}

fn size(file: &DirEntry) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

fn written(file: &DirEntry) -> Option<SystemTime> {
    file.metadata().and_then(|metadata| metadata.modified()).ok()
}
