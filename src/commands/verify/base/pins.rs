//! Compares the trust file with the base, and selects the signers to trust.

use std::path::Path;

use super::Base;
use crate::commands::trust_store::{TrustPlace, TrustStore};
use crate::error::Error;
use crate::finding::Finding;
use crate::path::{RepoPath, shown, worktree};
use crate::trust::pins::{Pins, TrustFile};
use crate::verify::{self, Counted};

impl Base {
    /// The pins to judge a change by, and findings about its changes of the trust file. A trust file outside of the
    /// working tree is used unchanged, since the change cannot reach it.
    pub fn pins(&self, place: &TrustPlace, named: bool) -> Result<(Option<Counted>, Vec<Finding>), Error> {
        let now = TrustStore::load(place)?;
        let known = |store: &TrustStore| store.exists().then(|| store.pins().clone());
        let absent = |store: &TrustStore| named && !store.exists();
        let Some(path) = self.trust_path(place) else {
            let missing = absent(&now).then(|| TrustStore::absent(&place.shown, ""));
            return missing.map_or_else(|| Ok((known(&now).map(Counted::from), Vec::new())), Err);
        };
        let sides = [(&self.revision, &self.trusted), (&self.compared_with, &self.before)];
        let [at_base, before] = sides.map(|(commit, snapshot)| -> Result<TrustStore, Error> {
            let text = self.texts(snapshot, std::slice::from_ref(&path))?.into_iter().next().flatten();
            let name = format!("{} of {}", shown(&place.shown), commit.shown());
            TrustStore::of_text(text.as_deref(), &TrustPlace { shown: name.into(), ..place.clone() })
        });
        let at_base = at_base?;
        if self.options.trust_change_allowed && absent(&now) {
            return Err(TrustStore::absent(&place.shown, ""));
        }
        if !self.options.trust_change_allowed && absent(&at_base) {
            return Err(TrustStore::absent(&place.shown, &format!(" at {}", self.revision.shown())));
        }
        // If the earlier file cannot be read, compare with the trusted one.
        let before = before.unwrap_or_else(|_| at_base.clone());
        let findings = self.lifted(findings(before.pins(), now.file(), Path::new(&*path)));
        let counting = if self.options.trust_change_allowed {
            known(&now)
        } else {
            verify::effective_pins(known(&at_base).as_ref(), before.pins(), known(&now).as_ref())
        };
        Ok((counting.map(|pins| Counted::since(before.pins(), pins)), findings))
    }

    pub fn trusted_pins(&self, place: &TrustPlace) -> Result<Pins, Error> {
        let Some(path) = self.trust_path(place) else { return Ok(TrustStore::load(place)?.pins().clone()) };
        let text = self.texts(&self.trusted, std::slice::from_ref(&path))?.into_iter().next().flatten();
        Ok(TrustStore::of_text(text.as_deref(), place)?.pins().clone())
    }

    fn trust_path(&self, place: &TrustPlace) -> Option<RepoPath> {
        let parent = worktree::absolute(place.path.parent()?);
        let directory = parent.strip_prefix(&self.top).ok()?;
        Some(RepoPath::of(&directory.join(place.path.file_name()?)))
    }
}

fn findings(before: &Pins, now: &TrustFile, file: &Path) -> Vec<Finding> {
    let changes = verify::pin_changes(before, &now.pins).into_iter();
    let finding = |change: verify::PinChange| {
        let position = change.block.and_then(|block| now.spans.get(&block).copied());
        let finding = Finding::new(change.rule, change.message).in_file(file).at(position);
        match change.remedy {
            Some(remedy) => finding.remedied_by(remedy),
            None => finding,
        }
    };
    changes.map(finding).collect()
}
