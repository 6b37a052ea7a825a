//! The result of a command: data, neither printed nor coloured.

pub mod advice;
mod changes;
mod facts;
mod not_counted;
mod packages;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::addr::ProviderAddr;
use crate::config::RootKind;
use crate::dialect::Dialect;
use crate::error::{Error, ExitCode};
use crate::finding::Finding;
use crate::lockfile::LockEntry;
use crate::merge::Shortened;
use crate::platform::Platform;
use crate::release::ReleaseKey;
use crate::requirements::{Origin, Requirement};
use crate::settings::Date;
use crate::step::{Place, Step};
use crate::trust::openpgp::Identities;
use crate::trust::pins::{Pins, Signer};
use crate::verify::{Compared, Verified};
use crate::words::counted;
use crate::workspace::Repository;
use advice::InvocationContext;

pub use crate::disk::mirror_writer::Fate;
pub use changes::{Changes, Need, Review, TrustChange};
pub use facts::{
    CallOnPath, InstalledModule, InstalledModules, ModuleHolder, ModuleVersions, OutdatedModule, OutdatedModules,
    UsedModule,
};
pub use facts::{
    Explained, ExplainedEntry, ExplainedHash, ExplainedProvider, HashOrigin, Hashed, ItemRule, RecordedAt,
    RecordedHash, ReleaseOfHash,
};
pub use not_counted::NotCounted;
pub use packages::{AuditReport, AuditedDatabase, AuditedProgram, FixedBy, NotChecked, Vulnerability};
pub use packages::{InstallReport, InstallState, InstalledPackage};
pub use packages::{Inventory, InventoryContents, InventoryModule, InventoryPart, InventoryProgram, InventoryProvider};
pub use packages::{MirrorReport, MirroredPackage};
pub use tools::{AttributeLines, CacheReport, FormattedFile, Generated, GitReport, GitSetting, HashLine, MergedFile};
pub use tools::{NextStep, SetupFile, SetupReport, SetupState, Status};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub command: &'static str,
    /// One result for each root module; `many` decides whether JSON has them under `roots`.
    pub roots: Vec<RootOutcome>,
    /// Findings about the working tree as a whole, if no root module is at its top.
    pub work_tree: Option<WorkTreeFindings>,
    pub not_counted: NotCounted,
    /// The kinds of root modules that are no modules.
    pub kinds: BTreeMap<PathBuf, RootKind>,
    /// For `verify --base`: what the change does to lock files, as `diff` explains it.
    pub since_base: Vec<RootOutcome>,
    /// True if several root modules were requested (`-C` repeated, `-r`), even if only one was found.
    pub many: bool,
    /// Notes for users, printed on standard error.
    pub notes: Notes,
    pub error: Option<Error>,
    /// Why a run that judges looked at no lock file, if it did not.
    pub unlooked: Option<String>,
    /// The command that comes next, where the findings do not decide it.
    pub next: Option<Step>,
    pub code: ExitCode,
    /// The tool whose default registry host is omitted from addresses; `None` if the root modules differ.
    pub dialect: Option<Dialect>,
    /// How `list` groups several root modules.
    pub grouping: Grouping,
    /// The form of the graph of `why`, if requested.
    pub graph: Option<GraphFormat>,
    /// True if root modules were searched for: next steps for all of them get `-r`.
    pub recursive: bool,
    /// True after `verify --fix`: what is left, another run would not repair either.
    pub is_repaired: bool,
    /// For a page: where its facts are from.
    pub repository: Option<Repository>,
    /// Where the user is, for next steps about the whole run.
    pub place: Option<Arc<Place>>,
}

/// Notes, each once; most are plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes(pub Vec<Step>);

impl Notes {
    pub fn push(&mut self, note: impl Into<Step>) {
        let note = note.into();
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }
}

impl<T: Into<Step>> Extend<T> for Notes {
    fn extend<I: IntoIterator<Item = T>>(&mut self, notes: I) {
        notes.into_iter().for_each(|note| self.push(note));
    }
}

impl<T: Into<Step>> FromIterator<T> for Notes {
    fn from_iter<I: IntoIterator<Item = T>>(notes: I) -> Self {
        let mut all = Self::default();
        all.extend(notes);
        all
    }
}

impl From<Vec<String>> for Notes {
    fn from(notes: Vec<String>) -> Self {
        notes.into_iter().collect()
    }
}

/// The values of `why --graph`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz: `tflock why --graph dot | dot -Tsvg`.
    Dot,
    /// For Mermaid, which code hosts draw in Markdown.
    Mermaid,
}

/// The values of `list --by`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Grouping {
    /// Which versions of each provider, and where.
    #[default]
    Provider,
    /// What each root module locks.
    Root,
}

/// The findings of a root module with the place of the user, whom their next steps are for.
fn for_user(findings: Vec<Finding>, root: &Path, ctx: &InvocationContext) -> Vec<Finding> {
    let placed = |finding: Finding| {
        let place = ctx.of_root(root, finding.file.as_deref());
        finding.for_user_at(place)
    };
    findings.into_iter().map(placed).collect()
}

impl Outcome {
    /// The results of root modules; the exit code is computed from them.
    pub fn of_roots(command: &'static str, roots: Vec<RootOutcome>) -> Self {
        Self { command, code: ExitCode::all(roots.iter().map(RootOutcome::code)), roots, ..Self::default() }
    }

    pub fn of_body(command: &'static str, body: Body) -> Self {
        Self::of_roots(command, vec![RootOutcome::of("", body)])
    }

    /// The findings about the working tree, and those of all root modules.
    pub fn findings(&self) -> impl Iterator<Item = (&Path, &Finding)> {
        self.work_tree_findings().chain(self.roots.iter().flat_map(RootOutcome::placed_findings))
    }

    pub fn work_tree_findings(&self) -> impl Iterator<Item = (&Path, &Finding)> {
        self.work_tree.iter().flat_map(|tree| &tree.findings).map(|finding| (Path::new(""), finding))
    }

    /// The errors of all root modules.
    pub fn errors(&self) -> impl Iterator<Item = (&Path, &Error)> {
        self.roots.iter().flat_map(RootOutcome::errors)
    }

    /// What a change was compared with.
    pub fn base(&self) -> Option<&Compared> {
        let of_tree = self.work_tree.as_ref().and_then(|tree| tree.base.as_ref());
        of_tree.or_else(|| {
            self.roots.iter().find_map(|root| match &root.body {
                Ok(Body::Verified(verified)) => verified.base.as_ref(),
                _ => None,
            })
        })
    }

    /// Gives next steps the place of the user.
    #[must_use]
    pub fn advised(mut self, ctx: &InvocationContext) -> Self {
        self.recursive = ctx.recursive;
        self.place = Some(Arc::new(ctx.of_all(None)));
        if let Some(tree) = &mut self.work_tree {
            tree.findings = for_user(std::mem::take(&mut tree.findings), Path::new(""), ctx);
        }
        for root in &mut self.roots {
            let RootOutcome { path, body, findings } = root;
            *findings = for_user(std::mem::take(findings), path, ctx);
            let unanswered: Vec<&mut Error> = match body {
                Err(error) => vec![error],
                Ok(Body::Verified(verified)) => verified.inconclusive.iter_mut().map(|it| &mut it.error).collect(),
                Ok(Body::Review(review)) => review.inconclusive.iter_mut().collect(),
                Ok(Body::Changes(changes)) => {
                    changes.advice.iter_mut().for_each(|step| step.place(ctx.of_each(path, None)));
                    continue;
                }
                Ok(Body::Install(report)) => {
                    report.failed.iter_mut().for_each(|error| error.place(&|file| ctx.of_each(path, file)));
                    continue;
                }
                Ok(_) => continue,
            };
            for error in unanswered {
                error.place(&|file| ctx.of_root(path, file));
            }
        }
        if let Some(error) = &mut self.error {
            error.place(&|file| ctx.of_all(file));
        }
        let of_run = self.notes.0.iter_mut().chain(&mut self.next);
        of_run.for_each(|step| step.place(ctx.of_all(None)));
        self
    }

    /// Adds an error.
    #[must_use]
    pub fn with_error(mut self, error: Option<Error>) -> Self {
        if let Some(error) = error {
            self.code = self.code.and(ExitCode::of_error(&error));
            self.error = Error::all(self.error.take().into_iter().chain([error]));
        }
        self
    }

    /// Adds findings about the working tree as a whole: to the root module at its top, or to the only one.
    #[must_use]
    pub fn with_work_tree(mut self, WorkTreeFindings { base, findings }: WorkTreeFindings) -> Self {
        if findings.is_empty() {
            return self;
        }
        self.code = self.code.and(ExitCode::of_findings(&findings));
        let many = self.many;
        match self.roots.iter_mut().find(|root| !many || root.path.as_os_str().is_empty()) {
            Some(root) => drop(root.findings.splice(0..0, findings)),
            None => self.work_tree = Some(WorkTreeFindings { base, findings }),
        }
        self
    }

    /// Sets exit code 1 if there is a difference that the caller wants to see.
    #[must_use]
    pub fn exit_1_if(mut self, differs: bool) -> Self {
        if differs {
            self.code = self.code.and(ExitCode::Findings);
        }
        self
    }
}

/// Findings about the working tree as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkTreeFindings {
    /// What the working tree was compared with.
    pub base: Option<Compared>,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootOutcome {
    /// Relative to the working tree; empty for the directory of the run.
    pub path: PathBuf,
    pub body: Result<Body, Error>,
    pub findings: Vec<Finding>,
}

impl RootOutcome {
    pub fn code(&self) -> ExitCode {
        let errors = self.errors().map(|(_, error)| ExitCode::of_error(error));
        ExitCode::all(errors).and(ExitCode::of_findings(&self.findings))
    }

    /// What is not done or not known: sources without an answer, and failed work.
    pub fn errors(&self) -> impl Iterator<Item = (&Path, &Error)> {
        let errors: Vec<&Error> = match &self.body {
            Err(error) => vec![error],
            Ok(Body::Verified(verified)) => verified.inconclusive.iter().map(|it| &it.error).collect(),
            Ok(
                Body::Install(InstallReport { failed, .. })
                | Body::Mirror(MirrorReport { failed, .. })
                | Body::Audit(AuditReport { failed, .. }),
            ) => failed.iter().collect(),
            Ok(_) => Vec::new(),
        };
        errors.into_iter().map(|error| (self.path.as_path(), error))
    }

    pub fn placed_findings(&self) -> impl Iterator<Item = (&Path, &Finding)> {
        self.findings.iter().map(|finding| (self.path.as_path(), finding))
    }

    /// True if `outdated` found a newer version that the constraints allow.
    pub fn is_upgradable(&self) -> bool {
        match &self.body {
            Ok(Body::Outdated(report)) => report.rows.iter().any(Outdated::is_upgradable),
            Ok(Body::OutdatedModules(report)) => report.rows.iter().any(OutdatedModule::is_upgradable),
            _ => false,
        }
    }

    pub fn of(path: impl Into<PathBuf>, body: Body) -> Self {
        Self { path: path.into(), body: Ok(body), findings: Vec::new() }
    }

    pub fn failed(path: impl Into<PathBuf>, error: Error) -> Self {
        Self { path: path.into(), body: Err(error), findings: Vec::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// `why`: providers with their requirements and locked version.
    Requirements(Vec<Required>),
    /// `list`: the entries of the lock file.
    Entries(Arc<Vec<Listed>>),
    /// `outdated`: the providers with the available versions.
    Outdated(OutdatedReport),
    /// `outdated --modules`: the modules with the available versions.
    OutdatedModules(OutdatedModules),
    /// `lock` and related commands.
    Changes(Changes),
    /// `diff`.
    Review(Review),
    /// `verify`: the number of proven hashes; problems are in the findings.
    Verified(Verified),
    /// `trust`: remembered signers.
    Trust(TrustReport),
    /// `list --modules`: the module calls.
    Modules(Vec<UsedModule>),
    /// `install`: the packages and modules.
    Install(InstallReport),
    /// `get`: the installed modules.
    Installed(InstalledModules),
    /// `explain`: a rule, a hash or a provider.
    Explained(Explained),
    /// `fmt`: the files.
    Formatted(Vec<FormattedFile>),
    /// `hash`: the hashes of packages.
    Hashed(Vec<HashLine>),
    /// `cache`: the index.
    Cache(CacheReport),
    /// `mirror`: the packages.
    Mirror(MirrorReport),
    /// `audit`: the programs of providers; advisories about them are in the findings too.
    Audit(AuditReport),
    /// `sbom`: the contents of all root modules.
    Sbom(Arc<Inventory>),
    /// `status`: the state of the working tree.
    Status(Box<Status>),
    /// `setup`: the files.
    Setup(SetupReport),
    /// `git`: its settings, one report for each clone.
    Git(Vec<GitReport>),
    /// `merge`: the files.
    Merged(Vec<MergedFile>),
    /// `textconv`: the short form of a lock file.
    Shortened(Shortened),
    /// `completions`, `man`: generated text.
    Generated(Generated),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Required {
    pub address: ProviderAddr,
    pub requirement: Requirement,
    pub locked: Option<crate::version::Version>,
    /// The calls to each module that requires it, by the dotted path of the module.
    pub paths: BTreeMap<String, Vec<CallOnPath>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OutdatedReport {
    #[serde(rename = "outdated")]
    pub rows: Vec<Outdated>,
    /// True if no registry failed, and the settings forbade none.
    pub complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outdated {
    pub address: ProviderAddr,
    pub selected: Option<crate::version::Version>,
    pub allowed: Option<crate::version::Version>,
    pub newest: Option<crate::version::Version>,
    #[serde(rename = "held_back_by")]
    pub holders: Vec<Origin>,
    /// The modules that require it, by dotted path.
    #[serde(skip)]
    pub required_by: BTreeSet<String>,
    /// Newer versions that the constraints allow, newest first.
    #[serde(rename = "skipped")]
    pub passed_over: Vec<PassedOver>,
    /// The ages of the newer releases that are shown, as far as they are known.
    pub ages: Vec<ReleaseAge>,
    /// What the registry warns of.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    pub version: crate::version::Version,
    /// Why it is not selected.
    pub reason: String,
    /// True if it is only too young.
    #[serde(skip)]
    pub too_young: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseAge {
    pub version: crate::version::Version,
    /// When it was signed.
    pub signed: Date,
    pub days: u64,
    /// True if `minimum_age` of the settings excludes it.
    pub too_young: bool,
    /// After how many days that age is reached.
    pub allowed_in: Option<u64>,
    /// True if a command that writes would refuse its signer.
    pub signer_refused: bool,
}

impl fmt::Display for ReleaseAge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = |days: u64| counted(usize::try_from(days).unwrap_or(usize::MAX), "day");
        match self.days {
            0 => f.write_str("signed today")?,
            old => write!(f, "{} old", days(old))?,
        }
        match self.allowed_in {
            Some(left) => write!(f, ", allowed in {}", days(left))?,
            None if self.too_young => f.write_str(", too young")?,
            None => {}
        }
        if self.signer_refused { f.write_str(", signer refused") } else { Ok(()) }
    }
}

impl Outdated {
    /// True if neither the selected version nor a different version is allowed.
    pub fn is_excluded(&self) -> bool {
        self.allowed.is_none() && self.selected.is_some()
    }

    pub fn is_upgradable(&self) -> bool {
        self.has_other_allowed() && !self.is_signer_refused()
    }

    /// True if `upgrade` would refuse the signer of the version that it selects.
    pub fn is_signer_refused(&self) -> bool {
        let is_refused = |age: &ReleaseAge| age.signer_refused && Some(&age.version) == self.allowed.as_ref();
        self.has_other_allowed() && self.ages.iter().any(is_refused)
    }

    fn has_other_allowed(&self) -> bool {
        self.allowed.is_some() && self.allowed != self.selected
    }

    pub fn is_noteworthy(&self) -> bool {
        self.allowed != self.selected || self.newest > self.selected || !self.warnings.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub address: ProviderAddr,
    pub entry: LockEntry,
    /// Whether the configuration requires it; `None` without configuration.
    pub required: Option<bool>,
    /// The modules that require it, by dotted path; empty for the root module.
    pub required_by: Vec<String>,
    /// The platforms that the local index attributes to its hashes.
    pub platforms: Vec<Platform>,
    pub signer: Option<Signer>,
}

/// Serializes releases as objects.
fn releases<S: Serializer>(releases: &[ReleaseKey], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(releases.iter().map(|(address, version)| json!({ "address": address, "version": version })))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustReport {
    /// Relative to the working tree.
    pub path: PathBuf,
    /// Whether the file was written; `None` if no change was requested.
    pub changed: Option<bool>,
    /// True if `pins` were removed.
    pub forgotten: bool,
    /// True if registries named the signers, and not the user.
    pub looked_up: bool,
    /// The pins that the command changed; for `trust list` all.
    pub pins: Pins,
    /// The known user IDs of the keys in `pins`.
    pub names: Identities,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_kept_once() {
        let mut notes = Notes::from(vec!["one".to_owned(), "two".to_owned(), "one".to_owned()]);
        notes.push("two");
        notes.extend(["one", "three"]);
        assert_eq!(notes.0, ["one", "two", "three"].map(Step::from));
    }
}
