//! The options of `cache`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::commands::cache::Request;

/// Show, clear or share the index of known hashes.
///
/// The index records which h1: belongs to which zh:, computed from verified archives, so no package is downloaded twice.
/// It is in the user's cache directory; `TFLOCK_CACHE_DIR` sets another one.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(in crate::cli) struct CacheArgs {
    #[command(subcommand)]
    pub(in crate::cli) command: CacheCommand,
}

/// The commands below `cache`.
#[derive(Debug, Clone, Subcommand)]
pub(in crate::cli) enum CacheCommand {
    /// Print the directory of the index.
    Dir,
    /// Print the size of the index.
    Stats,
    /// Remove old documents, release records and module packages.
    ///
    /// Removes documents, release records and module packages that were written more than 90 days ago. Keeps the known
    /// hashes, which never become invalid.
    Prune {
        /// Remove everything, including the known hashes.
        #[arg(long)]
        all: bool,
        /// Also remove the imported hashes.
        #[arg(long, conflicts_with = "all")]
        imported: bool,
    },
    /// Write the hashes that this machine computed to a file, for another machine.
    ///
    /// The same index gives the same file. Leaves out imported hashes.
    #[command(
        override_usage = "tflock cache export [OPTIONS] <FILE|->\n       tflock cache export [OPTIONS] --publish [--index <URL>]"
    )]
    Export {
        /// The file, or - for standard output.
        #[arg(value_name = "FILE|-", required_unless_present = "publish")]
        file: Option<PathBuf>,
        /// Write the missing ones to a shared index instead.
        #[arg(long, conflicts_with = "file")]
        publish: bool,
        /// The URL of the shared index; default `TFLOCK_INDEX`. Settings in the working tree cannot name it.
        #[arg(long, value_name = "URL", requires = "publish")]
        index: Option<String>,
    },
    /// Read the hashes that another machine exported.
    ///
    /// They save `lock` downloads, unless --h1 or the policy says verified, and appear as reported by an index. `verify`
    /// does not treat them as proof. A file that is damaged or contradicts a known hash is refused as a whole.
    Import {
        /// The file, or - for standard input.
        #[arg(value_name = "FILE|-")]
        file: PathBuf,
    },
}

impl CacheCommand {
    /// What was asked for.
    pub(in crate::cli) fn request(&self) -> Request {
        match self {
            Self::Dir => Request::Dir,
            Self::Stats => Request::Stats,
            Self::Prune { all, imported } => Request::Prune { all: *all, imported: *imported },
            Self::Export { file: Some(file), .. } => Request::Export(file.clone()),
            Self::Export { file: None, index, .. } => Request::Publish(index.clone()),
            Self::Import { file } => Request::Import(file.clone()),
        }
    }
}
