#![expect(clippy::disallowed_methods, reason = "files are read and written in this folder")]
//! Files: what is read and written, by blocking calls.

pub mod roots;
