//! The options of `trust`.

use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;

use super::{Packages, Within};
use crate::commands::trust::{Action, Request};
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;

/// Manage the remembered signers of providers.
///
/// The trust file .tflock.trust.hcl at the top of the working tree records the signing keys of each provider. lock adds
/// the key of a provider that it sees for the first time; these commands make all other changes. Commit the file.
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
    /// Remember the signers of all locked providers.
    ///
    /// Requests the signer of each locked version from the registries and downloads no package. Only compares providers
    /// that have a pin already. Accepts the signer of the newest locked version for all versions, and a different signer of
    /// an older version for that version only.
    Init {
        /// All root modules below.
        #[arg(short, long)]
        recursive: bool,
        #[command(flatten)]
        packages: Packages,
        #[command(flatten)]
        within: Within,
    },
    /// List remembered signers, denied keys and accepted republications.
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
    /// The old signers stay accepted for the versions that lock files in the working tree record now.
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
