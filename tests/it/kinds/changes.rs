//! Pull requests that change a stack: what the gate finds, and the command that it names.

use super::stacks::{lock, stack};
use crate::support::each_is_right;
use crate::support::extent::Extent;
use crate::support::locked::{LOCK, honest};
use crate::support::proposal::{commit, edit, without_last_line_with};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

type Change = fn(&Workspace, &Registry);

/// What a pull request does, the exit code, the rules that are denied, and the start of the next command.
const CHANGES: &[(&str, Change, i32, &[&str], &str)] = &[
    (
        "a constraint is raised",
        |it, _| edit(it, "providers.tfcomponent.hcl", |text| text.replace("~> 1.4", "~> 2.0")),
        1,
        &["version-not-allowed"],
        "tflock ",
    ),
    (
        "a provider is added in a nested stack",
        |it, _| {
            let entry = "required_providers {\n  extra = {\n    source  = \"{{registry}}/acme/extra\"\n    version = \"1.0.0\"\n  }\n";
            edit(it, "deep/main.tfcomponent.hcl", |text| text.replace("required_providers {\n", entry));
        },
        1,
        &["entry-missing"],
        "tflock ",
    ),
    (
        "an entry is removed",
        |it, _| edit(it, LOCK, |text| text[..text.rfind("\nprovider").unwrap()].to_owned()),
        1,
        &["entry-missing"],
        "tflock verify -r --fix",
    ),
    (
        "a hash is swapped",
        |it, registry| {
            let own = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
            edit(it, LOCK, |text| text.replace(&own, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
        },
        3,
        &["hash-replaced"],
        "tflock lock ",
    ),
    (
        "the header is that of init",
        |it, _| edit(it, LOCK, |text| text.replace("stacks providers-lock", "init")),
        0,
        &[],
        "tflock ",
    ),
    (
        "linux_amd64 is gone",
        |it, registry| {
            let own = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
            edit(it, LOCK, |text| without_last_line_with(text, &own));
        },
        3,
        &["platform-uncovered", "hashes-dropped"],
        "tflock ",
    ),
    (
        "a component comes from elsewhere",
        |it, _| {
            std::fs::rename(it.path("net"), it.path("web")).unwrap();
            edit(it, "main.tfcomponent.hcl", |text| text.replace("./net", "./web"));
        },
        0,
        &[],
        "",
    ),
    (
        "a component needs more than its stack declares",
        |it, _| edit(it, "net/main.tf", |text| text.replace("widget", "gadget")),
        1,
        &["provider-undeclared"],
        "tflock add ",
    ),
    (
        "it becomes a module",
        |it, _| {
            for name in ["providers.tfcomponent.hcl", "main.tfcomponent.hcl"] {
                std::fs::remove_file(it.path(name)).unwrap();
            }
            it.write("main.tf", "");
        },
        3,
        &["root-kind-changed"],
        "tflock explain root-kind-changed",
    ),
    (
        "the nested stack is gone",
        |it, _| edit(it, "main.tfcomponent.hcl", |text| text[..text.find("\nstack").unwrap()].to_owned()),
        0,
        &[],
        "",
    ),
    (
        "the lock file is gone",
        |it, _| std::fs::remove_file(it.path(LOCK)).unwrap(),
        3,
        &["lock-file-removed"],
        "git checkout ",
    ),
    (
        "an entry loses its version",
        |it, _| edit(it, "providers.tfcomponent.hcl", |text| text.replace("    version = \"~> 1.4\"\n", "")),
        2,
        &[],
        "",
    ),
];

fn each_change_of_a_stack_has_its_verdict(extent: Extent) {
    let registry = honest().release("acme/extra", "1.0.0", PLATFORMS).release("acme/widget", "2.0.0", PLATFORMS);
    let base = stack();
    lock(&base, &registry, &[]).ended_with(0);
    base.write(".gitignore", ".*.lock\n");
    each_is_right(&extent.of(CHANGES, 6), |(name, change, code, denied, next)| {
        let workspace = base.copied();
        for args in [
            &["init", "--quiet", "-b", "main"][..],
            &["add", "--all"],
            &["commit", "--quiet", "-m", "base"],
            &["branch", "base"],
        ] {
            workspace.git(args);
        }
        change(&workspace, &registry);
        commit(&workspace, name);
        let gate = ["verify", "-r", "--base", "base", "--offline"];
        let run = workspace.tflock(&registry, gate.iter().chain(&["--format", "json"]));
        let found = super::unread::denied(&run);
        let is_found =
            denied.iter().all(|rule| found.iter().any(|found| found == rule)) && denied.is_empty() == found.is_empty();
        let text = workspace.tflock(&registry, gate);
        let named = next_of(&text);
        if run.code != Some(*code)
            || !is_found
            || !named.starts_with(next)
            || next.is_empty() != named.is_empty() && *code < 2
        {
            return Err(format!("{name}: {:?} {found:?} {named:?}\n{run}", run.code));
        }
        let has_way_on = *code < 2 || *code == 3;
        match has_way_on.then(|| followed(&workspace, &registry, &gate)).flatten() {
            Some(left) => Err(format!("{name}: {left}")),
            None => Ok(()),
        }
    });
}

#[test]
fn some_changes_of_a_stack_have_their_verdict() {
    each_change_of_a_stack_has_its_verdict(Extent::Short);
}

#[test]
#[ignore = "long"]
fn all_changes_of_a_stack_have_their_verdict() {
    each_change_of_a_stack_has_its_verdict(Extent::Long);
}

/// The command that comes next, as printed.
fn next_of(run: &Run) -> &str {
    run.stdout.lines().find_map(|line| line.strip_prefix("next: `")?.strip_suffix('`')).unwrap_or_default()
}

/// Runs what the gate says, as printed, up to three times. What is left if the gate is not content then, and the last command
/// does more than show something.
fn followed(workspace: &Workspace, registry: &Registry, gate: &[&str]) -> Option<String> {
    let mut run = workspace.tflock(registry, gate);
    for _ in 0..3 {
        let next = next_of(&run).strip_prefix("tflock ")?.to_owned();
        let done = workspace.tflock(registry, next.split(' '));
        if next.starts_with("explain ") || next.starts_with("why ") {
            return (done.code != Some(0)).then(|| format!("{next}: {done}"));
        }
        let after = workspace.tflock(registry, gate);
        if after.code != Some(0) && next_of(&after) == next_of(&run) {
            return Some(format!("{next}: {done}\n{after}"));
        }
        run = after;
    }
    (run.code != Some(0)).then(|| run.to_string())
}
