//! What has to be found out about one provider of one root module.

use super::criteria::{Criteria, ReleaseCriteria};
use super::rules::Rules;
use crate::addr::ProviderAddr;
use crate::lockfile::LockEntry;
use crate::platform::Platform;
use crate::version::{Constraints, Version};

/// What has to be found out about one provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Query {
    /// The constraints to record.
    pub constraints: Constraints,
    /// Which version is wanted.
    pub selection: Selection,
    /// The platforms to cover.
    pub platforms: Vec<Platform>,
    /// The entry as it stands.
    pub recorded: Option<LockEntry>,
    /// The entry at another address whose version is wanted here.
    pub moved: Option<Moved>,
    /// Whether another release under the recorded version may take its place.
    pub accept_republished: bool,
    /// What holds for this provider.
    pub rules: Rules,
}

/// An entry that goes to another address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Moved {
    /// The address that it has.
    pub from: ProviderAddr,
    /// The entry.
    pub entry: LockEntry,
}

/// How the version of a step is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Selection {
    /// This one, which must still be offered.
    Keep(Version),
    /// This one, though another one may be recorded.
    Exactly(Version),
    /// The newest that will do.
    Newest(Criteria),
}

impl Selection {
    /// The version, where it is known.
    pub fn version(&self) -> Option<&Version> {
        match self {
            Self::Keep(version) | Self::Exactly(version) => Some(version),
            Self::Newest(_) => None,
        }
    }
}

impl Query {
    /// The recorded entry if it records something about the version that is kept.
    pub fn recorded_release(&self) -> Option<&LockEntry> {
        let entry = self.recorded.as_ref()?;
        match &self.selection {
            Selection::Keep(version) => (entry.version == *version).then_some(entry),
            Selection::Exactly(_) | Selection::Newest(_) => None,
        }
    }

    /// What a release must be beside its number, for this root module.
    pub fn release_criteria(&self, complete: bool) -> ReleaseCriteria {
        let platforms = self.platforms.iter().filter(|platform| complete && !self.rules.optional.contains(platform));
        ReleaseCriteria {
            recorded: self.recorded.as_ref().map(|entry| entry.version.clone()),
            platforms: platforms.cloned().collect(),
            exclusions: vec![self.rules.exclusions.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_that_may_be_lacking_is_not_asked_for() {
        let platform = |text: &str| text.parse::<Platform>().unwrap();
        let step = Query {
            constraints: Constraints::default(),
            selection: Selection::Newest(Criteria::default()),
            platforms: ["linux_amd64", "linux_arm64"].map(platform).to_vec(),
            recorded: None,
            moved: None,
            accept_republished: false,
            rules: Rules { optional: [platform("linux_arm64")].into(), ..Rules::default() },
        };
        assert_eq!(step.release_criteria(true).platforms, [platform("linux_amd64")]);
        assert!(step.release_criteria(false).platforms.is_empty());
    }
}
