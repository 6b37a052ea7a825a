//! Selects one version of each provider for all root modules of a run, if requested.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::job::LockJob;
use crate::addr::ProviderAddr;
use crate::disk::roots;
use crate::finding::{Finding, Position, Rule};
use crate::lock::plan::OneForAll;
use crate::path::shown;
use crate::query::cached::SameVersion;
use crate::query::question::{Query, Selection};
use crate::query::select::Criteria;
use crate::version::Version;

/// The criteria of all root modules, by provider; empty unless requested. A root module that starts again adds the same
/// criteria once more, which changes nothing.
#[derive(Default)]
pub(super) struct SameVersions(BTreeMap<ProviderAddr, SameVersion>);

impl SameVersions {
    /// Makes the steps of all root modules look for a version that suits all of them.
    pub(super) fn join(&mut self, jobs: &mut [LockJob]) {
        let mut roots: Vec<&mut LockJob> = jobs.iter_mut().filter(|job| wanted(job).is_some()).collect();
        for job in &roots {
            for (addr, step) in &job.plan.steps {
                if let Some(criteria) = criteria(step) {
                    let places = places(job, addr).into_iter().map(|(file, at)| match at {
                        Some(position) => format!("{}:{position}", shown(&file)),
                        None => shown(&file),
                    });
                    let same = self.0.entry(addr.clone()).or_default();
                    same.add(criteria, step.release_criteria(criteria.complete), places);
                    if wanted(job) == Some(OneForAll::NotLower) {
                        same.keep_up(step.recorded.as_ref().map(|entry| &entry.version), criteria);
                    }
                }
            }
        }
        let shared: BTreeMap<&ProviderAddr, Arc<SameVersion>> =
            self.0.iter().map(|(addr, same)| (addr, Arc::new(same.clone()))).collect();
        for job in &mut roots {
            for (addr, step) in job.plan.steps.iter_mut().chain(&mut job.open) {
                if let Selection::Newest(criteria) = &mut step.selection {
                    criteria.same = shared.get(addr).cloned();
                }
            }
        }
    }

    /// Warns about providers that still have several versions, and names the conflicting constraints.
    pub(super) fn warn(&self, jobs: &mut [LockJob]) {
        for (addr, same) in &self.0 {
            let own = |job: &LockJob| job.decision.as_ref()?.as_ref().ok()?.version(addr).cloned();
            let versions: BTreeSet<Version> = jobs.iter().filter_map(own).collect();
            let versions: Vec<&Version> = versions.iter().collect();
            if versions.len() < 2 {
                continue;
            }
            let why = against(same, &versions, (jobs, addr));
            for job in jobs.iter_mut() {
                let Some(own) = own(job) else { continue };
                let finding = job.root.rules.complete(differs(job, addr, (&own, &versions), &why), Some(&own));
                if let Some(Ok(decision)) = &mut job.decision {
                    decision.findings.push(finding);
                }
            }
        }
    }
}

fn differs(job: &LockJob, addr: &ProviderAddr, (own, versions): (&Version, &[&Version]), why: &str) -> Finding {
    let others: Vec<String> = versions.iter().filter(|version| **version != own).map(ToString::to_string).collect();
    let message = format!("{addr} is {own} here and {} in other root modules: {why}", others.join(", "));
    let finding = Finding::new(Rule::VersionsDiffer, message).about(addr);
    match places(job, addr).into_iter().next() {
        Some((file, Some(position))) => finding.in_file(&file).at(position),
        Some((file, None)) => finding.in_file(&file),
        None => finding,
    }
}

/// `16 root modules already have`, of those with an entry of that version.
fn having(jobs: &[LockJob], addr: &ProviderAddr, version: &Version) -> String {
    let has = |job: &&LockJob| job.root.lock.get(addr).is_some_and(|entry| entry.version == *version);
    match jobs.iter().filter(has).count() {
        1 => "1 root module already has".to_owned(),
        count => format!("{count} root modules already have"),
    }
}

/// Explains why several versions were selected.
fn against(same: &SameVersion, versions: &[&Version], (jobs, addr): (&[LockJob], &ProviderAddr)) -> String {
    let for_all: Vec<&Version> = versions.iter().filter(|it| same.opposed(&[it]).is_empty()).copied().collect();
    match (for_all.iter().max(), same.floor_above(&for_all)) {
        (None, _) => same.opposed(versions).join(", "),
        (Some(newest), Some(floor)) => format!(
            "the constraints of all allow {newest}, but {} {floor}; --allow-downgrade selects an older version there",
            having(jobs, addr, floor),
        ),
        // A reason other than the constraints.
        (Some(_), None) => {
            "the constraints would allow one for all, but not the step, the age or the platforms that are requested"
                .to_owned()
        }
    }
}

fn wanted(job: &LockJob) -> Option<OneForAll> {
    job.root.intent.upgrade.as_ref()?.same
}

fn criteria(step: &Query) -> Option<&Criteria> {
    match &step.selection {
        Selection::Newest(criteria) => Some(criteria),
        Selection::Keep(_) | Selection::Exactly(_) => None,
    }
}

/// The places of a root module's constraints on a provider: in configuration, or only in the lock file.
fn places(job: &LockJob, addr: &ProviderAddr) -> Vec<(PathBuf, Option<Position>)> {
    let settings = &job.root.settings();
    let origins = job.root.requirements.get(addr).into_iter().flat_map(|requirement| &requirement.origins);
    let constrained = origins.filter(|origin| origin.constraint.is_some());
    let places: Vec<_> =
        constrained.map(|origin| (roots::file_from(&settings.path, &origin.file), Some(origin.position))).collect();
    if places.is_empty() { vec![(settings.lock_file_shown(), None)] } else { places }
}
