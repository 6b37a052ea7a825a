//! Requirements that a command writes into configuration, or takes out, before it locks.
//!
//! The texts are edited in memory; they are written together with the lock file, or not at all.

use std::collections::BTreeMap;

use super::RunSettings;
use super::lock::Root;
use crate::addr::ProviderAddr;
use crate::config::SourceFile;
use crate::config::edit::{self, AddRequest, EditError};
use crate::dialect::Dialect;
use crate::disk::roots;
use crate::engine::held;
use crate::error::{Error, ErrorKind};
use crate::requirements::{Origin, OriginKind};
use crate::version::{Constraints, Operator, Version, newest_allowed};

/// The versions on offer, by provider.
pub type Offered = BTreeMap<ProviderAddr, Vec<Version>>;

/// What `add` is asked for one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The source address as typed.
    pub source: String,
    /// The constraint as typed.
    pub constraint: Option<String>,
    /// The local name, if one was given.
    pub name: Option<String>,
    /// One exact version is required.
    pub pin: bool,
    /// A requirement that is there is changed.
    pub replace: bool,
    /// Only the lock file changes.
    pub lock_only: bool,
}

impl Addition {
    /// The provider.
    ///
    /// # Errors
    ///
    /// What is wrong with the address.
    pub fn address(&self, dialect: Dialect) -> Result<ProviderAddr, Error> {
        ProviderAddr::parse(&self.source, dialect)
            .map_err(|problem| Error::new(ErrorKind::Usage, format!("invalid provider address: {problem}")))
    }

    /// True if the constraint depends on the versions on offer.
    pub fn wants_versions(&self) -> bool {
        self.pin || self.constraint.is_none() && !self.lock_only
    }
}

/// Writes requirements into the configuration of a root module, and has the run lock them and nothing else.
///
/// # Errors
///
/// An address or constraint that is none, a provider that is required already, or that is not on offer.
pub fn add(mut root: Root, settings: &RunSettings, additions: &[Addition], offered: &Offered) -> Result<Root, Error> {
    let files = if additions.iter().all(|addition| addition.lock_only) { Vec::new() } else { sources(settings)? };
    let mut edited = files.clone();
    let mut only = Vec::new();
    for addition in additions {
        let addr = addition.address(settings.dialect)?;
        let constraint = constraint(addition, &addr, (&root, offered))?;
        if !addition.lock_only {
            let request = AddRequest {
                name: addition.name.clone(),
                source: addition.source.clone(),
                constraint: constraint.clone(),
                replace: addition.replace,
            };
            let edits = edit::add(&edited, settings.dialect, &request).map_err(Error::from)?;
            edited = edit::apply(&edited, &edits);
            root.requirements_mut().remove_origins(&addr, is_entry);
        }
        let terms = constraint.as_deref().map(Constraints::parse_config).transpose();
        let terms =
            terms.map_err(|problem| Error::new(ErrorKind::Usage, format!("invalid version constraint: {problem}")))?;
        root.requirements_mut().add(&addr, &terms.unwrap_or_default(), origin(addition, &addr, constraint));
        only.push(addr);
    }
    let edits = edit::edits_between(&files, &edited);
    Ok(root.editing(edits, settings).only(only))
}

/// Takes requirements out of the configuration of a root module, and entries that nobody else requires out of its lock
/// file.
///
/// # Errors
///
/// A provider that is neither required nor locked, or that is still used, unless `force`.
pub fn remove(
    mut root: Root,
    settings: &RunSettings,
    providers: &[String],
    (force, lock_only): (bool, bool),
) -> Result<Root, Error> {
    let files = if lock_only { Vec::new() } else { sources(settings)? };
    let mut edited = files.clone();
    let (mut still, mut gone) = (Vec::new(), Vec::new());
    for text in providers {
        let addr = ProviderAddr::parse(text, settings.dialect)
            .map_err(|problem| Error::new(ErrorKind::Usage, format!("invalid provider address: {problem}")))?;
        if !lock_only {
            match edit::remove(&edited, settings.dialect, &addr, force) {
                Ok(edits) => edited = edit::apply(&edited, &edits),
                // Whoever took the entry out by hand has the lock file left.
                Err(EditError::NotRequired { uses, .. }) if uses.is_empty() && root.lock().get(&addr).is_some() => {}
                Err(error) => return Err(error.into()),
            }
            root.requirements_mut()
                .remove_origins(&addr, |origin| is_entry(origin) || force && origin.module.is_empty());
        }
        match root.requirements().get(&addr) {
            Some(_) if !lock_only => still.push(addr),
            _ => gone.push(addr),
        }
    }
    let edits = edit::edits_between(&files, &edited);
    Ok(root.editing(edits, settings).only(still).dropping(gone))
}

/// Rewrites the constraints of the root module that do not allow the wanted version of providers: the given one, or the
/// newest.
///
/// # Errors
///
/// A constraint of another module that does not allow it either.
pub fn bump(
    mut root: Root,
    settings: &RunSettings,
    wanted: Option<&Version>,
    (prereleases, offered): (bool, &Offered),
) -> Result<Root, Error> {
    let files = sources(settings)?;
    let mut edited = files.clone();
    for addr in root.asked() {
        let releases = offered.get(&addr).into_iter().flatten();
        let counts = |version: &&Version| prereleases || !version.is_prerelease();
        let newest = releases.filter(counts).filter(|version| !root.bans(&addr, version)).max();
        let Some(target) = wanted.or(newest) else { continue };
        let Some(requirement) = root.requirements().get(&addr) else { continue };
        let holders: Vec<Origin> = held::holders(requirement, target).cloned().collect();
        if let Some(other) = holders.iter().find(|origin| !is_entry(origin)) {
            let message = format!(
                "{addr} {target} is not allowed by the constraint {:?}, which does not stand in the required_providers \
                 of the root module",
                other.constraint.as_deref().unwrap_or_default(),
            );
            return Err(Error::new(ErrorKind::NotFound, message).in_file(&other.file).at(other.position));
        }
        for holder in holders {
            let constraint = bumped(holder.constraint.as_deref().unwrap_or_default(), target);
            let request = AddRequest {
                name: Some(holder.local_name.clone()),
                source: addr.to_string(),
                constraint: Some(constraint.clone()),
                replace: true,
            };
            let edits = edit::add(&edited, settings.dialect, &request).map_err(Error::from)?;
            edited = edit::apply(&edited, &edits);
            let terms = Constraints::parse_config(&constraint).unwrap_or_default();
            let requirements = root.requirements_mut();
            requirements.remove_origins(&addr, |origin| *origin == holder);
            requirements.add(&addr, &terms, Origin { constraint: Some(constraint), ..holder });
        }
    }
    let edits = edit::edits_between(&files, &edited);
    Ok(root.editing(edits, settings))
}

/// A constraint of the same kind that allows a version.
fn bumped(text: &str, target: &Version) -> String {
    let old = Constraints::parse_config(text).unwrap_or_default();
    match old.terms() {
        _ if target.is_prerelease() => target.to_string(),
        [term] if term.operator() == Operator::Equal => {
            let sign = if text.trim_start().starts_with('=') { "= " } else { "" };
            format!("{sign}{target}")
        }
        [term] if term.operator() == Operator::PessimisticPatch => {
            format!("~> {}.{}.{}", target.major(), target.minor(), target.patch())
        }
        _ => Constraints::compatible_with(target).to_string(),
    }
}

/// The constraint to write: as typed, else by the versions on offer.
fn constraint(
    addition: &Addition,
    addr: &ProviderAddr,
    (root, offered): (&Root, &Offered),
) -> Result<Option<String>, Error> {
    if !addition.wants_versions() {
        return Ok(addition.constraint.clone());
    }
    let versions = offered.get(addr).map(Vec::as_slice).unwrap_or_default();
    let typed = addition.constraint.as_deref().unwrap_or_default();
    let terms: Constraints =
        if typed.is_empty() { Ok(Constraints::default()) } else { Constraints::parse_config(typed) }
            .map_err(|problem| Error::new(ErrorKind::Usage, format!("invalid version constraint: {problem}")))?;
    let newest = newest_allowed(versions.iter().filter(|version| !root.bans(addr, version)), &terms);
    let newest = newest.ok_or_else(|| {
        if newest_allowed(versions, &terms).is_some() {
            let message = format!("the settings ban every release of provider {addr} that may be selected");
            return Error::new(ErrorKind::Trust, message).hint("see the `ban` blocks of `.tflock.hcl`");
        }
        let message = format!("no available release of provider {addr} matches the version constraint \"{terms}\"");
        Error::new(ErrorKind::NotFound, message)
    })?;
    let text = if addition.pin { newest.to_string() } else { Constraints::compatible_with(newest).to_string() };
    Ok(Some(text))
}

/// True for an entry of `required_providers` in the root module.
fn is_entry(origin: &Origin) -> bool {
    origin.module.is_empty() && origin.kind == OriginKind::RequiredProviders
}

fn origin(addition: &Addition, addr: &ProviderAddr, constraint: Option<String>) -> Origin {
    Origin {
        module: String::new(),
        file: std::path::PathBuf::new(),
        position: crate::finding::Position::default(),
        kind: OriginKind::RequiredProviders,
        local_name: addition.name.clone().unwrap_or_else(|| addr.kind().to_owned()),
        constraint,
    }
}

fn sources(settings: &RunSettings) -> Result<Vec<SourceFile>, Error> {
    roots::sources(&settings.root, settings.dialect).map_err(Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bumped_constraint_keeps_its_kind() {
        let target: Version = "6.2.1".parse().unwrap();
        for (old, new) in [
            ("~> 5.0", "~> 6.2"),
            ("~> 5.0.3", "~> 6.2.1"),
            ("= 5.1.0", "= 6.2.1"),
            ("5.1.0", "6.2.1"),
            (">= 4.0, < 6.0", "~> 6.2"),
            ("!= 6.2.1", "~> 6.2"),
        ] {
            assert_eq!(bumped(old, &target), new, "{old}");
        }
        assert_eq!(bumped("~> 5.0", &"7.0.0-rc1".parse().unwrap()), "7.0.0-rc1");
    }
}
