//! `verify --fix`: what it repairs and what it leaves. It writes what `lock` writes, takes out nothing that is recorded, and
//! touches no file but lock files.

use std::collections::BTreeSet;

use tflock_core::dialect::Dialect;
use tflock_core::lockfile::{LockFile, decode};

use crate::levels::{Scene, World, book};
use crate::support::extent::Extent;
use crate::support::keys;
use crate::support::locked::{LOCK, MAIN, pinned};
use crate::support::proposal::{SETTINGS, TRUST, commit, edit, pin};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::{each_is_right, side_by_side};

/// Platforms of developers' machines, so `terraform init` finds its own.
const HERE: [&str; 4] = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"];
const WANTED: &str = "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n";
const BASE: [&str; 2] = ["--base", "origin/main"];

/// The rules whose findings have one safe remedy.
const SAFE: [&str; 6] =
    ["platform-uncovered", "h1-missing", "constraints-stale", "not-canonical", "duplicate-hash", "entry-missing"];

fn registry() -> Registry {
    let of = |registry: Registry, provider: &str, version: &str| registry.release(provider, version, &HERE);
    let registry = of(of(Registry::start(), "acme/widget", "1.4.0"), "acme/widget", "1.3.0");
    of(of(of(registry, "acme/gadget", "1.0.0"), "acme/gadget", "2.0.0"), "acme/extra", "1.0.0")
}

/// A change that raises both providers. The base has signers for them and for `acme/extra`.
fn proposal(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[("main.tf", &MAIN.replace("~> 1.4", "1.3.0")), (SETTINGS, WANTED)]);
    let main = workspace.read("main.tf").replace("{{registry}}", &registry.host());
    workspace.write("main.tf", &main.replace("gadget\"\n", "gadget\"\n      version = \"1.0.0\"\n"));
    let extra = pin(registry, "acme/extra", &keys::GOOD.fingerprint());
    workspace.write(TRUST, &format!("{extra}\n{}", pinned(registry)));
    workspace.tflock(registry, ["lock"]).ended_with(0);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.write("main.tf", &MAIN.replace("{{registry}}", &registry.host()));
    workspace.tflock(registry, ["upgrade"]).ended_with(0);
    workspace
}

/// Does what makes `verify` find one rule of [`SAFE`].
fn damage(workspace: &Workspace, registry: &Registry, rule: &str) {
    let package = |provider: &str, version: &str, platform: &str| registry.package(provider, version, platform);
    let line = |hash: &str| format!("    \"{hash}\",\n");
    let without = |provider: &str, version: &str, platform: &str| {
        let line = line(&package(provider, version, platform).h1);
        edit(workspace, LOCK, |text| text.replace(&line, ""));
    };
    match rule {
        "platform-uncovered" => without("acme/widget", "1.4.0", "darwin_arm64"),
        "h1-missing" => ["linux_amd64", "darwin_arm64"].iter().for_each(|it| without("acme/gadget", "2.0.0", it)),
        "constraints-stale" => edit(workspace, "main.tf", |text| text.replace("~> 1.4", ">= 1.4")),
        "not-canonical" => edit(workspace, LOCK, |text| text.replace("version = \"2.0.0\"", "version  =  \"2.0.0\"")),
        "duplicate-hash" => {
            let line = line(&package("acme/widget", "1.4.0", "linux_amd64").zh());
            edit(workspace, LOCK, |text| text.replace(&line, &line.repeat(2)));
        }
        "entry-missing" => {
            let host = registry.host();
            let extra = format!("    extra = {{\n      source = \"{host}/acme/extra\"\n    }}\n    gadget = {{");
            edit(workspace, "main.tf", |text| text.replace("    gadget = {", &extra));
        }
        _ => panic!("{rule}"),
    }
}

fn fix(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock(registry, ["verify", "--fix", "--format", "json"].iter().chain(more))
}

fn entries(text: &str) -> Option<LockFile> {
    decode(text.as_bytes(), Dialect::Terraform).ok().map(|decoded| decoded.lock)
}

/// The first part of a lock file that another one does not have.
fn lost(before: &str, after: &str) -> Option<String> {
    let before = entries(before)?;
    let Some(after) = entries(after) else { return Some("all of it".to_owned()) };
    before.iter().find_map(|(addr, entry)| {
        let now = after.get(addr).filter(|now| now.version == entry.version);
        let is_there = now.is_some_and(|now| entry.hashes.iter().all(|hash| now.hashes.contains(hash)));
        (!is_there).then(|| addr.to_string())
    })
}

/// Rules and providers of what a run found, at any level.
fn found(run: &Run) -> BTreeSet<(String, String)> {
    let json = run.json();
    let of = |value: &serde_json::Value| value["findings"].as_array().cloned().unwrap_or_default();
    let roots = json["roots"].as_array().cloned().unwrap_or_default();
    let all = of(&json).into_iter().chain(roots.iter().flat_map(of));
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    all.map(|finding| (text(&finding["rule"]), text(&finding["address"]))).collect()
}

fn is_safe((rule, _): &(String, String)) -> bool {
    SAFE.contains(&rule.as_str())
}

/// Repairs these findings together, alone and as a change of the base.
fn repairs(rules: &[&str]) {
    let registry = registry();
    let broken = proposal(&registry);
    for rule in rules {
        damage(&broken, &registry, rule);
    }
    let before = broken.lock_file();
    let by_lock = broken.copied();
    by_lock.tflock(&registry, ["lock"]).ended_with(0);
    for base in [&[][..], &BASE] {
        let workspace = broken.copied();
        let plain = workspace.tflock(&registry, ["verify", "--format", "json"].iter().chain(base));
        let run = fix(&workspace, &registry, base).ended_with(0);
        assert_eq!(run.touched(), [LOCK], "{rules:?} {base:?}");
        assert_eq!(workspace.lock_file(), by_lock.lock_file(), "{rules:?} {base:?}");
        assert_eq!(lost(&before, &workspace.lock_file()), None);
        let repaired: BTreeSet<String> = run.json()["repaired"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["rule"].as_str().unwrap().to_owned())
            .collect();
        // A hash that is recorded twice is not said to be a matter of form as well.
        let is_hidden = |rule: &&&str| **rule == "not-canonical" && rules.contains(&"duplicate-hash");
        for rule in rules.iter().filter(|rule| !is_hidden(rule)) {
            assert!(found(&plain).iter().any(|(found, _)| found == rule), "{rule}: {plain}");
            assert!(!found(&run).iter().any(|(found, _)| found == rule), "{rule}: {run}");
            assert!(repaired.contains(*rule), "{rule}: {run}");
        }
        // There is nothing left to do.
        let again = fix(&workspace, &registry, base).ended_with(0);
        assert!(again.touched().is_empty() && again.json().get("repaired").is_none(), "{again}");
    }
}

#[test]
#[ignore = "long"]
fn each_safe_finding_alone() {
    for rule in SAFE {
        repairs(&[rule]);
    }
}

#[test]
#[ignore = "long"]
fn safe_findings_in_pairs() {
    let pairs = SAFE.iter().enumerate().flat_map(|(at, one)| SAFE[at + 1..].iter().map(move |other| [*one, *other]));
    side_by_side(&pairs.collect::<Vec<_>>(), |pair| repairs(pair));
}

#[test]
#[ignore = "long"]
fn all_safe_findings_at_once_and_terraform_changes_nothing_afterwards() {
    repairs(&SAFE);
    for rule in SAFE {
        let registry = registry();
        let workspace = proposal(&registry);
        workspace.write(SETTINGS, &WANTED.replace("\"linux_amd64\"", "\"linux_amd64\", \"linux_arm64\""));
        damage(&workspace, &registry, rule);
        fix(&workspace, &registry, &[]).ended_with(0);
        let lock = workspace.lock_file();
        let args = ["init", "-backend=false", "-input=false", "-no-color", "-lockfile=readonly"];
        let Some(run) = workspace.terraform(&registry, args) else { return };
        run.ended_with(0);
        assert_eq!(workspace.lock_file(), lock, "{rule}");
    }
}

/// In the worlds of `levels.txt`: only lock files change, nothing that is recorded goes, and all findings without a safe
/// remedy are found as before. With and without a base, in a short run by turns.
fn nothing_recorded_goes(extent: Extent) {
    let book = book();
    let worlds: Vec<(usize, &World)> = extent.of(&book.worlds, 12).into_iter().enumerate().collect();
    each_is_right(&worlds, |(turn, world)| {
        let bases = [&[][..], &BASE];
        for &base in if extent == Extent::Long { &bases[..] } else { &bases[turn % 2..=turn % 2] } {
            let scene = Scene::of(world, 0);
            let (registry, workspace) = (scene.registry(), scene.workspace().copied());
            let before = workspace.has(LOCK).then(|| workspace.lock_file());
            let plain = workspace.tflock(registry, ["verify", "--format", "json"].iter().chain(base));
            let run = fix(&workspace, registry, base);
            let after = workspace.tflock(registry, ["verify", "--format", "json"].iter().chain(base));
            let check = |is_so: bool, what: &str| {
                if is_so { Ok(()) } else { Err(format!("{} {base:?}: {what}\n{run}", world.name)) }
            };
            check(run.touched().iter().all(|path| path.ends_with(LOCK)), "another file changed")?;
            check(run.code == after.code, "the exit code is not that of `verify` afterwards")?;
            let mut open = found(&plain).into_iter().filter(|it| !is_safe(it));
            // What the change lost comes back as the base has it.
            let may_go = ["zh-missing", "hashes-dropped", "lock-file-removed"];
            check(open.all(|it| found(&run).contains(&it) || may_go.contains(&it.0.as_str())), "a finding is gone")?;
            let is_repairable = found(&plain).iter().any(|it| is_safe(it) || it.0 == "lock-file-removed");
            check(is_repairable || run.touched().is_empty(), "there was nothing to repair")?;
            let lost = before.and_then(|before| lost(&before, &workspace.lock_file()));
            check(lost.is_none(), "something recorded is gone")?;
        }
        Ok(())
    });
}

#[test]
fn nothing_recorded_goes_in_some_worlds() {
    nothing_recorded_goes(Extent::Short);
}

#[test]
#[ignore = "long"]
fn nothing_recorded_goes_in_any_world() {
    nothing_recorded_goes(Extent::Long);
}

#[test]
#[ignore = "long"]
fn a_missing_entry_is_added_only_if_its_provider_is_pinned() {
    let registry = registry();
    let workspace = proposal(&registry);
    damage(&workspace, &registry, "entry-missing");
    // The change itself may add a signer, but the base decides.
    workspace.git(["reset", "--quiet", "origin/main"]);
    let trust = workspace.read(TRUST);
    workspace.write(TRUST, &pinned(&registry));
    workspace.git(["add", TRUST]);
    workspace.git(["commit", "--quiet", "--message", "without"]);
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let unpinned = fix(&workspace, &registry, &[]).ended_with(1);
    assert!(unpinned.touched().is_empty(), "{unpinned}");
    workspace.write(TRUST, &trust);
    let of_base = fix(&workspace, &registry, &BASE).ended_with(1);
    assert!(of_base.touched().is_empty(), "{of_base}");
    assert!(found(&of_base).iter().any(|(rule, _)| rule == "entry-missing"), "{of_base}");
    let own = fix(&workspace, &registry, &[]).ended_with(0);
    assert_eq!(own.touched(), [LOCK], "{own}");
}

/// A change of a base that records 1.3.0 of `acme/widget`, with this constraint on it.
fn recorded(registry: &Registry, constraint: &str) -> Workspace {
    let constraint = if constraint.is_empty() { String::new() } else { format!("version = \"{constraint}\"") };
    let main = MAIN.replace("{{registry}}", &registry.host()).replace("version = \"~> 1.4\"", &constraint);
    let workspace = Workspace::with_files(&[("main.tf", &main), (SETTINGS, WANTED), (TRUST, &pinned(registry))]);
    workspace.tflock(registry, ["lock"]).ended_with(0);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

/// Takes the entry of `acme/widget` out of the lock file.
fn without_widget(workspace: &Workspace) {
    edit(workspace, LOCK, |text| {
        let start = text.find("acme/widget").map(|at| text[..at].rfind("\nprovider").unwrap()).unwrap();
        text[..start].to_owned()
    });
}

#[test]
#[ignore = "long"]
fn an_entry_of_the_base_comes_back_as_it_is_there() {
    for constraint in ["~> 1.3", ""] {
        let registry = Registry::start().release("acme/widget", "1.3.0", &HERE).release("acme/gadget", "2.0.0", &HERE);
        let workspace = recorded(&registry, constraint);
        let sound = workspace.lock_file();
        let registry = registry.release("acme/widget", "1.5.0", &HERE).release("acme/widget", "9.0.0", &HERE);
        without_widget(&workspace);
        let run = fix(&workspace, &registry, &BASE).ended_with(0);
        assert_eq!(workspace.lock_file(), sound, "{run}");
        // The whole file, and with a signer that the base does not have.
        workspace.write(TRUST, "");
        commit(&workspace, "unpinned");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        for damage in
            [&(|it: &Workspace| std::fs::remove_file(it.path(LOCK)).unwrap()) as &dyn Fn(&Workspace), &without_widget]
        {
            damage(&workspace);
            let run = fix(&workspace, &registry, &BASE);
            assert_eq!(workspace.lock_file(), sound, "{run}");
        }
    }
}

#[test]
fn an_entry_of_the_base_that_is_not_allowed_any_more_is_listed() {
    let registry = registry();
    let workspace = recorded(&registry, "1.3.0");
    without_widget(&workspace);
    edit(&workspace, "main.tf", |text| text.replace("\"1.3.0\"", "\">= 1.4.0\""));
    damage(&workspace, &registry, "h1-missing");
    let run = fix(&workspace, &registry, &BASE).ended_with(1);
    assert!(!workspace.lock_file().contains("acme/widget"), "{run}");
    assert!(workspace.lock_file().contains(&registry.package("acme/gadget", "2.0.0", "darwin_arm64").h1), "{run}");
    assert!(found(&run).iter().any(|(rule, _)| rule == "entry-missing"), "{run}");
}

#[test]
fn what_the_base_lacks_itself_is_repaired_after_an_entry_came_back() {
    let registry = registry();
    let workspace = recorded(&registry, "1.3.0");
    workspace.write(SETTINGS, &WANTED.replace("\"linux_amd64\"", "\"linux_amd64\", \"linux_arm64\""));
    commit(&workspace, "one platform more");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    without_widget(&workspace);
    edit(&workspace, "main.tf", |text| text.replace("\"1.3.0\"", "\"~> 1.3\""));
    let run = fix(&workspace, &registry, &BASE).ended_with(0);
    let text = workspace.lock_file();
    assert!(text.contains("version     = \"1.3.0\"\n  constraints = \"~> 1.3\""), "{run}");
    assert!(text.contains(&registry.package("acme/widget", "1.3.0", "linux_arm64").h1), "{run}");
    assert!(fix(&workspace, &registry, &BASE).ended_with(0).touched().is_empty());
}

#[cfg(unix)]
#[test]
fn nothing_is_written_by_way_of_a_link_that_is_denied() {
    let registry = registry();
    for (link, target) in [(LOCK, "other.hcl"), ("app", "elsewhere")] {
        let workspace = recorded(&registry, "1.3.0");
        for name in ["main.tf", LOCK] {
            workspace.write(&format!("app/{name}"), &workspace.read(name));
        }
        commit(&workspace, "two");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        std::fs::rename(workspace.path(link), workspace.path(target)).unwrap();
        std::os::unix::fs::symlink(target, workspace.path(link)).unwrap();
        let (directory, path) = if link == LOCK { (".", LOCK.to_owned()) } else { (link, format!("{target}/{LOCK}")) };
        edit(&workspace, if link == LOCK { target } else { &path }, |text| {
            text.replace("version = \"2.0.0\"", "version  =  \"2.0.0\"")
        });
        let run = fix(&workspace, &registry, &["-C", directory, "--base", "origin/main"]).ended_with(3);
        let found = found(&run);
        assert!(["link-changed", "not-canonical"].iter().all(|rule| found.iter().any(|it| it.0 == *rule)), "{run}");
        assert!(run.touched().is_empty(), "{run}");
    }
}

#[test]
fn hashes_that_a_change_dropped_come_back() {
    let registry = registry();
    let workspace = proposal(&registry);
    commit(&workspace, "raised");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let lock = workspace.lock_file();
    damage(&workspace, &registry, "platform-uncovered");
    fix(&workspace, &registry, &BASE).ended_with(0);
    assert_eq!(workspace.lock_file(), lock);
}

#[test]
fn the_settings_of_the_base_decide() {
    let registry = registry();
    let workspace = proposal(&registry);
    damage(&workspace, &registry, "platform-uncovered");
    workspace.write(SETTINGS, "platforms = [\"linux_amd64\", \"linux_arm64\"]\n");
    let run = fix(&workspace, &registry, &BASE);
    let text = workspace.lock_file();
    assert!(text.contains(&registry.package("acme/widget", "1.4.0", "darwin_arm64").h1), "{run}");
    assert!(!text.contains(&registry.package("acme/widget", "1.4.0", "linux_arm64").h1), "{run}");
}

#[test]
fn a_provider_that_is_refused_is_left_and_another_one_is_repaired() {
    let registry = registry();
    let workspace = proposal(&registry);
    damage(&workspace, &registry, "platform-uncovered");
    damage(&workspace, &registry, "h1-missing");
    registry.republish("acme/gadget", "2.0.0");
    let gadget = |text: &str| text[text.find("acme/gadget").unwrap()..text.find("acme/widget").unwrap()].to_owned();
    let before = workspace.lock_file();
    let run = fix(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(gadget(&workspace.lock_file()), gadget(&before));
    assert!(workspace.lock_file().contains(&registry.package("acme/widget", "1.4.0", "darwin_arm64").h1), "{run}");
    assert!(found(&run).iter().any(|(rule, _)| rule == "republished"), "{run}");
}

#[test]
fn what_cannot_be_repaired_is_said() {
    let registry = registry();
    let workspace = proposal(&registry);
    damage(&workspace, &registry, "h1-missing");
    damage(&workspace, &registry, "not-canonical");
    workspace.write("other/main.tf", &workspace.read("main.tf"));
    workspace.write(&format!("other/{LOCK}"), &workspace.lock_file());
    damage(&workspace, &registry, "entry-missing");
    insta::assert_snapshot!(
        "offline",
        workspace.tflock(&registry, ["verify", "-r", "--fix", "--offline", "--no-cache"])
    );
    let run = workspace.tflock(&registry, ["verify", "-r", "--fix"]).ended_with(0);
    let is_h1 = |line: &&str| line.contains("h1:");
    for path in [LOCK, &format!("other/{LOCK}")] {
        assert!(workspace.read(path).lines().filter(is_h1).count() >= 4, "{run}");
    }
    insta::assert_snapshot!("repaired", run.filtered(&run.stderr));
}

/// The release that is locked has no package for a wanted platform: to lock it again would fail as the repair did. What else is to
/// be repaired is repaired.
#[test]
fn what_prevents_a_repair_says_what_comes_next() {
    let registry = registry().release("acme/widget", "1.5.0", &["linux_amd64"]);
    let proposed = |constraint: &str| {
        let workspace = Workspace::with_files(&[("main.tf", &MAIN.replace("~> 1.4", constraint))]);
        workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
        workspace.write(SETTINGS, WANTED);
        workspace
    };
    let workspace = proposed("~> 1.4");
    let json = workspace.tflock(&registry, ["verify", "--fix", "--format", "json"]).ended_with(1).json();
    let left = json["findings"].as_array().unwrap().iter().filter(|it| it["rule"] == "platform-uncovered");
    assert!(left.count() == 1 && json["repaired"][0]["rule"] == "platform-uncovered", "{json}");
    let next = json["next"].as_str().unwrap_or_else(|| panic!("{json}")).to_owned();
    assert_eq!(next, format!("tflock upgrade --precise 1.4.0 {}/acme/widget", registry.host()));
    workspace.tflock(&registry, next.split(' ').skip(1)).ended_with(0);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    let json = proposed("~> 1.5").tflock(&registry, ["verify", "--fix", "--format", "json"]).ended_with(1).json();
    assert!(json["next"].is_null(), "{json}");
}
