//! The root modules of a run: named by the user, or found below directories.

mod notes;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::config::{KindTraits, RootKind};
use crate::dialect::Dialect;
use crate::disk::root_files;
use crate::disk::roots::kind_of;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::git::ChangedFiles;
use crate::lockfile::{self, LockName};
use crate::outcome::{Body, Changes, Notes, Outcome, RootOutcome};
use crate::parallel::{self, locked};
use crate::path::{shown, worktree};
use crate::words::counted;
use crate::workspace::discover::{FoundBeside, Search, discover};
use crate::workspace::ignored::{self, IgnoredLockFile, IgnoredLockFiles};
use crate::workspace::{RunSettings, Scope, instance_names, instances_beside, named_roots, settings_of_lock};

pub use notes::not_considered;

#[derive(Debug)]
pub struct Targets<'a> {
    scope: &'a Scope,
    /// What git tracks, if it is known.
    changes: Option<&'a ChangedFiles>,
    /// The paths as shown in reports.
    pub paths: Vec<PathBuf>,
    places: Vec<TargetPlace>,
    /// True if tflock searched for them; false if the user named them.
    pub found: bool,
    /// Results that need no request.
    pub outcomes: Vec<RootOutcome>,
    /// Paths as shown in reports.
    pub beside: FoundBeside,
    unlocked: Unlocked,
    /// Where the directories are that have no lock file and are no root modules of the run, by their paths as shown.
    unlocked_places: BTreeMap<PathBuf, PathBuf>,
    dialects: Mutex<Vec<Dialect>>,
}

/// How to treat directories with configuration that no module calls and that have no lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlocked {
    /// Report those with a backend as findings.
    Reported,
    /// Treat all of them as root modules.
    Created,
    /// Treat those with a backend as root modules.
    Opened,
}

impl Unlocked {
    /// The choice for the option `--create`.
    pub fn created(create: bool) -> Self {
        if create { Self::Created } else { Self::Reported }
    }
}

#[derive(Debug)]
enum TargetPlace {
    /// Named by the user: the settings are read before the run begins.
    Named(Box<RunSettings>),
    /// Found: the settings are read when tflock opens the root module, which is a directory and one of its lock files.
    Found(PathBuf, LockName),
}

impl<'a> Targets<'a> {
    /// The root modules of `-C`, or with `-r` those below its directories.
    pub fn of(scope: &'a Scope, recursive: bool, unlocked: Unlocked) -> Result<Self, Error> {
        Self::within(scope, recursive, unlocked, Search::default())
    }

    /// The same with the lock files of Atmos instances.
    pub fn with_instances(scope: &'a Scope, recursive: bool, unlocked: Unlocked) -> Result<Self, Error> {
        Self::within(scope, recursive, unlocked, Search { instances: true, ..Search::default() })
    }

    /// Like `of`, with what is known for the search, and what counts as a root module.
    pub fn within(scope: &'a Scope, recursive: bool, unlocked: Unlocked, search: Search<'a>) -> Result<Self, Error> {
        let search = Search { scope: Some(scope), ..search };
        let mut targets = Self { changes: search.changes, ..Self::of_settings(scope, Vec::new(), recursive) };
        if recursive {
            for directory in scope.directories() {
                targets.search(&directory, unlocked, search)?;
            }
        } else {
            for root in named_roots(scope)? {
                let instances = if search.instances { instances_beside(&root, scope)? } else { Vec::new() };
                let own = (instances.is_empty() || root.lock_file().exists()).then_some(root);
                for root in own.into_iter().chain(instances) {
                    targets.paths.push(root.name());
                    targets.places.push(TargetPlace::Named(Box::new(root)));
                }
            }
        }
        Ok(targets)
    }

    /// Root modules with settings that are known already.
    pub fn of_settings(scope: &'a Scope, roots: Vec<RunSettings>, found: bool) -> Self {
        Self {
            scope,
            changes: None,
            paths: roots.iter().map(RunSettings::name).collect(),
            places: roots.into_iter().map(|root| TargetPlace::Named(Box::new(root))).collect(),
            found,
            outcomes: Vec::new(),
            beside: FoundBeside::default(),
            unlocked: Unlocked::Reported,
            unlocked_places: BTreeMap::new(),
            dialects: Mutex::default(),
        }
    }

    fn search(&mut self, directory: &Path, unlocked: Unlocked, search: Search<'_>) -> Result<(), Error> {
        let start = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let mut found = discover(start, unlocked == Unlocked::Created, search)?;
        if unlocked == Unlocked::Opened {
            found.roots.append(&mut found.without_lock);
            found.roots.sort_unstable();
        }
        let prefix = worktree::above(start).map(|(_, prefix)| prefix).unwrap_or_default();
        if self.scope.trust_file.is_none() {
            root_files::refuse_second_trust_files(found.trust_files.iter().map(|path| start.join(path)))?;
        }
        let beside = &found.beside;
        let nothing = found.roots.is_empty() && found.without_lock.is_empty() && found.errors.is_empty();
        let nothing = nothing && beside.withheld.is_empty() && beside.unlocked_units.is_empty();
        let instances = if search.instances { std::mem::take(&mut found.instances) } else { Vec::new() };
        let nothing = nothing && instances.is_empty();
        if nothing && unlocked != Unlocked::Opened {
            return Err(none_below(self.scope, start, unlocked, &beside.ignored));
        }
        // One that Git ignores is none.
        let ignored = beside.ignored.keys().filter(|path| !found.roots.contains(path));
        let without = beside.like_roots.iter().chain(&beside.unlocked_units.paths).chain(&found.without_lock);
        for path in without.chain(ignored) {
            self.unlocked_places.insert(at(&prefix, path), start.join(path));
        }
        let mut known: BTreeSet<PathBuf> = self.paths.iter().cloned().collect();
        for path in found.roots {
            let shown = at(&prefix, &path);
            // Two searches may overlap.
            if known.insert(shown.clone()) {
                self.places.push(TargetPlace::Found(start.join(path), LockName::default()));
                self.paths.push(shown);
            }
        }
        for (path, name) in instances {
            let shown = at(&prefix, &path).join(name.as_str());
            if known.insert(shown.clone()) {
                self.places.push(TargetPlace::Found(start.join(path), name));
                self.paths.push(shown);
            }
        }
        self.beside.add(found.beside, |path| at(&prefix, path));
        self.outcomes.extend(found.without_lock.iter().map(|path| {
            let path = at(&prefix, path);
            let ignored = self.beside.ignored.get(&path);
            let level = if self.beside.unread_unit_of(&path).is_some() { Level::Warn } else { Level::Deny };
            without_lock(path, level, ignored)
        }));
        self.unlocked = unlocked;
        self.outcomes.extend(found.errors.into_iter().map(|error| RootOutcome {
            path: error.file.clone().unwrap_or_default(),
            body: Err(error),
            findings: Vec::new(),
        }));
        Ok(())
    }

    /// What git tracks, if it is known.
    pub fn changes(&self) -> Option<&'a ChangedFiles> {
        self.changes
    }

    /// The directories without a lock file that are no root modules of the run, as shown, and where they are.
    pub fn unlocked_places(&self) -> impl Iterator<Item = (&PathBuf, &PathBuf)> {
        self.unlocked_places.iter()
    }

    /// One of them from the directory of the run.
    pub fn path_from_here(&self, directory: &Path) -> PathBuf {
        let place = self.unlocked_places.get(directory).map_or(directory, PathBuf::as_path);
        let place = place.strip_prefix(".").unwrap_or(place);
        if place.as_os_str().is_empty() { PathBuf::from(".") } else { place.to_owned() }
    }

    /// True if `lock -r --create` writes the lock file that a directory lacks.
    pub fn is_created(&self, directory: &Path) -> bool {
        self.beside.is_created(directory) && !self.needs_tool(directory)
    }

    /// Marks the lock files of named root modules that were written and that Git ignores, with a note.
    pub fn mark_ignored(&self, outcome: &mut Outcome) {
        let mut all = IgnoredLockFiles::new();
        for (place, path) in self.places.iter().zip(&self.paths) {
            let TargetPlace::Named(settings) = place else { continue };
            for root in outcome.roots.iter_mut().filter(|root| root.path == *path) {
                let Ok(Body::Changes(changes)) = &mut root.body else { continue };
                if !changes.written {
                    continue;
                }
                let ignored = ignored::of(&settings.root, std::iter::once(Path::new(""))).into_values().next();
                changes.ignored = ignored.is_some();
                all.extend(ignored.map(|file| (path.clone(), file)));
            }
        }
        outcome.notes.extend(ignored::sentence(&all).map(|sentence| format!("{sentence}: {}", ignored::WAYS_ON)));
    }

    /// The directory of a root module as shown in reports.
    fn directory_shown(&self, at: usize) -> &Path {
        match &self.places[at] {
            TargetPlace::Found(_, name) if name.is_instance() => self.paths[at].parent().unwrap_or(Path::new("")),
            TargetPlace::Named(settings) => &settings.path,
            TargetPlace::Found(..) => &self.paths[at],
        }
    }

    /// The kind of a root module.
    pub fn kind(&self, at: usize) -> RootKind {
        let known = match &self.places[at] {
            TargetPlace::Named(settings) => return kind_of(&settings.root, settings.dialect).unwrap_or_default(),
            TargetPlace::Found(..) => self.beside.kinds.get(self.directory_shown(at)).copied().unwrap_or_default(),
        };
        let is_certain = known != RootKind::Stack;
        let of_tool = || self.settings(at).ok().and_then(|settings| kind_of(&settings.root, settings.dialect));
        if is_certain { known } else { of_tool().unwrap_or_default() }
    }

    /// Leaves out the root modules in which a command cannot work, and counts them; fails if the user named one of them.
    pub fn leave_out_kinds(
        &mut self,
        command: &'static str,
        reason: impl Fn(&KindTraits) -> Option<&'static str>,
    ) -> Result<Option<String>, Error> {
        let traits: Vec<&KindTraits> = (0..self.paths.len()).map(|at| self.kind(at).traits()).collect();
        let Some((first, why)) = (0..traits.len()).find_map(|at| Some((at, reason(traits[at])?))) else {
            return Ok(None);
        };
        let (path, phrase) = (shown(&self.paths[first]), traits[first].phrase);
        if !self.found {
            let message = format!("`tflock {command}` does not work in {phrase}: {why}");
            return Err(Error::new(ErrorKind::Usage, message).in_file(&self.paths[first]));
        }
        let known = std::mem::take(&mut self.paths).into_iter().zip(std::mem::take(&mut self.places)).zip(&traits);
        let kept = known.filter(|(_, traits)| reason(traits).is_none()).map(|(known, _)| known);
        (self.paths, self.places) = kept.unzip();
        let skipped = counted(traits.len() - self.paths.len(), "root module");
        Ok(Some(format!(
            "skipped {skipped} in which `tflock {command}` does not work, such as {path} ({phrase}: {why})"
        )))
    }

    /// Leaves units out of the notes that findings are about, by their lock files.
    pub fn leave_out_units(&mut self, files: &BTreeSet<&Path>) {
        self.beside.unlocked_units.paths.retain(|path| !files.contains(&*path.join(lockfile::FILE_NAME)));
    }

    /// Adds root modules that no search finds: as reports name them, and where they are.
    pub fn add(&mut self, found: impl IntoIterator<Item = (PathBuf, PathBuf)>) {
        let mut known: BTreeSet<PathBuf> = self.paths.iter().cloned().collect();
        for (shown, place) in found {
            if known.insert(shown.clone()) {
                self.paths.push(shown);
                self.places.push(TargetPlace::Found(place, LockName::default()));
            }
        }
    }

    /// Adds the ordinary lock files of directories that have those of Atmos instances alone.
    pub fn add_ordinary(&mut self) {
        let ordinary = |(at, place): (usize, &TargetPlace)| match place {
            TargetPlace::Named(settings) => (settings.path.clone(), settings.root.clone()),
            TargetPlace::Found(root, _) => (self.directory_shown(at).to_owned(), root.clone()),
        };
        let found: Vec<(PathBuf, PathBuf)> = self.places.iter().enumerate().map(ordinary).collect();
        self.add(found);
    }

    /// Removes the root modules at these places, which are absolute and free of symbolic links.
    pub fn leave_out(&mut self, places: &BTreeSet<PathBuf>) {
        if places.is_empty() {
            return;
        }
        let is_left = |known: &TargetPlace| match known {
            TargetPlace::Named(settings) => !places.contains(&settings.place),
            TargetPlace::Found(root, _) => !places.contains(&worktree::absolute(root)),
        };
        let known = std::mem::take(&mut self.paths).into_iter().zip(std::mem::take(&mut self.places));
        (self.paths, self.places) = known.filter(|(_, place)| is_left(place)).unzip();
    }

    /// Fails if there is no root module.
    pub fn or_none(self) -> Result<Self, Error> {
        if self.paths.is_empty() && self.outcomes.is_empty() && self.beside.unlocked_units.is_empty() {
            return Err(self.none_here());
        }
        Ok(self)
    }

    /// Fails if a named directory has lock files of Atmos instances alone.
    pub fn with_ordinary_lock_files(self) -> Result<Self, Error> {
        for place in &self.places {
            if let TargetPlace::Named(settings) = place
                && !settings.lock_file().exists()
                && let Some(name) = instance_names(&settings.root).first()
            {
                let is_here = settings.path.as_os_str().is_empty();
                let place = if is_here { "here".to_owned() } else { format!("in {}", shown(&settings.path)) };
                return Err(of_instances_alone(&place, &settings.path.join(name.as_str())));
            }
        }
        Ok(self)
    }

    /// Why there is no root module.
    pub fn none_here(&self) -> Error {
        let first = self.scope.directories().into_iter().next().unwrap_or_default();
        let start = if first.as_os_str().is_empty() { Path::new(".") } else { &first };
        none_below(self.scope, start, Unlocked::Opened, &self.beside.ignored)
    }

    pub fn settings(&self, at: usize) -> Result<RunSettings, Error> {
        let mut settings = match &self.places[at] {
            TargetPlace::Named(settings) => (**settings).clone(),
            TargetPlace::Found(root, name) => {
                settings_of_lock(root, name.clone(), self.directory_shown(at), self.scope)?
            }
        };
        settings.readings.roots = self.paths.len();
        let mut dialects = locked(&self.dialects);
        if !dialects.contains(&settings.dialect) {
            dialects.push(settings.dialect);
        }
        Ok(settings)
    }

    pub fn all_settings(&self) -> Result<Vec<RunSettings>, Error> {
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        for settings in parallel::each(self.paths.len(), parallel::cores(), |at| self.settings(at)) {
            match settings {
                Ok(settings) => all.push(settings),
                Err(error) => errors.push(error),
            }
        }
        Error::all(errors).map_or(Ok(all), Err)
    }

    pub fn directories(&self) -> Vec<PathBuf> {
        let directory = |place: &TargetPlace| match place {
            TargetPlace::Named(settings) => settings.root.clone(),
            TargetPlace::Found(root, _) => root.clone(),
        };
        self.places.iter().map(directory).collect()
    }

    /// The lock files, whether they exist or not.
    pub fn lock_files(&self) -> Vec<PathBuf> {
        let file = |place: &TargetPlace| match place {
            TargetPlace::Named(settings) => settings.lock_file(),
            TargetPlace::Found(root, name) => root.join(name.as_str()),
        };
        self.places.iter().map(file).collect()
    }

    /// The tool that all opened root modules share, if any.
    pub fn dialect(&self) -> Option<Dialect> {
        if let Some(TargetPlace::Named(first)) = self.places.first() {
            let same = |place: &TargetPlace| matches!(place, TargetPlace::Named(settings) if settings.dialect == first.dialect);
            return self.places.iter().all(same).then_some(first.dialect);
        }
        match locked(&self.dialects)[..] {
            [dialect] => Some(dialect),
            _ => None,
        }
    }

    /// Adds the results that need no request: by path if tflock searched for root modules, else as the user named them.
    pub fn in_order(&self, roots: impl IntoIterator<Item = RootOutcome>) -> Vec<RootOutcome> {
        let mut roots: Vec<RootOutcome> = roots.into_iter().chain(self.outcomes.iter().cloned()).collect();
        if self.found {
            roots.sort_by(|one, other| one.path.cmp(&other.path));
        } else {
            let places: HashMap<&PathBuf, usize> = self.paths.iter().zip(0..).collect();
            roots.sort_by_key(|root| places.get(&root.path));
        }
        roots
    }

    /// The outcome of a run with these results.
    pub fn finish(
        &self,
        command: &'static str,
        roots: impl IntoIterator<Item = RootOutcome>,
        notes: impl Into<Notes>,
    ) -> Outcome {
        Outcome { notes: notes.into(), ..self.outcome_of(command, self.in_order(roots)) }
    }

    /// The same with exactly these results, in this order.
    pub fn outcome_of(&self, command: &'static str, roots: impl IntoIterator<Item = RootOutcome>) -> Outcome {
        let outcome = Outcome::of_roots(command, roots.into_iter().collect());
        let kinds = self.paths.iter().enumerate().map(|(at, path)| (path.clone(), self.kind(at)));
        let kinds = kinds.filter(|(_, kind)| *kind != RootKind::Module).collect();
        Outcome { many: self.many(), not_counted: self.not_counted(), dialect: self.dialect(), kinds, ..outcome }
    }

    pub fn outcome<'r>(
        &self,
        command: &'static str,
        roots: &'r [RunSettings],
        body: impl FnMut(&'r RunSettings) -> Result<Body, Error>,
    ) -> Outcome {
        self.outcome_of_each(command, roots, roots.iter().map(body))
    }

    /// The same with the results of these root modules.
    pub fn outcome_of_each(
        &self,
        command: &'static str,
        roots: &[RunSettings],
        bodies: impl Iterator<Item = Result<Body, Error>>,
    ) -> Outcome {
        let of_root = |(root, body): (&RunSettings, _)| RootOutcome { path: root.name(), body, findings: Vec::new() };
        let roots = roots.iter().zip(bodies).map(of_root);
        self.outcome_of(command, roots.chain(self.failed()))
    }

    /// The directories that could not be searched or opened.
    pub fn failed(&self) -> impl Iterator<Item = RootOutcome> {
        self.outcomes.iter().filter(|root| root.body.is_err()).cloned()
    }

    /// True if the report lists root modules, even if there is only one.
    pub fn many(&self) -> bool {
        self.found || self.scope.many() || self.paths.len() > 1
    }
}

fn none_below(scope: &Scope, start: &Path, unlocked: Unlocked, ignored: &IgnoredLockFiles) -> Error {
    let place =
        if start == Path::new(".") { "here or below".to_owned() } else { format!("in or below {}", shown(start)) };
    let lacks = if unlocked == Unlocked::Created { "lock file is created" } else { "lock file" };
    let failed = |message: String| Error::new(ErrorKind::NotFound, message);
    let search = Search { scope: Some(scope), ..Search::default() };
    let creatable = discover(start, true, search).unwrap_or_default();
    let ignored = if ignored.is_empty() { &creatable.beside.ignored } else { ignored };
    if let Some(reason) = ignored::reason(start, ignored) {
        return failed(format!("no {lacks} {place}: {}", reason.what)).hint(reason.ways_on);
    }
    if start.join(lockfile::FILE_NAME).is_file() {
        let hint = "the setting `exclude` of a .tflock.hcl leaves this directory out";
        return failed(format!("no lock file {place} but the one here, which is excluded")).hint(hint);
    }
    if !creatable.roots.is_empty() && unlocked != Unlocked::Created {
        let hint = step!(
            "`tflock lock -r --create` writes lock files where configuration that no module calls requires a provider"
        );
        return failed(format!("no lock file {place} (files that Git ignores do not count)")).hint(hint);
    }
    if let Some((path, name)) = creatable.instances.first() {
        return of_instances_alone(&place, &path.join(name.as_str()));
    }
    if !creatable.beside.withheld.is_empty() || !creatable.beside.unlocked_units.is_empty() {
        return failed(format!("no lock file {place}"));
    }
    if let Some(module) = creatable.beside.called.first() {
        let prefix = worktree::above(start).map(|(_, prefix)| prefix).unwrap_or_default();
        let module = shown(&at(&prefix, module));
        return failed(format!("no {lacks} {place}: only modules that other root modules call, such as {module}"));
    }
    let message = format!("no lock file or configuration {place} (files that Git ignores do not count)");
    failed(message).hint("name the directory to look in with -C")
}

fn of_instances_alone(place: &str, file: &Path) -> Error {
    let file = shown(file);
    let message =
        format!("no lock file {place} but those of Atmos instances, such as {file}, which this command leaves alone");
    Error::new(ErrorKind::NotFound, message)
}

/// Joins a directory and a relative path, without the trailing slash that an empty path would leave.
fn at(prefix: &Path, way: &Path) -> PathBuf {
    prefix.join(way).components().collect()
}

fn without_lock(path: PathBuf, level: Level, ignored: Option<&IgnoredLockFile>) -> RootOutcome {
    let file = path.join(lockfile::FILE_NAME);
    let message = "this root module (it has a backend) has no dependency lock file";
    let finding = Finding::new(Rule::LockFileMissing, message).in_file(&file).at_level(level);
    let findings = vec![with_ignore_rule(finding, ignored)];
    let changes = Changes { path: file, ..Changes::default() };
    RootOutcome { path, body: Ok(Body::Changes(changes)), findings }
}

/// A finding about a missing lock file, which says by which rule Git ignores it.
pub fn with_ignore_rule(finding: Finding, ignored: Option<&IgnoredLockFile>) -> Finding {
    let Some(IgnoredLockFile { rule, exists }) = ignored else { return finding };
    let finding = finding.remarked(format_args!("Git ignores it ({rule}), so a clone does not have it"));
    if *exists {
        return finding.remedied_by(format!("Take the line out of {} and commit the lock file.", rule.file()));
    }
    finding.remedied_by(step!("Take the line out of {}, run `tflock lock` and commit the file.", rule.file()))
}
