//! Events that a client reports while it works.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::error::NetError;
use super::redact::ShownUrl;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvent {
    /// It sends a request, possibly after a redirect.
    Requesting(ShownUrl),
    /// It will retry after this delay.
    Again(NetError, Duration),
}

/// A callback, which must not block; cheap to clone.
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>);

impl Watch {
    pub fn by(callback: impl Fn(ClientEvent) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(callback)))
    }

    pub(super) fn notify(&self, doing: impl FnOnce() -> ClientEvent) {
        if let Some(callback) = &self.0 {
            callback(doing());
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watch(by a callback)" } else { "Watch(not set)" })
    }
}
