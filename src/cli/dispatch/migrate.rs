//! `migrate`.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::lock::{Asked, run, unsupported};
use super::targets::{Targets, Unlocked};
use super::{Done, Session};
use crate::cli::Streams;
use crate::cli::args::{Below, MigrateArgs};
use crate::commands::RunSettings;
use crate::commands::lock::Root;
use crate::commands::migrate;
use crate::error::Error;
use crate::outcome::{Body, RootOutcome};

pub(super) fn migrate(session: &Session<'_>, arguments: &MigrateArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let options = arguments.options().map_err(unsupported)?;
    let looking = options.check || options.dry_run;
    let below = Below { recursive: arguments.recursive, ..Below::default() };
    let targets = Targets::of(session, &below, Unlocked::Told)?;
    let remarks = Mutex::new(BTreeSet::new());
    let prepare = |root: Root, settings: &RunSettings| {
        remarks.lock().unwrap_or_else(PoisonError::into_inner).extend(migrate::remarks(settings));
        migrate::migrate(root, settings, arguments.edit_config)
    };
    let asked = Asked {
        command: "migrate",
        session,
        below: &below,
        options,
        prepare: &prepare,
        to: Some(arguments.to.dialect()),
    };
    let mut done = run(&asked, targets, streams);
    let held_up = |root: &RootOutcome| matches!(&root.body, Ok(Body::Changes(it)) if it.changed && !it.written);
    if !looking && done.outcome.roots.iter().any(held_up) {
        done.outcome.notes.push("nothing was written, since not every root module can be migrated".to_owned());
    }
    done.outcome.notes.extend(remarks.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(done)
}
