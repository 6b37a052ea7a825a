//! Combines flags, settings files and clues into one value for each root module.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::clues::{dialect_by_clues, lock_text, only_dialect};
use super::{Environment, RunSettings, Scope, ToolChoice, TrustPlace};
use crate::dialect::Dialect;
use crate::disk::settings_files::settings_texts;
use crate::disk::{index_directory, text, trust_file};
use crate::error::{Error, ErrorKind};
use crate::path::worktree::{self, WorkTree};
use crate::path::{links, shown};
use crate::settings::{self, Settings};

/// The settings of each named root module.
pub fn named_roots(scope: &Scope) -> Result<Vec<RunSettings>, Error> {
    let (mut roots, mut errors, mut places) = (Vec::new(), Vec::new(), BTreeSet::new());
    for directory in scope.directories() {
        match of_root(&directory, scope) {
            // A root module that is named twice is processed once.
            Ok(root) => roots.extend(places.insert(worktree::absolute(&root.root)).then_some(root)),
            Err(error) => errors.push(error),
        }
    }
    Error::all(errors).map_or(Ok(roots), Err)
}

/// The tool that all root modules share, if any.
pub fn one_dialect(roots: &[RunSettings]) -> Option<Dialect> {
    let first = roots.first()?.dialect;
    roots.iter().all(|root| root.dialect == first).then_some(first)
}

/// The settings of a root module from a search: the path to open, and the path for reports.
pub fn root_settings(root: &Path, shown: &Path, scope: &Scope) -> Result<RunSettings, Error> {
    let settings = of_root(root, scope)?;
    Ok(RunSettings { path: shown.to_owned(), ..settings })
}

/// Replaces the settings of a root module by settings from outside the working tree. If they name no tool, it is the
/// only tool that reads the configuration, else the tool of the earlier lock file, if there was one.
pub fn with_base_settings(
    root: RunSettings,
    settings: Settings,
    before: Option<Dialect>,
    scope: &Scope,
) -> RunSettings {
    let clues = || dialect_by_clues(&root.root, &lock_text(&root.root), &root.variables);
    let by_files = || only_dialect(&root.root);
    let dialect = stated(&settings, scope).or_else(by_files).or(before).unwrap_or_else(clues);
    RunSettings { dialect, settings: settings.stated_in(&root.boundary), ..root }
}

/// The existing directory that a misspelt one probably means.
fn near(directory: &Path) -> Option<String> {
    let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name = directory.file_name()?.to_str()?;
    let around = parent.unwrap_or(Path::new("."));
    let names = text::names_in(around).into_iter().filter(|other| around.join(other).is_dir());
    let distance = |other: &String| strsim::osa_distance(other, name);
    let near = names.filter(|other| distance(other) <= name.len().div_ceil(3)).min_by_key(distance)?;
    let near = parent.map_or_else(|| PathBuf::from(&near), |parent| parent.join(&near));
    Some(format!("did you mean {}?", shown(&near)))
}

/// A directory to work in, never empty.
pub fn existing_directory(path: &Path) -> Result<PathBuf, Error> {
    let root = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    if root.is_dir() {
        links::resolve(&root).map_err(|reason| {
            let message = format!("cannot work in {}: {reason}", shown(&root));
            Error::new(ErrorKind::Disk, message).hint("name the directory that it is in")
        })?;
        return Ok(root);
    }
    let message = format!("cannot work in {}: it is not a directory", shown(&root));
    Err(near(&root).into_iter().fold(Error::new(ErrorKind::Disk, message), Error::hint))
}

fn of_root(directory: &Path, scope: &Scope) -> Result<RunSettings, Error> {
    // `./a/` and `a` are one root module.
    let path: PathBuf = directory.components().filter(|part| *part != Component::CurDir).collect();
    let root = existing_directory(&path)?;
    // Relative to the top, since annotations name files of the repository.
    let place = WorkTree::of(&root);
    let path = place.way().map_or(path, Path::to_owned);
    let environment = &scope.environment;
    let settings = settings_files(&place, environment)?;
    let mut indexes = settings.indexes.values();
    if let Some(index) = indexes.find(|it| index_directory::is_within(&it.place, &worktree::trees(&place.directory))) {
        let message = format!("the index {:?} is inside the working tree, so a change could forge it", index.name);
        return Err(Error::new(ErrorKind::Settings, message).hint("move it out of the working tree"));
    }
    let dialect =
        stated(&settings, scope).unwrap_or_else(|| dialect_by_clues(&root, &lock_text(&root), &environment.variables));
    Ok(RunSettings {
        boundary: place.boundary().to_owned(),
        trust: trust_place(&place, scope.trust_file.as_deref(), environment)?,
        root,
        place: place.directory,
        path,
        dialect,
        settings,
        source: scope.source.clone(),
        offline: scope.offline,
        cache: !scope.no_cache,
        modules: scope.modules.clone(),
        variables: environment.variables.clone(),
        now: environment.now,
        readings: scope.readings.clone(),
    })
}

/// The named trust file, else the one at the top of the working tree.
fn trust_place(root: &WorkTree, named: Option<&Path>, environment: &Environment) -> Result<TrustPlace, Error> {
    if let Some(named) = named {
        return Ok(TrustPlace { path: named.to_owned(), shown: named.to_owned() });
    }
    let path = trust_file::locate(root)?;
    Ok(TrustPlace { shown: from_top(root, &path, environment), path })
}

/// A file as reports name it: from the top of the working tree, outside of git from the directory of the process.
fn from_top(root: &WorkTree, path: &Path, environment: &Environment) -> PathBuf {
    let within = root.top.as_ref().and_then(|top| path.strip_prefix(top).ok().map(Path::to_owned));
    within.unwrap_or_else(|| shown_from(&environment.directory, path))
}

/// A file relative to a directory, if it is below it or in a directory above it; otherwise unchanged.
pub fn shown_from(directory: &Path, path: &Path) -> PathBuf {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let shown = path.strip_prefix(&directory).map(Path::to_owned).ok().or_else(|| {
        let up = directory.strip_prefix(path.parent()?).ok()?.components().count();
        Some(std::iter::repeat_n(Path::new(".."), up).collect::<PathBuf>().join(path.file_name()?))
    });
    shown.unwrap_or_else(|| path.to_owned())
}

/// The tool for a text that replaces the lock file of a directory.
pub fn dialect_of_text(directory: &Path, text: &[u8], scope: &Scope) -> Result<Dialect, Error> {
    let settings = settings_files(&WorkTree::of(directory), &scope.environment)?;
    let clues = || dialect_by_clues(directory, text, &scope.environment.variables);
    Ok(stated(&settings, scope).unwrap_or_else(clues))
}

/// The tool of the flag, else of the settings.
fn stated(settings: &Settings, scope: &Scope) -> Option<Dialect> {
    scope.tool.map_or_else(|| settings.dialect(), ToolChoice::dialect)
}

/// All `.tflock.hcl` of a root module, inner ones over outer ones.
fn settings_files(root: &WorkTree, environment: &Environment) -> Result<Settings, Error> {
    let (mut settings, mut errors) = (Settings::default(), Vec::new());
    for file in settings_texts(root)?.into_iter().rev() {
        let shown = from_top(root, &file.path, environment);
        match settings::decode(&file.text, &shown) {
            Ok(nested) => {
                let folder = file.path.parent().unwrap_or(Path::new(""));
                settings = nested.stated_in(folder).over(settings).bounded(&shown)?;
            }
            Err(wrong) => errors.extend(wrong),
        }
    }
    Error::all(errors).map_or(Ok(settings), Err)
}
