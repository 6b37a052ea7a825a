//! What a command changed in a lock file, and what two lock files differ in.

use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::diff::{Change, TextChange};
use crate::error::Error;
use crate::modulelock::ModuleChange;
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;
use crate::version::Version;

/// Whether there has to be a lock file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Need {
    /// Something stands in it, or would have to.
    #[default]
    Wanted,
    /// There is none, and no provider is required.
    Needless,
}

/// What a command changed in a lock file, or would change.
#[expect(clippy::struct_excessive_bools, reason = "each is asked by itself")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// True if the text is (or would be) another one.
    pub changed: bool,
    /// True if it was written.
    pub written: bool,
    /// True if the lock file itself stays as it is: what changes stands beside it.
    pub lock_stays: bool,
    /// Whether there has to be a file.
    pub need: Need,
    /// True if newer versions were looked for.
    pub upgrading: bool,
    /// The lock file, relative to the work tree.
    pub path: PathBuf,
    /// By provider, in the order of the file.
    pub changes: Vec<Change>,
    /// The unified diff of the texts, for `--dry-run`.
    pub diff: Option<String>,
    /// Configuration files that were written with it, or would be; relative to the work tree.
    pub edited: Vec<PathBuf>,
    /// What changed in the module lock file beside the lock file.
    pub modules: Vec<ModuleChange>,
    pub trust: Option<TrustChange>,
    /// Next steps, where something is refused and others could be done.
    pub advice: Box<[String]>,
}

/// What two texts of a lock file differ in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Review {
    /// True if they differ at all.
    pub changed: bool,
    /// The lock file, relative to the working tree.
    pub path: PathBuf,
    /// By provider, what is dangerous first.
    pub changes: Vec<Change>,
    /// What else differs between the texts.
    pub text: TextChange,
    /// What is compared, for people: the old side and the new one.
    pub sides: [String; 2],
    /// True if registries were queried about the releases that changed.
    pub online: bool,
    /// Why some hashes could not be judged: sources without an answer.
    pub inconclusive: Vec<Error>,
    /// What changed in the module lock file next to the lock file.
    pub modules: Vec<ModuleChange>,
}

/// What a run learned for the trust file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustChange {
    /// The trust file, relative to the work tree.
    pub path: PathBuf,
    /// True if it was written.
    pub written: bool,
    /// Providers whose signer is remembered from now on.
    pub pinned: Vec<(ProviderAddr, Signer)>,
    /// Keys that are denied from now on, since they were seen revoked.
    pub denied: Vec<Fingerprint>,
    pub republished: Vec<(ProviderAddr, Version)>,
}
