//! Writes to a shared index, if a job requests it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use url::Url;

use super::Services;
use super::sources::Sources;
use crate::dialect::Dialect;
use crate::disk::atomic::failed;
use crate::disk::cache::exchange::{self, IndexKey, IndexLine, decode_line};
use crate::disk::cache::{Cache, IndexEntry, Origin, ProgramRecord};
use crate::disk::{files, root_files};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule, shell_word};
use crate::hash::PackageHash;
use crate::net::{Client, ClientOptions};
use crate::outcome::{Body, CacheReport, Outcome, RootOutcome};
use crate::path::worktree;
use crate::settings::IndexPlace;
use crate::source::{IndexStores, Published};
use crate::workspace::dialect_of_text;
use crate::{lockfile, query};

#[derive(Debug, Clone)]
pub(super) struct Publishing {
    place: IndexPlace,
    /// The index as the user named it.
    pub(super) shown: String,
}

impl Publishing {
    /// The index from the option, else from `TFLOCK_INDEX`. tflock never writes to an index that a file of the working
    /// tree names, or to one inside the working tree.
    pub(super) fn of(named: Option<&str>, services: &Services<'_>) -> Result<Self, Error> {
        let refused = |problem: String| Error::new(ErrorKind::Usage, problem);
        let named = named.or_else(|| services.variables().get("TFLOCK_INDEX"));
        let shown = named.ok_or_else(|| {
            let message = "--publish writes into a shared index, but none is named";
            refused(message.to_owned()).hint("name it with --index, or in TFLOCK_INDEX")
        })?;
        if services.scope.no_cache {
            let message = "--publish writes what the index of this machine knows, which --no-cache leaves out";
            return Err(refused(message.to_owned()).hint("leave out one of the two"));
        }
        let place = IndexPlace::parse(shown).map_err(|problem| {
            let url = Path::new(shown).is_absolute().then(|| Url::from_file_path(shown).ok()).flatten();
            let hint = url.map(|url| format!("name it as a URL: `--index {}`", shell_word(url.as_str())));
            hint.into_iter().fold(refused(problem.to_string()), Error::hint)
        })?;
        let here = [PathBuf::from(".")].into_iter().chain(services.scope.directories());
        let tops = here.filter(|directory| !directory.as_os_str().is_empty()).flat_map(|it| worktree::tops(&it));
        if exchange::is_index_within(&place, &tops.collect::<Vec<_>>()) {
            let message = format!("the index {shown} is inside the working tree, where a pull request could write it");
            return Err(refused(message).hint("keep it outside of the working tree"));
        }
        if services.scope.offline && !matches!(place, IndexPlace::Directory(_)) {
            let message = format!("writing to {shown} needs the network, which --offline forbids");
            return Err(Error::new(ErrorKind::Offline, message).hint("leave out one of the two"));
        }
        Ok(Self { place, shown: shown.to_owned() })
    }

    /// Writes the missing lines.
    fn publish(&self, lines: Vec<IndexLine>, sources: &Sources<'_>, stores: IndexStores) -> Result<Published, Error> {
        if let IndexPlace::Directory(base) = &self.place {
            files::create_directory(base).map_err(failed("create", base))?;
        }
        query::publish(&sources.online.background, stores, self.place.clone(), lines).map_err(|error| {
            let message = format!("cannot publish to {}: {}", self.shown, error.message);
            Error { message, ..error }
        })
    }

    fn stores(
        &self,
        directories: &[PathBuf],
        sources: &Sources<'_>,
        services: &Services<'_>,
    ) -> Result<IndexStores, Error> {
        if let IndexPlace::Directory(_) = self.place {
            // Without requests the CLI configuration is not needed.
            let client = Client::new(ClientOptions::default());
            return Ok(IndexStores::new(&client, Arc::default(), client.options().timeout));
        }
        let first = directories.first().map_or(Path::new(""), PathBuf::as_path);
        let text = root_files::read_lock_file(&first.join(lockfile::FILE_NAME))?.unwrap_or_default();
        sources.index_stores(dialect_of_text(first, &text, &services.scope)?)
    }

    /// The findings where the index contradicts hashes that were computed here.
    pub(super) fn contradictions(&self, published: &Published, cache: &Cache) -> Vec<Finding> {
        let finding = |there: &IndexLine| {
            let differs = match (there.key, decode_line(there.text.as_bytes())) {
                (IndexKey::Archive(zh), Some(entry)) => {
                    let own = cache.h1_of(&zh).map(|(h1, _)| h1.to_string()).unwrap_or_default();
                    let (h1, size) = (entry.h1_hash(), entry.size);
                    format!("gives {h1} and {size} bytes for the archive zh:{zh}, which has {own}")
                }
                (key, _) => format!("gives other modules for {key} than were read here"),
            };
            let message = format!("the index {} {differs}; it was left unchanged", self.shown);
            Finding::new(Rule::IndexDiffers, message)
                .remedied_by("Find out who filled it, and have that entry removed.")
        };
        published.differing.iter().map(finding).collect()
    }

    /// Writes the hashes and programs that were computed and read here for all locked packages of these directories, and adds
    /// a report to the outcome.
    pub(super) fn publish_locked(&self, directories: &[PathBuf], services: &Services<'_>, outcome: Outcome) -> Outcome {
        let cache = Arc::new(services.open_cache(directories));
        let sources = Sources::new(services, &cache);
        let lines = locked(directories, &cache);
        let stores = self.stores(directories, &sources, services);
        match stores.and_then(|stores| self.publish(lines, &sources, stores)) {
            Ok(published) => {
                let Published { news, known, .. } = &published;
                let mut outcome = outcome;
                outcome.notes.push(format!("{news} of {} records are new in {}", news + known, self.shown));
                let contradictions = self.contradictions(&published, &cache);
                outcome.roots.iter_mut().take(1).for_each(|first| first.findings.extend(contradictions.clone()));
                outcome
            }
            Err(error) => outcome.with_error(Some(error)),
        }
    }
}

pub(super) fn publish(named: Option<&str>, cache: Cache, services: &Services<'_>) -> Result<Outcome, Error> {
    let publishing = Publishing::of(named, services)?;
    let cache = Arc::new(cache);
    let sources = Sources::new(services, &cache);
    let stores = publishing.stores(&services.scope.directories(), &sources, services)?;
    let published = publishing.publish(computed(&cache.entries(), &cache.programs()), &sources, stores)?;
    let deny = |finding| Finding { level: Level::Deny, ..finding };
    let findings = publishing.contradictions(&published, &cache).into_iter().map(deny).collect();
    let Published { news, known, .. } = published;
    let body = Ok(Body::Cache(CacheReport::Published { index: publishing.shown, news, known }));
    let outcome = Outcome::of_roots("cache", vec![RootOutcome { path: PathBuf::new(), body, findings }]);
    Ok(Outcome { notes: sources.notes(), ..outcome })
}

/// What was computed here of the packages in some lock files; an unreadable file has none.
fn locked(directories: &[PathBuf], cache: &Cache) -> Vec<IndexLine> {
    let read = |directory: &PathBuf| {
        let text = root_files::read_lock_file(&directory.join(lockfile::FILE_NAME)).ok()??;
        Some(lockfile::decode(&text, Dialect::Terraform).ok()?.lock)
    };
    let locks = directories.iter().filter_map(read);
    let hashes: BTreeSet<PackageHash> = locks
        .flat_map(|lock| lock.iter().flat_map(|(_, entry)| entry.hashes.iter().cloned()).collect::<Vec<_>>())
        .collect();
    let known = |hash: &PackageHash| {
        let zh = hash.zh_digest()?;
        let (h1, size) = cache.h1_of(&zh)?;
        IndexEntry::new(zh, &h1, size, Origin::Computed)
    };
    let entries: Vec<IndexEntry> = hashes.iter().filter_map(known).collect();
    let programs: Vec<ProgramRecord> = hashes.iter().filter_map(|hash| cache.program(hash)).collect();
    computed(&entries, &programs)
}

/// The lines about what was computed here, not reported by others. Of programs about which nothing could be read, another
/// version of tflock may read more, so there is no line about them.
fn computed(entries: &[IndexEntry], programs: &[ProgramRecord]) -> Vec<IndexLine> {
    let entries = entries.iter().filter(|entry| entry.origin == Origin::Computed).map(IndexLine::from);
    let is_shared = |program: &&ProgramRecord| program.origin == Origin::Computed && program.is_worth_sharing();
    let programs = programs.iter().filter(is_shared).map(IndexLine::from);
    entries.chain(programs.filter(|line| line.text.len() as u64 <= line.key.limit())).collect()
}
