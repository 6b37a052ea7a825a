//! Random calls of functions, with arguments of the types that they take.

use tflock_core::evaluate::Evaluated;
use tflock_core::functions::{Function, Kind, Parameter, TABLE, Tools};
use tflock_core::value::{Budget, Number, Type, Value};

use super::expressions::is_computed;
use super::pools;
use crate::support::dice::Dice;

/// An expression with its value.
#[derive(Clone)]
pub struct Expression {
    pub text: String,
    value: Value,
}

/// A call of a function with random arguments, and its value.
pub fn call(dice: &mut Dice, row: &'static Function, depth: usize) -> (String, Evaluated) {
    let mut parameters: Vec<Parameter> = row.parameters.to_vec();
    if let Some(rest) = row.rest {
        let most = if row.name == "lookup" { 1 } else { 4 };
        parameters.extend(std::iter::repeat_n(rest, dice.below(most + 1).max(usize::from(!dice.one_in(8)))));
    }
    // Sometimes one too few or too many.
    if dice.one_in(60) {
        parameters.pop();
    } else if dice.one_in(60)
        && let Some(last) = parameters.last().copied()
    {
        parameters.push(last);
    }
    let arguments: Vec<Expression> = parameters.iter().map(|parameter| argument(dice, row, parameter, depth)).collect();
    let texts: Vec<&str> = arguments.iter().map(|argument| &argument.text[..]).collect();
    let text = format!("{}({})", row.name, texts.join(", "));
    (text, row.call(arguments.into_iter().map(|argument| argument.value).collect(), &Budget::default()))
}

fn argument(dice: &mut Dice, row: &Function, parameter: &Parameter, depth: usize) -> Expression {
    if dice.one_in(30) {
        return Expression { text: "null".to_owned(), value: Value::Null(Type::Dynamic) };
    }
    if dice.one_in(15) {
        return anything(dice, 2);
    }
    if depth < 2 && dice.one_in(8) {
        let other = &TABLE[dice.below(TABLE.len())];
        if is_computed(other)
            && let (text, Ok(value)) = call(dice, other, depth + 1)
            && value.unknown_part().is_none()
            && is_modest(&value)
        {
            return Expression { text, value };
        }
    }
    match (parameter.kind, row.name, parameter.name) {
        (Kind::String, ..) => string(pools::text(dice, row.name, parameter.name)),
        (Kind::Number, ..) => number(dice),
        (Kind::Bools, ..) => sequence(dice, |dice| if dice.one_in(6) { anything(dice, 0) } else { bool(dice) }),
        (Kind::Strings, ..) => {
            sequence(dice, |dice| if dice.one_in(8) { anything(dice, 0) } else { string(pools::word(dice)) })
        }
        (Kind::Any, "merge" | "keys" | "values" | "tomap", _) | (Kind::Any, "lookup", "inputMap") => map(dice),
        (Kind::List | Kind::Set, ..)
        | (Kind::Any, "concat" | "flatten" | "reverse" | "one" | "tolist" | "toset" | "zipmap", _)
        | (Kind::Any, "element" | "slice" | "contains", "list") => list(dice),
        (Kind::Any, "formatlist", _) if dice.one_in(2) => list(dice),
        (Kind::Any, ..) => anything(dice, 2),
    }
}

/// True for values that a call in a call does not make huge.
fn is_modest(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() < 2000,
        _ => match (value.elements(), value.attributes()) {
            (Some(elements), _) => elements.len() < 60 && elements.iter().all(is_modest),
            (_, Some(attributes)) => attributes.len() < 60 && attributes.values().all(is_modest),
            _ => true,
        },
    }
}

fn bool(dice: &mut Dice) -> Expression {
    let value = dice.one_in(2);
    Expression { text: value.to_string(), value: Value::Bool(value) }
}

fn number(dice: &mut Dice) -> Expression {
    let text = pools::number(dice);
    if dice.one_in(40) {
        let value = Number::parse("1").unwrap().divide(&Number::parse("3").unwrap()).unwrap();
        return Expression { text: "1 / 3".to_owned(), value: Value::Number(value) };
    }
    Expression { text: text.to_owned(), value: Value::Number(Number::parse(text).unwrap()) }
}

/// A string as HCL writes it.
pub fn string(content: String) -> Expression {
    let mut text = String::from("\"");
    let mut rest = content.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '$' | '%' if rest.peek() == Some(&'{') => text.extend([c, c]),
            '\0'..' ' | '\u{7f}'..='\u{9f}' => text.extend([format!("\\u{:04x}", u32::from(c))]),
            c => text.push(c),
        }
    }
    text.push('"');
    Expression { text, value: Value::text(content) }
}

/// A value of any type.
fn anything(dice: &mut Dice, depth: usize) -> Expression {
    match dice.below(if depth == 0 { 9 } else { 14 }) {
        0 => bool(dice),
        1 | 2 => number(dice),
        3 => Expression { text: "null".to_owned(), value: Value::Null(Type::Dynamic) },
        4 => convert(Expression { text: "null".to_owned(), value: Value::Null(Type::Dynamic) }, dice),
        5..9 => string(pools::word(dice)),
        9..12 => sequence(dice, |dice| anything(dice, depth - 1)),
        _ => object(dice, |dice| anything(dice, depth - 1)),
    }
}

/// A list, set or tuple, mostly of elements of one type.
pub fn list(dice: &mut Dice) -> Expression {
    match dice.below(7) {
        0 | 1 => sequence(dice, |dice| string(pools::word(dice))),
        2 => sequence(dice, number),
        3 => sequence(dice, |dice| sequence(dice, |dice| string(pools::word(dice)))),
        4 => sequence(dice, |dice| object(dice, number)),
        5 => sequence(dice, |dice| anything(dice, 0)),
        _ => sequence(dice, |dice| anything(dice, 2)),
    }
}

pub fn map(dice: &mut Dice) -> Expression {
    match dice.below(4) {
        0 => object(dice, |dice| string(pools::word(dice))),
        1 => object(dice, number),
        _ => object(dice, |dice| anything(dice, 1)),
    }
}

fn sequence(dice: &mut Dice, mut element: impl FnMut(&mut Dice) -> Expression) -> Expression {
    let elements: Vec<Expression> = (0..dice.below(5)).map(|_| element(dice)).collect();
    let texts: Vec<&str> = elements.iter().map(|element| &element.text[..]).collect();
    let text = format!("[{}]", texts.join(", "));
    convert(Expression { text, value: Value::tuple(elements.into_iter().map(|element| element.value).collect()) }, dice)
}

fn object(dice: &mut Dice, mut element: impl FnMut(&mut Dice) -> Expression) -> Expression {
    let attributes: Vec<(&str, Expression)> = (0..dice.below(4)).map(|_| (pools::key(dice), element(dice))).collect();
    let texts: Vec<String> = attributes
        .iter()
        .map(|(key, element)| format!("{} = {}", string((*key).to_owned()).text, element.text))
        .collect();
    let text = format!("{{ {} }}", texts.join(", "));
    let value = attributes.into_iter().map(|(key, element)| (key.into(), element.value)).collect();
    convert(Expression { text, value: Value::object(value) }, dice)
}

/// The value, or what a conversion makes of it.
fn convert(expression: Expression, dice: &mut Dice) -> Expression {
    let names: &[&str] = match &expression.value {
        Value::Tuple(_) => &["tolist", "toset"],
        Value::Object(_) => &["tomap"],
        _ => &["tostring", "tonumber", "tobool", "tolist", "toset", "tomap"],
    };
    let name = dice.pick(names);
    if !expression.value.is_null() && dice.one_in(2) {
        return expression;
    }
    let converted = Function::find(name, Tools::ALL).unwrap().call(vec![expression.value.clone()], &Budget::default());
    match converted {
        Ok(value) => Expression { text: format!("{name}({})", expression.text), value },
        Err(_) => expression,
    }
}
