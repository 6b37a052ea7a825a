//! `add` and `remove`.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::lock::{Asked, run, unsupported};
use super::targets::{Targets, Unlocked};
use super::{Done, Session, near};
use crate::cli::Streams;
use crate::cli::args::{AddArgs, Below, RemoveArgs};
use crate::commands::lock::Root;
use crate::commands::requirement;
use crate::commands::{LockOptions, RunSettings};
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Change, ChangeKind};

pub(super) fn add(session: &Session<'_>, arguments: &AddArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    if arguments.name.is_some() && arguments.providers.len() != 1 {
        return Err(Error::new(ErrorKind::Usage, "--name is the local name of one provider, but several are named"));
    }
    let options = arguments.options().map_err(unsupported)?;
    let (additions, history) = (arguments.additions(), arguments.history());
    let targets = Targets::of(session, &Below::default(), Unlocked::Told)?;
    let prepare = |root: Root, settings: &RunSettings| requirement::add(root, settings, &additions, history);
    let asked = Asked { command: "add", session, below: &Below::default(), options, prepare: &prepare, to: None };
    let mut done = run(&asked, targets, streams);
    let named: Vec<&str> = additions.iter().map(|addition| addition.source.as_str()).collect();
    near::suggest_near(&mut done, session, &named);
    Ok(done)
}

pub(super) fn remove(session: &Session<'_>, arguments: &RemoveArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let options = LockOptions { dry_run: arguments.dry_run, accept_no_configuration: true, ..LockOptions::default() };
    let targets = Targets::of(session, &Below::default(), Unlocked::Told)?;
    let how = (arguments.force, arguments.lock_only);
    let kept = Mutex::new(BTreeSet::new());
    let prepare = |root: Root, settings: &RunSettings| {
        let root = requirement::remove(root, settings, &arguments.providers, how)?;
        if let Ok(mut kept) = kept.lock() {
            kept.extend(still_required(&root, settings).filter(|_| !arguments.lock_only));
        }
        Ok(root)
    };
    let asked = Asked { command: "remove", session, below: &Below::default(), options, prepare: &prepare, to: None };
    let mut done = run(&asked, targets, streams);
    done.outcome.notes.extend(kept.into_inner().unwrap_or_default());
    let is_gone = |change: &Change| change.kind == ChangeKind::Removed;
    let gone = |body: &Result<Body, Error>| matches!(body, Ok(Body::Changes(changes)) if changes.written && changes.changes.iter().any(is_gone));
    if done.outcome.roots.iter().any(|root| gone(&root.body)) {
        done.outcome.notes.push(
            "what is remembered about signers stays; to add the provider again is a new first use of its hashes"
                .to_owned(),
        );
    }
    Ok(done)
}

/// Who still asks for the providers that a run is about, for each the first.
fn still_required<'a>(root: &'a Root, settings: &'a RunSettings) -> impl Iterator<Item = String> + 'a {
    root.asked().into_iter().filter_map(|addr| {
        let origin = root.requirements().get(&addr)?.origins.first()?;
        let module =
            if origin.module.is_empty() { "the root module".to_owned() } else { format!("module.{}", origin.module) };
        let (name, file) = (addr.short(settings.dialect), settings.path.join(&origin.file));
        Some(format!("{name} stays locked: {module} asks for it ({}:{})", file.display(), origin.position))
    })
}
