//! `mirror`: the locked packages in one directory, which is a filesystem mirror and a network mirror.
//!
//! Lock files are judged as `verify` judges them; what is refused there is not copied. Nothing is learned.

mod check;
mod contents;
mod copy;
mod wanted;

use std::path::PathBuf;
use std::sync::Arc;

use super::Services;
use super::targets::{Targets, Unlocked};
use super::verify::Root;
use super::verify::opening::open;
use crate::error::Error;
use crate::finding::Finding;
use crate::outcome::{Body, MirrorReport, Outcome, RootOutcome};
use crate::platform::Platform;

#[derive(Debug, Clone)]
pub struct Request {
    pub directory: PathBuf,
    /// The platforms asked for, each once; empty if none were.
    pub platforms: Vec<Platform>,
    pub recursive: bool,
    /// Write nothing; tell whether all is there and as it should be.
    pub check: bool,
}

pub fn mirror(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let scope = &services.scope;
    let targets = Targets::of(scope, request.recursive, Unlocked::Opened)?.or_none()?;
    let roots = open(&targets, None, scope)?.whole();
    services.events_for(targets.dialect());
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let (mut roots, mut notes) = if request.check {
        check::check(request, roots, scope.environment.now)?
    } else {
        copy::copy(request, roots, services, &cache)?
    };
    roots.extend(targets.outcomes.iter().cloned());
    if targets.found {
        roots.sort_by(|one, other| one.path.cmp(&other.path));
    }
    notes.extend(cache.note().map(str::to_owned));
    notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    let outcome = Outcome::of_roots("mirror", roots);
    Ok(Outcome { many: targets.many(), dialect: targets.dialect(), notes, ..outcome })
}

impl Request {
    fn report(&self) -> MirrorReport {
        MirrorReport { directory: self.directory.clone(), checked: self.check, ..MirrorReport::default() }
    }
}

/// Findings at the entries of a lock file that they are about.
fn placed(root: &Root, findings: Vec<Finding>) -> Vec<Finding> {
    let block = |finding: &Finding| Some(root.spans()?.entries.get(finding.address.as_ref()?)?.block);
    let at = |finding: Finding| match block(&finding) {
        Some(block) => finding.at(block),
        None => finding,
    };
    root.placed(findings.into_iter().map(at).collect())
}

/// A root module whose lock file could not be read, as it was judged.
fn unread(outcome: RootOutcome, request: &Request) -> RootOutcome {
    match outcome.body {
        Err(_) => outcome,
        Ok(_) => RootOutcome { body: Ok(Body::Mirror(request.report())), ..outcome },
    }
}
