//! Jobs of root modules in directories of their own, decided by answers that are made up.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::request::Migration;
use super::*;

use crate::dialect::Dialect;
use crate::disk::cache::CacheOptions;
use crate::finding::{Finding, Rule};
use crate::hash::{PackageHash, Sha256Digest};
use crate::interrupt::Interrupt;
use crate::lock::plan::{OneForAll, Upgrade};
use crate::lockfile::LockEntry;
use crate::query::question::{PackageFacts, Selected, Selection};
use crate::release::{ListedLine, Release};
use crate::settings::Variables;
use crate::version::Version;
use crate::workspace::{Environment, Scope, root_settings};

const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A root module that requires a provider, with its lock file if there is one.
struct World {
    directory: tempfile::TempDir,
    cache: Cache,
    request: LockRequest,
    interrupt: Interrupt,
}

fn addr() -> ProviderAddr {
    ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap()
}

fn digest(number: u8) -> Sha256Digest {
    Sha256Digest::from_bytes([number; 32])
}

/// A signed release whose one archive has this number; its contents are those of the archive.
fn release(version: &str, archive: u8) -> Answer {
    let platform = "linux_amd64".parse().unwrap();
    let mut selected = Selected::new(Release {
        signer: Some(KEY.parse().unwrap()),
        lines: [(digest(archive), ListedLine::archive(Some("linux_amd64".parse().unwrap())))].into(),
        listed: [digest(archive)].into(),
        ..Release::new(addr(), version.parse().unwrap())
    });
    let package = PackageFacts {
        zh: Some(digest(archive)),
        h1: Some(PackageHash::h1(digest(archive))),
        archive_form: None,
        computed: true,
        size: Some(1),
        tells_zh: false,
        file_name: format!("terraform-provider-widget_{version}_linux_amd64.zip"),
    };
    selected.compute([(platform, package)].into());
    Ok(Arc::new(selected))
}

fn entry(version: &str, archive: u8) -> LockEntry {
    let hashes = [PackageHash::h1(digest(archive)), PackageHash::zh(digest(archive))];
    LockEntry {
        version: version.parse().unwrap(),
        constraints: "~> 1.0".parse().unwrap(),
        hashes: hashes.into_iter().collect(),
    }
}

impl World {
    fn new(constraint: &str, recorded: Option<LockEntry>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let required = format!("widget = {{ source = \"acme/widget\", version = \"{constraint}\" }}");
        let text = format!("terraform {{\n  required_providers {{\n    {required}\n  }}\n}}\n");
        std::fs::write(directory.path().join("main.tf"), text).unwrap();
        if let Some(entry) = recorded {
            let mut lock = crate::lockfile::LockFile::new();
            lock.insert(addr(), entry);
            std::fs::write(directory.path().join(crate::lockfile::FILE_NAME), lock.encode(Dialect::Terraform)).unwrap();
        }
        let cache = Cache::open(CacheOptions { disabled: true, ..CacheOptions::default() });
        Self { directory, cache, request: request(), interrupt: Interrupt::default() }
    }

    fn session(&self) -> LockSession<'_> {
        self.session_of(&self.request)
    }

    fn session_of<'a>(&'a self, request: &'a LockRequest) -> LockSession<'a> {
        LockSession::new(request, &self.cache, SystemTime::UNIX_EPOCH, &self.interrupt)
    }

    fn job(&self, session: &LockSession<'_>) -> Result<LockJob, Error> {
        let environment = Environment {
            variables: Variables::default(),
            directory: self.directory.path().to_owned(),
            now: SystemTime::UNIX_EPOCH,
        };
        let scope = Scope::offline(environment, Vec::new());
        let settings = root_settings(self.directory.path(), Path::new("app"), &scope)?;
        let root = LockRoot::open(&settings, session.request, &self.cache)?;
        LockJob::new((0, Path::new("app")), root, session)
    }

    fn lock_file(&self) -> Option<PathBuf> {
        Some(self.directory.path().join(crate::lockfile::FILE_NAME)).filter(|file| file.exists())
    }
}

fn request() -> LockRequest {
    LockRequest { platforms: vec!["linux_amd64".parse().unwrap()], ..LockRequest::default() }
}

/// Nothing is written to the trust file.
fn phase(mode: WriteMode) -> WritePhase {
    WritePhase { trust: StoredTrust::new(), mode }
}

fn answers(answer: Answer) -> BTreeMap<ProviderAddr, Answer> {
    [(addr(), answer)].into()
}

fn rules(decision: &decision::Decision) -> Vec<Rule> {
    decision.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn the_plan_selects_the_recorded_or_the_newest_version() {
    let job = |world: World| world.job(&world.session());
    let planned = job(World::new("~> 1.0", None)).unwrap();
    assert!(matches!(planned.open[&addr()].selection, Selection::Newest(_)));
    let planned = job(World::new("~> 1.0", Some(entry("1.2.0", 1)))).unwrap();
    assert_eq!(planned.open[&addr()].selection, Selection::Keep(Version::new(1, 2, 0)));
    assert_eq!(planned.open[&addr()].platforms, ["linux_amd64".parse().unwrap()]);
    let error = job(World::new("~> 2.0", Some(entry("1.2.0", 1)))).err().unwrap();
    assert!(error.hints.iter().any(|hint| hint.to_string().starts_with("`tflock upgrade acme/widget`")), "{error:?}");
}

#[test]
fn a_first_use_is_written_and_its_signer_learned() {
    let world = World::new("~> 1.0", None);
    let session = world.session();
    let job = world.job(&session).unwrap();
    let decision = job.decide(&answers(release("1.2.0", 1)), &session.stores, &world.cache);
    assert!(!decision.is_refused() && decision.updates.len() == 1, "{:?}", decision.findings);
    assert_eq!(decision.version(&addr()), Some(&Version::new(1, 2, 0)));
    let trust = session.write_trust(&session.stores, WriteMode::Write);
    let phase = WritePhase { trust, mode: WriteMode::Write };
    let RootState::Done(outcome) = job.finish(decision, &session, &phase) else { panic!("not done") };
    assert!(outcome.body.is_ok() && world.lock_file().is_some());
    // The next root module of the run knows the signer.
    let other = World::new("~> 1.0", None);
    let job = other.job(&session).unwrap();
    assert_eq!(job.decide(&answers(release("1.2.0", 1)), &session.stores, &other.cache).entries.len(), 1);
}

#[test]
fn forbidden_signers_are_not_remembered() {
    let world = World::new("~> 1.0", None);
    let (session, stores) = (world.session(), TrustStores::of_revocations());
    let job = world.job(&session).unwrap();
    stores.load(&job.root.settings().trust).unwrap();
    assert!(job.decide(&answers(release("1.2.0", 1)), &stores, &world.cache).updates.is_empty());
    let refused = job.decide(&answers(Err(Finding::new(Rule::SignerDenied, "no").into())), &stores, &world.cache);
    assert!(refused.is_refused() && refused.entries.is_empty());
}

#[test]
fn another_release_under_a_recorded_version_is_refused_and_nothing_written() {
    let world = World::new("~> 1.0", Some(entry("1.2.0", 1)));
    let session = world.session();
    let before = std::fs::read(world.lock_file().unwrap()).unwrap();
    let job = world.job(&session).unwrap();
    let decision = job.decide(&answers(release("1.2.0", 2)), &session.stores, &world.cache);
    assert!(decision.is_refused() && rules(&decision).contains(&Rule::Republished), "{:?}", rules(&decision));
    let state = job.finish(decision, &session, &phase(WriteMode::Write));
    assert!(state.is_failure());
    assert_eq!(std::fs::read(world.lock_file().unwrap()).unwrap(), before);
}

#[test]
fn without_an_answer_an_entry_stays_and_an_error_keeps_all_from_being_written() {
    let world = World::new(">= 1.0.0", Some(entry("1.2.0", 1)));
    let session = world.session();
    let job = world.job(&session).unwrap();
    let kept = job.decide(&BTreeMap::new(), &session.stores, &world.cache);
    let kept = &kept.entries[&addr()].entry;
    assert_eq!((kept.constraints.to_string(), &kept.hashes), (">= 1.0.0".to_owned(), &entry("1.2.0", 1).hashes));
    let down = Error::new(ErrorKind::Unavailable, "down");
    let decision = job.decide(&answers(Err(Refusal::Error(down))), &session.stores, &world.cache);
    let RootState::Done(outcome) = job.finish(decision, &session, &phase(WriteMode::Write)) else { panic!() };
    assert_eq!(outcome.body.unwrap_err().kind, ErrorKind::Unavailable);
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let world = World::new("~> 1.0", None);
    let session = world.session();
    let job = world.job(&session).unwrap();
    let decision = job.decide(&answers(release("1.2.0", 1)), &session.stores, &world.cache);
    let file = world.directory.path().join(crate::lockfile::FILE_NAME);
    std::fs::write(&file, "# of another run\n").unwrap();
    assert!(matches!(job.finish(decision, &session, &phase(WriteMode::Write)), RootState::Overtaken));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# of another run\n");
}

#[test]
fn a_check_and_a_dry_run_write_nothing() {
    for (mode, has_diff) in [(WriteMode::Check, false), (WriteMode::DryRun, true)] {
        let world = World::new("~> 1.0", None);
        let session = world.session();
        let job = world.job(&session).unwrap();
        let decision = job.decide(&answers(release("1.2.0", 1)), &session.stores, &world.cache);
        assert!(session.write_trust(&session.stores, mode).is_empty());
        let RootState::Done(outcome) = job.finish(decision, &session, &phase(mode)) else { panic!() };
        let Ok(crate::outcome::Body::Changes(changes)) = outcome.body else { panic!("no changes") };
        assert_eq!((changes.changed, changes.written, changes.diff.is_some()), (true, false, has_diff));
        assert_eq!(world.lock_file(), None);
    }
}

#[test]
fn all_or_none_writes_nothing_if_one_is_refused() {
    let (worlds, same) = ([World::new("~> 1.0", None), World::new("~> 1.0", None)], SameVersions::default());
    let migration = Migration { to: Dialect::Terraform, edit_config: false };
    let all_or_none = LockRequest { preparation: Preparation::Migrate(migration), ..request() };
    let session = worlds[0].session_of(&all_or_none);
    let mut jobs: Vec<LockJob> = worlds.iter().map(|it| it.job(&session).unwrap()).collect();
    jobs[0].answers = Ok(answers(release("1.2.0", 1)));
    jobs[1].answers = Err(Error::new(ErrorKind::Unavailable, "down"));
    assert_eq!(decide(&session, &mut jobs, &same, false).mode, WriteMode::Check);
    assert!(matches!(&jobs[0].decision, Some(Ok(decision)) if decision.updates.is_empty()));
    // Without that each is on its own.
    let dry_run = LockRequest { mode: WriteMode::DryRun, ..request() };
    assert_eq!(decide(&worlds[0].session_of(&dry_run), &mut jobs, &same, false).mode, WriteMode::DryRun);
    assert!(matches!(&jobs[1].decision, Some(Err(_))));
}

#[test]
fn several_versions_are_reported_if_one_was_requested() {
    let upgrade = Upgrade { same: Some(OneForAll::NotLower), ..Upgrade::default() };
    let request = LockRequest { mode: WriteMode::DryRun, upgrade: Some(upgrade), ..request() };
    let worlds = [World::new("~> 1.2.0", None), World::new("~> 1.3.0", None)];
    let (session, mut same) = (worlds[0].session_of(&request), SameVersions::default());
    let mut jobs: Vec<LockJob> = worlds.iter().map(|it| it.job(&session).unwrap()).collect();
    same.join(&mut jobs);
    for (job, version) in jobs.iter_mut().zip(["1.2.0", "1.3.0"]) {
        job.answers = Ok(answers(release(version, 1)));
    }
    decide(&session, &mut jobs, &same, false);
    for job in &jobs {
        let Some(Ok(decision)) = &job.decision else { panic!("not decided") };
        assert!(rules(decision).contains(&Rule::VersionsDiffer), "{:?}", decision.findings);
    }
}
