//! Functions with regular expressions.
//!
//! Source: `cty/function/stdlib/regexp.go`; terraform `internal/lang/funcs/string.go`, `ReplaceFunc`.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex::{Captures, Regex};

use super::{pattern, refuse, text};
use crate::value::{Budget, Elements, Type, Unevaluated, Value};

/// An expression for a text, paid for.
fn compile(pattern: &str, text: &str, budget: &Budget) -> Result<Regex, Unevaluated> {
    budget.spend_text(text.len().saturating_mul(pattern.len() / 16 + 1))?;
    pattern::compile(pattern, budget)
}

/// A text if there are no groups, else a tuple of them, or an object if they have names.
fn result_kind(regex: &Regex) -> Result<Type, Unevaluated> {
    let groups: Vec<Option<&str>> = regex.capture_names().skip(1).collect();
    let named: BTreeMap<Arc<str>, Type> =
        groups.iter().flatten().map(|name| (Arc::from(*name), Type::String)).collect();
    match (groups.len(), named.len()) {
        (0, _) => Ok(Type::String),
        (_, 0) => Ok(Type::Tuple(groups.iter().map(|_| Type::String).collect())),
        (all, some) if all == some => Ok(Type::Object(Arc::new(named))),
        _ => refuse("some groups have names and others have none"),
    }
}

fn result(regex: &Regex, captures: &Captures<'_>, kind: &Type) -> Value {
    let group = |at: usize| captures.get(at).map_or(Value::Null(Type::String), |found| Value::text(found.as_str()));
    match kind {
        Type::Tuple(kinds) => Value::tuple((1..=kinds.len()).map(group).collect()),
        Type::Object(_) => {
            let named = regex.capture_names().enumerate().filter_map(|(at, name)| Some((Arc::from(name?), group(at))));
            Value::Object(Arc::new(named.collect::<Elements>()))
        }
        _ => group(0),
    }
}

/// The first match.
pub(super) fn regex(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let regex = compile(text(arguments, 0), text(arguments, 1), budget)?;
    let kind = result_kind(&regex)?;
    match regex.captures(text(arguments, 1)) {
        Some(captures) => Ok(result(&regex, &captures, &kind)),
        None => refuse("the expression matches no part of the text"),
    }
}

/// All matches.
pub(super) fn regex_all(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let regex = compile(text(arguments, 0), text(arguments, 1), budget)?;
    let kind = result_kind(&regex)?;
    let mut found = Vec::new();
    for captures in regex.captures_iter(text(arguments, 1)) {
        budget.spend_elements(captures.len())?;
        found.push(result(&regex, &captures, &kind));
    }
    Ok(Value::list(kind, found))
}

/// With a text, or an expression between slashes, replaced where it occurs.
pub(super) fn replace(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let (whole, wanted, replacement) = (text(arguments, 0), text(arguments, 1), text(arguments, 2));
    let expression = wanted.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let Some(expression) = expression else {
        let count = if wanted.is_empty() { whole.len() + 1 } else { whole.matches(wanted).count() };
        budget.spend_text(count.saturating_mul(replacement.len()).saturating_add(whole.len()))?;
        return Ok(Value::text(whole.replace(wanted, replacement)));
    };
    let regex = compile(expression, whole, budget)?;
    let mut replaced = String::new();
    let mut end = 0;
    for captures in regex.captures_iter(whole) {
        let Some(found) = captures.get(0) else { continue };
        budget.spend_text(replacement.len().saturating_add(found.start() - end))?;
        replaced.push_str(&whole[end..found.start()]);
        let before = replaced.len();
        captures.expand(replacement, &mut replaced);
        budget.spend_text(replaced.len() - before)?;
        end = found.end();
    }
    replaced.push_str(&whole[end..]);
    Ok(Value::text(replaced))
}
