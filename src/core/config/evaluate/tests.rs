use std::path::{Path, PathBuf};

use super::*;
use crate::config::{SourceFile, Text, VariableFile};

fn module(name: &str, text: &str, dialect: Dialect) -> Rc<Module> {
    let file = SourceFile { path: PathBuf::from(name), text: text.to_owned() };
    Rc::new(Module::decode(&[file], &[], dialect).unwrap())
}

fn surroundings() -> Surroundings {
    Surroundings { directory: "/work/app".to_owned(), ..Surroundings::new(Dialect::OpenTofu) }
}

/// Surroundings with a file of variables.
fn values(text: &str) -> Surroundings {
    let mut values = VariableValues::default();
    values.set_all(&VariableFile::decode(Path::new("x.tfvars"), text).unwrap());
    Surroundings { variables: Some(values), ..surroundings() }
}

/// Surroundings with the value of one variable in the environment or on the command line.
fn given(name: &str, text: &str) -> Surroundings {
    let mut values = VariableValues::default();
    values.set(name, text);
    Surroundings { variables: Some(values), ..surroundings() }
}

fn root(text: &str) -> Rc<ModuleScope> {
    let module = module("main.tofu", text, Dialect::OpenTofu);
    Rc::new(ModuleScope { module, directory: Some(".".to_owned()), inputs: Inputs::Root })
}

fn child(from: &Rc<ModuleScope>, call: &str, text: &str) -> Rc<ModuleScope> {
    let module = module(&format!("{call}/main.tofu"), text, Dialect::OpenTofu);
    Rc::new(ModuleScope {
        module,
        directory: Some(call.to_owned()),
        inputs: Inputs::Call(Rc::clone(from), call.to_owned()),
    })
}

/// The value of the source of the call `x`, or why there is none.
fn source(scope: &ModuleScope, surroundings: &Surroundings) -> Result<String, String> {
    match &scope.module.calls["x"].source.as_ref().unwrap().text {
        Text::Known(text) => Ok(text.clone()),
        Text::Expression(node) => scope.evaluate(node, surroundings).map_err(|problem| problem.to_string()),
    }
}

/// The same in a root module with one call.
fn evaluated(declared: &str, written: &str, surroundings: &Surroundings) -> Result<String, String> {
    source(&root(&format!("{declared}\nmodule \"x\" {{\n  source = {written}\n}}\n")), surroundings)
}

#[test]
fn strings_are_made_of_values() {
    let declared = "variable \"a\" {\n  default = \"x\"\n}\nlocals {\n  l = \"${var.a}/z\"\n  n = 1.50\n  m = { k = [\"p\", local.l], (var.a) = \"q\", f = upper(\"x\") }\n}\n";
    for (written, expected) in [
        ("var.a", "x"),
        ("\"./${local.l}\"", "./x/z"),
        ("\"${local.n}-${true}\"", "1.5-true"),
        ("local.m.k[1]", "x/z"),
        ("local.m[\"x\"]", "q"),
        ("local.m[var.a]", "q"),
        ("\"a ${~ local.m.k.0 ~} b\"", "apb"),
        ("\"${path.module}/${path.root}\"", "./."),
        ("path.cwd", "/work/app"),
        ("\"${terraform.workspace}-${tofu.workspace}\"", "default-default"),
        ("\"${\"${var.a}\"}$${var.a}\"", "x${var.a}"),
        ("<<-EOT\n    ./${var.a}\n    EOT", "./x\n"),
    ] {
        assert_eq!(evaluated(declared, written, &surroundings()).as_deref(), Ok(expected), "{written}");
    }
}

#[test]
fn json_is_evaluated_alike() {
    let text = r#"{"variable": {"a": {"default": "${x}", "type": "string"}}, "locals": {"l": "${var.a}/z", "m": {"k": ["${local.l}"]}},
        "module": {"x": {"source": "./${local.m.k[0]}"}}}"#;
    let module = module("main.tofu.json", text, Dialect::OpenTofu);
    let scope = ModuleScope { module, directory: None, inputs: Inputs::Root };
    // A default has no references: its text is plain.
    assert_eq!(source(&scope, &surroundings()).as_deref(), Ok("./${x}/z"));
}

#[test]
fn values_have_the_types_of_their_variables() {
    let declared = |rest: &str| format!("variable \"f\" {{\n{rest}\n}}\n");
    for (variable, surroundings, expected) in [
        ("type = number", values("f = \"01\""), Ok("1")),
        ("type = number", values("f = 01"), Ok("1")),
        ("type = number", given("f", "01"), Ok("1")),
        ("type = number\ndefault = \"1e2\"", surroundings(), Ok("100")),
        ("type = number", values("f = \"a\""), Err("the value of var.f is not a number (x.tfvars:1:5)")),
        ("type = bool", values("f = \"1\""), Ok("true")),
        ("type = bool", given("f", "0"), Ok("false")),
        ("type = bool", values("f = 1"), Err("the value of var.f is not a bool (x.tfvars:1:5)")),
        ("type = string", values("f = 01"), Ok("1")),
        ("type = string", given("f", "\"a\""), Ok("\"a\"")),
        ("", given("f", "\"a\""), Ok("\"a\"")),
        ("type = any", given("f", "\"a\""), Ok("a")),
        ("type = any", given("f", "a"), Err("a constant refers to another value")),
        ("type = any", values("f = \"01\""), Ok("01")),
        ("default = \"a\"\nnullable = false", values("f = null"), Ok("a")),
        ("default = \"a\"", values("f = null"), Err("it is null")),
        ("nullable = false", values("f = null"), Err("it depends on var.f, which has no value")),
        ("default = null", surroundings(), Err("it is null")),
        (
            "default = \"a\"\nsensitive = true",
            surroundings(),
            Err("it depends on var.f, which is sensitive (main.tofu:1:1)"),
        ),
        (
            "default = \"a\"\nephemeral = true",
            surroundings(),
            Err("it depends on var.f, which is ephemeral (main.tofu:1:1)"),
        ),
        ("default = \"a\"\nsensitive = false", surroundings(), Ok("a")),
        ("type = strnig", values("f = 1"), Err("it depends on var.f, whose type cannot be read here (main.tofu:1:1)")),
        ("type = list(string)", values("f = [1]"), Err("it is not a string (x.tfvars:1:5)")),
    ] {
        let found = evaluated(&declared(variable), "var.f", &surroundings);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{variable}");
    }
    for (kind, value, written, expected) in [
        ("map(number)", "{ a = \"01\" }", "var.f.a", "1"),
        ("map(string)", "{ a = true }", "var.f[\"a\"]", "true"),
        ("list(object({ s = string, o = optional(bool) }))", "[{ s = 2.0 }]", "var.f[0].s", "2"),
        ("map(any)", "{ a = [\"b\"] }", "var.f.a[0]", "b"),
        ("any", "{ a = [\"b\"] }", "var.f.a[0]", "b"),
    ] {
        for surroundings in [values(&format!("f = {value}")), given("f", value)] {
            let found = evaluated(&declared(&format!("type = {kind}")), written, &surroundings);
            assert_eq!(found.as_deref(), Ok(expected), "{kind}");
        }
    }
}

#[test]
fn calls_set_the_variables_of_their_module() {
    let top = root(
        "variable \"env\" {\n  default = \"dev\"\n}\nlocals {\n  where = \"eu-${var.env}\"\n}\nmodule \"c\" {\n  source = \"./c\"\n  k = local.where\n  object = { a = { b = var.env } }\n  number = \"02\"\n  none = null\n  here = path.module\n  made = upper(\"x\")\n}\n",
    );
    let variable = |name: &str, rest: &str| format!("variable \"{name}\" {{\n{rest}\n}}\n");
    let middle_text = variable("k", "")
        + &variable("object", "type = any")
        + "module \"d\" {\n  source = \"./d\"\n  k = \"${var.k}!\"\n  b = var.object.a.b\n}\n";
    let middle = child(&top, "c", &middle_text);
    let bottom_text = variable("k", "")
        + &variable("b", "")
        + "module \"x\" {\n  source = \"./${var.k}/${var.b}/${path.module}\"\n}\n";
    let bottom = child(&middle, "d", &bottom_text);
    assert_eq!(source(&bottom, &surroundings()).as_deref(), Ok("./eu-dev!/dev/d"));
    assert_eq!(source(&bottom, &given("env", "prod")).as_deref(), Ok("./eu-prod!/prod/d"));
    // Only the root module is set from outside.
    assert_eq!(source(&bottom, &given("k", "other")).as_deref(), Ok("./eu-dev!/dev/d"));
    for (name, rest, expected) in [
        ("number", "type = number", Ok("2")),
        ("none", "default = \"d\"\nnullable = false", Ok("d")),
        ("none", "default = \"d\"", Err("it is null (main.tofu:12:10)")),
        ("here", "", Ok(".")),
        ("made", "", Err("it depends on a function call (main.tofu:14:10)")),
        ("other", "default = \"d\"", Ok("d")),
        ("other", "", Err("it depends on var.other, which no caller sets (c/main.tofu:1:1)")),
        ("k", "sensitive = true", Err("it depends on var.k, which is sensitive (c/main.tofu:1:1)")),
    ] {
        let text = format!("{}module \"x\" {{\n  source = \"${{var.{name}}}\"\n}}\n", variable(name, rest));
        let found = source(&child(&top, "c", &text), &surroundings());
        // A null in a string is an error of the string.
        let expected = if name == "none" { expected.map_err(|_| "a part of it is null") } else { expected };
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{name}");
    }
}

#[test]
fn what_has_no_value_is_named() {
    let declared = "variable \"n\" {\n}\nlocals {\n  r = local.r\n  f = \"${upper(\"x\")}\"\n  c = true ? \"a\" : \"b\"\n  o = {}\n  d1 = \"${local.d2}${local.d2}\"\n  d2 = \"${local.d1}${local.d1}\"\n}\n";
    for (written, expected) in [
        ("var.n", "it depends on var.n, which has no value"),
        ("local.f", "it depends on a function call (main.tofu:5:7)"),
        ("\"./${local.c}\"", "it depends on a conditional expression (main.tofu:6:7)"),
        ("upper(\"x\")", "it depends on a function call"),
        ("\"a%{ if true }b%{ endif }\"", "it depends on a template directive"),
        ("1 + 1", "it depends on an operator"),
        ("local.o.x", "it depends on the key \"x\" of a value that does not have it (main.tofu:7:7)"),
        ("local.o", "it is not a string (main.tofu:7:7)"),
        ("local.r", "it depends on values that refer to each other too often (main.tofu:4:7)"),
        ("local.d1", "it depends on values that refer to each other too often (main.tofu:8:8)"),
        ("var.other", "it depends on var.other, which is not declared"),
        ("local.other", "it depends on local.other, which is not declared"),
        ("aws_x.y.z", "it depends on aws_x.y.z, and it can use only variables, local values, paths and the workspace"),
    ] {
        let found = evaluated(declared, written, &surroundings()).unwrap_err();
        assert!(found.starts_with(expected.split(" (").next().unwrap()), "{written}: {found}");
        if !written.starts_with("local.r") && !written.starts_with("local.d") {
            assert_eq!(found, expected, "{written}");
        }
    }
    let unread = Surroundings { variables: None, ..surroundings() };
    assert_eq!(
        evaluated(declared, "var.n", &unread),
        Err("it depends on var.n, and a file of variables has errors".into())
    );
    assert_eq!(evaluated(declared, "path.root", &unread).as_deref(), Ok("."));
}

#[test]
fn terraform_looks_at_constant_variables_only() {
    let text = |written: &str| {
        format!(
            "variable \"c\" {{\n  default = \"y\"\n  const = true\n}}\nvariable \"a\" {{\n  default = \"x\"\n}}\nmodule \"x\" {{\n  source = {written}\n}}\n"
        )
    };
    let surroundings = Surroundings { dialect: Dialect::Terraform, ..surroundings() };
    for (written, expected) in [
        ("var.c", Ok("y")),
        ("var.a", Err("it depends on var.a")),
        ("path.module", Err("it depends on path.module")),
        ("terraform.workspace", Err("it depends on terraform.workspace")),
    ] {
        let module = module("main.tf", &text(written), Dialect::Terraform);
        let scope = ModuleScope { module, directory: Some(".".to_owned()), inputs: Inputs::Root };
        let found = source(&scope, &surroundings);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{written}");
    }
}
