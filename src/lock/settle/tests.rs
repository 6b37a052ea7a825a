//! Stories of releases that are settled, each a row: what is recorded, what is offered, what is decided.

use std::collections::BTreeMap;

use super::*;
use crate::dialect::Dialect;
use crate::hash::Sha256Digest;
use crate::query::question::{Goal, Moved, PackageFacts};
use crate::query::select::{ReportedRule, Rules};
use crate::release::{Attestation, ListedLine};
use crate::trust::Evidence;
use crate::version::{Constraints, Version};

const LINUX: &str = "linux_amd64";
const DARWIN: &str = "darwin_arm64";
const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn digest(number: u8) -> Sha256Digest {
    Sha256Digest::from_bytes([number; 32])
}

fn zh(number: u8) -> PackageHash {
    PackageHash::zh(digest(number))
}

/// The contents of the archive with this number.
fn h1(number: u8) -> PackageHash {
    PackageHash::h1(digest(number))
}

fn version() -> Version {
    Version::new(1, 0, 0)
}

fn entry(hashes: &[PackageHash]) -> LockEntry {
    LockEntry { version: version(), constraints: Constraints::default(), hashes: hashes.iter().cloned().collect() }
}

/// What keeps an entry and wants it for linux; for a provider without one, what takes the release.
fn step(recorded: Option<&[PackageHash]>) -> Query {
    Query {
        constraints: Constraints::default(),
        selection: Selection::Keep(version()),
        platforms: vec![LINUX.parse().unwrap()],
        recorded: recorded.map(entry),
        moved: None,
        accept_republished: false,
        drop_unattested: false,
        is_rewritable: true,
        rules: Rules::default(),
        goal: Goal::default(),
    }
}

/// A signed release with these archives, the first for linux and hashed here, the second for darwin.
fn release(archives: &[u8]) -> Selected {
    let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
    let platforms = [LINUX, DARWIN, "windows_amd64"];
    let line =
        |(number, platform): (&u8, &str)| (digest(*number), ListedLine::archive(Some(platform.parse().unwrap())));
    let mut selected = Selected::new(Release {
        signer: Some(KEY.parse().unwrap()),
        lines: archives.iter().zip(platforms).map(line).collect(),
        listed: archives.iter().map(|number| digest(*number)).collect(),
        ..Release::new(addr, version())
    });
    let file_name = format!("terraform-provider-widget_1.0.0_{LINUX}.zip");
    let unread = PackageFacts::unread(Some(digest(archives[0])), file_name);
    let package = PackageFacts { h1: Some(h1(archives[0])), computed: true, size: Some(1), ..unread };
    selected.compute(BTreeMap::from([(LINUX.parse().unwrap(), package)]));
    selected
}

fn unsigned(mut selected: Selected) -> Selected {
    selected.release.signer = Some(Signer::Unsigned);
    selected
}

/// The same from a mirror, which lists nothing.
fn mirrored(mut selected: Selected) -> Selected {
    selected.release.signer = None;
    selected.release.listed.clear();
    selected
}

fn decided(step: &Query, selected: &Selected, records: &[EarlierRecord]) -> Result<EntryDecision, Vec<Refusal>> {
    settle(step, selected, &|finding| finding, &|_| records.to_vec())
}

fn written(step: &Query, selected: &Selected) -> Vec<PackageHash> {
    decided(step, selected, &[]).unwrap().entry.hashes.iter().cloned().collect()
}

/// The rules of what is said next to a decision.
fn said(step: &Query, selected: &Selected) -> Vec<Rule> {
    decided(step, selected, &[]).unwrap().findings.iter().map(|finding| finding.rule).collect()
}

/// The rules of what refuses it.
fn refused(step: &Query, selected: &Selected, records: &[EarlierRecord]) -> Vec<Rule> {
    let refusals = decided(step, selected, records).unwrap_err().into_iter();
    let rules = refusals.filter_map(|refusal| match refusal {
        Refusal::Finding(finding, _) => Some(finding.rule),
        Refusal::Error(_) => None,
    });
    rules.collect()
}

/// The text of the error that refuses it.
fn error(step: &Query, selected: &Selected) -> String {
    failure(step, selected).message
}

fn failure(step: &Query, selected: &Selected) -> Error {
    match decided(step, selected, &[]).unwrap_err().remove(0) {
        Refusal::Error(error) => error,
        other @ Refusal::Finding(..) => panic!("{other:?}"),
    }
}

fn sorted(hashes: &[PackageHash]) -> Vec<PackageHash> {
    let mut hashes = hashes.to_vec();
    hashes.sort();
    hashes
}

#[test]
fn a_new_release_is_written_with_its_whole_list_and_what_was_hashed() {
    let decision = decided(&step(None), &release(&[1, 2]), &[]).unwrap();
    assert!(decision.first_use && decision.signer == Some(KEY.parse().unwrap()));
    assert_eq!(written(&step(None), &release(&[1, 2])), sorted(&[zh(1), zh(2), h1(1)]));
}

#[test]
fn a_recorded_release_gets_what_is_missing() {
    let step = step(Some(&[zh(1), zh(2)]));
    let decision = decided(&step, &release(&[1, 2]), &[]).unwrap();
    assert_eq!(decision.added.iter().map(|added| added.hash.clone()).collect::<Vec<_>>(), [h1(1)]);
    assert!(!decision.first_use && decision.signer.is_none());
}

#[test]
fn a_planted_hash_is_kept_and_named() {
    let step = step(Some(&[zh(1), zh(2), zh(7)]));
    assert!(written(&step, &release(&[1, 2])).contains(&zh(7)));
    assert_eq!(said(&step, &release(&[1, 2])), [Rule::UnattestedHash]);
}

#[test]
fn a_release_that_grew_is_completed_with_a_warning() {
    let step = step(Some(&[zh(1), zh(2)]));
    assert_eq!(said(&step, &release(&[1, 2, 3])), [Rule::ReleaseGrew]);
    assert!(written(&step, &release(&[1, 2, 3])).contains(&zh(3)));
}

#[test]
fn a_release_that_was_published_again_is_refused() {
    assert_eq!(refused(&step(Some(&[zh(1), zh(2)])), &release(&[3, 4]), &[]), [Rule::Republished]);
}

#[test]
fn a_release_that_was_published_again_and_accepted_replaces_the_hashes() {
    let step = Query { accept_republished: true, ..step(Some(&[zh(1), zh(2)])) };
    assert_eq!(written(&step, &release(&[3, 4])), sorted(&[zh(3), zh(4), h1(3)]));
    assert!(decided(&step, &release(&[3, 4]), &[]).unwrap().republished);
}

#[test]
fn an_entry_that_was_changed_is_refused_whatever_is_accepted() {
    let (version, recorded) = (Version::new(1, 0, 0), [zh(1), zh(2)].into_iter().collect());
    let record = EarlierRecord { version, recorded, place: "HEAD".to_owned(), remedy: None };
    for accept_republished in [false, true] {
        let step = Query { accept_republished, ..step(Some(&[zh(1), zh(7)])) };
        assert_eq!(refused(&step, &release(&[1, 2]), std::slice::from_ref(&record)), [Rule::LockFileAltered]);
    }
}

#[test]
fn an_entry_that_pins_nothing_is_a_first_use() {
    let step = step(Some(&["h9:x".parse().unwrap()]));
    let decision = decided(&step, &release(&[1, 2]), &[]).unwrap();
    assert!(decision.first_use && !decision.republished);
    assert_eq!(decision.findings[0].rule, Rule::FirstUse);
}

#[test]
fn an_entry_with_contents_only_is_shown_by_one_archive() {
    assert_eq!(written(&step(Some(&[h1(1)])), &release(&[1, 2])), sorted(&[zh(1), zh(2), h1(1)]));
}

#[test]
fn an_entry_with_contents_only_that_no_archive_has_is_refused() {
    assert_eq!(refused(&step(Some(&[h1(7)])), &release(&[1, 2]), &[]), [Rule::Republished]);
}

#[test]
fn contents_of_a_platform_that_was_not_looked_at_are_kept_with_a_note() {
    assert_eq!(said(&step(Some(&[zh(1), zh(2), h1(1), h1(2)])), &release(&[1, 2])), [Rule::UnknownPlatformHash]);
}

#[test]
fn contents_that_no_package_has_are_kept_with_a_warning() {
    assert_eq!(said(&step(Some(&[zh(1), zh(2), h1(1), h1(7)])), &all_hashed()), [Rule::UnattestedHash]);
}

/// The release with both archives hashed here.
fn all_hashed() -> Selected {
    let mut all = release(&[1, 2]);
    all.release.look_at(&DARWIN.parse().unwrap(), None, Some(&h1(2)));
    all.release.complete = true;
    all
}

#[test]
fn contents_that_took_the_place_of_recorded_ones_are_an_altered_entry() {
    let record = |recorded: &[PackageHash]| EarlierRecord {
        version: version(),
        recorded: recorded.iter().cloned().collect(),
        place: "HEAD".to_owned(),
        remedy: None,
    };
    let swapped = step(Some(&[zh(1), zh(2), h1(2), h1(7)]));
    let sound = record(&[zh(1), zh(2), h1(1), h1(2)]);
    assert_eq!(refused(&swapped, &all_hashed(), std::slice::from_ref(&sound)), [Rule::LockFileAltered]);
    // They only came, or were there before, or the record is of another version, or it has nothing that is missing.
    for (step, record) in [
        (step(Some(&[zh(1), zh(2), h1(1), h1(2), h1(7)])), sound.clone()),
        (swapped.clone(), record(&[zh(1), zh(2), h1(1), h1(2), h1(7)])),
        (swapped.clone(), EarlierRecord { version: Version::new(1, 0, 1), ..sound.clone() }),
        (swapped.clone(), record(&[zh(1), zh(2), h1(2)])),
        (swapped.clone(), record(&[zh(1), zh(2), h1(2), h1(8)])),
    ] {
        assert!(decided(&step, &all_hashed(), &[record]).is_ok());
    }
    let dropping = Query { drop_unattested: true, ..swapped };
    let decision = decided(&dropping, &all_hashed(), &[sound]).unwrap();
    assert!(!decision.entry.hashes.contains(&h1(7)) && decision.entry.hashes.contains(&h1(1)));
}

#[test]
fn unattested_contents_go_only_if_each_archive_was_hashed() {
    let recorded = [zh(1), zh(2), zh(8), h1(1), h1(7)];
    let dropping = Query { drop_unattested: true, ..step(Some(&recorded)) };
    let left: Vec<PackageHash> = recorded[..4].to_vec();
    assert_eq!(written(&dropping, &all_hashed()), sorted(&left));
    // A checksum stays, with its warning.
    assert_eq!(said(&dropping, &all_hashed()), [Rule::UnattestedHash]);
    assert!(error(&dropping, &release(&[1, 2])).starts_with("1 of the 2 archives"));
    let mut reported = all_hashed();
    let darwin: Platform = DARWIN.parse().unwrap();
    reported.release.h1.remove(&h1(2));
    reported.release.attest(h1(2), Attestation::new(Some(darwin), Evidence::ReportedByOrigin));
    assert!(error(&dropping, &reported).contains("could not be hashed"));
    let mut unnamed = all_hashed();
    unnamed.release.zips.insert(("own-name.zip".to_owned(), digest(9)));
    unnamed.release.lines.insert(digest(9), ListedLine::Other);
    assert!(error(&dropping, &unnamed).contains("own-name.zip"));
    assert!(error(&dropping, &mirrored(all_hashed())).contains("does not show which archives"));
    // Nothing is looked at where all is explained.
    let explained = Query { drop_unattested: true, ..step(Some(&[zh(1), zh(2), h1(1)])) };
    assert_eq!(written(&explained, &release(&[1, 2])), sorted(&[zh(1), zh(2), h1(1)]));
    // What is proven stays, and another release takes nothing out.
    let contents = Query { drop_unattested: true, ..step(Some(&[h1(1), h1(7)])) };
    assert_eq!(written(&contents, &all_hashed()), sorted(&[zh(1), zh(2), h1(1)]));
    let other = Query { drop_unattested: true, ..step(Some(&[h1(6), h1(7)])) };
    assert_eq!(refused(&other, &all_hashed(), &[]), [Rule::Republished]);
}

#[test]
fn a_malformed_list_gives_only_inspected_packages() {
    let mut spoiled = release(&[1, 2]);
    spoiled.release.listed.clear();
    assert_eq!(written(&step(None), &spoiled), sorted(&[zh(1), h1(1)]));
}

#[test]
fn reports_are_written_if_the_settings_trust_them() {
    let mut reporting = release(&[1, 2]);
    reporting.reported.insert(DARWIN.parse().unwrap(), vec![h1(2)]);
    assert!(!written(&step(None), &reporting).contains(&h1(2)));
    let mut trusting = step(None);
    trusting.rules.reported = ReportedRule::Write;
    assert!(written(&trusting, &reporting).contains(&h1(2)));
}

#[test]
fn every_hash_has_its_reasons() {
    let decision = decided(&step(None), &release(&[1, 2]), &[]).unwrap();
    let of = |hash: &PackageHash| decision.added.iter().find(|added| added.hash == *hash).unwrap().evidence.clone();
    assert_eq!(of(&zh(2)), [Evidence::Signed(KEY.parse().unwrap())]);
    assert_eq!(of(&h1(1)), [Evidence::Computed]);
    let decision = decided(&step(None), &unsigned(release(&[1, 2])), &[]).unwrap();
    assert_eq!(decision.added.iter().find(|added| added.hash == zh(2)).unwrap().evidence, [Evidence::ReportedByOrigin]);
}

#[test]
fn an_unsigned_release_adds_only_packages_that_were_looked_at() {
    assert_eq!(written(&step(Some(&[zh(1)])), &unsigned(release(&[1, 2]))), sorted(&[zh(1), h1(1)]));
}

#[test]
fn mirror_only_hashes_are_written_with_a_warning() {
    assert_eq!(written(&step(None), &mirrored(release(&[1]))), [h1(1)]);
    assert_eq!(said(&step(None), &mirrored(release(&[1]))), [Rule::MirrorOnly]);
    assert_eq!(said(&step(Some(&[h1(1)])), &mirrored(release(&[1]))), []);
}

#[test]
fn a_platform_that_is_not_there_is_an_error_unless_it_is_optional() {
    let mut lacking = release(&[1, 2]);
    lacking.missing.insert(DARWIN.parse().unwrap(), None);
    let message = error(&step(None), &lacking);
    assert!(message.contains(" 1.0.0 ") && message.ends_with(DARWIN), "{message}");
    let mut optional = step(None);
    optional.rules.optional.insert(DARWIN.parse().unwrap());
    assert_eq!(said(&optional, &lacking), [Rule::PlatformMissing]);
}

#[test]
fn where_a_missing_package_is_depends_on_what_was_searched() {
    let of = |step: &Query, facts: &Selected| {
        let error = failure(step, facts);
        (error.message.clone(), error.hints.iter().map(ToString::to_string).collect::<Vec<_>>().concat())
    };
    let other = Some(Version::new(0, 9, 0));
    let mut lacking = Selected { complete: other.clone(), ..release(&[1, 2]) };
    lacking.missing.insert(DARWIN.parse().unwrap(), other);
    let (_, hints) = of(&step(None), &lacking);
    assert!(hints.contains("`tflock upgrade --precise 0.9.0 "), "{hints}");
    let excluding = Query { constraints: "~> 1.0".parse().unwrap(), ..step(None) };
    let (_, hints) = of(&excluding, &Selected { complete: None, ..lacking.clone() });
    assert!(hints.contains("0.9.0") && hints.contains("\"~> 1.0\"") && !hints.contains("`tflock"), "{hints}");
    // A mirror with copies of what was signed has no more packages than another one.
    let (message, hints) = of(&step(None), &Selected { place: Some("the mirror m".to_owned()), ..lacking });
    assert!(message.ends_with(" in the mirror m"), "{message}");
    assert!(hints.contains("`tflock lock --source origin`") && !hints.contains("no other version"), "{hints}");
}

#[test]
fn a_protocol_that_no_tool_speaks_is_an_error() {
    let newest_supported = Some(Version::new(0, 9, 0));
    let old = Selected { supported_protocol: false, newest_supported, ..release(&[1]) };
    let refused = failure(&step(None), &old);
    assert!(refused.kind == ErrorKind::NotFound && refused.hints[0].to_string().ends_with("0.9.0"), "{refused:?}");
}

#[test]
fn a_line_that_names_another_package_is_refused() {
    let mut other = release(&[1, 2]);
    other
        .packages
        .values_mut()
        .for_each(|it| it.file_name = "terraform-provider-widget_0.9.0_linux_amd64.zip".to_owned());
    assert_eq!(refused(&step(None), &other, &[]), [Rule::UnboundSignature]);
}

#[test]
fn settings_may_deny_what_is_a_warning() {
    let leveled = |finding: Finding| finding.at_level(Level::Deny);
    assert!(settle(&step(Some(&[zh(1), zh(2)])), &release(&[1, 2, 3]), &leveled, &|_| Vec::new()).is_err());
}

#[test]
fn the_same_archives_at_another_address_keep_their_hashes() {
    let from = ProviderAddr::parse("registry.opentofu.org/acme/widget", Dialect::OpenTofu).unwrap();
    let moved = |hashes: &[PackageHash]| Query {
        moved: Some(Moved { from: from.clone(), entry: entry(hashes) }),
        ..step(None)
    };
    let decision = decided(&moved(&[zh(1), zh(2), h1(2)]), &release(&[1, 2]), &[]).unwrap();
    assert!(decision.identical && decision.entry.hashes.contains(&h1(2)));
    let decision = decided(&moved(&[zh(1), zh(8), h1(2)]), &release(&[1, 2]), &[]).unwrap();
    assert!(!decision.identical && !decision.entry.hashes.contains(&h1(2)), "another build");
}

#[test]
fn a_hash_with_two_attestations_is_written_once() {
    let mut twice = release(&[1, 2]);
    let attested = Attestation::new(Some(LINUX.parse().unwrap()), Evidence::ReportedByOrigin);
    twice.release.h1.insert(h1(1), attested);
    twice.reported.insert(LINUX.parse().unwrap(), vec![h1(1)]);
    let mut trusting = step(None);
    trusting.rules.reported = ReportedRule::Write;
    assert_eq!(written(&trusting, &twice), sorted(&[zh(1), zh(2), h1(1)]));
}

/// Whoever works on a machine for which there is no package is told that it is this machine's platform that is wanted.
#[test]
fn the_platform_of_this_machine_is_called_that() {
    let hints = |platform: Platform| {
        let mut lacking = release(&[1, 2]);
        lacking.missing.insert(platform, None);
        match decided(&step(None), &lacking, &[]).unwrap_err().remove(0) {
            Refusal::Error(error) => error.hints.iter().map(ToString::to_string).collect::<Vec<_>>().concat(),
            other @ Refusal::Finding(..) => panic!("{other:?}"),
        }
    };
    let other = ["plan9_386", "solaris_amd64"].map(|text| text.parse().unwrap()).into_iter();
    let other = other.clone().find(|platform| *platform != Platform::host()).unwrap();
    for (platform, is_own) in [(Platform::host(), true), (other, false)] {
        let hints = hints(platform);
        assert_eq!(hints.contains("--platform"), is_own, "{hints}");
        assert!(hints.contains("optional_platforms"), "{hints}");
    }
}
