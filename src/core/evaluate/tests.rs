use std::cell::RefCell;
use std::path::Path;

use super::*;
use crate::finding::{Location, Position};

/// Names with values, and some that have none.
#[derive(Default)]
struct Values {
    looked_up: RefCell<Vec<String>>,
}

impl Scope for Values {
    fn tools(&self) -> Tools {
        Tools::TERRAFORM
    }

    fn lookup(&self, reference: &Reference<'_>, meter: &Meter) -> Evaluated {
        self.looked_up.borrow_mut().push(reference.to_string());
        let local = |text: &str| expression(text).evaluate(self, meter);
        match (reference.name, reference.member()) {
            ("local", Some("a")) => Ok(Value::text("x")),
            ("local", Some("list")) => local("[1, 2, 3]"),
            ("local", Some("objects")) => local("[{ a = 1 }, { a = 2 }]"),
            ("local", Some("loop")) => local("local.loop"),
            ("var", Some("unset")) => Ok(Value::unknown(Unevaluated::Unset("unset".to_owned()))),
            ("var", Some("any")) => Ok(Value::unknown(Unevaluated::limit("var.any"))),
            _ => Err(Failure::invalid(format!("there is no {reference}"))),
        }
    }

    fn call(&self, name: &str, arguments: &[Value], _: &Meter) -> Option<Evaluated> {
        match name {
            "here" => Some(Ok(Value::count(arguments.len()))),
            "fails" => Some(Err(Cause::MissingFile.refuses("fails() was called"))),
            _ => None,
        }
    }
}

fn expression(text: &str) -> Expression {
    let place = Location { file: Path::new("main.tf").into(), position: Position { line: 3, column: 5 } };
    Expression::native(place, text)
}

/// A value as text with its type, or why there is none.
fn evaluated(text: &str) -> String {
    match expression(text).evaluate(&Values::default(), &Meter::default()) {
        Ok(value) => shown(&value),
        Err(failure) => format!("error: {}", Unevaluated::from(failure)),
    }
}

fn shown(value: &Value) -> String {
    let all = |values: &mut dyn Iterator<Item = &Value>| values.map(shown).collect::<Vec<_>>().join(", ");
    match value {
        Value::Null(_) => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::List(_, values) => format!("list[{}]", all(&mut values.iter())),
        Value::Set(_, values) => format!("set[{}]", all(&mut values.iter())),
        Value::Tuple(values) => format!("[{}]", all(&mut values.iter())),
        Value::Map(_, values) | Value::Object(values) => {
            let pairs = values.iter().map(|(key, value)| format!("{key} = {}", shown(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Unknown(reason) => format!("unknown: {reason}"),
    }
}

#[test]
fn values_are_computed() {
    for (written, expected) in [
        ("1 + 2 * 3 - -4 % 3", "8"),
        ("\"a-${local.a}-${1.50}-${true}\"", "\"a-x-1.5-true\""),
        ("\"${[1]}\"", "[1]"),
        ("true ? 1 : \"a\"", "\"1\""),
        ("false ? 1 : null", "null"),
        ("true ? [1] : [\"a\", \"b\"]", "list[\"1\"]"),
        ("1 == 1 && !(2 > 3) || 1 > 2", "true"),
        ("1 == \"1\"", "false"),
        ("local.list[1] + local.list.0", "3"),
        ("{ a = { b = [7] } }.a[\"b\"][0]", "7"),
        ("local.objects[*].a", "[1, 2]"),
        ("local.objects.*.a[0]", "1"),
        ("local.a[*]", "[\"x\"]"),
        ("null[*]", "[]"),
        ("{ (local.a) = 1, b = 2, b = 3 }", "{b = 3, x = 1}"),
        ("[for i, x in local.list : i * x if x != 2]", "[0, 6]"),
        ("{ for k, v in { a = 1, b = 2 } : v => k }", "{1 = \"a\", 2 = \"b\"}"),
        ("{ for x in local.list : x % 2 => x... }", "{0 = [2], 1 = [1, 3]}"),
        ("[for x in local.list : [for y in local.list : x * y if y == x][0]]", "[1, 4, 9]"),
        ("\"%{ for x in local.list }<${x}>%{ endfor }%{ if local.a == \"x\" }!%{ endif }\"", "\"<1><2><3>!\""),
        ("try(local.list[9], fails(), \"c\")", "\"c\""),
        ("[can(local.list[9]), can(local.list[0])]", "[false, true]"),
        ("here(local.list...) + here(1)", "4"),
    ] {
        assert_eq!(evaluated(written), expected, "{written}");
    }
}

#[test]
fn what_is_not_needed_may_be_unknown() {
    let unset = Unevaluated::Unset("unset".to_owned());
    for (written, expected) in [
        ("true ? \"a\" : var.any", "\"a\"".to_owned()),
        ("false && var.unset == \"\"", "false".to_owned()),
        ("var.unset == \"\" && false", "false".to_owned()),
        ("{ a = 1, b = var.any }.a", "1".to_owned()),
        ("[1, var.any][0]", "1".to_owned()),
        ("[for x in [\"a\", \"b\"] : true ? x : var.any]", "[\"a\", \"b\"]".to_owned()),
        // What it would be as the type of the other one is not known.
        ("true ? 1 : var.any", "unknown: it depends on var.any (main.tf:3:16)".to_owned()),
        ("\"a-${var.unset}\"", format!("unknown: {unset}")),
        ("var.unset == \"\" || 1 > 2", format!("unknown: {unset}")),
        ("try(var.unset, \"b\")", format!("unknown: {unset}")),
        ("can(var.unset)", format!("unknown: {unset}")),
        ("[for x in var.any : x]", "unknown: it depends on var.any (main.tf:3:15)".to_owned()),
        ("{ for x in [1] : var.unset => x }", format!("unknown: {unset}")),
        ("var.any.x[0]", "unknown: it depends on var.any (main.tf:3:5)".to_owned()),
        ("(1 +\n  provider::p::f(1))", "unknown: it depends on provider::p::f() (main.tf:4:3)".to_owned()),
    ] {
        assert_eq!(evaluated(written), expected, "{written}");
    }
}

#[test]
fn errors_name_their_place() {
    for (written, expected) in [
        ("\"a${null}\"", "a part of a string is null (main.tf:3:7)"),
        ("[\n  1,\n  local.list[3],\n]", "a value of type tuple has no element with this key (main.tf:5:3)"),
        ("{ a = 1 }.b", "a value of type object has no attribute \"b\" (main.tf:3:5)"),
        ("null.a", "the attribute \"a\" of null is used (main.tf:3:5)"),
        ("true ? fails() : 1", "fails() was called (main.tf:3:12)"),
        ("null ? 1 : 2", "a condition is null (main.tf:3:5)"),
        ("1 + null", "an operand is null (main.tf:3:5)"),
        ("[for x in null : x]", "a `for` expression iterates over null (main.tf:3:5)"),
        ("[for x in [] : x if null]", "the condition of a `for` expression is null (main.tf:3:5)"),
        ("{ local.a = 1 }", "a key with points in it is neither in quotes nor in parentheses (main.tf:3:5)"),
        // What does not exist is an error wherever it is.
        ("true ? 1 : local.b", "there is no local.b (main.tf:3:16)"),
        ("try(local.b, 1)", "there is no local.b (main.tf:3:9)"),
        ("1 +", "it cannot be read as an expression (main.tf:3:8)"),
    ] {
        assert_eq!(evaluated(written), format!("error: {expected}"), "{written}");
    }
}

/// Each seen with `terraform console` 1.11.4 and with Terraform 1.17.
#[test]
fn what_is_certainly_refused_is_passed_over() {
    for written in [
        "{ a = 1 }.b",
        "{ a = 1 }[\"b\"]",
        "[1][3]",
        "[1][-1]",
        "[1].a",
        "\"a\".b",
        "\"a\"[0]",
        "1.5[0]",
        "lookup({ a = 1 }, \"b\")",
        "null.a",
        "null[0]",
        "\"a${null}\"",
        "upper(null)",
        "1 + null",
        "[for x in null : x]",
        "{ (null) = 1 }",
        "tonumber(\"a\")",
        "tobool(\"a\")",
        "1 + \"a\"",
        "!\"a\"",
        "-[]",
        "tostring([])",
        "upper([])",
        "\"a${[]}\"",
        "[for x in \"a\" : x]",
        "coalesce(\"\", null)",
        "regex(\"b\", \"a\")",
        "jsondecode(\"{\")",
        "jsondecode(\"\")",
    ] {
        assert_eq!(evaluated(&format!("try({written}, \"other\")")), "\"other\"", "{written}");
        assert_eq!(evaluated(&format!("can({written})")), "false", "{written}");
    }
}

/// Calls and operators that some version of a tool refuses, or may, and others do not: whatever is around, they are unknown.
#[test]
fn what_may_be_refused_is_unknown() {
    for written in [
        "sha1(\"a\")",
        "file(\"a\")",
        "nothing(1)",
        "assumestring(\"a\")",
        "provider::p::f(1)",
        "nonsensitive(\"a\")",
        "sum([\"1\"])",
        "deep_merge({ a = 1 }, { b = 1 })",
        "floor(-0.5)",
        "cidrhost(\"010.0.0.0/8\", 1)",
        "element([], 0)",
        "slice([1], 1, 0)",
        "one([1, 2])",
        "zipmap([\"a\"], [])",
        "join(\",\", [null])",
        "merge({ a = 1 }, null)",
        "merge([], {})",
        "range(5, 1)",
        "substr(\"abc\", -2, 1)",
        "format(\"%z\", 1)",
        "format(\"%s\")",
        "formatlist(\"%s\", [1], [1, 2])",
        "base64decode(\"a\")",
        "base64decode(\"/w==\")",
        "regex(\"(\", \"a\")",
        "regex(\"\\\\pL\", \"a\")",
        "yamldecode(\"a: [\")",
        "yamldecode(\"a:\\t[1]\")",
        "yamldecode(\"%YAML 1.1\\n---\\na: 1\")",
        "yamldecode(\"-\\ta\")",
        "yamldecode(\"a: 2020-01-01\")",
        "yamldecode(\"a: 0x1f\")",
        "yamldecode(\"a: !!str 1\")",
        "yamldecode(\"a: 1\\na: 2\")",
        "tonumber(\"inf\")",
        "tonumber(\"1p3\")",
        "1 / 0",
        "1e900 * 1e900",
        "null && false",
        "false && null",
        "null || true",
        "[1][3] == 1 && false",
        "true ? [] : {}",
        "[null] == [1]",
        "toset([{ a = 1 }, { a = 2 }])",
        "tolist([1, {}])",
        "distinct([1, 1])",
        "upper(\"ß\")",
        "length(\"é\")",
        "{ for x in [1, 1] : x => x }",
        "max(\"a\"...)",
        "upper(\"a\", \"b\")",
    ] {
        let is_unknown = |text: &str| evaluated(text).contains("it depends on");
        for form in [
            written.to_owned(),
            format!("try({written}, \"other\")"),
            format!("can({written})"),
            format!("try(jsonencode({written}), \"other\") == \"other\" ? 1 : 2"),
        ] {
            assert!(is_unknown(&form), "{form}: {}", evaluated(&form));
        }
    }
}

/// Their values are those of all versions.
#[test]
fn what_the_tools_agree_on_is_known() {
    for (written, expected) in [
        ("element([\"a\", \"b\"], -1)", "\"b\""),
        ("element(tolist([\"a\", \"b\"]), 3)", "\"b\""),
        ("yamldecode(\"k:\\tb\\n\").k", "\"b\""),
        ("yamldecode(\"a: 1.2.3\\nb: [x, ~, yes]\")", "{a = \"1.2.3\", b = [\"x\", null, true]}"),
        ("convert(\"b\", string)", "\"b\""),
        ("convert([\"1\"], list(number))", "list[1]"),
        ("try(convert(\"a\", number), 2)", "2"),
        ("coalesce(\"\", \"a\")", "\"a\""),
        ("coalesce(null, 1, \"a\")", "\"1\""),
        ("false && var.any", "false"),
        ("try({ a = \"x\" }.b, { a = \"x\" }.a)", "\"x\""),
    ] {
        assert_eq!(evaluated(written), expected, "{written}");
    }
    for written in
        ["try(false && var.any, 1)", "try({ a = var.any, b = 1 }.b, 2)", "try(true ? \"a\" : var.any, \"b\")"]
    {
        assert!(evaluated(written).starts_with("unknown"), "{written}");
    }
}

#[test]
fn only_what_is_named_is_looked_up() {
    let values = Values::default();
    expression("{ a = local.a, b = [for x in [1] : x] }").evaluate(&values, &Meter::default()).unwrap();
    assert_eq!(*values.looked_up.borrow(), ["local.a"]);
}

#[test]
fn evaluation_is_bounded() {
    let limit = |written: &str| {
        let meter = Meter::new(crate::value::Budget::new(100_000));
        Unevaluated::from(expression(written).evaluate(&Values::default(), &meter).unwrap_err()).to_string()
    };
    assert!(limit("local.loop").contains("values that refer to each other over more than 250 levels"));
    let many = format!("[{}]", "1,".repeat(100));
    let large = "values that take more than 0 MB to compute";
    for written in [
        format!("[for a in {many} : [for b in {many} : [for c in {many} : 1]]]"),
        format!("[for a in {many} : {many}][*][*][0]"),
        format!("\"%{{ for a in {many} }}${{ \"{}\" }}%{{ endfor }}\"", "a".repeat(2000)),
        format!("[for a in {many} : {many} == {many}]"),
        format!("here([for a in {many} : {many}]...)"),
    ] {
        assert!(limit(&written).contains(large), "{written}");
    }
    let doubled = (0..60).fold("local.a".to_owned(), |text, _| format!("[for x in [{text}] : \"${{x}}${{x}}\"][0]"));
    assert!(limit(&doubled).starts_with("it depends on an expression nested more than 100 levels deep"));
}
