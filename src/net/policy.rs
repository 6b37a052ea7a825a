//! What bounds requests: the budget of a run (time, requests, module packages, bytes, references), hosts that are down,
//! requests to one host at a time, and retries.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use url::Url;

use super::client::Client;
use super::client::{ClientEvent, Watch};
use super::error::{Fault, NetError};
use super::limit::{Cost, Exhausted, LIMITS};
use crate::parallel::locked;
use crate::settings::Variables;

/// The longest that a credentials helper may take.
const HELPER_PATIENCE: Duration = Duration::from_secs(30);

/// What a run may still spend, shared by all that contact servers.
#[derive(Debug)]
pub struct RunBudget {
    limits: [u64; LIMITS.len()],
    spent: [AtomicU64; LIMITS.len()],
    begun: OnceLock<Instant>,
    breaker: CircuitBreaker,
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

/// A host is down after this many unanswered requests in a row, each with all its retries: a lock file may name
/// thousands of providers of a host that stalls.
const MOST: u32 = 4;

/// By host and port: the number of unanswered requests since the last answer.
#[derive(Debug, Default)]
struct CircuitBreaker(Mutex<HashMap<String, u32>>);

impl CircuitBreaker {
    /// Refuses a host that is down.
    pub(super) fn check(&self, url: &Url) -> Result<(), Fault> {
        let silent = locked(&self.0);
        match silent.get(url.authority()) {
            Some(count) if *count >= MOST => Err(Fault::Down),
            _ => Ok(()),
        }
    }

    /// Records how a request ended; `fault` is `None` after a usable answer.
    pub(super) fn ended(&self, url: &Url, fault: Option<&Fault>) {
        let mut silent = locked(&self.0);
        match fault {
            Some(fault) if fault.is_silence() => *silent.entry(url.authority().to_owned()).or_default() += 1,
            // No request was sent.
            Some(Fault::Down) => {}
            _ => drop(silent.remove(url.authority())),
        }
    }
}

#[derive(Debug)]
pub(super) struct Permits {
    per_host: usize,
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Permits {
    /// At least one permit a host.
    pub(super) fn new(per_host: usize) -> Self {
        Self { per_host: per_host.clamp(1, Semaphore::MAX_PERMITS), hosts: Mutex::default() }
    }

    /// Waits for a permit for the host of a URL; dropping it gives it back.
    pub(super) async fn take(&self, url: &Url) -> Option<OwnedSemaphorePermit> {
        let key = url.authority().rsplit('@').next().unwrap_or_default().to_owned();
        let host = {
            let mut hosts = locked(&self.hosts);
            hosts.entry(key).or_insert_with(|| Arc::new(Semaphore::new(self.per_host))).clone()
        };
        // Fails only for a closed semaphore, and ours is never closed.
        host.acquire_owned().await.ok()
    }
}

/// The longest `Retry-After` that is honoured; a longer one is an error.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The longest delay of our own.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Counts the attempts of one request, and waits between them.
#[derive(Debug)]
pub(super) struct Retry {
    delays: <ExponentialBuilder as BackoffBuilder>::Backoff,
    attempts: u32,
}

impl Retry {
    /// At most `times` retries: the first after `first_delay`, each later one after twice as long, up to 30 s. Jitter of up
    /// to the same length keeps many clients from returning at once.
    pub(super) fn new(first_delay: Duration, times: u32) -> Self {
        let delays = ExponentialBuilder::new()
            .with_min_delay(first_delay)
            .with_max_delay(MAX_DELAY)
            .with_factor(2.0)
            .with_max_times(times as usize)
            .with_jitter();
        Self { delays: delays.build(), attempts: 0 }
    }

    /// Waits for the time of the next attempt after a failed one.
    pub(super) async fn again(&mut self, error: NetError, client: &Client) -> Result<(), NetError> {
        let delay = self.stated_delay(error, client.watch())?;
        tokio::time::sleep(delay.min(client.budget().time_left().unwrap_or_default())).await;
        Ok(())
    }

    /// A separate function, so the future that sleeps does not also store the error.
    fn stated_delay(&mut self, error: NetError, watch: &Watch) -> Result<Duration, NetError> {
        let shown = error.clone();
        let delay = self.delay(error)?;
        watch.notify(|| ClientEvent::Again(shown, delay));
        Ok(delay)
    }

    fn delay(&mut self, error: NetError) -> Result<Duration, NetError> {
        self.attempts += 1;
        let error = NetError { attempts: self.attempts, ..error };
        if !error.fault.is_transient() {
            return Err(error);
        }
        let Some(delay) = self.delays.next() else { return Err(error) };
        match error.fault {
            Fault::Status { retry_after: Some(demanded), .. } if demanded > MAX_WAIT => {
                Err(NetError { fault: Fault::Wait { demanded, limit: MAX_WAIT }, ..error })
            }
            Fault::Status { retry_after: Some(demanded), .. } => Ok(demanded),
            _ => Ok(delay),
        }
    }
}

/// The meaning of `Retry-After`: seconds, or a date, which is compared with the answer's own `Date`.
///
/// The server made both dates with the same clock; the local clock may be wrong.
pub(super) fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let (until, now) = (httpdate::parse_http_date(value).ok()?, httpdate::parse_http_date(date?).ok()?);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};

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

#[cfg(test)]
mod breaker_tests {
    use super::*;

    #[test]
    fn silence_counts_until_an_answer() {
        let (down, url) = (CircuitBreaker::default(), Url::parse("https://a.example/x").unwrap());
        let silence = Fault::Connect("refused".to_owned());
        for _ in 1..MOST {
            down.ended(&url, Some(&silence));
        }
        assert_eq!(down.check(&url), Ok(()));
        down.ended(
            &url,
            Some(&Fault::Status { status: 503, token_sent: false, retry_after: None, challenge: None, words: None }),
        );
        for _ in 0..MOST {
            assert_eq!(down.check(&url), Ok(()));
            down.ended(&url, Some(&silence));
        }
        assert_eq!(down.check(&url), Err(Fault::Down));
        down.ended(&url, Some(&Fault::Down));
        assert_eq!(down.check(&url), Err(Fault::Down));
        assert_eq!(down.check(&Url::parse("https://a.example:8443/x").unwrap()), Ok(()));
        down.ended(&url, None);
        assert_eq!(down.check(&url), Ok(()));
    }
}

#[cfg(test)]
mod permits_tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use super::*;

    /// Whether a permit is there at once.
    async fn is_free(permits: &Permits, url: &str) -> bool {
        let url = Url::parse(url).unwrap();
        let mut taken = pin!(permits.take(&url));
        poll_fn(|context| Poll::Ready(taken.as_mut().poll(context).is_ready())).await
    }

    #[tokio::test]
    async fn each_host_and_port_has_its_own() {
        let permits = Permits::new(0);
        let held = permits.take(&Url::parse("https://a.example/x").unwrap()).await;
        assert!(held.is_some());
        assert!(!is_free(&permits, "https://me:pw@a.example/y").await);
        assert!(is_free(&permits, "https://a.example:8443/").await);
        assert!(is_free(&permits, "https://b.example/").await);
        drop(held);
        assert!(is_free(&permits, "https://a.example/y").await);
    }
}

#[cfg(test)]
mod retry_tests;
