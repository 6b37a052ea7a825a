//! When to retry a request.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

use super::client::Client;
use super::error::{Fault, NetError};
use super::watch::{ClientEvent, Watch};

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
    use url::Url;

    use super::*;

    fn failed(fault: Fault) -> NetError {
        NetError::new(&Url::parse("https://a.example/").unwrap(), fault)
    }

    fn status(status: u16, retry_after: Option<u64>) -> NetError {
        failed(Fault::Status {
            status,
            token_sent: false,
            retry_after: retry_after.map(Duration::from_secs),
            challenge: None,
        })
    }

    #[test]
    fn delays_double_and_end() {
        let mut retry = Retry::new(Duration::from_secs(1), 3);
        for least in [1, 2, 4] {
            let delay = retry.delay(status(503, None)).unwrap();
            let least = Duration::from_secs(least);
            assert!(least <= delay && delay <= 2 * least, "{delay:?}");
        }
        assert_eq!(retry.delay(status(503, None)).unwrap_err().attempts, 4);
    }

    #[test]
    fn what_is_tried_again() {
        let again = |error| Retry::new(Duration::ZERO, 1).delay(error).is_ok();
        for transient in [429, 500, 502, 503, 599] {
            assert!(again(status(transient, None)), "{transient}");
        }
        for lasting in [301, 400, 401, 403, 404, 501] {
            assert!(!again(status(lasting, None)), "{lasting}");
        }
        assert!(again(failed(Fault::Connect("refused".into()))));
        assert!(!again(failed(Fault::Certificate("unknown".into()))));
        assert!(!again(failed(Fault::TooLarge(1))));
        let mut never = Retry::new(Duration::ZERO, 0);
        assert_eq!(never.delay(status(503, None)).unwrap_err().attempts, 1);
    }

    #[test]
    fn the_server_is_heard_within_bounds() {
        let mut retry = Retry::new(Duration::from_secs(1), 5);
        assert_eq!(retry.delay(status(429, Some(7))), Ok(Duration::from_secs(7)));
        assert_eq!(retry.delay(status(429, Some(60))), Ok(MAX_WAIT));
        assert!(matches!(retry.delay(status(503, Some(61))).unwrap_err().fault, Fault::Wait { .. }));
    }

    #[test]
    fn retry_after_texts() {
        let now = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let seconds = |value, date| retry_after(value, date).map(|wait| wait.as_secs());
        assert_eq!(seconds("120", None), Some(120));
        assert_eq!(seconds("99999999999999999999999", None), Some(u64::MAX));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:50:07 GMT", now), Some(30));
        assert_eq!(seconds("Wed, 01 Mar 1995 08:49:37 GMT", now), Some(115 * 86_400));
        assert_eq!(seconds("Sat, 05 Nov 1994 08:49:37 GMT", now), Some(0));
        for nonsense in ["", "soon", "-1", "1.5", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT"] {
            assert_eq!(seconds(nonsense, now), None, "{nonsense:?}");
        }
        assert_eq!(seconds("Sun, 06 Nov 1994 08:50:07 GMT", None), None);
        // The older forms that a client must take.
        assert_eq!(seconds("Sunday, 06-Nov-94 08:50:07 GMT", now), Some(30));
        assert_eq!(seconds("Sun Nov  6 08:50:07 1994", now), Some(30));
    }
}
