//! What command tests need: a registry over HTTPS, a directory to work in, the program in a process of its own.
//!
//! The product is steered only by what its users have: files, flags, environment and a certificate authority.
#![expect(unreachable_pub, reason = "nothing is outside of a test binary, and `pub` says what tests may use")]

pub mod browser;
pub mod keys;
pub mod locked;
pub mod packages;
pub mod proposal;
pub mod registry;
pub mod run;
#[path = "../../../src/report/schema_check_tests.rs"]
pub mod schema;
#[cfg(target_os = "linux")]
pub mod small_disk;
#[cfg(unix)]
pub mod tools;
pub mod workspace;
pub mod worlds;
pub mod yaml;
