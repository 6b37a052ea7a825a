//! The packages that a root module needs, and which of them are installed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{InstallArgs, installed_differs};
use crate::addr::ProviderAddr;
use crate::commands::RunSettings;
use crate::commands::local_places::LocalPlaces;
use crate::commands::verify::tracked_packages;
use crate::disk::files::refuse_linked_directory;
use crate::disk::mirror_writer::directory_in;
use crate::disk::package::{KnownFiles, hash_directory_once};
use crate::error::Error;
use crate::finding::Finding;
use crate::git::TrackedFiles;
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::lockfile::LockFile;
use crate::outcome::InstallState;
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::verify::policy;
use crate::version::Version;
use crate::workspace::{NamedProviders, Reading, RootModule, absent};

pub(super) struct Root {
    pub(super) settings: RunSettings,
    /// The directory of installed packages: `.terraform/providers`.
    pub(super) providers: PathBuf,
    /// The plugin cache, and all directories that may have packages.
    pub(super) plugin_cache: Option<PathBuf>,
    pub(super) places: Vec<PathBuf>,
    pub(super) locked: LockFile,
    pub(super) wants: Vec<Want>,
    pub(super) removed: Vec<(ProviderAddr, Version)>,
    /// The packages for which the lock file has no `h1:`.
    pub(super) uncovered: Vec<PackageKey>,
    pub(super) findings: Vec<Finding>,
    pub(super) failed: Vec<Error>,
    pub(super) is_refused: bool,
}

/// One package that a root module needs.
pub(super) struct Want {
    pub(super) key: PackageKey,
    pub(super) recorded: PackageHashes,
    /// Its path, and the path as shown in reports.
    pub(super) place: PathBuf,
    pub(super) shown: PathBuf,
    pub(super) state: InstallState,
    pub(super) h1: Option<PackageHash>,
    pub(super) bytes: u64,
    pub(super) downloaded: u64,
    /// True if this run copied its files instead of linking them.
    pub(super) copied: bool,
}

impl Root {
    /// Reads the lock file, and checks which packages are installed.
    pub(super) fn open(
        settings: RunSettings,
        args: &InstallArgs,
        (known, tracked, named): (&KnownFiles, &TrackedFiles, &NamedProviders),
    ) -> Result<Self, Error> {
        let mut module = RootModule::open(&settings)?;
        let locked = module.decoded()?.map(|decoded| decoded.lock.clone());
        let locked = locked.ok_or_else(|| absent(settings.lock_file_shown(), &settings.root))?;
        if !args.providers.is_empty() {
            // Read only for the local names, which the lock file does not have.
            let _ = module.read_configuration(Reading::LENIENT);
            named.see(module.names());
        }
        let data = settings.data_dir();
        let is_installed_to = |folder: &&crate::git::TrackedFolder| folder.path.ends_with(".terraform");
        let mut folders: Vec<_> = tracked.packages(&settings.root).iter().filter(is_installed_to).cloned().collect();
        refuse_linked_directory(&data, "providers")?;
        if folders.is_empty() {
            folders.extend(tracked.first_at(&data));
        }
        let mut findings = tracked_packages(&settings, &folders);
        let LocalPlaces { plugin_cache, mirrors } = LocalPlaces::of(&settings)?;
        let mut root = Self {
            providers: data.join("providers"),
            places: plugin_cache.iter().cloned().chain(mirrors).collect(),
            plugin_cache: plugin_cache.filter(|cache| cache.is_dir()),
            wants: Vec::new(),
            removed: Vec::new(),
            uncovered: Vec::new(),
            findings: Vec::new(),
            failed: Vec::new(),
            is_refused: !findings.is_empty(),
            locked,
            settings,
        };
        if !root.is_refused {
            let only = args.providers.iter().filter_map(|text| module.names().resolve(text).ok());
            let only: Vec<ProviderAddr> = only.collect();
            findings.extend(root.look(args, &only, known));
        }
        root.findings.extend(findings);
        Ok(root)
    }

    /// Lists the needed packages, and checks whether they are installed.
    fn look(&mut self, args: &InstallArgs, only: &[ProviderAddr], known: &KnownFiles) -> Vec<Finding> {
        let host = [Platform::host()];
        let platforms = if args.platforms.is_empty() { &host[..] } else { &args.platforms };
        let platforms: BTreeSet<&Platform> = platforms.iter().collect();
        let mut findings = Vec::new();
        for (address, entry) in self.locked.iter() {
            if !args.providers.is_empty() && !only.contains(address) {
                continue;
            }
            let forbidden = policy::of_address(address, &self.settings.settings);
            if !forbidden.is_empty() {
                findings.extend(forbidden);
                continue;
            }
            for &platform in &platforms {
                let (version, platform) = (entry.version.clone(), platform.clone());
                let way = directory_in(Path::new(""), address).join(version.to_string()).join(platform.as_str());
                let shown = self.settings.path.join(self.settings.data_dir_name()).join("providers").join(&way);
                let mut want = Want {
                    key: PackageKey { address: address.clone(), version, platform },
                    recorded: entry.hashes.clone(),
                    place: self.providers.join(way),
                    shown,
                    state: InstallState::Missing,
                    h1: None,
                    bytes: 0,
                    downloaded: 0,
                    copied: false,
                };
                if want.recorded.of(HashScheme::H1).next().is_none() {
                    self.uncovered.push(want.key);
                    continue;
                }
                (want.state, want.h1) = state_of(&want.place, &want.recorded, known);
                if args.check && want.state == InstallState::Differs {
                    findings.push(installed_differs(&want));
                }
                self.wants.push(want);
            }
        }
        findings
    }

    /// The packages to install.
    pub(super) fn lacking(&self) -> impl Iterator<Item = &Want> {
        let needs_copy =
            |want: &&Want| self.plugin_cache.as_ref().is_some_and(|cache| !cache_place(cache, &want.key).is_dir());
        self.wants.iter().filter(move |want| !want.state.is_installed() || needs_copy(want))
    }
}

/// The path of a package in a plugin cache.
pub(super) fn cache_place(cache: &Path, key: &PackageKey) -> PathBuf {
    directory_in(cache, &key.address).join(key.version.to_string()).join(key.platform.as_str())
}

/// The state of an installed package.
pub(super) fn state_of(
    place: &Path,
    recorded: &PackageHashes,
    known: &KnownFiles,
) -> (InstallState, Option<PackageHash>) {
    if !crate::disk::linking::is_taken(place) {
        return (InstallState::Missing, None);
    }
    match hash_directory_once(place, known) {
        Ok(h1) if recorded.contains(&h1) => (InstallState::Present, Some(h1)),
        _ => (InstallState::Differs, None),
    }
}
