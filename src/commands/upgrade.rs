//! `upgrade`: selects the newest allowed versions.

mod choice;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Services;
use super::lock::command::run;
use super::lock::request::{Bump, LockRequest, OfferedVersions, Preparation};
use super::shared::options::{Assignments, Below, LockFlags, Within};
use super::shared::providers::of_roots;
use super::shared::targets::{Targets, Unlocked};

use crate::addr::ProviderAddr;
use crate::disk::roots::Reselected;
use crate::error::{Error, ErrorKind};
use crate::lock::plan::{self, OneForAll};
use crate::outcome::Outcome;
use crate::query::select;
use crate::settings::{Age, Date};
use crate::version::{Constraints, Version};
use choice::UpgradeChoice;

/// Select the newest versions that the constraints allow.
///
/// Without ADDR: every provider. Adds missing entries; removes nothing without --prune, except Terraform entries that
/// OpenTofu's replace. Shows what keeps a provider from its newest release. The age of a release is the age of its
/// signature, because the registry protocol has no publication date.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock upgrade\n  tflock upgrade hashicorp/aws --within minor --exclude-newer 7d\n  tflock upgrade hashicorp/aws@5.31.0\n  tflock upgrade -r hashicorp/aws\n  tflock upgrade -r -i"
)]
pub(crate) struct UpgradeArgs {
    /// Only these providers, each with the version to select.
    ///
    /// Without a version, selects the newest that the constraints allow.
    #[arg(value_name = "ADDR[@VERSION]")]
    pub(crate) providers: Vec<String>,
    /// List what could be raised, and choose.
    #[arg(short, long, conflicts_with_all = ["exclude", "modules", "precise", "step", "exclude_newer", "bump", "newest_with_platforms", "check"])]
    pub(crate) interactive: bool,
    /// Leave these providers unchanged.
    #[arg(long, value_name = "ADDR", num_args = 1.., conflicts_with = "precise")]
    pub(crate) exclude: Vec<String>,
    /// Lock modules again; without SOURCE all of them.
    ///
    /// Their sources decide what is locked. Upgrades only the providers that ADDR names.
    #[arg(long, value_name = "SOURCE", num_args = 0.., conflicts_with_all = ["precise", "bump"], help_heading = "Modules")]
    pub(crate) modules: Option<Vec<String>>,
    /// Select this version, newer or older; for one provider. The same as ADDR@VERSION.
    #[arg(long, hide_short_help = true, value_name = "VERSION", requires = "providers", conflicts_with_all = ["step", "pre", "newest_with_platforms"])]
    pub(crate) precise: Option<Version>,
    /// The largest change of a version. Default: major.
    #[arg(long = "within", value_name = "PART", value_enum)]
    pub(crate) step: Option<select::VersionStep>,
    /// Skip releases signed after: YYYY-MM-DD, 7d, 12h.
    ///
    /// A date means the end of that day in UTC; an age, that long before now.
    #[arg(long, value_name = "WHEN")]
    exclude_newer: Option<Limit>,
    /// Also rewrite a constraint that excludes the version.
    ///
    /// Only constraints of the root module are rewritten.
    #[arg(long, conflicts_with = "check")]
    pub(crate) bump: bool,
    /// With --bump: allow pre-releases.
    ///
    /// The tools accept one only if a constraint names it.
    #[arg(long, requires = "bump")]
    pub(crate) pre: bool,
    /// Skip releases without a package for a wanted platform.
    #[arg(long, hide_short_help = true)]
    pub(crate) newest_with_platforms: bool,
    /// With -r: the same version of a provider everywhere.
    ///
    /// With several -C too: the newest version that suits all root modules. Never selects an older version than a root module has. If no release suits all of them, each root module gets the
    /// newest that its own constraints allow, and a warning names the conflict.
    #[arg(long)]
    pub(crate) same_versions: bool,
    /// With --same-versions: also select a version that is older than that of some root modules.
    #[arg(long, requires = "same_versions", hide_short_help = true)]
    pub(crate) allow_downgrade: bool,
    #[command(flatten)]
    pub(crate) locking: LockFlags,
    /// Write nothing; exit 1 if the file would change.
    #[arg(long)]
    pub(crate) check: bool,
    /// Remove entries that no configuration requires.
    #[arg(long)]
    pub(crate) prune: bool,
    /// A state file, or the output of `state pull`: providers in it are kept.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) variables: Assignments,
    #[command(flatten)]
    pub(crate) below: Below,
    #[command(flatten)]
    pub(crate) within: Within,
}

/// Names of providers, and the versions to select for some of them.
type NamedVersions = (Vec<String>, Vec<(String, Version)>);

/// The value of `--exclude-newer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Day(Date),
    Age(Age),
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('-') {
            return text.parse().map(Limit::Day).map_err(|problem| format!("{problem}"));
        }
        text.parse().map(Limit::Age).map_err(|problem| format!("{problem}; or a date, YYYY-MM-DD"))
    }
}

impl Limit {
    /// The latest signing time that is allowed. A day ends at midnight UTC.
    fn moment(self, now: SystemTime) -> SystemTime {
        match self {
            Limit::Age(age) => now.checked_sub(age.duration()),
            Limit::Day(date) => {
                let seconds = u64::try_from(date.unix_seconds() + 86399).unwrap_or(0);
                SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
            }
        }
        .map_or(SystemTime::UNIX_EPOCH, |moment| moment.max(SystemTime::UNIX_EPOCH))
    }
}

impl UpgradeArgs {
    /// The named providers, and the versions to select.
    fn named(&self) -> Result<NamedVersions, Error> {
        let (mut names, mut precise) = (Vec::new(), Vec::new());
        for text in &self.providers {
            let Some((name, version)) = text.split_once('@') else {
                names.push(text.clone());
                precise.extend(self.precise.iter().map(|version| (text.clone(), version.clone())));
                continue;
            };
            let version = version.parse().map_err(|problem| {
                let error = Error::new(ErrorKind::Usage, format!("{text}: expected ADDR@VERSION: {problem}"));
                match version.parse::<Constraints>() {
                    Ok(range) if !range.is_empty() => {
                        let add = format!("{name}@{version}");
                        error.hint(step!("`tflock add --replace {}` changes the constraint of the configuration", add))
                    }
                    _ => error,
                }
            })?;
            if self.precise.is_some() {
                let message = format!("{text} has a version, and so has --precise");
                return Err(Error::new(ErrorKind::Usage, message).hint("leave out --precise"));
            }
            names.push(name.to_owned());
            precise.push((name.to_owned(), version));
        }
        Ok((names, precise))
    }

    fn request(&self, now: SystemTime) -> Result<LockRequest, Error> {
        let (providers, precise) = self.named()?;
        let selection = plan::Upgrade {
            within: self.step,
            prereleases: self.pre,
            complete: self.newest_with_platforms,
            same: self.same_versions.then_some(if self.allow_downgrade {
                OneForAll::AlsoLower
            } else {
                OneForAll::NotLower
            }),
        };
        Ok(LockRequest {
            command: "upgrade",
            fail_fast: self.below.fail_fast,
            found: self.below.recursive,
            prune: self.prune,
            state: self.state.clone(),
            upgrade: (self.modules.is_none() || !providers.is_empty()).then_some(selection),
            providers,
            precise,
            excluded: self.exclude.clone(),
            reselected_modules: match &self.modules {
                None => Reselected::None,
                Some(sources) if sources.is_empty() => Reselected::All,
                Some(sources) => Reselected::Named(sources.clone()),
            },
            not_after: self.exclude_newer.map(|limit| limit.moment(now)),
            ..self.locking.request(self.check)
        })
    }
}

pub fn upgrade(args: &UpgradeArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let UpgradeArgs { below, .. } = args;
    let mut request = args.request(services.scope.environment.now)?;
    if args.interactive && !request.precise.is_empty() {
        let error = Error::new(ErrorKind::Usage, "--interactive asks for the versions, but one is named");
        return Err(error.hint("leave out --interactive, or the version"));
    }
    let (mut bump, mut bumped) = (args.bump, None);
    if args.interactive {
        match choice::choose(args, services)? {
            UpgradeChoice::Nothing(outcome) => return Ok(*outcome),
            UpgradeChoice::Raise(raised) => {
                request.providers = raised.providers.iter().map(ToString::to_string).collect();
                (bump, bumped) = (!raised.bumped.is_empty(), Some(raised.bumped));
            }
        }
    }
    let selection = request.upgrade.clone().unwrap_or_default();
    if args.precise.is_some() && request.providers.len() != 1 {
        let error = Error::new(ErrorKind::Usage, "--precise selects a version of one provider, but several are named");
        return Err(error.hint("give each its version: ADDR@VERSION"));
    }
    if selection.same.is_some() && !below.recursive && !services.scope.many() {
        let message = "--same-versions is about several root modules, but there is only one";
        return Err(Error::new(ErrorKind::Usage, message).hint("pass -r, or -C more than once"));
    }
    let targets = Targets::of(&services.scope, below.recursive, Unlocked::Reported)?;
    let targets = if request.upgrade.is_some() { targets.with_ordinary_lock_files()? } else { targets };
    let mut offered = BTreeMap::new();
    if bump && (request.providers.is_empty() || request.precise.len() < request.providers.len()) {
        // Locking reports the notes.
        let (roots, _) = of_roots(&targets, &request, services, false);
        let roots = roots.into_iter().map(|root| Ok(of_meant(root?.offered, bumped.as_ref())));
        offered = targets.paths.iter().cloned().zip(roots).collect();
    }
    if bump {
        request.preparation = Preparation::Bump(Bump { prereleases: selection.prereleases, offered });
    }
    Ok(run(&request, &targets, services))
}

/// The versions of the providers whose constraints may be rewritten; all of them if none were chosen.
fn of_meant(offered: Arc<OfferedVersions>, bumped: Option<&BTreeSet<ProviderAddr>>) -> Arc<OfferedVersions> {
    match bumped {
        None => offered,
        Some(bumped) => {
            let offered = Arc::unwrap_or_clone(offered).into_iter();
            Arc::new(offered.filter(|(addr, _)| bumped.contains(addr)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let seconds = |text: &str| {
            let moment = text.parse::<Limit>().unwrap().moment(now);
            moment.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
        };
        assert_eq!(seconds("1970-01-02"), 2 * 86400 - 1);
        assert_eq!(seconds("1d"), 1_000_000 - 86400);
        assert_eq!(seconds("9999w"), 0);
        for bad in ["", "7", "yesterday", "2024-13-01"] {
            assert!(bad.parse::<Limit>().is_err(), "{bad}");
        }
    }
}
