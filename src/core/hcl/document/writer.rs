//! The canonical text of a document: aligned attributes, lists in one line where they fit, comments in their places.
//!
//! The comments of a document that is rewritten: found in its text, kept by their anchors.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::hcl::push_escaped;

pub enum Value {
    Text(String),
    /// `true`.
    True,
    List(Vec<String>),
}

/// Writes a document block by block: attributes aligned, comments in their places.
pub struct Writer<'a, K> {
    comments: &'a Comments<K>,
    text: String,
}

impl<'a, K: Ord + Clone> Writer<'a, K> {
    /// A text whose comments are at the same places as in another text.
    pub fn new(comments: &'a Comments<K>) -> Self {
        let mut writer = Self { comments, text: String::new() };
        writer.lines("", comments.above(&Anchor::Header));
        writer
    }

    pub fn finish(mut self) -> String {
        let footer = self.comments.above(&Anchor::Footer);
        if !footer.is_empty() {
            self.part();
            self.lines("", footer);
        }
        self.text
    }

    pub fn block(&mut self, indent: &str, key: &K, name: &str, label: &str, attributes: &[(&'static str, Value)]) {
        self.open(indent, key, name, label);
        self.attributes(&format!("{indent}  "), key, attributes);
        self.close(indent, key);
    }

    /// Begins a block; an empty label is none.
    pub fn open(&mut self, indent: &str, key: &K, name: &str, label: &str) {
        self.part();
        let anchor = Anchor::Block(key.clone());
        self.lines(indent, self.comments.above(&anchor));
        self.push(&format!("{indent}{name} "));
        if !label.is_empty() {
            self.push("\"");
            push_escaped(&mut self.text, label);
            self.push("\" ");
        }
        self.push("{");
        self.end_line(&anchor);
    }

    pub fn close(&mut self, indent: &str, key: &K) {
        let anchor = Anchor::BlockEnd(key.clone());
        self.lines(&format!("{indent}  "), self.comments.above(&anchor));
        self.push(&format!("{indent}}}"));
        self.end_line(&anchor);
    }

    pub fn attributes(&mut self, indent: &str, key: &K, attributes: &[(&'static str, Value)]) {
        let spread = |name: &'static str, value: &Value| match value {
            Value::List(values) => self.is_spread(key, name, values),
            Value::Text(_) | Value::True => false,
        };
        // As `fmt` of the tools has it, what takes several lines is not aligned.
        let spread: Vec<bool> = attributes.iter().map(|(name, value)| spread(name, value)).collect();
        let names = attributes.iter().zip(&spread).filter(|(_, spread)| !**spread);
        let widest = names.map(|((name, _), _)| name.len()).max().unwrap_or_default();
        for ((name, value), spread) in attributes.iter().zip(spread) {
            let anchor = Anchor::Attribute(key.clone(), name);
            let width = if spread { 0 } else { widest };
            self.lines(indent, self.comments.above(&anchor));
            self.push(&format!("{indent}{name:width$} = "));
            match value {
                Value::Text(value) => self.quoted(value),
                Value::True => self.push("true"),
                Value::List(values) => {
                    self.list(indent, key, name, values);
                    continue;
                }
            }
            self.end_line(&anchor);
        }
    }

    /// True for a list that takes several lines: a comment is in it or it is long.
    fn is_spread(&self, key: &K, name: &'static str, values: &[String]) -> bool {
        let item = |value: &String| Anchor::Item(key.clone(), name, value.clone());
        values.iter().any(|value| self.comments.at(&item(value)).is_some())
            || self.comments.on_same_line(&Anchor::Attribute(key.clone(), name)).is_some()
            || !self.comments.above(&Anchor::ListEnd(key.clone(), name)).is_empty()
            || values.iter().map(|value| value.len() + 4).sum::<usize>() > 100
    }

    fn list(&mut self, indent: &str, key: &K, name: &'static str, values: &[String]) {
        let item = |value: &String| Anchor::Item(key.clone(), name, value.clone());
        let (start, end) = (Anchor::Attribute(key.clone(), name), Anchor::ListEnd(key.clone(), name));
        self.push("[");
        if !self.is_spread(key, name, values) {
            for (at, value) in values.iter().enumerate() {
                self.push(if at > 0 { ", " } else { "" });
                self.quoted(value);
            }
            self.push("]");
            return self.end_line(&end);
        }
        self.end_line(&start);
        let inside = format!("{indent}  ");
        for value in values {
            let anchor = item(value);
            self.lines(&inside, self.comments.above(&anchor));
            self.push(&inside);
            self.quoted(value);
            self.push(",");
            self.end_line(&anchor);
        }
        self.lines(&inside, self.comments.above(&end));
        self.push(&format!("{indent}]"));
        self.end_line(&end);
    }

    /// An empty line, unless this is the top of the file.
    fn part(&mut self) {
        if !self.text.is_empty() {
            self.push("\n");
        }
    }

    fn lines(&mut self, indent: &str, lines: &[String]) {
        for line in lines {
            // Writing to a string cannot fail.
            let _ = match line.as_str() {
                "" => writeln!(self.text),
                line => writeln!(self.text, "{}", format!("{indent}# {line}").trim_end()),
            };
        }
    }

    fn end_line(&mut self, anchor: &Anchor<K>) {
        if let Some(on_same_line) = self.comments.on_same_line(anchor) {
            self.push(&format!(" # {on_same_line}"));
            self.text.truncate(self.text.trim_end().len());
        }
        self.push("\n");
    }

    fn quoted(&mut self, value: &str) {
        self.push("\"");
        push_escaped(&mut self.text, value);
        self.push("\"");
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// What a comment can appear at, where a block is known by a `K`; ordered in no meaningful way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anchor<K> {
    /// The top of the file, parted from the first block by an empty line.
    Header,
    Footer,
    Block(K),
    /// The closing brace of a block.
    BlockEnd(K),
    Attribute(K, &'static str),
    Item(K, &'static str, String),
    /// The closing bracket of a list.
    ListEnd(K, &'static str),
}

/// The comments at one place, without their markers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remark {
    /// The lines above; an empty one is an empty line, not an empty comment.
    pub above: Vec<String>,
    pub on_same_line: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comments<K>(BTreeMap<Anchor<K>, Remark>);

impl<K> Default for Comments<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Clone> Comments<K> {
    pub fn at(&self, anchor: &Anchor<K>) -> Option<&Remark> {
        self.0.get(anchor)
    }

    pub fn above(&self, anchor: &Anchor<K>) -> &[String] {
        self.at(anchor).map_or(&[], |remark| &remark.above)
    }

    pub fn on_same_line(&self, anchor: &Anchor<K>) -> Option<&str> {
        self.at(anchor)?.on_same_line.as_deref()
    }

    /// Adds the comments of another text, where this one has none.
    pub fn join(&mut self, other: &Self) {
        for (anchor, remark) in &other.0 {
            self.0.entry(anchor.clone()).or_insert_with(|| remark.clone());
        }
    }

    pub fn set_above(&mut self, anchor: Anchor<K>, lines: Vec<String>) {
        self.0.entry(anchor).or_default().above = lines;
    }

    /// Finds the comments of a text; `anchors` are its parts by the offsets of their first bytes, in order.
    pub fn find(text: &str, anchors: &[(usize, Anchor<K>)]) -> Self {
        let mut found = Self::default();
        let comments = scan(text);
        let is_beside = |at: usize| {
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            // Only what is on the line as a part of the document, not a comment before it.
            let before = anchors.partition_point(|(offset, _)| *offset < at);
            anchors[..before].last().filter(|(offset, _)| *offset >= line)
        };
        let header = header_length(text, &comments, anchors);
        let mut last_end = None;
        for (at, end, lines) in comments {
            if let Some((_, anchor)) = is_beside(at) {
                let on_same_line = &mut found.0.entry(anchor.clone()).or_default().on_same_line;
                let words = lines.join(" ");
                *on_same_line = Some(on_same_line.take().map_or(words.clone(), |before| format!("{before} {words}")));
                last_end = None;
                continue;
            }
            let next = anchors.partition_point(|(offset, _)| *offset <= at);
            let next = anchors.get(next).map_or(&Anchor::Footer, |(_, anchor)| anchor);
            let anchor = if at < header { &Anchor::Header } else { next };
            let above = &mut found.0.entry(anchor.clone()).or_default().above;
            let gap = last_end.is_some_and(|last: usize| text[last..at].matches('\n').count() > 1);
            if gap && !above.is_empty() {
                above.push(String::new());
            }
            // An empty comment stays visible.
            above.extend(lines.into_iter().map(|line| if line.is_empty() { " ".to_owned() } else { line }));
            last_end = Some(end);
        }
        found
    }
}

type Comment = (usize, usize, Vec<String>);

/// How far the header reaches: to the last empty line before the first block.
fn header_length<K>(text: &str, comments: &[Comment], anchors: &[(usize, Anchor<K>)]) -> usize {
    let Some(first) = anchors.first().map(|(offset, _)| *offset) else { return text.len() };
    let mut length = 0;
    for (at, (_, end, _)) in comments.iter().enumerate().take_while(|(_, (start, ..))| *start < first) {
        let next = comments.get(at + 1).map_or(first, |(start, ..)| (*start).min(first));
        if text[*end..next].matches('\n').count() > 1 {
            length = *end;
        }
    }
    length
}

/// All comments with start, end and lines. The text is a document that was decoded, so each quote begins a plain
/// string.
fn scan(text: &str) -> Vec<Comment> {
    let mut comments = Vec::new();
    let mut at = 0;
    while let Some(step) = text[at..].find(['"', '#', '/']) {
        at += step;
        let rest = &text[at..];
        if rest.starts_with('"') {
            at += string_length(rest);
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            let inside = rest[..end].trim_start_matches("/*").trim_end_matches("*/");
            let lines = inside.lines().map(|line| clean(line.trim().trim_start_matches('*')));
            comments.push((at, at + end, lines.filter(|line| !line.is_empty()).collect()));
            at += end;
        } else if rest.starts_with('#') || rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let inside = rest[..end].strip_prefix("//").unwrap_or_else(|| &rest[1..end]);
            comments.push((at, at + end, vec![clean(inside)]));
            at += end;
        } else {
            at += 1;
        }
    }
    comments
}

fn clean(line: &str) -> String {
    line.chars().map(|c| if c == '\r' { ' ' } else { c }).collect::<String>().trim().to_owned()
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, character)| {
        let ends = *character == '"' && !escaped;
        escaped = *character == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}
