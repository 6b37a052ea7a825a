//! Reads the root modules of a run under the settings and the trust file that apply to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::base::Base;
use super::root::{self, Circumstances, GateRoot, GateRoots};
use crate::commands::shared::targets::Targets;
use crate::commands::shared::trust_store::{TrustPlace, TrustStore};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;
use crate::git::{TrackedFiles, TrackedFolder};
use crate::parallel;
use crate::verify::Counted;
use crate::workspace::{RunSettings, Scope, with_base_settings};

#[derive(Debug)]
pub struct OpenedRoots {
    pub roots: GateRoots,
    /// Root modules in git repositories of their own, which have their own gate.
    pub nested: Vec<PathBuf>,
    /// The findings about changes of the trust file.
    pub trust: Vec<Finding>,
    pub tracked: TrackedFiles,
}

impl OpenedRoots {
    /// The root modules, with unreadable configuration as an error, for commands that need it.
    pub fn whole(self) -> GateRoots {
        let is_whole = |root: GateRoot| root.unread().cloned().map_or(Ok(root), Err);
        self.roots.into_iter().map(|(path, root)| (path, root.and_then(is_whole))).collect()
    }
}

/// The settings of a root module, and its tool by the files of the working tree.
type RootSettled = (RunSettings, Dialect);

/// Reads all root modules; each trust file is read once.
pub fn open(targets: &Targets<'_>, base: Option<&Base>, scope: &Scope) -> Result<OpenedRoots, Error> {
    let changes = base.map(Base::changes).or(targets.changes());
    let settle = |at: usize| {
        let mut settings = targets.settings(at)?;
        settings.readings.compares = base.is_some();
        let own = settings.dialect;
        Ok((base.map_or(Ok(settings.clone()), |base| with_base(settings, base, scope))?, own))
    };
    let settled: Vec<(PathBuf, Result<RootSettled, Error>)> =
        parallel::each(targets.paths.len(), parallel::cores(), |at| (targets.paths[at].clone(), settle(at)));
    let (mut opened, mut nested) = (Vec::new(), Vec::new());
    for (path, settings) in settled {
        let boundary = settings.as_ref().ok().map(|(root, _)| &root.boundary);
        match boundary.zip(base).is_some_and(|(boundary, base)| base.is_nested(boundary)) {
            true if targets.found => nested.push(path),
            true => opened.push((path.clone(), Err(has_its_own_gate(path)))),
            false => opened.push((path, settings)),
        }
    }
    let mut pins: BTreeMap<TrustPlace, Option<Arc<Counted>>> = BTreeMap::new();
    let mut trust = Vec::new();
    for (root, _) in opened.iter().filter_map(|(_, settings)| settings.as_ref().ok()) {
        if !pins.contains_key(&root.trust) {
            let (own, findings) = pins_at(&root.trust, base, scope)?;
            pins.insert(root.trust.clone(), own.map(Arc::new));
            trust.extend(findings);
        }
    }
    let tracked = changes.map(TrackedFiles::of).unwrap_or_default();
    // With a base, links and submodules are findings of the working tree, even unchanged ones.
    let listed = |folder: &TrackedFolder| base.is_none() || folder.is_plain;
    let open = |path: &Path, (settings, own): RootSettled| {
        let pins = pins.get(&settings.trust).cloned().flatten();
        let root = root::read(&settings)?;
        let was_unreadable = base.is_some_and(|base| base.was_unreadable(&root));
        let ignored = targets.beside.ignored.get(path).cloned().or_else(|| base?.ignored(&settings));
        let (packages, unknown_tracked) = match tracked.packages(&settings.root) {
            Ok(packages) => (packages.into_iter().filter(listed).collect(), None),
            Err(error) => {
                // Inconclusive: the rest is judged all the same.
                let error = Error { kind: ErrorKind::Unavailable, ..root::unknown_tracked(error) };
                (Vec::new(), Some(error))
            }
        };
        let tool_changed = own != settings.dialect;
        let under = Circumstances { pins, was_unreadable, tool_changed, ignored, unknown_tracked };
        Ok(GateRoot::of(root, under, &packages, targets.beside.unread_unit_of(path)))
    };
    let roots = parallel::consume(opened, parallel::cores(), |(path, settings)| {
        let root = settings.and_then(|settings| open(&path, settings));
        (path, root)
    });
    Ok(OpenedRoots { roots, nested, trust, tracked })
}

/// A root module under the settings that apply to a change.
fn with_base(root: RunSettings, base: &Base, scope: &Scope) -> Result<RunSettings, Error> {
    if base.is_nested(&root.boundary) {
        return Ok(root);
    }
    Ok(match base.settings(&root.place)? {
        Some(settings) => {
            let before = base.tool_before(&base.way_to(&root.place));
            with_base_settings(root, settings, before, scope, base.hosts_of_units()?)
        }
        None => root,
    })
}

/// The pins to use, and the findings about changes of the trust file.
fn pins_at(place: &TrustPlace, base: Option<&Base>, scope: &Scope) -> Result<(Option<Counted>, Vec<Finding>), Error> {
    if let Some(base) = base {
        return base.pins(place, scope.trust_file.is_some());
    }
    let store = TrustStore::load(place)?;
    Ok((store.exists().then(|| store.pins().clone().into()), Vec::new()))
}

pub(super) fn has_its_own_gate(path: PathBuf) -> Error {
    let message = "this root module belongs to a nested Git repository, which has its own gate";
    let error = Error::new(ErrorKind::Usage, message).in_file(path);
    error.hint(step!("run `tflock verify --base REV` in a clone of that repository"))
}
