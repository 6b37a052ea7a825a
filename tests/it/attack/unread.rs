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
fn people_read_the_refusal_before_the_error() {
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
