//! `tflock cache export` and `import`: what another machine computed spares downloads, and proves nothing.

use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, PLATFORMS, widget};

/// A machine that has locked `acme/widget`, and its lock file.
fn first_machine(registry: &Registry) -> (Workspace, String) {
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(registry, LOCK_BOTH).ended_with(0);
    let lock = workspace.lock_file();
    registry.forget_requests();
    (workspace, lock)
}

fn exported(workspace: &Workspace) -> String {
    workspace.tflock(None, ["cache", "export", "-"]).ended_with(0).stdout
}

/// Another machine, which has imported this text.
fn second_machine(export: &str) -> Workspace {
    let workspace = Workspace::from("modules/one-root");
    let run = workspace.tflock_reading(export, ["cache", "import", "-"]).ended_with(0);
    assert_eq!(run.stdout, "imported 2 hashes; 0 known before\n");
    workspace
}

/// An export whose entries lie about the contents of their archives.
pub(crate) fn lying(export: &str) -> String {
    use tflock_core::hash::Sha256Digest;
    let lie = Sha256Digest::of(b"a lie").to_base64();
    let lines = export.lines().filter(|line| !line.starts_with("sha256 "));
    let text: String = lines
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [zh, _, size] if zh.len() == 64 => format!("{zh} {lie} {size}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    format!("{text}sha256 {}\n", Sha256Digest::of(text.as_bytes()))
}

#[test]
fn another_machine_downloads_no_package() {
    let registry = widget();
    let (workspace, lock) = first_machine(&registry);
    let run = workspace.tflock(None, ["cache", "export", "index"]).ended_with(0);
    assert_eq!((run.stdout.as_str(), run.touched()), ("exported 2 hashes to index\n", vec!["index"]));
    let export = workspace.read("index");
    assert_eq!(export, exported(&workspace), "the same index gives the same text");

    let other = second_machine(&export);
    let run = other.tflock(&registry, LOCK_BOTH.iter().chain(&["--format=json"])).ended_with(0);
    assert_eq!((registry.downloads("acme/widget"), other.lock_file()), (0, lock), "{run}");
    for platform in PLATFORMS {
        let h1 = registry.package("acme/widget", "1.4.0", platform).h1;
        let added = run.json()["changes"][0]["hashes_added"].as_array().unwrap().clone();
        let added = added.iter().find(|added| added["hash"] == h1.as_str()).unwrap();
        assert_eq!(added["evidence"], serde_json::json!(["reported-by-index"]), "{run}");
    }
    // What was imported is not passed on as if it had been computed here.
    assert!(!exported(&other).contains(' ') || exported(&other).lines().count() == 2, "{}", exported(&other));
    let run = other.tflock_reading(&export, ["cache", "import", "-"]).ended_with(0);
    assert_eq!(run.stdout, "imported 0 hashes; 2 known before\n");
}

#[test]
fn imported_hashes_are_no_proof() {
    let registry = widget();
    let (workspace, lock) = first_machine(&registry);
    let other = second_machine(&exported(&workspace));
    other.write(".terraform.lock.hcl", &lock);
    let run = other.tflock(&registry, ["verify", "--no-download", "--format=json"]).ended_with(0);
    assert_eq!((&run.json()["proven"], &run.json()["unknown"]), (&2.into(), &2.into()), "{run}");
    let run = other.tflock(&registry, ["verify", "--format=json"]).ended_with(0);
    assert_eq!((&run.json()["unknown"], registry.downloads("acme/widget")), (&0.into(), 2), "{run}");
}

/// Each job of a CI begins with an empty cache.
#[test]
fn a_check_without_downloads_counts_what_it_does_not_know() {
    let registry = widget();
    let (_, lock) = first_machine(&registry);
    let other = Workspace::from("modules/one-root");
    let check = |lock: &str, more: &[&str], code| {
        other.write(".terraform.lock.hcl", lock);
        let args = LOCK_BOTH.iter().chain(&["--check", "--no-download"]).chain(more);
        registry.forget_requests();
        let run = other.tflock(&registry, args).ended_with(code);
        assert_eq!((registry.downloads("acme/widget"), other.lock_file().as_str()), (0, lock), "{run}");
        assert!(code != 0 || run.stdout.ends_with("these checks found nothing to change\n"), "{run}");
        run.stderr
    };
    let unknown =
        "not checked because of --no-download: whether the hashes of 1 provider are complete; `tflock verify`";
    assert!(check(&lock, &[], 0).contains(unknown));
    assert!(check(&lock, &["--offline"], 0).contains(unknown));
    let package = |platform| registry.package("acme/widget", "1.4.0", platform);
    let h1 = package("darwin_arm64").h1;
    let less: String = lock.split_inclusive('\n').filter(|line| !line.contains(&h1)).collect();
    assert!(check(&less, &[], 0).contains("fewer h1 hashes than platforms: "));
    // The signed checksums are still compared, and an entry that is missing is a difference.
    let digest = |hash: &str| "zh:".to_owned() + &hash[3..].chars().rev().collect::<String>();
    let zh = PLATFORMS.iter().map(|platform| package(platform).zh());
    check(&zh.fold(lock.clone(), |text, zh| text.replace(&zh, &digest(&zh))), &[], 3);
    let (header, _) = lock.split_once("provider").unwrap();
    check(header, &[], 1);
    check(header, &["--offline"], 4);
    other.tflock(&registry, ["lock", "--no-download"]).ended_with(2);
}

#[test]
fn verified_hashes_are_downloaded_despite_imported_ones() {
    let registry = widget();
    let (workspace, lock) = first_machine(&registry);
    let export = exported(&workspace);
    for (settings, flag) in [("policy {\n  h1 = \"verified\"\n}\n", None), ("", Some("--h1=verified"))] {
        registry.forget_requests();
        let other = second_machine(&export);
        other.write(".tflock.hcl", settings);
        other.tflock(&registry, LOCK_BOTH.into_iter().chain(flag)).ended_with(0);
        assert_eq!((registry.downloads("acme/widget"), other.lock_file()), (2, lock.clone()), "{settings}{flag:?}");
    }
}

#[test]
fn a_lie_is_found_when_the_archive_is_looked_at() {
    let registry = widget();
    let (workspace, lock) = first_machine(&registry);
    let lie = lying(&exported(&workspace));
    // By who knows better already.
    let run = workspace.tflock_reading(&lie, ["cache", "import", "-"]).ended_with(3);
    assert!(run.stderr.contains("denied[index-differs]") && run.stderr.contains("nothing was imported"), "{run}");
    let stats = workspace.tflock(None, ["cache", "stats"]).ended_with(0).stdout;
    assert!(stats.contains("2 computed here, 0 imported"), "{stats}");

    let other = second_machine(&lie);
    let run = other.tflock(&registry, LOCK_BOTH.into_iter().chain(["--h1=verified"])).ended_with(0);
    assert!(run.stdout.contains("[index-differs]") && other.lock_file() == lock, "{run}");
    let run = other.tflock(&registry, ["verify", "--format=json"]).ended_with(0);
    assert!(run.stdout.contains("\"index-differs\""), "{run}");
    // What is computed here goes before what was imported.
    let run = other.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert!(run.touched().is_empty(), "{run}");
    other.tflock(None, ["cache", "prune", "--imported"]).ended_with(0);
    let stats = other.tflock(None, ["cache", "stats"]).ended_with(0).stdout;
    assert!(stats.contains("2 computed here, 0 imported"), "{stats}");
    let run = other.tflock(&registry, ["verify", "--format=json"]).ended_with(0);
    assert!(!run.stdout.contains("index-differs"), "{run}");

    // Two machines that contradict each other.
    let third = second_machine(&lie);
    third.tflock_reading(&exported(&workspace), ["cache", "import", "-"]).ended_with(3);
}

#[test]
fn what_is_no_export_changes_nothing() {
    let registry = widget();
    let (workspace, _) = first_machine(&registry);
    let export = exported(&workspace);
    let other = Workspace::from("modules/one-root");
    let half = &export[..export.len() / 2];
    let newer = export.replace("tflock index 1", "tflock index 2");
    let changed = export.replacen('a', "b", 1);
    for (text, phrase) in [
        ("", "does not begin with"),
        ("<html>", "does not begin with"),
        (half, "damaged or incomplete"),
        (&newer, "does not know"),
        (&changed, "damaged or incomplete"),
    ] {
        let run = other.tflock_reading(text, ["cache", "import", "-"]).ended_with(2);
        assert!(run.stderr.contains(phrase), "{run}");
    }
    other.tflock(None, ["cache", "import", "nowhere"]).ended_with(2);
    other.tflock(None, ["cache", "export", "no/such/folder/index"]).ended_with(2);
    let stats = other.tflock(None, ["cache", "stats"]).ended_with(0).stdout;
    assert!(stats.contains("0 computed here, 0 imported"), "{stats}");
}
