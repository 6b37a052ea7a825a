//! Which versions some providers have, asked before anything is planned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Session;
use super::lock::{open_cache_of, progress, source};
use crate::addr::ProviderAddr;
use crate::cli::Streams;
use crate::commands::lock::Source;
use crate::dialect::Dialect;
use crate::engine::facts::Refusal;
use crate::engine::run::versions;
use crate::error::{Error, ErrorKind};
use crate::version::Version;

/// By provider.
pub(super) type Answers = BTreeMap<ProviderAddr, Result<Vec<Version>, Error>>;

/// The versions of all providers, each asked for once.
///
/// # Errors
///
/// That nobody may be asked, or that nobody can be.
pub(super) fn offered(
    session: &Session<'_>,
    dialect: Dialect,
    providers: BTreeSet<ProviderAddr>,
    streams: &Streams<'_>,
) -> Result<Answers, Error> {
    if providers.is_empty() {
        return Ok(Answers::new());
    }
    let progress = progress(session, Some(dialect), streams);
    let cache = Arc::new(open_cache_of(session, &[]));
    let Source::Registries(options) = source(session, dialect, None, &cache, &progress.events())? else {
        let message = "which versions there are can be asked of registries only, which --offline forbids";
        return Err(Error::new(ErrorKind::Offline, message).hint("run the command without --offline"));
    };
    let answers = versions(*options, providers)?.into_iter();
    let error = |refusal| match refusal {
        Refusal::Error(error) => error,
        Refusal::Finding(finding) => Error::new(ErrorKind::Trust, finding.message),
        Refusal::Revoked(finding, _) => Error::new(ErrorKind::Trust, finding.message),
    };
    Ok(answers.map(|(addr, answer)| (addr, answer.map_err(error))).collect())
}
