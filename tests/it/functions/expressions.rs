//! Random expressions, and their values here.

use std::path::Path;

use tflock_core::evaluate::{Evaluated, Expression, Failure, Meter, Reference, Scope};
use tflock_core::finding::{Location, Position};
use tflock_core::functions::{Action, Function, TABLE, Tools};
use tflock_core::value::{Type, Value};

use super::{generate, pools};
use crate::support::dice::Dice;
use crate::support::extent::seeds;

/// An expression, and what it makes here.
pub struct Sample {
    pub text: String,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Refused,
    Unknown,
    /// As `Answer` of the tool.
    Value {
        json: String,
        kind: String,
    },
}

/// Calls of all functions in turn, with expressions between them.
pub fn samples(count: usize) -> Vec<Sample> {
    let rows: Vec<&Function> = TABLE.iter().filter(|row| is_computed(row)).collect();
    let mut dice = Dice::of(seeds(1).start + 1);
    let sample = |at: usize| {
        let text =
            if at % 4 == 3 { expression(&mut dice, 2) } else { generate::call(&mut dice, rows[at % rows.len()], 0).0 };
        Sample { outcome: outcome(evaluate(&text)), text }
    };
    (0..count).map(sample).collect()
}

/// True for functions of Terraform whose arguments are values.
pub fn is_computed(row: &Function) -> bool {
    row.tools.intersects(Tools::TERRAFORM) && matches!(row.action, Action::Compute(_) | Action::Select(_))
}

/// Where there are no names.
struct Nothing;

impl Scope for Nothing {
    fn tools(&self) -> Tools {
        Tools::TERRAFORM
    }

    fn lookup(&self, reference: &Reference<'_>, _: &Meter) -> Evaluated {
        Err(Failure::invalid(format!("there is no {reference}")))
    }
}

fn evaluate(text: &str) -> Evaluated {
    let place = Location { file: Path::new("main.tf").into(), position: Position::default() };
    Expression::native(place, text).evaluate(&Nothing, &Meter::default())
}

fn outcome(result: Evaluated) -> Outcome {
    match result {
        Err(Failure::Refused(_)) => Outcome::Refused,
        Err(_) => Outcome::Unknown,
        Ok(value) if value.unknown_part().is_some() => Outcome::Unknown,
        Ok(value) => {
            let tuple = Value::tuple(vec![value]);
            let kind = shown(&tuple.kind());
            let encode = Function::find("jsonencode", Tools::ALL).unwrap();
            let json = encode.call(vec![tuple], &Meter::default().budget);
            Outcome::Value {
                json: json.ok().and_then(|json| json.as_text().map(str::to_owned)).unwrap_or_default(),
                kind,
            }
        }
    }
}

/// A type as `type()` prints it, without white space.
fn shown(kind: &Type) -> String {
    let all = |inner: Vec<String>, open: &str, close: &str| {
        if inner.is_empty() { format!("{open}{close}") } else { format!("{open}{},{close}", inner.join(",")) }
    };
    let element = |name: &str, element: &Type| {
        let is_structure = matches!(element, Type::Tuple(_) | Type::Object(_));
        format!("{name}({}{})", shown(element), if is_structure { "," } else { "" })
    };
    let text = match kind {
        Type::List(kind) => element("list", kind),
        Type::Set(kind) => element("set", kind),
        Type::Map(kind) => element("map", kind),
        Type::Tuple(kinds) => all(kinds.iter().map(shown).collect(), "tuple([", "])"),
        Type::Object(kinds) => {
            all(kinds.iter().map(|(name, kind)| format!("{name}:{}", shown(kind))).collect(), "object({", "})")
        }
        primitive => primitive.to_string(),
    };
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// An expression with operators, conditions, `for`, splats, indexes and templates.
fn expression(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return leaf(dice);
    }
    let inner = |dice: &mut Dice| {
        let depth = dice.below(depth);
        expression(dice, depth)
    };
    match dice.below(16) {
        0 | 1 => {
            let operator = dice.pick(&["+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "&&", "||"]);
            format!("({} {operator} {})", scalar(dice, depth - 1), scalar(dice, depth - 1))
        }
        2 => format!("({} {} {})", inner(dice), dice.pick(&["==", "!="]), inner(dice)),
        3 | 4 => format!("({} ? {} : {})", condition(dice), inner(dice), inner(dice)),
        5 => format!("{}({})", dice.pick(&["!", "-"]), scalar(dice, depth - 1)),
        6 => format!("[for x in {} : {}]", list(dice), using(dice, &["x"])),
        7 => format!("[for k, v in {} : {} if {}]", collection(dice), using(dice, &["k", "v"]), using_condition(dice)),
        8 => format!(
            "{{ for k, v in {} : {} => {} }}",
            collection(dice),
            using(dice, &["k", "\"p${k}\""]),
            using(dice, &["v", "k"])
        ),
        9 => format!("{{ for v in {} : \"{}\" => v... }}", list(dice), dice.pick(&["a", "x"])),
        10 => format!(
            "\"{}${{{}}}{}\"",
            dice.pick(&["", "a", " "]),
            scalar(dice, depth - 1),
            dice.pick(&["", "é", "-${1}"])
        ),
        11 => format!(
            "\"%{{ if {} }}yes{}%{{ else ~}} no %{{~ endif }}\"",
            condition(dice),
            dice.pick(&["", "${1 + 1}", "\\n"])
        ),
        12 => format!("\"%{{ for x in {} }}<${{x}}>%{{ endfor }}\"", list(dice)),
        13 => format!(
            "{}[{}]",
            collection(dice),
            dice.pick(&["0", "1", "-1", "\"a\"", "\"0\"", "0.5", "\"key\"", "null", "true"])
        ),
        14 => format!(
            "{}{}",
            collection(dice),
            dice.pick(&["[*]", "[*].a", ".*.a", ".a", "[*][0]", ".0", ".*.0", "[*].a.b"])
        ),
        _ => leaf(dice),
    }
}

fn leaf(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => {
            let row = &TABLE[dice.below(TABLE.len())];
            if is_computed(row) { generate::call(dice, row, 1).0 } else { scalar(dice, 0) }
        }
        1 => collection(dice),
        _ => scalar(dice, 0),
    }
}

fn scalar(dice: &mut Dice, depth: usize) -> String {
    match dice.below(9) {
        _ if depth > 0 && dice.one_in(3) => expression(dice, depth),
        0..4 => pools::number(dice).to_owned(),
        4 => dice.pick(&["true", "false"]).to_owned(),
        5 => dice.pick(&["null", "tostring(null)", "\"true\"", "\"1\""]).to_owned(),
        _ => generate::string(pools::word(dice)).text,
    }
}

fn condition(dice: &mut Dice) -> String {
    if dice.one_in(8) {
        scalar(dice, 0)
    } else {
        dice.pick(&["true", "false", "\"true\"", "1 == 1", "1 > 2", "!true"]).to_owned()
    }
}

fn list(dice: &mut Dice) -> String {
    if dice.one_in(10) { scalar(dice, 0) } else { generate::list(dice).text }
}

fn collection(dice: &mut Dice) -> String {
    if dice.one_in(2) { list(dice) } else { generate::map(dice).text }
}

fn using(dice: &mut Dice, names: &[&str]) -> String {
    let name = dice.pick(names);
    match dice.below(7) {
        0 => format!("[{name}]"),
        1 => format!("{{ n = {name} }}"),
        2 => format!("try(upper({name}), 0)"),
        3 => format!("{name} == null ? 0 : 1"),
        4 => format!("\"<${{{name}}}>\""),
        _ => name.to_owned(),
    }
}

fn using_condition(dice: &mut Dice) -> &'static str {
    dice.pick(&["true", "k != \"a\"", "v != null", "k != 0", "can(v[0])", "false", "v"])
}
