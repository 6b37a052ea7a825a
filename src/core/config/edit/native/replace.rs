//! Another source or version for an entry that is there.

use super::super::Change;
use super::super::align::edit_aligned;
use super::super::lines::{indent, line_break, quoted};
use super::super::splice::Splices;
use super::insert::Layout;
use super::members::{Member, Object, object};
use super::{Required, Site};

/// Changes the entry at an index, by the spans of its values.
pub(in super::super) fn replace_entry(
    site: &Site<'_>,
    required: &Required<'_>,
    index: usize,
    change: &Change,
) -> String {
    let text = site.text;
    let value = required.entries[index].value.clone();
    let mut splices = Splices::default();
    match (object(text, value.clone()), &change.source) {
        (Some(object), _) => change_object(text, &object, change, &mut splices),
        (None, Some(source)) => {
            let version = change.constraint.as_deref().map_or_else(|| text[value.clone()].to_owned(), quoted);
            let layout = Layout::near(site, required, index);
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

fn change_object(text: &str, object: &Object, change: &Change, splices: &mut Splices) {
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
fn put_member(text: &str, object: &Object, (name, value): (&str, &str), splices: &mut Splices) {
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
fn end_of_member(text: &str, member: &Member, end: usize) -> Option<usize> {
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
