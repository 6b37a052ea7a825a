//! How many bytes of archives a run may download.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::ask::PackageKey;
use crate::error::{Error, ErrorKind};

/// What is left of the bytes that a run may download, as much as it likes if nothing was said; and the one archive at a
/// time that may be on the disk.
#[derive(Debug)]
pub struct Allowance {
    most: AtomicU64,
    spent: AtomicU64,
    on_disk: Semaphore,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { most: AtomicU64::new(u64::MAX), spent: AtomicU64::new(0), on_disk: Semaphore::new(1) }
    }
}

impl Allowance {
    /// Says how many bytes the run may download in sum.
    pub(super) fn limit(&self, most: u64) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Takes so many bytes, or none if not as many are left.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let most = self.most.load(Ordering::Relaxed);
        let more = |spent: u64| spent.checked_add(bytes).filter(|spent| *spent <= most);
        self.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Waits until no other archive is on the disk; what is given back ends that.
    pub(super) async fn alone_on_disk(&self) -> Option<SemaphorePermit<'_>> {
        // Never closed, so that it is always given.
        self.on_disk.acquire().await.ok()
    }

    /// What is said of a package for which not enough is left: it stays unknown.
    pub(super) fn used_up(&self, package: &PackageKey) -> Error {
        let PackageKey { address, version, platform } = package;
        let most = self.most.load(Ordering::Relaxed);
        let message = format!(
            "{address} {version} for {platform} was not downloaded: that would be more than the {most} bytes of \
             --max-download"
        );
        Error::new(ErrorKind::Unavailable, message)
            .hint("allow more, or pass --no-download to leave unproven what only a download can prove")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_taken() {
        let all = Allowance::default();
        assert!(all.take(u64::MAX) && !all.take(1) && all.take(0));
        let some = Allowance::default();
        some.limit(10);
        assert!(some.take(7) && !some.take(4) && some.take(3) && !some.take(1));
    }
}
