//! `mirror`: copies the locked packages into a directory that is both a filesystem mirror and a network mirror. Lock
//! files are judged as `verify` judges them, and refused packages are not copied. The trust file does not change.

mod contents;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Services;
use super::shared::options::{Packages, Within, platform};
use super::shared::sources::PackageSources;
use super::shared::targets::{Targets, Unlocked};
use super::verify::facts::Questions;
use super::verify::opening::open;
use super::verify::{self, GateRoot, GateRoots, JudgedRoot, RunLimits, TreeVerdict, VerifyOptions};

use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::disk::mirror_writer::{ArchiveCopy, MirrorRelease, MirrorWriter, directory_in};
use crate::error::{Error, ErrorKind};
use crate::finding::{Class, Finding, Level, Rule};
use crate::hash::PackageHashes;
use crate::interrupt::{Interrupt, What};
use crate::lockfile::LockEntry;
use crate::outcome::{Body, Fate, MirrorReport, MirroredPackage, Outcome, RootOutcome};
use crate::path::shown;
use crate::platform::Platform;
use crate::query::engine::{Destination, FetchAnswer, FetchOrder, unrecorded};
use crate::query::question::{Depth, PackageFacts, Query, Refusal};
use crate::query::select::Rules;
use crate::query::{PackageKey, Session};
use crate::release::{Lookup, ReleaseKey, Releases, hashes};
use crate::verify::Completion;

/// Copy the locked packages into a directory that serves as a mirror.
///
/// Writes the packages of the lock file, checked as `verify` checks them, as a filesystem mirror. Served over https, the
/// same directory is a network mirror. Next to the packages it writes SHA256SUMS, its signature and the registry's keys, if
/// the source of the packages has them. Existing packages are not downloaded again, and other versions stay.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock mirror /srv/mirror --platform linux_amd64 --platform darwin_arm64\n  tflock mirror -r /srv/mirror\n  tflock mirror --check -r /srv/mirror"
)]
pub(crate) struct MirrorArgs {
    /// The mirror.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Copy the packages of this platform; may be repeated. Default: the platforms of .tflock.hcl, else the locked ones.
    #[arg(long = "platform", value_name = "OS_ARCH", value_parser = platform)]
    pub(crate) platforms: Vec<Platform>,
    /// Write nothing and do not use the network; exit 1 if the mirror lacks a file, 3 if a file was altered.
    #[arg(long)]
    pub(crate) check: bool,
    /// Copy for every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    #[command(flatten)]
    pub(crate) packages: Packages,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn mirror(args: &MirrorArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let scope = &services.scope;
    let targets = Targets::with_instances(scope, args.recursive, Unlocked::Opened)?.or_none()?;
    let roots = open(&targets, None, scope)?.whole();
    services.events_for(targets.dialect());
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let (roots, mut notes) = if args.check {
        contents::check_mirror(args, &roots, scope.environment.now)?
    } else {
        copy(args, roots, services, &cache)?
    };
    notes.extend(cache.finish());
    Ok(targets.finish("mirror", roots, notes))
}

impl MirrorArgs {
    fn report(&self) -> MirrorReport {
        MirrorReport { directory: self.directory.clone(), checked: self.check, ..MirrorReport::default() }
    }
}

/// A package in the mirror.
fn mirrored(key: &PackageKey, facts: &PackageFacts, fate: Fate) -> MirroredPackage {
    let PackageKey { address, version, platform } = key.clone();
    let file_name = hashes::conventional_name(&address, &version, &platform);
    let file = directory_in(Path::new(""), &address).join(file_name);
    let (size, hashes) = (facts.size.unwrap_or_default(), facts.installed().collect());
    MirroredPackage { address, version, platform, file, size, hashes, fate }
}

/// True if the lock file of a root module records a package.
fn records(root: &GateRoot, key: &PackageKey, facts: &PackageFacts) -> bool {
    let entry = root.lock().get(&key.address);
    entry.is_some_and(|entry| facts.hashes().any(|hash| entry.hashes.contains(&hash)))
}

/// Places findings at the entries of the lock file.
pub(crate) fn placed(root: &GateRoot, findings: Vec<Finding>) -> Vec<Finding> {
    let block = |finding: &Finding| Some(root.spans()?.entries.get(finding.address.as_ref()?)?.block);
    let at = |finding: Finding| match block(&finding) {
        Some(block) => finding.at(block),
        None => finding,
    };
    root.placed(findings.into_iter().map(at).collect())
}

/// The results by package.
type FetchAnswers = BTreeMap<PackageKey, FetchAnswer>;

pub(crate) fn copy(
    args: &MirrorArgs,
    roots: GateRoots,
    services: &Services<'_>,
    cache: &Arc<Cache>,
) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
    let sources = PackageSources::new(services, cache);
    let (mut writer, mut outcomes, mut notes, mut limits) = (None, Vec::new(), Vec::new(), RunLimits::default());
    for (session, of_group) in sources.by_source(roots, GateRoot::queries) {
        let finished = match session.and_then(|session| session.ok_or_else(|| offline(args))) {
            Ok(session) => {
                let writer = match &mut writer {
                    Some(writer) => writer,
                    none => none.insert(MirrorWriter::open(&args.directory, services.interrupt.clone())?),
                };
                let copying = Copying { args, cache, writer, interrupt: &services.interrupt };
                let (finished, more) = copying.of_group(&of_group, &session, &mut limits)?;
                notes.extend(more);
                finished
            }
            Err(error) => {
                let own = |root: Result<GateRoot, Error>| root.err().unwrap_or_else(|| error.clone());
                of_group.into_iter().map(|(path, root)| RootOutcome::failed(path, own(root))).collect()
            }
        };
        outcomes.extend(finished);
    }
    notes.extend(limits.notes());
    notes.extend(sources.notes());
    Ok((outcomes, notes))
}

fn offline(args: &MirrorArgs) -> Error {
    let message = "mirror downloads packages from their sources, which --offline forbids";
    let hint = step!("`tflock mirror --check {}` needs no network", shown(&args.directory));
    Error::new(ErrorKind::Offline, message).hint(hint)
}

#[derive(Clone, Copy)]
struct Copying<'a> {
    args: &'a MirrorArgs,
    cache: &'a Cache,
    writer: &'a MirrorWriter,
    interrupt: &'a Interrupt,
}

impl Copying<'_> {
    /// Copies the packages of root modules with the same sources; returns one outcome for each, in their order.
    fn of_group(
        self,
        roots: &GateRoots,
        session: &Session,
        limits: &mut RunLimits,
    ) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
        let queries = queries(roots.iter().filter_map(|(_, root)| root.as_ref().ok()), self.args);
        let rules = queries.iter().map(|(key, query)| (key.clone(), query.rules.clone())).collect();
        let (mut begun, mut notes, mut answers) = (Vec::new(), Vec::new(), FetchAnswers::new());
        let mut choose = |known: Releases| {
            (begun, notes) = judged(self.args, roots, &known, self.cache, limits);
            for judged in begun.iter_mut().flatten() {
                judged.failed = unanswered(judged.root, &known);
            }
            self.orders(begun.iter().flatten(), (&known, &rules), &mut answers)
        };
        let fetched = session.block_on(async |sources| {
            let known = sources.lookups(queries).await;
            sources.fetched(choose(known)).await
        })?;
        answers.extend(fetched);
        let unwritten = self.publish(&answers);
        let mut answer = |root: &GateRoot, key: &PackageKey, need: PackageNeed| {
            let fetched = match answers.get_mut(key)? {
                Ok(Some(fetched)) => fetched,
                Ok(None) => return absent(key, need).map(Err),
                Err(refusal) => return Some(Err(refusal.clone())),
            };
            if !records(root, key, &fetched.facts) {
                return Some(Err(unrecorded(key).into()));
            }
            // If several root modules need a package, the first one reports it.
            let fate = std::mem::replace(&mut fetched.fate, Fate::Present);
            let error = unwritten.get(&key.release()).map(|error| error.clone().into());
            Some(error.map_or_else(|| Ok(mirrored(key, &fetched.facts, fate)), Err))
        };
        let finished = begun.into_iter().map(|begun| match begun {
            Ok(judged) => judged.finish(self.args, &mut answer),
            Err(outcome) => *outcome,
        });
        Ok((finished.collect(), notes))
    }

    /// The packages to copy, each once, checked against the hashes of all lock files that record its release. Releases
    /// without an answer have been reported.
    fn orders<'j>(
        self,
        judged: impl Iterator<Item = &'j MirroredRoot<'j>>,
        (known, rules): (&Releases, &BTreeMap<ReleaseKey, Rules>),
        answers: &mut FetchAnswers,
    ) -> BTreeMap<PackageKey, FetchOrder> {
        let mut recorded: BTreeMap<&PackageKey, PackageHashes> = BTreeMap::new();
        for judged in judged {
            for (key, _) in &judged.wanted {
                let entry = judged.root.lock().get(&key.address);
                recorded.entry(key).or_default().extend(entry.iter().flat_map(|entry| &entry.hashes).cloned());
            }
        }
        let mut orders = BTreeMap::new();
        for (key, recorded) in recorded {
            let release = key.release();
            if known.get(&release).is_none_or(|known| known.release().is_none()) {
                continue;
            }
            match self.writer.directory(&key.address) {
                Ok(directory) => {
                    let file_name = hashes::conventional_name(&key.address, &key.version, &key.platform);
                    let destination =
                        Destination::Archive(Arc::new(ArchiveCopy::new(directory, file_name, self.interrupt.clone())));
                    let rules = Some(rules.get(&release).cloned().unwrap_or_default());
                    orders.insert(key.clone(), FetchOrder { destination, rules, recorded });
                }
                Err(error) => drop(answers.insert(key.clone(), Err(error.into()))),
            }
        }
        self.interrupt.expect(What::MirroredPackage, orders.len());
        orders
    }

    /// Writes the documents of what was copied; returns the releases for which that failed.
    fn publish(self, answers: &FetchAnswers) -> BTreeMap<ReleaseKey, Error> {
        let mut releases: BTreeMap<ReleaseKey, MirrorRelease> = BTreeMap::new();
        for (key, answer) in answers {
            let Ok(Some(fetched)) = answer else { continue };
            let release = releases.entry(key.release()).or_default();
            if let Some(signed) = fetched.signed {
                release.sums = self.cache.document(&signed.sums);
                release.signature = self.cache.document(&signed.signature);
                release.keys = self.cache.keys(&signed.keys).unwrap_or_default();
            }
            release.archives.insert(key.platform.clone(), fetched.facts.installed().collect());
        }
        let publish = |((addr, version), release): (ReleaseKey, MirrorRelease)| {
            let error = self.writer.publish(&addr, &version, &release).err()?;
            Some(((addr, version), error))
        };
        releases.into_iter().filter_map(publish).collect()
    }
}

fn unanswered(root: &GateRoot, known: &Releases) -> Vec<Error> {
    let knowledge = root.lock().iter().filter_map(|(addr, entry)| known.get(&(addr.clone(), entry.version.clone())));
    let errors = knowledge.filter_map(|knowledge| match knowledge {
        Lookup::Inconclusive(error) => Some(error.clone()),
        _ => None,
    });
    errors.collect()
}

/// What follows from a package that no source has.
fn absent(key: &PackageKey, need: PackageNeed) -> Option<Refusal> {
    let PackageKey { address, version, platform } = key;
    let message = format!("provider {address} {version} is not available for {platform}");
    let hint = "if the package is not needed, name the platform under optional_platforms in .tflock.hcl";
    match need {
        PackageNeed::Named => Some(Error::new(ErrorKind::NotFound, message).hint(hint).into()),
        PackageNeed::Optional => Some(Finding::new(Rule::PlatformMissing, message).about(address).into()),
        PackageNeed::Likely => None,
    }
}

/// How strongly a package is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackageNeed {
    Named,
    /// The settings make its platform optional for the provider.
    Optional,
    /// Its platform is this machine's, or known from the hashes of entries.
    Likely,
}

/// The queries about the locked releases of all root modules. Judging downloads no package; the required ones are
/// hashed when they are copied.
pub(crate) fn queries<'a>(roots: impl Iterator<Item = &'a GateRoot>, args: &MirrorArgs) -> BTreeMap<ReleaseKey, Query> {
    let mut questions = Questions::new(Depth::DOCUMENTS, false);
    for root in roots {
        questions.add(root.settings(), root.lock(), named(args, root).unwrap_or_default());
    }
    questions.queries
}

/// The platforms named by flags, else by the settings.
fn named<'a>(args: &'a MirrorArgs, root: &'a GateRoot) -> Option<&'a [Platform]> {
    let flags = Some(&args.platforms[..]).filter(|platforms| !platforms.is_empty());
    flags.or(root.settings().settings.platforms.as_deref())
}

/// The platforms to copy: the named ones, else this machine's and those that the recorded `h1:` hashes are known to be for.
fn platforms(args: &MirrorArgs, root: &GateRoot, known: &Releases) -> (BTreeSet<Platform>, PackageNeed) {
    if let Some(named) = named(args, root) {
        return (named.iter().cloned().collect(), PackageNeed::Named);
    }
    let attributed = root.lock().iter().flat_map(|(addr, entry)| {
        let release = known.get(&(addr.clone(), entry.version.clone())).and_then(|known| known.release());
        let recorded = release.into_iter().flat_map(|release| release.platforms_with(&entry.hashes));
        recorded.map(|(platform, _)| platform.clone())
    });
    (attributed.chain([Platform::host()]).collect(), PackageNeed::Likely)
}

/// A root module after its judgement.
pub(super) struct MirroredRoot<'a> {
    pub(in crate::commands) root: &'a GateRoot,
    outcome: RootOutcome,
    /// The packages of entries without findings against them, each with its need.
    pub(in crate::commands) wanted: Vec<(PackageKey, PackageNeed)>,
    /// What the report begins with.
    pub(in crate::commands) failed: Vec<Error>,
}

/// Judges root modules as `verify` does, and selects the packages of each; of one whose lock file could not be read, it gives
/// the outcome.
fn judged<'a>(
    args: &MirrorArgs,
    roots: &'a GateRoots,
    known: &Releases,
    cache: &Cache,
    limits: &mut RunLimits,
) -> (Vec<Result<MirroredRoot<'a>, Box<RootOutcome>>>, Vec<String>) {
    let (options, verdict) = (VerifyOptions::default(), TreeVerdict::default());
    let (judged, notes) = verify::judged(roots, known, cache, options, &verdict, limits);
    let judged = judged.into_iter().map(|JudgedRoot { root, mut outcome }| {
        let Some(root) = root.filter(|root| root.spans().is_some()) else {
            let body = outcome.body.map(|_| Body::Mirror(args.report()));
            return Err(Box::new(RootOutcome { body, ..outcome }));
        };
        // `verify` checks the requirements.
        outcome.findings.retain(|finding| finding.rule.class() != Class::Other);
        let wanted = wanted(args, root, known, &outcome.findings);
        Ok(MirroredRoot { root, outcome, wanted, failed: Vec::new() })
    });
    (judged.collect(), notes)
}

fn wanted(
    args: &MirrorArgs,
    root: &GateRoot,
    known: &Releases,
    findings: &[Finding],
) -> Vec<(PackageKey, PackageNeed)> {
    let (platforms, need) = platforms(args, root, known);
    let refused = |addr: &ProviderAddr| {
        findings.iter().any(|finding| finding.level() == Level::Deny && finding.address.as_ref() == Some(addr))
    };
    let settings = &root.settings().settings;
    let of_entry = |(addr, entry): (&ProviderAddr, &LockEntry)| {
        let package = |platform: &Platform| {
            let need = if settings.optional(addr, platform) { PackageNeed::Optional } else { need };
            (PackageKey::of(&(addr.clone(), entry.version.clone()), platform), need)
        };
        platforms.iter().map(package).collect::<Vec<_>>()
    };
    root.lock().iter().filter(|(addr, _)| !refused(addr)).flat_map(of_entry).collect()
}

impl MirroredRoot<'_> {
    /// The outcome, by what there is to say of each wanted package.
    pub(crate) fn finish<A: IntoIterator<Item = Result<MirroredPackage, Refusal>>>(
        self,
        args: &MirrorArgs,
        mut answers: impl FnMut(&GateRoot, &PackageKey, PackageNeed) -> A,
    ) -> RootOutcome {
        let Self { root, mut outcome, wanted, mut failed } = self;
        let (mut report, mut findings) = (args.report(), Vec::new());
        for answer in wanted.into_iter().flat_map(|(key, need)| answers(root, &key, need)) {
            match answer {
                Ok(package) => report.packages.push(package),
                Err(Refusal::Error(error)) => failed.push(error),
                // Other findings say why there is no package to copy, whatever the settings say.
                Err(Refusal::Finding(finding, _)) if finding.rule == Rule::PlatformMissing => {
                    let settings = root.settings();
                    let completion = Completion::checking(&settings.settings, settings.now);
                    findings.push(completion.complete(*finding, None));
                }
                Err(Refusal::Finding(finding, _)) => findings.push(*finding),
            }
        }
        outcome.findings.extend(placed(root, findings));
        report.failed = Error::all(failed).map(|error| error.each().cloned().collect()).unwrap_or_default();
        RootOutcome { body: Ok(Body::Mirror(report)), ..outcome }
    }
}
