//! What a run is handed by its surroundings, as values.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::settings::Variables;

/// Everything around a run but its arguments and streams.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The environment variables; those that are not Unicode count as not set.
    pub variables: Variables,
    /// The directory that the program was started in.
    pub directory: PathBuf,
    /// The time of the run, for all that is judged by time.
    pub now: SystemTime,
}
