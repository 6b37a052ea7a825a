//! The providers that are known without a request, what is suggested for a name that does not exist, and the versions that the
//! sources have of required providers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::sources::PackageSources;
use super::targets::Targets;
use super::trust_store::TrustStore;

use crate::addr::{ProviderAddr, well_known};
use crate::commands::Services;
use crate::commands::lock::LockRoot;
use crate::commands::lock::request::{LockRequest, OfferedVersions};
use crate::config::edit::suggest;
use crate::dialect::Dialect;
use crate::disk::below::{self, SurveyedDirectory};
use crate::disk::root_files;
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;
use crate::git::Git;
use crate::lockfile::{self, Decoded, likely_dialect};
use crate::outcome::Outcome;
use crate::parallel;
use crate::query::Session;
use crate::query::question::{Answer, Query, Refusal};
use crate::release::Release;
use crate::release::continuity::verdict;
use crate::step::Step;
use crate::trust::pins::Pins;
use crate::trust::signer::SignerVerdict;
use crate::version::{Version, newest_allowed};
use crate::workspace::{Environment, Reading, Root, RunSettings, Scope, directory, named_roots, one_dialect};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct OfferedNames {
    /// Each provider by its type, or by its address if two have the same type.
    pub types: BTreeSet<String>,
    pub addresses: BTreeSet<String>,
}

/// The providers that can be named in some directories; those of the whole working tree too, if `everywhere` or the
/// directories know none.
pub fn offered(environment: Environment, named: Vec<PathBuf>, everywhere: bool) -> OfferedNames {
    let scope = Scope::offline(environment, named);
    let roots = named_roots(&scope).unwrap_or_default();
    let mut known: BTreeSet<ProviderAddr> = roots.iter().flat_map(of_root).collect();
    if everywhere || known.is_empty() {
        let tops: BTreeSet<&Path> = roots.iter().map(|root| root.boundary.as_path()).collect();
        known.extend(tops.into_iter().flat_map(locked_below));
        known.extend(roots.iter().flat_map(remembered));
    }
    let dialect = one_dialect(&roots).unwrap_or(Dialect::Terraform);
    let is_only = |addr: &ProviderAddr| known.iter().filter(|other| other.type_name() == addr.type_name()).count() == 1;
    let name = |addr| if is_only(addr) { addr.type_name().to_owned() } else { addr.short(dialect) };
    let addresses = known.iter().flat_map(|addr| [addr.short(dialect), addr.to_string()]).collect();
    OfferedNames { types: known.iter().map(name).collect(), addresses }
}

/// The providers that the configuration and the lock file of a root module name.
pub(crate) fn of_root(root: &RunSettings) -> BTreeSet<ProviderAddr> {
    // Unreadable files contribute no provider, here and below.
    Root::open(root, Reading::LENIENT).map(|root| root.names().known()).unwrap_or_default()
}

/// The providers of all lock files below a directory.
fn locked_below(directory: &Path) -> BTreeSet<ProviderAddr> {
    let places = below::survey(directory, None).map(|survey| survey.places).unwrap_or_default();
    let of_place = |place: SurveyedDirectory| -> Vec<PathBuf> {
        place.locks.iter().map(|name| directory.join(&place.path).join(name.as_str())).collect()
    };
    let files = places.into_iter().flat_map(of_place);
    let texts: BTreeSet<Vec<u8>> = files.filter_map(|file| root_files::read_lock_file(&file).ok().flatten()).collect();
    let locked = texts.iter().filter_map(|bytes| lockfile::decode(bytes, likely_dialect(bytes)).ok());
    locked.flat_map(|decoded| decoded.lock.iter().map(|(addr, _)| addr.clone()).collect::<Vec<_>>()).collect()
}

type LocksBelow = Vec<(PathBuf, Result<Decoded, Vec<Finding>>)>;

/// Each lock file below a directory, with the path of its own directory from there.
pub(in crate::commands) fn locks_below(top: &Path) -> Result<LocksBelow, Error> {
    let mut locks = Vec::new();
    for place in below::survey(top, None)?.places {
        for name in &place.locks {
            let Some(bytes) = root_files::read_lock_file(&top.join(&place.path).join(name.as_str()))? else { continue };
            locks.push((place.path.clone(), lockfile::decode(&bytes, likely_dialect(&bytes))));
        }
    }
    Ok(locks)
}

pub(crate) fn remembered(root: &RunSettings) -> BTreeSet<ProviderAddr> {
    let pins = TrustStore::load(&root.trust).map(|store| store.pins().clone()).unwrap_or_default();
    let exact = pins.providers.keys().filter(|pattern| pattern.is_exact());
    exact.filter_map(|pattern| ProviderAddr::parse(&pattern.to_string(), root.dialect).ok()).collect()
}

pub(crate) fn once_locked(root: &RunSettings) -> BTreeSet<ProviderAddr> {
    let Ok(git) = Git::open(&root.root) else { return BTreeSet::new() };
    let path = root.lock_file_of(&git);
    let labels = git.lines_taken_out(&path, "provider \"").unwrap_or_default();
    let labels = labels.iter().filter_map(|line| line.split('"').nth(1));
    labels.filter_map(|label| ProviderAddr::parse(label, root.dialect).ok()).collect()
}

/// Adds similar names to errors about unknown providers, as typed; and a hint to any error if a directory was typed instead.
pub fn with_near_names(
    done: Result<Outcome, Error>,
    services: &Services<'_>,
    typed: &[&str],
) -> Result<Outcome, Error> {
    let failed = |outcome: &Outcome| outcome.error.is_some() || outcome.roots.iter().any(|root| root.body.is_err());
    if typed.is_empty() || done.as_ref().is_ok_and(|outcome| !failed(outcome)) {
        return done;
    }
    let Ok(roots) = services.named_roots() else { return done };
    let dialect = done.as_ref().map_or(None, |outcome| outcome.dialect).or_else(|| one_dialect(&roots));
    let dialect = dialect.unwrap_or(Dialect::Terraform);
    let mut meant = Meant { typed, dialect, roots: &roots, is_own: false, known: None };
    match done {
        Ok(mut outcome) => {
            // Commands other than `add` resolve a type to the provider of the root module.
            let is_new = outcome.command == "add";
            // What another root module requires cannot be removed here.
            meant.is_own = outcome.command == "remove";
            let errors = outcome.roots.iter_mut().filter_map(|root| root.body.as_mut().err());
            for error in errors.chain(&mut outcome.error) {
                meant.add_hints(error);
                if is_new && error.kind.is_inconclusive() {
                    meant.add_namesakes(error);
                }
            }
            Ok(outcome)
        }
        Err(mut error) => {
            meant.add_hints(&mut error);
            Err(error)
        }
    }
}

struct Meant<'a> {
    typed: &'a [&'a str],
    dialect: Dialect,
    roots: &'a [RunSettings],
    /// True if the command knows only what these root modules require and lock.
    is_own: bool,
    /// The providers of the working tree, in short form, read on first use.
    known: Option<BTreeSet<String>>,
}

impl Meant<'_> {
    fn add_hints(&mut self, error: &mut Error) {
        error.others.iter_mut().for_each(|error| self.one(error));
        self.one(error);
        for hint in self.typed.iter().filter_map(|text| directory(text)) {
            if !error.each().any(|error| error.hints.contains(&hint)) {
                error.hints.insert(0, hint);
            }
        }
    }

    fn one(&mut self, error: &mut Error) {
        let meant = |name: &&&str| ProviderAddr::parse(name, self.dialect).ok().as_ref() == error.address.as_deref();
        let Some(name) = self.typed.iter().find(meant).copied().filter(|_| error.address.is_some()) else { return };
        let has_suggestion = error.hints.iter().any(Step::is_meant);
        let mut known = self.known().clone();
        if error.kind == ErrorKind::UnknownProvider {
            // The registry was queried; it has more providers than the working tree.
            known.extend(well_known().map(str::to_owned));
            error.hints.clear();
        } else if has_suggestion {
            return;
        }
        // What the name was taken for is no other provider.
        let own = error.address.as_deref().map(|addr| addr.short(self.dialect)).unwrap_or_default();
        if error.kind != ErrorKind::UnknownProvider && known.contains(&own) {
            return;
        }
        let others = known.iter().map(String::as_str).filter(|other| other != &name && *other != own);
        let near = suggest(name, others).into_iter();
        let near = near.map(Step::meant);
        error.hints.splice(0..0, foreign_letters(name).into_iter().chain(near));
        if error.hints.is_empty() {
            error.hints.push("look the address up in the registry: namespace/type, or host/namespace/type".into());
        }
    }

    /// Names the providers of the working tree that have a type which was typed alone.
    fn add_namesakes(&mut self, error: &mut Error) {
        let dialect = self.dialect;
        for text in self.typed.iter().filter(|text| !text.contains('/')) {
            let is_other = |short: &&String| short.rsplit('/').next() == Some(*text) && short.contains('/');
            let of_its_own = ProviderAddr::parse(text, dialect).map(|addr| addr.short(dialect)).unwrap_or_default();
            let others = self.known().iter().filter(is_other).filter(|short| **short != of_its_own);
            let hints: Vec<Step> = others.map(Step::meant).collect();
            error.hints.splice(0..0, hints);
        }
    }

    fn known(&mut self) -> &BTreeSet<String> {
        let (roots, dialect, is_own) = (self.roots, self.dialect, self.is_own);
        self.known.get_or_insert_with(|| {
            if is_own {
                return roots.iter().flat_map(of_root).map(|addr| addr.short(dialect)).collect();
            }
            let of = |root: &RunSettings| {
                let files = of_root(root).into_iter().chain(remembered(root));
                files.chain(once_locked(root)).collect::<Vec<_>>()
            };
            let tops: BTreeSet<&Path> = roots.iter().map(|root| root.boundary.as_path()).collect();
            let below = tops.into_iter().flat_map(locked_below);
            roots.iter().flat_map(of).chain(below).map(|addr| addr.short(dialect)).collect()
        })
    }
}

/// Names the characters that are not ASCII, since they may look as if they were.
fn foreign_letters(name: &str) -> Option<Step> {
    let foreign: Vec<String> =
        name.chars().filter(|c| !c.is_ascii()).map(|c| format!("{c:?} (U+{:04X})", u32::from(c))).collect();
    (!foreign.is_empty())
        .then(|| format!("it is written with {}, which is not an ASCII letter", foreign.join(", ")).into())
}

/// An opened root module, with the versions that its sources have.
pub(crate) struct OutdatedRoot {
    pub(in crate::commands) root: LockRoot,
    pub(in crate::commands) offered: Arc<OfferedVersions>,
    /// The selected versions, for providers where more than the constraints decides; empty unless named.
    pub(in crate::commands) choices: Choices,
    pub(in crate::commands) warnings: Arc<Warnings>,
    /// The signatures of newer releases, as far as they could be found out.
    pub(in crate::commands) signatures: ReleaseSignatures,
}

pub(in crate::commands) type ReleaseSignatures = BTreeMap<(ProviderAddr, Version), ReleaseSignature>;

/// The signature of a release.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct ReleaseSignature {
    pub(in crate::commands) made: SystemTime,
    /// True if a command that writes would refuse its signer.
    pub(in crate::commands) is_refused: bool,
}

/// What registries warn of.
pub(in crate::commands) type Warnings = BTreeMap<ProviderAddr, Arc<[String]>>;

type Choices = BTreeMap<ProviderAddr, Answer>;

/// Opens the root modules and requests the versions of the providers that they require, except where the settings
/// forbid the host. With `choose`, also selects versions. The second value has notes for users.
pub(crate) fn of_roots(
    targets: &Targets<'_>,
    request: &LockRequest,
    services: &Services<'_>,
    choose: bool,
) -> (Vec<Result<OutdatedRoot, Error>>, Vec<String>) {
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let open = |at| LockRoot::open(&targets.settings(at)?, request, &cache);
    let roots: Vec<Result<LockRoot, Error>> = parallel::each(targets.paths.len(), parallel::cores(), open);
    services.events_for(targets.dialect());
    let named: Vec<BTreeSet<ProviderAddr>> =
        roots.iter().map(|root| root.as_ref().map(allowed).unwrap_or_default()).collect();
    let open = roots.iter().zip(&named).enumerate().filter(|(_, (_, named))| !named.is_empty());
    let open = open.filter_map(|(at, (root, named))| Some((at, &root.as_ref().ok()?.source, named.iter())));
    let sources = PackageSources::new(services, &cache);
    let mut answers = sources.query_groups(open, |session, members| {
        let of_all: BTreeSet<ProviderAddr> = members.iter().flat_map(|at| named[*at].iter().cloned()).collect();
        let offered = Arc::new(listed_versions(session.as_ref(), of_all.clone())?);
        let warned = session.as_ref().filter(|_| choose);
        let warned = warned.map(|session| session.block_on(async |sources| sources.warnings(of_all).await));
        let warnings = Arc::new(warned.transpose()?.unwrap_or_default());
        let of_member = |at: &usize| {
            let queries = match &roots[*at] {
                Ok(root) if choose => queries(root, &named[*at]),
                _ => BTreeMap::new(),
            };
            let choices = choices(session.as_ref(), &queries)?;
            let signatures = match (&roots[*at], &session) {
                (Ok(root), Some(session)) if choose => signatures(session, root, &offered, &choices)?,
                _ => ReleaseSignatures::new(),
            };
            Ok((Arc::clone(&offered), choices, Arc::clone(&warnings), signatures))
        };
        members.iter().map(of_member).collect()
    });
    let opened = roots.into_iter().enumerate().map(|(at, root)| {
        let (offered, choices, warnings, signatures) = answers.remove(&at).unwrap_or_else(|| Ok(Default::default()))?;
        Ok(OutdatedRoot { root: root?, offered, choices, warnings, signatures })
    });
    (opened.collect(), sources.notes())
}

fn allowed(root: &LockRoot) -> BTreeSet<ProviderAddr> {
    let forbidden: BTreeSet<ProviderAddr> = root.forbidden().into_iter().filter_map(|it| it.address).collect();
    root.requested().into_iter().filter(|addr| !forbidden.contains(addr)).collect()
}

fn queries(root: &LockRoot, named: &BTreeSet<ProviderAddr>) -> BTreeMap<ProviderAddr, Query> {
    named.iter().filter_map(|addr| Some((addr.clone(), root.selection(addr)?))).collect()
}

/// Selects versions; earlier answers of the source are reused.
fn choices(session: Option<&Session>, queries: &BTreeMap<ProviderAddr, Query>) -> Result<Choices, Error> {
    match session.filter(|_| !queries.is_empty()) {
        Some(session) => session.block_on(async |sources| sources.answers(&[queries]).await.pop().unwrap_or_default()),
        None => Ok(Choices::new()),
    }
}

/// The signatures of the releases that are newer than the locked ones: of each provider the newest allowed one, and the
/// newest of all. An answer that is missing is no failure.
fn signatures(
    session: &Session,
    root: &LockRoot,
    offered: &OfferedVersions,
    choices: &Choices,
) -> Result<ReleaseSignatures, Error> {
    let mut queries = [BTreeMap::new(), BTreeMap::new()];
    for addr in root.requested() {
        let (Some(Ok(offered)), Some(requirement)) = (offered.get(&addr), root.requirements.get(&addr)) else {
            continue;
        };
        let allowed = match choices.get(&addr) {
            Some(Ok(selected)) => Some(selected.version()),
            Some(Err(_)) => None,
            None => newest_allowed(offered, &requirement.constraints),
        };
        let newest = offered.iter().filter(|version| !version.is_prerelease()).max();
        let locked = root.lock.get(&addr).map(|entry| &entry.version);
        for (query, version) in queries.iter_mut().zip([allowed, newest.filter(|newest| Some(*newest) != allowed)]) {
            if let Some(version) = version.filter(|version| Some(*version) > locked) {
                query.insert(addr.clone(), Query::of_signer(version.clone(), root.rules.of(&addr, &[])));
            }
        }
    }
    let answers = session.block_on(async |sources| sources.answers(&queries.each_ref()).await);
    let store = TrustStore::load(&root.settings().trust)?;
    let mut signatures = ReleaseSignatures::new();
    for (addr, answer) in answers.into_iter().flatten().flatten() {
        if let Ok(selected) = answer
            && let Some(made) = selected.release.signed_at
        {
            let is_refused = is_signer_refused(store.pins(), &selected.release);
            signatures.insert((addr, selected.version().clone()), ReleaseSignature { made, is_refused });
        }
    }
    Ok(signatures)
}

/// True if the trust file refuses the signer of a release.
fn is_signer_refused(pins: &Pins, release: &Release) -> bool {
    let Some(signer) = &release.signer else { return false };
    !matches!(verdict(pins, release, signer), SignerVerdict::Known(_) | SignerVerdict::FirstUse)
}

fn listed_versions(session: Option<&Session>, providers: BTreeSet<ProviderAddr>) -> Result<OfferedVersions, Error> {
    let Some(session) = session else {
        let message = "only the registries know which versions exist, and --offline forbids contacting them";
        return Err(Error::new(ErrorKind::Offline, message).hint("run the command without --offline"));
    };
    let versions = session.block_on(async |sources| sources.versions(providers).await)?;
    Ok(versions.into_iter().map(|(addr, answer)| (addr, answer.map_err(Refusal::into_error))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(typed: &str) -> Vec<Step> {
        let addr = ProviderAddr::parse(typed, Dialect::Terraform).unwrap();
        let mut error = Error::new(ErrorKind::UnknownProvider, "none of that name").about(addr).hint("look elsewhere");
        let typed = ["acme/other", typed];
        let mut meant = Meant {
            typed: &typed,
            dialect: Dialect::Terraform,
            roots: &[],
            is_own: false,
            known: Some(BTreeSet::default()),
        };
        meant.add_hints(&mut error);
        error.hints
    }

    #[test]
    fn well_known_names_are_suggested() {
        assert_eq!(hints("datadog"), ["did you mean DataDog/datadog?"]);
        assert_eq!(hints("hashicorp/nul")[0], "did you mean hashicorp/null?");
        assert_eq!(hints("hashicorp/github"), ["did you mean integrations/github?"]);
        assert_eq!(
            hints("acme/unheard-of"),
            ["look the address up in the registry: namespace/type, or host/namespace/type"]
        );
        let hints = hints("h\u{430}shicorp/null");
        assert!(
            hints[0].to_string().contains("'\u{430}' (U+0430)") && hints[1] == "did you mean hashicorp/null?",
            "{hints:?}"
        );
    }
}
