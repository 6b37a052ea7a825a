//! When the history of the base first had a release; a pull request cannot forge that.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::{Base, git_error};
use crate::addr::ProviderAddr;
use crate::commands::verify::Root;
use crate::error::Error;
use crate::hash::HashScheme;
use crate::lockfile::LockFile;

/// When hashes were first recorded; each is looked up once.
pub(super) type FirstSeen = BTreeMap<String, Option<SystemTime>>;

impl Base {
    /// The first appearance of each release that is new in this lock file but was in a different one before, if the policy
    /// sets a minimum age. The date of a signature proves nothing, since the signer chooses it.
    pub(super) fn first_seen(
        &self,
        root: &Root,
        before: &LockFile,
        known: &mut FirstSeen,
    ) -> Result<BTreeMap<ProviderAddr, SystemTime>, Error> {
        let mut seen = BTreeMap::new();
        if root.settings().settings.policy.minimum_age.is_none() {
            return Ok(seen);
        }
        for (addr, entry) in root.lock().iter() {
            let is_new = before.get(addr).is_none_or(|old| old.version != entry.version);
            let Some(zh) = entry.hashes.of(HashScheme::Zh).next().filter(|_| is_new) else { continue };
            let zh = zh.to_string();
            let first = if let Some(first) = known.get(&zh) {
                *first
            } else {
                let first = self.git.first_with(&self.revision, &zh);
                let first = first.map_err(|error| git_error(error, &self.options.revision))?;
                known.insert(zh, first);
                first
            };
            seen.extend(first.map(|first| (addr.clone(), first)));
        }
        Ok(seen)
    }
}
