//! Places findings about a root module.

use super::Root;
use super::checked_cache::KeptReleases;
use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::disk::{lock_file, roots};
use crate::finding::{Finding, Level};
use crate::lockfile;
use crate::query::question::{Query, Selection};
use crate::requirements::Requirement;

impl Root {
    /// Gives findings without a place one: the entry in the current lock file, else the first requirement of the provider.
    pub(super) fn placed_findings(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let is_open = |finding: &Finding| finding.file.is_none() && finding.address.is_some();
        if !findings.iter().any(is_open) {
            return findings;
        }
        // An unreadable lock file is reported elsewhere.
        let bytes = lock_file::read(&self.settings.lock_file()).ok().flatten().unwrap_or_default();
        let spans = lockfile::decode(&bytes, self.rules.dialect()).map(|decoded| decoded.spans).unwrap_or_default();
        let place = |finding: Finding| {
            let Some(addr) = finding.address.clone().filter(|_| is_open(&finding)) else { return finding };
            match spans.entries.get(&addr) {
                Some(spans) => finding.in_file(self.settings.lock_file_shown()).at(spans.block),
                None => self.at_requirement(finding, &addr),
            }
        };
        findings.into_iter().map(place).collect()
    }

    /// The requirement with file names as shown in reports.
    pub(super) fn shown(&self, requirement: &Requirement) -> Requirement {
        let folder = &self.settings.path;
        let mut shown = requirement.clone();
        for origin in shown.origins.iter_mut().filter(|origin| !origin.file.as_os_str().is_empty()) {
            origin.file = roots::file_from(folder, &origin.file);
        }
        shown
    }

    /// Places a finding at the first requirement of a provider; without configuration, at the lock file.
    fn at_requirement(&self, finding: Finding, addr: &ProviderAddr) -> Finding {
        let origin = self.requirements.get(addr).and_then(|requirement| requirement.origins.first());
        let folder = &self.settings.path;
        match origin.filter(|origin| !origin.file.as_os_str().is_empty()) {
            Some(origin) => finding.in_file(roots::file_from(folder, &origin.file)).at(origin.position),
            None => finding.in_file(self.settings.lock_file_shown()),
        }
    }

    /// What the settings forbid about a provider, known before any request, placed at its requirement.
    pub(super) fn against(&self, addr: &ProviderAddr, step: &Query) -> Vec<Finding> {
        let version = match &step.selection {
            Selection::Keep(version) | Selection::Exactly(version) => Some(version),
            Selection::Newest(_) => None,
        };
        self.rules.against(addr, version).into_iter().map(|finding| self.at_requirement(finding, addr)).collect()
    }

    /// The findings about a recorded release by the records of earlier runs; `None` if they do not prove its signature,
    /// or if a finding is denied, since the registry may have a newer answer.
    pub(super) fn of_kept(
        &self,
        cache: &Cache,
        kept: &KeptReleases,
        (addr, step): (&ProviderAddr, &Query),
    ) -> Option<Vec<Finding>> {
        let version = &step.recorded_release()?.version;
        let release = kept.release(cache, (addr, version), self.rules.check(addr))?;
        let leveled = |finding: &Finding| self.rules.leveled(finding.clone(), Some(version));
        let findings: Vec<Finding> = release.findings.iter().map(leveled).collect();
        let is_denied = findings.iter().any(|finding| finding.level == Level::Deny);
        (!is_denied).then(|| findings.into_iter().map(|finding| self.at_requirement(finding, addr)).collect())
    }
}
