//! How many bytes of archives a run may download, and which of them come first.
//!
//! The smallest come first, so a limit leaves out the largest. That takes no list of all archives: one that would fit
//! if all that are still wanted were as large is among the smallest in any case. A larger one waits for those.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::release::ReleaseKey;

/// What is left of the bytes that a run may download, as much as it likes if nothing was said; and the one archive at a
/// time that may be on the disk.
#[derive(Debug)]
pub struct DownloadBudget {
    state: Mutex<State>,
    /// Notified whenever a waiter may proceed.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    most: u64,
    spent: u64,
    /// How many releases may still come to want archives.
    queried: usize,
    archives: HashMap<Sha256Digest, Stage>,
    left_out: BTreeMap<ReleaseKey, BTreeSet<Platform>>,
}

/// How far the download of an archive has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its size is not known yet, or it is on its way.
    Open,
    /// It waits for smaller ones, with its size.
    Waiting(u64),
    Done,
}

/// A release of which it is not known yet which archives it takes; dropped when it is.
#[derive(Debug)]
pub(super) struct Reservation(Arc<DownloadBudget>);

impl Default for DownloadBudget {
    fn default() -> Self {
        let state = State { most: u64::MAX, spent: 0, queried: 0, archives: HashMap::new(), left_out: BTreeMap::new() };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.0.state().queried -= 1;
        self.0.changed.notify_waiters();
    }
}

impl DownloadBudget {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says how many bytes the run may download in sum.
    pub(super) fn limit(&self, most: u64) {
        self.state().most = most;
    }

    /// Says that a release may come to want archives.
    pub(super) fn reservation(self: &Arc<Self>) -> Reservation {
        self.state().queried += 1;
        Reservation(Arc::clone(self))
    }

    /// Says that an archive is wanted.
    pub(super) fn reserve(&self, archive: Sha256Digest) {
        self.state().archives.entry(archive).or_insert(Stage::Open);
    }

    /// Says that an archive is here, or will not come.
    pub(super) fn done(&self, archive: Sha256Digest) {
        self.state().archives.insert(archive, Stage::Done);
        self.changed.notify_waiters();
    }

    /// Takes so many bytes; false if fewer are left.
    pub(super) fn take(&self, bytes: u64) -> bool {
        self.state().take(bytes)
    }

    /// Takes the bytes of an archive if it is among the smallest. Otherwise it waits for its turn.
    pub(super) fn takes_now(&self, archive: Sha256Digest, size: u64) -> bool {
        let takes = self.state().takes_now(archive, size);
        self.changed.notify_waiters();
        takes
    }

    /// Waits until all smaller archives were taken, and takes the bytes of this one; false if not as many are left.
    pub(super) async fn wait_turn(&self, archive: Sha256Digest, size: u64) -> bool {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let turn = self.state().turn(archive, size);
            if let Some(taken) = turn {
                self.changed.notify_waiters();
                return taken;
            }
            changed.await;
        }
    }

    /// What is said of a package for which not enough is left: it stays unknown.
    pub(super) fn used_up(&self, package: &PackageKey) -> Error {
        let key = (package.address.clone(), package.version.clone());
        self.state().left_out.entry(key.clone()).or_default().insert(package.platform.clone());
        self.left_out(&key).unwrap_or_else(|| Error::new(ErrorKind::Unavailable, "not downloaded"))
    }

    /// The error about a release for whose packages not enough was left, if any.
    pub(super) fn left_out(&self, release: &ReleaseKey) -> Option<Error> {
        let state = self.state();
        let platforms: Vec<String> = state.left_out.get(release)?.iter().map(ToString::to_string).collect();
        let ((address, version), platforms, most) = (release, platforms.join(", "), state.most);
        let message = format!(
            "{address} {version} for {platforms} was not downloaded: that would be more than the {most} bytes of \
             --max-download"
        );
        let hint = "allow more, or pass --no-download to leave unproven what only a download can prove";
        Some(Error::new(ErrorKind::Unavailable, message).hint(hint))
    }
}

impl State {
    fn take(&mut self, bytes: u64) -> bool {
        let spent = self.spent.checked_add(bytes).filter(|spent| *spent <= self.most);
        self.spent = spent.unwrap_or(self.spent);
        spent.is_some()
    }

    fn takes_now(&mut self, archive: Sha256Digest, size: u64) -> bool {
        self.archives.insert(archive, Stage::Open);
        let wanted = self.archives.values().filter(|stage| **stage != Stage::Done).count() + self.queried;
        let share = (self.most - self.spent) / u64::try_from(wanted).unwrap_or(u64::MAX).max(1);
        if self.most == u64::MAX || size <= share {
            return self.take(size);
        }
        self.archives.insert(archive, Stage::Waiting(size));
        false
    }

    /// True if the archive was taken, false if not enough is left; `None` if smaller ones may come.
    fn turn(&mut self, archive: Sha256Digest, size: u64) -> Option<bool> {
        let waiting = |(other, stage): (&Sha256Digest, &Stage)| match stage {
            Stage::Waiting(size) => Some((*size, *other)),
            Stage::Open | Stage::Done => None,
        };
        if self.archives.get(&archive) != Some(&Stage::Waiting(size)) {
            // Another source downloads the same one.
            return Some(self.take(size));
        }
        if self.queried > 0 || self.archives.values().any(|stage| *stage == Stage::Open) {
            return None;
        }
        let first = self.archives.iter().filter_map(waiting).min()?;
        (first.1 == archive).then(|| {
            self.archives.insert(archive, Stage::Done);
            self.take(size)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(number: u8) -> Sha256Digest {
        Sha256Digest::from_bytes([number; 32])
    }

    #[test]
    fn what_fits_is_taken() {
        let all = DownloadBudget::default();
        assert!(all.take(u64::MAX) && !all.take(1) && all.take(0));
        let some = DownloadBudget::default();
        some.limit(10);
        assert!(some.take(7) && !some.take(4) && some.take(3) && !some.take(1));
    }

    #[tokio::test]
    async fn the_smallest_come_first() {
        let budget = Arc::new(DownloadBudget::default());
        budget.limit(10);
        let queried = budget.reservation();
        for number in 1..=5 {
            budget.reserve(archive(number));
        }
        // In whatever order their sizes become known.
        assert!(!budget.takes_now(archive(1), 9) && !budget.takes_now(archive(2), 4));
        let waiting = [(1, 9), (2, 4)].map(|(number, size)| {
            let budget = Arc::clone(&budget);
            tokio::spawn(async move { budget.wait_turn(archive(number), size).await })
        });
        assert!(budget.takes_now(archive(3), 1) && !budget.takes_now(archive(4), 5));
        budget.done(archive(3));
        tokio::task::yield_now().await;
        assert!(waiting.iter().all(|task| !task.is_finished()));
        // One of them never came, and the last question is answered.
        budget.done(archive(5));
        drop(queried);
        assert!(budget.wait_turn(archive(4), 5).await);
        let [nine, four] = waiting;
        assert_eq!((nine.await.unwrap(), four.await.unwrap()), (false, true));
        // What is announced again is not wanted again.
        budget.reserve(archive(1));
        assert!(budget.state().archives.values().all(|stage| *stage == Stage::Done));
    }

    #[test]
    fn without_a_limit_nothing_waits() {
        let budget = Arc::new(DownloadBudget::default());
        let _asking = budget.reservation();
        budget.reserve(archive(1));
        assert!(budget.takes_now(archive(2), 1 << 40));
    }
}
