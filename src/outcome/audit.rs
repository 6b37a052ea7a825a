//! The result of `audit` for one root module.

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::platform::Platform;
use crate::version::Version;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// The database; `None` if it could not be read or was not needed.
    pub database: Option<AuditedDatabase>,
    pub programs: Vec<AuditedProgram>,
    /// Errors that left a question open.
    pub failed: Vec<Error>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditedDatabase {
    /// Its URL or path.
    pub source: String,
    pub modified: String,
}

/// The program of a provider, with the others in its package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditedProgram {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    pub go: Option<String>,
    /// The number of checked modules in all programs, including the standard library.
    pub modules: usize,
    /// Why it could not be read.
    pub unknown: Option<String>,
    /// What else could not be checked.
    pub unjudged: Vec<Unjudged>,
    /// The paths of the other programs in the package.
    pub others: Vec<String>,
    /// The number of programs in the package that were not read.
    pub unread: usize,
    /// True if its modules come from an import, which the author of the import may have forged.
    #[serde(rename = "reported")]
    pub is_reported: bool,
    /// The first newer release without an advisory, if that was requested.
    pub fixed_by: Option<FixedBy>,
    pub vulnerabilities: Vec<Vulnerability>,
}

/// A module, or a whole program, that could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unjudged {
    /// The path of the program; `None` for that of the provider.
    pub program: Option<String>,
    pub module: Option<String>,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FixedBy {
    Release(Version),
    /// No newer release that the constraints allow is known to be without one.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Vulnerability {
    pub id: String,
    pub aliases: Vec<String>,
    pub summary: String,
    /// The path of the program; `None` for that of the provider.
    pub program: Option<String>,
    pub module: String,
    pub found: String,
    /// The version of the module that fixes it.
    pub fixed: Option<String>,
    /// True if the program does not name its version, so the locked version was checked.
    #[serde(rename = "by_locked_version")]
    pub is_locked_version: bool,
}
