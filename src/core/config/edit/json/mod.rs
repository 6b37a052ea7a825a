//! Edits of the JSON form.
//!
//! Members are spliced in with the indentation, separators and colons of their neighbours; keys keep their order.

mod layout;

use super::lines::indent;
use super::splice::Splices;
use super::{Change, Entry};
use crate::config::json::{self, JsonNode, JsonValue, Member};
use layout::{Style, Value, quoted};

/// A JSON text with its value.
pub(super) struct Document<'a> {
    text: &'a str,
    root: JsonNode<'a>,
    style: Style,
}

/// A `required_providers` object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Required<'d, 'a> {
    object: &'d JsonNode<'a>,
}

/// The key of a comment.
const COMMENT: &str = "//";

impl<'a> Document<'a> {
    /// Reads a text; none if it is not JSON.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let root = json::parse(text).ok()?;
        let style = Style::of(text, &root);
        Some(Self { text, root, style })
    }

    /// The `required_providers` objects.
    pub(super) fn required(&self) -> Vec<Required<'_, 'a>> {
        let terraform = objects(&self.root).into_iter().flat_map(|root| values(root, "terraform"));
        let bodies = terraform.flat_map(objects).flat_map(|body| values(body, "required_providers"));
        bodies.flat_map(objects).map(|object| Required { object }).collect()
    }

    /// True if there is a `terraform` block, and true if one has `required_version`.
    pub(super) fn terraform(&self) -> (bool, bool) {
        let bodies = self.bodies();
        (!bodies.is_empty(), bodies.iter().any(|body| !values(body, "required_version").is_empty()))
    }

    fn bodies(&self) -> Vec<&JsonNode<'a>> {
        objects(&self.root).into_iter().flat_map(|root| values(root, "terraform")).flat_map(objects).collect()
    }

    /// Puts an entry into a `required_providers` object: in order if the object is in order, else last.
    pub(super) fn insert_entry(&self, required: Required<'_, 'a>, entry: &Entry) -> String {
        let members = members(required.object);
        let names: Vec<&str> = members.iter().map(|member| &*member.name).filter(|name| *name != COMMENT).collect();
        let index = if names.is_sorted() {
            let after = |member: &Member<'_>| *member.name > *entry.name && member.name != COMMENT;
            members.iter().position(after).unwrap_or(members.len())
        } else {
            members.len()
        };
        let lines = self.neighbour_spans_lines(members, index);
        self.insert(required.object, index, &entry.name, &entry_value(entry), lines)
    }

    /// Puts `required_providers` with one entry into a `terraform` block, which is put last if there is none. None if
    /// the text has no place for it.
    pub(super) fn insert_block(&self, entry: &Entry) -> Option<String> {
        let required = Value::Named(entry.name.clone(), Box::new(entry_value(entry)));
        let bodies = self.bodies();
        let versioned = bodies.iter().find(|body| !values(body, "required_version").is_empty());
        if let Some(body) = versioned.or(bodies.first()) {
            return Some(self.insert(body, members(body).len(), "required_providers", &required, None));
        }
        let terraform = Value::Object(vec![("required_providers", required)]);
        let roots = objects(&self.root);
        roots.first().map(|root| self.insert(root, members(root).len(), "terraform", &terraform, None))
    }

    /// Changes an entry, by the spans of its values.
    pub(super) fn replace_entry(&self, required: Required<'_, 'a>, index: usize, change: &Change) -> String {
        let members_before = members(required.object);
        let node = &members_before[index].value;
        let JsonValue::Object(inner) = &node.value else { return self.replace_text(required, index, change) };
        let mut text = self.text.to_owned();
        // From the end, so that the places before stay where they are.
        let mut changes: Vec<(usize, &str, &str)> = Vec::new();
        for (name, new) in [("source", &change.source), ("version", &change.constraint)] {
            if let Some(new) = new {
                let at = inner.iter().find(|member| member.name == name).map_or(usize::MAX, |member| member.at);
                changes.push((at, name, new));
            }
        }
        changes.sort_unstable();
        for (_, name, new) in changes.into_iter().rev() {
            text = Self::set_member(&text, node.at, name, new).unwrap_or(text);
        }
        text
    }

    /// Sets a member of the object that begins at a byte.
    fn set_member(text: &str, object_at: usize, name: &str, new: &str) -> Option<String> {
        let document = Document::read(text)?;
        let object = find(&document.root, object_at)?;
        let inner = members(object);
        if let Some(member) = inner.iter().find(|member| member.name == name) {
            return Some(Splices::one(member.value.at..member.value.end, quoted(new)).apply(text));
        }
        let index = match name {
            "source" => 0,
            _ => inner.iter().position(|member| member.name == "source").map_or(inner.len(), |source| source + 1),
        };
        Some(document.insert(object, index, name, &Value::Text(new.to_owned()), None))
    }

    /// Changes an entry that is no object but a constraint.
    fn replace_text(&self, required: Required<'_, 'a>, index: usize, change: &Change) -> String {
        let entries = members(required.object);
        let node = &entries[index].value;
        let old = match &node.value {
            JsonValue::Text(text) => text.clone().into_owned(),
            _ => self.text[node.at..node.end].to_owned(),
        };
        let version = change.constraint.clone().unwrap_or(old);
        let new = match &change.source {
            None => quoted(&version),
            Some(source) => {
                let lines =
                    self.neighbour_spans_lines(entries, index).unwrap_or_else(|| self.spans_lines(required.object));
                let indent = lines.then(|| indent(self.text, node.at));
                let members = vec![("source", Value::Text(source.clone())), ("version", Value::Text(version))];
                self.style.render(&Value::Object(members), indent)
            }
        };
        Splices::one(node.at..node.end, new).apply(self.text)
    }

    /// Takes out the entry at an index with its comma. An emptied object stays.
    pub(super) fn remove_entry(&self, required: Required<'_, 'a>, index: usize) -> String {
        let entries = members(required.object);
        let range = match (index.checked_sub(1), entries.get(index + 1)) {
            (_, Some(next)) => entries[index].at..next.at,
            (Some(previous), None) => entries[previous].value.end..entries[index].value.end,
            (None, None) => required.object.at + 1..required.object.end - 1,
        };
        Splices::one(range, "").apply(self.text)
    }

    /// Puts a member into an object before an index. `lines` tells if the value spans lines; by default it does if the
    /// members stand on lines of their own.
    fn insert(&self, object: &JsonNode<'_>, index: usize, key: &str, value: &Value, lines: Option<bool>) -> String {
        let text = self.text;
        let members = members(object);
        let Some(first) = members.first() else { return self.insert_first(object, key, value) };
        let own_lines = self.spans_lines(object);
        let indent = indent(text, first.at);
        let inner = lines.unwrap_or(own_lines).then_some(indent);
        let member = format!("{}{}{}", quoted(key), self.style.colon, self.style.render(value, inner));
        let separator = match members.get(1) {
            _ if own_lines => format!("{}{indent}", self.style.line_break),
            Some(second) => between(text, first.value.end, second.at).trim_start_matches(',').to_owned(),
            None => self.style.space.to_owned(),
        };
        let splice = match (members.get(index), members.last()) {
            (None, Some(last)) => Splices::one(last.value.end..last.value.end, format!(",{separator}{member}")),
            (next, _) => {
                let at = next.unwrap_or(first).at;
                Splices::one(at..at, format!("{member},{separator}"))
            }
        };
        splice.apply(text)
    }

    /// Puts the first member into an object.
    fn insert_first(&self, object: &JsonNode<'_>, key: &str, value: &Value) -> String {
        let Style { line_break, unit, colon, padding, .. } = &self.style;
        let new = if self.text.trim().contains('\n') || self.root.at == object.at {
            let outer = indent(self.text, object.at);
            let inner = format!("{outer}{unit}");
            let value = self.style.render(value, Some(&inner));
            format!("{{{line_break}{inner}{}{colon}{value}{line_break}{outer}}}", quoted(key))
        } else {
            let value = self.style.render(value, None);
            format!("{{{padding}{}{colon}{value}{padding}}}", quoted(key))
        };
        Splices::one(object.at..object.end, new).apply(self.text)
    }

    /// True if the members of an object stand on lines of their own.
    fn spans_lines(&self, object: &JsonNode<'_>) -> bool {
        members(object).first().is_some_and(|first| self.text[object.at..first.at].contains('\n'))
    }

    /// True if the object nearest to an index spans lines; none if there is no object with members.
    fn neighbour_spans_lines(&self, entries: &[Member<'_>], index: usize) -> Option<bool> {
        let (before, after) = entries.split_at(index.min(entries.len()));
        let mut near = before.iter().rev().chain(after);
        near.find(|member| !members(&member.value).is_empty()).map(|member| self.spans_lines(&member.value))
    }
}

impl Required<'_, '_> {
    /// The keys, in order.
    pub(super) fn entries(self) -> Vec<String> {
        members(self.object).iter().map(|member| member.name.clone().into_owned()).collect()
    }
}

/// A new file with one entry.
pub(super) fn create(entry: &Entry) -> String {
    let style = Style::default();
    let required = Value::Named(entry.name.clone(), Box::new(entry_value(entry)));
    let terraform = Value::Object(vec![("required_providers", required)]);
    format!("{}\n", style.render(&Value::Object(vec![("terraform", terraform)]), Some("")))
}

fn entry_value(entry: &Entry) -> Value {
    let mut members = vec![("source", Value::Text(entry.source.clone()))];
    members.extend(entry.constraint.iter().map(|constraint| ("version", Value::Text(constraint.clone()))));
    Value::Object(members)
}

fn between(text: &str, start: usize, end: usize) -> &str {
    text[start..end].trim_start()
}

/// The object that a value is, or the objects of the array that it is.
fn objects<'d, 'a>(node: &'d JsonNode<'a>) -> Vec<&'d JsonNode<'a>> {
    match &node.value {
        JsonValue::Object(_) => vec![node],
        JsonValue::Array(items) => items.iter().filter(|item| matches!(item.value, JsonValue::Object(_))).collect(),
        _ => Vec::new(),
    }
}

fn members<'d, 'a>(node: &'d JsonNode<'a>) -> &'d [Member<'a>] {
    match &node.value {
        JsonValue::Object(members) => members,
        _ => &[],
    }
}

/// The values of a key, which may come more than once.
fn values<'d, 'a>(object: &'d JsonNode<'a>, key: &str) -> Vec<&'d JsonNode<'a>> {
    members(object).iter().filter(|member| member.name == key).map(|member| &member.value).collect()
}

/// The value that begins at a byte.
fn find<'d, 'a>(node: &'d JsonNode<'a>, at: usize) -> Option<&'d JsonNode<'a>> {
    if node.at == at {
        return Some(node);
    }
    let inside = |node: &&JsonNode<'_>| node.at <= at && at < node.end;
    match &node.value {
        JsonValue::Object(members) => members.iter().map(|member| &member.value).find(inside),
        JsonValue::Array(items) => items.iter().find(inside),
        _ => None,
    }
    .and_then(|node| find(node, at))
}
