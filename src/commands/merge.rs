//! `merge` and `textconv`: what git calls.

use std::path::{Path, PathBuf};

use super::Services;
use super::resolve::{checkout, document_of, has_sides, refuse_not_literal, resolve, taking};
use crate::disk::atomic::{Mode, store};
use crate::disk::directory_lock::DirectoryLock;
use crate::error::{Error, ErrorKind};
use crate::finding::shell_word;
use crate::merge::{
    DEFAULT_MARKER_SIZE, Document, MergeOptions, MergedText, Reason, Remark, Side, Three, merge_texts,
    textconv as short,
};
use crate::outcome::{Body, MergedFile, Outcome};
use crate::path::worktree::boundary;
use crate::workspace::{Reading, RootModule, root_settings};

/// What `merge` is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// To merge three files into the second, as git's driver does.
    Drive(Driven),
    /// To merge the sides of files with conflict markers.
    Resolve(Vec<PathBuf>),
}

/// What git hands to its merge driver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Driven {
    /// The common ancestor.
    pub base: PathBuf,
    /// Ours, which takes the result.
    pub ours: PathBuf,
    /// Theirs.
    pub theirs: PathBuf,
    /// The length of conflict markers.
    pub marker_size: Option<u16>,
    /// The path of the merged file.
    pub path: Option<PathBuf>,
}

/// Merges lock files and trust files by provider; a conflict that is left is a difference.
///
/// # Errors
///
/// What the disk says about the files that git hands over.
pub fn merge(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    match request {
        Request::Drive(driven) => drive(driven, services),
        Request::Resolve(files) => Ok(resolve_each(files, services)),
    }
}

/// What git runs for one file.
fn drive(driven: &Driven, services: &Services<'_>) -> Result<Outcome, Error> {
    let paths = [&driven.base, &driven.ours, &driven.theirs];
    let [base, ours, theirs] = paths.map(|path| in_directory(services, path));
    let shown = driven.path.as_ref().unwrap_or(&driven.ours);
    let options =
        MergeOptions { marker_size: driven.marker_size.map_or(DEFAULT_MARKER_SIZE, usize::from), ..options(services) };
    let texts = [&base, &ours, &theirs].map(|path| read(path));
    let [base, ours_text, theirs] = texts;
    let (base, ours_text, theirs) = (base?, ours_text?, theirs?);
    refuse_not_literal(shown, [&ours_text, &theirs], options)?;
    let merged = merge_texts(document_of(shown), Three { base: &base, ours: &ours_text, theirs: &theirs }, options);
    store(&ours, &merged.text, Mode::KeepOr(0o644), directory_of(&ours))?;
    let step = merged.conflicts.then(|| take_a_side(shown, By::of(&merged.remarks), true));
    let mut outcome = outcome(vec![merged_file(shown, Some(merged))]);
    outcome.notes.extend(step);
    Ok(outcome)
}

fn resolve_each(files: &[PathBuf], services: &Services<'_>) -> Outcome {
    let (mut merged, mut errors, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        let file = in_directory(services, file);
        match resolve_one(&file, services) {
            Ok(text) => {
                steps.extend(text.as_ref().map(|text| next_step(&file, text, services)));
                merged.push(merged_file(&file, text));
            }
            Err(error) => errors.push(error),
        }
    }
    let mut outcome = outcome(merged);
    outcome.notes.extend(steps);
    outcome.but(Error::all(errors))
}

fn resolve_one(file: &Path, services: &Services<'_>) -> Result<Option<MergedText>, Error> {
    let directory = directory_of(file);
    read(file)?;
    // What another run wrote before the lock was had counts.
    let _lock = DirectoryLock::acquire(directory)?;
    let merged = resolve(file, &read(file)?, options(services))?;
    if let Some(merged) = &merged {
        store(file, &merged.text, Mode::KeepOr(0o644), &boundary(directory))?;
    }
    Ok(merged)
}

/// What was decided, in notes; a conflict that is left is a difference.
fn outcome(files: Vec<MergedFile>) -> Outcome {
    let note = |file: &MergedFile| {
        let none = (!file.merged).then(|| "there are no conflict markers".to_owned());
        let told: Vec<String> = file.remarks.iter().map(ToString::to_string).chain(none).collect();
        told.into_iter().map(|text| format!("{}: {text}", file.path.display())).collect::<Vec<_>>()
    };
    let notes = files.iter().flat_map(note).collect();
    let conflicts = files.iter().any(|file| file.conflicts);
    Outcome { notes, ..Outcome::of_body("merge", Body::Merged(files)) }.differing(conflicts)
}

/// What to do with a file whose markers were looked at.
fn next_step(file: &Path, merged: &MergedText, services: &Services<'_>) -> String {
    if merged.conflicts {
        let allowed = allowed_side(file, &merged.remarks, services);
        take_a_side(file, allowed.map_or_else(|| By::of(&merged.remarks), By::Allowed), has_sides(file))
    } else {
        format!("{} is resolved: `git add {}`", file.display(), shell_word(&file.to_string_lossy()))
    }
}

/// By what a conflict of a lock file is decided.
#[derive(Debug, Clone, Copy)]
enum By {
    /// By the configuration, which allows the version of one side only.
    Allowed(Side),
    /// By the configuration, once that is resolved.
    Configuration,
    /// By what is served: both sides have the version.
    Registry,
}

impl By {
    /// What is known without the configuration.
    fn of(remarks: &[Remark]) -> Self {
        let conflicts = remarks.iter().filter_map(|remark| match remark {
            Remark::Entry(_, reason) if reason.is_conflict() => Some(&**reason),
            _ => None,
        });
        let of_hashes = |reason: &&Reason| matches!(reason, Reason::TwoReleases(_) | Reason::NoHashLeft);
        let conflicts: Vec<&Reason> = conflicts.collect();
        let is_registry = !conflicts.is_empty() && conflicts.iter().all(of_hashes);
        if is_registry { Self::Registry } else { Self::Configuration }
    }
}

/// How to decide a conflict; git may have both sides.
fn take_a_side(file: &Path, by: By, in_git: bool) -> String {
    let shown = file.display();
    if document_of(file) != Document::LockFile {
        return format!("{shown}: between the markers keep the block that is right, and delete the markers");
    }
    let take = |which: &str| {
        if in_git {
            format!("take {which}: `{}` or `{}`", checkout(Side::Ours, file), checkout(Side::Theirs, file))
        } else {
            format!("keep {which} between the markers, delete the other one and the markers")
        }
    };
    let step = match by {
        By::Allowed(side) if in_git => {
            format!("the configuration allows the version of {side}: `{}`, then `tflock lock`", checkout(side, file))
        }
        By::Allowed(side) => {
            format!("the configuration allows the version of {side}: {}, then run `tflock lock`", taking(side, file))
        }
        By::Configuration => {
            let take = take("the side that it allows");
            format!("resolve the configuration first, then {take}, and run `tflock lock`")
        }
        By::Registry => {
            format!("{}, and run `tflock verify`, which tells whether its hashes are those served", take("one side"))
        }
    };
    if in_git { step } else { format!("{shown}: {step}") }
}

/// The side whose version the configuration beside a lock file allows, for every provider where both cannot be right.
fn allowed_side(file: &Path, remarks: &[Remark], services: &Services<'_>) -> Option<Side> {
    let directory = directory_of(file);
    // What cannot be read allows nothing.
    let settings = root_settings(directory, directory, &services.scope).ok()?;
    let mut module = RootModule::open(&settings).ok()?;
    module.read_configuration(Reading::LENIENT).ok()?;
    let requirements = module.requirements()?;
    let side = |remark: &Remark| match remark {
        Remark::Entry(addr, reason) => match &**reason {
            Reason::NoVersionForBoth(ours, theirs) => {
                let constraints = requirements.get(addr).map(|required| &required.constraints);
                let allows = |version| constraints.is_some_and(|constraints| constraints.allows(version));
                Some(match (allows(ours), allows(theirs)) {
                    (true, false) => Some(Side::Ours),
                    (false, true) => Some(Side::Theirs),
                    _ => None,
                })
            }
            other => other.is_conflict().then_some(None),
        },
        _ => None,
    };
    let mut sides = remarks.iter().filter_map(side);
    let first = sides.next()??;
    sides.all(|side| side == Some(first)).then_some(first)
}

fn merged_file(path: &Path, merged: Option<MergedText>) -> MergedFile {
    let path = path.to_owned();
    match merged {
        Some(text) => MergedFile { path, merged: true, conflicts: text.conflicts, remarks: text.remarks },
        None => MergedFile { path, merged: false, conflicts: false, remarks: Vec::new() },
    }
}

/// A lock file in short, for `git diff`.
///
/// # Errors
///
/// What the disk says.
pub fn textconv(file: &Path, services: &Services<'_>) -> Result<Outcome, Error> {
    let shortened = short(&read(&in_directory(services, file))?);
    Ok(Outcome::of_body("textconv", Body::Shortened(shortened)))
}

fn options(services: &Services<'_>) -> MergeOptions {
    let default = MergeOptions::default();
    MergeOptions { dialect: services.scope.dialect().unwrap_or(default.dialect), ..default }
}

/// A path in the first directory of `-C`.
fn in_directory(services: &Services<'_>, path: &Path) -> PathBuf {
    services.scope.directories().first().map_or_else(|| path.to_owned(), |directory| directory.join(path))
}

fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    if path.is_dir() {
        let error = Error::new(ErrorKind::Disk, format!("cannot read {}: it is a directory", path.display()));
        return Err(error.hint("name the file in it"));
    }
    let absent = || Error::new(ErrorKind::Disk, format!("there is no file {}", path.display())).in_file(path);
    crate::disk::text::read(path)?.ok_or_else(absent)
}
