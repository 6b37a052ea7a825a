//! The options of `merge`, `textconv` and `git`: git calls the first two, and `git` registers them.

use std::path::PathBuf;

use crate::commands::merge::{Driven, Request};
use crate::commands::options::Within;

/// Merge lock files provider by provider.
///
/// As git's merge driver (tflock git install), merges OURS and THEIRS and writes the result to OURS; exit 1 if conflicts
/// are left. If one side changed an entry, tflock takes it. Of two new versions it takes the higher one that the recorded
/// constraints of both sides allow; of equal versions, the hashes that either side attests. Conflict markers surround
/// single providers. With --resolve, repairs files with conflict markers that git left behind: the merged configuration
/// then decides between versions.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "tflock merge [OPTIONS] BASE OURS THEIRS [SIZE [PATH]]\n       tflock merge [OPTIONS] --resolve [FILE...]",
    after_help = "Examples:\n  tflock merge --resolve\n  tflock merge --resolve .terraform.lock.hcl"
)]
pub(in crate::cli) struct MergeArgs {
    /// Repair these files, or without FILE all in the repository that have conflict markers.
    #[arg(long, value_name = "FILE", num_args = 0.., conflicts_with_all = ["base", "ours", "theirs"])]
    resolve: Option<Vec<PathBuf>>,
    /// The common ancestor (%O).
    #[arg(value_name = "BASE", required_unless_present = "resolve")]
    base: Option<PathBuf>,
    /// Ours, which takes the result (%A).
    #[arg(value_name = "OURS", required_unless_present = "resolve")]
    ours: Option<PathBuf>,
    /// Theirs (%B).
    #[arg(value_name = "THEIRS", required_unless_present = "resolve")]
    theirs: Option<PathBuf>,
    /// The length of conflict markers (%L).
    #[arg(value_name = "SIZE", value_parser = clap::value_parser!(u16).range(1..))]
    marker_size: Option<u16>,
    /// The path of the merged file (%P), which distinguishes a lock file from a trust file.
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}

/// Print a short form of a lock file, for git diff.
///
/// Prints some lines for each provider: version, constraints, how many hashes of each scheme, and a digest that changes
/// with any of them. git diff compares this text after tflock git install.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct TextconvArgs {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}

impl MergeArgs {
    pub(in crate::cli) fn request(&self) -> Request {
        match (&self.base, &self.ours, &self.theirs) {
            (Some(base), Some(ours), Some(theirs)) => Request::Drive(Driven {
                base: base.clone(),
                ours: ours.clone(),
                theirs: theirs.clone(),
                marker_size: self.marker_size,
                path: self.path.clone(),
            }),
            _ => Request::Resolve(self.resolve.clone().unwrap_or_default()),
        }
    }
}
