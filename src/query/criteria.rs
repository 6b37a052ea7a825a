//! Which versions may be newly selected, next to what the constraints say.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::same_version::SameVersion;
use crate::platform::Platform;
use crate::release::signers::ExpiryRules;
use crate::settings::{Index, SignatureRule, VersionPolicy};
use crate::version::{Constraints, Version};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Criteria {
    pub constraints: Constraints,
    /// How far from a version, if there is a limit.
    pub within: Option<(VersionStep, Version)>,
    pub prereleases: bool,
    /// True if releases without a package for a wanted platform are passed over.
    pub complete: bool,
    /// The requirements of all root modules, if one version is wanted for all of them; it goes before, as long as there is one.
    pub same: Option<Arc<SameVersion>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReleaseCriteria {
    /// This version will do at any age and with any platforms.
    pub recorded: Option<Version>,
    pub platforms: Vec<Platform>,
    /// A version that one of these objects to is not selected.
    pub policies: Vec<VersionPolicy>,
}

/// How far from the recorded version: the values of `upgrade --within`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum VersionStep {
    /// The last number.
    Patch,
    /// The last two numbers.
    Minor,
    /// Any number.
    Major,
}

impl VersionStep {
    pub fn allows(self, from: &Version, to: &Version) -> bool {
        match self {
            VersionStep::Patch => (from.major(), from.minor()) == (to.major(), to.minor()),
            VersionStep::Minor => from.major() == to.major(),
            VersionStep::Major => true,
        }
    }
}

impl fmt::Display for VersionStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VersionStep::Patch => "patch",
            VersionStep::Minor => "minor",
            VersionStep::Major => "major",
        })
    }
}

impl Criteria {
    /// What a provider that is new to a lock file must be.
    pub fn of(constraints: Constraints) -> Self {
        Self { constraints, ..Self::default() }
    }

    pub fn allows(&self, version: &Version) -> bool {
        self.allows_by_constraints(version)
            && self.within.as_ref().is_none_or(|(within, from)| within.allows(from, version))
    }

    pub fn allows_by_constraints(&self, version: &Version) -> bool {
        allows(&self.constraints, self.prereleases, version)
    }
}

pub(super) fn allows(constraints: &Constraints, prereleases: bool, version: &Version) -> bool {
    if prereleases {
        return !version.is_unspecified() && constraints.terms().iter().all(|term| term.contains(version));
    }
    constraints.allows(version)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rules {
    pub signature: SignatureRule,
    /// True if the settings themselves say that releases must be signed, whichever source serves them.
    pub signature_stated: bool,
    /// What is made of the hashes that the origin reports next to the signed ones.
    pub reported: ReportedRule,
    pub imported: bool,
    pub indexes: Vec<Index>,
    /// What the expiry of keys and signatures means.
    pub expiry: ExpiryRules,
    /// Platforms that the provider may lack.
    pub optional: BTreeSet<Platform>,
    /// Wanted platforms that were not named and that this provider was not locked for: a package that is not there is only
    /// a warning.
    pub unnamed: BTreeSet<Platform>,
    /// Which versions are not newly selected.
    pub versions: VersionPolicy,
}

/// What is made of the origin's `packages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportedRule {
    /// Nothing, as Terraform does.
    Ignore,
    /// They must not contradict the signed checksums.
    Check,
    /// They are checked, spare downloads, and are written for all platforms.
    Write,
}

impl Default for Rules {
    /// Terraform's rules.
    fn default() -> Self {
        Self {
            signature: SignatureRule::Always,
            signature_stated: false,
            reported: ReportedRule::Ignore,
            imported: true,
            indexes: Vec::new(),
            expiry: ExpiryRules::default(),
            optional: BTreeSet::new(),
            unnamed: BTreeSet::new(),
            versions: VersionPolicy::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn a_step_has_a_size() {
        let from = version("1.2.3");
        for (within, yes, no) in [
            (VersionStep::Patch, "1.2.0", "1.3.0"),
            (VersionStep::Minor, "1.9.0", "2.0.0"),
            (VersionStep::Major, "9.0.0", "0.0.0"),
        ] {
            let criteria = Criteria { within: Some((within, from.clone())), ..Criteria::default() };
            assert!(criteria.allows(&version(yes)) && !criteria.allows(&version(no)), "{within}");
        }
    }

    #[test]
    fn prereleases_count_only_on_demand() {
        let criteria = Criteria::of("~> 1.0".parse().unwrap());
        let allowing = Criteria { prereleases: true, ..criteria.clone() };
        for (text, plain, with) in [("1.1.0-rc1", false, true), ("2.0.0-rc1", false, true), ("2.0.1-rc1", false, false)]
        {
            assert_eq!((criteria.allows(&version(text)), allowing.allows(&version(text))), (plain, with), "{text}");
        }
    }
}
