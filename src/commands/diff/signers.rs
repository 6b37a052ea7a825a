//! The signers of changed releases, how the trust files of both sides judge them, and other facts about releases and archives,
//! from the cache or from registries.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::addr::{AddrPattern, ProviderAddr};
use crate::commands::shared::trust_store::decode;
use crate::diff::{Change, Packages, Standing};
use crate::disk::cache::Cache;
use crate::disk::root_files;
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::LockFile;
use crate::path::worktree::WorkTree;
use crate::provenance::{BuiltBy, Judged, Question, judge as judge_archives};
use crate::query::cached::{self, Check};
use crate::query::select::ProvenanceRule;
use crate::release::continuity::ExpiryRules;
use crate::release::{Lookup, Release, ReleaseKey, Releases};
use crate::settings::SignatureRule;
use crate::trust::pins::{FILE_NAME as TRUST_FILE, Pins, Signer};
use crate::trust::signer::{SignerVerdict, judge};
use crate::trust::signer::{by_signer, not_pinned, refused, signed_by};
use crate::words::counted;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    pub old: Option<Pins>,
    pub new: Option<Pins>,
}

impl Trust {
    /// Where the releases of a provider are to be built: a change of the trust file is no reason to build elsewhere.
    fn built_by(&self, addr: &ProviderAddr) -> Option<&Arc<BuiltBy>> {
        [&self.old, &self.new].into_iter().flatten().find_map(|pins| pins.pin(addr)?.1.built_by.as_ref())
    }

    /// Whether it is asked where a release was built.
    pub(crate) fn provenance(&self, addr: &ProviderAddr) -> ProvenanceRule {
        self.built_by(addr).cloned().map_or(ProvenanceRule::NotAsked, ProvenanceRule::Pinned)
    }

    /// A release of a provider whose place is pinned, with what earlier runs kept of where it was built.
    fn attested(&self, addr: &ProviderAddr, knowledge: Lookup, cache: &Cache) -> Lookup {
        match knowledge {
            Lookup::Known(release) if release.attested.is_none() && self.built_by(addr).is_some() => {
                let attested = Some(Arc::new(cached::attested(cache, &release)));
                Lookup::Known(Arc::new(Release { attested, ..Arc::unwrap_or_clone(release) }))
            }
            knowledge => knowledge,
        }
    }

    /// Whether a release was built where its provider's releases are built, as far as that is known.
    pub(crate) fn judge_build(&self, release: &Release) -> Judged {
        let Release { address: addr, version, attested, .. } = release;
        let Some((pin, attested)) = self.built_by(addr).zip(attested.as_deref()) else { return Judged::default() };
        // What no earlier run kept was not asked about.
        if !release.current && attested.attestations.is_empty() {
            return Judged::default();
        }
        let archives = release.named_archives();
        judge_archives(&Question { addr, version, archives: &archives, pin }, attested)
    }
}

/// Records the signer of a changed release and the judgement of the trust files. The new trust file decides; the old
/// one only affects the wording, since the author of the change may have edited the trust file too. `signer_before` signed the
/// old release, if that is known.
pub(crate) fn sign(
    change: &mut Change,
    signer: &Signer,
    signer_before: Option<&Signer>,
    trust: &Trust,
) -> Option<Finding> {
    let version = &change.new.as_ref()?.version;
    let is_new = change.old.as_ref().is_none_or(|old| old.version != *version) || change.moved_from.is_some();
    let verdict = |pins: &Option<Pins>| Some(judge(pins.as_ref()?, &change.address, version, signer));
    let (old, new) = (verdict(&trust.old), verdict(&trust.new));
    let (standing, finding) = match (new.or(old.clone()), old) {
        (None, _) => (Standing::FirstUse, None),
        (Some(SignerVerdict::Known(_)), None | Some(SignerVerdict::FirstUse)) => (Standing::PinnedHere, None),
        (Some(SignerVerdict::Known(_)), Some(SignerVerdict::Known(_))) => (Standing::Pinned, None),
        (Some(SignerVerdict::Known(_)), Some(before)) => {
            let finding = refused(&change.address, version, signer, before);
            let accepted = finding.map(|finding| {
                let accepted = finding.at_level(Level::Warn).remarked("the change of the trust file accepts it");
                accepted.remedied_by(confirm(signer))
            });
            (Standing::Rotated, accepted)
        }
        (Some(SignerVerdict::FirstUse), Some(before)) if !matches!(before, SignerVerdict::FirstUse) => {
            let message =
                format!("{}; the trust file remembered a signer before this change", unknown(change, signer)?);
            let finding = Finding::new(Rule::SignerNotPinned, message).about(&change.address);
            (Standing::Refused, Some(by_signer(finding, signer)))
        }
        (Some(SignerVerdict::FirstUse), _) => {
            let finding = not_pinned(&change.address, version, signer);
            (Standing::FirstUse, is_new.then_some(finding.at_level(Level::Warn)))
        }
        (Some(verdict), _) => (Standing::Refused, refused(&change.address, version, signer, verdict)),
    };
    change.standing = standing;
    change.signer = Some(signer.clone());
    let before = change.moved_from.as_ref().unwrap_or(&change.address);
    let remembered = trust.old.as_ref().and_then(|pins| pins.pin(before));
    change.signers_before = match remembered {
        Some((_, pin)) => pin.signers.clone(),
        None => signer_before.cloned().into_iter().collect(),
    };
    finding
}

/// The next step if the change replaces the remembered signer.
fn confirm(signer: &Signer) -> &'static str {
    match signer {
        Signer::Key(_) => {
            "Compare the fingerprint with what the publisher announces before the change of the trust file is approved."
        }
        Signer::Unsigned => "Ask the publisher why before the change of the trust file is approved.",
    }
}

fn unknown(change: &Change, signer: &Signer) -> Option<String> {
    let version = &change.new.as_ref()?.version;
    Some(format!("{} {version} is {}, and its signer is no longer remembered", change.address, signed_by(signer)))
}

/// Combines the answers of registries in this run with the cache. A kept signature is verified again; its signer is
/// shown, but not trusted, since the run that stored it may have been given any key.
pub(crate) fn packages(
    changes: &[Change],
    trust: &Trust,
    releases: &Releases,
    (cache, now): (&Cache, SystemTime),
) -> Packages {
    let mut known = Packages::default();
    for change in changes.iter().filter(|change| is_judged(change)) {
        let Some(entry) = change.new.as_ref().or(change.old.as_ref()) else {
            continue;
        };
        let key = (change.address.clone(), entry.version.clone());
        let knowledge = trust.attested(&key.0, knowledge(&key, releases, cache, now), cache);
        // Without either, the contents of an archive prove nothing about this release.
        let lists_archives = knowledge.release().is_some_and(|release| release.archives().next().is_some());
        let counts = is_same_version(change) || lists_archives;
        let entries = [&change.old, &change.new].into_iter().flatten().filter(|_| counts);
        let archives: BTreeSet<&PackageHash> = entries.flat_map(|entry| entry.hashes.of(HashScheme::Zh)).collect();
        for zh in archives {
            if let Some((h1, _)) = zh.zh_digest().and_then(|digest| cache.h1_of(&digest)) {
                known.archives.computed(zh.clone(), h1);
            }
        }
        known.releases.insert(key, knowledge);
        // Which platforms the old version covered is a question of contents that earlier runs have seen.
        if let Some(old) = change.old.as_ref().filter(|_| !is_same_version(change) || change.moved_from.is_some()) {
            let key = (change.moved_from.as_ref().unwrap_or(&change.address).clone(), old.version.clone());
            let before = trust.attested(&key.0, self::knowledge(&key, releases, cache, now), cache);
            known.releases.insert(key, before);
        }
    }
    known
}

/// The entries to look up in registries: releases with their added or removed hashes, and for another version also the kept ones.
pub(crate) fn questions(changes: &[Change]) -> LockFile {
    let mut questions = LockFile::new();
    for change in changes.iter().filter(|change| is_judged(change)) {
        let Some(new) = &change.new else { continue };
        let mut entry = new.clone();
        if is_same_version(change) {
            let added = change.hashes_added.iter().map(|it| &it.hash);
            entry.hashes = added.chain(&change.hashes_removed).cloned().collect();
        }
        questions.insert(change.address.clone(), entry);
    }
    questions
}

fn is_judged(change: &Change) -> bool {
    let is_any_kept = || change.new.as_ref().is_some_and(|new| new.hashes.len() > change.hashes_added.len());
    let has_others = if is_same_version(change) { !change.hashes_removed.is_empty() } else { is_any_kept() };
    !change.hashes_added.is_empty() || has_others
}

fn is_same_version(change: &Change) -> bool {
    change.old.as_ref().zip(change.new.as_ref()).is_some_and(|(old, new)| old.version == new.version)
}

/// The answer of the registry about a release; without an answer, the facts of earlier runs and the reason.
fn knowledge(key: &ReleaseKey, releases: &Releases, cache: &Cache, now: SystemTime) -> Lookup {
    let check = Check { signature: SignatureRule::IfKeysKnown, expiry: ExpiryRules::default(), now };
    let before = || cached::release(cache, &key.0, &key.1, check);
    match releases.get(key) {
        None => before(),
        Some(Lookup::Inconclusive(error)) => cached::in_place_of(error, before()),
        Some(knowledge) => knowledge.clone(),
    }
}

/// The text of a trust file; `None` if there is no file.
pub(super) type TrustText = Option<Vec<u8>>;

/// The texts of both sides, or why they cannot be read.
pub(super) type TrustTexts = [Result<TrustText, Error>; 2];

/// The trust file that the user named, or else the one that applies to a directory.
pub(super) fn trust_text(directory: &Path, named: Option<&Path>) -> Result<TrustText, Error> {
    let path = match named {
        Some(named) => named.to_owned(),
        None => root_files::locate_trust_file(&WorkTree::of(directory))?,
    };
    Ok(root_files::read_trust_file(&path, &path)?.map(String::into_bytes))
}

/// The remembered signers of both sides. A file that cannot be read counts as empty and gives a note.
pub(super) fn trust_sides(texts: TrustTexts) -> (Trust, Vec<String>) {
    let mut notes = Vec::new();
    let [old, new] = texts.map(|text| {
        text.and_then(|text| text.map(|text| pins(&text)).transpose()).unwrap_or_else(|error| {
            notes.push(format!("signers are not compared with a trust file: {error}"));
            None
        })
    });
    notes.dedup();
    notes.extend(changed(old.as_ref(), new.as_ref()).filter(|_| notes.is_empty()));
    (Trust { old, new }, notes)
}

/// One line about other changes to the trust file in the same change.
fn changed(old: Option<&Pins>, new: Option<&Pins>) -> Option<String> {
    let nobody = Pins::default();
    if let (Some(_), None) = (old, new) {
        return Some(format!("{TRUST_FILE} was removed by this change: no signer is remembered after it"));
    }
    let (old, new) = (old.unwrap_or(&nobody), new.unwrap_or(&nobody));
    let patterns: BTreeSet<&AddrPattern> = old.providers.keys().chain(new.providers.keys()).collect();
    let other = patterns.into_iter().filter(|pattern| old.providers.get(pattern) != new.providers.get(pattern));
    let other: Vec<&AddrPattern> = other.collect();
    let mut parts: Vec<String> = match &other[..] {
        [] => Vec::new(),
        [one] => vec![format!("signers of {one}")],
        several => vec![format!("signers of {}", counted(several.len(), "provider"))],
    };
    if old.denied != new.denied {
        parts.push("denied signers".to_owned());
    }
    if old.republished != new.republished {
        parts.push("accepted republications".to_owned());
    }
    (!parts.is_empty()).then(|| format!("{TRUST_FILE} changes too, review it: {}", parts.join(", ")))
}

fn pins(text: &[u8]) -> Result<Pins, Error> {
    Ok(decode(&String::from_utf8_lossy(text), Path::new(TRUST_FILE))?.pins)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::addr::ProviderAddr;
    use crate::dialect::Dialect;
    use crate::diff;
    use crate::lockfile::{LockEntry, LockFile};
    use crate::trust::pins::decode;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

    fn pins(text: &str) -> Pins {
        decode(text, Path::new("x")).unwrap().pins
    }

    fn pinned(signer: &str) -> Pins {
        pins(&format!("provider \"registry.terraform.io/acme/widget\" {{\n signers = [\"{signer}\"]\n}}\n"))
    }

    fn judged(old: Option<Pins>, new: Option<Pins>, signer: &str) -> (Standing, Option<(Rule, Level)>) {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let lock = |version: &str| {
            let entry = LockEntry {
                version: version.parse().unwrap(),
                constraints: "".parse().unwrap(),
                hashes: ["zh:a".parse().unwrap()].into_iter().collect(),
            };
            let mut lock = LockFile::new();
            lock.insert(addr.clone(), entry);
            lock
        };
        let mut change = diff::changes(&lock("1.0.0"), &lock("1.1.0")).remove(0);
        let finding = sign(&mut change, &signer.parse().unwrap(), None, &Trust { old, new });
        (change.standing, finding.map(|finding| (finding.rule, finding.level())))
    }

    #[test]
    fn the_new_trust_file_decides_and_the_old_one_is_reported() {
        let empty = || Some(pins(""));
        let refused = |rule| (Standing::Refused, Some((rule, Level::Deny)));
        assert_eq!(judged(None, None, A), (Standing::FirstUse, None));
        assert_eq!(judged(Some(pinned(A)), Some(pinned(A)), A), (Standing::Pinned, None));
        assert_eq!(judged(None, Some(pinned(A)), A), (Standing::PinnedHere, None));
        assert_eq!(judged(empty(), Some(pinned(A)), A), (Standing::PinnedHere, None));
        let warned = |standing, rule| (standing, Some((rule, Level::Warn)));
        assert_eq!(judged(empty(), empty(), A), warned(Standing::FirstUse, Rule::SignerNotPinned));
        assert_eq!(judged(Some(pinned(B)), Some(pinned(A)), A), warned(Standing::Rotated, Rule::SignerChanged));
        assert_eq!(judged(Some(pinned(A)), Some(pinned(A)), B), refused(Rule::SignerChanged));
        assert_eq!(judged(Some(pinned(A)), Some(pinned(A)), "unsigned"), refused(Rule::UnsignedAfterSigned));
        // A trust file, or a pin, that goes away with the change frees no signer.
        assert_eq!(judged(Some(pinned(A)), None, B), refused(Rule::SignerChanged));
        assert_eq!(judged(Some(pinned(A)), empty(), B), refused(Rule::SignerNotPinned));
        let denied = pins(&format!("denied_signer \"{A}\" {{\n reason = \"revoked\"\n}}\n"));
        assert_eq!(judged(Some(pinned(A)), Some(denied), A), refused(Rule::SignerDenied));
    }
}

#[cfg(test)]
mod tests_of_trust {
    use super::*;

    #[test]
    fn a_change_of_the_trust_file_is_reported() {
        let key = "A".repeat(40);
        let pin = format!("provider \"registry.terraform.io/acme/widget\" {{\n signers = [\"{key}\"]\n}}\n");
        let denied = format!("denied_signer \"{key}\" {{\n reason = \"lost\"\n}}\n");
        let parts = |old: Option<&str>, new: Option<&str>| {
            trust_sides([old, new].map(|text| Ok(text.map(|text| text.as_bytes().to_vec())))).1.join("; ")
        };
        assert_eq!(parts(None, None), "");
        assert_eq!(parts(Some(&pin), Some(&format!("# a comment\n{pin}"))), "");
        let wanted = ".tflock.trust.hcl changes too, review it: signers of registry.terraform.io/acme/widget";
        assert_eq!(parts(None, Some(&pin)), wanted);
        assert_eq!(parts(Some(&pin), Some("")), wanted);
        assert!(parts(Some(""), Some(&denied)).ends_with(": denied signers"));
        assert!(parts(Some(&pin), None).contains("was removed by this change"));
        assert!(parts(Some(&pin), Some("nonsense {")).starts_with("signers are not compared"));
    }
}
