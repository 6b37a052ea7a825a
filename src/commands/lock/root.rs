//! One root module, with all that is read for it before anybody is asked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::super::{LockOptions, RunSettings};
use super::rules::RuleBook;
use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::disk::roots::{self, MissingModules};
use crate::disk::{lock_file, state};
use crate::engine::plan::Intent;
use crate::engine::recall;
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;
use crate::lockfile::{self, LockFile};
use crate::platform::Platform;
use crate::requirements::{Requirements, providers_in_state};

/// One root module with all that was read for it.
#[derive(Debug, Clone)]
pub struct Root {
    /// The lock file, to be written.
    pub(super) path: PathBuf,
    /// The same, as reports name it.
    pub(super) shown: PathBuf,
    /// The directory that a symbolic link at `path` must not lead out of.
    pub(super) boundary: PathBuf,
    /// The bytes of the lock file, if there is one.
    pub(super) bytes: Option<Vec<u8>>,
    /// What they say; empty if there is none.
    pub(super) lock: LockFile,
    /// What is needed: by the configuration, or by the lock file itself.
    pub(super) requirements: Requirements,
    /// Whether the configuration was read.
    pub(super) configured: bool,
    /// What is asked.
    pub(super) intent: Intent,
    /// What holds for each provider.
    pub(super) rules: RuleBook,
    /// Warnings about what was read.
    pub(super) findings: Vec<Finding>,
}

impl Root {
    /// Reads the lock file, the configuration and the state, as far as the options want them.
    ///
    /// # Errors
    ///
    /// All that is wrong with what was read.
    pub fn open(settings: &RunSettings, options: &LockOptions, cache: &Cache) -> Result<Self, Error> {
        let bytes = lock_file::read(&settings.lock_file())?;
        let (lock, findings) = match &bytes {
            Some(bytes) => decode(bytes, settings)?,
            None => (LockFile::new(), Vec::new()),
        };
        let requirements = if options.from_lock { Requirements::of_entries(&lock) } else { configuration(settings)? };
        Ok(Self {
            path: settings.lock_file(),
            shown: settings.lock_file_shown(),
            boundary: settings.boundary.clone(),
            intent: intent(settings, options, &lock, cache)?,
            rules: RuleBook::new(settings, options),
            configured: !options.from_lock,
            bytes,
            lock,
            requirements,
            findings,
        })
    }
}

fn decode(bytes: &[u8], settings: &RunSettings) -> Result<(LockFile, Vec<Finding>), Error> {
    let file = settings.lock_file_shown();
    match lockfile::decode(bytes, settings.dialect) {
        Ok(decoded) => {
            // Writing mends what is merely not canonical.
            let kept = decoded.warnings.into_iter().filter(|finding| finding.rule == crate::finding::Rule::LockModules);
            Ok((decoded.lock, kept.map(|finding| finding.in_file(&file)).collect()))
        }
        Err(findings) => {
            let errors = findings.into_iter().map(|finding| {
                let error = Error::new(ErrorKind::LockFile, finding.message).in_file(&file).hint(finding.rule.help());
                finding.position.into_iter().fold(error, Error::at)
            });
            Err(Error::all(errors).unwrap_or_else(|| Error::new(ErrorKind::LockFile, "the lock file cannot be read")))
        }
    }
}

fn configuration(settings: &RunSettings) -> Result<Requirements, Error> {
    match roots::load_tree(&settings.root, &settings.tree_options(MissingModules::Refuse)) {
        Ok(tree) => Ok(tree.requirements),
        Err(errors) => {
            let errors = errors.into_iter().map(|error| settings.tree_error(error));
            Err(Error::all(errors)
                .unwrap_or_else(|| Error::new(ErrorKind::Configuration, "the configuration cannot be read")))
        }
    }
}

fn intent(settings: &RunSettings, options: &LockOptions, lock: &LockFile, cache: &Cache) -> Result<Intent, Error> {
    let parse = |text: &String| {
        ProviderAddr::parse(text, settings.dialect)
            .map_err(|problem| Error::new(ErrorKind::Usage, format!("invalid provider argument: {problem}")))
            .map_err(|error| error.hint("write it as in required_providers, such as hashicorp/aws"))
    };
    let only: BTreeSet<ProviderAddr> = options.providers.iter().map(parse).collect::<Result<_, _>>()?;
    let republished = options.accept_republished.iter();
    let republished = republished.map(|(text, version)| Ok((parse(text)?, version.clone())));
    let state = match &options.state {
        Some(path) => Some(state_providers(path, settings)?),
        None => None,
    };
    Ok(Intent {
        only: (!only.is_empty()).then_some(only),
        platforms: platforms(settings, options, lock, cache),
        prune: options.prune,
        state,
        republished: republished.collect::<Result<_, Error>>()?,
    })
}

fn state_providers(path: &std::path::Path, settings: &RunSettings) -> Result<BTreeSet<ProviderAddr>, Error> {
    let text = state::read(path)?;
    providers_in_state(&text, settings.dialect)
        .map_err(|problem| Error::new(ErrorKind::Usage, problem.to_string()).in_file(path))
}

/// Those that were asked for, else those of the settings, else those that the cache attributes to recorded hashes and
/// this machine's.
fn platforms(settings: &RunSettings, options: &LockOptions, lock: &LockFile, cache: &Cache) -> Vec<Platform> {
    if !options.platforms.is_empty() {
        return options.platforms.clone();
    }
    if let Some(platforms) = settings.settings.platforms.as_ref().filter(|platforms| !platforms.is_empty()) {
        return platforms.clone();
    }
    let mut platforms = BTreeSet::from([Platform::host()]);
    for (addr, entry) in lock.iter() {
        let known = recall::recall(cache, addr, &entry.version);
        platforms.extend(known.iter().flat_map(|known| known.attributed(&entry.hashes).cloned()));
    }
    platforms.into_iter().collect()
}
