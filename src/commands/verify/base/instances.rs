//! Lock files of Atmos instances that a change touches: they are not read yet, so nothing is known of what they pin.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{Base, directory_of, name_of};
use crate::error::{Error, ErrorKind};
use crate::lockfile;
use crate::workspace::discover::Exclusions;

impl Base {
    /// The errors for those below where the search began, each with its path.
    pub fn instances(&self, starts: &BTreeSet<PathBuf>, exclusions: Option<&Exclusions>) -> Vec<(PathBuf, Error)> {
        let is_asked = |path: &&str| {
            let place = self.top.join(directory_of(path));
            let is_excluded = exclusions.is_some_and(|exclusions| exclusions.cover(&place));
            !is_excluded && place.ancestors().any(|above| starts.contains(above))
        };
        let changed = self.changes.paths().filter(|path| lockfile::is_of_instance(name_of(path))).filter(is_asked);
        let errors = changed.map(|path| {
            let message = "this lock file of an Atmos instance changed, and tflock does not read such files yet";
            let error = Error::new(ErrorKind::Unavailable, message).in_file(path);
            let hint = "compare its hashes by hand; then --inconclusive warn lets the change pass";
            (PathBuf::from(path), error.hint(hint))
        });
        errors.collect()
    }
}
