//! Expressions whose values the real `terraform` has confirmed: `testdata/vectors/functions.tsv`.

use std::path::Path;

use super::{Evaluated, Expression, Failure, Meter, Reference, Scope};
use crate::finding::{Location, Position};
use crate::functions::{Function, Tools};
use crate::value::{Type, Unevaluated, Value};
use crate::vectors::{agree, rows};

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

/// A tuple with the value as JSON, and the type of the tuple.
fn evaluate(text: &str) -> Result<(String, String), Failure> {
    let place = Location { file: Path::new("main.tf").into(), position: Position::default() };
    let value = Expression::native(place, text).evaluate(&Nothing, &Meter::default())?;
    if let Some(reason) = value.unknown_part() {
        return Err(Unevaluated::clone(reason).into());
    }
    let tuple = Value::tuple(vec![value]);
    let kind = shown(&tuple.kind());
    let json = Function::find("jsonencode", Tools::ALL).unwrap().call(vec![tuple], &Meter::default().budget)?;
    Ok((json.as_text().unwrap_or_default().to_owned(), kind))
}

/// A type as `type()` of the tool prints it, without white space.
fn shown(kind: &Type) -> String {
    let comma = |inner: &Type| if matches!(inner, Type::Tuple(_) | Type::Object(_)) { "," } else { "" };
    let text = match kind {
        Type::List(inner) => format!("list({}{})", shown(inner), comma(inner)),
        Type::Set(inner) => format!("set({}{})", shown(inner), comma(inner)),
        Type::Map(inner) => format!("map({}{})", shown(inner), comma(inner)),
        Type::Tuple(kinds) => format!("tuple([{}])", kinds.iter().map(|kind| shown(kind) + ",").collect::<String>()),
        Type::Object(kinds) => {
            let attributes = kinds.iter().map(|(name, kind)| format!("{name}:{},", shown(kind)));
            format!("object({{{}}})", attributes.collect::<String>())
        }
        primitive => primitive.to_string(),
    };
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn agreed_expressions_have_their_values() {
    let file = "functions.tsv";
    let disagreements = rows(file).into_iter().filter_map(|row| {
        let [text, json, kind] = &row[..] else { panic!("{row:?}") };
        let wanted = if json == "err" { None } else { Some((json.clone(), kind.clone())) };
        let found = evaluate(text);
        let is_agreed = match &found {
            Ok(found) => Some(found) == wanted.as_ref(),
            Err(Failure::Refused(_)) => wanted.is_none(),
            Err(Failure::Final(_)) => true,
        };
        (!is_agreed).then(|| format!("{text}\n  {found:?}\n  {wanted:?}"))
    });
    agree(file, &disagreements.collect::<Vec<_>>());
}
