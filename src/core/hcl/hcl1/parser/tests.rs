//! Texts of HCL 1 and their items.

use super::super::{Hcl1Value, Item, Object, parse};
use crate::finding::Position;

fn only(text: &str) -> Item {
    let object = parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    assert_eq!(object.items.len(), 1, "{text:?}");
    object.items[0].clone()
}

fn string(text: &str) -> String {
    only(text).value.as_text().unwrap().to_owned()
}

#[test]
fn several_items_share_a_line() {
    for text in ["a = 1 b = 2", "a = 1, b = 2,", "a=1\r\nb=2 # c", "/* x */a=1//y\nb=2", r#"{"a": 1, "b": 2}"#] {
        let keys: Vec<_> = parse(text).unwrap().items.into_iter().map(|item| item.keys).collect();
        assert_eq!(keys, [["a"], ["b"]], "{text:?}");
    }
}

#[test]
fn quoted_keys_and_labels() {
    assert_eq!(only(r#"dev_overrides { "acme/foo" = "/x" }"#).keys, ["dev_overrides"]);
    assert_eq!(only(r#"credentials "a.example" {}"#).keys, ["credentials", "a.example"]);
    assert_eq!(only("a.b-c é_1 {}").keys, ["a.b-c", "é_1"]);
}

#[test]
fn strings() {
    assert_eq!(string(r#"a = "\x41\101\u00e9\n\"""#), "AAé\n\"");
    assert_eq!(string(r#"a = "r/${namespace}/${"x\n"}""#), r#"r/${namespace}/${"x\n"}"#);
    assert_eq!(string("a = <<EOT\n hi\n EOTS\n EOT\n"), " hi\n EOTS\n");
    assert_eq!(string("a = <<-EOT\n  hi\n    you\n  EOT\n"), "hi\n  you\n");
    assert_eq!(string("a = -1.5e-3"), "-1.5e-3");
    assert_eq!(string("a = 0x1F"), "0x1F");
}

#[test]
fn lists() {
    assert_eq!(only("a = [,1,,2 [true], {b = 2},]").value, {
        let inner = Item { keys: vec!["b".into()], assigned: true, ..only("b = 2") };
        let inner = Item { position: Position { line: 1, column: 21 }, ..inner };
        let list = Hcl1Value::List(vec![Hcl1Value::Bool(true)]);
        Hcl1Value::List(vec![
            Hcl1Value::Number("1".into()),
            Hcl1Value::Number("2".into()),
            list,
            Hcl1Value::Object(Object { items: vec![inner] }),
        ])
    });
}

#[test]
fn refusals_have_a_place() {
    let refused = |text: &str| match parse(text) {
        Err(error) => (error.position.line, error.position.column),
        Ok(object) => panic!("{text:?}: {object:?}"),
    };
    assert_eq!(refused(",a = 1"), (1, 1));
    assert_eq!(refused("a = 1\nb = foo"), (2, 5));
    assert_eq!(refused("a"), (1, 2));
    assert_eq!(refused("a b = 1"), (1, 5));
    assert_eq!(refused("a = [1 2]"), (1, 8));
    assert_eq!(refused("a = [foo]"), (1, 6));
    assert_eq!(refused("a = \"x\ny\""), (1, 5));
    assert_eq!(refused(r#"a = "\q""#), (1, 6));
    assert_eq!(refused("a = <<EOT\nhi\nEOT"), (1, 5));
    assert_eq!(refused("\n/* x"), (2, 1));
    assert_eq!(refused("a { b = 1"), (1, 10));
    assert_eq!(refused("a = 1 }"), (1, 7));
    assert_eq!(refused("1 = 2"), (1, 1));
    assert_eq!(refused("é = \0"), (1, 5));
    assert_eq!(refused("\u{feff}a = 1"), (1, 1));
    assert_eq!(refused("{\n  \"a\": }"), (2, 8));
    for text in [
        "a = 1.2.3",
        "a = -",
        "a = 1e",
        "a = +1",
        "a = 12x",
        "a = -.5",
        "#\0",
        "a = << \nEOT\n",
        "a = \"${\"",
        "{} x",
        "a = \"\\",
    ] {
        refused(text);
    }
}

#[test]
fn depth_is_bounded() {
    let deep = format!("a = {}", "[".repeat(100_000));
    assert_eq!(parse(&deep).unwrap_err().message, "more than 64 nested braces or brackets");
    let deep = "a {".repeat(100_000);
    assert_eq!(parse(&deep).unwrap_err().message, "more than 64 nested braces or brackets");
    assert!(parse(&"{\"a\":".repeat(100_000)).unwrap_err().message.starts_with("invalid JSON: "));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_panics(text in "[a{}\\[\\]=,\"\\\\$<\\-E\n #/*0x.é]{0,40}") {
        let _ = parse(&text);
    }
}
