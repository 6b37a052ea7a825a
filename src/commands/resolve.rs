//! `tflock merge --resolve`: a file with conflict markers, merged after all.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::finding::shell_word;
use crate::git::{Git, Stage};
use crate::merge::{
    Document, MergeOptions, MergedText, Remark, Side, Split, Three, is_readable, merge_decided, merge_texts,
    not_literal, split,
};

/// Merges the sides of a file with conflict markers; none if there are no markers.
///
/// Where git has not merged the path, the texts are those of its index, which the driver would have got: between markers
/// git may have merged a part of an entry by itself, so that a side mixes two versions. Conflicts that somebody decided
/// by hand, by leaving one side without markers, stay decided. Where git knows nothing, the sides come from the markers.
///
/// # Errors
///
/// Markers out of order, or sides that can be had from nowhere.
pub fn resolve(file: &Path, text: &[u8], options: MergeOptions) -> Result<Option<MergedText>, Error> {
    let document = document_of(file);
    let Some(parts) = split(text).map_err(|error| Error::from(error).in_file(file))? else { return Ok(None) };
    let options = MergeOptions { marker_size: parts.marker_size, ..options };
    let readable = |text: &[u8]| is_readable(document, text, options.dialect);
    if let [Some(ours), Some(theirs)] = [Stage::Ours, Stage::Theirs].map(|side| stage(file, side)) {
        refuse_not_literal(file, [&ours, &theirs], options)?;
        if readable(&ours) && readable(&theirs) {
            let base = stage(file, Stage::Base).unwrap_or_default();
            let texts = Three { base: &base[..], ours: &ours, theirs: &theirs };
            let mut merged = merge_decided(document, texts, [&parts.ours, &parts.theirs], options);
            if merged.conflicts && ![&parts.ours, &parts.theirs].into_iter().all(|side| readable(side)) {
                merged.remarks.push(Remark::NothingDecided);
            }
            return Ok(Some(merged));
        }
    }
    let options = MergeOptions { from_markers: true, ..options };
    refuse_not_literal(file, [&parts.ours, &parts.theirs], options)?;
    if readable(&parts.ours) && readable(&parts.theirs) {
        return Ok(Some(merge_parts(document, &parts, options)));
    }
    let merged = merge_texts(document, Three { base: b"", ours: &parts.ours, theirs: &parts.theirs }, options);
    let why = merged.remarks.first().map(ToString::to_string).unwrap_or_default();
    let error = Error::new(ErrorKind::LockFile, format!("cannot merge the sides of {}: {why}", file.display()));
    Err(error.in_file(file).hint(format!("to take one side, {}", taking(Side::Ours, file))))
}

/// The kind of a file by its name.
pub(super) fn document_of(file: &Path) -> Document {
    file.file_name().map_or(Document::LockFile, |name| Document::by_name(&name.to_string_lossy()))
}

/// Whether git has both sides of a file that it could not merge.
pub(super) fn has_sides(file: &Path) -> bool {
    [Stage::Ours, Stage::Theirs].iter().all(|side| stage(file, *side).is_some())
}

/// How to take one side of a file with markers: from git, where it has both.
pub(super) fn taking(side: Side, file: &Path) -> String {
    if has_sides(file) {
        format!("run `{}`", checkout(side, file))
    } else {
        format!("keep what stands for {side} between the markers, and delete {} and the markers", side.other())
    }
}

/// The command that takes one side of a file that git could not merge.
pub(super) fn checkout(side: Side, file: &Path) -> String {
    format!("git checkout --{side} -- {}", shell_word(&file.to_string_lossy()))
}

/// Refuses to merge what no tool writes, on either side.
///
/// # Errors
///
/// The first such value, with the command that takes the other side.
pub(super) fn refuse_not_literal(file: &Path, [ours, theirs]: [&[u8]; 2], options: MergeOptions) -> Result<(), Error> {
    let wrong = |text| not_literal(document_of(file), text, options.dialect);
    let (side, finding, other) = match (wrong(ours), wrong(theirs)) {
        (None, None) => return Ok(()),
        (Some(finding), None) => (Side::Ours, finding, Some(Side::Theirs)),
        (None, Some(finding)) => (Side::Theirs, finding, Some(Side::Ours)),
        (Some(finding), Some(_)) => (Side::Ours, finding, None),
    };
    let line = finding.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
    let message = format!("{side} of {} is not merged: {line}{}", file.display(), finding.message);
    let hint = match other {
        None => format!("theirs is no better; take {} from a revision without such values", file.display()),
        Some(other) if options.from_markers => format!("to take the other side, {}", taking(other, file)),
        Some(other) => format!("`{}` takes the other side", checkout(other, file)),
    };
    Err(Error::new(ErrorKind::Trust, message).in_file(file).hint(hint))
}

fn merge_parts(document: Document, parts: &Split, options: MergeOptions) -> MergedText {
    let readable = |text: &&Vec<u8>| is_readable(document, text, options.dialect);
    let base = parts.base.as_ref().filter(readable);
    let texts = Three { base: base.map(Vec::as_slice).unwrap_or_default(), ours: &parts.ours, theirs: &parts.theirs };
    let mut merged = merge_texts(document, texts, options);
    if base.is_none() {
        merged.remarks.insert(0, Remark::NoBase);
    }
    merged
}

/// A version of a file that git could not merge; none outside of git, or if there is no such version.
fn stage(file: &Path, stage: Stage) -> Option<Vec<u8>> {
    Git::open(file.parent()?).ok()?.stage(file.file_name()?.to_str()?, stage)
}
