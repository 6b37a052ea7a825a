//! A change in a few words.

use std::collections::BTreeSet;

use super::Distance;
use super::{
    SignerObjection, distance, keeps_hashes_of_other_version, loses_all_hashes, objection, pins_nothing, verdict,
};
use crate::dialect::Dialect;
use crate::diff::{Change, ChangeKind, Formatting, Standing, TextChange};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::detect_header;
use crate::platform::Platform;
use crate::trust::Verdict;
use crate::trust::pins::Signer;
use crate::version::Constraints;

/// What happened to an entry, in a few words each; the worst first.
pub fn headline(change: &Change) -> Vec<String> {
    let replaced = change.kind == ChangeKind::HashesReplaced;
    let known = known(change);
    let alarming = known.iter().any(|verdict| verdict.is_alarming());
    let empty = pins_nothing(change).then(|| "no usable checksum is recorded".to_owned());
    let mut parts: Vec<(bool, String)> = vec![(replaced, what(change))];
    if let Some(novelty) = change.novelty.as_deref() {
        if let Some(other) = &novelty.mistaken_for {
            // That its checksums are right would reassure wrongly.
            return vec![format!("SIMILAR NAME: easily mistaken for {other}"), what(change)];
        }
        parts.extend(novelty.namesake.map(|other| (false, format!("not the well-known {other}"))));
        let is_new = "new to this repository, and no signer of it was trusted before";
        parts.extend(novelty.signer_is_new.then(|| (false, is_new.to_owned())));
    }
    if let Some(old) = change.old.as_ref().filter(|_| keeps_hashes_of_other_version(change)) {
        parts.push((true, format!("CHECKSUMS UNCHANGED: they are those of {}", old.version)));
    }
    parts.extend(signer(change).map(|text| (objection(change).is_some(), text)));
    parts.extend(verdicts(change, &known).map(|text| (alarming, text)));
    parts.extend(coverage(change).map(|text| (false, text)));
    parts.extend(empty.map(|text| (loses_all_hashes(change), text)));
    parts.extend(constraints(change).map(|text| (false, text)));
    parts.retain(|(_, part)| !part.is_empty());
    parts.sort_by_key(|(is_bad, _)| !is_bad);
    parts.into_iter().map(|(_, part)| part).collect()
}

/// What is known of the new hashes, each looked up once.
fn known(change: &Change) -> Vec<Verdict> {
    if change.judged.is_empty() {
        return Vec::new();
    }
    change.hashes_added.iter().filter_map(|added| verdict(change, &added.hash)).collect()
}

fn what(change: &Change) -> String {
    let moved = |word: &str| match distance(change) {
        Some(distance) => format!("{word}{}", how_far(distance)),
        None => word.to_owned(),
    };
    match change.kind {
        ChangeKind::Added => "added".to_owned(),
        ChangeKind::Removed => "removed".to_owned(),
        ChangeKind::Upgraded => moved("upgraded"),
        ChangeKind::Downgraded => moved("downgraded"),
        ChangeKind::ConstraintsChanged => String::new(),
        ChangeKind::HashesChanged if change.hashes_removed.is_empty() => {
            let platforms = change.hashes_added.iter().flat_map(|added| &added.platforms);
            counted(change.hashes_added.iter().map(|added| &added.hash), "added") + &named(platforms)
        }
        ChangeKind::HashesChanged => {
            let judged = change.hashes_removed.iter().filter_map(|hash| change.judged.get(hash));
            counted(&change.hashes_removed, "removed") + &named(judged.flat_map(|judged| &judged.platforms))
        }
        ChangeKind::HashesReplaced => {
            let [came, went] = [change.hashes_added.len(), change.hashes_removed.len()];
            format!(
                "CHECKSUMS REPLACED under the same version: {went} removed, {came} added, {} unchanged",
                kept(change)
            )
        }
        ChangeKind::Moved => {
            let from = change.moved_from.as_ref().map(ToString::to_string).unwrap_or_default();
            moved(&format!("moved from {from}"))
        }
    }
}

fn signer(change: &Change) -> Option<String> {
    let text = match (objection(change), change.signer.as_ref()?, change.standing) {
        (Some(SignerObjection::Refused), Signer::Key(_), _) => "SIGNER REFUSED",
        (Some(SignerObjection::Refused), Signer::Unsigned, _) => "NOT SIGNED any more",
        (Some(SignerObjection::Publisher(publisher)), Signer::Key(_), _) => {
            return Some(format!("NO KNOWN KEY of {publisher}"));
        }
        (Some(SignerObjection::Publisher(publisher)), Signer::Unsigned, _) => {
            return Some(format!("NOT SIGNED, though {publisher} signs its releases"));
        }
        (Some(SignerObjection::Replaced | SignerObjection::Moved), ..) => "ANOTHER SIGNER than before",
        (None, Signer::Unsigned, Standing::FirstUse | Standing::PinnedHere) => "not signed",
        (None, ..) => return None,
    };
    Some(text.to_owned())
}

/// A verdict on a hash of a change, in words that say no more than what is known of its release.
pub fn verdict_words(verdict: Verdict, change: &Change) -> &'static str {
    let stays = change.old.as_ref().zip(change.new.as_ref()).is_some_and(|(old, new)| old.version == new.version);
    match (verdict, &change.signer) {
        (Verdict::SameSignedArchive, Some(Signer::Unsigned)) => "archive of the release, which is not signed",
        (Verdict::SameSignedArchive, Some(Signer::Key(_))) if !stays => "signed archive",
        (Verdict::SameSignedArchive, None) => "archive of the release",
        _ => verdict.words(),
    }
}

fn how_far(distance: Distance) -> String {
    match distance {
        Distance::Tag => ", same numbers".to_owned(),
        other => format!(", {}", other.as_str()),
    }
}

/// `3 checksums of archives (zh)`, or all kinds behind the sum of them.
fn counted<'a>(hashes: impl IntoIterator<Item = &'a PackageHash>, what: &str) -> String {
    let mut counts = [0; 3];
    for hash in hashes {
        counts[hash.scheme() as usize] += 1;
    }
    let text = [
        (counts[HashScheme::H1 as usize], "of contents (h1)"),
        (counts[HashScheme::Zh as usize], "of archives (zh)"),
        (counts[HashScheme::Other as usize], "of unknown kind"),
    ];
    let text: Vec<(usize, &str)> = text.into_iter().filter(|(count, _)| *count > 0).collect();
    let all: usize = counts.iter().sum();
    let word = if all == 1 { "checksum" } else { "checksums" };
    if let [(_, kind)] = text[..] {
        return format!("{all} {word} {kind} {what}");
    }
    let kinds: Vec<String> = text.iter().map(|(count, kind)| format!("{count} {kind}")).collect();
    format!("{all} {word} {what}: {}", kinds.join(", "))
}

/// ` (darwin_arm64, linux_amd64)`; empty without platforms.
fn named<'a>(platforms: impl Iterator<Item = &'a Platform>) -> String {
    let platforms: BTreeSet<&str> = platforms.map(Platform::as_str).collect();
    let names: Vec<&str> = platforms.into_iter().collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

pub(super) fn kept(change: &Change) -> usize {
    change.new.as_ref().map_or(0, |new| new.hashes.len().saturating_sub(change.hashes_added.len()))
}

/// What is known of the new hashes, if it is alarming, or worth a word.
fn verdicts(change: &Change, known: &[Verdict]) -> Option<String> {
    if change.kind == ChangeKind::Removed || change.hashes_added.is_empty() || change.judged.is_empty() {
        return None;
    }
    let count = |wanted| known.iter().filter(|verdict| **verdict == wanted).count();
    let all = change.hashes_added.len();
    let of = |count: usize| if count == all { "all".to_owned() } else { count.to_string() };
    let text = [
        (Verdict::Contradicts, "contradict the record"),
        (Verdict::Unattested, "attested by no source"),
        (Verdict::ReportedByOrigin, "reported by the registry only, unsigned"),
        (Verdict::UnknownOffline, "not checked"),
    ];
    let counted = text.into_iter().map(|(verdict, words)| (count(verdict), words)).filter(|(count, _)| *count > 0);
    // At the beginning of a line it must be said what is counted.
    let alone = known.iter().any(|verdict| verdict.is_alarming()) && change.kind != ChangeKind::HashesReplaced;
    let text: Vec<String> = counted
        .enumerate()
        .map(|(at, (count, words))| match (at, count) {
            (0, 1) if alone && all > 1 => format!("1 new checksum {words}"),
            (0, _) if alone => format!("{} new checksums {words}", of(count)),
            _ => format!("{} {words}", of(count)),
        })
        .collect();
    match text.is_empty() {
        // An unproven statement does not count.
        true if objection(change).is_some() => None,
        true => Some("checksums verified".to_owned()),
        // That nothing was requested is not repeated for each line, unless the line is dangerous.
        false if count(Verdict::UnknownOffline) == all && change.kind != ChangeKind::HashesReplaced => None,
        false => Some(text.join(", ")),
    }
}

/// A release that covers fewer packages than the one before, by the number of `h1:`.
///
/// That number is a sign only: `h1:` of several platforms may be equal, and a mirror needs none.
pub fn coverage(change: &Change) -> Option<String> {
    let (old, new) = change.old.as_ref().zip(change.new.as_ref())?;
    let [old, new] = [old, new].map(|entry| entry.hashes.of(HashScheme::H1).count());
    let other_version = matches!(change.kind, ChangeKind::Upgraded | ChangeKind::Downgraded | ChangeKind::Moved);
    (other_version && new < old).then(|| {
        let uncovered = change.uncovered.iter().map(Platform::as_str).collect::<Vec<_>>().join(", ");
        let none = if uncovered.is_empty() { uncovered } else { format!(", none for {uncovered}") };
        format!("checksums of contents (h1) {old} -> {new}{none}")
    })
}

/// How the recorded constraints changed: `constraints ~> 1.0 -> ~> 2.0`.
pub fn constraints(change: &Change) -> Option<String> {
    let (old, new) = change.old.as_ref().zip(change.new.as_ref())?;
    let changed = old.constraints != new.constraints;
    changed.then(|| format!("constraints {} -> {}", shown(&old.constraints), shown(&new.constraints)))
}

fn shown(constraints: &Constraints) -> String {
    if constraints.is_empty() { "none".to_owned() } else { constraints.to_string() }
}

/// Compares two texts. `entries_equal` says that they have the same entries, `refused` that the tools refuse one of them: then
/// whether the entries are equal is unknown.
pub fn text_change(old: &[u8], new: &[u8], entries_equal: bool, refused: bool) -> TextChange {
    let headers = [old, new].map(detect_header);
    // A file that is not there yet, or no more, has no header that could change.
    let [is, was] = [new, old].map(|text| !text.trim_ascii().is_empty());
    let header = (headers[0] != headers[1] && is && was).then_some(headers);
    let differs = || behind_header(old, headers[0]) != behind_header(new, headers[1]);
    let formatting = match refused {
        true if old != new => Formatting::Unknown,
        false if entries_equal && differs() => Formatting::Changed,
        _ => Formatting::Same,
    };
    TextChange { header, removed: was && !is, formatting, not_literal: false }
}

/// The text without the lines before the first blank one, if those are a tool's header.
fn behind_header(text: &[u8], header: Option<Dialect>) -> &[u8] {
    let Some(header) = header else { return text };
    let first = format!("\"{} init\"", header.program());
    let mut rest = text;
    let mut seen = false;
    loop {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let line = rest[..end].trim_ascii();
        let is_comment = line.starts_with(b"#") || line.starts_with(b"//");
        if !is_comment || line.is_empty() {
            return if seen { rest } else { text };
        }
        seen |= memchr::memmem::find(line, first.as_bytes()).is_some();
        rest = &rest[end..];
    }
}

#[cfg(test)]
mod text_tests {
    use super::*;

    const TERRAFORM: &str = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";
    const TOFU: &str =
        "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n";

    #[test]
    fn header_and_formatting_are_distinguished() {
        let change = |old: &str, new: &str| text_change(old.as_bytes(), new.as_bytes(), true, false);
        let [terraform, tofu] = [TERRAFORM, TOFU].map(|header| format!("{header}\nprovider \"a\" {{\n}}\n"));
        let headers = Some([Some(Dialect::Terraform), Some(Dialect::OpenTofu)]);
        assert_eq!(change(&terraform, &terraform), TextChange::default());
        assert_eq!(change(&terraform, &tofu), TextChange { header: headers, ..TextChange::default() });
        assert_eq!(
            change(&terraform, &tofu.replace("{\n", "{")),
            TextChange { header: headers, formatting: Formatting::Changed, ..TextChange::default() }
        );
        assert_eq!(
            change(&tofu, &tofu.replace('\n', "\r\n")),
            TextChange { formatting: Formatting::Changed, ..TextChange::default() }
        );
        let bare = "\nprovider \"a\" {\n}\n";
        assert_eq!(
            change(bare, &tofu),
            TextChange { header: Some([None, Some(Dialect::OpenTofu)]), ..TextChange::default() }
        );
        assert_eq!(change("", &tofu).header, None);
        assert_eq!(
            change(&tofu, "\n"),
            TextChange { removed: true, formatting: Formatting::Changed, ..TextChange::default() }
        );
        assert!(!change("", "").removed && !change("", &tofu).removed);
        // Of a text that is refused, equal entries say nothing.
        let refused = |old: &str, new: &str| text_change(old.as_bytes(), new.as_bytes(), true, true);
        assert_eq!(
            refused(bare, "\n"),
            TextChange { formatting: Formatting::Unknown, removed: true, ..TextChange::default() }
        );
        assert_eq!(
            refused(&tofu, &(tofu.clone() + "\n")),
            TextChange { formatting: Formatting::Unknown, ..TextChange::default() }
        );
        assert_eq!(refused(&tofu, &tofu), TextChange::default());
    }
}
