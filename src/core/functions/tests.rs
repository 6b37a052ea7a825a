use super::*;
use crate::value::Number;

fn call(name: &str, arguments: Vec<Value>) -> Result<Value, Unevaluated> {
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
    assert_eq!(found("cidrcontains"), [false, true, false]);
    assert_eq!(found("issensitive"), [true, true, false]);
    assert_eq!(found("timecmp"), [true, true, true]);
    assert_eq!(found("nothing"), [false, false, false]);
}

#[test]
fn functions_of_opentofu_have_its_values() {
    let gzip = "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==";
    assert_eq!(call("base64gunzip", vec![Value::text(gzip)]), Ok(Value::text("hello")));
    assert!(call("base64gunzip", vec![Value::text("aGVsbG8=")]).is_err());
    assert_eq!(call("urldecode", vec![Value::text("a%20b+c%C3%A9")]), Ok(Value::text("a b cé")));
    assert!(call("urldecode", vec![Value::text("%zz")]).is_err());
    let contains = |network: &str, inner: &str| call("cidrcontains", vec![Value::text(network), Value::text(inner)]);
    assert_eq!(contains("10.0.0.0/8", "10.2.0.0/16"), Ok(Value::Bool(true)));
    assert_eq!(contains("10.0.0.0/8", "11.0.0.1"), Ok(Value::Bool(false)));
    assert!(contains("10.0.0.0/8", "::1").is_err());
}

#[test]
fn what_only_the_tool_computes_is_unknown_by_name() {
    for name in ["file", "timestamp", "uuid", "bcrypt", "templatefile", "sensitive", "base64gzip"] {
        let value = call(name, vec![Value::text("x")]).unwrap();
        assert_eq!(value.unknown_part().unwrap().to_string(), format!("it depends on {name}()"));
    }
}

#[test]
fn errors_name_the_function_and_the_argument() {
    let error = |name: &str, arguments: Vec<Value>| call(name, arguments).unwrap_err().to_string();
    assert_eq!(error("upper", vec![]), "upper() takes 1 argument, and 0 are given");
    assert_eq!(error("join", vec![]), "join() takes at least 1 argument, and 0 are given");
    assert_eq!(error("upper", vec![Value::Null(Type::Dynamic)]), "the argument \"str\" of upper() is null");
    let wrong = "the argument \"str\" of upper() is wrong: a string is required, and it is a tuple";
    assert_eq!(error("upper", vec![words(&[])]), wrong);
    assert_eq!(error("element", vec![words(&[]), number("0")]), "element() fails: the list is empty");
}

#[test]
fn unknown_arguments_make_unknown_values() {
    let unknown = || Value::unknown(Type::String, Unevaluated::Unset("x".to_owned()));
    assert_eq!(call("upper", vec![unknown()]), Ok(unknown()));
    let list = Value::tuple(vec![unknown(), Value::text("a")]);
    assert_eq!(call("length", vec![list.clone()]), Ok(Value::count(2)));
    assert_eq!(call("contains", vec![list.clone(), Value::text("a")]), Ok(Value::Bool(true)));
    assert!(call("join", vec![Value::text(","), list]).unwrap().unknown_part().is_some());
}

/// Each ends with a limit or an error, and none makes a value of its size first.
#[test]
fn sizes_are_bounded() {
    let long = Value::text("a".repeat(1 << 20));
    let list = Value::tuple(vec![long.clone(); 100]);
    let numbers = Value::tuple((0..10_000).map(Value::count).collect());
    let calls = [
        ("range", vec![number("1e9")]),
        ("indent", vec![number("1e9"), Value::text("a\nb")]),
        ("format", vec![Value::text("%999999999d"), number("1")]),
        ("format", vec![Value::text("%.999999999f"), number("1")]),
        ("join", vec![long.clone(), list]),
        ("replace", vec![long.clone(), Value::text(""), long.clone()]),
        ("replace", vec![long.clone(), Value::text("/a/"), Value::text("$0".repeat(1000))]),
        ("regex", vec![long.clone(), Value::text("a")]),
        ("regex", vec![Value::text("((a{100}){100}){100}"), Value::text("a")]),
        ("setproduct", vec![numbers.clone(), numbers.clone(), numbers.clone()]),
        ("parseint", vec![Value::text("9".repeat(1 << 20)), number("10")]),
        ("tonumber", vec![Value::text("9".repeat(1 << 20))]),
        ("jsondecode", vec![Value::text("[".repeat(1 << 20))]),
        ("yamldecode", vec![Value::text("[".repeat(1 << 12))]),
        ("pow", vec![number("10"), number("0.3")]),
    ];
    for (name, arguments) in calls {
        let result = call(name, arguments);
        let is_value = result.as_ref().is_ok_and(|value| value.unknown_part().is_none());
        assert!(!is_value, "{name}");
    }
    let mut doubled = Ok(Value::text("ab"));
    let budget = Budget::default();
    for _ in 0..60 {
        doubled = doubled.and_then(|text: Value| {
            let row = Function::find("join", Tools::ALL).unwrap();
            row.call(vec![Value::text(""), Value::tuple(vec![text.clone(), text])], &budget)
        });
    }
    assert!(matches!(doubled, Err(Unevaluated::Limit { .. })));
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
