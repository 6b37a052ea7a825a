//! Where packages are asked for.

use std::path::PathBuf;

use crate::settings::SourceChoice;

/// The options of the commands that ask for packages.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct Packages {
    /// Where to get packages: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or
    /// oci:TEMPLATE. Default: `source` in .tflock.hcl, else the origin registries.
    #[arg(long, value_name = "SOURCE", conflicts_with_all = ["fs_mirror", "net_mirror"])]
    source: Option<SourceChoice>,
    /// Take packages from this filesystem mirror only, packed or unpacked: fs:DIR.
    #[arg(long, value_name = "DIR", conflicts_with = "net_mirror")]
    fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror only: net:URL.
    #[arg(long, value_name = "URL")]
    net_mirror: Option<String>,
}

impl Packages {
    /// What was named.
    pub(super) fn choice(&self) -> Option<SourceChoice> {
        let directory = || self.fs_mirror.clone().map(SourceChoice::Directory);
        let network = || self.net_mirror.clone().map(SourceChoice::Network);
        self.source.clone().or_else(directory).or_else(network)
    }
}
