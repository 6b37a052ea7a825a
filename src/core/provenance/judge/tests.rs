use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::dialect::Dialect;
use crate::error::ErrorKind;
use crate::provenance::AttestedFile;
use crate::provenance::{BadPlace, learn};

fn addr() -> ProviderAddr {
    ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap()
}

fn version(text: &str) -> Version {
    text.parse().unwrap()
}

/// A build of a release from its tag.
fn build(version: &str) -> Build {
    Build {
        repository: "github.com/acme/terraform-provider-widget".parse().unwrap(),
        repository_id: "123".to_owned(),
        owner_id: "7".to_owned(),
        workflow: ".github/workflows/release.yml".to_owned(),
        signer: None,
        git_ref: format!("refs/tags/v{version}"),
        trigger: "push".to_owned(),
        commit: "c".repeat(40),
        run: None,
    }
}

fn pin() -> BuiltBy {
    learn([(&version("1.0.0"), &build("1.0.0"))]).unwrap().unwrap()
}

fn archive(version: &str, platform: &str) -> (String, Sha256Digest) {
    let name = format!("terraform-provider-widget_{version}_{platform}.zip");
    (name.clone(), Sha256Digest::of(name.as_bytes()))
}

/// The archives of a release.
fn archives(version: &str) -> BTreeSet<(String, Sha256Digest)> {
    ["darwin_arm64", "linux_amd64"].map(|platform| archive(version, platform)).into()
}

fn attestation(build: Build, archives: &BTreeSet<(String, Sha256Digest)>) -> Attestation {
    let subjects = archives.iter().map(|(name, digest)| AttestedFile { name: name.clone(), digest: *digest }).collect();
    Attestation { subjects, build: Ok(build) }
}

fn attested(attestations: Vec<Attestation>) -> Attested {
    let asked = archives("1.2.3").into_iter().map(|(_, digest)| digest).collect();
    Attested { attestations, asked, ..Attested::default() }
}

/// What is found of release 1.2.3.
fn judged(attested: &Attested) -> Judged {
    let (addr, version, archives, pin) = (addr(), version("1.2.3"), archives("1.2.3"), pin());
    judge(&Question { addr: &addr, version: &version, archives: &archives, pin: &pin }, attested)
}

fn rules(attested: &Attested) -> Vec<(Rule, Level)> {
    judged(attested).findings.iter().map(|finding| (finding.rule, finding.level())).collect()
}

/// The findings where this is the only attestation.
fn of_build(change: impl FnOnce(&mut Build)) -> Vec<(Rule, Level)> {
    let mut build = build("1.2.3");
    change(&mut build);
    rules(&attested(vec![attestation(build, &archives("1.2.3"))]))
}

#[test]
fn a_release_of_the_pinned_place_passes() {
    assert_eq!(of_build(|_| {}), []);
    let all = judged(&attested(vec![attestation(build("1.2.3"), &archives("1.2.3"))]));
    assert_eq!(all, Judged { build: Some(build("1.2.3")), ..Judged::default() });
    // One attestation for each archive.
    let each = archives("1.2.3").into_iter().map(|archive| attestation(build("1.2.3"), &[archive].into()));
    assert_eq!(rules(&attested(each.collect())), []);
    // Names are compared without case, and what is built in a directory has its name.
    assert_eq!(of_build(|build| build.repository = "github.com/ACME/Terraform-Provider-Widget".parse().unwrap()), []);
    let mut in_folder = attestation(build("1.2.3"), &archives("1.2.3"));
    in_folder.subjects.iter_mut().for_each(|subject| subject.name = format!("dist/{}", subject.name));
    assert_eq!(rules(&attested(vec![in_folder])), []);
}

#[test]
fn another_place_is_refused() {
    let changed = [(Rule::ProvenanceChanged, Level::Deny)];
    assert_eq!(of_build(|build| build.repository_id = "124".to_owned()), changed, "a fork, or created again");
    assert_eq!(of_build(|build| build.owner_id = "8".to_owned()), changed, "transferred");
    assert_eq!(of_build(|build| build.workflow = ".github/workflows/other.yml".to_owned()), changed);
    assert_eq!(
        of_build(|build| build.signer = Some("github.com/acme/shared/.github/workflows/build.yml".to_owned())),
        changed
    );
    assert_eq!(of_build(|build| build.git_ref = "refs/heads/main".to_owned()), changed);
    assert_eq!(of_build(|build| build.git_ref = "refs/pull/7/merge".to_owned()), changed);
    for trigger in ["workflow_dispatch", "pull_request", "pull_request_target"] {
        assert_eq!(of_build(|build| build.trigger = trigger.to_owned()), changed, "{trigger}");
    }
    let bad = Attestation {
        build: Err(BadPlace::Issuer("https://x".to_owned())),
        ..attestation(build("1.2.3"), &archives("1.2.3"))
    };
    assert_eq!(rules(&attested(vec![bad])), changed);
    let message = {
        let other = Build { workflow: ".github/workflows/x.yml".to_owned(), ..build("1.2.3") };
        judged(&attested(vec![attestation(other, &archives("1.2.3"))])).findings[0].message().to_owned()
    };
    assert_eq!(
        message,
        "registry.terraform.io/acme/widget 1.2.3 was not built where it is pinned: the workflow is .github/workflows/x.yml, \
         pinned is .github/workflows/release.yml"
    );
}

#[test]
fn a_renamed_repository_is_the_same() {
    let renamed = of_build(|build| build.repository = "github.com/acme/provider".parse().unwrap());
    assert_eq!(renamed, [(Rule::ProvenanceChanged, Level::Note)]);
    let shared = |name: &str| Some(format!("github.com/{name}/.github/workflows/build.yml"));
    let pin = BuiltBy { signer: shared("acme/terraform-provider-widget"), ..pin() };
    let own = Build { repository: "github.com/acme/p".parse().unwrap(), signer: shared("acme/p"), ..build("1.2.3") };
    assert_eq!(pin.differences(&own), []);
    assert_eq!(pin.differences(&Build { signer: shared("acme/q"), ..own }).len(), 1);
}

#[test]
fn an_archive_of_something_else_is_refused() {
    let version = [(Rule::ProvenanceVersion, Level::Deny)];
    assert_eq!(of_build(|build| build.git_ref = "refs/tags/v1.2.2".to_owned()), version);
    for tag in ["1.2.3", "provider/v1.2.3", "terraform-provider-widget-v1.2.3", "release"] {
        assert_eq!(of_build(|build| build.git_ref = format!("refs/tags/{tag}")), [], "{tag}");
    }
    let named = |name: &str| {
        let mut attestation = attestation(build("1.2.3"), &archives("1.2.3"));
        attestation.subjects[0].name = name.to_owned();
        rules(&attested(vec![attestation]))
    };
    for other in [
        "terraform-provider-widget_1.2.2_darwin_arm64.zip",
        "terraform-provider-widget_1.2.3_linux_amd64.zip",
        "terraform-provider-gadget_1.2.3_darwin_arm64.zip",
    ] {
        assert_eq!(named(other), version, "{other}");
    }
    assert_eq!(named("package.zip"), [(Rule::ProvenanceVersion, Level::Warn)]);
}

/// The name of an archive for a platform.
type Naming = fn(&str) -> String;

/// What the holder of the key gets for attested archives of 1.3.0 that are offered as 1.4.0.
#[test]
fn an_older_release_is_not_offered_as_a_newer_one() {
    let offered = |version: &str, git_ref: &str, name: &dyn Fn(&str) -> String| {
        let (addr, version) = (addr(), self::version(version));
        let archives = archives(&version.to_string());
        let build = Build { git_ref: git_ref.to_owned(), ..build("1.3.0") };
        let mut attestation = attestation(build, &archives);
        for subject in &mut attestation.subjects {
            let platform = subject.name.trim_end_matches(".zip").splitn(3, '_').nth(2).unwrap().to_owned();
            subject.name = name(&platform);
        }
        let pin = BuiltBy { git_ref: "refs/*".to_owned(), ..pin() };
        let pin = BuiltBy {
            git_ref: if git_ref.contains("heads") { git_ref.to_owned() } else { "refs/tags/*".to_owned() },
            ..pin
        };
        let asked = archives.iter().map(|(_, digest)| *digest).collect();
        let attested = Attested { attestations: vec![attestation], asked, ..Attested::default() };
        let judged = judge(&Question { addr: &addr, version: &version, archives: &archives, pin: &pin }, &attested);
        judged.findings.iter().map(|finding| (finding.rule, finding.level())).collect::<Vec<_>>()
    };
    let (denied, warned) = ([(Rule::ProvenanceVersion, Level::Deny)], (Rule::ProvenanceVersion, Level::Warn));
    let nameless = |platform: &str| format!("package-{platform}.zip");
    let tags = [
        "v1.3.0",
        "V1.3.0",
        "release-1.3.0",
        "v1.3.0.0",
        "widget@1.3.0",
        "terraform-provider-vault-v1.3.0",
        "1.3.0+1",
        "1.4.0/v1.3.0",
    ];
    for tag in tags {
        assert_eq!(offered("1.4.0", &format!("refs/tags/{tag}"), &nameless), denied, "{tag}");
    }
    let names: [(&str, Naming); 8] = [
        ("v", |platform| format!("terraform-provider-widget_v1.3.0_{platform}.zip")),
        ("level", |platform| format!("terraform-provider-widget_1.3.0_{platform}_v1.zip")),
        ("short", |platform| format!("widget_1.3.0_{platform}.zip")),
        ("ZIP", |platform| format!("terraform-provider-widget_1.3.0_{platform}.ZIP")),
        ("dashes", |platform| format!("widget-1.3.0-{}.zip", platform.replace('_', "-"))),
        ("behind", |platform| format!("dist/widget-{platform}-1.3.0.zip")),
        ("both", |platform| format!("1.4.0/widget-{platform}-1.4.0-of-1.3.0.zip")),
        ("none", |platform| format!("package-{platform}.zip")),
    ];
    for git_ref in ["refs/tags/nightly", "refs/tags/v1", "refs/heads/release-1.4.0", "refs/heads/main"] {
        for (what, name) in names {
            assert_eq!(offered("1.4.0", git_ref, &name), denied, "{git_ref} {what}");
        }
    }
    // The release itself passes by each name that says what it is, and by its tag alone.
    for git_ref in ["refs/tags/v1.3.0", "refs/tags/nightly", "refs/heads/main"] {
        for (what, name) in &names[..6] {
            let found = offered("1.3.0", git_ref, name);
            assert!(found.iter().all(|it| *it == warned), "{git_ref} {what}: {found:?}");
        }
    }
    assert_eq!(offered("1.3.0", "refs/tags/v1.3.0", &nameless), [warned, warned]);
}

#[test]
fn what_nothing_attests_is_missing() {
    let missing = [(Rule::ProvenanceMissing, Level::Deny)];
    assert_eq!(rules(&attested(Vec::new())), missing);
    assert_eq!(rules(&Attested::default()), missing, "what nobody asked about proves nothing");
    let one = [archive("1.2.3", "linux_amd64")].into();
    let found = judged(&attested(vec![attestation(build("1.2.3"), &one)])).findings;
    assert_eq!((found.len(), found[0].rule), (1, Rule::ProvenanceMissing));
    let message = found[0].message();
    assert!(message.contains(" 1 archive ") && message.ends_with("widget_1.2.3_darwin_arm64.zip"), "{message}");
}

#[test]
fn what_does_not_verify_is_invalid_unless_something_else_does() {
    let invalid = InvalidBundle { step: "the signature", why: "it does not fit".to_owned() };
    let each = archives("1.2.3").into_iter().map(|(_, digest)| (digest, invalid.clone())).collect();
    let mut bad = Attested { invalid: each, ..attested(Vec::new()) };
    let found = judged(&bad).findings;
    assert!(found[0].message().contains("does not verify: the signature: it does not fit; judged by"), "{found:?}");
    assert_eq!(rules(&bad), [(Rule::ProvenanceInvalid, Level::Deny)]);
    bad.attestations.push(attestation(build("1.2.3"), &archives("1.2.3")));
    assert_eq!(rules(&bad), []);
}

#[test]
fn what_was_not_answered_is_never_a_pass() {
    let error = Error::new(ErrorKind::Unavailable, "403");
    let mut open = Attested { unanswered: Some(error.clone()), ..Attested::default() };
    assert_eq!(rules(&open), [(Rule::ProvenanceUnknown, Level::Note)]);
    assert_eq!(judged(&open).unknown, Some(error));
    // What is known to be wrong is wrong whatever the rest is.
    let other = Build { repository_id: "9".to_owned(), ..build("1.2.3") };
    open.attestations.push(attestation(other, &[archive("1.2.3", "linux_amd64")].into()));
    assert!(rules(&open).contains(&(Rule::ProvenanceChanged, Level::Deny)));
    open.attestations.push(attestation(build("1.2.3"), &archives("1.2.3")));
    assert_eq!(rules(&open), []);
}

#[test]
fn releases_of_different_places_are_no_place() {
    let [old, new] = ["1.0.0", "1.1.0"].map(version);
    let moved = Build { workflow: ".github/workflows/x.yml".to_owned(), ..build("1.1.0") };
    let places = learn([(&old, &build("1.0.0")), (&new, &moved)]).unwrap_err();
    assert!(places[1].starts_with("1.1.0: github.com/acme/"), "{places:?}");
    let by_hand = Build { trigger: "workflow_dispatch".to_owned(), ..build("1.1.0") };
    let learned = learn([(&new, &by_hand), (&old, &build("1.0.0"))]).unwrap().unwrap();
    assert_eq!(learned.triggers, ["push", "workflow_dispatch"].map(str::to_owned).into());
    assert_eq!((learned.since, learned.git_ref.as_str()), (old, "refs/tags/*"));
    assert_eq!(learn([]), Ok(None));
}

fn any_build() -> impl Strategy<Value = Build> {
    let place = ("12[34]", "[78]", "release|other", prop::option::of(Just("github.com/a/b/.github/workflows/c.yml")));
    let source = ("refs/(tags/v1\\.2\\.[23]|heads/main|pull/1/merge)", "push|release|pull_request");
    (place, source).prop_map(|((id, owner, workflow, signer), (git_ref, trigger))| Build {
        repository_id: id,
        owner_id: owner,
        workflow: format!(".github/workflows/{workflow}.yml"),
        signer: signer.map(str::to_owned),
        git_ref,
        trigger,
        ..build("1.2.3")
    })
}

proptest! {
    /// Each archive of a release that passes is listed, under its name, by a build that is the pinned one field by field.
    #[test]
    fn nothing_passes_that_was_built_elsewhere(
        attestations in prop::collection::vec((any_build(), 0..4_usize), 0..4),
        unanswered in any::<bool>(),
    ) {
        let parts = [archives("1.2.3"), [archive("1.2.3", "linux_amd64")].into(), [archive("1.2.3", "darwin_arm64")].into(), archives("1.2.2")];
        let all: Vec<Attestation> = attestations.iter().map(|(build, part)| attestation(build.clone(), &parts[*part])).collect();
        let error = Error::new(ErrorKind::Unavailable, "403");
        let facts = Attested { unanswered: unanswered.then_some(error), ..attested(all) };
        let is_pinned = |it: &Build| {
            let (own, good) = (build("1.2.3"), it.clone());
            Build { trigger: own.trigger.clone(), ..good.clone() } == own && good.trigger == "push"
        };
        let is_proven = |archive: &(String, Sha256Digest)| {
            facts.attestations.iter().any(|it| {
                it.build.as_ref().is_ok_and(is_pinned) && it.subjects.iter().any(|subject| (subject.name.clone(), subject.digest) == *archive)
            })
        };
        let judged = judged(&facts);
        let passes = judged.unknown.is_none() && judged.findings.iter().all(|finding| finding.level() < Level::Deny);
        prop_assert_eq!(passes, archives("1.2.3").iter().all(is_proven));
        prop_assert_eq!(judged.build.is_some(), passes);
    }
}
