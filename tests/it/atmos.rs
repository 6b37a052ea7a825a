//! Lock files of Atmos instances, `.NAME.terraform.lock.hcl`, beside the ordinary one or without it.

use std::collections::BTreeSet;

use crate::support::locked::{LOCK, honest, planted};
use crate::support::proposal::{SETTINGS, commit, edit, gate, repository, without_last_line_with};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const INSTANCE: &str = "app/.dev-vpc.terraform.lock.hcl";
const FORGED: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

/// A repository whose `app` has one instance beside its ordinary lock file, as the base has it.
fn with_instance(registry: &Registry) -> Workspace {
    let workspace = repository(registry);
    workspace.write(INSTANCE, &workspace.read(&format!("app/{LOCK}")));
    base(&workspace);
    workspace
}

/// Commits everything to the base.
fn base(workspace: &Workspace) {
    commit(workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
}

/// The rules at a level, of one lock file.
fn of(run: &Run, lock_file: &str, level: &str) -> Vec<String> {
    let document = run.json();
    let roots = document["roots"].as_array().unwrap();
    let root = roots.iter().find(|root| root["lock_file"] == lock_file).unwrap_or_else(|| panic!("{run}"));
    let findings = root["findings"].as_array().unwrap().iter().filter(|finding| finding["level"] == level);
    findings.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

/// The rules at a level, of all that was judged.
fn all(run: &Run, level: &str) -> BTreeSet<String> {
    let document = run.json();
    let roots = document["roots"].as_array().unwrap().iter();
    let findings = roots.flat_map(|root| root["findings"].as_array().cloned().unwrap_or_default());
    findings.filter(|it| it["level"] == level).map(|it| it["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_lock_file_of_an_instance_is_found_shown_and_completed_under_its_own_name() {
    let registry = honest();
    let workspace = with_instance(&registry);
    let run = workspace.tflock(&registry, ["verify", "-r", "--format", "json"]).ended_with(0);
    let document = run.json();
    let all: Vec<_> = document["roots"].as_array().unwrap().iter().map(|it| (&it["path"], &it["lock_file"])).collect();
    let wanted = [("app", &*format!("app/{LOCK}")), ("app", INSTANCE), ("other", &*format!("other/{LOCK}"))];
    assert_eq!(all.len(), 3, "{run}");
    for (path, file) in wanted {
        assert!(all.iter().any(|one| *one.0 == path && *one.1 == file), "{path} {file}: {run}");
    }
    assert_eq!(document["verdict"], "passed, requirements not read", "{run}");
    assert_eq!(of(&run, INSTANCE, "warn"), ["requirements-unread"]);
    for args in [&["list", "-r"][..], &["list", "-C", "app"], &["status"], &["verify", "-C", "app"]] {
        let run = workspace.tflock(&registry, args.iter().chain(&["--format", "json"]).copied()).ended_with(0);
        assert!(run.stdout.contains(".dev-vpc.terraform.lock.hcl"), "{run}");
    }
    // A hash that is missing comes back; the ordinary file stays.
    let (whole, ordinary) = (workspace.read(INSTANCE), workspace.read(&format!("app/{LOCK}")));
    edit(&workspace, INSTANCE, |text| without_last_line_with(text, "\"h1:"));
    let lock = ["lock", "-C", "app", "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]];
    workspace.tflock(&registry, lock).ended_with(0);
    assert_eq!((workspace.read(INSTANCE), workspace.read(&format!("app/{LOCK}"))), (whole, ordinary));
}

/// What Atmos adds is not read, so what the configuration alone says is no reason to refuse the file, or to change it.
#[test]
fn requirements_are_those_of_the_directory_as_far_as_they_go() {
    let registry = honest();
    let workspace = with_instance(&registry);
    let is_entry = |text: &str| text.contains("acme/widget");
    edit(&workspace, INSTANCE, |text| {
        let blocks: Vec<&str> = text.split_inclusive("}\n").filter(|block| !is_entry(block)).collect();
        blocks.concat()
    });
    edit(&workspace, "app/main.tf", |text| {
        text.replace(
            "required_providers {",
            "required_providers {\n    other = { source = \"example.com/acme/other\" }",
        )
    });
    let before = workspace.read(INSTANCE);
    let run = workspace.tflock(&registry, ["verify", "-r", "--format", "json"]).ended_with(1);
    assert_eq!(of(&run, INSTANCE, "deny"), [""; 0], "{run}");
    assert!(of(&run, INSTANCE, "warn").contains(&"entry-missing".to_owned()), "{run}");
    assert_eq!(of(&run, &format!("app/{LOCK}"), "deny"), ["entry-missing"], "{run}");
    workspace.write(&format!("app/{LOCK}"), "");
    workspace.tflock(&registry, ["lock", "-C", "app", "--offline", "--prune"]);
    assert_eq!(workspace.read(INSTANCE), before);
    // An entry that nothing here requires, and a version that the constraint excludes, are notes.
    let workspace = with_instance(&registry);
    edit(&workspace, "app/main.tf", |text| text.replace("~> 1.4", "~> 9.0"));
    let run = workspace.tflock(&registry, ["verify", "-r", "--format", "json"]).ended_with(1);
    assert_eq!(of(&run, INSTANCE, "deny"), [""; 0], "{run}");
    assert!(of(&run, INSTANCE, "note").contains(&"version-not-allowed".to_owned()), "{run}");
    edit(&workspace, "app/main.tf", |text| format!("{}  }}\n}}\n", &text[..text.find("    gadget").unwrap()]));
    let run = workspace.tflock(&registry, ["verify", "-r", "--format", "json"]);
    assert!(of(&run, INSTANCE, "note").contains(&"possibly-from-state".to_owned()), "{run}");
}

/// A directory with lock files of instances alone lacks none, and gets none.
#[test]
fn a_directory_of_instances_alone_lacks_no_lock_file() {
    let registry = honest();
    let workspace = with_instance(&registry);
    workspace.git(["rm", "--quiet", &format!("app/{LOCK}")]);
    workspace.write("app/backend.tf", "terraform {\n  backend \"s3\" {\n  }\n}\n");
    base(&workspace);
    let run = workspace.tflock(&registry, ["verify", "-r", "--format", "json"]).ended_with(0);
    assert!(!run.stdout.contains("lock-file-missing"), "{run}");
    for args in [&["lock", "-r", "--create"][..], &["lock", "-C", "app"]] {
        workspace.tflock(&registry, args.iter().chain(&["--platform", PLATFORMS[0]]).copied()).ended_with(0);
        assert!(!workspace.has(&format!("app/{LOCK}")));
    }
    for command in [&["install"][..], &["upgrade"], &["outdated"], &["migrate", "--to", "tofu"]] {
        let run = workspace.tflock(&registry, ["-C", "app"].iter().chain(command)).ended_with(2);
        assert!(run.touched().is_empty() && run.stderr.contains("Atmos"), "{run}");
        let names_one = run.stderr.contains(&format!("such as {INSTANCE}, "));
        assert!(names_one || command[0] == "install", "{run}");
    }
    gate(&workspace, &registry, &["-r"]).ended_with(0);
    // A new requirement makes none either, unless the lock file is what is to change.
    let add = ["add", "-C", "app", "{{registry}}/acme/gadget"].map(|it| it.replace("{{registry}}", &registry.host()));
    let replace = |more: &str| workspace.tflock(&registry, add.iter().map(String::as_str).chain([more]));
    let run = replace("--replace").ended_with(0);
    assert!(!workspace.has(&format!("app/{LOCK}")), "{run}");
    assert!(run.stderr.contains(INSTANCE) && !run.stderr.contains("lock` adds"), "{run}");
    replace("--lock-only").ended_with(0);
    assert!(workspace.has(&format!("app/{LOCK}")));
}

/// `lock` adds no entry to it, and `outdated` leaves it alone.
#[test]
fn status_names_no_command_that_leaves_it_alone() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.git(["rm", "--quiet", "-r", "other"]);
    workspace.git(["mv", &format!("app/{LOCK}"), INSTANCE]);
    workspace.write(SETTINGS, &format!("platforms = [\"{}\"]\n", PLATFORMS[0]));
    base(&workspace);
    let next = || workspace.tflock(&registry, ["status", "--format", "json"]).ended_with(0).json()["next"].clone();
    assert_eq!(next(), "tflock verify -r");
    edit(&workspace, "app/main.tf", |text| {
        text.replace(
            "required_providers {",
            "required_providers {\n    other = { source = \"example.com/acme/other\" }",
        )
    });
    base(&workspace);
    assert_eq!(next(), "tflock verify -r");
}

#[test]
fn the_gate_judges_it_like_any_other() {
    let registry = honest();
    let workspace = with_instance(&registry);
    // Nothing changed, and a change elsewhere.
    gate(&workspace, &registry, &["-r"]).ended_with(0);
    // That Atmos adds requirements is a warning, though configuration next to it changed.
    edit(&workspace, "app/main.tf", |text| format!("{text}\nlocals {{\n  a = 1\n}}\n"));
    commit(&workspace, "change");
    let run = gate(&workspace, &registry, &["-r"]).ended_with(0);
    assert_eq!(of(&run, INSTANCE, "warn"), ["requirements-unread"], "{run}");
    // A forged hash, in it and in a new one.
    for file in [INSTANCE, "app/.prod-vpc.terraform.lock.hcl"] {
        let workspace = with_instance(&registry);
        workspace.write(file, &planted(&workspace.read(INSTANCE), FORGED));
        commit(&workspace, "change");
        let run = gate(&workspace, &registry, &["-r"]).ended_with(3);
        assert!(of(&run, file, "deny").iter().any(|rule| rule == "unattested-hash"), "{run}");
        assert_eq!(of(&run, &format!("app/{LOCK}"), "deny"), [""; 0]);
    }
    // What the gate advises for a replaced hash restores this file, by its own history, and leaves the others as they are.
    let workspace = with_instance(&registry);
    let before = workspace.read(INSTANCE);
    edit(&workspace, INSTANCE, |text| planted(&without_last_line_with(text, "\"h1:"), FORGED));
    workspace.write("app/.new.terraform.lock.hcl", &before);
    commit(&workspace, "change");
    let run = gate(&workspace, &registry, &["-r"]).ended_with(3);
    assert!(of(&run, INSTANCE, "deny").iter().any(|rule| rule == "hash-replaced"), "{run}");
    let lock =
        ["lock", "-C", "app", &format!("{}/acme/widget", registry.host()), &format!("{}/acme/gadget", registry.host())];
    workspace.tflock(&registry, lock.into_iter().chain(["--restore-from", "HEAD~1"])).ended_with(0);
    assert_eq!(workspace.read(INSTANCE), before);
    // Removed, with and without a new one beside it.
    for new in [None, Some("app/.dev-vpc2.terraform.lock.hcl")] {
        let workspace = with_instance(&registry);
        let text = workspace.read(INSTANCE);
        workspace.git(["rm", "--quiet", INSTANCE]);
        if let Some(new) = new {
            workspace.write(new, &text);
        }
        commit(&workspace, "change");
        let run = gate(&workspace, &registry, &["-r"]).ended_with(3);
        assert_eq!(all(&run, "deny"), ["lock-file-removed".to_owned()].into(), "{run}");
    }
    // With its directory, it goes like any other.
    let workspace = with_instance(&registry);
    workspace.git(["rm", "--quiet", "-r", "app"]);
    commit(&workspace, "change");
    workspace.tflock(&registry, ["verify", "-r", "--base", "origin/main"]).ended_with(0);
}

/// The lock file of an instance takes the place of no other one, however the directory is named.
#[test]
fn a_lock_file_that_is_removed_beside_an_instance_is_denied() {
    let registry = honest();
    for args in [&["-r"][..], &[]] {
        for workspace in [with_instance(&registry), repository(&registry)] {
            workspace.write("app/.new.terraform.lock.hcl", &workspace.read(&format!("app/{LOCK}")));
            workspace.git(["rm", "--quiet", &format!("app/{LOCK}")]);
            commit(&workspace, "change");
            let run = gate(&workspace, &registry, args).ended_with(3);
            assert_eq!(of(&run, &format!("app/{LOCK}"), "deny"), ["lock-file-removed"], "{run}");
        }
    }
}

/// A new root module does not get around its lock file by one that nothing copies.
#[test]
fn a_new_root_module_lacks_a_lock_file_where_the_base_has_no_instances() {
    let registry = honest();
    for args in [&["-r"][..], &["-C", "new"]] {
        for (has_atmos, code) in [(false, 1), (true, 0)] {
            let workspace = if has_atmos { with_instance(&registry) } else { repository(&registry) };
            workspace.write("new/main.tf", &workspace.read("app/main.tf"));
            workspace.write("new/backend.tf", "terraform {\n  backend \"s3\" {\n  }\n}\n");
            workspace.write("new/.x.terraform.lock.hcl", &workspace.read(&format!("app/{LOCK}")));
            commit(&workspace, "change");
            let gate = ["verify", "--base", "origin/main", "--format", "json"];
            let run = workspace.tflock(&registry, gate.iter().chain(args).copied()).ended_with(code);
            assert_eq!(run.stdout.contains("lock-file-missing"), !has_atmos, "{run}");
            if !has_atmos && args == ["-r"] {
                // What the finding advises where Atmos does not run the directory.
                assert!(run.stdout.contains("else remove .x.terraform.lock.hcl and run `tflock -C new lock`"), "{run}");
                std::fs::remove_file(workspace.path("new/.x.terraform.lock.hcl")).unwrap();
                workspace.tflock(&registry, ["-C", "new", "lock"]).ended_with(0);
                commit(&workspace, "locked");
                workspace.tflock(&registry, gate.iter().chain(args).copied()).ended_with(0);
            }
        }
    }
}

/// Only what Atmos adds is a mere warning: words of a change are no reason.
#[test]
fn what_else_is_unread_next_to_an_instance_is_denied() {
    let registry = honest();
    let workspace = with_instance(&registry);
    let reason = "this is the lock file of an Atmos instance, and tflock does not read what its YAML adds";
    let unit =
        format!("generate \"x\" {{\n  path = \"../{reason}\"\n  if_exists = \"overwrite\"\n  contents = \"\"\n}}\n");
    for root in ["app", "other"] {
        workspace.write(&format!("{root}/terragrunt.hcl"), "");
    }
    base(&workspace);
    for root in ["app", "other"] {
        workspace.write(&format!("{root}/terragrunt.hcl"), &unit);
    }
    commit(&workspace, "change");
    let args = ["verify", "-r", "--base", "origin/main", "--format", "json"];
    let run = workspace.tflock(&registry, args).ended_with(3);
    for file in [format!("app/{LOCK}"), format!("other/{LOCK}"), INSTANCE.to_owned()] {
        assert!(of(&run, &file, "deny").iter().any(|rule| rule == "requirements-unread"), "{file}: {run}");
    }
    assert!(of(&run, INSTANCE, "warn").iter().any(|rule| rule == "requirements-unread"), "{run}");
}

/// A component moves with its instance. Where the base has no such file nothing copies one, and without all entries it pins too little.
#[test]
fn a_new_directory_is_locked_by_an_instance_only_where_the_base_has_some() {
    let registry = honest();
    let one_entry = |text: &str| text.split_inclusive("}\n").take(1).collect::<String>();
    for (has_atmos, is_whole, code) in [(true, true, 0), (true, false, 3), (false, true, 3)] {
        let workspace = if has_atmos { with_instance(&registry) } else { repository(&registry) };
        let text = workspace.read(&format!("other/{LOCK}"));
        workspace.git(["mv", "other", "moved"]);
        workspace.git(["rm", "--quiet", "--force", &format!("moved/{LOCK}")]);
        let text = if is_whole { text } else { one_entry(&text) };
        workspace.write("moved/.dev-vpc.terraform.lock.hcl", &text);
        commit(&workspace, "change");
        let args = ["verify", "-r", "--base", "origin/main", "--format", "json"];
        let run = workspace.tflock(&registry, args).ended_with(code);
        assert_eq!(all(&run, "deny").contains("lock-file-moved"), code != 0, "{run}");
    }
}

/// Names that are one name with a lock file on some systems, and links, which lead elsewhere after the merge.
#[test]
fn names_that_fold_and_links_are_denied() {
    let registry = honest();
    for (name, rule) in [
        ("app/.dev-vpc.Terraform.lock.hcl", "ambiguous-name"),
        ("app/.DEV-VPC.terraform.lock.hcl", "ambiguous-name"),
        ("app/.dev-vpc.terraform.lock.hcl.", "ambiguous-name"),
    ] {
        let workspace = with_instance(&registry);
        workspace.write(name, &workspace.read(INSTANCE));
        commit(&workspace, "change");
        let run = gate(&workspace, &registry, &["-r"]).ended_with(3);
        assert!(all(&run, "deny").contains(rule), "{name}: {run}");
    }
    #[cfg(unix)]
    {
        let workspace = with_instance(&registry);
        std::fs::remove_file(workspace.path(INSTANCE)).unwrap();
        std::os::unix::fs::symlink(LOCK, workspace.path(INSTANCE)).unwrap();
        commit(&workspace, "change");
        let run = gate(&workspace, &registry, &["-r"]).ended_with(3);
        assert!(all(&run, "deny").contains("link-changed"), "{run}");
    }
    for other in ["app/x.terraform.lock.hcl", "app/.terraform.lock.hcl.orig", "app/..terraform.lock.hcl"] {
        let workspace = with_instance(&registry);
        workspace.write(other, "x");
        commit(&workspace, "no lock file");
        gate(&workspace, &registry, &["-r"]).ended_with(0);
    }
}

#[test]
fn git_merges_and_diff_compares_it() {
    let registry = honest();
    let workspace = repository(&registry);
    let line = ".*.terraform.lock.hcl merge=tflock diff=tflock linguist-generated=false\n";
    workspace.tflock(&registry, ["git", "install"]).ended_with(0);
    assert!(!workspace.read(".gitattributes").contains(line));
    workspace.write(INSTANCE, &workspace.read(&format!("app/{LOCK}")));
    workspace.tflock(&registry, ["git", "install"]).ended_with(0);
    assert!(workspace.read(".gitattributes").ends_with(line));
    let attribute = workspace.git(["check-attr", "merge", INSTANCE, &format!("app/{LOCK}")]);
    assert_eq!(attribute.stdout.matches("merge: tflock").count(), 2, "{attribute}");
    base(&workspace);
    edit(&workspace, INSTANCE, |text| planted(text, FORGED));
    let run = workspace.tflock(&registry, ["diff", "-r", "HEAD"]);
    assert!(run.stdout.contains(INSTANCE), "{run}");
    // A directory means all of its lock files, also where there is no other one.
    let changed = |args: &[&str]| {
        let run = workspace.tflock(&registry, ["--format", "json"].iter().chain(args)).ended_with(0).json();
        let all = run["roots"].as_array().cloned().unwrap_or_else(|| vec![run]);
        all.iter()
            .filter(|it| it["changed"] == true)
            .map(|it| it.get("file").unwrap_or(&it["path"]).clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(changed(&["-C", "app", "diff"]), [INSTANCE]);
    assert_eq!(changed(&["diff", "HEAD", "--", "app"]), [INSTANCE]);
    workspace.git(["rm", "--quiet", &format!("app/{LOCK}")]);
    commit(&workspace, "instances alone");
    assert_eq!(changed(&["-C", "app", "diff", "HEAD~1..HEAD"]), [INSTANCE, format!("app/{LOCK}").as_str()]);
    edit(&workspace, INSTANCE, |text| text.replace("  version ", "  version    "));
    assert_eq!(changed(&["-C", "app", "diff"]), [INSTANCE]);
    workspace.git(["reset", "--quiet", "--hard", "HEAD~1"]);
    workspace.git(["checkout", "--quiet", "."]);
    workspace.tflock(&registry, ["fmt", "-r", "--check"]).ended_with(0);
    edit(&workspace, INSTANCE, |text| text.replace("  version ", "  version    "));
    let again = workspace.tflock(&registry, ["fmt", "-r", "--check"]).ended_with(1);
    assert!(again.stdout.contains(INSTANCE) || again.stderr.contains(INSTANCE), "{again}");
}
