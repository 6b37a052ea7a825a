//! The canonical text of a document: aligned attributes, lists in one line where they fit, comments in their places.

use std::fmt::Write;

use super::comments::{Anchor, Comments};
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

    pub fn open(&mut self, indent: &str, key: &K, name: &str, label: &str) {
        self.part();
        let anchor = Anchor::Block(key.clone());
        self.lines(indent, self.comments.above(&anchor));
        self.push(&format!("{indent}{name} \""));
        push_escaped(&mut self.text, label);
        self.push("\" {");
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
