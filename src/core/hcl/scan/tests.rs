use hcl_edit::structure::Structure;
use proptest::prelude::*;

use super::*;

fn scan(text: &str) -> Outline<'_> {
    match outline(text, 0..text.len()) {
        Ok(outline) => outline,
        Err(error) => panic!("{error:?} in {text:?}"),
    }
}

fn broken(text: &str) -> (usize, StructureError) {
    match outline(text, 0..text.len()) {
        Ok(outline) => panic!("{outline:?} from {text:?}"),
        Err(error) => (error.at, error.kind),
    }
}

fn values(text: &str) -> Vec<&str> {
    scan(text).arguments.iter().map(|argument| &text[argument.value.clone()]).collect()
}

#[test]
fn blocks_have_kinds_labels_and_bodies() {
    let text = "a \"b\" c {\n  x = 1\n}\n/* d { */ e {}\n# f {\nlocals { g = {} } // h {\n";
    let outline = scan(text);
    let blocks: Vec<_> = outline
        .blocks
        .iter()
        .map(|block| {
            let labels: Vec<_> = block.labels.iter().map(|label| label.raw).collect();
            (block.kind, labels, &text[block.body.clone()])
        })
        .collect();
    assert_eq!(blocks, [("a", vec!["b", "c"], "\n  x = 1\n"), ("e", vec![], ""), ("locals", vec![], " g = {} ")]);
}

#[test]
fn values_end_where_the_tools_end_them() {
    for (text, value) in [
        ("a = 1\n", "1"),
        ("a = 1", "1"),
        ("a=1 # c\n", "1"),
        ("a = 1 // c\n", "1"),
        ("a = 1 /* c */ # d\n", "1"),
        ("a = 1 /* c */ + 2 /* d */\n", "1 /* c */ + 2"),
        ("a = /* c */ b\r\n", "b"),
        ("a = b / c\n", "b / c"),
        ("a = [ # ]\n 1,\n]\n", "[ # ]\n 1,\n]"),
        ("a = { b = \"}\" } \n", "{ b = \"}\" }"),
        ("a = \"${ \"}\" }\" \n", "\"${ \"}\" }\""),
        ("a = \"$${\"\n", "\"$${\""),
        ("a = \"%{ if x }\\\"%{ endif }\"\n", "\"%{ if x }\\\"%{ endif }\""),
        ("a = \"\\\\\" # \"\n", "\"\\\\\""),
        ("a = 1 < 2 && b << c\n", "1 < 2 && b << c"),
        ("a = <<EOT\n}\nEOT\n", "<<EOT\n}\nEOT"),
    ] {
        assert_eq!(values(text), [value], "{text:?}");
    }
}

#[test]
fn heredocs_end_at_their_marker_only() {
    for text in [
        "a = <<-EOT\n    b\n    EOT\nc = 2\n",
        "a = <<EOT\r\nb\r\nEOT\r\nc = 2\r\n",
        "a = <<EOT\n${ f({ x = \"EOT\" }) } EOT\n EOTX\n  EOT  \nc = 2\n",
        "a = <<EOT\n${\nEOT\n}\n$${ %%{ \" ' #\nEOT\nc = 2\n",
        "a = <<EOT\n${ <<IN\nEOT\nIN\n}\nEOT\nc = 2\n",
        "a = [<<EOT\n]\nEOT\n]\nc = 2\n",
    ] {
        let names: Vec<_> = scan(text).arguments.iter().map(|argument| argument.name).collect();
        assert_eq!(names, ["a", "c"], "{text:?}");
    }
    assert_eq!(broken("a = <<EOT\nb\nEOT"), (4, StructureError::UnterminatedHeredoc));
}

#[test]
fn the_argument_provider_is_found_at_the_first_level_only() {
    let text = "resource \"a_b\" \"c\" {\n  d {\n    provider = no\n  }\n  e = { provider = no }\n  \
                provider = foo.bar # alias\n  s = \"provider = no\"\n}\nresource a_b c { provider = x }\n";
    let found: Vec<_> =
        scan(text).blocks.iter().map(|block| block.provider.clone().map(|range| &text[range])).collect();
    assert_eq!(found, [Some("foo.bar"), Some("x")]);
}

#[test]
fn broken_structure_is_named_at_its_place() {
    use StructureError as E;
    for (text, at, kind) in [
        ("a {\n b {\n", 5, E::UnclosedBlock),
        ("a {\n}\n}\n", 6, E::UnexpectedBracket('}')),
        ("a = (1\n", 4, E::UnclosedBracket('(')),
        ("a = (]\n", 5, E::UnexpectedBracket(']')),
        ("a = )\n", 4, E::UnexpectedBracket(')')),
        ("a = \"b", 4, E::UnterminatedString),
        ("a = \"b\nc\"\n", 6, E::NewlineInString),
        ("a = \"${b\"\n", 9, E::NewlineInString),
        ("/* a", 0, E::UnterminatedComment),
        ("= 1\n", 0, E::NotAnItem),
        ("\"a\" = 1\n", 0, E::QuotedName),
        ("a\n{\n}\n", 1, E::Header),
        ("a b = 1\n", 4, E::Header),
        ("a == 1\n", 2, E::Header),
        ("a \"${b}\" {\n}\n", 3, E::TemplateInLabel),
        ("a =\n", 3, E::MissingValue),
        ("a {\n b = 1 }\n", 11, E::MissingNewline("an argument definition")),
        ("a {\n} b {\n}\n", 6, E::MissingNewline("a block definition")),
        ("a { b {} }\n", 4, E::SingleLineBlock),
        ("a = 1, b = 2\n", 5, E::MissingNewline("an argument definition")),
        ("a = 1;\n", 5, E::Character(';')),
        ("a = f('x')\n", 6, E::Character('\'')),
        ("a = 1\rb = 2\n", 5, E::Character('\r')),
        ("a = 1\0\n", 5, E::Character('\0')),
        ("\u{a0}a = 1\n", 0, E::Character('\u{a0}')),
        ("a \u{201c}b\u{201d} {\n}\n", 2, E::Character('\u{201c}')),
        ("a = \"b\rc\"\n", 6, E::NewlineInString),
        ("a = <<E\nb\rc\nE\n", 9, E::Character('\r')),
    ] {
        assert_eq!(broken(text), (at, kind), "{text:?}");
    }
}

#[test]
fn a_body_can_be_scanned_again() {
    let text = "\u{feff}terraform {\n  required_providers {\n    a = {}\n  }\n}\n";
    let outer = scan(text);
    let inner = outline(text, outer.blocks[0].body.clone()).unwrap();
    assert_eq!(inner.blocks[0].kind, "required_providers");
    let entries = outline(text, inner.blocks[0].body.clone()).unwrap();
    assert_eq!(&text[entries.arguments[0].value.clone()], "{}");
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let deep = 200_000;
    let text = format!("a = {}{}\n", "[\"${".repeat(deep), "}\"]".repeat(deep));
    assert_eq!(scan(&text).arguments.len(), 1);
    let text = format!("{}{}", "a {\n".repeat(deep), "}\n".repeat(deep));
    assert_eq!(scan(&text).blocks.len(), 1);
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("var.a".to_owned()),
        Just("\"}\\\"{ # $${ \"".to_owned()),
        Just("\"${ \"}\" }/* ${ { a = \"b\" }.a } \"".to_owned()),
        Just("<<EOT\n a { ${ \"}\" }\n  EOTX\n EOT\n".to_owned()),
        Just("<<-EOT\n  a }\n  EOT\n".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            list.clone().prop_map(|items| format!("[{}]", items.join(", # ]\n"))),
            list.prop_map(|items| format!("f({})", items.join("\n,"))),
            inner.prop_map(|item| format!("{{\n  a = {item}\n /* }} */ }}")),
        ]
    })
}

fn body() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        value().prop_map(|value| format!("NAME = {}\n", value.trim_end())),
        Just("# { \"\n".to_owned()),
        Just("/* } \n */ // x\n\n".to_owned()),
        Just("one { x = {} }\n".to_owned()),
        Just("two \"l\" {}\r\n".to_owned()),
    ];
    let items = proptest::collection::vec(item, 0..4).prop_map(|items| {
        let numbered = items.iter().enumerate().map(|(at, item)| item.replacen("NAME", &format!("n{at}"), 1));
        numbered.collect::<String>()
    });
    items.prop_recursive(3, 12, 3, |inner| {
        let blocks = |bodies: Vec<String>| bodies.join("}\nb \"x\" y-z { # c\n");
        proptest::collection::vec(inner, 0..3)
            .prop_map(move |bodies| format!("b \"x\" y-z {{ # c\n{}}}\n", blocks(bodies)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_makes_it_panic(text in "(\\PC|[\"$%{}()\\[\\]#/*<>=\\\\\n\r\t ]|<<A\n|A\n|a |\"\\$\\{|%%\\{){0,40}") {
        let _ = outline(&text, 0..text.len());
    }

    #[test]
    fn it_finds_what_the_parser_finds(text in body()) {
        let found = scan(&text);
        let parsed: hcl_edit::structure::Body = text.parse().unwrap();
        let mut blocks = Vec::new();
        let mut arguments = Vec::new();
        for structure in &parsed {
            match structure {
                Structure::Block(block) => {
                    let labels: Vec<_> = block.labels.iter().map(|label| label.as_str().to_owned()).collect();
                    blocks.push((block.ident.as_str().to_owned(), labels));
                }
                Structure::Attribute(attribute) => arguments.push(attribute.key.as_str().to_owned()),
            }
        }
        let found_blocks: Vec<_> = found
            .blocks
            .iter()
            .map(|block| (block.kind.to_owned(), block.labels.iter().map(|label| label.raw.to_owned()).collect::<Vec<_>>()))
            .collect();
        let found_arguments: Vec<_> = found.arguments.iter().map(|argument| argument.name.to_owned()).collect();
        prop_assert_eq!(found_blocks, blocks);
        prop_assert_eq!(found_arguments, arguments);
        for argument in &found.arguments {
            let value = &text[argument.value.clone()];
            prop_assert!(value.starts_with("<<") || value.parse::<hcl_edit::expr::Expression>().is_ok(), "{value:?}");
        }
    }
}

/// Each of them passes `terraform fmt` 1.11.4.
#[test]
fn odd_texts_that_the_tools_accept_are_accepted() {
    for text in [
        "a = \"$$${b}\"\n",
        "a = \"$$$${b}\"\n",
        "a = \"$${b\"\n",
        "a = \"$$${b\"\n",
        "a = \"%%%{b}\"\n",
        "a = \"%%{b\"\n",
        "a = <<EOT\n$$${ x }\nEOT\n",
        "a = <<EOT\n$${ \nEOT\n",
        "a = <<EOT\n$$${ \nEOT\n",
        "a = <<EOT\n$\nEOT\n",
        "a = <<EOT\n$EOT\nEOT\n",
        "a = <<EOT\nx ${y}EOT\nEOT\n",
        "a = <<EOT\n${y}\nEOT\n",
        "a = <<EOT\n\tEOT \t\n",
        "a = <<-EOT\nEOT\r\n",
        "a = <<EOT\nEOT# c\nEOT\n",
        "a = <<E-T\nx\nE-T\n",
        "a = <<é\nx\né\n",
        "a = \"${\"${\"${b}\"}\"}\"\n",
        "a = \"${\n b\n}\"\n",
        "a = \"${ # }\n b }\"\n",
        "a = \"%{ if true }x%{ else }y%{ endif }\"\n",
        "a { /* x */ }\n",
        "a { # x\n}\n",
        "a {} # x\n",
        "a { b = 1 } # c\n",
        "a { b = { c = 1 } }\n",
        "a { b = [\n1\n] }\n",
        "a \"b\" c \"d\" {\n}\n",
        "a \"b\\\"c\" {\n}\n",
        "a \"$${b}\" {\n}\n",
        "a \"%\" {\n}\n",
        "a = {\n  b = 1 }\n",
        "a = { b = 1, }\n",
        "a = {\n\n}\n",
        "a = /* x\n */ 1\n",
        "a /* x\n */ = 1\n",
        "a = 1 /* x\n y */\nb = 2\n",
        "/* a */ b = 1\n",
        "/* a /* b */ c = 1\n",
        "a = 1 // x /* y\nb = 2\n",
        "a = \"// /* #\"\n",
        "/**/",
        "a {b=1}\n",
        "a{}\n",
        "a\"b\"{}\n",
        "a \"b\"c{}\n",
        "a = <<EOT\n${<<EOT\nx\nEOT\n}\nEOT\n",
        "a = \"${<<EOT\nx\nEOT\n}\"\n",
        "a = {\n b = <<EOT\nx\nEOT\n c = 1\n}\n",
        "a = f(<<EOT\nx\nEOT\n)\n",
        "a = \"%\"\n",
        "a = \"$\"\n",
        "a = \"$\"",
        "a = \"%{~ if x ~}${~ y ~}%{~ endif ~}\"\n",
        "a = \"$${\" # }\n",
        "a = \"${\"}\"}\"\n",
        "a = \"${{}}\"\n",
        "a = \"${{ b = \"}\" }}\"\n",
    ] {
        assert_eq!(outline(text, 0..text.len()).err(), None, "{text:?}");
    }
}

#[test]
fn what_is_not_code() {
    let pieces = |text: &'static str| -> Vec<&str> {
        hidden(text, 0..text.len()).into_iter().map(|piece| &text[piece.range]).collect()
    };
    let texts = "a \"b\" {\n c = \"d ${\"e\"} \\\" f\" // g\n}\n";
    assert_eq!(pieces(texts), ["b", "d ", "e", " ", "\\\"", " f", "// g"]);
    assert_eq!(pieces("a = <<E\n${\"b\" /* c */}\nE\nd = \"\"\n"), ["<<E\n${\"b\" /* c */}\nE"]);
    assert_eq!(pieces("/* a */ b = ]\n# c\n"), ["/* a */"]);
}
