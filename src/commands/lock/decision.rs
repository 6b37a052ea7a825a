//! Decides the entries of one root module, or collects the reasons against them.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::root::{LockRoot, RootEdit};

use crate::addr::{ProviderAddr, UsedNames, well_known};
use crate::commands::shared::earlier::EarlierRecords;
use crate::config::edit::suggest;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::roots;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule, is_denied};
use crate::lock::settle::{self, EntryDecision};
use crate::lockfile::{LockEntry, LockFile};
use crate::path::shown as path_shown;
use crate::provenance::Judged;
use crate::query::question::{Answer, Query, Refusal};
use crate::release::Release;
use crate::release::continuity::{self, SignerMemory};
use crate::release::hashes::is_mirror_only;
use crate::requirements::{Origin, OriginKind, Requirements};
use crate::step::{CommandLine, Step, Value, Word};
use crate::trust::pins::{Pins, Republication};
use crate::trust::signer::TrustUpdate;
use crate::verify::provenance::judge_release;
use crate::verify::{entry, judge_witnesses};
use crate::version::Version;
use crate::witness::WitnessPlace;

#[derive(Default)]
pub(super) struct Decision {
    pub(super) entries: BTreeMap<ProviderAddr, EntryDecision>,
    /// Providers whose signer was trusted before.
    pub(super) pinned: BTreeSet<ProviderAddr>,
    /// Possible changes of the trust file; in the end only the new ones.
    pub(super) updates: Vec<TrustUpdate>,
    /// The other places that have the archives of new releases, each with how many.
    pub(super) agreed: BTreeMap<ProviderAddr, Vec<(WitnessPlace, usize)>>,
    pub(super) edits: Vec<RootEdit>,
    pub(super) findings: Vec<Finding>,
    pub(super) errors: Vec<Error>,
    /// Next steps if nothing may be written.
    pub(super) advice: Vec<Step>,
}

impl Decision {
    pub(super) fn is_refused(&self) -> bool {
        !self.errors.is_empty() || is_denied(&self.findings)
    }

    pub(super) fn version(&self, addr: &ProviderAddr) -> Option<&Version> {
        self.entries.get(addr).map(|decided| &decided.entry.version)
    }

    /// Keeps a complete entry; only its constraints may change.
    pub(super) fn keep(&mut self, addr: &ProviderAddr, step: &Query) {
        let Some(recorded) = &step.recorded else {
            return;
        };
        let entry = LockEntry { constraints: step.constraints.clone(), ..recorded.clone() };
        self.entries.insert(addr.clone(), EntryDecision::kept(entry));
    }
}

pub(super) struct RootDecision<'a> {
    pub(super) root: &'a LockRoot,
    pub(super) cache: &'a Cache,
    pub(super) pins: Pins,
    pub(super) decision: Decision,
    /// The names that new ones may be mistaken for.
    pub(super) names: OnceCell<UsedNames>,
}

impl RootDecision<'_> {
    /// Settles a step by its answer.
    pub(super) fn take(&mut self, addr: &ProviderAddr, step: &Query, answer: &Answer) {
        let root = self.root;
        let facts = match answer {
            Ok(facts) => facts,
            Err(refusal) => return self.refuse(addr, refusal.clone()),
        };
        let leveled = |finding| root.rules.complete(finding, Some(facts.version()));
        let earlier = self.earlier_records();
        let records = |release: &Release| earlier.of(release);
        let mut settled = settle::settle(step, facts, &leveled, &records);
        if let (Ok(settled), true) = (&mut settled, root.prepared.earlier.contains_key(addr)) {
            // New to the file, although not a first use.
            settled.signer.clone_from(&facts.release.signer);
        }
        let is_new = settled.as_ref().is_ok_and(|settled| settled.first_use || settled.signer.is_some());
        if root.lock.get(addr).is_none() && self.pins.pin(addr).is_none() {
            self.decision.findings.extend(self.about_name(addr, facts.version()));
        }
        let identical = settled.as_ref().is_ok_and(|settled| settled.identical);
        let from = step.moved.as_ref().filter(|_| identical).map(|moved| &moved.from);
        self.decision.findings.extend(step.moved.as_ref().and_then(|moved| self.unplaced(&moved.from, addr)));
        let judged = if let Some(update) = from.and_then(|from| continuity::carried(&self.pins, from, &facts.release)) {
            self.decision.updates.push(update);
            Ok(SignerMemory::Pinned)
        } else {
            continuity::remembered(&self.pins, &facts.release, root.first_use, is_new)
        };
        let is_trusted_now = is_new || matches!(judged, Ok(SignerMemory::First(_)));
        if let (Some(signer), true) = (&facts.release.signer, is_trusted_now) {
            let unexpected = entry::unexpected_publisher(Some(&self.pins), addr, signer, Level::Warn);
            self.decision.findings.extend(unexpected.map(leveled));
        }
        match judged {
            Ok(SignerMemory::Pinned) => {
                self.decision.pinned.insert(addr.clone());
            }
            Ok(SignerMemory::First(update)) => self.decision.updates.push(*update),
            Ok(SignerMemory::Unknown) => {}
            Err(finding) => self.decision.findings.push(leveled(finding)),
        }
        let gains = settled.as_ref().is_ok_and(|settled| settled.first_use || !settled.added.is_empty());
        let is_new_version = root.lock.get(addr).is_none_or(|entry| entry.version != *facts.version());
        if gains || is_new_version {
            let settings = &root.settings().settings;
            let Judged { findings, unknown, .. } = judge_release(Some(&self.pins), settings, &facts.release);
            self.decision.findings.extend(findings.into_iter().map(leveled));
            self.decision.errors.extend(unknown);
            let Judged { findings, unknown, .. } = judge_witnesses(settings, &facts.release, root.now());
            self.decision.findings.extend(findings.into_iter().map(leveled));
            self.decision.errors.extend(unknown);
            self.decision.agreed.insert(addr.clone(), facts.release.agreeing());
        }
        let is_accepted = |pins: &Pins| {
            pins.republished.keys().any(|record| record.address == *addr && record.version == *facts.version())
        };
        if step.accept_republished
            && settled.as_ref().is_ok_and(|settled| !settled.republished)
            && !is_accepted(&self.pins)
        {
            self.decision.errors.push(not_republished(addr, facts.version()));
        }
        match settled {
            Ok(settled) => {
                if settled.republished {
                    let republication =
                        Republication { address: addr.clone(), version: facts.version().clone(), date: root.today() };
                    // Packages that a mirror rebuilt are those of no registry.
                    let reason = if is_mirror_only(&facts.release) {
                        format!("{} (packages of {})", root.reason, root.settings().source().choice)
                    } else {
                        root.reason.clone()
                    };
                    self.decision.updates.push(TrustUpdate::Republished { republication, reason });
                }
                self.decision.findings.extend(settled.findings.iter().cloned());
                self.decision.entries.insert(addr.clone(), settled);
            }
            Err(refusals) => refusals.into_iter().for_each(|refusal| self.refuse(addr, refusal)),
        }
    }

    /// Puts an entry back as a commit has it, unless the trust file or the settings refuse its release. Nothing is learned from it,
    /// and it is no first use where that version is recorded now, or at the base of a change.
    pub(super) fn restore(&mut self, addr: &ProviderAddr, entry: &LockEntry, answer: &Answer) {
        let root = self.root;
        let facts = match answer {
            Ok(facts) => facts,
            Err(refusal) => return self.refuse(addr, refusal.clone()),
        };
        let is_new = !root.prepared.is_of_base && root.lock.get(addr).is_none_or(|now| now.version != entry.version);
        let of_signer = continuity::remembered(&self.pins, &facts.release, root.first_use, is_new).err();
        let Judged { findings, unknown, .. } =
            judge_release(Some(&self.pins), &root.settings().settings, &facts.release);
        let found = facts.release.findings.iter().cloned().chain(of_signer).chain(findings);
        let found = found.chain(settle::restored(entry, facts));
        let leveled = found.map(|finding| root.rules.complete(finding, Some(&entry.version)));
        self.decision.findings.extend(leveled);
        self.decision.errors.extend(unknown);
        self.decision.entries.insert(addr.clone(), EntryDecision::kept(entry.clone()));
    }

    /// A note if the old address has a pinned place and the new one has none. The place is not copied: another registry may offer
    /// releases that are built elsewhere.
    fn unplaced(&self, from: &ProviderAddr, addr: &ProviderAddr) -> Option<Finding> {
        let is_placed = |addr| self.pins.pin(addr).is_some_and(|(_, pin)| pin.built_by.is_some());
        let message = format!(
            "the trust file pins where {from} is built, but not where {addr} is built: `tflock trust add {addr} --provenance` \
             pins it"
        );
        let finding = || Finding::new(Rule::ProvenanceMissing, message).about(addr).at_level(Level::Note);
        (is_placed(from) && !is_placed(addr)).then(finding)
    }

    /// Remembers the signer of an entry that is kept without a pin, if the release is the recorded one.
    pub(super) fn pin(&mut self, addr: &ProviderAddr, release: &Release) {
        let Some(entry) = self.root.lock.get(addr) else {
            return;
        };
        let judged = continuity::judge_release(&entry.hashes, release);
        if !matches!(judged, continuity::Continuity::Shown { .. } | continuity::Continuity::Grew { .. }) {
            return;
        }
        // A signer that is denied is a finding of `verify`.
        let Ok(SignerMemory::First(update)) = continuity::remembered(&self.pins, release, self.root.first_use, false)
        else {
            return;
        };
        let unexpected = release.signer.iter();
        let unexpected =
            unexpected.filter_map(|signer| entry::unexpected_publisher(Some(&self.pins), addr, signer, Level::Warn));
        let leveled = unexpected.map(|finding| self.root.rules.complete(finding, Some(&entry.version)));
        self.decision.findings.extend(leveled);
        self.decision.updates.push(*update);
    }

    /// Names an entry that nothing requires and whose signer could not be found out.
    pub(super) fn leave_unpinned(&mut self, addr: &ProviderAddr, why: &str) {
        let message =
            format!("the signer of {addr} is not pinned: {why}; `tflock trust add` and `tflock trust init` pin it");
        let finding = Finding::new(Rule::SignerNotPinned, message).about(addr);
        self.decision.findings.push(finding.at_level(Level::Note));
    }

    /// Warns about a new provider whose name resembles that of a known or locked one, unless the settings give another level.
    fn about_name(&self, addr: &ProviderAddr, version: &Version) -> Option<Finding> {
        let locked = self.root.lock.iter().map(|(addr, _)| addr);
        let required = self.root.requirements.iter().map(|(addr, _)| addr);
        let names = self.names.get_or_init(|| UsedNames::of(locked.chain(required)));
        let finding = entry::similar_name(addr, names)?.unless_stated(Level::Warn);
        Some(self.root.rules.complete(finding, Some(version)))
    }

    fn refuse(&mut self, addr: &ProviderAddr, refusal: Refusal) {
        let decision = &mut self.decision;
        match refusal {
            Refusal::Error(error) => decision.errors.push(error),
            Refusal::Finding(finding, revoked) => {
                decision.findings.push(*finding);
                decision.updates.extend(revoked.map(|key| TrustUpdate::of_revoked(key, addr, self.root.today())));
            }
        }
    }

    /// Where to look for other records of the releases of the root module.
    fn earlier_records(&self) -> EarlierRecords<'_> {
        EarlierRecords {
            settings: self.root.settings(),
            dialect: self.root.dialect(),
            lock: &self.root.lock,
            cache: self.root.uses_origin().then_some(self.cache),
        }
    }
}

/// The error that a release which is to be accepted as republished is the recorded one.
fn not_republished(addr: &ProviderAddr, version: &Version) -> Error {
    let message = format!(
        "{addr} {version} was not published again: its source serves the recorded release, so there is nothing to accept"
    );
    let hint =
        step!("leave out --accept-republished; `tflock verify` says what is wrong with the entry, if anything is");
    Error::new(ErrorKind::Usage, message).about(addr.clone()).hint(hint)
}

/// The next step that is about several providers: naming those that can be upgraded.
pub(super) fn recovery_hints(root: &LockRoot, decision: &Decision) -> Vec<Step> {
    if !selects_newest(root) || !decision.is_refused() {
        return Vec::new();
    }
    let denied = decision.findings.iter().filter(|finding| finding.level() == Level::Deny);
    let denied: BTreeSet<&ProviderAddr> = denied.filter_map(|finding| finding.address.as_ref()).collect();
    let recorded = |addr: &ProviderAddr| root.lock.get(addr).map(|entry| &entry.version);
    let mut others = decision.entries.iter().filter(|(addr, decided)| {
        !denied.contains(addr) && recorded(addr).is_some_and(|version| *version != decided.entry.version)
    });
    let refused: Vec<String> = denied.iter().map(|addr| addr.short(root.rules.dialect())).collect();
    let together = others.next().is_some() && !refused.is_empty();
    let together = together.then(|| step!("`tflock upgrade --exclude {}` upgrades the others", Value::Words(refused)));
    together.into_iter().collect()
}

/// The next step of a denial, with the release before the refused one.
fn release_before(root: &LockRoot, answers: &BTreeMap<ProviderAddr, Answer>, finding: &Finding) -> Option<Step> {
    if root.intent.upgrade.is_none() || finding.level() != Level::Deny {
        return None;
    }
    let addr = finding.address.as_ref()?;
    let Ok(facts) = answers.get(addr).filter(|_| !root.intent.precise.contains_key(addr))? else { return None };
    let is_newer = |older: &&Version| root.lock.get(addr).is_some_and(|entry| **older > entry.version);
    let older = facts.older.as_ref().filter(is_newer)?;
    Some(step!(
        "{} `tflock upgrade --precise {} {}` takes the release before {}.",
        Value::Step(finding.general_help()),
        older,
        addr.short(root.rules.dialect()),
        facts.version()
    ))
}

/// What is not locked now cannot be accepted as republished: its earlier entry comes back first.
fn restore_before_accepting(root: &LockRoot, finding: &Finding) -> Option<Step> {
    let addr = finding.address.as_ref().filter(|_| finding.rule == Rule::Republished)?;
    let earlier = root.prepared.earlier.get(addr)?;
    Some(step!(
        "Ask its publisher why. To accept it, first restore its earlier entry: `tflock lock {} --restore-from {}`.",
        addr,
        earlier.commit
    ))
}

/// The findings, each with the next step that only this run knows.
pub(super) fn remedied(
    root: &LockRoot,
    answers: &BTreeMap<ProviderAddr, Answer>,
    findings: Vec<Finding>,
) -> Vec<Finding> {
    let mut remedied = Vec::with_capacity(findings.len());
    for finding in findings {
        let remedy = restore_before_accepting(root, &finding).or_else(|| release_before(root, answers, &finding));
        remedied.push(match remedy {
            Some(remedy) => finding.remedied_by(remedy),
            None => finding,
        });
    }
    remedied
}

fn selects_newest(root: &LockRoot) -> bool {
    root.intent.upgrade.is_some() && root.intent.precise.is_empty()
}

/// Places the error at the first requirement of its provider; file names are relative to `folder`.
pub(super) fn unknown_provider(
    error: Error,
    (requirements, lock): (&Requirements, &LockFile),
    folder: &Path,
    dialect: Dialect,
) -> Error {
    // A provider that is being added is not in any file yet.
    let is_new = |addr: &ProviderAddr| {
        let needed = requirements.get(addr);
        needed.is_some_and(|needed| needed.origins.iter().all(|origin| origin.file.as_os_str().is_empty()))
    };
    let vain: Vec<Vec<Word>> = requirements
        .iter()
        .filter(|(addr, _)| is_new(addr))
        .flat_map(|(addr, _)| [addr.to_string(), addr.short(dialect)])
        .map(|name| vec![Word::Value(name)])
        .collect();
    let known = requirements.iter().map(|(other, _)| other).chain(lock.iter().map(|(other, _)| other));
    let known = known.map(|other| other.short(dialect)).chain(well_known().map(str::to_owned)).collect();
    let left = Cell::new(MOST_SUGGESTIONS);
    UnknownProviders { requirements, lock, folder, dialect, vain, known, left }.placed(error)
}

/// For so many unknown providers others are suggested; a configuration may have any number of them.
const MOST_SUGGESTIONS: usize = 50;

struct UnknownProviders<'a> {
    requirements: &'a Requirements,
    lock: &'a LockFile,
    folder: &'a Path,
    dialect: Dialect,
    /// What `why` and `upgrade` do not know yet.
    vain: Vec<Vec<Word>>,
    known: BTreeSet<String>,
    /// For how many more others are suggested.
    left: Cell<usize>,
}

impl UnknownProviders<'_> {
    fn placed(&self, mut error: Error) -> Error {
        let Self { requirements, dialect, .. } = *self;
        let is_vain = |command: &CommandLine| {
            ["why", "upgrade"].iter().any(|name| command.is(name))
                && self.vain.iter().any(|name| command.words.ends_with(name))
        };
        error.hints.retain(|hint| !hint.commands().any(is_vain));
        let others = std::mem::take(&mut error.others);
        error.others = others.into_iter().map(|error| self.placed(error)).collect();
        let is_unplaced = error.kind == ErrorKind::UnknownProvider && error.file.is_none();
        let Some(addr) = error.address.as_deref().filter(|_| is_unplaced).cloned() else {
            return error;
        };
        let origins = requirements.get(&addr).map(|requirement| &requirement.origins[..]).unwrap_or_default();
        let Some(first) = origins.iter().find(|origin| !origin.file.as_os_str().is_empty()) else {
            return error;
        };
        if self.left.get() > 0 {
            self.left.set(self.left.get() - 1);
            let implied = origins.iter().all(|origin| origin.kind != OriginKind::RequiredProviders);
            let shown = addr.short(dialect);
            if let Some(entry) = self.lock.get(&addr) {
                let gone =
                    format!("the registry had it: it is locked at {}; ask its operator where it is now", entry.version);
                error.hints.insert(0, gone.into());
                return error.in_file(roots::file_from(self.folder, &first.file)).at(first.position);
            }
            let others = self.known.iter().map(String::as_str).filter(|other| *other != shown);
            error.hints.splice(0..0, suggest(&shown, others).into_iter().map(Step::meant));
            if implied {
                error.hints.insert(0, self.meant(&addr, first));
            }
        }
        error.in_file(roots::file_from(self.folder, &first.file)).at(first.position)
    }

    /// Suggests a source for a local name that has none. A module inherits no entry of the module that calls it.
    fn meant(&self, addr: &ProviderAddr, first: &Origin) -> Step {
        let Self { requirements, dialect, .. } = *self;
        let (name, shown) = (&first.local_name, addr.short(dialect));
        let namesakes = requirements.iter().filter(|(other, _)| other.type_name() == addr.type_name());
        let entries = namesakes.flat_map(|(other, needed)| needed.origins.iter().map(move |origin| (other, origin)));
        let mut entries = entries.filter(|(_, origin)| origin.kind == OriginKind::RequiredProviders);
        let namesake = entries.next().map(|(other, entry)| (other.short(dialect), &entry.local_name));
        let Some((other, local)) = namesake else {
            let none = "no entry of required_providers is named";
            return format!("{none} {name:?}, which therefore means {shown}; add one with the source that is meant")
                .into();
        };
        if first.module.is_empty() {
            return step!(
                "no entry of required_providers is named {}, which therefore means {}; for {} write `provider = {}`",
                format!("{name:?}"),
                shown,
                other,
                local
            );
        }
        let why = format!(
            "module {} has no entry of required_providers named {name:?}, which therefore means {shown}: a module inherits none",
            first.module
        );
        match own_directory(&first.file) {
            Some(directory) => {
                let directory = roots::file_from(self.folder, directory);
                step!("{}; `tflock -C {} add {} --no-lock` writes it", why, path_shown(&directory), other)
            }
            None => format!("{why}; its author can add {other}").into(),
        }
    }
}

/// The directory of a file of a local module; `None` for modules that were installed or fetched.
fn own_directory(file: &Path) -> Option<&Path> {
    let is_installed = file.components().any(|part| part.as_os_str() == ".terraform");
    let is_fetched = file.to_string_lossy().contains("//");
    file.parent().filter(|_| !is_installed && !is_fetched)
}

#[cfg(test)]
mod unknown_provider_tests {
    use super::*;
    use crate::finding::Position;
    use crate::requirements::Origin;
    use crate::version::Constraints;

    fn addr(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, Dialect::Terraform).unwrap()
    }

    fn named(queried: &[(&str, OriginKind, &str)], unknown: &str) -> Error {
        let mut requirements = Requirements::new();
        for (line, (required, kind, local_name)) in (1..).zip(queried) {
            let origin = Origin {
                module: String::new(),
                file: "main.tf".into(),
                position: Position { line, column: 1 },
                kind: *kind,
                local_name: (*local_name).to_owned(),
                constraint: None,
                in_tests: false,
                is_evaluated: false,
                block: None,
            };
            requirements.add(&addr(required), &Constraints::default(), origin);
        }
        let error = Error::new(ErrorKind::UnknownProvider, "none").about(addr(unknown)).hint("look");
        unknown_provider(error, (&requirements, &LockFile::new()), Path::new("prod"), Dialect::Terraform)
    }

    #[test]
    fn the_line_that_requires_it_is_named() {
        use OriginKind::{RequiredProviders, Resource};
        let error =
            named(&[("integrations/github", RequiredProviders, "gh"), ("github", Resource, "github")], "github");
        assert_eq!(error.file.as_deref(), Some(Path::new("prod/main.tf")));
        assert_eq!(error.position, Some(Position { line: 2, column: 1 }));
        assert_eq!(
            error.hints[0],
            "no entry of required_providers is named \"github\", which therefore means hashicorp/github; for \
             integrations/github write `provider = gh`"
        );
        let error = named(&[("github", Resource, "github")], "github");
        assert!(error.hints[0].to_string().ends_with("add one with the source that is meant"), "{:?}", error.hints);
        let error = named(&[("acme/x", RequiredProviders, "x")], "acme/x");
        assert_eq!((error.hints, error.position.unwrap().line), (vec![Step::from("look")], 1));
        // What was typed is in no file.
        assert_eq!(named(&[], "acme/x").file, None);
    }
}
