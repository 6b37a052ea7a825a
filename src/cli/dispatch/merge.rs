//! `merge` and `textconv`.

use std::path::{Path, PathBuf};

use super::text::unreadable;
use super::{Done, Session};
use crate::cli::ExitCode;
use crate::cli::args::{MergeArgs, TextconvArgs, Tool};
use crate::commands::resolve::resolve;
use crate::disk::atomic::{Mode, store};
use crate::disk::worktree::boundary;
use crate::error::{Error, ErrorKind};
use crate::merge::{DEFAULT_MARKER_SIZE, Document, MergeOptions, MergedText, Three, merge_texts, textconv as short};

pub(super) fn merge(session: &Session<'_>, arguments: &MergeArgs) -> Result<Done, Error> {
    match (&arguments.base, &arguments.ours, &arguments.theirs) {
        (Some(base), Some(ours), Some(theirs)) => driver(session, arguments, Three { base, ours, theirs }),
        _ => Ok(resolve_each(session, arguments)),
    }
}

/// What git runs for one file.
fn driver(session: &Session<'_>, arguments: &MergeArgs, paths: Three<&PathBuf>) -> Result<Done, Error> {
    let [base, ours, theirs] = [paths.base, paths.ours, paths.theirs].map(|path| in_directory(session, path));
    let shown = arguments.path.as_ref().unwrap_or(paths.ours);
    let document = shown.file_name().map_or(Document::LockFile, |name| Document::by_name(&name.to_string_lossy()));
    let options = MergeOptions {
        marker_size: arguments.marker_size.map_or(DEFAULT_MARKER_SIZE, usize::from),
        ..options(session)
    };
    let texts = [&base, &ours, &theirs].map(|path| read(path));
    let [base, ours_text, theirs] = texts;
    let (base, ours_text, theirs) = (base?, ours_text?, theirs?);
    let merged = merge_texts(document, Three { base: &base, ours: &ours_text, theirs: &theirs }, options);
    store(&ours, &merged.text, Mode::KeepOr(0o644), directory_of(&ours))?;
    let mut done = Done::text("merge", String::new());
    tell(&mut done, shown, &merged);
    Ok(done)
}

fn resolve_each(session: &Session<'_>, arguments: &MergeArgs) -> Done {
    let mut done = Done::text("merge", String::new());
    let mut errors = Vec::new();
    for file in &arguments.resolve {
        let file = in_directory(session, file);
        match resolve_one(session, &file) {
            Ok(Some(merged)) => tell(&mut done, &file, &merged),
            Ok(None) => done.outcome.notes.push(format!("{}: there are no conflict markers", file.display())),
            Err(error) => errors.push(error),
        }
    }
    done.but(Error::all(errors))
}

fn resolve_one(session: &Session<'_>, file: &Path) -> Result<Option<MergedText>, Error> {
    let merged = resolve(file, &read(file)?, options(session))?;
    if let Some(merged) = &merged {
        store(file, &merged.text, Mode::KeepOr(0o644), &boundary(directory_of(file)))?;
    }
    Ok(merged)
}

/// Notes what was decided, and counts conflicts.
fn tell(done: &mut Done, shown: &Path, merged: &MergedText) {
    done.outcome.notes.extend(merged.remarks.iter().map(|remark| format!("{}: {remark}", shown.display())));
    if merged.conflicts {
        done.code = done.code.and(ExitCode::Findings);
    }
}

pub(super) fn textconv(session: &Session<'_>, arguments: &TextconvArgs) -> Result<Done, Error> {
    let text = short(&read(&in_directory(session, &arguments.file))?);
    Ok(Done::text("textconv", String::from_utf8_lossy(&text).into_owned()))
}

fn options(session: &Session<'_>) -> MergeOptions {
    let default = MergeOptions::default();
    let named = session.arguments.global.tool.and_then(Tool::dialect);
    MergeOptions { dialect: named.unwrap_or(default.dialect), ..default }
}

/// A path in the first directory of `-C`.
fn in_directory(session: &Session<'_>, path: &Path) -> PathBuf {
    session.directories().first().map_or_else(|| path.to_owned(), |directory| directory.join(path))
}

fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    if path.is_dir() {
        return Err(Error::new(ErrorKind::Disk, format!("cannot read {}: it is a directory", path.display())));
    }
    std::fs::read(path).map_err(|reason| unreadable(path, &reason))
}
