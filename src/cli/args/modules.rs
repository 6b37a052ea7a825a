//! Where modules are looked for that are not local.

use clap::ValueEnum;

use crate::disk::roots::ModuleLookup;

/// The option of the commands that read the module tree.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct Modules {
    /// Which modules of registries, git and archives are read: installed ones and else fetched, only installed, or none.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t)]
    modules: Which,
}

/// The values of `--modules`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Installed ones where they are up to date; others are fetched into the cache.
    #[default]
    Auto,
    /// Those that `init` or `get` installed.
    Installed,
    /// None: what they require is not known.
    None,
}

impl Modules {
    /// What was asked for.
    pub(super) fn lookup(&self) -> ModuleLookup {
        match self.modules {
            Which::Auto => ModuleLookup::Auto,
            Which::Installed => ModuleLookup::Installed,
            Which::None => ModuleLookup::None,
        }
    }
}
