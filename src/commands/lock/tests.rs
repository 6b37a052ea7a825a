//! Jobs of root modules in directories of their own, decided by answers that are made up.

use std::path::PathBuf;
use std::sync::Arc;

use super::*;

use crate::addr::ProviderAddr;
use crate::commands::shared::lock_options::LockOptions;
use crate::dialect::Dialect;
use crate::disk::cache::CacheOptions;
use crate::finding::Rule;
use crate::hash::{PackageHash, Sha256Digest};
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
    locking: Locking<'static>,
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
        let locking = Locking::of("lock", LockOptions::default());
        Self { directory, cache, locking, interrupt: Interrupt::default() }
    }

    fn run(&self, mode: WriteMode) -> LockRun<'_> {
        let now = SystemTime::UNIX_EPOCH;
        LockRun { locking: &self.locking, cache: &self.cache, mode, now, interrupt: &self.interrupt }
    }

    fn job(&self, shared: &LockShared, options: LockOptions) -> Result<LockJob, Error> {
        let environment = Environment {
            variables: Variables::default(),
            directory: self.directory.path().to_owned(),
            now: SystemTime::UNIX_EPOCH,
        };
        let scope = Scope::offline(environment, Vec::new());
        let settings = root_settings(self.directory.path(), Path::new("app"), &scope)?;
        let options = LockOptions { platforms: vec!["linux_amd64".parse().unwrap()], ..options };
        let root = LockRoot::open(&settings, &options, &self.cache)?;
        LockJob::new((0, Path::new("app")), root, self.run(WriteMode::Write), shared)
    }

    fn lock_file(&self) -> Option<PathBuf> {
        Some(self.directory.path().join(crate::lockfile::FILE_NAME)).filter(|file| file.exists())
    }
}

fn answers(answer: Answer) -> BTreeMap<ProviderAddr, Answer> {
    [(addr(), answer)].into()
}

fn rules(decision: &decision::Decision) -> Vec<Rule> {
    decision.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn the_plan_selects_the_recorded_or_the_newest_version() {
    let shared = LockShared::default();
    let job = World::new("~> 1.0", None).job(&shared, LockOptions::default()).unwrap();
    assert!(matches!(job.open[&addr()].selection, Selection::Newest(_)));
    let job = World::new("~> 1.0", Some(entry("1.2.0", 1))).job(&shared, LockOptions::default()).unwrap();
    assert_eq!(job.open[&addr()].selection, Selection::Keep(Version::new(1, 2, 0)));
    assert_eq!(job.open[&addr()].platforms, ["linux_amd64".parse().unwrap()]);
    let error = World::new("~> 2.0", Some(entry("1.2.0", 1))).job(&shared, LockOptions::default()).err().unwrap();
    assert!(error.hints.iter().any(|hint| hint.to_string().starts_with("`tflock upgrade acme/widget`")), "{error:?}");
}

#[test]
fn a_first_use_is_written_and_its_signer_learned() {
    let (shared, world) = (LockShared::default(), World::new("~> 1.0", None));
    let job = world.job(&shared, LockOptions::default()).unwrap();
    let decision = job.decide(&answers(release("1.2.0", 1)), &shared.stores, &world.cache);
    assert!(!decision.is_refused() && decision.updates.len() == 1, "{:?}", decision.findings);
    assert_eq!(decision.version(&addr()), Some(&Version::new(1, 2, 0)));
    let stored = shared.stores.commit(world.run(WriteMode::Write));
    let RootState::Done(outcome) = job.finish(decision, &stored, world.run(WriteMode::Write)) else {
        panic!("not done")
    };
    assert!(outcome.body.is_ok() && world.lock_file().is_some());
    // The next root module of the run knows the signer.
    let other = World::new("~> 1.0", None);
    let job = other.job(&shared, LockOptions::default()).unwrap();
    assert_eq!(job.decide(&answers(release("1.2.0", 1)), &shared.stores, &other.cache).entries.len(), 1);
}

#[test]
fn forbidden_signers_are_not_remembered() {
    let world = World::new("~> 1.0", None);
    let (shared, stores) = (LockShared::default(), TrustStores::of_revocations());
    let job = world.job(&shared, LockOptions::default()).unwrap();
    stores.load(&job.root.settings.trust).unwrap();
    assert!(job.decide(&answers(release("1.2.0", 1)), &stores, &world.cache).updates.is_empty());
    let refused = job.decide(&answers(Err(Finding::new(Rule::SignerDenied, "no").into())), &stores, &world.cache);
    assert!(refused.is_refused() && refused.entries.is_empty());
}

#[test]
fn another_release_under_a_recorded_version_is_refused_and_nothing_written() {
    let (shared, world) = (LockShared::default(), World::new("~> 1.0", Some(entry("1.2.0", 1))));
    let before = std::fs::read(world.lock_file().unwrap()).unwrap();
    let job = world.job(&shared, LockOptions::default()).unwrap();
    let decision = job.decide(&answers(release("1.2.0", 2)), &shared.stores, &world.cache);
    assert!(decision.is_refused() && rules(&decision).contains(&Rule::Republished), "{:?}", rules(&decision));
    let state = job.finish(decision, &BTreeMap::new(), world.run(WriteMode::Write));
    assert!(state.is_failure());
    assert_eq!(std::fs::read(world.lock_file().unwrap()).unwrap(), before);
}

#[test]
fn without_an_answer_an_entry_stays_and_an_error_keeps_all_from_being_written() {
    let (shared, world) = (LockShared::default(), World::new(">= 1.0.0", Some(entry("1.2.0", 1))));
    let job = world.job(&shared, LockOptions::default()).unwrap();
    let kept = job.decide(&BTreeMap::new(), &shared.stores, &world.cache);
    let kept = &kept.entries[&addr()].entry;
    assert_eq!((kept.constraints.to_string(), &kept.hashes), (">= 1.0.0".to_owned(), &entry("1.2.0", 1).hashes));
    let down = Error::new(ErrorKind::Unavailable, "down");
    let decision = job.decide(&answers(Err(Refusal::Error(down))), &shared.stores, &world.cache);
    let RootState::Done(outcome) = job.finish(decision, &BTreeMap::new(), world.run(WriteMode::Write)) else {
        panic!()
    };
    assert_eq!(outcome.body.unwrap_err().kind, ErrorKind::Unavailable);
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let (shared, world) = (LockShared::default(), World::new("~> 1.0", None));
    let job = world.job(&shared, LockOptions::default()).unwrap();
    let decision = job.decide(&answers(release("1.2.0", 1)), &shared.stores, &world.cache);
    let file = world.directory.path().join(crate::lockfile::FILE_NAME);
    std::fs::write(&file, "# of another run\n").unwrap();
    assert!(matches!(job.finish(decision, &BTreeMap::new(), world.run(WriteMode::Write)), RootState::Overtaken));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# of another run\n");
}

#[test]
fn a_check_and_a_dry_run_write_nothing() {
    for (mode, has_diff) in [(WriteMode::Check, false), (WriteMode::DryRun, true)] {
        let (shared, world) = (LockShared::default(), World::new("~> 1.0", None));
        let job = world.job(&shared, LockOptions::default()).unwrap();
        let decision = job.decide(&answers(release("1.2.0", 1)), &shared.stores, &world.cache);
        assert!(shared.stores.commit(world.run(mode)).is_empty());
        let RootState::Done(outcome) = job.finish(decision, &BTreeMap::new(), world.run(mode)) else { panic!() };
        let Ok(crate::outcome::Body::Changes(changes)) = outcome.body else { panic!("no changes") };
        assert_eq!((changes.changed, changes.written, changes.diff.is_some()), (true, false, has_diff));
        assert_eq!(world.lock_file(), None);
    }
}

#[test]
fn all_or_none_writes_nothing_if_one_is_refused() {
    let (mut shared, worlds) = (LockShared::default(), [World::new("~> 1.0", None), World::new("~> 1.0", None)]);
    let mut jobs: Vec<LockJob> = worlds.iter().map(|it| it.job(&shared, LockOptions::default()).unwrap()).collect();
    jobs[0].answers = Ok(answers(release("1.2.0", 1)));
    jobs[1].answers = Err(Error::new(ErrorKind::Unavailable, "down"));
    let locking = Locking { to: Some(Dialect::Terraform), ..Locking::of("migrate", LockOptions::default()) };
    let run = LockRun { locking: &locking, ..worlds[0].run(WriteMode::Write) };
    let (_, mode) = decide(run, &mut jobs, &shared, false);
    assert_eq!(mode, WriteMode::Check);
    assert!(matches!(&jobs[0].decision, Some(Ok(decision)) if decision.updates.is_empty()));
    // Without that each is on its own.
    shared.stop = AtomicBool::default();
    let (_, mode) = decide(worlds[0].run(WriteMode::DryRun), &mut jobs, &shared, false);
    assert_eq!(mode, WriteMode::DryRun);
    assert!(matches!(&jobs[1].decision, Some(Err(_))));
}

#[test]
fn several_versions_are_reported_if_one_was_requested() {
    let mut shared = LockShared::default();
    let upgrade = Upgrade { same: Some(OneForAll::NotLower), ..Upgrade::default() };
    let options = LockOptions { upgrade: Some(upgrade), ..LockOptions::default() };
    let worlds = [World::new("~> 1.2.0", None), World::new("~> 1.3.0", None)];
    let mut jobs: Vec<LockJob> = worlds.iter().map(|it| it.job(&shared, options.clone()).unwrap()).collect();
    shared.same_versions.join(&mut jobs);
    for (job, version) in jobs.iter_mut().zip(["1.2.0", "1.3.0"]) {
        job.answers = Ok(answers(release(version, 1)));
    }
    decide(worlds[0].run(WriteMode::DryRun), &mut jobs, &shared, false);
    for job in &jobs {
        let Some(Ok(decision)) = &job.decision else { panic!("not decided") };
        assert!(rules(decision).contains(&Rule::VersionsDiffer), "{:?}", decision.findings);
    }
}
