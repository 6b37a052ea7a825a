//! The dependency lock file of OpenTofu and Terraform: reading and writing it byte for byte as the tools do, comparing, merging and
//! judging lock files.
//!
//! ```text
//! verify · diff · merge · modulelock                                  judgments: values in, values out
//! release · trust · provenance · finding · advisory · documents (values in JSON) · words (in messages)
//! lockfile · config · requirements · settings · hcl · goinfo · evaluate · functions · value   documents; expressions and their values
//! hash · version · platform · addr · dialect · step                   values
//! ```
//!
//! Arrows between folders point downwards. Nothing here knows a network, a clock, a directory or a command line: the program `tflock`
//! brings them.
//!
//! The names at the top of the crate are its stable interface: every public item of their modules is documented. The other modules
//! serve the program and change with it. Without the feature `openpgp` (on by default) no signature is verified, and no PGP stack is
//! built.
//!
//! A lock file is read as strictly as the tools read it, and written byte for byte as they write it:
//!
//! ```
//! use tflock_core::{Dialect, LockFile, Platform, ProviderAddr, Version, decode};
//!
//! let text = LockFile::new().encode(Dialect::OpenTofu) + r#"
//! provider "registry.opentofu.org/acme/widget" {
//!   version = "1.4.0"
//!   hashes  = ["h1:2ADzNNH1Yx9ZlVzA3C4Q8p0FLlvJYMr7QdoT4zY0lXg="]
//! }
//! "#;
//! let read = decode(text.as_bytes(), Dialect::OpenTofu).expect("no finding at level deny");
//! let widget = ProviderAddr::parse("acme/widget", Dialect::OpenTofu)?;
//! let entry = read.lock.get(&widget).expect("its entry");
//! assert_eq!(entry.version, Version::new(1, 4, 0));
//! assert!(!read.canonical, "a tool would have written it in another layout");
//! assert!(read.lock.encode(Dialect::OpenTofu).contains("  version = \"1.4.0\"\n  hashes = [\n    \"h1:2ADz"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Constraints mean what they mean to the tools, where other rules of semantic versions differ:
//!
//! ```
//! use tflock_core::{Constraints, Version, newest_allowed};
//!
//! let constraints: Constraints = "~> 1.2, != 1.9.0".parse()?;
//! let offered = ["1.1.0", "1.10.0", "1.11.0-rc1", "2.0.0"].map(|text| text.parse::<Version>().expect("a version"));
//! assert_eq!(newest_allowed(&offered, &constraints), Some(&offered[1]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two lock files differ by providers, versions and hashes rather than by lines, and merge that way:
//!
//! ```
//! use tflock_core::{ChangeKind, Dialect, LockEntry, LockFile, PackageHashes, ProviderAddr, Three, changes, merge};
//!
//! let widget = ProviderAddr::parse("acme/widget", Dialect::Terraform)?;
//! let at = |version: &str| {
//!     let (version, hashes) = (version.parse().expect("a version"), PackageHashes::new());
//!     let constraints = "~> 1.0".parse().expect("constraints");
//!     let mut lock = LockFile::new();
//!     lock.insert(widget.clone(), LockEntry { version, constraints, hashes });
//!     lock
//! };
//! let (base, ours, theirs) = (at("1.0.0"), at("1.1.0"), at("1.0.0"));
//! assert_eq!(changes(&base, &ours)[0].kind, ChangeKind::Upgraded);
//! let merged = merge(Three { base: &base, ours: &ours, theirs: &theirs });
//! assert_eq!(merged.lock(), Some(ours));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
pub mod step;
#[warn(missing_docs)]
pub mod addr;
pub mod advisory;
pub mod config;
#[warn(missing_docs)]
pub mod dialect;
#[warn(missing_docs)]
pub mod diff;
pub mod documents;
pub mod error;
pub mod evaluate;
#[warn(missing_docs)]
pub mod finding;
#[warn(missing_docs)]
pub mod functions;
pub mod goinfo;
pub mod hash;
pub mod hcl;
#[warn(missing_docs)]
pub mod lockfile;
#[warn(missing_docs)]
pub mod merge;
pub mod modulelock;
#[warn(missing_docs)]
pub mod platform;
pub mod provenance;
pub mod redact;
#[warn(missing_docs)]
pub mod release;
pub mod requirements;
pub mod settings;
pub mod terragrunt;
pub mod trust;
#[warn(missing_docs)]
pub mod value;
#[warn(missing_docs)]
pub mod verify;
#[warn(missing_docs)]
pub mod version;
pub mod witness;
pub mod words;

pub use addr::{Hostname, ProviderAddr};
pub use dialect::Dialect;
pub use diff::{Change, ChangeKind, changes};
pub use finding::{Finding, Level, Rule};
pub use hash::{HashScheme, PackageHash, PackageHashes};
pub use lockfile::{Decoded, LockEntry, LockFile, decode};
pub use merge::{LockMerge, Three, merge_locks as merge};
pub use platform::Platform;
pub use release::{Lookup, Release};
pub use verify::{Facts, Subject, Verified, verify};
pub use version::{Constraints, Version, newest_allowed};

#[cfg(test)]
mod vectors;
