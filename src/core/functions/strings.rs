//! Functions over text. Where the tools count characters, or have tables of letters, text beyond ASCII is unknown.
//!
//! Source: `cty/function/stdlib/string.go`; terraform `internal/lang/funcs/string.go`; Go's `strings`.

use super::{ascii, elements, natural, text, uncertain};
use crate::value::{Budget, Failure, Type, Value};
use crate::version::{ModuleConstraints, ModuleVersion};

/// Without line ends at its end.
pub(super) fn chomp(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(Value::text(text(arguments, 0).trim_end_matches(['\r', '\n'])))
}

pub(super) fn starts_with(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(text(arguments, 0).starts_with(text(arguments, 1)).into())
}

pub(super) fn ends_with(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(text(arguments, 0).ends_with(text(arguments, 1)).into())
}

pub(super) fn contains(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(text(arguments, 0).contains(text(arguments, 1)).into())
}

pub(super) fn upper(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(Value::text(ascii(arguments, 0)?.to_ascii_uppercase()))
}

pub(super) fn lower(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(Value::text(ascii(arguments, 0)?.to_ascii_lowercase()))
}

/// With the first letter of each word as a capital.
pub(super) fn title(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let mut begins_word = true;
    let titled = ascii(arguments, 0)?.chars().map(|c| {
        let titled = if begins_word { c.to_ascii_uppercase() } else { c };
        begins_word = !c.is_ascii_alphanumeric() && c != '_';
        titled
    });
    Ok(Value::text(titled.collect::<String>()))
}

/// Whether a version satisfies a constraint.
///
/// Source: terragrunt `pkg/config/config_helpers.go`, `ConstraintCheck`.
pub(super) fn satisfies(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let (Ok(version), Ok(constraints)) =
        (text(arguments, 0).parse::<ModuleVersion>(), text(arguments, 1).parse::<ModuleConstraints>())
    else {
        return uncertain("what is no version or no constraint");
    };
    Ok(constraints.allows(&version).into())
}

/// With spaces at the start of all lines except the first.
pub(super) fn indent(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let (spaces, data) = (natural(arguments, 0)?, text(arguments, 1));
    budget.spend_text(data.len().saturating_add(spaces.saturating_mul(data.matches('\n').count().max(1))))?;
    Ok(Value::text(data.replace('\n', &format!("\n{}", " ".repeat(spaces)))))
}

pub(super) fn join(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let separator = text(arguments, 0);
    if arguments.len() < 2 {
        return uncertain("no list");
    }
    let mut items = Vec::new();
    for at in 1..arguments.len() {
        for item in elements(arguments, at) {
            let Some(item) = item.as_text() else { return uncertain("a list with null") };
            budget.spend_text(separator.len())?;
            items.push(item);
        }
    }
    Ok(Value::text(items.join(separator)))
}

/// The parts between separators; without a separator each character.
pub(super) fn split(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let (separator, whole) = (text(arguments, 0), text(arguments, 1));
    let parts: Vec<Value> = if separator.is_empty() {
        let whole = ascii(arguments, 1)?;
        budget.spend_elements(whole.len())?;
        whole.chars().map(|c| Value::text(c.to_string())).collect()
    } else {
        budget.spend_elements(whole.matches(separator).count())?;
        whole.split(separator).map(Value::text).collect()
    };
    Ok(Value::list(Type::String, parts))
}

/// Characters from an offset on.
pub(super) fn substr(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let (input, offset) = (ascii(arguments, 0)?, natural(arguments, 1)?);
    let rest = input.get(offset..).unwrap_or_default();
    let length = match arguments.get(2) {
        // To the end.
        Some(Value::Number(number)) if number.to_i64() == Some(-1) => rest.len(),
        _ => natural(arguments, 2)?,
    };
    Ok(Value::text(rest.get(..length).unwrap_or(rest)))
}

pub(super) fn trim(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let characters: Vec<char> = ascii(arguments, 1)?.chars().collect();
    Ok(Value::text(text(arguments, 0).trim_matches(&characters[..])))
}

pub(super) fn trim_prefix(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let (whole, prefix) = (text(arguments, 0), text(arguments, 1));
    Ok(Value::text(whole.strip_prefix(prefix).unwrap_or(whole)))
}

pub(super) fn trim_suffix(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let (whole, suffix) = (text(arguments, 0), text(arguments, 1));
    Ok(Value::text(whole.strip_suffix(suffix).unwrap_or(whole)))
}

pub(super) fn trim_space(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(Value::text(text(arguments, 0).trim()))
}
