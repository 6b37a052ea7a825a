//! Values as YAML: text between quotes, or as a literal block where it has several lines.
//!
//! What the tools fold or indent in a way of its own is unknown here: text beyond 80 columns, and keys of several lines.
//!
//! Source: `emitterc.go`.

use std::fmt::Write as _;

use crate::functions::uncertain;
use crate::value::{Budget, Failure, Value};

/// Where the tools fold text between quotes.
const COLUMNS: usize = 80;

/// How long a key may be that is written before its colon.
const KEY: usize = 120;

pub(in crate::functions) fn encode(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let Some(value) = arguments.first() else { return uncertain("no argument") };
    let mut yaml = String::new();
    push(value, 0, &mut yaml, budget)?;
    let is_plain = matches!(value, Value::Null(_) | Value::Bool(_) | Value::Number(_));
    // A document that ends in plain text says where it ends.
    yaml.push_str(if is_plain {
        "\n...\n"
    } else if yaml.ends_with('\n') {
        ""
    } else {
        "\n"
    });
    Ok(Value::text(yaml))
}

/// Appends a value whose further lines are indented so far; collections begin where the text ends.
fn push(value: &Value, indent: usize, yaml: &mut String, budget: &Budget) -> Result<(), Failure> {
    budget.spend(u64::try_from(indent + 8).unwrap_or(u64::MAX))?;
    match value {
        Value::Null(_) | Value::Unknown(_) => yaml.push_str("null"),
        Value::Bool(value) => yaml.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => yaml.push_str(&number.to_string()),
        Value::String(text) => {
            budget.spend_text(text.len())?;
            push_text(text, indent, yaml)?;
        }
        _ => match value.attributes() {
            Some(attributes) if attributes.is_empty() => yaml.push_str("{}"),
            Some(attributes) => {
                for (at, (name, value)) in attributes.iter().enumerate() {
                    push_line_start(at, indent, yaml);
                    if name.contains(is_break) || name.len() > KEY {
                        return uncertain("a long key in YAML, or one of several lines");
                    }
                    push_text(name, indent, yaml)?;
                    yaml.push(':');
                    push_element(value, indent, yaml, budget)?;
                }
            }
            None => {
                let elements = value.elements().map_or(&[][..], |elements| elements);
                for (at, value) in elements.iter().enumerate() {
                    push_line_start(at, indent, yaml);
                    yaml.push_str("- ");
                    push(value, indent + 2, yaml, budget)?;
                }
                yaml.push_str(if elements.is_empty() { "[]" } else { "" });
            }
        },
    }
    Ok(())
}

/// Appends the value of a key: a mapping in further lines, with an indentation of its own, as is a sequence without one.
fn push_element(value: &Value, indent: usize, yaml: &mut String, budget: &Budget) -> Result<(), Failure> {
    let is_filled = value.attributes().is_some_and(|attributes| !attributes.is_empty());
    let is_sequence = value.elements().is_some_and(|elements| !elements.is_empty());
    let own = if is_sequence { indent } else { indent + 2 };
    if is_filled || is_sequence {
        yaml.push('\n');
        yaml.extend(std::iter::repeat_n(' ', own));
    } else {
        yaml.push(' ');
    }
    push(value, own, yaml, budget)
}

fn push_line_start(at: usize, indent: usize, yaml: &mut String) {
    if at > 0 {
        if !yaml.ends_with('\n') {
            yaml.push('\n');
        }
        yaml.extend(std::iter::repeat_n(' ', indent));
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Source: `yaml_emitter_analyze_scalar`, `yaml_emitter_write_literal_scalar`, `yaml_emitter_write_double_quoted_scalar`.
fn push_text(text: &str, indent: usize, yaml: &mut String) -> Result<(), Failure> {
    let is_block = text.contains('\n')
        && !text.contains(" \n")
        && !text.ends_with(' ')
        && text.chars().all(|c| c == '\n' || is_printable(c) && !is_break(c));
    if is_block {
        if text.starts_with([' ', '\n']) {
            return uncertain("text in YAML that begins with white space");
        }
        let end = if !text.ends_with('\n') {
            "-"
        } else if text.ends_with("\n\n") {
            "+"
        } else {
            ""
        };
        let _ = write!(yaml, "|{end}");
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            yaml.push('\n');
            if !line.is_empty() {
                yaml.extend(std::iter::repeat_n(' ', indent.max(2)));
                yaml.push_str(line);
            }
        }
        yaml.push('\n');
        return Ok(());
    }
    yaml.push('"');
    for c in text.chars() {
        push_quoted(c, yaml);
    }
    yaml.push('"');
    let line = yaml.rsplit('\n').next().unwrap_or_default();
    if text.contains(' ') && line.chars().count() > COLUMNS {
        return uncertain("long text in YAML");
    }
    Ok(())
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

fn push_quoted(c: char, yaml: &mut String) {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' | '\\' => c,
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ if is_printable(c) => return yaml.push(c),
        _ => {
            let code = u32::from(c);
            let _ = match code {
                ..0x100 => write!(yaml, "\\x{code:02X}"),
                0x100..0x1_0000 => write!(yaml, "\\u{code:04X}"),
                0x1_0000.. => write!(yaml, "\\U{code:08X}"),
            };
            return;
        }
    };
    yaml.extend(['\\', short]);
}
