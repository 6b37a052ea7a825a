//! The options of `diff`.

use std::ffi::OsString;

use super::Within;

/// Explain what a change of the lock file means.
///
/// Tells for each provider what changed, why it may have, what follows, and who vouches for each new checksum. Compares
/// the merge base of REV and HEAD with the work tree, two revisions (A..B), a revision with where it parted from another
/// (A...B), or two files. Without arguments: what is not committed yet. What is known of checksums and signers comes from
/// earlier runs; with --online registries are asked about the rest.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock diff main\n  tflock diff v1.2..v1.3 -- envs/prod\n  tflock diff -r origin/main --online --format markdown\n  git show HEAD~3:.terraform.lock.hcl | tflock diff - .terraform.lock.hcl"
)]
pub(in crate::cli) struct DiffArgs {
    /// A revision, A..B, A...B, or two files; - is standard input.
    #[arg(value_name = "REV | OLD NEW")]
    pub(in crate::cli) names: Vec<OsString>,
    /// A lock file or root module; what stands behind -- is never a revision.
    #[arg(last = true, value_name = "PATH")]
    pub(in crate::cli) files: Vec<OsString>,
    /// Compare with the revision itself, not with its merge base.
    #[arg(long)]
    pub(in crate::cli) tip: bool,
    /// Every lock file below.
    #[arg(short, long)]
    pub(in crate::cli) recursive: bool,
    /// Ask registries what is known of the releases that changed: who signed them, which checksums they have.
    ///
    /// As `verify` does: signed lists, what the registry reports, and where nobody vouches for an h1 checksum the package
    /// itself. A registry that gives no answer makes a checksum neither good nor bad.
    #[arg(long, conflicts_with = "offline")]
    pub(in crate::cli) online: bool,
    /// With --online: download nothing.
    #[arg(long, requires = "online")]
    pub(in crate::cli) no_download: bool,
    /// Exit 1 if there is a difference, 3 if trust is refused: a new checksum contradicts the record, nobody vouches for
    /// it, or its release is one that must not be used.
    #[arg(long)]
    pub(in crate::cli) exit_code: bool,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}
