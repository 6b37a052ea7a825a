//! The same work for many things, side by side on plain threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// What the work gives for each number below `count`, in that order.
///
/// At most `threads` things are worked on at once; one thread works for whoever is free.
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
        let thing = things[at].lock().unwrap_or_else(PoisonError::into_inner).take();
        // Each number comes once.
        thing.map(&work)
    });
    done.into_iter().flatten().collect()
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

    #[test]
    fn things_are_worked_on_once_each() {
        let things: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        assert_eq!(consume(things.clone(), 3, |thing| thing + "!").len(), 50);
        assert_eq!(consume(things.clone(), 3, |thing| thing), things);
    }
}
