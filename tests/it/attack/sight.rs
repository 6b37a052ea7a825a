//! Pull requests that put a root module, or what is installed for it, where the gate would not look.

use std::os::unix::fs::symlink;

use crate::support::locked::{LOCK, honest};
use crate::support::proposal::{GATE, SETTINGS, commit, edit, repository, without_last_line_with};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

/// What a pull request does, and the rule by which it is denied; true if an approval lifts it.
type Row = (&'static str, fn(&Workspace), &'static str, bool);

pub(super) fn evil(workspace: &Workspace, directory: &str) {
    edit(workspace, &format!("{directory}/{LOCK}"), |text| without_last_line_with(text, "h1:"));
}

fn link(workspace: &Workspace, target: &str, name: &str) {
    symlink(target, workspace.path(name)).unwrap();
}

/// A repository of its own in a directory, which the outer one takes for a submodule.
pub(super) fn submodule(workspace: &Workspace, directory: &str) {
    workspace.git(["rm", "-r", "--quiet", "--cached", "--ignore-unmatch", directory]);
    workspace.git(["-C", directory, "init", "--quiet"]);
    workspace.git(["-C", directory, "add", "--all", "--force"]);
    workspace.git(["-C", directory, "commit", "--quiet", "--message", "sub"]);
    workspace.git(["-C", directory, "update-ref", "refs/remotes/origin/main", "HEAD"]);
}

const ROWS: &[Row] = &[
    (
        "a root module in a folder that is skipped, and a link to it",
        |it| {
            it.git(["mv", "app", ".terragrunt-cache"]);
            evil(it, ".terragrunt-cache");
            link(it, ".terragrunt-cache", "app");
        },
        "root-module-moved-out",
        true,
    ),
    (
        "the same below .terraform",
        |it| {
            it.write(".terraform/x", "");
            it.git(["mv", "app", ".terraform/app"]);
            link(it, ".terraform/app", "app");
        },
        "tracked-packages",
        false,
    ),
    (
        "a link to the root module",
        |it| {
            it.git(["mv", "app", "moved"]);
            link(it, "moved", "app");
        },
        "link-changed",
        true,
    ),
    ("a lock file that is a link", |it| it_links_lock(it), "link-changed", true),
    (
        "a module lock file that is a link",
        |it| {
            it.write("locked.hcl", "");
            link(it, "../locked.hcl", "app/.tflock.modules.hcl");
        },
        "link-changed",
        true,
    ),
    (
        "settings that are a link",
        |it| {
            it.write("policy.hcl", &it.read(SETTINGS));
            std::fs::remove_file(it.path(SETTINGS)).unwrap();
            link(it, "policy.hcl", SETTINGS);
        },
        "link-changed",
        true,
    ),
    (
        "a submodule in the place of a root module",
        |it| {
            evil(it, "app");
            submodule(it, "app");
        },
        "root-module-moved-out",
        true,
    ),
    (
        "the same, ignored",
        |it| {
            evil(it, "app");
            submodule(it, "app");
            it.git(["add", "app"]);
            it.write(".gitignore", "app/\n");
        },
        "root-module-moved-out",
        true,
    ),
    (
        "packages by way of a link",
        |it| {
            it.write("vendored/plugins/registry.example.com/x", "");
            link(it, "../vendored", "app/terraform.d");
        },
        "tracked-packages",
        false,
    ),
    (
        "packages by way of a link below",
        |it| {
            it.write("vendored/registry.example.com/x", "");
            it.write("app/terraform.d/x", "");
            link(it, "../../vendored", "app/terraform.d/plugins");
        },
        "tracked-packages",
        false,
    ),
    (
        "packages in a submodule",
        |it| {
            it.write("app/terraform.d/plugins/registry.example.com/x", "");
            submodule(it, "app/terraform.d");
        },
        "tracked-packages",
        false,
    ),
    (
        "packages in a submodule below",
        |it| {
            it.write("app/terraform.d/plugins/registry.example.com/x", "");
            submodule(it, "app/terraform.d/plugins");
        },
        "tracked-packages",
        false,
    ),
    (
        "packages where no root module is",
        |it| {
            it.write("a/.terraform/providers/x", "");
            it.git(["add", "--force", "a"]);
        },
        "tracked-packages",
        false,
    ),
    (
        "the folder of the tools as a link",
        |it| {
            it.write("cache/providers/x", "");
            link(it, "../cache", "app/.terraform");
        },
        "tracked-packages",
        false,
    ),
    (
        "a lock file that is there and no longer tracked",
        |it| {
            it.git(["rm", "--cached", "--quiet", &format!("app/{LOCK}")]);
            it.write(".gitignore", &format!("app/{LOCK}\n"));
        },
        "lock-file-removed",
        false,
    ),
    (
        "the header of the other tool",
        |it| edit(it, &format!("app/{LOCK}"), |text| text.replace("terraform init", "tofu init")),
        "dialect-changed",
        true,
    ),
    (
        "configuration that only OpenTofu reads, below a header of Terraform",
        |it| drop(it.git(["mv", "app/main.tf", "app/main.tofu"])),
        "dialect-changed",
        true,
    ),
    (
        "settings that name the other tool",
        |it| edit(it, SETTINGS, |text| format!("tool = \"tofu\"\n{text}")),
        "dialect-changed",
        true,
    ),
];

fn it_links_lock(workspace: &Workspace) {
    workspace.git(["mv", &format!("app/{LOCK}"), "shared.hcl"]);
    link(workspace, "../shared.hcl", &format!("app/{LOCK}"));
}

pub(super) fn denies(run: &Run, rule: &str) -> bool {
    let part = format!("\"rule\": \"{rule}\",\n");
    run.stdout
        .match_indices(&part)
        .any(|(at, _)| run.stdout[at + part.len()..].trim_start().starts_with("\"level\": \"deny\""))
}

fn all(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock(registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]).chain(more))
}

#[test]
#[ignore = "long"]
fn paths_hidden_from_the_gate_are_reported() {
    let registry = honest();
    let mut wrong = Vec::new();
    for (name, change, rule, liftable) in ROWS {
        let workspace = repository(&registry);
        change(&workspace);
        commit(&workspace, "harmless");
        let run = all(&workspace, &registry, &[]);
        let approved = all(&workspace, &registry, &["--allow-trust-change"]);
        if run.code != Some(3) || !denies(&run, rule) {
            wrong.push(format!("{name}: {run}"));
        } else if denies(&approved, rule) == *liftable {
            wrong.push(format!("{name}, approved: {approved}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names of the files decide which tool reads them, in both directions; what was so at the base is no change.
#[test]
fn files_that_make_the_other_tool_read_the_configuration_are_reported() {
    let registry = honest();
    let workspace = repository(&registry);
    let changed = |run: &Run| denies(run, "dialect-changed");
    let base = || drop(workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]));
    // Both tools read something: the header decides, as before.
    workspace.write("app/more.tofu", "# more\n");
    commit(&workspace, "more");
    assert!(!changed(&all(&workspace, &registry, &[])));
    base();
    workspace.git(["mv", "app/main.tf", "app/main.tofu"]);
    commit(&workspace, "the rest");
    let run = all(&workspace, &registry, &[]).ended_with(3);
    assert!(changed(&run) && run.stdout.contains("only OpenTofu reads the configuration now"), "{run}");
    all(&workspace, &registry, &["--tool", "tofu"]).ended_with(0);
    all(&workspace, &registry, &["--tool", "terraform"]).ended_with(2);
    // From there one empty file gives all of it to the other tool, which reads none of it.
    base();
    assert!(!changed(&all(&workspace, &registry, &[]).ended_with(0)));
    workspace.write("app/empty.tf", "");
    commit(&workspace, "empty");
    let run = all(&workspace, &registry, &[]).ended_with(3);
    assert!(changed(&run) && run.stdout.contains("only OpenTofu read the configuration at the base"), "{run}");
    std::fs::remove_file(workspace.path("app/empty.tf")).unwrap();
    // A header of the tool that reads it is no change either.
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replace("terraform init", "tofu init"));
    commit(&workspace, "header");
    assert!(!changed(&all(&workspace, &registry, &[]).ended_with(0)));
    base();
    workspace.git(["mv", "app/main.tofu", "app/main.tf"]);
    commit(&workspace, "back");
    assert!(!changed(&all(&workspace, &registry, &[]).ended_with(0)));
}

#[test]
fn rules_do_not_stay_behind() {
    let registry = honest();
    let workspace = repository(&registry);
    let ban = format!("ban \"{}/acme/widget\" {{\n  versions = \"= 1.4.0\"\n}}\n", registry.host());
    workspace.write("other/.tflock.hcl", &ban);
    workspace.write("shared.hcl", &ban);
    link(&workspace, "../shared.hcl", "app/.tflock.hcl");
    commit(&workspace, "ban");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    // What a link led to at the base counts.
    workspace.write("shared.hcl", "# nothing\n");
    commit(&workspace, "harmless");
    let run = all(&workspace, &registry, &[]).ended_with(3);
    assert!(denies(&run, "policy-weakened") && denies(&run, "banned"), "{run}");
    workspace.git(["reset", "--quiet", "--hard", "HEAD~"]);
    // Moved, with a link in its place.
    workspace.git(["mv", "other", "moved"]);
    link(&workspace, "moved", "other");
    commit(&workspace, "move");
    let run = all(&workspace, &registry, &[]).ended_with(3);
    assert!(denies(&run, "policy-weakened"), "{run}");
}

#[test]
fn links_and_submodules_that_stood_there_before_are_nothing_new() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("modules/net/main.tf", "locals {}\n");
    submodule(&workspace, "modules");
    edit(&workspace, "app/main.tf", |text| text.to_owned() + "module \"net\" {\n  source = \"../modules/net\"\n}\n");
    it_links_lock(&workspace);
    workspace.git(["mv", "other", "moved"]);
    link(&workspace, "moved", "other");
    commit(&workspace, "shared");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    all(&workspace, &registry, &[]).ended_with(0);
    // A new commit of the submodule is read by a root module, and is the owner's to approve.
    workspace.write("modules/net/more.tf", "# more\n");
    workspace.git(["-C", "modules", "add", "--all"]);
    workspace.git(["-C", "modules", "commit", "--quiet", "--message", "more"]);
    commit(&workspace, "more");
    let run = all(&workspace, &registry, &[]).ended_with(3);
    assert!(denies(&run, "link-changed"), "{run}");
    all(&workspace, &registry, &["--allow-trust-change"]).ended_with(0);
}

#[test]
fn links_that_lead_over_other_links_count_at_each_step() {
    let registry = honest();
    let workspace = repository(&registry);
    // A lock file by way of a directory that is a link, and configuration by way of a link to a link.
    for version in ["one", "two"] {
        workspace.write(&format!("locks/{version}/lock"), &workspace.read(&format!("app/{LOCK}")));
    }
    evil_text(&workspace, "locks/two/lock");
    link(&workspace, "locks/one", "current");
    std::fs::remove_file(workspace.path(&format!("app/{LOCK}"))).unwrap();
    link(&workspace, "../current/lock", &format!("app/{LOCK}"));
    workspace.write("shared/good", "locals {}\n");
    workspace.write("shared/evil", "resource \"evil_thing\" \"x\" {}\n");
    link(&workspace, "good", "shared/which");
    link(&workspace, "../shared/which", "other/more.tf");
    commit(&workspace, "links");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    all(&workspace, &registry, &[]).ended_with(0);
    for (target, name, rule) in [("locks/two", "current", "hashes-dropped"), ("evil", "shared/which", "entry-missing")]
    {
        std::fs::remove_file(workspace.path(name)).unwrap();
        link(&workspace, target, name);
        commit(&workspace, "harmless");
        let run = all(&workspace, &registry, &[]);
        assert!(run.code != Some(0) && denies(&run, rule), "{rule}: {run}");
        assert_eq!(denies(&run, "link-changed"), rule == "hashes-dropped", "{run}");
        workspace.git(["reset", "--quiet", "--hard", "origin/main"]);
    }
}

fn evil_text(workspace: &Workspace, path: &str) {
    edit(workspace, path, |text| without_last_line_with(text, "h1:"));
}

/// Names that are no text can be had on Linux only, and two of them look the same.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_hide_nothing() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let registry = honest();
    let workspace = repository(&registry);
    let named = |bytes: &[u8]| workspace.path("").join(OsStr::from_bytes(bytes));
    let refused = |said: &str| {
        commit(&workspace, "harmless");
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline"])).ended_with(2);
        assert!(run.stderr.contains(said), "{said}: {run}");
        workspace.git(["reset", "--quiet", "--hard", "origin/main"]);
    };
    // A root module, also where it is ignored and tracked.
    let copy = |to: &[u8]| {
        std::fs::create_dir(named(to)).unwrap();
        for name in ["main.tf", LOCK] {
            std::fs::copy(workspace.path("app").join(name), named(to).join(name)).unwrap();
        }
        std::fs::write(named(to).join(LOCK), "provider \"evil.example.com/x/y\" {\n  version = 1\n}\n").unwrap();
    };
    copy(b"b\xff");
    refused("the path of this root module is not UTF-8");
    copy(b"b\xff");
    workspace.write("b\u{fffd}/main.tf", "locals {}\n");
    workspace.git(["add", "--all"]);
    workspace.write(".gitignore", "b*\n");
    refused("the path of this root module is not UTF-8");
    // Configuration, next to a file that looks the same.
    std::fs::write(named(b"app/\xff.tf"), "resource \"evil_thing\" \"x\" {}\n").unwrap();
    workspace.write("app/\u{fffd}.tf", "locals {}\n");
    refused("the name of a file in it is not UTF-8");
    // Other files do not matter.
    std::fs::write(named(b"app/\xff.txt"), "").unwrap();
    commit(&workspace, "notes");
    all(&workspace, &registry, &[]).ended_with(0);
}

/// How a value is set in a way that cannot be read, and what is said of it.
type ValueRow = (fn(&Workspace, &str), &'static str);

#[test]
fn values_that_cannot_be_read_are_not_passed_over() {
    let registry = honest();
    let workspace = repository(&registry);
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replace("terraform init", "tofu init"));
    let module = "variable \"which\" {\n  default = \"./good\"\n}\nmodule \"m\" {\n  source = var.which\n}\n";
    workspace.write("app/module.tf", module);
    workspace.write("app/good/main.tf", "locals {}\n");
    workspace.write("app/evil/main.tf", "resource \"evil_thing\" \"x\" {}\n");
    commit(&workspace, "module");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let value = "which = \"./evil\"\n";
    let rows: [ValueRow; 3] = [
        (
            |it, value| it.write("app/x.auto.tfvars", &format!("{value}#{}\n", "x".repeat(16 << 20))),
            "larger than 16 MiB",
        ),
        (
            |it, value| {
                it.write("values", value);
                link(it, "/proc/self/cwd/values", "app/terraform.tfvars");
            },
            "out of the git working tree",
        ),
        (|it, _| link(it, "nowhere", "app/x.auto.tfvars.json"), "nowhere"),
    ];
    for (change, said) in rows {
        change(&workspace, value);
        commit(&workspace, "harmless");
        let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline"])).ended_with(2);
        assert!(run.stderr.contains(said), "{said}: {run}");
        workspace.git(["reset", "--quiet", "--hard", "origin/main"]);
    }
}

/// A root module that moves to where the base's settings leave it out is not searched for any more: that is no way past the gate.
#[test]
fn a_root_module_does_not_move_to_where_it_is_excluded() {
    let registry = honest();
    let workspace = repository(&registry);
    edit(&workspace, SETTINGS, |text| format!("exclude = [\"legacy/**\"]\n{text}"));
    commit(&workspace, "exclude");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.write("legacy/x", "");
    workspace.git(["mv", "app", "legacy/app"]);
    evil(&workspace, "legacy/app");
    commit(&workspace, "move");
    let all = |more: &[&str]| workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline"]).chain(more));
    let run = all(&[]).ended_with(3);
    assert!(run.stdout.contains("denied[root-module-moved-out]: legacy/app is new"), "{run}");
    assert!(!all(&["--allow-trust-change"]).stdout.contains("root-module-moved-out"));
    // Without its lock file it is no less out of sight.
    workspace.git(["rm", "--quiet", &format!("legacy/app/{LOCK}")]);
    commit(&workspace, "unlock");
    assert!(all(&[]).ended_with(3).stdout.contains("denied[root-module-moved-out]: legacy/app is new"));
    // What is new there, and what is deleted, stays so.
    workspace.git(["reset", "--quiet", "--hard", "origin/main"]);
    workspace.git(["rm", "-r", "--quiet", "app"]);
    commit(&workspace, "delete");
    all(&[]).ended_with(0);
    workspace.git(["reset", "--quiet", "--hard", "origin/main"]);
    workspace.write(&format!("legacy/new/{LOCK}"), &workspace.read(&format!("app/{LOCK}")));
    commit(&workspace, "add");
    all(&[]).ended_with(0);
}
