//! What settings, environment and dialect ask of one provider.

use std::collections::BTreeSet;
use std::time::SystemTime;

use crate::platform::Platform;
use crate::settings::{ExpiredKeyRule, SignatureRule};

/// The rules for one provider of one root module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Which signature the checksums need.
    pub signature: SignatureRule,
    /// What is made of the hashes that the origin reports beside the signed ones.
    pub reported: ReportedRule,
    /// What a signature by an expired key means.
    pub expired_key: ExpiredKeyRule,
    /// Platforms that the provider may lack.
    pub optional: BTreeSet<Platform>,
    /// Wanted platforms that nobody named and that this provider was not locked for: a package that is not there is only
    /// a warning.
    pub unnamed: BTreeSet<Platform>,
    /// Releases that were signed later are not selected anew. The protocol of registries knows no date of publication.
    pub not_after: Option<SystemTime>,
}

/// What is made of the origin's `packages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReportedRule {
    /// Nothing, as Terraform does.
    Ignore,
    /// They must not contradict the signed checksums.
    Check,
    /// They are checked, spare downloads, and are written for all platforms.
    Write,
}

impl Default for Rules {
    /// What Terraform asks.
    fn default() -> Self {
        Self {
            signature: SignatureRule::Always,
            reported: ReportedRule::Ignore,
            expired_key: ExpiredKeyRule::Warn,
            optional: BTreeSet::new(),
            unnamed: BTreeSet::new(),
            not_after: None,
        }
    }
}
