//! Commands: from settings to an outcome, one in each file.

pub mod hash;
