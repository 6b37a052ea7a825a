//! Random repositories with one unit: a root, an environment, a region, a common file and a peer, which refer to each other.

use super::Files;
use crate::support::dice::Dice;

const MODULES: [&str; 4] = ["a", "b", "c", "d"];
const PROVIDERS: [&str; 5] = ["tls", "null", "random", "time", "local"];
const NAMES: [&str; 3] = ["versions.tf", "provider.tf", "extra.tf"];

/// A repository, and the directory of its unit.
pub fn tree(seed: u64) -> (Files, String) {
    let mut dice = Dice::of(seed);
    let dice = &mut dice;
    let unit = format!("live/{}/{}/lake", dice.pick(&["dev", "eu"]), dice.pick(&["west", "a.b"]));
    let region = unit.rsplit_once('/').unwrap().0;
    let environment = region.rsplit_once('/').unwrap().0;
    let mut files = Files::new();
    for name in MODULES {
        files.insert(
            format!("modules/{name}/main.tf"),
            format!("resource \"{}_thing\" \"x\" {{}}\n", dice.pick(&PROVIDERS)),
        );
        if dice.one_in(2) {
            let file = dice.pick(&NAMES);
            files.insert(format!("modules/{name}/{file}"), requirement(dice));
        }
    }
    files.insert("root.hcl".to_owned(), root(dice));
    files.insert("pick.json".to_owned(), format!("{{\"pick\": \"{}\"}}\n", dice.pick(&MODULES)));
    let locals = |pick: &str| {
        format!(
            "locals {{\n  pick = \"{pick}\"\n  here = get_terragrunt_dir()\n  unit = get_original_terragrunt_dir()\n}}\n"
        )
    };
    files.insert(format!("{environment}/env.hcl"), locals(dice.pick(&MODULES)));
    files.insert(format!("{region}/region.hcl"), locals(dice.pick(&MODULES)));
    files.insert("_common/c.hcl".to_owned(), common(dice));
    files.insert(format!("{region}/peer/terragrunt.hcl"), peer(dice));
    files.insert(format!("{unit}/terragrunt.hcl"), text_of_unit(dice));
    if dice.one_in(3) {
        files.insert(format!("{unit}/terragrunt.values.hcl"), format!("which = \"{}\"\n", dice.pick(&MODULES)));
    }
    if dice.one_in(3) {
        let file = dice.pick(&NAMES);
        files.insert(format!("{unit}/{file}"), requirement(dice));
    }
    (files, unit)
}

fn requirement(dice: &mut Dice) -> String {
    let provider = dice.pick(&PROVIDERS);
    if dice.one_in(2) {
        return format!("provider \"{provider}\" {{}}\n");
    }
    let version = dice.pick(&["~> 1.0", ">= 1.2", "= 1.2.3", ">= 1.0, < 4.0"]);
    format!(
        "terraform {{\n  required_providers {{\n    {provider} = {{\n      source  = \"hashicorp/{provider}\"\n      version = \"{version}\"\n    }}\n  }}\n}}\n"
    )
}

fn generate(dice: &mut Dice, label: &str) -> String {
    let if_exists = dice.pick(&["overwrite", "overwrite_terragrunt", "skip", "error"]);
    let disabled = match dice.below(8) {
        0 => "  disable = true\n",
        1 => "  disable = true\n  if_disabled = \"remove\"\n",
        2 => "  disable = true\n  if_disabled = \"remove_terragrunt\"\n",
        3 => "  disable = false\n",
        _ => "",
    };
    let (path, contents) = (dice.pick(&NAMES), requirement(dice));
    format!(
        "generate \"{label}\" {{\n  path      = \"{path}\"\n  if_exists = \"{if_exists}\"\n{disabled}  contents  = <<EOT\n{contents}EOT\n}}\n"
    )
}

fn include(dice: &mut Dice, label: &str, path: &str) -> String {
    let strategy = dice.pick(&[
        "",
        "  merge_strategy = \"shallow\"\n",
        "  merge_strategy = \"deep\"\n",
        "  merge_strategy = \"no_merge\"\n",
    ]);
    let expose = if dice.one_in(4) { "" } else { "  expose = true\n" };
    format!("include \"{label}\" {{\n  path = {path}\n{expose}{strategy}}}\n")
}

fn inputs(dice: &mut Dice) -> String {
    let (pick, deep, key) = (dice.pick(&MODULES), dice.pick(&MODULES), dice.pick(&["x", "y", "z"]));
    let deep = if dice.one_in(3) {
        String::new()
    } else {
        format!("  deep = {{\n    {key} = \"{deep}\"\n    list = [\"{key}\"]\n  }}\n")
    };
    let pick = if dice.one_in(3) { String::new() } else { format!("  pick = \"{pick}\"\n") };
    format!("inputs = {{\n{pick}{deep}}}\n")
}

fn root(dice: &mut Dice) -> String {
    let source = match dice.below(4) {
        0 => "terraform {\n  source = \"${get_repo_root()}/modules/${local.pick}\"\n}\n".to_owned(),
        1 => "terraform {\n  source = \"${get_parent_terragrunt_dir()}/modules//${local.first}\"\n}\n".to_owned(),
        _ => String::new(),
    };
    let label = dice.pick(&["root", "unit"]);
    let generate = if dice.one_in(2) { generate(dice, label) } else { String::new() };
    let pick = dice.pick(&MODULES);
    format!(
        "locals {{\n  pick  = jsondecode(file(\"pick.json\")).pick\n  parts = split(\"/\", path_relative_to_include())\n  first = length(local.parts) > 99 ? \"a\" : \"{pick}\"\n  \
         env   = read_terragrunt_config(find_in_parent_folders(\"env.hcl\"))\n  up    = path_relative_from_include()\n}}\n{source}{}{generate}",
        inputs(dice)
    )
    .replace("length(local.parts) > 99", "length(local.parts) == 99")
}

fn common(dice: &mut Dice) -> String {
    let source = if dice.one_in(2) {
        format!(
            "terraform {{\n  source = \"${{get_terragrunt_dir()}}/../../../../modules/{}\"\n}}\n",
            dice.pick(&MODULES)
        )
    } else {
        String::new()
    };
    let generate = if dice.one_in(2) { generate(dice, "common") } else { String::new() };
    format!("locals {{\n  pick = basename(\"/m/{}\")\n}}\n{source}{}{generate}", dice.pick(&MODULES), inputs(dice))
}

const ROOT: &str = "find_in_parent_folders(\"root.hcl\")";

fn peer(dice: &mut Dice) -> String {
    format!("{}{}", include(dice, "root", ROOT), inputs(dice))
}

/// An expression for the name of a module.
fn pick(dice: &mut Dice) -> &'static str {
    dice.pick(&[
        "\"b\"",
        "local.name",
        "include.root.locals.pick",
        "include.root.locals.env.locals.pick",
        "include.common.locals.pick",
        "values.which",
        "try(values.which, \"c\")",
        "try(include.root.inputs.pick, \"d\")",
        "try(include.root.inputs.deep.x, \"a\")",
        "try(include.common.inputs.deep[\"y\"], \"b\")",
        "read_terragrunt_config(find_in_parent_folders(\"region.hcl\")).locals.pick",
        "read_terragrunt_config(\"../peer\").inputs.pick",
        "try(read_terragrunt_config(\"../peer/terragrunt.hcl\").inputs.deep.x, \"c\")",
        "try(read_terragrunt_config(\"../peer/terragrunt.hcl\").inputs.deep.z, \"d\")",
        "try(basename(read_terragrunt_config(\"../peer/terragrunt.hcl\").terraform.source), \"a\")",
        "read_terragrunt_config(\"none.hcl\", { inputs = { pick = \"d\" } }).inputs.pick",
        "basename(read_terragrunt_config(find_in_parent_folders(\"region.hcl\")).locals.unit) == \"lake\" ? \"a\" : \"b\"",
        "basename(read_terragrunt_config(find_in_parent_folders(\"region.hcl\")).locals.here) == \"lake\" ? \"a\" : \"b\"",
        "fileexists(\"versions.tf\") ? \"a\" : \"c\"",
        "lookup(merge({ m = \"a\" }, { m = \"c\" }), \"m\", \"d\")",
        "element(split(\"/\", get_path_to_repo_root()), 9) == \"..\" ? \"c\" : \"d\"",
        "path_relative_to_include(\"root\") == path_relative_from_include(\"root\") ? \"a\" : \"d\"",
        "trimsuffix(\"b.tf\", \".tf\")",
        "format(\"%s%s\", \"\", lower(\"C\"))",
        "replace(\"xd\", \"x\", \"\")",
        "keys({ c = 1 })[0]",
    ])
}

fn text_of_unit(dice: &mut Dice) -> String {
    let mut text = include(dice, "root", ROOT);
    if dice.one_in(2) {
        text += &include(dice, "common", "\"${dirname(find_in_parent_folders(\"root.hcl\"))}/_common/c.hcl\"");
    }
    let name = pick(dice).replace("local.name", "\"a\"");
    text.extend(["locals {\n  name = ", &name, "\n}\n"]);
    let source = match dice.below(5) {
        0 => String::new(),
        1 => "terraform {\n  source = null\n}\n".to_owned(),
        2 => format!("terraform {{\n  source = \"../../../../modules//${{{}}}\"\n}}\n", pick(dice)),
        _ => format!("terraform {{\n  source = \"${{get_repo_root()}}/modules/${{{}}}\"\n}}\n", pick(dice)),
    };
    text += &source;
    text += &inputs(dice);
    if dice.one_in(2) {
        text += &generate(dice, "unit");
    }
    text
}
