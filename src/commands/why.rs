//! `why`: shows which module, file and line requires a provider, and with which constraint.

use std::collections::BTreeMap;

use super::Services;
use super::options::{Modules, Within};
use super::targets::{Targets, Unlocked};
use crate::addr::ProviderAddr;
use crate::config::{ModuleSource, ModuleVersion};
use crate::disk::roots::{Tree, file_from};
use crate::error::{Error, ErrorKind};
use crate::lockfile::LockFile;
use crate::outcome::{Body, CallOnPath, GraphFormat, Outcome, Required};
use crate::path::{shown, worktree};
use crate::requirements::Requirements;
use crate::workspace::{NamedProviders, Names, Reading, RootModule};

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
    let targets = Targets::of(&services.scope, *recursive, Unlocked::Opened)?.or_none()?;
    let roots = targets.all_settings()?;
    let (mut notes, mut unknown, named) = (Vec::new(), Vec::new(), NamedProviders::new(providers));
    let mut outcome = targets.outcome("why", &roots, |settings| {
        let mut root = RootModule::open(settings)?;
        root.decoded()?;
        root.read_configuration(Reading::LENIENT)?;
        named.see(Names { lock: None, ..root.names() });
        notes.extend(remarks(&root));
        let missing = root.tree.iter().flat_map(|tree| &tree.missing);
        unknown.extend(missing.map(|module| settings.not_installed(module)));
        requirements(&root, providers)
    });
    outcome.notes = notes;
    outcome.graph = args.graph;
    // An unreadable root module or a missing module may require the provider.
    let all_read = outcome.roots.iter().all(|root| root.body.is_ok());
    let missing = Error::all(unknown).or_else(|| if all_read { named.missing(not_required) } else { None });
    if *recursive && !providers.is_empty() {
        // Root modules that do not require the named providers are left out.
        outcome.roots.retain(|root| !matches!(&root.body, Ok(Body::Requirements(found)) if found.is_empty()));
    }
    Ok(outcome.with_error(missing))
}

fn not_required(text: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("provider {text} is not required by the configuration"))
        .hint("run `tflock why` for all that are, `tflock list` for all that are locked")
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
fn remarks(root: &RootModule) -> Vec<String> {
    let warnings = root.tree.iter().flat_map(|tree| tree.warnings.iter().map(ToString::to_string));
    let none = root.tree.is_none().then(|| {
        let place = root.settings.lock_file_shown();
        format!("there is no configuration next to {} that could require a provider", shown(&place))
    });
    warnings.chain(none).collect()
}

/// The requirements for each provider; empty without configuration.
fn requirements(root: &RootModule, providers: &[String]) -> Result<Body, Error> {
    let names = root.names();
    let only: Vec<ProviderAddr> = providers.iter().map(|text| names.resolve(text)).collect::<Result<_, _>>()?;
    let mut found =
        root.requirements().map(|requirements| required(requirements, root.entries(), &only)).unwrap_or_default();
    // Relative to the working tree, as all files in reports; outside of git to the root module.
    let path = worktree::place(&root.settings.root).unwrap_or_default();
    for origin in found.iter_mut().flat_map(|required| &mut required.requirement.origins) {
        origin.file = file_from(&path, &origin.file);
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
type Calls = BTreeMap<String, (String, Option<String>)>;

fn calls(tree: &Tree) -> Calls {
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
fn way(module: &str, calls: &Calls) -> Vec<CallOnPath> {
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
