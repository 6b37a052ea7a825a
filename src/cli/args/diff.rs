//! The options of `diff`.

use std::ffi::OsString;

use super::{Arguments, Packages, Within};
use crate::commands::diff::{Asked, Request};

/// Explain what a change of the lock file means.
///
/// Tells for each provider what changed, why it may have, what follows, and who vouches for each new checksum. Compares
/// the merge base of REV and HEAD with the work tree, two revisions (A..B), a revision with where it parted from another
/// (A...B), or two files. Without arguments: what is not committed yet. What is known of checksums and signers comes from
/// earlier runs; with --online registries are asked about the rest.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock diff main\n  tflock diff v1.2..v1.3 -- envs/prod\n  tflock diff -r origin/main --online --format markdown\n  tflock diff old.lock.hcl .terraform.lock.hcl"
)]
pub(in crate::cli) struct DiffArgs {
    /// A revision, A..B, A...B, or two files.
    #[arg(value_name = "REV | OLD NEW")]
    names: Vec<OsString>,
    /// A lock file or root module; what stands after -- is never a revision.
    #[arg(last = true, value_name = "PATH")]
    files: Vec<OsString>,
    /// Compare with the revision itself, not with its merge base.
    #[arg(long)]
    tip: bool,
    /// Every lock file below.
    #[arg(short, long)]
    recursive: bool,
    /// Ask registries what is known of the releases that changed: who signed them, which checksums they have.
    ///
    /// As `verify` does: signed lists, what the registry reports, and where no source vouches for an h1 checksum the package
    /// itself. A registry that gives no answer makes a checksum neither good nor bad.
    #[arg(long, conflicts_with = "offline")]
    online: bool,
    /// With --online: download nothing.
    #[arg(long, requires = "online")]
    no_download: bool,
    /// Exit 1 if there is a difference, 3 if trust is refused: a new checksum contradicts the record, no source vouches for
    /// it, or its release is one that must not be used.
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    pub(super) packages: Packages,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}

impl DiffArgs {
    /// What was asked for, among all arguments.
    pub(in crate::cli) fn request(&self, all: &Arguments) -> Request {
        let asked = Asked {
            names: self.names.clone(),
            files: all.dashes.then(|| self.files.clone()),
            tip: self.tip,
            recursive: self.recursive,
            trust_file: all.global.trust_file.clone(),
        };
        Request { asked, online: self.online, no_download: self.no_download, exit_code: self.exit_code }
    }
}
