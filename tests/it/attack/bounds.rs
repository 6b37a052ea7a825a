//! What is bounded, and what comes first within the bounds.

use std::path::Path;

use super::widget;
use crate::support::keys;
use crate::support::locked::{self, LOCK, block, hashes, honest, planted};
use crate::support::proposal::{SETTINGS, commit, edit, repository};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

#[test]
fn a_mirror_with_more_platforms_than_there_are_ends() {
    let registry = honest();
    let package = registry.package("acme/widget", "1.4.0", "linux_amd64");
    let place = format!("/many/{}/acme/widget", registry.host());
    let archives: Vec<String> = (0..500)
        .map(|n| format!(r#""os{n}_amd64": {{"url": "x{n}.zip", "hashes": ["zh:{}"]}}"#, package.sha256))
        .collect();
    let listed = format!(r#"{{"archives": {{{}}}}}"#, archives.join(","));
    let registry = registry
        .document(&format!("{place}/index.json"), "application/json", r#"{"versions": {"1.4.0": {}}}"#)
        .document(&format!("{place}/1.4.0.json"), "application/json", listed);
    let workspace = locked::locked(&registry);
    let source = format!("{}/acme/widget", registry.host());
    let main = format!(
        "terraform {{\n  required_providers {{\n    widget = {{\n      source = {source:?}\n    }}\n  }}\n}}\n"
    );
    workspace.write("main.tf", &main);
    let head = "  version = \"1.4.0\"\n";
    workspace.write(LOCK, &block(&registry, "acme/widget", head, &hashes(&registry, "acme/widget", "1.4.0")));
    let mirror = format!("https://{}/many/", registry.host());
    let run = workspace.tflock(&registry, ["verify", "--no-cache", "--net-mirror", &mirror]);
    assert!(run.code == Some(4) && run.stderr.contains("64 of them were looked at"), "{run}");
    assert!(registry.requests().len() < 300, "{} questions", registry.requests().len());
}

#[test]
#[ignore = "long"]
fn an_export_without_end_is_refused() {
    let workspace = Workspace::with_files(&[("large", "")]);
    let large = std::fs::File::options().write(true).open(workspace.path("large")).unwrap();
    large.set_len((256 << 20) + 1).unwrap();
    let run = workspace.tflock(None, ["cache", "import", "large"]).ended_with(2);
    assert!(run.stderr.contains("256 MiB"), "{run}");
}

/// Each line of the page of limits has its file and the tests that reach it in `bounds.txt`.
#[test]
#[ignore = "long"]
fn each_limit_has_its_test() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources: Vec<String> = ["src", "tests"].iter().flat_map(|folder| texts(&top.join(folder))).collect();
    let page = std::fs::read_to_string(top.join("docs/limits.md")).unwrap();
    let limits: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("- ")?.split(": ").next()).collect();
    let tested: Vec<&str> = include_str!("bounds.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(limits.len() > 30, "{}", limits.len());
    assert_eq!(tested.iter().map(|row| row.split(" | ").next().unwrap()).collect::<Vec<_>>(), limits);
    for row in tested {
        let [what, place, tests] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        assert!(top.join(place).is_file(), "{what}: {place}");
        for test in tests.split(' ') {
            let head = format!("fn {test}()");
            assert!(sources.iter().any(|text| text.contains(&head)), "{what}: {test}");
        }
    }
}

/// All texts of Rust below a directory.
fn texts(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(texts(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
    found
}

/// The signer may write any date; the history of the base is not theirs.
#[test]
fn a_release_is_as_old_as_the_base_has_known_it() {
    let registry = honest().release("acme/widget", "1.4.3", PLATFORMS);
    let [old, new] = ["1.4.0", "1.4.3"].map(|version| hashes(&registry, "acme/widget", version).join("\",\n    \""));
    let upgrade = |text: &str| text.replace(&old, &new).replace("\"1.4.0\"", "\"1.4.3\"");
    // By its signature it is of 2024.
    for (seen, code) in [("2024-06-01T12:00:00Z", 0), ("2090-01-01T00:00:00Z", 3)] {
        let workspace = repository(&registry).env("GIT_COMMITTER_DATE", seen);
        edit(&workspace, SETTINGS, |text| text.replace("policy {", "policy {\n  minimum_age = \"30d\""));
        edit(&workspace, &format!("other/{LOCK}"), upgrade);
        commit(&workspace, "before");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        edit(&workspace, &format!("app/{LOCK}"), upgrade);
        commit(&workspace, "upgrade");
        let run = crate::support::proposal::gate(&workspace, &registry, &[]).ended_with(code);
        assert_eq!(locked::rules(&run, "deny").contains("too-young"), code == 3, "{run}");
    }
}

/// A cache that the proposal could write is not used, even in the outer work tree of a submodule.
#[test]
fn a_cache_in_the_work_tree_around_a_submodule_is_not_used() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.git(["-C", "app", "init", "--quiet"]);
    for cache in ["cache", "../cache-of-others/../work/cache", "app/cache"] {
        let place = workspace.path("").join(cache);
        let mut command = workspace.tflock_command(&registry, ["-C", "app", "verify", "--no-download"]);
        let output = command.env("TFLOCK_CACHE_DIR", &place).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("inside") && !workspace.has("cache/v1") && !workspace.has("app/cache/v1"),
            "{cache}: {said}"
        );
    }
}

/// Online, exit code 0 says that nothing stayed unknown, whatever a registry serves and a lock file says.
#[test]
#[ignore = "long"]
fn what_passes_online_is_known() {
    use crate::support::registry::{Answer, Endpoint, Flaw};
    use crate::support::side_by_side;
    type Twist = fn(Registry) -> Registry;
    const TWISTS: [Twist; 12] = [
        |it| it,
        |it| it.named("{type}-{platform}.zip"),
        Registry::with_packages,
        |it| it.with_packages().flawed(Flaw::PackagesWrongH1),
        |it| it.with_packages().flawed(Flaw::PackagesWrongZh),
        |it| it.another(&["darwin_arm64"]),
        |it| it.signed_by(keys::OTHER),
        |it| it.flawed(Flaw::ShortSums("linux_amd64")),
        |it| it.sums_line(&format!("{:064x}  terraform-provider-widget_1.4.0_plan9_amd64.zip", 7)),
        |it| it.sums_line(&format!("{:064x}  terraform-provider-widget_1.4.0_manifest.json", 8)),
        |it| it.answers(Endpoint::Zip, Answer::status(404).only_for("acme/widget")),
        |it| it.answers(Endpoint::Zip, Answer::truncated().only_for("acme/widget")),
    ];
    let hashes = [
        None,
        Some("zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        Some("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
        Some("h9:abc"),
    ];
    let args: [&[&str]; 4] = [&[], &["--deep"], &["--deep", "--all-platforms"], &["--max-download", "400"]];
    let passed = std::sync::atomic::AtomicUsize::new(0);
    let twists: Vec<_> = TWISTS.iter().enumerate().collect();
    side_by_side(&twists, |(at, twist)| {
        for (offset, hash) in hashes.iter().enumerate() {
            let registry = honest();
            let workspace = super::impatient(&registry);
            let lock = workspace.lock_file();
            workspace.write(LOCK, &hash.map_or_else(|| lock.clone(), |hash| planted(&lock, hash)));
            let registry = twist(widget(registry));
            let args = args[(at + offset) % args.len()];
            let args = ["verify", "--no-cache", "--format", "json"].iter().chain(args);
            let run = workspace.tflock(&registry, args);
            if run.code == Some(0) {
                passed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let is_known = hash.is_none_or(|hash| hash.starts_with("h9:"));
                assert!(run.json()["unknown"] == 0 && is_known, "{at} {hash:?}: {run}");
            }
        }
    });
    let passed = passed.into_inner();
    assert!(passed > 4, "{passed}");
}
