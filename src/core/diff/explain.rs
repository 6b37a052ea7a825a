//! A change in words: what happened, why it may have, and what follows from it.
//!
//! The words are for reviewers who never read about `zh:` and `h1:`. They are plain text; the caller that shows them escapes
//! what came from outside.

use super::Distance;
use super::headline::{coverage, kept};
use super::{
    SignerObjection, distance, is_unexplained_replacement, keeps_hashes_of_other_version, loses_all_hashes, objection,
    pins_nothing, verdict,
};
use crate::diff::{Change, ChangeKind, Formatting, OriginChange, Standing, TextChange};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::LockEntry;
use crate::trust::Verdict;
use crate::trust::pins::Signer;
use crate::trust::signer::{listed, signed_by};
use crate::words::shown;

/// What speaks against a change, why it happened and what follows, each in one or two sentences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Why it must not be merged unexplained, the worst first; empty for what is not dangerous.
    pub warning: String,
    /// How it comes about.
    pub cause: String,
    /// What it means for a user who runs `init` with the new file.
    pub consequence: String,
}

impl Explanation {
    /// All that there is to say, the worst first.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        [&self.warning, &self.cause, &self.consequence].into_iter().map(String::as_str).filter(|part| !part.is_empty())
    }

    /// The same as one text.
    pub fn text(&self) -> String {
        self.parts().collect::<Vec<_>>().join(" ")
    }
}

/// Why an entry changed, and what follows.
pub fn explain(change: &Change) -> Explanation {
    let (cause, mut consequence) = match change.kind {
        ChangeKind::Added => added(change),
        ChangeKind::Removed => removed(),
        ChangeKind::Upgraded => upgraded(change),
        ChangeKind::Downgraded => downgraded(),
        ChangeKind::ConstraintsChanged => constraints_changed(),
        ChangeKind::HashesChanged if change.hashes_removed.is_empty() => hashes_added(change),
        ChangeKind::HashesChanged => hashes_removed(change),
        ChangeKind::HashesReplaced => hashes_replaced(change),
        ChangeKind::Moved => moved(change),
    };
    let cause = if change.is_edited {
        "The entry was edited, by hand or by a program; the source did not republish the release.".to_owned()
    } else if let Some(signers) = signers(change) {
        // What numbers of versions promise is nothing without a signer.
        consequence.clear();
        signers
    } else {
        cause
    };
    for remark in remarks(change) {
        if !consequence.is_empty() {
            consequence.push(' ');
        }
        consequence.push_str(remark);
    }
    let callers = callers(&change.callers);
    let cause = match (callers.is_empty(), cause.is_empty()) {
        (true, _) => cause,
        (false, true) => format!("{}.", callers.join("; ")),
        (false, false) => format!("{}: {}.", cause.trim_end_matches('.'), callers.join("; ")),
    };
    Explanation { warning: warning(&against(change)), cause, consequence }
}

/// Who signed before and who signs now, where that speaks against a change of the release, and as far as it is known; `None` if it
/// does not speak against it.
fn signers(change: &Change) -> Option<String> {
    objection(change)?;
    let is_release =
        matches!(change.kind, ChangeKind::Added | ChangeKind::Upgraded | ChangeKind::Downgraded | ChangeKind::Moved);
    let now = change.signer.as_ref().filter(|_| is_release)?;
    let (now, before) = (signed_by(now), &change.signers_before);
    Some(match before.len() {
        0 => String::new(),
        1 if before.contains(&Signer::Unsigned) => {
            format!("So far the provider was known as unsigned; this release is {now}.")
        }
        _ => format!("The expected signature is by {}; this release is {now}.", listed(before)),
    })
}

fn warning(reasons: &[String]) -> String {
    if reasons.is_empty() {
        return String::new();
    }
    format!("Do not merge until this is explained: {}.", reasons.join("; "))
}

fn against(change: &Change) -> Vec<String> {
    let mut reasons = Vec::new();
    let any = |wanted| change.hashes_added.iter().any(|added| verdict(change, &added.hash) == Some(wanted));
    if any(Verdict::Contradicts) {
        reasons.push("a new checksum does not belong to the published release".to_owned());
    }
    if any(Verdict::Unattested) {
        reasons.push("no source that should know a new checksum knows it".to_owned());
    }
    let is_old = |hash: &PackageHash| change.old.as_ref().is_some_and(|old| old.hashes.contains(hash));
    let mut kept = change.new.iter().flat_map(|new| &new.hashes).filter(|hash| is_old(hash));
    if kept.any(|hash| verdict(change, hash).is_some_and(Verdict::is_alarming)) {
        reasons.push("a checksum of the old version is recorded for the new one, which does not have it".to_owned());
    }
    reasons.extend(objection(change).map(|objection| match (objection, &change.signer) {
        (SignerObjection::Refused, Some(Signer::Unsigned)) => "the release is no longer signed".to_owned(),
        (SignerObjection::Refused, _) => "its signer is not among those that may sign this provider".to_owned(),
        (SignerObjection::Replaced, _) => "the same change makes the trust file accept its signer".to_owned(),
        (SignerObjection::Moved, Some(Signer::Unsigned)) => "it is not signed at its new address".to_owned(),
        (SignerObjection::Moved, _) => "another key signs it at its new address".to_owned(),
        (SignerObjection::Publisher(publisher), Some(Signer::Unsigned)) => format!("{publisher} signs its releases"),
        (SignerObjection::Publisher(publisher), _) => {
            format!("its key is not among those that {publisher} announces")
        }
    }));
    if let Some(other) = change.novelty.as_ref().and_then(|novelty| novelty.mistaken_for.as_ref()) {
        reasons.push(format!("its address is a letter or two off {other} (similar-name)"));
    }
    if reasons.is_empty() && is_unexplained_replacement(change) {
        reasons.push("a version does not change once it is published, so its checksums should not either".to_owned());
    }
    if reasons.is_empty() && keeps_hashes_of_other_version(change) {
        reasons.push("it has checksums of the old version, and no two versions have the same packages".to_owned());
    }
    if loses_all_hashes(change) {
        reasons.push("no usable checksum is left, so `init` accepts whatever it is given".to_owned());
    }
    reasons
}

fn texts(cause: &str, consequence: impl Into<String>) -> (String, String) {
    (cause.to_owned(), consequence.into())
}

fn added(change: &Change) -> (String, String) {
    let version = change.new.as_ref().map(|new| new.version.to_string()).unwrap_or_default();
    texts(
        "A module uses this provider for the first time, or the file was incomplete.",
        format!(
            "`init` downloads and runs {version} from {}, with the credentials of the user who runs it. Nothing was recorded before, so nothing could be compared: check that this is the publisher you mean.",
            change.address
        ),
    )
}

fn removed() -> (String, String) {
    texts(
        "No module uses this provider any more, or someone deleted the entry.",
        "`init` does not install it. Should it be needed again, its newest allowed version is recorded afresh, and is \
         not compared with what was recorded here.",
    )
}

fn upgraded(change: &Change) -> (String, String) {
    let zero = change.new.as_ref().is_some_and(|new| new.version.major() == 0);
    let consequence = match distance(change) {
        Some(Distance::Major) => {
            "A new major version may drop or change resources and arguments: read its upgrade guide, and the plan."
        }
        Some(Distance::Minor) if zero => {
            "Before 1.0 every release may break something: read its changelog, and the plan."
        }
        Some(Distance::Minor) => "A minor version adds features and should keep existing ones.",
        Some(Distance::Patch) => "A patch should only fix what was wrong.",
        Some(Distance::Tag) | None => "Only the part after the numbers differs: a pre-release, or another build.",
    };
    texts("A newer release was selected.", consequence)
}

fn downgraded() -> (String, String) {
    texts(
        "An older release was selected: a constraint became stricter, or the file of an older branch was taken.",
        "Fixes made since, of security holes too, are lost, and it may not be able to read state that the newer one wrote.",
    )
}

fn constraints_changed() -> (String, String) {
    texts(
        "Modules require other versions than before.",
        "The same version as before is installed: the line is a note of what the modules require.",
    )
}

fn hashes_added(change: &Change) -> (String, String) {
    let [old, came] = [old_schemes(change), schemes(change.hashes_added.iter().map(|added| &added.hash))];
    if came == [HashScheme::Other] {
        return texts(
            "The file has checksums of a kind that no tool compares.",
            "Nothing changes in which packages are accepted; `init` leaves such lines out when it writes the file.",
        );
    }
    let alarming = change.judged.values().any(|judged| judged.verdict.is_alarming());
    let cause = if alarming {
        "The file claims that the same version has further packages."
    } else if came == [HashScheme::H1] && old == [HashScheme::Zh] {
        "The file recorded only the archives (zh); now it also records their contents (h1)."
    } else if old.is_empty() {
        "The entry had no checksum; now it has."
    } else {
        "The file was completed: the same version, with checksums of further packages, mostly for other platforms."
    };
    let consequence = "Packages with these checksums are accepted too; what was accepted before still is. A package needs \
                       only one matching checksum, so a wrong one among them is enough to let a forged package in.";
    texts(cause, consequence)
}

fn hashes_removed(change: &Change) -> (String, String) {
    let cause = "The file was written for fewer platforms, or by a tool that knew fewer of the packages.";
    let consequence = match kept(change) {
        0 => "Nothing is compared for this version from now on.".to_owned(),
        kept => format!(
            "{kept} checksum{} left. If no remaining checksum fits, on another platform or with a mirror, `init` fails or \
             adds a new one.",
            if kept == 1 { " is" } else { "s are" }
        ),
    };
    texts(cause, consequence)
}

fn hashes_replaced(change: &Change) -> (String, String) {
    let zh_kept = change
        .old
        .as_ref()
        .zip(change.new.as_ref())
        .is_some_and(|(old, new)| old.hashes.of(HashScheme::Zh).any(|hash| new.hashes.contains(hash)));
    let came = schemes(change.hashes_added.iter().map(|added| &added.hash));
    let went = schemes(change.hashes_removed.iter());
    let verdict_of = |added: &crate::diff::AddedHash| verdict(change, &added.hash);
    let is_foreign = |added| matches!(verdict_of(added), Some(Verdict::Unattested | Verdict::Contradicts));
    let cause = if came.contains(&HashScheme::Zh) && went.contains(&HashScheme::Zh) {
        "Either the publisher re-uploaded this version, or the source now serves packages that are not the publisher's."
    } else if zh_kept && came.contains(&HashScheme::Zh) {
        "Archives (zh) were added, and those that both sides record are the same; checksums of contents (h1) were replaced: \
         another program wrote the file, or it is an attack."
    } else if zh_kept && change.hashes_added.iter().any(is_foreign) {
        "The archives (zh) that both sides record are the same, and the new h1 matches no package of this release: a damaged \
         plugin cache, or an attack."
    } else if zh_kept {
        "The archives (zh) that both sides record are the same; checksums of contents (h1) were replaced: the file was written \
         on another platform, or it is an attack."
    } else if came.contains(&HashScheme::Zh) {
        "Checksums of contents (h1) were exchanged, and archives (zh) were added, of which none was recorded before. Either the \
         file was rewritten by a program that records both, or other packages are offered under the name of this version."
    } else {
        "Either the file was rewritten on another platform, each of which has its own checksum of contents (h1), or \
         other packages are offered under the name of this version."
    };
    let only_h1 = !came.contains(&HashScheme::Zh) && !went.contains(&HashScheme::Zh);
    let consequence = if kept(change) == 0 {
        "`init` now refuses the packages that it accepted before, and accepts different ones."
    } else if zh_kept && only_h1 {
        "`init` still accepts the published archives (zh), and now also unpacked files with the new h1."
    } else {
        "`init` will accept the new packages, and refuse those whose checksums are gone."
    };
    texts(cause, consequence)
}

fn moved(change: &Change) -> (String, String) {
    let hosts = change.moved_from.as_ref().is_some_and(|from| from.host() != change.address.host());
    let cause = if hosts {
        "The provider is taken from another registry, as after a change between Terraform and OpenTofu."
    } else {
        "The provider is taken from another namespace: its publisher renamed it, or another publisher's is used."
    };
    let same = match kept(change) {
        0 => "No recorded package is among the new ones: they are different builds.".to_owned(),
        kept => format!(
            "{kept} recorded checksum{} the same, so those packages are.",
            if kept == 1 { " is" } else { "s are" }
        ),
    };
    texts(cause, format!("Another party attests it now; the earlier signature says nothing about it. {same}"))
}

fn remarks(change: &Change) -> Vec<&'static str> {
    let mut remarks = Vec::new();
    if change.novelty.as_ref().is_some_and(|novelty| novelty.namesake.is_some()) {
        remarks.push("A well-known provider of this type has another namespace: check that this one is meant.");
    }
    if change.standing == Standing::Rotated {
        remarks.push(
            "The same change adds another signer of this provider to the trust file: ask the publisher whether the new key is theirs.",
        );
    }
    if pins_nothing(change) && !loses_all_hashes(change) {
        remarks.push("No usable checksum is recorded: `init` accepts whatever it is given.");
    }
    if coverage(change).is_some() && change.uncovered.is_empty() {
        remarks.push("It has fewer checksums of contents (h1) than before: other platforms may miss theirs.");
    }
    remarks
}

fn old_schemes(change: &Change) -> Vec<HashScheme> {
    schemes(change.old.iter().flat_map(|old: &LockEntry| &old.hashes))
}

fn schemes<'a>(hashes: impl Iterator<Item = &'a PackageHash>) -> Vec<HashScheme> {
    let mut schemes: Vec<HashScheme> = hashes.map(PackageHash::scheme).collect();
    schemes.sort_unstable();
    schemes.dedup();
    schemes
}

/// One text for all places where the same module changed in the same way.
fn callers(changes: &[OriginChange]) -> Vec<String> {
    let wanted = |constraint: Option<&String>| constraint.map_or("any version".to_owned(), |text| format!("`{text}`"));
    let mut same: Vec<(String, Vec<String>, String)> = Vec::new();
    for change in changes {
        let (origin, what) = match change {
            OriginChange::Came(origin) => (origin, format!("requires {}", wanted(origin.constraint.as_ref()))),
            OriginChange::Went(origin) => (origin, "no longer requires it".to_owned()),
            OriginChange::Changed { was, now } => {
                (now, format!("requires {}, was {}", wanted(now.constraint.as_ref()), wanted(was.as_ref())))
            }
        };
        let place = format!("{}:{}", shown(&origin.file), origin.position.line);
        match same.iter_mut().find(|(caller, _, other)| *caller == origin.caller() && *other == what) {
            Some((_, places, _)) => places.push(place),
            None => same.push((origin.caller(), vec![place], what)),
        }
    }
    same.into_iter().map(|(caller, places, what)| format!("{caller} ({}) {what}", places.join(", "))).collect()
}

/// What changed next to the entries, in words; nothing if nothing did.
pub fn explain_text(text: TextChange) -> Option<(String, Explanation)> {
    if text.not_literal {
        let cause = "An expression, an escape or a template is used where the tools write one quoted string.";
        let reason = "tools that evaluate it may select another version, or take other packages, than the file seems to \
                      record";
        let explanation =
            Explanation { warning: warning(&[reason.to_owned()]), cause: cause.to_owned(), consequence: String::new() };
        return Some(("VALUES THAT NO TOOL WRITES".to_owned(), explanation));
    }
    if text.removed {
        let cause = "The lock file was deleted, emptied, or is no longer tracked.";
        let consequence = "`init` selects the newest versions that the modules allow, and records whatever it is given: \
                           nothing is compared with what was recorded.";
        let (cause, consequence) = texts(cause, consequence);
        let explanation = Explanation { cause, consequence, ..Explanation::default() };
        return Some(("NO LOCK FILE any more".to_owned(), explanation));
    }
    if text.formatting == Formatting::Unknown {
        let explanation = Explanation {
            cause: "One of the two texts is refused.".to_owned(),
            consequence: "What can be read of both is compared; the findings name the rest.".to_owned(),
            ..Explanation::default()
        };
        return Some(("NOT COMPARED in full".to_owned(), explanation));
    }
    let name = |tool: Option<crate::dialect::Dialect>| tool.map_or("none".to_owned(), |tool| tool.to_string());
    let header = text.header.map(|[old, new]| format!("header {} -> {}", name(old), name(new)));
    let is_formatted = text.formatting == Formatting::Changed;
    let (what, cause) = match (header, is_formatted) {
        (None, false) => return None,
        (None, true) => {
            ("formatting only".to_owned(), "The file was edited or merged by hand, or written by another program.")
        }
        (Some(header), false) => (header, "Another tool wrote the file."),
        (Some(header), true) => (format!("{header}, formatting"), "Another tool wrote the file."),
    };
    let mut consequence =
        "Providers, versions and checksums are not touched by this, and `init` leaves the text unchanged until it \
                           has something else to write."
            .to_owned();
    if is_formatted {
        consequence.push_str(" `tflock fmt` writes it as the tools do.");
    }
    Some((what, Explanation { cause: cause.to_owned(), consequence, ..Explanation::default() }))
}
