//! Functions over text. Characters are grapheme clusters where the tools count them; else text is bytes of UTF-8.
//!
//! Source: `cty/function/stdlib/string.go`; terraform `internal/lang/funcs/string.go`.

use unicode_segmentation::UnicodeSegmentation;

use super::{elements, refuse, text, whole};
use crate::value::{Budget, Type, Unevaluated, Value};
use crate::version::{ModuleConstraints, ModuleVersion, ModuleVersionError};

/// Without line ends at its end.
pub(super) fn chomp(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(text(arguments, 0).trim_end_matches(['\r', '\n'])))
}

pub(super) fn starts_with(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(text(arguments, 0).starts_with(text(arguments, 1)).into())
}

pub(super) fn ends_with(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(text(arguments, 0).ends_with(text(arguments, 1)).into())
}

pub(super) fn contains(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(text(arguments, 0).contains(text(arguments, 1)).into())
}

/// Whether a version satisfies a constraint.
///
/// Source: terragrunt `pkg/config/config_helpers.go`, `ConstraintCheck`.
pub(super) fn satisfies(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let refused = |error: ModuleVersionError| Unevaluated::refused(error.to_string());
    let version: ModuleVersion = text(arguments, 0).parse().map_err(refused)?;
    let constraints: ModuleConstraints = text(arguments, 1).parse().map_err(refused)?;
    Ok(constraints.allows(&version).into())
}

/// With spaces at the start of all lines except the first.
pub(super) fn indent(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let (spaces, data) = (whole(arguments, 0)?, text(arguments, 1));
    let Ok(spaces) = usize::try_from(spaces) else { return refuse("the number of spaces is negative") };
    budget.spend_text(data.len().saturating_add(spaces.saturating_mul(data.matches('\n').count().max(1))))?;
    Ok(Value::text(data.replace('\n', &format!("\n{}", " ".repeat(spaces)))))
}

pub(super) fn join(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let separator = text(arguments, 0);
    let Some((_, lists)) = arguments.split_first().filter(|(_, lists)| !lists.is_empty()) else {
        return refuse("at least one list is required");
    };
    if let Some(reason) = lists.iter().find_map(Value::unknown_part) {
        return Ok(Value::Unknown(Type::String, reason.clone()));
    }
    let mut items = Vec::new();
    for list in lists {
        for item in list.elements().map_or(&[][..], |elements| elements) {
            let Some(item) = item.as_text() else { return refuse("an element is null") };
            budget.spend_text(item.len().saturating_add(separator.len()))?;
            items.push(item);
        }
    }
    Ok(Value::text(items.join(separator)))
}

/// The parts between separators; without a separator each code point.
pub(super) fn split(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let (separator, whole) = (text(arguments, 0), text(arguments, 1));
    let parts: Vec<Value> = if separator.is_empty() {
        budget.spend_elements(whole.len())?;
        whole.chars().map(|c| Value::text(c.to_string())).collect()
    } else {
        budget.spend_elements(whole.matches(separator).count())?;
        whole.split(separator).map(Value::text).collect()
    };
    Ok(Value::list(Type::String, parts))
}

pub(super) fn reverse(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(text(arguments, 0).graphemes(true).rev().collect::<String>()))
}

/// Characters from an offset, which counts from the end if it is negative; with a negative length all of the rest.
pub(super) fn substr(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let (input, mut offset, length) = (text(arguments, 0), whole(arguments, 1)?, whole(arguments, 2)?);
    if offset < 0 {
        offset = offset.saturating_add(i64::try_from(input.graphemes(true).count()).unwrap_or(i64::MAX));
    } else if length == 0 {
        return Ok(Value::text(""));
    }
    let rest = input.graphemes(true).skip(usize::try_from(offset).unwrap_or(0));
    // With an offset from the end, a length of zero is taken as no length by the tools.
    let length = usize::try_from(length).ok().filter(|length| *length > 0);
    Ok(Value::text(rest.take(length.unwrap_or(usize::MAX)).collect::<String>()))
}

pub(super) fn trim(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let characters: Vec<char> = text(arguments, 1).chars().collect();
    Ok(Value::text(text(arguments, 0).trim_matches(&characters[..])))
}

pub(super) fn trim_prefix(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let (whole, prefix) = (text(arguments, 0), text(arguments, 1));
    Ok(Value::text(whole.strip_prefix(prefix).unwrap_or(whole)))
}

pub(super) fn trim_suffix(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let (whole, suffix) = (text(arguments, 0), text(arguments, 1));
    Ok(Value::text(whole.strip_suffix(suffix).unwrap_or(whole)))
}

pub(super) fn trim_space(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(text(arguments, 0).trim()))
}

/// How many characters a text has.
pub(super) fn count(text: &str) -> usize {
    if text.is_ascii() && !text.contains('\r') { text.len() } else { text.graphemes(true).count() }
}

/// The elements of the first argument as text; the position of the first null otherwise.
pub(super) fn texts(arguments: &[Value]) -> Result<Vec<&str>, usize> {
    elements(arguments, 0).iter().enumerate().map(|(at, value)| value.as_text().ok_or(at)).collect()
}
