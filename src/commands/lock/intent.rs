//! What a request means for one root module: which providers are meant, and for which platforms they are locked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::request::LockRequest;
use crate::addr::{Hostname, ProviderAddr};
use crate::disk::cache::Cache;
use crate::disk::root_files;
use crate::error::{Error, ErrorKind};
use crate::lock::plan::{self, Intent};
use crate::lockfile::LockFile;
use crate::platform::Platform;
use crate::query::cached;
use crate::requirements::{Requirements, StateProviders, providers_in_state};
use crate::version::Version;
use crate::workspace::{ProviderNames, RunSettings};

impl LockRequest {
    /// Resolves the provider names for one root module.
    pub(super) fn intent(&self, settings: &RunSettings, names: ProviderNames<'_>) -> Result<Intent, Error> {
        let parse = |text: &String| names.resolve(text);
        let versions = |named: &[(String, Version)]| {
            named.iter().map(|(text, version)| Ok((parse(text)?, version.clone()))).collect::<Result<Vec<_>, Error>>()
        };
        let only: BTreeSet<ProviderAddr> = self.providers.iter().map(parse).collect::<Result<_, _>>()?;
        let state = self.state.as_ref().map(|path| state_providers(path, settings, names.requirements)).transpose()?;
        Ok(Intent {
            excluded: self.excluded.iter().map(parse).collect::<Result<_, _>>()?,
            only: (!only.is_empty()).then_some(only),
            lenient: self.found,
            upgrade: self.upgrade.clone(),
            precise: versions(&self.precise)?.into_iter().collect(),
            prune: self.prune,
            state,
            republished: versions(&self.accept_republished)?.into_iter().collect(),
            drop_unattested: self.drop_unattested,
            ..Intent::default()
        })
    }

    /// The requested platforms, else those of the settings, and those that are always wanted; `None` if neither names any.
    pub(super) fn named_platforms(&self, settings: &RunSettings, always: &BTreeSet<Platform>) -> Option<Vec<Platform>> {
        let stated = || settings.settings.platforms.clone().unwrap_or_default();
        let named = if self.platforms.is_empty() { stated() } else { self.platforms.clone() };
        let more = always.iter().filter(|platform| !named.contains(platform)).cloned().collect::<Vec<_>>();
        (!named.is_empty()).then(|| named.into_iter().chain(more).collect())
    }
}

fn state_providers(
    path: &Path,
    settings: &RunSettings,
    required: Option<&Requirements>,
) -> Result<StateProviders, Error> {
    let text = root_files::read_state(path)?;
    let found = providers_in_state(&text, settings.dialect)
        .map_err(|problem| Error::new(ErrorKind::Usage, problem).in_file(path))?;
    Ok(if settings.translates_state() { found.translated(required) } else { found })
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RecordedPlatforms {
    by_entry: BTreeMap<ProviderAddr, BTreeSet<Platform>>,
    /// Platforms of any entry for which tflock or the tool fetched a package.
    fetched: BTreeSet<Platform>,
    /// Platforms known only from a registry's report: `init` writes its hashes for all platforms, whether they are used or not.
    reported: BTreeMap<Hostname, BTreeSet<Platform>>,
    /// What the kind of the root module wants in addition.
    pub(super) always: BTreeSet<Platform>,
}

impl RecordedPlatforms {
    /// Collects the platforms of a lock file from the cache, where it knows the releases of the source that is asked.
    pub(super) fn of(lock: &LockFile, cache: Option<&Cache>, always: BTreeSet<Platform>) -> Self {
        let mut locked = Self { always, ..Self::default() };
        let Some(cache) = cache else { return locked };
        for (addr, entry) in lock.iter() {
            let Some(release) = cached::unchecked(cache, addr, &entry.version) else {
                continue;
            };
            locked.fetched.extend(plan::fetched(&release, &entry.hashes).cloned());
            let attributed: BTreeSet<Platform> =
                release.platforms_with(&entry.hashes).map(|(platform, _)| platform.clone()).collect();
            locked.reported.entry(addr.host().clone()).or_default().extend(attributed.iter().cloned());
            locked.by_entry.insert(addr.clone(), attributed);
        }
        locked
    }

    /// The platforms to lock a provider for: this machine's, those of fetched packages, and those that its registry
    /// reports, or the registry of the entry that it takes over.
    pub(super) fn wanted(&self, addr: &ProviderAddr, from: Option<&ProviderAddr>) -> BTreeSet<Platform> {
        let hosts = [Some(addr), from].into_iter().flatten().map(ProviderAddr::host);
        let reported = hosts.filter_map(|host| self.reported.get(host)).flatten();
        self.fetched.iter().chain(reported).chain(&self.always).cloned().chain([Platform::host()]).collect()
    }

    /// The platforms of an entry; `None` without an entry, or if no platform is known.
    pub(super) fn entry(&self, addr: &ProviderAddr) -> Option<&BTreeSet<Platform>> {
        self.by_entry.get(addr)
    }
}
