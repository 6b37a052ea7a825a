//! Exit codes: one table for all commands. It is public interface.

use crate::error::{Error, ErrorKind};
use crate::finding::{Class, Finding, Level};

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
            ErrorKind::Trust => ExitCode::Refused,
            ErrorKind::Unavailable | ErrorKind::Unauthorized | ErrorKind::NotInstalled | ErrorKind::Offline => {
                ExitCode::Inconclusive
            }
        }))
    }

    pub fn of_findings(findings: &[Finding]) -> Self {
        let denied = findings.iter().filter(|finding| finding.level == Level::Deny);
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
