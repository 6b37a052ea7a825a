//! Functions over paths, which are text here.
//!
//! Source: Go's `path/filepath`, `Base`, `Dir`.

use super::text;
use crate::value::{Budget, Unevaluated, Value};

pub(super) fn basename(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let path = text(arguments, 0);
    let trimmed = path.trim_end_matches('/');
    Ok(Value::text(match trimmed.rsplit('/').next() {
        Some(last) if !last.is_empty() => last,
        _ if path.is_empty() => ".",
        _ => "/",
    }))
}

/// What is before the last slash, without `.`, `..` and doubled slashes.
pub(super) fn dirname(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let path = text(arguments, 0);
    let directory = path.rfind('/').map_or("", |at| &path[..=at]);
    let is_absolute = directory.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in directory.split('/') {
        match part {
            "" | "." => {}
            ".." => match kept.last() {
                Some(last) if *last != ".." => {
                    kept.pop();
                }
                _ if is_absolute => {}
                _ => kept.push(part),
            },
            _ => kept.push(part),
        }
    }
    let joined = kept.join("/");
    Ok(Value::text(match (is_absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }))
}
