//! Which directories others call, from anywhere in the working tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Search;
use crate::config::RootKind;
use crate::disk::below::{self, Calls, Survey, SurveyedDirectory};
use crate::disk::roots::ModuleAccess;
use crate::parallel;
use crate::path::worktree;
use crate::settings::Settings;
use crate::workspace::{Readings, settings_at, unit_options};

/// How units are read in a search: as each of them is read once it is a root module.
#[derive(Debug, Default)]
pub(super) struct UnitReader<'a> {
    search: Search<'a>,
    readings: Readings,
    modules: ModuleAccess,
}

impl<'a> UnitReader<'a> {
    pub(super) fn of(search: Search<'a>) -> Self {
        let modules = search.scope.map(|scope| scope.modules.clone()).unwrap_or_default();
        Self { search, readings: Readings::default(), modules }
    }

    /// What the directories below the start call.
    pub(super) fn read(&self, start: &Path, places: &[SurveyedDirectory]) -> Vec<Calls> {
        let readings = self.readings.clone().for_roots(places.len());
        parallel::each(places.len(), parallel::cores(), |at| {
            let place = &places[at];
            let is_unit = place.kind == Some(RootKind::Unit);
            let settings = if is_unit { self.settings(&start.join(&place.path)) } else { Settings::default() };
            below::calls(start, place, &unit_options(&settings, &self.modules, &readings))
        })
    }

    fn settings(&self, directory: &Path) -> Settings {
        let trusted = self.search.trusted.map(|trusted| trusted.of_directory(&worktree::absolute(directory)));
        trusted.unwrap_or_else(|| settings_at(directory))
    }
}

#[derive(Debug, Default)]
pub(super) struct Called {
    /// Relative to the start of the search: those that a root module reaches.
    pub(super) by_roots: BTreeSet<PathBuf>,
    pub(super) by_any: BTreeSet<PathBuf>,
    /// The files that units include.
    pub(super) included: BTreeSet<PathBuf>,
    /// Those whose sources are not read, and what they are; the top if some of it cannot be searched.
    pub(super) unread: BTreeMap<PathBuf, Option<RootKind>>,
}

/// The called directories; with `anywhere` by callers anywhere in the working tree, else by those below the start. With `of_all`,
/// callers that no root module reaches and whose sources are not read count too.
pub(super) fn called(
    start: &Path,
    (locked, others): (&[SurveyedDirectory], &[SurveyedDirectory]),
    of_others: &[Calls],
    (anywhere, of_all, units): (bool, bool, &UnitReader<'_>),
) -> Called {
    let mut included = BTreeSet::new();
    let mut calls: Vec<(PathBuf, Vec<PathBuf>)> = Vec::new();
    let mut unread: Vec<(PathBuf, Option<RootKind>)> = Vec::new();
    let mut add = |place: &SurveyedDirectory, of: &Calls| {
        unread.extend(of.has_unread_sources.then(|| (place.path.clone(), place.kind)));
        calls.push((place.path.clone(), of.local_modules.clone()));
        included.extend(of.included.iter().cloned());
    };
    let of_locked = units.read(start, locked);
    locked.iter().zip(&of_locked).chain(others.iter().zip(of_others)).for_each(|(place, of)| add(place, of));
    let mut roots: BTreeSet<PathBuf> = locked.iter().map(|place| place.path.clone()).collect();
    if let Some((top, prefix)) = worktree::above(start).filter(|_| anywhere) {
        let survey = below::survey(&top, None);
        let is_whole = survey.as_ref().is_ok_and(|survey| survey.unreadable.is_empty());
        let Survey { places, .. } = survey.unwrap_or_default();
        let outside: Vec<SurveyedDirectory> =
            places.into_iter().filter(|place| !place.path.starts_with(&prefix)).collect();
        let up: PathBuf = prefix.components().map(|_| "..").collect();
        unread.extend((!is_whole).then(|| (up.clone(), None)));
        let from_start = |path: &PathBuf| path.strip_prefix(&prefix).map_or_else(|_| up.join(path), Path::to_owned);
        for (place, of) in outside.iter().zip(units.read(&top, &outside)) {
            roots.extend(place.has_lock().then(|| from_start(&place.path)));
            unread.extend(of.has_unread_sources.then(|| (from_start(&place.path), place.kind)));
            calls.push((from_start(&place.path), of.local_modules.iter().map(from_start).collect()));
            included.extend(of.included.iter().map(from_start));
        }
    }
    let by_any = calls.iter().flat_map(|(_, modules)| modules).cloned().collect();
    let by_roots = reached(&roots, &calls.into_iter().collect());
    let matters = |(path, kind): &(PathBuf, Option<RootKind>)| {
        of_all || *kind != Some(RootKind::Module) || roots.contains(path) || by_roots.contains(path)
    };
    let unread = unread.into_iter().filter(matters).collect();
    Called { by_roots, by_any, included, unread }
}

/// The directories that some directories call, directly or indirectly.
fn reached(roots: &BTreeSet<PathBuf>, calls: &BTreeMap<PathBuf, Vec<PathBuf>>) -> BTreeSet<PathBuf> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<PathBuf> = roots.iter().cloned().collect();
    while let Some(place) = next.pop() {
        for module in calls.get(&place).into_iter().flatten() {
            if reached.insert(module.clone()) {
                next.push(module.clone());
            }
        }
    }
    reached
}
