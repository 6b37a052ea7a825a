//! Units of Terragrunt without a lock file, which is a choice, and what `lock -r --create` writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::FoundBeside;
use crate::config::{RootKind, UNIT_FILES};
use crate::disk::below::{Calls, SurveyedDirectory};
use crate::workspace::ignored::IgnoredLockFiles;

/// Units that have no lock file and get none.
#[derive(Debug, Default)]
pub struct UnlockedUnits {
    /// Those whose module has no lock file either.
    pub paths: Vec<PathBuf>,
    /// Why those of them that are not read completely are not.
    pub unread: BTreeMap<PathBuf, String>,
    /// Those for which Terragrunt uses the lock file of their module, by the directory of that module.
    pub of_modules: BTreeMap<PathBuf, Vec<PathBuf>>,
    /// Those that use values of a stack: only units that are generated from them have these.
    pub templates: Vec<PathBuf>,
}

impl UnlockedUnits {
    pub(super) fn of<'a>(
        units: impl Iterator<Item = (&'a SurveyedDirectory, &'a Calls)>,
        locked: &[SurveyedDirectory],
    ) -> Self {
        let locked: BTreeSet<&Path> = locked.iter().map(|place| &*place.path).collect();
        let mut found = Self::default();
        for (place, calls) in units {
            let (path, Some(unit)) = (place.path.clone(), &calls.unit) else { continue };
            // The first of its modules is that of the unit.
            match calls.local_modules.first().filter(|_| unit.module.is_some()) {
                _ if unit.is_template => found.templates.push(path),
                Some(module) if locked.contains(&**module) => {
                    found.of_modules.entry(module.clone()).or_default().push(path);
                }
                _ => {
                    found.unread.extend(unit.unread.clone().map(|reason| (path.clone(), reason)));
                    found.paths.push(path);
                }
            }
        }
        found
    }

    /// Leaves out what is excluded, and units for which Git ignores lock files.
    pub(super) fn leave_out(&mut self, ignored: &IgnoredLockFiles, is_excluded: impl Fn(&Path) -> bool) {
        self.paths.retain(|path| !is_excluded(path));
        self.templates.retain(|path| !is_excluded(path));
        self.of_modules.values_mut().for_each(|units| units.retain(|path| !is_excluded(path)));
        self.of_modules.retain(|_, units| !units.is_empty());
        self.paths.retain(|path| !ignored.contains_key(path));
    }

    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.of_modules.is_empty() && self.templates.is_empty()
    }

    /// Adds those of another search, with their paths as reports show them.
    pub fn add(&mut self, other: Self, shown: impl Fn(&Path) -> PathBuf) {
        let all = |paths: &[PathBuf]| paths.iter().map(|path| shown(path)).collect::<Vec<_>>();
        self.paths.extend(all(&other.paths));
        self.templates.extend(all(&other.templates));
        self.unread.extend(other.unread.into_iter().map(|(path, reason)| (shown(&path), reason)));
        for (module, units) in other.of_modules {
            self.of_modules.entry(shown(&module)).or_default().extend(all(&units));
        }
    }
}

impl FoundBeside {
    /// Why `lock -r --create` writes no lock file in a unit without one; `None` if it does.
    pub fn why_none(&self, unit: &Path) -> Option<&str> {
        let called = || self.called.contains(unit).then_some("other root modules use it");
        self.unlocked_units.unread.get(unit).map(String::as_str).or_else(called)
    }

    /// Why it writes none in those that have none, with the number of units.
    pub fn by_reason(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for reason in self.unlocked_units.paths.iter().filter_map(|path| self.why_none(path)) {
            *counts.entry(reason).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// True if `lock -r --create` writes the lock file that a directory lacks.
    pub fn is_created(&self, directory: &Path) -> bool {
        let is_unit = self.unlocked_units.paths.iter().any(|unit| unit == directory);
        let is_withheld = self.unread_caller_of(directory).is_some() && !is_unit;
        !is_withheld && self.why_none(directory).is_none() && !self.ignored.contains_key(directory)
    }
}

/// True for a unit that is no part of others.
pub(super) fn is_of_its_own(place: &SurveyedDirectory, calls: &Calls, included: &BTreeSet<PathBuf>) -> bool {
    place.kind == Some(RootKind::Unit)
        && calls.unit.is_some()
        && !UNIT_FILES.iter().any(|name| included.contains(&place.path.join(name)))
}
