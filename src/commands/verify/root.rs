//! One root module as the gate opens it, and what is added later: its state at the base, and the answers about its modules.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use super::modules::{LockedModules, ModuleAnswers};
use super::other_tool;
use super::read_paths::ReadPaths;
use crate::addr::ProviderAddr;
use crate::commands::shared::sources::RootResults;
use crate::commands::shared::targets::with_ignore_rule;
use crate::config::RootKind;
use crate::disk::roots::{MissingModule, RemoteModuleCall, Tree, UnitFacts, UnreadPart, file_from, tree_of_unread};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Position, Rule};
use crate::git::{GitError, TrackedFolder};
use crate::lockfile::{self, LockEntry, LockFile, Spans};
use crate::path::{RepoPath, shown};
use crate::requirements::{Requirement, Requirements, module_name};
use crate::step::{Hole, Step, Value};
use crate::terragrunt::Influence;
use crate::trust::pins::{Pins, Republication};
use crate::verify::{Compared, Counted, Subject, Unanswered, Verified};
use crate::words::counted;
use crate::workspace::ignored::IgnoredLockFile;
use crate::workspace::{ProviderNames, Reading, Root, RootSource, RunSettings, git_in, instance_names};

/// Root modules by their shown paths, each with its content or the error.
pub type GateRoots = RootResults<GateRoot>;

/// One root module of the gate. What was found out about it later, each once, is added by value.
#[derive(Debug, Clone)]
pub struct GateRoot {
    /// For unreadable configuration, its tree has only the module lock and the paths of the unit.
    root: Root,
    /// Findings about the text of the lock file and about files next to it.
    text: Vec<Finding>,
    under: Circumstances,
    /// The base and the earlier lock files.
    change: Option<BaseChange>,
    answers: Answers,
}

/// What applies to a root module besides its own files.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    /// The remembered signers, if there is a trust file.
    pub pins: Option<Arc<Counted>>,
    /// True if the configuration was unreadable at the base too, and nothing changed there.
    pub was_unreadable: bool,
    /// True if the files of the working tree are for another tool than the one it is judged for.
    pub tool_changed: bool,
    /// How Git ignores the lock file, if it does: then a clone does not have it.
    pub ignored: Option<IgnoredLockFile>,
    /// Why it is not known which packages Git tracks, if so.
    pub unknown_tracked: Option<Error>,
}

/// What sources say about a root module, beyond its releases.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    pub(super) modules: ModuleAnswers,
    /// The providers that come from a mirror directory inside its working tree.
    pub(super) served_within: BTreeSet<ProviderAddr>,
}

/// Where nothing is.
static NOWHERE: LazyLock<Spans> = LazyLock::new(Spans::default);

/// What a changed root module is judged by.
#[derive(Debug, Clone)]
pub struct BaseChange {
    pub base: Compared,
    /// The earlier lock file.
    pub before: LockFile,
    /// The text of the earlier module lock file; empty without one.
    pub modules: Vec<u8>,
    /// When the history of the base first had the new releases, by provider, if the policy sets a minimum age.
    pub first_seen: BTreeMap<ProviderAddr, SystemTime>,
    /// The error about a file that may differ where the change is used.
    pub unseen: Option<Error>,
}

/// What a change means for how a root module is read: more of it counts as unread, and some findings are denied.
#[derive(Debug, Default)]
pub struct ReadingVerdict {
    /// Values in generated files that are not known, and that no unit of the base has.
    pub lost: Vec<UnreadPart>,
    /// True if requirements that are not read are denied, unless the settings state a level.
    pub denies_unread: bool,
    /// The same for what decides what `init` installs: these are new.
    pub new_overrides: Vec<Finding>,
}

/// True next to a unit if the lock file is as Terragrunt's provider cache server writes it.
fn is_of_cache_server(root: &Root) -> bool {
    let is_unit = root.tree.as_ref().is_some_and(|tree| tree.kind == RootKind::Unit);
    let (Some(bytes), Some(lock)) = (&root.bytes, root.entries()) else { return false };
    is_unit && lock.is_without_header(bytes, root.settings.dialect)
}

/// Reads a root module as far as it can be read.
pub(super) fn read(settings: &RunSettings) -> Result<Root, Error> {
    let root = Root::open(settings, Reading::LENIENT)?;
    if root.unread.is_none() {
        return Ok(root);
    }
    let alone = tree_of_unread(&settings.root, settings.dialect, &settings.unit_options());
    Ok(Root { tree: Some(Arc::new(alone)), ..root })
}

impl GateRoot {
    /// `packages` are tracked ones. `caller` is a root module that may install this directory as its module, since its own sources
    /// are not read.
    pub(super) fn of(root: Root, under: Circumstances, packages: &[TrackedFolder], caller: Option<&Path>) -> Self {
        let settings = &root.settings;
        let tree = root.tree.as_deref();
        let mut text = match &root.lock {
            Some(Ok(read)) => read.warnings.clone(),
            Some(Err(findings)) => findings.clone(),
            None => Vec::new(),
        };
        if root.lock.is_none() || under.ignored.is_some() {
            text.extend(missing(settings, tree, caller).map(|it| with_ignore_rule(it, under.ignored.as_ref())));
        }
        if is_of_cache_server(&root) {
            text.retain(|finding| finding.rule != Rule::NotCanonical);
        }
        if root.unread.is_none() {
            text.extend(other_tool::findings(settings, tree, root.entries()));
            text.extend(root.unread_requirements());
            text.extend(tree.iter().flat_map(|tree| init_overrides(tree)));
        }
        let mut settings = settings.clone();
        if let (Some(tree), Some(Ok(read))) = (tree, &root.lock) {
            text.extend(read.unlike_kind(tree.kind.traits().has_stacks_header));
            settings.settings.want_platforms(tree.kind.traits().platforms);
        }
        text.extend(tree.iter().flat_map(|tree| undeclared(tree)));
        text.extend(tracked_packages(&settings, packages));
        text.extend(tree.iter().flat_map(|tree| foreign_modules(&settings, tree)));
        // Only what the lock file says is judged; the texts of thousands of root modules would take memory.
        let root = Root { settings, bytes: None, ..root };
        Self { root, text, under, change: None, answers: Answers::default() }
    }

    /// True if there is a lock file that a clone has too.
    pub(super) fn has_lock_file(&self) -> bool {
        self.root.lock.is_some() && self.under.ignored.is_none()
    }

    /// The lock file; empty if it cannot be read.
    pub fn lock(&self) -> &LockFile {
        self.root.lock()
    }

    /// An error if there is none, or it cannot be read.
    pub(crate) fn locked(&self) -> Result<(), Error> {
        self.root.locked().map(drop)
    }

    pub(crate) fn decoded(&self) -> Result<(), Error> {
        self.root.decoded().map(drop)
    }

    /// The requirements of the configuration; `None` if it cannot be read.
    pub fn requirements(&self) -> Option<&Requirements> {
        self.root.requirements()
    }

    /// What names of providers mean here.
    pub fn names(&self) -> ProviderNames<'_> {
        self.root.names()
    }

    /// True if the files break a rule.
    pub(super) fn has(&self, rule: Rule) -> bool {
        self.text.iter().any(|finding| finding.rule == rule)
    }

    pub fn settings(&self) -> &RunSettings {
        &self.root.settings
    }

    /// Its sources, and the providers to query there.
    pub(crate) fn queries(&self) -> (RootSource, Vec<ProviderAddr>) {
        (self.settings().source(), self.lock().iter().map(|(addr, _)| addr.clone()).collect())
    }

    /// The root module as a change, with what its reading means there and what else was found.
    pub(crate) fn with_change(self, change: BaseChange, reading: &ReadingVerdict, found: Vec<Finding>) -> Self {
        let mut text = self.text.clone();
        let is_missing = |finding: &Finding| finding.rule == Rule::LockFileMissing;
        let may_need_one = self.requirements().is_none() && !self.settings().lock_file().exists();
        if !change.before.is_empty() && (may_need_one || text.iter().any(is_missing)) {
            text.retain(|finding| !is_missing(finding));
            let message = "the dependency lock file that was here at the base was removed";
            let lost = Finding::new(Rule::LockFileRemoved, message).in_file(self.settings().lock_name.as_str());
            text.push(lost.at(Position::default()).filled(Hole::Revision, change.base.short()));
        }
        text.extend(found);
        let root = if reading.lost.is_empty() { self.root } else { without_holes(self.root, &reading.lost) };
        if !reading.lost.is_empty() {
            text.retain(|finding| finding.rule != Rule::RequirementsUnread);
            text.extend(root.unread_requirements());
        }
        // What Atmos adds is unread everywhere; its place says so, as a change chooses the words of other reasons.
        let lock_name = &root.settings.lock_name;
        let is_of_instance = |finding: &Finding| {
            let is_of_lock_file = finding.file.as_deref() == Some(Path::new(lock_name.as_str()));
            lock_name.is_instance() && finding.rule == Rule::RequirementsUnread && is_of_lock_file
        };
        let denied = |finding: Finding| {
            let is_denied = reading.denies(&finding) && !is_of_instance(&finding);
            if is_denied { finding.unless_stated(Level::Deny) } else { finding }
        };
        let text = text.into_iter().map(denied).collect();
        Self { root, text, change: Some(change), ..self }
    }

    /// The root module with what sources say about it.
    pub(super) fn with_answers(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }

    /// Why the configuration cannot be read; `None` if it was read or there is none.
    pub fn unread(&self) -> Option<&Error> {
        self.root.unread.as_ref()
    }

    /// True if not all requirements are read.
    pub fn is_not_read(&self) -> bool {
        self.text.iter().any(|finding| finding.rule == Rule::RequirementsUnread)
    }

    /// True if the configuration was unreadable at the base too, and nothing changed there.
    pub(super) fn was_unreadable(&self) -> bool {
        self.under.was_unreadable
    }

    /// True if the files of the working tree are for another tool than the one it is judged for.
    pub(super) fn tool_changed(&self) -> bool {
        self.under.tool_changed
    }

    /// The providers that come from a mirror directory inside its working tree.
    pub(super) fn served_within(&self) -> &BTreeSet<ProviderAddr> {
        &self.answers.served_within
    }

    /// The configuration, if there is one.
    pub(crate) fn tree(&self) -> Option<&Tree> {
        self.root.tree.as_deref()
    }

    /// What reads the configuration; a module if there is none.
    pub(super) fn kind(&self) -> RootKind {
        self.root.kind()
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
        let before = self.change.as_ref().map(|change| &*change.modules);
        Some(LockedModules { settings: self.settings(), tree: self.tree()?, before, answers: &self.answers.modules })
    }

    /// What was read of the configuration.
    pub fn read(&self) -> ReadPaths {
        ReadPaths::of(&self.root)
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
        let decoded = self.root.lock.as_ref()?.as_ref().ok()?;
        if decoded.warnings.len() != self.text.len() {
            return None;
        }
        let tree = self.root.tree.as_ref();
        let alone = tree.is_none_or(|tree| tree.module_lock.is_none() && tree.missing.is_empty());
        let alone = alone && self.unread().is_none() && self.change.is_none() && self.under.unknown_tracked.is_none();
        alone.then(|| [Arc::as_ptr(decoded).addr(), tree.map_or(0, |tree| Arc::as_ptr(tree).addr())])
    }

    /// True if the same rules apply to another root module.
    fn is_under_rules_of(&self, other: &Self) -> bool {
        let pins = |root: &Self| root.under.pins.as_ref().map(Arc::as_ptr);
        let (own, others) = (self.settings(), other.settings());
        own.dialect == others.dialect && pins(self) == pins(other) && own.settings == others.settings
    }

    pub(crate) fn pins(&self) -> Option<&Pins> {
        self.under.pins.as_deref().map(|counted| &counted.pins)
    }

    /// The signers that were accepted before the change.
    pub(super) fn trusted(&self) -> Option<&Pins> {
        self.under.pins.as_deref().map(|counted| &counted.trusted)
    }

    /// True if the base has accepted this republication already.
    pub(super) fn is_settled(&self, record: &Republication) -> bool {
        self.under.pins.as_deref().is_some_and(|counted| counted.settled.contains(record))
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
        self.root.spans()
    }

    /// The findings about its files and locked modules. `of_unread` is the level of requirements that are not read, where something
    /// else decides it.
    pub(super) fn text_findings(&self, of_unread: Option<Level>) -> Vec<Finding> {
        let of_text = self.text.iter().cloned().map(|finding| match of_unread {
            Some(level) if finding.rule == Rule::RequirementsUnread => finding.at_level(level),
            _ => finding,
        });
        let of_modules = self.locked_modules().map(|modules| modules.findings()).unwrap_or_default();
        of_text.chain(of_modules).collect()
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            lock: self.lock(),
            before: self.change.as_ref().map(|change| &change.before),
            base: self.compared(),
            first_seen: self.change.as_ref().map(|change| &change.first_seen),
            spans: &NOWHERE,
            requirements: self.requirements(),
            kind: self.tree().map(|tree| tree.kind).unwrap_or_default(),
            is_instance: self.settings().lock_name.is_instance(),
            // Without requirements: whether more are not known because of an error.
            complete: match self.requirements() {
                Some(_) => self.tree().is_none_or(|tree| tree.complete),
                None => self.unread().is_none(),
            },
            settings: &self.settings().settings,
            dialect: self.settings().dialect,
            translates_state: self.settings().translates_state(),
            pins: self.pins(),
            now: self.settings().now,
        }
    }

    /// The modules with unknown requirements: missing ones, and those that could not be checked. Also that it is not known what Git
    /// tracks.
    pub(super) fn unknown_tree(&self) -> Verified {
        // A module that differs from its lock is a finding instead.
        let is_known = |module: &MissingModule| !module.is_refuted();
        let errors = self.tree().into_iter().flat_map(|tree| self.settings().not_installed_in(tree, is_known));
        let errors = errors.map(|error| Unanswered { error, changed: false });
        let unasked = self.locked_modules().map(|modules| modules.unanswered()).unwrap_or_default();
        let unseen = self.change.iter().filter_map(|change| change.unseen.as_ref());
        let unseen = unseen.map(|error| Unanswered { error: error.clone(), changed: true });
        let unknown = self.under.unknown_tracked.clone().map(|error| Unanswered { error, changed: false });
        Verified { inconclusive: errors.chain(unasked).chain(unseen).chain(unknown).collect(), ..Verified::default() }
    }

    /// That nothing of the lock file was read, which no level of its errors changes.
    pub(super) fn unread_lock_file(&self) -> Option<Unanswered> {
        self.decoded().err()?;
        let message = "the lock file cannot be read, so no hash was checked, though the settings let its errors pass";
        let error = Error::new(ErrorKind::LockFile, message).in_file(self.settings().lock_file_shown());
        let error = error.hint(step!("correct the file; a `level` or an `exempt` block does not make it readable"));
        Some(Unanswered { error, changed: true })
    }

    /// Changes file names of findings for reports.
    pub(crate) fn placed(&self, findings: Vec<Finding>) -> Vec<Finding> {
        findings.into_iter().map(|finding| self.placed_finding(finding)).collect()
    }

    pub(super) fn placed_finding(&self, finding: Finding) -> Finding {
        let settings = self.settings();
        let file = match &finding.file {
            Some(file) if file.is_relative() => file_from(&settings.path, file),
            Some(file) => file.clone(),
            None => settings.lock_file_shown(),
        };
        finding.in_file(file)
    }
}

impl ReadingVerdict {
    fn denies(&self, finding: &Finding) -> bool {
        let is_same =
            |new: &Finding| (new.rule, new.message(), &new.file) == (finding.rule, finding.message(), &finding.file);
        self.denies_unread && finding.rule == Rule::RequirementsUnread || self.new_overrides.iter().any(is_same)
    }
}

/// The root module where some values of generated files count as parts that are not read.
fn without_holes(root: Root, holes: &[UnreadPart]) -> Root {
    let Some(tree) = root.tree else { return root };
    let mut tree = Arc::unwrap_or_clone(tree);
    tree.holes.retain(|hole| !holes.contains(hole));
    tree.unread_parts.extend(holes.iter().map(|hole| UnreadPart {
        reason: format!(
            "{}, and no unit of the base has this value: its text may end the quotes around it",
            hole.reason
        ),
        place: hole.place.clone(),
    }));
    tree.complete = false;
    Root { tree: Some(Arc::new(tree)), ..root }
}

/// What to do about a missing lock file that tflock does not create, since requirements are not read.
pub(super) fn create_with_tool(reason: &str) -> Step {
    format!(
        "tflock creates no lock file where requirements are not read: {reason}. Make that readable, or create the file with the \
         tool, and commit it."
    )
    .into()
}

fn missing(settings: &RunSettings, tree: Option<&Tree>, caller: Option<&Path>) -> Option<Finding> {
    let required = tree.map_or(0, |tree| tree.requirements.len());
    // `init` writes no file without requirements either.
    if required == 0 {
        return None;
    }
    let required = counted(required, "provider");
    let message = if settings.lock_file().exists() {
        format!("the configuration requires {required}, and {} is not committed", lockfile::FILE_NAME)
    } else {
        format!("there is no lock file {}, though the configuration requires {required}", lockfile::FILE_NAME)
    };
    let mut missing = Finding::new(Rule::LockFileMissing, message).in_file(lockfile::FILE_NAME).at(Position::default());
    if let Some(part) = tree.and_then(|tree| tree.unread_parts.first()) {
        missing = missing.remedied_by(create_with_tool(&part.reason));
    }
    // Next to lock files of Atmos instances `lock` makes no other.
    if let Some(name) = instance_names(&settings.root).first() {
        missing = missing.remedied_by(step!(
            "If Atmos runs this directory, the owner of the trust file approves the change (`--allow-trust-change`); else remove {} and run `tflock lock`.",
            name.as_str()
        ));
    }
    Some(match caller {
        Some(caller) => missing.at_level(Level::Warn).remarked(format_args!(
            "perhaps it needs none: {} may install it, and its sources are not read",
            shown(caller)
        )),
        None => missing,
    })
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
        let host = settings.meant_host(call.address.as_ref()?.host()?);
        if policy.allows_module_host(&host) {
            return None;
        }
        let message = format!("the policy does not allow the host {host} of module {}", call.key);
        Some(Finding::new(Rule::HostNotAllowed, message).in_file(&*call.place.file).at(call.place.position))
    };
    tree.remote_modules.iter().filter_map(finding).collect()
}

/// What Git tracks, for commands that write packages: nothing where there is no git to check out again what they replace.
///
/// # Errors
///
/// That Git does not say it.
pub fn tracked_or_none<T: Default>(tracked: Result<T, GitError>) -> Result<T, Error> {
    match tracked {
        Err(GitError::Start(_)) => Ok(T::default()),
        tracked => tracked.map_err(unknown_tracked),
    }
}

/// The error where Git does not say which packages it tracks.
pub(super) fn unknown_tracked(error: GitError) -> Error {
    let error = Error::from(error);
    let message = format!("it is unknown whether git tracks packages that are installed from here: {}", error.message);
    Error { message, ..error }
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
