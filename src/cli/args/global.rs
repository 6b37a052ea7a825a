//! Options of every command.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::dialect::Dialect;
use crate::report::{Detail, Format};
use crate::workspace::ToolSelection;

/// The options of every command.
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
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t = Format::Human)]
    pub(in crate::cli) format: Format,
    /// Also write the result to a file in another format; may be repeated. Invalid arguments write no file.
    #[arg(long, global = true, value_name = "FORMAT=FILE", value_parser = report)]
    pub(in crate::cli) report: Vec<(Format, PathBuf)>,
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
    pub(in crate::cli) fn choice(self) -> ToolSelection {
        match self {
            Tool::Auto => ToolSelection::Auto,
            Tool::Terraform => ToolSelection::Named(Dialect::Terraform),
            Tool::Tofu => ToolSelection::Named(Dialect::OpenTofu),
        }
    }

    /// The dialect; `None` if it is to be detected.
    pub(in crate::cli) fn dialect(self) -> Option<Dialect> {
        self.choice().dialect()
    }
}

impl Colour {
    /// True if output uses colour even outside of a terminal.
    pub(in crate::cli) fn is_forced(self) -> bool {
        self == Colour::Always
    }

    /// Whether to use colour, on a terminal or elsewhere.
    pub(in crate::cli) fn shown(self, terminal: bool, no_color: bool) -> bool {
        match self {
            Colour::Auto => terminal && !no_color,
            Colour::Always => true,
            Colour::Never => false,
        }
    }
}

/// Parses `FORMAT=FILE`.
fn report(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or("expected FORMAT=FILE")?;
    let name = Format::from_str(format, false).map_err(|_| {
        let names = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
        format!("there is no format {format:?}: {}", names.join(", "))
    })?;
    if file == "-" {
        return Err(format!("expected a file; --format {format} writes that format to standard output"));
    }
    Ok((name, PathBuf::from(file)))
}

impl Global {
    /// True if the result is written in a format.
    pub(in crate::cli) fn has(&self, format: Format) -> bool {
        self.format == format || self.report.iter().any(|(other, _)| *other == format)
    }

    pub(in crate::cli) fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        }
    }
}
