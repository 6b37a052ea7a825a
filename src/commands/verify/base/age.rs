//! When the history of the base first saw a release, which a pull request cannot write.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::{Base, git_error};
use crate::addr::ProviderAddr;
use crate::commands::verify::Root;
use crate::error::Error;
use crate::hash::HashScheme;
use crate::lockfile::LockFile;

/// When hashes were first recorded, each asked once.
pub(super) type FirstSeen = BTreeMap<String, Option<SystemTime>>;

impl Base {
    /// The first sight of each release that is new in a lock file and stood in another one before, where the policy wants
    /// an age. The date of a signature is the word of whoever made it.
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
                let first = first.map_err(|error| git_error(error, &self.asked.revision))?;
                known.insert(zh, first);
                first
            };
            seen.extend(first.map(|first| (addr.clone(), first)));
        }
        Ok(seen)
    }
}
