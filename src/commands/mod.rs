//! TODO(doc).

pub mod fmt;
