//! Copies the packages of lock files into a directory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::wanted::{Judged, Need, judged, queries};
use super::{MirrorArgs, mirrored, records};
use crate::commands::Services;
use crate::commands::roots::by_source;
use crate::commands::sources::Sources;
use crate::commands::verify::{Root, Roots};
use crate::disk::cache::Cache;
use crate::disk::mirror_writer::{ArchiveCopy, MirrorRelease, MirrorWriter};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule, shell_word};
use crate::hash::PackageHashes;
use crate::interrupt::{Interrupt, What};
use crate::outcome::{Fate, RootOutcome};
use crate::path::shown;
use crate::query::PackageKey;
use crate::query::Session;
use crate::query::answer::Refusal;
use crate::query::criteria::Rules;
use crate::query::engine::{Destination, FetchAnswer, FetchOrder, unrecorded};
use crate::release::{Lookup, ReleaseKey, Releases, reported};

/// The results by package.
type Answers = BTreeMap<PackageKey, FetchAnswer>;

pub(super) fn copy(
    args: &MirrorArgs,
    roots: Roots,
    services: &Services<'_>,
    cache: &Arc<Cache>,
) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
    let sources = Sources::new(services, cache);
    let (mut writer, mut outcomes, mut notes) = (None, Vec::new(), Vec::new());
    for (session, of_group) in by_source(&sources, roots, |root: &Root| Some(root.queries())) {
        let finished = match session.and_then(|session| session.ok_or_else(|| offline(args))) {
            Ok(session) => {
                let writer = match &mut writer {
                    Some(writer) => writer,
                    none => none.insert(MirrorWriter::open(&args.directory, services.interrupt.clone())?),
                };
                let copying = Copying { args, cache, writer, interrupt: &services.interrupt };
                let (finished, more) = copying.of_group(of_group, &session)?;
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
    interrupt: &'a Interrupt,
}

impl Copying<'_> {
    /// Copies the packages of root modules with the same sources; returns one outcome for each, in their order.
    fn of_group(self, roots: Roots, session: &Session) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
        let queries = queries(roots.iter().filter_map(|(_, root)| root.as_ref().ok()), self.args);
        let rules = queries.iter().map(|(key, query)| (key.clone(), query.rules.clone())).collect();
        let (mut begun, mut notes, mut answers) = (Vec::new(), Vec::new(), Answers::new());
        let choose = |known: Releases| {
            (begun, notes) = judged(self.args, roots, &known, self.cache);
            for judged in begun.iter_mut().flatten() {
                judged.failed = unanswered(&judged.root, &known);
            }
            self.orders(begun.iter().flatten(), (&known, &rules), &mut answers)
        };
        let fetched = session.block_on(async |sources| {
            let known = sources.lookups(queries).await;
            sources.fetched(choose(known)).await
        })?;
        answers.extend(fetched);
        let unwritten = self.publish(&answers);
        let mut answer = |root: &Root, key: &PackageKey, need: Need| {
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
        judged: impl Iterator<Item = &'j Judged>,
        (known, rules): (&Releases, &BTreeMap<ReleaseKey, Rules>),
        answers: &mut Answers,
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
                    let file_name = reported::conventional_name(&key.address, &key.version, &key.platform);
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
    fn publish(self, answers: &Answers) -> BTreeMap<ReleaseKey, Error> {
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

fn unanswered(root: &Root, known: &Releases) -> Vec<Error> {
    let knowledge = root.lock().iter().filter_map(|(addr, entry)| known.get(&(addr.clone(), entry.version.clone())));
    let errors = knowledge.filter_map(|knowledge| match knowledge {
        Lookup::Inconclusive(error) => Some(error.clone()),
        _ => None,
    });
    errors.collect()
}

/// What follows from a package that no source has.
fn absent(key: &PackageKey, need: Need) -> Option<Refusal> {
    let PackageKey { address, version, platform } = key;
    let message = format!("provider {address} {version} is not available for {platform}");
    let hint = "if the package is not needed, name the platform under optional_platforms in .tflock.hcl";
    match need {
        Need::Named => Some(Error::new(ErrorKind::NotFound, message).hint(hint).into()),
        Need::Optional => Some(Finding::new(Rule::PlatformMissing, message).about(address).into()),
        Need::Likely => None,
    }
}
