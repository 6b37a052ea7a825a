//! The options of `upgrade` and `outdated`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use clap::ValueEnum;

use super::{Assignments, Below, Locking, Packages, Within};
use crate::commands::{LockOptions, outdated, upgrade};
use crate::disk::roots::Reselected;
use crate::lock::plan::{OneForAll, Upgrade};
use crate::query::criteria;
use crate::settings::{Age, Date};
use crate::version::Version;

/// Select the newest versions that the constraints allow.
///
/// Without ADDR: every provider. Adds missing entries; removes nothing without --prune, except Terraform entries that
/// OpenTofu's replace. Shows what keeps a provider from its newest release. The age of a release is the age of its
/// signature, because the registry protocol has no publication date.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock upgrade\n  tflock upgrade hashicorp/aws --within minor --exclude-newer 7d\n  tflock upgrade hashicorp/aws --precise 5.31.0\n  tflock upgrade -r hashicorp/aws"
)]
pub(in crate::cli) struct UpgradeArgs {
    /// Only these providers, by source address.
    #[arg(value_name = "ADDR")]
    pub(super) providers: Vec<String>,
    /// Leave these providers as they are, by source address.
    #[arg(long, value_name = "ADDR", num_args = 1.., conflicts_with = "precise")]
    exclude: Vec<String>,
    /// Lock these modules again from their sources, without SOURCE all modules; and only the providers that ADDR names.
    #[arg(long, value_name = "SOURCE", num_args = 0.., conflicts_with_all = ["precise", "bump"])]
    modules: Option<Vec<String>>,
    /// Select this version, newer or older; for one provider.
    #[arg(long, value_name = "VERSION", requires = "providers", conflicts_with_all = ["step", "pre", "newest_with_platforms"])]
    precise: Option<Version>,
    /// Change no more than this part of the version.
    #[arg(long = "within", value_name = "PART", value_enum)]
    step: Option<Step>,
    /// Skip releases that were signed after this day, or within this time: YYYY-MM-DD, 7d, 12h, 2w.
    #[arg(long, value_name = "DATE|AGE")]
    exclude_newer: Option<Limit>,
    /// Also rewrite the constraint of the root module that does not allow the version.
    #[arg(long, conflicts_with = "check")]
    bump: bool,
    /// Allow pre-releases; the tools accept one only if a constraint names it.
    #[arg(long, requires = "bump")]
    pre: bool,
    /// Skip releases without a package for a wanted platform.
    #[arg(long)]
    newest_with_platforms: bool,
    /// With -r or several -C: give a provider the same version everywhere, the newest that suits all root modules.
    ///
    /// Never selects an older version than a root module has. If no release suits all of them, each root module gets the
    /// newest that its own constraints allow, and a warning names the conflict.
    #[arg(long)]
    same_versions: bool,
    /// With --same-versions: also select a version that is older than that of some root modules.
    #[arg(long, requires = "same_versions")]
    allow_downgrade: bool,
    #[command(flatten)]
    pub(super) locking: Locking,
    /// Write nothing; exit 1 if the file would change.
    #[arg(long)]
    check: bool,
    /// Remove entries that the configuration does not require.
    #[arg(long)]
    prune: bool,
    /// A state file, or the output of `state pull`: providers in it are kept.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    #[command(flatten)]
    pub(super) variables: Assignments,
    #[command(flatten)]
    below: Below,
    #[command(flatten)]
    pub(super) within: Within,
}

/// The values of `--within`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// The last number.
    Patch,
    /// The last two numbers.
    Minor,
    /// Any number.
    Major,
}

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
    /// The last moment that is not too new. A day counts whole, in UTC.
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
    /// What was asked for.
    pub(in crate::cli) fn request(&self, now: SystemTime) -> upgrade::Request {
        let selection = Upgrade {
            precise: self.precise.clone(),
            within: self.step.map(|step| match step {
                Step::Patch => criteria::Within::Patch,
                Step::Minor => criteria::Within::Minor,
                Step::Major => criteria::Within::Major,
            }),
            prereleases: self.pre,
            complete: self.newest_with_platforms,
            same: self.same_versions.then_some(if self.allow_downgrade {
                OneForAll::AlsoLower
            } else {
                OneForAll::NotLower
            }),
        };
        let options = LockOptions {
            check: self.check,
            prune: self.prune,
            state: self.state.clone(),
            providers: self.providers.clone(),
            excluded: self.exclude.clone(),
            upgrade: (self.modules.is_none() || !self.providers.is_empty()).then_some(selection),
            reselected_modules: match &self.modules {
                None => Reselected::None,
                Some(sources) if sources.is_empty() => Reselected::All,
                Some(sources) => Reselected::Named(sources.clone()),
            },
            not_after: self.exclude_newer.map(|limit| limit.moment(now)),
            ..self.locking.options()
        };
        upgrade::Request { options, below: self.below.targets(), bump: self.bump }
    }
}

/// Show what `upgrade` would select, and what is newer.
///
/// One line for each provider that has a newer release: the selected version, the newest that the constraints allow, the
/// newest release, and which constraint holds it back. Downloads no package and checks no signature.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock outdated\n  tflock outdated --exit-code hashicorp/aws\n  tflock outdated --modules"
)]
pub(in crate::cli) struct OutdatedArgs {
    /// Only these providers, by source address.
    #[arg(value_name = "ADDR")]
    pub(super) providers: Vec<String>,
    /// Exit 1 if the constraints allow a newer version than the selected one, or another one must be selected.
    #[arg(long)]
    exit_code: bool,
    /// Show remote modules instead: the locked version, and the versions that their sources have.
    #[arg(long, conflicts_with_all = ["providers", "source", "fs_mirror", "net_mirror"])]
    modules: bool,
    #[command(flatten)]
    pub(super) packages: Packages,
    #[command(flatten)]
    pub(super) variables: Assignments,
    #[command(flatten)]
    below: Below,
    #[command(flatten)]
    pub(super) within: Within,
}

impl OutdatedArgs {
    /// What was asked for.
    pub(in crate::cli) fn request(&self) -> outdated::Request {
        outdated::Request {
            providers: self.providers.clone(),
            recursive: self.below.recursive,
            exit_code: self.exit_code,
            modules: self.modules,
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
