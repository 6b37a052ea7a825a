//! Explains the changes between two texts of a lock file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::signers::{Trust, sign};
use crate::addr::{ProviderAddr, UsedNames, namesake, registry_page};
use crate::commands::shared::earlier::restore;
use crate::dialect::Dialect;
use crate::diff::{self, Change, ChangeKind, Novelty, OriginChange, Packages, RequiredBy, SigningDate, TextChange};
use crate::disk::roots::{ReadModuleLock, file_from};
use crate::error::{Error, ErrorKind};
use crate::finding::{Class, Finding, Level, Rule};
use crate::hash::PackageHash;
use crate::lockfile::{Decoded, LockEntry, LockFile, LockName, Spans, likely_dialect, salvage};
use crate::modulelock::{self, ModuleChange, ModuleChangeKind};
use crate::outcome::{Body, Review, RootOutcome};
use crate::path::shown;
use crate::provenance::{BuildChange, Judged};
use crate::release;
use crate::release::continuity::{self, EarlierRecord};
use crate::requirements::Requirements;
use crate::settings::Date;
use crate::trust::Verdict;
use crate::trust::publishers::publisher;
use crate::verify::entry;
use crate::version::Version;

/// The name of the old side in a repository without commits.
pub(super) const NO_COMMIT: &str = "nothing";

#[derive(Debug, Clone, Default)]
pub struct DiffSide {
    /// The label in reports: a file, a commit, the working tree.
    pub name: String,
    /// `None` if there is no file.
    pub text: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Default)]
pub struct Pair {
    /// The lock file, as shown in reports.
    pub path: PathBuf,
    pub old: DiffSide,
    pub new: DiffSide,
    /// The tool whose rules apply, if given; otherwise it is detected from each text.
    pub dialect: Option<Dialect>,
    /// The commit of the old side, if the new side is the working tree, which can be restored from it.
    pub restorable_from: Option<String>,
    /// The texts of the module lock file in the same directory, before and now.
    pub modules: [Option<Vec<u8>>; 2],
}

impl Pair {
    /// A pair of module lock files.
    pub(super) fn of_modules(self) -> Self {
        let Self { old, new, .. } = self;
        let modules = [old.text, new.text];
        Self { old: DiffSide { text: None, ..old }, new: DiffSide { text: None, ..new }, modules, ..self }
    }
}

/// The requirements of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideRequirements {
    /// `None` if the configuration cannot be read, or if there is none.
    pub known: Option<Requirements>,
    /// What was not read and may require more.
    pub unread: Option<String>,
}

pub struct Knowledge<'a> {
    /// Returns the known packages of the changed releases.
    pub packages: &'a dyn Fn(&[Change]) -> Packages,
    /// The requirements of both sides; `None` without configuration to look at.
    pub requirements: &'a dyn Fn(&Pair) -> Option<[SideRequirements; 2]>,
    /// The providers that lock files of the repository had before.
    pub locked: &'a dyn Fn() -> Result<Arc<UsedNames>, Error>,
    pub trust: &'a Trust,
    pub online: bool,
    pub now: SystemTime,
}

/// Explains the changes. A text that the tools refuse is compared as far as it can be read; findings report its problems.
pub fn review(pair: &Pair, known: &Knowledge<'_>) -> RootOutcome {
    let is_instance = pair.path.file_name().and_then(LockName::of_file).is_some_and(|name| name.is_instance());
    let path = if is_instance { &pair.path } else { pair.path.parent().unwrap_or(Path::new("")) };
    let path = path.to_owned();
    let (body, findings) = match compare(pair, known) {
        Ok((review, findings)) => (Ok(Body::Review(review)), findings),
        Err(error) => (Err(error), Vec::new()),
    };
    RootOutcome { path, body, findings }
}

fn compare(pair: &Pair, known: &Knowledge<'_>) -> Result<(Review, Vec<Finding>), Error> {
    let (modules, of_modules) = modules(pair)?;
    if pair.old.text.is_none() && pair.new.text.is_none() && modules.is_empty() {
        let message = if pair.old.name == NO_COMMIT {
            format!("there is no such lock file in {}, and no commit to compare with", pair.new.name)
        } else {
            format!("there is no such lock file, neither in {} nor in {}", pair.old.name, pair.new.name)
        };
        return Err(Error::new(ErrorKind::NotFound, message).in_file(&pair.path));
    }
    let [old, new] = [&pair.old, &pair.new].map(|side| side.text.as_deref().unwrap_or_default());
    let differs =
        pair.modules[0] != pair.modules[1] || old != new || pair.old.text.is_some() != pair.new.text.is_some();
    // The path names the new text, so positions in the old text would mislead.
    let before = read(pair, &pair.old).map_err(|error| {
        // What is in the working tree, and what would mend it, is not about an earlier text.
        Error { file: None, position: None, hints: Vec::new(), ..error }
            .hint("compare with a lock file that can be read")
    })?;
    let now = read(pair, &pair.new)?;
    let not_literal = now.warnings.iter().any(|finding| finding.rule == Rule::LockNotLiteral);
    let mut list = diff::changes(&before.lock, &now.lock);
    // Of several entries of one provider no tool takes one: they are compared as a whole, by findings.
    let repeated: BTreeSet<&ProviderAddr> = before.repeated.keys().chain(now.repeated.keys()).collect();
    list.retain(|change| {
        ![Some(&change.address), change.moved_from.as_ref()].into_iter().flatten().any(|addr| repeated.contains(addr))
    });
    // An unreadable entry is not a removed one.
    list.retain(|change| change.new.is_some() || !now.spans.entries.contains_key(&change.address));
    let packages = (known.packages)(&list);
    let requirements = list.iter().any(|change| change.new.is_some()).then(|| (known.requirements)(pair)).flatten();
    let (mut extra, mut inconclusive) = (Vec::new(), Vec::new());
    for change in &mut list {
        change.link = new_release(change).and_then(|version| registry_page(&change.address, version));
        diff::judge(change, &packages);
        change.position = place(change, &now.spans);
        change.novelty = novelty(change, known)?.map(Box::new);
        if let Some(facts) = release(change, &packages) {
            extra.extend(of_release(change, facts, &packages, known));
            let altered = altered(change, facts, pair, [&before.lock, &now.lock]);
            change.is_edited = altered.is_some();
            extra.extend(altered);
            let open = change.judged.values().any(|judged| judged.verdict == Verdict::UnknownOffline);
            inconclusive.extend(unanswered(facts).filter(|_| open).cloned());
        }
        if let Some(sides) = &requirements {
            find_requirements(change, sides, pair.path.parent().unwrap_or(Path::new("")));
        }
    }
    diff::loudest_first(&mut list);
    let is_refused = [&before, &now].into_iter().any(|side| refusal(side).is_some());
    let review = Review {
        changed: differs,
        path: pair.path.clone(),
        text: TextChange { not_literal, ..diff::text_change(old, new, before.lock == now.lock, is_refused) },
        changes: list,
        sides: [pair.old.name.clone(), pair.new.name.clone()],
        is_new: pair.old.text.is_none() && pair.new.text.is_some(),
        online: known.online,
        inconclusive,
        modules,
    };
    let extra = extra.into_iter().map(|finding| finding.in_file(&pair.path));
    Ok((review, findings(pair, &before, now).into_iter().chain(extra).chain(of_modules).collect()))
}

/// Fills in what requires the provider of a change, now and otherwise than before.
fn find_requirements(change: &mut Change, [old, new]: &[SideRequirements; 2], root: &Path) {
    if let (Some(old), Some(new)) = (&old.known, &new.known)
        && is_required_otherwise(change)
    {
        diff::find_callers(change, old, new);
    }
    if new.known.is_some() || new.unread.is_some() {
        let requirement = new.known.as_ref().and_then(|known| known.get(&change.address));
        let origins = requirement.map(|it| &*it.origins).unwrap_or_default();
        change.required_by = RequiredBy::of(origins, new.unread.as_deref());
    }
    let callers = change.callers.iter_mut().map(OriginChange::origin_mut);
    for origin in callers.chain(change.required_by.origins_mut()) {
        origin.file = file_from(root, &origin.file);
    }
}

/// Describes a provider that is new to the repository; `None` for others.
fn novelty(change: &Change, known: &Knowledge<'_>) -> Result<Option<Novelty>, Error> {
    let addr = &change.address;
    let is_new = matches!(change.kind, ChangeKind::Added | ChangeKind::Moved);
    if !is_new || known.trust.old.as_ref().is_some_and(|pins| pins.pin(addr).is_some()) {
        return Ok(None);
    }
    let locked = (known.locked)()?;
    let signer_is_new = change.kind == ChangeKind::Added;
    let novelty = || Novelty { signer_is_new, mistaken_for: locked.mistaken_for(addr), namesake: namesake(addr) };
    Ok((!locked.contains(addr)).then(novelty))
}

/// The changes of the module lock file, with findings about them.
fn modules(pair: &Pair) -> Result<(Vec<ModuleChange>, Vec<Finding>), Error> {
    let path = pair.path.with_file_name(modulelock::FILE_NAME);
    let [old, new] = pair.modules.clone().map(|text| text.map(|text| ReadModuleLock::decode(text, &path)).transpose());
    let [old, new] = [old?, new?].map(|read| read.map(|read| read.file).unwrap_or_default());
    let removed = pair.modules[0].is_some() && pair.modules[1].is_none() && !old.lock.is_empty();
    let changes = modulelock::changes(&old.lock, &new.lock);
    let replaced = changes.iter().filter(|change| change.kind == ModuleChangeKind::ContentReplaced).map(|change| {
        let message = format!("{}: {}", change.key, change.sentence());
        let finding = Finding::new(Rule::ModuleChanged, message).about_module(&change.key.source);
        finding.at(new.spans.get(&change.key).copied())
    });
    let removed = removed.then(|| Finding::new(Rule::LockFileRemoved, "the module lock file was removed"));
    let findings = replaced.chain(removed).map(|finding| finding.in_file(&path)).collect();
    Ok((changes, findings))
}

/// The changes before they are judged; empty if a text cannot be read.
pub fn changes(pair: &Pair) -> Vec<Change> {
    match [&pair.old, &pair.new].map(|side| read(pair, side)) {
        [Ok(old), Ok(new)] => diff::changes(&old.lock, &new.lock),
        _ => Vec::new(),
    }
}

/// The release that a change puts into the file.
fn release<'a>(change: &Change, packages: &'a Packages) -> Option<&'a release::Lookup> {
    packages.release(&change.address, &change.new.as_ref()?.version)
}

/// The version that a change selects, if the release is new to the file.
fn new_release(change: &Change) -> Option<&Version> {
    let version = &change.new.as_ref()?.version;
    let is_kept = change.moved_from.is_none() && change.old.as_ref().is_some_and(|old| old.version == *version);
    (!is_kept).then_some(version)
}

/// Findings about the release as a whole, or its signer.
fn of_release(
    change: &mut Change,
    knowledge: &release::Lookup,
    packages: &Packages,
    known: &Knowledge<'_>,
) -> Vec<Finding> {
    let is_new = new_release(change).is_some();
    let mut findings = match knowledge {
        release::Lookup::NotRequested | release::Lookup::Inconclusive(_) => Vec::new(),
        release::Lookup::Withdrawn(message) => vec![Finding::new(Rule::VersionWithdrawn, message)],
        release::Lookup::Refused(finding, _) => vec![finding.clone()],
        release::Lookup::Known(release) => release.findings.clone(),
    };
    if let Some(release) = knowledge.release() {
        if is_new {
            change.link = release.link.clone().or(change.link.take());
            change.registry_warnings = Arc::clone(&release.registry_warnings);
            let days = |signed| known.now.duration_since(signed).map_or(0, |age| age.as_secs() / 86400);
            let Judged { build, findings: of_build, .. } = known.trust.judge_build(release);
            let old = change.old.as_ref().and_then(|old| packages.release(&change.address, &old.version));
            let old = old.and_then(release::Lookup::release);
            let old = || old.and_then(|release| known.trust.judge_build(release).build);
            change.build = build.map(|new| Box::new(BuildChange { new, old: old() }));
            findings.extend(of_build);
            change.witnesses = release.agreeing();
            change.signed = release.signed_at.map(|at| SigningDate { date: Date::of(at), days: days(at) });
        }
        let before = change.moved_from.as_ref().unwrap_or(&change.address);
        let before = change.old.as_ref().and_then(|old| packages.release(before, &old.version));
        let signer_before = before.and_then(release::Lookup::release).and_then(|release| release.signer.as_ref());
        findings.extend(release.signer.as_ref().and_then(|signer| sign(change, signer, signer_before, known.trust)));
        if let Some(signer) = release.signer.as_ref().filter(|_| is_new) {
            let unexpected =
                entry::unexpected_publisher(known.trust.old.as_ref(), &change.address, signer, Level::Deny);
            if unexpected.as_ref().is_some_and(|finding| finding.level() == Level::Deny) {
                change.publisher_denied = publisher(&change.address).map(|publisher| publisher.name);
            }
            findings.extend(unexpected);
        }
    }
    let placed = findings.into_iter().map(|finding| finding.about(&change.address));
    placed.map(|finding| finding.at(change.position)).collect()
}

/// The finding that an entry was altered: the source serves the hashes that the entry recorded before, for this version or another.
fn altered(change: &Change, knowledge: &release::Lookup, pair: &Pair, sides: [&LockFile; 2]) -> Option<Finding> {
    let release = knowledge.release().filter(|release| release.current)?;
    let (old, new) = change.old.as_ref().zip(change.new.as_ref())?;
    let (version, recorded) = (old.version.clone(), old.hashes.clone());
    let from = pair.restorable_from.as_deref();
    let remedy = from.and_then(|commit| restore(&change.address, sides, commit));
    let record = EarlierRecord { version, recorded, place: pair.old.name.clone(), remedy };
    let doubtful = continuity::is_doubtful(&new.hashes, release);
    let finding = continuity::altered(&new.hashes, release, &[record]).filter(|_| doubtful)?;
    Some(finding.at(change.position))
}

/// The errors of an origin that answered only partly or not at all.
fn unanswered(knowledge: &release::Lookup) -> impl Iterator<Item = &Error> {
    let of_release = knowledge.release().and_then(|release| release.inconclusive.as_ref());
    let of_question = match knowledge {
        release::Lookup::Inconclusive(error) => Some(error),
        _ => None,
    };
    of_release.or(of_question).into_iter()
}

/// True if the report needs to show what requires the provider.
fn is_required_otherwise(change: &Change) -> bool {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => old.constraints != new.constraints || change.moved_from.is_some(),
        _ => true,
    }
}

/// Reads a text, even one that the tools refuse, unless it is no lock file at all.
fn read(pair: &Pair, side: &DiffSide) -> Result<Decoded, Error> {
    let text = side.text.as_deref().unwrap_or_default();
    let dialect = pair.dialect.unwrap_or_else(|| likely_dialect(text));
    let decoded = salvage(text, dialect);
    match refusal(&decoded) {
        Some(finding) if decoded.spans.entries.is_empty() => {
            let path = shown(&pair.path);
            let is_of_files = pair.new.name == path;
            let named = if is_of_files { side.name.clone() } else { format!("{path} of {}", side.name) };
            let message = format!("{named} is not a lock file: {}", finding.message());
            let error = Error::new(ErrorKind::LockFile, message);
            Err(Error { position: finding.position, ..error.in_file(&pair.path).hint(finding.general_help()) })
        }
        _ => Ok(decoded),
    }
}

fn refusal(decoded: &Decoded) -> Option<&Finding> {
    decoded.warnings.iter().find(|finding| finding.level() == Level::Deny)
}

/// The problems of the new text; for the old one only that the tools refused it.
fn findings(pair: &Pair, old: &Decoded, new: Decoded) -> Vec<Finding> {
    // Of several entries it is said what differs.
    let was_refused = refusal(old).filter(|finding| finding.rule != Rule::DuplicateProvider).map(|finding| {
        let message = format!("{} is refused by the tools: {}", pair.old.name, finding.message());
        Finding::new(finding.rule, message).at_level(Level::Note)
    });
    // Formatting is news only if the old file was formatted.
    let is_news = |finding: &Finding| finding.rule != Rule::NotCanonical || old.canonical;
    // A file that was deleted is not formatted at all.
    let repeated: BTreeSet<&ProviderAddr> = old.repeated.keys().chain(new.repeated.keys()).collect();
    let compared: Vec<Finding> = repeated.into_iter().filter_map(|addr| several(addr, [old, &new])).collect();
    let of_new = new.warnings.into_iter().filter(|_| pair.new.text.is_some()).filter(is_news);
    was_refused.into_iter().chain(of_new).chain(compared).map(|finding| finding.in_file(&pair.path)).collect()
}

/// What differs where one side has several entries of a provider; `None` if nothing does.
fn several(addr: &ProviderAddr, sides: [&Decoded; 2]) -> Option<Finding> {
    let entries = |side: &Decoded| {
        let one = || side.lock.get(addr).cloned().into_iter().collect();
        side.repeated.get(addr).cloned().unwrap_or_else(one)
    };
    let [old, new] = sides.map(entries);
    if old == new {
        return None;
    }
    let versions = |entries: &[LockEntry]| {
        let versions: BTreeSet<&Version> = entries.iter().map(|entry| &entry.version).collect();
        let newest = versions.iter().rev().take(3).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match (entries.len(), versions.len()) {
            (0, _) => "no entry".to_owned(),
            (_, all @ 4..) => format!("{} of {all} versions, the newest {newest}", counted_entries(entries.len())),
            _ => format!("{} of {newest}", counted_entries(entries.len())),
        }
    };
    let hashes = |entries: &[LockEntry]| -> BTreeSet<PackageHash> {
        entries.iter().flat_map(|entry| entry.hashes.iter().cloned()).collect()
    };
    let (was, is) = (hashes(&old), hashes(&new));
    let (added, removed) = (is.difference(&was).count(), was.difference(&is).count());
    let message = format!(
        "several entries of {addr} cannot be compared one by one: {} before, {} now; checksums: {added} added, {removed} removed",
        versions(&old),
        versions(&new),
    );
    Some(Finding::new(Rule::DuplicateProvider, message).about(addr).at_level(Level::Note))
}

fn counted_entries(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// The position of a change: the hashes if only they changed, else the entry.
fn place(change: &Change, spans: &Spans) -> Option<crate::finding::Position> {
    use crate::diff::ChangeKind::{HashesChanged, HashesReplaced};
    let entry = spans.entries.get(&change.address)?;
    let hashes = entry.hashes.filter(|_| matches!(change.kind, HashesChanged | HashesReplaced));
    change.new.as_ref().map(|_| hashes.unwrap_or(entry.block))
}

/// True if the tools refuse the new text.
pub fn is_refused(root: &RootOutcome) -> bool {
    root.findings.iter().any(|finding| finding.level() == Level::Deny && finding.rule.class() == Class::Other)
}

/// True if an added hash contradicts the record or is unattested, or if a release must not be used.
pub fn is_alarming(root: &RootOutcome) -> bool {
    let refused = |finding: &Finding| finding.level() == Level::Deny && finding.rule.class() != Class::Other;
    if root.findings.iter().any(refused) {
        return true;
    }
    let Ok(Body::Review(review)) = &root.body else {
        return false;
    };
    review.changes.iter().any(diff::is_alarming)
}
