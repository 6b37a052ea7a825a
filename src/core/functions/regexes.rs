//! Functions with regular expressions.
//!
//! Source: `cty/function/stdlib/regexp.go`; terraform `internal/lang/funcs/string.go`, `ReplaceFunc`.

use std::sync::Arc;

use regex::Regex;

use super::{pattern, text, uncertain};
use crate::value::{Budget, Cause, Elements, Failure, Type, Value};

/// What a byte of text costs that an expression is searched in.
const SEARCH: usize = 4;

/// An expression for a text, paid for.
fn compile(pattern: &str, text: &str, budget: &Budget) -> Result<Regex, Failure> {
    budget.spend_text(text.len().saturating_mul(pattern.len() / 16 + SEARCH))?;
    pattern::compile(pattern, budget)
}

/// The first match: a text if there are no groups, else a tuple of them, or an object if they have names.
pub(super) fn regex(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let regex = compile(text(arguments, 0), text(arguments, 1), budget)?;
    let Some(captures) = regex.captures(text(arguments, 1)) else {
        return Err(Cause::NoMatch.refuses("the expression matches no part of the text"));
    };
    let group = |at: usize| captures.get(at).map_or(Value::Null(Type::String), |found| Value::text(found.as_str()));
    let groups: Vec<Option<&str>> = regex.capture_names().skip(1).collect();
    let with_names = groups.iter().enumerate().filter_map(|(at, name)| Some((Arc::from((*name)?), group(at + 1))));
    let attributes: Elements = with_names.collect();
    match (groups.len(), attributes.len()) {
        (0, _) => Ok(group(0)),
        (all, 0) => Ok(Value::tuple((1..=all).map(group).collect())),
        (all, some) if all == some => Ok(Value::object(attributes)),
        _ => uncertain("groups of which some have names"),
    }
}

/// With a text, or an expression between slashes, replaced where it occurs.
pub(super) fn replace(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let (whole, wanted, replacement) = (text(arguments, 0), text(arguments, 1), text(arguments, 2));
    let Some(expression) = wanted.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) else {
        let count = if wanted.is_empty() { whole.len() + 1 } else { whole.matches(wanted).count() };
        budget.spend_text(count.saturating_mul(replacement.len()).saturating_add(whole.len()))?;
        return Ok(Value::text(whole.replace(wanted, replacement)));
    };
    let regex = compile(expression, whole, budget)?;
    let mut replaced = String::new();
    let mut end = 0;
    for captures in regex.captures_iter(whole) {
        let Some(found) = captures.get(0) else { continue };
        // A match may need all of the text behind it, and the next one again.
        budget.spend_text((whole.len() - end).saturating_mul(SEARCH).saturating_add(replacement.len()))?;
        replaced.push_str(&whole[end..found.start()]);
        let before = replaced.len();
        captures.expand(replacement, &mut replaced);
        budget.spend_text(replaced.len() - before)?;
        end = found.end();
    }
    replaced.push_str(&whole[end..]);
    Ok(Value::text(replaced))
}
