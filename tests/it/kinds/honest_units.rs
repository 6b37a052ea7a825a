//! Honest changes of a repository of 60 units: what the gate denies of them.

use std::collections::BTreeMap;

use crate::support::each_is_right;
use crate::support::extent::{Extent, times};
use crate::support::locked::{LOCK, MAIN, honest, locked};
use crate::support::proposal::{GATE, commit, edit};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const ENVIRONMENTS: [&str; 2] = ["prod", "test"];
const REGIONS: [&str; 3] = ["eu", "us", "ap"];
/// The last one takes its module from the environment, so its units are not read.
const COMPONENTS: [&str; 10] = ["net", "db", "app", "cache", "queue", "dns", "logs", "keys", "jobs", "flavor"];

const ROOT: &str = r#"locals {
  env    = read_terragrunt_config(find_in_parent_folders("env.hcl")).locals
  region = read_terragrunt_config(find_in_parent_folders("region.hcl")).locals
}
remote_state {
  backend  = "s3"
  generate = { path = "backend.tf", if_exists = "overwrite_terragrunt" }
  config = {
    bucket = "state-${local.env.name}"
    key    = "${path_relative_to_include()}/terraform.tfstate"
  }
}
generate "provider" {
  path      = "provider.tf"
  if_exists = "overwrite_terragrunt"
  contents  = <<EOF
provider "widget" {
  region  = "${local.region.name}"
  account = "${get_env("ACCOUNT")}"
  token   = "${run_cmd("--terragrunt-quiet", "${get_repo_root()}/scripts/token.sh")}"
}
EOF
}
inputs = {
  env  = local.env.name
  tags = { team = "platform" }
}
"#;

fn unit(component: &str) -> String {
    let dependency = if component == "net" {
        String::new()
    } else {
        "dependency \"net\" {\n  config_path  = \"../net\"\n  mock_outputs = { id = \"net-1\" }\n}\n".to_owned()
    };
    let inputs = if component == "net" { "\"10.0.0.0/16\"" } else { "dependency.net.outputs.id" };
    format!(
        "include \"root\" {{\n  path = find_in_parent_folders(\"root.hcl\")\n}}\n\
         include \"common\" {{\n  path   = \"${{get_repo_root()}}/_envcommon/{component}.hcl\"\n  expose = true\n}}\n\
         {dependency}inputs = {{\n  net  = {inputs}\n  size = 1\n}}\n"
    )
}

fn repository(registry: &Registry) -> Workspace {
    let main = MAIN.replace("{{registry}}", &registry.host());
    let workspace = Workspace::with_files(&[
        ("root.hcl", ROOT),
        ("scripts/token.sh", "#!/bin/sh\necho t\n"),
        ("README.md", "# Infrastructure\n"),
        (".tflock.hcl", "tool = \"terraform\"\n"),
    ]);
    let lock = locked(registry).lock_file();
    for component in COMPONENTS {
        let module = if component == "flavor" { "${get_env(\"FLAVOR\")}" } else { component };
        workspace.write(
            &format!("_envcommon/{component}.hcl"),
            &format!(
                "locals {{\n  base = \"${{get_repo_root()}}/modules\"\n}}\n\
                 terraform {{\n  source = \"${{local.base}}//{module}\"\n}}\ninputs = {{\n  name = \"{component}\"\n}}\n"
            ),
        );
        workspace.write(&format!("modules/{component}/main.tf"), &format!("{main}variable \"size\" {{\n}}\n"));
        workspace.write(&format!("modules/{component}/outputs.tf"), "output \"id\" {\n  value = \"x\"\n}\n");
    }
    for environment in ENVIRONMENTS {
        workspace
            .write(&format!("live/{environment}/env.hcl"), &format!("locals {{\n  name = \"{environment}\"\n}}\n"));
        for region in REGIONS {
            let place = format!("live/{environment}/{region}");
            workspace.write(&format!("{place}/region.hcl"), &format!("locals {{\n  name = \"{region}\"\n}}\n"));
            for component in COMPONENTS {
                workspace.write(&format!("{place}/{component}/terragrunt.hcl"), &unit(component));
                workspace.write(&format!("{place}/{component}/{LOCK}"), &lock);
            }
        }
    }
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

/// Where a change is made.
struct Place {
    number: usize,
    /// A directory of a unit.
    unit: String,
    region: String,
    component: &'static str,
}

impl Place {
    fn of(number: usize) -> Self {
        // Each kind of change comes to each component.
        let (at, component) = (number / KINDS.len(), COMPONENTS[(number + number / KINDS.len()) % COMPONENTS.len()]);
        let region = format!("live/{}/{}", ENVIRONMENTS[at % 2], REGIONS[at % 3]);
        Self { number, unit: format!("{region}/{component}"), region, component }
    }

    fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.unit)
    }
}

fn copied(workspace: &Workspace, from: &str, to: &str) {
    for entry in std::fs::read_dir(workspace.path(from)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
        if workspace.path(&from).is_dir() {
            copied(workspace, &from, &to);
        } else {
            workspace.write(&to, &workspace.read(&from));
        }
    }
}

type Change = fn(&Workspace, &Place);

const KINDS: &[(&str, Change)] = &[
    ("an input", |it, at| edit(it, &at.file("terragrunt.hcl"), |text| text.replace("size = 1", "size = 2"))),
    ("one more input", |it, at| {
        edit(it, &at.file("terragrunt.hcl"), |text| text.replace("  size = 1", "  size = 1\n  tags = [\"a\"]"));
    }),
    ("a comment", |it, at| edit(it, &at.file("terragrunt.hcl"), |text| format!("# Owned by platform.\n{text}"))),
    ("a value of a region", |it, at| {
        edit(it, &format!("{}/region.hcl", at.region), |text| text.replace("}\n", "  zones = 3\n}\n"));
    }),
    ("a tag for all", |it, at| edit(it, "root.hcl", |text| text.replace("platform", &format!("team-{}", at.number)))),
    ("an input of a component", |it, at| {
        edit(it, &format!("_envcommon/{}.hcl", at.component), |text| text.replace("  name", "  size = 3\n  name"));
    }),
    ("a module with one more variable", |it, at| {
        edit(it, &format!("modules/{}/main.tf", at.component), |text| format!("{text}variable \"more\" {{\n}}\n"));
    }),
    ("a module with another constraint", |it, at| {
        edit(it, &format!("modules/{}/main.tf", at.component), |text| text.replace("~> 1.4", "~> 1.3"));
        for environment in ENVIRONMENTS {
            for region in REGIONS {
                let lock = format!("live/{environment}/{region}/{}/{LOCK}", at.component);
                edit(it, &lock, |text| text.replace("~> 1.4", "~> 1.3"));
            }
        }
    }),
    ("a new unit", |it, at| copied(it, &at.unit, &format!("{}-2", at.unit))),
    ("a new region", |it, at| {
        copied(it, &at.region, &format!("{}-2", at.region));
        edit(it, &format!("{}-2/region.hcl", at.region), |text| text.replace("name = \"", "name = \"new-"));
    }),
    ("a new module and a unit of it", |it, at| {
        copied(it, "modules/net", "modules/new");
        let common = it.read("_envcommon/net.hcl").replace("//net", "//new").replace("\"net\"", "\"new\"");
        it.write("_envcommon/new.hcl", &common);
        copied(it, &format!("{}/net", at.region), &format!("{}/new", at.region));
        edit(it, &format!("{}/new/terragrunt.hcl", at.region), |text| text.replace("net.hcl", "new.hcl"));
    }),
    ("a unit that moves", |it, at| {
        it.git(["mv", &at.unit, &format!("{}-moved", at.unit)]);
    }),
    ("a unit that goes", |it, at| {
        it.git(["rm", "-r", "--quiet", &at.unit]);
    }),
    ("a dependency", |it, at| {
        edit(it, &at.file("terragrunt.hcl"), |text| {
            format!(
                "{text}dependency \"keys\" {{\n  config_path = \"../keys\"\n  mock_outputs = {{ id = \"k\" }}\n}}\n"
            )
        });
    }),
    ("a page", |it, _| edit(it, "README.md", |text| format!("{text}\nMore.\n"))),
    ("a new environment", |it, at| {
        copied(it, "live/test", "live/stage");
        edit(it, "live/stage/env.hcl", |text| text.replace("test", &format!("stage{}", at.number)));
    }),
    ("another key of the state", |it, _| edit(it, "root.hcl", |text| text.replace("/terraform.tfstate", "/state"))),
    ("one more argument of a generated provider", |it, _| {
        edit(it, "root.hcl", |text| text.replace("  token  ", "  retries = 3\n  token  "));
    }),
    ("another unit in the place of one", |it, at| {
        let other = format!("{}/{}", at.region, if at.component == "db" { "app" } else { "db" });
        it.write(&at.file("terragrunt.hcl"), &it.read(&format!("{other}/terragrunt.hcl")));
    }),
    ("a script", |it, _| edit(it, "scripts/token.sh", |text| text.replace("echo t", "echo u"))),
];

/// The units of which something is denied, by rule.
fn denied(run: &Run) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let json = run.json();
    let (roots, tree) = (json["roots"].as_array(), &json["work_tree"]);
    for root in roots.into_iter().flatten().chain([tree]) {
        for finding in root["findings"].as_array().into_iter().flatten().filter(|it| it["level"] == "deny") {
            let place = finding["file"].as_str().or(root["path"].as_str()).unwrap_or_default();
            found.entry(finding["rule"].as_str().unwrap().to_owned()).or_default().push(place.to_owned());
        }
    }
    found
}

/// Nothing is denied but what cannot be read and changed itself: units whose module only the environment knows, and values that a script
/// gives that changed.
fn honest_changes_of_units_pass(extent: Extent) {
    let registry = honest();
    let base = repository(&registry);
    let numbers: Vec<usize> = (0..KINDS.len() * usize::try_from(times(1)).unwrap()).collect();
    each_is_right(&extent.of(&numbers, 6), |number| {
        let ((name, change), place) = (KINDS[**number % KINDS.len()], Place::of(**number));
        let workspace = base.copied();
        change(&workspace, &place);
        commit(&workspace, name);
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]));
        let found = denied(&run);
        let of_unread = |places: &Vec<String>| places.iter().all(|it| it.contains("flavor"));
        let is_of_unread = found.iter().all(|(rule, places)| rule == "requirements-unread" && of_unread(places));
        if (is_of_unread || name == "a script") && found.is_empty() == (run.code == Some(0)) {
            return Ok(());
        }
        Err(format!("{number} {name} {}: {:?} {found:?}", place.unit, run.code))
    });
}

#[test]
fn some_honest_changes_of_units_pass() {
    honest_changes_of_units_pass(Extent::Short);
}

#[test]
#[ignore = "long"]
fn all_honest_changes_of_units_pass() {
    honest_changes_of_units_pass(Extent::Long);
}
