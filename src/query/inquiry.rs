//! What `verify` wants to know of one locked release.

use std::collections::BTreeSet;

use super::rules::Rules;
use crate::hash::PackageHash;
use crate::platform::Platform;

/// How far a verification goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Depth {
    /// Packages may be downloaded where no source vouches for a hash.
    pub download: bool,
    /// How many bytes of packages the run may download in sum.
    pub most: u64,
    /// Neither the index nor what the origin reports is believed: each `h1:` is computed from its archive.
    pub recompute: bool,
    /// Every archive in the checksums is looked at.
    pub all_platforms: bool,
}

/// The question about one release.
#[derive(Debug, Clone)]
pub struct Inquiry {
    /// What holds for the provider.
    pub rules: Rules,
    /// False if what the origin reports counts for nothing.
    pub believe: bool,
    /// The platforms that are likely to be recorded.
    pub platforms: BTreeSet<Platform>,
    /// The recorded `h1:` hashes.
    pub h1: BTreeSet<PackageHash>,
    /// The recorded `zh:` hashes.
    pub zh: BTreeSet<PackageHash>,
    /// How far to go.
    pub depth: Depth,
    /// True if it is worth a question where its publisher tells about it.
    pub link: bool,
}

impl Inquiry {
    /// Takes in the same question of another root module: of what both say, the stricter.
    pub fn join(&mut self, other: Self) {
        self.rules.signature = self.rules.signature.max(other.rules.signature);
        self.rules.expiry = self.rules.expiry.stricter(other.rules.expiry);
        self.rules.reported = self.rules.reported.max(other.rules.reported);
        self.rules.indexes.retain(|index| other.rules.indexes.contains(index));
        self.believe &= other.believe;
        self.platforms.extend(other.platforms);
        self.h1.extend(other.h1);
        self.zh.extend(other.zh);
        self.link |= other.link;
    }
}
