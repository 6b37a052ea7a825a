//! From lock files to a directory with their packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::wanted::{Need, inquiries, of_releases, wanted};
use super::{Request, placed, unread};
use crate::addr::ProviderAddr;
use crate::ask::answer::Refusal;
use crate::ask::gather::{Copied, CopyAnswer, CopyOrder, unrecorded};
use crate::ask::{PackageKey, run};
use crate::commands::Services;
use crate::commands::sources::Sources;
use crate::commands::verify::{Root, Roots, VerifyOptions, judged};
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::mirror_writer::{MirrorRelease, MirrorWriter, directory_in};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::PackageHashes;
use crate::hash::sums::Sums;
use crate::outcome::{Body, Fate, MirroredPackage, RootOutcome};
use crate::release::{Knowledge, Known};
use crate::settings::SourceChoice;
use crate::version::Version;
use crate::workspace::RootSource;

/// One root module with what was found of it, and the packages that it wants.
struct Judged {
    root: Root,
    outcome: RootOutcome,
    failed: Vec<Error>,
    wanted: Vec<(PackageKey, Need)>,
}

/// The packages that were asked for, by package.
type Answers = BTreeMap<PackageKey, CopyAnswer>;

/// Copies the packages of all root modules, each once, and writes the documents of the mirror.
///
/// # Errors
///
/// That there can be no mirror, or that nobody can be asked.
pub(super) fn copy(
    request: &Request,
    roots: Roots,
    services: &Services<'_>,
    cache: &Arc<Cache>,
) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
    let inquiries = inquiries(roots.iter().filter_map(|(_, root)| root.as_ref().ok()), request);
    let dialects: BTreeSet<Dialect> =
        roots.iter().filter_map(|(_, root)| Some(root.as_ref().ok()?.settings().dialect)).collect();
    let dialect = if dialects.len() == 1 { dialects.first().copied() } else { None };
    // What is copied is signed: it comes from the origin registries.
    let (choice, is_default) = (SourceChoice::Origin, false);
    let origin =
        RootSource { dialect: dialect.unwrap_or(Dialect::Terraform), choice, is_default, root: PathBuf::new() };
    let sources = Sources::new(services, cache);
    let Some(options) = sources.open(&sources.of(&origin, std::iter::empty())?)? else {
        return Err(Error::new(ErrorKind::Offline, "nobody may be asked for packages"));
    };
    let writer = MirrorWriter::open(&request.directory)?;
    let (mut begun, mut unreadable, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let choose = |known: Known| {
        let opened: Vec<Option<Root>> = roots.iter().map(|(_, root)| root.as_ref().ok().cloned()).collect();
        let (outcomes, told) = judged(roots, &known, cache, VerifyOptions::default());
        notes = told;
        for (root, mut outcome) in opened.into_iter().zip(outcomes) {
            let Some(root) = root.filter(|root| root.spans().is_some()) else {
                unreadable.push(unread(outcome, request));
                continue;
            };
            of_releases(&mut outcome, &root);
            let failed = unanswered(&root, &known);
            let mut wanted = wanted(request, &root, &known, &outcome.findings);
            // What could not be asked about has been told.
            wanted.retain(|(key, _)| {
                known.get(&(key.address.clone(), key.version.clone())).is_some_and(|known| known.release().is_some())
            });
            begun.push(Judged { root, outcome, failed, wanted });
        }
        orders(&mut begun, &writer, cache)
    };
    let answers = run::copy(options, inquiries, choose)?;
    let unwritten = publish(&answers, &writer, cache);
    let mut told = BTreeSet::new();
    let finished = begun.into_iter().map(|judged| judged.finish(request, &answers, &unwritten, &mut told));
    let outcomes = finished.collect::<Vec<_>>().into_iter().chain(unreadable).collect();
    Ok((outcomes, notes))
}

/// Why nothing is known of locked releases.
fn unanswered(root: &Root, known: &Known) -> Vec<Error> {
    let knowledge = root.lock().iter().filter_map(|(addr, entry)| known.get(&(addr.clone(), entry.version.clone())));
    let errors = knowledge.filter_map(|knowledge| match knowledge {
        Knowledge::Inconclusive(error) => Some(error.clone()),
        _ => None,
    });
    errors.collect()
}

/// What is to be copied: each package once, held to what all lock files record of its release.
fn orders(begun: &mut [Judged], writer: &MirrorWriter, cache: &Cache) -> BTreeMap<PackageKey, CopyOrder> {
    let mut orders: BTreeMap<PackageKey, CopyOrder> = BTreeMap::new();
    for judged in begun {
        let mut failed = Vec::new();
        judged.wanted.retain(|(key, _)| {
            let entry = judged.root.lock().get(&key.address);
            let hashes = || entry.iter().flat_map(|entry| &entry.hashes).cloned();
            if let Some(order) = orders.get_mut(key) {
                order.recorded.extend(hashes());
                return true;
            }
            let Some(sums) = sums(cache, &key.address, &key.version) else { return false };
            match writer.directory(&key.address) {
                Ok(directory) => {
                    let recorded: PackageHashes = hashes().collect();
                    orders.insert(key.clone(), CopyOrder { directory, sums: Arc::new(sums), recorded });
                    true
                }
                Err(error) => {
                    failed.push(Error::from(error));
                    false
                }
            }
        });
        judged.failed.append(&mut failed);
    }
    orders
}

/// The checksums of a release as this run judged them.
fn sums(cache: &Cache, addr: &ProviderAddr, version: &Version) -> Option<Sums> {
    Some(Sums::decode(&cache.document(&cache.release(addr, version)?.sums)?))
}

/// Writes the documents of each release with a package; returns why some could not be written.
fn publish(answers: &Answers, writer: &MirrorWriter, cache: &Cache) -> BTreeMap<(ProviderAddr, Version), Error> {
    let mut releases: BTreeMap<(ProviderAddr, Version), MirrorRelease> = BTreeMap::new();
    for (key, answer) in answers {
        let Ok(Some(copied)) = answer else { continue };
        let release = releases
            .entry((key.address.clone(), key.version.clone()))
            .or_insert_with(|| documents(cache, &key.address, &key.version));
        let archive = (copied.file_name.clone(), vec![copied.h1.clone(), copied.zh.clone()]);
        release.archives.insert(key.platform.clone(), archive);
    }
    let publish = |((addr, version), release): ((ProviderAddr, Version), MirrorRelease)| {
        let error = writer.publish(&addr, &version, &release).err()?;
        Some(((addr, version), error.into()))
    };
    releases.into_iter().filter_map(publish).collect()
}

/// The signed documents of a release, as its registry served them to this run.
fn documents(cache: &Cache, addr: &ProviderAddr, version: &Version) -> MirrorRelease {
    let Some(record) = cache.release(addr, version) else { return MirrorRelease::default() };
    MirrorRelease {
        sums: cache.document(&record.sums),
        signature: record.signature.and_then(|digest| cache.document(&digest)),
        keys: record.keys.and_then(|digest| cache.keys(&digest)).unwrap_or_default(),
        archives: BTreeMap::new(),
    }
}

impl Judged {
    /// The result. Of a package that several root modules want, the first tells what was done.
    fn finish(
        self,
        request: &Request,
        answers: &Answers,
        unwritten: &BTreeMap<(ProviderAddr, Version), Error>,
        told: &mut BTreeSet<PackageKey>,
    ) -> RootOutcome {
        let mut report = request.report();
        report.failed = self.failed;
        let mut findings = Vec::new();
        for (key, need) in self.wanted {
            match answers.get(&key) {
                Some(Ok(Some(copied))) if !records(&self.root, &key, copied) => report.failed.push(unrecorded(&key)),
                Some(Ok(Some(copied))) => {
                    let written = unwritten.get(&(key.address.clone(), key.version.clone())).map_or(Ok(()), Err);
                    let first = told.insert(key.clone());
                    match written {
                        Ok(()) => report.packages.push(mirrored(request, key, copied, first)),
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

fn mirrored(request: &Request, key: PackageKey, copied: &Copied, first: bool) -> MirroredPackage {
    let directory = directory_in(&request.directory, &key.address);
    let file = directory.join(&copied.file_name);
    let file = file.strip_prefix(&request.directory).map_or(file.clone(), ToOwned::to_owned);
    MirroredPackage {
        address: key.address,
        version: key.version,
        platform: key.platform,
        file,
        size: copied.size,
        hashes: vec![copied.h1.clone(), copied.zh.clone()],
        fate: if first { copied.fate } else { Fate::Present },
    }
}

fn absent(key: &PackageKey) -> Error {
    let PackageKey { address, version, platform } = key;
    let message = format!("provider {address} {version} is not available for {platform}");
    let hint = "where the package is not needed, name the platform under optional_platforms in .tflock.hcl";
    Error::new(ErrorKind::NotFound, message).hint(hint)
}
