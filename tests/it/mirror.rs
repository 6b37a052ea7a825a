//! `tflock mirror`: what it writes, what the tools make of it, and what `--check` sees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::keys;
use crate::support::registry::{Answer, Endpoint, Flaw, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, PLATFORMS, widget, widget_and_gadget};

const BOTH: [&str; 2] = ["--platform=linux_amd64", "--platform=darwin_arm64"];

/// A root module that is locked for both platforms.
fn locked(registry: &Registry) -> Workspace {
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(registry, LOCK_BOTH).ended_with(0);
    registry.forget_requests();
    workspace
}

fn mirror(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock(registry, [&["mirror", "mirror"], more].concat())
}

fn check(workspace: &Workspace, more: &[&str]) -> Run {
    workspace.tflock(None, [&["mirror", "--check", "mirror", "--format=json"], &BOTH[..], more].concat())
}

/// The directory of `acme/widget` in the mirror.
fn shelf(registry: &Registry) -> String {
    format!("mirror/{}/acme/widget", registry.host())
}

fn package(registry: &Registry, platform: &str) -> String {
    format!("{}/terraform-provider-widget_1.4.0_{platform}.zip", shelf(registry))
}

fn names(workspace: &Workspace, directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir(workspace.path(directory)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn rules(run: &Run) -> Vec<String> {
    let findings = run.json()["findings"].as_array().cloned().unwrap_or_default();
    let denied = findings.iter().filter(|finding| finding["level"] == "deny");
    let mut rules: Vec<String> = denied.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect();
    rules.dedup();
    rules
}

#[test]
fn packages_documents_and_signed_copies_stand_beside_each_other() {
    let registry = widget();
    let workspace = locked(&registry);
    let run = mirror(&workspace, &registry, &BOTH).ended_with(0);
    let directory = shelf(&registry);
    let start = "terraform-provider-widget_1.4.0";
    assert_eq!(
        names(&workspace, &directory),
        [
            "1.4.0.json",
            "index.json",
            &format!("{start}_SHA256SUMS"),
            &format!("{start}_SHA256SUMS.asc"),
            &format!("{start}_SHA256SUMS.sig"),
            &format!("{start}_darwin_arm64.zip"),
            &format!("{start}_linux_amd64.zip"),
        ]
    );
    assert_eq!(workspace.read(&format!("{directory}/index.json")), "{\n  \"versions\": {\n    \"1.4.0\": {}\n  }\n}\n");
    let document: serde_json::Value =
        serde_json::from_str(&workspace.read(&format!("{directory}/1.4.0.json"))).unwrap();
    for platform in PLATFORMS {
        let package = registry.package("acme/widget", "1.4.0", platform);
        let archive = &document["archives"][platform];
        assert_eq!(archive["url"], format!("{start}_{platform}.zip"));
        assert_eq!(archive["hashes"], serde_json::json!([package.h1, package.zh()]));
    }
    assert!(run.stdout.contains("fetched: darwin_arm64, linux_amd64"), "{run}");
    assert!(run.stdout.contains("2 packages in mirror, 2 of them fetched"), "{run}");
    assert_eq!(registry.downloads("acme/widget"), 2);
    // Nothing is learned, and the lock file is as it was.
    assert!(run.touched().iter().all(|path| path.starts_with("mirror/")), "{run}");
}

#[cfg(unix)]
#[test]
fn a_web_server_may_read_what_is_written() {
    use std::os::unix::fs::PermissionsExt as _;

    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &BOTH).ended_with(0);
    for name in names(&workspace, &shelf(&registry)) {
        let file = workspace.path(&format!("{}/{name}", shelf(&registry)));
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o044, 0o044, "{name}: {mode:o}");
    }
}

#[test]
fn what_is_there_is_not_fetched_again_and_what_is_damaged_is_replaced() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &["--platform=linux_amd64"]).ended_with(0);
    registry.forget_requests();
    let run = mirror(&workspace, &registry, &BOTH).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 1, "{run}");
    assert!(run.stdout.contains("2 packages in mirror, 1 of them fetched"), "{run}");
    // Also without the index, which knows the digests of what lies there.
    registry.forget_requests();
    let run = mirror(&workspace, &registry, &[&BOTH[..], &["--no-cache"]].concat()).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 0, "{run}");
    assert!(run.stdout.contains("all there before") && run.touched().is_empty(), "{run}");
    workspace.write(&package(&registry, "linux_amd64"), "half of it");
    workspace.write(&format!("{}.tflock-abcdefghi", package(&registry, "linux_amd64")), "left by a killed run");
    let run = mirror(&workspace, &registry, &[&BOTH[..], &["--format=json"]].concat()).ended_with(0);
    let fates: Vec<_> =
        run.json()["mirror"]["packages"].as_array().unwrap().iter().map(|it| it["fate"].clone()).collect();
    assert_eq!(fates, ["present", "replaced"], "{run}");
    assert_eq!(registry.downloads("acme/widget"), 1, "{run}");
    assert_eq!(names(&workspace, &shelf(&registry)).len(), 7);
    check(&workspace, &[]).ended_with(0);
}

#[test]
fn other_versions_and_platforms_of_the_mirror_stay() {
    let registry = widget();
    let workspace = locked(&registry);
    let directory = shelf(&registry);
    let other = "{\"versions\": {\"1.3.0\": {}, \"odd\": {\"more\": true}}}";
    workspace.write(&format!("{directory}/index.json"), other);
    let old =
        "{\"archives\": {\"plan9_386\": {\"url\": \"https://elsewhere.example/x.zip\", \"hashes\": [\"zh:00\"]}}}";
    workspace.write(&format!("{directory}/1.3.0.json"), old);
    workspace.write(&format!("{directory}/1.4.0.json"), old);
    mirror(&workspace, &registry, &["--platform=linux_amd64"]).ended_with(0);
    let index: serde_json::Value = serde_json::from_str(&workspace.read(&format!("{directory}/index.json"))).unwrap();
    assert_eq!(index, serde_json::json!({"versions": {"1.3.0": {}, "1.4.0": {}, "odd": {"more": true}}}));
    assert_eq!(workspace.read(&format!("{directory}/1.3.0.json")), old);
    let document = workspace.read(&format!("{directory}/1.4.0.json"));
    assert!(document.contains("plan9_386") && document.contains("linux_amd64"), "{document}");
}

#[test]
fn a_document_that_is_none_is_not_written_over() {
    let registry = widget();
    for text in ["", "[]", "{\"versions\": []}", "{"] {
        let workspace = locked(&registry);
        workspace.write(&format!("{}/index.json", shelf(&registry)), text);
        let run = mirror(&workspace, &registry, &BOTH).ended_with(2);
        assert!(run.stderr.contains("is not a document of a network mirror"), "{run}");
        assert_eq!(workspace.read(&format!("{}/index.json", shelf(&registry))), text);
        assert!(!workspace.has(&format!("{}/1.4.0.json", shelf(&registry))));
        check(&workspace, &[]).ended_with(2);
    }
}

#[test]
fn what_verify_refuses_is_not_copied() {
    let registry = widget();
    let workspace = locked(&registry);
    registry.republish("acme/widget", "1.4.0");
    let run = mirror(&workspace, &registry, &BOTH).ended_with(3);
    assert!(run.stdout.contains("denied["), "{run}");
    assert_eq!(registry.downloads("acme/widget"), 0);
    assert!(!workspace.has(&shelf(&registry)), "{run}");
}

#[test]
fn an_archive_with_another_digest_leaves_nothing() {
    let registry = widget();
    let workspace = locked(&registry);
    let registry = registry.answers(Endpoint::Zip, Answer::html());
    let run = mirror(&workspace, &registry, &BOTH).ended_with(4);
    assert_eq!(names(&workspace, &shelf(&registry)), [""; 0], "{run}");
    let registry = widget();
    let workspace = locked(&registry);
    let registry = registry.of("acme/widget", "1.4.0").flawed(Flaw::TamperedZip);
    let run = mirror(&workspace, &registry, &BOTH).ended_with(3);
    assert!(run.stdout.contains("denied[wrong-checksum]"), "{run}");
    assert_eq!(names(&workspace, &shelf(&registry)), [""; 0], "{run}");
}

#[test]
fn a_platform_that_is_not_offered_or_not_recorded_is_named() {
    let registry = widget();
    let workspace = locked(&registry);
    let run = mirror(&workspace, &registry, &["--platform=linux_amd64", "--platform=plan9_386"]).ended_with(2);
    assert!(run.stderr.contains("1.4.0 is not available for plan9_386"), "{run}");
    assert!(workspace.has(&package(&registry, "linux_amd64")));
    // Without zh: only the platforms whose h1: are recorded can be installed.
    let package = registry.package("acme/widget", "1.4.0", "linux_amd64");
    let text = workspace.lock_file();
    let kept = |line: &&str| !line.contains("\"zh:") && (!line.contains("\"h1:") || line.contains(&package.h1));
    let text: String = text.lines().filter(kept).flat_map(|line| [line, "\n"]).collect();
    workspace.write(".terraform.lock.hcl", &text);
    let run = workspace.tflock(&registry, ["mirror", "other", "--platform=darwin_arm64"]).ended_with(2);
    assert!(run.stderr.contains("records no hash of the package of"), "{run}");
    assert!(run.stderr.contains("lock --platform darwin_arm64"), "{run}");
    assert!(!workspace.has(&format!("other/{}/acme/widget/index.json", registry.host())), "{run}");
}

#[test]
fn nobody_is_asked_offline() {
    let workspace = Workspace::from("modules/locked");
    let run = workspace.tflock(&widget(), ["mirror", "mirror", "--offline"]).ended_with(4);
    assert!(run.stderr.contains("mirror --check mirror"), "{run}");
}

#[test]
fn many_root_modules_share_each_download() {
    let registry = widget_and_gadget();
    let workspace = Workspace::from("modules/two-roots");
    workspace.tflock(&registry, [&LOCK_BOTH[..], &["-r", "--create"]].concat()).ended_with(0);
    registry.forget_requests();
    let run = mirror(&workspace, &registry, &[&["-r", "--format=json"], &BOTH[..]].concat()).ended_with(0);
    assert_eq!(registry.downloads("acme/widget") + registry.downloads("acme/gadget"), 4, "{run}");
    let document = run.json();
    let roots = document["roots"].as_array().unwrap();
    let fates = |at: usize| {
        let packages = roots[at]["mirror"]["packages"].as_array().unwrap();
        packages.iter().map(|package| package["fate"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roots.len(), 2);
    assert_eq!(fates(0).iter().chain(&fates(1)).filter(|fate| *fate == "fetched").count(), 4, "{run}");
    let run = check(&workspace, &["-r"]).ended_with(0);
    assert_eq!(run.json()["roots"].as_array().unwrap().len(), 2);
    let run = workspace.tflock(None, [&["mirror", "--check", "-r", "mirror"], &BOTH[..]].concat()).ended_with(0);
    insta::assert_snapshot!("mirror_checked", run);
}

#[test]
fn check_sees_what_is_missing_or_altered() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &BOTH).ended_with(0);
    let directory = shelf(&registry);
    let zip = package(&registry, "linux_amd64");
    let other = workspace.path(&package(&registry, "darwin_arm64"));
    let sums = format!("{directory}/terraform-provider-widget_1.4.0_SHA256SUMS");
    check(&workspace, &[]).ended_with(0);
    let cases: [Damage<'_>; 9] = [
        (&zip, &remove, 1, &["mirror-incomplete"]),
        (&zip, &|path| std::fs::write(path, std::fs::read(&other).unwrap()).unwrap(), 3, &["mirror-altered"]),
        (&zip, &|path| std::fs::write(path, "no archive").unwrap(), 3, &["mirror-altered"]),
        (&format!("{directory}/index.json"), &remove, 1, &["mirror-incomplete"]),
        (&format!("{directory}/1.4.0.json"), &remove, 1, &["mirror-incomplete"]),
        (&format!("{directory}/1.4.0.json"), &swap("h1:", "h1:A"), 3, &["mirror-altered"]),
        (&sums, &remove, 1, &["mirror-incomplete"]),
        (&sums, &swap("  terraform", "   terraform"), 3, &["mirror-altered"]),
        (&format!("{sums}.sig"), &remove, 3, &["mirror-altered"]),
    ];
    for (file, damage, code, wanted) in cases {
        let path = workspace.path(file);
        let before = std::fs::read(&path).unwrap();
        damage(&path);
        let run = check(&workspace, &[]).ended_with(code);
        assert_eq!(rules(&run), wanted, "{file}: {run}");
        assert!(run.touched().is_empty(), "{run}");
        std::fs::write(&path, before).unwrap();
    }
    let run = check(&workspace, &["--platform=windows_amd64"]).ended_with(1);
    assert_eq!(rules(&run), ["mirror-incomplete"], "{run}");
}

/// A file of the mirror, what happens to it, and the exit code and rules that follow.
type Damage<'a> = (&'a str, &'a dyn Fn(&Path), i32, &'a [&'a str]);

fn remove(path: &Path) {
    std::fs::remove_file(path).unwrap();
}

fn swap(from: &'static str, to: &'static str) -> impl Fn(&Path) {
    move |path| std::fs::write(path, std::fs::read_to_string(path).unwrap().replace(from, to)).unwrap()
}

#[test]
fn check_holds_the_copies_in_the_mirror_to_the_remembered_signers() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &BOTH).ended_with(0);
    let trust = workspace.read(".tflock.trust.hcl").replace(&keys::GOOD.fingerprint(), &keys::OTHER.fingerprint());
    workspace.write(".tflock.trust.hcl", &trust);
    let run = check(&workspace, &[]).ended_with(3);
    assert_eq!(rules(&run), ["signer-changed"], "{run}");
    let run = workspace.tflock(None, ["mirror", "--check", "nowhere"]).ended_with(2);
    assert!(run.stderr.contains("does not exist"), "{run}");
}

/// All files below a directory, with their paths from there.
fn files(top: &Path) -> Vec<(String, Vec<u8>)> {
    let (mut files, mut folders) = (Vec::new(), vec![top.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
                files.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    files
}

/// A web server that has nothing but a mirror.
fn serving(mirror: &Path) -> Registry {
    let with = |registry: Registry, (path, body): (String, Vec<u8>)| {
        let is_json = Path::new(&path).extension().is_some_and(|end| end == "json");
        let kind = if is_json { "application/json" } else { "application/octet-stream" };
        registry.document(&format!("/served/{path}"), kind, body)
    };
    files(mirror).into_iter().fold(Registry::start(), with)
}

#[test]
fn a_closed_network_works_from_the_mirror_alone() {
    let registry = widget().standing_for("registry.terraform.io");
    let source = Workspace::from("modules/default-host");
    source.tflock(&registry, LOCK_BOTH).ended_with(0);
    source.tflock(&registry, [&["mirror", "mirror"], &BOTH[..]].concat()).ended_with(0);
    let (lock, mirror): (String, PathBuf) = (source.lock_file(), source.path("mirror"));
    drop(registry);

    let server = serving(&mirror);
    let url = format!("https://{}/served/", server.host());
    let closed = || Workspace::from("modules/default-host");
    let h1 = |text: &str| text.lines().filter(|line| line.contains("\"h1:")).map(str::to_owned).collect::<Vec<_>>();
    for option in [format!("--net-mirror={url}"), format!("--fs-mirror={}", mirror.display())] {
        let workspace = closed();
        workspace.tflock(&server, [&LOCK_BOTH[..], &[&option]].concat()).ended_with(0);
        assert_eq!(h1(&workspace.lock_file()), h1(&lock), "{option}");
        let run = workspace.tflock(&server, ["verify", "--deep", &option, "--format=json"]).ended_with(0);
        assert_eq!((&run.json()["proven"], &run.json()["unknown"]), (&4.into(), &0.into()), "{run}");
        let run = workspace.tflock(&server, ["mirror", "--check", &mirror.display().to_string(), &option]);
        run.ended_with(0);
        let Some(run) = workspace.terraform(
            &server,
            ["providers", "lock", "-no-color", "-platform=linux_amd64", "-platform=darwin_arm64", &option[1..]],
        ) else {
            return;
        };
        run.ended_with(0);
        assert_eq!(h1(&workspace.lock_file()), h1(&lock), "{option}");
    }
    let methods = [
        format!("network_mirror {{\n    url = \"{url}\"\n  }}"),
        format!("filesystem_mirror {{\n    path = \"{}\"\n  }}", mirror.display()),
    ];
    for method in methods {
        let workspace = closed().cli_config(&format!("provider_installation {{\n  {method}\n}}\n"));
        workspace.write(".terraform.lock.hcl", &lock);
        let run = workspace.terraform(&server, ["init", "-no-color", "-lockfile=readonly"]).unwrap().ended_with(0);
        assert!(run.stdout.contains("Installed acme/widget v1.4.0"), "{run}");
        assert_eq!(workspace.lock_file(), lock, "{method}");
    }
}

/// The files of a mirror, by their names.
fn contents(workspace: &Workspace, mirror: &str) -> BTreeMap<String, Vec<u8>> {
    files(&workspace.path(mirror)).into_iter().collect()
}

#[test]
fn a_mirror_is_made_of_another_one() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &BOTH).ended_with(0);
    registry.forget_requests();
    let copy = |name: &str, more: &[&str]| workspace.tflock(&registry, [&["mirror", name], &BOTH[..], more].concat());
    let run = copy("second", &["--fs-mirror=mirror", "--offline"]).ended_with(0);
    assert!(run.stdout.contains("2 packages in second, 2 of them fetched") && registry.requests().is_empty(), "{run}");
    assert_eq!(contents(&workspace, "second"), contents(&workspace, "mirror"));
    let run = copy("second", &["--fs-mirror=mirror", "--no-cache"]).ended_with(0);
    assert!(run.stdout.contains("all there before") && run.touched().is_empty(), "{run}");

    let server = serving(&workspace.path("mirror"));
    let url = format!("--net-mirror=https://{}/served/", server.host());
    let third = || workspace.tflock(&server, [&["mirror", "third", &url], &BOTH[..]].concat());
    third().ended_with(0);
    assert_eq!(contents(&workspace, "third"), contents(&workspace, "mirror"));
    let zips = || server.requests().iter().filter(|it| it.path.contains(".zip")).count();
    assert_eq!(zips(), 2);
    workspace.write(&package(&registry, "linux_amd64").replace("mirror/", "third/"), "half of it");
    let run = third().ended_with(0);
    assert!(zips() == 3 && contents(&workspace, "third") == contents(&workspace, "mirror"), "{run}");
}

#[test]
fn what_another_mirror_has_is_held_to_what_is_recorded_and_signed() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &BOTH).ended_with(0);
    let copy = |name: &str, more: &[&str]| {
        workspace.tflock(None, [&["mirror", name, "--fs-mirror=mirror"], &BOTH[..], more].concat())
    };
    let zip = package(&registry, "linux_amd64");
    let honest = std::fs::read(workspace.path(&zip)).unwrap();
    let other = std::fs::read(workspace.path(&package(&registry, "darwin_arm64"))).unwrap();
    workspace.write_bytes(&zip, &other);
    let run = copy("second", &[]).ended_with(3);
    assert!(run.stdout.contains("[wrong-checksum]") && !workspace.has(&zip.replace("mirror/", "second/")), "{run}");
    workspace.write_bytes(&zip, &honest);

    // Without copies of what was signed, what is recorded decides.
    for end in ["", ".sig", ".asc"] {
        let sums = format!("{}/terraform-provider-widget_1.4.0_SHA256SUMS{end}", shelf(&registry));
        std::fs::remove_file(workspace.path(&sums)).unwrap();
    }
    copy("third", &[]).ended_with(0);
    assert_eq!(contents(&workspace, "third"), contents(&workspace, "mirror"));
    copy("third", &["--check"]).ended_with(0);
    let run = workspace.tflock(None, ["mirror", "--check", "third", "--format=json"]).ended_with(1);
    assert_eq!(rules(&run), ["mirror-incomplete"], "{run}");
    let registry = widget();
    registry.republish("acme/widget", "1.4.0");
    workspace.write_bytes(&zip, &registry.package("acme/widget", "1.4.0", "linux_amd64").zip);
    let run = copy("fourth", &[]).ended_with(2);
    assert!(run.stderr.contains("records no hash of the package of"), "{run}");
    assert!(!workspace.has(&zip.replace("mirror/", "fourth/")), "{run}");

    std::fs::remove_file(workspace.path(&zip)).unwrap();
    let unpacked = zip.rsplit_once('/').unwrap().0.to_owned() + "/1.4.0/linux_amd64/terraform-provider-widget";
    workspace.write(&unpacked, "a program");
    let run = copy("fifth", &[]).ended_with(2);
    assert!(run.stderr.contains("is a directory in the filesystem mirror"), "{run}");
}

#[test]
fn a_run_that_is_killed_leaves_nothing_half_written() {
    let registry = widget();
    let workspace = locked(&registry);
    let honest = ["linux_amd64", "darwin_arm64"].map(|platform| registry.package("acme/widget", "1.4.0", platform).zip);
    let args = || [&["mirror", "mirror"], &BOTH[..]].concat();
    for pause in 0..8 {
        let _absent = std::fs::remove_dir_all(workspace.path("mirror"));
        let mut child = workspace.tflock_command(&registry, args()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(15 * pause));
        let _ = child.kill();
        child.wait().unwrap();
        let left = if workspace.has("mirror") { contents(&workspace, "mirror") } else { BTreeMap::new() };
        for (path, bytes) in &left {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let kind = Path::new(name).extension().and_then(|end| end.to_str());
            if kind == Some("zip") {
                assert!(honest.contains(bytes), "{path}");
            } else if kind == Some("json") {
                let document: serde_json::Value = serde_json::from_slice(bytes).unwrap();
                let archives = document["archives"].as_object().into_iter().flatten();
                let named = archives.map(|(_, archive)| archive["url"].as_str().unwrap());
                let of_versions = document["versions"].as_object().into_iter().flatten();
                let versions = of_versions.map(|(version, _)| format!("{version}.json"));
                for file in named.map(str::to_owned).chain(versions) {
                    assert!(left.contains_key(&format!("{folder}/{file}")), "{path} names {file}: {:?}", left.keys());
                }
            }
        }
        workspace.tflock(&registry, args()).ended_with(0);
        check(&workspace, &[]).ended_with(0);
    }
}
