//! Comma-separated values: a line of names, then one line for each object.
//!
//! Source: `cty/function/stdlib/csv.go`; Go's `encoding/csv`, `readRecord`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{refuse, text};
use crate::value::{Budget, Type, Unevaluated, Value};

pub(super) fn decode(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let mut reader = CsvReader { rest: text(arguments, 0), line: 0 };
    budget.spend_text(reader.rest.len())?;
    let Some(names) = reader.record()? else { return refuse("the line with names is missing") };
    let names: Vec<Value> = names.into_iter().map(Value::text).collect();
    let names: Vec<Arc<str>> =
        names.into_iter().filter_map(|name| if let Value::String(name) = name { Some(name) } else { None }).collect();
    if names.iter().collect::<BTreeSet<_>>().len() < names.len() {
        return refuse("two columns have one name");
    }
    let mut objects = Vec::new();
    while let Some(fields) = reader.record()? {
        if fields.len() != names.len() {
            let (given, needed) = (fields.len(), names.len());
            return refuse(format!("the line {} has {given} fields instead of {needed}", reader.line));
        }
        budget.spend_elements(fields.len())?;
        objects.push(Value::Object(Arc::new(names.iter().cloned().zip(fields.into_iter().map(Value::text)).collect())));
    }
    let kinds: BTreeMap<Arc<str>, Type> = names.into_iter().map(|name| (name, Type::String)).collect();
    Ok(Value::list(Type::Object(Arc::new(kinds)), objects))
}

/// A line without its end, and whether it had one.
type CsvLine<'a> = (&'a str, bool);

struct CsvReader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> CsvReader<'a> {
    /// The next line with its end, as one line feed.
    fn next_line(&mut self) -> Option<CsvLine<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').map_or((self.rest, None), |(line, rest)| (line, Some(rest)));
        self.rest = rest.unwrap_or_default();
        self.line += 1;
        // A carriage return at the very end of the text is no part of the field either.
        Some((line.strip_suffix('\r').unwrap_or(line), rest.is_some()))
    }

    /// The fields of the next line that is not empty, and of those that its quoted fields go on in.
    fn record(&mut self) -> Result<Option<Vec<String>>, Unevaluated> {
        let mut line = loop {
            match self.next_line() {
                None => return Ok(None),
                Some(("", _)) => {}
                Some((line, ends)) => break (line, ends),
            }
        };
        let mut fields = Vec::new();
        loop {
            let Some(quoted) = line.0.strip_prefix('"') else {
                let (field, rest) = line.0.split_once(',').map_or((line.0, None), |(field, rest)| (field, Some(rest)));
                if field.contains('"') {
                    return refuse(format!("the line {} has a quote in a field without quotes", self.line));
                }
                fields.push(field.to_owned());
                match rest {
                    Some(rest) => line.0 = rest,
                    None => return Ok(Some(fields)),
                }
                continue;
            };
            line.0 = quoted;
            let (field, rest) = self.quoted(line)?;
            fields.push(field);
            match rest {
                Some(rest) => line = rest,
                None => return Ok(Some(fields)),
            }
        }
    }

    /// The content of a field after its first quote, and what follows the comma after it.
    fn quoted(&mut self, mut line: CsvLine<'a>) -> Result<(String, Option<CsvLine<'a>>), Unevaluated> {
        let mut field = String::new();
        loop {
            if let Some((part, rest)) = line.0.split_once('"') {
                field.push_str(part);
                match rest.as_bytes().first() {
                    Some(b'"') => {
                        field.push('"');
                        line.0 = &rest[1..];
                    }
                    Some(b',') => return Ok((field, Some((&rest[1..], line.1)))),
                    None => return Ok((field, None)),
                    Some(_) => return refuse(format!("the line {} has text after a quote", self.line)),
                }
                continue;
            }
            field.push_str(line.0);
            if line.1 {
                field.push('\n');
            }
            match self.next_line() {
                Some(next) => line = next,
                None => return refuse(format!("the line {} has a quote that does not end", self.line)),
            }
        }
    }
}
