//! What `audit` found for one root module.

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::platform::Platform;
use crate::version::Version;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// The database that was asked; none if it could not be, or if there was nothing to ask.
    pub database: Option<AuditedDatabase>,
    /// The programs that were looked at.
    pub programs: Vec<AuditedProgram>,
    /// What could not be found out.
    pub failed: Vec<Error>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedDatabase {
    /// Where it is.
    pub source: String,
    /// When it was last changed.
    pub modified: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedProgram {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    /// The toolchain that built it.
    pub go: Option<String>,
    /// How many modules were judged, the standard library included.
    pub modules: usize,
    /// Why nothing is known of it.
    pub unknown: Option<String>,
    /// Its modules that could not be judged, with why not.
    pub unjudged: Vec<(String, String)>,
    /// True if what it was built from is the word of whoever made an import.
    pub is_reported: bool,
    pub vulnerabilities: Vec<Vulnerability>,
    /// The first newer release without an advisory, if that was asked.
    pub fixed_by: Option<FixedBy>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixedBy {
    Release(Version),
    /// No newer release that the constraints allow is known to be without one.
    Nothing,
}

/// An affected module of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vulnerability {
    pub id: String,
    pub aliases: Vec<String>,
    pub summary: String,
    pub module: String,
    pub found: String,
    /// The version of the module that fixes it.
    pub fixed: Option<String>,
    /// True if the program does not name its version: the locked one counts.
    pub is_locked_version: bool,
}
