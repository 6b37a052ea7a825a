//! Neighbours of known attacks: small pull requests, each with the verdict of the gate.
//!
//! Each is a list of plain changes to one repository, judged without requests.

mod configuration;
mod lock_texts;
mod places;
mod rules;

use crate::support::locked::honest;
use crate::support::proposal::{GATE, SETTINGS, commit, edit, repository};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// One change of a pull request. `{registry}` in texts is the registry.
#[derive(Clone, Copy)]
enum Op {
    Write(&'static str, &'static str),
    Append(&'static str, &'static str),
    /// All occurrences of a text, of which there must be one.
    Replace(&'static str, &'static str, &'static str),
    Remove(&'static str),
    Move(&'static str, &'static str),
    /// A link: its path and target.
    Link(&'static str, &'static str),
}

/// What a pull request does, and the gate's exit code and rules at level deny.
struct Row(&'static str, &'static [Op], i32, &'static [&'static str]);

const POLICY: &str = r#"policy {
  hosts        = ["{registry}"]
  module_hosts = ["git.example.com"]
  signature    = "always"
  expired_key  = "deny"
  h1           = "verified"
  minimum_age  = "1d"
}

ban "{registry}/acme/widget" {
  versions = "= 1.4.2"
}

level "constraints-stale" {
  is = "deny"
}
"#;

/// The repository that all rows change: two root modules, a module, a file that one root module has by a link, a policy.
fn world(registry: &Registry) -> Workspace {
    let workspace = repository(registry);
    workspace.write(SETTINGS, &filled(POLICY, registry));
    workspace.write(".gitignore", ".terraform\n");
    workspace.write("modules/net/main.tf", "locals {}\n");
    workspace.write("shared/common.tf", "locals {\n  common = true\n}\n");
    edit(&workspace, "app/main.tf", |text| format!("{text}module \"net\" {{\n  source = \"../modules/net\"\n}}\n"));
    #[cfg(unix)]
    std::os::unix::fs::symlink("../shared/common.tf", workspace.path("other/common.tf")).unwrap();
    commit(&workspace, "before");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

fn filled(text: &str, registry: &Registry) -> String {
    text.replace("{registry}", &registry.host())
}

impl Op {
    fn apply(self, workspace: &Workspace, registry: &Registry) {
        match self {
            Self::Write(path, text) => workspace.write(path, &filled(text, registry)),
            Self::Append(path, text) => edit(workspace, path, |old| old.to_owned() + &filled(text, registry)),
            Self::Replace(path, from, to) => {
                edit(workspace, path, |old| old.replace(&filled(from, registry), &filled(to, registry)));
            }
            Self::Remove(path) => drop(workspace.git(["rm", "-r", "--force", "--quiet", path])),
            Self::Move(from, to) => {
                std::fs::create_dir_all(workspace.path(to).parent().unwrap()).unwrap();
                workspace.git(["mv", from, to]);
            }
            Self::Link(path, target) => link(workspace, path, target),
        }
    }
}

fn link(workspace: &Workspace, path: &str, target: &str) {
    let place = workspace.path(path);
    if place.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        std::fs::remove_dir_all(&place).unwrap();
    } else {
        let _absent = std::fs::remove_file(&place);
    }
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, place).unwrap();
    #[cfg(not(unix))]
    let _ = target;
}

/// Judges each row in a tree of its own, and reports all wrong rows together.
#[track_caller]
fn judge(rows: &[Row]) {
    let registry = honest();
    let workspace = world(&registry);
    let mut wrong = Vec::new();
    for Row(name, ops, code, rules) in rows {
        ops.iter().for_each(|op| op.apply(&workspace, &registry));
        workspace.git(["add", "--all", "--force"]);
        workspace.git(["commit", "--quiet", "--allow-empty", "--message", "harmless"]);
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]));
        let denied = denied(&run.json());
        if run.code != Some(*code) || denied != *rules {
            wrong.push(format!("{name}: {:?} {denied:?}, not {code} {rules:?}\n{}", run.code, run.stderr));
        }
        workspace.git(["reset", "--quiet", "--hard", "origin/main"]);
        workspace.git(["clean", "-ffdxq"]);
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// The rules at level deny, sorted, each once.
fn denied(document: &serde_json::Value) -> Vec<String> {
    let roots = document["roots"].as_array().cloned().unwrap_or_default();
    let findings = roots.iter().chain([document]).filter_map(|root| root["findings"].as_array()).flatten();
    let at_deny = findings.filter(|finding| finding["level"] == "deny");
    let rules: std::collections::BTreeSet<String> =
        at_deny.filter_map(|finding| finding["rule"].as_str().map(str::to_owned)).collect();
    rules.into_iter().collect()
}
