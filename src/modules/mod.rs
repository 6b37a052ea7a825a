//! Remote modules: where they come from, and how they get onto this machine.
//!
//! Answers of registries, git servers and archives are bounded in size and time as honest ones are: nothing
//! outside of a folder of ours, no token to another host. A package is fetched once and kept in the user's cache; what may
//! change (what a registry lists, where a branch is) is requested again after ten minutes.
//!
//! Source: `internal/initwd/module_install.go`, `internal/getmodules`, `internal/registry` of both tools.

#![expect(clippy::disallowed_methods, reason = "packages are laid out in the user's cache here")]

mod address;
mod archive;
mod checkout;
mod checksum;
mod fetch;
mod git;
mod git_package;
mod installed;
mod layout;
mod netrc;
mod oci;
mod offered;
mod package;
mod registry;
mod run;
mod served;
mod store;
mod subdir;
mod unpack;
mod wanted;

#[cfg(test)]
mod hanging_tests;

pub use fetch::{Fetcher, FetcherOptions};
pub use installed::differences;
pub use layout::{copy_package, is_laid_out};
pub use netrc::Netrc;
pub use registry::ModuleRegistry;
pub use run::ModuleService;
pub use store::Store;
#[doc(hidden)]
pub use unpack::read_package;

use crate::config::is_configuration;
