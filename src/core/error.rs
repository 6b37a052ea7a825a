//! Errors: we could not do our work. With findings they decide the exit code, which is public interface: one table for all
//! commands.
//!
//! Every module has its own small enum. Next to it is how it becomes an [`Error`]: its kind, which decides the exit
//! code, and its hints.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::finding::{Class, Finding, Level, Position};
use crate::step::{Place, Step};
use crate::words::shown;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    Usage,
    /// `.tflock.hcl`, the trust file or the CLI configuration.
    Settings,
    Configuration,
    LockFile,
    /// No such provider, version or platform; or the locked version is not allowed.
    NotFound,
    /// The registry affirms that there is no provider of this address. For machines as `NotFound`.
    UnknownProvider,
    Package,
    Disk,
    /// Refused: a hash, a signature or a signer is not what it must be.
    Trust,
    /// The policy does not allow it, so nothing was asked. For machines as `Trust`.
    Policy,
    /// A source was unreachable or sent an invalid response; a retry may help.
    Unavailable,
    Unauthorized,
    /// A module is not installed, so its requirements are unknown.
    NotInstalled,
    /// `--offline` forbade a question that the work needs.
    Offline,
    Interrupted,
}

impl ErrorKind {
    /// True if it is not known, and a retry may help.
    pub fn is_inconclusive(self) -> bool {
        use ErrorKind::{NotInstalled, Offline, Unauthorized, Unavailable};
        matches!(self, Unavailable | Unauthorized | NotInstalled | Offline)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Usage => "usage",
            ErrorKind::Settings => "settings",
            ErrorKind::Configuration => "configuration",
            ErrorKind::LockFile => "lock-file",
            ErrorKind::NotFound | ErrorKind::UnknownProvider => "not-found",
            ErrorKind::Package => "package",
            ErrorKind::Disk => "disk",
            ErrorKind::Trust | ErrorKind::Policy => "trust",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Unauthorized => "unauthorized",
            ErrorKind::NotInstalled => "not-installed",
            ErrorKind::Offline => "offline",
            ErrorKind::Interrupted => "interrupted",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Error {
    pub kind: ErrorKind,
    /// One line, lower case, no full stop.
    pub message: String,
    /// The file it is about, as the user knows it.
    pub file: Option<PathBuf>,
    pub position: Option<Position>,
    /// The line at that place, as written in the file, for users to find it; of a long one the part around the place.
    pub line: Option<Box<str>>,
    pub address: Option<Box<ProviderAddr>>,
    /// The requested address, without secrets.
    pub url: Option<String>,
    pub hints: Vec<Step>,
    /// Further errors of the same run, such as one for each provider.
    pub others: Vec<Error>,
}

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            file: None,
            position: None,
            line: None,
            address: None,
            url: None,
            hints: Vec::new(),
            others: Vec::new(),
        }
    }

    /// The message after its place, for use in a sentence.
    pub fn located(&self) -> String {
        match (&self.file, self.position) {
            (Some(file), Some(position)) => format!("{}:{position}: {}", shown(file), self.message),
            (Some(file), None) => format!("{}: {}", shown(file), self.message),
            (None, _) => self.message.clone(),
        }
    }

    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    #[must_use]
    pub fn quoting(mut self, line: &str) -> Self {
        self.line = (!line.is_empty()).then(|| line.into());
        self
    }

    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    #[must_use]
    pub fn about(mut self, address: ProviderAddr) -> Self {
        self.address = Some(Box::new(address));
        self
    }

    #[must_use]
    pub fn about_url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Places its next steps, and those of the errors next to it, by the files that they are about.
    pub fn place(&mut self, place: &dyn Fn(Option<&Path>) -> Place) {
        let own = Arc::new(place(self.file.as_deref()));
        self.place_at(Some(&own));
        self.others.iter_mut().for_each(|other| other.place(place));
    }

    /// Places its next steps in all root modules.
    pub fn place_in_all(&mut self) {
        for hint in &mut self.hints {
            *hint = std::mem::take(hint).for_all();
        }
    }

    /// Places its next steps at one place, or at none.
    pub fn place_at(&mut self, place: Option<&Arc<Place>>) {
        for hint in &mut self.hints {
            *hint = std::mem::take(hint).at(place.cloned());
        }
    }

    /// The next steps as they are wherever the run was started.
    pub fn general_hints(&self) -> Vec<Step> {
        self.hints.iter().map(|hint| hint.clone().at(None)).collect()
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<Step>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same with further next steps.
    #[must_use]
    pub fn hints(self, hints: impl IntoIterator<Item = impl Into<Step>>) -> Self {
        hints.into_iter().fold(self, Self::hint)
    }

    /// Many errors as one: the first one carries the others, and theirs. `None` without errors.
    pub fn all(errors: impl IntoIterator<Item = Error>) -> Option<Self> {
        let each = errors.into_iter().flat_map(|mut error| {
            let others = std::mem::take(&mut error.others);
            std::iter::once(error).chain(others)
        });
        // A dead host gives the same error to everything that needs it.
        let mut seen = HashSet::new();
        let mut each = each.filter(|error| seen.insert(error.clone()));
        let mut first = each.next()?;
        first.others = each.collect();
        Some(first)
    }

    /// Findings at level deny that prevent the work, as one error; `None` without such findings.
    ///
    /// A lock file that cannot be read is both: `verify` finds it, for all others it is an error. Findings of class trust
    /// or policy keep their class, whatever the kind.
    pub fn of_findings(kind: ErrorKind, findings: &[Finding]) -> Option<Self> {
        let denied = findings.iter().filter(|finding| finding.level() == Level::Deny);
        let kind = |finding: &Finding| if finding.rule.class() == Class::Other { kind } else { ErrorKind::Trust };
        Self::all(denied.map(|finding| Self {
            file: finding.file.clone(),
            position: finding.position,
            ..Self::new(kind(finding), finding.message()).hint(finding.general_help())
        }))
    }

    /// A lock file that cannot be used for what is in it: all its findings at level deny.
    pub fn of_lock_file(findings: Vec<Finding>, shown: &Path) -> Self {
        let findings: Vec<Finding> = findings.into_iter().map(|finding| finding.in_file(shown)).collect();
        let unknown = || Self::new(ErrorKind::LockFile, "the lock file is refused").in_file(shown);
        Self::of_findings(ErrorKind::LockFile, &findings).unwrap_or_else(unknown)
    }

    pub fn each(&self) -> impl Iterator<Item = &Error> {
        std::iter::once(self).chain(&self.others)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ExitCode {
    /// Done; no finding at level deny.
    #[default]
    Done = 0,
    /// Findings at level deny, or `--check` found a difference.
    Findings = 1,
    /// The work could not be done: usage, unreadable input, no such provider or version, disk.
    Failed = 2,
    /// Trust refused: findings of class trust or policy at level deny. A retry will not help.
    Refused = 3,
    /// Inconclusive: a source was unreachable, sent an invalid response or requires credentials. A retry may help.
    Inconclusive = 4,
    /// Interrupted with Ctrl-C, as shells count it: 128 and the number of SIGINT.
    Interrupted = 130,
    /// Ended with SIGTERM, counted the same way.
    Terminated = 143,
}

impl ExitCode {
    /// The one that counts when both apply: 143, 130, 3, 2, 4, 1, 0.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self.weight() >= other.weight() { self } else { other }
    }

    fn weight(self) -> u8 {
        match self {
            ExitCode::Terminated => 6,
            ExitCode::Interrupted => 5,
            ExitCode::Refused => 4,
            ExitCode::Failed => 3,
            ExitCode::Inconclusive => 2,
            ExitCode::Findings => 1,
            ExitCode::Done => 0,
        }
    }

    /// The one that counts of many.
    pub fn all(codes: impl IntoIterator<Item = Self>) -> Self {
        codes.into_iter().fold(ExitCode::Done, Self::and)
    }

    /// The code of an error and of the others of its run.
    pub fn of_error(error: &Error) -> Self {
        Self::all(error.each().map(|error| match error.kind {
            ErrorKind::Usage
            | ErrorKind::Settings
            | ErrorKind::Configuration
            | ErrorKind::LockFile
            | ErrorKind::NotFound
            | ErrorKind::UnknownProvider
            | ErrorKind::Package
            | ErrorKind::Disk => ExitCode::Failed,
            ErrorKind::Interrupted => ExitCode::Interrupted,
            ErrorKind::Trust | ErrorKind::Policy => ExitCode::Refused,
            ErrorKind::Unavailable | ErrorKind::Unauthorized | ErrorKind::NotInstalled | ErrorKind::Offline => {
                ExitCode::Inconclusive
            }
        }))
    }

    pub fn of_findings(findings: &[Finding]) -> Self {
        let denied = findings.iter().filter(|finding| finding.level() == Level::Deny);
        Self::all(denied.map(|finding| Self::of_class(finding.rule.class())))
    }

    pub fn of_class(class: Class) -> Self {
        match class {
            Class::Trust | Class::Policy => ExitCode::Refused,
            Class::Other => ExitCode::Findings,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Rule;

    #[test]
    fn precedence() {
        use ExitCode::{Done, Failed, Findings, Inconclusive, Interrupted, Refused, Terminated};
        let order = [Terminated, Interrupted, Refused, Failed, Inconclusive, Findings, Done];
        for (at, first) in order.into_iter().enumerate() {
            for second in &order[at..] {
                assert_eq!((first.and(*second), second.and(first)), (first, first));
            }
        }
    }

    #[test]
    fn errors_of_one_run() {
        let kinds = |kinds: &[ErrorKind]| {
            ExitCode::of_error(&Error::all(kinds.iter().map(|kind| Error::new(*kind, "x"))).unwrap())
        };
        assert_eq!(kinds(&[ErrorKind::Unavailable]), ExitCode::Inconclusive);
        assert_eq!(kinds(&[ErrorKind::Offline, ErrorKind::NotFound]), ExitCode::Failed);
        assert_eq!(kinds(&[ErrorKind::Disk, ErrorKind::Unavailable, ErrorKind::Trust]), ExitCode::Refused);
    }

    #[test]
    fn findings_by_level_and_class() {
        let findings = |rules: &[Rule]| {
            ExitCode::of_findings(&rules.iter().map(|rule| Finding::new(*rule, "x")).collect::<Vec<_>>())
        };
        assert_eq!(findings(&[Rule::FirstUse, Rule::ReleaseGrew]), ExitCode::Done);
        assert_eq!(findings(&[Rule::LockSyntax]), ExitCode::Findings);
        assert_eq!(findings(&[Rule::LockSyntax, Rule::Republished]), ExitCode::Refused);
    }
}
