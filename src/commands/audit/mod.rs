//! `audit`: checks what locked providers contain against a database of advisories.

pub(super) mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::Services;
use super::mirror::placed;
use super::shared::options::{Packages, Within, bytes, platform};
use super::shared::sources::{PackageSources, RootResults};
use super::shared::targets::{Targets, Unlocked};
use super::verify::base::{Base, BaseOptions};
use super::verify::opening::open;
use super::verify::{GateRoot, GateRoots};
use crate::addr::ProviderAddr;
use crate::advisory::{Advisory, ByModule, Components, page_of};
use crate::dialect::Dialect;
use crate::disk::cache::{Cache, ProgramRecord};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::goinfo::GoInfo;
use crate::lockfile::LockFile;
use crate::outcome::{
    AuditReport, AuditedDatabase, AuditedProgram, Body, NotChecked, Notes, Outcome, RootOutcome, Vulnerability,
};
use crate::platform::Platform;
use crate::release::ReleaseKey;
use crate::source::advisories::{DEFAULT, DatabasePlace, IndexedDatabase};
use crate::verify::{Completion, entry};
use crate::workspace::discover::Search;
use programs::{Locked, Newer, Programs, WantedPrograms, is_reported, notes_of_old_layouts};

/// Check what providers contain against the Go vulnerability database.
///
/// A provider is a Go program. tflock reads from it which Go modules it was built from, without running it, and looks each
/// of them and the standard library up in the Go vulnerability database, as `govulncheck -mode=binary` does. A module that
/// is present need not be reached: programs are stripped, so tflock cannot know. Packages that no earlier run has read are
/// downloaded, one platform of each.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock audit\n  tflock audit -r --base origin/main\n  tflock audit --db vulndb.zip --offline"
)]
pub(crate) struct AuditArgs {
    /// Check every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// The database: an https address, a directory, or the archive that it is published as.
    #[arg(long, value_name = "URL|DIR|ZIP", default_value = DEFAULT)]
    pub(crate) db: DatabasePlace,
    /// Check the packages of this platform. Default: this machine's if the lock file covers it, else the first it covers.
    #[arg(long, value_name = "OS_ARCH", value_parser = platform)]
    pub(crate) platform: Option<Platform>,
    /// Also report advisories about the go command and similar tools, which are not part of the program.
    #[arg(long)]
    pub(crate) toolchain: bool,
    /// Leave out advisories that no version fixes.
    #[arg(long)]
    ignore_unfixed: bool,
    /// Exit 1 if there is an advisory.
    #[arg(long)]
    exit_code: bool,
    /// Look for the first newer release that the constraints allow and that has no advisory; downloads one package of each.
    #[arg(long)]
    pub(crate) fixed_by: bool,
    /// Report what a change adds, as in a pull request, by the settings of this revision.
    #[arg(long, value_name = "REV")]
    pub(crate) base: Option<String>,
    /// Download at most this many bytes, such as 500MiB; the rest is inconclusive (exit code 4).
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "2GiB")]
    pub(crate) max_download: u64,
    #[command(flatten)]
    pub(crate) packages: Packages,
    #[command(flatten)]
    pub(crate) within: Within,
}

impl AuditArgs {
    /// False for what is to be left out.
    pub(super) fn reports(&self, it: &Vulnerability) -> bool {
        it.fixed.is_some() || !self.ignore_unfixed
    }
}

/// Looks the programs of locked providers up in a database of advisories.
pub fn audit(args: &AuditArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let scope = &services.scope;
    let options = args.base.clone().map(|revision| BaseOptions { revision, trust_change_allowed: false });
    let base = options.map(|options| Base::open(scope, &options)).transpose()?;
    let exclusions = base.as_ref().and_then(Base::exclusions);
    // A change is asked for what it adds, and other root modules for what they have.
    let unlocked = if base.is_some() { Unlocked::Opened } else { Unlocked::Reported };
    let targets = Targets::within(
        scope,
        args.recursive,
        unlocked,
        Search {
            exclusions: exclusions.as_ref(),
            changes: base.as_ref().map(Base::changes),
            instances: true,
            trusted: base.as_ref().map(|base| base as _),
            ..Search::default()
        },
    )?
    .or_none()?;
    let roots = open(&targets, base.as_ref(), scope)?.roots;
    services.events_for(targets.dialect());
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let roots = since(roots, base.as_ref())?;
    let opened = roots.iter().filter_map(|(_, root)| root.as_ref().ok());
    let locked: Vec<Locked<'_>> =
        opened.flat_map(|(root, entries)| [&entries.new, &entries.old].map(|lock| (root.settings(), lock))).collect();
    let wanted = WantedPrograms { platform: args.platform.as_ref(), most: args.max_download };
    let sources = PackageSources::new(services, &cache);
    let programs = programs::read(&locked, wanted, &sources, &cache)?;
    let newer = Newer { args, sources: &sources, cache: &cache };
    let audited = Audited::of(&programs, newer, services, (&cache, targets.dialect()))?;
    let judged = roots.iter().map(|(path, root)| match root {
        Ok((root, entries)) => audited.of_root(path, root, entries),
        Err(error) => RootOutcome::failed(path.clone(), error.clone()),
    });
    let mut notes = Notes::from(sources.notes());
    notes.extend(base.as_ref().map(Base::note));
    notes.extend(audited.note());
    notes.extend(notes_of_old_layouts(&programs));
    notes.extend(cache.finish());
    let outcome = targets.finish("audit", judged, notes);
    let is_vulnerable = |root: &RootOutcome| root.findings.iter().any(|it| it.rule == Rule::ProviderVulnerable);
    let differs = args.exit_code && outcome.roots.iter().any(is_vulnerable);
    Ok(outcome.exit_1_if(differs))
}

/// How many advisories that cannot be read are named.
const MOST_NAMED: usize = 10;

struct Entries {
    new: LockFile,
    /// The earlier entries of the same providers; empty without `--base`.
    old: LockFile,
}

type AuditedRoots = RootResults<(GateRoot, Entries)>;

/// The entries to check of each root module: all of them, or those that differ from the base.
fn since(roots: GateRoots, base: Option<&Base>) -> Result<AuditedRoots, Error> {
    let changes = base.map(|base| base.changes_of(&roots)).transpose()?;
    let before = changes
        .map_or_else(|| vec![None; roots.len()], |changes| changes.into_iter().map(|it| Some(it?.before)).collect());
    let entries = |((path, root), before): ((PathBuf, Result<GateRoot, Error>), Option<LockFile>)| {
        let root = root.and_then(|root| if base.is_none() { root.locked().map(|()| root) } else { Ok(root) });
        (path, root.and_then(|root| with_entries(root, before.as_ref())))
    };
    Ok(roots.into_iter().zip(before).map(entries).collect())
}

fn with_entries(root: GateRoot, before: Option<&LockFile>) -> Result<(GateRoot, Entries), Error> {
    root.decoded()?;
    let (mut new, mut old) = (LockFile::new(), LockFile::new());
    for (addr, entry) in root.lock().iter() {
        let was = before.and_then(|before| before.get(addr));
        if was.is_none_or(|was| was.version != entry.version) {
            new.insert(addr.clone(), entry.clone());
            if let Some(was) = was {
                old.insert(addr.clone(), was.clone());
            }
        }
    }
    Ok((root, Entries { new, old }))
}

struct Audited<'a> {
    newer: Newer<'a>,
    now: SystemTime,
    programs: &'a Programs,
    /// Errors about the database as a whole.
    failed: Vec<Error>,
    database: Option<IndexedDatabase>,
    found: BTreeMap<&'a ReleaseKey, AuditedProgram>,
}

impl<'a> Audited<'a> {
    fn of(
        programs: &'a Programs,
        newer: Newer<'a>,
        services: &Services<'_>,
        (cache, dialect): (&Arc<Cache>, Option<Dialect>),
    ) -> Result<Self, Error> {
        let now = services.scope.environment.now;
        let mut audited = Self { newer, now, programs, failed: Vec::new(), database: None, found: BTreeMap::new() };
        let read: Vec<(&ReleaseKey, &ProgramRecord)> =
            programs.iter().filter_map(|(key, record)| Some((key, record.as_ref().ok()?))).collect();
        if read.is_empty() {
            return Ok(audited);
        }
        let parts: Vec<Vec<ProgramParts>> =
            read.iter().map(|(key, record)| parts(key, record, newer.args.toolchain)).collect();
        let access = services.online.access(dialect.unwrap_or(Dialect::Terraform))?;
        let client = (!services.scope.offline).then(|| access.connection.client.clone());
        let answered = services.online.background.run(async {
            let database = IndexedDatabase::open(&newer.args.db, client, cache, now).await?;
            let all: Vec<&Components> = parts.iter().flatten().map(|part| &part.components).collect();
            let (advisories, failed) = advisories(&database, &all).await;
            Ok((database, advisories, failed))
        })?;
        let (database, advisories, failed) = match answered {
            Ok(answered) => answered,
            Err(error) => {
                audited.failed.push(error);
                return Ok(audited);
            }
        };
        audited.failed.extend(database.problem.clone());
        audited.failed.extend(failed);
        let advisories = ByModule::of(&advisories);
        audited.found = read
            .into_iter()
            .zip(&parts)
            .map(|((key, record), parts)| (key, program(key, record, parts, &advisories)))
            .collect();
        audited.database = Some(database);
        Ok(audited)
    }

    fn of_root(&self, path: &std::path::Path, root: &GateRoot, entries: &Entries) -> RootOutcome {
        let described = |database: &IndexedDatabase| AuditedDatabase {
            source: self.newer.args.db.to_string(),
            modified: database.modified.clone(),
        };
        let database = self.database.as_ref().map(described);
        let (mut report, mut findings) = (AuditReport { database, ..AuditReport::default() }, Vec::new());
        if !entries.new.is_empty() {
            report.failed.extend(self.failed.iter().cloned());
        }
        for (addr, entry) in entries.new.iter() {
            let key = (addr.clone(), entry.version.clone());
            let settings = &root.settings().settings;
            let completion = Completion::checking(settings, self.now);
            let level = |finding: Finding| completion.complete(finding, Some(&key.1));
            findings.extend(entry::of_version(addr, &key.1, settings, self.now).into_iter().map(level));
            report.failed.extend(self.programs.get(&key).and_then(|record| record.as_ref().err().cloned()));
            let Some(mut program) = self.found.get(&key).cloned() else {
                continue;
            };
            let before: BTreeSet<String> =
                entries.old.get(addr).into_iter().flat_map(|old| self.ids(addr, &old.version)).collect();
            program.vulnerabilities.retain(|it| !before.contains(&it.id) && self.newer.args.reports(it));
            let database =
                self.database.as_ref().filter(|_| self.newer.args.fixed_by && !program.vulnerabilities.is_empty());
            match database.map(|database| self.newer.first_unaffected(root, &program, database)).transpose() {
                Ok(fixed_by) => program.fixed_by = fixed_by,
                Err(error) => report.failed.push(error),
            }
            findings.extend(findings_of(&program).into_iter().map(level));
            report.programs.push(program);
        }
        RootOutcome { path: path.to_owned(), body: Ok(Body::Audit(report)), findings: placed(root, findings) }
    }

    fn ids(&self, addr: &ProviderAddr, version: &crate::version::Version) -> Vec<String> {
        let program = self.found.get(&(addr.clone(), version.clone()));
        program.into_iter().flat_map(|program| program.vulnerabilities.iter().map(|it| it.id.clone())).collect()
    }

    /// Explains the findings.
    fn note(&self) -> Option<String> {
        let is_any = self.found.values().any(|program| !program.vulnerabilities.is_empty());
        is_any.then(|| {
            "an advisory is about a module that is present in a program; programs are stripped, so whether they reach the \
             affected code is unknown"
                .to_owned()
        })
    }
}

/// The advisories that may be about some components, and why others cannot be had.
pub(super) async fn advisories(database: &IndexedDatabase, parts: &[&Components]) -> (Vec<Advisory>, Vec<Error>) {
    let known = parts.iter().flat_map(|parts| &parts.known);
    let listed = known.flat_map(|part| database.index().advisories(&part.module, &part.version));
    let (mut advisories, mut failed) = (Vec::new(), Vec::new());
    for answer in database.advisories(listed).await.into_values() {
        match answer {
            Ok(advisory) => advisories.push(advisory),
            Err(error) => failed.push(error),
        }
    }
    let more = failed.split_off(failed.len().min(MOST_NAMED)).len();
    let others = format!("further advisories of the database that cannot be used: {more}");
    failed.extend((more > 0).then(|| Error::new(ErrorKind::Unavailable, others)));
    (advisories, failed)
}

/// The parts of one program of a package.
pub(super) struct ProgramParts {
    /// The path of the program; `None` for that of the provider.
    program: Option<String>,
    pub(super) components: Components,
}

/// The parts of all programs of a package that were read.
pub(super) fn parts((addr, version): &ReleaseKey, record: &ProgramRecord, toolchain: bool) -> Vec<ProgramParts> {
    let (kind, locked) = (addr.type_name(), version.to_string());
    let main_of = |info: &GoInfo| info.main().map(|main| main.path);
    let started = record.programs.started(kind);
    let own = started.and_then(|file| file.built_from.iter().flatten().find_map(main_of));
    let mut parts = Vec::new();
    let others = record.programs.others(kind).map(|file| (Some(file.path.clone()), file));
    for (program, file) in started.map(|file| (None, file)).into_iter().chain(others) {
        for info in file.built_from.iter().flatten() {
            // The locked version is that of the provider's main module, in whichever program that is.
            let version = if main_of(info) == own { &locked } else { "" };
            parts.push(ProgramParts { program: program.clone(), components: Components::of(info, version, toolchain) });
        }
    }
    parts
}

pub(super) fn program(
    key: &ReleaseKey,
    record: &ProgramRecord,
    parts: &[ProgramParts],
    advisories: &ByModule<'_>,
) -> AuditedProgram {
    let all: Vec<_> = parts.iter().flat_map(|it| it.components.known.iter().map(|part| (&it.program, part))).collect();
    let known: BTreeSet<_> = all.iter().map(|(_, it)| (&it.module, &it.version)).collect();
    let mut vulnerabilities: Vec<Vulnerability> = Vec::new();
    // The programs of a universal binary say the same.
    let mut seen = BTreeSet::new();
    for (advisory, number) in advisories.about(all.iter().map(|(_, part)| *part)) {
        let (program, part) = all[number];
        if let Some(fixed) = advisory.affects(part, &record.platform)
            && seen.insert((&advisory.id, program, &part.module, part.version.to_string(), part.is_locked_version))
        {
            vulnerabilities.push(Vulnerability {
                id: advisory.id.clone(),
                aliases: advisory.aliases.clone(),
                summary: advisory.summary.clone(),
                program: program.clone(),
                module: part.module.clone(),
                found: part.version.to_string(),
                fixed: fixed.map(|fixed| fixed.to_string()),
                is_locked_version: part.is_locked_version,
            });
        }
    }
    let programs = &record.programs;
    let kind = key.0.type_name();
    let started = programs.started(kind);
    AuditedProgram {
        address: key.0.clone(),
        version: key.1.clone(),
        platform: record.platform.clone(),
        go: started.and_then(|file| file.built_from.iter().flatten().next()).map(|info| info.go.clone()),
        modules: known.len(),
        unknown: programs.unknown(kind).map(|unknown| unknown.to_string()),
        not_checked: not_checked(key, record, parts),
        others: programs.others(kind).map(|file| file.path.clone()).collect(),
        unread: programs.unread,
        is_reported: is_reported(record),
        fixed_by: None,
        vulnerabilities,
    }
}

/// What could not be checked, besides the program that the tools start as a whole.
fn not_checked(key: &ReleaseKey, record: &ProgramRecord, parts: &[ProgramParts]) -> Vec<NotChecked> {
    let modules = parts.iter().flat_map(|part| {
        part.components.unknown.iter().map(|(module, why)| NotChecked {
            program: part.program.clone(),
            module: Some(module.clone()),
            reason: (*why).to_owned(),
        })
    });
    let programs = record.programs.others(key.0.type_name()).flat_map(|file| {
        let unknown = file.built_from.iter().filter_map(|info| info.as_ref().err());
        unknown.map(|why| NotChecked { program: Some(file.path.clone()), module: None, reason: why.to_string() })
    });
    let mut not_checked = Vec::new();
    for it in modules.chain(programs) {
        if !not_checked.contains(&it) {
            not_checked.push(it);
        }
    }
    not_checked
}

fn findings_of(program: &AuditedProgram) -> Vec<Finding> {
    let vulnerabilities = &program.vulnerabilities;
    let found = vulnerabilities.chunk_by(|one, other| one.id == other.id);
    found.map(|same| finding_of(program, same)).collect()
}

/// The module that is affected, and where it is fixed.
fn affected_part(it: &Vulnerability) -> String {
    let locked = if it.is_locked_version { ", by the locked version" } else { "" };
    let fixed = it.fixed.as_ref().map_or("no fix".to_owned(), |fixed| format!("fixed in {fixed}"));
    let program = it.program.as_ref().map(|path| format!(" in {path}")).unwrap_or_default();
    format!("{} {}{program} ({fixed}{locked})", it.module, it.found)
}

/// The finding about vulnerabilities with the same id.
fn finding_of(program: &AuditedProgram, same: &[Vulnerability]) -> Finding {
    let AuditedProgram { address, version, .. } = program;
    let parts: Vec<String> = same.iter().map(affected_part).collect();
    let Vulnerability { id, aliases, summary, .. } = &same[0];
    let names: Vec<&str> = [id].into_iter().chain(aliases).map(String::as_str).collect();
    let message =
        format!("{address} {version} contains {}, affected by {}: {summary}", parts.join(" and "), names.join(", "));
    let finding = Finding::new(Rule::ProviderVulnerable, message).about(address).of_version(version);
    let finding = finding.by_advisory(names);
    match page_of(id) {
        Some(page) => finding.remedied_by(step!(
            "Read the advisory at {}. `tflock upgrade {}` selects a newer release, which may have been built with newer modules.",
            page,
            address
        )),
        None => finding,
    }
}
