//! What can be judged without knowing anything of the release, and what the tools will change of an entry though nothing
//! is wrong.
//!
//! What the settings and plain sight say of a provider before any request about it.
//!
//! For every command that requests or selects, not for `verify` alone: the levels of the settings are still to be applied.

use std::collections::BTreeSet;
use std::time::SystemTime;

use unicode_security::skeleton;

use super::{JudgedEntry, Subject};
use crate::addr::{ProviderAddr, UsedNames};
use crate::config::RootKind;
use crate::dialect::Dialect;
use crate::finding::{Finding, Level, Position, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::{LockEntry, LockFile};
use crate::platform::Platform;
use crate::release::Lookup;
use crate::requirements::{Requirement, Requirements, state_translation};
use crate::settings::{Basis, Candidate, Objection, Settings};
use crate::trust::pins::{Pins, Signer};
use crate::trust::publishers::{Publisher, publisher};
use crate::trust::signer::{by_signer, signed_by};
use crate::version::{Constraints, Version};

/// Providers that have no entry: required ones, or without readable configuration, those that had one at the base.
pub(super) fn missing(subject: &Subject<'_>) -> Vec<Finding> {
    let findings = match subject.requirements {
        Some(requirements) => required(subject, requirements),
        None => lost(subject),
    };
    subject.completion().complete_all(findings)
}

fn required(subject: &Subject<'_>, requirements: &Requirements) -> Vec<Finding> {
    let missing = requirements.iter().filter(|(addr, _)| subject.lock.get(addr).is_none());
    let findings = missing.map(|(addr, requirement)| {
        let message = format!("the lock file has no entry for {addr}, which the configuration requires");
        let finding = Finding::new(Rule::EntryMissing, message).about(addr);
        let finding =
            if subject.is_instance { finding.unless_stated(Level::Warn).remedied_by(OF_INSTANCE) } else { finding };
        match requirement.origins.first() {
            Some(origin) => finding.in_file(&origin.file).at(origin.position),
            None => finding.at(Position::default()),
        }
    });
    findings.collect()
}

/// Entries that were removed since the base; without any left, the lock file counts as removed. Users do remove providers
/// whose configuration is generated, so one of several is reported and not denied.
fn lost(subject: &Subject<'_>) -> Vec<Finding> {
    let before = subject.before.into_iter().flat_map(LockFile::iter);
    let lost: Vec<_> = before.filter(|(addr, _)| subject.lock.get(addr).is_none()).collect();
    if subject.lock.is_empty() && !lost.is_empty() {
        let message = "all entries of the dependency lock file were removed since the base";
        return vec![Finding::new(Rule::LockFileRemoved, message).at(Position::default())];
    }
    // Configuration that cannot be read gives no finding here.
    let dropped = lost.into_iter().filter(|_| subject.complete).map(|(addr, entry)| {
        let message = format!(
            "the entry of {addr} {} was removed, and no configuration shows whether it is needed",
            entry.version
        );
        let finding = Finding::new(Rule::HashesDropped, message).about(addr).at(Position::default());
        finding.at_level(Level::Warn).remedied_by(REMOVED)
    });
    dropped.collect()
}

/// What to do about an entry that the lock file of an Atmos instance lacks.
const OF_INSTANCE: &str = "Let Atmos run `init` for the instance, and commit the lock file that it copies back.";

/// What to do about an entry that was removed.
const REMOVED: &str =
    "If the provider is still used, restore the entry from the base: `init` records what it is served.";

impl JudgedEntry<'_> {
    pub(super) fn entry(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(requirements) = self.subject.requirements {
            match requirements.get(self.addr) {
                Some(requirement) => findings.extend(self.requirement(requirement)),
                None if self.subject.is_instance => findings.push(self.unrequired_by_instance().at(self.spans.block)),
                None if self.subject.complete => findings.push(self.unrequired().at(self.spans.block)),
                None => {}
            }
        }
        findings.extend(self.policy());
        findings.extend(self.downgraded());
        let of_init = init_changes(self.addr, self.subject.lock, self.subject.dialect).into_iter();
        findings.extend(of_init.map(|finding| finding.at(self.hashes_at())));
        findings.extend(self.pins_nothing());
        findings.extend(self.platforms());
        findings
    }

    fn unrequired_by_instance(&self) -> Finding {
        let message =
            format!("{} is not required by the configuration here; what Atmos adds may require it", self.name());
        let remedy = "Nothing is to be done if the YAML of the instance requires it.";
        self.find(Rule::PossiblyFromState, message).remedied_by(remedy)
    }

    fn unrequired(&self) -> Finding {
        if self.subject.kind.traits().keeps_unused {
            let message =
                format!("{} is not required by the stack, and stays until `tflock lock --prune`", self.name());
            return self.find(Rule::PossiblyFromState, message);
        }
        let unreachable = self.subject.translates_state.then(|| unreachable_from_state(self.addr)).flatten();
        unreachable.unwrap_or_else(|| {
            let message = format!(
                "{} is not required by the configuration, possibly from state: unless the state needs it, `{} init` \
                 removes it, and refuses the file with -lockfile=readonly; `tflock lock --prune` takes it out",
                self.name(),
                self.subject.dialect.program()
            );
            self.find(Rule::PossiblyFromState, message)
        })
    }

    fn requirement(&self, requirement: &Requirement) -> Option<Finding> {
        let wanted = &requirement.constraints;
        if !wanted.allows(&self.entry.version) {
            let message = format!(
                "the locked version {} does not match the version constraint \"{wanted}\" of the configuration",
                self.entry.version,
            );
            let finding = self.find(Rule::VersionNotAllowed, message).at(self.version_at());
            if self.subject.is_instance {
                let finding = finding.unless_stated(Level::Note).remarked("Atmos may override the constraint");
                return Some(
                    finding.remedied_by("Compare the version with the constraint in the YAML of the instance."),
                );
            }
            return Some(finding);
        }
        let is_recorded = !self.subject.kind.traits().has_stacks_header;
        if !is_recorded || !self.subject.complete || *wanted == self.entry.constraints {
            return None;
        }
        let shown = |text: String| if text.is_empty() { "no constraints".to_owned() } else { format!("\"{text}\"") };
        let message = format!(
            "the lock file records {}, but the configuration requires {}",
            shown(self.entry.constraints.to_string()),
            shown(wanted.to_string()),
        );
        let at = self.spans.constraints.unwrap_or(self.spans.block);
        if self.subject.kind == RootKind::Unit
            && self.entry.constraints == Constraints::exactly(self.entry.version.clone())
        {
            let message = format!(
                "the lock file records exactly the version, as Terragrunt's provider cache server does; the configuration \
                 requires {}",
                shown(wanted.to_string())
            );
            return Some(self.find(Rule::InitChanges, message).at(at));
        }
        Some(self.find(Rule::ConstraintsStale, message).at(at))
    }

    fn policy(&self) -> Vec<Finding> {
        let settings = self.subject.settings;
        let of_address = of_address(self.addr, settings).into_iter();
        let placed = of_address.map(|finding| finding.at(self.spans.block));
        let of_version = self.objections(None).into_iter().filter(|objection| objection.basis == Basis::Number);
        placed.chain(of_version.map(|objection| objection.finding(self.addr).at(self.version_at()))).collect()
    }

    /// What the settings object to the version, given when its release was signed.
    pub(super) fn objections(&self, signed: Option<SystemTime>) -> Vec<Objection> {
        let first_seen = self.subject.first_seen.and_then(|seen| seen.get(self.addr)).copied();
        let candidate = Candidate { addr: self.addr, version: &self.entry.version, signed, first_seen };
        self.subject.settings.versions_of(self.addr, self.subject.now).against(&candidate)
    }

    /// An entry that any package would satisfy, or any that was not packed.
    fn pins_nothing(&self) -> Option<Finding> {
        let has = |scheme| self.entry.hashes.of(scheme).next().is_some();
        let why = match (has(HashScheme::H1), has(HashScheme::Zh)) {
            (true, _) => return None,
            (false, true) => {
                let message = format!("{} records the checksums of archives only, and no h1", self.name());
                let finding = self.find(Rule::H1Missing, message).at(self.hashes_at());
                // What a change brings can have one.
                return Some(if self.is_new() { finding.at_level(Level::Deny) } else { finding });
            }
            (false, false) if self.entry.hashes.is_empty() => "no hashes",
            (false, false) => "only hashes of unknown schemes, which match no package",
        };
        let message = format!("the entry of {} records {why}", self.name());
        Some(self.find(Rule::PinsNothing, message).at(self.hashes_at()))
    }

    fn platforms(&self) -> Vec<Finding> {
        let uncovered = uncovered(self.addr, self.entry, self.knowledge, self.subject.settings);
        uncovered.into_iter().map(|platform| self.uncovered(platform)).collect()
    }

    fn uncovered(&self, platform: &Platform) -> Finding {
        let message = format!("{} has no h1 hash for {platform}", self.name());
        self.find(Rule::PlatformUncovered, message).at(self.hashes_at())
    }
}

/// The wanted platforms for which an entry has no `h1:`, as far as that is known.
pub fn uncovered<'a>(
    addr: &ProviderAddr,
    entry: &LockEntry,
    knowledge: &Lookup,
    settings: &'a Settings,
) -> Vec<&'a Platform> {
    let wanted = settings.platforms.iter().flatten().filter(|platform| !settings.optional(addr, platform));
    let recorded: Vec<_> = entry.hashes.of(HashScheme::H1).collect();
    let Lookup::Known(release) = knowledge else {
        return wanted.filter(|_| recorded.is_empty()).collect();
    };
    let is_attributed = |hash: &&&PackageHash| release.h1.get(**hash).is_some_and(|it| !it.platforms.is_empty());
    let all_attributed = recorded.iter().filter(is_attributed).count() == recorded.len();
    let known: BTreeSet<&Platform> = release.h1.values().flat_map(|attested| attested.platforms.keys()).collect();
    let uncovered = wanted.filter(|platform| !release.covers(platform, &entry.hashes));
    uncovered.filter(|platform| all_attributed || known.contains(platform)).collect()
}

/// What the tool of a lock file will change of an entry, or refuses the file for.
pub fn init_changes(addr: &ProviderAddr, lock: &LockFile, dialect: Dialect) -> Vec<Finding> {
    let Some(entry) = lock.get(addr) else { return Vec::new() };
    foreign_schemes(addr, entry, dialect).into_iter().chain(taken_over(addr, lock, dialect)).collect()
}

/// An entry that the configuration does not require and no state can need: OpenTofu, where it translates the addresses of
/// states, never reads this one there.
pub fn unreachable_from_state(addr: &ProviderAddr) -> Option<Finding> {
    let message = format!(
        "{addr} is not required by the configuration or by any state: tofu reads that address in a state as {}, so `tofu \
         init` removes the entry, and refuses the file with -lockfile=readonly",
        state_translation(addr)?
    );
    Some(Finding::new(Rule::InitChanges, message).about(addr))
}

/// Hashes that `init` does not keep.
fn foreign_schemes(addr: &ProviderAddr, entry: &LockEntry, dialect: Dialect) -> Option<Finding> {
    entry.hashes.of(HashScheme::Other).next()?;
    let message = format!(
        "`{} init` drops the hashes of {addr} {} whose scheme it does not know when it installs the package",
        dialect.program(),
        entry.version
    );
    let finding = Finding::new(Rule::InitChanges, message).about(addr).of_version(&entry.version);
    Some(
        finding.remedied_by(
            "Remove those lines, or commit what `init` leaves: no tool compares such hashes with packages.",
        ),
    )
}

/// An entry that `OpenTofu` takes for one of its own registry as well, since it might be that of Terraform's provider of
/// the same name.
///
/// Source: opentofu `internal/depsfile/locks.go`, `UpgradeFromPredecessorProject`: without the hashes, and only where there
/// is no such entry.
fn taken_over(addr: &ProviderAddr, lock: &LockFile, dialect: Dialect) -> Option<Finding> {
    let host = |dialect: Dialect| dialect.default_registry_host();
    let is_old = addr.host().as_ascii() == host(Dialect::Terraform) && addr.namespace() == "hashicorp";
    if dialect != Dialect::OpenTofu || !is_old {
        return None;
    }
    let own =
        ProviderAddr::parse(&format!("{}/{}/{}", host(dialect), addr.namespace(), addr.type_name()), dialect).ok()?;
    if lock.get(&own).is_some() {
        return None;
    }
    let message = format!(
        "tofu reads the entry of {addr} as one of {own} too: `tofu init -lockfile=readonly` refuses the file, and `tofu \
         providers lock` adds an entry for {own} that pins nothing"
    );
    let finding = Finding::new(Rule::InitChanges, message).about(addr);
    Some(finding.remedied_by(step!(
        "If registry.opentofu.org has the provider, leave the host out of its source address; `tflock lock --prune` removes what `tofu providers lock` added."
    )))
}

/// What speaks against an address, whatever its version: its looks and its host.
pub fn of_address(addr: &ProviderAddr, settings: &Settings) -> Vec<Finding> {
    let seen = looks_like(addr).map(|seen| {
        let message = format!("{addr} looks like {seen}, but is another provider");
        Finding::new(Rule::LookAlike, message)
    });
    let forbidden = (!settings.policy.allows_host(addr.host())).then(|| {
        let message = format!("the policy does not allow the host {} of {addr}", addr.host());
        Finding::new(Rule::HostNotAllowed, message)
    });
    seen.into_iter().chain(forbidden).map(|finding| finding.about(addr)).collect()
}

/// The finding that a new address may be mistaken for another one in use or a well-known one.
pub fn similar_name(addr: &ProviderAddr, used: &UsedNames) -> Option<Finding> {
    // Letters of other scripts have a finding of their own.
    let other = used.mistaken_for_another(addr).filter(|_| looks_like(addr).is_none())?;
    let message = format!("{addr} is easily mistaken for {other}, and is another provider");
    Some(Finding::new(Rule::SimilarName, message).about(addr))
}

/// That a well-known provider is signed by a key that its publisher is not known by, unless the trust file says why that
/// signer is accepted.
///
/// `announced` is the level for publishers that announce all their keys; those of which some are listed may have others.
pub fn unexpected_publisher(
    pins: Option<&Pins>,
    addr: &ProviderAddr,
    signer: &Signer,
    announced: Level,
) -> Option<Finding> {
    let publisher = publisher(addr)?;
    if is_known_by(publisher, signer) {
        return None;
    }
    if pins.and_then(|pins| pins.pin(addr)).is_some_and(|(_, pin)| pin.reasons.contains_key(signer)) {
        return None;
    }
    let message = match signer {
        Signer::Key(_) => format!("{addr} is {}, which is no known key of {}", signed_by(signer), publisher.name),
        Signer::Unsigned => format!("{addr} is not signed, though {} signs its releases", publisher.name),
    };
    let level = if publisher.is_complete { announced } else { Level::Warn };
    Some(by_signer(Finding::new(Rule::UnexpectedPublisher, message).about(addr), signer).unless_stated(level))
}

/// True if a signer is the publisher's own key.
pub fn is_known_by(publisher: &Publisher, signer: &Signer) -> bool {
    signer.key().is_some_and(|key| publisher.has(key))
}

/// The bans of all releases of a provider, where it is not known which one is meant.
pub fn of_all_releases(addr: &ProviderAddr, settings: &Settings) -> Vec<Finding> {
    let bans = settings.bans.iter().filter(|ban| ban.versions.terms().is_empty() && ban.providers.covers(addr));
    bans.map(|_| Finding::new(Rule::Banned, format!("{addr} is banned by the settings")).about(addr)).collect()
}

/// What the settings object to a version whose release nothing is known of.
pub fn of_version(addr: &ProviderAddr, version: &Version, settings: &Settings, now: SystemTime) -> Vec<Finding> {
    let objections = settings.versions_of(addr, now).against(&Candidate::of(addr, version)).into_iter();
    objections.filter(|it| it.basis == Basis::Number).map(|objection| objection.finding(addr)).collect()
}

/// The plain address that an address looks like by letters of other scripts, if it is another.
///
/// Source: Unicode TR 39, section 4: two texts are confusable if their skeletons are the same.
fn looks_like(addr: &ProviderAddr) -> Option<String> {
    let text = addr.to_string();
    if text.is_ascii() {
        return None;
    }
    text.chars().map(|letter| if letter.is_ascii() { Some(letter) } else { plain(letter) }).collect()
}

/// The Latin letter or digit that another character looks like, itself or in upper case: Unicode compares shapes in one
/// case only, and many letters differ from the Latin ones in the shape of small capitals alone.
fn plain(letter: char) -> Option<char> {
    let same = |a: &str, b: &str| skeleton(a).eq(skeleton(b));
    let (lower, upper) = (letter.to_string(), letter.to_uppercase().to_string());
    let mut latin = ('a'..='z').chain('0'..='9');
    let in_lower = latin.clone().find(|plain| same(&lower, plain.encode_utf8(&mut [0; 4])));
    in_lower.or_else(|| latin.find(|plain| same(&upper, plain.to_ascii_uppercase().encode_utf8(&mut [0; 4]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    const H2: &str = "h2:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

    /// What is said of the first of some entries, each with a zh: or an h2: hash.
    fn warnings(addrs: &[&str], hash: &str, dialect: Dialect) -> Vec<String> {
        let addr = |text: &str| ProviderAddr::parse(text, dialect).unwrap();
        let mut lock = LockFile::new();
        for text in addrs {
            let hashes = [hash.parse().unwrap()].into_iter().collect();
            let entry = LockEntry { version: "1.0.0".parse().unwrap(), constraints: "".parse().unwrap(), hashes };
            lock.insert(addr(text), entry);
        }
        init_changes(&addr(addrs[0]), &lock, dialect).into_iter().map(|finding| finding.message().to_owned()).collect()
    }

    #[test]
    fn tofu_takes_an_entry_of_terraform_for_its_own() {
        let old = "registry.terraform.io/hashicorp/null";
        let [message] = &warnings(&[old], "zh:a", Dialect::OpenTofu)[..] else { panic!() };
        assert!(message.contains("reads the entry of registry.terraform.io/hashicorp/null as one of registry.opentofu.org/hashicorp/null too"), "{message}");
        assert!(warnings(&[old], "zh:a", Dialect::Terraform).is_empty());
        assert!(warnings(&[old, "registry.opentofu.org/hashicorp/null"], "zh:a", Dialect::OpenTofu).is_empty());
        for other in ["registry.terraform.io/acme/null", "registry.example.com/hashicorp/null", "hashicorp/null"] {
            assert!(warnings(&[other], "zh:a", Dialect::OpenTofu).is_empty(), "{other}");
        }
    }

    #[test]
    fn hashes_of_an_unknown_scheme_are_dropped() {
        assert!(warnings(&["acme/null"], H2, Dialect::Terraform)[0].contains("`terraform init` drops the hashes"));
        assert!(warnings(&["acme/null"], "zh:a", Dialect::Terraform).is_empty());
    }

    #[test]
    fn publishers_are_known_by_their_keys() {
        let found = |name: &str, signer: &str| {
            let addr = ProviderAddr::parse(name, Dialect::Terraform).unwrap();
            unexpected_publisher(None, &addr, &signer.parse().unwrap(), Level::Deny).map(|finding| finding.level())
        };
        let hashicorp = "C874011F0AB405110D02105534365D9472D7468F";
        let unexpected = Some(Level::Deny);
        assert_eq!(found("hashicorp/aws", hashicorp), None);
        assert_eq!(found("hashicorp/aws", &"A".repeat(40)), unexpected);
        assert_eq!(found("hashicorp/aws", "unsigned"), unexpected);
        // Each registry has its own publisher of a namespace, and others have none that is known.
        assert_eq!(found("registry.opentofu.org/hashicorp/aws", hashicorp), unexpected);
        assert_eq!(found("acme/widget", &"A".repeat(40)), None);
        // Of others, not all keys are known.
        assert_eq!(found("datadog/datadog", &"A".repeat(40)), Some(Level::Warn));
    }

    #[test]
    fn letters_of_other_scripts_are_recognised() {
        let seen = |text: &str| looks_like(&ProviderAddr::parse(text, Dialect::Terraform).unwrap());
        assert_eq!(seen("registry.terraform.io/acme/widget"), None);
        assert_eq!(seen("registry.terrаform.io/acme/widget").as_deref(), Some("registry.terraform.io/acme/widget"));
        assert_eq!(seen("registry.terraform.io/асмe/widget").as_deref(), Some("registry.terraform.io/acme/widget"));
        for alike in ["haѕhicorp", "hаshiсоrр", "haꜱhicᴏrp", "hashicoгp", "ηashicorp", "hashicoʀp", "hashicᴏʀp"]
        {
            let address = format!("registry.terraform.io/{alike}/aws");
            assert_eq!(seen(&address).as_deref(), Some("registry.terraform.io/hashicorp/aws"), "{alike}");
        }
        // Honest names of other languages look like nothing else.
        assert_eq!(seen("münchen.example/acme/widget"), None);
        assert_eq!(seen("пример.example/acme/widget"), None);
    }
}
