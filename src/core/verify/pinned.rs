//! What a change does to the remembered signers, and which of them count while it is judged.

use std::collections::{BTreeMap, BTreeSet};

use super::entry;
use crate::addr::AddrPattern;
use crate::finding::Rule;
use crate::step::Template;
use crate::trust::pins::{BlockKey, Pin, Pins, Republication, Signer};
use crate::trust::publishers::{Publisher, publishers};
use crate::trust::signer::listed;
use crate::version::Version;
use crate::words::{counted, first_of};

/// One thing that a trust file says otherwise than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinChange {
    /// What it is.
    pub rule: Rule,
    /// In words.
    pub message: String,
    /// The one provider, or providers, that it is about; `None` if it is about several of them or a key.
    pub about: Option<AddrPattern>,
    /// The block of the new file that says it, if any.
    pub block: Option<BlockKey>,
    /// What to do about it, if that is not the help of the rule.
    pub remedy: Option<Template>,
}

/// What to do where releases may be unsigned now.
const UNSIGNED: Template = template!(
    "Ask the publisher why its releases are not signed; have the owner of the trust file approve it, and run \
                        `tflock verify` with --allow-trust-change."
);

/// What to do where a well-known publisher is not known by a key.
const UNKNOWN_KEY: Template = template!(
    "Compare the fingerprint with what the publisher announces; if it is theirs, have the owner of the trust \
                           file approve it, and run `tflock verify` with --allow-trust-change."
);

/// What to do where releases are to be built in another place.
const PLACE: Template = template!(
    "Ask the publisher whether its releases are built there; have the owner of the trust file approve it, and run \
                           `tflock verify` with --allow-trust-change."
);

/// The pins that count while a lock file is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// Who is accepted. Of republications only what was accepted since the base: what was accepted before explains the
    /// hashes that the base records, and no others.
    pub pins: Pins,
    /// The republications that were accepted at the base.
    pub settled: BTreeSet<Republication>,
    /// Who was accepted before the change.
    pub trusted: Pins,
}

impl Counted {
    /// The pins that count for a change, by those at its base.
    pub fn since(before: &Pins, mut pins: Pins, trusted: Pins) -> Self {
        pins.republished.retain(|record, _| !before.republished.contains_key(record));
        Self { pins, settled: before.republished.keys().cloned().collect(), trusted }
    }
}

impl From<Pins> for Counted {
    /// The pins that count where no change is judged.
    fn from(pins: Pins) -> Self {
        Self { trusted: pins.clone(), pins, settled: BTreeSet::new() }
    }
}

/// What the new pins let pass that the old ones did not, and what they forget.
///
/// What counts is who is accepted for a provider, not in which block that is said: a pin within a wider one that says
/// the same changes nothing, and one that says something else is a change of it. Denying a key is none.
pub fn pin_changes(old: &Pins, new: &Pins) -> Vec<PinChange> {
    let is_first = old.providers.is_empty() && new.providers.len() > 1;
    let mut changes = if is_first { vec![first_pins(new)] } else { signer_changes(old, new) };
    changes.extend(new_reasons(old, new));
    changes.extend(new_places(old, new));
    let allowed = old.denied.iter().filter(|(key, _)| !new.denied.contains_key(key));
    changes.extend(allowed.map(|(key, reason)| {
        let message = format!("the key {key} is no longer denied; it was, because: {reason}");
        PinChange { rule: Rule::PinRemoved, message, about: None, block: None, remedy: None }
    }));
    let accepted = new.republished.iter().filter(|(record, _)| !old.republished.contains_key(record));
    changes.extend(accepted.map(|(record, reason)| {
        let (addr, version) = (&record.address, &record.version);
        let message = format!("this change accepts the republished release {addr} {version}: {reason}");
        let block = Some(BlockKey::Republished(record.clone()));
        let about = Some(AddrPattern::from(addr.clone()));
        PinChange { rule: Rule::RepublicationAccepted, message, about, block, remedy: None }
    }));
    changes
}

/// How many providers are named for each signer that is remembered for the first time.
const MOST_NAMED: usize = 3;

/// The signers of a first trust file, in one row: each with the providers that it signs for.
fn first_pins(new: &Pins) -> PinChange {
    let mut signers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (pattern, pin) in &new.providers {
        signers.entry(names(pin)).or_default().push(pattern.to_string());
    }
    let each = signers.iter().map(|(signer, of)| format!("{signer} for {}", first_of(of, MOST_NAMED)));
    let message = format!(
        "the signers of {} are remembered for the first time: {}",
        counted(new.providers.len(), "provider"),
        first_of(&each.collect::<Vec<_>>(), MOST_NAMED)
    );
    let block = new.providers.keys().next().cloned().map(BlockKey::Provider);
    PinChange { rule: Rule::PinAdded, message, about: None, block, remedy: None }
}

/// Who is accepted for a provider now, and was not; or was, and is not.
fn signer_changes(old: &Pins, new: &Pins) -> Vec<PinChange> {
    let patterns: BTreeSet<_> = old.providers.keys().chain(new.providers.keys()).collect();
    let mut changes = Vec::new();
    for pattern in patterns {
        let block = new.providers.contains_key(pattern).then(|| BlockKey::Provider(pattern.clone()));
        let (rule, message) = match (old.counting(pattern), new.counting(pattern)) {
            (Some(old), Some(new)) if is_same(old, new) => continue,
            (Some(old), Some(new)) if adds_unsigned(old, new) => {
                let message =
                    format!("releases of {pattern} may be unsigned now; before, it was pinned to {}", names(old));
                (Rule::PinChanged, message)
            }
            (Some(old), Some(new)) => {
                (Rule::PinChanged, format!("{pattern} is pinned to {}; before, to {}", names(new), names(old)))
            }
            (None, Some(new)) => {
                (Rule::PinAdded, format!("{pattern} is pinned to {}; before, it was not pinned", names(new)))
            }
            (Some(old), None) => {
                (Rule::PinRemoved, format!("{pattern} is no longer pinned; before, to {}", names(old)))
            }
            (None, None) => continue,
        };
        let unsigned = rule == Rule::PinChanged
            && old.counting(pattern).zip(new.counting(pattern)).is_some_and(|(old, new)| adds_unsigned(old, new));
        let about = Some(pattern.clone());
        changes.push(PinChange { rule, message, about, block, remedy: unsigned.then_some(UNSIGNED) });
    }
    changes
}

/// The reasons to accept a signer that the old pins do not give, where a well-known publisher is not known by it: after
/// the change they settle [`Rule::UnexpectedPublisher`].
fn new_reasons(old: &Pins, new: &Pins) -> Vec<PinChange> {
    let mut changes = Vec::new();
    for pattern in old.providers.keys().chain(new.providers.keys()).collect::<BTreeSet<_>>() {
        let Some((from, pin)) = new.counting_block(pattern) else { continue };
        let before = old.counting(pattern).map(|pin| &pin.reasons);
        for signer in pin.reasons.keys().filter(|signer| before.is_none_or(|before| !before.contains_key(signer))) {
            let unknown = |it: &&Publisher| it.is_complete && !entry::is_known_by(it, signer);
            let Some(publisher) = publishers(pattern).find(unknown) else { continue };
            let message = match signer {
                Signer::Key(key) => format!(
                    "this change gives a reason to accept {key} for {pattern}, which is no known key of {}",
                    publisher.name
                ),
                Signer::Unsigned => format!(
                    "this change gives a reason to accept unsigned releases of {pattern}, though {} signs its releases",
                    publisher.name
                ),
            };
            let block = Some(BlockKey::Signer(from.clone(), signer.clone()));
            let remedy = if *signer == Signer::Unsigned { UNSIGNED } else { UNKNOWN_KEY };
            let (rule, about) = (Rule::UnexpectedPublisher, Some(pattern.clone()));
            changes.push(PinChange { rule, message, about, block, remedy: Some(remedy) });
        }
    }
    changes
}

/// The providers whose releases must be built elsewhere than before, or may be built anywhere now.
fn new_places(old: &Pins, new: &Pins) -> Vec<PinChange> {
    let patterns = old.providers.keys().chain(new.providers.keys()).collect::<BTreeSet<_>>();
    patterns.into_iter().filter_map(|pattern| new_place([old, new], pattern)).collect()
}

fn new_place([old, new]: [&Pins; 2], pattern: &AddrPattern) -> Option<PinChange> {
    let place = |pins: &Pins| pins.counting(pattern).and_then(|pin| pin.built_by.clone());
    let (rule, message) = match (place(old), place(new)) {
        (Some(old), Some(new)) if old.is_same_place(&new) => return None,
        (Some(old), Some(new)) => {
            (Rule::PinChanged, format!("releases of {pattern} must now be built by {new}, before by {old}"))
        }
        (None, Some(new)) => (Rule::PinAdded, format!("releases of {pattern} must now be built by {new}")),
        (Some(old), None) => {
            (Rule::PinRemoved, format!("releases of {pattern} may be built anywhere now; before, by {old}"))
        }
        (None, None) => return None,
    };
    let key = BlockKey::BuiltBy(pattern.clone());
    let block = place(new).map(|_| key);
    let remedy = (rule != Rule::PinRemoved).then_some(PLACE);
    Some(PinChange { rule, message, about: Some(pattern.clone()), block, remedy })
}

/// The pins that count while a change is judged: those that it cannot reach, and its first uses.
///
/// A pin that the change adds for providers that no signer is remembered for, at the base as little as now, is what `lock`
/// writes when a provider is new. Denied keys only tighten. Everything else of the change is ignored. `None` if neither
/// side has a trust file.
pub fn effective_pins(trusted: Option<&Pins>, before: &Pins, now: Option<&Pins>) -> Option<Pins> {
    let mut pins = trusted.cloned().or_else(|| now.map(|_| Pins::default()))?;
    let Some(now) = now else { return Some(pins) };
    let known = pins.clone();
    let first_uses = now
        .providers
        .iter()
        .filter(|(pattern, _)| known.counting(pattern).is_none() && before.counting(pattern).is_none());
    // Why the change accepts a signer is for its reviewer.
    let unexplained = |pin: &Pin| Pin { reasons: BTreeMap::new(), ..pin.clone() };
    pins.providers.extend(first_uses.map(|(pattern, pin)| (pattern.clone(), unexplained(pin))));
    for (key, reason) in &now.denied {
        pins.denied.entry(key.clone()).or_insert_with(|| reason.clone());
    }
    Some(pins)
}

/// True if a pin accepts unsigned releases, and no key, that another did not.
fn adds_unsigned(old: &Pin, new: &Pin) -> bool {
    let mut came = new.signers.difference(&old.signers);
    came.next() == Some(&Signer::Unsigned) && came.next().is_none()
}

/// True if both accept the same.
fn is_same(one: &Pin, other: &Pin) -> bool {
    fn retired(pin: &Pin) -> BTreeMap<&Signer, &BTreeSet<Version>> {
        pin.retired.iter().map(|(signer, retired)| (signer, &retired.versions)).collect()
    }
    one.signers == other.signers && retired(one) == retired(other)
}

fn names(pin: &Pin) -> String {
    let retired = pin.retired.iter().map(|(signer, retired)| {
        let versions: Vec<String> = retired.versions.iter().map(ToString::to_string).collect();
        format!(" and, for {} only, {signer}", versions.join(", "))
    });
    listed(&pin.signers) + &retired.collect::<String>()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::addr::ProviderAddr;
    use crate::dialect::Dialect;
    use crate::trust::pins::decode;
    use crate::trust::signer::judge;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

    fn pins(text: &str) -> Pins {
        decode(text, Path::new("x")).unwrap().pins
    }

    fn pin(pattern: &str, signer: &str) -> String {
        format!("provider \"registry.terraform.io/{pattern}\" {{\n signers = [\"{signer}\"]\n}}\n")
    }

    fn rules(old: &str, new: &str) -> Vec<Rule> {
        pin_changes(&pins(old), &pins(new)).into_iter().map(|change| change.rule).collect()
    }

    #[test]
    fn changes_of_accepted_signers_are_reported() {
        let (a, b) = (pin("acme/widget", A), pin("acme/widget", B));
        assert_eq!(rules(&a, &a), []);
        assert_eq!(rules(&a, &b), [Rule::PinChanged]);
        assert_eq!(rules(&a, ""), [Rule::PinRemoved]);
        assert_eq!(rules("", &a), [Rule::PinAdded]);
        let unsigned = "provider \"registry.terraform.io/acme/widget\" {\n unsigned = true\n}\n";
        assert_eq!(rules(&a, unsigned), [Rule::PinChanged]);
        let retired = |versions: &str, reason: &str| {
            let old = format!("retired_signer \"{B}\" {{\n versions = [{versions}]\n reason = \"{reason}\"\n}}\n");
            a.replace("]\n}", &format!("]\n {old}}}"))
        };
        assert_eq!(rules(&retired("\"1.0.0\"", "x"), &retired("\"1.0.0\", \"1.0.1\"", "x")), [Rule::PinChanged]);
        assert_eq!(rules(&retired("\"1.0.0\"", "x"), &retired("\"1.0.0\"", "y")), []);
    }

    #[test]
    fn a_reason_for_a_key_that_the_publisher_does_not_announce_is_reported() {
        let announced = "C874011F0AB405110D02105534365D9472D7468F";
        for (key, found) in [(A, vec![Rule::UnexpectedPublisher]), (announced, vec![])] {
            let before = pin("hashicorp/null", key);
            let reason = format!("]\n signer \"{key}\" {{\n  reason = \"x\"\n }}\n}}");
            assert_eq!(rules(&before, &before.replace("]\n}", &reason)), found, "{key}");
        }
    }

    #[test]
    fn a_first_trust_file_is_one_change_that_names_each_signer() {
        let all = ["a", "b", "c", "d"].map(|name| pin(&format!("acme/{name}"), A)).concat() + &pin("acme/e", B);
        let changes = pin_changes(&Pins::default(), &pins(&all));
        let [PinChange { rule: Rule::PinAdded, message, .. }] = &changes[..] else { panic!("{changes:?}") };
        assert!(message.starts_with("the signers of 5 providers are remembered for the first time: "), "{message}");
        for part in [A, B, "acme/a", "acme/e", "and 1 more"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert_eq!(rules(&pin("acme/a", A), &all), [Rule::PinAdded; 4]);
    }

    #[test]
    fn a_pin_within_a_wider_one_changes_it() {
        let wide = pin("acme/*", A);
        assert_eq!(rules(&wide, &(wide.clone() + &pin("acme/widget", A))), []);
        assert_eq!(rules(&wide, &(wide.clone() + &pin("acme/widget", B))), [Rule::PinChanged]);
        // One for all takes the place of each.
        assert_eq!(rules(&pin("acme/widget", A), &wide), [Rule::PinAdded]);
        assert_eq!(rules(&pin("acme/widget", B), &wide), [Rule::PinAdded, Rule::PinChanged]);
        assert_eq!(rules(&(wide.clone() + &pin("acme/widget", B)), &wide), [Rule::PinChanged]);
    }

    #[test]
    fn denied_keys_and_republications() {
        let denied = format!("denied_signer \"{A}\" {{\n reason = \"stolen\"\n}}\n");
        assert_eq!(rules("", &denied), []);
        assert_eq!(rules(&denied, ""), [Rule::PinRemoved]);
        let record = "republished \"registry.terraform.io/a/b\" {\n version = \"1.0.0\"\n date = \"2026-01-01\"\n reason = \"x\"\n}\n";
        assert_eq!(rules("", record), [Rule::RepublicationAccepted]);
        assert_eq!(rules(record, ""), []);
    }

    #[test]
    fn a_republication_that_was_accepted_before_accepts_nothing_of_a_change() {
        let record = |day: &str| {
            format!(
                "republished \"registry.terraform.io/a/b\" {{\n version = \"1.0.0\"\n date = \"{day}\"\n reason = \"x\"\n}}\n"
            )
        };
        let before = pins(&record("2026-01-01"));
        let now = pins(&(record("2026-01-01") + &record("2026-02-01")));
        let counted = Counted::since(&before, now.clone(), Pins::default());
        let days: Vec<String> = counted.pins.republished.keys().map(|record| record.date.to_string()).collect();
        assert_eq!(days, ["2026-02-01"]);
        assert_eq!(counted.settled, before.republished.keys().cloned().collect());
        assert_eq!(Counted::from(now.clone()).pins, now);
    }

    #[test]
    fn only_first_uses_of_a_change_apply() {
        let accepts = |pins: &Option<Pins>, addr: &str, signer: &str| {
            let addr = ProviderAddr::parse(addr, Dialect::Terraform).unwrap();
            let pins = pins.as_ref().unwrap();
            judge(pins, &addr, &Version::new(1, 0, 0), &signer.parse().unwrap()).accepts()
        };
        let trusted = pins(&pin("acme/widget", A));
        let now = pins(&(pin("acme/*", B) + &pin("acme/widget", B) + &pin("other/x", B)));
        let counted = effective_pins(Some(&trusted), &trusted, Some(&now));
        assert!(accepts(&counted, "acme/widget", A) && !accepts(&counted, "acme/widget", B));
        assert!(accepts(&counted, "acme/gadget", B) && accepts(&counted, "other/x", B));
        // What the revision has forgotten since is no first use of the change.
        let counted = effective_pins(Some(&trusted), &pins(&pin("other/x", B)), Some(&now));
        assert!(!accepts(&counted, "other/x", B));
        // Without a trust file at the revision, those of the change are all first uses.
        assert!(accepts(&effective_pins(None, &Pins::default(), Some(&now)), "acme/widget", B));
        assert_eq!(effective_pins(None, &Pins::default(), None), None);
        assert_eq!(effective_pins(Some(&trusted), &trusted, None), Some(trusted.clone()));
        let denies = pins(&format!("denied_signer \"{A}\" {{\n reason = \"stolen\"\n}}\n"));
        assert!(!accepts(&effective_pins(Some(&trusted), &trusted, Some(&denies)), "acme/widget", A));
    }
}
