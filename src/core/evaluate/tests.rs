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
            ("local", Some("template")) => local("\"<$${a}>%%{ if on }!%%{ endif }\""),
            ("local", Some("whole")) => local("\"$${a}\""),
            ("var", Some("unset")) => Ok(Value::unknown(Type::String, Unevaluated::Unset("unset".to_owned()))),
            ("var", Some("any")) => Ok(Value::unknown(Type::Dynamic, Unevaluated::limit("var.any"))),
            _ => Err(Failure::refused(format!("there is no {reference}"))),
        }
    }

    fn call(&self, name: &str, arguments: &[Value], _: &Meter) -> Option<Evaluated> {
        match name {
            "here" => Some(Ok(Value::count(arguments.len()))),
            "fails" => Some(refused("fails() was called")),
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
        Value::Unknown(kind, reason) => format!("unknown {kind}: {reason}"),
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
        ("1 == 1 && !(2 > 3) || fails()", "true"),
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
    let unset = "it depends on var.unset, which has no value";
    for (written, expected) in [
        ("true ? \"a\" : var.any", "\"a\"".to_owned()),
        ("false && var.unset == \"\"", "false".to_owned()),
        ("var.unset == \"\" && false", "false".to_owned()),
        ("{ a = 1, b = var.any }.a", "1".to_owned()),
        ("[1, var.any][0]", "1".to_owned()),
        ("[for x in [1, 2] : true ? x : var.any]", "[1, 2]".to_owned()),
        ("\"a-${var.unset}\"", format!("unknown string: {unset}")),
        ("var.unset == \"\" || 1 > 2", format!("unknown bool: {unset}")),
        ("try(var.unset, \"b\")", format!("unknown dynamic: {unset}")),
        ("can(var.unset)", format!("unknown bool: {unset}")),
        ("[for x in var.any : x]", "unknown dynamic: it depends on var.any (main.tf:3:15)".to_owned()),
        ("{ for x in [1] : var.unset => x }", format!("unknown dynamic: {unset}")),
        ("var.any.x[0]", "unknown dynamic: it depends on var.any (main.tf:3:5)".to_owned()),
        (
            "(1 +\n  provider::p::f(1))",
            "unknown number: it depends on provider::p::f(), a function of a provider (main.tf:4:3)".to_owned(),
        ),
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
        ("{ for x in [1, 1] : x => x }", "two elements of a `for` expression have the key \"1\" (main.tf:3:5)"),
        ("{ local.a = 1 }", "a key with points in it is neither in quotes nor in parentheses (main.tf:3:5)"),
        ("here(1...)", "the last argument of here() is not a list, a set or a tuple (main.tf:3:5)"),
        // What does not exist is an error wherever it is.
        ("true ? 1 : local.b", "there is no local.b (main.tf:3:16)"),
        ("try(local.b, 1)", "there is no local.b (main.tf:3:9)"),
        ("1 +", "it cannot be read as an expression (main.tf:3:8)"),
    ] {
        assert_eq!(evaluated(written), format!("error: {expected}"), "{written}");
    }
}

/// Seen with `terraform console` 1.11.4.
#[test]
fn templates_are_rendered() {
    for (written, expected) in [
        ("templatestring(local.template, { a = 1, on = true })", "\"<1>!\""),
        ("templatestring(local.whole, { a = { b = 1 }.b })", "\"1\""),
        ("[for x in [local.whole] : templatestring(x, { a = x })]", "[\"${a}\"]"),
        ("try(templatestring(local.whole, {}), 2)", "2"),
        ("templatestring(local.whole, var.any)", "unknown string: it depends on var.any (main.tf:3:33)"),
    ] {
        assert_eq!(evaluated(written), expected, "{written}");
    }
    let argument = "the argument \"template\" of templatestring() is wrong";
    for (written, expected) in [
        ("templatestring(\"x\", {})", format!("{argument}: it is not a reference to a string")),
        ("templatestring(local.list, {})", format!("{argument}: it is not a string")),
        ("templatestring(local.whole, { a = [1] })", "a string is required, and it is a tuple".to_owned()),
        ("templatestring(local.whole, { a = null })", "the result of templatestring() is null".to_owned()),
        ("templatestring(local.whole, { a = 1, \"b c\" = 1 })", "a key of it is not a name".to_owned()),
        ("templatestring(local.whole, null)", "it is neither an object nor a map".to_owned()),
        ("templatestring(local.whole, { b = 1 })", "the template has no variable for a".to_owned()),
        ("templatestring(local.whole, {}, 1)", "templatestring() takes 2 arguments, and 3 are given".to_owned()),
    ] {
        assert!(evaluated(written).contains(&expected), "{written}: {}", evaluated(written));
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
    let large = "a value that takes more than 64 MB to compute";
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
