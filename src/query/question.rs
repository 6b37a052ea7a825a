//! What has to be found out about one provider of one root module.

use std::collections::BTreeSet;

use super::criteria::{Criteria, ReleaseCriteria, ReportedRule, Rules};
use crate::addr::ProviderAddr;
use crate::hash::PackageHash;
use crate::lockfile::LockEntry;
use crate::platform::Platform;
use crate::version::{Constraints, Version};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Query {
    pub constraints: Constraints,
    pub selection: Selection,
    pub platforms: Vec<Platform>,
    pub recorded: Option<LockEntry>,
    /// The entry at another address whose version is wanted here.
    pub moved: Option<Moved>,
    /// Whether another release under the recorded version may take its place.
    pub accept_republished: bool,
    pub rules: Rules,
    pub goal: Goal,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Goal {
    Version,
    /// What its source signed of it.
    Documents,
    #[default]
    Packages,
    Hashes(Explain),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Explain {
    pub h1: BTreeSet<PackageHash>,
    pub zh: BTreeSet<PackageHash>,
    /// False if what the origin reports counts for nothing.
    pub trust_reported: bool,
    pub depth: Depth,
    /// True if the publisher's page is worth a request.
    pub link: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Depth {
    /// Packages may be downloaded where no source attests a hash.
    pub download: bool,
    pub most: u64,
    /// Neither the index nor what the origin reports counts: each `h1:` is computed from its archive.
    pub recompute: bool,
    /// Every archive in the checksums is looked at.
    pub all_platforms: bool,
}

impl Depth {
    pub const DOCUMENTS: Self = Self { download: false, most: u64::MAX, recompute: false, all_platforms: false };
}

/// An entry that goes to another address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Moved {
    pub from: ProviderAddr,
    pub entry: LockEntry,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Selection {
    /// This one, which must still be offered.
    Keep(Version),
    /// This one, even if a different one is recorded.
    Exactly(Version),
    Newest(Criteria),
}

impl Selection {
    pub fn version(&self) -> Option<&Version> {
        match self {
            Self::Keep(version) | Self::Exactly(version) => Some(version),
            Self::Newest(_) => None,
        }
    }
}

impl Query {
    /// About a locked release: to which packages its hashes belong. `platforms` are those that are likely to be recorded.
    pub fn locked(version: Version, platforms: &[Platform], rules: Rules, explain: Explain) -> Self {
        Self {
            constraints: Constraints::default(),
            selection: Selection::Keep(version),
            platforms: platforms.to_vec(),
            recorded: None,
            moved: None,
            accept_republished: false,
            rules,
            goal: Goal::Hashes(explain),
        }
    }

    /// Takes in the same question of another root module: of what both say, the stricter.
    pub fn join(&mut self, other: Self) {
        self.rules.signature = self.rules.signature.max(other.rules.signature);
        self.rules.expiry = self.rules.expiry.stricter(other.rules.expiry);
        self.rules.reported = self.rules.reported.max(other.rules.reported);
        self.rules.indexes.retain(|index| other.rules.indexes.contains(index));
        let new: Vec<Platform> = other.platforms.into_iter().filter(|it| !self.platforms.contains(it)).collect();
        self.platforms.extend(new);
        if let (Goal::Hashes(own), Goal::Hashes(other)) = (&mut self.goal, other.goal) {
            own.trust_reported &= other.trust_reported;
            own.h1.extend(other.h1);
            own.zh.extend(other.zh);
            own.link |= other.link;
        }
    }

    pub fn explain(&self) -> Option<&Explain> {
        match &self.goal {
            Goal::Hashes(explain) => Some(explain),
            _ => None,
        }
    }

    pub fn counts_reports(&self) -> bool {
        self.explain().map_or(self.rules.reported == ReportedRule::Write, |explain| explain.trust_reported)
    }

    /// The recorded entry, if it records this version.
    pub fn recorded_as(&self, version: &Version) -> Option<&LockEntry> {
        self.recorded.as_ref().filter(|entry| entry.version == *version)
    }

    /// The recorded entry if it records something about the version that is kept.
    pub fn recorded_release(&self) -> Option<&LockEntry> {
        let entry = self.recorded.as_ref()?;
        match &self.selection {
            Selection::Keep(version) => (entry.version == *version).then_some(entry),
            Selection::Exactly(_) | Selection::Newest(_) => None,
        }
    }

    /// What a release must be next to its number, for this root module.
    pub fn release_criteria(&self, complete: bool) -> ReleaseCriteria {
        let platforms = self.platforms.iter().filter(|platform| complete && !self.rules.optional.contains(platform));
        ReleaseCriteria {
            recorded: self.recorded.as_ref().map(|entry| entry.version.clone()),
            platforms: platforms.cloned().collect(),
            policies: vec![self.rules.versions.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SignatureRule;

    #[test]
    fn an_optional_platform_is_no_criterion() {
        let platform = |text: &str| text.parse::<Platform>().unwrap();
        let query = Query {
            constraints: Constraints::default(),
            selection: Selection::Newest(Criteria::default()),
            platforms: ["linux_amd64", "linux_arm64"].map(platform).to_vec(),
            recorded: None,
            moved: None,
            accept_republished: false,
            rules: Rules { optional: [platform("linux_arm64")].into(), ..Rules::default() },
            goal: Goal::Packages,
        };
        assert_eq!(query.release_criteria(true).platforms, [platform("linux_amd64")]);
        assert!(query.release_criteria(false).platforms.is_empty());
    }

    #[test]
    fn of_two_root_modules_the_stricter_counts() {
        let locked = |h1: &str, trust_reported: bool, signature: SignatureRule| {
            let explain = Explain { h1: [h1.parse().unwrap()].into(), trust_reported, ..Explain::default() };
            let rules = Rules { signature, reported: ReportedRule::Check, ..Rules::default() };
            Query::locked(Version::new(1, 0, 0), &["linux_amd64".parse().unwrap()], rules, explain)
        };
        let mut both = locked("h1:a", true, SignatureRule::Never);
        both.join(locked("h1:b", false, SignatureRule::Always));
        let explain = both.explain().unwrap();
        assert_eq!((explain.h1.len(), explain.trust_reported, both.platforms.len()), (2, false, 1));
        assert_eq!(both.rules.signature, SignatureRule::Always);
        assert!(!both.counts_reports() && locked("h1:a", true, SignatureRule::Never).counts_reports());
        // What is written counts where packages are asked about.
        let mut packages = Query { goal: Goal::Packages, ..both };
        assert!(!packages.counts_reports());
        packages.rules.reported = ReportedRule::Write;
        assert!(packages.counts_reports());
    }
}
