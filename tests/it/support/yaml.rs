//! YAML files of this repository, as far as they use YAML: block mappings and lists, flow lists of plain values, plain and
//! double quoted values, folded and literal texts. Anything else fails the test that reads it.

use std::path::Path;

use serde_json::{Map, Value};

/// The document in a file, named from the top of the repository. All values are texts.
#[track_caller]
pub fn document(path: &str) -> Value {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    parse(&text)
}

fn parse(text: &str) -> Value {
    let lines: Vec<(usize, String)> = text.lines().map(|line| (indent(line), line.trim().to_owned())).collect();
    let mut reader = Reader { lines, at: 0 };
    reader.block(0)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

struct Reader {
    /// Indentation and the rest.
    lines: Vec<(usize, String)>,
    at: usize,
}

impl Reader {
    /// The next line that says something.
    fn next(&mut self) -> Option<(usize, String)> {
        while self.lines.get(self.at).is_some_and(|(_, line)| line.is_empty() || line.starts_with('#')) {
            self.at += 1;
        }
        self.lines.get(self.at).cloned()
    }

    /// A mapping or list whose lines are indented so far at least.
    fn block(&mut self, least: usize) -> Value {
        let Some((depth, line)) = self.next().filter(|(depth, _)| *depth >= least) else { return Value::Null };
        if line.starts_with("- ") { self.list(depth) } else { self.mapping(depth) }
    }

    fn list(&mut self, depth: usize) -> Value {
        let mut items = Vec::new();
        while let Some((_, line)) = self.next().filter(|(found, line)| *found == depth && line.starts_with("- ")) {
            let rest = line[2..].trim_start().to_owned();
            if key(&rest).is_some() {
                // The item is a mapping that begins here.
                self.lines[self.at] = (depth + 2, rest);
                items.push(self.mapping(depth + 2));
            } else {
                self.at += 1;
                items.push(value(&rest));
            }
        }
        Value::Array(items)
    }

    fn mapping(&mut self, depth: usize) -> Value {
        let mut entries = Map::new();
        while let Some((found, line)) = self.next().filter(|(found, line)| *found == depth && !line.starts_with("- ")) {
            let (name, rest) = key(&line).unwrap_or_else(|| panic!("no mapping: {line}"));
            self.at += 1;
            let value = match rest {
                "" => self.block(found),
                "|" | ">-" => Value::String(self.text(found, rest)),
                plain => value(plain),
            };
            assert!(entries.insert(name.to_owned(), value).is_none(), "twice: {line}");
        }
        Value::Object(entries)
    }

    /// The lines below a `|` or `>-`.
    fn text(&mut self, depth: usize, style: &str) -> String {
        let lines: Vec<(usize, String)> = self.lines[self.at..]
            .iter()
            .take_while(|(found, line)| line.is_empty() || *found > depth)
            .cloned()
            .collect();
        self.at += lines.len();
        let first = lines.first().map_or(0, |(found, _)| *found);
        let lines = lines.iter().map(|(found, line)| " ".repeat(found.saturating_sub(first)) + line);
        let lines: Vec<String> = lines.collect();
        if style == "|" { lines.join("\n") + "\n" } else { lines.join(" ") }
    }
}

/// A key and what follows its colon.
fn key(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(':')?;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    (plain && (rest.is_empty() || rest.starts_with(' '))).then(|| (name, without_comment(rest.trim())))
}

fn without_comment(text: &str) -> &str {
    text.split(" #").next().unwrap_or_default().trim_end()
}

/// A plain or quoted value, or a list of such.
fn value(text: &str) -> Value {
    let text = without_comment(text);
    if let Some(items) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return items.split(',').map(|item| value(item.trim())).collect();
    }
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    assert!(quoted.is_some() || !text.starts_with(['"', '\'', '{', '&', '*', '!']), "not read: {text}");
    Value::String(quoted.unwrap_or(text).to_owned())
}

#[test]
fn what_our_files_use_is_read() {
    let text = "# top\na: \"x\"\nb:\n  - c: 1 # one\n    d: |\n      e\n        f\n\n  - plain: [g, \"h\"]\n";
    let wanted = serde_json::json!({"a": "x", "b": [{"c": "1", "d": "e\n  f\n\n"}, {"plain": ["g", "h"]}]});
    assert_eq!(parse(text), wanted);
}
