//! How many bytes of archives a run may download: first come, first served.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorKind};
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::release::ReleaseKey;

/// What is left of the bytes that a run may download; without a limit, as much as it likes.
#[derive(Debug)]
pub struct DownloadBudget {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    most: u64,
    spent: u64,
    left_out: BTreeMap<ReleaseKey, BTreeSet<Platform>>,
}

impl Default for DownloadBudget {
    fn default() -> Self {
        Self { state: Mutex::new(State { most: u64::MAX, spent: 0, left_out: BTreeMap::new() }) }
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

    /// Takes so many bytes; false if fewer are left.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let mut state = self.state();
        let spent = state.spent.checked_add(bytes).filter(|spent| *spent <= state.most);
        state.spent = spent.unwrap_or(state.spent);
        spent.is_some()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_taken() {
        let all = DownloadBudget::default();
        assert!(all.take(u64::MAX) && !all.take(1) && all.take(0));
        let some = DownloadBudget::default();
        some.limit(10);
        assert!(some.take(7) && !some.take(4) && some.take(3) && !some.take(1));
    }
}
