//! A repository of 60 units as many have it: what of them is not read, and the one line of the settings that has it read.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::workspace::Workspace;

const ROOT: &str = r#"locals {
  account = read_terragrunt_config(find_in_parent_folders("account.hcl")).locals
  region  = read_terragrunt_config(find_in_parent_folders("region.hcl")).locals
  common  = yamldecode(file("common.yaml"))
  secrets = yamldecode(sops_decrypt_file(find_in_parent_folders("secrets.yaml")))
  tags    = merge(local.common.tags, { account = local.account.name, unit = path_relative_to_include() })
}

remote_state {
  backend = "s3"
  generate = {
    path      = "backend.tf"
    if_exists = "overwrite_terragrunt"
  }
  config = {
    bucket = "states-${local.account.name}"
    key    = "${path_relative_to_include()}/terraform.tfstate"
    region = local.region.name
  }
}

generate "provider" {
  path      = "provider.tf"
  if_exists = "overwrite_terragrunt"
  contents  = <<EOF
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "${local.common.versions.aws}"
    }
  }
}

provider "aws" {
  region              = "${local.region.name}"
  allowed_account_ids = ["${local.account.id}"]
  access_key          = "${local.secrets.key}"
  default_tags {
    tags = ${jsonencode(local.tags)}
  }
  assume_role {
    role_arn     = "arn:aws:iam::${get_aws_account_id()}:role/deploy"
    session_name = "${run_cmd("--terragrunt-quiet", "whoami")}"
  }
}
EOF
}

inputs = local.tags
"#;

const INCLUDES: &str = r#"include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}

include "common" {
  path           = "${dirname(find_in_parent_folders("root.hcl"))}/_envcommon/@.hcl"
  expose         = true
  merge_strategy = "deep"
}
"#;

/// What the units of one kind have in common.
fn common(kind: &str) -> String {
    let network = r#"
dependency "network" {
  config_path = "../network"
  mock_outputs = {
    id = "vpc-0"
  }
  mock_outputs_allowed_terraform_commands = ["init", "validate", "plan"]
}

inputs = {
  network = dependency.network.outputs.id
}
"#;
    let cluster = r#"
dependency "cluster" {
  config_path  = "../cluster"
  mock_outputs = { endpoint = "https://example.invalid", ca = "" }
}

generate "kubernetes" {
  path      = "kubernetes.tf"
  if_exists = "overwrite"
  contents  = <<EOF
provider "kubernetes" {
  host                   = "${dependency.cluster.outputs.endpoint}"
  cluster_ca_certificate = "${base64decode(dependency.cluster.outputs.ca)}"
}
EOF
}
"#;
    let source = match kind {
        "release" => "${get_repo_root()}/${get_env(\"RELEASE\")}//release",
        _ => &format!("${{get_repo_root()}}/modules//{kind}"),
    };
    let more = match kind {
        "network" => "",
        "apps" => cluster,
        "queue" => "terraform {\n  retention = 3\n}\n",
        _ => network,
    };
    let terraform = format!("terraform {{\n  source = \"{source}\"\n}}\n");
    if kind == "queue" { more.replace('{', &format!("{{\n  source = \"{source}\"")) } else { terraform + more }
}

fn world() -> Workspace {
    let kinds = ["network", "cluster", "apps", "queue", "release"];
    let mut files = vec![
        ("root.hcl".to_owned(), ROOT.to_owned()),
        ("common.yaml".to_owned(), "tags: { team: \"x\" }\nversions: { aws: \"~> 5.0\" }\n".to_owned()),
        ("secrets.yaml".to_owned(), "key: ENC[AES256_GCM]\n".to_owned()),
    ];
    for kind in kinds {
        let module = "resource \"null_resource\" \"x\" {\n}\n";
        files.push((format!("modules/{kind}/main.tf"), module.to_owned()));
        files.push((format!("_envcommon/{kind}.hcl"), common(kind)));
        for account in ["dev", "stage", "prod"] {
            let text = format!("locals {{\n  name = \"{account}\"\n  id   = \"123456789012\"\n}}\n");
            files.push((format!("live/{account}/account.hcl"), text));
            for region in ["eu-1", "eu-2", "us-1", "us-2"] {
                let place = format!("live/{account}/{region}");
                files.push((format!("{place}/region.hcl"), format!("locals {{\n  name = \"{region}\"\n}}\n")));
                files.push((format!("{place}/{kind}/terragrunt.hcl"), INCLUDES.replace('@', kind)));
                files.push((format!("{place}/{kind}/.terraform.lock.hcl"), String::new()));
            }
        }
    }
    let workspace = Workspace::with_files(&[]);
    for (path, text) in files {
        workspace.write(&path, &text);
    }
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace
}

/// The kinds of units whose requirements are not all known.
fn unread(workspace: &Workspace) -> BTreeSet<String> {
    let run = workspace.tflock(None, ["verify", "-r", "--offline", "--tool", "terraform", "--format", "json"]);
    let document = run.json();
    let roots = document["roots"].as_array().unwrap_or_else(|| panic!("{run}"));
    assert_eq!(roots.len(), 60, "{run}");
    let is_unread = |root: &&Value| {
        let findings = root["findings"].as_array().into_iter().flatten();
        findings.into_iter().any(|finding| finding["rule"] == "requirements-unread")
    };
    let kind = |root: &Value| root["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    roots.iter().filter(is_unread).map(kind).collect()
}

#[test]
fn one_line_of_settings_has_a_repository_read() {
    let workspace = world();
    assert_eq!(unread(&workspace), BTreeSet::from(["queue".to_owned(), "release".to_owned()]));
    workspace.write(".tflock.hcl", "terragrunt {\n  harmless = [\"terraform.retention\"]\n}\n");
    assert_eq!(unread(&workspace), BTreeSet::from(["release".to_owned()]));
    let both = "terragrunt {\n  harmless = [\"retention\"]\n  env = { RELEASE = \"modules\" }\n}\n";
    workspace.write(".tflock.hcl", both);
    assert_eq!(unread(&workspace), BTreeSet::new());
}
