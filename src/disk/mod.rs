//! Files and processes: blocking, without a runtime.
#![expect(clippy::disallowed_methods, reason = "files are read and written in this folder")]

pub mod cli_config;
pub mod hcl1;
pub mod helper;
pub mod package;
