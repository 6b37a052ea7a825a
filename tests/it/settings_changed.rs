//! Every change of a settings file is reported by the gate: one that asks for less as `policy-weakened`, each with the names of what
//! differs.

use crate::support::locked::{honest, rules};
use crate::support::proposal::{SETTINGS, commit, gate, repository};
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const OLD: &str = "platforms = [\"linux_amd64\", \"darwin_arm64\"]\npolicy {\n  signature = \"always\"\n}\n";

fn notes(run: &Run) -> Vec<String> {
    let document = run.json();
    let notes = document["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_owned());
    notes.filter(|note| note.contains(SETTINGS)).collect()
}

/// What a change makes of the settings, and whether that asks for less; with the keys that are named.
const CHANGES: &[(&str, bool, &str)] = &[
    ("platforms = [\"linux_amd64\"]\npolicy {\n  signature = \"always\"\n}\n", true, "platforms"),
    ("policy {\n  signature = \"always\"\n}\n", true, "platforms"),
    ("OLDoptional_platforms = {\n  \"HOST/acme/widget\" = [\"darwin_arm64\"]\n}\n", true, "optional_platforms"),
    ("OLDoptional_platforms = {\n  \"HOST/acme/*\" = [\"darwin_arm64\"]\n}\n", true, "optional_platforms"),
    // Nobody has that provider, and nobody wants that platform.
    ("OLDoptional_platforms = {\n  \"HOST/acme/new\" = [\"darwin_arm64\"]\n}\n", false, "optional_platforms"),
    ("OLDoptional_platforms = {\n  \"HOST/acme/widget\" = [\"plan9_arm\"]\n}\n", false, "optional_platforms"),
    ("OLDterragrunt {\n  env = { A = null }\n}\n", true, "terragrunt.env"),
    ("OLDterragrunt {\n  plain = [\"run_cmd\"]\n}\n", true, "terragrunt.plain"),
    ("OLDexclude = [\"old/**\"]\n", true, "exclude"),
    ("", true, "platforms, policy.signature"),
    ("OLDban \"acme/x\" {\n}\n", false, "ban \"acme/x\""),
    ("# a word\nOLD", false, "no setting differs"),
    (
        "platforms = [\"darwin_arm64\", \"linux_amd64\", \"plan9_arm\"]\npolicy {\n  signature = \"always\"\n}\n",
        false,
        "platforms",
    ),
];

#[test]
#[ignore = "long"]
fn each_change_is_reported() {
    let registry = honest();
    for (text, is_weaker, keys) in CHANGES {
        let workspace = repository(&registry);
        workspace.write(SETTINGS, OLD);
        commit(&workspace, "settings");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        workspace.write(SETTINGS, &text.replace("OLD", OLD).replace("HOST", &registry.host()));
        commit(&workspace, "change");
        let run = gate(&workspace, &registry, &["--offline"]);
        assert_eq!(rules(&run, "deny").contains("policy-weakened"), *is_weaker, "{text}: {run}");
        assert_eq!(notes(&run), [format!("{SETTINGS} changed: {keys}")], "{run}");
        let approved = gate(&workspace, &registry, &["--offline", "--allow-trust-change"]);
        assert!(!rules(&approved, "deny").contains("policy-weakened"), "{approved}");
    }
}

#[test]
fn settings_that_are_gone_are_weaker_where_root_modules_stay() {
    let registry = honest();
    let removed = |workspace: &Workspace, path: &str| std::fs::remove_file(workspace.path(path)).unwrap();
    // Nothing of it is a policy.
    let harmless = "link = \"copy\"\n";
    let workspace = repository(&registry);
    for place in ["app", "docs"] {
        workspace.write(&format!("{place}/{SETTINGS}"), harmless);
    }
    commit(&workspace, "settings");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    removed(&workspace, &format!("docs/{SETTINGS}"));
    let run = gate(&workspace, &registry, &["--offline"]).ended_with(0);
    assert_eq!(notes(&run), [format!("docs/{SETTINGS} was removed: link")], "{run}");
    removed(&workspace, &format!("app/{SETTINGS}"));
    let run = gate(&workspace, &registry, &["--offline"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["policy-weakened".to_owned()].into(), "{run}");
    workspace.write(&format!("new/{SETTINGS}"), harmless);
    let run = gate(&workspace, &registry, &["--offline"]);
    assert!(notes(&run).contains(&format!("new/{SETTINGS} is new: link")), "{run}");
}
