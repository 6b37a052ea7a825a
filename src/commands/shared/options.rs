//! Options that several commands share.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ArgMatches, FromArgMatches, ValueEnum};

use crate::commands::lock::request::{LockRequest, WriteMode};
use crate::disk::roots::{AssignedVariable, ModuleAccess, ModuleLookup};
use crate::path::lexical;
use crate::platform::{Platform, PlatformError};
use crate::settings::{H1Rule, SourceChoice};

/// Where to work. Not global to clap, which would let the directories behind the command replace those before it.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Within {
    /// Run in this directory; may be repeated.
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) chdir: Vec<PathBuf>,
}

/// How a command works on many root modules at once.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Below {
    /// Work in every root module below.
    ///
    /// A root module is a directory with a lock file.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Stop at the first root module that fails.
    #[arg(long, hide_short_help = true)]
    pub(crate) fail_fast: bool,
}

/// Parses a platform. A platform without builds that resembles a known one is refused as a typing error.
pub(crate) fn platform(text: &str) -> Result<Platform, String> {
    let platform: Platform = text.parse().map_err(|problem: PlatformError| problem.to_string())?;
    match platform.meant() {
        Some(near) => Err(format!("no provider is built for {platform}; did you mean {near}?")),
        None => Ok(platform),
    }
}

/// What is recorded, and where it comes from.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct LockFlags {
    /// Record hashes for this platform; may be repeated.
    #[arg(long = "platform", value_name = "OS_ARCH", value_parser = platform)]
    platforms: Vec<Platform>,
    /// Write nothing; print the diff.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(crate) packages: Packages,
    /// Which h1: hashes to record. Default: the setting, else registry.
    ///
    /// The setting is `h1` in the `policy` block of .tflock.hcl.
    #[arg(long, value_name = "RULE", value_enum, help_heading = "Sources")]
    h1: Option<H1Name>,
    /// Refuse a first use of a provider or module; for bots.
    #[arg(long, help_heading = "Trust")]
    no_first_use: bool,
}

/// The values of `--h1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum H1Name {
    /// Also those that the origin registry reports.
    Registry,
    /// Only those computed from archives with a signed checksum.
    Verified,
}

impl LockFlags {
    /// What these options request, with or without `--check`.
    pub(crate) fn request(&self, check: bool) -> LockRequest {
        let mut platforms: Vec<Platform> = Vec::new();
        for platform in &self.platforms {
            if !platforms.contains(platform) {
                platforms.push(platform.clone());
            }
        }
        LockRequest {
            platforms,
            mode: match (self.dry_run, check) {
                (true, _) => WriteMode::DryRun,
                (_, true) => WriteMode::Check,
                _ => WriteMode::Write,
            },
            h1: self.h1.map(|name| match name {
                H1Name::Registry => H1Rule::Registry,
                H1Name::Verified => H1Rule::Verified,
            }),
            no_first_use: self.no_first_use,
            ..LockRequest::default()
        }
    }
}

/// The options of the commands that need packages.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Packages {
    /// Where to get packages: origin, configured, fs:DIR, net:URL or oci:TEMPLATE.
    ///
    /// `configured` means the installation methods of the CLI configuration. Default: `source` in .tflock.hcl, else origin.
    #[arg(long, value_name = "SOURCE", conflicts_with_all = ["fs_mirror", "net_mirror", "oci_mirror"], help_heading = "Sources")]
    source: Option<SourceChoice>,
    /// Take packages from this filesystem mirror only, packed or unpacked: fs:DIR.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["net_mirror", "oci_mirror"], help_heading = "Sources", hide_short_help = true)]
    fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror only: net:URL.
    #[arg(long, value_name = "URL", conflicts_with = "oci_mirror", help_heading = "Sources", hide_short_help = true)]
    net_mirror: Option<String>,
    /// Take packages from this OCI mirror only: oci:TEMPLATE.
    #[arg(long, value_name = "TEMPLATE", help_heading = "Sources", hide_short_help = true)]
    oci_mirror: Option<String>,
}

impl Packages {
    pub(crate) fn choice(&self) -> Option<SourceChoice> {
        let directory = || self.fs_mirror.clone().map(SourceChoice::Directory);
        let network = || self.net_mirror.clone().map(SourceChoice::Network);
        let registry = || self.oci_mirror.clone().map(SourceChoice::Oci);
        self.source.clone().or_else(directory).or_else(network).or_else(registry)
    }

    /// The option with which another command has the same source.
    pub(crate) fn option(&self) -> Vec<String> {
        let words = |choice: SourceChoice| ["--source".to_owned(), choice.to_string()];
        self.choice().into_iter().flat_map(words).collect()
    }
}

/// The option of the commands that read the module tree.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Modules {
    /// Which remote modules to read.
    #[arg(long = "modules", value_name = "WHICH", value_enum, default_value_t = ModuleLookup::Auto, help_heading = "Modules")]
    which: ModuleLookup,
    #[command(flatten)]
    variables: Assignments,
    /// Read the test files of this directory of the root module instead of `tests`.
    #[arg(long, value_name = "DIR", value_parser = test_directory, help_heading = "Modules", hide_short_help = true)]
    test_directory: Option<PathBuf>,
}

/// Parses the directory of test files, which is in the root module.
///
/// Source: `internal/command/arguments/test.go`; `filepath.IsLocal`.
fn test_directory(text: &str) -> Result<PathBuf, &'static str> {
    let path = lexical(Path::new(""), Path::new(text));
    let leads_out = Path::new(text).has_root() || path.starts_with("..");
    if leads_out { Err("test files are in the root module: name a directory below it") } else { Ok(path) }
}

/// The options that set variables on which sources of modules depend.
#[derive(Debug, Clone, Default)]
pub(crate) struct Assignments {
    /// In the order of the command line: the last one counts, whatever its option.
    assigned: Vec<AssignedVariable>,
    environment: Vec<(String, String)>,
}

/// Those options as clap takes them, which forgets how they alternate.
#[derive(Debug, clap::Args)]
struct AssignmentFlags {
    /// Set a variable that a module source uses; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "Modules", hide_short_help = true)]
    var: Vec<AssignedVariable>,
    /// Set variables from a file; may be repeated.
    #[arg(long, value_name = "FILE", value_parser = variable_file(), help_heading = "Modules", hide_short_help = true)]
    var_file: Vec<AssignedVariable>,
    /// Set what Terragrunt's `get_env` returns; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = named_value, help_heading = "Modules", hide_short_help = true)]
    env: Vec<(String, String)>,
}

fn variable(text: &str) -> Result<AssignedVariable, String> {
    named_value(text).map(|(name, value)| AssignedVariable::Value(name, value))
}

fn named_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn variable_file() -> impl TypedValueParser<Value = AssignedVariable> {
    PathBufValueParser::new().map(AssignedVariable::File)
}

impl clap::Args for Assignments {
    fn augment_args(command: clap::Command) -> clap::Command {
        AssignmentFlags::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        AssignmentFlags::augment_args_for_update(command)
    }
}

impl FromArgMatches for Assignments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut assigned: Vec<(usize, AssignedVariable)> = Vec::new();
        for option in ["var", "var_file"] {
            let values = matches.get_many::<AssignedVariable>(option).into_iter().flatten().cloned();
            assigned.extend(matches.indices_of(option).into_iter().flatten().zip(values));
        }
        assigned.sort_by_key(|(index, _)| *index);
        let environment = matches.get_many::<(String, String)>("env").into_iter().flatten().cloned().collect();
        Ok(Self { assigned: assigned.into_iter().map(|(_, assigned)| assigned).collect(), environment })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Modules {
    pub(crate) fn access(&self) -> ModuleAccess {
        ModuleAccess { lookup: self.which, test_directory: self.test_directory.clone(), ..self.variables.access() }
    }
}

impl Assignments {
    /// For commands that only set variables: uses installed modules, and fetches the others.
    pub(crate) fn access(&self) -> ModuleAccess {
        let environment = self.environment.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        ModuleAccess {
            lookup: ModuleLookup::Auto,
            assigned: self.assigned.clone(),
            environment: environment.collect(),
            ..ModuleAccess::default()
        }
    }
}

/// Parses a number of bytes, with or without a unit.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 9] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit = match unit.trim_start() {
        "" => Some(1),
        unit => UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, bytes)| *bytes),
    };
    let bytes = unit.and_then(|unit| number.parse::<u64>().ok()?.checked_mul(unit));
    bytes.ok_or_else(|| "expected a number of bytes, such as 500MiB or 2GiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes() {
        for (text, wanted) in [("0", 0), ("12", 12), ("500MiB", 500 << 20), ("2 gib", 2 << 30), ("1GB", 1_000_000_000)]
        {
            assert_eq!(bytes(text), Ok(wanted), "{text}");
        }
        for text in ["", "GiB", "-1", "1.5GiB", "3 x", "99999999999TiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
