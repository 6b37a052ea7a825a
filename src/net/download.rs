//! Downloads, whose bytes go into the caller's buffers as they come.
//!
//! A retry of a download after bytes have flowed must start the consumer again, and only the consumer can do that. So the loop is the
//! caller's, and the counting and waiting ours:
//!
//! ```ignore
//! let mut download = client.download(&url);
//! loop {
//!     let mut body = download.open().await?;     // retries by itself until an answer begins
//!     match hash(&mut body).await {              // `body.fill(&mut buffer)` until it says `false`
//!         Ok(hashes) => break hashes,
//!         Err(broken) => download.again(broken).await?, // waits, or gives the error back
//!     }
//! }
//! ```

use std::time::Duration;

use reqwest::Response;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::client::Client;
use super::error::{Fault, NetError, ShownUrl};
use super::policy::Retry;
use super::transfer::{DocumentRequest, is_page, media_type};

/// The most bytes of an archive: many times the largest package, and little enough for a disk.
const MAX_ARCHIVE: u64 = 4 << 30;

/// The least that a body brings on average, in bytes a second, once it has had [`GRACE`].
const LEAST_RATE: u64 = 1024;

/// The time before the rate of a body counts.
const GRACE: Duration = Duration::from_secs(60);

/// The most time for one body.
const MAX_TIME: Duration = Duration::from_secs(2 * 60 * 60);

/// How many bytes a piece has at least, unless it is the last.
const PIECE: usize = 128 * 1024;

#[derive(Debug)]
pub struct Download {
    client: Client,
    request: DocumentRequest,
    retry: Retry,
}

impl Download {
    pub(super) fn new(client: Client, request: DocumentRequest) -> Self {
        let retry = Retry::new(client.options().first_delay, client.options().download_retries);
        Self { client, request, retry }
    }

    /// The same download with another number of further attempts, as `download_retry_count` sets it for a method.
    #[must_use]
    pub fn with_retries(mut self, times: u32) -> Self {
        self.retry = Retry::new(self.client.options().first_delay, times);
        self
    }

    /// Requests the archive, with retries, until a successful answer begins.
    pub async fn open(&mut self) -> Result<DownloadBody, NetError> {
        loop {
            match Box::pin(self.client.open(&self.request)).await {
                Ok(body) => {
                    self.client.ended(&self.request.url, None);
                    return Ok(body);
                }
                Err(fault) => {
                    let again = self.again(NetError::new(&self.request.url, fault)).await;
                    again.map_err(|error| self.client.failed(&self.request.url, error))?;
                }
            }
        }
    }

    /// Waits for the time of the next attempt after a body broke off.
    pub async fn again(&mut self, error: NetError) -> Result<(), NetError> {
        self.retry.again(error, &self.client).await
    }
}

/// The body of an archive's answer. Keeps the host's permit: drop it when done.
#[derive(Debug)]
pub struct DownloadBody {
    response: Response,
    shown: ShownUrl,
    length: Option<u64>,
    media_type: Option<String>,
    received: u64,
    client: Client,
    since: Instant,
    _permit: Option<OwnedSemaphorePermit>,
}

impl DownloadBody {
    pub(super) fn new(response: Response, client: Client, permit: Option<OwnedSemaphorePermit>) -> Self {
        let (length, shown) = (response.content_length(), ShownUrl::new(response.url()));
        let media_type = media_type(response.headers());
        Self { response, shown, length, media_type, received: 0, client, since: Instant::now(), _permit: permit }
    }

    /// The number of bytes that the server announced.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    pub fn received(&self) -> u64 {
        self.received
    }

    /// True if the answer, which begins with these bytes, is a page for users in place of an archive.
    pub fn is_page(&self, start: &[u8]) -> bool {
        is_page(self.media_type.as_deref(), start)
    }

    /// Appends what comes next to the buffer, until that has 128 KiB or the body ends. It may get more, never more
    /// than one read of the connection beyond (about 512 KiB). False when nothing is left.
    pub async fn fill(&mut self, buffer: &mut Vec<u8>) -> Result<bool, NetError> {
        if self.length.unwrap_or_default().max(self.received) > MAX_ARCHIVE {
            return Err(self.failed(Fault::TooLarge(MAX_ARCHIVE)));
        }
        let before = buffer.len();
        while buffer.len() < PIECE {
            let left = self.client.budget().time_left().map_err(|exhausted| self.failed(exhausted.into()))?;
            let patience = self.client.options().idle_timeout.min(left);
            let chunk = tokio::time::timeout(patience, self.response.chunk()).await;
            match chunk.map_err(|_| self.silent())? {
                Ok(Some(chunk)) => {
                    self.received += chunk.len() as u64;
                    buffer.extend_from_slice(&chunk);
                    self.keeps_pace()?;
                }
                Ok(None) => break,
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(buffer.len() > before)
    }

    fn keeps_pace(&self) -> Result<(), NetError> {
        let (received, elapsed) = (self.received, self.since.elapsed());
        if is_too_slow(received, elapsed) {
            return Err(self.failed(Fault::TooSlow { received, elapsed }));
        }
        Ok(())
    }

    fn silent(&self) -> NetError {
        let over = self.client.budget().time_left().err();
        self.failed(over.map_or(Fault::Stalled(self.client.options().idle_timeout), Fault::from))
    }

    fn broken(&self, error: reqwest::Error) -> NetError {
        self.failed(Fault::of_body(error, self.received, self.length, self.client.options().idle_timeout))
    }

    fn failed(&self, fault: Fault) -> NetError {
        NetError { url: self.shown.clone(), attempts: 0, fault }
    }
}

/// True for a body that has come so far in this time, and would never end.
fn is_too_slow(received: u64, elapsed: Duration) -> bool {
    elapsed > MAX_TIME || (elapsed > GRACE && received < elapsed.as_secs() * LEAST_RATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trickles_end() {
        let slow = |received, seconds| is_too_slow(received, Duration::from_secs(seconds));
        assert!(!slow(1, 60), "everybody has a minute");
        assert!(slow(122, 61), "a byte each half second");
        assert!(!slow(61 * 1024, 61));
        assert!(!slow(600 << 20, 7200));
        assert!(slow(4 << 30, 7201));
    }
}
