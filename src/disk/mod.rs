//! Files and processes: what is read, written and started, by blocking calls.
//!
//! Paths come in and values go out, or the reverse. The folder judges nothing and knows neither the network nor the
//! environment; the one directory of the user that it finds itself is the cache.
#![expect(clippy::disallowed_methods, reason = "files are read and written in this folder")]

pub mod advisory_files;
pub mod atomic;
pub mod attributes_file;
pub mod below;
pub mod cache;
pub mod cli_config;
pub mod directories;
pub mod directory_lock;
pub mod files;
pub mod helper;
pub mod index_directory;
pub mod installed_modules;
pub mod linking;
pub mod lock_file;
pub mod memo;
pub mod mirror;
pub mod mirror_contents;
pub mod mirror_writer;
pub mod modules_dir;
pub mod oci_credentials;
pub mod package;
pub mod package_store;
pub mod report_file;
pub mod roots;
pub mod settings_files;
pub mod state;
pub mod text;
pub mod transaction;
pub mod trust_file;
