//! What is counted in a run, its limits, and what is said when one is reached.
//!
//! Each limit has a variable that raises it. Nothing in the working tree does: the author of a pull request must not decide how
//! long the gate of it works.

use crate::error::{Error, ErrorKind};

/// What is counted in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Seconds from the first request.
    Time,
    /// Requests over HTTP, with redirects and further attempts, calls of git that connect to a server, and credentials helpers.
    Requests,
    /// Module packages.
    Packages,
    /// Bytes of unpacked module packages; the limit is in MiB.
    Unpacked,
    /// References that one repository lists.
    References,
}

/// Everything that is counted, with its limit.
pub(super) const LIMITS: [(Cost, u64); 5] = [
    (Cost::Time, 600),
    (Cost::Requests, 20_000),
    (Cost::Packages, 2_000),
    (Cost::Unpacked, 4_096),
    (Cost::References, 100_000),
];

impl Cost {
    /// The variable that sets the limit.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Self::Time => "TFLOCK_MAX_NETWORK_SECONDS",
            Self::Requests => "TFLOCK_MAX_REQUESTS",
            Self::Packages => "TFLOCK_MAX_MODULE_PACKAGES",
            Self::Unpacked => "TFLOCK_MAX_MODULE_MIB",
            Self::References => "TFLOCK_MAX_GIT_REFERENCES",
        }
    }

    /// What one of the limit is in what is counted.
    pub(super) fn unit(self) -> u64 {
        if self == Self::Unpacked { 1 << 20 } else { 1 }
    }
}

/// A limit of a run that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted {
    pub(super) cost: Cost,
    pub(super) limit: u64,
}

impl std::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { limit, .. } = self;
        match self.cost {
            Cost::Time => write!(f, "the run has used its {limit} s for network requests"),
            Cost::Requests => write!(f, "the run has used its {limit} requests"),
            Cost::Packages => write!(f, "the run has used its {limit} module packages"),
            Cost::Unpacked => write!(f, "the run has unpacked its {limit} MiB of module packages"),
            Cost::References => write!(f, "the repository lists more than {limit} references"),
        }
    }
}

impl std::error::Error for Exhausted {}

impl Exhausted {
    /// How to raise the limit.
    pub fn hint(self) -> String {
        format!("if the run needs more, set {} to more than {}", self.cost.variable(), self.limit)
    }
}

impl From<Exhausted> for Error {
    fn from(exhausted: Exhausted) -> Self {
        Error::new(ErrorKind::Unavailable, exhausted.to_string()).hint(exhausted.hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_limit_is_its_cost() {
        for (at, (cost, _)) in LIMITS.iter().enumerate() {
            assert_eq!(*cost as usize, at);
        }
    }
}
