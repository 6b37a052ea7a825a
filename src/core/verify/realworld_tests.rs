//! What is found in lock files that users wrote, and in doctored ones made from them.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test reads its cases and says if it skips them"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::{Facts, Subject, verify};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, Level, Rule};
use crate::hash::Sha256Digest;
use crate::lockfile::{Decoded, LockFile, Spans, decode};
use crate::release::{Attestation, ListedLine, Lookup, Release};
use crate::settings::Settings;
use crate::trust::Evidence;
use crate::trust::pins::Signer;
use crate::verify::Verified;

type Releases = BTreeMap<(String, String), Arc<Release>>;

fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/realworld");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: ../shared is not here");
    None
}

/// The cells of a table with one line of headings.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// Every release that was seen in lock files, as its registry would tell of it: the agreed hashes and no others.
fn releases(folder: &Path) -> Releases {
    let shared: BTreeSet<String> = rows(&folder.join("shared-hashes.tsv"))
        .into_iter()
        .filter(|row| row[3].starts_with("same hash in several"))
        .map(|row| row[0].clone())
        .collect();
    let each = rows(&folder.join("known-hashes.tsv")).into_iter().filter_map(|row| {
        let address = ProviderAddr::parse(&row[0], Dialect::Terraform).ok()?;
        let list =
            |at: usize| row[at].split(',').filter(|text| !text.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let is_shared = |hex: &String| shared.contains(&format!("zh:{hex}"));
        let line = |hex: &String| if is_shared(hex) { ListedLine::Other } else { ListedLine::archive(None) };
        let attested = || Attestation::new(None, Evidence::ReportedByOrigin);
        let version = row[1].parse().ok()?;
        let release = Release {
            signer: Some(Signer::Unsigned),
            lines: list(6).into_iter().filter_map(|hex| Some((Sha256Digest::from_hex(&hex)?, line(&hex)))).collect(),
            h1: list(7).iter().map(|text| (format!("h1:{text}").parse().unwrap(), attested())).collect(),
            complete: true,
            ..Release::new(address, version)
        };
        Some(((row[0].clone(), row[1].clone()), Arc::new(release)))
    });
    each.chain(other_builds()).collect()
}

/// Two releases of the `OpenTofu` registry that no lock file has: what matters is that they are other builds.
fn other_builds() -> impl Iterator<Item = ((String, String), Arc<Release>)> {
    [("archive", "2.2.0"), ("azuread", "3.2.0")].into_iter().map(|(kind, version)| {
        let name = format!("registry.opentofu.org/hashicorp/{kind}");
        let address = ProviderAddr::parse(&name, Dialect::Terraform).unwrap();
        let release = Release {
            signer: Some(Signer::Unsigned),
            lines: BTreeMap::from([(Sha256Digest::of(name.as_bytes()), ListedLine::archive(None))]),
            complete: true,
            ..Release::new(address, version.parse().unwrap())
        };
        ((name, version.to_owned()), Arc::new(release))
    })
}

/// Verifies a text, as if its registries served these releases.
fn verified(text: &[u8], releases: Option<&Releases>, others: &[Arc<Release>]) -> (Verified, Vec<Finding>) {
    let settings = Settings::default();
    let none = (LockFile::new(), Spans::default());
    let subject = |lock, spans| Subject {
        before: None,
        base: None,
        first_seen: None,
        lock,
        spans,
        requirements: None,
        kind: crate::config::RootKind::Module,
        is_instance: false,
        complete: true,
        settings: &settings,
        dialect: Dialect::Terraform,
        translates_state: false,
        pins: None,
        now: SystemTime::UNIX_EPOCH,
    };
    let Decoded { lock, spans, warnings, .. } = match decode(text, Dialect::Terraform) {
        Ok(decoded) => decoded,
        Err(findings) => return (Verified::default(), subject(&none.0, &none.1).completion().complete_all(findings)),
    };
    let subject = subject(&lock, &spans);
    let known = lock.iter().filter_map(|(addr, entry)| {
        let release = releases?.get(&(addr.to_string(), entry.version.to_string()))?;
        Some((addr.clone(), Lookup::Known(Arc::clone(release))))
    });
    let facts = Facts { releases: known.collect(), others, ..Facts::default() };
    let (verified, mut findings) = verify(&subject, &facts);
    findings.extend(subject.completion().complete_all(warnings));
    (verified, findings)
}

fn at_least(findings: &[Finding], level: Level) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.level() >= level).collect()
}

/// The rules, one of which must be found, at which level.
fn expected(kind: &str) -> (Level, &'static [Rule]) {
    use Rule::{ContradictedHash, DuplicateHash, H1Missing, MalformedHash, Republished, UnattestedHash, ZhMissing};
    match kind {
        "zh-other-version"
        | "h1-other-version"
        | "zh-other-provider"
        | "h1-other-provider"
        | "all-hashes-other-version"
        | "version-changed-hashes-kept"
        | "blocks-hashes-swapped" => (Level::Deny, &[ContradictedHash]),
        "host-changed-hashes-kept" => (Level::Deny, &[ContradictedHash, Republished]),
        "zh-one-nibble"
        | "h1-one-char"
        | "h1-extra-unknown"
        | "zh-extra-unknown"
        | "h1-as-zh-hex"
        | "zh-manifest-hash-extra" => (Level::Deny, &[UnattestedHash]),
        "zh-upper-case" | "zh-truncated" | "h1-nonzero-padding-bits" => (Level::Deny, &[MalformedHash]),
        "duplicate-hash" => (Level::Warn, &[DuplicateHash]),
        "zh-removed-one" => (Level::Warn, &[ZhMissing]),
        "h1-removed" => (Level::Warn, &[H1Missing]),
        other => panic!("unknown kind {other}"),
    }
}

/// The lines that the original does not have in this order, 1-based; where lines are gone, the block.
fn doctored_lines(original: &str, made: &str) -> BTreeSet<usize> {
    let diff = similar::TextDiff::from_lines(original, made);
    diff.iter_all_changes()
        .filter(|change| change.tag() == similar::ChangeTag::Insert)
        .filter_map(|change| change.new_index())
        .map(|index| index + 1)
        .collect()
}

/// The lines of the entry of a provider, 1-based.
fn block_lines(text: &str, address: &str) -> std::ops::RangeInclusive<usize> {
    let head = text.lines().position(|line| line.starts_with(&format!("provider \"{address}\""))).unwrap();
    let length = text.lines().skip(head).position(|line| line == "}").unwrap();
    head + 1..=head + length + 1
}

#[test]
fn doctored_files_are_caught_at_their_lines_and_their_originals_pass() {
    let Some(folder) = folder() else { return };
    let releases = releases(&folder);
    let others: Vec<Arc<Release>> = releases.values().cloned().collect();
    let poisoned = folder.join("poisoned");
    let mut made = 0;
    for row in rows(&poisoned.join("MANIFEST.tsv")).iter().filter(|row| row[0].starts_with("made/")) {
        made += 1;
        let (file, kind) = (&row[0], row[1].as_str());
        let number = &file[5..8];
        let original = std::fs::read_to_string(poisoned.join(format!("made/{number}-original.lock.hcl"))).unwrap();
        let text = std::fs::read_to_string(poisoned.join(file)).unwrap();
        let (_, before) = verified(original.as_bytes(), Some(&releases), &others);
        assert!(at_least(&before, Level::Deny).is_empty(), "{number}-original: {before:#?}");
        let (_, found) = verified(text.as_bytes(), Some(&releases), &others);
        let (level, rules) = expected(kind);
        let right: Vec<&Finding> = found.iter().filter(|finding| rules.contains(&finding.rule)).collect();
        let right: Vec<&Finding> = right.into_iter().filter(|finding| !before.contains(finding)).collect();
        assert!(!right.is_empty(), "{file}: {found:#?}");
        assert!(right.iter().all(|finding| finding.level() == level), "{file}: {found:#?}");
        assert_eq!(level == Level::Deny, !at_least(&found, Level::Deny).is_empty(), "{file}: {found:#?}");
        let lines = doctored_lines(&original, &text);
        let address = row[2].replace(
            "registry.terraform.io",
            match kind {
                "host-changed-hashes-kept" => "registry.opentofu.org",
                _ => "registry.terraform.io",
            },
        );
        let about = |finding: &&&Finding| finding.address.as_ref().is_none_or(|addr| addr.to_string() == address);
        assert!(right.iter().any(|finding| about(&finding)), "{file}: {address} {right:#?}");
        let lines = match kind {
            // What is not there has no line; the list that lacks it has one.
            "zh-removed-one" | "h1-removed" => {
                let block = block_lines(&text, &address);
                let list =
                    |line: &usize| text.lines().nth(line - 1).is_some_and(|it| it.trim_start().starts_with("hashes"));
                block.filter(list).collect()
            }
            // Nothing was rewritten but the head; it is the hashes that are wrong.
            "host-changed-hashes-kept" | "version-changed-hashes-kept" => block_lines(&text, &address).collect(),
            _ => lines,
        };
        let at = |finding: &&&Finding| finding.position.is_some_and(|position| lines.contains(&position.line));
        // Of two blocks that were swapped, the comparison may take one for the old text.
        let all = right.iter().all(|finding| at(&finding) || kind == "blocks-hashes-swapped");
        assert!(all && right.iter().any(|finding| at(&finding)), "{file}: {lines:?} {right:#?}");
    }
    assert_eq!(made, 40);
}

#[test]
fn wrong_files_of_the_public_are_explained_and_the_odd_one_is_not_accused() {
    let Some(folder) = folder() else { return };
    let releases = releases(&folder);
    let others: Vec<Arc<Release>> = releases.values().cloned().collect();
    for row in rows(&folder.join("poisoned/MANIFEST.tsv")).iter().filter(|row| row[0].starts_with("real/")) {
        let text = std::fs::read(folder.join("poisoned").join(&row[0])).unwrap();
        let (_, found) = verified(&text, Some(&releases), &others);
        let denied = at_least(&found, Level::Deny);
        if row[1] == "real-two-releases" {
            assert!(denied.is_empty(), "{}: {denied:#?}", row[0]);
            continue;
        }
        assert!(!denied.is_empty(), "{} ({}): {found:#?}", row[0], row[4]);
        // A whole foreign list is reported once; a duplicate block is reported as such.
        let wanted: &[Rule] = match row[4].contains("belong to registry") {
            _ if row[7].starts_with("rejects") => &[Rule::DuplicateProvider],
            true => &[Rule::ContradictedHash],
            false => &[Rule::UnattestedHash, Rule::Republished, Rule::ContradictedHash],
        };
        assert!(denied.iter().any(|finding| wanted.contains(&finding.rule)), "{} ({}): {denied:#?}", row[0], row[4]);
    }
}

#[test]
fn files_that_the_tools_accept_have_no_findings_offline() {
    let Some(folder) = folder() else { return };
    let mut nothing_pinned = BTreeSet::new();
    let mut files = 0;
    for row in rows(&folder.join("locks/INDEX.tsv")) {
        if row[8] != "accepts" {
            continue;
        }
        files += 1;
        let text = std::fs::read(folder.join("locks").join(&row[0])).unwrap();
        let (_, found) = verified(&text, None, &[]);
        for finding in at_least(&found, Level::Deny) {
            assert_eq!(finding.rule, Rule::PinsNothing, "{}: {finding:#?}", row[0]);
            nothing_pinned.insert(row[0].clone());
        }
    }
    assert_eq!(files, 573);
    // They have blocks without hashes or with hashes of unknown schemes only.
    assert_eq!(nothing_pinned.len(), 11, "{nothing_pinned:#?}");
}

#[test]
fn no_hash_that_others_recorded_too_is_called_unattested() {
    let Some(folder) = folder() else { return };
    let releases = releases(&folder);
    let known_wrong: BTreeSet<(String, String)> = [("contradictions.tsv", 0, 1), ("poisoned/MANIFEST.tsv", 2, 3)]
        .into_iter()
        .flat_map(|(table, provider, version)| {
            let rows = rows(&folder.join(table)).into_iter().filter(|row| !row[0].starts_with("made/"));
            rows.map(move |row| (row[provider].clone(), row[version].clone())).collect::<Vec<_>>()
        })
        .collect();
    let (mut proven, mut accused) = (0, 0);
    for row in rows(&folder.join("locks/INDEX.tsv")).iter().filter(|row| row[8] == "accepts") {
        let text = std::fs::read(folder.join("locks").join(&row[0])).unwrap();
        let lock = decode(&text, Dialect::Terraform).unwrap().lock;
        let (verified, found) = verified(&text, Some(&releases), &[]);
        proven += verified.proven;
        let denied = at_least(&found, Level::Deny);
        let wrong = [Rule::UnattestedHash, Rule::ContradictedHash, Rule::Republished];
        for finding in denied.into_iter().filter(|finding| wrong.contains(&finding.rule)) {
            accused += 1;
            let addr = finding.address.as_ref().unwrap();
            let entry = (addr.to_string(), lock.get(addr).unwrap().version.to_string());
            assert!(known_wrong.contains(&entry), "{}: {finding:#?}", row[0]);
        }
    }
    assert!(proven > 20_000 && accused > 0, "{proven} {accused}");
}
