//! What a run is handed by its surroundings, as values.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::settings::Variables;

#[derive(Debug, Clone)]
pub struct Environment {
    pub variables: Variables,
    pub directory: PathBuf,
    /// The time of the run, for all that is judged by time.
    pub now: SystemTime,
}
