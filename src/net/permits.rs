//! The number of requests to one host at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

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
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            hosts.entry(key).or_insert_with(|| Arc::new(Semaphore::new(self.per_host))).clone()
        };
        // Fails only for a closed semaphore, and ours is never closed.
        host.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
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
