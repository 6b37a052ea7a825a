//! Hosts that do not answer are not contacted any more in a run, over HTTP or by git.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use url::Url;

use super::error::Fault;

/// So many requests in a row without an answer, each with all its attempts, and a host counts as down for the run: a
/// lock file may name thousands of providers of a host that stalls.
const MOST: u32 = 4;

/// How often each host and port gave no answer since it gave the last one.
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

    /// Takes in how a request ended; none for an answer of any kind.
    pub(super) fn ended(&self, url: &Url, fault: Option<&Fault>) {
        let mut silent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match fault {
            Some(fault) if fault.is_silence() => *silent.entry(url.authority().to_owned()).or_default() += 1,
            // It was not asked.
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
