//! What was found, and is not among the root modules of a run.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::settings;
use crate::words::counted;

/// As text, ` (40 excluded by .tflock.hcl, 3 templates skipped)`; empty without either.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NotCounted {
    /// How many root modules the setting `exclude` leaves out.
    pub excluded: usize,
    /// How many units have no lock file because only stacks use them.
    pub templates: usize,
}

impl NotCounted {
    /// Each number, by its name in JSON.
    pub fn each(self) -> [(&'static str, usize); 2] {
        [("excluded", self.excluded), ("templates", self.templates)]
    }
}

impl Serialize for NotCounted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.each())
    }
}

impl fmt::Display for NotCounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let excluded = (self.excluded > 0).then(|| format!("{} excluded by {}", self.excluded, settings::FILE_NAME));
        let templates = (self.templates > 0).then(|| format!("{} skipped", counted(self.templates, "template")));
        let parts: Vec<String> = excluded.into_iter().chain(templates).collect();
        if parts.is_empty() { Ok(()) } else { write!(f, " ({})", parts.join(", ")) }
    }
}
