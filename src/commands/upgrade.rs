//! `upgrade`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::available_versions::of_roots;
use super::edit_requirements::{self, Bump, Offered};
use super::lock::Root;
use super::locking::{Locking, run};
use super::targets::{Below, Targets, Unlocked};
use super::{LockOptions, Services};
use crate::error::{Error, ErrorKind};
use crate::outcome::Outcome;
use crate::workspace::RunSettings;

#[derive(Debug, Clone, Default)]
pub struct Request {
    pub options: LockOptions,
    pub below: Below,
    /// Constraints of the root module that do not allow the version are rewritten.
    pub bump: bool,
}

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
    let mut newest: BTreeMap<PathBuf, Result<Arc<Offered>, Error>> = BTreeMap::new();
    if *bump && selection.precise.is_none() {
        // Notes are told when it is locked.
        let (roots, _) = of_roots(&targets, options, services, false);
        let offered = roots.into_iter().map(|root| root.map(|opened| opened.offered));
        newest = targets.paths.iter().cloned().zip(offered).collect();
    }
    let prepare = |root: Root, settings: &RunSettings| {
        let offered = newest.get(&settings.path).cloned().unwrap_or_else(|| Ok(Arc::default()))?;
        let (wanted, prereleases) = (selection.precise.as_ref(), selection.prereleases);
        edit_requirements::bump(root, settings, Bump { wanted, prereleases, offered: &offered })
    };
    let asked = Locking {
        command: "upgrade",
        fail_fast: below.fail_fast,
        options: options.clone(),
        prepare: if *bump { Some(&prepare) } else { None },
        to: None,
    };
    Ok(run(asked, targets, services))
}
