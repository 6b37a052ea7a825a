//! Taking out an entry.

use std::ops::Range;

use super::super::align::edit_aligned;
use super::super::lines::{blank_line_at, blank_line_before, comments_above, line_end, line_start};
use super::super::splice::Splices;
use super::{Required, Site, is_on_one_line};
use crate::hcl::scan::Block;

/// Takes out the entry at an index, with its lines and the comments directly above.
///
/// Of the blank lines that set it off from others, one goes with it. The blocks that are empty then go with it too.
pub(in super::super) fn remove_entry(site: &Site<'_>, required: &Required<'_>, index: usize) -> String {
    let text = site.text;
    let range = if is_on_one_line(text, &required.block, required.entries.first()) {
        within_line(text, required, index)
    } else {
        with_lines(text, required, index)
    };
    let Some(block) = with_block(text, &required.block, &range) else {
        return edit_aligned(text, &site.ranges(Some(required)), Splices::one(range, ""));
    };
    match with_block(text, &site.terraform, &block) {
        Some(terraform) => Splices::one(terraform, "").apply(text),
        None => edit_aligned(text, &site.ranges(None), Splices::one(block, "")),
    }
}

/// A block with its lines and the blank line that sets it off, if nothing is in it but what goes.
fn with_block(text: &str, block: &Block<'_>, gone: &Range<usize>) -> Option<Range<usize>> {
    let is_blank = |range: Range<usize>| text[range].trim().is_empty();
    if !is_blank(block.body.start..gone.start.max(block.body.start))
        || !is_blank(gone.end.min(block.body.end)..block.body.end)
    {
        return None;
    }
    let (start, close) = (line_start(text, block.at), block.body.end + 1);
    let end = line_end(text, close);
    if !is_blank(start..block.at) || !is_blank(close..end) {
        return Some(block.at..close);
    }
    let is_last = text[end..].trim_start().is_empty() || text[end..].trim_start_matches([' ', '\t']).starts_with('}');
    let before = blank_line_before(text, start).filter(|_| is_last || blank_line_at(text, end).is_some());
    Some(before.map_or(start, |blank| blank.start)..end)
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
