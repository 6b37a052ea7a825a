//! What `verify --base` adds to a run: what is believed, which root modules are asked about, what was taken away.

use std::path::{Path, PathBuf};

use super::base::{AskedBase, Base, Gone};
use super::{Root, Roots};
use crate::commands::targets::Targets;
use crate::commands::trust_store::{TrustPlace, TrustStore};
use crate::error::Error;
use crate::finding::Finding;
use crate::git::Git;
use crate::outcome::{Body, RootOutcome};
use crate::parallel;
use crate::path::worktree;
use crate::trust::pins::FILE_NAME;
use crate::verify::Verified;
use crate::verify::{self, Counted};
use crate::workspace::{RunSettings, Scope, ToolChoice, under};

/// The bases of the work trees that a run is about; none if the work trees vouch for themselves.
#[derive(Debug, Default)]
pub struct Bases(Vec<(PathBuf, Base)>);

impl Bases {
    /// The base of each work tree that the run was started in or sent to.
    ///
    /// # Errors
    ///
    /// As [`Base::open`]; and if there is a second trust file.
    pub fn open(scope: &Scope, asked: Option<&AskedBase>) -> Result<Self, Error> {
        let Some(asked) = asked else { return Ok(Self::default()) };
        let mut bases: Vec<(PathBuf, Base)> = Vec::new();
        for directory in scope.directories() {
            let place = worktree::absolute(&directory);
            let top = worktree::top(&place).unwrap_or_else(|| place.clone());
            if bases.iter().any(|(known, _)| *known == top) {
                continue;
            }
            let (top, base) = match around(&top, asked)? {
                Some(base) if bases.iter().any(|(known, _)| known == base.top()) => continue,
                Some(base) => (base.top().to_owned(), base),
                None => (top, Base::open(&place, asked)?),
            };
            if scope.trust_file.is_none() {
                base.one_trust_file()?;
            }
            bases.push((top, base));
        }
        Ok(Self(bases))
    }

    /// True if the work trees vouch for themselves.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The base of the work tree that a place is in, which is absolute and without symbolic links.
    fn of(&self, place: &Path) -> Option<&Base> {
        self.0.iter().map(|(_, base)| base).find(|base| place.starts_with(base.top()))
    }

    /// What is told beside the result.
    pub fn notes(&self) -> Vec<String> {
        self.0.iter().map(|(_, base)| base.note()).collect()
    }

    /// The settings of a root module as they are believed.
    ///
    /// # Errors
    ///
    /// All that is wrong with them.
    pub fn settings(&self, mut root: RunSettings, scope: &Scope) -> Result<RunSettings, Error> {
        let Some(base) = self.of(&root.place) else { return Ok(root) };
        // Of a submodule the signers are those of the work tree that the run is about.
        if scope.trust_file.is_none() && base.top() != root.boundary {
            root.trust = TrustPlace { path: base.top().join(FILE_NAME), shown: FILE_NAME.into() };
        }
        match base.settings(&root.place)? {
            Some(believed) => {
                let before = base.tool_before(&base.way(&root.place));
                Ok(under(root, believed, before, scope))
            }
            None => Ok(root),
        }
    }

    /// The pins that count for a root module, and what the change did to the trust file, which `named` says was named.
    ///
    /// # Errors
    ///
    /// All that is wrong with the trust file.
    pub fn pins(&self, root: &Path, place: &TrustPlace, named: bool) -> Result<(Option<Counted>, Vec<Finding>), Error> {
        if let Some(base) = self.of(root) {
            return base.pins(place, named);
        }
        let store = TrustStore::load(place)?;
        Ok((store.exists().then(|| store.pins().clone().into()), Vec::new()))
    }

    /// Adds root modules that lost their lock file, which no search finds; gives those that are told without looking.
    pub fn add_gone(&self, scope: &Scope, targets: &mut Targets<'_>) -> Vec<RootOutcome> {
        let starts: Vec<PathBuf> = scope.directories().iter().map(|start| worktree::absolute(start)).collect();
        let mut told = Vec::new();
        for (_, base) in &self.0 {
            for gone in base.gone() {
                let asked = if targets.found {
                    starts.iter().any(|start| gone.place.starts_with(start))
                } else {
                    starts.contains(&gone.place)
                };
                match (asked, gone.has_configuration) {
                    (true, true) if targets.found => targets.add(gone.path.clone(), gone.place.clone()),
                    (true, false) => {
                        targets.leave_out(&gone.place);
                        told.push(outcome_of(base, &gone, scope));
                    }
                    _ => {}
                }
            }
        }
        told
    }

    /// Sets the root modules that nothing changed apart, each with its number; the others learn what they were before.
    ///
    /// # Errors
    ///
    /// What git says.
    pub fn sift(&self, roots: Vec<(PathBuf, Result<Root, Error>)>) -> Result<Sifted, Error> {
        let mut sifted = Sifted::default();
        if self.0.is_empty() {
            sifted.changed = roots;
            return Ok(sifted);
        }
        let bases: Vec<Option<(&Base, bool)>> = parallel::each(roots.len(), parallel::cores(), |at| {
            let root = roots[at].1.as_ref().ok()?;
            let base = self.of(&root.settings().place)?;
            Some((base, base.concerns(root)))
        });
        let mut locks = Vec::new();
        for (_, base) in &self.0 {
            let own = |at: &usize| bases[*at].is_some_and(|(own, concerned)| concerned && std::ptr::eq(own, base));
            let numbers: Vec<usize> = (0..roots.len()).filter(own).collect();
            let read: Vec<&Root> = numbers.iter().filter_map(|at| roots[*at].1.as_ref().ok()).collect();
            locks.extend(numbers.iter().copied().zip(base.before(&read)));
        }
        let mut locks: std::collections::BTreeMap<usize, _> = locks.into_iter().collect();
        for (at, (path, root)) in roots.into_iter().enumerate() {
            match (bases[at], locks.remove(&at)) {
                (Some((base, false)), _) => {
                    let verified = Verified { unchanged: true, base: Some(base.compared()), ..Verified::default() };
                    let outcome = RootOutcome { path, body: Ok(Body::Verified(verified)), findings: Vec::new() };
                    sifted.unchanged.push((at, outcome));
                }
                (Some((base, true)), Some(before)) => {
                    let root = root.and_then(|root| {
                        let (modules, change) = (base.module_lock_before(&root)?, base.change(&root, before)?);
                        Ok(root.since(change).since_modules(modules))
                    });
                    sifted.changed.push((path, root));
                }
                _ => sifted.changed.push((path, root)),
            }
        }
        Ok(sifted)
    }

    /// The findings about the work trees as a whole, at their levels; `pins` are those about trust files.
    ///
    /// # Errors
    ///
    /// All that is wrong with settings, at the revision or in the work tree.
    pub fn findings(&self, pins: Vec<Finding>, roots: &Roots, scope: &Scope) -> Result<Vec<Finding>, Error> {
        let Some((_, first)) = self.0.first() else { return Ok(Vec::new()) };
        let mut findings = Vec::new();
        for (_, base) in &self.0 {
            let opened = roots.iter().filter_map(|(_, root)| root.as_ref().ok());
            let own = opened.filter(|root| self.of(&root.settings().place).is_some_and(|it| std::ptr::eq(it, base)));
            let mut about = base.policy()?;
            about.extend(base.sight(&own.collect::<Vec<_>>(), scope.tool.and_then(ToolChoice::dialect)));
            findings.extend(verify::of_tree(about, &base.top_settings()?, scope.environment.now));
        }
        findings.extend(verify::of_tree(pins, &first.top_settings()?, scope.environment.now));
        Ok(findings)
    }

    /// The findings about configuration that went on without its lock file, at their levels; `roots` are all root modules
    /// of the work trees.
    ///
    /// # Errors
    ///
    /// What git says, and all that is wrong with settings.
    pub fn went_on(&self, roots: &Roots, scope: &Scope) -> Result<Vec<Finding>, Error> {
        let mut findings = Vec::new();
        let opened: Vec<&Root> = roots.iter().filter_map(|(_, root)| root.as_ref().ok()).collect();
        for (_, base) in &self.0 {
            findings.extend(verify::of_tree(base.went_on(&opened)?, &base.top_settings()?, scope.environment.now));
        }
        Ok(findings)
    }

    /// Tells findings about the work tree where they are seen: of the one root module that was asked for, else of the
    /// top.
    pub fn tell(&self, findings: Vec<Finding>, roots: &mut Vec<RootOutcome>, many: bool) {
        if findings.is_empty() {
            return;
        }
        let top = roots.iter_mut().find(|root| !many || root.path.as_os_str().is_empty());
        if let Some(root) = top {
            root.findings.splice(0..0, findings);
            return;
        }
        let base = self.0.first().map(|(_, base)| base.compared());
        let verified = Verified { base, ..Verified::default() };
        roots.insert(0, RootOutcome { path: PathBuf::new(), body: Ok(Body::Verified(verified)), findings });
    }
}

/// The base of a work tree around another one, if that became one with the change: a submodule in the place of what was a
/// directory. Its own history would vouch for it. The outermost one comes first, since what lies between may be as new.
///
/// # Errors
///
/// As [`Base::open`], of a work tree that has something at the place of the other one.
fn around(top: &Path, asked: &AskedBase) -> Result<Option<Base>, Error> {
    for outer in worktree::tops(top).iter().skip(1).rev() {
        // A clone that merely lies in it is no part of it, whatever is wrong with its history.
        let is_part = || Git::open(outer).is_ok_and(|git| git.has_at(top));
        match Base::open(outer, asked) {
            Ok(base) if base.tells_of(top) => return Ok(Some(base)),
            Err(error) if is_part() => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(None)
}

/// What is told of a root module without configuration whose lock file is gone.
fn outcome_of(base: &Base, gone: &Gone, scope: &Scope) -> RootOutcome {
    let settings = base.settings(&gone.place).ok().flatten().unwrap_or_default();
    let findings = verify::of_tree(vec![gone.finding(&base.compared())], &settings, scope.environment.now);
    let verified = Verified { base: Some(base.compared()), ..Verified::default() };
    RootOutcome { path: gone.path.clone(), body: Ok(Body::Verified(verified)), findings }
}

/// Root modules by whether anything changed that is read for them.
#[derive(Debug, Default)]
pub struct Sifted {
    /// To be looked at, in their order.
    pub changed: Vec<(PathBuf, Result<Root, Error>)>,
    /// What is told of the others, each with its number among all.
    pub unchanged: Vec<(usize, RootOutcome)>,
}
