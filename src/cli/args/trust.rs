//! The options of `trust`.

use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;

use super::{Packages, Within};
use crate::commands::trust::{Action, Request};
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;

/// Show or change who may sign which provider.
///
/// The trust file .tflock.trust.hcl at the top of the work tree remembers the signing keys of each provider. lock adds
/// those of providers that it sees for the first time; all else is done with these commands. Commit the file.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Examples:\n  tflock trust init -r\n  \
    tflock trust rotate acme/widget 9F0A...41C2 --reason 'announced on their site'\n  \
    tflock trust add 'registry.example.com/house/*' 1B2C...77D0")]
pub(in crate::cli) struct TrustArgs {
    #[command(subcommand)]
    pub(in crate::cli) command: TrustCommand,
}

/// The commands below `trust`.
#[derive(Debug, Clone, Subcommand)]
pub(in crate::cli) enum TrustCommand {
    /// Ask for the signer of everything that is locked, and remember it.
    ///
    /// Asks the registries who signed each locked version; no package is downloaded. Providers that have a pin already
    /// are only compared. The signer of the newest locked version is remembered for any version, another one of an older
    /// version for that version only.
    Init {
        /// All root modules below.
        #[arg(short, long)]
        recursive: bool,
        #[command(flatten)]
        packages: Packages,
        #[command(flatten)]
        within: Within,
    },
    /// Print who is remembered, denied and accepted.
    List {
        #[command(flatten)]
        within: Within,
    },
    /// Accept one more signer.
    Add {
        /// A provider source address, or a pattern such as registry.example.com/house/*.
        #[arg(value_name = "ADDR")]
        providers: String,
        /// The fingerprint of the primary key, or the word unsigned.
        #[arg(value_name = "FINGERPRINT|unsigned")]
        signer: Signer,
        #[command(flatten)]
        within: Within,
    },
    /// Replace the remembered signers by another one.
    ///
    /// The old ones stay accepted for the versions that lock files of the work tree hold now.
    Rotate {
        /// A provider source address or a pattern.
        #[arg(value_name = "ADDR")]
        providers: String,
        /// The fingerprint of the primary key, or the word unsigned.
        #[arg(value_name = "FINGERPRINT|unsigned")]
        signer: Signer,
        /// The reason; it is kept in the trust file.
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        reason: Option<String>,
        #[command(flatten)]
        within: Within,
    },
    /// Refuse a signing key, whatever it signs.
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
    /// Forget who signs a provider: the next release is a first use.
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

impl TrustCommand {
    /// What was asked for.
    pub(in crate::cli) fn request(&self) -> Request {
        Request::Act(match self.clone() {
            Self::Init { recursive, .. } => return Request::Init { recursive },
            Self::List { .. } => Action::List,
            Self::Add { providers, signer, .. } => Action::Add { providers, signer },
            Self::Rotate { providers, signer, reason, .. } => Action::Rotate { providers, signer, reason },
            Self::Deny { key, reason, .. } => Action::Deny { key, reason },
            Self::Forget { providers, .. } => Action::Forget { providers },
        })
    }

    /// The providers as typed.
    pub(super) fn providers(&self) -> Vec<&str> {
        match self {
            Self::Add { providers, .. } | Self::Rotate { providers, .. } => vec![providers],
            Self::Forget { providers, .. } => providers.iter().map(String::as_str).collect(),
            Self::Init { .. } | Self::List { .. } | Self::Deny { .. } => Vec::new(),
        }
    }

    pub(super) fn source(&self) -> Option<&Packages> {
        match self {
            Self::Init { packages, .. } => Some(packages),
            _ => None,
        }
    }

    pub(super) fn within(&self) -> &Within {
        match self {
            Self::Init { within, .. }
            | Self::List { within }
            | Self::Add { within, .. }
            | Self::Rotate { within, .. }
            | Self::Deny { within, .. }
            | Self::Forget { within, .. } => within,
        }
    }
}
