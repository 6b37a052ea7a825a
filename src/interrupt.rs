//! Ctrl-C: one state for a whole run. After the first signal no file is written any more, and the message counts those that
//! were written before.
//!
//! All that writes files for the user does so between [`Interrupt::writing`] and the end of the [`Writing`] that it returns.
//! A signal waits for the writings that have begun, and none begins after it. So the process may end at any moment
//! afterwards, whatever its threads wait for: a server, git, a lock, standard input. Waits for servers end at once
//! ([`Interrupt::requested`]), so most runs come to their own end, and remove their temporary files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use tokio::sync::watch;

use crate::config::is_root_configuration;
use crate::error::{Error, ErrorKind};
use crate::parallel::locked;
use crate::trust::pins;
use crate::words::counted;
use crate::{lockfile, modulelock};

/// A handle on the state, which all parts of a run share.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<InterruptState>);

#[derive(Default)]
struct InterruptState {
    /// Begins to catch signals. It costs more than some runs do, so it is called when there is something to tell of.
    catch: Mutex<Option<Catch>>,
    /// Locked for reading while files are written.
    phase: RwLock<Phase>,
    requested: watch::Sender<bool>,
    files: Mutex<BTreeMap<What, WrittenFiles>>,
    /// True if the run has come to its own end after a signal.
    ended: Mutex<bool>,
    end: Condvar,
}

type Catch = Box<dyn FnOnce() + Send>;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Running,
    Interrupted,
    /// The work is done, and its result is about to be printed.
    Done,
}

/// What is written, as messages count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    LockFile,
    ModuleLockFile,
    Configuration,
    TrustFile,
    /// Any other text file.
    File,
    InstalledPackage,
    InstalledModule,
    MirroredPackage,
    RemovedPackage,
}

#[derive(Debug, Default)]
struct WrittenFiles {
    written: BTreeSet<PathBuf>,
    /// How many the run would have looked at, if that is known.
    total: usize,
}

/// Files are being written: while it lives, a signal waits.
#[derive(Debug)]
pub struct Writing<'a> {
    state: &'a InterruptState,
    _phase: RwLockReadGuard<'a, Phase>,
}

/// Why nothing is written any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

impl Interrupt {
    /// From [`Self::catch_signals`] on, `catch` says when there is a signal. Without this call there is none.
    pub fn on_signals(&self, catch: impl FnOnce() + Send + 'static) {
        *locked(&self.0.catch) = Some(Box::new(catch));
    }

    /// To be called before the first request, and before the first file is written. Before that, a signal ends the process
    /// as it ends any other.
    pub fn catch_signals(&self) {
        if let Some(catch) = locked(&self.0.catch).take() {
            catch();
        }
    }

    /// Fails after a signal. A thread must not begin a second writing within a first.
    pub fn writing(&self) -> Result<Writing<'_>, Interrupted> {
        self.catch_signals();
        let phase = self.0.phase.read().unwrap_or_else(PoisonError::into_inner);
        if *phase == Phase::Interrupted { Err(Interrupted) } else { Ok(Writing { state: &self.0, _phase: phase }) }
    }

    /// Adds to the number that messages compare the written files with.
    pub fn expect(&self, what: What, count: usize) {
        self.catch_signals();
        locked(&self.0.files).entry(what).or_default().total += count;
    }

    pub fn is_requested(&self) -> bool {
        *self.0.requested.borrow()
    }

    /// Waits for a signal.
    pub async fn requested(&self) {
        // The sender lives as long as this.
        let _ = self.0.requested.subscribe().wait_for(|requested| *requested).await;
    }

    /// Notes the first signal, and waits until the files that are being written are complete; false if the work was done
    /// before.
    pub fn request(&self) -> bool {
        // Before the wait: meanwhile the rest of the run can end.
        self.0.requested.send_replace(true);
        let mut phase = self.0.phase.write().unwrap_or_else(PoisonError::into_inner);
        if *phase == Phase::Running {
            *phase = Phase::Interrupted;
        }
        *phase == Phase::Interrupted
    }

    /// Waits for [`Self::finish`], but not longer than `patience`.
    pub fn wait_for_end(&self, patience: Duration) {
        let waited = self.0.end.wait_timeout_while(locked(&self.0.ended), patience, |ended| !*ended);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Notes that the work is done. After a signal it does not return: the thread that got the signal ends the process.
    pub fn finish(&self) {
        let mut phase = self.0.phase.write().unwrap_or_else(PoisonError::into_inner);
        // A run can end because of a signal before that signal has changed the phase.
        if *phase == Phase::Running && !self.is_requested() {
            *phase = Phase::Done;
            return;
        }
        *phase = Phase::Interrupted;
        drop(phase);
        *locked(&self.0.ended) = true;
        self.0.end.notify_all();
        loop {
            std::thread::park();
        }
    }

    /// What was written when the run was interrupted.
    pub fn error(&self) -> Error {
        let files = locked(&self.0.files);
        let message = format!("interrupted: {}", written(&files));
        Error::new(ErrorKind::Interrupted, message)
    }
}

impl Writing<'_> {
    pub fn wrote(&self, what: What, path: &Path) {
        locked(&self.state.files).entry(what).or_default().written.insert(path.to_owned());
    }
}

/// `5 of 23 lock files and 1 trust file were changed; run the command again for the others`.
fn written(files: &BTreeMap<What, WrittenFiles>) -> String {
    let mut clauses: Vec<(&str, Vec<String>, usize)> = Vec::new();
    for (what, WrittenFiles { written, total }) in files.iter().filter(|(_, files)| !files.written.is_empty()) {
        let (written, total) = (written.len(), *total);
        let part = if total > written {
            format!("{written} of {}", counted(total, what.noun()))
        } else {
            counted(written, what.noun())
        };
        match clauses.last_mut() {
            Some((verb, parts, count)) if *verb == what.verb() => {
                parts.push(part);
                *count += written;
            }
            _ => clauses.push((what.verb(), vec![part], written)),
        }
    }
    if clauses.is_empty() {
        return "no file was changed".to_owned();
    }
    let clause = |(verb, parts, count): &(&str, Vec<String>, usize)| {
        let was = if *count == 1 { "was" } else { "were" };
        format!("{} {was} {verb}", joined(parts))
    };
    let clauses: Vec<String> = clauses.iter().map(clause).collect();
    let is_partial = files.values().any(|files| files.written.len() < files.total);
    let again = if is_partial { "run the command again for the others" } else { "run the command again" };
    format!("{}; {again}", joined(&clauses))
}

/// `a, b and c`.
fn joined(parts: &[String]) -> String {
    match parts {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => parts.concat(),
    }
}

impl What {
    /// A text file by its name.
    pub fn of_name(path: &Path) -> Self {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        match (name, extension) {
            (lockfile::FILE_NAME, _) => Self::LockFile,
            (modulelock::FILE_NAME, _) => Self::ModuleLockFile,
            (pins::FILE_NAME, _) => Self::TrustFile,
            (_, "json") => Self::Configuration,
            _ if is_root_configuration(name) => Self::Configuration,
            _ => Self::File,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::LockFile => "lock file",
            Self::ModuleLockFile => "module lock file",
            Self::Configuration => "configuration file",
            Self::TrustFile => "trust file",
            Self::File => "file",
            Self::InstalledPackage | Self::MirroredPackage | Self::RemovedPackage => "package",
            Self::InstalledModule => "module",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::LockFile | Self::ModuleLockFile | Self::Configuration | Self::TrustFile | Self::File => "changed",
            Self::InstalledPackage | Self::InstalledModule => "installed",
            Self::MirroredPackage => "copied",
            Self::RemovedPackage => "removed",
        }
    }
}

impl fmt::Debug for InterruptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("phase", &self.phase).field("files", &self.files).finish_non_exhaustive()
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

impl From<Interrupted> for Error {
    fn from(interrupted: Interrupted) -> Self {
        Self::new(ErrorKind::Interrupted, interrupted.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that wrote these files, and would have looked at so many lock files.
    fn message(wrote: &[(What, &str)], lock_files: usize) -> String {
        let interrupt = Interrupt::default();
        interrupt.expect(What::LockFile, lock_files);
        for (what, path) in wrote {
            interrupt.writing().unwrap().wrote(*what, Path::new(path));
        }
        interrupt.error().message
    }

    #[test]
    fn the_message_counts_the_files_of_each_kind() {
        use What::{Configuration, File, InstalledModule, InstalledPackage, LockFile, RemovedPackage, TrustFile};

        assert_eq!(message(&[], 23), "interrupted: no file was changed");
        assert_eq!(
            message(&[(LockFile, "a"), (LockFile, "b"), (LockFile, "a")], 23),
            "interrupted: 2 of 23 lock files were changed; run the command again for the others"
        );
        assert_eq!(message(&[(LockFile, "a")], 1), "interrupted: 1 lock file was changed; run the command again");
        assert_eq!(
            message(&[(TrustFile, "t")], 2),
            "interrupted: 1 trust file was changed; run the command again for the others"
        );
        assert_eq!(
            message(&[(TrustFile, "t"), (LockFile, "a"), (Configuration, "a.tf"), (Configuration, "b.tf")], 2),
            "interrupted: 1 of 2 lock files, 2 configuration files and 1 trust file were changed; run the command again \
             for the others"
        );
        assert_eq!(
            message(&[(InstalledPackage, "p"), (InstalledModule, "m"), (RemovedPackage, "o"), (File, "f")], 0),
            "interrupted: 1 file was changed, 1 package and 1 module were installed and 1 package was removed; run the \
             command again"
        );
    }

    #[test]
    fn files_are_known_by_their_names() {
        for (name, what) in [
            ("a/.terraform.lock.hcl", What::LockFile),
            (".tflock.modules.hcl", What::ModuleLockFile),
            (".tflock.trust.hcl", What::TrustFile),
            ("versions.tf.json", What::Configuration),
            ("main.tofu", What::Configuration),
            (".gitattributes", What::File),
        ] {
            assert_eq!(What::of_name(Path::new(name)), what, "{name}");
        }
    }

    #[test]
    fn a_signal_waits_for_what_is_being_written_and_nothing_begins_after_it() {
        let interrupt = Interrupt::default();
        let writing = interrupt.writing().unwrap();
        std::thread::scope(|scope| {
            let signalled = scope.spawn(|| interrupt.request());
            while !interrupt.is_requested() {
                std::thread::yield_now();
            }
            assert!(!signalled.is_finished());
            writing.wrote(What::LockFile, Path::new("a"));
            drop(writing);
            assert!(signalled.join().unwrap());
        });
        assert_eq!(interrupt.writing().unwrap_err(), Interrupted);
        assert_eq!(interrupt.error().message, "interrupted: 1 lock file was changed; run the command again");
    }

    #[test]
    fn what_is_done_is_not_interrupted() {
        let interrupt = Interrupt::default();
        interrupt.finish();
        assert!(!interrupt.request());
        assert!(interrupt.writing().is_ok(), "reports are written at the end");
    }

    #[test]
    fn what_ends_because_of_a_signal_is_interrupted() {
        let interrupt = Interrupt::default();
        // As in `request`, before it has the lock.
        interrupt.0.requested.send_replace(true);
        let ending = interrupt.clone();
        let run = std::thread::spawn(move || ending.finish());
        while !run.is_finished() && !*locked(&interrupt.0.ended) {
            std::thread::yield_now();
        }
        assert!(interrupt.request());
    }

    #[test]
    fn the_end_of_a_run_is_waited_for() {
        let interrupt = Interrupt::default();
        assert!(interrupt.request());
        let ending = interrupt.clone();
        // It never returns.
        std::thread::spawn(move || ending.finish());
        interrupt.wait_for_end(Duration::from_secs(3600));
        interrupt.wait_for_end(Duration::ZERO);
    }

    #[tokio::test]
    async fn waits_end_with_a_signal_that_came_before_them_too() {
        let interrupt = Interrupt::default();
        let earlier = interrupt.clone();
        let waiting = tokio::spawn(async move { earlier.requested().await });
        assert!(interrupt.request());
        waiting.await.unwrap();
        interrupt.requested().await;
    }
}
