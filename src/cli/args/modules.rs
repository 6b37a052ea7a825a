//! Where modules are looked for that are not local.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::disk::roots::{Assigned, ModuleAccess, ModuleLookup};

/// The option of the commands that read the module tree.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct Modules {
    /// Which remote modules to read: installed ones and otherwise downloaded, only installed, or none.
    #[arg(long = "modules", value_name = "WHICH", value_enum, default_value_t)]
    which: Which,
    #[command(flatten)]
    variables: Assignments,
}

/// The options that set variables on which sources of modules depend.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct Assignments {
    /// Set a variable that a module source uses; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    var: Vec<(String, String)>,
    /// Set variables from a file; may be repeated.
    #[arg(long, value_name = "FILE")]
    var_file: Vec<PathBuf>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The values of `--modules`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Installed ones if they are up to date; others are downloaded into the cache.
    #[default]
    Auto,
    /// Those that `init` or `get` installed.
    Installed,
    /// None: their requirements stay unknown.
    None,
}

impl Modules {
    /// What was asked for.
    fn lookup(&self) -> ModuleLookup {
        match self.which {
            Which::Auto => ModuleLookup::Auto,
            Which::Installed => ModuleLookup::Installed,
            Which::None => ModuleLookup::None,
        }
    }

    /// Where modules come from.
    pub(super) fn access(&self) -> ModuleAccess {
        ModuleAccess { lookup: self.lookup(), ..self.variables.access() }
    }
}

impl Assignments {
    /// Where modules come from where only variables are set: installed ones and else fetched.
    pub(super) fn access(&self) -> ModuleAccess {
        ModuleAccess { lookup: ModuleLookup::Auto, assigned: self.assigned(), ..ModuleAccess::default() }
    }

    /// What variables are set to: files first, then single variables.
    fn assigned(&self) -> Vec<Assigned> {
        let files = self.var_file.iter().cloned().map(Assigned::File);
        let values = self.var.iter().cloned().map(|(name, value)| Assigned::Value(name, value));
        files.chain(values).collect()
    }
}
