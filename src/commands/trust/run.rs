//! Runs `trust`: one action on the trust file, or queries for all signers.

use std::sync::Arc;

use super::init::init as remember_all;
use super::{TrustArgs, TrustCommand, act};
use crate::commands::Services;
use crate::commands::sources::Sources;
use crate::commands::targets::{Targets, Unlocked};
use crate::disk::{below, root_files};
use crate::error::{Error, ErrorKind};
use crate::outcome::Outcome;
use crate::workspace::{RunSettings, one_dialect};

pub fn trust(args: &TrustArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    if let TrustCommand::Init { recursive, .. } = &args.command {
        return init(*recursive, services);
    }
    let roots = services.named_roots()?;
    let dialect = one_dialect(&roots);
    let one = one_trust_file(&roots)?;
    if services.scope.trust_file.is_none() {
        let found = below::survey(&one.boundary)?.trust_files.into_iter();
        root_files::refuse_second_trust_files(found.map(|path| one.boundary.join(path)))?;
    }
    let outcome = act(one, &args.command, services, &Arc::new(services.open_cache_of(&roots)))?;
    Ok(Outcome { dialect, ..outcome })
}

fn one_trust_file(roots: &[RunSettings]) -> Result<&RunSettings, Error> {
    let refused = || Error::new(ErrorKind::Usage, "the directories of -C do not share one trust file");
    roots.first().filter(|first| roots.iter().all(|root| root.trust == first.trust)).ok_or_else(refused)
}

fn init(recursive: bool, services: &Services<'_>) -> Result<Outcome, Error> {
    let roots = if recursive {
        Targets::of(&services.scope, true, Unlocked::Reported)?.all_settings()?
    } else {
        services.named_roots()?
    };
    let dialect = one_dialect(&roots);
    services.events_for(dialect);
    let cache = Arc::new(services.open_cache_of(&roots));
    let sources = Sources::new(services, &cache);
    let groups = sources.groups(roots.iter().enumerate().map(|(at, root)| (at, root.source(), std::iter::empty())));
    let mut outcome = remember_all(&roots, groups, &cache, &services.interrupt)?;
    outcome.notes.extend(sources.notes());
    outcome.notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    Ok(Outcome { dialect, ..outcome })
}
