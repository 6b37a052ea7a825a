//! Functions over paths, which are text here.
//!
//! Source: Go's `path/filepath`, `Base`, `Dir`.

use super::text;
use crate::value::{Budget, Failure, Value};

pub(super) fn basename(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let path = text(arguments, 0);
    let trimmed = path.trim_end_matches('/');
    Ok(Value::text(match trimmed.rsplit('/').next() {
        Some(last) if !last.is_empty() => last,
        _ if path.is_empty() => ".",
        _ => "/",
    }))
}

/// What is before the last slash, without `.`, `..` and doubled slashes.
pub(super) fn dirname(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let path = text(arguments, 0);
    Ok(Value::text(clean(path.rfind('/').map_or("", |at| &path[..=at]))))
}

/// A path without `.`, inner `..` and repeated slashes.
///
/// Source: Go's `path/filepath.Clean`.
pub(crate) fn clean(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        match (name, names.last()) {
            ("..", Some(&last)) if last != ".." => {
                names.pop();
            }
            ("..", None) if is_absolute => {}
            _ => names.push(name),
        }
    }
    match (is_absolute, names.join("/")) {
        (true, names) => format!("/{names}"),
        (false, names) if names.is_empty() => ".".to_owned(),
        (false, names) => names,
    }
}
