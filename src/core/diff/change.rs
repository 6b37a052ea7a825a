//! What differs between two lock files: by provider, and in the text around the entries.
//!
//! Who requires a provider otherwise than before, and which providers moved to another host or namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use url::Url;

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::Position;
use crate::hash::PackageHash;
use crate::lockfile::{LockEntry, LockFile};
use crate::platform::Platform;
use crate::provenance::BuildChange;
use crate::release::{Archives, Lookup, Releases};
use crate::requirements::{Origin, Requirements};
use crate::settings::Date;
use crate::trust::openpgp::Identity;
use crate::trust::pins::Signer;
use crate::trust::{Evidence, Verdict};
use crate::version::Version;
use crate::witness::WitnessPlace;

/// Whether two texts with the same entries differ behind their headers: in order, spaces, comments, line ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Formatting {
    /// They do not, or their entries do.
    #[default]
    Same,
    /// They do.
    Changed,
    /// They differ, and the tools refuse one of them: whether the entries are the same is unknown.
    Unknown,
}

/// How two texts differ next to their entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TextChange {
    /// The tools whose headers the texts begin with, if they are not the same one.
    pub header: Option<[Option<Dialect>; 2]>,
    /// True if there is no lock file any more, or nothing is in it, where there was one.
    pub removed: bool,
    /// The text behind the header.
    pub formatting: Formatting,
    /// True if the new text contains values that no tool writes: expressions, escapes, templates.
    pub not_literal: bool,
}

/// A provider that no lock file of the repository had an entry for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Novelty {
    /// True if no signer of it was remembered before the change.
    pub signer_is_new: bool,
    /// The provider that its address is easily mistaken for.
    pub mistaken_for: Option<String>,
    /// The well-known provider whose type it has in another namespace.
    pub namesake: Option<&'static str>,
}

/// What happened to one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The provider; after a move its new address.
    pub address: ProviderAddr,
    /// The address before a move.
    pub moved_from: Option<ProviderAddr>,
    /// What happened.
    pub kind: ChangeKind,
    /// The entry before.
    pub old: Option<LockEntry>,
    /// The entry after.
    pub new: Option<LockEntry>,
    /// New hashes with what is known of them.
    pub hashes_added: Vec<AddedHash>,
    /// Hashes that were removed.
    pub hashes_removed: Vec<PackageHash>,
    /// What is known of the hashes that were added or removed, for those that were judged.
    pub judged: BTreeMap<PackageHash, JudgedHash>,
    /// The platforms for which the old version had checksums of contents (`h1:`) and the new one has none; empty if it is not
    /// known which platforms the new ones are for.
    pub uncovered: BTreeSet<Platform>,
    /// Who requires the provider otherwise than before, where the configuration of both sides is known.
    pub callers: Vec<OriginChange>,
    /// For a release new to the file: who signed it.
    pub signer: Option<Signer>,
    /// What the key of a signer that was not remembered says of itself.
    pub identity: Option<Box<Identity>>,
    /// Where the entry is in the new file.
    pub position: Option<Position>,
    /// What is remembered of that signer.
    pub standing: Standing,
    /// Who may have signed it before: the signers that were remembered, else that of the old release, where it is known.
    pub signers_before: BTreeSet<Signer>,
    /// The publisher of the provider, if it announces its keys and that signer is not among them.
    pub publisher_denied: Option<&'static str>,
    /// True if a provider that moved is known to have the same archives at its new address, by signed checksums.
    pub identical: bool,
    /// What is remarkable about a provider that the repository did not lock before.
    pub novelty: Option<Box<Novelty>>,
    /// The page about a release that is new to the file: the publisher's, as the registry names it, else the registry's own.
    pub link: Option<Url>,
    /// What the registry warns of with the provider, if the release is new to the file.
    pub registry_warnings: Arc<[String]>,
    /// When the release was signed, if it is new to the file.
    pub signed: Option<SigningDate>,
    /// Where a release that is new to the file was built, if its place is pinned and that is known.
    pub build: Option<Box<BuildChange>>,
    /// The other places that have the same archives of a release that is new to the file, each with how many.
    pub witnesses: Vec<(WitnessPlace, usize)>,
    /// True if the source serves the release that the old side records, so the entry itself was edited.
    pub is_edited: bool,
    /// What requires the provider now.
    pub required_by: RequiredBy,
}

/// What requires a provider, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RequiredBy {
    /// There is no configuration to look at, as for two files.
    #[default]
    NotChecked,
    /// Nothing that was read requires it, and something was not read: the reason.
    Unknown(String),
    /// All of it, or what was read of it; not empty if something was not read.
    Known(Vec<Origin>),
}

impl RequiredBy {
    /// What a configuration says, of which a part may not have been read.
    pub fn of(origins: &[Origin], unread: Option<&str>) -> Self {
        match unread {
            Some(reason) if origins.is_empty() => Self::Unknown(reason.to_owned()),
            _ => Self::Known(origins.to_vec()),
        }
    }

    /// `None` if that is unknown.
    pub fn known(&self) -> Option<&[Origin]> {
        match self {
            Self::NotChecked | Self::Unknown(_) => None,
            Self::Known(origins) => Some(origins),
        }
    }

    /// The places that are known.
    pub fn origins_mut(&mut self) -> &mut [Origin] {
        match self {
            Self::NotChecked | Self::Unknown(_) => &mut [],
            Self::Known(origins) => origins,
        }
    }
}

/// When a release was signed, by the signature's own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SigningDate {
    /// The day.
    pub date: Date,
    /// How many days ago that was.
    pub days: u64,
}

/// What the trust file says of the signer of a release.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// No signer is remembered for the provider.
    #[default]
    FirstUse,
    /// The signer is remembered.
    Pinned,
    /// The trust file of the new side remembers the signer, that of the old side none.
    PinnedHere,
    /// The trust file of the new side remembers the signer, and the old one remembers a different signer.
    Rotated,
    /// Another signer is remembered, or this one is denied.
    Refused,
}

/// What is known of a hash that were added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedHash {
    /// The verdict.
    pub verdict: Verdict,
    /// The platforms of its packages, where known.
    pub platforms: BTreeSet<Platform>,
}

/// A place in configuration whose requirement on a provider changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginChange {
    /// It is new.
    Came(Origin),
    /// It was removed; the place as it was before.
    Went(Origin),
    /// It requires the provider with a different constraint.
    Changed {
        /// The constraint that it had.
        was: Option<String>,
        /// The place in the new configuration.
        now: Origin,
    },
}

impl OriginChange {
    /// The place.
    pub fn origin_mut(&mut self) -> &mut Origin {
        match self {
            Self::Came(origin) | Self::Went(origin) | Self::Changed { now: origin, .. } => origin,
        }
    }
}

/// A new hash.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct AddedHash {
    /// The hash.
    pub hash: PackageHash,
    /// The platforms of its packages, where known.
    #[serde(rename = "platform", serialize_with = "crate::words::first")]
    pub platforms: BTreeSet<Platform>,
    /// The evidence for it.
    pub evidence: Vec<Evidence>,
}

/// The kinds of change to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// There was no entry.
    Added,
    /// There is none any more.
    Removed,
    /// A newer version.
    Upgraded,
    /// An older version.
    Downgraded,
    /// Only the constraints.
    ConstraintsChanged,
    /// Hashes were only added, or only removed, under the same version, perhaps with new constraints.
    HashesChanged,
    /// Hashes were removed and others added under the same version.
    HashesReplaced,
    /// The same provider under another host or namespace, perhaps with another version.
    Moved,
}

impl ChangeKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Added,
        Self::Removed,
        Self::Upgraded,
        Self::Downgraded,
        Self::ConstraintsChanged,
        Self::HashesChanged,
        Self::HashesReplaced,
        Self::Moved,
    ];

    /// The word for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Upgraded => "upgraded",
            ChangeKind::Downgraded => "downgraded",
            ChangeKind::ConstraintsChanged => "constraints-changed",
            ChangeKind::HashesChanged => "hashes-changed",
            ChangeKind::HashesReplaced => "hashes-replaced",
            ChangeKind::Moved => "moved",
        }
    }
}

/// What is known of releases, and of archives whatever release they belong to. The default knows nothing.
#[derive(Debug, Clone, Default)]
pub struct Packages {
    /// The releases.
    pub releases: Releases,
    /// The archives.
    pub archives: Archives,
}

impl Packages {
    /// What is known of a release.
    pub fn release(&self, addr: &ProviderAddr, version: &Version) -> Option<&Lookup> {
        self.releases.get(&(addr.clone(), version.clone()))
    }
}

/// The first part of the version that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Distance {
    /// Only the pre-release part or metadata.
    Tag,
    /// The third number.
    Patch,
    /// The second number.
    Minor,
    /// The first number.
    Major,
}

impl Distance {
    /// The distance of two versions; `None` if they are equal.
    pub fn between(old: &Version, new: &Version) -> Option<Self> {
        if old == new {
            None
        } else if old.major() != new.major() {
            Some(Self::Major)
        } else if old.minor() != new.minor() {
            Some(Self::Minor)
        } else if old.patch() != new.patch() {
            Some(Self::Patch)
        } else {
            Some(Self::Tag)
        }
    }

    /// The word for machines and users.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tag => "tag",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }
}

/// Fills in the places whose requirement on the provider of a change is new, removed or different.
pub fn find_callers(change: &mut Change, old: &Requirements, new: &Requirements) {
    let before = origins(old, change.moved_from.as_ref().unwrap_or(&change.address));
    let now = origins(new, &change.address);
    let mut left: Vec<&Origin> = before.iter().collect();
    let mut callers = Vec::new();
    for origin in now {
        match left.iter().position(|was| is_same_place(was, origin)) {
            Some(at) => {
                let was = left.remove(at);
                if was.constraint != origin.constraint {
                    callers.push(OriginChange::Changed { was: was.constraint.clone(), now: origin.clone() });
                }
            }
            None => callers.push(OriginChange::Came(origin.clone())),
        }
    }
    callers.extend(left.into_iter().cloned().map(OriginChange::Went));
    change.callers = callers;
}

fn origins<'a>(requirements: &'a Requirements, addr: &ProviderAddr) -> &'a [Origin] {
    requirements.get(addr).map_or(&[], |requirement| &requirement.origins)
}

/// The same construct, even if the lines around it moved.
fn is_same_place(a: &Origin, b: &Origin) -> bool {
    (&a.module, &a.file, a.kind, &a.local_name) == (&b.module, &b.file, b.kind, &b.local_name)
}

/// The providers that came, each with the one that it was before; where there is a choice, nothing moved.
///
/// A provider at another host keeps namespace and type; one in another namespace keeps host and type. The first counts
/// more, since that is what a change of tools does to every provider.
pub(super) fn moves<'a>(old: &'a LockFile, new: &'a LockFile) -> BTreeMap<&'a ProviderAddr, &'a ProviderAddr> {
    let mut left: BTreeSet<&ProviderAddr> = without(old, new);
    let mut came: BTreeSet<&ProviderAddr> = without(new, old);
    let mut moves = BTreeMap::new();
    let other_host = |addr: &'a ProviderAddr| (addr.type_name(), addr.namespace().to_owned());
    let other_namespace = |addr: &'a ProviderAddr| (addr.type_name(), addr.host().to_string());
    for same in [&other_host as &dyn Fn(&'a ProviderAddr) -> ModuleChangeKey<'a>, &other_namespace] {
        for (from, to) in pairs(&left, &came, same) {
            left.remove(from);
            came.remove(to);
            moves.insert(to, from);
        }
    }
    moves
}

/// What a provider keeps when it moves.
type ModuleChangeKey<'a> = (&'a str, String);

fn without<'a>(lock: &'a LockFile, other: &LockFile) -> BTreeSet<&'a ProviderAddr> {
    lock.iter().map(|(addr, _)| addr).filter(|addr| other.get(addr).is_none()).collect()
}

/// Those that have one counterpart, which has no other counterpart.
fn pairs<'a>(
    left: &BTreeSet<&'a ProviderAddr>,
    came: &BTreeSet<&'a ProviderAddr>,
    same: &dyn Fn(&'a ProviderAddr) -> ModuleChangeKey<'a>,
) -> Vec<(&'a ProviderAddr, &'a ProviderAddr)> {
    let mut groups: BTreeMap<ModuleChangeKey<'a>, [Vec<&'a ProviderAddr>; 2]> = BTreeMap::new();
    for (side, addresses) in [left, came].into_iter().enumerate() {
        for addr in addresses {
            groups.entry(same(addr)).or_default()[side].push(addr);
        }
    }
    let pair = |group: [Vec<&'a ProviderAddr>; 2]| match group.each_ref().map(Vec::as_slice) {
        [[from], [to]] => Some((*from, *to)),
        _ => None,
    };
    groups.into_values().filter_map(pair).collect()
}
