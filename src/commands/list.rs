//! `list` and `why`: what is locked, and what requires it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use super::Services;
use super::shared::options::{Assignments, Modules, Within};
use super::shared::rules::RuleBook;
use super::shared::targets::{Targets, Unlocked};
use crate::addr::ProviderAddr;
use crate::config::{Location, ModuleSource};
use crate::disk::cache::Cache;
use crate::disk::roots::{Tree, file_from};
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::hash::{PackageHash, Sha256Digest};
use crate::lockfile::{LockEntry, LockFile};
use crate::outcome::{Body, CallOnPath, GraphFormat, Grouping, Listed, Outcome, Required, UsedModule};
use crate::parallel;
use crate::path::shown;
use crate::platform::Platform;
use crate::query::cached;
use crate::release::Lookup;
use crate::requirements::Requirements;
use crate::step::Step;
use crate::trust::pins::Signer;
use crate::version::{ModuleConstraints, ModuleVersion};
use crate::words::first_of;
use crate::workspace::{NamedProviders, ProviderNames, Reading, Root, RunSettings};

/// List the entries of the lock file.
///
/// Lists each provider with its version, its hashes and their known platforms, and the signer if an earlier run kept the
/// signature; with -v also its constraints. With several root modules: which versions of it are locked, and where.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  tflock list\n  tflock list -r hashicorp/aws")]
pub(crate) struct ListArgs {
    /// Only these providers, by source address.
    #[arg(value_name = "ADDR", conflicts_with = "modules")]
    pub(crate) providers: Vec<String>,
    /// List the calls of remote modules instead, with the locked versions.
    #[arg(long, conflicts_with = "by")]
    pub(crate) modules: bool,
    /// Look at every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// With several root modules: which versions of each provider, or what each root module locks.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Grouping::Provider)]
    pub(crate) by: Grouping,
    #[command(flatten)]
    pub(crate) variables: Assignments,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn list(args: &ListArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let unlocked = if args.modules { Unlocked::Opened } else { Unlocked::Reported };
    let targets = Targets::with_instances(&services.scope, args.recursive, unlocked)?.or_none()?;
    let roots = targets.all_settings()?;
    if args.modules {
        let mut unread = UnreadPlaces::new();
        let outcome = targets.outcome("list", &roots, |settings| {
            let root = Root::open(settings, Reading::LENIENT)?.whole()?;
            add_unread(&mut unread, &root);
            Ok(Body::Modules(used_modules(&root)))
        });
        return Ok(Outcome { notes: unread_notes(&unread).into(), ..outcome });
    }
    let (cache, wanted) = (services.open_cache_of(&roots), NamedProviders::new(&args.providers));
    let opened = parallel::each(roots.len(), parallel::cores(), |at| Root::open_locked(&roots[at]));
    let mut shared: HashMap<[usize; 2], Vec<RootList<'_>>> = HashMap::new();
    let mut unread: Vec<(PathBuf, String)> = Vec::new();
    let bodies = opened.iter().map(|root| {
        let root = root.as_ref().map_err(|error| {
            wanted.miss();
            error.clone()
        })?;
        let (lock, settings, names) = (root.locked()?, &root.settings, root.names());
        wanted.see(names);
        // Root modules with equal files and rules share one list; all of them stay open, so an address means one content.
        let files = [Arc::as_ptr(lock).addr(), root.tree.as_ref().map_or(0, |tree| Arc::as_ptr(tree).addr())];
        let shared = shared.entry(files).or_default();
        let is_like = |other: &RunSettings| other.dialect == settings.dialect && other.settings == settings.settings;
        let known = shared.iter().find(|(other, _)| is_like(other)).map(|(_, entries)| Arc::clone(entries));
        let entries = known.unwrap_or_else(|| {
            let only: Vec<ProviderAddr> = args.providers.iter().filter_map(|text| names.resolve(text).ok()).collect();
            let is_wanted = |listed: &Listed| args.providers.is_empty() || only.contains(&listed.address);
            let mut entries = entries(settings, &lock.lock, root.tree.as_deref(), &cache);
            entries.retain(is_wanted);
            let entries = Arc::new(entries);
            shared.push((settings, Arc::clone(&entries)));
            entries
        });
        let is_open = entries.iter().any(|listed| listed.required.is_none());
        unread.extend(root.unread_reason().filter(|_| is_open).map(|reason| (settings.name(), reason)));
        Ok(Body::Entries(entries))
    });
    let outcome = targets.outcome_of_each("list", &roots, bodies);
    let mut notes = targets.notes_on_unlocked();
    notes.extend(not_read("it is unknown which entries are required", &unread, outcome.many));
    Ok(Outcome { grouping: args.by, notes, ..outcome }.with_error(wanted.missing(not_locked)))
}

/// Names the root modules of which not all is read, each with the reason; `effect` is what follows.
pub(super) fn not_read(effect: &str, unread: &[(PathBuf, String)], many: bool) -> Option<Step> {
    let (path, reason) = unread.first()?;
    let name = if path.as_os_str().is_empty() { ".".into() } else { shown(path) };
    let place = match unread.len() {
        1 if !many => String::new(),
        1 => format!(" in {name}"),
        count => format!(" in {count} root modules, such as {name}"),
    };
    Some(step!("{}{}: {}; `tflock why` shows all that is not read", effect, place, reason))
}

pub(super) fn not_locked(text: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no entry for a provider {text}"))
        .hint(step!("`tflock list` shows all"))
}

fn used_modules(module: &Root) -> Vec<UsedModule> {
    let Some(tree) = &module.tree else { return Vec::new() };
    let lock = tree.module_lock.as_ref().map(|read| &read.file.lock);
    let used = |(call, source): (&str, &str), request: Option<(&ModuleSource, Option<&ModuleConstraints>)>| {
        let block = request.and_then(|(source, constraints)| lock?.block(source, call, constraints));
        let block = block.filter(|(_, block)| block.calls.contains(call));
        UsedModule {
            call: call.to_owned(),
            source: source.to_owned(),
            version: block.and_then(|(key, _)| key.version.as_ref()).map(ModuleVersion::canonical),
            commit: block.and_then(|(_, block)| block.content.commit.clone()),
            locked: lock.map(|_| block.is_some()),
            file: PathBuf::new(),
            position: Position::default(),
        }
    };
    let placed = |used: UsedModule, place: &Location| UsedModule {
        file: file_from(&module.settings.path, &place.file),
        position: place.position,
        ..used
    };
    let known = tree.remote_modules.iter().map(|call| {
        let request = call.address.as_ref().map(|source| (source, call.constraints.as_ref()));
        let shared = used((&call.key, &call.source), request);
        let version = shared.version.clone().or_else(|| call.version.as_ref().map(ModuleVersion::canonical));
        placed(UsedModule { version, ..shared }, &call.place)
    });
    let missing = tree.missing.iter().map(|module| {
        let request = module.request.as_ref().map(|request| (&request.source, request.constraints.as_ref()));
        placed(used((&module.key, &module.source), request), &module.place)
    });
    let mut all: Vec<UsedModule> = known.chain(missing).collect();
    all.sort_by(|one, other| one.call.cmp(&other.call));
    all
}

/// The facts about an entry from outside the lock file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Attribution {
    platforms: Vec<Platform>,
    signer: Option<Signer>,
}

/// The entries in the order of the lock file. Without `requirements` it is unknown which entries are required.
fn listed(
    lock: &LockFile,
    requirements: Option<&Requirements>,
    attribute: &dyn Fn(&ProviderAddr, &LockEntry) -> Attribution,
) -> Vec<Listed> {
    lock.iter()
        .map(|(address, entry)| {
            let Attribution { platforms, signer } = attribute(address, entry);
            let requirement = requirements.map(|requirements| requirements.get(address));
            let origins = requirement.flatten().into_iter().flat_map(|it| &it.origins);
            let mut required_by: Vec<String> = origins.map(|origin| origin.module.clone()).collect();
            required_by.dedup();
            Listed {
                address: address.clone(),
                entry: entry.clone(),
                required: requirement.map(|it| it.is_some()),
                required_by,
                platforms,
                signer,
            }
        })
        .collect()
}

type RootList<'a> = (&'a RunSettings, Arc<Vec<Listed>>);

fn entries(root: &RunSettings, lock: &LockFile, tree: Option<&Tree>, cache: &Cache) -> Vec<Listed> {
    let rules = RuleBook::for_root(root);
    let attribute = |addr: &ProviderAddr, entry: &LockEntry| attribution(&rules, cache, addr, entry);
    let mut entries = listed(lock, tree.map(|tree| &tree.requirements), &attribute);
    if tree.is_some_and(|tree| tree.unread().is_some()) {
        // A missing module may require it.
        for entry in entries.iter_mut().filter(|entry| entry.required == Some(false)) {
            entry.required = None;
        }
    }
    entries
}

/// The cached facts about an entry: the platforms of its `h1:`, and the signer if a kept signature still verifies and
/// covers a recorded hash.
fn attribution(rules: &RuleBook, cache: &Cache, addr: &ProviderAddr, entry: &LockEntry) -> Attribution {
    let Lookup::Known(release) = cached::release(cache, addr, &entry.version, rules.check(addr)) else {
        return Attribution::default();
    };
    let recorded = release.platforms_with(&entry.hashes);
    let mut platforms: Vec<_> = recorded.map(|(platform, _)| platform.clone()).collect();
    platforms.sort();
    platforms.dedup();
    let is_signed = |digest: &Sha256Digest| entry.hashes.contains(&PackageHash::zh(*digest));
    let signer = release.signer.clone().filter(|_| release.lines.keys().any(is_signed));
    Attribution { platforms, signer }
}

/// Show who requires a provider.
///
/// Shows which module, file and line requires a provider and with which constraint, through the whole module tree, and
/// the locked version. Without ADDR: every provider.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example:\n  tflock why hashicorp/random")]
pub(crate) struct WhyArgs {
    /// Provider source addresses, such as hashicorp/aws.
    #[arg(value_name = "ADDR")]
    pub(crate) providers: Vec<String>,
    /// Look at every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Print a graph of modules and the providers that they require.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) graph: Option<GraphFormat>,
    #[command(flatten)]
    pub(crate) modules: Modules,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn why(args: &WhyArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let WhyArgs { providers, recursive, .. } = args;
    let mut targets = Targets::with_instances(&services.scope, *recursive, Unlocked::Opened)?;
    // What has no lock file requires providers all the same.
    let unlocked: BTreeMap<PathBuf, PathBuf> = if providers.is_empty() {
        BTreeMap::new()
    } else {
        targets.unlocked_places().map(|(shown, place)| (shown.clone(), place.clone())).collect()
    };
    targets.add(unlocked.clone());
    let targets = targets.or_none()?;
    let roots = targets.all_settings()?;
    let (mut notes, mut unknown, named) = (Vec::new(), Vec::new(), NamedProviders::new(providers));
    let mut unread = UnreadPlaces::new();
    let mut unopened = Vec::new();
    let open = |settings| {
        let root = Root::open(settings, Reading::LENIENT)?;
        root.decoded()?;
        root.whole()
    };
    let mut outcome = targets.outcome("why", &roots, |settings| {
        let root = match open(settings) {
            Err(error) if unlocked.contains_key(&settings.path) => {
                unopened.push(error);
                return Ok(Body::Requirements(Vec::new()));
            }
            root => root?,
        };
        named.see(ProviderNames { lock: None, ..root.names() });
        notes.extend(remarks(&root));
        add_unread(&mut unread, &root);
        if unlocked.contains_key(&settings.path) {
            return requirements(&root, providers);
        }
        unknown.extend(root.tree.iter().flat_map(|tree| settings.not_installed_in(tree, |_| true)));
        requirements(&root, providers)
    });
    notes.extend(unread_notes(&unread));
    outcome.notes = notes.into();
    outcome.graph = args.graph;
    // An unreadable root module or a missing module may require the provider.
    let all_read = outcome.roots.iter().all(|root| root.body.is_ok());
    let missing = || if all_read { named.missing(not_required) } else { None };
    // What could not be opened may require it.
    let missing = || missing().map(|error| Error::all(unopened).unwrap_or(error));
    let missing = Error::all(unknown).or_else(missing);
    if *recursive && !providers.is_empty() {
        // Root modules that do not require the named providers are left out.
        outcome.roots.retain(|root| !matches!(&root.body, Ok(Body::Requirements(found)) if found.is_empty()));
    }
    Ok(outcome.with_error(missing))
}

fn not_required(text: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("provider {text} is not required by the configuration"))
        .hint(step!("run `tflock why` for all that are, `tflock list` for all that are locked"))
}

/// The required providers, or those of `only`, with the locked version, in the order of the lock file. Named providers
/// that are not required are left out.
fn required(requirements: &Requirements, lock: Option<&LockFile>, only: &[ProviderAddr]) -> Vec<Required> {
    requirements
        .iter()
        .filter(|(address, _)| only.is_empty() || only.contains(address))
        .map(|(address, requirement)| Required {
            address: address.clone(),
            requirement: requirement.clone(),
            locked: lock.and_then(|lock| lock.get(address)).map(|entry| entry.version.clone()),
            paths: BTreeMap::new(),
        })
        .collect()
}

/// Notes about the configuration.
fn remarks(root: &Root) -> Vec<String> {
    let warnings = root.tree.iter().flat_map(|tree| tree.warnings.iter().map(ToString::to_string));
    let none = root.tree.is_none().then(|| {
        let place = root.settings.lock_file_shown();
        format!("there is no configuration next to {} that could require a provider", shown(&place))
    });
    warnings.chain(none).collect()
}

/// Where what is not read is, by the reason: it may call further modules and require further providers.
type UnreadPlaces = BTreeMap<String, Vec<String>>;

fn add_unread(unread: &mut UnreadPlaces, root: &Root) {
    for part in root.tree.iter().flat_map(|tree| &tree.unread_parts) {
        let file = file_from(&root.settings.path, &part.place.file);
        unread.entry(part.reason.clone()).or_default().push(format!("{}:{}", shown(&file), part.place.position));
    }
}

/// One note for each reason, with the first places.
fn unread_notes(unread: &UnreadPlaces) -> Vec<String> {
    unread.iter().map(|(reason, places)| format!("{}: not read: {reason}", first_of(places, 3))).collect()
}

/// The providers that a text names. A bare type names all that modules understand by it: one that declares no source means another
/// provider than one that does.
fn meant(root: &Root, names: &ProviderNames<'_>, text: &str) -> Result<Vec<ProviderAddr>, Error> {
    let required = root.requirements().into_iter().flat_map(Requirements::iter);
    let of_type: Vec<ProviderAddr> =
        required.map(|(addr, _)| addr).filter(|addr| addr.type_name() == text).cloned().collect();
    if of_type.is_empty() { Ok(vec![names.resolve(text)?]) } else { Ok(of_type) }
}

/// The requirements for each provider; empty without configuration.
fn requirements(root: &Root, providers: &[String]) -> Result<Body, Error> {
    let names = root.names();
    let only: Vec<Vec<ProviderAddr>> =
        providers.iter().map(|text| meant(root, &names, text)).collect::<Result<_, _>>()?;
    let only = only.concat();
    let mut found =
        root.requirements().map(|requirements| required(requirements, root.entries(), &only)).unwrap_or_default();
    for origin in found.iter_mut().flat_map(|required| &mut required.requirement.origins) {
        origin.file = file_from(&root.settings.path, &origin.file);
    }
    if let Some(tree) = &root.tree {
        let calls = calls(tree);
        for required in &mut found {
            let askers = required.requirement.origins.iter().filter(|origin| !origin.module.is_empty());
            required.paths = askers.map(|origin| (origin.module.clone(), way(&origin.module, &calls))).collect();
        }
    }
    Ok(Body::Requirements(found))
}

/// Module calls by their dotted path, each with its source and version.
type CalledFrom = BTreeMap<String, (String, Option<String>)>;

fn calls(tree: &Tree) -> CalledFrom {
    let lock = tree.module_lock.as_ref().map(|read| &read.file.lock);
    let remote = tree.remote_modules.iter().map(|call| {
        let block = call.address.as_ref().and_then(|it| lock?.block(it, &call.key, call.constraints.as_ref()));
        let locked = block.and_then(|(key, _)| key.version.as_ref());
        let version = locked.or(call.version.as_ref()).map(ModuleVersion::canonical);
        let version = version.or_else(|| call.address.as_ref().and_then(ModuleSource::reference));
        (call.key.clone(), (call.source.clone(), version))
    });
    let local = tree.local_calls.iter().map(|call| (call.key.clone(), (call.source.clone(), None)));
    remote.chain(local).collect()
}

/// The calls from the root module to a module.
fn way(module: &str, calls: &CalledFrom) -> Vec<CallOnPath> {
    let ends = module.match_indices('.').map(|(at, _)| at).chain([module.len()]);
    let call = |end: usize| {
        let (source, version) = calls.get(&module[..end]).cloned().unzip();
        let name = module[..end].rsplit('.').next().unwrap_or_default().to_owned();
        CallOnPath { name, source, version: version.flatten() }
    };
    ends.map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::version::{Constraints, Version};

    #[test]
    fn entries_are_listed_with_platforms_and_signers() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let mut lock = LockFile::new();
        let entry = LockEntry {
            version: Version::new(1, 2, 3),
            constraints: Constraints::default(),
            hashes: std::iter::empty().collect(),
        };
        lock.insert(addr.clone(), entry);
        let attribute =
            |_: &ProviderAddr, _: &LockEntry| Attribution { platforms: Vec::new(), signer: Some(Signer::Unsigned) };
        let listed = super::listed(&lock, Some(&Requirements::new()), &attribute);
        assert_eq!((listed[0].required, listed[0].signer.as_ref()), (Some(false), Some(&Signer::Unsigned)));
        assert_eq!(super::listed(&lock, None, &attribute)[0].required, None);
    }
}

#[cfg(test)]
mod tests_of_why {
    use super::*;
    use crate::dialect::Dialect;
    use crate::lockfile::LockEntry;
    use crate::requirements::{Origin, OriginKind};
    use crate::version::{Constraints, Version};

    fn addr(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, Dialect::Terraform).unwrap()
    }

    fn requirements(texts: &[&str]) -> Requirements {
        let mut requirements = Requirements::new();
        for text in texts {
            let origin = Origin {
                module: String::new(),
                file: "main.tf".into(),
                position: crate::finding::Position::default(),
                kind: OriginKind::Resource,
                local_name: (*text).to_owned(),
                constraint: None,
                in_tests: false,
                is_evaluated: false,
                block: None,
            };
            requirements.add(&addr(text), &Constraints::default(), origin);
        }
        requirements
    }

    #[test]
    fn the_locked_version_is_next_to_its_requirements() {
        let mut lock = LockFile::new();
        let entry = LockEntry {
            version: Version::new(3, 1, 0),
            constraints: Constraints::default(),
            hashes: std::iter::empty().collect(),
        };
        lock.insert(addr("null"), entry);
        let found = required(&requirements(&["tls", "null"]), Some(&lock), &[]);
        let versions: Vec<_> =
            found.iter().map(|required| (required.address.type_name(), required.locked.clone())).collect();
        assert_eq!(versions, [("null", Some(Version::new(3, 1, 0))), ("tls", None)]);
        assert_eq!(found[0].requirement.origins[0].local_name, "null");
    }

    #[test]
    fn only_the_requested_providers_are_shown() {
        let found = required(&requirements(&["tls", "null"]), None, &[addr("tls"), addr("other")]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].address, addr("tls"));
    }
}
