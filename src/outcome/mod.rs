//! What a command returns: data, neither printed nor coloured.

pub mod advice;
mod explained;
mod mirror;
mod modules;
mod tools;

use std::collections::BTreeMap;
use std::path::PathBuf;

use url::Url;

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::evidence::Verdict;
use crate::exit_code::ExitCode;
use crate::finding::{Finding, Position};
use crate::hash::PackageHash;
use crate::lockfile::LockEntry;
use crate::merge::Shortened;
use crate::modulelock::ModuleChange;
use crate::platform::Platform;
use crate::requirements::{Origin, Requirement};
use crate::trust::Fingerprint;
use crate::trust::pins::{Pins, Signer};
use advice::Stand;

pub use explained::{
    Explained, ExplainedEntry, ExplainedHash, ExplainedProvider, HashOrigin, RecordedAt, ReleaseOfHash,
};
pub use mirror::{Fate, MirrorReport, MirroredPackage};
pub use modules::{InstalledModule, InstalledModules, UsedModule};
pub use tools::{CacheReport, FormattedFile, Generated, GitReport, GitSetting, HashLine, MergedFile};

/// The result of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The command, as typed: `lock`, `why`, …
    pub command: &'static str,
    /// One result for each root module. `many` says whether they stand under `roots` in JSON.
    pub roots: Vec<RootOutcome>,
    /// True if more than one root module was asked for (`-C` repeated, `-r`), even if only one was found.
    pub many: bool,
    /// What people should know beside the result; goes to standard error.
    pub notes: Vec<String>,
    /// What went wrong beside the results, and is about no one root module.
    pub error: Option<Error>,
    /// How the run ended.
    pub code: ExitCode,
    /// The tool for whose default registry short addresses are shown; none if the root modules differ.
    pub dialect: Option<Dialect>,
    /// How `list` of many root modules is told to people.
    pub grouping: Grouping,
    /// True if root modules were searched for: commands in next steps for all of them take `-r`.
    pub recursive: bool,
}

/// By what the entries of many lock files stand together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// Which versions of each provider, and where.
    #[default]
    Provider,
    /// What each root module locks.
    Root,
}

impl Outcome {
    /// Results that end as they say.
    pub fn of_roots(command: &'static str, roots: Vec<RootOutcome>) -> Self {
        Self { command, code: ExitCode::all(roots.iter().map(RootOutcome::code)), roots, ..Self::default() }
    }

    /// An outcome about no root module.
    pub fn of_body(command: &'static str, body: Body) -> Self {
        Self::of_roots(command, vec![RootOutcome { path: PathBuf::new(), body: Ok(body), findings: Vec::new() }])
    }

    /// The same, the commands in its next steps such that they work from where the user stands.
    #[must_use]
    pub fn advised(mut self, stand: &Stand) -> Self {
        self.recursive = stand.recursive;
        for root in &mut self.roots {
            let RootOutcome { path, body, findings } = root;
            for finding in findings {
                finding.advise(|text| stand.for_root(text, path));
            }
            let unanswered: Vec<&mut Error> = match body {
                Err(error) => vec![error],
                Ok(Body::Verified(verified)) => verified.inconclusive.iter_mut().map(|it| &mut it.error).collect(),
                Ok(Body::Changes(changes)) => changes.inconclusive.iter_mut().collect(),
                Ok(_) => Vec::new(),
            };
            for error in unanswered {
                error.advise(&|text| stand.for_root(text, path));
            }
        }
        if let Some(error) = &mut self.error {
            error.advise(&|text| stand.for_all(text));
        }
        self.notes.iter_mut().for_each(|note| *note = stand.for_all(note));
        self
    }

    /// The same with a failure beside the result.
    #[must_use]
    pub fn but(mut self, error: Option<Error>) -> Self {
        if let Some(error) = error {
            self.code = self.code.and(ExitCode::of_error(&error));
            self.error = Error::all(self.error.take().into_iter().chain([error]));
        }
        self
    }

    /// The same where there is a difference that the caller wants to see in the exit code.
    #[must_use]
    pub fn differing(mut self, differs: bool) -> Self {
        if differs {
            self.code = self.code.and(ExitCode::Findings);
        }
        self
    }
}

/// The result for one root module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootOutcome {
    /// The root module, relative to the work tree; empty for the one that the command was run in.
    pub path: PathBuf,
    /// The result, or why there is none.
    pub body: Result<Body, Error>,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl RootOutcome {
    /// How it ended.
    pub fn code(&self) -> ExitCode {
        let body = match &self.body {
            Ok(Body::Verified(verified)) => {
                ExitCode::all(verified.inconclusive.iter().map(|it| ExitCode::of_error(&it.error)))
            }
            Ok(Body::Mirror(report)) => ExitCode::all(report.failed.iter().map(ExitCode::of_error)),
            Ok(_) => ExitCode::Done,
            Err(error) => ExitCode::of_error(error),
        };
        body.and(ExitCode::of_findings(&self.findings))
    }

    /// A root module that could not be worked on.
    pub fn failed(path: impl Into<PathBuf>, error: Error) -> Self {
        Self { path: path.into(), body: Err(error), findings: Vec::new() }
    }

    /// True if nothing was looked at, since nothing changed, and there is nothing to tell.
    pub fn is_untouched(&self) -> bool {
        matches!(&self.body, Ok(Body::Verified(verified)) if verified.unchanged) && self.findings.is_empty()
    }
}

/// What one command found out about one root module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// `why`: providers with who asks for them, and the locked version.
    Requirements(Vec<Required>),
    /// `list`: the entries of the lock file.
    Entries(Vec<Listed>),
    /// `outdated`: the providers with the versions on offer.
    Outdated(OutdatedReport),
    /// `lock` and its like.
    Changes(Changes),
    /// `verify`: how much is known; what is bad stands in the findings.
    Verified(Verified),
    /// `trust`: remembered signers.
    Trust(TrustReport),
    /// `list --modules`: the module calls.
    Modules(Vec<UsedModule>),
    /// `get`: what is installed.
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
    /// `git`: what it was told, one for each clone.
    Git(Vec<GitReport>),
    /// `merge`: the files.
    Merged(Vec<MergedFile>),
    /// `textconv`: a lock file in short.
    Shortened(Shortened),
    /// `completions`, `man`: what is generated.
    Generated(Generated),
}

/// What `verify` knows about the recorded hashes of one root module; none is counted twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Hashes that somebody vouches for.
    pub proven: usize,
    /// Hashes that are neither proven nor refuted.
    pub unknown: usize,
    /// Why some are unknown: sources that gave no answer. Empty if nobody was asked.
    pub inconclusive: Vec<Unanswered>,
    /// True if nothing was looked at, since nothing changed since the base.
    pub unchanged: bool,
    /// What the work tree was compared with; without it the work tree vouches for itself.
    pub base: Option<Compared>,
}

/// What a change is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The revision whose settings and trust file are believed, as typed.
    pub revision: String,
    /// The object name of its commit.
    pub commit: String,
    /// The object name of the commit that lock files are compared with.
    pub merge_base: String,
    /// True if changes of settings and pins were approved: then those of the work tree are believed.
    pub trust_change_allowed: bool,
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// Why there is none.
    pub error: Error,
    /// True if it is about an entry that changed since the base: such a question needs its answer.
    pub changed: bool,
}

/// One provider of `why`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Required {
    /// The provider.
    pub address: ProviderAddr,
    /// Merged constraints and origins.
    pub requirement: Requirement,
    /// The version in the lock file.
    pub locked: Option<crate::version::Version>,
}

/// What `outdated` tells of one root module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutdatedReport {
    /// The providers whose versions are known.
    pub rows: Vec<Outdated>,
    /// True if they are all that was asked about: no registry failed, and none was forbidden to ask.
    pub complete: bool,
}

/// One provider of `outdated`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outdated {
    /// The provider.
    pub address: ProviderAddr,
    /// The version in the lock file.
    pub selected: Option<crate::version::Version>,
    /// The newest that the constraints allow.
    pub allowed: Option<crate::version::Version>,
    /// The newest release of all, pre-releases left out.
    pub newest: Option<crate::version::Version>,
    /// The places in configuration that do not allow the newest.
    pub holders: Vec<Origin>,
}

impl Outdated {
    /// True if `upgrade` would select another version.
    pub fn is_upgradable(&self) -> bool {
        self.allowed.is_some() && self.allowed != self.selected
    }

    /// True if there is anything to tell.
    pub fn is_noteworthy(&self) -> bool {
        self.allowed != self.selected || self.newest > self.selected
    }
}

/// One entry of `list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The provider.
    pub address: ProviderAddr,
    /// The entry.
    pub entry: LockEntry,
    /// Whether the configuration requires it; unknown without configuration.
    pub required: Option<bool>,
    /// The platforms that the local index attributes to its hashes.
    pub platforms: Vec<Platform>,
    /// The signer, where it is known.
    pub signer: Option<Signer>,
}

/// What a command changed in a lock file, or would change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// True if the text is (or would be) another one.
    pub changed: bool,
    /// True if it was written.
    pub written: bool,
    /// The lock file, relative to the work tree.
    pub path: PathBuf,
    /// By provider: in the order of the file, or what is dangerous first.
    pub changes: Vec<Change>,
    /// What else differs between the texts.
    pub text: TextChange,
    /// What is compared, for people: the old side and the new one.
    pub sides: Option<[String; 2]>,
    /// True if registries were asked about the releases that changed.
    pub asked: bool,
    /// Why some hashes could not be judged: sources that were asked and gave no answer.
    pub inconclusive: Vec<Error>,
    /// The unified diff of the texts, for `--dry-run`.
    pub diff: Option<String>,
    /// Configuration files that were written with it, or would be; relative to the work tree.
    pub edited: Vec<PathBuf>,
    /// What changed in the module lock file beside the lock file.
    pub modules: Vec<ModuleChange>,
    /// What was learned about signers.
    pub trust: Option<TrustChange>,
}

/// What `trust` did or shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustReport {
    /// The trust file, relative to the work tree.
    pub path: PathBuf,
    /// Whether it was written; none if nothing was to be changed.
    pub changed: Option<bool>,
    /// True if `pins` are those that are remembered no more.
    pub forgotten: bool,
    /// What the command was about; everything for `trust list`.
    pub pins: Pins,
}

/// What a run learned for the trust file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustChange {
    /// The trust file, relative to the work tree.
    pub path: PathBuf,
    /// True if it was written.
    pub written: bool,
    /// Providers whose signer is remembered from now on.
    pub pinned: Vec<(ProviderAddr, Signer)>,
    /// Keys that are denied from now on, since they were seen revoked.
    pub denied: Vec<Fingerprint>,
    /// Republications that were accepted.
    pub republished: Vec<(ProviderAddr, crate::version::Version)>,
}

/// How two texts differ beside their entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextChange {
    /// The tools whose headers the texts begin with, if they are not the same one.
    pub header: Option<[Option<Dialect>; 2]>,
    /// True if there is no lock file any more, or nothing is in it, where there was one.
    pub removed: bool,
    /// True if the entries are equal and the text differs behind the header: order, spaces, comments, line ends.
    pub formatting: bool,
    /// True if the new text holds values that no tool writes: expressions, escapes, templates.
    pub not_literal: bool,
}

/// What happened to one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The provider; after a move its new address.
    pub address: ProviderAddr,
    /// The address before a move.
    pub moved_from: Option<ProviderAddr>,
    /// What happened.
    pub kind: ChangeKind,
    /// The entry before.
    pub old: Option<LockEntry>,
    /// The entry after.
    pub new: Option<LockEntry>,
    /// New hashes with what is known of them.
    pub hashes_added: Vec<AddedHash>,
    /// Hashes that are gone.
    pub hashes_removed: Vec<PackageHash>,
    /// What is known of the hashes that came or went, for those that were judged.
    pub judged: BTreeMap<PackageHash, Judged>,
    /// Who asks for the provider otherwise than before, where the configuration of both sides is known.
    pub asks: Vec<Ask>,
    /// For a release new to the file: who signed it.
    pub signer: Option<Signer>,
    /// Where the entry stands in the new file.
    pub position: Option<Position>,
    /// What is remembered of that signer.
    pub standing: Standing,
    /// True if a provider that moved is known to have the same archives at its new address, by signed checksums.
    pub identical: bool,
    /// Where the publisher tells about the release, over https; the registry's word.
    pub link: Option<Url>,
}

/// What the trust file says of the signer of a release.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Nobody is remembered for the provider.
    #[default]
    FirstUse,
    /// The signer is remembered.
    Pinned,
    /// The trust file of the new side remembers the signer, that of the old side nobody.
    PinnedHere,
    /// The trust file of the new side remembers the signer, that of the old side another one.
    Rotated,
    /// Another signer is remembered, or this one is denied.
    Refused,
}

/// What is known of a hash that came or went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// The platform of its package, where known.
    pub platform: Option<Platform>,
}

/// A place in configuration that asks for a provider otherwise than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// It did not ask before.
    Came(Origin),
    /// It asks no more; as it was.
    Went(Origin),
    /// It asks, with another constraint.
    Changed {
        /// The constraint that it had.
        was: Option<String>,
        /// The place as it is now.
        now: Origin,
    },
}

/// A new hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedHash {
    /// The hash.
    pub hash: PackageHash,
    /// The platform of its package, where known.
    pub platform: Option<Platform>,
    /// Why it is believed.
    pub evidence: Vec<crate::evidence::Evidence>,
}

/// The kinds of change to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// There was no entry.
    Added,
    /// There is none any more.
    Removed,
    /// A newer version.
    Upgraded,
    /// An older version.
    Downgraded,
    /// Only the constraints.
    ConstraintsChanged,
    /// Hashes were only added, or only removed, under the same version, perhaps with new constraints.
    HashesChanged,
    /// Hashes were removed and others added under the same version.
    HashesReplaced,
    /// The same provider under another host or namespace, perhaps with another version.
    Moved,
}

impl ChangeKind {
    /// The word for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Upgraded => "upgraded",
            ChangeKind::Downgraded => "downgraded",
            ChangeKind::ConstraintsChanged => "constraints-changed",
            ChangeKind::HashesChanged => "hashes-changed",
            ChangeKind::HashesReplaced => "hashes-replaced",
            ChangeKind::Moved => "moved",
        }
    }
}
