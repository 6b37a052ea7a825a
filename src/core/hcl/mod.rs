//! HCL, the language of the files that are read: what its texts mean, whatever they are about.
//!
//! Three readers, for three kinds of text. [`scan`] finds the blocks and arguments of configuration and lock files, and
//! `hcl-edit` reads those of their values that matter; `document` reads whole files of literal values, which users write
//! for `tflock`; [`hcl1`] is the older language of the CLI configuration.

pub mod document;
pub mod hcl1;
mod heredoc;
pub mod scan;
mod string;

pub use document::{Anchor, Comments, Remark};
pub use heredoc::ends_heredoc;
pub use string::{is_plain, literal, normal, push_escaped};
