//! One root module, with all that is read for it before anybody is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::modules::ServedModules;
use super::modules::{LockedModules, ModuleFacts};
use super::other_tool;
use crate::addr::ProviderAddr;
use crate::disk::roots::{MissingModule, RemoteModuleCall, Tree, file_from};
use crate::error::Error;
use crate::finding::{Finding, Position, Rule, shell_word};
use crate::git::TrackedFolder;
use crate::lockfile::{self, Decoded, LockFile, Spans};
use crate::modulelock;
use crate::path::RepoPath;
use crate::trust::pins::{Pins, Republication};
use crate::verify::{Compared, Unanswered, Verified};
use crate::verify::{Counted, Subject};
use crate::workspace::{Names, Reading, RootModule, RunSettings, git_in};

/// One root module with all that was read for it.
#[derive(Debug, Clone)]
pub struct Root {
    pub(super) settings: RunSettings,
    /// What the lock file says; none if it is refused or not there.
    decoded: Option<Arc<Decoded>>,
    /// What is wrong with it as a text.
    text: Vec<Finding>,
    /// The lock file of a root module that cannot have one.
    empty: LockFile,
    nowhere: Spans,
    /// The configuration; none if there is none. Of configuration that cannot be read, nothing but the module lock.
    tree: Option<Arc<Tree>>,
    /// Why the configuration cannot be read.
    unread: Option<Error>,
    /// The remembered signers, if there is a trust file.
    pins: Option<Arc<Counted>>,
    /// What the change is judged by, and what the lock file said before it.
    change: Option<Change>,
    /// What is known of locked modules beside the tree.
    modules: ModuleFacts,
    /// The providers that are asked of a mirror which is a directory of its work tree.
    served_within: BTreeSet<ProviderAddr>,
}

/// What a root module is judged by as a change.
#[derive(Debug, Clone)]
pub struct Change {
    /// The base.
    pub base: Compared,
    /// What the lock file said before.
    pub before: LockFile,
    /// When the history of the base first saw what is new in the lock file, by provider, where the policy wants an age.
    pub first_seen: BTreeMap<ProviderAddr, SystemTime>,
    /// What was read though it is not known what it will be where the change is used.
    pub unseen: Option<Error>,
}

impl Root {
    /// Reads the lock file, the configuration and what is tracked of packages.
    ///
    /// # Errors
    ///
    /// If the lock file cannot be read. What is wrong with its text is a finding; what is wrong with the configuration is
    /// kept, since most of what a lock file is judged by is not there.
    pub fn open(settings: &RunSettings, pins: Option<Arc<Counted>>, packages: &[TrackedFolder]) -> Result<Self, Error> {
        let mut module = RootModule::open(settings)?;
        let unread = module.read_configuration(Reading::LENIENT).err();
        let RootModule { settings, lock, mut tree, .. } = module;
        if unread.is_some() {
            tree = Some(Arc::new(Tree::of_modules_alone(&settings.root)));
        }
        let mut text = Vec::new();
        let mut decoded = None;
        match lock {
            Some(Ok(read)) => {
                text.clone_from(&read.warnings);
                decoded = Some(read);
            }
            Some(Err(findings)) => text = findings,
            None => text.extend(missing(&settings, tree.as_deref())),
        }
        if unread.is_none() {
            let lock = decoded.as_ref().map(|decoded| &decoded.lock);
            text.extend(other_tool::findings(&settings, tree.as_deref(), lock));
        }
        text.extend(tracked_packages(&settings, packages));
        text.extend(tree.iter().flat_map(|tree| foreign_modules(&settings, tree)));
        Ok(Self {
            settings,
            decoded,
            text,
            empty: LockFile::new(),
            nowhere: Spans::default(),
            tree,
            unread,
            pins,
            change: None,
            modules: ModuleFacts::default(),
            served_within: BTreeSet::new(),
        })
    }

    /// What the lock file says; nothing if it says nothing that can be read.
    pub fn lock(&self) -> &LockFile {
        self.decoded.as_ref().map_or(&self.empty, |decoded| &decoded.lock)
    }

    /// What names of providers mean here.
    pub fn names(&self) -> Names<'_> {
        let requirements = self.subject().requirements;
        Names { requirements, lock: Some(self.lock()), dialect: self.settings.dialect }
    }

    /// What the run is told about the root module.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// The same root module, judged as a change of what the lock file said before.
    #[must_use]
    pub fn since(mut self, change: Change) -> Self {
        let is_missing = |finding: &Finding| finding.rule == Rule::LockFileMissing;
        let may_need_one = self.unread.is_some() && !self.settings.lock_file().exists();
        if !change.before.is_empty() && (may_need_one || self.text.iter().any(is_missing)) {
            self.text.retain(|finding| !is_missing(finding));
            let message = "the dependency lock file that was here at the base was removed";
            let gone = Finding::new(Rule::LockFileRemoved, message).in_file(lockfile::FILE_NAME);
            self.text.push(gone.at(Position::default()).filled("REV", change.base.short()));
        }
        self.change = Some(change);
        self
    }

    /// The same root module, with what its module lock file said before the change, if there was one.
    #[must_use]
    pub fn since_modules(mut self, before: Option<Vec<u8>>) -> Self {
        self.modules.before = before;
        self
    }

    /// Why the configuration cannot be read; none if it was read, or if there is none.
    pub fn unread(&self) -> Option<&Error> {
        self.unread.as_ref()
    }

    /// The configuration; none if there is none.
    pub(super) fn tree(&self) -> Option<&Tree> {
        self.tree.as_deref()
    }

    /// True if any module is locked.
    pub(super) fn locks_modules(&self) -> bool {
        let read = self.tree.as_ref().and_then(|tree| tree.module_lock.as_ref());
        read.is_some_and(|read| !read.file.lock.is_empty())
    }

    /// What is locked of modules and who calls them.
    pub(super) fn locked_modules(&self) -> Option<LockedModules<'_>> {
        let tree = self.tree.as_ref()?;
        Some(LockedModules { settings: &self.settings, tree, facts: &self.modules })
    }

    /// Keeps what the sources of locked modules serve now.
    pub(super) fn learn_served(&mut self, served: ServedModules) {
        self.modules.served = served;
    }

    /// Keeps which providers are asked of a mirror that is a directory of its work tree.
    pub(super) fn learn_served_within(&mut self, providers: BTreeSet<ProviderAddr>) {
        self.served_within = providers;
    }

    /// The providers that are asked of a mirror which is a directory of its work tree.
    pub(super) fn served_within(&self) -> &BTreeSet<ProviderAddr> {
        &self.served_within
    }

    /// What was read: files, and directories of modules; all absolute.
    pub fn read(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let root = &self.settings.place;
        let files = self.tree.iter().flat_map(|tree| &tree.files_read).map(|file| root.join(file));
        let mut directories: Vec<PathBuf> = files.clone().filter_map(|file| Some(file.parent()?.to_owned())).collect();
        directories.extend(self.tree.iter().flat_map(|tree| &tree.local_modules).map(|path| root.join(path)));
        directories.push(root.clone());
        directories.sort_unstable();
        directories.dedup();
        let locks = [lockfile::FILE_NAME, modulelock::FILE_NAME].map(|name| root.join(name));
        (files.chain(locks).collect(), directories)
    }

    pub(super) fn compared(&self) -> Option<&Compared> {
        self.change.as_ref().map(|change| &change.base)
    }

    /// What the change is judged by, and what the lock file said before it.
    pub(in crate::commands) fn base(&self) -> Option<(&Compared, &LockFile)> {
        self.change.as_ref().map(|change| (&change.base, &change.before))
    }

    /// The lock file and the configuration that decide what is said of it, equal for equal ones; none where something
    /// else has a say: a change, modules that are locked or missing, what stands beside.
    pub(super) fn texts(&self) -> Option<[usize; 2]> {
        let decoded = self.decoded.as_ref().filter(|decoded| decoded.warnings.len() == self.text.len())?;
        let tree = self.tree.as_ref();
        let alone = tree.is_none_or(|tree| tree.module_lock.is_none() && tree.missing.is_empty());
        let alone = alone && self.unread.is_none() && self.change.is_none() && self.modules.before.is_none();
        alone.then(|| [Arc::as_ptr(decoded).addr(), tree.map_or(0, |tree| Arc::as_ptr(tree).addr())])
    }

    /// True if the rules that hold for it are those of another root module.
    pub(super) fn is_under_rules_of(&self, other: &Self) -> bool {
        let pins = |root: &Self| root.pins.as_ref().map(Arc::as_ptr);
        let (own, others) = (&self.settings, &other.settings);
        own.dialect == others.dialect && pins(self) == pins(other) && own.settings == others.settings
    }

    /// The remembered signers, if there is a trust file.
    pub(super) fn pins(&self) -> Option<&Pins> {
        self.pins.as_deref().map(|counted| &counted.pins)
    }

    /// True if a republication was accepted at the base already.
    pub(super) fn is_settled(&self, record: &Republication) -> bool {
        self.pins.as_deref().is_some_and(|counted| counted.settled.contains(record))
    }

    pub(in crate::commands) fn spans(&self) -> Option<&Spans> {
        self.decoded.as_ref().map(|decoded| &decoded.spans)
    }

    pub(super) fn text_findings(&self) -> Vec<Finding> {
        let of_modules = self.locked_modules().map(|modules| modules.findings()).unwrap_or_default();
        self.text.iter().cloned().chain(of_modules).collect()
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            lock: self.lock(),
            before: self.change.as_ref().map(|change| &change.before),
            first_seen: self.change.as_ref().map(|change| &change.first_seen),
            spans: &self.nowhere,
            requirements: self.tree.as_ref().filter(|_| self.unread.is_none()).map(|tree| &tree.requirements),
            complete: self.tree.as_ref().is_none_or(|tree| tree.complete),
            settings: &self.settings.settings,
            dialect: self.settings.dialect,
            pins: self.pins(),
            now: self.settings.now,
        }
    }

    /// The modules that are missing, or not where they seem to be: what they require is not known.
    pub(super) fn unknown_tree(&self) -> Verified {
        // What is not what is locked is a finding.
        let is_known = |module: &&MissingModule| !module.is_refuted();
        let missing = self.tree.iter().flat_map(|tree| &tree.missing).filter(is_known);
        let errors = missing.map(|module| self.settings.not_installed(module));
        let errors = errors.map(|error| Unanswered { error, changed: false });
        let unasked = self.locked_modules().map(|modules| modules.unanswered()).unwrap_or_default();
        let unseen = self.change.iter().filter_map(|change| change.unseen.as_ref());
        let unseen = unseen.map(|error| Unanswered { error: error.clone(), changed: true });
        Verified { inconclusive: errors.chain(unasked).chain(unseen).collect(), ..Verified::default() }
    }

    /// Findings with their files as reports name them.
    pub(in crate::commands) fn placed(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let lock = self.settings.lock_file_shown();
        let place = |finding: Finding| {
            let file = match &finding.file {
                Some(file) if file.is_relative() => file_from(&self.settings.path, file),
                Some(file) => file.clone(),
                None => lock.clone(),
            };
            finding.in_file(file)
        };
        findings.into_iter().map(place).collect()
    }
}

fn missing(settings: &RunSettings, tree: Option<&Tree>) -> Option<Finding> {
    let required = tree.map_or(0, |tree| tree.requirements.len());
    // Neither does `init` write a file where nothing is required.
    let required = match required {
        0 => return None,
        1 => "1 provider".to_owned(),
        many => format!("{many} providers"),
    };
    let message =
        format!("there is no lock file {}, though the configuration requires {required}", lockfile::FILE_NAME);
    Some(Finding::new(Rule::LockFileMissing, message).in_file(lockfile::FILE_NAME).at(Position::default()))
        .filter(|_| !settings.lock_file().exists())
}

/// The modules that are installed, whatever installed them, of hosts that policy does not allow.
fn foreign_modules(settings: &RunSettings, tree: &Tree) -> Vec<Finding> {
    let policy = &settings.settings.policy;
    let finding = |call: &RemoteModuleCall| {
        let host = call.address.as_ref()?.host().filter(|host| !policy.allows_module_host(host))?;
        let message = format!("the policy does not allow the host {host} of module {}", call.key);
        Some(Finding::new(Rule::HostNotAllowed, message).in_file(&*call.place.file).at(call.place.position))
    };
    tree.remote_modules.iter().filter_map(finding).collect()
}

fn tracked_packages(settings: &RunSettings, packages: &[TrackedFolder]) -> Vec<Finding> {
    let prefix = RepoPath::below(&settings.boundary, &settings.place).unwrap_or_default().prefix();
    let within = |path: &RepoPath| path.strip_prefix(&prefix).unwrap_or(path).to_owned();
    let finding = |folder: &TrackedFolder| {
        let place = within(&folder.path);
        let message = format!("git tracks {place}, from where packages are installed without a registry");
        let git = git_in(&settings.root);
        let remedy = format!("Remove them from version control: `{git} rm -r --cached {}`.", shell_word(&place));
        Finding::new(Rule::TrackedPackages, message).in_file(within(&folder.first)).remedied_by(&remedy)
    };
    packages.iter().map(finding).collect()
}
