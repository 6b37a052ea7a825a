//! Options of every command.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::commands::targets;
use crate::dialect::Dialect;
use crate::platform::{Platform, PlatformError};
use crate::report::{Detail, Format};
use crate::workspace::ToolChoice;

/// Where to work. Not global to clap, which would let the directories behind the command replace those before it.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(in crate::cli) struct Within {
    /// Run in this directory; may be repeated.
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(in crate::cli) chdir: Vec<PathBuf>,
}

/// How a command works on many root modules at once.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct Below {
    /// Work in every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(in crate::cli) recursive: bool,
    /// Stop at the first root module that fails.
    #[arg(long)]
    pub(in crate::cli) fail_fast: bool,
}

/// What every command can be told.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(in crate::cli) struct Global {
    /// Follow the rules of this tool: header, default registry, file names.
    #[arg(long, global = true, value_name = "TOOL", value_enum)]
    pub(in crate::cli) tool: Option<Tool>,
    /// Do not use the network; exit 4 if it is needed.
    #[arg(long, global = true)]
    pub(in crate::cli) offline: bool,
    /// Neither read nor write the index of known hashes.
    #[arg(long, global = true)]
    pub(in crate::cli) no_cache: bool,
    /// The trust file, instead of .tflock.trust.hcl at the top of the working tree.
    #[arg(long, global = true, value_name = "FILE")]
    pub(in crate::cli) trust_file: Option<PathBuf>,
    /// The format of the result on standard output.
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t = FormatName::Human)]
    pub(in crate::cli) format: FormatName,
    /// Also write the result to a file in another format; may be repeated. Invalid arguments write no file.
    #[arg(long, global = true, value_name = "FORMAT=FILE", value_parser = report)]
    pub(in crate::cli) report: Vec<(FormatName, PathBuf)>,
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    pub(in crate::cli) color: Colour,
    /// Print only results and errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(in crate::cli) quiet: bool,
    /// Print more: each request, each hash.
    #[arg(short, long, global = true)]
    pub(in crate::cli) verbose: bool,
}

/// The values of `--tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Tool {
    /// Lock file's header, then its hosts, then .tofu files, then CLI configuration, then terraform.
    Auto,
    /// Terraform.
    Terraform,
    /// OpenTofu.
    Tofu,
}

/// The values of `--to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Target {
    /// OpenTofu, with registry.opentofu.org.
    Tofu,
    /// Terraform, with registry.terraform.io.
    Terraform,
}

impl Target {
    /// The dialect.
    pub(in crate::cli) fn dialect(self) -> Dialect {
        match self {
            Target::Tofu => Dialect::OpenTofu,
            Target::Terraform => Dialect::Terraform,
        }
    }
}

/// The values of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FormatName {
    /// Text for a terminal.
    Human,
    /// One JSON document.
    Json,
    /// A comment on a pull request, or a step summary.
    Markdown,
    /// Annotations of GitHub Actions; this and the next two for commands that check or change lock files.
    Github,
    /// A Code Quality report of GitLab.
    Gitlab,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// The body of a commit message; for diff only.
    Commit,
}

/// The values of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Tool {
    /// What it means.
    pub(in crate::cli) fn choice(self) -> ToolChoice {
        match self {
            Tool::Auto => ToolChoice::Auto,
            Tool::Terraform => ToolChoice::Named(Dialect::Terraform),
            Tool::Tofu => ToolChoice::Named(Dialect::OpenTofu),
        }
    }

    /// The dialect, unless it is to be found out.
    pub(in crate::cli) fn dialect(self) -> Option<Dialect> {
        self.choice().dialect()
    }
}

impl Below {
    /// The same as a plain value.
    pub(in crate::cli) fn targets(&self) -> targets::Below {
        targets::Below { recursive: self.recursive, fail_fast: self.fail_fast }
    }
}

impl Colour {
    /// True if text is as for a terminal wherever it goes.
    pub(in crate::cli) fn is_forced(self) -> bool {
        self == Colour::Always
    }

    /// Whether to colour what goes to a terminal, or elsewhere.
    pub(in crate::cli) fn shown(self, terminal: bool, no_color: bool) -> bool {
        match self {
            Colour::Auto => terminal && !no_color,
            Colour::Always => true,
            Colour::Never => false,
        }
    }
}

/// Reads a platform; one that has no builds, but nearly another one, was mistyped.
pub(super) fn platform(text: &str) -> Result<Platform, String> {
    let platform: Platform = text.parse().map_err(|problem: PlatformError| problem.to_string())?;
    match platform.meant() {
        Some(near) => Err(format!("no provider is built for {platform}; did you mean {near}?")),
        None => Ok(platform),
    }
}

/// Reads `FORMAT=FILE`.
fn report(text: &str) -> Result<(FormatName, PathBuf), String> {
    let (format, file) = text.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or("expected FORMAT=FILE")?;
    let name = FormatName::from_str(format, false).map_err(|_| {
        let names = FormatName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
        format!("there is no format {format:?}: {}", names.join(", "))
    })?;
    if file == "-" {
        return Err(format!("expected a file; --format {format} writes that format to standard output"));
    }
    Ok((name, PathBuf::from(file)))
}

impl FormatName {
    /// The format of this name.
    pub(in crate::cli) fn format(self) -> Format {
        match self {
            FormatName::Human => Format::Human,
            FormatName::Json => Format::Json,
            FormatName::Markdown => Format::Markdown,
            FormatName::Github => Format::Github,
            FormatName::Gitlab => Format::Gitlab,
            FormatName::Sarif => Format::Sarif,
            FormatName::Commit => Format::Commit,
        }
    }
}

impl Global {
    /// The format of the result.
    pub(in crate::cli) fn format(&self) -> Format {
        self.format.format()
    }

    /// How much to print.
    pub(in crate::cli) fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        }
    }
}
