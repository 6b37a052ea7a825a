//! `format`: values in a text with verbs, as in C. Of verbs those are read that take text or whole numbers, of flags those for a
//! width.
//!
//! Source: `cty/function/stdlib/format.go`, `format_fsm.rl`.

use super::{json, text, uncertain};
use crate::value::{Budget, Failure, Type, Value};

/// How wide a verb may make a value.
const WIDTH: usize = 1 << 16;

/// The text with the values of its verbs.
pub(super) fn format(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    Ok(Value::text(render(text(arguments, 0), arguments.get(1..).unwrap_or_default(), budget)?))
}

/// The same for each element of lists that have one length.
pub(super) fn format_list(arguments: &[Value], budget: &Budget) -> Result<Value, Failure> {
    let (template, values) = (text(arguments, 0), arguments.get(1..).unwrap_or_default());
    let lengths: Vec<usize> = values.iter().filter_map(Value::elements).map(|list| list.len()).collect();
    let Some(length) = lengths.first().copied().filter(|length| lengths.iter().all(|other| other == length)) else {
        return uncertain("no list, or lists of different lengths");
    };
    let mut formatted = Vec::new();
    for at in 0..length {
        budget.spend_elements(values.len())?;
        let row: Vec<Value> =
            values.iter().map(|value| value.elements().map_or(value, |elements| &elements[at]).clone()).collect();
        formatted.push(Value::text(render(template, &row, budget)?));
    }
    Ok(Value::list(Type::String, formatted))
}

fn render(template: &str, values: &[Value], budget: &Budget) -> Result<String, Failure> {
    budget.spend_text(template.len())?;
    let (mut rest, mut rendered) = (template, String::new());
    let mut used = 0;
    while let Some((before, after)) = rest.split_once('%') {
        rendered.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            rendered.push('%');
            rest = after;
            continue;
        }
        let end = after.bytes().take_while(|byte| b"-0123456789".contains(byte)).count();
        let (flags, verb) = (&after[..end], after[end..].chars().next());
        let (Some(value), Some(verb)) = (values.get(used), verb) else { return uncertain("fewer values than verbs") };
        let written = write(verb, flags, value, budget)?;
        budget.spend_text(written.len())?;
        rendered.push_str(&written);
        used += 1;
        rest = &after[end + verb.len_utf8()..];
    }
    rendered.push_str(rest);
    if used == values.len() { Ok(rendered) } else { uncertain("more values than verbs") }
}

/// A value as a verb writes it, with flags: `-` for the left, `0` for zeros, and a width.
fn write(verb: char, flags: &str, value: &Value, budget: &Budget) -> Result<String, Failure> {
    let (is_left, width) = flags.strip_prefix('-').map_or((false, flags), |width| (true, width));
    let has_zeros = width.starts_with('0');
    let digits = width.strip_prefix('0').unwrap_or(width);
    let Ok(width) = (if digits.is_empty() { Ok(0) } else { digits.parse::<usize>() }) else {
        return uncertain(format!("the verb %{flags}{verb}"));
    };
    let is_known = digits.is_empty() == (width == 0) && width <= WIDTH && !(has_zeros && (is_left || verb != 'd'));
    let text = match (verb, value) {
        ('s' | 'v', Value::String(text)) => text.to_string(),
        ('s', Value::Number(_)) | ('s' | 'v' | 't', Value::Bool(_)) => plain(value)?,
        ('v', Value::Number(number)) if number.to_i64().is_some_and(|whole| whole.abs() < 1_000_000) => plain(value)?,
        ('v', _) if value.elements().is_some() || value.attributes().is_some() => {
            plain(&json::encode(std::slice::from_ref(value), budget)?)?
        }
        ('d', Value::Number(_) | Value::String(_)) => match value.convert(&Type::Number)? {
            Value::Number(number) if number.to_i64().is_some() && (!has_zeros || number.signum() >= 0) => {
                plain(&Value::Number(number))?
            }
            _ => return uncertain("a number that is not whole"),
        },
        _ => return uncertain(format!("the verb %{flags}{verb} for {}", value.kind())),
    };
    if !is_known || width > 0 && !text.is_ascii() {
        return uncertain(format!("the verb %{flags}{verb}"));
    }
    let padding = if has_zeros { "0" } else { " " }.repeat(width.saturating_sub(text.len()));
    Ok(if is_left { text + &padding } else { padding + &text })
}

fn plain(value: &Value) -> Result<String, Failure> {
    match value.convert(&Type::String)? {
        Value::String(text) => Ok(text.to_string()),
        _ => uncertain("a value that is no text"),
    }
}
