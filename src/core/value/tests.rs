use super::*;

fn number(text: &str) -> Number {
    Number::parse(text).unwrap()
}

#[test]
fn numbers_have_the_digits_of_the_tools() {
    let third = "0.33333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333\
                 333333333333333333333333333333333333333333335";
    assert_eq!(number("1").divide(&number("3")).unwrap().to_string(), third);
    assert_eq!(Number::from(1).divide(&Number::from(3)).unwrap().to_string(), "0.33333333333333333334");
    assert_eq!(number("0.1").add(&number("0.2")).unwrap().to_string(), "0.3");
    for (text, shown) in
        [("1e21", "1000000000000000000000"), (".5", "0.5"), ("5.", "5"), ("-0", "-0"), ("1e-7", "0.0000001")]
    {
        assert_eq!(number(text).to_string(), shown, "{text}");
    }
    for text in ["", "-", ".", "1_0", "0x10", " 1", "1e", "e1", "1.2.3", "--1"] {
        assert!(Number::parse(text).is_err(), "{text}");
    }
    assert_eq!(number("-5.5").modulo(&number("3")).unwrap(), number("-2.5"));
}

#[test]
fn huge_numbers_are_a_limit() {
    assert!(matches!(Number::parse("1e999999999"), Err(Failure::Final(Unevaluated::Limit { .. }))));
    let mut product = number("1e900");
    assert!(matches!(product.multiply(&product), Err(Unevaluated::Limit { .. })));
    product = number("1e-900");
    assert!(matches!(product.multiply(&product), Err(Unevaluated::Limit { .. })));
}

#[test]
fn sets_have_the_order_of_the_tools() {
    let numbers = ["3", "20", "100"].map(|text| Value::Number(number(text)));
    let mixed = [vec![Value::Null(Type::Number)], numbers.to_vec()].concat();
    let set = Value::set(Type::Number, mixed);
    assert_eq!(set.elements().unwrap()[..3], numbers);
}

#[test]
fn tuples_become_lists_of_one_type() {
    let any = Type::list(Type::Dynamic);
    let tuple = Value::tuple(vec![Value::Null(Type::Dynamic), Value::text("a"), Value::count(1)]);
    let list = Value::list(Type::String, vec![Value::Null(Type::String), Value::text("a"), Value::text("1")]);
    assert_eq!(tuple.convert(&any), Ok(list));
    let object = |value: Value| Value::object([(Arc::from("a"), value)].into());
    assert!(Value::tuple(vec![Value::Null(Type::Dynamic), object(Value::count(1))]).convert(&any).is_err());
    assert!(Value::tuple(vec![Value::count(1), object(Value::count(1))]).convert(&any).is_err());
}

#[test]
fn the_most_general_type_is_preferred() {
    let list = Type::list(Type::Number);
    let tuple = Type::Tuple([Type::String, Type::Bool].into());
    assert_eq!(unify(&[list, tuple]), Some(Type::list(Type::String)));
    assert_eq!(unify(&[Type::Dynamic, Type::Number]), Some(Type::Number));
}

#[test]
fn one_unequal_part_decides() {
    let unknown = || Value::unknown(Unevaluated::limit("x"));
    let pair = |value: Value, text: &str| Value::tuple(vec![value, Value::text(text)]);
    assert_eq!(pair(unknown(), "a").equals(&pair(Value::text("x"), "b")), Ok(false));
    assert!(pair(unknown(), "a").equals(&pair(Value::text("x"), "a")).is_err());
}
