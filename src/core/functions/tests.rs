use super::*;
use crate::value::Number;

fn call(name: &str, arguments: Vec<Value>) -> Result<Value, Failure> {
    Function::find(name, Tools::ALL).unwrap().call(arguments, &Budget::default())
}

fn number(text: &str) -> Value {
    Value::Number(Number::parse(text).unwrap())
}

fn words(words: &[&str]) -> Value {
    Value::tuple(words.iter().map(Value::text).collect())
}

#[test]
fn rows_are_sorted_and_single() {
    let names: Vec<&str> = TABLE.iter().map(|function| function.name).collect();
    assert!(names.is_sorted_by(|one, other| one < other));
}

#[test]
fn tools_have_their_functions() {
    let has = |name: &str, tool: Tools| Function::find(name, tool).is_some();
    let found = |name: &str| [Tools::TERRAFORM, Tools::OPENTOFU, Tools::TERRAGRUNT].map(|tool| has(name, tool));
    assert_eq!(found("join"), [true, true, true]);
    assert_eq!(found("core::join"), [true, true, false]);
    assert_eq!(found("urldecode"), [false, true, false]);
    assert_eq!(found("convert"), [true, true, false]);
    assert_eq!(found("nothing"), [false, false, false]);
}

#[test]
fn functions_of_opentofu_have_its_values() {
    assert_eq!(call("urldecode", vec![Value::text("a%20b+c%C3%A9")]), Ok(Value::text("a b cé")));
    assert!(call("urldecode", vec![Value::text("%zz")]).unwrap().unknown_part().is_some());
}

#[test]
fn failures_name_the_function_and_the_argument() {
    let error = |name: &str, arguments: Vec<Value>| match call(name, arguments) {
        Ok(value) => format!("unknown: {}", value.unknown_part().unwrap()),
        Err(failure) => Unevaluated::from(failure).to_string(),
    };
    assert_eq!(error("upper", vec![]), "unknown: it depends on upper() of 0 arguments");
    assert_eq!(error("upper", vec![Value::Null(Type::Dynamic)]), "the argument \"str\" of upper() is null");
    let wrong = error("upper", vec![words(&[])]);
    assert!(wrong.starts_with("the argument \"str\" of upper() is wrong: ") && wrong.ends_with(" tuple"), "{wrong}");
    let none = vec![Value::text("b"), Value::text("a")];
    assert_eq!(error("regex", none), "regex() fails: the expression matches no part of the text");
    assert_eq!(error("element", vec![words(&[]), number("0")]), "unknown: it depends on element() of an empty list");
}

#[test]
fn unknown_arguments_make_unknown_values() {
    let unknown = || Value::unknown(Unevaluated::Unset("x".to_owned()));
    assert_eq!(call("upper", vec![unknown()]), Ok(unknown()));
    let list = Value::tuple(vec![unknown(), Value::text("a")]);
    assert_eq!(call("length", vec![list.clone()]), Ok(Value::count(2)));
    assert_eq!(call("element", vec![list.clone(), number("1")]), Ok(Value::text("a")));
    assert!(call("join", vec![Value::text(","), list]).unwrap().unknown_part().is_some());
}

/// Each ends with a limit or an error, and none makes a value of its size first.
#[test]
fn sizes_are_bounded() {
    let long = Value::text("a".repeat(1 << 20));
    let list = Value::tuple(vec![long.clone(); 100]);
    let calls = [
        ("range", vec![number("1e9")]),
        ("indent", vec![number("1e9"), Value::text("a\nb")]),
        ("format", vec![Value::text("%999999999d"), number("1")]),
        ("format", vec![Value::text("%-999999s"), number("1")]),
        ("join", vec![long.clone(), list]),
        ("replace", vec![long.clone(), Value::text(""), long.clone()]),
        ("replace", vec![long.clone(), Value::text("/a/"), Value::text("$0".repeat(1000))]),
        ("regex", vec![long.clone(), Value::text("a")]),
        ("regex", vec![Value::text("((a{100}){100}){100}"), Value::text("a")]),
        ("tonumber", vec![Value::text("9".repeat(1 << 20))]),
        ("jsondecode", vec![Value::text("[".repeat(1 << 20))]),
        ("yamldecode", vec![Value::text("[".repeat(1 << 12))]),
    ];
    for (name, arguments) in calls {
        let result = call(name, arguments);
        let is_value = result.is_ok_and(|value| value.unknown_part().is_none());
        assert!(!is_value, "{name}");
    }
    let mut doubled: Result<Value, Failure> = Ok(Value::text("ab"));
    let budget = Budget::default();
    for _ in 0..60 {
        doubled = doubled.and_then(|text| {
            let row = Function::find("join", Tools::ALL).unwrap();
            row.call(vec![Value::text(""), Value::tuple(vec![text.clone(), text])], &budget)
        });
    }
    assert!(doubled.unwrap().unknown_part().unwrap().to_string().contains("64 MB"));
}

#[test]
fn aliases_count_as_often_as_they_are_used() {
    let mut yaml = String::from("a0: &a0 [x, x]\n");
    for level in 1..60 {
        let before = level - 1;
        yaml.extend([format!("a{level}: &a{level} [*a{before}, *a{before}]\n")]);
    }
    let decoded = call("yamldecode", vec![Value::text(yaml)]).unwrap();
    assert!(decoded.unknown_part().unwrap().to_string().contains("64 MB"));
}
