//! Runs `verify`: selects the root modules, the trusted settings and the queries, and builds the report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::base::{Base, LostLockFile, UnitsBefore};
use super::explain::{Explainer, with_removed};
use super::facts::{self, questions};
use super::module_hosts::UnlistedHosts;
use super::notes;
use super::opening::{OpenedRoots, has_its_own_gate, open};
use super::own_tree::stated_missing;
use super::root::{Answers, GateRoot, GateRoots};
use super::tree::TreeVerdict;
use super::{RunLimits, VerifyArgs, VerifyOptions, judged, recalled_by_source};
use crate::addr::{ProviderAddr, UsedNames};
use crate::commands::Services;
use crate::commands::shared::sharing::name_sharers;
use crate::commands::shared::sources::PackageSources;
use crate::commands::shared::targets::{Targets, Unlocked, not_considered};
use crate::commands::shared::trust_store::TrustStore;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind, ExitCode};
use crate::finding::{Finding, Rule};
use crate::outcome::{Body, Notes, Outcome, RootOutcome, WorkTreeFindings};
use crate::parallel;
use crate::path::{shown, worktree};
use crate::release::Releases;
use crate::settings::SourceChoice;
use crate::verify::{Completion, Verified};
use crate::workspace::discover::Search;
use crate::workspace::{Exclusions, RootSource, Scope};

/// One run of the gate, and the root modules that it judged and that `--fix` may repair.
pub(super) fn check(args: &VerifyArgs, services: &Services<'_>) -> Result<(Outcome, GateRoots), Error> {
    let scope = &services.scope;
    forbidden(args, scope)?;
    let options = args.options();
    let base = args.base().map(|base| Base::open(scope, &base)).transpose()?;
    let exclusions = base.as_ref().and_then(Base::exclusions);
    let search = Search {
        exclusions: exclusions.as_ref(),
        changes: base.as_ref().map(Base::changes),
        instances: true,
        trusted: base.as_ref().map(|base| base as _),
        ..Search::default()
    };
    let mut targets = Targets::within(scope, args.recursive, Unlocked::Opened, search)?;
    if base.is_some() && !scope.offline {
        outside(services)?;
    }
    if let Some(base) = &base {
        add_gone(base, exclusions.as_ref(), &mut targets, scope);
        if !base.has_instances() {
            targets.add_ordinary();
        }
    } else {
        // The change may have removed the last root module.
        targets = match targets.or_none() {
            Ok(targets) => targets,
            Err(error) => return Ok((of_nothing(error), GateRoots::new())),
        };
    }
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let OpenedRoots { roots, nested, trust, tracked } = open(&targets, base.as_ref(), scope)?;
    let opened: Vec<&GateRoot> = roots.iter().filter_map(|(_, root)| root.as_ref().ok()).collect();
    let locked_modules: usize = opened.iter().map(|root| root.locked_packages()).sum();
    let units = base.as_ref().map(|base| UnitsBefore::of(base, scope)).transpose()?;
    let looked_at = opened.iter().filter(|root| root.has_lock_file()).count();
    let mut of_work_tree = match (&base, &units) {
        (Some(base), Some(units)) => {
            let mut findings = trust;
            if targets.found {
                findings.extend(base.unlocked(&opened, units, |place| targets.beside.unread_unit_of(place).is_some()));
                let is_excluded = |place: &Path| exclusions.as_ref().is_some_and(|it| it.cover(place));
                findings.extend(units.lost_coverage(&opened, |place| is_below(scope, place) && !is_excluded(place)));
            }
            of_work_tree(base, findings, &opened, scope)?
        }
        _ => facts::of_names_in_trees(&scope.directories(), &roots, &tracked, scope.environment.now),
    };
    let (stated, unsettled) = stated_missing(&targets, base.as_ref(), &of_work_tree, scope);
    of_work_tree.extend(stated);
    targets.outcomes.extend(unsettled);
    let missing = of_work_tree.iter().filter(|finding| finding.rule == Rule::LockFileMissing);
    let missing = missing.filter_map(|finding| finding.file.as_deref()).collect();
    targets.leave_out_units(&missing);
    let verdict = TreeVerdict::of(base.as_ref(), &of_work_tree, &roots);
    let when = (scope.environment.now, !scope.offline);
    let (changed, mut outcomes, explainer) = match (&base, &units) {
        (Some(base), Some(units)) => {
            let (changed, unchanged, used) = partition_changed(base, roots, units, scope.dialect())?;
            let explainer = services.explains.then(|| Explainer::new(base, used, &cache, when));
            (changed, unchanged, explainer)
        }
        _ => (roots, Vec::new(), None),
    };
    let skipped = outcomes.len();
    services.events_for(targets.dialect());
    let of_units = notes::on_units(&changed, units.as_ref());
    let answered = if scope.offline {
        Answered { groups: recalled_by_source(changed, &cache), ..Answered::default() }
    } else {
        query_online(changed, &cache, args, services)?
    };
    let mut since_base = explainer.as_ref().map(|explainer| answered.explained(explainer)).unwrap_or_default();
    let (judged, mut notes) = answered.judged(&cache, options, &verdict);
    let roots: GateRoots = answered.groups.into_iter().flat_map(|(roots, _)| roots).collect();
    let unlisted = if base.is_none() { UnlistedHosts::of(&roots) } else { None };
    if let Some(explainer) = explainer.filter(|_| targets.found) {
        let is_wanted = |place: &Path| is_below(scope, place) && !exclusions.as_ref().is_some_and(|it| it.cover(place));
        since_base = with_removed(since_base, explainer.removed(is_wanted));
    }
    outcomes.extend(judged);
    let of_work_tree = WorkTreeFindings { base: base.as_ref().map(Base::compared), findings: of_work_tree };
    name_sharers(&targets, &mut outcomes);
    let outcome = targets.finish("verify", outcomes, Vec::new()).with_work_tree(of_work_tree);
    // A hook before each commit judges nothing but the working tree.
    let own = services.variables().get("PRE_COMMIT").is_none().then(|| notes::OWN.to_owned());
    let rules = base.as_ref().map_or(own, |base| Some(base.note()));
    notes.extend(notes::on_what_was_checked(&outcome, rules, scope.offline, skipped).0);
    notes.extend(base.as_ref().map(Base::settings_changes).unwrap_or_default());
    notes.extend(notes::not_judged(&nested));
    notes.extend(of_units);
    notes.extend(targets.notes().0);
    notes.extend(unlisted.map(|hosts| hosts.note()));
    notes.extend(notes::installed(&outcome, options));
    notes.extend(not_considered(&outcome, services.variables()));
    notes.extend(notes::on_modules(locked_modules, scope.offline, options, &roots).0);
    notes.extend(cache.finish());
    let outcome = Outcome { since_base, notes, ..outcome };
    Ok((if looked_at == 0 { unlooked(outcome, base.is_some(), skipped, &targets) } else { outcome }, roots))
}

/// The outcome of a run that looked at no lock file, and found no other reason not to pass.
fn unlooked(mut outcome: Outcome, has_base: bool, skipped: usize, targets: &Targets<'_>) -> Outcome {
    if outcome.code != ExitCode::Done || outcome.errors().next().is_some() {
        return outcome;
    }
    outcome.unlooked = Some(nothing_looked_at(&outcome, skipped, targets));
    // A workflow that many repositories share must not fail in one without lock files.
    let is_named = outcome.findings().any(|(_, finding)| finding.rule == Rule::LockFileMissing);
    outcome.code = if has_base || is_named { ExitCode::Done } else { ExitCode::Failed };
    outcome
}

/// The outcome where there is no root module at all.
fn of_nothing(error: Error) -> Outcome {
    let unlooked = Some(error.message.clone());
    Outcome { command: "verify", many: true, unlooked, ..Outcome::default() }.with_error(Some(error))
}

/// Why no lock file was looked at.
fn nothing_looked_at(outcome: &Outcome, skipped: usize, targets: &Targets<'_>) -> String {
    if outcome.roots.is_empty() {
        return targets.none_here().message;
    }
    // What unchanged root modules require is not known: they were skipped.
    let says_more = |rule| [Rule::LockFileMissing, Rule::RequirementsUnread].contains(&rule);
    if skipped > 0 || outcome.findings().any(|(_, finding)| says_more(finding.rule)) {
        return "there is no lock file".to_owned();
    }
    "the configuration requires no provider, and there is no lock file".to_owned()
}

/// Adds root modules that lost their lock file, which the search does not find. Also reports that directories have no
/// configuration, that the search began in a repository with a gate of its own, and what a sparse checkout leaves out.
fn add_gone(base: &Base, exclusions: Option<&Exclusions>, targets: &mut Targets<'_>, scope: &Scope) {
    let starts = starts(scope);
    let is_asked = |lost: &LostLockFile| {
        let is_out = exclusions.is_some_and(|exclusions| exclusions.cover(&lost.place));
        if targets.found { is_below(scope, &lost.place) && !is_out } else { starts.contains(&lost.place) }
    };
    let lost = base.lost().into_iter().filter(is_asked);
    let (configured, without): (Vec<LostLockFile>, Vec<LostLockFile>) = lost.partition(|lost| lost.has_configuration);
    // A directory that was named is among them where only lock files of Atmos instances are left in it.
    targets.add(configured.into_iter().map(|lost| (lost.path, lost.place)));
    targets.leave_out(&without.iter().map(|lost| lost.place.clone()).collect());
    targets.outcomes.extend(without.into_iter().map(|lost| {
        let settings = match base.applied_settings(&lost.place) {
            Ok(settings) => settings,
            Err(error) => return RootOutcome::failed(lost.path, error),
        };
        let findings =
            Completion::checking(&settings, scope.environment.now).complete_all(vec![lost.finding(&base.compared())]);
        RootOutcome { path: lost.path, body: Ok(Body::Verified(verified(base))), findings }
    }));
    let nested = starts.iter().filter(|start| targets.found && base.is_nested(&worktree::boundary(start)));
    let nested = nested.map(|start| start.strip_prefix(base.top()).unwrap_or(start).to_owned());
    targets.outcomes.extend(nested.map(|path| RootOutcome::failed(path.clone(), has_its_own_gate(path))));
    let left_out = base.left_out(&starts, exclusions);
    targets.outcomes.extend(left_out.map(|(path, error)| RootOutcome::failed(path, error)));
}

/// The directories of the run.
fn starts(scope: &Scope) -> BTreeSet<PathBuf> {
    scope.directories().iter().map(|start| worktree::absolute(start)).collect()
}

fn is_below(scope: &Scope, place: &Path) -> bool {
    let starts = starts(scope);
    place.ancestors().any(|above| starts.contains(above))
}

fn verified(base: &Base) -> Verified {
    Verified { base: Some(base.compared()), ..Verified::default() }
}

/// The findings about the working tree as a whole, at their levels, with some that are known already.
fn of_work_tree(base: &Base, known: Vec<Finding>, opened: &[&GateRoot], scope: &Scope) -> Result<Vec<Finding>, Error> {
    let mut findings = base.policy()?;
    findings.extend(base.hidden_paths(opened, scope.dialect())?);
    findings.extend(known);
    Ok(Completion::checking(&base.top_settings()?, scope.environment.now).complete_all(findings))
}

/// Splits root modules into those that the change affects, with their state at the base, and the outcomes of the others. Also the
/// providers that the repository locked before.
fn partition_changed(
    base: &Base,
    roots: GateRoots,
    units: &UnitsBefore<'_>,
    tool: Option<Dialect>,
) -> Result<(GateRoots, Vec<RootOutcome>, UsedNames), Error> {
    let concerned = parallel::consume(roots, parallel::cores(), |(path, root): (PathBuf, Result<GateRoot, Error>)| {
        let is_concerned = root.as_ref().map_or(true, |root| base.concerns(root, units));
        (path, root, is_concerned)
    });
    let (mut changed, mut unchanged) = (Vec::new(), Vec::new());
    let mut used = base.locked_before();
    for (path, root, is_concerned) in concerned {
        match root {
            Ok(root) if !is_concerned => {
                used.extend(locked(&root).cloned());
                let verified = Verified { unchanged: true, not_checked: root.unread().cloned(), ..verified(base) };
                unchanged.push(RootOutcome::of(path, Body::Verified(verified)));
            }
            root => changed.push((path, root)),
        }
    }
    let since_base = base.changes_of(&changed)?;
    let befores = since_base.iter().flatten().flat_map(|change| change.before.iter());
    used.extend(befores.map(|(addr, _)| addr.clone()));
    let used = UsedNames::of(&used);
    let mut compared = GateRoots::new();
    for ((path, root), change) in changed.into_iter().zip(since_base) {
        let root = match (root, change) {
            (Ok(root), Some(change)) => {
                let reading = base.reading(&root, units)?;
                let similar = base.similar_names(&root, &used);
                similar.map(|similar| {
                    let mut found = base.new_programs(&root, units);
                    found.extend(similar);
                    if tool.is_none() {
                        found.extend(base.named_tool(&root, units));
                    }
                    root.with_change(change, &reading, found)
                })
            }
            (root, _) => root,
        };
        compared.push((path, root));
    }
    Ok((compared, unchanged, used))
}

/// Refuses options that would make the gate weaker than the user expects.
fn forbidden(args: &VerifyArgs, scope: &Scope) -> Result<(), Error> {
    // With a base, the trust file is read from there.
    let named = scope.trust_file.as_ref().filter(|named| args.base().is_none() && !named.exists());
    if let Some(named) = named {
        return Err(TrustStore::absent(named, ""));
    }
    if scope.offline && args.depth().recompute {
        let message = "--deep computes hashes from packages, and --offline forbids downloading them";
        return Err(Error::new(ErrorKind::Offline, message).hint("leave out one of the two"));
    }
    Ok(())
}

/// Refuses a CLI configuration inside the judged working tree: the change could choose hosts and their tokens.
fn outside(services: &Services<'_>) -> Result<(), Error> {
    let trees: Vec<PathBuf> = services.scope.directories().iter().flat_map(|start| worktree::trees(start)).collect();
    // Unreadable files are reported when they are used.
    let of_tools = [Dialect::Terraform, Dialect::OpenTofu].into_iter().filter_map(|it| services.online.access(it).ok());
    let mut files = of_tools.flat_map(|access| &access.config.files);
    let Some(file) = files.find(|file| worktree::is_within(file, &trees)) else {
        return Ok(());
    };
    let message = format!(
        "the CLI configuration {} is inside the working tree, so a change could decide where packages come from",
        shown(file)
    );
    Err(Error::new(ErrorKind::Settings, message).in_file(file).hint("move it out of the working tree"))
}

/// What is known of the locked releases, by root modules with the same sources.
#[derive(Default)]
struct Answered {
    groups: Vec<(GateRoots, Releases)>,
    /// What the sources are.
    served: Vec<String>,
    /// What the queries found out besides.
    noted: Vec<String>,
}

impl Answered {
    /// What the change does to lock files.
    fn explained(&self, explainer: &Explainer<'_>) -> Vec<RootOutcome> {
        self.groups.iter().flat_map(|(roots, known)| explainer.changes(roots, known)).collect()
    }

    fn judged(&self, cache: &Cache, options: VerifyOptions, verdict: &TreeVerdict) -> (Vec<RootOutcome>, Notes) {
        let (mut outcomes, mut limits) = (Vec::new(), RunLimits::default());
        let mut notes = Notes::from(self.served.clone());
        for (roots, known) in &self.groups {
            let (judged, more) = judged(roots, known, cache, options, verdict, &mut limits);
            outcomes.extend(judged.into_iter().map(|judged| judged.outcome));
            notes.extend(more);
        }
        notes.extend(limits.notes());
        notes.extend(self.noted.iter().cloned());
        (outcomes, notes)
    }
}

/// Queries the sources of root modules; root modules with the same sources share queries.
fn query_online(
    roots: GateRoots,
    cache: &Arc<Cache>,
    args: &VerifyArgs,
    services: &Services<'_>,
) -> Result<Answered, Error> {
    let sources = PackageSources::new(services, cache);
    let mut answered = Answered::default();
    let ask = |root: GateRoot| {
        let modules = root.locked_modules().map(|modules| modules.ask(args.options().installed)).unwrap_or_default();
        let trees = worktree::trees(&root.settings().place);
        let served_within = sources.served_within(&root.settings().source(), &trees, locked(&root));
        root.with_answers(Answers { modules, served_within })
    };
    let roots: GateRoots = roots.into_iter().map(|(path, root)| (path, root.map(ask))).collect();
    answered.served.extend(roots.iter().filter_map(|(_, root)| served(&root.as_ref().ok()?.settings().source())));
    for (session, mut roots) in sources.by_source(roots, GateRoot::queries) {
        let known = match session {
            Ok(Some(session)) => {
                questions(roots.iter().filter_map(|(_, root)| root.as_ref().ok()), args.depth()).send(&session)?
            }
            Ok(None) => Releases::new(),
            Err(error) => {
                for (_, root) in &mut roots {
                    *root = Err(error.clone());
                }
                Releases::new()
            }
        };
        answered.groups.push((roots, known));
    }
    answered.noted = sources.notes();
    Ok(answered)
}

fn locked(root: &GateRoot) -> impl Iterator<Item = &ProviderAddr> {
    root.lock().iter().map(|(addr, _)| addr)
}

/// Notes what a proven hash means if the origin registries were not queried.
fn served(source: &RootSource) -> Option<String> {
    let place = match &source.choice {
        SourceChoice::Origin => return None,
        SourceChoice::Configured => "the installation methods of the CLI configuration".to_owned(),
        other => format!("{other}, not the origin registry"),
    };
    Some(format!(
        "checked only against {place}: a proven hash belongs to a package that was served, or is listed as signed, there"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::cache::CacheOptions;

    #[test]
    fn each_note_appears_once_wherever_its_root_modules_are() {
        let [one, other] = ["fs:/one", "fs:/other"].map(str::to_owned);
        let answered = Answered { served: vec![one.clone(), other.clone(), one.clone()], ..Answered::default() };
        let cache = Cache::open(CacheOptions { disabled: true, ..CacheOptions::default() });
        let (_, notes) = answered.judged(&cache, VerifyOptions::default(), &TreeVerdict::default());
        assert_eq!(notes, Notes::from(vec![one, other]));
    }
}
