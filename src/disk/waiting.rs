//! Waits for locks that other runs have. Who can read a directory can lock it, so each wait ends, and one of more than a second is
//! reported.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::parallel::locked;
use crate::path::shown;

use super::own::known_as;

/// The time between two attempts.
pub const PAUSE: Duration = Duration::from_millis(20);

/// How long a wait lasts before it is reported.
const SILENCE: Duration = Duration::from_secs(1);

/// How an attempt to get a lock ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    Locked,
    /// The file system has no locks.
    Unsupported,
    GaveUp,
}

type Listener = Box<dyn Fn(String) + Send + Sync>;

static REPORT: Mutex<Option<Listener>> = Mutex::new(None);

/// Sets who is told what a run waits for.
pub fn report_to(report: impl Fn(String) + Send + Sync + 'static) {
    *locked(&REPORT) = Some(Box::new(report));
}

/// A wait for other runs that use a directory.
#[derive(Debug)]
pub struct Wait<'a> {
    directory: &'a Path,
    patience: Duration,
    began: Instant,
    is_reported: bool,
}

impl<'a> Wait<'a> {
    pub fn new(directory: &'a Path, patience: Duration) -> Self {
        Self { directory, patience, began: Instant::now(), is_reported: false }
    }

    /// False if it has lasted long enough.
    pub fn goes_on(&mut self) -> bool {
        let waited = self.began.elapsed();
        if waited >= SILENCE && !self.is_reported {
            self.is_reported = true;
            let directory = shown(&known_as(self.directory));
            let message = format!(
                "waiting for another program that has locked {directory}, {} s at most",
                self.patience.as_secs()
            );
            locked(&REPORT).iter().for_each(|report| report(message.clone()));
        }
        waited < self.patience
    }
}

/// Waits for a lock on a file or a directory.
pub fn lock(
    file: &File,
    attempt: fn(&File) -> Result<(), TryLockError>,
    patience: Duration,
    directory: &Path,
) -> Waited {
    let mut wait = Wait::new(directory, patience);
    loop {
        match attempt(file) {
            Ok(()) => return Waited::Locked,
            Err(TryLockError::Error(_)) => return Waited::Unsupported,
            Err(TryLockError::WouldBlock) if !wait.goes_on() => return Waited::GaveUp,
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}
