//! Configuration that cannot be read hides nothing of what can be judged without it.

use crate::support::locked::{LOCK, honest, planted, rules};
use crate::support::proposal::{GATE, SETTINGS, TRUST, commit, edit, gate, repository, without_last_line_with};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// A name, and what is done to the work tree.
type Break = (&'static str, fn(&Workspace));

/// What else a pull request does to keep the gate from reading the configuration.
const BREAKS: &[Break] = &[
    ("a syntax error", |it| it.write("app/more.tf", "module {\n")),
    ("a module whose directory is missing", |it| {
        it.write("app/more.tf", "module \"m\" {\n  source = \"./nowhere\"\n}\n");
    }),
    ("JSON with an error", |it| it.write("app/more.tf.json", "{")),
    ("a module called twice", |it| {
        it.write("app/more.tf", &"module \"m\" {\n  source = \"./x\"\n}\n".repeat(2));
        it.write("app/x/main.tf", "locals {}\n");
    }),
    ("the syntax error in a module", |it| {
        it.write("app/more.tf", "module \"m\" {\n  source = \"../m\"\n}\n");
        it.write("m/main.tf", "variable \"x\" {\n");
    }),
];

/// What is found of the lock file, online or not.
type Row = (&'static str, fn(&Workspace, &Registry), &'static str);

const OTHER: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

const ROWS: &[Row] = &[
    (
        "an h1 replaced",
        |it, _| edit(it, &app_lock(), |text| planted(&without_last_line_with(text, "h1:"), OTHER)),
        "hash-replaced",
    ),
    ("an h1 dropped", |it, _| edit(it, &app_lock(), |text| without_last_line_with(text, "h1:")), "hashes-dropped"),
    ("a hash planted", |it, _| edit(it, &app_lock(), |text| planted(text, OTHER)), "unattested-hash"),
    (
        "an entry that pins nothing",
        |it, _| edit(it, &app_lock(), |text| text.replace("h1:", "x1:").replace("zh:", "xx:")),
        "pins-nothing",
    ),
    (
        "a value that is not literal",
        |it, _| edit(it, &app_lock(), |text| text.replacen("\"2.0.0\"", "\"${2}.0.0\"", 1)),
        "lock-not-literal",
    ),
    ("the lock file removed", |it, _| std::fs::remove_file(it.path(&app_lock())).unwrap(), "lock-file-removed"),
    ("the lock file emptied", |it, _| it.write(&app_lock(), ""), "lock-file-removed"),
    ("the signers forgotten", |it, _| it.write(TRUST, ""), "pin-removed"),
    ("the policy gone", |it, _| it.write(SETTINGS, "# nothing\n"), "policy-weakened"),
    (
        "packages of its own",
        |it, _| {
            it.write("app/terraform.d/plugins/x", "");
            it.git(["add", "--force", "app"]);
        },
        "tracked-packages",
    ),
    (
        "the header of the other tool",
        |it, _| edit(it, &app_lock(), |text| text.replace("terraform init", "tofu init")),
        "dialect-changed",
    ),
];

fn app_lock() -> String {
    format!("app/{LOCK}")
}

/// Each root module is judged, whatever its configuration is like.
#[test]
#[ignore = "long"]
fn trust_is_judged_without_configuration() {
    let registry = honest();
    let mut wrong = Vec::new();
    for (number, (name, attack, rule)) in ROWS.iter().enumerate() {
        // Each break meets some attack, and each attack some break.
        for (how, unreadable) in [BREAKS[number % BREAKS.len()], BREAKS[(number + 1) % BREAKS.len()]] {
            let workspace = repository(&registry);
            unreadable(&workspace);
            attack(&workspace, &registry);
            commit(&workspace, "change");
            let run = gate(&workspace, &registry, &[]);
            let is_told = run.code == Some(3) && rules(&run, "deny").contains(*rule) && run.json()["error"].is_object();
            if !is_told {
                wrong.push(format!("{name}, {how}: {run}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "long"]
fn without_anything_to_refuse_it_is_an_error_as_before() {
    let registry = honest();
    for (how, unreadable) in BREAKS {
        let workspace = repository(&registry);
        unreadable(&workspace);
        commit(&workspace, "change");
        for more in [&[][..], &["--offline"]] {
            let run = gate(&workspace, &registry, more).ended_with(2);
            assert!(rules(&run, "deny").is_empty(), "{how}: {run}");
        }
        let all = GATE.iter().chain(&["-r", "--offline"]);
        let run = workspace.tflock(&registry, all).ended_with(2);
        assert!(run.stdout.contains("failed: app"), "{how}: {run}");
    }
}

#[test]
fn the_refusal_is_printed_before_the_error() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("app/more.tf", "module {\n");
    edit(&workspace, &app_lock(), |text| without_last_line_with(text, "h1:"));
    let one = ["-C", "app"].iter().chain(&GATE).chain(&["--offline"]);
    let run = workspace.tflock(&registry, one).ended_with(3);
    let place = |text: &str| run.stderr.find(text).unwrap_or_else(|| panic!("{text}: {run}"));
    assert!(place("denied[hashes-dropped]") < place("error:"), "{run}");
    let run = workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline"])).ended_with(3);
    assert!(run.stdout.contains("refused: app (hashes-dropped)"), "{run}");
}

/// Nor does a gate without a base.
#[test]
fn a_work_tree_alone_is_judged_as_well() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("app/more.tf", "module {\n");
    edit(&workspace, &app_lock(), |text| planted(text, OTHER));
    let run = workspace.tflock(&registry, ["-C", "app", "verify", "--format", "json"]).ended_with(3);
    assert!(rules(&run, "deny").contains("unattested-hash"), "{run}");
}

/// An abandoned root module: its configuration cannot be read, on any branch.
fn with_legacy(registry: &Registry, locked: bool) -> Workspace {
    let workspace = repository(registry);
    let calls = "terraform {\n  backend \"s3\" {}\n}\nmodule \"m\" {\n  source = \"../modules/m\"\n}\n";
    workspace.write("legacy/x/main.tf", calls);
    workspace.write("legacy/x/broken.tf", "module \"x\" {\n  source = \"../y\"\n  = }\n");
    workspace.write("legacy/modules/m/main.tf", "locals {}\n");
    workspace.write("legacy/modules/m/deep.tf", "module \"n\" {\n  source = \"../n\"\n}\n");
    // They call each other.
    workspace.write("legacy/modules/n/main.tf", "module \"m\" {\n  source = \"../m\"\n}\n");
    workspace.write("legacy/y/main.tf", "locals {}\n");
    if locked {
        workspace.write(&format!("legacy/x/{LOCK}"), &workspace.read(&app_lock()));
    }
    merged(&workspace);
    workspace
}

fn merged(workspace: &Workspace) {
    commit(workspace, "before");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
}

fn all(workspace: &Workspace, registry: &Registry, more: &[&str]) -> crate::support::run::Run {
    workspace.tflock(registry, GATE.iter().chain(&["-r", "--offline"]).chain(more))
}

#[test]
fn files_unreadable_before_block_no_other_change() {
    let registry = honest();
    for locked in [false, true] {
        let workspace = with_legacy(&registry, locked);
        workspace.write("app/more.tf", "# more\n");
        workspace.write("legacy/unrelated/main.tf", "locals {}\n");
        commit(&workspace, "change");
        let run = all(&workspace, &registry, &[]).ended_with(0);
        assert!(run.stdout.contains("1 not checked"), "{run}");
        assert!(run.stderr.contains("could not be read at the base either in legacy/x/broken.tf"), "{run}");
        let json = all(&workspace, &registry, &["--format", "json"]).ended_with(0).json();
        let legacy = json["roots"].as_array().unwrap().iter().find(|root| root["path"] == "legacy/x").unwrap();
        assert_eq!(legacy["not_checked"]["file"], "legacy/x/broken.tf");
        // The change of others does not make it worse, nor does that of settings.
        edit(&workspace, SETTINGS, |text| format!("platforms = [\"linux_amd64\"]\n{text}"));
        commit(&workspace, "settings");
        let run = all(&workspace, &registry, &[]);
        assert!(run.code != Some(2) && run.stderr.contains("could not be read at the base either"), "{run}");
        // Without a base nothing says that it is old.
        workspace.tflock(&registry, ["verify", "-r", "--offline"]).ended_with(2);
    }
}

#[test]
#[ignore = "long"]
fn what_cannot_be_read_and_changed_is_an_error() {
    let registry = honest();
    let rows: &[Break] = &[
        ("another file there", |it| it.write("legacy/x/more.tf", "# more\n")),
        ("the file itself", |it| it.write("legacy/x/broken.tf", "module \"x\" {\n  = 1 }\n")),
        ("a module that a file names", |it| it.write("legacy/modules/m/main.tf", "# other\n")),
        ("a module of that", |it| it.write("legacy/modules/n/more.tf", "# other\n")),
        ("a module that the broken file names", |it| it.write("legacy/y/main.tf", "# other\n")),
        ("a module that is gone", |it| std::fs::remove_dir_all(it.path("legacy/modules/n")).unwrap()),
        ("values", |it| it.write("legacy/x/terraform.tfvars", "a = 1\n")),
        ("packages", |it| {
            it.write("legacy/x/terraform.d/plugins/x", "");
            it.git(["add", "--force", "legacy"]);
        }),
        ("it is new", |it| {
            it.git(["mv", "legacy/x", "legacy/z"]);
        }),
    ];
    for (name, change) in rows {
        let workspace = with_legacy(&registry, true);
        change(&workspace);
        commit(&workspace, "change");
        let run = all(&workspace, &registry, &[]);
        assert!(matches!(run.code, Some(2 | 3)) && !run.stdout.contains("not checked"), "{name}: {run}");
    }
    // What breaks it is the change.
    let workspace = repository(&registry);
    workspace.write("other/more.tf", "module {\n");
    all(&workspace, &registry, &[]).ended_with(2);
}

#[test]
fn excluded_directories_are_not_searched() {
    let registry = honest();
    let workspace = with_legacy(&registry, true);
    let excluding = |text: &str| format!("exclude = [\"legacy/**\"]\n{text}");
    // A change cannot exclude what it changes.
    edit(&workspace, SETTINGS, excluding);
    edit(&workspace, &format!("legacy/x/{LOCK}"), |text| without_last_line_with(text, "h1:"));
    commit(&workspace, "change");
    let run = all(&workspace, &registry, &[]).ended_with(3);
    assert!(
        run.stdout.contains("denied[policy-weakened]") && run.stdout.contains("legacy/x (hashes-dropped)"),
        "{run}"
    );
    let run = all(&workspace, &registry, &["--allow-trust-change"]).ended_with(0);
    assert!(!run.stdout.contains("legacy/x"), "{run}");
    // At the base it counts, for all commands and from below as well.
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.write("legacy/x/more.tf", "# more\n");
    std::fs::remove_file(workspace.path(&format!("legacy/x/{LOCK}"))).unwrap();
    let run = all(&workspace, &registry, &[]).ended_with(0);
    assert!(!run.stdout.contains("legacy") && run.stdout.contains("2 root modules"), "{run}");
    let commands: [&[&str]; 4] =
        [&["verify", "-r", "--offline"], &["list", "-r"], &["fmt", "-r", "--check"], &["why", "-r"]];
    for command in commands {
        let run = workspace.tflock(&registry, command).ended_with(0);
        assert!(!run.to_string().contains("legacy/x "), "{command:?}: {run}");
    }
    workspace.tflock(&registry, ["-C", "legacy", "list", "-r"]).ended_with(2);
    // Taking it back is no weakening, and what is named is worked in.
    edit(&workspace, SETTINGS, |text| text.replace("exclude = [\"legacy/**\"]\n", ""));
    let run = all(&workspace, &registry, &[]);
    assert!(!run.stdout.contains("policy-weakened"), "{run}");
    workspace.tflock(&registry, ["-C", "legacy/x", "verify", "--offline"]).ended_with(2);
}

/// A link of the base to a file that the change spoils.
#[cfg(unix)]
#[test]
fn what_became_unreadable_behind_a_link_was_readable_at_the_base() {
    let registry = crate::support::locked::honest();
    let workspace = crate::support::proposal::repository(&registry);
    workspace.write("shared/versions.tf", "locals {}\n");
    workspace.write("app/modules/net/main.tf", "locals {}\n");
    let main = workspace.read("app/main.tf") + "module \"net\" {\n  source = \"./modules/net\"\n}\n";
    workspace.write("app/main.tf", &main);
    std::os::unix::fs::symlink("../shared/versions.tf", workspace.path("app/versions.tf")).unwrap();
    std::os::unix::fs::symlink("../../../shared/versions.tf", workspace.path("app/modules/net/versions.tf")).unwrap();
    crate::support::proposal::commit(&workspace, "shared");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let gate = || workspace.tflock(&registry, ["verify", "-r", "--offline", "--base", "origin/main"]);
    gate().ended_with(0);
    workspace.write("shared/versions.tf", "locals {\n");
    crate::support::proposal::commit(&workspace, "spoilt");
    gate().ended_with(2);
    std::fs::remove_file(workspace.path("app/versions.tf")).unwrap();
    gate().ended_with(2);
}

/// Links of the base by every kind of way to a file that the change spoils, each time in another manner.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn what_became_unreadable_by_whatever_way_is_an_error() {
    type Links = &'static [(&'static str, &'static str)];
    let registry = crate::support::locked::honest();
    let links: [(&str, Links, &str); 5] = [
        ("two links", &[("shared/one.tf", "two.tf"), ("app/one.tf", "../shared/one.tf")], ""),
        ("a linked directory", &[("app/net", "../shared")], "module \"net\" {\n  source = \"./net\"\n}\n"),
        ("a linked directory above", &[("app/all", "..")], "module \"net\" {\n  source = \"./all/shared\"\n}\n"),
        ("a template", &[("app/net", "../shared")], "module \"net\" {\n  source = \"${path.module}/net\"\n}\n"),
        ("JSON", &[("app/net.tf.json", "../shared/x.json")], ""),
    ];
    let spoilt = ["locals {\n", "{", "\u{0}", "locals {}\nlocals\n", "variable \"a\" {}\nvariable \"a\" {}\n}\n"];
    for (number, (what, links, more)) in links.iter().enumerate() {
        let workspace = crate::support::proposal::repository(&registry);
        workspace.write("shared/two.tf", "locals {}\n");
        workspace.write("shared/x.json", "{}");
        let main = workspace.read("app/main.tf") + more;
        workspace.write("app/main.tf", &main);
        for (link, target) in *links {
            std::os::unix::fs::symlink(target, workspace.path(link)).unwrap();
        }
        crate::support::proposal::commit(&workspace, "shared");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        let gate = || workspace.tflock(&registry, ["verify", "-r", "--offline", "--base", "origin/main"]);
        gate().ended_with(0);
        for text in [spoilt[number % spoilt.len()], spoilt[(number + 1) % spoilt.len()]] {
            workspace.write("shared/two.tf", text);
            workspace.write("shared/x.json", &format!("{{\"{text}"));
            let run = gate();
            assert_eq!(run.code, Some(2), "{what}, {text:?}: {run}");
        }
    }
}
