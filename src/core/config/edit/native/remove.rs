//! Taking out an entry.

use std::ops::Range;

use super::super::align::edit_aligned;
use super::super::lines::{blank_line_at, blank_line_before, comments_above, line_end};
use super::super::splice::Splices;
use super::{Required, Site, is_on_one_line};

/// Takes out the entry at an index, with its lines and the comments directly above.
///
/// Of the blank lines that set it off from others, one goes with it. An emptied block stays.
pub(in super::super) fn remove_entry(site: &Site<'_>, required: &Required<'_>, index: usize) -> String {
    let text = site.text;
    let range = if is_on_one_line(text, &required.block, required.entries.first()) {
        within_line(text, required, index)
    } else {
        with_lines(text, required, index)
    };
    edit_aligned(text, &site.ranges(Some(required)), Splices::one(range, ""))
}

/// The only entry of a block on one line; with the white space if nothing else is there.
fn within_line(text: &str, required: &Required<'_>, index: usize) -> Range<usize> {
    let (body, entry) = (required.block.body.clone(), &required.entries[index]);
    let held = entry.at..entry.value.end;
    let is_alone = text[body.start..held.start].trim().is_empty() && text[held.end..body.end].trim().is_empty();
    if is_alone { body } else { held }
}

fn with_lines(text: &str, required: &Required<'_>, index: usize) -> Range<usize> {
    let (body, entries) = (required.block.body.clone(), &required.entries);
    let top = line_end(text, body.start);
    let floor = index.checked_sub(1).map_or(top, |previous| line_end(text, entries[previous].value.end));
    let mut range = comments_above(text, floor, entries[index].at)..line_end(text, entries[index].value.end);
    if entries.len() == 1 {
        return range;
    }
    let before = blank_line_before(text, range.start).filter(|blank| blank.start >= floor);
    let after = blank_line_at(text, range.end).filter(|blank| blank.end <= body.end);
    let is_last = text[range.end..body.end].trim().is_empty() && !text[range.end..body.end].contains('\n');
    match (before, after) {
        (Some(_), Some(after)) => range.end = after.end,
        (None, Some(after)) if range.start == top => range.end = after.end,
        (Some(before), None) if is_last => range.start = before.start,
        _ => {}
    }
    range
}
