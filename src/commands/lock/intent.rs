//! What the options and the settings request for a root module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::LockOptions;
use crate::addr::ProviderAddr;
use crate::disk::state;
use crate::error::{Error, ErrorKind};
use crate::lock::plan::Intent;
use crate::platform::Platform;
use crate::requirements::{Requirements, StateProviders, providers_in_state};
use crate::workspace::{Names, RunSettings};

/// Resolves the provider names in the options for one root module.
pub(super) fn intent(settings: &RunSettings, options: &LockOptions, names: Names<'_>) -> Result<Intent, Error> {
    let parse = |text: &String| names.resolve(text);
    let only: BTreeSet<ProviderAddr> = options.providers.iter().map(parse).collect::<Result<_, _>>()?;
    let republished = options.accept_republished.iter();
    let republished = republished.map(|(text, version)| Ok((parse(text)?, version.clone())));
    let state = match &options.state {
        Some(path) => Some(state_providers(path, settings, names.requirements)?),
        None => None,
    };
    Ok(Intent {
        excluded: options.excluded.iter().map(parse).collect::<Result<_, _>>()?,
        only: (!only.is_empty()).then_some(only),
        lenient: options.found,
        dropped: BTreeSet::new(),
        upgrade: options.upgrade.clone(),
        moves: BTreeMap::new(),
        platforms: Vec::new(),
        prune: options.prune,
        state,
        reselected: BTreeMap::new(),
        republished: republished.collect::<Result<_, Error>>()?,
    })
}

fn state_providers(
    path: &Path,
    settings: &RunSettings,
    required: Option<&Requirements>,
) -> Result<StateProviders, Error> {
    let text = state::read(path)?;
    let found = providers_in_state(&text, settings.dialect)
        .map_err(|problem| Error::new(ErrorKind::Usage, problem).in_file(path))?;
    Ok(if settings.translates_state() { found.translated(required) } else { found })
}

/// The platforms of the options, else of the settings; `None` if neither names any.
pub(super) fn named_platforms(settings: &RunSettings, options: &LockOptions) -> Option<Vec<Platform>> {
    let stated = || settings.settings.platforms.clone().unwrap_or_default();
    let named = if options.platforms.is_empty() { stated() } else { options.platforms.clone() };
    (!named.is_empty()).then_some(named)
}
