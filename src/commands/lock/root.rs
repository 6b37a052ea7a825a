//! One root module as commands that write lock files open it: what is read of it before any request, and what is prepared to be
//! written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::addition::Pending;
use super::intent::RecordedPlatforms;
use super::module_lock::ModuleLockEdit;
use super::request::LockRequest;
use crate::addr::ProviderAddr;
use crate::commands::shared::earlier::Earlier;
use crate::commands::shared::rules::RuleBook;
use crate::config::RootKind;
use crate::config::edit::FileEdit;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::roots::{self, MissingModules, Tree};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::hash::HashScheme;
use crate::lock::plan::{self, Intent};
use crate::lockfile::{self, Decoded, LockEntry, LockFile, Spans};
use crate::platform::Platform;
use crate::query::question::{Depth, Explain, Goal, Query, Selection};
use crate::query::select::{Criteria, Rules};
use crate::release::continuity::FirstUseRule;
use crate::requirements::{Requirement, Requirements};
use crate::settings::{Basis, Candidate, Date};
use crate::version::{Constraints, Version};
use crate::workspace::{ProviderNames, Reading, Root, RootSource, RunSettings};

#[derive(Debug, Clone)]
pub struct LockRoot {
    /// What was read of it.
    pub(crate) read: Root,
    /// Its entries, or those that it inherits from its module.
    pub(crate) lock: LockFile,
    /// From the configuration, or from the lock file itself.
    pub(crate) requirements: Requirements,
    pub(crate) configured: bool,
    /// True if not all requirements are read.
    pub(super) requirements_unread: bool,
    pub(crate) intent: Intent,
    /// The platforms of the entries; `None` if platforms were named.
    pub(super) recorded_platforms: Option<RecordedPlatforms>,
    pub(in crate::commands) rules: RuleBook,
    pub(crate) source: RootSource,
    pub(super) first_use: FirstUseRule,
    /// Why changed hashes of a recorded version are accepted.
    pub(super) reason: String,
    pub(super) prepared: Prepared,
    pub(crate) findings: Vec<Finding>,
    pub(crate) modules: ModuleLockEdit,
    /// The names of modules that are not installed, if that is accepted.
    pub(super) missing_modules: Vec<String>,
}

/// What is done to the root module in addition to locking what it requires.
#[derive(Debug, Clone, Default)]
pub(super) struct Prepared {
    pub(super) edits: Vec<RootEdit>,
    /// Edits that depend on the selected versions.
    pub(super) pending: Option<Pending>,
    /// Entries in git's history for providers without an entry, or for those to be restored to it.
    pub(super) earlier: BTreeMap<ProviderAddr, Earlier>,
    /// The entries of an earlier commit that take the place of the present ones, unchanged.
    pub(super) restored: BTreeMap<ProviderAddr, LockEntry>,
    /// True if the base of a change has these entries, so their releases are not new.
    pub(super) is_of_base: bool,
    /// Leave the lock file unchanged, even if it is not canonical.
    pub(super) untouched: bool,
    /// Write the configuration only.
    pub(super) no_lock: bool,
}

#[derive(Debug, Clone)]
pub(super) struct RootEdit {
    pub(super) place: PathBuf,
    /// The path as shown in reports.
    pub(super) shown: PathBuf,
    pub(super) texts: FileEdit,
}

impl LockRoot {
    /// Reads the lock file, the configuration and the state, as far as the request requires.
    pub fn open(settings: &RunSettings, request: &LockRequest, cache: &Cache) -> Result<Self, Error> {
        Self::of(read(settings, request)?, request, cache)
    }

    /// Like `open`, with the part of the module tree that is known while the rest is being fetched.
    pub(super) fn in_part(
        settings: &RunSettings,
        tree: &Arc<Tree>,
        request: &LockRequest,
        cache: &Cache,
    ) -> Result<Self, Error> {
        let root = Root::of_tree(settings, tree)?;
        root.decoded()?;
        Self::of(root, request, cache)
    }

    fn of(root: Root, request: &LockRequest, cache: &Cache) -> Result<Self, Error> {
        let unread = if request.from_lock { Vec::new() } else { root.unread_requirements() };
        let (settings, tree, kind) = (&root.settings, root.tree.as_deref(), root.kind());
        let is_complete = tree.is_some_and(|tree| tree.unread_parts.is_empty() && tree.holes.is_empty());
        let shown = |finding: Finding| match finding.file.clone() {
            Some(file) => finding.in_file(roots::file_from(&settings.path, &file)),
            None => finding,
        };
        let unread: Vec<Finding> = unread.into_iter().map(shown).collect();
        if let Some(error) = root.not_created().filter(|_| !request.from_lock) {
            return Err(error);
        }
        if root.bytes.is_none() && kind == RootKind::Unit && settings.is_tool_guessed {
            return Err(unknown_tool(settings));
        }
        // An unreadable lock file has returned an error already.
        let own = root.decoded()?.map(|decoded| Decoded::clone(decoded));
        let of_module = tree.and_then(|tree| tree.lock_of_module.as_ref()).filter(|_| own.is_none());
        let of_module = of_module.map(|(path, bytes)| {
            let refused = |findings| Error::of_lock_file(findings, &roots::file_from(&settings.path, path));
            lockfile::decode(bytes, settings.dialect).map_err(refused)
        });
        let (lock, findings) =
            own.or(of_module.transpose()?).map(|decoded| kept(decoded, settings)).unwrap_or_default();
        let modules = tree.map(|tree| ModuleLockEdit::of(tree, settings, request)).transpose()?.unwrap_or_default();
        let mut requirements = tree.map(|tree| tree.requirements.clone());
        let may_lack = tree.is_some_and(|tree| !tree.missing.is_empty() && !request.accept_missing_modules);
        if may_lack || requirements.is_some() && !is_complete {
            // What is not read may require the locked providers.
            let known = requirements.get_or_insert_default();
            let is_lifted = |entry: &LockEntry| kind == RootKind::Unit && lifts_exact(request, entry);
            let unbound = |entry: &LockEntry| LockEntry { constraints: Constraints::default(), ..entry.clone() };
            for (addr, entry) in lock.iter() {
                if is_lifted(entry) { known.add_entry(addr, &unbound(entry)) } else { known.add_entry(addr, entry) }
            }
        }
        let configured = requirements.is_some();
        let known = ProviderNames { requirements: requirements.as_ref(), lock: Some(&lock), dialect: settings.dialect };
        let intent = request.intent(settings, known)?;
        let always: BTreeSet<Platform> = kind.traits().platforms.iter().filter_map(|text| text.parse().ok()).collect();
        let named = request.named_platforms(settings, &always);
        let kept = settings.source().is_origin().then_some(cache);
        let recorded_platforms = named.is_none().then(|| RecordedPlatforms::of(&lock, kept, always));
        Ok(Self {
            intent: Intent {
                prune: request.prune && is_complete,
                platforms: named.unwrap_or_default(),
                is_fixed: kind.traits().new_requirement.is_none(),
                ..intent
            },
            recorded_platforms,
            rules: RuleBook::for_root(settings).demanding(request.h1, request.not_after),
            source: settings.source(),
            first_use: if request.no_first_use { FirstUseRule::Refuse } else { FirstUseRule::Remember },
            reason: request.reason.clone().unwrap_or_default(),
            configured,
            requirements: requirements.unwrap_or_else(|| Requirements::of_entries(&lock)),
            lock,
            prepared: Prepared {
                edits: modules.edit.iter().map(|edit| placed(settings, edit.clone())).collect(),
                ..Prepared::default()
            },
            requirements_unread: !unread.is_empty(),
            findings: findings.into_iter().chain(modules.findings.iter().cloned()).chain(unread).collect(),
            modules,
            missing_modules: tree.into_iter().flat_map(|tree| &tree.missing).map(|module| module.key.clone()).collect(),
            read: root,
        })
    }
}

impl LockRoot {
    pub(in crate::commands) fn settings(&self) -> &RunSettings {
        &self.read.settings
    }

    pub(super) fn kind(&self) -> RootKind {
        self.read.kind()
    }

    /// True if facts of earlier runs apply.
    pub(super) fn uses_origin(&self) -> bool {
        self.source.is_origin()
    }

    /// Fails if tflock does not edit the requirements of such a root module; names the place of the first of some providers.
    pub(super) fn refuse_edits(&self, providers: &[ProviderAddr]) -> Result<(), Error> {
        let traits = self.kind().traits();
        if traits.new_requirement.is_some() {
            return Ok(());
        }
        let message = format!("this is {}, whose requirements tflock does not edit", traits.phrase);
        let hint = step!("change them where they are, in its module or a `generate` block; then `tflock lock` follows");
        let origin = |addr: &ProviderAddr| self.requirements.get(addr)?.origins.first();
        let error = Error::new(ErrorKind::Usage, message).hint(hint);
        Err(match providers.iter().find_map(origin) {
            Some(origin) => error.in_file(roots::file_from(&self.settings().path, &origin.file)).at(origin.position),
            None => error.in_file(self.settings().lock_file_shown()),
        })
    }

    /// Fails if a part of the requirements is not read, which may require what an entry would be dropped for.
    pub(super) fn refuse_unread(&self) -> Result<(), Error> {
        let is_unread = |finding: &&Finding| finding.rule == Rule::RequirementsUnread;
        let Some(part) = self.findings.iter().find(is_unread).filter(|_| self.requirements_unread) else {
            return Ok(());
        };
        let error = Error::new(ErrorKind::Configuration, part.message());
        let error = part.file.iter().fold(error, Error::in_file);
        let error = part.position.into_iter().fold(error, Error::at);
        Err(error.hint("what is not read may require it: if it does not, pass --force"))
    }

    /// Adds edits of configuration, which are written together with the lock file.
    pub(super) fn edit(&mut self, edits: Vec<FileEdit>) {
        self.prepared.edits.extend(edits.into_iter().map(|texts| placed(&self.read.settings, texts)));
    }

    /// The lock file to plan for.
    pub(super) fn lock_with_restored(&self) -> LockFile {
        let mut lock = self.lock.clone();
        for (addr, entry) in &self.prepared.restored {
            lock.insert(addr.clone(), entry.clone());
        }
        lock
    }

    /// The query about the release of an entry to restore: its signer and its checksums, without a download where a registry
    /// signs them. A mirror has to show a package that the entry records.
    pub(super) fn query_restored(&self, step: &Query, entry: &LockEntry) -> Query {
        let of = |scheme| entry.hashes.of(scheme).cloned().collect();
        let depth = Depth { download: !self.uses_origin(), ..Depth::DOCUMENTS };
        let explain = Explain { h1: of(HashScheme::H1), zh: of(HashScheme::Zh), depth, ..Explain::default() };
        // What the history has is not new.
        let rules = Rules { witnesses: None, ..step.rules.clone() };
        Query { goal: Goal::Hashes(explain), rules, ..step.clone() }
    }

    /// Restricts the run to the entries of these providers.
    pub(super) fn restrict_to(&mut self, providers: BTreeSet<ProviderAddr>) {
        self.intent.only = Some(providers);
        self.prepared.edits.clear();
        self.modules = ModuleLockEdit::default();
        self.findings.clear();
    }

    pub(super) fn placed(&self, texts: FileEdit) -> RootEdit {
        placed(self.settings(), texts)
    }

    pub(super) fn today(&self) -> Date {
        Date::of(self.settings().now)
    }

    /// The findings of settings that forbid queries about a provider.
    pub fn denials(&self, addr: &ProviderAddr) -> Vec<Finding> {
        let found = self.rules.against(addr, None).into_iter();
        found.filter(|finding| finding.level() == Level::Deny).collect()
    }

    /// The same for all providers of the run.
    pub fn forbidden(&self) -> Vec<Finding> {
        self.requested().iter().flat_map(|addr| self.denials(addr)).collect()
    }

    /// The time of the run.
    pub fn now(&self) -> SystemTime {
        self.settings().now
    }

    /// True if the settings exclude a release because it was signed too recently.
    pub fn is_too_young(&self, addr: &ProviderAddr, version: &Version, signed: SystemTime) -> bool {
        let candidate = Candidate { signed: Some(signed), ..Candidate::of(addr, version) };
        self.rules.versions(addr).against(&candidate).iter().any(|objection| objection.rule == Rule::TooYoung)
    }

    /// After how many days a release that is too young reaches the age that the settings require.
    pub fn allowed_in(&self, addr: &ProviderAddr, version: &Version, signed: SystemTime) -> Option<u64> {
        let wanted =
            self.settings().settings.policy.minimum_age.filter(|_| self.is_too_young(addr, version, signed))?;
        let left = (signed + wanted.duration()).duration_since(self.now()).ok()?;
        Some(left.as_secs().div_ceil(86400))
    }

    /// True if the settings exclude a version by its number.
    pub fn excludes(&self, addr: &ProviderAddr, version: &Version) -> bool {
        let objections = self.rules.versions(addr).against(&Candidate::of(addr, version));
        objections.iter().any(|objection| objection.basis == Basis::Number)
    }

    /// The query for the newest allowed version of a provider; `None` if its constraints alone decide.
    pub fn selection(&self, addr: &ProviderAddr) -> Option<Query> {
        let constraints = self.requirements.get(addr)?.constraints.clone();
        let rules = self.rules_of(addr);
        rules.versions.is_limiting().then(|| Query {
            selection: Selection::Newest(Criteria::of(constraints.clone())),
            constraints,
            platforms: self.platforms_of(addr, self.recorded_platforms.as_ref()),
            recorded: self.lock.get(addr).cloned(),
            moved: None,
            accept_republished: false,
            drop_unattested: false,
            is_rewritable: true,
            rules,
            goal: Goal::Version,
        })
    }

    /// The platforms to lock a provider for.
    pub(super) fn platforms_of(
        &self,
        addr: &ProviderAddr,
        recorded_platforms: Option<&RecordedPlatforms>,
    ) -> Vec<Platform> {
        match recorded_platforms {
            None => self.intent.platforms.clone(),
            Some(recorded_platforms) => {
                recorded_platforms.wanted(addr, self.intent.moves.get(addr)).into_iter().collect()
            }
        }
    }

    /// The platforms of the entries that the cache knows by now; `None` if platforms were named.
    pub(super) fn recognised(&self, cache: &Cache) -> Option<RecordedPlatforms> {
        let known = self.recorded_platforms.as_ref()?;
        Some(RecordedPlatforms::of(&self.lock, self.uses_origin().then_some(cache), known.always.clone()))
    }

    pub(super) fn rules_of(&self, addr: &ProviderAddr) -> Rules {
        let platforms = self.platforms_of(addr, self.recorded_platforms.as_ref());
        let mut rules = self.rules.of(addr, &platforms);
        rules.witnesses = self.rules.witnesses(addr);
        if self.intent.drop_unattested {
            // Only what was hashed here takes anything out.
            rules.indexes.clear();
            rules.imported = false;
        }
        if let Some(recorded_platforms) = &self.recorded_platforms {
            let before = || recorded_platforms.entry(self.intent.moves.get(addr)?);
            let own = recorded_platforms.entry(addr).or_else(before);
            let is_own = |platform: &Platform| {
                own.is_some_and(|own| own.contains(platform)) || recorded_platforms.always.contains(platform)
            };
            rules.unnamed = platforms.iter().filter(|it| !is_own(it) && **it != Platform::host()).cloned().collect();
        }
        rules
    }

    pub fn dialect(&self) -> Dialect {
        self.rules.dialect()
    }

    /// An error for each named provider that nothing requires.
    pub fn unrequired(&self) -> Vec<Error> {
        plan::unrequired_arguments(&self.requirements, &self.intent, self.dialect())
    }

    /// Resolves the names of providers in this root module.
    pub fn names(&self) -> ProviderNames<'_> {
        ProviderNames { requirements: Some(&self.requirements), lock: Some(&self.lock), dialect: self.dialect() }
    }

    pub fn requested(&self) -> Vec<ProviderAddr> {
        let wanted = |addr: &ProviderAddr| self.intent.only.as_ref().is_none_or(|only| only.contains(addr));
        self.requirements.iter().map(|(addr, _)| addr).filter(|addr| wanted(addr)).cloned().collect()
    }
}

/// True if a request may go beyond a constraint that is exactly the version, as Terragrunt's provider cache server writes it: it
/// names a version, or how far to go.
fn lifts_exact(request: &LockRequest, entry: &LockEntry) -> bool {
    let is_exact = entry.constraints == Constraints::exactly(entry.version.clone());
    is_exact && (!request.precise.is_empty() || request.upgrade.as_ref().is_some_and(|it| it.within.is_some()))
}

/// The error for a new lock file of a unit that any tool may run.
fn unknown_tool(settings: &RunSettings) -> Error {
    let message = "no lock file is created: nothing says whether Terragrunt runs Terraform or OpenTofu here";
    Error::new(ErrorKind::Usage, message)
        .in_file(settings.lock_file_shown())
        .hint("pass `--tool`, or set `tool` in .tflock.hcl")
}

fn placed(settings: &RunSettings, texts: FileEdit) -> RootEdit {
    let shown = roots::file_from(&settings.path, &texts.path);
    RootEdit { place: settings.root.join(&texts.path), shown, texts }
}

/// Reads the lock file and, unless `from_lock`, the configuration. What an Atmos instance requires, its configuration does not say.
fn read(settings: &RunSettings, request: &LockRequest) -> Result<Root, Error> {
    if request.from_lock || settings.lock_name.is_instance() {
        let root = Root::of_lock_file(settings)?;
        root.locked()?;
        return Ok(root);
    }
    let how = Reading {
        missing: if request.accept_missing_modules { MissingModules::Skip } else { MissingModules::Refuse },
        of_either_tool: request.accept_missing_modules,
        required: !request.found && !request.accept_no_configuration,
    };
    let root = Root::open(settings, how)?;
    root.decoded()?;
    root.whole()
}

/// The entries, and the findings that writing does not fix.
fn kept(decoded: Decoded, settings: &RunSettings) -> (LockFile, Vec<Finding>) {
    let kept = decoded.warnings.into_iter().filter(|finding| finding.rule == Rule::LockModules);
    let kept = kept.map(|finding| finding.in_file(settings.lock_file_shown()));
    (decoded.lock, kept.collect())
}

impl LockRoot {
    /// Gives findings without a place one: the entry in the lock file, else the first requirement of the provider.
    pub(super) fn placed_findings(&self, findings: Vec<Finding>, spans: Option<&Spans>) -> Vec<Finding> {
        findings.into_iter().map(|finding| self.placed_finding(finding, spans)).collect()
    }

    fn placed_finding(&self, finding: Finding, spans: Option<&Spans>) -> Finding {
        let Some(addr) = finding.address.clone().filter(|_| finding.file.is_none()) else {
            return finding;
        };
        match spans.and_then(|spans| spans.entries.get(&addr)) {
            Some(spans) => finding.in_file(self.settings().lock_file_shown()).at(spans.block),
            None => self.at_requirement(finding, &addr),
        }
    }

    /// The requirement with file names as shown in reports.
    pub(super) fn shown(&self, requirement: &Requirement) -> Requirement {
        let folder = &self.settings().path;
        let mut shown = requirement.clone();
        for origin in shown.origins.iter_mut().filter(|origin| !origin.file.as_os_str().is_empty()) {
            origin.file = roots::file_from(folder, &origin.file);
        }
        shown
    }

    /// Places a finding at the first requirement of a provider; without configuration, at the lock file.
    pub(super) fn at_requirement(&self, finding: Finding, addr: &ProviderAddr) -> Finding {
        let origin = self.requirements.get(addr).and_then(|requirement| requirement.origins.first());
        let folder = &self.settings().path;
        match origin.filter(|origin| !origin.file.as_os_str().is_empty()) {
            Some(origin) => finding.in_file(roots::file_from(folder, &origin.file)).at(origin.position),
            None => finding.in_file(self.settings().lock_file_shown()),
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
}
