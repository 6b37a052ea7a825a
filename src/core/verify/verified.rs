//! How much `verify` knows about one lock file.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// What `verify` knows about the recorded hashes of one root module; none is counted twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Hashes that a source attests.
    pub proven: usize,
    /// Hashes that are neither proven nor refuted.
    pub unknown: usize,
    /// Why some are unknown: sources that gave no answer. Empty if no request was sent.
    pub inconclusive: Vec<Unanswered>,
    /// True if nothing was looked at, since nothing changed since the base.
    pub unchanged: bool,
    /// Why the configuration was not checked, where it could not be read at the base either.
    pub not_checked: Option<Error>,
    /// True if it is no root module but the working tree as a whole.
    pub of_work_tree: bool,
    /// What the working tree was compared with; `None` if it was checked only against itself.
    pub base: Option<Compared>,
    /// Each provider with each module that requires it, by dotted path.
    pub required_by: BTreeSet<(ProviderAddr, String)>,
}

impl Verified {
    /// What the questions without an answer end a run with: one whose answer policy forbids is refused.
    pub fn code(&self) -> ExitCode {
        ExitCode::all(self.inconclusive.iter().map(|it| ExitCode::of_error(&it.error)))
    }
}

/// What a change is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The revision whose settings and trust file are used, as typed.
    pub revision: String,
    /// The object name of its commit.
    pub commit: String,
    /// The object name of the commit that lock files are compared with.
    pub merge_base: String,
    /// True if changes of settings and pins were approved: then those of the working tree are used.
    pub trust_change_allowed: bool,
}

impl Compared {
    /// The merge base, short enough for users.
    pub fn short(&self) -> &str {
        self.merge_base.get(..10).unwrap_or(&self.merge_base)
    }
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// Why there is none.
    pub error: Error,
    /// True if it is about an entry that changed since the base: such a question needs its answer.
    pub changed: bool,
}
