//! Generated configurations, and texts that are none.

use std::fmt::Write as _;
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::*;
use crate::config::edit::layout::align;

/// How one entry is written.
#[derive(Debug, Clone, Copy)]
enum Form {
    Lines,
    Inline,
    Legacy,
    Empty,
}

#[derive(Debug, Clone)]
struct Item {
    name: &'static str,
    form: Form,
    /// A line above.
    above: &'static str,
    /// Behind the entry, on its line.
    behind: &'static str,
}

const NAMES: [&str; 7] = ["aws", "azurerm", "c", "google", "longer-name", "random", "zebra"];
const NEW: [&str; 4] = ["aa", "dd", "extremely-long-name", "zz"];

fn items() -> impl Strategy<Value = Vec<Item>> {
    let form = prop_oneof![Just(Form::Lines), Just(Form::Inline), Just(Form::Legacy), Just(Form::Empty)];
    let above = prop::sample::select(vec!["", "", "", "\n", "# above", "\n# a\n\n/* b\n\nb */", "// apart\n"]);
    let behind = prop::sample::select(vec!["", "", " # behind = {", " // é behind", " /* in */"]);
    let names = prop_oneof![
        prop::sample::subsequence(&NAMES[..], 0..5),
        prop::sample::subsequence(&NAMES[..], 0..5).prop_shuffle()
    ];
    names.prop_flat_map(move |names| {
        let each = names.len();
        let forms = prop_oneof![
            prop::collection::vec(form.clone(), each),
            form.clone().prop_map(move |form| vec![form; each]),
        ];
        let above = prop_oneof![prop::collection::vec(above.clone(), each), Just(vec!["\n"; each])];
        let names = Just(names);
        (names, forms, above, prop::collection::vec(behind.clone(), each)).prop_map(|(names, forms, above, behind)| {
            let parts = names.into_iter().zip(forms).zip(above).zip(behind);
            parts.map(|(((name, form), above), behind)| Item { name, form, above, behind }).collect()
        })
    })
}

fn text(items: &[Item], before: &str, after: &str) -> String {
    let mut text = before.to_owned();
    for Item { name, form, above, behind } in items {
        for line in above.lines() {
            let _ = writeln!(text, "{}", format!("    {line}").trim_end());
        }
        let value = match form {
            Form::Lines => format!("{{ # {name}\n      source = \"acme/{name}\"\n      version = \"~> 1.0\"\n    }}"),
            Form::Inline => format!("{{ source = \"acme/{name}\", version = \">= 1.0\" }}"),
            Form::Legacy => "\"~> 2.0\"".to_owned(),
            Form::Empty => "{}".to_owned(),
        };
        let _ = writeln!(text, "    {name} = {value}{behind}");
    }
    text.push_str(after);
    align(&text, 0..text.len())
}

fn configuration() -> impl Strategy<Value = String> {
    let before = prop::sample::select(vec![
        "terraform {\n  required_providers {\n",
        "# é\nlocals {\n  a = <<EOT\n  required_providers {\nEOT\n}\n\nterraform {\n  required_version = \">= 1\" # x\n\n  required_providers { # y\n",
    ]);
    let after = prop::sample::select(vec![
        "  }\n}\n",
        "  }\n}",
        "    # the end\n  }\n  backend \"local\" {}\n}\n\noutput \"x\" {\n  value = \"}\"\n}\n",
        "\n  } # z\n}\n",
    ]);
    let line_break = prop::sample::select(vec!["\n", "\n", "\r\n"]);
    (items(), before, after, line_break)
        .prop_map(|(items, before, after, line_break)| text(&items, before, after).replace('\n', line_break))
}

fn file(name: &str, text: &str) -> Vec<SourceFile> {
    vec![SourceFile { path: PathBuf::from(name), text: text.to_owned() }]
}

fn request(name: &str, constraint: Option<&str>) -> AddRequest {
    let constraint = constraint.map(str::to_owned);
    AddRequest { name: Some(name.to_owned()), source: "forks/thing".to_owned(), constraint, replace: false }
}

fn thing() -> ProviderAddr {
    ProviderAddr::parse("forks/thing", Dialect::Terraform).unwrap()
}

/// Adds and takes out again; gives the text in between.
fn there_and_back(name: &str, text: &str, new: &str, constraint: Option<&str>) -> Result<String, TestCaseError> {
    let files = file(name, text);
    let edits = add(&files, Dialect::Terraform, &request(new, constraint));
    let edits = edits.map_err(|error| TestCaseError::fail(format!("{error:?}\n{text}")))?;
    let between = apply(&files, &edits);
    let back = remove(&between, Dialect::Terraform, &thing(), false).unwrap();
    let after = apply(&between, &back);
    if Module::decode(&files, &[], Dialect::Terraform).unwrap().required.is_empty() {
        // Nothing tells a block that was empty before from one that `add` wrote.
        let without_empty = |text: &str| {
            let text: String = text.split_whitespace().collect();
            text.replace("required_providers{}", "").replace("terraform{}", "")
        };
        prop_assert_eq!(without_empty(&after[0].text), without_empty(text), "in between:\n{}", between[0].text);
    } else {
        prop_assert_eq!(&after[0].text, text, "in between:\n{}", between[0].text);
    }
    Ok(between[0].text.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn removing_undoes_adding(
        text in configuration(),
        new in prop::sample::select(&NEW[..]),
        constraint in prop::option::of(Just("~> 1.2")),
    ) {
        there_and_back("main.tf", &text, new, constraint)?;
    }

    #[test]
    #[ignore = "long"]
    fn replacing_changes_the_entry_only(text in configuration(), constraint in prop::option::of(Just("= 7.0.0"))) {
        let files = file("main.tf", &text);
        let module = Module::decode(&files, &[], Dialect::Terraform).unwrap();
        for (name, required) in &module.required {
            for source in ["forks/thing".to_owned(), required.source.to_string()] {
                let mut request = request(name, constraint);
                (request.replace, request.source) = (true, source);
                let edits = add(&files, Dialect::Terraform, &request).unwrap();
                let after = apply(&files, &edits);
                // That it means what it should was seen to; here, that everything else is there still.
                let comments = |text: &str| text.matches(['#', 'é']).count() + text.matches("/*").count();
                prop_assert_eq!(comments(&after[0].text), comments(&text), "{}", after[0].text);
            }
        }
    }

    #[test]
    fn damaged_texts_are_refused_or_edited(
        text in configuration(),
        at in any::<prop::sample::Index>(),
        damage in "[{}\"=#/*<\n\r a,\\[\\]$\\\\é]{0,3}",
        length in 0usize..4,
    ) {
        let mut text = text;
        let start = text.floor_char_boundary(at.index(text.len()));
        let end = text.floor_char_boundary(text.len().min(start + length)).max(start);
        text.replace_range(start..end, &damage);
        let files = file("main.tf", &text);
        if let Ok(edits) = add(&files, Dialect::Terraform, &request("dd", Some("1.0"))) {
            let _ = remove(&apply(&files, &edits), Dialect::Terraform, &thing(), true);
        }
        let _ = add(&file("main.tf.json", &text), Dialect::OpenTofu, &request("dd", Some("1.0")));
        let acme = ProviderAddr::parse("acme/aws", Dialect::Terraform).unwrap();
        let _ = remove(&files, Dialect::Terraform, &acme, true);
    }

    #[test]
    fn no_text_makes_it_panic(text in "([{}\\[\\]\"=#/*<>,:\n\r \\\\$é]|terraform|required_providers|<<E|a){0,30}") {
        for name in ["main.tf", "main.tf.json"] {
            let _ = add(&file(name, &text), Dialect::OpenTofu, &request("dd", Some("1.0")));
            let _ = remove(&file(name, &text), Dialect::OpenTofu, &thing(), true);
        }
    }
}

/// Layouts that are allowed but not usual.
#[test]
fn unusual_layouts() {
    for text in [
        "terraform {\n  required_providers {\n    aws = ({ source : \"acme/aws\", \"version\" = \"1\", })\n  }\n}",
        "terraform {\n  required_providers { /* one */\n    aws /* two */ = <<EOT\n1.0\nEOT\n /* three\n */ }\n}",
        "terraform {\n  required_providers {\n    aws = {\n      version = <<-EOT\n        1.0\n      EOT\n    } /* x\n y */ # z\n  }\n}",
        "terraform {}\nterraform {\n  required_providers {\n\n\n    # a\n\n    aws = {}\n\n\n\n    # b\n\n  }\n}\nterraform {}",
        "terraform {\n\trequired_providers {\n  aws = {}\n\t\t\tzebra={}\n/* x */ } }",
        "terraform {\r\n  required_providers {\n    aws   = \"1\"\r\n    zebra = \"${\"1\"}\"\n  }\r\n}",
        "\u{feff}terraform {\n  required_providers {\n    aws = {}\n  }\n}",
        "terraform {\n  required_providers {\n    /* a\n    */ aws = {}\n    # b\n    /* c\n\n    */\n    zebra = {}\n  }\n}",
    ] {
        for new in NEW {
            if text.contains("} }") {
                assert!(add(&file("main.tf", text), Dialect::Terraform, &request(new, None)).is_err());
            } else {
                there_and_back("main.tf", text, new, Some("~> 1.2")).unwrap();
            }
        }
    }
    for (name, text) in [
        ("versions.tf", "\u{feff}"),
        ("versions.tf", "# only a comment"),
        ("versions.tf", "locals {}\r\n\r\n"),
        ("a.tf", "terraform { # x\n}"),
        ("a.tf", "terraform {\n  # x\n  /* y */ }"),
        ("a.tf", "terraform { /* y */ }"),
    ] {
        let edits = add(&file(name, text), Dialect::Terraform, &request("dd", None)).unwrap();
        assert_eq!(edits.len(), 1, "{text}");
        let files = apply(&file(name, text), &edits);
        let back = apply(&files, &remove(&files, Dialect::Terraform, &thing(), false).unwrap());
        assert!(Files::select(&back, Dialect::Terraform).decode().unwrap().required.is_empty());
    }
}

/// Of many generated configurations, those that `terraform fmt` wrote are left in a form that it is content with.
#[test]
#[ignore = "long"]
fn terraform_is_content_with_edits_of_what_it_formatted() {
    let directory = tempfile::tempdir().unwrap();
    let fmt = |arguments: &[&str]| {
        let mut command = Command::new("terraform");
        command.arg("fmt").args(arguments).arg(directory.path()).env("CHECKPOINT_DISABLE", "1");
        command.env_remove("TF_CLI_CONFIG_FILE").output()
    };
    let mut runner = TestRunner::deterministic();
    let texts: Vec<String> = (0..200).map(|_| configuration().new_tree(&mut runner).unwrap().current()).collect();
    let path = |index: usize| directory.path().join(format!("{index}.tf"));
    for (index, text) in texts.iter().enumerate() {
        std::fs::write(path(index), text).unwrap();
    }
    let Ok(formatted) = fmt(&[]) else {
        eprintln!("skipped: there is no terraform here");
        return;
    };
    assert!(formatted.status.success(), "{}", String::from_utf8_lossy(&formatted.stderr));
    for index in 0..texts.len() {
        let files = file("main.tf", &std::fs::read_to_string(path(index)).unwrap());
        let new = NEW[index % NEW.len()];
        let edits = add(&files, Dialect::Terraform, &request(new, Some("~> 1.2"))).unwrap();
        std::fs::write(path(index), &apply(&files, &edits)[0].text).unwrap();
    }
    let checked = fmt(&["-check", "-diff"]).unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
