//! Units in memory: what their files say, and what bad input comes to.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;

struct Memory<'a>(&'a [(&'a str, &'a str)]);

impl Files for Memory<'_> {
    fn read(&self, path: &str) -> Found<Arc<[u8]>> {
        let Some(within) = path.strip_prefix("/w/") else { return Found::Denied("which is outside".to_owned()) };
        let found = self.0.iter().find(|(name, _)| *name == within);
        found.map_or(Found::Missing, |(_, text)| Found::Is(text.as_bytes().into()))
    }

    fn is_directory(&self, path: &str) -> Found<bool> {
        let Some(within) = path.strip_prefix("/w").map(|path| path.trim_start_matches('/')) else {
            return Found::Denied("which is outside".to_owned());
        };
        let is_in = |(name, _): &(&str, &str)| name.starts_with(&format!("{within}/")) || within.is_empty();
        match self.0.iter().any(|(name, _)| *name == within) {
            true => Found::Is(false),
            false if self.0.iter().any(is_in) => Found::Is(true),
            false => Found::Missing,
        }
    }

    fn list(&self, path: &str) -> Found<Vec<DirectoryEntry>> {
        let Some(within) = path.strip_prefix("/w") else { return Found::Denied("which is outside".to_owned()) };
        let start = format!("{within}/");
        let below = self.0.iter().filter_map(|(name, _)| name.strip_prefix(start.trim_start_matches('/')));
        let entries: BTreeMap<&str, EntryKind> = below
            .map(|name| match name.split_once('/') {
                Some((directory, _)) => (directory, EntryKind::Directory),
                None => (name, EntryKind::File),
            })
            .collect();
        let entry = |(name, kind): (&str, EntryKind)| DirectoryEntry { name: name.to_owned(), kind: Found::Is(kind) };
        Found::Is(entries.into_iter().map(entry).collect())
    }
}

/// The unit in `live/a`.
fn read(files: &[(&str, &str)], environment: &[(&str, Option<&str>)]) -> Result<Unit, Vec<ConfigError>> {
    read_with(files, environment, &Vouched::default())
}

pub(super) fn read_with(
    files: &[(&str, &str)],
    environment: &[(&str, Option<&str>)],
    vouched: &Vouched,
) -> Result<Unit, Vec<ConfigError>> {
    let environment: BTreeMap<String, Option<String>> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect();
    Unit::read(&UnitRequest {
        path: "/w/live/a/terragrunt.hcl",
        top: "/w",
        files: &Memory(files),
        environment: &environment,
        vouched,
        parsed: &ParsedFiles::default(),
        roots: 1,
        compares: true,
    })
}

/// The unit with a text, next to other files.
pub(super) fn unit(text: &str, others: &[(&str, &str)]) -> Unit {
    let files: Vec<_> = std::iter::once(("live/a/terragrunt.hcl", text)).chain(others.iter().copied()).collect();
    read(&files, &[]).unwrap()
}

/// The source of a unit, or why it is unknown.
fn source(text: &str, others: &[(&str, &str)]) -> Result<String, String> {
    let unit = unit(text, others);
    if let Some(part) = unit.unread.first() {
        return Err(format!("{}: {}", part.place, part.reason));
    }
    unit.source.and_then(|source| source.address).ok_or_else(|| "no source".to_owned())
}

pub(super) fn computed(expression: &str, others: &[(&str, &str)]) -> Result<String, String> {
    source(&format!("terraform {{\n  source = {expression}\n}}\n"), others)
}

#[test]
fn functions_mean_the_unit_or_the_file() {
    let others = [
        ("root.hcl", ""),
        ("live/b/terragrunt.hcl", "locals {\n  x = get_terragrunt_dir()\n  y = get_original_terragrunt_dir()\n}\n"),
        ("live/a/x.tfvars", "a = \"b\"\n"),
        ("live/a/t.tpl", "%{ if on }${name}-${upper(name)}%{ endif }"),
    ];
    for (expression, wanted) in [
        ("get_terragrunt_dir()", "/w/live/a"),
        ("get_repo_root()", "/w"),
        ("get_path_from_repo_root()", "live/a"),
        ("get_path_to_repo_root()", "../.."),
        ("find_in_parent_folders(\"root.hcl\")", "/w/root.hcl"),
        ("find_in_parent_folders(\"none.hcl\", \"other\")", "other"),
        ("read_terragrunt_config(\"../b\").locals.x", "/w/live/b"),
        ("read_terragrunt_config(\"../b/terragrunt.hcl\").locals.y", "/w/live/a"),
        ("read_terragrunt_config(\"none.hcl\", { a = \"c\" }).a", "c"),
        ("jsondecode(read_tfvars_file(\"x.tfvars\")).a", "b"),
        ("templatefile(\"t.tpl\", { on = true, name = \"n\" })", "n-N"),
        ("fileexists(\"x.tfvars\") ? \"yes\" : \"no\"", "yes"),
        ("try(file(\"none\"), \"fallback\")", "fallback"),
        ("path_relative_to_include()", "."),
        ("find_in_parent_folders(\"\", \"other\")", "other"),
        ("constraint_check(\"1.4.0\", \"~> 1.2\") ? \"yes\" : \"no\"", "yes"),
        ("constraint_check(\"1.4.0-rc1\", \">= 1.2\") ? \"yes\" : \"no\"", "no"),
        ("join(\",\", fileset(\".\", \"*.t*\"))", "t.tpl,x.tfvars"),
        (
            "join(\",\", fileset(get_repo_root(), \"live/**/terragrunt.hcl\"))",
            "live/a/terragrunt.hcl,live/b/terragrunt.hcl",
        ),
        ("\"[${join(\",\", fileset(get_repo_root(), \"*/terragrunt.hcl\"))}]\"", "[]"),
        ("abspath(\"/w/../x\")", "/x"),
        ("pathexpand(\"a/b\")", "a/b"),
        ("sensitive(\"a\")", "a"),
        ("get_terraform_commands_that_need_input()[2]", "init"),
        ("try(local.none, \"fallback\")", "fallback"),
    ] {
        assert_eq!(computed(expression, &others), Ok(wanted.to_owned()), "{expression}");
    }
}

#[test]
fn an_included_file_speaks_of_the_unit_and_reads_next_to_itself() {
    let include = "include \"root\" {\n  path   = find_in_parent_folders(\"root.hcl\")\n  expose = true\n}\n";
    let text = "terraform {\n  source = \"${include.root.locals.a}|${include.root.inputs.b}\"\n}\n";
    let root = "locals {\n  a = \"${get_terragrunt_dir()} ${file(\"f\")} ${path_relative_to_include()}\"\n}\n\
                inputs = {\n  b = get_parent_terragrunt_dir()\n}\n";
    let others = [("root.hcl", root), ("f", "text")];
    assert_eq!(source(&format!("{include}{text}"), &others), Ok("/w/live/a text live/a|/w".to_owned()));
}

#[test]
fn the_unit_goes_before_the_last_include_and_that_before_the_first() {
    let include = |name: &str, more: &str| format!("include \"{name}\" {{\n  path = \"../../{name}.hcl\"\n{more}}}\n");
    let file = |name: &str| {
        format!("terraform {{\n  source = \"{name}\"\n}}\ninputs = {{\n  {name} = 1\n  all = {{ {name} = 1 }}\n}}\n")
    };
    let (one, two) = (file("one"), file("two"));
    let others = [("one.hcl", &*one), ("two.hcl", &*two)];
    let both = include("one", "") + &include("two", "");
    assert_eq!(source(&both, &others), Ok("two".to_owned()));
    assert_eq!(source(&(both.clone() + &file("own")), &others), Ok("own".to_owned()));
    let none = include("one", "") + &include("two", "  merge_strategy = \"no_merge\"\n");
    assert_eq!(source(&none, &others), Ok("one".to_owned()));
    let inputs = |text: &str| unit(text, &others).variables.environment.remove("all");
    assert_eq!(inputs(&(both + &file("own"))).as_deref(), Some("{\"own\":1}"));
    let deep = include("one", "  merge_strategy = \"deep\"\n") + &file("own");
    assert_eq!(inputs(&deep).as_deref(), Some("{\"one\":1,\"own\":1}"));
}

#[test]
fn inputs_are_merged_from_the_last_include_on() {
    let include = |name: &str, more: &str| format!("include \"{name}\" {{\n  path = \"../../{name}.hcl\"\n{more}}}\n");
    let deep = "  merge_strategy = \"deep\"\n";
    let others = [("one.hcl", "inputs = {\n  all = { one = 1 }\n}\n"), ("two.hcl", "inputs = {\n  other = 1\n}\n")];
    let own = "inputs = {\n  all = { own = 1 }\n}\n";
    let all = |text: &str| unit(text, &others).variables.environment.remove("all");
    assert_eq!(all(&(include("one", "") + &include("two", deep) + own)).as_deref(), Some("{\"own\":1}"));
    assert_eq!(all(&(include("one", deep) + &include("two", "") + own)).as_deref(), Some("{\"one\":1,\"own\":1}"));
}

#[test]
fn a_source_of_null_is_none() {
    let include = "include \"root\" {\n  path = \"../../root.hcl\"\n  expose = true\n}\n";
    let others = [("root.hcl", "terraform {\n  source = \"of root\"\n}\n")];
    let source = |text: &str| source(&format!("{include}{text}"), &others);
    assert_eq!(source("terraform {\n  source = null\n}\n"), Ok("of root".to_owned()));
    assert_eq!(source("terraform {\n  source = true ? null : \"own\"\n}\n"), Ok("of root".to_owned()));
    assert_eq!(source("terraform {\n  source = \"${include.root.terraform.source}!\"\n}\n"), Ok("of root!".to_owned()));
    assert_eq!(source("terraform {\n  source = \"${path_relative_to_include(\"x\")}\"\n}\n"), Ok("live/a".to_owned()));
}

#[test]
fn values_are_those_next_to_the_file() {
    let include = "include \"root\" {\n  path = \"../../root.hcl\"\n  expose = true\n}\n";
    let root = "locals {\n  v = try(values.v, \"none\")\n}\n";
    let values = "v = \"own\"\nw = [\"x\"]\n";
    let others = [("root.hcl", root), ("live/a/terragrunt.values.hcl", values)];
    for (expression, wanted) in [
        ("include.root.locals.v", "none"),
        ("values.v", "own"),
        ("try(values.u, \"d\")", "d"),
        ("lookup(values, \"u\", values.w[0])", "x"),
        ("read_terragrunt_config(\"terragrunt.values.hcl\").v", "own"),
    ] {
        let text = format!("{include}terraform {{\n  source = {expression}\n}}\n");
        assert_eq!(source(&text, &others), Ok(wanted.to_owned()), "{expression}");
    }
}

#[test]
fn templates_have_functions_of_terraform_only() {
    let others = [("live/a/t.tpl", "${file(\"f\")}"), ("live/a/u.tpl", "${get_terragrunt_dir()}"), ("live/a/f", "x")];
    assert_eq!(computed("templatefile(\"t.tpl\", {})", &others), Ok("x".to_owned()));
    let reason = computed("templatefile(\"u.tpl\", {})", &others).unwrap_err();
    assert!(reason.contains("it depends on get_terragrunt_dir()"), "{reason}");
}

#[test]
fn features_of_an_include_are_those_of_the_unit() {
    let include = |more: &str| format!("include \"root\" {{\n  path = \"../../root.hcl\"\n{more}}}\n");
    let others = [("root.hcl", "feature \"f\" {\n  default = \"of root\"\n}\n")];
    let address = |text: String| unit(&text, &others).source.and_then(|source| source.address);
    let used = "terraform {\n  source = try(feature.f.value, \"none\")\n}\n";
    assert_eq!(address(include("") + used).as_deref(), Some("of root"));
    let own = "feature \"f\" {\n  default = \"own\"\n}\n";
    assert_eq!(address(include("") + own + used).as_deref(), Some("own"));
    assert_eq!(address(include("  merge_strategy = \"no_merge\"\n") + used).as_deref(), Some("none"));
}

#[test]
fn blocks_may_be_written_as_arguments() {
    let generates = "generate = { for name in [\"g\", \"h\"] : name => {\n  path = \"${name}.tf\"\n  if_exists = \"skip\"\n  contents = name\n} }\n";
    let state = "remote_state = {\n  backend = \"s3\"\n  generate = {\n    path = \"b.tf\"\n    if_exists = \"overwrite\"\n  }\n}\n";
    let unit = unit(&format!("{generates}{state}"), &[]);
    let paths: Vec<&str> = unit.generated.iter().map(|file| &*file.path).collect();
    assert_eq!((paths, unit.unread), (vec!["g.tf", "h.tf", "b.tf"], Vec::new()));
    assert_eq!(unit.generated[0].contents, Ok(format!("# {SIGNATURE}\ng")));
}

#[test]
fn a_fallback_is_noted_once() {
    let expression = "\"${find_in_parent_folders(\"none.hcl\", \"x\")}${find_in_parent_folders(\"none.hcl\", \"x\")}\"";
    let unit = unit(&format!("terraform {{\n  source = {expression}\n}}\n"), &[]);
    assert_eq!((unit.unread.len(), unit.notes.len()), (0, 1));
    assert!(unit.notes[0].reason.starts_with("find_in_parent_folders(\"none.hcl\") gives its second argument"));
}

#[test]
fn extra_arguments_of_init_set_variables() {
    let read = |arguments: &str| {
        let text = format!(
            "terraform {{\n  extra_arguments \"a\" {{\n{arguments}  }}\n}}\ninputs = {{\n  a = \"input\"\n}}\n"
        );
        unit(&text, &[("live/a/x.tfvars", "b = \"file\"\n")]).variables
    };
    let init = "    commands = [\"plan\", \"init\"]\n";
    let plain =
        read("    commands = get_terraform_commands_that_need_vars()\n    env_vars = { TF_VAR_a = get_env(\"X\") }\n");
    assert_eq!(plain.environment["a"], "input");
    assert!(plain.unknown.unwrap().reason.contains("extra_arguments set TF_VAR_a for some commands"));
    let set = read(&format!("{init}    env_vars = {{ TF_VAR_a = \"env\", OTHER = get_env(\"X\") }}\n"));
    assert_eq!((set.environment["a"].as_str(), set.unknown), ("env", None));
    let arguments = "    arguments = [\"-lock-timeout=1m\", \"-var\", \"a=1\", \"-var=b=x=y\"]\n";
    let files = "    required_var_files = [\"${get_terragrunt_dir()}/x.tfvars\"]\n    optional_var_files = [\"${get_terragrunt_dir()}/none.tfvars\"]\n";
    let set = read(&format!("{init}{arguments}{files}"));
    let [VariableArgument::Value(one, _), VariableArgument::Value(two, text), VariableArgument::File(_)] =
        &set.arguments[..]
    else {
        panic!("{set:?}")
    };
    assert_eq!((&**one, &**two, &**text, set.unknown), ("a", "b", "x=y", None));
    for (arguments, reason) in [
        (
            "    env_vars = { TF_VAR_a = get_env(\"X\") }\n",
            "the input \"a\" is not known: it depends on get_env(\"X\")",
        ),
        ("    env_vars = { TF_CLI_ARGS_init = \"-var a=1\" }\n", "extra_arguments set TF_CLI_ARGS_init"),
        ("    arguments = [get_env(\"X\")]\n", "get_env(\"X\")"),
        ("    required_var_files = [\"x.tfvars\"]\n", "x.tfvars"),
        ("    required_var_files = [\"/etc/x.tfvars\"]\n", "/etc/x.tfvars"),
    ] {
        let unknown = read(&format!("{init}{arguments}")).unknown.unwrap();
        assert!(unknown.reason.contains(reason), "{}", unknown.reason);
    }
}

#[test]
fn what_only_terragrunt_knows_is_unknown_and_named() {
    let others = [("live/b/terragrunt.hcl", ""), ("live/s/terragrunt.stack.hcl", "")];
    for (expression, wanted) in [
        ("run_cmd(\"touch\", \"/tmp/x\")", "run_cmd(): "),
        ("sops_decrypt_file(\"x\")", "sops_decrypt_file(): an encrypted file"),
        ("get_aws_account_id()", "get_aws_account_id(): an account of AWS"),
        ("get_env(\"HOME\")", "get_env(\"HOME\"): if it is always the same"),
        ("get_env(\"HOME\", \"x\")", "get_env(\"HOME\"), which a run may set"),
        ("file(\"/proc/self/environ\")", "/proc/self/environ, which is outside"),
        ("file(\"../../../x\")", "/x, which is outside"),
        ("file(\"~/x\")", "~/x, which is outside of the repository"),
        ("find_in_parent_folders(\"x\")", "find_in_parent_folders(\"x\"), which finds nothing in the repository"),
        ("dependency.b.outputs.c", "dependency.b"),
        ("abspath(\"x\")", "abspath() of a relative path"),
        ("pathexpand(\"~/x\")", "the home directory"),
        ("try(templatefile(\"~/x\", {}), \"x\")", "~/x, which is outside of the repository"),
        (
            "read_terragrunt_config(\"../s/terragrunt.stack.hcl\").x",
            "live/s/terragrunt.stack.hcl, a stack of Terragrunt",
        ),
        ("try(get_env(\"A\"), \"x\")", "get_env(\"A\"): if it is always the same"),
        ("file(\"none\")", "live/a/none, which the repository does not have"),
        ("values.x", "live/a/terragrunt.values.hcl, which the repository does not have"),
    ] {
        let reason = computed(expression, &others).unwrap_err();
        assert!(reason.contains(wanted), "{expression}: {reason}");
        assert!(reason.starts_with("live/a/terragrunt.hcl:2:"), "{expression}: {reason}");
    }
}

#[test]
fn the_settings_say_what_the_environment_is() {
    let text = |expression: &str| format!("terraform {{\n  source = {expression}\n}}\n");
    for (expression, value, wanted) in [
        ("get_env(\"A\")", Some("x"), Some("x")),
        ("get_env(\"A\", \"d\")", Some("x"), Some("x")),
        ("get_env(\"A\", \"d\")", None, Some("d")),
        ("try(get_env(\"A\"), \"never\")", None, Some("never")),
        ("get_env(\"A\")", None, None),
    ] {
        let unit = read(&[("live/a/terragrunt.hcl", &text(expression))], &[("A", value)]).unwrap();
        assert_eq!(unit.source.unwrap().address.as_deref(), wanted, "{expression}");
        assert_eq!(unit.unread.is_empty(), wanted.is_some(), "{expression}");
    }
}

#[test]
fn defaults_give_requirements_that_are_not_all() {
    let unit = unit("feature \"f\" {\n  default = \"v1\"\n}\nterraform {\n  source = feature.f.value\n}\n", &[]);
    assert_eq!(unit.source.unwrap().address.as_deref(), Some("v1"));
    assert!(unit.unread[0].reason.contains("feature.f"), "{:?}", unit.unread);
}

#[test]
fn endless_and_huge_input_is_bounded() {
    let doubled = (1..60)
        .map(|at| format!("  a{at} = \"${{local.a{0}}}${{local.a{0}}}\"\n", at - 1))
        .collect::<Vec<_>>()
        .concat();
    let doubled =
        format!("locals {{\n  a0 = \"xxxxxxxxxxxxxxxx\"\n{doubled}}}\nterraform {{\n  source = local.a59\n}}\n");
    let chained = (1..100_000).map(|at| format!("  a{at} = local.a{}\n", at - 1)).collect::<Vec<_>>().concat();
    let chained = format!("locals {{\n  a0 = 1\n{chained}}}\nterraform {{\n  source = local.a99999\n}}\n");
    let links: Vec<(String, String)> = (0..20)
        .map(|at| {
            (
                format!("l{at}.hcl"),
                format!("locals {{\n  x = read_terragrunt_config(\"l{}.hcl\").locals.x\n}}\n", at + 1),
            )
        })
        .collect();
    let links: Vec<(&str, &str)> = links.iter().map(|(name, text)| (&**name, &**text)).collect();
    for (text, others, wanted) in [
        (&*doubled, &[][..], "more than 64 MB to compute"),
        (&*chained, &[], "more than 250 levels"),
        ("locals {\n  a = local.a\n}\nterraform {\n  source = local.a\n}\n", &[], "local.a refers to itself"),
        (
            "terraform {\n  source = read_terragrunt_config(\"terragrunt.hcl\").locals.x\n}\nlocals {\n  x = read_terragrunt_config(\"terragrunt.hcl\").locals.x\n}\n",
            &[],
            "refers to itself",
        ),
        (
            "terraform {\n  source = read_terragrunt_config(\"../../l0.hcl\").locals.x\n}\n",
            &links,
            "more than 12 levels",
        ),
        ("include {\n  path = \"terragrunt.hcl\"\n}\n", &[], "live/a/terragrunt.hcl is included"),
        ("include {\n  path = local.x\n}\nlocals {\n  x = 1\n}\n", &[], "local.x is used"),
        ("include {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n", &[], "finds nothing in the repository"),
        (
            "include {\n  path = \"../../root.hcl\"\n}\n",
            &[("root.hcl", "include {\n  path = \"x.hcl\"\n}\n")],
            "root.hcl is included",
        ),
    ] {
        let reason = source(text, others).unwrap_err();
        assert!(reason.contains(wanted), "{wanted}: {reason}");
    }
}

pub(super) fn generate(name: &str, path: &str, more: &str, contents: &str) -> String {
    format!(
        "generate \"{name}\" {{\n  path = \"{path}\"\n  if_exists = \"overwrite\"\n{more}  contents = <<EOT\n{contents}\nEOT\n}}\n"
    )
}

#[test]
fn generated_files_stay_in_the_working_directory() {
    for path in ["/etc/x.tf", "../x.tf", "a/../../x.tf", "~/x.tf", "c:/x.tf"] {
        let unit = unit(&generate("g", path, "", "x"), &[]);
        assert!(unit.generated.is_empty(), "{path}");
        assert!(unit.unread[0].reason.contains("outside of the working directory"), "{path}: {:?}", unit.unread);
    }
    let unit = unit(&(generate("g", "a/x.tf", "", "x") + &generate("h", "README.md", "", "${run_cmd(\"x\")}")), &[]);
    assert_eq!((unit.generated.len(), unit.unread.len()), (1, 0));
    assert_eq!(unit.generated[0].contents, Ok(format!("# {SIGNATURE}\nx\n")));
}

#[test]
fn blocks_that_write_one_path_are_unread_unless_their_order_does_not_matter() {
    let unread = |text: &str| unit(text, &[]).unread.len();
    let skips = |name: &str, contents| generate(name, "x.tf", "", contents).replace("\"overwrite\"", "\"skip\"");
    assert_eq!(unread(&(generate("g", "x.tf", "", "a") + &generate("h", "x.tf", "", "b"))), 1);
    assert_eq!(unread(&(generate("g", "x.tf", "", "a") + &generate("h", "x.tf", "", "a"))), 0);
    assert_eq!(unread(&(generate("g", "x.tf", "", "a") + &skips("h", "b"))), 0);
    assert_eq!(unread(&(skips("g", "a") + &skips("h", "b"))), 1);
    assert_eq!(unread(&(generate("g", "x.tf", "", "a") + &generate("g", "y.tf", "", "b"))), 1);
    let deep = "include {\n  path = \"../../root.hcl\"\n  merge_strategy = \"deep\"\n}\n";
    let root = generate("g", "x.tf", "", "of root");
    let merged = unit(&(deep.to_owned() + &generate("g", "x.tf", "", "own")), &[("root.hcl", &root)]);
    assert_eq!((merged.unread.len(), merged.generated.len()), (0, 1));
    let disabled = generate("g", "x.tf", "  disable = true\n  if_disabled = \"remove\"\n", "a");
    assert_eq!(unit(&disabled, &[]).generated[0].action, Action::Remove(false));
}

#[test]
fn unknown_values_are_holes_only_where_they_decide_nothing() {
    let provider = |value: &str| format!("provider \"aws\" {{\n  region = {value}\n}}");
    for (contents, is_read) in [
        (provider("\"${run_cmd(\"x\")}\""), true),
        (provider("\"${get_env(\"R\")}-x\""), true),
        (provider("\"%{ if get_env(\"R\") == \"a\" }b%{ endif }\""), true),
        (provider("${run_cmd(\"x\")}"), false),
        (provider("${jsonencode(run_cmd(\"x\"))}"), true),
        ("${run_cmd(\"x\")}".to_owned(), false),
        ("provider \"${get_env(\"P\")}\" {\n}".to_owned(), false),
    ] {
        let unit = unit(&generate("g", "x.tf", "", &contents), &[]);
        assert_eq!((unit.unread.is_empty(), !unit.holes.is_empty()), (is_read, is_read), "{contents}");
    }
    let text = format!("locals {{\n  c = <<EOT\n{}\nEOT\n}}\n", provider("\"${get_env(\"R\")}\""));
    let unit =
        unit(&(text + "generate \"g\" {\n  path = \"x.tf\"\n  if_exists = \"skip\"\n  contents = local.c\n}\n"), &[]);
    assert_eq!((unit.unread.len(), unit.holes.len()), (0, 1));
}

#[test]
fn nothing_unknown_stands_in_the_authority_of_an_address() {
    for source in [
        "git::https://${get_env(\"TOKEN\")}@h.example/r.git//d?ref=v1",
        "git::https://x:${get_env(\"TOKEN\")}@h.example/r.git//d?ref=v1",
        "https://${get_env(\"GITHUB_HEAD_REF\")}@good.example/x.zip",
        "git::https://${get_env(\"HOST\")}/x@y/r.git",
        "git::https://${get_env(\"A\")}@${get_env(\"B\")}/r.git",
        "git::ssh://${get_env(\"A\")}@h.example/r.git",
    ] {
        let reason = computed(&format!("\"{source}\""), &[]).unwrap_err();
        assert!(reason.contains("add `terragrunt { env = {"), "{source}: {reason}");
    }
}

#[test]
fn broken_files_are_errors() {
    let include = "include {\n  path = \"../../root.hcl\"\n}\n";
    let files = [("live/a/terragrunt.hcl", include), ("root.hcl", "locals {\n")];
    let errors = read(&files, &[]).unwrap_err();
    assert_eq!(errors.iter().map(|error| error.file.to_str().unwrap()).collect::<Vec<_>>(), ["root.hcl"]);
}

#[test]
fn what_a_configuration_does_not_state_is_certainly_missing() {
    let of = |file: &str, expression: &str| {
        let text = format!("terraform {{\n  source = {expression} ? \"../yes\" : \"../no\"\n}}\n");
        source(&text, &[("live/a/x.hcl", file)]).ok()
    };
    let read = "read_terragrunt_config(\"x.hcl\")";
    let [yes, no] = ["../yes", "../no"].map(|text| Some(text.to_owned()));
    for name in ["catalog", "engine", "errors", "exclude", "include", "prevent_destroy", "remote_state", "terraform"] {
        assert_eq!(of("", &format!("can({read}.{name})")), no, "{name}");
        assert_eq!(of("", &format!("try({read}[\"{name}\"], 5) == 5")), yes, "{name}");
        assert_eq!(of("new_block {\n}\n", &format!("can({read}.{name})")), None, "{name}");
    }
    for (name, file) in [
        ("catalog", "catalog {\n}\n"),
        ("engine", "engine {\n  source = \"x\"\n}\n"),
        ("exclude", "exclude {\n  if = true\n  actions = []\n}\n"),
        ("prevent_destroy", "prevent_destroy = true\n"),
        ("remote_state", "remote_state = null\n"),
    ] {
        assert_eq!(of(file, &format!("can({read}.{name})")), None, "{name}");
        assert_eq!(of(file, &format!("{read}.{name} == null")), None, "{name}");
    }
    for name in ["dependencies", "iam_assume_role_duration", "inputs", "locals"] {
        assert_eq!(of("", &format!("{read}.{name} == null")), yes, "{name}");
    }
    for name in ["dependency", "feature", "generate"] {
        assert_eq!(of("", &format!("length({read}.{name}) == 0")), yes, "{name}");
    }
    for name in ["values", "skip", "retryable_errors", "new"] {
        assert_eq!(of("", &format!("can({read}.{name})")), None, "{name}");
    }
    // Nobody makes an object open by a name, nor marks an attribute as missing.
    for text in [r#"{ "\u0000" = 1 }"#, r#"{ "\u0000x" = 1, x = 2 }"#, r#"{ "\u0000" = 1, x = 2 }"#] {
        assert_eq!(of("", &format!("can({text}.x)")), None, "{text}");
    }
    assert_eq!(of("", r#"can(jsondecode("{\"\\u0000\": 1}").x)"#), None);
}

#[test]
fn the_more_units_the_less_each_may_take() {
    let text = "terraform {\n  source = length([for i in range(200) : [for j in range(200) : j]]) == 200 ? \"../m\" : \"\"\n}\n";
    let unread = |roots| {
        let unit = Unit::read(&UnitRequest {
            path: "/w/live/a/terragrunt.hcl",
            top: "/w",
            files: &Memory(&[("live/a/terragrunt.hcl", text)]),
            environment: &Environment::new(),
            vouched: &Vouched::default(),
            parsed: &ParsedFiles::default(),
            roots,
            compares: true,
        });
        unit.unwrap().unread.into_iter().map(|part| part.reason).collect::<Vec<_>>()
    };
    assert_eq!(unread(1), Vec::<String>::new());
    let reasons = unread(1000);
    assert!(reasons.len() == 1 && reasons[0].contains(" 1 MB "), "{reasons:?}");
}

#[test]
fn hooks_that_run_at_init_are_noted() {
    let notes = |kind: &str, commands: &str| {
        let hook = format!(
            "  {kind} \"copy\" {{\n    commands = {commands}\n    execute  = [\"cp\", \"x.tf\", \".\"]\n  }}\n"
        );
        let unit = unit(&format!("terraform {{\n  source = \"../b\"\n{hook}}}\n"), &[]);
        assert!(unit.unread.is_empty());
        unit.notes.into_iter().map(|note| (note.reason, note.place.position.line)).collect::<Vec<_>>()
    };
    let copying = [("the hook \"copy\" runs at init, and what it changes is not read".to_owned(), 3)];
    assert_eq!(notes("before_hook", "[\"plan\", \"init\"]"), copying);
    assert_eq!(notes("after_hook", "[\"init-from-module\"]"), copying);
    assert_eq!(notes("before_hook", "[get_env(\"X\")]"), copying);
    assert_eq!(notes("before_hook", "[\"apply\"]"), []);
}
