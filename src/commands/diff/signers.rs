//! The signers of changed releases, and how the trust files of both sides judge them.

use crate::diff::{Change, Standing};
use crate::finding::{Finding, Level, Rule};
use crate::trust::judge::{Verdict, judge};
use crate::trust::pins::{Pins, Signer};
use crate::trust::words::{by, by_signer, not_pinned, refused};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    pub old: Option<Pins>,
    pub new: Option<Pins>,
}

/// Records the signer of a changed release and the judgement of the trust files. The new trust file decides; the old
/// one only affects the wording, since the author of the change may have edited the trust file too.
pub(super) fn sign(change: &mut Change, signer: &Signer, trust: &Trust) -> Option<Finding> {
    let version = &change.new.as_ref()?.version;
    let is_new = change.old.as_ref().is_none_or(|old| old.version != *version) || change.moved_from.is_some();
    let verdict = |pins: &Option<Pins>| Some(judge(pins.as_ref()?, &change.address, version, signer));
    let (old, new) = (verdict(&trust.old), verdict(&trust.new));
    let (standing, finding) = match (new.or(old.clone()), old) {
        (None, _) => (Standing::FirstUse, None),
        (Some(Verdict::Known(_)), None | Some(Verdict::FirstUse)) => (Standing::PinnedHere, None),
        (Some(Verdict::Known(_)), Some(Verdict::Known(_))) => (Standing::Pinned, None),
        (Some(Verdict::Known(_)), Some(before)) => {
            let finding = refused(&change.address, version, signer, before);
            let accepted = finding.map(|finding| {
                let message = format!("{}; the change of the trust file accepts it", finding.message);
                Finding { level: Level::Warn, message, ..finding }.remedied_by(confirm(signer))
            });
            (Standing::Rotated, accepted)
        }
        (Some(Verdict::FirstUse), Some(before)) if !matches!(before, Verdict::FirstUse) => {
            let message =
                format!("{}; the trust file remembered a signer before this change", unknown(change, signer)?);
            let finding = Finding::new(Rule::SignerNotPinned, message).about(&change.address);
            (Standing::Refused, Some(by_signer(finding, signer)))
        }
        (Some(Verdict::FirstUse), _) => {
            let finding = not_pinned(&change.address, version, signer);
            (Standing::FirstUse, is_new.then_some(Finding { level: Level::Warn, ..finding }))
        }
        (Some(verdict), _) => (Standing::Refused, refused(&change.address, version, signer, verdict)),
    };
    change.standing = standing;
    change.signer = Some(signer.clone());
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
    Some(format!("{} {version} is {}, and its signer is no longer remembered", change.address, by(signer)))
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
        let finding = sign(&mut change, &signer.parse().unwrap(), &Trust { old, new });
        (change.standing, finding.map(|finding| (finding.rule, finding.level)))
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
