//! Files and processes: what is read, written and started, by blocking calls.
//!
//! Paths come in and values go out, or the reverse. The folder judges nothing and knows neither the network nor the
//! environment; the one directory of the user that it finds itself is the cache.
#![expect(clippy::disallowed_methods, reason = "files are read and written in this folder")]
pub mod advisories;
pub mod agreements;
pub mod atomic;
pub mod below;
pub mod cache;
pub mod cli_config;
pub mod files;
pub mod helper;
pub mod linking;
pub mod mirror;
pub mod mirror_writer;
pub mod modules_dir;
pub mod oci_credentials;
pub mod own;
pub mod package;
pub mod package_store;
pub mod provenance;
pub mod root_files;
pub mod roots;
pub mod waiting;
pub mod walk;
