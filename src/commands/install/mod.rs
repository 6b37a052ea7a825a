//! `install`: installs the locked packages in every root module; each is downloaded and unpacked once. [`packages`] fills
//! the package store, and [`place`] links packages into root modules. Only content with a recorded `h1:` is kept or
//! linked.

mod packages;
mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::get::ModulesOfRoot;
use super::shared::options::{Assignments, Packages, Within, platform};
use super::shared::sources::{Group, PackageSources};
use super::shared::targets::{Targets, Unlocked};
use super::{Services, get, list};
use crate::addr::ProviderAddr;
use crate::disk::linking::Linker;
use crate::disk::modules_dir::COMPARED;
use crate::disk::package::KnownFiles;
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;
use crate::git::TrackedFiles;
use crate::hash::PackageHashes;
use crate::interrupt::{Interrupt, What};
use crate::outcome::{Body, InstallReport, InstallState, InstalledPackage, Outcome, RootOutcome};
use crate::parallel;
use crate::path::{lexical, shown};
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::settings::{LINKS, LinkChoice};
use crate::step::{Step, Value};
use crate::words::counted;
use crate::workspace::NamedProviders;
use packages::{Fetching, InstallRoot, PackageState, Want};

/// More than the processors, since linking waits for the disk.
const LINKERS: usize = 8;

/// How often packages are looked for that another run removes from the store before they are linked.
const ATTEMPTS: usize = 8;

/// Install the locked providers and modules.
///
/// Puts the packages that the lock file records where `terraform init` and `tofu init` would put them. Each package is
/// downloaded and unpacked once per machine, into the package store, and linked into every root module. Only content whose
/// h1: is recorded is installed. `tflock get` installs the locked modules alone.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock install && terraform init -lockfile=readonly\n  tflock install --check\n  tflock install hashicorp/aws --platform linux_arm64"
)]
pub(crate) struct InstallArgs {
    /// Only these providers, by source address.
    #[arg(value_name = "ADDR")]
    pub(crate) providers: Vec<String>,
    /// Install the packages of this platform; may be repeated. Default: this machine's.
    #[arg(long = "platform", value_name = "OS_ARCH", value_parser = platform)]
    pub(crate) platforms: Vec<Platform>,
    /// How to make packages appear in root modules. Default: the setting `link`, else auto (clone, else hard link, else copy).
    #[arg(long, value_name = "HOW", value_parser = link())]
    pub(crate) link: Option<LinkChoice>,
    /// Install providers alone.
    #[arg(long)]
    no_modules: bool,
    /// Also remove the versions of providers that the lock file does not record.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Install nothing; exit 1 if something is missing or differs.
    #[arg(long, conflicts_with = "prune")]
    pub(crate) check: bool,
    /// Install in every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    #[command(flatten)]
    pub(crate) packages: Packages,
    #[command(flatten)]
    pub(crate) variables: Assignments,
    #[command(flatten)]
    pub(crate) within: Within,
}

fn link() -> impl TypedValueParser<Value = LinkChoice> {
    let words = LINKS.map(|(word, _)| word);
    PossibleValuesParser::new(words).map(|text| {
        let choice = LINKS.iter().find(|(word, _)| *word == text);
        choice.map_or_else(LinkChoice::default, |(_, choice)| *choice)
    })
}

pub fn install(args: &InstallArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let mut targets = Targets::of(&services.scope, args.recursive, Unlocked::Reported)?.or_none()?;
    let skipped = targets.leave_out_kinds("install", |traits| traits.no_install)?;
    let (known, tracked, named) =
        (KnownFiles::default(), TrackedFiles::default(), NamedProviders::new(&args.providers));
    let mut roots = parallel::each(targets.paths.len(), parallel::cores(), |at| {
        let settings = targets.settings(at)?;
        InstallRoot::open(&settings, args, (&known, &tracked, &named)).inspect_err(|_| named.miss())
    });
    services.events_for(targets.dialect());
    if let Some(error) = named.missing(list::not_locked) {
        return Err(error);
    }
    refuse_shared_data_dir(&roots)?;
    let mut notes: Vec<String> = skipped.into_iter().collect();
    let linkers = linkers(args, &roots, &services.interrupt);
    if !args.check {
        let lacking = roots.iter().flatten().map(|root| root.lacking().count()).sum();
        services.interrupt.expect(What::InstalledPackage, lacking);
        // Packages are linked from its store, so it lives until all are in their places.
        let fetching = if lacking > 0 { Some(Fetching::new(services, &roots, args, &known)?) } else { None };
        let mut found = BTreeMap::new();
        for _ in 0..ATTEMPTS {
            if let Some(fetching) = &fetching {
                found.append(&mut fetched(&roots, services, fetching, &mut notes)?);
            }
            parallel::each_mut(&mut roots, LINKERS, |root| {
                if let Ok(root) = root {
                    let linker = &linkers[&root.link(args)];
                    root.place(args, &found, linker, &known);
                }
            });
            if roots.iter().flatten().all(|root| root.lacking().next().is_none()) {
                break;
            }
        }
        roots.iter_mut().flatten().for_each(InstallRoot::give_up);
        notes.extend(place::in_plugin_caches(&roots, &found, &linkers[&LinkChoice::Auto], &known));
    }
    let mut copied = linkers.values().filter(|linker| linker.had_to_copy());
    notes.extend(copied.next().map(|_| {
        "packages were copied: the package store is on another file system; set TFLOCK_CACHE_DIR to a directory on the same file system"
            .to_owned()
    }));
    let outcomes = targets.paths.iter().zip(roots).map(|(path, root)| match root {
        Ok(root) => root.finish(args, &services.interrupt),
        Err(error) => RootOutcome::failed(path, error),
    });
    let outcomes: Vec<RootOutcome> = outcomes.collect();
    let of_modules = module_notes(&outcomes, args.check);
    let mut outcome = targets.finish("install", outcomes, notes);
    outcome.notes.extend(of_modules);
    let lacks = |outcome: &RootOutcome| match &outcome.body {
        Ok(Body::Install(report)) => report.lacks_something(),
        _ => false,
    };
    let differs = args.check && outcome.roots.iter().any(lacks);
    Ok(outcome.exit_1_if(differs))
}

/// Several root modules cannot have one data directory: each would install over the others, and prune what they lock.
fn refuse_shared_data_dir(roots: &[Result<InstallRoot, Error>]) -> Result<(), Error> {
    let mut users: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for settings in roots.iter().flatten().map(InstallRoot::settings) {
        *users.entry(lexical(&settings.place, &settings.data_dir_name())).or_default() += 1;
    }
    let Some((data, count)) = users.into_iter().find(|(_, count)| *count > 1) else { return Ok(()) };
    let message = format!(
        "TF_DATA_DIR makes {} the data directory of {count} root modules, which cannot share one",
        shown(&data)
    );
    Err(Error::new(ErrorKind::Usage, message)
        .hint("set TF_DATA_DIR to a path inside of each root module, or install one root module at a time"))
}

/// One linker for each requested method, and one for plugin caches.
fn linkers(
    args: &InstallArgs,
    roots: &[Result<InstallRoot, Error>],
    interrupt: &Interrupt,
) -> BTreeMap<LinkChoice, Linker> {
    let wanted = roots.iter().flatten().map(|root| root.link(args));
    wanted.chain([LinkChoice::Auto]).map(|choice| (choice, Linker::new(choice, interrupt.clone()))).collect()
}

/// Finds the missing packages in the package store, or downloads them into it.
fn fetched(
    roots: &[Result<InstallRoot, Error>],
    services: &Services<'_>,
    fetching: &Fetching<'_>,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<PackageKey, PackageState>, Error> {
    let opened: Vec<&InstallRoot> = roots.iter().flatten().collect();
    let mut wanted: BTreeMap<PackageKey, PackageHashes> = BTreeMap::new();
    for want in opened.iter().flat_map(|root| root.lacking()) {
        wanted.entry(want.key.clone()).or_default().extend(want.recorded.iter().cloned());
    }
    let mut found = fetching.recall(&wanted);
    let is_open = |found: &BTreeMap<PackageKey, PackageState>, want: &Want| {
        found.get(&want.key).is_none_or(|found| found.of(&want.recorded).is_none())
    };
    let sources = PackageSources::new(services, &fetching.cache);
    let queried = opened.iter().filter_map(|root| {
        let open: Vec<_> = root.lacking().filter(|want| is_open(&found, want)).map(|want| &want.key.address).collect();
        (!open.is_empty()).then(|| (*root, root.settings().source(), open.into_iter()))
    });
    for Group { members, opened } in sources.groups(queried.collect::<Vec<_>>()) {
        let mut open: BTreeMap<PackageKey, PackageHashes> = BTreeMap::new();
        let mut places: Vec<PathBuf> = Vec::new();
        for root in &members {
            for want in root.lacking().filter(|want| is_open(&found, want)) {
                open.entry(want.key.clone()).or_insert_with(|| wanted[&want.key].clone());
            }
            let more: Vec<_> = root.places.iter().filter(|place| !places.contains(place)).cloned().collect();
            places.extend(more);
        }
        for (key, answer) in fetching.fetch(&open, &places, opened.clone())? {
            found.entry(key).or_default().join(answer);
        }
        if let Ok(Some(session)) = &opened {
            packages::look_up_releases(&members, &mut found, session)?;
        }
    }
    notes.extend(sources.notes());
    notes.extend(fetching.notes());
    notes.extend(fetching.cache.flush().err().map(|problem| problem.to_string()));
    Ok(found)
}

/// What was not done with modules: those that are not locked, and what no comparison covers.
fn module_notes(outcomes: &[RootOutcome], check: bool) -> Vec<Step> {
    let reports = || {
        outcomes.iter().filter_map(|root| match &root.body {
            Ok(Body::Install(report)) => Some(report),
            _ => None,
        })
    };
    let unlocked = reports().filter(|report| report.unlocked).count();
    let unlocked = (unlocked > 0).then(|| {
        step!(
            "the modules of {} are not locked and were not installed: `tflock lock --lock-modules` locks them, `terraform get` \
             installs them as they are",
            counted(unlocked, "root module")
        )
    });
    let is_compared = check && reports().any(InstallReport::has_compared_modules);
    is_compared.then(|| COMPARED.into()).into_iter().chain(unlocked).collect()
}

impl InstallRoot {
    fn link(&self, args: &InstallArgs) -> LinkChoice {
        args.link.or(self.settings().settings.link).unwrap_or_default()
    }

    fn finish(mut self, args: &InstallArgs, interrupt: &Interrupt) -> RootOutcome {
        let packages = std::mem::take(&mut self.wants).into_iter().map(|want| InstalledPackage {
            address: want.key.address,
            version: want.key.version,
            platform: want.key.platform,
            h1: want.h1,
            state: want.state,
            bytes: want.bytes,
            downloaded: want.downloaded,
            copied: want.copied,
        });
        let packages = packages.collect();
        let is_wanted = !args.no_modules && !self.is_refused;
        let modules = if is_wanted { self.modules(args.check, interrupt) } else { Ok(ModulesOfRoot::Unknown) };
        let (modules, unlocked) = match modules {
            Ok(ModulesOfRoot::Installed(modules)) => (Some(modules), false),
            Ok(other) => (None, matches!(other, ModulesOfRoot::Unlocked)),
            Err(error) => {
                self.failed.push(error);
                (None, false)
            }
        };
        let Self { read, mut findings, failed, removed, .. } = self;
        findings.extend(uncovered(&self.uncovered));
        findings.extend(modules.iter().flat_map(place::differing_modules));
        let lock_file = read.settings.lock_file_shown();
        let placed = |finding: Finding| if finding.file.is_none() { finding.in_file(&lock_file) } else { finding };
        let findings = findings.into_iter().map(placed).collect();
        let report = InstallReport { checked: args.check, packages, modules, unlocked, removed, failed };
        RootOutcome { path: read.settings.path, body: Ok(Body::Install(report)), findings }
    }

    /// Installs locked modules as `get` does, or writes the list of modules if all are local; with `check`, compares.
    fn modules(&self, check: bool, interrupt: &Interrupt) -> Result<ModulesOfRoot, Error> {
        if !check {
            return get::install_for(self.settings(), interrupt);
        }
        let checked = place::check_modules(self.settings())?;
        Ok(checked.map_or(ModulesOfRoot::Unknown, ModulesOfRoot::Installed))
    }
}

/// Packages that the lock file does not record for their platforms, though they are those of the release. One command records
/// all that lack the same platforms.
fn uncovered(keys: &[PackageKey]) -> Vec<Finding> {
    use crate::finding::Rule;

    let mut lacking: BTreeMap<&ProviderAddr, BTreeSet<&Platform>> = BTreeMap::new();
    for key in keys {
        lacking.entry(&key.address).or_default().insert(&key.platform);
    }
    let mut commands: BTreeMap<&BTreeSet<&Platform>, Vec<String>> = BTreeMap::new();
    for (address, platforms) in &lacking {
        let words = commands.entry(platforms).or_insert_with(|| {
            let platforms = platforms.iter().flat_map(|platform| ["--platform".to_owned(), platform.to_string()]);
            platforms.collect()
        });
        words.push(address.to_string());
    }
    let finding = |PackageKey { address, version, platform }: &PackageKey| {
        let message =
            format!("no h1 is recorded for {address} {version} on {platform}, so `init` would download it again");
        let words = Value::Words(commands[&lacking[address]].clone());
        // The lock file alone decides what is installed, whether or not the configuration requires it.
        let remedy = step!("`tflock lock --from-lock {}` records what is missing.", words);
        Finding::new(Rule::PlatformUncovered, message).about(address).remedied_by(remedy)
    };
    keys.iter().map(finding).collect()
}

/// The finding for a package whose content does not match the lock file.
fn refused(want: &Want, hashes: &[crate::hash::PackageHash]) -> Finding {
    use crate::finding::Rule;

    let own: Vec<&str> = hashes.iter().map(crate::hash::PackageHash::as_str).collect();
    let message = format!("the package of {} has {}, which the lock file does not record", want.key, own.join(" and "));
    let remedy = step!("`tflock verify` shows whether the release or the lock file was changed.");
    Finding::new(Rule::WrongChecksum, message).about(&want.key.address).remedied_by(remedy)
}

fn installed_differs(want: &Want) -> Finding {
    use crate::finding::{Level, Rule};

    let (done, remedy) = if want.state == InstallState::Replaced {
        let remedy =
            "The recorded package is in its place now. If `init` did not install the other one, find out what did.";
        ("did not match the lock file; replaced", Step::from(remedy))
    } else {
        ("does not match the lock file", step!("`tflock install` replaces it."))
    };
    let message = format!("the installed package of {} {done}", want.key);
    let finding = Finding::new(Rule::InstalledDiffers, message).about(&want.key.address).in_file(&want.shown);
    finding.at_level(Level::Warn).remedied_by(remedy)
}
