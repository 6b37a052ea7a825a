//! The options of `diff`.

use std::ffi::OsString;
use std::path::Path;

use crate::commands::options::{Packages, Within};

/// Explain a change of the lock file.
///
/// Shows what changed for each provider, the likely reason, the effect, and whether each new checksum is verified.
/// Compares the merge base of REV and HEAD with the working tree, two revisions (A..B), a revision with its merge base
/// with a second one (A...B), or two files. Without arguments: what is not committed yet. Uses what earlier runs found out
/// about checksums and signers; with --online it requests the rest from the registries.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock diff main\n  tflock diff v1.2..v1.3 -- envs/prod\n  tflock diff -r origin/main --online --format markdown\n  tflock diff old.lock.hcl .terraform.lock.hcl"
)]
pub(crate) struct DiffArgs {
    /// A revision, A..B, A...B, or two files.
    #[arg(value_name = "REV | OLD NEW")]
    pub(crate) names: Vec<OsString>,
    /// A lock file or root module; an argument after -- is never a revision.
    #[arg(last = true, value_name = "PATH")]
    files: Vec<OsString>,
    /// True if there is `--`, after which names are files.
    #[arg(skip)]
    pub(crate) dashes: bool,
    /// Compare with the revision itself, not with its merge base.
    #[arg(long)]
    pub(super) tip: bool,
    /// Every lock file below.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Request the signers and checksums of the changed releases from the registries.
    ///
    /// As `verify` does: signed checksums, the registry's reports, and for an h1 checksum that no source attests, the
    /// package itself. If a registry does not respond, the checksum stays not checked.
    #[arg(long, conflicts_with = "offline")]
    pub(super) online: bool,
    /// With --online: download nothing.
    #[arg(long, requires = "online")]
    pub(super) no_download: bool,
    /// Exit 1 if there is a difference, 3 if trust is refused: a new checksum contradicts the record, no source attests it,
    /// or its release is refused.
    #[arg(long)]
    pub(super) exit_code: bool,
    #[command(flatten)]
    pub(crate) packages: Packages,
    #[command(flatten)]
    pub(crate) within: Within,
}

impl DiffArgs {
    /// True if files are compared, and not root modules.
    pub(crate) fn names_files(&self) -> bool {
        self.dashes || self.names.iter().any(|name| Path::new(name).exists())
    }

    /// The arguments after `--`, if any: files only.
    pub(crate) fn files(&self) -> Option<&[OsString]> {
        self.dashes.then_some(&self.files)
    }
}
