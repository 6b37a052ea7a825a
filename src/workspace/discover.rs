//! What a name means here: which root modules are below a directory, with the directories that the search skips, and which
//! provider of a root module a source address, a local name or a type stands for.

mod callers;
mod units;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::addr::ProviderAddr;
use crate::config::RootKind;
use crate::config::edit::suggest;
use crate::dialect::Dialect;
use crate::disk::below::{self, Calls, SurveyedDirectory};
use crate::disk::files;
use crate::disk::roots::UnitReferences;
use crate::error::{Error, ErrorKind};
use crate::git::ChangedFiles;
use crate::lockfile::{LockFile, LockName};
use crate::parallel;
use crate::path::worktree::{self, WorkTree};
use crate::requirements::Requirements;
use crate::settings::{self, Exclude, FILE_NAME, Settings};
use crate::step::{Step, shell_word};
use crate::workspace::Scope;
use crate::workspace::ignored::{self, IgnoredLockFiles};
use crate::workspace::requiring::ProviderUse;
use callers::{UnitReader, called};
use units::is_of_its_own;

pub use units::UnlockedUnits;

#[derive(Debug, Default)]
pub struct Discovered {
    /// The root modules, relative to the start of the search, sorted by path.
    pub roots: Vec<PathBuf>,
    /// The lock files of Atmos instances, each with its directory.
    pub instances: Vec<(PathBuf, LockName)>,
    /// Directories with a backend that no root module calls, that require a provider, have no lock file, and are not in `roots`.
    pub without_lock: Vec<PathBuf>,
    pub beside: FoundBeside,
    /// Trust files, relative to where the search began.
    pub trust_files: Vec<PathBuf>,
    /// Errors about unreadable directories.
    pub errors: Vec<Error>,
}

/// What a search finds besides root modules, and what it learns of them.
#[derive(Debug, Default)]
pub struct FoundBeside {
    /// Directories as those of `without_lock`, but without a backend: they configure a provider.
    pub like_roots: Vec<PathBuf>,
    /// The kinds of root modules that are no modules.
    pub kinds: BTreeMap<PathBuf, RootKind>,
    /// Directories without a lock file that are no roots, though no module calls them: a source that is not read may name
    /// them.
    pub withheld: Vec<PathBuf>,
    pub unlocked_units: UnlockedUnits,
    /// The lock files that Git ignores, or would ignore, so they count as missing.
    pub ignored: IgnoredLockFiles,
    /// The directories whose sources are not read, so each may call any other, as far as that matters.
    pub unread_callers: BTreeMap<PathBuf, Option<RootKind>>,
    /// The directories without a lock file that any configuration calls, as far as that matters.
    pub called: BTreeSet<PathBuf>,
    /// How many root modules the setting `exclude` leaves out.
    pub excluded: usize,
}

impl FoundBeside {
    /// Adds what another search found, with its paths as reports show them.
    pub fn add(&mut self, other: Self, shown: impl Fn(&Path) -> PathBuf) {
        self.like_roots.extend(other.like_roots.iter().map(|path| shown(path)));
        self.kinds.extend(other.kinds.into_iter().map(|(path, kind)| (shown(&path), kind)));
        self.withheld.extend(other.withheld.iter().map(|path| shown(path)));
        self.ignored.extend(other.ignored.into_iter().map(|(path, file)| (shown(&path), file)));
        self.unread_callers.extend(other.unread_callers.into_iter().map(|(path, kind)| (shown(&path), kind)));
        self.called.extend(other.called.iter().map(|path| shown(path)));
        self.excluded += other.excluded;
        self.unlocked_units.add(other.unlocked_units, shown);
    }

    /// The first other directory that may call a directory, since its sources are not read.
    pub fn unread_caller_of(&self, directory: &Path) -> Option<&Path> {
        self.unread_callers.keys().map(PathBuf::as_path).find(|caller| *caller != directory)
    }

    /// The first other unit that may be made of a directory.
    pub fn unread_unit_of(&self, directory: &Path) -> Option<&Path> {
        let is_unit = |(caller, kind): &(&PathBuf, &Option<RootKind>)| {
            **kind == Some(RootKind::Unit) && caller.as_path() != directory
        };
        self.unread_callers.iter().find(is_unit).map(|(caller, _)| caller.as_path())
    }
}

/// How to search for root modules: what is known already, and what counts as one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Search<'a> {
    /// What is excluded; else the settings of the working tree say so.
    pub exclusions: Option<&'a Exclusions>,
    /// What git tracks; else it is asked.
    pub changes: Option<&'a ChangedFiles>,
    /// True if lock files of Atmos instances are root modules too.
    pub instances: bool,
    /// What the command line says of units.
    pub scope: Option<&'a Scope>,
    /// The settings by which units are read; else those of the working tree.
    pub trusted: Option<&'a dyn TrustedSettings>,
}

/// Settings that no change can set.
pub trait TrustedSettings: std::fmt::Debug + Sync {
    /// Those for an absolute directory without symbolic links. Unreadable ones say nothing here, and are an error where a root
    /// module is opened.
    fn of_directory(&self, directory: &Path) -> Settings;
}

/// Finds the root modules: directories with a lock file; with `create` also those with configuration that no module of
/// the working tree calls.
pub fn discover(start: &Path, create: bool, search: Search<'_>) -> Result<Discovered, Error> {
    let survey = below::survey(start, search.changes)?;
    let is_unit = |place: &&SurveyedDirectory| place.kind == Some(RootKind::Unit);
    // Unless it is looked at, its source may name any directory.
    let unread_callers = survey.places.iter().filter(is_unit).map(|place| (place.path.clone(), place.kind)).collect();
    let mut found = Discovered::default();
    let mut beside = FoundBeside { unread_callers, ..FoundBeside::default() };
    let units = UnitReader::of(search);
    let (locked, others): (Vec<_>, Vec<_>) = survey.places.into_iter().partition(SurveyedDirectory::has_lock);
    let has_ordinary = |place: &&SurveyedDirectory| place.locks.contains(&LockName::default());
    let mut roots: BTreeSet<PathBuf> = locked.iter().filter(has_ordinary).map(|place| place.path.clone()).collect();
    for place in locked.iter().chain(&others) {
        let names = place.locks.iter().filter(|name| name.is_instance());
        found.instances.extend(names.map(|name| (place.path.clone(), name.clone())));
    }
    let mut without_lock = Vec::new();
    if !others.is_empty() {
        let their_calls = units.read(start, &others);
        let is_candidate = |(place, calls): &(&SurveyedDirectory, &Calls)| match place.kind {
            Some(RootKind::Module) => create || calls.has_backend || calls.configures_providers,
            Some(RootKind::Unit) => create && calls.unit.as_ref().is_some_and(UnitReferences::may_be_locked),
            Some(_) => create,
            None => false,
        };
        let candidates: Vec<(&SurveyedDirectory, &Calls)> =
            others.iter().zip(&their_calls).filter(is_candidate).collect();
        let mut included = their_calls.iter().flat_map(|calls| calls.included.iter().cloned()).collect();
        let of_own: Vec<&Path> = others
            .iter()
            .zip(&their_calls)
            .filter(|(place, calls)| is_of_its_own(place, calls, &included))
            .map(|(place, _)| &*place.path)
            .collect();
        if !candidates.is_empty() || !of_own.is_empty() {
            let has_locked_below = |place: &&Path| locked.iter().any(|other| other.path.starts_with(place));
            let anywhere = !candidates.is_empty() || of_own.iter().any(has_locked_below);
            let callers = called(start, (&locked, &others), &their_calls, (anywhere, create, &units));
            // A caller matters only if a root module reaches it, since `init` locks only these. With `create` each
            // caller gets a lock file, so all of them matter.
            let modules = if create { &callers.by_any } else { &callers.by_roots };
            (included, beside.unread_callers) = (callers.included, callers.unread);
            let mut uses = ProviderUse::default();
            for (place, calls) in candidates.into_iter().filter(|(place, _)| !modules.contains(&place.path)) {
                let path = place.path.clone();
                let may_be_called = !calls.has_errors && beside.unread_caller_of(&path).is_some();
                if create && may_be_called && place.kind == Some(RootKind::Module) {
                    beside.withheld.push(path);
                } else if place.kind == Some(RootKind::Unit) && !is_of_its_own(place, calls, &included) {
                    // It is a part of other units.
                } else if create {
                    roots.insert(path);
                } else if uses.may_require(&start.join(&path)) {
                    if calls.has_backend { &mut without_lock } else { &mut beside.like_roots }.push(path);
                }
            }
            let paths = others.iter().map(|place| &place.path);
            beside.called = paths.filter(|path| callers.by_any.contains(*path)).cloned().collect();
        }
        let get_none = others
            .iter()
            .zip(&their_calls)
            .filter(|(place, calls)| is_of_its_own(place, calls, &included) && !roots.contains(&place.path));
        beside.unlocked_units = UnlockedUnits::of(get_none, &locked);
        let unlocked: HashSet<&PathBuf> =
            without_lock.iter().chain(&beside.like_roots).chain(&beside.unlocked_units.paths).collect();
        let is_new = |place: &&SurveyedDirectory| {
            roots.contains(&place.path) || unlocked.contains(&place.path) || ignored::exists(&start.join(&place.path))
        };
        beside.ignored = ignored::of(start, others.iter().filter(is_new).map(|place| &*place.path));
        roots.retain(|path| !beside.ignored.contains_key(path));
        beside.like_roots.retain(|path| !beside.ignored.contains_key(path));
    }
    let of_work_tree = || {
        let of_instances = found.instances.iter().map(|(path, _)| path);
        let places = roots.iter().chain(&without_lock).chain(&beside.unlocked_units.paths).chain(of_instances);
        Exclusions::of_work_tree(start, places.map(PathBuf::as_path))
    };
    let exclusions = search.exclusions.map_or_else(|| Cow::Owned(of_work_tree()), Cow::Borrowed);
    let top = worktree::absolute(start);
    let count = |roots: &BTreeSet<PathBuf>, found: &Discovered| roots.len() + found.instances.len();
    let before = count(&roots, &found) + without_lock.len();
    roots.retain(|path| !exclusions.cover(&top.join(path)));
    found.instances.retain(|(path, _)| !exclusions.cover(&top.join(path)));
    without_lock.retain(|path| !exclusions.cover(&top.join(path)));
    beside.excluded = before - count(&roots, &found) - without_lock.len();
    beside.like_roots.retain(|path| !exclusions.cover(&top.join(path)));
    beside.withheld.retain(|path| !exclusions.cover(&top.join(path)));
    beside.called.retain(|path| !exclusions.cover(&top.join(path)));
    beside.unlocked_units.leave_out(&beside.ignored, |path| exclusions.cover(&top.join(path)));
    beside.ignored.retain(|path, _| !exclusions.cover(&top.join(path)));
    let kinds = locked.into_iter().chain(others).filter_map(|place| Some((place.path, place.kind?)));
    let is_root = |path: &PathBuf| roots.contains(path) || found.instances.iter().any(|(of_it, _)| of_it == path);
    beside.kinds = kinds.filter(|(path, kind)| *kind != RootKind::Module && is_root(path)).collect();
    let errors = survey.unreadable.into_iter().collect();
    let roots = roots.into_iter().collect();
    Ok(Discovered { roots, without_lock, beside, trust_files: survey.trust_files, errors, ..found })
}

/// A hint for a directory that is no root module but has some below it.
pub fn below(directory: &Path) -> Option<Step> {
    let found = |create| {
        let found = discover(directory, create, Search::default()).ok()?;
        Some(found.roots.iter().filter(|path| !path.as_os_str().is_empty()).count())
    };
    match found(false)? {
        0 => match found(true)? {
            0 => ignored::below(directory),
            1 => Some(step!("`tflock lock -r --create` writes a lock file for the root module below this directory")),
            count => Some(step!(
                "`tflock lock -r --create` writes lock files for the {} root modules below this directory",
                count
            )),
        },
        1 => Some("1 root module is below this directory: pass -r to work in it".into()),
        count => Some(format!("{count} root modules are below this directory: pass -r to work in all of them").into()),
    }
}

/// True if a lock file or configuration is in a directory or below it.
pub fn has_root_modules(directory: &Path) -> bool {
    below::survey(directory, None).is_ok_and(|survey| !survey.places.is_empty())
}

/// True if a directory has neither lock file nor configuration, but root modules below it.
pub fn is_above_root_modules(directory: &Path) -> bool {
    let Ok(survey) = below::survey(directory, None) else { return false };
    let is_here = |place: &SurveyedDirectory| place.path.as_os_str().is_empty();
    !survey.places.iter().any(is_here) && survey.places.iter().any(SurveyedDirectory::has_lock)
}

pub fn root_modules(directory: &Path) -> Vec<String> {
    let found = discover(directory, true, Search::default()).map(|found| found.roots).unwrap_or_default();
    found
        .iter()
        .filter(|path| !path.as_os_str().is_empty())
        .filter_map(|path| path.to_str().map(str::to_owned))
        .collect()
}

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

#[derive(Debug, Clone, Copy)]
pub struct ProviderNames<'a> {
    pub requirements: Option<&'a Requirements>,
    pub lock: Option<&'a LockFile>,
    /// The tool whose registry is the default for short addresses.
    pub dialect: Dialect,
}

impl ProviderNames<'_> {
    pub fn resolve(&self, text: &str) -> Result<ProviderAddr, Error> {
        let parsed = ProviderAddr::parse(text, self.dialect);
        if !text.contains('/') {
            let is_known = |addr: &ProviderAddr| self.known().contains(addr);
            let by_type = || match &self.of_type(text)[..] {
                [one] => Some(one.clone()),
                _ => None,
            };
            let known = || parsed.as_ref().ok().filter(|addr| is_known(addr)).cloned();
            if let Some(addr) = self.of_local_name(text).or_else(known).or_else(by_type) {
                return Ok(addr);
            }
        }
        if let (Ok(addr), Some(hint)) = (&parsed, directory(text))
            && !self.known().contains(addr)
        {
            let message = format!("the root module neither requires nor locks a provider {text}");
            return Err(Error::new(ErrorKind::Usage, message).hint(hint));
        }
        parsed.map_err(|problem| {
            let error = Error::new(ErrorKind::Usage, format!("invalid provider argument: {problem}"));
            match directory(text) {
                Some(hint) => error.hint(hint),
                None => error.hint("write it as in required_providers, such as hashicorp/aws"),
            }
        })
    }

    pub fn knows(&self, text: &str) -> bool {
        self.resolve(text).is_ok_and(|addr| self.known().contains(&addr))
    }

    pub fn known(&self) -> BTreeSet<ProviderAddr> {
        let required = self.requirements.into_iter().flat_map(Requirements::iter).map(|(addr, _)| addr);
        let locked = self.lock.into_iter().flat_map(LockFile::iter).map(|(addr, _)| addr);
        required.chain(locked).cloned().collect()
    }

    fn of_local_name(&self, name: &str) -> Option<ProviderAddr> {
        let mut required = self.requirements.into_iter().flat_map(Requirements::iter);
        let calls_it = |origins: &[crate::requirements::Origin]| {
            origins.iter().any(|origin| origin.module.is_empty() && origin.local_name == name)
        };
        required.find(|(_, requirement)| calls_it(&requirement.origins)).map(|(addr, _)| addr.clone())
    }

    fn of_type(&self, name: &str) -> Vec<ProviderAddr> {
        self.known().into_iter().filter(|addr| addr.type_name() == name).collect()
    }
}

/// A hint for a directory that was typed instead of something else.
pub fn directory(text: &str) -> Option<Step> {
    let advice = || format!("{text} is a directory; to work there, pass it as -C {}", shell_word(text)).into();
    Path::new(text).is_dir().then(advice)
}

/// Records which of the named providers a root module of the run knows.
#[derive(Debug, Default)]
pub struct NamedProviders {
    texts: Vec<String>,
    seen: Mutex<SeenNames>,
    missed: AtomicBool,
}

#[derive(Debug, Default)]
struct SeenNames {
    found: BTreeSet<String>,
    known: BTreeSet<String>,
    /// The tool of one root module.
    dialect: Option<Dialect>,
}

impl NamedProviders {
    pub fn new(texts: &[String]) -> Self {
        Self { texts: texts.to_vec(), ..Self::default() }
    }

    pub fn see(&self, names: ProviderNames<'_>) {
        if self.texts.is_empty() {
            return;
        }
        let mut seen = parallel::locked(&self.seen);
        seen.found.extend(self.texts.iter().filter(|text| names.knows(text)).cloned());
        seen.dialect = Some(names.dialect);
        seen.known.extend(names.known().iter().map(|addr| addr.short(names.dialect)));
    }

    pub fn miss(&self) {
        self.missed.store(true, Ordering::Relaxed);
    }

    /// An error with similar names for each text that no root module knows; `None` if a root module could not be read.
    pub fn missing(self, error: impl Fn(&str) -> Error) -> Option<Error> {
        if self.missed.into_inner() {
            return None;
        }
        let SeenNames { found, known, dialect } = self.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        let missing = self.texts.iter().filter(|text| !found.contains(*text));
        Error::all(missing.map(|text| {
            let mut error = error(text);
            let addr = dialect.and_then(|dialect| ProviderAddr::parse(text, dialect).ok());
            error.address = addr.map(Box::new);
            let near = suggest(text, known.iter().map(String::as_str));
            let near = near.into_iter().map(Step::meant).chain(directory(text));
            error.hints.splice(0..0, near);
            error
        }))
    }

    /// Like `missing`, for root modules below a directory, which need not require or lock each of the providers.
    pub fn unknown(self) -> Option<Error> {
        self.missing(|text| {
            let message = format!("no root module requires or locks a provider {text}");
            Error::new(ErrorKind::NotFound, message).hint(step!("`tflock list -r` shows what is locked"))
        })
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod names_tests;
