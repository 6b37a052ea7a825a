//! One root module, with everything that is read of it before any request.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use super::modules::{LockedModules, ModuleFacts};
use super::other_tool;
use crate::addr::ProviderAddr;
use crate::commands::shared::sources::RootResults;
use crate::config::RootKind;
use crate::disk::roots::{MissingModule, RemoteModuleCall, Tree, UnitFacts, UnreadPart, add_paths_of_unit, file_from};
use crate::error::Error;
use crate::finding::{Finding, Level, Position, Rule};
use crate::git::TrackedFolder;
use crate::lockfile::{self, LockEntry, LockFile, Spans};
use crate::path::{RepoPath, lexical, shown};
use crate::requirements::{Requirement, Requirements, module_name};
use crate::step::{Hole, Value};
use crate::terragrunt::Influence;
use crate::trust::pins::{Pins, Republication};
use crate::verify::{Compared, Counted, Subject, Unanswered, Verified};
use crate::words::counted;
use crate::workspace::{ProviderNames, Reading, RootModule, RootSource, RunSettings, git_in};

/// Root modules by their shown paths, each with its content or the error.
pub type GateRoots = RootResults<GateRoot>;

#[derive(Debug, Clone)]
pub struct GateRoot {
    /// Its lock file and configuration; for unreadable configuration only the module lock.
    module: RootModule,
    /// Findings about the text of the lock file and about files next to it.
    text: Vec<Finding>,
    /// Why the configuration cannot be read.
    unread: Option<Error>,
    /// True if it was unreadable at the base too, and nothing changed there.
    pub(super) was_unreadable: bool,
    /// True if the files of the working tree are for another tool than the one it is judged for.
    pub(super) tool_changed: bool,
    /// The remembered signers, if there is a trust file.
    pins: Option<Arc<Counted>>,
    /// The base and the earlier lock file.
    change: Option<BaseChange>,
    /// Facts about locked modules beyond the tree.
    pub(super) modules: ModuleFacts,
    /// True if what leads to the lock file is denied, so nothing is written there.
    pub(super) is_barred: bool,
    /// The providers that come from a mirror directory inside its working tree.
    pub(super) served_within: BTreeSet<ProviderAddr>,
}

/// The paths that decide what a root module requires; all absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadPaths {
    /// The files that were read, or would have been if they existed.
    pub files: Vec<PathBuf>,
    /// The directories of modules, where a new file of configuration counts.
    pub directories: Vec<PathBuf>,
    /// Directories where any new name counts.
    pub listed: Vec<PathBuf>,
    /// The files among them in which nothing is a comment.
    pub texts: Vec<PathBuf>,
}

/// The empty lock file of a root module without one.
static NO_LOCK: LazyLock<(LockFile, Spans)> = LazyLock::new(Default::default);

/// What a changed root module is judged by.
#[derive(Debug, Clone)]
pub struct BaseChange {
    pub base: Compared,
    /// The earlier lock file.
    pub before: LockFile,
    /// When the history of the base first had the new releases, by provider, if the policy sets a minimum age.
    pub first_seen: BTreeMap<ProviderAddr, SystemTime>,
    /// The error about a file that may differ where the change is used.
    pub unseen: Option<Error>,
}

/// True next to a unit if the lock file is as Terragrunt's provider cache server writes it.
fn is_of_cache_server(module: &RootModule) -> bool {
    let is_unit = module.tree.as_ref().is_some_and(|tree| tree.kind == RootKind::Unit);
    let (Some(bytes), Some(lock)) = (&module.bytes, module.entries()) else { return false };
    is_unit && lock.is_without_header(bytes, module.settings.dialect)
}

impl GateRoot {
    /// Reads the lock file, the configuration and the tracked packages.
    pub fn open(settings: &RunSettings, pins: Option<Arc<Counted>>, packages: &[TrackedFolder]) -> Result<Self, Error> {
        let mut module = RootModule::open(settings)?;
        let unread = module.read_configuration(Reading::LENIENT).err();
        let of_cache_server = is_of_cache_server(&module);
        // Only what it says is judged; the texts of thousands of root modules would take memory.
        module.bytes = None;
        if unread.is_some() {
            let mut alone = Tree::of_modules_alone(&settings.root, settings.dialect);
            if alone.kind == RootKind::Unit {
                add_paths_of_unit(&mut alone, &settings.root, &settings.unit_options());
            }
            module.tree = Some(Arc::new(alone));
        }
        let tree = module.tree.as_deref();
        let mut text = match &module.lock {
            Some(Ok(read)) => read.warnings.clone(),
            Some(Err(findings)) => findings.clone(),
            None => missing(settings, tree).into_iter().collect(),
        };
        if of_cache_server {
            text.retain(|finding| finding.rule != Rule::NotCanonical);
        }
        if unread.is_none() {
            text.extend(other_tool::findings(settings, tree, module.entries()));
            text.extend(module.unread_requirements());
            text.extend(tree.iter().flat_map(|tree| init_overrides(tree)));
        }
        if let (Some(tree), Some(Ok(read))) = (tree, &module.lock) {
            text.extend(read.unlike_kind(tree.kind.traits().has_stacks_header));
            module.settings.settings.want_platforms(tree.kind.traits().platforms);
        }
        text.extend(tree.iter().flat_map(|tree| undeclared(tree)));
        text.extend(tracked_packages(settings, packages));
        text.extend(tree.iter().flat_map(|tree| foreign_modules(settings, tree)));
        Ok(Self {
            module,
            text,
            unread,
            was_unreadable: false,
            tool_changed: false,
            pins,
            change: None,
            modules: ModuleFacts::default(),
            is_barred: false,
            served_within: BTreeSet::new(),
        })
    }

    /// The lock file; empty if it cannot be read.
    pub fn lock(&self) -> &LockFile {
        self.module.entries().unwrap_or(&NO_LOCK.0)
    }

    pub(crate) fn decoded(&self) -> Result<(), Error> {
        self.module.decoded().map(drop)
    }

    /// The requirements of the configuration; `None` if it cannot be read.
    pub fn requirements(&self) -> Option<&Requirements> {
        self.module.requirements().filter(|_| self.unread.is_none())
    }

    /// What names of providers mean here.
    pub fn names(&self) -> ProviderNames<'_> {
        self.module.names()
    }

    /// True if the files break a rule.
    pub(super) fn has(&self, rule: Rule) -> bool {
        self.text.iter().any(|finding| finding.rule == rule)
    }

    pub fn settings(&self) -> &RunSettings {
        &self.module.settings
    }

    /// Its sources, and the providers to query there.
    pub(crate) fn queries(&self) -> (RootSource, Vec<ProviderAddr>) {
        (self.settings().source(), self.lock().iter().map(|(addr, _)| addr.clone()).collect())
    }

    /// Judges the root module as a change; `modules` is the text of the earlier module lock file.
    pub fn compare(&mut self, change: BaseChange, modules: Option<Vec<u8>>) {
        // A missing file locked no modules.
        self.modules.before = Some(modules.unwrap_or_default());
        let is_missing = |finding: &Finding| finding.rule == Rule::LockFileMissing;
        let may_need_one = self.requirements().is_none() && !self.settings().lock_file().exists();
        if !change.before.is_empty() && (may_need_one || self.text.iter().any(is_missing)) {
            self.text.retain(|finding| !is_missing(finding));
            let message = "the dependency lock file that was here at the base was removed";
            let lost = Finding::new(Rule::LockFileRemoved, message).in_file(lockfile::FILE_NAME);
            self.text.push(lost.at(Position::default()).filled(Hole::Revision, change.base.short()));
        }
        self.change = Some(change);
    }

    /// Why the configuration cannot be read; `None` if it was read or there is none.
    pub fn unread(&self) -> Option<&Error> {
        self.unread.as_ref()
    }

    /// Warns about a missing lock file instead: another root module may install the directory as its module.
    pub fn doubt_missing(&mut self, caller: &Path) {
        let caller = shown(caller);
        for finding in self.text.iter_mut().filter(|finding| finding.rule == Rule::LockFileMissing) {
            finding.level = Level::Warn;
            let doubt = format!("perhaps it needs none: {caller} may install it, and its sources are not read");
            finding.message = format!("{}; {doubt}", finding.message);
        }
    }

    /// True if not all requirements are read.
    pub fn is_not_read(&self) -> bool {
        self.text.iter().any(|finding| finding.rule == Rule::RequirementsUnread)
    }

    /// Denies requirements that are not read, unless the settings state a level.
    pub fn deny_unread(&mut self) {
        self.deny(|finding| finding.rule == Rule::RequirementsUnread);
    }

    /// Denies some findings, unless the settings state a level for their rule.
    pub fn deny(&mut self, is_meant: impl Fn(&Finding) -> bool) {
        for finding in self.text.iter_mut().filter(|finding| is_meant(finding)) {
            if self.module.settings.settings.level(finding.rule.id()).is_none() {
                finding.level = Level::Deny;
            }
        }
    }

    /// Takes values in generated files that are not known for parts that are not read.
    pub fn lose_holes(&mut self, holes: &[UnreadPart]) {
        let Some(tree) = &mut self.module.tree else { return };
        let tree = Arc::make_mut(tree);
        tree.holes.retain(|hole| !holes.contains(hole));
        tree.unread_parts.extend(holes.iter().map(|hole| UnreadPart {
            reason: format!(
                "{}, and no unit of the base has this value: its text may end the quotes around it",
                hole.reason
            ),
            place: hole.place.clone(),
        }));
        tree.complete = false;
        self.text.retain(|finding| finding.rule != Rule::RequirementsUnread);
        self.text.extend(self.module.unread_requirements());
    }

    /// Adds findings about the lock file.
    pub fn add_findings(&mut self, findings: Vec<Finding>) {
        self.text.extend(findings);
    }

    /// The configuration, if there is one.
    pub(super) fn tree(&self) -> Option<&Tree> {
        self.module.tree.as_deref()
    }

    /// What a unit itself says.
    pub(super) fn unit(&self) -> Option<&UnitFacts> {
        self.tree()?.unit.as_ref()
    }

    /// How many packages of modules are locked.
    pub(super) fn locked_packages(&self) -> usize {
        let read = self.tree().and_then(|tree| tree.module_lock.as_ref());
        read.map_or(0, |read| read.file.lock.iter().count())
    }

    /// The locked modules and their calls.
    pub(super) fn locked_modules(&self) -> Option<LockedModules<'_>> {
        Some(LockedModules { settings: self.settings(), tree: self.tree()?, facts: &self.modules })
    }

    /// What was read of the configuration.
    pub fn read(&self) -> ReadPaths {
        let root = &self.settings().place;
        let tree = self.tree();
        let files = tree.into_iter().flat_map(|tree| &tree.files_read).map(|file| root.join(file));
        let mut directories: Vec<PathBuf> = files.clone().filter_map(|file| Some(file.parent()?.to_owned())).collect();
        directories.extend(tree.into_iter().flat_map(|tree| &tree.local_modules).map(|path| root.join(path)));
        directories.extend(tree.into_iter().flat_map(|tree| &tree.searched).map(|path| root.join(path)));
        directories.push(root.clone());
        directories.sort_unstable();
        directories.dedup();
        let looked_for = tree.into_iter().flat_map(|tree| &tree.looked_for).map(|file| lexical(root, file));
        let listed = tree.into_iter().flat_map(|tree| &tree.listed).map(|directory| lexical(root, directory));
        let texts = tree.into_iter().flat_map(|tree| &tree.texts_read).map(|file| lexical(root, file));
        ReadPaths {
            files: files.chain(looked_for).collect(),
            directories,
            listed: listed.collect(),
            texts: texts.collect(),
        }
    }

    pub(super) fn compared(&self) -> Option<&Compared> {
        self.change.as_ref().map(|change| &change.base)
    }

    /// The base and the earlier lock file.
    pub(crate) fn base(&self) -> Option<(&Compared, &LockFile)> {
        self.change.as_ref().map(|change| (&change.base, &change.before))
    }

    /// Identifies the lock file and configuration, equal for equal contents; `None` if the result depends on more: a
    /// change, locked or missing modules, or other files in the directory.
    pub(super) fn texts(&self) -> Option<[usize; 2]> {
        let decoded = self.module.lock.as_ref()?.as_ref().ok()?;
        if decoded.warnings.len() != self.text.len() {
            return None;
        }
        let tree = self.module.tree.as_ref();
        let alone = tree.is_none_or(|tree| tree.module_lock.is_none() && tree.missing.is_empty());
        let alone = alone && self.unread.is_none() && self.change.is_none() && self.modules.before.is_none();
        alone.then(|| [Arc::as_ptr(decoded).addr(), tree.map_or(0, |tree| Arc::as_ptr(tree).addr())])
    }

    /// True if the same rules apply to another root module.
    fn is_under_rules_of(&self, other: &Self) -> bool {
        let pins = |root: &Self| root.pins.as_ref().map(Arc::as_ptr);
        let (own, others) = (self.settings(), other.settings());
        own.dialect == others.dialect && pins(self) == pins(other) && own.settings == others.settings
    }

    pub(crate) fn pins(&self) -> Option<&Pins> {
        self.pins.as_deref().map(|counted| &counted.pins)
    }

    /// The signers that were accepted before the change.
    pub(super) fn trusted(&self) -> Option<&Pins> {
        self.pins.as_deref().map(|counted| &counted.trusted)
    }

    /// True if the base has accepted this republication already.
    pub(super) fn is_settled(&self, record: &Republication) -> bool {
        self.pins.as_deref().is_some_and(|counted| counted.settled.contains(record))
    }

    /// The entries of the base that the lock file lost although they are required.
    pub(super) fn lost_entries(&self) -> impl Iterator<Item = (&ProviderAddr, &LockEntry)> {
        let before = self.change.iter().flat_map(|change| change.before.iter());
        before.filter(|(addr, _)| self.lock().get(addr).is_none() && self.requirement(addr).is_some())
    }

    /// Those of them that may come back: they pin something, and the configuration allows their versions.
    pub(super) fn restorable_entries(&self) -> impl Iterator<Item = (&ProviderAddr, &LockEntry)> {
        let is_allowed = |addr, entry: &LockEntry| {
            self.requirement(addr).is_some_and(|requirement| requirement.constraints.allows(&entry.version))
        };
        self.lost_entries().filter(move |(addr, entry)| entry.hashes.pin_packages() && is_allowed(addr, entry))
    }

    fn requirement(&self, addr: &ProviderAddr) -> Option<&Requirement> {
        self.requirements()?.get(addr)
    }

    pub(in crate::commands) fn spans(&self) -> Option<&Spans> {
        self.module.lock.as_ref()?.as_ref().ok().map(|decoded| &decoded.spans)
    }

    pub(super) fn text_findings(&self) -> Vec<Finding> {
        let of_modules = self.locked_modules().map(|modules| modules.findings()).unwrap_or_default();
        self.text.iter().cloned().chain(of_modules).collect()
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            lock: self.lock(),
            before: self.change.as_ref().map(|change| &change.before),
            base: self.compared(),
            first_seen: self.change.as_ref().map(|change| &change.first_seen),
            spans: &NO_LOCK.1,
            requirements: self.requirements(),
            kind: self.tree().map(|tree| tree.kind).unwrap_or_default(),
            // Without requirements: whether more are not known because of an error.
            complete: match self.requirements() {
                Some(_) => self.tree().is_none_or(|tree| tree.complete),
                None => self.unread.is_none(),
            },
            settings: &self.settings().settings,
            dialect: self.settings().dialect,
            translates_state: self.settings().translates_state(),
            pins: self.pins(),
            now: self.settings().now,
        }
    }

    /// The modules with unknown requirements: missing ones, and those that could not be checked.
    pub(super) fn unknown_tree(&self) -> Verified {
        // A module that differs from its lock is a finding instead.
        let is_known = |module: &MissingModule| !module.is_refuted();
        let errors = self.tree().into_iter().flat_map(|tree| self.settings().not_installed_in(tree, is_known));
        let errors = errors.map(|error| Unanswered { error, changed: false });
        let unasked = self.locked_modules().map(|modules| modules.unanswered()).unwrap_or_default();
        let unseen = self.change.iter().filter_map(|change| change.unseen.as_ref());
        let unseen = unseen.map(|error| Unanswered { error: error.clone(), changed: true });
        Verified { inconclusive: errors.chain(unasked).chain(unseen).collect(), ..Verified::default() }
    }

    /// Changes file names of findings for reports.
    pub(crate) fn placed(&self, findings: Vec<Finding>) -> Vec<Finding> {
        findings.into_iter().map(|finding| self.placed_finding(finding)).collect()
    }

    fn placed_finding(&self, finding: Finding) -> Finding {
        let settings = self.settings();
        let file = match &finding.file {
            Some(file) if file.is_relative() => file_from(&settings.path, file),
            Some(file) => file.clone(),
            None => settings.lock_file_shown(),
        };
        finding.in_file(file)
    }
}

fn missing(settings: &RunSettings, tree: Option<&Tree>) -> Option<Finding> {
    let required = tree.map_or(0, |tree| tree.requirements.len());
    // `init` writes no file without requirements either.
    if required == 0 || settings.lock_file().exists() {
        return None;
    }
    let required = counted(required, "provider");
    let message =
        format!("there is no lock file {}, though the configuration requires {required}", lockfile::FILE_NAME);
    Some(Finding::new(Rule::LockFileMissing, message).in_file(lockfile::FILE_NAME).at(Position::default()))
}

/// The providers that components of a stack need and the stack does not declare, each at its first requirement.
fn undeclared(tree: &Tree) -> Vec<Finding> {
    tree.undeclared.iter().filter_map(|(addr, requirement)| undeclared_provider(addr, requirement)).collect()
}

fn undeclared_provider(addr: &ProviderAddr, requirement: &Requirement) -> Option<Finding> {
    let origin = requirement.origins.first()?;
    let name = module_name(&origin.module);
    let message = format!("{name} requires {addr}, which the required_providers of its stack do not declare");
    let finding = Finding::new(Rule::ProviderUndeclared, message).about(addr);
    Some(finding.in_file(&origin.file).at(origin.position))
}

/// What decides what `init` installs besides the lock file.
fn init_overrides(tree: &Tree) -> Vec<Finding> {
    tree.unit.iter().flat_map(|unit| &unit.init_overrides).map(init_override).collect()
}

/// The finding for one of them.
pub(super) fn init_override(influence: &Influence) -> Finding {
    let Influence { what, place, .. } = influence;
    let message = format!("{what} decides what `init` installs, whatever the lock file says");
    Finding::new(Rule::InitOverridden, message).in_file(&*place.file).at(place.position)
}

/// The installed modules from hosts that the policy does not allow.
fn foreign_modules(settings: &RunSettings, tree: &Tree) -> Vec<Finding> {
    let policy = &settings.settings.policy;
    let finding = |call: &RemoteModuleCall| {
        let host = call.address.as_ref()?.host().filter(|host| !policy.allows_module_host(host))?;
        let message = format!("the policy does not allow the host {host} of module {}", call.key);
        Some(Finding::new(Rule::HostNotAllowed, message).in_file(&*call.place.file).at(call.place.position))
    };
    tree.remote_modules.iter().filter_map(finding).collect()
}

pub fn tracked_packages(settings: &RunSettings, packages: &[TrackedFolder]) -> Vec<Finding> {
    let prefix = RepoPath::below(&settings.boundary, &settings.place).unwrap_or_default().prefix();
    let within = |path: &RepoPath| path.strip_prefix(&prefix).unwrap_or(path).to_owned();
    let finding = |folder: &TrackedFolder| {
        let place = within(&folder.path);
        let message = format!("git tracks {place}, from where packages are installed without a registry");
        let git = Value::Words(git_in(&settings.root));
        let remedy = step!("Remove them from version control: `{} rm -r --cached {}`.", git, place);
        Finding::new(Rule::TrackedPackages, message).in_file(within(&folder.first)).remedied_by(remedy)
    };
    packages.iter().map(finding).collect()
}

/// What is known of root modules with the same texts and the same rules.
#[derive(Debug)]
pub(super) struct RootMemo<'a, T>(HashMap<[usize; 2], Vec<(&'a GateRoot, T)>>);

impl<T> Default for RootMemo<'_, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<'a, T> RootMemo<'a, T> {
    pub(super) fn get(&self, root: &GateRoot) -> Option<&T> {
        let same = self.0.get(&root.texts()?)?;
        same.iter().find(|(other, _)| other.is_under_rules_of(root)).map(|(_, known)| known)
    }

    pub(super) fn insert(&mut self, root: &'a GateRoot, known: T) {
        if let Some(texts) = root.texts() {
            self.0.entry(texts).or_default().push((root, known));
        }
    }
}
