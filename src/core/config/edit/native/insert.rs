//! Putting in an entry, or the blocks around it.

use std::ops::Range;

use super::super::Entry;
use super::super::align::edit_aligned;
use super::super::lines::{
    UNIT, blank_line_before, comments_above, indent, line_break, line_end, line_start, quoted, unit,
};
use super::super::splice::Splices;
use super::{Required, Site, is_on_one_line};
use crate::hcl::scan::Argument;

#[derive(Debug)]
pub(super) struct Layout<'a> {
    line_break: &'static str,
    indent: String,
    unit: &'a str,
    /// True if the value takes one line only.
    inline: bool,
}

impl<'a> Layout<'a> {
    /// The layout of the entries near an index, the one before it first.
    pub(super) fn near(site: &Site<'a>, required: &Required<'a>, index: usize) -> Self {
        let text = site.text;
        let outer = indent(text, required.block.at);
        let step = unit(indent(text, site.terraform.at), outer);
        let mut near: Vec<&Argument<'_>> = required.entries.iter().take(index).rev().collect();
        near.extend(required.entries.iter().skip(index));
        let on_one_line = is_on_one_line(text, &required.block, required.entries.first());
        let indent = match near.first() {
            Some(entry) if !on_one_line => indent(text, entry.at).to_owned(),
            _ => format!("{outer}{step}"),
        };
        let is_object = |entry: &&&Argument<'_>| text[entry.value.clone()].starts_with('{');
        let inline = near.iter().find(is_object).is_some_and(|entry| !text[entry.value.clone()].contains('\n'));
        let inner = near.iter().filter(is_object).find_map(|entry| first_inner_indent(text, entry));
        let step = inner.map_or(step, |inner| unit(&indent, inner));
        Self { line_break: line_break(text), indent, unit: step, inline }
    }

    /// `name = { … }`, indented, without a line break at the end.
    pub(super) fn entry(&self, entry: &Entry) -> String {
        format!("{}{} = {}", self.indent, entry.name, self.object(&quoted(&entry.source), entry.constraint_value()))
    }

    pub(super) fn object(&self, source: &str, version: Option<String>) -> String {
        let Self { line_break, indent, unit, inline } = self;
        match (inline, version) {
            (true, None) => format!("{{ source = {source} }}"),
            (true, Some(version)) => format!("{{ source = {source}, version = {version} }}"),
            (false, None) => format!("{{{line_break}{indent}{unit}source = {source}{line_break}{indent}}}"),
            (false, Some(version)) => format!(
                "{{{line_break}{indent}{unit}source  = {source}{line_break}{indent}{unit}version = {version}{line_break}{indent}}}"
            ),
        }
    }
}

/// The indentation of the first member of an object that spans lines.
fn first_inner_indent<'a>(text: &'a str, entry: &Argument<'_>) -> Option<&'a str> {
    let value = &text[entry.value.clone()];
    let line = &value[value.find('\n')? + 1..];
    let inner = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    (!line.trim_start().is_empty()).then_some(inner)
}

/// Puts an entry into a `required_providers` block: in order if the block is in order, else last.
pub(in super::super) fn insert_entry(site: &Site<'_>, required: &Required<'_>, entry: &Entry) -> String {
    let names: Vec<&str> = required.entries.iter().map(|entry| entry.name).collect();
    let index = if names.is_sorted() { names.partition_point(|name| *name < entry.name.as_str()) } else { names.len() };
    let layout = Layout::near(site, required, index);
    let new = layout.entry(entry);
    let splices = if is_on_one_line(site.text, &required.block, required.entries.first()) {
        let before = if index == 0 { Some(new.as_str()) } else { None };
        let after = if index == 0 { None } else { Some(new.as_str()) };
        let outer = indent(site.text, required.block.at);
        open_up(site.text, required.block.body.clone(), (outer, &layout.indent), [before, after])
    } else {
        let (at, new) = place(site, required, index, &new, layout.line_break);
        Splices::one(at..at, new)
    };
    edit_aligned(site.text, &site.ranges(Some(required)), splices)
}

/// Where an entry goes in a block that spans lines, and with which line breaks.
fn place(site: &Site<'_>, required: &Required<'_>, index: usize, new: &str, line_break: &str) -> (usize, String) {
    let text = site.text;
    let apart = are_apart(text, required);
    let after = |previous: Option<usize>| match previous {
        Some(previous) => line_end(text, required.entries[previous].value.end),
        None => line_end(text, required.block.body.start),
    };
    let above = |next: &Argument<'_>| comments_above(text, after(index.checked_sub(1)), next.at);
    match required.entries.get(index) {
        Some(next) if apart => (above(next), format!("{new}{line_break}{line_break}")),
        Some(next) if index == 0 => (above(next), format!("{new}{line_break}")),
        None if apart => {
            let end = after(index.checked_sub(1));
            let closing = line_start(text, required.block.body.end);
            // Comments at the end of the block stay with the entry before.
            let has_comments = text.get(end..closing).is_some_and(|held| !held.trim().is_empty());
            (if has_comments { closing } else { end }, format!("{line_break}{new}{line_break}"))
        }
        _ => (after(index.checked_sub(1)), format!("{new}{line_break}")),
    }
}

/// True if there are blank lines between all entries.
fn are_apart(text: &str, required: &Required<'_>) -> bool {
    let is_apart = |pair: &[Argument<'_>]| {
        let end = line_end(text, pair[0].value.end);
        comments_above(text, end, pair[1].at) > end
    };
    required.entries.len() > 1 && required.entries.windows(2).all(is_apart)
}

/// Spreads a body from the line of its header over lines of its own, with something before or after its content.
fn open_up(
    text: &str,
    body: Range<usize>,
    (outer, inner): (&str, &str),
    [before, after]: [Option<&str>; 2],
) -> Splices {
    let held = text[body.clone()].trim();
    let held = (!held.is_empty()).then(|| format!("{inner}{held}"));
    let mut new = String::new();
    for line in [before, held.as_deref(), after].into_iter().flatten() {
        new.push_str(line_break(text));
        new.push_str(line);
    }
    new.push_str(line_break(text));
    new.push_str(outer);
    Splices::one(body, new)
}

/// Puts a `required_providers` block with one entry at the end of a `terraform` block.
pub(in super::super) fn insert_block(site: &Site<'_>, entry: &Entry) -> String {
    let (text, body) = (site.text, site.terraform.body.clone());
    let outer = indent(text, site.terraform.at);
    let step = step_within(site);
    let on_one_line = !text[body.clone()].contains('\n');
    let line_break = line_break(text);
    let block = block(entry, &format!("{outer}{step}"), step, line_break);
    let splices = if on_one_line {
        let gap = if text[body.clone()].trim().is_empty() { "" } else { line_break };
        let inner = format!("{outer}{step}");
        open_up(text, body, (outer, &inner), [None, Some(&format!("{gap}{block}"))])
    } else {
        let closing = line_start(text, body.end);
        let is_first = closing <= line_end(text, body.start);
        let gap = if is_first || blank_line_before(text, closing).is_some() { "" } else { line_break };
        if text[closing..body.end].trim().is_empty() {
            Splices::one(closing..closing, format!("{gap}{block}{line_break}"))
        } else {
            Splices::one(body.end..body.end, format!("{line_break}{line_break}{block}{line_break}{outer}"))
        }
    };
    edit_aligned(text, &site.ranges(None), splices)
}

/// The step of indentation from a `terraform` block to its content.
fn step_within<'a>(site: &Site<'a>) -> &'a str {
    let (text, body) = (site.text, site.terraform.body.clone());
    let outer = indent(text, site.terraform.at);
    let first = line_end(text, body.start);
    match text.get(first..body.end) {
        Some(rest) if !rest.trim().is_empty() => {
            let at = first + (rest.len() - rest.trim_start().len());
            unit(outer, indent(text, at))
        }
        _ => unit(outer, outer),
    }
}

/// Puts a `terraform` block with one entry at the end of a text.
pub(in super::super) fn append(text: &str, entry: &Entry) -> String {
    let line_break = line_break(text);
    let mut new = text.to_owned();
    let is_blank = text.trim_start_matches('\u{feff}').trim().is_empty();
    if !is_blank {
        if !text.ends_with('\n') {
            new.push_str(line_break);
        }
        if blank_line_before(text, text.len()).is_none() {
            new.push_str(line_break);
        }
    }
    let block = block(entry, UNIT, UNIT, line_break);
    new + &format!("terraform {{{line_break}{block}{line_break}}}{line_break}")
}

/// A `required_providers` block with one entry, indented, without a line break at the end.
fn block(entry: &Entry, outer: &str, step: &str, line_break: &'static str) -> String {
    let layout = Layout { line_break, indent: format!("{outer}{step}"), unit: step, inline: false };
    let entry = layout.entry(entry);
    format!("{outer}required_providers {{{line_break}{entry}{line_break}{outer}}}")
}
