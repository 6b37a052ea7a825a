//! `why`: which module, file and line asks for a provider, and with which constraint.

use super::Services;
use super::targets::{Targets, Unlocked};
use super::text::decoded;
use crate::addr::ProviderAddr;
use crate::disk::roots::{MissingModules, TreeError, file_from};
use crate::disk::worktree;
use crate::error::{Error, ErrorKind};
use crate::lockfile::LockFile;
use crate::outcome::{Body, Outcome, Required};
use crate::requirements::Requirements;
use crate::workspace::RunSettings;

/// What `why` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The only providers that are wanted, as typed; empty for all.
    pub providers: Vec<String>,
    /// Every root module below.
    pub recursive: bool,
}

/// Tells who asks for providers.
///
/// # Errors
///
/// What keeps the run from beginning; what is wrong with one root module stands in its outcome.
pub fn why(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let Request { providers, recursive } = request;
    let targets = Targets::of(&services.scope, *recursive, Unlocked::Told)?;
    let roots = targets.all_settings()?;
    let mut notes = Vec::new();
    let mut unknown = Vec::new();
    let mut outcome = targets.outcome("why", &roots, |root| {
        let (body, missing) = requirements(root, providers, &mut notes)?;
        unknown.extend(missing);
        Ok(body)
    });
    outcome.notes = notes;
    // Where a module is missing, it may be the one that requires a provider.
    let missing = Error::all(unknown).or_else(|| not_required(&outcome, &roots, providers));
    if *recursive && !providers.is_empty() {
        // Who does not ask for them is not in the answer.
        outcome.roots.retain(|root| !matches!(&root.body, Ok(Body::Requirements(found)) if found.is_empty()));
    }
    Ok(outcome.but(missing))
}

/// The required providers, all of them or only some, with the version that the lock file selects.
///
/// In the order of the lock file. Of the providers asked for, those that are not required are not in the answer.
fn required(requirements: &Requirements, lock: Option<&LockFile>, only: &[ProviderAddr]) -> Vec<Required> {
    requirements
        .iter()
        .filter(|(address, _)| only.is_empty() || only.contains(address))
        .map(|(address, requirement)| Required {
            address: address.clone(),
            requirement: requirement.clone(),
            locked: lock.and_then(|lock| lock.get(address)).map(|entry| entry.version.clone()),
        })
        .collect()
}

/// Who asks for providers in one root module, and the modules of which that is not known.
fn requirements(
    root: &RunSettings,
    providers: &[String],
    notes: &mut Vec<String>,
) -> Result<(Body, Vec<Error>), Error> {
    let only = addresses(root, providers)?;
    let lock = decoded(root)?.map(|file| file.lock);
    let tree = match root.load_tree(&root.tree_options(MissingModules::Skip)) {
        Ok(tree) => tree,
        // Terragrunt leaves lock files without configuration, in which nobody asks.
        Err(errors) if lock.is_some() && matches!(errors[..], [TreeError::NoConfiguration(_)]) => {
            return Ok((Body::Requirements(Vec::new()), Vec::new()));
        }
        Err(errors) => {
            let all = Error::all(errors.into_iter().map(|error| root.tree_error(error)));
            let unknown = || Error::new(ErrorKind::Configuration, "the configuration cannot be read");
            return Err(all.unwrap_or_else(unknown));
        }
    };
    notes.extend(tree.warnings.iter().map(ToString::to_string));
    let missing = tree.missing.iter().map(|module| root.not_installed(module)).collect();
    let mut found = required(&tree.requirements, lock.as_ref(), &only);
    // As all files in reports relative to the work tree, which outside of git is the root module.
    let path = worktree::place(&root.root).unwrap_or_default();
    for origin in found.iter_mut().flat_map(|required| &mut required.requirement.origins) {
        origin.file = file_from(&path, &origin.file);
    }
    Ok((Body::Requirements(found), missing))
}

fn addresses(root: &RunSettings, providers: &[String]) -> Result<Vec<ProviderAddr>, Error> {
    let parse = |text: &String| ProviderAddr::parse(text, root.dialect);
    providers
        .iter()
        .map(parse)
        .collect::<Result<_, _>>()
        .map_err(|wrong| Error::new(ErrorKind::Usage, wrong.to_string()))
}

/// The providers that were asked for and that no root module requires.
fn not_required(outcome: &Outcome, roots: &[RunSettings], providers: &[String]) -> Option<Error> {
    let bodies: Vec<&Vec<Required>> = outcome
        .roots
        .iter()
        .map(|root| match &root.body {
            Ok(Body::Requirements(found)) => Some(found),
            // Of a root module that cannot be read nothing is known.
            _ => None,
        })
        .collect::<Option<_>>()?;
    let found = |text: &&String| {
        roots.iter().zip(&bodies).any(|(root, found)| {
            let addr = ProviderAddr::parse(text, root.dialect).ok();
            found.iter().any(|required| Some(&required.address) == addr.as_ref())
        })
    };
    Error::all(providers.iter().filter(|text| !found(text)).map(|text| {
        Error::new(ErrorKind::NotFound, format!("provider {text} is not required by the configuration"))
            .hint("run `tflock why` for all that are, `tflock list` for all that are locked")
    }))
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
            };
            requirements.add(&addr(text), &Constraints::default(), origin);
        }
        requirements
    }

    #[test]
    fn the_locked_version_stands_beside_who_asks() {
        let mut lock = LockFile::new();
        let entry = LockEntry {
            version: Version::new(3, 1, 0),
            constraints: Constraints::default(),
            hashes: std::iter::empty().collect(),
        };
        lock.insert(addr("null"), entry);
        let found = required(&requirements(&["tls", "null"]), Some(&lock), &[]);
        let versions: Vec<_> =
            found.iter().map(|required| (required.address.kind(), required.locked.clone())).collect();
        assert_eq!(versions, [("null", Some(Version::new(3, 1, 0))), ("tls", None)]);
        assert_eq!(found[0].requirement.origins[0].local_name, "null");
    }

    #[test]
    fn only_what_was_asked_for_is_answered() {
        let found = required(&requirements(&["tls", "null"]), None, &[addr("tls"), addr("other")]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].address, addr("tls"));
    }
}
