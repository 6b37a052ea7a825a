//! `why`.

use super::list::opened;
use super::text::decoded;
use super::{Done, Session};
use crate::addr::ProviderAddr;
use crate::cli::args::WhyArgs;
use crate::commands::RunSettings;
use crate::commands::why::why as required;
use crate::disk::roots::{MissingModules, join, load_tree};
use crate::disk::worktree;
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Outcome, Required};

pub(super) fn why(session: &Session<'_>, arguments: &WhyArgs) -> Result<Done, Error> {
    let (roots, many) = opened(session, arguments.recursive)?;
    let body = |root: &RunSettings, notes: &mut Vec<String>| requirements(root, &arguments.providers, notes);
    let mut done = Done::of_roots("why", (&roots, many), body);
    let missing = not_required(&done.outcome, &roots, &arguments.providers);
    if arguments.recursive && !arguments.providers.is_empty() {
        // Who does not ask for them is not in the answer.
        done.outcome.roots.retain(|root| !matches!(&root.body, Ok(Body::Requirements(found)) if found.is_empty()));
    }
    Ok(done.but(missing))
}

fn requirements(root: &RunSettings, providers: &[String], notes: &mut Vec<String>) -> Result<Body, Error> {
    let only = addresses(root, providers)?;
    let lock = decoded(root)?.map(|file| file.lock);
    let tree = load_tree(&root.root, &root.tree_options(MissingModules::Skip)).map_err(|errors| {
        let all = Error::all(errors.into_iter().map(|error| root.tree_error(error)));
        all.unwrap_or_else(|| Error::new(ErrorKind::Configuration, "the configuration cannot be read"))
    })?;
    notes.extend(tree.warnings.iter().map(ToString::to_string));
    notes.extend(tree.missing.iter().map(|module| {
        format!("module {} ({}) is not installed; what it requires is not known", module.key, module.source)
    }));
    let mut found = required(&tree.requirements, lock.as_ref(), &only);
    // As all files in reports relative to the work tree, which outside of git is the root module.
    let path = worktree::place(&root.root).unwrap_or_default();
    for origin in found.iter_mut().flat_map(|required| &mut required.requirement.origins) {
        origin.file = join(&path, &origin.file.to_string_lossy());
    }
    Ok(Body::Requirements(found))
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
