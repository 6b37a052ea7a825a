//! The commands, each a function from values to values.

pub mod list;
pub mod why;
