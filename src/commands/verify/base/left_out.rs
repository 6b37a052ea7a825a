//! Changes that cannot be judged, since a sparse working tree leaves them out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Base, directory_of};
use crate::error::{Error, ErrorKind};
use crate::path::shown;
use crate::workspace::Exclusions;

impl Base {
    /// The directory of the first of these changes, and the error for all of them. Only those count that are below one of
    /// the directories of the run, or next to files that are there and may be read.
    pub fn left_out(&self, starts: &BTreeSet<PathBuf>, exclusions: Option<&Exclusions>) -> Option<(PathBuf, Error)> {
        let counts = |path: &&str| {
            let place = self.top.join(directory_of(path));
            let is_excluded = exclusions.is_some_and(|exclusions| exclusions.cover(&place));
            !is_excluded && (place.is_dir() || place.ancestors().any(|above| starts.contains(above)))
        };
        let mut paths = self.changes.left_out().filter(counts);
        let first = Path::new(paths.next()?);
        let more = paths.count();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("cannot judge {}{more}, which changed: the sparse checkout leaves it out", shown(first));
        let error = Error::new(ErrorKind::Usage, message).in_file(first).hint(
            "check out everything: `git sparse-checkout disable`; in actions/checkout leave out `sparse-checkout`",
        );
        Some((first.parent().unwrap_or(first).to_owned(), error))
    }
}
