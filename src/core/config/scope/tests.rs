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
    Surroundings { variables: values, ..surroundings() }
}

/// Surroundings with the value of one variable in the environment or on the command line.
fn given(name: &str, text: &str) -> Surroundings {
    let mut values = VariableValues::default();
    values.set(name, text);
    Surroundings { variables: values, ..surroundings() }
}

fn root(text: &str) -> Rc<ModuleScope> {
    let module = module("main.tofu", text, Dialect::OpenTofu);
    Rc::new(ModuleScope::new(module, Some(".".to_owned()), Inputs::Root))
}

fn child(from: &Rc<ModuleScope>, call: &str, text: &str) -> Rc<ModuleScope> {
    let module = module(&format!("{call}/main.tofu"), text, Dialect::OpenTofu);
    Rc::new(ModuleScope::new(module, Some(call.to_owned()), Inputs::Call(Rc::clone(from), call.to_owned())))
}

/// The value of the source of the call `x`, or why there is none.
fn source(scope: &ModuleScope, surroundings: &Surroundings) -> Result<String, String> {
    match &scope.module.calls["x"].source.as_ref().unwrap().text {
        Text::Known(text) => Ok(text.clone()),
        Text::Expression(expression) => match scope.evaluate(expression, Purpose::Source, surroundings) {
            Ok(text) => Ok(text.unwrap_or_else(|| "null".to_owned())),
            Err(problem) => Err(problem.to_string()),
        },
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
    let scope = ModuleScope::new(module, None, Inputs::Root);
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
        (
            "type = number",
            values("f = \"a\""),
            Err("the value of var.f does not have its type: a number is required (x.tfvars:1:5)"),
        ),
        ("type = bool", values("f = \"1\""), Ok("true")),
        ("type = bool", given("f", "0"), Ok("false")),
        (
            "type = bool",
            values("f = 1"),
            Err("the value of var.f does not have its type: a bool is required, and it is a number (x.tfvars:1:5)"),
        ),
        ("type = string", values("f = 01"), Ok("1")),
        ("type = string", given("f", "\"a\""), Ok("\"a\"")),
        ("", given("f", "\"a\""), Ok("\"a\"")),
        ("type = any", given("f", "\"a\""), Ok("a")),
        ("type = any", given("f", "a"), Err("what var.f is set to is not a constant expression (main.tofu:6:12)")),
        ("type = any", values("f = \"01\""), Ok("01")),
        ("default = \"a\"\nnullable = false", values("f = null"), Ok("a")),
        ("default = \"a\"", values("f = null"), Ok("null")),
        ("nullable = false", values("f = null"), Err("it depends on var.f, which has no value")),
        ("default = null", surroundings(), Ok("null")),
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
        ("type = list(string)", values("f = [1]"), Err("it is not a string")),
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
    let top = || {
        root(
            "variable \"env\" {\n  default = \"dev\"\n}\nlocals {\n  where = \"eu-${var.env}\"\n}\nmodule \"c\" {\n  source = \"./c\"\n  k = local.where\n  object = { a = { b = var.env } }\n  number = \"02\"\n  none = null\n  here = path.module\n  made = upper(\"x\")\n  read = file(\"x\")\n}\n",
        )
    };
    let variable = |name: &str, rest: &str| format!("variable \"{name}\" {{\n{rest}\n}}\n");
    let middle_text = variable("k", "")
        + &variable("object", "type = any")
        + "module \"d\" {\n  source = \"./d\"\n  k = \"${var.k}!\"\n  b = var.object.a.b\n}\n";
    let bottom_text = variable("k", "")
        + &variable("b", "")
        + "module \"x\" {\n  source = \"./${var.k}/${var.b}/${path.module}\"\n}\n";
    for (surroundings, expected) in [
        (surroundings(), "./eu-dev!/dev/d"),
        (given("env", "prod"), "./eu-prod!/prod/d"),
        // Only the root module is set from outside.
        (given("k", "other"), "./eu-dev!/dev/d"),
    ] {
        let bottom = child(&child(&top(), "c", &middle_text), "d", &bottom_text);
        assert_eq!(source(&bottom, &surroundings).as_deref(), Ok(expected));
    }
    for (name, rest, expected) in [
        ("number", "type = number", Ok("2")),
        ("none", "default = \"d\"\nnullable = false", Ok("d")),
        ("none", "default = \"d\"", Err("a part of a string is null (c/main.tofu:5:13)")),
        ("here", "", Ok(".")),
        ("made", "", Ok("X")),
        ("read", "", Err("it depends on file() (main.tofu:15:10)")),
        ("other", "default = \"d\"", Ok("d")),
        ("other", "", Err("it depends on var.other, which no caller sets (c/main.tofu:1:1)")),
        ("k", "sensitive = true", Err("it depends on var.k, which is sensitive (c/main.tofu:1:1)")),
    ] {
        let text = format!("{}module \"x\" {{\n  source = \"${{var.{name}}}-\"\n}}\n", variable(name, rest));
        let found = source(&child(&top(), "c", &text), &surroundings());
        let expected = expected.map(|text| format!("{text}-")).map_err(str::to_owned);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn what_has_no_value_is_named() {
    let declared = "variable \"n\" {\n}\nlocals {\n  r = local.s\n  f = \"${timestamp()}\"\n  c = true ? \"a\" : var.n\n  o = {}\n  s = [local.r]\n}\n";
    for (written, expected) in [
        ("var.n", Err("it depends on var.n, which has no value")),
        ("local.f", Err("it depends on timestamp() (main.tofu:5:10)")),
        ("\"./${local.c}\"", Ok("./a")),
        ("\"a%{ if false }${var.n}%{ endif }\"", Ok("a")),
        ("local.o.x", Err("a value of type object has no attribute \"x\" (main.tofu:12:12)")),
        ("local.o", Err("it is not a string")),
        ("local.r", Err("local.r refers to itself (main.tofu:8:8)")),
        ("var.other", Err("it depends on var.other, which is not declared (main.tofu:12:12)")),
        ("local.other", Err("it depends on local.other, which is not declared (main.tofu:12:12)")),
        (
            "aws_x.y.z",
            Err(
                "it depends on aws_x.y.z, and it can use only variables, local values, paths and the workspace (main.tofu:12:12)",
            ),
        ),
        (
            "try(aws_x.y.z, \"a\")",
            Err(
                "it depends on aws_x.y.z, and it can use only variables, local values, paths and the workspace (main.tofu:12:16)",
            ),
        ),
    ] {
        let found = evaluated(declared, written, &surroundings());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{written}");
    }
}

/// A chain of values is as deep from its end, whatever was evaluated before.
#[test]
#[ignore = "long"]
fn chains_of_values_are_bounded() {
    let locals = (1..100_000).map(|at| format!("  l{at} = [local.l{}]\n", at - 1)).collect::<Vec<_>>().concat();
    let text = format!("locals {{\n  l0 = \"a\"\n{locals}}}\nmodule \"x\" {{\n  source = local.l99999[0]\n}}\n");
    let scope = root(&text);
    let surroundings = surroundings();
    let names = ModuleNames { scope: &scope, surroundings: &surroundings, purpose: Purpose::Source };
    assert!(source(&scope, &surroundings).unwrap_err().contains("over more than 250 levels"));
    let known = (0..1000).filter(|at| names.local(&format!("l{at}")).is_ok()).count();
    assert!((50..250).contains(&known), "{known}");
}

/// Values that take little space, because they share their parts, and for ever to go through: 4 kB of configuration.
#[test]
#[ignore = "long"]
fn shared_values_are_as_large_as_what_they_share() {
    let doubled = |first: &str, next: &str| {
        let next = |at: usize| format!("  a{at} = {}\n", next.replace("LAST", &format!("local.a{}", at - 1)));
        format!("locals {{\n  a0 = {first}\n{}}}\n", (1..=60).map(next).collect::<Vec<_>>().concat())
    };
    let uses = [
        "contains(local.a60, 1)",
        "join(\",\", distinct(local.a60))",
        "length(toset(local.a60))",
        "length(concat(local.a60, local.a60))",
        "try(local.a60[9], \"\")",
        "can(local.a60) ? \"\" : \"\"",
        "format(\"%v\", local.a60)",
        "jsonencode(local.a60)",
        "yamlencode(local.a60)",
        "length(flatten(local.a60))",
        "local.a60 == local.a60 ? \"\" : \"\"",
        "jsonencode(true ? local.a60 : [])",
        "length([for x in local.a60 : x])",
        "length(local.a60[*])",
        "coalesce(local.a60)[0]",
        "element(local.a60, 1)",
        "reverse(local.a60)[0]",
        "slice(local.a60, 0, 1)[0]",
        "length(tolist(local.a60))",
        "\"${jsonencode({ a = local.a60 })}\"",
    ];
    let lists = [
        doubled("[1, 1]", "[LAST, LAST]"),
        doubled("[1, 1]", "concat(LAST, LAST)"),
        doubled("[[1]]", "[for x in [1, 2] : LAST]"),
    ];
    let texts = [
        (doubled("\"ab\"", "\"${LAST}${LAST}\""), "local.a60"),
        (doubled("\"ab\"", "join(LAST, [LAST, LAST])"), "local.a60"),
        (doubled("\"ab\"", "replace(LAST, \"a\", LAST)"), "local.a60"),
        (doubled("\"ab\"", "format(\"%s%s\", LAST, LAST)"), "local.a60"),
        (doubled("\"ab\"", "jsonencode([LAST, LAST])"), "local.a60"),
        (doubled("{ x = 1, y = 2 }", "{ x = LAST, y = LAST }"), "jsonencode(local.a60)"),
        (doubled("{ x = 1, y = 2 }", "merge({ x = LAST }, { y = LAST })"), "length(keys(local.a60))"),
        (doubled("{ x = 1, y = 2 }", "zipmap([\"x\", \"y\"], [LAST, LAST])"), "length(values(local.a60))"),
        (doubled("{ x = 1, y = 2 }", "{ for k in [\"x\", \"y\"] : k => LAST }"), "length(local.a60)"),
        (doubled("1e300", "LAST * LAST"), "local.a60"),
    ];
    let all = lists.iter().flat_map(|list| uses.iter().map(move |it| (list.clone(), *it))).chain(texts);
    for (declared, written) in all {
        let found = evaluated(&declared, written, &surroundings()).unwrap_err();
        assert!(found.contains("MB to compute") || found.contains("1,000 digits"), "{declared} {written}: {found}");
    }
}

/// What a search or a type makes of a text is paid for as well.
#[test]
#[ignore = "long"]
fn searches_and_defaults_are_paid_for() {
    let attributes: String =
        (0..2000).map(|at| format!("a{at} = optional(string, \"{at}\")\n")).collect::<Vec<_>>().concat();
    let many = |element: &str, count: usize| format!("[{}]", vec![element; count].join(", "));
    let text = "a".repeat(60_000);
    for (declared, written) in [
        (
            format!(
                "variable \"v\" {{\n  type = list(object({{\n{attributes}}}))\n  default = {}\n}}\n",
                many("{}", 5000)
            ),
            "length(var.v)",
        ),
        (format!("locals {{\n  t = \"{text}\"\n}}\n"), "length(replace(local.t, \"/a.*b|a/\", \"\"))"),
        (format!("locals {{\n  t = \"{text}\"\n}}\n"), "length(replace(local.t, \"\", local.t))"),
        (
            format!("locals {{\n  t = \"{text}\"\n}}\n"),
            "join(\",\", [for x in split(\"\", local.t) : regex(\"a*\", local.t)])",
        ),
        (format!("locals {{\n  t = {}\n}}\n", many("1", 3000)), "length([for a in local.t : [for b in local.t : 1]])"),
        (
            format!("locals {{\n  t = {}\n}}\n", many("\"a\"", 20_000)),
            "length([for a in local.t : contains(local.t, \"b\")])",
        ),
        (format!("locals {{\n  t = \"{}\"\n}}\n", "\\n".repeat(20_000)), "length(indent(10000, local.t))"),
    ] {
        let found = evaluated(&declared, written, &surroundings()).unwrap_err();
        assert!(found.contains("MB to compute"), "{written}: {found}");
    }
}

#[test]
fn the_more_root_modules_the_less_each_may_take() {
    let large = "join(\"\", [for a in range(1000) : join(\"\", [for b in range(10) : \"x\"])])";
    let of = |roots: usize| {
        let surroundings = Surroundings { meter: Meter::new(crate::value::Budget::of_root(roots)), ..surroundings() };
        evaluated("", &format!("substr({large}, 0, 1)"), &surroundings)
    };
    assert_eq!(of(1).as_deref(), Ok("x"));
    assert!(of(1000).unwrap_err().contains(" 1 MB "));
}

/// Seen with Terraform 1.17.
#[test]
fn terraform_knows_parts_of_local_values() {
    let declared = "resource \"x_y\" \"r\" {}\ndata \"x_d\" \"d\" {}\nlocals {\n  c = merge({ k = \"a\", z = data.x_d.d.id }, { k = \"b\" })\n  l = [module.other.out, \"b\"]\n  o = { z = x_y.r.id, k = \"b\", w = terraform.workspace, n = { e = each.key, i = count.index } }\n  f = [for k, v in { b = x_y.r } : k]\n  t = true ? \"b\" : data.x_d.d.id\n  u = \"${data.x_d.d.id}-b\"\n  and = false && data.x_d.d.on\n}\n";
    let of = |dialect: Dialect, written: &str| {
        let text = format!("{declared}module \"x\" {{\n  source = {written}\n}}\n");
        let file = if dialect == Dialect::Terraform { "main.tf" } else { "main.tofu" };
        let scope = ModuleScope::new(module(file, &text, dialect), Some(".".to_owned()), Inputs::Root);
        source(&scope, &Surroundings { dialect, ..surroundings() })
    };
    for written in [
        "local.c.k",
        "local.l[1]",
        "local.o.k",
        "local.f[0]",
        "local.t",
        "local.and ? \"a\" : \"b\"",
        "lookup(local.o, \"k\", \"a\")",
        "length(local.o) == 4 ? \"b\" : \"a\"",
        "keys(local.o)[0] == \"k\" ? \"b\" : \"a\"",
    ] {
        assert_eq!(of(Dialect::Terraform, written).as_deref(), Ok("b"), "{written}");
    }
    for (written, what) in
        [("local.u", "data.x_d.d.id"), ("local.c.z", "data.x_d.d.id"), ("local.l[0]", "module.other.out")]
    {
        let found = of(Dialect::Terraform, written).unwrap_err();
        assert!(found.starts_with(&format!("it depends on {what}, which is known only later")), "{found}");
    }
    assert!(of(Dialect::Terraform, "data.x_d.d.id").unwrap_err().contains("it can use only"));
    assert!(of(Dialect::OpenTofu, "local.c.k").unwrap_err().contains("it can use only"));
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
        ("var.a", Err("it depends on var.a, which is not declared with `const = true` (main.tf:5:1)")),
        ("true ? var.c : var.a", Ok("y")),
        ("path.module", Ok(".")),
        (
            "terraform.workspace",
            Err(
                "it depends on terraform.workspace, and it can use only variables, local values and paths (main.tf:9:12)",
            ),
        ),
    ] {
        let module = module("main.tf", &text(written), Dialect::Terraform);
        let scope = ModuleScope::new(module, Some(".".to_owned()), Inputs::Root);
        let found = source(&scope, &surroundings);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{written}");
    }
}

/// Terraform takes `path` for sources alone.
#[test]
fn versions_have_paths_in_opentofu_only() {
    for (dialect, file, expected) in [
        (
            Dialect::Terraform,
            "main.tf",
            Err("it depends on path.module, and it can use only variables and local values (main.tf:3:13)"),
        ),
        (Dialect::OpenTofu, "main.tofu", Ok(Some("."))),
    ] {
        let text = "module \"x\" {\n  source = \"a/b/c\"\n  version = path.module\n}\n";
        let scope = ModuleScope::new(module(file, text, dialect), Some(".".to_owned()), Inputs::Root);
        let Text::Expression(version) = &scope.module.calls["x"].version.as_ref().unwrap().text else { panic!() };
        let surroundings = Surroundings { dialect, ..surroundings() };
        let found = scope.evaluate(version, Purpose::Version, &surroundings).map_err(|problem| problem.to_string());
        assert_eq!(found.as_ref().map(Option::as_deref).map_err(String::as_str), expected);
    }
}
