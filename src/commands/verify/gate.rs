//! The gate as a whole: which root modules, what is believed, what is asked, and what is told.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::base::AskedBase;
use super::bases::{Bases, Sifted};
use super::modules;
use super::opening::{Opening, open};
use super::{Root, Roots, VerifyOptions, ambiguous, judged, recalled};
use crate::addr::ProviderAddr;
use crate::commands::Services;
use crate::commands::sources::{Group, Sources};
use crate::commands::targets::{Targets, Unlocked};
use crate::commands::trust_store::TrustStore;
use crate::commands::verify_online::questions;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::finding::{Level, Rule};
use crate::outcome::{Body, Outcome, RootOutcome};
use crate::path::worktree;
use crate::query::inquiry::Depth;
use crate::release::Releases;
use crate::settings::SourceChoice;
use crate::workspace::{RootSource, Scope};

/// What `verify` is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// Every root module below.
    pub recursive: bool,
    /// What is judged.
    pub options: VerifyOptions,
    /// How far to go in asking.
    pub depth: Depth,
    /// By what a change is judged, if it is one; without it the work tree vouches for itself.
    pub base: Option<AskedBase>,
}

/// What this run cannot promise of modules.
const GAP: &str = "`init` fetches modules again, and a tag may move until then: `tflock get` before `init`, or \
                   `tflock verify --installed` after it, closes that gap";

/// Checks lock files: changes nothing, learns nothing.
///
/// # Errors
///
/// What would make the gate weaker than whoever asked thinks, and what keeps the run from beginning.
pub fn verify(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let scope = &services.scope;
    forbidden(request, scope)?;
    let mut targets = Targets::of(&services.scope, request.recursive, Unlocked::Opened)?;
    let bases = Bases::open(scope, request.base.as_ref())?;
    if !bases.is_empty() && !scope.offline {
        outside(services)?;
    }
    let gone = bases.add_gone(scope, &mut targets);
    targets.outcomes.extend(gone);
    // A change may take the last root module away.
    let mut targets = if bases.is_empty() { targets.or_none()? } else { targets };
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let Opening { roots, trust, tracked } = open(&targets, &bases, scope)?;
    let locks_modules = roots.iter().any(|(_, root)| root.as_ref().is_ok_and(super::Root::locks_modules));
    let mut findings = bases.findings(trust, &roots, scope)?;
    if bases.is_empty() {
        findings.extend(ambiguous::of_trees(&scope.directories(), &roots, &tracked, scope.environment.now));
    }
    if targets.found {
        findings.extend(bases.went_on(&roots, scope)?);
    }
    let beyond = bases.is_empty().then(|| beyond(&roots, scope)).flatten();
    let Sifted { mut changed, unchanged } = bases.sift(roots)?;
    if !scope.offline {
        modules::ask(&mut changed);
    }
    services.events_for(targets.dialect());
    let (mut roots, mut notes) = if scope.offline {
        let known = recalled(&changed, &cache);
        judged(changed, &known, &cache, request.options)
    } else {
        asked(changed, &cache, request, services)?
    };
    let as_they_were = unchanged.len();
    for (at, root) in unchanged {
        roots.insert(at, root);
    }
    roots.append(&mut targets.outcomes);
    if targets.found {
        roots.sort_by(|one, other| one.path.cmp(&other.path));
    }
    bases.tell(findings, &mut roots, targets.many());
    let outcome = Outcome { many: targets.many(), dialect: targets.dialect(), ..Outcome::of_roots("verify", roots) };
    notes.extend(self::notes(&outcome, &bases, scope.offline, as_they_were));
    notes.extend(beyond);
    if locks_modules && !request.options.installed {
        notes.push(GAP.to_owned());
    }
    notes.extend(cache.note().map(str::to_owned));
    notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    Ok(Outcome { notes, ..outcome })
}

/// What would make the gate weaker than whoever typed the command line thinks.
fn forbidden(request: &Request, scope: &Scope) -> Result<(), Error> {
    // With a base it is read from there.
    let named = scope.trust_file.as_ref().filter(|named| request.base.is_none() && !named.exists());
    if let Some(named) = named {
        return Err(TrustStore::absent(named, ""));
    }
    if scope.offline && request.depth.recompute {
        let message = "--deep computes hashes from packages, and --offline forbids downloading them";
        return Err(Error::new(ErrorKind::Offline, message).hint("leave out one of the two"));
    }
    Ok(())
}

/// Refuses a CLI configuration in the work tree that is judged: its changes would say who is asked, and with which token.
fn outside(services: &Services<'_>) -> Result<(), Error> {
    let trees: Vec<PathBuf> = services.scope.directories().iter().flat_map(|start| worktree::trees(start)).collect();
    // What cannot be read is told by who needs it.
    let of_tools = [Dialect::Terraform, Dialect::OpenTofu].into_iter().filter_map(|it| services.online.access(it).ok());
    let mut files = of_tools.flat_map(|access| &access.config.files);
    let Some(file) = files.find(|file| worktree::is_within(file, &trees)) else { return Ok(()) };
    let message = format!(
        "the CLI configuration {} is inside the work tree, whose changes could say where packages come from",
        file.display()
    );
    Err(Error::new(ErrorKind::Settings, message).in_file(file).hint("put it where the work tree cannot write"))
}

/// What was not looked at, and who vouches for the rest.
fn notes(outcome: &Outcome, bases: &Bases, offline: bool, as_they_were: usize) -> Vec<String> {
    let mut notes: Vec<String> = if offline { unchecked(outcome).into_iter().collect() } else { Vec::new() };
    let told = bases.notes();
    if told.is_empty() {
        notes.push("the work tree vouches for itself: its own settings and trust file were believed".to_owned());
    }
    notes.extend(told);
    notes.extend(day_one(outcome));
    if outcome.roots.is_empty() {
        notes.push("there is no root module here: no directory has a lock file".to_owned());
    }
    if as_they_were > 0 && outcome.many {
        let count = outcome.roots.len();
        notes.push(format!("{as_they_were} of {count} root modules are unchanged; nothing was asked about them"));
    }
    notes
}

/// The work trees within that of the run, such as submodules, where its settings and trust file do not count.
fn beyond(roots: &Roots, scope: &Scope) -> Option<String> {
    let starts: Vec<PathBuf> = scope.directories().iter().filter_map(|start| worktree::top(start)).collect();
    let opened = roots.iter().filter_map(|(_, root)| root.as_ref().ok());
    let within = opened.filter_map(|root| {
        let top = &root.settings().boundary;
        let around = starts.iter().find(|start| top.starts_with(start))?;
        top.strip_prefix(around).ok().filter(|way| !way.as_os_str().is_empty()).map(|way| way.display().to_string())
    });
    let within: Vec<String> = within.collect::<BTreeSet<String>>().into_iter().collect();
    let of = if within.len() == 1 { "a work tree" } else { "work trees" };
    let note =
        || format!("settings and trust file of this work tree do not count in {}, {of} within it", within.join(", "));
    (!within.is_empty()).then(note)
}

/// What to do where no trust file remembers a signer yet; nothing where one does.
fn day_one(outcome: &Outcome) -> Option<String> {
    let findings = outcome.roots.iter().flat_map(|root| &root.findings);
    let unpinned = findings.filter(|finding| finding.rule == Rule::SignerNotPinned && finding.level == Level::Note);
    let providers: BTreeSet<&ProviderAddr> = unpinned.filter_map(|finding| finding.address.as_ref()).collect();
    let of = match providers.len() {
        0 => return None,
        1 => "the signer of 1 provider is".to_owned(),
        count => format!("the signers of {count} providers are"),
    };
    Some(format!("there is no trust file, so that {of} not compared with anything: `tflock trust init` remembers them"))
}

/// Judges root modules by what their sources say of all that is locked; those of the same sources ask together.
fn asked(
    mut roots: Roots,
    cache: &Arc<Cache>,
    request: &Request,
    services: &Services<'_>,
) -> Result<(Vec<RootOutcome>, Vec<String>), Error> {
    let sources = Sources::new(services, cache);
    let mut notes: Vec<String> = Vec::new();
    for root in roots.iter_mut().filter_map(|(_, root)| root.as_mut().ok()) {
        let trees = worktree::trees(&root.settings().place);
        let served = sources.served_within(&root.settings().source(), &trees, locked(root));
        root.learn_served_within(served);
    }
    let opened = roots.iter().enumerate().filter_map(|(at, (_, root))| Some((at, root.as_ref().ok()?)));
    let asking: Vec<_> = opened.map(|(at, root)| (at, root.settings().source(), locked(root))).collect();
    notes.extend(asking.iter().filter_map(|(_, source, _)| served(source)));
    let mut groups = sources.groups(asking);
    let of_a_group: BTreeSet<usize> = groups.iter().flat_map(|group| group.members.clone()).collect();
    let unopened = (0..roots.len()).filter(|at| !of_a_group.contains(at)).collect();
    groups.push(Group { members: unopened, opened: Ok(None) });
    let mut roots: Vec<_> = roots.into_iter().map(Some).collect();
    let mut outcomes: Vec<_> = roots.iter().map(|_| None).collect();
    for Group { members, opened } in groups {
        let mut of_group: Roots = members.iter().filter_map(|at| roots[*at].take()).collect();
        let known = match opened {
            Ok(Some(session)) => {
                questions(of_group.iter().filter_map(|(_, root)| root.as_ref().ok()), request.depth).ask(&session)?
            }
            Ok(None) => Releases::new(),
            Err(error) => {
                for (_, root) in &mut of_group {
                    *root = Err(error.clone());
                }
                Releases::new()
            }
        };
        let (judged, more) = judged(of_group, &known, cache, request.options);
        notes.extend(more);
        members.into_iter().zip(judged).for_each(|(at, outcome)| outcomes[at] = Some(outcome));
    }
    notes.extend(sources.notes());
    notes.dedup();
    Ok((outcomes.into_iter().flatten().collect(), notes))
}

/// The providers of a lock file.
fn locked(root: &Root) -> impl Iterator<Item = &ProviderAddr> {
    root.lock().iter().map(|(addr, _)| addr)
}

/// What it means that a hash is proven, where the origin registries were not asked.
fn served(source: &RootSource) -> Option<String> {
    let place = match &source.choice {
        SourceChoice::Origin => return None,
        SourceChoice::Configured => "the installation methods of the CLI configuration".to_owned(),
        other => other.to_string(),
    };
    Some(format!(
        "{place} was asked: a proven hash is that of a package that was served there, or is listed as signed there"
    ))
}

/// The line that says what was not looked at.
fn unchecked(outcome: &Outcome) -> Option<String> {
    let unknown = outcome.roots.iter().map(|root| match &root.body {
        Ok(Body::Verified(verified)) => verified.unknown,
        _ => 0,
    });
    match unknown.sum() {
        0 => None,
        1 => Some("1 hash not checked against a registry".to_owned()),
        count => Some(format!("{count} hashes not checked against a registry")),
    }
}
