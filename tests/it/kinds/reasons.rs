//! For each reason for which the requirements of a unit are not read: two trees that differ in one token, of which one raises it.

use crate::support::locked::{LOCK, honest, locked};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// A part of the reason, the token that raises it, the one that does not, and the files that have the token at `@`.
struct Pair {
    reason: &'static str,
    tokens: [&'static str; 2],
    files: Vec<(String, String)>,
}

/// A unit whose source is an expression for the name of its module, next to other files.
fn named(reason: &'static str, expression: &str, tokens: [&'static str; 2], others: &[(&str, &str)]) -> Pair {
    unit(reason, &format!("terraform {{\n  source = \"../modules/${{{expression}}}\"\n}}\n"), tokens, others)
}

/// A unit, next to other files.
fn unit(reason: &'static str, text: &str, tokens: [&'static str; 2], others: &[(&str, &str)]) -> Pair {
    let files = [("live/terragrunt.hcl", text)].into_iter().chain(others.iter().copied());
    Pair { reason, tokens, files: files.map(|(path, text)| (path.to_owned(), text.to_owned())).collect() }
}

/// A unit of a module that calls one whose source depends on a variable.
fn with_variable(reason: &'static str, text: &str, tokens: [&'static str; 2]) -> Pair {
    let source = "  source = \"../modules/called\"\n";
    let text = if text.contains("terraform {\n") {
        text.replace("terraform {\n", &format!("terraform {{\n{source}"))
    } else {
        format!("terraform {{\n{source}}}\n{text}")
    };
    let calls = "variable \"v\" {\n  default = \"sub\"\n}\nmodule \"m\" {\n  source = \"./${var.v}\"\n}\n";
    let others = [
        ("modules/called/main.tf", calls),
        ("modules/called/sub/main.tf", ""),
        (".tflock.hcl", "tool = \"tofu\"\n"),
        ("live/x.tfvars", "v = \"sub\"\n"),
    ];
    unit(reason, &text, tokens, &others)
}

const LOCAL: &str = "locals {\n  x = \"net\"\n}\n";
const OTHER: (&str, &str) = ("live/other.hcl", LOCAL);
const NAME: (&str, &str) = ("live/name.txt", "net");
const ROOT: (&str, &str) = ("root.hcl", "terraform {\n  source = \"../modules/net\"\n}\n");
const SOURCE: &str = "terraform {\n  source = \"../modules/net\"\n}\n";
const BOTH: &str = "include \"a\" {\n  path = \"../root.hcl\"\n}\ninclude \"b\" {\n  path = \"../root.hcl\"\n}\nterraform {\n  source = ";

fn of_functions() -> Vec<Pair> {
    let template = |text| [("live/t.tpl", text)];
    vec![
        named("a program, which tflock does not start", "@(\"net\")", ["run_cmd", "lower"], &[]),
        named("an encrypted file", "@(\"net\")", ["sops_decrypt_file", "lower"], &[]),
        named("an account of AWS", "@() == \"\" ? \"x\" : \"net\"", ["get_aws_account_id", "get_repo_root"], &[]),
        named("the command or the machine", "@() == \"\" ? \"x\" : \"net\"", ["get_platform", "get_repo_root"], &[]),
        named("it depends on lowr()", "@(\"net\")", ["lowr", "lower"], &[]),
        named("an argument is not a string", "file(@)", ["[]", "\"name.txt\""], &[NAME]),
        named("the number of arguments is wrong", "get_repo_root(@) == \"\" ? \"x\" : \"net\"", ["\"a\"", ""], &[]),
        named(
            "the settings say that X is never set",
            "get_env(\"X\")",
            ["null", "\"net\""],
            &[(".tflock.hcl", "terragrunt {\n  env = { X = @ }\n}\n")],
        ),
        named(
            "get_env(\"X\"): if it is always the same, add `terragrunt { env = { X =",
            "get_env(\"X\")",
            ["Y", "X"],
            &[(".tflock.hcl", "terragrunt {\n  env = { @ = \"net\" }\n}\n")],
        ),
        named(
            "which a run may set: if it is never set, add `terragrunt { env = { X = null } }`",
            "get_env(\"X\", \"net\")",
            ["Y", "X"],
            &[(".tflock.hcl", "terragrunt {\n  env = { @ = null }\n}\n")],
        ),
        named(
            "which finds nothing in the repository",
            "find_in_parent_folders(\"@.hcl\") == \"\" ? \"x\" : \"net\"",
            ["none", "root"],
            &[ROOT],
        ),
        named("abspath() of a relative path", "basename(abspath(\"@net\"))", ["", "/"], &[]),
        named("the home directory", "basename(pathexpand(\"@net\"))", ["~/", "/"], &[]),
        named("it takes one path", "file(\"name.txt\"@)", [", \"x\"", ""], &[NAME]),
        named("it is a directory", "fileexists(\"@\") ? \"x\" : \"net\"", ["../modules", "none"], &[]),
        named(
            "it takes a path and a pattern",
            "length(fileset(\".\"@)) == 0 ? \"net\" : \"x\"",
            ["", ", \"*.none\""],
            &[],
        ),
        named(
            "a symbolic link to a directory",
            "length(fileset(\".\", \"@x.none\")) == 0 ? \"net\" : \"x\"",
            ["**/", ""],
            &[("live/d", "link:../modules")],
        ),
        named("fileset() with", "length(fileset(\".\", \"@*.none\")) == 0 ? \"net\" : \"x\"", ["../", ""], &[]),
        named(
            "x.tfvars has errors",
            "jsondecode(read_tfvars_file(\"x.tfvars\")).a",
            ["\n{", ""],
            &[("live/x.tfvars", "a = \"net\"@\n")],
        ),
        named(
            "x.tfvars has a value that is not constant",
            "jsondecode(read_tfvars_file(\"x.tfvars\")).a",
            ["local.x", "\"net\""],
            &[("live/x.tfvars", "a = @\n")],
        ),
        named(
            "it takes a path and perhaps a default",
            "read_terragrunt_config(\"other.hcl\"@).locals.x",
            [", 1, 2", ""],
            &[OTHER],
        ),
        named("the path is not a string", "read_terragrunt_config(@).locals.x", ["null", "\"other.hcl\""], &[OTHER]),
        named(
            "a stack of Terragrunt",
            "read_terragrunt_config(\"@.hcl\").locals.x",
            ["terragrunt.stack", "other"],
            &[OTHER, ("live/terragrunt.stack.hcl", LOCAL)],
        ),
        named("it takes a path and variables", "templatefile(\"t.tpl\"@)", ["", ", {}"], &template("net")),
        named("t.tpl, which is no template", "templatefile(\"t.tpl\", {})", ["${", ""], &template("net@")),
        named("name.txt, which is not UTF-8", "file(\"name.txt\")", ["\u{fffd}", ""], &[("live/name.txt", "net@")]),
        named("which is outside of the repository", "file(\"@name.txt\")", ["~/", ""], &[NAME]),
        named("which is outside of the working tree", "file(\"@name.txt\")", ["/etc/", ""], &[NAME]),
        named(
            "which is in .git and so not a part of the repository",
            "file(\"@\")",
            ["../.git/HEAD", "name.txt"],
            &[NAME],
        ),
        named("which git ignores", "file(\"name.txt\")", ["name", "other"], &[NAME, (".gitignore", "@.txt\n")]),
        named("which the repository does not have", "file(\"@.txt\")", ["none", "name"], &[NAME]),
        named("which cannot be read", "file(\"@.txt\")", [LONG, "name"], &[NAME]),
        #[cfg(unix)]
        named(
            "which is not read",
            "file(\"name.txt\")",
            ["/etc/hostname", "real.txt"],
            &[("live/name.txt", "link:@"), ("live/real.txt", "net")],
        ),
    ]
}

/// The name of a file that no file system has.
const LONG: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

const VALUES: (&str, &str) = ("live/terragrunt.values.hcl", "a = \"net\"\nb = local.x\nc = lower(\"net\")\n");

fn of_names() -> Vec<Pair> {
    let local = "locals {\n  x = {\n    value = \"net\"\n    y     = \"net\"\n  }\n}\n";
    let source = |expression: &str| format!("terraform {{\n  source = \"../modules/${{{expression}}}\"\n}}\n");
    let of_includes = |argument: &str| format!("{BOTH}\"../modules/${{{argument} == \"\" ? \"x\" : \"net\"}}\"\n}}\n");
    vec![
        unit("of the unit is not read", SOURCE, ["/var", "../modules/net"], &[("live/tests", "link:@")]),
        unit("an output of another unit", &(source("@.x.y") + local), ["dependency", "local"], &[]),
        unit("Terragrunt knows no var.x.y here", &(source("@.x.y") + local), ["var", "local"], &[]),
        unit("there is no local.y", &(source("local.@") + LOCAL), ["y", "x"], &[]),
        unit("local.x refers to itself", &(source("local.x") + "locals {\n  x = @\n}\n"), ["local.x", "\"net\""], &[]),
        unit("there is no feature.x with a default", &(source("@.x.value") + local), ["feature", "local"], &[]),
        unit(
            "feature.x, which the command line may set",
            &(source("@.x.value") + local + "feature \"x\" {\n  default = \"net\"\n}\n"),
            ["feature", "local"],
            &[],
        ),
        named("there is no values.b", "values.@", ["b", "a"], &[("live/terragrunt.values.hcl", "a = \"net\"\n")]),
        unit(
            "there is no include \"root\" with `expose = true`",
            &(source("include.root.locals.x") + "include \"root\" {\n  path   = \"other.hcl\"\n  expose = @\n}\n"),
            ["false", "true"],
            &[OTHER],
        ),
        named(
            "what live/other.hcl configures besides",
            "read_terragrunt_config(\"other.hcl\").@.x",
            ["values", "locals"],
            &[OTHER],
        ),
        named(
            "what live/other.hcl configures besides",
            "read_terragrunt_config(\"other.hcl\").@.x",
            ["skip", "locals"],
            &[OTHER],
        ),
        unit("there is no include \"c\"", &of_includes("get_parent_terragrunt_dir(\"@\")"), ["c", "a"], &[ROOT]),
        unit(
            "there are several includes, and no label says which",
            &of_includes("get_parent_terragrunt_dir(@)"),
            ["", "\"a\""],
            &[ROOT],
        ),
        unit("an include has no path", "include \"a\" {\n  @ = \"../root.hcl\"\n}\n", ["paht", "path"], &[ROOT]),
        unit("a string is required", "include \"a\" {\n  path = @\n}\n", ["[]", "\"../root.hcl\""], &[ROOT]),
        unit(
            "local.x is used in the path of an include",
            "include \"a\" {\n  path = @\n}\nlocals {\n  x = \"../root.hcl\"\n}\n",
            ["local.x", "\"../root.hcl\""],
            &[ROOT],
        ),
        unit(
            "up.hcl is included and includes further files",
            "include \"a\" {\n  path = \"../up.hcl\"\n}\n",
            ["include \"b\" {\n  path", "feature \"b\" {\n  default"],
            &[("up.hcl", &format!("{SOURCE}@ = \"root.hcl\"\n}}\n"))],
        ),
        unit(
            "tflock does not know terraform.mood of Terragrunt",
            "terraform {\n  source = \"../modules/net\"\n  @ = null\n}\n",
            ["mood", "mutable"],
            &[],
        ),
        named("its module is in ../modules/none", "\"@\"", ["none", "net"], &[]),
        unit(
            "its module is in ../.git, which is in .git and so not a part of the repository",
            "terraform {\n  source = \"@\"\n}\n",
            ["../.git", "../modules/net"],
            &[],
        ),
        unit(
            "its module is in ../../.., which is outside of the working tree",
            "terraform {\n  source = \"../@\"\n}\n",
            ["../..", "modules/net"],
            &[],
        ),
        unit(
            "there is no configuration in the directory that Terragrunt assembles",
            "terraform {\n  source = \"../modules/empty\"\n}\n",
            ["md", "tf"],
            &[("modules/empty/main.@", "")],
        ),
        unit(
            "the source is a module of a registry, and no version is written",
            "terraform {\n  source = \"tfr:///a/b/c@\"\n}\n",
            ["", "?version=1.0.0"],
            &[],
        ),
        unit(
            "the version of the source is",
            "terraform {\n  source = \"tfr:///a/b/c?version=@\"\n}\n",
            ["x", "1.0.0"],
            &[],
        ),
    ]
}

/// What means something else by who reads it, or where Terragrunt copies it.
fn of_copies() -> Vec<Pair> {
    vec![
        named("the name local.x in live/terragrunt.values.hcl", "values.@", ["b", "a"], &[VALUES]),
        named("the function lower in live/terragrunt.values.hcl", "values.@", ["c", "a"], &[VALUES]),
        unit(
            "b/terragrunt.autoinclude.hcl, which Terragrunt may merge into b/s.hcl",
            "include \"s\" {\n  path = \"../@/s.hcl\"\n}\n",
            ["b", "c"],
            &[("b/s.hcl", SOURCE), ("c/s.hcl", SOURCE), ("b/terragrunt.autoinclude.hcl", "")],
        ),
        unit(
            "a link is on the way to ln, and Terragrunt copies what it leads to",
            "terraform {\n  source = \"../modules//@\"\n}\n",
            ["ln", "net"],
            &[("modules/ln", "link:net")],
        ),
        unit(
            "the module has .terragrunt-module-manifest, a list of files that Terragrunt removes",
            "terraform {\n  source = \"../modules/@\"\n}\n",
            ["listed", "net"],
            &[("modules/listed/main.tf", ""), ("modules/listed/.terragrunt-module-manifest", "")],
        ),
        unit(
            ".net is hidden: Terragrunt copies what include_in_copy names",
            "terraform {\n  source = \"../modules//@\"\n}\n",
            [".net", "net"],
            &[("modules/.net/main.tf", "")],
        ),
    ]
}

fn of_limits() -> Vec<Pair> {
    let chain: Vec<(String, String)> = (0..14)
        .map(|at| {
            let next = format!("read_terragrunt_config(\"l{}.hcl\").locals.x", at + 1);
            let value = if at == 13 { "\"net\"" } else { &*next };
            (format!("live/l{at}.hcl"), format!("locals {{\n  x = {value}\n}}\n"))
        })
        .collect();
    let many: Vec<(String, String)> =
        (0..501).map(|at| (format!("live/f{at}.hcl"), "locals {\n  x = \"\"\n}\n".to_owned())).collect();
    let with = |pair: Pair, others: Vec<(String, String)>| Pair { files: [pair.files, others].concat(), ..pair };
    let deep = "d/".repeat(101);
    let above = "terraform {\n  source = \"${get_repo_root()}/modules/${find_in_parent_folders(\"none.hcl\"@)}\"\n}\n";
    vec![
        with(
            named(
                "files that read each other over more than 12 levels",
                "read_terragrunt_config(\"l@.hcl\").locals.x",
                ["0", "9"],
                &[],
            ),
            chain,
        ),
        with(
            named(
                "more than 500 files",
                "format(\"net%s\", join(\"\", [for n in range(@) : read_terragrunt_config(\"f${n}.hcl\").locals.x]))",
                ["501", "5"],
                &[],
            ),
            many,
        ),
        Pair {
            reason: "no directory above has the file",
            tokens: ["", ", \"net\""],
            files: vec![(format!("{deep}terragrunt.hcl"), above.to_owned())],
        },
    ]
}

fn of_generated_files() -> Vec<Pair> {
    let generate = |label: &str, path: &str, if_exists: &str, contents: &str| {
        format!(
            "generate \"{label}\" {{\n  path      = \"{path}\"\n  if_exists = \"{if_exists}\"\n  contents  = {contents}\n}}\n"
        )
    };
    let one = generate("g", "g.tf", "overwrite", "\"# a\"");
    let state = "remote_state {\n  backend = \"s3\"\n  generate = {\n    path = \"@b.tf\"\n    if_exists = \"overwrite\"\n  }\n  config = {}\n}\n";
    let pair = |reason, text: &str, tokens| unit(reason, &format!("{SOURCE}{text}"), tokens, &[]);
    vec![
        pair(
            "from two blocks in random order, and the other one is at",
            &(one.clone() + &generate("h", "@.tf", "overwrite", "\"# b\"")),
            ["g", "h"],
        ),
        pair(
            "there are two generate blocks \"g\", which Terragrunt refuses",
            &(one + &generate("@", "h.tf", "overwrite", "\"\"")),
            ["g", "h"],
        ),
        pair(
            "the generate block \"g\" writes outside of the working directory, to",
            &generate("g", "@g.tf", "overwrite", "\"\""),
            ["../", "./"],
        ),
        pair("remote_state writes outside of the working directory, to", state, ["../", "./"]),
        pair(
            "the generate block \"g\" writes .terraform.lock.hcl, which decides what the tool installs",
            &generate("g", "@.terraform.lock.hcl", "overwrite", "\"\""),
            ["", "sub/"],
        ),
        pair("a part of a generated file is null", &generate("g", "g.tf", "overwrite", "@"), ["null", "\"\""]),
        pair("it is not an object", "generate = @\n", ["[]", "{}"]),
        unit(
            "exclude_from_copy may leave out main.tf",
            "terraform {\n  source            = \"../modules/net\"\n  exclude_from_copy = [\"@\"]\n}\n",
            ["*.tf", "*.md"],
            &[],
        ),
        unit(
            "include_in_copy may copy .x.auto.tfvars",
            "terraform {\n  source          = \"../modules/net\"\n  include_in_copy = [\"@\"]\n}\n",
            [".x.auto.tfvars", ".tflint.hcl"],
            &[("live/.x.auto.tfvars", "")],
        ),
        pair(
            "Terragrunt does not generate main.tf, as another file of that name exists",
            &generate("g", "main.tf", "@", "\"\""),
            ["error", "skip"],
        ),
        pair(
            "a program, which tflock does not start",
            &generate("g", "g.tf", "overwrite", "\"provider \\\"widget\\\" {\\n  a = @${run_cmd(\"x\")}@\\n}\""),
            ["", "\\\""],
        ),
    ]
}

/// A value that is not known.
const UNKNOWN: &str = "get_env(\"X\")";

fn of_variables() -> Vec<Pair> {
    let extra = |arguments: &str| {
        format!("terraform {{\n  extra_arguments \"a\" {{\n    commands = [\"init\"]\n    {arguments}\n  }}\n}}\n")
    };
    vec![
        with_variable("the inputs are not known", "inputs = @\n", [UNKNOWN, "{}"]),
        with_variable("the input \"v\" is not known", "inputs = {\n  v = @\n}\n", [UNKNOWN, "\"sub\""]),
        with_variable("extra_arguments may set them", &extra("").replace("[\"init\"]", "@"), [UNKNOWN, "[\"init\"]"]),
        with_variable("env_vars may set them", &extra("env_vars = @"), [UNKNOWN, "{}"]),
        with_variable("extra_arguments set TF_WORKSPACE", &extra("env_vars = { @ = \"x\" }"), ["TF_WORKSPACE", "X"]),
        with_variable("arguments of extra_arguments may set them", &extra("arguments = [@]"), [UNKNOWN, "\"-x\""]),
        with_variable(
            "x.tfvars of extra_arguments is not read",
            &extra("required_var_files = [\"@x.tfvars\"]"),
            ["", "${get_terragrunt_dir()}/"],
        ),
        with_variable(
            "a source of a module depends on variables, and",
            "inputs = {\n  v = @\n}\n",
            [UNKNOWN, "\"sub\""],
        ),
    ]
}

fn check(pairs: &[Pair]) {
    let registry = honest();
    let base = locked(&registry);
    let (main, lock) = (base.read("main.tf").replace("{{registry}}", &registry.host()), base.lock_file());
    for pair in pairs {
        let raised = pair.tokens.map(|token| is_raised(pair, token, &registry, [&main, &lock]));
        let [bad, good] = &raised;
        assert!(bad.contains(pair.reason), "{}: {bad}", pair.reason);
        assert!(good.is_empty(), "{}: {good}", pair.reason);
    }
}

/// What is said of requirements that are not read.
fn is_raised(pair: &Pair, token: &str, registry: &Registry, [main, lock]: [&str; 2]) -> String {
    let workspace = Workspace::with_files(&[("modules/net/main.tf", main)]);
    workspace.git(["init", "--quiet"]);
    for (path, text) in &pair.files {
        let text = text.replace('@', token);
        match text.strip_prefix("link:") {
            #[cfg(unix)]
            Some(target) => std::os::unix::fs::symlink(target, workspace.path(path)).unwrap(),
            _ => {
                let bytes: Vec<u8> = text.split('\u{fffd}').map(str::as_bytes).collect::<Vec<_>>().join(&0xff);
                workspace.write_bytes(&path.replace('@', token), &bytes);
            }
        }
    }
    let directory = pair.files[0].0.rsplit_once('/').unwrap().0;
    workspace.write(&format!("{directory}/{LOCK}"), lock);
    let run = workspace.tflock_in(directory, registry, ["verify", "--offline", "--format", "json"]);
    let findings = run.json()["findings"].as_array().cloned().unwrap_or_else(|| panic!("{run}"));
    let unread = findings.iter().filter(|finding| finding["rule"] == "requirements-unread");
    unread.map(ToString::to_string).collect::<String>().replace("\\\"", "\"")
}

#[test]
#[ignore = "long"]
fn one_token_decides_what_functions_read() {
    check(&of_functions());
}

#[test]
#[ignore = "long"]
fn one_token_decides_what_names_mean() {
    check(&of_names());
    check(&of_copies());
    check(&of_limits());
}

#[test]
#[ignore = "long"]
fn one_token_decides_what_is_generated_and_which_variables_are_set() {
    check(&of_generated_files());
    check(&of_variables());
}

/// Texts of the sources that are no reason for a finding, or that another test raises.
const OTHERS: &[&str] = &[
    // Beside `files.rs`, which raises it where git fails.
    "which git may ignore ({error})",
    // The file has errors, which are reported in its place.
    "{shown} cannot be read",
    // Around other reasons.
    "{}() fails: {reason}",
    // What is assumed, which is a note.
    "find_in_parent_folders({name:?}) gives its second argument: the repository has no such file in a directory above",
    "the hook {:?} runs at init, and what it changes is not read",
    // Why a lint is expected.
    "it is the result of a call",
    "no policy, which is an error where the file exists, is one of four words",
    // What is generated.
    "Generated by Terragrunt. Sig: nIlQXj57tbuaRZEa",
    // It takes a million paths.
    "which is one path too many to look for",
    // `facts_tests.rs` in core raises them, by what they keep from being read.
    "the program of terraform_binary",
    "the encryption of remote_state",
    "the engine",
    "env_vars that are not known",
    "arguments that are not known",
    "an argument that is not known",
    "read_tfvars_file() of {shown}, which has blocks",
    "read_terragrunt_config() with a default that is null",
    "{shown}, of which Terragrunt may refuse a part: inside try() and can() that counts",
    "tflock does not know {way} of Terragrunt; if it decides no requirement, terragrunt {{ harmless = [{way:?}] }} in the settings says so",
    "{reference}, the outputs of other units",
    "{key} with mocks",
    "what feature.{name} is besides its value",
    "Terragrunt refuses the generate block {label:?} because of its {name}",
    "Terragrunt refuses the if_exists of remote_state",
    "names in the {name} of remote_state are not known, or are no names",
    "there is no merge strategy {word:?}",
    "{kind}.{name}, which tflock does not know of Terragrunt",
    // Why no lock file is created, where the files have errors of their own.
    "its files cannot be read",
    // `attackers.rs` raises it, as it needs a base.
    "its source is computed, and the settings do not name {host} in module_hosts",
];

#[test]
fn each_reason_in_the_sources_has_a_pair() {
    let pairs = [of_functions(), of_names(), of_copies(), of_limits(), of_generated_files(), of_variables()];
    let pairs: Vec<&Pair> = pairs.iter().flatten().collect();
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut without = Vec::new();
    for folder in ["core/terragrunt", "disk/roots/unit", "disk/roots/walk"] {
        for file in std::fs::read_dir(top.join(folder)).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.file_name().unwrap().to_str().unwrap();
            if name == "tests.rs" || name == "facts_tests.rs" || folder.ends_with("walk") && name != "unit.rs" {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let reasons = literals(text.split("#[cfg(test)]\nmod").next().unwrap());
            assert!(!reasons.is_empty() || !["context.rs", "reads.rs", "source.rs"].contains(&name));
            let is_raised = |reason: &String| pairs.iter().any(|pair| pair.reason.contains(longest_part(reason)));
            let open = reasons.into_iter().filter(|reason| !OTHERS.contains(&&**reason) && !is_raised(reason));
            without.extend(open.map(|reason| format!("{}: {reason}", file.display())));
        }
    }
    assert!(without.is_empty(), "{}", without.join("\n"));
}

/// The string literals of a source that are sentences.
fn literals(source: &str) -> Vec<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: Vec<&str> = code.collect();
    let code = code.join("\n").replace("\\\"", "\u{1}").replace("'\"'", "");
    let literals = code.split('"').skip(1).step_by(2).map(|text| text.replace('\u{1}', "\""));
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_ascii_alphabetic());
    let is_sentence = |text: &String| text.split(' ').filter(is_word).count() > 1 && !text.contains(['\n', '\\']);
    literals.filter(is_sentence).collect()
}

/// The longest part of a reason that is always the same.
fn longest_part(reason: &str) -> &str {
    let parts = reason.split('}').map(|part| part.split('{').next().unwrap().trim_matches([' ', ',', ':', '(', ')']));
    parts.max_by_key(|part| part.len()).unwrap()
}
