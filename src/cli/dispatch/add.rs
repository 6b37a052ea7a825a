//! `add` and `remove`.

use super::lock::{Asked, run, unsupported};
use super::targets::Targets;
use super::{Done, Session, near};
use crate::cli::Streams;
use crate::cli::args::{AddArgs, Below, RemoveArgs};
use crate::commands::lock::Root;
use crate::commands::requirement;
use crate::commands::{LockOptions, RunSettings};
use crate::error::{Error, ErrorKind};
use crate::outcome::Body;

pub(super) fn add(session: &Session<'_>, arguments: &AddArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    if arguments.name.is_some() && arguments.providers.len() != 1 {
        return Err(Error::new(ErrorKind::Usage, "--name is the local name of one provider, but several are named"));
    }
    let options = arguments.options().map_err(unsupported)?;
    let (additions, history) = (arguments.additions(), arguments.history());
    let targets = Targets::of(session, &Below::default(), false)?;
    let prepare = |root: Root, settings: &RunSettings| requirement::add(root, settings, &additions, history);
    let asked = Asked { command: "add", session, below: &Below::default(), options, prepare: &prepare };
    let mut done = run(&asked, targets, streams);
    let named: Vec<&str> = additions.iter().map(|addition| addition.source.as_str()).collect();
    near::suggest_near(&mut done, session, &named);
    Ok(done)
}

pub(super) fn remove(session: &Session<'_>, arguments: &RemoveArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let options = LockOptions { dry_run: arguments.dry_run, accept_no_configuration: true, ..LockOptions::default() };
    let targets = Targets::of(session, &Below::default(), false)?;
    let how = (arguments.force, arguments.lock_only);
    let prepare = |root: Root, settings: &RunSettings| requirement::remove(root, settings, &arguments.providers, how);
    let asked = Asked { command: "remove", session, below: &Below::default(), options, prepare: &prepare };
    let mut done = run(&asked, targets, streams);
    let gone = |body: &Result<Body, Error>| matches!(body, Ok(Body::Changes(changes)) if changes.written);
    if done.outcome.roots.iter().any(|root| gone(&root.body)) {
        done.outcome.notes.push(
            "what is remembered about signers stays; to add the provider again is a new first use of its hashes"
                .to_owned(),
        );
    }
    Ok(done)
}
