//! `add`.

use super::edit_requirements::{self, Addition, History};
use super::lock::Root;
use super::locking::{Locking, run};
use super::suggest_provider::suggest_near;
use super::targets::{Targets, Unlocked};
use super::{LockOptions, Services};
use crate::error::{Error, ErrorKind};
use crate::outcome::Outcome;
use crate::workspace::RunSettings;

/// What `add` is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// The providers, each with what is wanted of it.
    pub additions: Vec<Addition>,
    /// What git's history is for.
    pub history: History,
    /// What is wanted of the lock file.
    pub options: LockOptions,
}

/// Requires providers in the configuration, and locks them.
///
/// # Errors
///
/// A local name for several providers, and what keeps the run from beginning.
pub fn add(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let Request { additions, history, options } = request;
    if additions.len() != 1 && additions.iter().any(|addition| addition.name.is_some()) {
        return Err(Error::new(ErrorKind::Usage, "--name is the local name of one provider, but several are named"));
    }
    let targets = Targets::of(&services.scope, false, Unlocked::Told)?;
    let prepare = |root: Root, settings: &RunSettings| edit_requirements::add(root, settings, additions, *history);
    let asked = Locking { command: "add", fail_fast: false, options: options.clone(), prepare: &prepare, to: None };
    let mut outcome = run(&asked, targets, services);
    let named: Vec<&str> = additions.iter().map(|addition| addition.source.as_str()).collect();
    suggest_near(&mut outcome, services, &named);
    Ok(outcome)
}
