//! `tflock merge --resolve`: a file with conflict markers, merged after all.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::git::{Git, Stage};
use crate::merge::{
    Document, MergeOptions, MergedText, Remark, Side, Split, Three, is_readable, merge_texts, not_literal, split,
};

/// Merges the sides of a file with conflict markers; none if there are no markers.
///
/// The sides come from the markers, so what somebody decided already stays decided; if they make no sense, as where git
/// put one provider into the file twice, from git. The common ancestor comes from the markers too, else from git, else
/// there is none, and what only one side has is kept.
///
/// # Errors
///
/// Markers out of order, or sides that can be had from nowhere.
pub fn resolve(file: &Path, text: &[u8], options: MergeOptions) -> Result<Option<MergedText>, Error> {
    let document = file.file_name().map_or(Document::LockFile, |name| Document::by_name(&name.to_string_lossy()));
    let Some(parts) = split(text).map_err(|error| Error::from(error).in_file(file))? else { return Ok(None) };
    let options = MergeOptions { marker_size: parts.marker_size, ..options };
    refuse_not_literal(file, document, [&parts.ours, &parts.theirs], options)?;
    let readable = |text: &[u8]| is_readable(document, text, options.dialect);
    if readable(&parts.ours) && readable(&parts.theirs) {
        return Ok(Some(merge_parts(file, document, parts, options)));
    }
    let known = |side| stage(file, side).filter(|text| readable(text));
    if let (Some(ours), Some(theirs)) = (known(Stage::Ours), known(Stage::Theirs)) {
        let base = stage(file, Stage::Base).unwrap_or_default();
        return Ok(Some(merge_texts(document, Three { base: &base, ours: &ours, theirs: &theirs }, options)));
    }
    let merged = merge_texts(document, Three { base: b"", ours: &parts.ours, theirs: &parts.theirs }, options);
    let why = merged.remarks.first().map(ToString::to_string).unwrap_or_default();
    let error = Error::new(ErrorKind::LockFile, format!("cannot merge the sides of {}: {why}", file.display()));
    Err(error.in_file(file).hint("take one side with `git checkout --ours FILE`, then run `tflock lock`"))
}

/// Refuses to merge what no tool writes, on either side.
///
/// # Errors
///
/// The first such value, with the command that takes the other side.
pub(super) fn refuse_not_literal(
    file: &Path,
    document: Document,
    [ours, theirs]: [&[u8]; 2],
    options: MergeOptions,
) -> Result<(), Error> {
    let wrong = |text| not_literal(document, text, options.dialect);
    let (side, finding, hint) = match (wrong(ours), wrong(theirs)) {
        (None, None) => return Ok(()),
        (Some(finding), None) => (Side::Ours, finding, "--theirs"),
        (None, Some(finding)) => (Side::Theirs, finding, "--ours"),
        (Some(finding), Some(_)) => (Side::Ours, finding, ""),
    };
    let line = finding.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
    let message = format!("{side} of {} is not merged: {line}{}", file.display(), finding.message);
    let hint = match hint {
        "" => format!("theirs is no better; take {} from a revision without such values", file.display()),
        other => format!("`git checkout {other} -- {}` takes the other side", file.display()),
    };
    Err(Error::new(ErrorKind::Trust, message).in_file(file).hint(hint))
}

fn merge_parts(file: &Path, document: Document, parts: Split, options: MergeOptions) -> MergedText {
    let readable = |text: &Vec<u8>| is_readable(document, text, options.dialect);
    let base = parts.base.filter(readable).or_else(|| stage(file, Stage::Base));
    let texts = Three { base: base.as_deref().unwrap_or_default(), ours: &parts.ours, theirs: &parts.theirs };
    let mut merged = merge_texts(document, texts, options);
    if base.is_none() && stage(file, Stage::Ours).is_none() {
        merged.remarks.insert(0, Remark::NoBase);
    }
    merged
}

/// A version of a file that git could not merge; none outside of git, or if there is no such version.
fn stage(file: &Path, stage: Stage) -> Option<Vec<u8>> {
    Git::open(file.parent()?).ok()?.stage(file.file_name()?.to_str()?, stage)
}
