//! The environment of a run, as values.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::settings::Variables;

#[derive(Debug, Clone)]
pub struct Environment {
    pub variables: Variables,
    pub directory: PathBuf,
    /// The time of the run, for all checks that depend on time.
    pub now: SystemTime,
}
