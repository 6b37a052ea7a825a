//! Merges and git: `git` registers tflock as merge driver and diff filter, and `tflock merge --resolve` merges the sides of
//! a file with conflict markers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;

use crate::commands::Services;
use crate::commands::shared::options::Within;
use crate::disk::atomic::Stored;
use crate::disk::root_files;
use crate::disk::roots::{MissingModules, Tree, TreeError, file_from};
use crate::error::{Error, ErrorKind};
use crate::git::tracked::{self, wanted, with_lines, without_lines};
use crate::git::{Git, GitError, Stage};
use crate::interrupt::{Interrupt, What};
use crate::lockfile;
use crate::merge::{
    Configured, Decisions, Document, MergeOptions, MergeRemark, MergedText, Side, Split, Three, Unrepaired,
    has_repeated, is_readable, keep_one_of_each, merge_texts, not_literal, split,
};
use crate::outcome::{AttributeLines, Body, GitReport, GitSetting, Notes, Outcome};
use crate::path::{RepoPath, shown};
use crate::step::{Step, Value};
use crate::workspace::root_settings;

/// Let git merge and compare lock files through tflock.
#[derive(Debug, Clone, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct GitArgs {
    #[command(subcommand)]
    pub(crate) command: GitCommand,
    #[command(flatten)]
    pub(crate) within: Within,
}

/// The commands below `git`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum GitCommand {
    /// Write .gitattributes and the repository's Git configuration.
    ///
    /// Adds a line for each kind of file to the .gitattributes at the top of the working tree, which you commit, and the
    /// commands to the configuration of this clone, which git does not share: everyone who merges runs this once. Code
    /// hosts do not run merge drivers.
    Install,
    /// Remove these settings again.
    Uninstall,
    /// Show what is installed; exit 1 if something is missing.
    Status,
}

pub fn git(args: &GitArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let (mut reports, mut notes, mut differs) = (Vec::new(), Notes::default(), false);
    let mut tops = BTreeSet::new();
    for directory in services.scope.directories() {
        let repository = Git::open(&directory)?;
        if !tops.insert(repository.top().to_owned()) {
            continue;
        }
        reports.push(match args.command {
            GitCommand::Install => {
                let stored = install(&repository, &services.interrupt)?;
                let others = status(&repository)?.into_iter().filter(|setting| !setting.is_set());
                notes.extend(others.map(|setting| format!("another line decides: {setting}")));
                if !on_path(services) {
                    notes.push("git will not find tflock, which is not on PATH");
                }
                GitReport::Installed(stored == Stored::Written)
            }
            GitCommand::Uninstall => uninstall(&repository, &services.interrupt)?,
            GitCommand::Status => {
                let settings = status(&repository)?;
                differs |= settings.iter().any(|setting| !setting.is_set());
                if settings.iter().any(|setting| setting.found.is_none()) {
                    notes.push(step!("`tflock git install` sets what is missing"));
                }
                GitReport::Status(settings)
            }
        });
    }
    Ok(Outcome { notes, ..Outcome::of_body("git", Body::Git(reports)) }.exit_1_if(differs))
}

/// Git passes the commands to a shell, the second one with the file as its argument. Where tflock is not on PATH, as in an
/// IDE, Git merges and compares the plain text: without a fallback, it leaves out theirs, or compares nothing at all.
const CONFIG: [(&str, &str); 3] = [
    ("merge.tflock.name", "merges dependency lock files and trust files by provider"),
    (
        "merge.tflock.driver",
        "if command -v tflock >/dev/null; then tflock merge -- %O %A %B %L %P; else git merge-file --marker-size=%L %A %O %B; fi",
    ),
    (
        "diff.tflock.textconv",
        "convert() { if command -v tflock >/dev/null; then tflock textconv \"$1\"; else cat \"$1\"; fi; }; convert",
    ),
];

fn install(repository: &Git, interrupt: &Interrupt) -> Result<Stored, Error> {
    let has_instances = repository.has_instances();
    let stored = root_files::update_attributes(repository.top(), interrupt, |text| with_lines(text, has_instances))?;
    for (key, value) in CONFIG {
        let writing = interrupt.writing()?;
        repository.set_config(key, value)?;
        writing.wrote(What::File, Path::new("config"));
    }
    Ok(stored)
}

/// Removes what [`install`] wrote, and the attributes file if nothing else is in it. Committed lines stay: they are for every
/// clone.
fn uninstall(repository: &Git, interrupt: &Interrupt) -> Result<GitReport, Error> {
    let head = repository.commit("HEAD")?;
    let committed = head.map(|head| repository.files(&head, &[tracked::ATTRIBUTES_FILE.to_owned()])).transpose()?;
    let is_committed = committed.iter().flatten().flatten().any(|text| without_lines(text) != *text);
    let attributes = if is_committed {
        AttributeLines::Committed
    } else {
        match root_files::update_attributes(repository.top(), interrupt, without_lines)? {
            Stored::Written => AttributeLines::Removed,
            Stored::Unchanged => AttributeLines::Absent,
        }
    };
    let mut clone = false;
    for (key, _) in CONFIG {
        let writing = interrupt.writing()?;
        if repository.unset_config(key)? {
            writing.wrote(What::File, Path::new("config"));
            clone = true;
        }
    }
    Ok(GitReport::Uninstalled { attributes, clone })
}

fn status(repository: &Git) -> Result<Vec<GitSetting>, GitError> {
    let mut settings = Vec::new();
    for (key, wanted) in CONFIG {
        settings.push(GitSetting { name: key.to_owned(), found: repository.config(key)?, wanted });
    }
    for (file, attributes) in wanted(repository.has_instances()) {
        for (name, wanted) in attributes {
            let found = repository.attribute(name, file)?;
            let found = (found != "unspecified").then_some(found);
            settings.push(GitSetting { name: format!("{name} of {file}"), found, wanted });
        }
    }
    Ok(settings)
}

fn on_path(services: &Services<'_>) -> bool {
    let name = format!("tflock{}", std::env::consts::EXE_SUFFIX);
    let path = services.variables().get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join(&name).is_file())
}

/// Merges the sides of a file with conflict markers; `None` without markers. If git has the path unmerged, the sides
/// come from its index, as for the merge driver: git may have merged a part of an entry by itself, so the text between
/// markers may mix two versions. Conflicts that the user resolved by hand, by keeping one side without markers, stay
/// resolved. Otherwise the sides come from the markers.
pub(super) fn resolve(
    file: &Path,
    text: &[u8],
    options: MergeOptions,
    (services, unmerged): (&Services<'_>, &UnmergedFiles),
) -> Result<Option<(MergedText, Configuration)>, Error> {
    let document = document_of(file);
    let parts = split(text).map_err(|error| Error::from(error).in_file(file))?;
    if parts.is_none() && !unmerged.is_left_whole(file, text) {
        if !is_repeated(file, text, options) {
            return Ok(None);
        }
        let configuration = Configuration::load(file, services)?;
        let kept = keep_one_of_each(text, configuration.required(), options);
        return kept.map(|kept| Some((kept, configuration))).map_err(|why| unrepaired(file, why));
    }
    let configuration = Configuration::load(file, services)?;
    let sides = parts.as_ref().map(|parts| [&parts.ours[..], &parts.theirs]);
    let decisions = Decisions { sides, configured: configuration.required() };
    let options =
        MergeOptions { marker_size: parts.as_ref().map_or(options.marker_size, |it| it.marker_size), ..options };
    let readable = |text: &[u8]| is_readable(document, text, options.dialect);
    if let [Some(ours), Some(theirs)] = [Stage::Ours, Stage::Theirs].map(|side| stage(file, side)) {
        refuse_not_literal(file, [&ours, &theirs], options)?;
        if readable(&ours) && readable(&theirs) {
            let base = stage(file, Stage::Base).unwrap_or_default();
            let texts = Three { base: &base[..], ours: &ours, theirs: &theirs };
            let mut merged = merge_texts(document, texts, decisions, options);
            if merged.conflicts && sides.is_some_and(|sides| !sides.into_iter().all(readable)) {
                merged.remarks.push(MergeRemark::NothingDecided);
            }
            return Ok(Some((merged, configuration)));
        }
    }
    let Some(parts) = parts else { return Ok(None) };
    let options = MergeOptions { from_markers: true, ..options };
    refuse_not_literal(file, [&parts.ours, &parts.theirs], options)?;
    let merged = merge_parts(document, &parts, options);
    if readable(&parts.ours) && readable(&parts.theirs) {
        return Ok(Some((merged, configuration)));
    }
    let why = merged.remarks.iter().find(|remark| **remark != MergeRemark::NoBase).map(ToString::to_string);
    let message = format!("cannot merge the sides of {}: {}", shown(file), why.unwrap_or_default());
    let error = Error::new(ErrorKind::LockFile, message);
    Err(error.in_file(file).hint(step!("to take one side, {}", Value::Step(taking(Side::Ours, file)))))
}

/// The unmerged files of the repository that tflock can merge, relative to the process.
pub(super) fn conflicted(services: &Services<'_>, unmerged: &UnmergedFiles) -> Result<Vec<PathBuf>, Error> {
    let start = services.scope.directories().into_iter().next().unwrap_or_default();
    let start = if start.as_os_str().is_empty() { Path::new(".") } else { &start };
    let git = Git::open(start).map_err(|error| Error::from(error).hint("name the FILE to resolve"))?;
    let (top, _) = services.scope.top();
    let files = git.own_files()?.into_iter().map(|name| top.path_to(Path::new(&name)));
    let is_conflicted = |file: &PathBuf| match crate::disk::files::read_file(file) {
        Ok(Some(text)) => {
            split(&text) != Ok(None)
                || unmerged.is_left_whole(file, &text)
                || is_repeated(file, &text, MergeOptions::default())
        }
        // Unreadable files are reported later.
        other => other.is_err(),
    };
    Ok(files.filter(is_conflicted).collect())
}

/// What git could not merge, by the top of its working tree: each repository is asked once, however many files it has.
#[derive(Debug, Default)]
pub(super) struct UnmergedFiles(RefCell<BTreeMap<PathBuf, BTreeSet<RepoPath>>>);

impl UnmergedFiles {
    /// True if an attribute forbids merging, so git left our version without conflict markers.
    fn is_left_whole(&self, file: &Path, text: &[u8]) -> bool {
        let is_unset = || {
            let git = Git::open(directory_of(file)).ok()?;
            let name = git.directory().join(file.file_name()?.to_str()?);
            let mut known = self.0.borrow_mut();
            let unmerged = known.entry(git.top().to_owned()).or_insert_with(|| git.unmerged().unwrap_or_default());
            Some(unmerged.contains(&name) && git.attribute("merge", &name).ok()? == "unset")
        };
        is_unset() == Some(true) && stage(file, Stage::Ours).is_some_and(|ours| ours == text)
    }
}

fn is_repeated(file: &Path, text: &[u8], options: MergeOptions) -> bool {
    document_of(file) == Document::LockFile && has_repeated(text, options)
}

fn unrepaired(file: &Path, why: Unrepaired) -> Error {
    let what = format!("cannot keep one entry of each provider in {}", shown(file));
    let error = |reason: &str| Error::new(ErrorKind::LockFile, format!("{what}: {reason}")).in_file(file);
    match why {
        Unrepaired::Refused(finding) => {
            let refused =
                error(finding.message()).hint(step!("repair that first, then run `tflock merge --resolve` again"));
            Error { position: finding.position, ..refused }
        }
        Unrepaired::Undecided(remarks) => {
            let reasons: Vec<String> = remarks.iter().map(ToString::to_string).collect();
            let hint = step!("remove all of its entries except one, then run `tflock lock`, which checks what is left");
            error(&reasons.join("; ")).hint(hint)
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Configuration {
    tree: Option<Arc<Tree>>,
    /// Why the configuration is unknown.
    pub(in crate::commands) problem: Option<Error>,
}

impl Configuration {
    fn load(file: &Path, services: &Services<'_>) -> Result<Self, Error> {
        if file.file_name().is_none_or(|name| name != lockfile::FILE_NAME) {
            return Ok(Self::default());
        }
        let directory = directory_of(file);
        let settings = root_settings(directory, directory, &services.scope)?;
        let markers = |file: &Path| {
            let text = crate::disk::files::read_file(&directory.join(file)).ok().flatten()?;
            (split(&text) != Ok(None)).then(|| {
                let message = "the configuration has conflict markers, so it does not decide about the lock file";
                let error = Error::new(ErrorKind::Configuration, message).in_file(file_from(directory, file));
                error.hint(step!("resolve the conflict, then run `tflock merge --resolve` again"))
            })
        };
        match settings.load_tree(&settings.tree_options(MissingModules::Skip)) {
            Ok(tree) => {
                let errors = tree.files_read.iter().filter_map(|file| markers(file));
                Error::all(errors).map_or(Ok(Self { tree: Some(tree), problem: None }), Err)
            }
            Err(errors) if matches!(errors[..], [TreeError::NoConfiguration(_)]) => Ok(Self::default()),
            Err(errors) => {
                let conflicts = errors.iter().filter_map(|error| match error {
                    TreeError::Config(error) => markers(&error.file),
                    _ => None,
                });
                let problem = Error::all(conflicts).map_or(Ok(()), Err);
                problem.map(|()| {
                    let errors = errors.into_iter().map(|error| settings.tree_error(error));
                    Self { tree: None, problem: Error::all(errors) }
                })
            }
        }
    }

    pub(crate) fn required(&self) -> Option<Configured<'_>> {
        let tree = self.tree.as_deref()?;
        Some(Configured { requirements: &tree.requirements, complete: tree.complete })
    }
}

pub(super) fn document_of(file: &Path) -> Document {
    file.file_name().map_or(Document::LockFile, |name| Document::by_name(&name.to_string_lossy()))
}

/// The command to take one side of a file that cannot be merged: git's, if its index has both sides.
fn taking(side: Side, file: &Path) -> Step {
    let in_git = [Stage::Ours, Stage::Theirs].iter().all(|side| stage(file, *side).is_some());
    if in_git { step!("run {}", Value::Step(checkout(side, file))) } else { keep(side).into() }
}

pub(crate) fn keep(side: Side) -> String {
    format!("keep the lines of {side}, delete those of {} and the markers", side.other())
}

fn checkout(side: Side, file: &Path) -> Step {
    step!("`git checkout {} -- {}`", format!("--{side}"), shown(file))
}

/// Refuses to merge text that no tool writes, on either side.
pub(super) fn refuse_not_literal(file: &Path, [ours, theirs]: [&[u8]; 2], options: MergeOptions) -> Result<(), Error> {
    let wrong = |text| not_literal(document_of(file), text, options.dialect);
    let (side, finding, other) = match (wrong(ours), wrong(theirs)) {
        (None, None) => return Ok(()),
        (Some(finding), None) => (Side::Ours, finding, Some(Side::Theirs)),
        (None, Some(finding)) => (Side::Theirs, finding, Some(Side::Ours)),
        (Some(finding), Some(_)) => (Side::Ours, finding, None),
    };
    let line = finding.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
    let message = format!("{side} of {} is not merged: {line}{}", shown(file), finding.message());
    let hint = match other {
        None => format!("theirs is no better; take {} from a revision without such values", shown(file)).into(),
        Some(other) if options.from_markers => step!("to take the other side, {}", Value::Step(taking(other, file))),
        Some(other) => step!("{} takes the other side", Value::Step(checkout(other, file))),
    };
    Err(Error::new(ErrorKind::Trust, message).in_file(file).hint(hint))
}

fn merge_parts(document: Document, parts: &Split, options: MergeOptions) -> MergedText {
    let readable = |text: &&Vec<u8>| is_readable(document, text, options.dialect);
    let base = parts.base.as_ref().filter(readable);
    let texts = Three { base: base.map(Vec::as_slice).unwrap_or_default(), ours: &parts.ours, theirs: &parts.theirs };
    let mut merged = merge_texts(document, texts, Decisions::default(), options);
    if base.is_none() && !merged.remarks.contains(&MergeRemark::NoBase) {
        merged.remarks.insert(0, MergeRemark::NoBase);
    }
    merged
}

/// A stage of an unmerged file in git's index; `None` if it has no such stage, or outside of git.
fn stage(file: &Path, stage: Stage) -> Option<Vec<u8>> {
    Git::open(directory_of(file)).ok()?.stage(file.file_name()?.to_str()?, stage)
}

pub(crate) fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
