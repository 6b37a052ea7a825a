//! `merge` and `textconv`: called by git.

pub mod git;

use std::path::{Path, PathBuf};

use super::Services;
use super::shared::options::Within;
use crate::addr::ProviderAddr;
use crate::disk::atomic::{FileMode, NewFile, store};
use crate::disk::cache::Cache;
use crate::disk::root_files::DirectoryLock;
use crate::error::{Error, ErrorKind};
use crate::hash::HashScheme;
use crate::interrupt::What;
use crate::lockfile::LockEntry;
use crate::merge::{
    DEFAULT_MARKER_SIZE, Decisions, Document, MergeOptions, MergeRemark, MergedText, Reason, Replaced, Side, Three,
    Why, merge_texts, textconv as short,
};
use crate::outcome::{Body, MergedFile, Outcome};
use crate::path::shown;
use crate::path::worktree::boundary;
use crate::platform::Platform;
use crate::query::cached;
use crate::step::{Step, Value};
use git::{Configuration, UnmergedFiles, conflicted, directory_of, document_of, keep, refuse_not_literal, resolve};

/// Merge lock files provider by provider.
///
/// As git's merge driver (tflock git install), merges OURS and THEIRS and writes the result to OURS; exit 1 if conflicts
/// are left. If one side changed an entry, tflock takes it. Of two new versions it takes the higher one, if the recorded
/// constraints of both sides allow it; of the same version, the hashes that both sides have or one added. Conflict markers surround
/// single providers. With --resolve, repairs files with conflict markers, or with several entries of one provider, that git left
/// behind: the merged configuration then decides between versions.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "tflock merge [OPTIONS] BASE OURS THEIRS [SIZE [PATH]]\n       tflock merge [OPTIONS] --resolve [FILE...]",
    after_help = "Examples:\n  tflock merge --resolve\n  tflock merge --resolve .terraform.lock.hcl"
)]
pub(crate) struct MergeArgs {
    /// Repair these files, or without FILE all in the repository that have conflict markers or several entries of one provider.
    #[arg(long, value_name = "FILE", num_args = 0.., conflicts_with_all = ["base", "ours", "theirs"])]
    resolve: Option<Vec<PathBuf>>,
    /// The common ancestor (%O).
    #[arg(value_name = "BASE", required_unless_present = "resolve")]
    base: Option<PathBuf>,
    /// Our version, which the result replaces (%A).
    #[arg(value_name = "OURS", required_unless_present = "resolve")]
    ours: Option<PathBuf>,
    /// Their version (%B).
    #[arg(value_name = "THEIRS", required_unless_present = "resolve")]
    theirs: Option<PathBuf>,
    /// The length of conflict markers (%L).
    #[arg(value_name = "SIZE", value_parser = clap::value_parser!(u16).range(1..))]
    marker_size: Option<u16>,
    /// The path of the merged file (%P), which distinguishes a lock file from a trust file.
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) within: Within,
}

/// Print a short form of a lock file, for git diff.
///
/// Prints some lines for each provider: version, constraints, how many hashes of each scheme, and a digest that changes
/// with any of them. git diff compares this text after tflock git install.
#[derive(Debug, clap::Args)]
pub(crate) struct TextconvArgs {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) within: Within,
}

/// Merges lock files and trust files by provider; a remaining conflict sets exit code 1.
pub fn merge(args: &MergeArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    if let (Some(base), Some(ours), Some(theirs)) = (&args.base, &args.ours, &args.theirs) {
        return drive([base, ours, theirs], args, services);
    }
    let unmerged = UnmergedFiles::default();
    match args.resolve.as_deref().unwrap_or_default() {
        [] => {
            let files = conflicted(services, &unmerged)?;
            let nothing = files.is_empty().then(|| {
                "no lock file of this repository has conflict markers, or several entries of one provider".to_owned()
            });
            let mut outcome = resolve_each(&files, (services, &unmerged));
            outcome.notes.extend(nothing);
            Ok(outcome)
        }
        files => {
            let files: Vec<PathBuf> = files.iter().map(|file| in_directory(services, file)).collect();
            Ok(resolve_each(&files, (services, &unmerged)))
        }
    }
}

/// Merges three files into the second, as git's driver does.
fn drive(named: [&PathBuf; 3], args: &MergeArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let [base, ours, theirs] = named.map(|path| in_directory(services, path));
    let shown = args.path.as_ref().unwrap_or(named[1]);
    let options =
        MergeOptions { marker_size: args.marker_size.map_or(DEFAULT_MARKER_SIZE, usize::from), ..options(services) };
    let texts = [&base, &ours, &theirs].map(|path| read(path));
    let [base, ours_text, theirs] = texts;
    let (base, ours_text, theirs) = (base?, ours_text?, theirs?);
    refuse_not_literal(shown, [&ours_text, &theirs], options)?;
    let texts = Three { base: &base[..], ours: &ours_text, theirs: &theirs };
    let mut merged = merge_texts(document_of(shown), texts, Decisions::default(), options);
    let (bytes, what) = (&merged.text[..], What::of_name(shown));
    let file = NewFile { path: &ours, bytes, mode: FileMode::KeepOr(0o644), what };
    store(file, directory_of(&ours), &services.interrupt)?;
    // Taking the newer version is the normal case.
    let is_routine = |remark: &MergeRemark| match remark {
        MergeRemark::Entry(_, reason) => matches!(**reason, Reason::Taken(_, _, Why::Newer)),
        _ => false,
    };
    merged.remarks.retain(|remark| !is_routine(remark));
    add_lost_platforms(shown, &mut merged, services);
    let step = merged.conflicts.then(|| step_of_driver(shown, &merged));
    let mut outcome = outcome(vec![merged_file(shown, Some(merged))]);
    outcome.notes.extend(step);
    Ok(outcome)
}

fn resolve_each(files: &[PathBuf], (services, unmerged): (&Services<'_>, &UnmergedFiles)) -> Outcome {
    let (mut merged, mut errors, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        services.interrupt.expect(What::of_name(file), 1);
    }
    for file in files {
        match resolve_one(file, (services, unmerged)) {
            Ok(Some((text, configuration))) => {
                steps.push(next_step(file, &text, &configuration));
                merged.push(merged_file(file, Some(text)));
            }
            Ok(None) => merged.push(merged_file(file, None)),
            Err(error) => errors.push(error),
        }
    }
    let mut outcome = outcome(merged);
    outcome.notes.extend(steps);
    outcome.with_error(Error::all(errors))
}

fn resolve_one(
    file: &Path,
    (services, unmerged): (&Services<'_>, &UnmergedFiles),
) -> Result<Option<(MergedText, Configuration)>, Error> {
    let directory = directory_of(file);
    read(file)?;
    // Read under the lock, since another run may have written meanwhile.
    let _lock = DirectoryLock::acquire(directory)?;
    let Some((mut merged, configuration)) = resolve(file, &read(file)?, options(services), (services, unmerged))?
    else {
        return Ok(None);
    };
    let (bytes, what) = (&merged.text[..], What::of_name(file));
    let new = NewFile { path: file, bytes, mode: FileMode::KeepOr(0o644), what };
    store(new, &boundary(directory), &services.interrupt)?;
    add_lost_platforms(file, &mut merged, services);
    Ok(Some((merged, configuration)))
}

/// Adds a remark for each entry that lost platforms of the other side.
fn add_lost_platforms(file: &Path, merged: &mut MergedText, services: &Services<'_>) {
    if merged.replaced.is_empty() {
        return;
    }
    let directory = directory_of(file);
    let cache = services.open_cache(&[directory.to_owned()]);
    let lost = merged.replaced.iter().filter_map(|replaced| {
        let platforms = lost_platforms(&cache, replaced)?;
        let options = platforms.iter().flat_map(|platform| ["--platform".to_owned(), platform.to_string()]);
        let command = step!("`{} lock {}`", tflock_in(file), Value::Words(options.collect()));
        let reason = Reason::PlatformsLost {
            taken: replaced.taken.version.clone(),
            side: replaced.side.other(),
            dropped: replaced.dropped.version.clone(),
            platforms,
            command,
        };
        Some(MergeRemark::Entry(replaced.addr.clone(), Box::new(reason)))
    });
    merged.remarks.extend(lost.collect::<Vec<_>>());
}

/// The platforms of the other side's entry that the merged entry lacks: `None` if it lacks none, empty if only the
/// number of hashes shows that some are missing.
fn lost_platforms(cache: &Cache, replaced: &Replaced) -> Option<Vec<Platform>> {
    let h1 = |entry: &LockEntry| entry.hashes.of(HashScheme::H1).count();
    let covered = |entry: &LockEntry| {
        let release = cached::unchecked(cache, &replaced.addr, &entry.version)?;
        let known: Vec<Platform> =
            release.platforms_with(&entry.hashes).map(|(platform, _)| platform.clone()).collect();
        (!known.is_empty()).then_some(known)
    };
    let by_number = || (h1(&replaced.taken) < h1(&replaced.dropped)).then(Vec::new);
    let (Some(taken), Some(dropped)) = (covered(&replaced.taken), covered(&replaced.dropped)) else {
        return by_number();
    };
    let mut lost: Vec<Platform> = dropped.into_iter().filter(|platform| !taken.contains(platform)).collect();
    lost.sort_unstable();
    lost.dedup();
    if lost.is_empty() { by_number() } else { Some(lost) }
}

/// Puts the decisions into notes; a remaining conflict sets exit code 1.
fn outcome(files: Vec<MergedFile>) -> Outcome {
    let note = |file: &MergedFile| {
        let none =
            (!file.merged).then(|| "there are no conflict markers, and no provider has several entries".to_owned());
        let remarked: Vec<String> = file.remarks.iter().map(ToString::to_string).chain(none).collect();
        remarked.into_iter().map(|text| format!("{}: {text}", shown(&file.path))).collect::<Vec<_>>()
    };
    let notes = files.iter().flat_map(note).collect();
    let conflicts = files.iter().any(|file| file.conflicts);
    Outcome { notes, ..Outcome::of_body("merge", Body::Merged(files)) }.exit_1_if(conflicts)
}

/// The user's next step after conflicts of the driver. Git runs the driver before it writes the merged configuration,
/// and in any directory, so the step must work anywhere in the repository.
fn step_of_driver(file: &Path, merged: &MergedText) -> Step {
    step_by_hand(file, merged)
        .unwrap_or_else(|| step!("resolve the configuration first, then run `tflock merge --resolve`"))
}

/// The next step for a file after its markers were resolved or left.
fn next_step(file: &Path, merged: &MergedText, configuration: &Configuration) -> Step {
    let shown = shown(file);
    if !merged.conflicts {
        return step!("{} is resolved: `git add {}`", shown, shown);
    }
    if let Some(step) = step_by_hand(file, merged) {
        return step;
    }
    if let Some(problem) = &configuration.problem {
        return step!(
            "{}: the configuration cannot be read ({}): repair it, then run `tflock merge --resolve` again",
            shown,
            problem
        );
    }
    let keep = match allowed_side(merged, configuration) {
        Some(side) => format!("the configuration allows the version of {side}: {}", keep(side)),
        None => "keep the lines of one side, delete those of the other and the markers".to_owned(),
    };
    step!("{}: {}, then run `{} lock`", shown, keep, tflock_in(file))
}

/// The step for conflicts that the configuration cannot decide.
fn step_by_hand(file: &Path, merged: &MergedText) -> Option<Step> {
    let shown = shown(file);
    if document_of(file) != Document::LockFile {
        return Some(
            format!("{shown}: between the markers keep the block that is right, and delete the markers").into(),
        );
    }
    let mut conflicts = merged.conflicting().peekable();
    conflicts.peek()?;
    let is_about_hashes = |(_, reason): (_, &Reason)| matches!(reason, Reason::TwoReleases(_) | Reason::NoHashLeft);
    conflicts.all(is_about_hashes).then(|| {
        step!(
            "{}: keep the lines of one side, delete those of the other and the markers, then check it with `{} verify`",
            shown,
            tflock_in(file)
        )
    })
}

/// The beginning of a command to run in the root module of a lock file.
fn tflock_in(file: &Path) -> Value {
    Value::Words(match directory_of(file) {
        here if here == Path::new(".") => vec!["tflock".to_owned()],
        directory => vec!["tflock".to_owned(), "-C".to_owned(), shown(directory)],
    })
}

/// The side whose versions the configuration allows, if it is the same for every conflicting provider.
fn allowed_side(merged: &MergedText, configuration: &Configuration) -> Option<Side> {
    let requirements = configuration.required()?.requirements;
    let side = |(addr, reason): (&ProviderAddr, &Reason)| {
        let (Reason::NoVersionForBoth(ours, theirs) | Reason::Mixture(ours, theirs)) = reason else { return None };
        let constraints = &requirements.get(addr)?.constraints;
        match [ours, theirs].map(|version| constraints.allows(version)) {
            [true, false] => Some(Side::Ours),
            [false, true] => Some(Side::Theirs),
            _ => None,
        }
    };
    let mut sides = merged.conflicting().map(side);
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

pub fn textconv(args: &TextconvArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let shortened = short(&read(&in_directory(services, &args.file))?);
    Ok(Outcome::of_body("textconv", Body::Shortened(shortened)))
}

fn options(services: &Services<'_>) -> MergeOptions {
    let default = MergeOptions::default();
    MergeOptions { dialect: services.scope.dialect().unwrap_or(default.dialect), ..default }
}

fn in_directory(services: &Services<'_>, path: &Path) -> PathBuf {
    services.scope.directories().first().map_or_else(|| path.to_owned(), |directory| directory.join(path))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    if path.is_dir() {
        let error = Error::new(ErrorKind::Disk, format!("cannot read {}: it is a directory", shown(path)));
        return Err(error.hint("name the file in it"));
    }
    let absent = || Error::new(ErrorKind::Disk, format!("there is no file {}", shown(path))).in_file(path);
    crate::disk::files::read_file(path)?.ok_or_else(absent)
}
