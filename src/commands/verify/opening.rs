//! Root modules with all that is read for them before anybody is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bases::Bases;
use super::{Root, Roots};
use crate::commands::targets::Targets;
use crate::commands::trust_store::TrustPlace;
use crate::error::Error;
use crate::finding::Finding;
use crate::git::{TrackedFiles, TrackedFolder};
use crate::parallel;
use crate::verify::Counted;
use crate::workspace::{RunSettings, Scope};

/// What was read before anybody is asked.
#[derive(Debug)]
pub struct Opening {
    /// The root modules, or why they could not be read.
    pub roots: Roots,
    /// What the change did to trust files.
    pub trust: Vec<Finding>,
    /// What git tracks around them.
    pub tracked: TrackedFiles,
}

impl Opening {
    /// The root modules, those whose configuration cannot be read as failures: for commands that need it.
    pub fn whole(self) -> Roots {
        let is_whole = |root: Root| root.unread().cloned().map_or(Ok(root), Err);
        self.roots.into_iter().map(|(path, root)| (path, root.and_then(is_whole))).collect()
    }
}

/// All that is read for each root module; each trust file is read once.
///
/// # Errors
///
/// All that is wrong with trust files; what is wrong with a root module stands in its place.
pub fn open(targets: &Targets<'_>, bases: &Bases, scope: &Scope) -> Result<Opening, Error> {
    let count = targets.paths.len();
    let settings: Vec<Result<RunSettings, Error>> = parallel::each(count, parallel::cores(), |at| {
        targets.settings(at).and_then(|root| bases.settings(root, scope))
    });
    let mut pins: BTreeMap<TrustPlace, Option<Arc<Counted>>> = BTreeMap::new();
    let mut trust = Vec::new();
    for root in settings.iter().flatten() {
        if !pins.contains_key(&root.trust) {
            let (own, findings) = bases.pins(&root.place, &root.trust, scope.trust_file.is_some())?;
            pins.insert(root.trust.clone(), own.map(Arc::new));
            trust.extend(findings);
        }
    }
    let tracked = TrackedFiles::default();
    // With a base, what is no plain folder is told of the working tree, also where nothing changed.
    let is_told = |folder: &TrackedFolder| bases.is_empty() || folder.is_plain;
    let packages = |root: &RunSettings| tracked.packages(&root.root).into_iter().filter(is_told).collect::<Vec<_>>();
    let settings = targets.paths.iter().cloned().zip(settings).collect();
    let roots = parallel::consume(settings, parallel::cores(), |(path, settings): (_, Result<RunSettings, Error>)| {
        let open = |root: RunSettings| Root::open(&root, pins.get(&root.trust).cloned().flatten(), &packages(&root));
        (path, settings.and_then(open))
    });
    Ok(Opening { roots, trust, tracked })
}
