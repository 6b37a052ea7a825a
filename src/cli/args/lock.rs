//! The options of `lock`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::Within;
use crate::commands::LockOptions;
use crate::platform::Platform;
use crate::settings::H1Rule;
use crate::version::Version;

/// Make the lock file complete.
///
/// Adds the providers that the configuration needs, keeps selected versions, adds the hashes of missing platforms and
/// updates constraints. Removes nothing without --prune. The platforms are those of --platform, else those of the
/// settings, else those of the file and this machine's. Also known as `tflock providers lock`.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock lock --platform linux_amd64 --platform darwin_arm64\n  tflock lock --check\n  tflock lock --dry-run hashicorp/aws"
)]
pub(in crate::cli) struct LockArgs {
    /// Only these providers, by source address.
    #[arg(value_name = "ADDR")]
    providers: Vec<String>,
    /// Record hashes for this platform; may be repeated.
    #[arg(long = "platform", value_name = "OS_ARCH")]
    platforms: Vec<Platform>,
    /// Write nothing; exit 1 if the file would change.
    #[arg(long)]
    check: bool,
    /// Write nothing; print the diff.
    #[arg(long)]
    dry_run: bool,
    /// Read no configuration; complete the hashes of the entries that are there.
    #[arg(long, conflicts_with = "prune")]
    from_lock: bool,
    /// Remove entries that the configuration does not require.
    #[arg(long)]
    prune: bool,
    /// A state file, or the output of `state pull`: providers in it are kept.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Take packages from this filesystem mirror only, packed or unpacked.
    #[arg(long, value_name = "DIR", conflicts_with = "net_mirror")]
    fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror only; not supported yet.
    #[arg(long, value_name = "URL", hide = true)]
    net_mirror: Option<String>,
    /// Whose h1: hashes are written: also the registry's, or only those computed here.
    #[arg(long, value_name = "RULE", value_enum)]
    h1: Option<H1Name>,
    /// Replace the hashes of a release that was published again; may be repeated.
    #[arg(long, value_name = "ADDR@VERSION", value_parser = release, requires = "reason")]
    accept_republished: Vec<(String, Version)>,
    /// Why; it is kept in the trust file.
    #[arg(long, value_name = "TEXT", requires = "accept_republished", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    reason: Option<String>,
    /// Refuse providers whose signer is not in the trust file yet, instead of remembering it; for bots.
    #[arg(long)]
    no_first_use: bool,
    #[command(flatten)]
    pub(super) within: Within,
}

/// The values of `--h1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum H1Name {
    /// Also those that the origin registry reports.
    Registry,
    /// Only those computed here from archives with a signed checksum.
    Verified,
}

/// An option that is known and does not work yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Unsupported(pub(in crate::cli) &'static str);

impl LockArgs {
    /// What was asked for.
    ///
    /// # Errors
    ///
    /// [`Unsupported`] names an option that does not work yet.
    pub(in crate::cli) fn options(&self) -> Result<LockOptions, Unsupported> {
        if self.net_mirror.is_some() {
            return Err(Unsupported("--net-mirror"));
        }
        let mut platforms: Vec<Platform> = Vec::new();
        for platform in &self.platforms {
            if !platforms.contains(platform) {
                platforms.push(platform.clone());
            }
        }
        Ok(LockOptions {
            platforms,
            check: self.check,
            dry_run: self.dry_run,
            from_lock: self.from_lock,
            prune: self.prune,
            state: self.state.clone(),
            fs_mirror: self.fs_mirror.clone(),
            providers: self.providers.clone(),
            h1: self.h1.map(|name| match name {
                H1Name::Registry => H1Rule::Registry,
                H1Name::Verified => H1Rule::Verified,
            }),
            accept_republished: self.accept_republished.clone(),
            reason: self.reason.clone(),
            no_first_use: self.no_first_use,
        })
    }
}

fn release(text: &str) -> Result<(String, Version), String> {
    let (addr, version) = text.split_once('@').filter(|(addr, _)| !addr.is_empty()).ok_or("ADDR@VERSION is wanted")?;
    let version = version.parse().map_err(|problem| format!("{problem}"))?;
    Ok((addr.to_owned(), version))
}
