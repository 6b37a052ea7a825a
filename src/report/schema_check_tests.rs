//! Documents against a JSON Schema: as much of the standard as our schema uses, and stricter: whatever is in a document
//! is named by the schema. The command tests read this file too.

use std::collections::BTreeSet;

use serde_json::Value;

const SCHEMA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/schemas/outcome-1.0.json"));

/// What a document of ours breaks, with the place of each.
pub(crate) fn broken(document: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let document = serde_json::from_str(document).unwrap();
    let mut wrong = Vec::new();
    check(&schema, &schema, &document, "", &mut wrong);
    unnamed(&schema, &[&schema], &document, "", &mut wrong);
    wrong
}

/// The members that no schema for a value names.
fn unnamed(root: &Value, schemas: &[&Value], value: &Value, at: &str, wrong: &mut Vec<String>) {
    let all: Vec<&Value> = schemas.iter().flat_map(|schema| parts(root, schema)).collect();
    let below = |keyword: &str| all.iter().filter_map(|schema| schema.get(keyword)).collect::<Vec<_>>();
    match value {
        Value::Object(members) if below("additionalProperties").is_empty() => {
            let named = below("properties");
            for (name, member) in members {
                let of_member: Vec<&Value> = named.iter().filter_map(|properties| properties.get(name)).collect();
                if of_member.is_empty() {
                    wrong.push(format!("{at}/{name}: not named"));
                }
                unnamed(root, &of_member, member, &format!("{at}/{name}"), wrong);
            }
        }
        Value::Array(items) => {
            let of_items = below("items");
            items.iter().enumerate().for_each(|(at_item, item)| {
                unnamed(root, &of_items, item, &format!("{at}/{at_item}"), wrong);
            });
        }
        _ => {}
    }
}

/// A schema with all that it consists of.
fn parts<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let target =
        schema.get("$ref").map(|target| root.pointer(target.as_str().unwrap().trim_start_matches('#')).unwrap());
    let several = ["allOf", "anyOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten();
    std::iter::once(schema).chain(target.into_iter().chain(several).flat_map(|part| parts(root, part))).collect()
}

/// The members that a body of a document may have.
pub(crate) fn members() -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    schema["$defs"]["body"]["properties"].as_object().unwrap().keys().cloned().collect()
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    for (keyword, wanted) in schema.as_object().unwrap() {
        let holds = match keyword.as_str() {
            "$ref" => {
                let target = root.pointer(wanted.as_str().unwrap().trim_start_matches('#')).unwrap();
                check(root, target, value, at, wrong);
                true
            }
            "allOf" => {
                wanted.as_array().unwrap().iter().for_each(|part| check(root, part, value, at, wrong));
                true
            }
            "anyOf" => wanted.as_array().unwrap().iter().any(|part| {
                let mut found = Vec::new();
                check(root, part, value, at, &mut found);
                found.is_empty()
            }),
            "type" => match wanted {
                Value::Array(types) => types.iter().any(|one| is_a(value, one.as_str().unwrap())),
                one => is_a(value, one.as_str().unwrap()),
            },
            "enum" => wanted.as_array().unwrap().contains(value),
            "required" => wanted
                .as_array()
                .unwrap()
                .iter()
                .all(|name| value.as_object().is_none_or(|object| object.contains_key(name.as_str().unwrap()))),
            "minimum" => value.as_i64().is_none_or(|number| number >= wanted.as_i64().unwrap()),
            "properties" => {
                for (name, part) in wanted.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(root, part, value, &format!("{at}/{name}"), wrong);
                    }
                }
                true
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, wanted, item, &format!("{at}/{number}"), wrong);
                }
                true
            }
            // Patterns are checked by other programs only.
            "$schema" | "$defs" | "title" | "description" | "pattern" | "additionalProperties" => true,
            other => panic!("the schema uses {other}, which is not understood here"),
        };
        if !holds {
            wrong.push(format!("{at}: {keyword} {wanted}, but it is {value}"));
        }
    }
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("no type {other}"),
    }
}
