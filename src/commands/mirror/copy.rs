//! Copies the packages of lock files into a directory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::wanted::{Need, of_releases, queries, wanted};
use super::{MirrorArgs, mirrored, placed, unread};
use crate::commands::Services;
use crate::commands::roots::by_source;
use crate::commands::sources::Sources;
use crate::commands::verify::{Root, Roots, VerifyOptions, judged};
use crate::disk::cache::Cache;
use crate::disk::mirror_writer::{MirrorRelease, MirrorWriter};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule, shell_word};
use crate::hash::PackageHashes;
use crate::outcome::{Body, Fate, RootOutcome};
use crate::path::shown;
use crate::query::PackageKey;
use crate::query::answer::Refusal;
use crate::query::engine::{Copied, CopyAnswer, CopyOrder, unrecorded};
use crate::query::rules::Rules;
use crate::query::run::Session;
use crate::release::{Lookup, ReleaseKey, Releases};

struct Judged {
    root: Root,
    outcome: RootOutcome,
    failed: Vec<Error>,
    wanted: Vec<(PackageKey, Need)>,
}

/// A root module after its judgement, or the outcome of an unreadable one.
#[expect(clippy::large_enum_variant, reason = "there is one for each root module")]
enum RootState {
    Judged(Judged),
    Unread(RootOutcome),
}

/// The results by package.
type Answers = BTreeMap<PackageKey, CopyAnswer>;

pub(super) fn copy(
    args: &MirrorArgs,
    roots: Roots,
    services: &Services<'_>,
    cache: &Arc<Cache>,
) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
    let sources = Sources::new(services, cache);
    let (mut writer, mut outcomes, mut notes, mut reported) = (None, Vec::new(), Vec::new(), BTreeSet::new());
    for (session, of_group) in by_source(&sources, roots, |root: &Root| Some(root.queries())) {
        let finished = match session.and_then(|session| session.ok_or_else(|| offline(args))) {
            Ok(session) => {
                let writer = match &mut writer {
                    Some(writer) => writer,
                    none => none.insert(MirrorWriter::open(&args.directory)?),
                };
                let copying = Copying { args, cache, writer };
                let (finished, more) = copying.of_group(of_group, &session, &mut reported)?;
                notes.extend(more);
                finished
            }
            Err(error) => {
                let own = |root: Result<Root, Error>| root.err().unwrap_or_else(|| error.clone());
                of_group.into_iter().map(|(path, root)| RootOutcome::failed(path, own(root))).collect()
            }
        };
        outcomes.extend(finished);
    }
    notes.extend(sources.notes());
    Ok((outcomes, notes))
}

fn offline(args: &MirrorArgs) -> Error {
    let message = "mirror downloads packages from their sources, which --offline forbids";
    let directory = shell_word(&shown(&args.directory));
    let hint = format!("`tflock mirror --check {directory}` needs no network");
    Error::new(ErrorKind::Offline, message).hint(hint)
}

#[derive(Clone, Copy)]
struct Copying<'a> {
    args: &'a MirrorArgs,
    cache: &'a Cache,
    writer: &'a MirrorWriter,
}

impl Copying<'_> {
    /// Copies the packages of root modules with the same sources; returns one outcome for each, in their order.
    fn of_group(
        self,
        roots: Roots,
        session: &Session,
        reported: &mut BTreeSet<PackageKey>,
    ) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
        let queries = queries(roots.iter().filter_map(|(_, root)| root.as_ref().ok()), self.args);
        let rules = queries.iter().map(|(key, query)| (key.clone(), query.rules.clone())).collect();
        let (mut begun, mut notes) = (Vec::new(), Vec::new());
        let choose = |known: Releases| {
            (begun, notes) = self.judged(roots, &known);
            self.orders(&mut begun, &rules)
        };
        let answers = session.block_on(async |sources| {
            let known = sources.lookups(queries).await;
            sources.copies(choose(known)).await
        })?;
        let unwritten = self.publish(&answers);
        let done = Done { args: self.args, answers: &answers, unwritten: &unwritten };
        let finished = begun.into_iter().map(|begun| match begun {
            RootState::Judged(judged) => judged.finish(&done, reported),
            RootState::Unread(outcome) => outcome,
        });
        Ok((finished.collect(), notes))
    }

    /// Judges root modules, and selects the packages to copy.
    fn judged(self, roots: Roots, known: &Releases) -> (Vec<RootState>, Vec<String>) {
        let opened: Vec<Option<Root>> = roots.iter().map(|(_, root)| root.as_ref().ok().cloned()).collect();
        let (outcomes, notes) = judged(roots, known, self.cache, VerifyOptions::default());
        let begun = opened.into_iter().zip(outcomes).map(|(root, mut outcome)| {
            let Some(root) = root.filter(|root| root.spans().is_some()) else {
                return RootState::Unread(unread(outcome, self.args));
            };
            of_releases(&mut outcome, &root);
            let failed = unanswered(&root, known);
            let mut wanted = wanted(self.args, &root, known, &outcome.findings);
            // Releases without an answer have been reported.
            wanted.retain(|(key, _)| {
                known.get(&(key.address.clone(), key.version.clone())).is_some_and(|known| known.release().is_some())
            });
            RootState::Judged(Judged { root, outcome, failed, wanted })
        });
        (begun.collect(), notes)
    }

    /// The packages to copy, each once, checked against the hashes of all lock files that record its release.
    fn orders(self, begun: &mut [RootState], rules: &BTreeMap<ReleaseKey, Rules>) -> BTreeMap<PackageKey, CopyOrder> {
        let mut orders: BTreeMap<PackageKey, CopyOrder> = BTreeMap::new();
        for begun in begun {
            let RootState::Judged(judged) = begun else { continue };
            let mut failed = Vec::new();
            judged.wanted.retain(|(key, _)| {
                let entry = judged.root.lock().get(&key.address);
                let hashes = || entry.iter().flat_map(|entry| &entry.hashes).cloned();
                if let Some(order) = orders.get_mut(key) {
                    order.recorded.extend(hashes());
                    return true;
                }
                match self.writer.directory(&key.address) {
                    Ok(directory) => {
                        let rules = rules.get(&(key.address.clone(), key.version.clone())).cloned().unwrap_or_default();
                        let recorded: PackageHashes = hashes().collect();
                        orders.insert(key.clone(), CopyOrder { directory, rules, recorded });
                        true
                    }
                    Err(error) => {
                        failed.push(error);
                        false
                    }
                }
            });
            judged.failed.append(&mut failed);
        }
        orders
    }

    fn publish(self, answers: &Answers) -> BTreeMap<ReleaseKey, Error> {
        let mut releases: BTreeMap<ReleaseKey, MirrorRelease> = BTreeMap::new();
        for (key, answer) in answers {
            let Ok(Some(copied)) = answer else { continue };
            let release = releases.entry((key.address.clone(), key.version.clone())).or_default();
            if let Some(signed) = copied.signed {
                release.sums = self.cache.document(&signed.sums);
                release.signature = signed.signature.and_then(|digest| self.cache.document(&digest));
                release.keys = signed.keys.and_then(|digest| self.cache.keys(&digest)).unwrap_or_default();
            }
            let archive = (copied.file_name.clone(), vec![copied.h1.clone(), copied.zh.clone()]);
            release.archives.insert(key.platform.clone(), archive);
        }
        let publish = |((addr, version), release): (ReleaseKey, MirrorRelease)| {
            let error = self.writer.publish(&addr, &version, &release).err()?;
            Some(((addr, version), error))
        };
        releases.into_iter().filter_map(publish).collect()
    }
}

fn unanswered(root: &Root, known: &Releases) -> Vec<Error> {
    let knowledge = root.lock().iter().filter_map(|(addr, entry)| known.get(&(addr.clone(), entry.version.clone())));
    let errors = knowledge.filter_map(|knowledge| match knowledge {
        Lookup::Inconclusive(error) => Some(error.clone()),
        _ => None,
    });
    errors.collect()
}

struct Done<'a> {
    args: &'a MirrorArgs,
    answers: &'a Answers,
    unwritten: &'a BTreeMap<ReleaseKey, Error>,
}

impl Judged {
    /// The outcome. If several root modules need a package, the first one reports it.
    fn finish(self, done: &Done<'_>, reported: &mut BTreeSet<PackageKey>) -> RootOutcome {
        let Done { args, answers, unwritten } = done;
        let mut report = args.report();
        report.failed = self.failed;
        let mut findings = Vec::new();
        for (key, need) in self.wanted {
            match answers.get(&key) {
                Some(Ok(Some(copied))) if !records(&self.root, &key, copied) => report.failed.push(unrecorded(&key)),
                Some(Ok(Some(copied))) => {
                    let written = unwritten.get(&(key.address.clone(), key.version.clone())).map_or(Ok(()), Err);
                    let first = reported.insert(key.clone());
                    match written {
                        Ok(()) => {
                            let hashes = (copied.size, vec![copied.h1.clone(), copied.zh.clone()]);
                            let fate = if first { copied.fate } else { Fate::Present };
                            report.packages.push(mirrored(args, &key, &copied.file_name, hashes, fate));
                        }
                        Err(error) => report.failed.push(error.clone()),
                    }
                }
                Some(Ok(None)) => match need {
                    Need::Named => report.failed.push(absent(&key)),
                    Need::Optional => {
                        findings.push(Finding::new(Rule::PlatformMissing, absent(&key).message).about(&key.address));
                    }
                    Need::Likely => {}
                },
                Some(Err(Refusal::Error(error))) => report.failed.push(error.clone()),
                Some(Err(Refusal::Finding(finding))) => findings.push(finding.clone()),
                Some(Err(Refusal::Revoked(finding, _))) => findings.push((**finding).clone()),
                None => {}
            }
        }
        let mut outcome = self.outcome;
        outcome.findings.extend(placed(&self.root, findings));
        report.failed = Error::all(report.failed).map(|error| error.each().cloned().collect()).unwrap_or_default();
        RootOutcome { body: Ok(Body::Mirror(report)), ..outcome }
    }
}

fn records(root: &Root, key: &PackageKey, copied: &Copied) -> bool {
    let entry = root.lock().get(&key.address);
    entry.is_some_and(|entry| [&copied.zh, &copied.h1].iter().any(|hash| entry.hashes.contains(hash)))
}

fn absent(key: &PackageKey) -> Error {
    let PackageKey { address, version, platform } = key;
    let message = format!("provider {address} {version} is not available for {platform}");
    let hint = "if the package is not needed, name the platform under optional_platforms in .tflock.hcl";
    Error::new(ErrorKind::NotFound, message).hint(hint)
}
