//! What a unit says of holes, of what no table has, of caught errors, of programs and of arguments of `init`: each a table of ways
//! to have something else run than what is read.

use super::tests::{computed, generate, read_with, unit};
use super::*;

fn vouched(plain: &[&str], harmless: &[&str]) -> Vouched {
    let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Vouched { plain: set(plain), harmless: set(harmless) }
}

fn provider(value: &str) -> String {
    format!("provider \"aws\" {{\n  region = {value}\n}}")
}

/// The holes of a unit that generates a file, next to what else it says.
fn holes(contents: &str, more: &str, vouched: &Vouched) -> Unit {
    let text = format!("{more}{}", generate("g", "x.tf", "", contents));
    let others = [("live/a/s.yaml", "x"), ("live/a/run.sh", "x"), ("live/d/terragrunt.hcl", "")];
    let files: Vec<_> = std::iter::once(("live/a/terragrunt.hcl", &*text)).chain(others).collect();
    read_with(&files, &[], vouched).unwrap()
}

const MOCKED: &str = "dependency \"d\" {\n  config_path = \"../d\"\n  mock_outputs = { v = \"x\" }\n}\n";

#[test]
fn a_hole_is_harmless_by_its_form_or_because_the_settings_say_so() {
    let all = ["run_cmd", "dependency.*", "get_env:ACCOUNT", "sops_decrypt_file"];
    for (value, plain, is_harmless) in [
        ("\"${run_cmd(\"x\")}\"", &[][..], false),
        ("\"${run_cmd(\"x\")}\"", &all[..], true),
        ("\"a-${run_cmd(\"x\")}-b\"", &all, true),
        ("\"${base64encode(run_cmd(\"x\"))}\"", &[], true),
        ("\"${tonumber(run_cmd(\"x\"))}\"", &[], true),
        ("\"${run_cmd(\"x\") == \"y\"}\"", &[], true),
        ("\"${length(run_cmd(\"x\"))}\"", &[], true),
        ("\"${get_aws_account_id()}\"", &[], true),
        ("\"${get_aws_account_alias()}\"", &[], true),
        ("\"${get_aws_caller_identity_arn()}\"", &[], true),
        ("\"${get_aws_caller_identity_user_id()}\"", &[], true),
        ("\"${jsonencode(run_cmd(\"x\"))}\"", &all, false),
        ("${jsonencode(run_cmd(\"x\"))}", &[], true),
        ("\"${get_env(\"ACCOUNT\")}\"", &all, true),
        ("\"${get_env(\"OTHER\")}\"", &all, false),
        ("\"${get_env(\"ACCOUNT\", \"a\\\"b\")}\"", &all, false),
        ("\"${dependency.d.outputs.v}\"", &all, true),
        ("\"${dependency.d.outputs.v}\"", &["dependency.d"], true),
        ("\"${dependency.d.outputs.v}\"", &["dependency.e"], false),
        ("\"${yamldecode(sops_decrypt_file(\"s.yaml\")).a}\"", &all, true),
        ("\"${replace(run_cmd(\"x\"), \"a\", \"\\\"\")}\"", &all, false),
        ("\"${format(\"%q\", run_cmd(\"x\"))}\"", &all, false),
        ("\"${upper(run_cmd(\"x\"))}\"", &all, true),
        ("\"${try(run_cmd(\"x\"), \"a\\\"b\")}\"", &all, false),
    ] {
        let unit = holes(&provider(value), MOCKED, &vouched(plain, &[]));
        let seen: Vec<bool> = unit.holes.iter().map(|hole| hole.is_harmless).collect();
        assert_eq!((seen, unit.unread), (vec![is_harmless], Vec::new()), "{value} {plain:?}");
    }
}

#[test]
fn a_hole_that_may_decide_is_unread() {
    let injected = "x\\\"\\n}\\nprovider \\\"evil\\\" {\\n  a = \\\"y";
    for (contents, more) in [
        (provider("${run_cmd(\"x\")}"), String::new()),
        (provider("${upper(jsonencode(run_cmd(\"x\")))}"), String::new()),
        (provider("[${jsonencode(run_cmd(\"x\"))}]"), String::new()),
        (provider("\"a${\"$\"}${run_cmd(\"x\")}\""), String::new()),
        ("${run_cmd(\"x\")}".to_owned(), String::new()),
        ("# ${run_cmd(\"x\")}".to_owned(), String::new()),
        ("provider \"${run_cmd(\"x\")}\" {\n}".to_owned(), String::new()),
        ("provider \"a\" {\n  version = \"${run_cmd(\"x\")}\"\n}".to_owned(), String::new()),
        ("module \"a\" {\n  source = \"${run_cmd(\"x\")}\"\n}".to_owned(), String::new()),
        (
            "terraform {\n  required_providers {\n    a = { source = \"${run_cmd(\"x\")}\" }\n  }\n}".to_owned(),
            String::new(),
        ),
        (
            provider("\"${dependency.d.outputs.v}\""),
            format!("dependency \"d\" {{\n  config_path = \"../d\"\n  mock_outputs = {{ v = \"{injected}\" }}\n}}\n"),
        ),
        (
            provider("\"${upper(dependency.d.outputs.v)}\""),
            format!("dependency \"d\" {{\n  config_path = \"../d\"\n  mock_outputs = {{ v = \"{injected}\" }}\n}}\n"),
        ),
        (
            provider("\"${dependency.d.outputs.v}\""),
            "dependency \"d\" {\n  config_path = \"../d\"\n  mock_outputs = { v = \"a${\"$\"}{b}\" }\n}\n".to_owned(),
        ),
        (
            provider("\"${dependency.d.outputs.v}\""),
            "dependency \"d\" {\n  config_path = \"../d\"\n  mock_outputs = { v = \"a\\\\\" }\n}\n".to_owned(),
        ),
    ] {
        let unit = holes(&contents, &more, &vouched(&["run_cmd", "dependency.*"], &[]));
        assert!(!unit.unread.is_empty() && unit.holes.is_empty(), "{contents} {more}: {:?}", unit.holes);
    }
}

#[test]
fn outputs_that_no_state_is_asked_for_are_values() {
    let dependency = |more: &str| {
        format!("dependency \"d\" {{\n  config_path = \"../d\"\n  mock_outputs = {{ v = \"eu\" }}\n{more}}}\n")
    };
    for (more, is_known) in [
        ("  skip_outputs = true\n", true),
        ("  enabled = false\n", true),
        ("  skip_outputs = true\n  mock_outputs_allowed_terraform_commands = []\n", true),
        ("  skip_outputs = true\n  mock_outputs_allowed_terraform_commands = [\"plan\"]\n", false),
        ("  skip_outputs = false\n", false),
        ("", false),
    ] {
        let unit = holes(&provider("\"${dependency.d.outputs.v}\""), &dependency(more), &Vouched::default());
        assert_eq!((unit.holes.is_empty(), unit.unread), (is_known, Vec::new()), "{more}");
    }
}

/// Whatever changes the text of a hole changes what it comes from.
#[test]
fn holes_of_other_origins_differ() {
    let origin = |expression: &str, more: &str, file: &[(&str, &str)]| {
        let more = format!(
            "locals {{\n  a = \"known\"\n  b = run_cmd(\"b\")\n  l = [\"c\", run_cmd(\"d\")]\n}}\n{MOCKED}{more}"
        );
        let text = format!("{more}{}", generate("g", "x.tf", "", &provider(&format!("\"{expression}\""))));
        let files: Vec<_> = std::iter::once(("live/a/terragrunt.hcl", &*text)).chain(file.iter().copied()).collect();
        let unit = read_with(&files, &[], &Vouched::default()).unwrap();
        assert_eq!((unit.unread, unit.holes.len()), (Vec::new(), 1), "{expression}");
        unit.holes[0].clone()
    };
    let base = origin("${run_cmd(\"x\", local.a)}", "", &[]);
    assert!(base.origin.is_some());
    assert_eq!(origin("${run_cmd(\"x\", local.a)}", "inputs = {}\n", &[]).origin, base.origin);
    assert_eq!(origin("${run_cmd(\"x\", \"known\")}", "", &[]).origin, base.origin);
    let script = [("live/a/x", "#!/bin/sh\n")];
    let all = [
        base.origin,
        origin("${run_cmd(\"x\", \"other\")}", "", &[]).origin,
        origin("${run_cmd(\"x\", local.a)}", "", &script).origin,
        origin("${upper(run_cmd(\"x\", local.a))}", "", &[]).origin,
        origin("${local.b}", "", &[]).origin,
        origin("${format(\"%s%s\", local.a, local.b)}", "", &[]).origin,
        origin("${format(\"%s%s\", \"other\", local.b)}", "", &[]).origin,
        origin("${join(\"\", [for x in local.l : x])}", "", &[]).origin,
        origin("${join(\"\", [for x in local.l : \"${x}y\"])}", "", &[]).origin,
        origin("${local.l[1]}", "", &[]).origin,
        origin("${dependency.d.outputs.v}", "", &[]).origin,
        origin("${dependency.d.outputs.w}", "", &[]).origin,
        origin("${get_env(\"X\")}", "", &[]).origin,
        origin("${get_env(\"Y\")}", "", &[]).origin,
        origin("${sops_decrypt_file(\"s.yaml\")}", "", &[("live/a/s.yaml", "x")]).origin,
        origin("${sops_decrypt_file(\"t.yaml\")}", "", &[("live/a/t.yaml", "x")]).origin,
        origin("${yamldecode(sops_decrypt_file(\"s.yaml\")).k}", "", &[("live/a/s.yaml", "x")]).origin,
        origin("${try(run_cmd(\"x\"), \"a\")}", "", &[]).origin,
        origin("${try(run_cmd(\"x\"), \"b\")}", "", &[]).origin,
        origin("${run_cmd(\"x\") == \"y\" ? \"a\" : \"b\"}", "", &[]).origin,
        origin("${run_cmd(\"x\") == \"y\" ? \"a\" : \"c\"}", "", &[]).origin,
        origin("${run_cmd(concat([\"x\"], local.l)...)}", "", &[]).origin,
        origin("${-run_cmd(\"x\")}", "", &[]).origin,
        origin("${!run_cmd(\"x\")}", "", &[]).origin,
        origin("${local.b - local.b - 1}", "", &[]).origin,
        origin("${local.b - (local.b - 1)}", "", &[]).origin,
        origin("${base64encode(jsonencode([local.b, \"x\"]))}", "", &[]).origin,
        origin("${base64encode(jsonencode(\"${local.b}x\"))}", "", &[]).origin,
    ];
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), all.len(), "{all:#?}");
    assert!(all.iter().all(Option::is_some));
    assert_eq!(origin("${sops_decrypt_file(\"s.yaml\")}", "", &[("live/a/s.yaml", "x")]).files, ["/w/live/a/s.yaml"]);
}

#[test]
fn the_origin_of_a_hole_in_an_include_is_the_same_for_all_units() {
    let root = format!("locals {{\n  v = \"1\"\n}}\n{}", generate("g", "x.tf", "", &provider("\"${run_cmd(\"x\")}\"")));
    let later = root.replace("v = \"1\"", "v = \"2\"\n  w = 1");
    let own = "include {\n  path = \"../../root.hcl\"\n}\n";
    let origin = |root: &str, own: &str| unit(own, &[("root.hcl", root)]).holes[0].origin.clone().unwrap();
    assert_eq!(origin(&root, own), origin(&later, &format!("{own}inputs = {{ a = 1 }}\n")));
}

/// What no table has, wherever it is, makes a unit unread.
#[test]
fn what_no_table_has_is_unread() {
    let include = "include \"r\" {\n  path = \"../../root.hcl\"\n}\n";
    let read = "inputs = { a = read_terragrunt_config(\"../../root.hcl\").locals }\n";
    let block = |kind: &str, name: &str| format!("{kind} {{\n  {name} = \"x\"\n}}\n");
    let strange = [
        ("unknown", "unknown = \"x\"\n".to_owned()),
        ("unknown", block("unknown", "a")),
        ("terraform.unknown", block("terraform", "unknown")),
        ("terraform.unknown", "terraform {\n  unknown {\n  }\n}\n".to_owned()),
        (
            "terraform.extra_arguments.unknown",
            "terraform {\n  extra_arguments \"a\" {\n    unknown = 1\n  }\n}\n".to_owned(),
        ),
        ("terraform.before_hook.unknown", "terraform {\n  before_hook \"a\" {\n    unknown = 1\n  }\n}\n".to_owned()),
        ("terraform.error_hook.if", "terraform {\n  error_hook \"a\" {\n    if = true\n  }\n}\n".to_owned()),
        ("generate.unknown", generate("g", "x.txt", "  unknown = 1\n", "x")),
        ("generate.prefix", generate("g", "x.tf", "  prefix = \"/*\"\n", "x")),
        ("remote_state.unknown", block("remote_state", "unknown")),
        ("dependency.unknown", block("dependency \"d\"", "unknown")),
        ("dependency.expansion", "dependency \"d\" {\n  expansion {\n  }\n}\n".to_owned()),
        ("dependencies.unknown", block("dependencies", "unknown")),
        ("feature.unknown", block("feature \"f\"", "unknown")),
        ("engine.unknown", block("engine", "unknown")),
        ("exclude.unknown", block("exclude", "unknown")),
        ("errors.unknown", "errors {\n  unknown \"x\" {\n  }\n}\n".to_owned()),
        ("errors.retry.unknown", "errors {\n  retry \"x\" {\n    unknown = 1\n  }\n}\n".to_owned()),
        ("catalog.unknown", block("catalog", "unknown")),
        ("stack", block("stack \"s\"", "a")),
    ];
    for (way, text) in &strange {
        let own = unit(text, &[]);
        let included = unit(include, &[("root.hcl", text)]);
        let config = unit(read, &[("root.hcl", text)]);
        for (kind, unit) in [("own", own), ("included", included), ("read", config)] {
            let named = unit.unread.iter().any(|part| part.reason.contains(way));
            assert!(named, "{kind} {way}: {:?}", unit.unread);
        }
        let name = way.rsplit('.').next().unwrap();
        for harmless in [way, &name] {
            let files = [("live/a/terragrunt.hcl", include), ("root.hcl", &**text)];
            let unit = read_with(&files, &[], &vouched(&[], &[harmless])).unwrap();
            assert!(unit.unread.iter().all(|part| !part.reason.contains("does not know")), "{way}: {:?}", unit.unread);
        }
    }
}

#[test]
fn a_prefix_of_comments_is_written_as_it_is() {
    let evil = "terraform { required_providers { evil = {} } }\\n# ";
    for (more, wanted) in [
        ("", format!("# {SIGNATURE}\nx\n")),
        ("  comment_prefix = \"// \"\n", format!("// {SIGNATURE}\nx\n")),
        (
            &format!("  comment_prefix = \"{evil}\"\n"),
            format!("terraform {{ required_providers {{ evil = {{}} }} }}\n# {SIGNATURE}\nx\n"),
        ),
        ("  comment_prefix = \"/*\"\n", format!("/*{SIGNATURE}\nx\n")),
        ("  comment_prefix = \"/*\"\n  disable_signature = true\n", "x\n".to_owned()),
    ] {
        assert_eq!(unit(&generate("g", "x.tf", more, "x"), &[]).generated[0].contents, Ok(wanted), "{more}");
    }
    let unknown = unit(&generate("g", "x.tf", "  comment_prefix = run_cmd(\"x\")\n", "x"), &[]);
    assert_eq!((unknown.unread.len(), unknown.generated.len()), (1, 0));
}

/// What others see of a configuration is open: what is not modelled is unknown, and never absent. What Terragrunt shows only where it
/// is stated is certainly missing elsewhere.
#[test]
fn attributes_of_a_configuration_are_unknown_unless_they_are_certainly_missing() {
    let config = "locals {\n  m = \"a\"\n}\nterraform {\n  source = \"s\"\n}\n";
    let others = [("live/a/x.hcl", config)];
    let read = "read_terragrunt_config(\"x.hcl\")";
    let all_stated = format!(
        "{config}exclude {{\n  if = false\n  actions = []\n}}\nerrors {{\n}}\nengine {{\n  source = \"e\"\n}}\n\
         dependencies {{\n  paths = [\"../b\"]\n}}\nprevent_destroy = true\nremote_state {{\n  backend = \"s3\"\n}}\n"
    );
    for expression in [
        "try(X.exclude, \"b\")",
        "try(X.errors.retry, \"b\")",
        "try(X.engine.source, \"b\")",
        "try(X.dependencies.paths[0], \"b\")",
        "try(X.prevent_destroy, \"b\")",
        "try(X.remote_state.backend, \"b\")",
        "can(X.exclude) ? \"a\" : \"b\"",
    ] {
        let expression = expression.replace('X', read);
        assert_eq!(computed(&expression, &others), Ok("b".to_owned()), "{expression}");
        let source = computed(&expression, &[("live/a/x.hcl", &*all_stated)]);
        assert!(source.is_err(), "{expression}: {source:?}");
    }
    for expression in [
        "try(X.values, \"b\")",
        "try(X.skip, \"b\")",
        "try(X.retryable_errors, \"b\")",
        "try(X.terraform.extra_arguments, \"b\")",
        "try(X.terraform.before_hook, \"b\")",
        "try(X.terraform.version, \"b\")",
        "try(X.unheard_of, \"b\")",
        "can(X.terraform.mutable) ? \"a\" : \"b\"",
        "lookup(X, \"exclude\", \"b\")",
        "contains(keys(X), \"exclude\") ? \"a\" : \"b\"",
        "length(X) > 3 ? \"a\" : \"b\"",
        "length(keys(X)) > 3 ? \"a\" : \"b\"",
        "join(\",\", [for k, v in X : k])",
        "join(\",\", keys({ for k, v in X : k => v }))",
        "join(\",\", keys(merge(X, {})))",
        "jsonencode(X)",
        "X[\"exclude\"]",
    ] {
        let source = computed(&expression.replace('X', read), &others);
        assert!(source.is_err(), "{expression}: {source:?}");
    }
    assert_eq!(computed(&format!("{read}.locals.m"), &others), Ok("a".to_owned()));
    assert_eq!(computed(&format!("try({read}.locals.none, {read}.terraform.source)"), &others), Ok("s".to_owned()));
}

/// Inside `try` and `can` a value out of a file counts only if Terragrunt certainly accepts all of the file.
#[test]
fn a_caught_value_needs_a_valid_file() {
    let valid = [
        "locals {\n  m = \"a\"\n}\n",
        "locals {\n  m = \"a\"\n  n = upper(local.m)\n}\ninputs = { a = 1 }\n",
        "locals {\n  m = \"a\"\n  n = [for x in [1] : { (local.m) = x, m = try(x[local.m], 1) }]\n}\ndownload_dir = \"x\"\n",
        "locals {\n  m = \"a\"\n}\nterraform {\n  source = local.m\n}\n",
    ];
    let broken = [
        "locals {\n  m = \"a\"\n  n = local.none\n}\n",
        "locals {\n  m = \"a\"\n  n = try(local.none, 1)\n}\n",
        "locals {\n  m = \"a\"\n  n = [for x in [] : local.none]\n}\n",
        "locals {\n  m = \"a\"\n  n = \"%{ for x in [] }${local.none}%{ endfor }\"\n}\n",
        "locals {\n  m = \"a\"\n  n = true ? 1 : x\n}\n",
        "locals {\n  m = \"a\"\n  n = [[for x in [] : x], try(x, 1)]\n}\n",
        "locals {\n  m = \"a\"\n  n = local[\"m\"]\n}\n",
        "locals {\n  m = \"a\"\n  n = try(keys(local), 1)\n}\n",
        "locals {\n  m = \"a\"\n  n = [1][try(local.none, 0)]\n}\n",
        "locals {\n  m = \"a\"\n}\nlocals {\n  n = 1\n}\n",
        "locals \"x\" {\n  m = \"a\"\n}\n",
        "locals {\n  m = \"a\"\n}\nterraform {\n}\nterraform {\n}\n",
        "locals {\n  m = \"a\"\n  n = file(\"none\")\n}\n",
        "locals {\n  m = \"a\"\n  n = nofunction()\n}\n",
        "locals {\n  m = \"a\"\n  n = tonumber(\"x\")\n}\n",
        "locals {\n  m = \"a\"\n  n = run_cmd(\"false\")\n}\n",
        "locals {\n  m = \"a\"\n  n = get_env(\"NONE\")\n}\n",
        "locals {\n  m = \"a\"\n  n = get_env(\"NONE\", \"\")\n}\n",
        "locals {\n  m = \"a\"\n  x = local.y\n  y = local.x\n}\n",
        "locals {\n  m = \"a\"\n}\nunknown {\n}\n",
        "locals {\n  m = \"a\"\n}\nunknown = 1\n",
        "locals {\n  m = \"a\"\n}\ninputs = \"text\"\n",
        "locals {\n  m = \"a\"\n}\nterraform {\n  source = []\n}\n",
        "locals {\n  m = \"a\"\n}\nterraform {\n  extra_arguments \"x\" {\n  }\n}\n",
        "locals {\n  m = \"a\"\n}\nterraform {\n  before_hook \"x\" {\n  }\n}\n",
        "locals {\n  m = \"a\"\n}\ndependency \"d\" {\n  config_path = \"nowhere\"\n}\n",
        "locals {\n  m = \"a\"\n}\ndependencies {\n  paths = [\"nowhere\"]\n}\n",
        "locals {\n  m = \"a\"\n}\nexclude {\n  if = \"maybe\"\n}\n",
        "locals {\n  m = \"a\"\n}\nfeature \"f\" {\n}\n",
        "locals {\n  m = \"a\"\n}\nengine {\n}\n",
        "locals {\n  m = \"a\"\n}\nremote_state {\n}\n",
        "locals {\n  m = \"a\"\n}\nprevent_destroy = \"maybe\"\n",
        "locals {\n  m = \"a\"\n}\nterraform_binary = []\n",
        "locals {\n  m = \"a\"\n}\ngenerate \"g\" {\n  path = \"x.tf\"\n  if_exists = \"never\"\n  contents = \"x\"\n}\n",
        "locals {\n  m = \"a\"\n}\ngenerate \"g\" {\n  path = \"x.tf\"\n  if_exists = \"skip\"\n}\n",
        "locals {\n  m = \"a\"\n}\ngenerate \"g\" {\n  if_exists = \"skip\"\n  contents = \"x\"\n}\n",
        "locals {\n  m = \"a\"\n}\ngenerate \"g\" {\n  path = \"a.tf\"\n  if_exists = \"skip\"\n  contents = \"x\"\n}\ngenerate \"g\" {\n  path = \"b.tf\"\n  if_exists = \"skip\"\n  contents = \"x\"\n}\n",
        "locals {\n  m = \"a\"\n}\ninclude \"i\" {\n  path = \"none.hcl\"\n}\n",
        "locals {\n  m = \"a\"\n}\ninclude \"i\" {\n  path = \"broken.hcl\"\n}\n",
        "locals {\n  m = \"a\"\n}\ninclude \"i\" {\n  path = \"fine.hcl\"\n  merge_strategy = \"other\"\n}\n",
    ];
    let others = |text| {
        [("live/a/c.hcl", text), ("live/a/broken.hcl", "locals {\n  n = local.none\n}\n"), ("live/a/fine.hcl", "")]
    };
    let read = "read_terragrunt_config(\"c.hcl\").locals.m";
    for text in valid {
        assert_eq!(computed(&format!("try({read}, \"e\")"), &others(text)), Ok("a".to_owned()), "{text}");
    }
    for text in broken {
        for expression in [format!("try({read}, \"e\")"), format!("can({read}) ? \"a\" : \"e\"")] {
            let source = computed(&expression, &others(text));
            assert!(source.is_err(), "{expression} {text}: {source:?}");
        }
    }
}

#[test]
fn a_default_counts_only_where_the_file_is_certainly_missing() {
    let denied = "read_terragrunt_config(\"/etc/x.hcl\", { a = \"d\" }).a";
    let others = [("live/x/terragrunt.hcl", "")];
    assert!(computed(denied, &[]).is_err());
    assert!(computed("read_terragrunt_config(\"none.hcl\", null)", &[]).is_err());
    assert!(computed("try(read_terragrunt_config(\"none.hcl\", null), \"e\")", &[]).is_err());
    assert_eq!(computed("read_terragrunt_config(\"none.hcl\", { a = \"d\" }).a", &[]), Ok("d".to_owned()));
    assert_eq!(computed("read_terragrunt_config(\"..\", { a = \"d\" }).a", &others), Ok("d".to_owned()));
    assert_eq!(computed("find_in_parent_folders(\"none.hcl\", \"d\")", &[]), Ok("d".to_owned()));
}

#[test]
fn what_changes_how_init_installs_is_named() {
    let overrides = |arguments: &str, commands: &str| -> Vec<String> {
        let text =
            format!("terraform {{\n  extra_arguments \"e\" {{\n    commands = {commands}\n{arguments}  }}\n}}\n");
        unit(&text, &[]).init_overrides.into_iter().map(|it| it.what).collect()
    };
    let init = "[\"init\"]";
    for argument in [
        "-upgrade",
        "--upgrade",
        "-upgrade=true",
        "-lockfile=x",
        "-plugin-dir=x",
        "-plugin-dir",
        "-from-module=x",
        "-get-plugins=false",
        "-verify-plugins=false",
        "-json",
        "-test-directory=x",
        "x",
        "-UPGRADE",
        "-lockfile",
        "-chdir=x",
    ] {
        let seen = overrides(&format!("    arguments = [\"-var\", \"a=b\", \"{argument}\"]\n"), init);
        assert_eq!(seen, [format!("{argument} in extra_arguments \"e\"")], "{argument}");
        assert!(overrides(&format!("    arguments = [\"{argument}\"]\n"), "[\"plan\"]").is_empty());
    }
    for argument in [
        "-var=a=b",
        "-var-file=x",
        "-backend-config=x",
        "-backend=false",
        "-input=false",
        "-no-color",
        "-lock=false",
        "-lock-timeout=1m",
        "-reconfigure",
        "-migrate-state",
        "-force-copy",
        "-get=false",
        "-upgrade=false",
        "-lockfile=readonly",
        "--input=false",
    ] {
        assert!(overrides(&format!("    arguments = [\"{argument}\"]\n"), init).is_empty(), "{argument}");
    }
    for variable in [
        "TF_CLI_CONFIG_FILE",
        "TF_CLI_ARGS_init",
        "TF_CLI_ARGS",
        "TF_DATA_DIR",
        "TF_PLUGIN_CACHE_DIR",
        "TF_REATTACH_PROVIDERS",
        "tf_data_dir",
        "TF_WORKSPACE",
        "TOFU_X",
        "TG_SOURCE",
        "GIT_SSL_NO_VERIFY",
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "HOME",
        "PATH",
        "XDG_CONFIG_HOME",
        "LD_PRELOAD",
        "TERRAFORM_CONFIG",
        "TF_REGISTRY_CLIENT_TIMEOUT",
    ] {
        let is_harmless = variable == "TERRAFORM_CONFIG";
        for commands in [init, "[\"plan\"]"] {
            let seen = overrides(&format!("    env_vars = {{ {variable} = \"x\" }}\n"), commands);
            assert_eq!(seen.is_empty(), is_harmless, "{variable} {seen:?}");
        }
    }
    for variable in ["TF_VAR_a", "TF_LOG", "TF_LOG_PATH", "TF_INPUT", "TF_IN_AUTOMATION", "AWS_PROFILE", "X"] {
        assert!(overrides(&format!("    env_vars = {{ {variable} = \"x\" }}\n"), init).is_empty(), "{variable}");
    }
    for unknown in
        ["    arguments = run_cmd(\"x\")\n", "    arguments = [run_cmd(\"x\")]\n", "    env_vars = run_cmd(\"x\")\n"]
    {
        assert_eq!(overrides(unknown, init).len(), 1, "{unknown}");
    }
    assert_eq!(overrides("    arguments = [\"-upgrade\"]\n", "run_cmd(\"x\")").len(), 1);
}

#[test]
fn all_that_starts_a_program_is_named() {
    let programs = |text: &str, others: &[(&str, &str)]| -> Vec<String> {
        unit(text, others).programs.into_iter().map(|it| it.what).collect()
    };
    let hook = |kind: &str| {
        format!("terraform {{\n  {kind} \"h\" {{\n    commands = [\"apply\"]\n    execute = [\"x\"]\n  }}\n}}\n")
    };
    let call = "locals {\n  unused = run_cmd(\"--terragrunt-quiet\", \"evil\")\n}\n";
    let include = "include {\n  path = \"../../root.hcl\"\n}\n";
    let named = "run_cmd(\"evil\", …)";
    for (text, others, wanted) in [
        (call.to_owned(), &[][..], named),
        ("inputs = { a = [for x in [1] : run_cmd(\"evil\", x)] }\n".to_owned(), &[], named),
        (include.to_owned(), &[("root.hcl", call)], named),
        ("locals {\n  a = read_terragrunt_config(\"c.hcl\")\n}\n".to_owned(), &[("live/a/c.hcl", call)], named),
        ("locals {\n  a = try(read_terragrunt_config(\"c.hcl\"), 1)\n}\n".to_owned(), &[("live/a/c.hcl", call)], named),
        (
            "locals {\n  a = read_terragrunt_config(\"c.hcl\")\n}\n".to_owned(),
            &[("live/a/c.hcl", "include {\n  path = \"d.hcl\"\n}\n"), ("live/a/d.hcl", call)],
            named,
        ),
        (String::new(), &[("live/a/terragrunt.autoinclude.hcl", call)], named),
        (String::new(), &[("live/a/terragrunt.values.hcl", "a = run_cmd(\"evil\")\n")], named),
        ("exclude {\n  if = run_cmd(\"evil\")\n}\n".to_owned(), &[], named),
        ("dependencies {\n  paths = [run_cmd(\"evil\")]\n}\n".to_owned(), &[], named),
        (hook("before_hook"), &[], "the before_hook \"h\""),
        (hook("after_hook"), &[], "the after_hook \"h\""),
        (hook("error_hook"), &[], "the error_hook \"h\""),
        ("engine {\n  source = \"x\"\n}\n".to_owned(), &[], "the engine"),
        ("terraform_binary = \"php\"\n".to_owned(), &[], "the program of terraform_binary"),
        (
            "remote_state {\n  backend = \"s3\"\n  encryption = { key_provider = \"external\", command = [\"x\"] }\n}\n".to_owned(),
            &[],
            "the encryption of remote_state",
        ),
        ("terraform_binary = \"./evil.sh\"\n".to_owned(), &[], "the program of terraform_binary"),
        ("terraform_binary = get_env(\"X\")\n".to_owned(), &[], "the program of terraform_binary"),
    ] {
        assert_eq!(programs(&text, others), [wanted], "{text}");
    }
    assert!(programs("terraform_binary = \"tofu\"\n", &[]).is_empty());
    let encryption =
        "remote_state {\n  backend = \"s3\"\n  encryption = { key_provider = \"pbkdf2\", passphrase = \"x\" }\n}\n";
    assert!(programs(encryption, &[]).is_empty());
    let identity = |text: &str, others: &[(&str, &str)]| unit(text, others).programs[0].identity.clone();
    let script = "locals {\n  a = run_cmd(\"./x.sh\")\n}\n";
    assert_ne!(identity(script, &[]), identity(script, &[("live/a/x.sh", "")]));
    assert_ne!(identity(&hook("before_hook"), &[]), identity(&hook("before_hook").replace("\"x\"", "\"y\""), &[]));
}

#[test]
fn the_lock_file_that_is_left_out_is_named() {
    let left_out = |patterns: &str| {
        let text = format!("terraform {{\n  source = \"../m\"\n  exclude_from_copy = {patterns}\n}}\n");
        unit(&text, &[]).lock_file_left_out.is_some()
    };
    for patterns in [
        "[\".terraform.lock.hcl\"]",
        "[\"*.hcl\"]",
        "[\".*\"]",
        "[\"**\"]",
        "[\"**/*.hcl\"]",
        "[\"*\"]",
        "[\".terraform*\"]",
        "[\"./.terraform.lock.hcl\"]",
        "[\"{a,.terraform}.lock.hcl\"]",
        "[\"[.]terraform.lock.hcl\"]",
        "[\"a\", \"*.lock.hcl\"]",
        "[\"?terraform.lock.hcl\"]",
        "[\"x/../.terraform.lock.hcl\"]",
    ] {
        assert!(left_out(patterns), "{patterns}");
    }
    for patterns in ["[]", "[\"*.tf\"]", "[\"README.md\"]", "[\"docs/**\"]"] {
        assert!(!left_out(patterns), "{patterns}");
    }
    let unknown = unit("terraform {\n  source = \"../m\"\n  exclude_from_copy = [run_cmd(\"x\")]\n}\n", &[]);
    assert_eq!(unknown.unread.len(), 1);
}

#[test]
fn nothing_writes_what_decides_what_the_tool_installs() {
    let state = |path: &str, config: &str| {
        format!(
            "remote_state {{\n  backend = \"s3\"\n  generate = {{\n    path = \"{path}\"\n    if_exists = \"overwrite\"\n  }}\n  config = {config}\n}}\n"
        )
    };
    for text in [
        state(".terraform.lock.hcl", "{}"),
        state("./.terraform.lock.hcl", "{}"),
        state(".terraform/modules/modules.json", "{}"),
        state("x/../.terraform/x", "{}"),
        generate("g", ".terraform.lock.hcl", "", "x"),
        generate("g", ".terraform/x", "", "x"),
        generate("g", ".Terraform.Lock.hcl", "", "x"),
        state(".TERRAFORM/modules/modules.json", "{}"),
        state("b.tf", "{ \"x = 1\\n}\\n}\\nprovider \\\"evil\\\" {}\\n#\" = 1 }"),
        state("b.tf", "run_cmd(\"x\")"),
    ] {
        let unit = unit(&text, &[]);
        assert_eq!((unit.unread.len(), unit.generated.len()), (1, 0), "{text}");
    }
    assert!(unit(&state("b.tf", "{ bucket = run_cmd(\"x\") }"), &[]).unread.is_empty());
}

#[test]
fn what_a_stack_adds_is_merged_and_wins() {
    let auto = |text: &str| [("live/a/terragrunt.autoinclude.hcl".to_owned(), text.to_owned())];
    let read = |own: &str, added: &str| {
        let files = auto(added);
        let others: Vec<_> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        unit(own, &others)
    };
    let own = "terraform {\n  source = \"own\"\n}\ninputs = {\n  a = 1\n}\n";
    let added =
        read(own, "dependency \"d\" {\n  config_path = \"../d\"\n}\ninputs = {\n  a = dependency.d.outputs.x\n}\n");
    assert_eq!((added.unread, added.source.unwrap().address.as_deref()), (Vec::new(), Some("own")));
    let added = read(own, "terraform {\n  source = \"added\"\n}\n");
    assert_eq!((added.unread, added.source.unwrap().address.as_deref()), (Vec::new(), Some("added")));
    assert_eq!(read(own, "unknown = 1\n").unread.len(), 1);
}

/// Whether it is merged there depends on who reads the file, and on the version.
#[test]
fn what_a_stack_adds_next_to_other_files_is_not_known() {
    let (added, evil) = ("terraform {\n  source = \"good\"\n}\n", "terraform {\n  source = \"evil\"\n}\n");
    let include = |path: &str| format!("include \"x\" {{\n  path = \"{path}\"\n}}\n");
    let own = include("../../b/s.hcl");
    let others = [("b/s.hcl", evil), ("b/terragrunt.autoinclude.hcl", added)];
    assert_eq!(unit(&own, &others[..1]).source.unwrap().address.as_deref(), Some("evil"));
    let read = unit(&own, &others);
    assert!(read.source.is_none() && read.unread.len() == 1, "{read:?}");
    // By way of what a stack adds to the unit.
    let read = unit("", &[("live/a/terragrunt.autoinclude.hcl", &*own), others[0], others[1]]);
    assert!(read.source.is_none() && read.unread.len() == 1, "{read:?}");
    let of_other = "read_terragrunt_config(\"../../b/s.hcl\").terraform.source";
    assert!(computed(of_other, &others).is_err());
}

/// Stacks write literals; what a name means there depends on who reads the file.
#[test]
fn values_of_a_stack_are_literals() {
    let of = |value: &str| computed("values.x", &[("live/a/terragrunt.values.hcl", &format!("x = {value}\n"))]);
    assert_eq!(of("\"m\""), Ok("m".to_owned()));
    for value in
        ["try(local.m, \"m\")", "local.m", "try(feature.f.value, \"m\")", "get_env(\"X\", \"m\")", "upper(\"m\")"]
    {
        assert!(of(value).is_err(), "{value}");
    }
}
