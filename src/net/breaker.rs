//! Stops contacting a host, over HTTP or with git, once it has failed to answer several requests in a run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use url::Url;

use super::error::Fault;

/// A host is down after this many unanswered requests in a row, each with all its retries: a lock file may name
/// thousands of providers of a host that stalls.
const MOST: u32 = 4;

/// By host and port: the number of unanswered requests since the last answer.
#[derive(Debug, Default)]
pub(super) struct CircuitBreaker(Mutex<HashMap<String, u32>>);

impl CircuitBreaker {
    /// Refuses a host that is down.
    pub(super) fn check(&self, url: &Url) -> Result<(), Fault> {
        let silent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match silent.get(url.authority()) {
            Some(count) if *count >= MOST => Err(Fault::Down),
            _ => Ok(()),
        }
    }

    /// Records how a request ended; `fault` is `None` after a usable answer.
    pub(super) fn ended(&self, url: &Url, fault: Option<&Fault>) {
        let mut silent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match fault {
            Some(fault) if fault.is_silence() => *silent.entry(url.authority().to_owned()).or_default() += 1,
            // No request was sent.
            Some(Fault::Down) => {}
            _ => drop(silent.remove(url.authority())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_counts_until_an_answer() {
        let (down, url) = (CircuitBreaker::default(), Url::parse("https://a.example/x").unwrap());
        let silence = Fault::Connect("refused".to_owned());
        for _ in 1..MOST {
            down.ended(&url, Some(&silence));
        }
        assert_eq!(down.check(&url), Ok(()));
        down.ended(&url, Some(&Fault::Status { status: 503, token_sent: false, retry_after: None, challenge: None }));
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
