//! One job per key, with one answer shared by all callers.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// Runs one job per key; later callers wait for its answer and share it.
///
/// With a `Result` as value, failures are shared too, so a dead host is contacted once per run. If the caller whose job
/// is running is dropped, the next caller runs its own job.
#[derive(Debug)]
pub struct Shared<K, V> {
    cells: Mutex<HashMap<K, Arc<OnceCell<V>>>>,
}

impl<K, V> Default for Shared<K, V> {
    fn default() -> Self {
        Self { cells: Mutex::default() }
    }
}

impl<K: Eq + Hash, V: Clone> Shared<K, V> {
    pub fn new() -> Self {
        Self::default()
    }

    /// The answer for a key; runs the job only if there is no answer yet and no other job is running.
    pub async fn answer(&self, key: K, job: impl Future<Output = V>) -> V {
        // A poisoned lock is safe to use: no code under it can leave the map half changed.
        let cell = self.cells.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
        cell.get_or_init(|| job).await.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn many_requests_share_one_job() {
        let shared = Shared::<&str, Result<u32, String>>::new();
        let runs = AtomicUsize::new(0);
        let job = async |answer| {
            runs.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            answer
        };
        let failure = Err("dead".to_owned());
        let (first, second) = tokio::join!(shared.answer("a", job(failure.clone())), shared.answer("a", job(Ok(1))));
        assert_eq!((&first, &second), (&failure, &failure));
        assert_eq!(shared.answer("a", job(Ok(2))).await, failure);
        assert_eq!(shared.answer("b", job(Ok(3))).await, Ok(3));
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_cancelled_request_leaves_no_hole() {
        let shared = Shared::<u8, u32>::new();
        let stuck = shared.answer(1, std::future::pending());
        tokio::select! {
            biased;
            _ = stuck => unreachable!("pending"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(shared.answer(1, async { 7 }).await, 7);
    }
}
