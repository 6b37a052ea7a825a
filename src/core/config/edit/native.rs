//! Edits of native syntax: an entry or the blocks around it are put in, changed or taken out.
//!
//! Whatever is put in copies the indentation, the line breaks and the layout of its neighbours.

use std::ops::Range;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, ObjectKey};

use super::layout::{
    self, Splices, UNIT, blank_line_at, blank_line_before, comments_above, edit_aligned, indent, line_break, line_end,
    line_start, quoted, unit,
};
use super::{Entry, SourceChange};
use crate::config::RootKind;
use crate::hcl::scan::{self, ArgumentSpan, BlockSpan};

#[derive(Debug)]
pub(super) struct Site<'a> {
    text: &'a str,
    /// The `terraform` block; in a stack the `required_providers` block itself.
    terraform: BlockSpan<'a>,
    pub(super) has_version: bool,
    pub(super) required: Vec<RequiredBlock<'a>>,
}

#[derive(Debug)]
pub(super) struct RequiredBlock<'a> {
    block: BlockSpan<'a>,
    pub(super) entries: Vec<ArgumentSpan<'a>>,
}

pub(super) fn sites<'a>(text: &'a str) -> Vec<Site<'a>> {
    let blocks = |range, kind: &str| {
        let mut blocks = scan::outline(text, range).map(|outline| outline.blocks).unwrap_or_default();
        blocks.retain(|block| block.kind == kind);
        blocks
    };
    let required = |block: BlockSpan<'a>| {
        let outline = scan::outline(text, block.body.clone());
        RequiredBlock { entries: outline.map(|outline| outline.arguments).unwrap_or_default(), block }
    };
    let of_module = blocks(0..text.len(), "terraform").into_iter().map(|terraform| {
        let has_version = scan::outline(text, terraform.body.clone())
            .is_ok_and(|outline| outline.arguments.iter().any(|argument| argument.name == "required_version"));
        let inner = blocks(terraform.body.clone(), "required_providers").into_iter().map(required);
        Site { text, required: inner.collect(), terraform, has_version }
    });
    // In a stack nothing is around the block.
    let of_stack = blocks(0..text.len(), "required_providers").into_iter().map(|block| Site {
        text,
        terraform: block.clone(),
        has_version: false,
        required: vec![required(block)],
    });
    of_module.chain(of_stack).collect()
}

impl Site<'_> {
    /// The ranges whose alignment is kept up, from outer to inner.
    fn ranges(&self, required: Option<&RequiredBlock<'_>>) -> Vec<Range<usize>> {
        let range = |block: &BlockSpan<'_>| layout::line_start(self.text, block.at)..self.line_end_of(block);
        let inner = required.map(|required| &required.block).filter(|block| block.at != self.terraform.at);
        std::iter::once(&self.terraform).chain(inner).map(range).collect()
    }

    fn line_end_of(&self, block: &BlockSpan<'_>) -> usize {
        let end = layout::line_end(self.text, block.body.end);
        self.text[..end].trim_end_matches(['\n', '\r']).len().max(block.body.end)
    }
}

/// True if the body of a block is on the line of its header.
fn is_on_one_line(text: &str, block: &BlockSpan<'_>, first: Option<&ArgumentSpan<'_>>) -> bool {
    !text[block.body.start..first.map_or(block.body.end, |first| first.at)].contains('\n')
}

#[derive(Debug)]
struct ObjectLayout<'a> {
    line_break: &'static str,
    indent: String,
    unit: &'a str,
    /// True if the value takes one line only.
    inline: bool,
}

impl<'a> ObjectLayout<'a> {
    /// The layout of the entries near an index, the one before it first.
    fn near(site: &Site<'a>, required: &RequiredBlock<'a>, index: usize) -> Self {
        let text = site.text;
        let outer = indent(text, required.block.at);
        let step = unit(indent(text, site.terraform.at), outer);
        let mut near: Vec<&ArgumentSpan<'_>> = required.entries.iter().take(index).rev().collect();
        near.extend(required.entries.iter().skip(index));
        let on_one_line = is_on_one_line(text, &required.block, required.entries.first());
        let indent = match near.first() {
            Some(entry) if !on_one_line => indent(text, entry.at).to_owned(),
            _ => format!("{outer}{step}"),
        };
        let is_object = |entry: &&&ArgumentSpan<'_>| text[entry.value.clone()].starts_with('{');
        let inline = near.iter().find(is_object).is_some_and(|entry| !text[entry.value.clone()].contains('\n'));
        let inner = near.iter().filter(is_object).find_map(|entry| first_inner_indent(text, entry));
        let step = inner.map_or(step, |inner| unit(&indent, inner));
        Self { line_break: line_break(text), indent, unit: step, inline }
    }

    /// `name = { … }`, indented, without a line break at the end.
    fn entry(&self, entry: &Entry) -> String {
        format!("{}{} = {}", self.indent, entry.name, self.object(&quoted(&entry.source), entry.constraint_value()))
    }

    fn object(&self, source: &str, version: Option<String>) -> String {
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
fn first_inner_indent<'a>(text: &'a str, entry: &ArgumentSpan<'_>) -> Option<&'a str> {
    let value = &text[entry.value.clone()];
    let line = &value[value.find('\n')? + 1..];
    let inner = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    (!line.trim_start().is_empty()).then_some(inner)
}

/// Puts an entry into a `required_providers` block: in order if the block is in order, else last.
pub(super) fn insert_entry(site: &Site<'_>, required: &RequiredBlock<'_>, entry: &Entry) -> String {
    let names: Vec<&str> = required.entries.iter().map(|entry| entry.name).collect();
    let index = if names.is_sorted() { names.partition_point(|name| *name < entry.name.as_str()) } else { names.len() };
    let layout = ObjectLayout::near(site, required, index);
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
fn place(site: &Site<'_>, required: &RequiredBlock<'_>, index: usize, new: &str, line_break: &str) -> (usize, String) {
    let text = site.text;
    let apart = are_apart(text, required);
    let after = |previous: Option<usize>| match previous {
        Some(previous) => line_end(text, required.entries[previous].value.end),
        None => line_end(text, required.block.body.start),
    };
    let above = |next: &ArgumentSpan<'_>| comments_above(text, after(index.checked_sub(1)), next.at);
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
fn are_apart(text: &str, required: &RequiredBlock<'_>) -> bool {
    let is_apart = |pair: &[ArgumentSpan<'_>]| {
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
pub(super) fn insert_block(site: &Site<'_>, entry: &Entry) -> String {
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

/// Puts a block with one entry at the end of a text; unless it is of a stack, in a `terraform` block.
pub(super) fn append(text: &str, entry: &Entry, kind: RootKind) -> String {
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
    if kind == RootKind::Stack {
        return new + &block(entry, "", UNIT, line_break) + line_break;
    }
    let block = block(entry, UNIT, UNIT, line_break);
    new + &format!("terraform {{{line_break}{block}{line_break}}}{line_break}")
}

/// A `required_providers` block with one entry, indented, without a line break at the end.
fn block(entry: &Entry, outer: &str, step: &str, line_break: &'static str) -> String {
    let layout = ObjectLayout { line_break, indent: format!("{outer}{step}"), unit: step, inline: false };
    let entry = layout.entry(entry);
    format!("{outer}required_providers {{{line_break}{entry}{line_break}{outer}}}")
}

#[derive(Debug)]
struct ObjectText {
    range: Range<usize>,
    members: Vec<ObjectMember>,
}

#[derive(Debug)]
struct ObjectMember {
    name: String,
    at: usize,
    value: Range<usize>,
}

/// Reads the expression in a range of a text, if it is an object whose keys are constant.
fn object(text: &str, range: Range<usize>) -> Option<ObjectText> {
    let slice = &text[range.clone()];
    let mut expression: Expression = slice.parse().ok()?;
    while let Expression::Parenthesis(inner) = expression {
        expression = inner.into_inner();
    }
    let absolute = |span: Range<usize>| range.start + span.start..range.start + span.end;
    let Expression::Object(object) = &expression else { return None };
    let member = |(key, value): (&ObjectKey, &hcl_edit::expr::ObjectValue)| {
        let (name, at) = match key {
            ObjectKey::Ident(name) => (name.as_str().to_owned(), name.span()?.start),
            ObjectKey::Expression(key) => (key.as_str()?.to_owned(), key.span()?.start),
        };
        Some(ObjectMember { name, at: range.start + at, value: absolute(value.expr().span()?) })
    };
    Some(ObjectText { range: absolute(object.span()?), members: object.iter().map(member).collect::<Option<_>>()? })
}

impl ObjectText {
    fn member(&self, name: &str) -> Option<&ObjectMember> {
        self.members.iter().find(|member| member.name == name)
    }
}

/// Takes out the entry at an index, with its lines and the comments directly above.
///
/// Of the blank lines that set it off from others, one goes with it. The blocks that are empty then go with it too.
pub(super) fn remove_entry(site: &Site<'_>, required: &RequiredBlock<'_>, index: usize) -> String {
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
fn with_block(text: &str, block: &BlockSpan<'_>, gone: &Range<usize>) -> Option<Range<usize>> {
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
fn within_line(text: &str, required: &RequiredBlock<'_>, index: usize) -> Range<usize> {
    let (body, entry) = (required.block.body.clone(), &required.entries[index]);
    let held = entry.at..entry.value.end;
    let is_alone = text[body.start..held.start].trim().is_empty() && text[held.end..body.end].trim().is_empty();
    if is_alone { body } else { held }
}

fn with_lines(text: &str, required: &RequiredBlock<'_>, index: usize) -> Range<usize> {
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

/// Changes the entry at an index, by the spans of its values.
pub(super) fn replace_entry(
    site: &Site<'_>,
    required: &RequiredBlock<'_>,
    index: usize,
    change: &SourceChange,
) -> String {
    let text = site.text;
    let value = required.entries[index].value.clone();
    let mut splices = Splices::default();
    match (object(text, value.clone()), &change.source) {
        (Some(object), _) => change_object(text, &object, change, &mut splices),
        (None, Some(source)) => {
            let version = change.constraint.as_deref().map_or_else(|| text[value.clone()].to_owned(), quoted);
            let layout = ObjectLayout::near(site, required, index);
            splices.replace(value, layout.object(&quoted(source), Some(version)));
        }
        (None, None) => {
            if let Some(constraint) = &change.constraint {
                splices.replace(value, quoted(constraint));
            }
        }
    }
    edit_aligned(text, &site.ranges(Some(required)), splices)
}

fn change_object(text: &str, object: &ObjectText, change: &SourceChange, splices: &mut Splices) {
    let mut missing = Vec::new();
    for (name, new) in [("source", &change.source), ("version", &change.constraint)] {
        let Some(new) = new else { continue };
        match object.member(name) {
            Some(member) => splices.replace(member.value.clone(), quoted(new)),
            None => missing.push((name, quoted(new))),
        }
    }
    if object.members.is_empty() && !missing.is_empty() {
        let members: Vec<String> = missing.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let held = text[object.range.start + 1..object.range.end - 1].trim();
        if held.is_empty() {
            splices.replace(object.range.clone(), format!("{{ {} }}", members.join(", ")));
        } else {
            let (line_break, indent) = (line_break(text), indent(text, object.range.end - 1));
            splices.insert(object.range.start + 1, format!(" {}{line_break}{indent}", members.join(", ")));
        }
        return;
    }
    for (name, value) in missing {
        put_member(text, object, (name, &value), splices);
    }
}

/// Puts a source first, and a version behind the source or else last.
fn put_member(text: &str, object: &ObjectText, (name, value): (&str, &str), splices: &mut Splices) {
    let (Some(first), Some(last)) = (object.members.first(), object.members.last()) else { return };
    let line_break = line_break(text);
    let spans_lines = text[object.range.start..first.at].contains('\n');
    if name == "source" {
        let gap = if spans_lines { format!("{line_break}{}", indent(text, first.at)) } else { ", ".to_owned() };
        return splices.insert(first.at, format!("{name} = {value}{gap}"));
    }
    let previous = object.member("source").unwrap_or(last);
    match end_of_member(text, previous, object.range.end).filter(|_| spans_lines) {
        Some(at) => splices.insert(at, format!("{}{name} = {value}{line_break}", indent(text, previous.at))),
        None => splices.insert(previous.value.end, format!(", {name} = {value}")),
    }
}

/// The end of a member's line, behind the line break, if nothing but a comma and a comment follows on it.
fn end_of_member(text: &str, member: &ObjectMember, end: usize) -> Option<usize> {
    let blank = |text: &str| text.len() - text.trim_start_matches([' ', '\t', '\r']).len();
    let mut at = member.value.end + blank(&text[member.value.end..end]);
    at += usize::from(text[at..].starts_with(','));
    at += blank(&text[at..end]);
    let rest = &text[at..end];
    if rest.starts_with(['\n', '#']) || rest.starts_with("//") {
        return rest.find('\n').map(|length| at + length + 1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_their_places() {
        for text in [
            "x = { source = \"a/b\", \"version\" : \"1\" }",
            "x = {\n  # c\n  source = \"a/b\" # d\n  /* é */ \"version\" = \"1\"\n  configuration_aliases = [x.y]\n}",
            "x = ({ source = \"a/b\", version = \"1\", })",
        ] {
            let object = object(text, 4..text.len()).unwrap();
            assert!(text[object.range.clone()].starts_with('{') && text[object.range.clone()].ends_with('}'), "{text}");
            let value = |name| &text[object.member(name).unwrap().value.clone()];
            assert_eq!((value("source"), value("version")), ("\"a/b\"", "\"1\""), "{text}");
            assert!(text[object.member("version").unwrap().at..].trim_start_matches('"').starts_with("version"));
        }
        assert!(object("\"1\"", 0..3).is_none());
    }
}
