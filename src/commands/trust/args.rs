//! The options of `trust`, and its run: one action on the trust file, or queries for all signers.

use std::str::FromStr;
use std::sync::Arc;

use super::act;
use super::init::{Memory, Recording, init as remember_all};
use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;

use crate::commands::Services;
use crate::commands::shared::options::{Packages, Within};
use crate::commands::shared::sources::PackageSources;
use crate::commands::shared::targets::{Targets, Unlocked};
use crate::disk::{below, root_files};
use crate::error::{Error, ErrorKind};
use crate::outcome::Outcome;
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;
use crate::version::{Version, VersionError};
use crate::workspace::{RunSettings, one_dialect};

/// Manage the remembered signers of providers.
///
/// The trust file .tflock.trust.hcl at the top of the working tree records the signing keys of each provider. lock adds
/// the key of a provider that it sees for the first time; these commands make all other changes. Commit the file.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Examples:\n  tflock trust init -r\n  \
    tflock trust rotate acme/widget 9F0A...41C2 --reason 'announced on their site'\n  \
    tflock trust add 'registry.example.com/house/*' 1B2C...77D0")]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    pub(crate) command: TrustCommand,
}

/// The commands below `trust`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TrustCommand {
    /// Remember the signers of all locked providers.
    ///
    /// Requests the signer of each locked version from the registries and downloads no package. Only compares providers
    /// that have a pin already. Accepts the signer of the newest locked version for all versions, and a different signer of
    /// an older version for that version only.
    Init {
        /// Also record where the locked releases were built, if GitHub has attestations.
        #[arg(long)]
        provenance: bool,
        /// Work in every root module below.
        #[arg(short, long)]
        recursive: bool,
        #[command(flatten)]
        packages: Packages,
        #[command(flatten)]
        within: Within,
    },
    /// List remembered signers, denied keys and accepted republications.
    List {
        /// Only the signers of these providers, by source address or pattern.
        #[arg(value_name = "ADDR")]
        providers: Vec<String>,
        #[command(flatten)]
        within: Within,
    },
    /// Accept one more signer.
    Add(SignerArgs),
    /// Replace the remembered signers with a new one.
    ///
    /// An old signer stays accepted for the versions that lock files record, now or in git history, and that it signed. Their
    /// signatures are checked, and requested from the registry if no earlier run has seen them.
    Rotate(SignerArgs),
    /// Refuse a signing key for every provider.
    Deny {
        /// The fingerprint of the primary key.
        #[arg(value_name = "FINGERPRINT")]
        key: Fingerprint,
        /// The reason; it is kept in the trust file.
        #[arg(long, value_name = "TEXT", required = true, value_parser = NonEmptyStringValueParser::new())]
        reason: String,
        #[command(flatten)]
        within: Within,
    },
    /// Forget the signer of a provider: the next release is a first use.
    ///
    /// A key that is denied stays denied until its fingerprint is named.
    Forget {
        /// Provider source addresses or patterns, as the trust file has them; fingerprints of denied keys.
        #[arg(value_name = "ADDR|FINGERPRINT", required = true)]
        providers: Vec<String>,
        #[command(flatten)]
        within: Within,
    },
}

// The command has the words of the help.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SignerArgs {
    /// A provider source address, or a pattern such as registry.example.com/house/*.
    #[arg(value_name = "ADDR")]
    pub(super) providers: String,
    /// The fingerprint of the primary key, or the word unsigned.
    #[arg(value_name = "FINGERPRINT|unsigned", required_unless_present = "provenance", conflicts_with = "provenance")]
    pub(super) signer: Option<Signer>,
    /// Pin where releases are built instead, as attested for this version. Without VERSION: for the locked ones.
    #[arg(long, value_name = "VERSION", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) provenance: Option<AttestedRelease>,
    /// The reason; it is kept in the trust file.
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(super) reason: Option<String>,
    #[command(flatten)]
    within: Within,
}

/// The release that shows where a provider is built; without a version the locked ones do.
#[derive(Debug, Clone)]
pub(crate) struct AttestedRelease {
    pub(super) version: Option<Version>,
}

impl FromStr for AttestedRelease {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        Ok(Self { version: if text.is_empty() { None } else { Some(text.parse()?) } })
    }
}

impl TrustCommand {
    pub(crate) fn providers(&self) -> Vec<&str> {
        match self {
            Self::Add(args) | Self::Rotate(args) => vec![&args.providers],
            Self::Forget { providers, .. } | Self::List { providers, .. } => {
                providers.iter().map(String::as_str).collect()
            }
            Self::Init { .. } | Self::Deny { .. } => Vec::new(),
        }
    }

    pub(crate) fn packages(&self) -> Option<&Packages> {
        match self {
            Self::Init { packages, .. } => Some(packages),
            _ => None,
        }
    }

    pub(crate) fn within(&self) -> &Within {
        match self {
            Self::Init { within, .. }
            | Self::List { within, .. }
            | Self::Add(SignerArgs { within, .. })
            | Self::Rotate(SignerArgs { within, .. })
            | Self::Deny { within, .. }
            | Self::Forget { within, .. } => within,
        }
    }
}

pub fn trust(args: &TrustArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    if let TrustCommand::Init { recursive, provenance, .. } = &args.command {
        return init(*recursive, *provenance, services);
    }
    let roots = services.named_roots()?;
    let dialect = one_dialect(&roots);
    let one = one_trust_file(&roots)?;
    if services.scope.trust_file.is_none() {
        let found = below::survey(&one.boundary, None)?.trust_files.into_iter();
        root_files::refuse_second_trust_files(found.map(|path| one.boundary.join(path)))?;
    }
    let outcome = act(one, &args.command, services, &Arc::new(services.open_cache_of(&roots)))?;
    Ok(Outcome { dialect, ..outcome })
}

fn one_trust_file(roots: &[RunSettings]) -> Result<&RunSettings, Error> {
    let refused = || Error::new(ErrorKind::Usage, "the directories of -C do not share one trust file");
    roots.first().filter(|first| roots.iter().all(|root| root.trust == first.trust)).ok_or_else(refused)
}

fn init(recursive: bool, provenance: bool, services: &Services<'_>) -> Result<Outcome, Error> {
    let targets = Targets::with_instances(&services.scope, recursive, Unlocked::Reported)?;
    let roots = targets.all_settings()?;
    if roots.is_empty() {
        return Err(targets.none_here());
    }
    let dialect = one_dialect(&roots);
    services.events_for(dialect);
    let cache = Arc::new(services.open_cache_of(&roots));
    let sources = PackageSources::new(services, &cache);
    let (mut recordings, mut unread) = (Vec::new(), Vec::new());
    for root in &roots {
        match Recording::read(root) {
            Ok(recording) => recordings.push(recording),
            Err(error) => unread.push(error),
        }
    }
    let groups = sources.groups(recordings.iter().map(Recording::sources));
    let now = services.scope.environment.now;
    let mut outcome =
        remember_all(groups, unread, Memory { cache: &cache, provenance, now, interrupt: &services.interrupt })?;
    outcome.notes.extend(targets.notes_on_unlocked().0);
    outcome.notes.extend(sources.notes());
    outcome.notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    Ok(Outcome { dialect, ..outcome })
}
