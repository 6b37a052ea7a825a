//! `tflock mirror`: what it writes, what the tools make of it, and what `--check` sees.

use std::path::Path;

use crate::support::keys;
use crate::support::packages::Shape;
use crate::support::registry::{Answer, Endpoint, Flaw, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, PLATFORMS, widget, widget_and_gadget};

pub(crate) const BOTH: [&str; 2] = ["--platform=linux_amd64", "--platform=darwin_arm64"];

/// A root module that is locked for both platforms.
pub(crate) fn locked(registry: &Registry) -> Workspace {
    let workspace = Workspace::from("modules/one-root");
    workspace.tflock(registry, LOCK_BOTH).ended_with(0);
    registry.forget_requests();
    workspace
}

pub(crate) fn mirror(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock(registry, [&["mirror", "mirror"], more].concat())
}

pub(crate) fn check(workspace: &Workspace, more: &[&str]) -> Run {
    workspace.tflock(None, [&["mirror", "--check", "mirror", "--format=json"], &BOTH[..], more].concat())
}

/// The directory of `acme/widget` in the mirror.
pub(crate) fn shelf(registry: &Registry) -> String {
    format!("mirror/{}/acme/widget", registry.host())
}

pub(crate) fn package(registry: &Registry, platform: &str) -> String {
    format!("{}/terraform-provider-widget_1.4.0_{platform}.zip", shelf(registry))
}

fn names(workspace: &Workspace, directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir(workspace.path(directory)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn rules(run: &Run) -> Vec<String> {
    let findings = run.json()["findings"].as_array().cloned().unwrap_or_default();
    let denied = findings.iter().filter(|finding| finding["level"] == "deny");
    let mut rules: Vec<String> = denied.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect();
    rules.dedup();
    rules
}

#[test]
fn packages_documents_and_signed_copies_are_in_one_directory() {
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
    assert!(run.stdout.contains("2 packages in mirror, 2 downloaded"), "{run}");
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

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_no_part_of_a_package() {
    let Some(small) = crate::support::small_disk::SmallDisk::mounted() else { return };
    let registry = widget();
    let workspace = locked(&registry);
    let run = workspace.tflock(&registry, ["mirror", small.shown(), BOTH[0], BOTH[1]]).ended_with(2);
    assert!(run.stderr.contains("space") && !run.stderr.contains(".tflock-"), "{run}");
    let mut folders = vec![small.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            // One that is whole may be there, of either platform.
            let hash = workspace.tflock(None, ["hash", entry.to_str().unwrap()]).ended_with(0);
            let is_of = |platform| hash.stdout.contains(&registry.package("acme/widget", "1.4.0", platform).h1);
            assert!(PLATFORMS.iter().copied().any(is_of), "{hash} {run}");
        }
    }
}

#[test]
fn existing_packages_are_kept_and_damaged_ones_replaced() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &["--platform=linux_amd64"]).ended_with(0);
    registry.forget_requests();
    let run = mirror(&workspace, &registry, &BOTH).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 1, "{run}");
    assert!(run.stdout.contains("2 packages in mirror, 1 downloaded"), "{run}");
    // Also without the index, which knows the digests of what lies there.
    registry.forget_requests();
    let run = mirror(&workspace, &registry, &[&BOTH[..], &["--no-cache"]].concat()).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 0, "{run}");
    assert!(run.stdout.contains("all up to date") && run.touched().is_empty(), "{run}");
    workspace.write(&package(&registry, "linux_amd64"), "half of it");
    workspace.write(&format!("{}.tflock-abcdefghi", package(&registry, "linux_amd64")), "left by a killed run");
    let run = mirror(&workspace, &registry, &[&BOTH[..], &["--format=json"]].concat()).ended_with(0);
    let fates: Vec<_> =
        run.json()["mirror"]["packages"].as_array().unwrap().iter().map(|it| it["result"].clone()).collect();
    assert_eq!(fates, ["present", "replaced"], "{run}");
    assert_eq!(registry.downloads("acme/widget"), 1, "{run}");
    assert_eq!(names(&workspace, &shelf(&registry)).len(), 7);
    check(&workspace, &[]).ended_with(0);
    workspace.write(&package(&registry, "linux_amd64"), "another one");
    let run = mirror(&workspace, &registry, &BOTH).ended_with(0);
    assert!(run.stdout.contains("replaced: linux_amd64 (the file there was not this package)"), "{run}");
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
    assert!(run.stderr.contains(" 1.4.0 ") && run.stderr.contains(" plan9_386\n"), "{run}");
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
fn offline_runs_send_no_request() {
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
        packages.iter().map(|package| package["result"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
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
    let cases: [Damage<'_>; 12] = [
        (&zip, &remove, 1, &["mirror-incomplete"]),
        (&zip, &|path| std::fs::write(path, std::fs::read(&other).unwrap()).unwrap(), 3, &["mirror-altered"]),
        (&zip, &|path| std::fs::write(path, "no archive").unwrap(), 3, &["mirror-altered"]),
        (&format!("{directory}/index.json"), &remove, 1, &["mirror-incomplete"]),
        (&format!("{directory}/1.4.0.json"), &remove, 1, &["mirror-incomplete"]),
        (&format!("{directory}/1.4.0.json"), &swap("h1:", "h1:A"), 3, &["mirror-altered"]),
        (
            &format!("{directory}/1.4.0.json"),
            &leads_to("https://elsewhere.example/x.zip", true),
            3,
            &["mirror-altered"],
        ),
        (&format!("{directory}/1.4.0.json"), &leads_to("./other.zip", false), 3, &["mirror-altered"]),
        (&format!("{directory}/index.json"), &swap("{}", "{},\n    \"9.9.9\": {}"), 1, &["mirror-incomplete"]),
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

/// Makes a document lead elsewhere for each platform, with hashes of another package or with none.
fn leads_to(url: &'static str, with_hashes: bool) -> impl Fn(&Path) {
    move |path| {
        let hashes = if with_hashes { vec![format!("h1:{}=", "A".repeat(43))] } else { Vec::new() };
        let archive = serde_json::json!({ "url": url, "hashes": hashes });
        let document = serde_json::json!({ "archives": { "linux_amd64": archive, "darwin_arm64": archive } });
        std::fs::write(path, document.to_string()).unwrap();
    }
}

#[test]
fn check_refuses_documents_that_lead_out_of_the_mirror() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &BOTH).ended_with(0);
    let document = workspace.path(&format!("{}/1.4.0.json", shelf(&registry)));
    let honest = std::fs::read_to_string(&document).unwrap();
    let leading = |to: &str| honest.replace("\"url\": \"", &format!("\"url\": \"{to}"));
    std::fs::write(&document, leading("./")).unwrap();
    check(&workspace, &[]).ended_with(0);
    // The hashes are those of the packages: only where they come from is wrong.
    for to in [
        "https://elsewhere.example/",
        "file:///tmp/",
        "//elsewhere.example/",
        "/",
        "../",
        "./../",
        "below/",
        "..\\\\",
        "%2e%2e%2f",
        "c:",
        ".",
        "?",
        "#",
    ] {
        std::fs::write(&document, leading(to)).unwrap();
        let run = check(&workspace, &[]).ended_with(3);
        assert_eq!(rules(&run), ["mirror-altered"], "{to}: {run}");
    }
}

#[test]
fn check_reports_an_unpacked_package_next_to_the_packed_one() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &BOTH).ended_with(0);
    let planted = format!("{}/1.4.0/linux_amd64/terraform-provider-widget_v1.4.0", shelf(&registry));
    std::fs::create_dir_all(workspace.path(&planted).parent().unwrap()).unwrap();
    workspace.write(&planted, "a program of somebody else");
    let run = check(&workspace, &[]).ended_with(3);
    assert_eq!(rules(&run), ["mirror-altered"], "{run}");
    assert!(run.stdout.contains("linux_amd64") && run.stdout.contains("unpacked"), "{run}");
}

#[test]
fn check_compares_signed_copies_with_remembered_signers() {
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

/// What is complete for `lock` is complete for all others: a package counts for each platform that it is named for.
#[test]
fn one_package_for_two_platforms() {
    let registry = widget().shaped(Shape::Universal);
    let workspace = Workspace::from("modules/one-root");
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
    let shown = workspace.tflock(&registry, ["lock"]).ended_with(0).stdout;
    assert!(shown.contains("h1 for darwin_arm64, linux_amd64"), "{shown}");
    assert_eq!(workspace.lock_file().matches("\"h1:").count(), 1);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    workspace.tflock(None, ["verify", "--offline"]).ended_with(0);
    workspace.tflock(None, ["lock", "--offline", "--check"]).ended_with(0);
    let listed = workspace.tflock(None, ["list", "--format", "json"]).ended_with(0).json();
    assert_eq!(listed["entries"][0]["platforms"], serde_json::json!(["darwin_arm64", "linux_amd64"]));
    mirror(&workspace, &registry, &[]).ended_with(0);
    let sound = workspace.lock_file();
    workspace.tflock(None, ["lock", "--fs-mirror", "mirror"]).ended_with(0);
    std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
    workspace.tflock(None, ["lock", "--fs-mirror", "mirror"]).ended_with(0);
    assert_eq!(workspace.lock_file(), sound);
}
