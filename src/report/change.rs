//! What a change of a provider looks like in every format: its sign, its versions, what is known of its release, and its
//! checksums.

use std::collections::BTreeSet;

use crate::diff::{Change, ChangeKind, Risk, SigningDate, Standing};
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::report::style::{Detail, Paint, Style};
use crate::trust::pins::Signer;
use crate::trust::publishers::{Publisher, publisher};
use crate::trust::signer::signed_by;
use crate::trust::{Evidence, Verdict};
use crate::words::counted;

/// The sign and the colour of a change; its risk matters where it is reviewed, not where the command itself makes it.
pub(super) fn sign(kind: ChangeKind, risk: Option<Risk>) -> (char, Paint) {
    match (kind, risk) {
        (_, Some(Risk::Dangerous)) | (ChangeKind::HashesReplaced, None) => ('!', Paint::Bad),
        (ChangeKind::Added, Some(Risk::Notable)) => ('+', Paint::Careful),
        (ChangeKind::Added, _) => ('+', Paint::Good),
        (ChangeKind::Removed, _) => ('-', Paint::Bad),
        (ChangeKind::Downgraded, None) => ('~', Paint::Bad),
        (_, Some(Risk::Routine)) => ('~', Paint::Aside),
        _ => ('~', Paint::Careful),
    }
}

pub(super) fn versions(change: &Change) -> String {
    let [old, new] = [&change.old, &change.new].map(|entry| entry.as_ref().map(|entry| entry.version.to_string()));
    match (old, new) {
        (Some(old), Some(new)) if old != new => format!("{old} -> {new}"),
        (_, Some(version)) | (Some(version), None) => version,
        (None, None) => String::new(),
    }
}

/// A checksum that a change adds or removes, with what is known of it.
pub(super) struct ChangedHash<'a> {
    pub(super) is_added: bool,
    pub(super) hash: &'a PackageHash,
    /// Empty if they are not known.
    pub(super) platforms: Vec<&'a str>,
    pub(super) evidence: &'a [Evidence],
    /// `None` if it was not judged.
    pub(super) verdict: Option<Verdict>,
}

impl ChangedHash<'_> {
    /// `+ h1:… linux_amd64 darwin_arm64`.
    pub(super) fn line(&self) -> String {
        let sign = if self.is_added { '+' } else { '-' };
        let words: Vec<&str> = [self.hash.as_str()].into_iter().chain(self.platforms.iter().copied()).collect();
        format!("{sign} {}", words.join(" "))
    }
}

/// The checksums that a change adds, then those that it removes.
pub(super) fn checksums(change: &Change) -> Vec<ChangedHash<'_>> {
    let judged = |hash: &PackageHash| change.judged.get(hash);
    let added = change.hashes_added.iter().map(|added| ChangedHash {
        is_added: true,
        hash: &added.hash,
        platforms: names(&added.platforms),
        evidence: &added.evidence,
        verdict: judged(&added.hash).map(|judged| judged.verdict),
    });
    let removed = change.hashes_removed.iter().map(|hash| ChangedHash {
        is_added: false,
        hash,
        platforms: judged(hash).map(|judged| names(&judged.platforms)).unwrap_or_default(),
        evidence: &[],
        verdict: judged(hash).map(|judged| judged.verdict),
    });
    added.chain(removed).collect()
}

fn names(platforms: &BTreeSet<Platform>) -> Vec<&str> {
    platforms.iter().map(Platform::as_str).collect()
}

/// What a reviewer wants to know of the release, each fact with the label of its line on a terminal: its signer, its age, where it
/// was built. What the registry warns of has no line there, so no label.
pub(super) fn release_facts(change: &Change, style: Style) -> Vec<(&'static str, String)> {
    let facts = [("by:  ", signed_in_short(change, style)), ("age: ", age(change)), ("from:", built(change))];
    let facts = facts.into_iter().filter_map(|(label, words)| Some((label, words?)));
    let warnings = change.registry_warnings.iter();
    let warnings = warnings.map(|text| ("", format!("the registry warns: {}", text.trim_end_matches('.'))));
    facts.chain(warnings).collect()
}

/// The publisher whose well-known key signed the release.
fn known_publisher(change: &Change) -> Option<&'static Publisher> {
    let key = change.signer.as_ref()?.key()?;
    publisher(&change.address).filter(|it| it.has(key))
}

/// The same as [`signed`] with names in place of fingerprints, where a reader need not compare a whole one: `signed by HashiCorp,
/// well-known key 34365D9472D7468F (first use)`, `signed by the remembered key 34365D9472D7468F`.
pub(super) fn signed_by_name(change: &Change, style: Style) -> Option<String> {
    let Some(key) = change.signer.as_ref().and_then(Signer::key).filter(|_| style.detail < Detail::Verbose) else {
        return signed(change);
    };
    let identical = if change.identical { "identical archives" } else { "" };
    match (known_publisher(change), change.standing) {
        (_, Standing::Refused | Standing::Rotated | Standing::PinnedHere) | (None, Standing::FirstUse) => {
            signed(change)
        }
        (Some(publisher), standing) => {
            let use_of_it = if standing == Standing::FirstUse { "first use" } else { "remembered" };
            let facts = [identical, use_of_it].into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>();
            let facts = facts.join(", ") + &witnessed(change);
            Some(format!("signed by {}, well-known key {} ({facts})", publisher.name, key.short()))
        }
        (None, Standing::Pinned) => {
            let identical = if change.identical { format!(" ({identical})") } else { String::new() };
            Some(format!("signed by the remembered key {}{identical}", key.short()))
        }
    }
}

/// `signed by KEY (pinned)`, `signed by KEY (identical archives, first use)`; `None` if the signer is unknown.
pub(super) fn signed(change: &Change) -> Option<String> {
    let standing = match change.standing {
        Standing::FirstUse => "first use",
        Standing::Pinned => "pinned",
        Standing::PinnedHere => "pinned by this change",
        Standing::Rotated => "pinned by this change in place of another signer",
        Standing::Refused => "refused",
    };
    let by = signed_by(change.signer.as_ref()?);
    let identity = change.identity.as_ref().map(|identity| format!(", which {identity}")).unwrap_or_default();
    let known = known_publisher(change).map(|it| format!("well-known key of {}, ", it.name)).unwrap_or_default();
    let identical = if change.identical { "identical archives, " } else { "" };
    let same = witnessed(change);
    Some(format!("{by}{identity} ({known}{identical}{standing}{same})"))
}

/// `; the same 12 archives at registry.opentofu.org`, where a release is used for the first time.
fn witnessed(change: &Change) -> String {
    if !matches!(change.standing, Standing::FirstUse | Standing::PinnedHere) {
        return String::new();
    }
    let places = change.witnesses.iter().map(|(place, count)| format!("; {} at {place}", same_archives(*count)));
    places.collect()
}

/// `the same 12 archives`.
pub(super) fn same_archives(count: usize) -> String {
    format!("the same {}", counted(count, "archive"))
}

/// The same with the first 16 digits in place of a fingerprint, and with -v in full.
pub(super) fn signed_in_short(change: &Change, style: Style) -> Option<String> {
    let signed = signed_by_name(change, style)?;
    let key = change.signer.as_ref().and_then(Signer::key).filter(|_| style.detail < Detail::Verbose);
    Some(key.map_or_else(|| signed.clone(), |key| signed.replace(key.as_str(), key.short())))
}

/// Where the release was built: `built from v1.2.3, commit 0123456789ab`.
fn built(change: &Change) -> Option<String> {
    let build = &change.build.as_ref()?.new;
    let source = build.tag().unwrap_or(&build.git_ref);
    Some(format!("built from {source}, commit {}", build.commit.get(..12).unwrap_or(&build.commit)))
}

/// The pages about that, each with its name: what was built since the release before, and the run.
pub(super) fn build_pages(change: &Change) -> Vec<(&'static str, String)> {
    let Some(build) = &change.build else { return Vec::new() };
    let source = build.comparison().unwrap_or_else(|| build.new.commit_url());
    [Some(("commits", source)), build.new.run.clone().map(|run| ("run", run))].into_iter().flatten().collect()
}

/// `2 days old (signed on 2026-01-01)`, or `signed today`.
fn age(change: &Change) -> Option<String> {
    let SigningDate { date, days } = change.signed?;
    Some(match days {
        0 => "signed today".to_owned(),
        1 => format!("1 day old (signed on {date})"),
        days => format!("{days} days old (signed on {date})"),
    })
}
