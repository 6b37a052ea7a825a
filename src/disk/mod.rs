//! Files: the only folder that reads and writes them. Blocking, without a runtime.

#![expect(clippy::disallowed_methods, reason = "files are read and written in this folder")]

pub mod package;
