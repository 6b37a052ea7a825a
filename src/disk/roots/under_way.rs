//! Modules that are being fetched while the tree is read that calls them.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::fetched::{FetchedModule, Handler, ModuleRequest, RequestKey, key};
use crate::error::Error;

/// Modules that arrive closer together than this are read together.
const PAUSE: Duration = Duration::from_millis(10);

type Arrival = (RequestKey, Result<FetchedModule, Error>);

pub(super) struct UnderWay {
    requested: BTreeSet<RequestKey>,
    sender: Sender<Arrival>,
    arrivals: Receiver<Arrival>,
}

impl Default for UnderWay {
    fn default() -> Self {
        let (sender, arrivals) = channel();
        Self { requested: BTreeSet::new(), sender, arrivals }
    }
}

impl UnderWay {
    /// Begins to fetch a module, unless that is under way.
    pub(super) fn begin(&mut self, request: &ModuleRequest, fetch: impl FnOnce(Handler)) {
        let (key, sender) = (key(request), self.sender.clone());
        if self.requested.insert(key.clone()) {
            // The reader of the tree may have given up.
            fetch(Box::new(move |answer| drop(sender.send((key, answer)))));
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.requested.is_empty()
    }

    /// Waits until some of them have arrived: what those call need not wait for the slowest. For each arrival all of the tree
    /// is read again, therefore at least a quarter of them are waited for, and those that come right after.
    pub(super) fn arrived(&mut self) -> Vec<Arrival> {
        let (all, mut arrived) = (self.requested.len(), Vec::new());
        while arrived.len() < all {
            let next = if arrived.len() * 4 < all {
                self.arrivals.recv().ok()
            } else {
                self.arrivals.recv_timeout(PAUSE).ok()
            };
            let Some((key, answer)) = next else { break };
            self.requested.remove(&key);
            arrived.push((key, answer));
        }
        arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ModuleSource;
    use crate::error::ErrorKind;

    fn request(name: &str) -> ModuleRequest {
        let address = format!("https://a.example/{name}.zip");
        let source = ModuleSource::parse(&address, false, crate::dialect::Dialect::Terraform);
        ModuleRequest { source: source.unwrap(), constraints: None, pin: None }
    }

    #[test]
    fn slow_fetches_do_not_delay_the_others() {
        let mut under_way = UnderWay::default();
        let failed = || Err(Error::new(ErrorKind::Unavailable, "gone"));
        let mut slow = Vec::new();
        under_way.begin(&request("slow"), |handler| slow.push(handler));
        under_way.begin(&request("quick"), |handler| handler(failed()));
        // Once is enough.
        under_way.begin(&request("slow"), |handler| slow.push(handler));
        assert_eq!(slow.len(), 1);
        assert_eq!(under_way.arrived(), [(key(&request("quick")), failed())]);
        assert!(!under_way.is_over());
        for handler in slow {
            handler(failed());
        }
        assert_eq!(under_way.arrived(), [(key(&request("slow")), failed())]);
        assert!(under_way.is_over());
    }
}
