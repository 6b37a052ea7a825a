//! Runs the same work for many items in parallel: on threads, or as tasks of the network runtime.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use tokio::task::JoinSet;

/// Locks what threads share. All values behind locks are right whatever panicked: each is changed in one step.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` for each number below `count` on at most `threads` threads; returns the results in order.
pub(crate) fn each<R: Send>(count: usize, threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let threads = threads.min(count);
    if threads < 2 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let (results, received) = mpsc::channel();
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        for _ in 0..threads {
            let (results, work, next) = (results.clone(), &work, &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    // The receiver lives until all threads are done.
                    if at >= count || results.send((at, work(at))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(results);
        received.into_iter().collect()
    });
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

pub(crate) fn consume<T: Send, R: Send>(things: Vec<T>, threads: usize, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let things: Vec<Mutex<Option<T>>> = things.into_iter().map(|thing| Mutex::new(Some(thing))).collect();
    let done = each(things.len(), threads, |at| {
        let thing = locked(&things[at]).take();
        thing.map(&work)
    });
    // Each number is taken once, so all are here; this keeps the memory of the vector.
    done.into_iter().map_while(|result| result).collect()
}

/// Runs each future as a task, and returns the results in order. A panic of a task is passed on. When the runtime shuts
/// down (Ctrl-C), it cancels tasks in any order, so these may end before the task that waits for them. Then there is no
/// result, and the waiting task ends too.
pub(crate) async fn spawn_all<R: Send + 'static>(
    work: impl IntoIterator<Item = impl Future<Output = R> + Send + 'static>,
) -> Vec<R> {
    let mut tasks = JoinSet::new();
    for (at, job) in work.into_iter().enumerate() {
        tasks.spawn(async move { (at, job.await) });
    }
    let mut results = Vec::with_capacity(tasks.len());
    while let Some(joined) = tasks.join_next().await {
        match joined.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(result) => results.push(result),
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_cancelled)) => std::future::pending().await,
        }
    }
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Like [`each`], but changes items in place.
pub(crate) fn each_mut<T: Send>(things: &mut [T], threads: usize, work: impl Fn(&mut T) + Sync) {
    consume(things.iter_mut().collect(), threads, work);
}

pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_however_many_threads_work() {
        for threads in [0, 1, 3, 100] {
            assert_eq!(each(50, threads, |at| at * at), (0..50).map(|at| at * at).collect::<Vec<_>>());
        }
        assert_eq!(each(0, 4, |at| at), [0; 0]);
    }

    #[tokio::test]
    async fn tasks_return_their_results_in_order() {
        let late_first = (0..20_u64).map(|at| async move {
            tokio::time::sleep(std::time::Duration::from_millis(20 - at)).await;
            at
        });
        assert_eq!(spawn_all(late_first).await, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn a_task_whose_tasks_were_cancelled_waits_for_its_own_end() {
        let other = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let tasks = {
            let _entered = other.enter();
            // Spawned on the other runtime at the first poll, and cancelled with it.
            let mut waiting = Box::pin(spawn_all([std::future::pending::<()>()]));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(waiting.as_mut().poll(&mut context).is_pending());
            waiting
        };
        drop(other);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let ended = runtime.block_on(async { tokio::time::timeout(std::time::Duration::from_millis(20), tasks).await });
        assert!(ended.is_err(), "it returned although its task was cancelled");
    }

    #[test]
    fn things_are_worked_on_once_each() {
        let things: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        assert_eq!(consume(things.clone(), 3, |thing| thing + "!").len(), 50);
        assert_eq!(consume(things.clone(), 3, |thing| thing), things);
    }
}
