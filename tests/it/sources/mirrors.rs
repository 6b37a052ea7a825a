//! Mirrors as the authority: what `lock` and `verify` make of what a mirror serves, with and without copies of what was signed.

use super::{copies, filesystem_mirror, packed, place};
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, LOCK_BOTH, PLATFORMS, hashes, widget};

const FROM_MIRROR: [&str; 2] = ["--fs-mirror", "mirror"];

/// A root module that requires `acme/widget`, and a mirror of it in `mirror`.
fn mirrored(platforms: &[&str]) -> (Registry, Workspace) {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    packed(&workspace, &registry, ("mirror", "1.4.0"), platforms);
    (registry, workspace)
}

#[test]
fn what_a_mirror_serves_is_proven_by_it_and_the_report_says_so() {
    let (registry, workspace) = mirrored(PLATFORMS);
    workspace.tflock(&registry, LOCK_BOTH.iter().chain(&FROM_MIRROR)).ended_with(0);
    let run = workspace.tflock(&registry, ["verify"].iter().chain(&FROM_MIRROR)).ended_with(0);
    assert!(
        run.stderr.contains("checked only against fs:mirror, not the origin registry: a proven hash belongs to a package that was served"),
        "{run}"
    );
    assert!(registry.requests().is_empty(), "{run}");
    let run = workspace.tflock(&registry, ["verify", "--net-mirror", &registry.mirror_url()]).ended_with(0);
    assert!(
        run.stderr.contains("note: checked only against net:https://") && registry.count(Endpoint::Versions) == 0,
        "{run}"
    );
}

#[test]
fn what_a_sparse_mirror_does_not_serve_stays_unknown() {
    let (registry, workspace) = mirrored(&["linux_amd64"]);
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    let run = workspace.tflock(&registry, ["verify"].iter().chain(&FROM_MIRROR)).ended_with(4);
    assert!(run.stderr.contains("no package that was served has it"), "{run}");
    workspace.tflock(&registry, ["verify", "--inconclusive=warn"].iter().chain(&FROM_MIRROR)).ended_with(0);
}

#[test]
fn a_mirror_none_of_whose_packages_is_recorded_is_refused() {
    let (registry, workspace) = mirrored(PLATFORMS);
    workspace.tflock(&registry, LOCK).ended_with(0);
    let before = workspace.lock_file();
    registry.republish("acme/widget", "1.4.0");
    packed(&workspace, &registry, ("mirror", "1.4.0"), PLATFORMS);
    for command in [&["lock", "--platform=darwin_arm64"][..], &["verify"]] {
        let run = workspace.tflock(&registry, command.iter().chain(&FROM_MIRROR)).ended_with(3);
        assert!(run.stdout.contains("[mirror-differs]") && !run.stdout.contains("[republished]"), "{run}");
        // It cannot have given a recorded package too.
        assert!(!run.stdout.contains("mirror-only"), "{run}");
        assert_eq!(workspace.lock_file(), before);
    }
}

/// Of the same release never both: that a mirror serves no recorded package, and that it gave one.
#[test]
#[ignore = "long"]
fn a_mirror_gave_a_recorded_package_or_none() {
    let both = ["linux_amd64", "darwin_arm64"];
    for recorded in [&both[..1], &both[1..], &both] {
        for replaced in [&both[..1], &both[1..], &both] {
            for requested in [&both[..1], &both] {
                let (registry, workspace) = mirrored(PLATFORMS);
                let lock = |platforms: &[&str]| {
                    let platforms: Vec<String> = platforms.iter().map(|it| format!("--platform={it}")).collect();
                    let args = ["lock"].into_iter().chain(platforms.iter().map(String::as_str));
                    workspace.tflock(&registry, args.chain(FROM_MIRROR).chain(["--format", "json"]))
                };
                lock(recorded).ended_with(0);
                registry.republish("acme/widget", "1.4.0");
                packed(&workspace, &registry, ("mirror", "1.4.0"), replaced);
                let run = lock(requested);
                let found = |rule: &str, level: &str| crate::support::locked::rules(&run, level).contains(rule);
                let is_known = recorded.iter().any(|platform| !replaced.contains(platform));
                let case = format!("{recorded:?} {replaced:?} {requested:?}: {run}");
                assert_eq!(found("mirror-differs", "deny"), !is_known, "{case}");
                let adds = requested.iter().any(|it| replaced.contains(it) || !recorded.contains(it));
                assert_eq!(found("mirror-only", "warn"), is_known && adds, "{case}");
                assert_eq!(run.stdout.contains("gave a recorded package"), is_known && adds, "{case}");
            }
        }
    }
}

/// One of two mirrors has the recorded release, and the other one another.
#[test]
fn of_two_mirrors_the_one_that_differs_is_told_apart() {
    let (registry, workspace) = mirrored(&["darwin_arm64"]);
    workspace.write("other/README", "empty\n");
    let blocks = ["other", "mirror"].map(|folder| filesystem_mirror(&workspace.path(folder), ""));
    let workspace = workspace.cli_config(&format!("provider_installation {{\n{}}}\n", blocks.concat()));
    let darwin = ["lock", "--source=configured", "--platform=darwin_arm64"];
    workspace.tflock(&registry, darwin).ended_with(0);
    registry.republish("acme/widget", "1.4.0");
    packed(&workspace, &registry, ("other", "1.4.0"), &["linux_amd64"]);
    let run = workspace.tflock(&registry, darwin.iter().chain(&["--platform=linux_amd64"])).ended_with(3);
    assert!(run.stdout.contains("one of the mirrors serves no recorded package"), "{run}");
    assert!(!run.stdout.contains("mirror-only"), "{run}");
}

#[test]
fn one_recorded_package_identifies_the_others_of_its_mirror() {
    let (registry, workspace) = mirrored(PLATFORMS);
    workspace.tflock(&registry, LOCK.iter().chain(&FROM_MIRROR)).ended_with(0);
    let run = workspace.tflock(&registry, ["lock", "--platform=darwin_arm64"].iter().chain(&FROM_MIRROR)).ended_with(0);
    assert!(run.stdout.contains("[mirror-only]") && hashes(&workspace.lock_file()).len() == 2, "{run}");
}

#[test]
fn a_stated_signature_is_wanted_of_mirrors_too() {
    let (registry, workspace) = mirrored(PLATFORMS);
    workspace.tflock(&registry, LOCK.iter().chain(&FROM_MIRROR)).ended_with(0);
    let host = |rule: &str| format!("host \"{{{{registry}}}}\" {{\n  signature = \"{rule}\"\n}}\n");
    let policy = |rule: &str| format!("policy {{\n  signature = \"{rule}\"\n}}\n");
    // A host goes before the policy, for both commands.
    let lock = ["lock", "--check", "--platform=linux_amd64"];
    for (settings, code) in [
        (policy("never") + &host("always"), 3),
        (policy("always") + &host("never"), 0),
        (host("always"), 3),
        (policy("always"), 3),
    ] {
        workspace.write(".tflock.hcl", &settings);
        for command in [&["verify"][..], &lock] {
            let run = workspace.tflock(&registry, command.iter().chain(&FROM_MIRROR)).ended_with(code);
            assert_eq!(run.stdout.contains("has no copy of the signature"), code == 3, "{settings} {run}");
        }
    }
    copies(&workspace, &registry, ("mirror", "1.4.0"));
    workspace.tflock(&registry, LOCK_BOTH.iter().chain(&FROM_MIRROR)).ended_with(0);
}

#[test]
fn signed_copies_give_the_signer_and_the_whole_list() {
    let (registry, workspace) = mirrored(PLATFORMS);
    copies(&workspace, &registry, ("mirror", "1.4.0"));
    let run = workspace.tflock(&registry, LOCK_BOTH.iter().chain(&FROM_MIRROR)).ended_with(0);
    assert!(run.stdout.contains("signed by") && !run.stdout.contains("mirror-only"), "{run}");
    assert_eq!(hashes(&workspace.lock_file()).len(), 4);
    workspace.tflock(&registry, ["verify"].iter().chain(&FROM_MIRROR)).ended_with(0);
    assert!(registry.requests().is_empty());
    // The same as the registry gives.
    let from_mirror = workspace.lock_file();
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert_eq!(workspace.lock_file(), from_mirror);
}

#[test]
fn an_archive_that_the_copies_do_not_list_is_refused() {
    let (registry, workspace) = mirrored(PLATFORMS);
    copies(&workspace, &registry, ("mirror", "1.4.0"));
    registry.republish("acme/widget", "1.4.0");
    packed(&workspace, &registry, ("mirror", "1.4.0"), &["darwin_arm64"]);
    let run = workspace.tflock(&registry, LOCK_BOTH.iter().chain(&FROM_MIRROR)).ended_with(3);
    assert!(run.stdout.contains("[wrong-checksum]") && run.stdout.contains("do not list"), "{run}");
    assert!(!workspace.has(".terraform.lock.hcl"));
}

#[test]
fn copies_with_a_bad_signature_are_refused() {
    let (registry, workspace) = mirrored(PLATFORMS);
    copies(&workspace, &registry, ("mirror", "1.4.0"));
    let sums = format!("{}/terraform-provider-widget_1.4.0_SHA256SUMS", place(&registry, "mirror"));
    workspace.write(&sums, &format!("{}{}  other\n", workspace.read(&sums), "0".repeat(64)));
    let run = workspace.tflock(&registry, LOCK.iter().chain(&FROM_MIRROR)).ended_with(3);
    assert!(run.stdout.contains("[bad-signature]"), "{run}");
}

#[test]
fn a_locked_version_that_the_mirror_does_not_have() {
    let (registry, workspace) = mirrored(PLATFORMS);
    workspace.tflock(&registry, LOCK).ended_with(0);
    registry.withdraw("acme/widget", "1.4.0");
    let provider = format!(" {}/acme/widget", registry.host());
    for mirror in [["--net-mirror", &registry.mirror_url()], ["--fs-mirror", "."]] {
        let run = workspace.tflock(&registry, ["verify"].iter().chain(&mirror));
        assert!(run.stderr.lines().any(|line| line.ends_with(&provider)), "{run}");
    }
}

/// What a network mirror reports of platforms that were not inspected, if its user trusts that.
#[test]
fn trusted_hashes_are_checked_for_form_and_record() {
    const OPENTOFU: &str = "registry.opentofu.org";
    let registry = widget();
    let url = registry.mirror_url();
    let workspace = Workspace::with_files(&[(
        "main.tf",
        "terraform {\n  required_providers {\n    widget = {\n      source = \"acme/widget\"\n    }\n  }\n}\n",
    )])
    .cli_config(&format!(
        "provider_installation {{\n network_mirror {{\n url = \"{url}\"\n trust_all_hashes = true\n }}\n}}\n"
    ));
    let lock = ["--tool=tofu", "lock", "--platform=linux_amd64", "--source=configured"];
    let run = workspace.tflock(&registry, lock).ended_with(0);
    assert!(workspace.lock_file().contains(OPENTOFU) && run.stdout.contains("reported by a mirror"), "{run}");
    let before = workspace.lock_file();
    let linux = registry.package("acme/widget", "1.4.0", "linux_amd64");
    let wrong = "0".repeat(64);
    let shown = format!(
        "{{\"archives\": {{\"linux_amd64\": {{\"url\": \"/files/acme/widget/1.4.0/\
         terraform-provider-widget_1.4.0_linux_amd64.zip\", \"hashes\": [\"{}\"]}}, \"darwin_arm64\": {{\"url\": \"x.zip\", \
         \"hashes\": [\"zh:{wrong}\"]}}}}}}",
        linux.h1
    );
    let registry = registry.answers(Endpoint::MirrorVersion, Answer::json(shown));
    let run = workspace.tflock(&registry, lock);
    assert_eq!(workspace.lock_file(), before, "{run}");
    assert!(before.contains("zh:"), "{before}");
    let run = run.ended_with(3);
    assert!(run.stdout.contains("[packages-differ]") && !run.stdout.contains("--h1 verified"), "{run}");
    // What the help names works.
    assert!(run.stdout.contains("`tflock lock --tool tofu --source origin`"), "{run}");
    assert!(!run.stdout.contains("--source=configured`"), "{run}");
}

/// As the tools, which look at the entry of the platform that they install.
#[test]
fn errors_of_another_platform_are_ignored() {
    let registry = widget();
    let url = registry.mirror_url();
    let linux = registry.package("acme/widget", "1.4.0", "linux_amd64");
    let shown = |linux: &str| {
        Answer::json(format!(
            "{{\"archives\": {{{linux}, \"freebsd_arm\": {{\"url\": \"x.zip\", \"hashes\": [\"h2:abc\"]}}, \
             \"windows_386\": {{\"url\": \"\"}}}}}}"
        ))
    };
    let good = format!(
        "\"linux_amd64\": {{\"url\": \"/files/acme/widget/1.4.0/terraform-provider-widget_1.4.0_linux_amd64.zip\", \
         \"hashes\": [\"{}\"]}}",
        linux.h1
    );
    let registry = registry.answers(Endpoint::MirrorVersion, shown(&good));
    let workspace = Workspace::from("modules/one-root");
    let mirrored = ["--platform=linux_amd64", "--net-mirror", &url];
    workspace.tflock(&registry, ["lock"].iter().chain(&mirrored)).ended_with(0);
    workspace.tflock(&registry, ["verify", "--net-mirror", &url]).ended_with(0);
    let wanted = ["lock", "--platform=windows_386", "--net-mirror", &url];
    let run = workspace.tflock(&registry, wanted).ended_with(4);
    assert!(run.stderr.contains("windows_386") || run.stderr.contains("url"), "{run}");
}

#[test]
fn a_package_is_bound_to_its_platform_by_its_line_in_the_signed_list() {
    let (registry, workspace) = mirrored(PLATFORMS);
    copies(&workspace, &registry, ("mirror", "1.4.0"));
    let other = registry.package("acme/widget", "1.4.0", "darwin_arm64").zip;
    let name = "terraform-provider-widget_1.4.0_linux_amd64.zip";
    workspace.write_bytes(&format!("{}/{name}", place(&registry, "mirror")), &other);
    let run = workspace.tflock(&registry, LOCK.iter().chain(&FROM_MIRROR)).ended_with(3);
    assert!(run.stdout.contains("[wrong-checksum]") && run.stdout.contains("list for darwin_arm64"), "{run}");
    assert!(!workspace.has(".terraform.lock.hcl"));
}
