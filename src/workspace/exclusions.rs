//! The directories that the search for root modules skips.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::disk::files;
use crate::path::worktree::WorkTree;
use crate::settings::{self, Exclude, FILE_NAME, Settings};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exclusions(BTreeMap<PathBuf, Vec<Exclude>>);

impl Exclusions {
    /// The exclusions of the settings files at and above some directories, up to the top of the working tree; paths are
    /// relative to the start of the search. Unreadable settings exclude nothing, and are an error later, when they are
    /// used.
    pub fn of_work_tree<'a>(start: &Path, directories: impl IntoIterator<Item = &'a Path>) -> Self {
        let place = WorkTree::of(start);
        let mut around: BTreeSet<PathBuf> = place.within().map(Path::to_owned).collect();
        for directory in directories {
            let new = directory.ancestors().map(|way| place.directory.join(way));
            new.take_while(|directory| around.insert(directory.clone())).for_each(drop);
        }
        let read = |directory: &PathBuf| {
            let text = String::from_utf8(files::read(&directory.join(FILE_NAME)).ok()??).ok()?;
            Some(settings::decode(&text, FILE_NAME.as_ref()).ok()?.stated_in(directory))
        };
        around.iter().filter_map(read).collect()
    }

    /// True if an absolute directory without symbolic links is excluded.
    pub fn cover(&self, directory: &Path) -> bool {
        !self.0.is_empty()
            && directory.ancestors().filter_map(|above| self.0.get(above)).flatten().any(|it| it.covers(directory))
    }
}

impl FromIterator<Settings> for Exclusions {
    fn from_iter<T: IntoIterator<Item = Settings>>(files: T) -> Self {
        let mut all: BTreeMap<PathBuf, Vec<Exclude>> = BTreeMap::new();
        for exclude in files.into_iter().flat_map(|settings| settings.exclude) {
            all.entry(exclude.folder().to_owned()).or_default().push(exclude);
        }
        Self(all)
    }
}
