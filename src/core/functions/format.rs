//! `format`: values in a text with verbs, as in C.
//!
//! Source: `cty/function/stdlib/format.go`, `format_fsm.rl`; Go's `fmt`.

use num_bigint::{BigInt, Sign};
use unicode_segmentation::UnicodeSegmentation;

use super::{json, refuse, strings, text};
use crate::value::{Budget, Notation, Number, Type, Unevaluated, Value};

/// How wide a verb may make a value.
const WIDTH: usize = 1 << 20;

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the verb")]
struct Verb {
    mode: char,
    is_zero: bool,
    is_sharp: bool,
    is_plus: bool,
    is_minus: bool,
    is_space: bool,
    width: Option<usize>,
    precision: Option<usize>,
    /// From 1.
    argument: usize,
}

/// The text with the values of its verbs.
pub(super) fn format(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    match arguments.iter().find_map(Value::unknown_part) {
        Some(reason) => Ok(Value::Unknown(Type::String, reason.clone())),
        None => Ok(Value::text(render(text(arguments, 0), arguments.get(1..).unwrap_or_default(), budget)?)),
    }
}

/// The same for each element of lists that have one length.
pub(super) fn format_list(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let (template, values) = (text(arguments, 0), arguments.get(1..).unwrap_or_default());
    let lists = || values.iter().filter_map(Value::elements);
    let length = lists().next().map(|list| list.len());
    if lists().any(|list| Some(list.len()) != length) {
        return refuse("the lists have different lengths");
    }
    let unknown = values.iter().find_map(|value| match value {
        Value::Unknown(Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic, reason) => Some(reason),
        _ => None,
    });
    if let Some(reason) = unknown {
        return Ok(Value::Unknown(Type::list(Type::String), reason.clone()));
    }
    let mut formatted = Vec::new();
    for at in 0..length.unwrap_or(1) {
        let element = |value: &Value| match value.elements() {
            Some(elements) => elements.get(at).cloned().unwrap_or(Value::Null(Type::Dynamic)),
            None => value.clone(),
        };
        let row: Vec<Value> = values.iter().map(element).collect();
        budget.spend_elements(row.len() + 1)?;
        formatted.push(match row.iter().find_map(Value::unknown_part) {
            Some(reason) => Value::Unknown(Type::String, reason.clone()),
            None => Value::text(render(template, &row, budget)?),
        });
    }
    Ok(Value::list(Type::String, formatted))
}

fn render(template: &str, values: &[Value], budget: &Budget) -> Result<String, Unevaluated> {
    let (mut rest, mut rendered) = (template, String::new());
    let (mut next, mut highest, mut has_verb) = (1, 0, false);
    while let Some((before, after)) = rest.split_once('%') {
        rendered.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            rendered.push('%');
            rest = after;
            continue;
        }
        let (verb, length) = Verb::parse(after, next)?;
        budget.spend_text(verb.width.unwrap_or(0).saturating_add(verb.precision.unwrap_or(0)))?;
        let Some(value) = verb.argument.checked_sub(1).and_then(|at| values.get(at)) else {
            return refuse(format!("there is no argument {} for %{}", verb.argument, &after[..length]));
        };
        let written = verb.write(value, budget)?;
        budget.spend_text(written.len())?;
        rendered.push_str(&written);
        (next, highest, has_verb) = (verb.argument + 1, highest.max(verb.argument), true);
        rest = &after[length..];
    }
    rendered.push_str(rest);
    if highest < values.len() {
        return refuse(if has_verb {
            "there are arguments that no verb uses"
        } else {
            "there are arguments, and no verb uses one"
        });
    }
    Ok(rendered)
}

impl Verb {
    /// The verb after a percent sign, and its length.
    fn parse(text: &str, next: usize) -> Result<(Self, usize), Unevaluated> {
        let mut verb = Self { argument: next, ..Self::default() };
        let mut rest = text;
        while let Some(flag) = rest.chars().next().filter(|c| matches!(c, '0' | '#' | '-' | '+' | ' ')) {
            match flag {
                '0' => verb.is_zero = true,
                '#' => verb.is_sharp = true,
                '-' => verb.is_minus = true,
                '+' => verb.is_plus = true,
                _ => verb.is_space = true,
            }
            rest = &rest[1..];
        }
        if let Some(after) = rest.strip_prefix('[') {
            let Some((argument, after)) = take_number(after) else { return refuse("an index of an argument is wrong") };
            let Some(after) = after.strip_prefix(']').filter(|_| argument > 0) else {
                return refuse("an index of an argument is wrong");
            };
            (verb.argument, rest) = (argument, after);
        }
        if let Some((width, after)) = take_number(rest) {
            (verb.width, rest) = (Some(width), after);
        }
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, after) = take_number(after).unwrap_or((0, after));
            (verb.precision, rest) = (Some(precision), after);
        }
        if verb.width.max(verb.precision).is_some_and(|width| width > WIDTH) {
            return Err(Unevaluated::limit(format!("a format wider than {WIDTH} characters")));
        }
        match rest.chars().next() {
            Some(mode) if mode.is_ascii_alphabetic() => {
                verb.mode = mode;
                Ok((verb, text.len() - rest.len() + 1))
            }
            _ => refuse("a percent sign begins no verb"),
        }
    }

    fn write(&self, value: &Value, budget: &Budget) -> Result<String, Unevaluated> {
        if self.mode != 'v' && value.is_null() {
            return refuse(format!("null cannot be written with %{}", self.mode));
        }
        match self.mode {
            'v' => match value {
                Value::String(text) if !self.is_sharp => Ok(self.pad(text.to_string())),
                Value::Number(number) if !self.is_sharp => Ok(self.pad(number.write(Notation::General, None))),
                _ => Ok(self.pad(json::write(value, budget)?)),
            },
            't' => match value.convert(&Type::Bool)? {
                Value::Bool(value) => Ok(value.to_string()),
                _ => refuse("a bool is required"),
            },
            'b' | 'd' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'g' | 'G' => match value.convert(&Type::Number)? {
                Value::Number(number) => self.write_number(&number),
                _ => refuse("a number is required"),
            },
            's' | 'q' => match value.convert(&Type::String)? {
                Value::String(text) => Ok(self.write_text(&text)),
                _ => refuse("a string is required"),
            },
            mode => refuse(format!("%{mode} is no verb")),
        }
    }

    fn write_text(&self, text: &str) -> String {
        let kept: String = match self.precision {
            Some(precision) if precision > 0 => text.graphemes(true).take(precision).collect(),
            _ => text.to_owned(),
        };
        let mut quoted = String::new();
        if self.mode == 'q' {
            json::push_string(&kept, &mut quoted);
        }
        self.pad(if self.mode == 'q' { quoted } else { kept })
    }

    /// Spaces or zeros up to the width, counted in characters.
    fn pad(&self, text: String) -> String {
        let missing = self.width.unwrap_or(0).saturating_sub(strings::count(&text));
        let padding = if self.is_zero { "0" } else { " " }.repeat(missing);
        if self.is_minus { text + &padding } else { padding + &text }
    }

    fn write_number(&self, number: &Number) -> Result<String, Unevaluated> {
        if matches!(self.mode, 'b' | 'd' | 'o' | 'x' | 'X') {
            return match number.truncate() {
                Some((whole, true)) => Ok(self.write_whole(&whole)),
                _ => refuse("a whole number is required"),
            };
        }
        let notation = match self.mode {
            'e' | 'E' => Notation::Exponent,
            'f' => Notation::Fixed,
            _ => Notation::General,
        };
        // Without a precision Go writes six digits after the point, and as many as are needed with %g.
        let digits = self.precision.or(if notation == Notation::General { None } else { Some(6) });
        if number.is_infinite() || self.is_sharp {
            return Err(Unevaluated::limit(format!("%{} of an infinity, or with #", self.mode)));
        }
        let written = number.write(notation, digits.and_then(|digits| i64::try_from(digits).ok()));
        let (sign, digits) = written.strip_prefix('-').map_or((self.plus(), &written[..]), |digits| ("-", digits));
        let digits = if self.mode.is_ascii_uppercase() { digits.to_uppercase() } else { digits.to_owned() };
        Ok(self.align(sign, "", &digits))
    }

    fn plus(&self) -> &'static str {
        match (self.is_plus, self.is_space) {
            (true, _) => "+",
            (false, true) => " ",
            (false, false) => "",
        }
    }

    /// Source: Go's `math/big/intconv.go`, `Int.Format`.
    fn write_whole(&self, number: &BigInt) -> String {
        let radix = match self.mode {
            'b' => 2,
            'o' => 8,
            'd' => 10,
            _ => 16,
        };
        let mut digits = number.magnitude().to_str_radix(radix);
        let prefix = match self.mode {
            'b' if self.is_sharp => "0b",
            'o' if self.is_sharp => "0",
            'x' if self.is_sharp => "0x",
            'X' if self.is_sharp => "0X",
            _ => "",
        };
        if self.mode == 'X' {
            digits = digits.to_uppercase();
        }
        if let Some(precision) = self.precision {
            if precision == 0 && number.sign() == Sign::NoSign {
                return String::new();
            }
            digits = "0".repeat(precision.saturating_sub(digits.len())) + &digits;
        }
        let sign = if number.sign() == Sign::Minus { "-" } else { self.plus() };
        self.align(sign, prefix, &digits)
    }

    /// With spaces before or after, or zeros behind the sign.
    fn align(&self, sign: &str, prefix: &str, digits: &str) -> String {
        let length = sign.len() + prefix.len() + digits.len();
        let missing = self.width.unwrap_or(0).saturating_sub(length);
        let has_zeros = self.is_zero
            && !self.is_minus
            && (self.precision.is_none() || matches!(self.mode, 'e' | 'E' | 'f' | 'g' | 'G'));
        match (self.is_minus, has_zeros) {
            (true, _) => format!("{sign}{prefix}{digits}{}", " ".repeat(missing)),
            (false, true) => format!("{sign}{prefix}{}{digits}", "0".repeat(missing)),
            (false, false) => format!("{}{sign}{prefix}{digits}", " ".repeat(missing)),
        }
    }
}

/// A number that does not begin with a zero.
fn take_number(text: &str) -> Option<(usize, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let digits = text.get(..end).filter(|digits| !digits.is_empty())?;
    Some((digits.parse().unwrap_or(usize::MAX), &text[end..]))
}
