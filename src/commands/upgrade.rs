//! `upgrade`.

use super::available_versions::of_roots;
use super::edit_requirements::{self, Bump, Offered};
use super::lock::Root;
use super::locking::{Locking, run};
use super::targets::{Below, Targets, Unlocked};
use super::{LockOptions, Services};
use crate::error::{Error, ErrorKind};
use crate::outcome::Outcome;
use crate::workspace::RunSettings;

/// What `upgrade` is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What is wanted of each lock file.
    pub options: LockOptions,
    /// Which root modules.
    pub below: Below,
    /// Constraints of the root module that do not allow the version are written anew.
    pub bump: bool,
}

/// Selects the newest versions that the constraints allow.
///
/// # Errors
///
/// Options that do not fit the providers or root modules that are named, and what keeps the run from beginning.
pub fn upgrade(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let Request { options, below, bump } = request;
    let selection = options.upgrade.clone().unwrap_or_default();
    if selection.precise.is_some() && options.providers.len() != 1 {
        return Err(Error::new(ErrorKind::Usage, "--precise selects a version of one provider, but several are named"));
    }
    if selection.same.is_some() && !below.recursive && !services.scope.many() {
        let message = "--same-versions is about several root modules, but there is only one";
        return Err(Error::new(ErrorKind::Usage, message).hint("pass -r, or -C more than once"));
    }
    let targets = Targets::of(&services.scope, below.recursive, Unlocked::Told)?;
    let mut newest = Offered::new();
    if *bump && selection.precise.is_none() {
        let (_, answers) = of_roots(&targets, options, services)?;
        // A provider whose versions nobody tells is an error of each root module that asks for it, later.
        newest.extend(answers.into_iter().filter_map(|(addr, answer)| Some((addr, answer.ok()?))));
    }
    let bumped = Bump { wanted: selection.precise.as_ref(), prereleases: selection.prereleases, offered: &newest };
    let prepare = |root: Root, settings: &RunSettings| {
        if *bump { edit_requirements::bump(root, settings, bumped) } else { Ok(root) }
    };
    let asked = Locking {
        command: "upgrade",
        fail_fast: below.fail_fast,
        options: options.clone(),
        prepare: &prepare,
        to: None,
    };
    Ok(run(&asked, targets, services))
}
