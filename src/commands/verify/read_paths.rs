//! The paths that decide what a root module requires.

use std::path::PathBuf;

use crate::path::lexical;
use crate::workspace::Root;

/// What was read of a root module and what was looked for; all absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadPaths {
    /// The files that were read, or would have been if they existed.
    pub files: Vec<PathBuf>,
    /// The directories of modules, where a new file of configuration counts.
    pub directories: Vec<PathBuf>,
    /// Directories where any new name counts.
    pub listed: Vec<PathBuf>,
    /// The files among them in which nothing is a comment.
    pub texts: Vec<PathBuf>,
}

impl ReadPaths {
    pub fn of(root: &Root) -> Self {
        let (place, tree) = (&root.settings.place, root.tree.as_deref());
        let files = tree.into_iter().flat_map(|tree| &tree.files_read).map(|file| place.join(file));
        let mut directories: Vec<PathBuf> = files.clone().filter_map(|file| Some(file.parent()?.to_owned())).collect();
        directories.extend(tree.into_iter().flat_map(|tree| &tree.local_modules).map(|path| place.join(path)));
        directories.extend(tree.into_iter().flat_map(|tree| &tree.searched).map(|path| place.join(path)));
        directories.push(place.clone());
        directories.sort_unstable();
        directories.dedup();
        let looked_for = tree.into_iter().flat_map(|tree| &tree.looked_for).map(|file| lexical(place, file));
        let listed = tree.into_iter().flat_map(|tree| &tree.listed).map(|directory| lexical(place, directory));
        let texts = tree.into_iter().flat_map(|tree| &tree.texts_read).map(|file| lexical(place, file));
        Self { files: files.chain(looked_for).collect(), directories, listed: listed.collect(), texts: texts.collect() }
    }
}
