//! Units without a lock file next to them, which is a choice, those that use the lock file of their module, and templates of stacks.

use crate::support::locked::{LOCK, MAIN, honest};
use crate::support::proposal::commit;
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const INCLUDE: &str = "include \"root\" {\n  path = find_in_parent_folders()\n}\n";
/// It has the name of a unit, and is a part of those that include it.
const ROOT: &str = "terraform {\n  source = \"${get_repo_root()}/modules/net\"\n}\n";
const TEMPLATE: &str =
    "terraform {\n  source = \"${get_repo_root()}/modules/${values.name}\"\n}\ninputs = {\n  name = values.name\n}\n";

/// A repository with three units of one module, and no lock file.
fn repository(registry: &Registry) -> Workspace {
    let main = MAIN.replace("{{registry}}", &registry.host());
    let workspace = Workspace::with_files(&[
        ("modules/net/main.tf", &main),
        ("live/terragrunt.hcl", ROOT),
        (".tflock.hcl", "tool = \"terraform\"\n"),
    ]);
    for name in ["a", "b", "c"] {
        workspace.write(&format!("live/{name}/terragrunt.hcl"), INCLUDE);
    }
    workspace.git(["init", "--quiet"]);
    workspace
}

fn lock(workspace: &Workspace, registry: &Registry, directory: &str, more: &[&str]) -> Run {
    let args = ["lock", "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]];
    workspace.tflock_in(directory, registry, args.iter().chain(more)).ended_with(0)
}

/// What each command that looks at the repository says of units without a lock file.
fn notes(workspace: &Workspace, registry: &Registry) -> Vec<String> {
    let commands = [&["verify", "-r"][..], &["status"], &["lock", "-r", "--check"]];
    let notes = commands.map(|args| {
        let run = workspace.tflock(registry, args);
        assert!(run.code == Some(0) || !workspace.has("live/a/.terraform.lock.hcl"), "{run}");
        let lines = run.stderr.lines().filter(|line| line.contains("lock file") && line.contains("unit"));
        lines.collect::<Vec<_>>().join("\n")
    });
    notes.into_iter().collect()
}

#[test]
#[ignore = "long"]
fn no_lock_files_is_one_note_for_the_repository() {
    let registry = honest();
    let workspace = repository(&registry);
    let is_said = |notes: &[String], words: &str| {
        notes.iter().all(|note| note.matches(words).count() == 1 && note.lines().count() == 1)
    };
    let found = notes(&workspace, &registry);
    assert!(is_said(&found, "3 units have no lock file, such as live/a: `tflock lock -r --create`"), "{found:?}");
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(2);
    assert!(run.stdout.contains("nothing to check"), "{run}");
    let status = workspace.tflock(&registry, ["status", "--format", "json"]).json();
    assert_eq!(status["status"]["units_without_lock_file"], 3);
    // Some have one.
    lock(&workspace, &registry, "live/b", &[]);
    let found = notes(&workspace, &registry);
    assert!(is_said(&found, "2 units have no lock file, such as live/a:"), "{found:?}");
    lock(&workspace, &registry, "live/c", &[]);
    let found = notes(&workspace, &registry);
    assert!(is_said(&found, "the unit live/a has no lock file: `tflock lock -r --create` writes it"), "{found:?}");
    // Those of which git ignores it, and those that are left out, count no more.
    workspace.write("live/a/.gitignore", ".terraform.lock.hcl\n");
    assert_eq!(notes(&workspace, &registry), ["", "", ""]);
    std::fs::remove_file(workspace.path("live/a/.gitignore")).unwrap();
    workspace.write(".tflock.hcl", "tool = \"terraform\"\nexclude = [\"live/a\"]\n");
    assert_eq!(notes(&workspace, &registry), ["", "", ""]);
    workspace.write(".tflock.hcl", "tool = \"terraform\"\n");
    // Where all are read, none is left.
    lock(&workspace, &registry, "", &["-r", "--create"]);
    assert_eq!(notes(&workspace, &registry), ["", "", ""]);
}

#[test]
fn a_repository_that_ignores_lock_files_has_no_note() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write(".gitignore", "**/.terraform.lock.hcl\n");
    for args in [&["verify", "-r"][..], &["status"], &["lock", "-r"]] {
        let run = workspace.tflock(&registry, args);
        assert!(!run.stderr.contains("units have no lock file"), "{run}");
    }
    let run = workspace.tflock(&registry, ["lock", "-r", "--create"]).ended_with(2);
    assert!(run.stderr.contains("(.gitignore:1)"), "{run}");
    // Where git ignores some of them, the others are written.
    workspace.write(".gitignore", "live/a/.terraform.lock.hcl\n");
    lock(&workspace, &registry, "", &["-r", "--create"]);
    let has = |name: &str| workspace.has(&format!("live/{name}/{LOCK}"));
    assert_eq!(["a", "b", "c"].map(has), [false, true, true]);
}

/// A new unit is like those that include the same file: where these have lock files, it needs one.
#[test]
#[ignore = "long"]
fn a_new_unit_without_a_lock_file_is_judged_by_those_like_it() {
    let registry = honest();
    let level = |with_lock: &[&str], unit: &str, settings: &str, more: &dyn Fn(&Workspace)| {
        let workspace = repository(&registry);
        workspace.write(".tflock.hcl", &format!("tool = \"terraform\"\n{settings}"));
        for name in with_lock {
            lock(&workspace, &registry, &format!("live/{name}"), &[]);
        }
        commit(&workspace, "main");
        workspace.write("live/new/terragrunt.hcl", unit);
        more(&workspace);
        commit(&workspace, "change");
        let args = ["verify", "-r", "--offline", "--base", "HEAD~1", "--format", "json"];
        let run = workspace.tflock(&registry, args);
        let document = run.json();
        let findings =
            document["roots"].as_array().unwrap().iter().flat_map(|root| root["findings"].as_array().unwrap());
        let of_unit = findings.filter(|it| it["file"] == format!("live/new/{LOCK}")).collect::<Vec<_>>();
        assert!(of_unit.len() < 2, "{run}");
        of_unit.first().map(|finding| {
            assert_eq!(finding["rule"], "lock-file-missing");
            finding["level"].as_str().unwrap().to_owned()
        })
    };
    let nothing = |_: &Workspace| {};
    let of = |with_lock: &[&str], settings: &str| level(with_lock, INCLUDE, settings, &nothing);
    assert_eq!(of(&["a", "b", "c"], "").as_deref(), Some("deny"));
    assert_eq!(of(&["a", "b"], "").as_deref(), Some("warn"));
    assert_eq!(of(&[], "").as_deref(), Some("note"));
    let stated = |is: &str| format!("level \"lock-file-missing\" {{\n  is = \"{is}\"\n}}\n");
    assert_eq!(of(&[], &stated("deny")).as_deref(), Some("deny"));
    assert_eq!(of(&["a", "b", "c"], &stated("warn")).as_deref(), Some("warn"));
    // One of its own includes nothing that others include, and of one that is not read nothing is known.
    assert_eq!(level(&["a", "b", "c"], ROOT, "", &nothing).as_deref(), Some("note"));
    let unread = format!("{INCLUDE}locals {{\n  x = run_cmd(\"x\")\n}}\nterraform {{\n  source = local.x\n}}\n");
    assert_eq!(level(&["a", "b", "c"], &unread, "", &nothing).as_deref(), Some("note"));
    // A template needs none, nor does a unit that the lock file of its module covers.
    assert_eq!(level(&["a", "b", "c"], TEMPLATE, "", &nothing), None);
    let of_module = |it: &Workspace| drop(lock(it, &registry, "modules/net", &[]));
    assert_eq!(level(&["a", "b", "c"], INCLUDE, "", &of_module), None);
    // Units that the change removes count: they are units of the base.
    let removed = |it: &Workspace| std::fs::remove_dir_all(it.path("live/a")).unwrap();
    assert_eq!(level(&["b", "c"], INCLUDE, "", &removed).as_deref(), Some("warn"));
}

/// What is a note elsewhere is a finding where the settings state a level, in each run.
#[test]
fn settings_raise_the_notes_on_missing_lock_files() {
    let registry = honest();
    let workspace = repository(&registry);
    lock(&workspace, &registry, "live/b", &[]);
    let main = MAIN.replace("{{registry}}", &registry.host());
    workspace.write("app/main.tf", &format!("{main}provider \"widget\" {{\n}}\n"));
    commit(&workspace, "main");
    workspace.tflock(&registry, ["verify", "-r", "--offline"]).ended_with(0);
    workspace.write(".tflock.hcl", "tool = \"terraform\"\nlevel \"lock-file-missing\" {\n  is = \"deny\"\n}\n");
    commit(&workspace, "level");
    for args in [&["verify", "-r", "--offline"][..], &["verify", "-r", "--offline", "--base", "HEAD"]] {
        let run = workspace.tflock(&registry, args).ended_with(1);
        for place in ["live/a", "live/c", "app"] {
            assert!(run.stdout.contains(&format!("{place}/{LOCK}")), "{run}");
        }
        assert!(!run.stderr.contains("units have no lock file"), "{run}");
        assert!(run.stdout.ends_with("next: `tflock lock -r --create`\n"), "{run}");
    }
    lock(&workspace, &registry, "", &["-r", "--create"]);
    workspace.tflock(&registry, ["verify", "-r", "--offline"]).ended_with(0);
}

/// `lock -r --create` passes over a unit that others use and over one that is not read: what advises it says so.
#[test]
fn units_that_get_no_lock_file_are_counted_apart() {
    let registry = honest();
    let main = MAIN.replace("{{registry}}", &registry.host());
    let platforms = format!("platforms = [\"{}\", \"{}\"]", PLATFORMS[0], PLATFORMS[1]);
    let settings = format!("tool = \"terraform\"\n{platforms}\n");
    let include = |file: &str| INCLUDE.replace("()", &format!("(\"{file}\")"));
    let workspace = Workspace::with_files(&[
        (".tflock.hcl", &*settings),
        ("root.hcl", "locals {\n}\n"),
        ("caller/terragrunt.hcl", "terraform {\n  source = \"../used\"\n}\n"),
        ("free/main.tf", &main),
        ("free/terragrunt.hcl", &include("root.hcl")),
        ("unread/terragrunt.hcl", &include("nosuch.hcl")),
        ("used/main.tf", &main),
        ("used/terragrunt.hcl", &include("root.hcl")),
    ]);
    workspace.git(["init", "--quiet"]);
    let note = |args: &[&str]| workspace.tflock(&registry, args).stderr;
    for args in [&["status"][..], &["verify", "-r", "--offline"]] {
        let note = note(args);
        let count = "4 units have no lock file, such as caller: `tflock lock -r --create` writes 2 of them";
        assert!(
            note.contains(count) && note.contains("; 2 units get none, such as unread, for several reasons: `"),
            "{note}"
        );
    }
    workspace.write(".tflock.hcl", &format!("{settings}level \"lock-file-missing\" {{\n  is = \"deny\"\n}}\n"));
    let status = || workspace.tflock(&registry, ["status", "--format", "json"]).ended_with(0).json()["status"].clone();
    let before = status();
    assert_eq!(before["denied"]["lock-file-missing"], 4, "{before}");
    assert_eq!(before["next"]["command"], "tflock lock -r --create", "{before}");
    let denied = workspace.tflock(&registry, ["verify", "-r", "--offline"]).ended_with(1);
    assert!(denied.stdout.contains("`tflock -C used lock`"), "{denied}");
    workspace.tflock(&registry, ["lock", "-r", "--create"]);
    let has = |name: &str| workspace.has(&format!("{name}/{LOCK}"));
    assert_eq!(["caller", "free", "unread", "used"].map(has), [true, true, false, false]);
    let after = status();
    assert_eq!(after["denied"]["lock-file-missing"], 2, "{after}");
    assert_eq!(after["next"]["command"], "tflock verify -r", "{after}");
    workspace.tflock(&registry, ["-C", "used", "lock"]).ended_with(0);
    workspace.write(".tflock.hcl", &settings);
    for args in [&["status"][..], &["verify", "-r", "--offline"]] {
        let note = note(args);
        assert!(note.contains("the unit unread has no lock file and gets none: it depends on"), "{note}");
        assert!(!note.contains("--create"), "{note}");
    }
}

/// Terragrunt would run another tool with the lock file as it is.
#[test]
#[ignore = "long"]
fn another_tool_for_the_same_lock_file_is_refused() {
    let registry = honest();
    let changed = |before: &[(&str, &str)], after: &[(&str, &str)], settings: &str| {
        let workspace = repository(&registry);
        workspace.write(".tflock.hcl", settings);
        for (path, text) in before {
            workspace.write(path, text);
        }
        lock(&workspace, &registry, "live/a", &["--tool", "tofu"]);
        commit(&workspace, "main");
        for (path, text) in after {
            workspace.write(path, text);
        }
        commit(&workspace, "change");
        let args = ["verify", "-r", "--offline", "--base", "HEAD~1", "--format", "json"];
        let run = workspace.tflock(&registry, args);
        let approved = workspace.tflock(&registry, args.iter().chain(&["--allow-trust-change"]));
        assert!(!approved.stdout.contains("\"refused\""), "{approved}");
        run.stdout.contains("dialect-changed")
    };
    let unit = |program: &str| format!("terraform_binary = \"{program}\"\n{INCLUDE}");
    let (tofu, terraform) = (unit("tofu"), unit("/usr/bin/terraform"));
    let place = "live/a/terragrunt.hcl";
    assert!(changed(&[(place, &tofu)], &[(place, &terraform)], ""));
    assert!(!changed(&[(place, &tofu)], &[(place, &unit("/opt/bin/tofu"))], ""));
    assert!(!changed(&[(place, &tofu)], &[(place, &terraform)], "tool = \"tofu\"\n"));
    // It was so before.
    assert!(!changed(&[(place, &terraform)], &[(place, &format!("{terraform}inputs = {{}}\n"))], ""));
    // Version managers decide where nothing else does.
    assert!(changed(&[(".opentofu-version", "1.10.0")], &[("live/.terraform-version", "1.11.4")], ""));
    assert!(changed(
        &[("mise.toml", "[tools]\nopentofu = \"1.10\"\n")],
        &[("mise.toml", "[tools]\nterraform = \"1.11\"\n")],
        ""
    ));
    assert!(!changed(&[], &[("other/.terraform-version", "1.11.4")], ""));
}

#[test]
fn units_without_a_lock_file_use_that_of_their_module() {
    let registry = honest();
    let workspace = repository(&registry);
    lock(&workspace, &registry, "modules/net", &[]);
    let wanted = "3 units without a lock file, such as live/a: Terragrunt uses that of the module, such as modules/net";
    for note in notes(&workspace, &registry) {
        assert!(note.contains(wanted) && note.lines().count() == 1, "{note}");
    }
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    assert!(run.stdout.starts_with("1 root module: 1 passed"), "{run}");
    // Its own file goes before.
    lock(&workspace, &registry, "live/b", &[]);
    let found = notes(&workspace, &registry);
    assert!(found.iter().all(|note| note.contains("2 units without a lock file, such as live/a")), "{found:?}");
    // The module has an entry less than the units need.
    let entries = workspace.read(&format!("modules/net/{LOCK}"));
    workspace.write(&format!("modules/net/{LOCK}"), &entries[..entries.rfind("\nprovider").unwrap()]);
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(1);
    assert!(run.stdout.contains("modules/net") && run.stdout.contains("entry-missing"), "{run}");
    // One that cannot be read is no missing one.
    workspace.write(&format!("modules/net/{LOCK}"), "provider {\n");
    let run = workspace.tflock_in("live/c", &registry, ["lock"]).ended_with(2);
    assert!(run.stderr.contains(&format!("modules/net/{LOCK}")) && !workspace.has(&format!("live/c/{LOCK}")), "{run}");
}

#[test]
fn templates_of_stacks_are_counted() {
    let registry = honest();
    let workspace = repository(&registry);
    lock(&workspace, &registry, "", &["-r", "--create"]);
    workspace.write("units/net/terragrunt.hcl", TEMPLATE);
    workspace
        .write("stack/terragrunt.stack.hcl", "unit \"net\" {\n  source = \"../units/net\"\n  path   = \"net\"\n}\n");
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    assert!(run.stdout.contains("3 units (1 template skipped)") && !run.stdout.contains("units/net"), "{run}");
    assert_eq!(notes(&workspace, &registry), ["", "", ""]);
    let run = workspace.tflock(&registry, ["status"]).ended_with(0);
    assert!(run.stdout.contains("3 (1 template skipped), 3 units among them"), "{run}");
    let document = workspace.tflock(&registry, ["verify", "-r", "--format", "json"]).json();
    assert_eq!(document["templates"], 1);
    // Neither gets a lock file by itself.
    let run = lock(&workspace, &registry, "", &["-r", "--create"]);
    assert!(!workspace.has(&format!("units/net/{LOCK}")) && !workspace.has(&format!("stack/{LOCK}")), "{run}");
    // One that only sets variables by it can be locked, and what is generated has that lock file.
    workspace.write("units/net/terragrunt.hcl", &TEMPLATE.replace("${values.name}", "net"));
    let run = lock(&workspace, &registry, "", &["-r", "--create"]);
    assert!(!workspace.has(&format!("units/net/{LOCK}")), "{run}");
    lock(&workspace, &registry, "units/net", &[]);
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    let note =
        "1 unit template with a lock file, such as units/net: Terragrunt copies it to each unit that a stack generates";
    assert!(run.stderr.contains(note) && !run.stdout.contains("requirements-unread"), "{run}");
    workspace.write("units/net/terragrunt.hcl", TEMPLATE);
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    assert!(run.stdout.contains("requirements-unread") && run.stdout.contains("terragrunt.values.hcl"), "{run}");
    // With values it is a unit.
    workspace.write("units/net/terragrunt.values.hcl", "name = \"net\"\n");
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    assert!(!run.stderr.contains("unit template") && !run.stdout.contains("requirements-unread"), "{run}");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_next_to_a_unit() {
    let registry = honest();
    let workspace = repository(&registry);
    lock(&workspace, &registry, "live/a", &[]);
    std::os::unix::fs::symlink(format!("../a/{LOCK}"), workspace.path(&format!("live/b/{LOCK}"))).unwrap();
    lock(&workspace, &registry, "", &["-r", "--check"]);
    // As long as it has all, it is read.
    let whole = workspace.read(&format!("live/a/{LOCK}"));
    let half = &whole[..whole.rfind("\nprovider").unwrap()];
    workspace.write(&format!("live/a/{LOCK}"), half);
    let args = ["lock", "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]];
    let run = workspace.tflock_in("live/b", &registry, args).ended_with(2);
    assert!(run.stderr.contains("the lock file of this unit is a symbolic link"), "{run}");
    assert_eq!(workspace.read(&format!("live/a/{LOCK}")), half);
}

/// Without a word on the tool no lock file of a unit is created, so the advice asks for it.
#[test]
fn advice_asks_for_the_tool_if_nothing_says_it() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write(".tflock.hcl", "");
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(2);
    assert!(run.stderr.contains("`tflock lock -r --create --tool TOOL`"), "{run}");
    workspace.tflock(&registry, ["lock", "-r", "--create"]).ended_with(2);
    workspace.tflock(&registry, ["lock", "-r", "--create", "--tool", "tofu"]).ended_with(0);
    // Those like it say it, once they are locked.
    commit(&workspace, "main");
    workspace.write("live/new/terragrunt.hcl", INCLUDE);
    commit(&workspace, "change");
    let gate = workspace.tflock(&registry, ["verify", "-r", "--offline", "--base", "HEAD~1"]).ended_with(1);
    assert!(gate.stdout.contains("`tflock -C live/new lock --tool tofu`"), "{gate}");
    workspace.tflock(&registry, ["-C", "live/new", "lock", "--tool", "tofu"]).ended_with(0);
    workspace.tflock(&registry, ["verify", "-r", "--offline", "--base", "HEAD~1"]).ended_with(0);
    // Where the settings state a level, the advice on each of them is such a command.
    std::fs::remove_file(workspace.path("live/new/.terraform.lock.hcl")).unwrap();
    workspace.write(".tflock.hcl", "level \"lock-file-missing\" {\n  is = \"deny\"\n}\n");
    let stated = workspace.tflock(&registry, ["verify", "-r", "--offline"]).ended_with(1);
    assert!(stated.stdout.contains("`tflock -C live/new lock --tool TOOL`"), "{stated}");
}
