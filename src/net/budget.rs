//! The budget of one run for all requests: time, requests, module packages, bytes, references.
//!
//! Each limit has a variable that raises it. Nothing in the working tree does: the author of a pull request must not decide how
//! long the gate of it works.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use super::breaker::CircuitBreaker;
use super::error::Fault;
use crate::error::{Error, ErrorKind};
use crate::settings::Variables;

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
const LIMITS: [(Cost, u64); 5] = [
    (Cost::Time, 600),
    (Cost::Requests, 20_000),
    (Cost::Packages, 2_000),
    (Cost::Unpacked, 4_096),
    (Cost::References, 100_000),
];

/// The longest that a credentials helper may take.
const HELPER_PATIENCE: Duration = Duration::from_secs(30);

/// A limit of a run that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted {
    cost: Cost,
    limit: u64,
}

/// What a run may still spend, shared by all that contact servers.
#[derive(Debug)]
pub struct RunBudget {
    limits: [u64; LIMITS.len()],
    spent: [AtomicU64; LIMITS.len()],
    begun: OnceLock<Instant>,
    breaker: CircuitBreaker,
}

impl Cost {
    /// The variable that sets the limit.
    fn variable(self) -> &'static str {
        match self {
            Self::Time => "TFLOCK_MAX_NETWORK_SECONDS",
            Self::Requests => "TFLOCK_MAX_REQUESTS",
            Self::Packages => "TFLOCK_MAX_MODULE_PACKAGES",
            Self::Unpacked => "TFLOCK_MAX_MODULE_MIB",
            Self::References => "TFLOCK_MAX_GIT_REFERENCES",
        }
    }
}

impl Cost {
    fn unit(self) -> u64 {
        if self == Self::Unpacked { 1 << 20 } else { 1 }
    }
}

impl RunBudget {
    /// The limits of the program, or those that the environment sets.
    pub fn new(variables: &Variables) -> Self {
        let limits = LIMITS.map(|(cost, default)| variables.positive(cost.variable()).map_or(default, u64::from));
        Self { limits, spent: Default::default(), begun: OnceLock::new(), breaker: CircuitBreaker::default() }
    }

    /// Allows one more request to a host.
    pub(crate) fn request(&self, url: &Url) -> Result<(), Fault> {
        self.check(url)?;
        Ok(self.spend(Cost::Requests, 1)?)
    }

    /// Whether a request to a host would be allowed.
    pub(crate) fn check(&self, url: &Url) -> Result<(), Fault> {
        self.breaker.check(url)?;
        self.time_left()?;
        Ok(())
    }

    /// The time that is left for requests.
    pub(crate) fn time_left(&self) -> Result<Duration, Exhausted> {
        let limit = Duration::from_secs(self.limits[Cost::Time as usize]);
        let left = limit.checked_sub(self.begun.get_or_init(Instant::now).elapsed());
        left.filter(|left| !left.is_zero()).ok_or_else(|| self.exhausted(Cost::Time))
    }

    /// Takes from what is left.
    pub(crate) fn spend(&self, cost: Cost, amount: u64) -> Result<(), Exhausted> {
        let spent = self.spent[cost as usize].fetch_add(amount, Ordering::Relaxed).saturating_add(amount);
        if spent > self.limits[cost as usize] * cost.unit() { Err(self.exhausted(cost)) } else { Ok(()) }
    }

    /// Allows an amount that nothing else is added to.
    pub(crate) fn allow(&self, cost: Cost, amount: u64) -> Result<(), Exhausted> {
        if amount > self.limits[cost as usize] { Err(self.exhausted(cost)) } else { Ok(()) }
    }

    /// The time for a credentials helper, which counts as a request.
    pub(crate) fn helper(&self) -> Result<Duration, Exhausted> {
        self.spend(Cost::Requests, 1)?;
        Ok(self.time_left()?.min(HELPER_PATIENCE))
    }

    /// Records how a request ended; `fault` is `None` after a usable answer.
    pub(crate) fn ended(&self, url: &Url, fault: Option<&Fault>) {
        self.breaker.ended(url, fault);
    }

    fn exhausted(&self, cost: Cost) -> Exhausted {
        Exhausted { cost, limit: self.limits[cost as usize] }
    }
}

impl Default for RunBudget {
    fn default() -> Self {
        Self::new(&Variables::default())
    }
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

    #[test]
    fn what_a_run_may_spend() {
        let budget =
            RunBudget::new(&Variables::from_iter([("TFLOCK_MAX_REQUESTS", "2"), ("TFLOCK_MAX_MODULE_MIB", "1")]));
        assert_eq!((budget.spend(Cost::Requests, 1), budget.spend(Cost::Requests, 1)), (Ok(()), Ok(())));
        let error = Error::from(budget.spend(Cost::Requests, 1).unwrap_err());
        assert_eq!(error.kind, ErrorKind::Unavailable);
        assert_eq!(error.message, "the run has used its 2 requests");
        assert_eq!(error.hints, ["if the run needs more, set TFLOCK_MAX_REQUESTS to more than 2"]);
        assert_eq!(budget.spend(Cost::Unpacked, 1 << 20), Ok(()));
        assert!(budget.spend(Cost::Unpacked, 1).is_err());
        assert!(budget.time_left().is_ok());
    }
}
