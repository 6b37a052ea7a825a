use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> NodeKind {
    Node::parse(text, 0..text.len()).unwrap_or_else(|error| panic!("{text}: {error:?}")).kind
}

fn template(text: &str) -> NodeKind {
    Node::parse_template(text, 0).unwrap().kind
}

fn text(text: &str) -> NodeKind {
    NodeKind::Text(text.to_owned())
}

/// An expression with all its parentheses, for comparing trees.
fn shape(node: &Node) -> String {
    let all = |nodes: &[Node]| nodes.iter().map(shape).collect::<Vec<_>>().join(" ");
    match &node.kind {
        NodeKind::Null => "null".to_owned(),
        NodeKind::Bool(value) => value.to_string(),
        NodeKind::Number(text) => text.to_string(),
        NodeKind::Text(text) => format!("{text:?}"),
        NodeKind::Template(parts) => format!("(str {})", all(parts)),
        NodeKind::Wrapped(inner) => format!("${{{}}}", shape(inner)),
        NodeKind::Name(name) => name.clone(),
        NodeKind::Traversal(root, steps) => format!("(get {}{})", shape(root), steps_shape(steps)),
        NodeKind::Call(call) => {
            let dots = if call.is_expanded { "..." } else { "" };
            format!("({} {}{dots})", call.name, all(&call.arguments))
        }
        NodeKind::Conditional(parts) => format!("(if {})", all(&parts[..])),
        NodeKind::Negation(operand) => format!("(- {})", shape(operand)),
        NodeKind::Not(operand) => format!("(! {})", shape(operand)),
        NodeKind::Operation(first, others) => {
            let others = others.iter().map(|(operator, node)| format!(" {operator:?} {}", shape(node)));
            format!("({}{})", shape(first), others.collect::<String>())
        }
        NodeKind::Tuple(items) => format!("[{}]", all(items)),
        NodeKind::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{}={}", shape(key), shape(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(" "))
        }
        NodeKind::For(each) | NodeKind::Join(each) => {
            let names = each.key_name.iter().chain([&each.value_name]).cloned().collect::<Vec<_>>().join(",");
            let key = each.key.as_ref().map(|key| format!(" {} =>", shape(key))).unwrap_or_default();
            let condition = each.condition.as_ref().map(|node| format!(" if {}", shape(node))).unwrap_or_default();
            let (collection, value) = (shape(&each.collection), shape(&each.value));
            format!("(for {names} {collection}:{key} {value}{}{condition})", if each.is_grouped { "..." } else { "" })
        }
    }
}

fn steps_shape(steps: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Name(name) => format!(" .{name}"),
        Step::Index(key) => format!(" [{}]", shape(key)),
        Step::Splat(steps) => format!(" (*{})", steps_shape(steps)),
    };
    steps.iter().map(step).collect()
}

#[test]
fn trees_follow_the_grammar() {
    for (written, expected) in [
        ("1 + 2 * 3 - -4 % 3", "(1 Add (2 Multiply 3) Subtract ((- 4) Modulo 3))"),
        ("a || b && c == d", "(a Or (b And (c Equal d)))"),
        ("a >= 1 != b < 2", "((a GreaterOrEqual 1) NotEqual (b Less 2))"),
        ("!a.b == false", "((! (get a .b)) Equal false)"),
        ("-l[1][0]", "(- (get l [1] [0]))"),
        ("a ? 1 : b ? 2 : 3", "(if a 1 (if b 2 3))"),
        ("(a + 1) * 2", "((a Add 1) Multiply 2)"),
        ("a.0.b[\"c\"].d", "(get a [0] .b [\"c\"] .d)"),
        ("a[*].b[0].c", "(get a (* .b [0] .c))"),
        ("a.*.b[0].c", "(get a (* .b) [0] .c)"),
        ("a[*].b[*].c", "(get a (* .b (* .c)))"),
        ("f(1, x...)", "(f 1 x...)"),
        ("f(\n  1,\n  2,\n)", "(f 1 2)"),
        ("provider::p::f()", "(provider::p::f )"),
        ("[for k, v in m : v if v != null]", "(for k,v m: v if (v NotEqual null))"),
        ("{for k in m : k.x => k...}", "(for k m: (get k .x) => k...)"),
        ("{ a = 1, \"b\" : 2\n (c) = 3\n null = 4 }", "{\"a\"=1 \"b\"=2 ${c}=3 \"null\"=4}"),
        ("{ a.b = 1, (a.b) = 2 }", "{(get a .b)=1 ${(get a .b)}=2}"),
        ("{ a = 1, a = 2 }", "{\"a\"=1 \"a\"=2}"),
        ("[1, # one\n 2 /* two */,\n]", "[1 2]"),
        ("\"a${b}c\"", "(str \"a\" ${b} \"c\")"),
        ("\"${b}\"", "${b}"),
        ("\"%{ if a }x%{ else }y%{ endif }\"", "(str (if a \"x\" \"y\"))"),
        ("\"%{ for k, v in m }${v}%{ endfor }.\"", "(str (for k,v m: (str ${v})) \".\")"),
        ("\"%{ if a }\\\"q\\\\%{ endif }\"", "(str (if a \"\\\"q\\\\\" \"\"))"),
        ("\"${{ a = \"}\" }.a}\"", "${(get {\"a\"=\"}\"} .a)}"),
        ("é-1", "é-1"),
        ("1.5e+3", "1.5e+3"),
        ("null", "null"),
    ] {
        assert_eq!(shape(&Node::parse(written, 0..written.len()).unwrap()), expected, "{written}");
    }
}

#[test]
fn strings_lose_their_escapes() {
    for (written, expected) in [
        ("\"a\\\"\\u00e9$${\"", "a\"é${"),
        ("\"$$${1}%%{$%\"", "$${1}%{$%"),
        ("\"\\\\n\\n\\t\\r\\U0001F600\\\\\"", "\\n\n\t\r\u{1f600}\\"),
        ("\"e\u{301}\"", "é"),
        ("\"\"", ""),
        ("<<E\na \\n $${b}\r\n  E\n", "a \\n ${b}\r\n"),
        ("<<E\nE", ""),
        ("<<-E\n      x\n    y\n\n      z\n    E", "  x\ny\n\n  z\n"),
    ] {
        assert_eq!(parse(written), text(expected), "{written:?}");
    }
    assert_eq!(template("a\\n$${b}\n"), text("a\\n$${b}\n".replace("$$", "$").as_str()));
    assert_eq!(template("a\n"), text("a\n"));
}

/// Each line of a heredoc is a literal of its own, so a mark strips no more than its line.
#[test]
fn marks_strip_the_white_space_next_to_them() {
    for (written, expected) in [
        ("\"a ${~ b ~} \\t c\"", "(str \"a\" ${b} \"c\")"),
        ("\"a ${~ b } c\"", "(str \"a\" ${b} \" c\")"),
        ("\"a ${b ~}${ c } d\"", "(str \"a \" ${b} ${c} \" d\")"),
        ("<<E\na\n${~ b ~}\n c\nE", "(str \"a\" ${b} \" c\\n\")"),
        ("<<E\na\n  ${~ b ~}  \n c\nE", "(str \"a\\n\" ${b} \" c\\n\")"),
        (
            "<<-E\n      x\n    %{ if a ~}\n    y\n    %{ endif ~}\n      z\n    E",
            "(str \"  x\\n\" (if a \"    y\\n\" \"\") \"      z\\n\")",
        ),
    ] {
        assert_eq!(shape(&Node::parse(written, 0..written.len()).unwrap()), expected, "{written}");
    }
}

/// Ways to write a mark behind which configuration stands, of which all white space but that of one line stays: seen with
/// Terraform 1.11.4. A string in quotes has no line of its own to end at.
#[test]
fn marks_in_files_strip_one_line() {
    for (written, expected) in [
        ("# ${a ~}\n\nprovider", "(str \"# \" ${a} \"\" \"\\n\" \"provider\")"),
        ("# ${a ~}\nprovider", "(str \"# \" ${a} \"\" \"provider\")"),
        ("# ${a ~} \t\n \nprovider", "(str \"# \" ${a} \"\" \" \\n\" \"provider\")"),
        ("# ${a ~}\r\n\r\nprovider", "(str \"# \" ${a} \"\" \"\\r\\n\" \"provider\")"),
        ("# ${a ~}\n${b ~}\nc", "(str \"# \" ${a} \"\" ${b} \"\" \"c\")"),
        ("a\n\n  ${~ b}", "(str \"a\\n\" \"\\n\" \"\" ${b})"),
        ("a\n\n${~ b}", "(str \"a\\n\" \"\" ${b})"),
        ("a \n${~ b}", "(str \"a\" ${b})"),
        ("%{ if a ~}\n\nb\n%{ endif ~}\n\nc", "(str (if a \"\\nb\\n\" \"\") \"\" \"\\n\" \"c\")"),
        ("%{ if a }\n%{~ else ~}\n\nb%{ endif }", "(str (if a \"\" \"\\nb\"))"),
        ("%{ for x in a ~}\n\n${x}\n%{ endfor ~}", "(str (for x a: (str \"\" \"\\n\" ${x} \"\\n\")))"),
        ("%{~ for x in a ~}\n${x}%{~ endfor ~}\n", "(str (for x a: (str \"\" ${x})) \"\")"),
        ("$${a ~}\n\nb", "\"${a ~}\\n\\nb\""),
        ("# $${x}${a ~}\n\nb", "(str \"# ${x}\" ${a} \"\" \"\\n\" \"b\")"),
        ("#${a ~}\u{b}\n\nb", "(str \"#\" ${a} \"\" \"\\n\" \"b\")"),
        ("#${a ~}\u{2028}\nb", "(str \"#\" ${a} \"\" \"b\")"),
        ("\n\n${~ a ~}\n\n", "(str \"\\n\" \"\" ${a} \"\" \"\\n\")"),
        ("${a ~}", "${a}"),
        ("${a ~}\n", "(str ${a} \"\")"),
        ("a%{ if b ~}\n%{ endif ~}\n\nc", "(str \"a\" (if b \"\" \"\") \"\" \"\\n\" \"c\")"),
    ] {
        assert_eq!(
            without_empty(&shape(&Node::parse_template(written, 0).unwrap())),
            without_empty(expected),
            "{written:?}"
        );
    }
    for (written, expected) in [
        ("\"# ${a ~}\\n\\nb\"", "(str \"# \" ${a} \"b\")"),
        ("<<E\n# ${a ~}\n\nb\nE", "(str \"# \" ${a} \"\" \"\\n\" \"b\\n\")"),
    ] {
        let node = Node::parse(written, 0..written.len()).unwrap();
        assert_eq!(without_empty(&shape(&node)), without_empty(expected), "{written:?}");
    }
    assert!(Node::parse("\"a\nb\"", 0..5).is_err());
}

/// Literals next to each other are one, in the tree or not, and empty ones are none.
fn without_empty(shape: &str) -> String {
    shape.replace("\" \"", "")
}

#[test]
fn references_are_names_and_steps() {
    let reference = |text: &str| {
        let node = Node::parse(text, 0..text.len()).unwrap();
        node.as_reference().map(|(name, steps)| format!("{name}{}", steps_shape(steps)))
    };
    assert_eq!(reference("a.b[0]").as_deref(), Some("a .b [0]"));
    assert_eq!((reference("null.x").as_deref(), reference("null").as_deref()), (Some("null .x"), Some("null")));
    assert_eq!((reference("f(a)"), reference("\"${a}\""), reference("f().x")), (None, None, None));
}

#[test]
fn errors_have_their_place() {
    for (text, at) in [
        ("= 1", 0),
        ("1 +", 3),
        ("{ a = }", 6),
        ("{ a = 1 b = 2 }", 8),
        ("[1 2]", 3),
        ("f(1 2)", 4),
        ("a ? b", 5),
        ("a.0.0 b", 5),
        ("[[1]].0.0", 9),
        ("\"${a\"", 4),
        ("\"\\q\"", 1),
        ("\"%{ if a }\"", 11),
        ("\"%{ else }\"", 11),
        ("\"%{ what }\"", 8),
        ("<<E\na", 5),
        ("[for x in a => x]", 12),
        ("a::b", 4),
        ("/* a", 0),
        ("", 0),
    ] {
        let error = Node::parse(text, 0..text.len()).unwrap_err();
        assert_eq!((error.kind, error.at), (SyntaxErrorKind::Invalid, at), "{text}");
    }
    assert_eq!(Node::parse("x = { a = }", 4..11).unwrap_err().at, 10);
}

#[test]
fn texts_of_any_size_are_bounded() {
    let error = |text: String| Node::parse(&text, 0..text.len()).unwrap_err().kind;
    for (open, times) in
        [("[", 20_000), ("(", 20_000), ("-", 20_000), ("a[", 20_000), ("\"${", 20_000), ("a ? ", 20_000)]
    {
        assert_eq!(error(open.repeat(times)), SyntaxErrorKind::TooDeep, "{open}");
    }
    assert_eq!(error(format!("[{}]", "1,".repeat(2 * PARTS))), SyntaxErrorKind::TooLarge);
    // What has no levels is a list.
    for long in ["a".to_owned() + &".b".repeat(100_000), "1".to_owned() + &" + 1".repeat(100_000)] {
        assert!(Node::parse(&long, 0..long.len()).is_ok());
    }
}

proptest! {
    /// Whatever a text is, it has a tree or an error at a place in it.
    #[test]
    fn every_text_has_a_tree_or_an_error(text in "[a\\[\\](){}\"$%~.*,:=?!<>+\\-0-9\nE #/\\\\é]{0,40}|<<-?E\n[ a${}~\n]{0,20}\nE") {
        if let Err(error) = Node::parse(&text, 0..text.len()) {
            prop_assert!(error.at <= text.len() && text.is_char_boundary(error.at));
        }
        let _ = Node::parse_template(&text, 0);
    }
}
