//! `add`.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::edit_requirements;
use super::lock::Addition;
use super::lock::Root;
use super::locking::{Locking, run};
use super::targets::{Targets, Unlocked};
use super::{LockOptions, Services};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::outcome::Outcome;
use crate::workspace::RunSettings;

#[derive(Debug, Clone)]
pub struct Request {
    /// The providers, each with what is wanted of it.
    pub additions: Vec<Addition>,
    pub options: LockOptions,
}

pub fn add(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let Request { additions, options } = request;
    if additions.len() != 1 && additions.iter().any(|addition| addition.name.is_some()) {
        return Err(Error::new(ErrorKind::Usage, "--name is the local name of one provider, but several are named"));
    }
    if services.is_above_root_modules() {
        let message = "there is neither configuration nor a lock file here, and there are root modules below";
        let hint = "name the root module with -C; for a new one here, write its versions.tf first";
        return Err(Error::new(ErrorKind::Usage, message).hint(hint));
    }
    let targets = Targets::of(&services.scope, false, Unlocked::Told)?;
    let unlocked = Mutex::new(BTreeSet::new());
    let prepare = |root: Root, settings: &RunSettings| {
        let root = edit_requirements::add(root, settings, additions)?;
        unlocked.lock().unwrap_or_else(PoisonError::into_inner).extend(others_without_entry(&root, settings));
        Ok(root)
    };
    let asked =
        Locking { command: "add", fail_fast: false, options: options.clone(), prepare: Some(&prepare), to: None };
    let mut outcome = run(asked, targets, services);
    outcome.notes.extend(unlocked.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(outcome)
}

/// The providers that are required, that were not named now, and that have no entry in the lock file.
fn others_without_entry(root: &Root, settings: &RunSettings) -> Option<String> {
    let asked: BTreeSet<ProviderAddr> = root.asked().into_iter().collect();
    let required = root.requirements().iter().map(|(addr, _)| addr);
    let others = required.filter(|addr| root.lock().get(addr).is_none() && !asked.contains(addr));
    let names: Vec<String> = others.map(|addr| addr.short(settings.dialect)).collect();
    let they = if names.len() == 1 { "is" } else { "are" };
    let file = settings.lock_file_shown();
    (!names.is_empty()).then(|| {
        format!(
            "{} {they} required too and not in {}; `tflock lock` adds what is missing",
            names.join(", "),
            file.display()
        )
    })
}
