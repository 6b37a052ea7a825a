//! Documents against a JSON Schema: as much of the standard as our schema uses.

use serde_json::Value;

const SCHEMA: &str = include_str!("../../testdata/schemas/outcome-1.0.json");

/// What a document of ours breaks, with the place of each.
pub(super) fn broken(document: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let document = serde_json::from_str(document).unwrap();
    let mut wrong = Vec::new();
    check(&schema, &schema, &document, "", &mut wrong);
    wrong
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
            "$schema" | "$defs" | "title" | "description" | "pattern" => true,
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

#[test]
fn what_breaks_the_schema_is_found() {
    let good = r#"{"format_version":"1.0","command":"diff","changed":true,"findings":[]}"#;
    assert_eq!(broken(good), [""; 0]);
    assert_eq!(broken(r#"{"command":"diff"}"#).len(), 1);
    assert_eq!(broken(&good.replace("true", "1")).len(), 1);
    assert_eq!(broken(&good.replace("[]", "[{}]")).len(), 1);
    let change = r#"[{"address":"a","kind":"x","old":null,"new":null,"hashes_added":[],"hashes_removed":[]}]"#;
    let wrong = broken(&good.replace("\"findings\":[]", &format!("\"changes\":{change}")));
    assert!(wrong.len() == 1 && wrong[0].starts_with("/changes/0/kind: enum"), "{wrong:?}");
}
