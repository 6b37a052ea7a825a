//! `audit --fixed-by`: the first newer release without an advisory.

use super::programs::{self, Wanted};
use super::{AuditArgs, advisories, parts, program};
use crate::advisory::ByModule;
use crate::commands::sources::Sources;
use crate::commands::verify::Root;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::outcome::{AuditedProgram, FixedBy};
use crate::query::question::Refusal;
use crate::source::advisories::Database;
use crate::verify::policy;
use crate::version::Constraints;

/// Who answers questions about newer releases.
#[derive(Clone, Copy)]
pub(super) struct Newer<'a> {
    pub(super) args: &'a AuditArgs,
    pub(super) sources: &'a Sources<'a>,
    pub(super) cache: &'a Cache,
}

impl Newer<'_> {
    /// Looks at the releases after that of a program which the constraints allow, the oldest first: a later one may be
    /// affected again, so none can be skipped.
    pub(super) fn first_unaffected(
        &self,
        root: &Root,
        affected: &AuditedProgram,
        database: &Database,
    ) -> Result<FixedBy, Error> {
        let AuditedProgram { address, version: locked, platform, .. } = affected;
        let settings = root.settings();
        let constraints = match (root.requirements(), root.unread()) {
            (Some(requirements), _) => requirements.get(address).map(|it| it.constraints.clone()),
            (None, Some(error)) => return Err(error.clone()),
            (None, None) => None,
        };
        let constraints: Constraints = constraints.unwrap_or_default();
        let mut groups = self.sources.groups([(0, settings.source(), std::iter::once(address))]);
        let session = groups.pop().map_or(Ok(None), |group| group.opened)?.ok_or_else(|| {
            let message = format!("--fixed-by requests the list of releases of {address}, which --offline forbids");
            Error::new(ErrorKind::Offline, message).hint("run the command without --offline")
        })?;
        let mut versions = session.block_on(async |sources| sources.versions([address.clone()].into()).await)?;
        let mut offered = versions.remove(address).unwrap_or_else(|| Ok(Vec::new())).map_err(Refusal::into_error)?;
        offered.retain(|version| version > locked && constraints.allows(version));
        offered.retain(|version| policy::of_version(address, version, &settings.settings, settings.now).is_empty());
        offered.sort();
        let wanted = Wanted { platform: Some(platform), most: self.args.max_download };
        for version in offered {
            let key = (address.clone(), version);
            let record = match programs::read_newer(&key, (settings, wanted), &session, self.cache) {
                // It has no package for this platform.
                Err(error) if error.kind == ErrorKind::NotFound => continue,
                record => record?,
            };
            let parts = parts(&key, &record, self.args.toolchain);
            let all: Vec<_> = parts.iter().map(|part| &part.components).collect();
            let (known, failed) = self.sources.online.background.run(async { advisories(database, &all).await })?;
            if let Some(error) = Error::all(failed) {
                return Err(error);
            }
            let mut judged = program(&key, &record, &parts, &ByModule::of(&known));
            judged.vulnerabilities.retain(|it| self.args.reports(it));
            // What is only reported is not clean, and neither is what is unknown, unless it is so today.
            let mut unjudged = judged.unjudged.iter();
            let is_known = judged.unknown.is_none()
                && judged.unread <= affected.unread
                && unjudged.all(|it| affected.unjudged.contains(it));
            if judged.vulnerabilities.is_empty() && is_known && !judged.is_reported {
                return Ok(FixedBy::Release(key.1));
            }
        }
        Ok(FixedBy::Nothing)
    }
}
