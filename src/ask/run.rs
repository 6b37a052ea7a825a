//! Asks sources: the only place where a runtime is built.

use std::sync::Arc;

use super::gather::{GatherOptions, Sources};
use crate::disk::cache::IndexEntry;
use crate::error::{Error, ErrorKind};
use crate::settings::IndexPlace;
use crate::source::{IndexStores, Published};

/// What some questions to the sources of a run come to; each of their questions is put once for all who ask it.
///
/// # Errors
///
/// [`ErrorKind::Interrupted`] on Ctrl-C, and when the system has no threads for a runtime. What was written by then stays.
pub fn ask<T>(options: GatherOptions, questions: impl AsyncFnOnce(Arc<Sources>) -> T) -> Result<T, Error> {
    block_on(questions(Arc::new(Sources::new(options))))
}

/// Writes entries into a shared index, where they are not there.
///
/// # Errors
///
/// As [`ask`], and the first entry that could not be read or written.
pub fn publish(stores: IndexStores, place: IndexPlace, entries: Vec<IndexEntry>) -> Result<Published, Error> {
    block_on(Arc::new(stores).publish(place, entries))?
}

/// Runs until there is an answer or Ctrl-C.
fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|problem| Error::new(ErrorKind::Disk, format!("cannot start the network runtime: {problem}")))?;
    let done = runtime.block_on(async {
        tokio::select! {
            answer = work => Ok(answer),
            // An error means that there is no such signal here; then nothing interrupts.
            Ok(()) = tokio::signal::ctrl_c() => Err(interrupted()),
        }
    });
    // Hashing in flight must not hold up the end of an interrupted run.
    runtime.shutdown_background();
    done
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted; no lock file was changed")
}
