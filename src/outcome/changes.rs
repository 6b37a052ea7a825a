//! The changes of a command to a lock file, or the differences of two lock files.

use std::path::PathBuf;

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::addr::ProviderAddr;
use crate::diff::{Change, TextChange};
use crate::error::Error;
use crate::modulelock::ModuleChange;
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;
use crate::version::Version;
use crate::words;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Need {
    /// It has entries, or should have.
    #[default]
    Wanted,
    /// It does not exist, and no provider is required.
    Needless,
    /// Whether it is complete is unknown, since no package was downloaded.
    Unchecked,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// True if Git ignores the lock file, so it will not be committed.
    pub ignored: bool,
    pub changed: bool,
    pub written: bool,
    /// True if the lock file stays unchanged and only other files change.
    pub lock_stays: bool,
    /// Whether a file is needed.
    pub need: Need,
    pub upgrading: bool,
    /// True if not all requirements were read.
    pub requirements_unread: bool,
    /// True if entries stay that the configuration does not require: they were not checked.
    pub keeps_unrequired: bool,
    /// Relative to the working tree.
    pub path: PathBuf,
    /// By provider, in the order of the file.
    pub changes: Vec<Change>,
    pub diff: Option<String>,
    /// The changed configuration files, relative to the working tree.
    pub edited: Vec<PathBuf>,
    pub modules: Vec<ModuleChange>,
    pub trust: Option<TrustChange>,
    /// Next steps after a refusal.
    pub advice: Box<[crate::step::Step]>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Review {
    pub changed: bool,
    /// Relative to the working tree.
    pub path: PathBuf,
    /// By provider, dangerous changes first.
    pub changes: Vec<Change>,
    /// Other differences of the texts.
    pub text: TextChange,
    pub sides: [String; 2],
    /// True if the old side has no lock file.
    pub is_new: bool,
    /// True if registries were queried about the changed releases.
    pub online: bool,
    /// Errors of sources that left hashes unchecked.
    pub inconclusive: Vec<Error>,
    /// The changes of the module lock file.
    pub modules: Vec<ModuleChange>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TrustChange {
    /// Relative to the working tree.
    #[serde(serialize_with = "words::path")]
    pub path: PathBuf,
    pub written: bool,
    #[serde(serialize_with = "signers")]
    pub pinned: Vec<(ProviderAddr, Signer)>,
    /// Keys that are denied from now on, since their owners revoked them.
    pub denied: Vec<Fingerprint>,
    #[serde(serialize_with = "super::releases")]
    pub republished: Vec<(ProviderAddr, Version)>,
}

fn signers<S: Serializer>(pinned: &[(ProviderAddr, Signer)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(pinned.iter().map(|(address, signer)| json!({ "address": address, "signer": signer })))
}
