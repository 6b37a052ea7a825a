//! What the settings do not allow, in the commands that select and write: refused before the first request, passed over
//! in selection, found where it is recorded.

use crate::support::locked::{LOCK, honest, locked, rules, verify};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{PLATFORMS, widget};

const SETTINGS: &str = ".tflock.hcl";
const LOCK_JSON: [&str; 5] = ["lock", "--platform", "linux_amd64", "--format", "json"];

/// Two releases of one provider.
fn two_versions() -> Registry {
    widget().release("acme/widget", "1.5.0", PLATFORMS)
}

fn banning(versions: &str) -> String {
    format!("ban \"{{{{registry}}}}/acme/widget\" {{\n  versions = \"{versions}\"\n  reason   = \"it has worms\"\n}}\n")
}

fn workspace(settings: &str) -> Workspace {
    let workspace = Workspace::from("modules/one-root");
    workspace.write(SETTINGS, settings);
    workspace
}

fn lock(workspace: &Workspace, registry: &Registry) -> Run {
    workspace.tflock(registry, LOCK_JSON)
}

#[track_caller]
fn denies(run: &Run, wanted: &[&str]) {
    assert_eq!(rules(run, "deny"), wanted.iter().map(ToString::to_string).collect(), "{run}");
}

#[test]
fn hosts_that_are_not_allowed_are_not_contacted() {
    let registry = two_versions();
    let hosts = "policy {\n  hosts = [\"registry.terraform.io\"]\n}\n";
    let address = format!("{}/acme/widget", registry.host());
    let commands: [(&[&str], i32); 9] = [
        (&["lock"], 3),
        (&["lock", "--check"], 3),
        (&["lock", "--from-lock"], 3),
        (&["upgrade"], 3),
        (&["upgrade", "--bump"], 3),
        (&["add", &address, "--replace"], 3),
        (&["outdated"], 3),
        (&["trust", "init"], 3),
        (&["verify"], 3),
    ];
    for (command, code) in commands {
        let workspace = Workspace::from("modules/locked");
        workspace.write(SETTINGS, hosts);
        let run = workspace.tflock(&registry, command);
        assert_eq!(run.code, Some(code), "{run}");
        assert!(run.touched().is_empty() && registry.requests().is_empty(), "{run}");
        assert!((run.stdout.clone() + &run.stderr).contains("the policy does not allow the host"), "{run}");
    }
    let workspace = workspace(hosts);
    let run = lock(&workspace, &registry).ended_with(3);
    denies(&run, &["host-not-allowed"]);
    let finding = run.json()["findings"][0].clone();
    assert_eq!((&finding["file"], &finding["line"]), (&"main.tf".into(), &3.into()), "{run}");
    workspace.write(SETTINGS, "policy {\n  hosts = [\"{{registry}}\"]\n}\n");
    lock(&workspace, &registry).ended_with(0);
}

#[test]
fn banned_versions_are_not_selected() {
    let registry = two_versions();
    // New, and the newest is banned.
    let newest_banned = workspace(&banning(">= 1.5.0"));
    let run = lock(&newest_banned, &registry).ended_with(0);
    assert!(newest_banned.lock_file().contains("\"1.4.0\""), "{run}");
    // The gate agrees with what was selected.
    verify(&newest_banned, &registry, &[]).ended_with(0);
    // `upgrade` stays, and says why.
    let run = newest_banned.tflock(&registry, ["upgrade", "--platform", "linux_amd64"]).ended_with(0);
    assert!(run.touched().is_empty() && run.stdout.contains("it is banned by the settings: it has worms"), "{run}");
    let run = newest_banned.tflock(&registry, ["outdated", "--exit-code"]).ended_with(0);
    assert!(run.stdout.contains("1.5.0 is excluded: it is banned by the settings: it has worms"), "{run}");
    // Nor by its number.
    let address = format!("{}/acme/widget", registry.host());
    let precise = ["upgrade", "--format", "json", "--platform", "linux_amd64", "--precise", "1.5.0", &address];
    let run = newest_banned.tflock(&registry, precise).ended_with(3);
    denies(&run, &["banned"]);
    assert!(run.touched().is_empty(), "{run}");
}

#[test]
fn a_banned_version_that_is_recorded_is_a_finding() {
    let registry = widget();
    let workspace = workspace("");
    lock(&workspace, &registry).ended_with(0);
    let registry = registry.release("acme/widget", "1.5.0", PLATFORMS);
    workspace.write(SETTINGS, &banning("< 1.5.0"));
    registry.forget_requests();
    let run = lock(&workspace, &registry).ended_with(3);
    denies(&run, &["banned"]);
    assert!(run.touched().is_empty() && registry.requests().is_empty(), "{run}");
    denies(&verify(&workspace, &registry, &[]).ended_with(3), &["banned"]);
    // As the remedy says.
    let run = workspace.tflock(&registry, ["upgrade", "--platform", "linux_amd64"]).ended_with(0);
    assert!(workspace.lock_file().contains("\"1.5.0\""), "{run}");
    lock(&workspace, &registry).ended_with(0);
}

/// An exempt release is queried like all others: it does not pass unchecked.
#[test]
fn a_host_that_is_exempt_for_one_version_is_queried_for_it() {
    let registry = honest();
    let workspace = locked(&registry);
    let policy = "policy {\n  hosts = [\"example.com\"]\n}\n";
    let exempt = |version: &str| format!("exempt \"host-not-allowed\" {{\n  version = \"{version}\"\n}}\n");
    workspace.write(SETTINGS, &format!("{policy}{}", exempt("1.4.0")));
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!((&run.json()["proven"], &run.json()["unknown"]), (&4.into(), &4.into()), "{run}");
    workspace.write(SETTINGS, &format!("{policy}{}{}", exempt("1.4.0"), exempt("2.0.0")));
    let run = verify(&workspace, &registry, &[]).ended_with(0);
    assert_eq!((&run.json()["proven"], &run.json()["unknown"]), (&8.into(), &0.into()), "{run}");
}

#[test]
fn nothing_is_selected_where_all_is_banned() {
    let registry = two_versions();
    let workspace = workspace(&banning(">= 0"));
    let run = lock(&workspace, &registry).ended_with(3);
    denies(&run, &["banned"]);
    assert!(run.touched().is_empty() && run.stdout.contains("it has worms"), "{run}");
    let address = format!("{}/acme/widget", registry.host());
    let run = workspace.tflock(&registry, ["add", &address, "--replace"]).ended_with(3);
    assert!(run.touched().is_empty() && run.stdout.contains("every release of localhost"), "{run}");
    // The newest that is not banned gives the constraint.
    workspace.write(SETTINGS, &banning(">= 1.5.0"));
    workspace.tflock(&registry, ["add", &address, "--replace", "--platform", "linux_amd64"]).ended_with(0);
    assert!(workspace.read("main.tf").contains("\"~> 1.4\""), "{}", workspace.read("main.tf"));
}

#[test]
fn exemptions_apply_until_their_date() {
    let registry = two_versions();
    let exempt = |until: &str| {
        let version = "  version  = \"1.5.0\"\n";
        format!(
            "{}exempt \"banned\" {{\n{version}  reason = \"we need it\"\n  until = \"{until}\"\n}}\n",
            banning(">= 1.5.0")
        )
    };
    for (until, selected) in [("2999-01-01", "1.5.0"), ("2001-01-01", "1.4.0")] {
        let workspace = workspace(&exempt(until));
        let run = lock(&workspace, &registry).ended_with(0);
        assert!(workspace.lock_file().contains(&format!("\"{selected}\"")), "{until}: {run}");
        verify(&workspace, &registry, &[]).ended_with(0);
    }
    // Once the day is over, what was let pass is refused.
    let workspace = workspace(&exempt("2999-01-01"));
    lock(&workspace, &registry).ended_with(0);
    workspace.write(SETTINGS, &exempt("2001-01-01"));
    denies(&lock(&workspace, &registry).ended_with(3), &["banned"]);
    denies(&verify(&workspace, &registry, &[]).ended_with(3), &["banned"]);
}

#[test]
fn levels_are_raised_and_lowered_for_writing_too() {
    let registry = widget();
    let base = workspace("");
    lock(&base, &registry).ended_with(0);
    registry.add_platform("acme/widget", "1.4.0", "windows_amd64");
    base.write(SETTINGS, "level \"release-grew\" {\n  is = \"deny\"\n}\n");
    let run = base.tflock(&registry, LOCK_JSON.iter().chain(&["--no-cache"])).ended_with(3);
    denies(&run, &["release-grew"]);
    assert!(run.touched().is_empty(), "{run}");
    base.write(SETTINGS, "level \"release-grew\" {\n  is = \"note\"\n}\n");
    let run = base.tflock(&registry, LOCK_JSON.iter().chain(&["--no-cache"])).ended_with(0);
    assert_eq!(rules(&run, "note"), ["release-grew".to_owned()].into(), "{run}");

    // Policy may be lowered, by who wrote it.
    let hosts = "policy {\n  hosts = [\"registry.terraform.io\"]\n}\n";
    let lowered = format!("{hosts}level \"host-not-allowed\" {{\n  is = \"warn\"\n}}\n");
    let run = lock(&workspace(&lowered), &registry).ended_with(0);
    assert_eq!(rules(&run, "warn"), ["host-not-allowed".to_owned()].into(), "{run}");

    // What has a way past of its own is not let pass by settings where it would be written.
    registry.republish("acme/widget", "1.4.0");
    let text = base.lock_file();
    base.write(SETTINGS, "level \"republished\" {\n  is = \"note\"\n}\nexempt \"republished\" {}\n");
    let run = base.tflock(&registry, LOCK_JSON.iter().chain(&["--no-cache"])).ended_with(3);
    denies(&run, &["republished"]);
    assert_eq!(base.lock_file(), text);
    verify(&base, &registry, &["--no-cache"]).ended_with(0);
}

#[test]
fn nested_settings_only_tighten() {
    let registry = two_versions();
    let top = |settings: &str| {
        let main = Workspace::from("modules/one-root").read("main.tf");
        let workspace = Workspace::with_files(&[("app/main.tf", &main), (SETTINGS, settings)]);
        workspace.git(["init", "--quiet"]);
        workspace
    };
    let run = |workspace: &Workspace| workspace.tflock(&registry, ["-C", "app"].iter().chain(&LOCK_JSON));
    let loosened = "exempt \"banned\" {}\nlevel \"banned\" {\n  is = \"note\"\n}\n";
    let workspace = top(&banning(">= 1.5.0"));
    workspace.write("app/.tflock.hcl", loosened);
    run(&workspace).ended_with(0);
    assert!(workspace.read(&format!("app/{LOCK}")).contains("\"1.4.0\""));
    // Bans add up.
    workspace.write("app/.tflock.hcl", &banning("< 1.5.0"));
    denies(&run(&workspace).ended_with(3), &["banned"]);
    // A nested file allows no further host, and may allow fewer.
    let workspace = top("policy {\n  hosts = [\"registry.terraform.io\"]\n}\n");
    workspace.write("app/.tflock.hcl", "policy {\n  hosts = [\"{{registry}}\"]\n}\nexempt \"host-not-allowed\" {}\n");
    denies(&run(&workspace).ended_with(3), &["host-not-allowed"]);
    let workspace = top("policy {\n  hosts = [\"{{registry}}\", \"registry.terraform.io\"]\n}\n");
    workspace.write("app/.tflock.hcl", "policy {\n  hosts = [\"registry.terraform.io\"]\n}\n");
    denies(&run(&workspace).ended_with(3), &["host-not-allowed"]);
}

#[test]
fn signatures_and_age_as_the_policy_wants() {
    // Unsigned where the policy requires no signature.
    let registry = widget().unsigned();
    let never = workspace("policy {\n  signature = \"never\"\n}\n");
    let run = lock(&never, &registry).ended_with(0);
    assert_eq!(rules(&run, "warn"), ["unsigned".to_owned()].into(), "{run}");
    // A release of 2024 is old enough for a week, and too young for a hundred years.
    let registry = honest();
    for (age, code) in [("7d", 0), ("5200w", 3)] {
        let workspace = locked(&registry);
        workspace.write(SETTINGS, &format!("policy {{\n  minimum_age = \"{age}\"\n}}\n"));
        let run = verify(&workspace, &registry, &[]).ended_with(code);
        assert_eq!(rules(&run, "deny").contains("too-young"), code == 3, "{run}");
    }
    let registry = widget();
    let strict = workspace("policy {\n  minimum_age = \"5200w\"\n}\n");
    let run = lock(&strict, &registry).ended_with(2);
    assert!(run.touched().is_empty() && run.stdout.contains("is too recent"), "{run}");
    // Exempt for one version.
    strict
        .write(SETTINGS, "policy {\n  minimum_age = \"5200w\"\n}\nexempt \"too-young\" {\n  version = \"1.4.0\"\n}\n");
    lock(&strict, &registry).ended_with(0);
    verify(&strict, &registry, &[]).ended_with(0);
}

/// Each next step leads nearer to the end, and the last one is there.
#[test]
fn a_ban_of_all_that_is_allowed_names_the_step_over_the_constraint() {
    let registry = crate::support::locked::honest().release("acme/widget", "2.0.0", &["linux_amd64", "darwin_arm64"]);
    let workspace = crate::support::locked::locked(&registry);
    let ban = "ban \"{{registry}}/acme/widget\" {\n  versions = \"< 2.0.0\"\n  reason   = \"CVE\"\n}\n";
    workspace.write(".tflock.hcl", ban);
    let addr = format!("{}/acme/widget", registry.host());
    let run = workspace.tflock(&registry, ["verify"]).ended_with(3);
    assert!(run.stdout.contains(&format!("`tflock upgrade {addr} --bump`")), "{run}");
    let run = workspace.tflock(&registry, ["outdated"]).ended_with(0);
    assert!(
        run.stdout.contains("1.4.0 is excluded: ") && run.stdout.contains("is banned by the settings: CVE"),
        "{run}"
    );
    let run = workspace.tflock(&registry, ["upgrade", &addr]).ended_with(3);
    assert!(
        run.to_string().contains("2.0.0 is not banned: `tflock upgrade localhost:PORT/acme/widget --bump`"),
        "{run}"
    );
    workspace.tflock(&registry, ["upgrade", &addr, "--bump"]).ended_with(0);
    let run = workspace.tflock(&registry, ["verify"]);
    assert!(!run.stdout.contains("banned"), "{run}");
}
