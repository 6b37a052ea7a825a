//! What a command changed in a lock file, and what two lock files differ in.

use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::diff::{Change, TextChange};
use crate::error::Error;
use crate::modulelock::ModuleChange;
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;
use crate::version::Version;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Need {
    /// Something is in it, or would have to.
    #[default]
    Wanted,
    /// There is none, and no provider is required.
    Needless,
}

#[expect(clippy::struct_excessive_bools, reason = "each is read by itself")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    pub changed: bool,
    pub written: bool,
    /// True if the lock file itself stays unchanged: what changes is next to it.
    pub lock_stays: bool,
    /// Whether there has to be a file.
    pub need: Need,
    pub upgrading: bool,
    /// The lock file, relative to the working tree.
    pub path: PathBuf,
    /// By provider, in the order of the file.
    pub changes: Vec<Change>,
    pub diff: Option<String>,
    /// Configuration files that were written with it, or would be; relative to the working tree.
    pub edited: Vec<PathBuf>,
    pub modules: Vec<ModuleChange>,
    pub trust: Option<TrustChange>,
    /// Next steps, where something is refused and others could be done.
    pub advice: Box<[String]>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Review {
    pub changed: bool,
    /// The lock file, relative to the working tree.
    pub path: PathBuf,
    /// By provider, what is dangerous first.
    pub changes: Vec<Change>,
    /// What else differs between the texts.
    pub text: TextChange,
    pub sides: [String; 2],
    /// True if registries were queried about the releases that changed.
    pub online: bool,
    /// Why some hashes could not be judged: sources without an answer.
    pub inconclusive: Vec<Error>,
    /// What changed in the module lock file next to the lock file.
    pub modules: Vec<ModuleChange>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustChange {
    /// The trust file, relative to the working tree.
    pub path: PathBuf,
    pub written: bool,
    pub pinned: Vec<(ProviderAddr, Signer)>,
    /// Keys that are denied from now on, since they were seen revoked.
    pub denied: Vec<Fingerprint>,
    pub republished: Vec<(ProviderAddr, Version)>,
}
