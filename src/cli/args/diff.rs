//! The options of `diff`.

use std::ffi::OsString;

use super::Within;

/// Explain what a change of the lock file means.
///
/// Tells for each provider what changed, why it may have, what follows, and who vouches for each new checksum. Compares
/// the merge base of REV and HEAD with the work tree, two revisions (A..B), a revision with where it parted from another
/// (A...B), or two files. Without arguments: what is not committed yet. Asks nobody; what is known comes from the index.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock diff main\n  tflock diff v1.2..v1.3 -- envs/prod\n  tflock diff -r origin/main --format markdown\n  git show HEAD~3:.terraform.lock.hcl | tflock diff - .terraform.lock.hcl"
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
    /// Exit 1 if there is a difference, 3 if a new checksum contradicts the record or nobody vouches for it.
    #[arg(long)]
    pub(in crate::cli) exit_code: bool,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}
