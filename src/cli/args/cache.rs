//! The options of `cache`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::commands::cache::Request;

/// Show, clear or share the index of known hashes.
///
/// The index remembers which h1: belongs to which zh:, as computed here from checked archives, so that no package is
/// downloaded twice. It lies in the user's cache directory; `TFLOCK_CACHE_DIR` sets another one.
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
    /// Print how much the index holds.
    Stats,
    /// Remove what has not been used for long.
    ///
    /// Removes documents, release records and module packages that were written more than 90 days ago. What is known of
    /// hashes stays true and is kept.
    Prune {
        /// Remove everything, also what is known of hashes.
        #[arg(long)]
        all: bool,
        /// Remove the hashes that were imported, and of the rest only what is of no use.
        #[arg(long, conflicts_with = "all")]
        imported: bool,
    },
    /// Write the hashes that were computed here into a file, for another machine.
    ///
    /// The same index gives the same file. Hashes that were imported are left out.
    #[command(
        override_usage = "tflock cache export [OPTIONS] <FILE|->\n       tflock cache export [OPTIONS] --publish [--index <URL>]"
    )]
    Export {
        /// The file, or - for standard output.
        #[arg(value_name = "FILE|-", required_unless_present = "publish")]
        file: Option<PathBuf>,
        /// Write them into a shared index, where they are not there.
        #[arg(long, conflicts_with = "file")]
        publish: bool,
        /// The shared index, by its URL; without it that of `TFLOCK_INDEX`. Never one that settings in the work tree name.
        #[arg(long, value_name = "URL", requires = "publish")]
        index: Option<String>,
    },
    /// Take in the hashes that another machine exported.
    ///
    /// They save `lock` downloads, unless --h1 or the policy says verified, and are shown as reported by an index. They
    /// prove nothing to `verify`. A file that is damaged, or contradicts what is known, is refused whole.
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
