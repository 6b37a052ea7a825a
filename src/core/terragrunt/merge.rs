//! The deep merge of Terragrunt: maps key by key, lists joined, of others the second.
//!
//! Source: terragrunt `pkg/config/cty_helpers.go`, `deepMergeCtyMaps`.

use crate::value::{Elements, Value};

/// Two values in one; the second goes before the first.
pub(super) fn deep_merge(one: &Value, other: &Value) -> Value {
    if let (Some(ours), Some(theirs)) = (one.attributes(), other.attributes()) {
        let mut merged: Elements = Elements::clone(ours);
        for (name, value) in theirs.iter() {
            let both = merged.get(name).map_or_else(|| value.clone(), |ours| deep_merge(ours, value));
            merged.insert(name.clone(), both);
        }
        return Value::Object(merged.into());
    }
    match (one.elements(), other.elements()) {
        (Some(ours), Some(theirs)) => Value::tuple(ours.iter().chain(theirs.iter()).cloned().collect()),
        _ if other.is_null() => one.clone(),
        _ => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Meter;
    use crate::evaluate::syntax::Node;

    #[test]
    fn maps_are_merged_by_key_and_lists_are_joined() {
        let value = |text: &str| Node::parse(text, 0..text.len()).unwrap().constant(&Meter::default()).unwrap();
        for (one, other, wanted) in [
            ("{ a = 1, b = { c = 1, d = 2 } }", "{ b = { d = 3 } }", "{ a = 1, b = { c = 1, d = 3 } }"),
            ("{ a = [1] }", "{ a = [2, 3] }", "{ a = [1, 2, 3] }"),
            ("{ a = 1 }", "{ a = null }", "{ a = 1 }"),
            ("{ a = [1] }", "{ a = \"b\" }", "{ a = \"b\" }"),
        ] {
            assert_eq!(deep_merge(&value(one), &value(other)), value(wanted), "{one} {other}");
        }
    }
}
