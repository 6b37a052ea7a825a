//! The fuzz targets, for the programs in `fuzz_targets`.

#[path = "../targets.rs"]
pub mod targets;
