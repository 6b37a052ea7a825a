//! config
pub mod scan;
