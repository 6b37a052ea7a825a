//! The canonical text of a trust file: sorted blocks, aligned attributes, comments where they stood.

use std::fmt::Write;

use super::comments::{Anchor, Comments};
use super::{BlockKey, Pin, TrustFile};
use crate::addr::AddrPattern;
use crate::hcl::push_escaped;

impl TrustFile {
    /// The one text for what the file says.
    pub fn encode(&self) -> String {
        let mut text = Writer { comments: &self.comments, text: String::new() };
        text.lines("", self.comments.above(&Anchor::Header));
        for (pattern, pin) in &self.pins.providers {
            text.provider(pattern, pin);
        }
        for (key, reason) in &self.pins.denied {
            let block = BlockKey::Denied(key.clone());
            text.block("", &block, "denied_signer", key.as_str(), &[("reason", Value::Text(reason.clone()))]);
        }
        for (republication, reason) in &self.pins.republished {
            let block = BlockKey::Republished(republication.clone());
            let attributes = [
                ("version", Value::Text(republication.version.to_string())),
                ("date", Value::Text(republication.date.to_string())),
                ("reason", Value::Text(reason.clone())),
            ];
            text.block("", &block, "republished", &republication.address.to_string(), &attributes);
        }
        let footer = self.comments.above(&Anchor::Footer);
        if !footer.is_empty() {
            text.part();
            text.lines("", footer);
        }
        text.text
    }
}

/// The value of an attribute.
enum Value {
    Text(String),
    True,
    List(Vec<String>),
}

struct Writer<'a> {
    comments: &'a Comments,
    text: String,
}

impl Writer<'_> {
    fn provider(&mut self, pattern: &AddrPattern, pin: &Pin) {
        let key = BlockKey::Provider(pattern.clone());
        let keys: Vec<String> = pin.signers.iter().filter_map(|signer| Some(signer.key()?.to_string())).collect();
        let unsigned = keys.len() < pin.signers.len();
        let mut attributes = Vec::new();
        if !keys.is_empty() {
            attributes.push(("signers", Value::List(keys)));
        }
        if unsigned {
            attributes.push(("unsigned", Value::True));
        }
        self.open("", &key, "provider", &pattern.to_string());
        self.attributes("  ", &key, &attributes);
        for (signer, retired) in &pin.retired {
            let block = BlockKey::Retired(pattern.clone(), signer.clone());
            let versions = retired.versions.iter().map(ToString::to_string).collect();
            let mut attributes = vec![("versions", Value::List(versions))];
            attributes.extend(retired.reason.clone().map(|reason| ("reason", Value::Text(reason))));
            self.block("  ", &block, "retired_signer", &signer.to_string(), &attributes);
        }
        self.close("", &key);
    }

    fn block(&mut self, indent: &str, key: &BlockKey, name: &str, label: &str, attributes: &[(&'static str, Value)]) {
        self.open(indent, key, name, label);
        self.attributes(&format!("{indent}  "), key, attributes);
        self.close(indent, key);
    }

    fn open(&mut self, indent: &str, key: &BlockKey, name: &str, label: &str) {
        self.part();
        let anchor = Anchor::Block(key.clone());
        self.lines(indent, self.comments.above(&anchor));
        self.push(&format!("{indent}{name} \""));
        push_escaped(&mut self.text, label);
        self.push("\" {");
        self.end_line(&anchor);
    }

    fn close(&mut self, indent: &str, key: &BlockKey) {
        let anchor = Anchor::BlockEnd(key.clone());
        self.lines(&format!("{indent}  "), self.comments.above(&anchor));
        self.push(&format!("{indent}}}"));
        self.end_line(&anchor);
    }

    fn attributes(&mut self, indent: &str, key: &BlockKey, attributes: &[(&'static str, Value)]) {
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

    /// True for a list that takes several lines: a comment stands in it or it is long.
    fn is_spread(&self, key: &BlockKey, name: &'static str, values: &[String]) -> bool {
        let item = |value: &String| Anchor::Item(key.clone(), name, value.clone());
        values.iter().any(|value| self.comments.at(&item(value)).is_some())
            || self.comments.beside(&Anchor::Attribute(key.clone(), name)).is_some()
            || !self.comments.above(&Anchor::ListEnd(key.clone(), name)).is_empty()
            || values.iter().map(|value| value.len() + 4).sum::<usize>() > 100
    }

    fn list(&mut self, indent: &str, key: &BlockKey, name: &'static str, values: &[String]) {
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

    fn end_line(&mut self, anchor: &Anchor) {
        if let Some(beside) = self.comments.beside(anchor) {
            self.push(&format!(" # {beside}"));
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
