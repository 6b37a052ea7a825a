//! The one place that starts git, and what it may do when it runs.
//!
//! A repository names programs: filters, monitors of the file system, hooks, transports. The author of the repository must
//! not choose what runs here, so each profile says what is allowed. Nothing is relied on that git 2.30 does not
//! know; what newer versions know besides is set where older ones overlook it.
//!
//! The configuration and the attributes of a repository are read here too.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{Git, GitError, GitOutput, Running, read_aside};
use crate::interrupt::Interrupt;
use crate::lockfile::FILE_NAME;
use crate::path::{TOOL_FOLDERS, canonical};

/// How long a question about a working tree may take, in a large one on a slow disk.
const INSPECTION: Duration = Duration::from_secs(120);

/// The most bytes of an answer: all of it is in memory at once.
const MOST: u64 = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Profile {
    /// A working tree is looked at: git reads its own files, starts nothing and connects to no server.
    Inspect,
    /// A repository of the cache fetches: the user's own configuration counts, that of no working tree does.
    Fetch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transports {
    /// Over https and ssh.
    Network,
    /// A repository on this machine.
    Files,
}

#[derive(Debug, Clone)]
pub struct Launcher {
    directory: PathBuf,
    named: Vec<OsString>,
    profile: Profile,
    transports: &'static str,
    /// True if ssh must run without prompts.
    silent_ssh: bool,
    limit: Duration,
    most: u64,
    /// Ends git at work.
    interrupt: Interrupt,
}

impl Launcher {
    /// For the one question which repository a working tree has; later ones name it.
    pub(super) fn unnamed(top: &Path) -> Self {
        Self {
            directory: plain(top),
            named: Vec::new(),
            profile: Profile::Inspect,
            // No transport has this name, so objects that a partial clone lacks are not fetched either.
            transports: "none",
            silent_ssh: false,
            limit: INSPECTION,
            most: MOST,
            interrupt: Interrupt::default(),
        }
    }

    /// Looks at a working tree.
    pub(super) fn inspect(top: &Path, git_dir: &Path) -> Self {
        let named = [("--git-dir=", git_dir), ("--work-tree=", top)];
        Self { named: named.map(|(option, path)| option_with(option, path)).to_vec(), ..Self::unnamed(top) }
    }

    /// Fetches into a bare repository outside of any working tree, such as one of the cache.
    ///
    /// Credential helpers, `insteadOf` and keys are those of the user and the system. There is no prompt, no hook runs,
    /// and nothing is fetched but by the transports that are named. `limit` bounds each command, and a signal ends it.
    pub fn fetch(bare: &Path, transports: Transports, limit: Duration, interrupt: Interrupt) -> Self {
        let transports = match transports {
            Transports::Network => "https:ssh",
            Transports::Files => "file",
        };
        let named = vec![option_with("--git-dir=", bare)];
        interrupt.catch_signals();
        Self {
            directory: plain(bare),
            named,
            profile: Profile::Fetch,
            transports,
            silent_ssh: false,
            limit,
            most: MOST,
            interrupt,
        }
    }

    /// True if the user chose how git calls ssh; else it is called without prompts.
    fn has_own_ssh(&self) -> bool {
        let variables = ["GIT_SSH_COMMAND", "GIT_SSH"];
        let configured = || self.run(["config", "--get", "core.sshCommand"]).is_ok_and(|answer| answer.succeeded());
        variables.iter().any(|name| std::env::var_os(name).is_some()) || configured()
    }

    /// The same, if git will use ssh.
    #[must_use]
    pub fn with_silent_ssh(mut self) -> Self {
        self.silent_ssh = !self.has_own_ssh();
        self
    }

    /// The same, with a bound on the bytes of an answer: the author of a repository influences its length.
    #[must_use]
    pub fn at_most(&self, most: u64) -> Self {
        Self { most, ..self.clone() }
    }

    /// The same, with less time for a command.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        Self { limit: self.limit.min(limit), ..self.clone() }
    }

    /// Runs git to its end.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<GitOutput, GitError> {
        self.run_with(args, Vec::new())
    }

    pub fn run_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: Vec<u8>,
    ) -> Result<GitOutput, GitError> {
        self.start(args, input)?.answer()
    }

    /// Starts git, which works while the caller does something else.
    pub fn start<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: Vec<u8>,
    ) -> Result<Running, GitError> {
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        let task = args.first().map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default();
        let mut command = self.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| GitError::Start(error.to_string()))?;
        // On threads of their own: git answers while it reads, and neither side may wait for the other. If it ends before
        // it read all, its exit code says why.
        drop(child.stdin.take().map(|mut pipe| std::thread::spawn(move || pipe.write_all(&input))));
        let outputs = [read_aside(child.stdout.take(), self.most), read_aside(child.stderr.take(), self.most)];
        Ok(Running { child, outputs, task, limit: self.limit, most: self.most, interrupt: self.interrupt.clone() })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.directory);
        for (name, _) in std::env::vars_os().filter(|(name, _)| !self.profile.passes_on(name)) {
            command.env_remove(name);
        }
        command.args(self.arguments());
        command.env("GIT_ALLOW_PROTOCOL", self.transports);
        command.envs(self.profile.environment().iter().copied());
        // Ctrl-C on a terminal goes to the group of the foreground. A git that it ends looks like one that fails, so we
        // decide for it; except where ssh may ask the user, which only the foreground may do.
        #[cfg(unix)]
        if self.profile == Profile::Inspect {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        if self.silent_ssh {
            command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        command
    }
}

impl Launcher {
    /// What is before the task and its arguments.
    fn arguments(&self) -> Vec<OsString> {
        let settings = self.profile.settings().iter().flat_map(|setting| ["-c", setting]);
        let options = ["--no-pager", "--no-optional-locks"].into_iter().chain(settings).map(OsString::from);
        self.named.iter().cloned().chain(options).collect()
    }
}

impl Profile {
    /// True if git sees a variable of this process.
    fn passes_on(self, name: &OsStr) -> bool {
        let name = name.to_string_lossy().to_ascii_uppercase();
        // Where git is and how the user configures it. All else that it reads could name another repository, index or
        // program, as it does while a hook runs.
        let for_all = ["GIT_CONFIG", "GIT_EXEC_PATH"];
        let for_fetches = ["GIT_SSH", "GIT_SSL", "GIT_HTTP", "GIT_PROXY", "GIT_ASKPASS"];
        let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        match self {
            Self::Inspect if name.starts_with("TF_TOKEN_") => false,
            _ if !name.starts_with("GIT_") => true,
            Self::Inspect => starts(&for_all),
            Self::Fetch => starts(&for_all) || starts(&for_fetches),
        }
    }

    /// Configuration that goes before that of any file.
    fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Inspect => &[
                "core.fsmonitor=false",
                "core.hooksPath=/dev/null",
                "log.showSignature=false",
                "safe.bareRepository=explicit",
                "submodule.recurse=false",
            ],
            Self::Fetch => &[
                "core.fsmonitor=false",
                "core.hooksPath=/dev/null",
                "fetch.recurseSubmodules=false",
                "gc.auto=0",
                "http.lowSpeedLimit=1024",
                "http.lowSpeedTime=30",
                "maintenance.auto=false",
                "submodule.recurse=false",
            ],
        }
    }

    fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            // Messages in English, no question to the user, and objects as they are stored.
            Self::Inspect => &[
                ("LC_ALL", "C"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_NO_REPLACE_OBJECTS", "1"),
                ("GIT_GRAFT_FILE", "/dev/null"),
            ],
            Self::Fetch => &[
                ("LC_ALL", "C"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GCM_INTERACTIVE", "never"),
                ("GIT_LFS_SKIP_SMUDGE", "1"),
            ],
        }
    }
}

fn option_with(option: &str, path: &Path) -> OsString {
    let mut text = OsString::from(option);
    text.push(plain(path));
    text
}

/// A path as git understands it: on Windows without the prefix that allows long ones.
fn plain(path: &Path) -> PathBuf {
    let text = path.to_str().filter(|_| cfg!(windows)).and_then(|text| text.strip_prefix(r"\\?\"));
    text.map_or_else(|| path.to_owned(), PathBuf::from)
}

impl Git {
    /// The value of a key in the configuration of this repository; the user's and the system's do not count.
    pub fn config(&self, key: &str) -> Result<Option<String>, GitError> {
        let answer = self.launcher.run(["config", "--local", "--get", key])?;
        match answer.code {
            Some(0) => {
                let text = answer.text().into_owned();
                Ok(Some(text.strip_suffix('\n').map_or(text.clone(), str::to_owned)))
            }
            Some(1) => Ok(None),
            _ => Err(failed("config", &answer)),
        }
    }

    /// Sets a key in the configuration of this repository.
    pub fn set_config(&self, key: &str, value: &str) -> Result<(), GitError> {
        let answer = self.launcher.run(["config", "--local", "--replace-all", key, value])?;
        if answer.code == Some(0) { Ok(()) } else { Err(failed("config", &answer)) }
    }

    /// Removes a key from the configuration of this repository, and its section with the last one.
    pub fn unset_config(&self, key: &str) -> Result<bool, GitError> {
        let answer = self.launcher.run(["config", "--local", "--unset-all", key])?;
        // 5: there is no such key.
        match answer.code {
            Some(0) => Ok(true),
            Some(5) => Ok(false),
            _ => Err(failed("config", &answer)),
        }
    }

    /// The file with patterns of what the user ignores everywhere, if it is named or at its usual place.
    ///
    /// Source: `git help config`, `core.excludesFile`.
    pub fn user_excludes(&self) -> Result<Option<PathBuf>, GitError> {
        let answer = self.launcher.run(["config", "--type=path", "--get", "core.excludesFile"])?;
        if answer.succeeded() {
            let named = answer.text().trim_end_matches('\n').to_owned();
            // It is the user's own, so a link to it is followed.
            return Ok(canonical(&self.top.join(named)).ok());
        }
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let settings = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
        Ok(settings.and_then(|settings| canonical(&settings.join("git/ignore")).ok()))
    }

    /// True if git ignores a file and tracks none by that name.
    pub fn is_ignored(&self, path: &Path) -> bool {
        let answer = self.launcher.run(["check-ignore".as_ref(), "--quiet".as_ref(), "--".as_ref(), path.as_os_str()]);
        answer.is_ok_and(|answer| answer.succeeded())
    }

    /// Why git ignores those of some files, relative to the directory, that it ignores and does not track.
    pub fn ignored(&self, paths: &[PathBuf]) -> BTreeMap<PathBuf, IgnoreRule> {
        let from_top = paths.iter().map(|path| self.directory.join(&path.to_string_lossy()));
        let input = from_top.map(|path| path.as_bytes().to_vec()).collect::<Vec<_>>().join(&0);
        let Ok(answer) = self.launcher.run_with(["check-ignore", "-z", "-v", "--stdin"], input) else {
            return BTreeMap::new();
        };
        let prefix = self.directory.prefix();
        let fields: Vec<&[u8]> = answer.stdout.split(|byte| *byte == 0).collect();
        let mut rules = BTreeMap::new();
        for record in fields.chunks_exact(4) {
            let [file, line, pattern, path] = [0, 1, 2, 3].map(|at| String::from_utf8_lossy(record[at]));
            // A pattern that takes a file back in is the last one that matches, too.
            let (Ok(line), false) = (line.parse(), pattern.starts_with('!')) else { continue };
            let path = path.strip_prefix(&*prefix).unwrap_or(&path);
            rules.insert(PathBuf::from(path), IgnoreRule { file: PathBuf::from(&*file), line });
        }
        rules
    }

    /// Lock files and configuration that git ignores, relative to the directory, without what the tools install.
    pub fn ignored_configuration(&self) -> Vec<PathBuf> {
        let prefix = self.directory.prefix();
        let names = [FILE_NAME, "*.tf", "*.tf.json", "*.tofu"].map(|name| format!(":(top,glob){prefix}**/{name}"));
        let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--"].map(str::to_owned);
        let Ok(answer) = self.launcher.run(args.into_iter().chain(names)) else { return Vec::new() };
        let paths: Vec<String> = answer.texts().collect();
        let below = paths.iter().filter_map(|path| path.strip_prefix(&*prefix)).map(PathBuf::from);
        let is_installed = |path: &PathBuf| path.iter().any(|part| TOOL_FOLDERS.iter().any(|folder| part == *folder));
        below.filter(|path| !is_installed(path)).collect()
    }

    /// The value of an attribute of a path below the top, from whichever file sets it; `unspecified` if none does.
    pub fn attribute(&self, name: &str, path: &str) -> Result<String, GitError> {
        let answer = self.launcher.run(["check-attr", "-z", name, "--", path])?;
        let value = answer.stdout.split(|byte| *byte == 0).nth(2);
        match (answer.code, value) {
            (Some(0), Some(value)) => Ok(String::from_utf8_lossy(value).into_owned()),
            _ => Err(failed("check-attr", &answer)),
        }
    }

    /// A version of a file that git could not merge, by its name in the directory; `None` if git has no such version.
    pub fn stage(&self, name: &str, stage: Stage) -> Option<Vec<u8>> {
        let object = format!(":{}:{}", stage as u8, self.directory.join(name));
        let answer = self.launcher.run(["cat-file", "blob", &object]).ok()?;
        answer.succeeded().then_some(answer.stdout)
    }
}

/// The line by which git ignores a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IgnoreRule {
    /// From the top of the working tree; of the user's own patterns the absolute path.
    file: PathBuf,
    line: usize,
}

impl IgnoreRule {
    /// The file with the rule, as shown in messages.
    pub fn file(&self) -> String {
        crate::path::shown(&self.file)
    }
}

/// `FILE:LINE`.
impl fmt::Display for IgnoreRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file(), self.line)
    }
}

/// A version of a file in an unfinished merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The common ancestor.
    Base = 1,
    Ours = 2,
    Theirs = 3,
}

fn failed(task: &'static str, answer: &GitOutput) -> GitError {
    GitError::Failed { task, reason: answer.said() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_tree_sees_no_token_and_no_other_repository() {
        let passes = |profile: Profile, name: &str| profile.passes_on(OsStr::new(name));
        for name in ["TF_TOKEN_example_com", "GIT_DIR", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND"] {
            assert!(!passes(Profile::Inspect, name), "{name}");
        }
        for name in ["PATH", "HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT"] {
            assert!(passes(Profile::Inspect, name) && passes(Profile::Fetch, name), "{name}");
        }
        assert!(passes(Profile::Fetch, "GIT_SSH_COMMAND") && !passes(Profile::Fetch, "GIT_DIR"));
    }

    #[test]
    fn a_git_that_knows_no_newer_options_will_do() {
        // What is newer than 2.30 goes by environment and configuration, which older versions overlook.
        let args = Launcher::inspect(Path::new("/x"), Path::new("/x/.git")).arguments();
        let options = args.iter().filter(|arg| arg.to_string_lossy().starts_with('-'));
        let known = ["--git-dir=/x/.git", "--work-tree=/x", "--no-pager", "--no-optional-locks", "-c"];
        assert!(options.into_iter().all(|arg| known.iter().any(|known| arg == known)), "{args:?}");
    }

    #[test]
    fn a_git_that_never_ends_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        // It waits for more of its input, which a thread of ours never writes.
        let slow = Launcher { limit: Duration::from_millis(1), ..Launcher::unnamed(folder.path()) };
        let mut command = slow.command();
        command.arg("--version").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let (_open, silent) = std::sync::mpsc::channel();
        let (_sender, other) = std::sync::mpsc::channel();
        let running = Running {
            child,
            outputs: [silent, other],
            task: "x".into(),
            limit: slow.limit,
            most: MOST,
            interrupt: Interrupt::default(),
        };
        assert!(matches!(running.answer(), Err(GitError::TooSlow { .. })));
    }

    #[test]
    fn a_signal_ends_git_at_work() {
        let folder = tempfile::tempdir().unwrap();
        let interrupt = Interrupt::default();
        let network = Transports::Files;
        let launcher = Launcher::fetch(folder.path(), network, Duration::from_secs(3600), interrupt.clone());
        launcher.run(["init", "--quiet", "--bare"]).unwrap();
        // It reads names as long as there are any.
        let mut running = launcher.start(["cat-file", "--batch-check"], Vec::new()).unwrap();
        let (_open, silent) = std::sync::mpsc::channel();
        running.outputs[0] = silent;
        assert!(interrupt.request());
        assert!(matches!(running.answer(), Err(GitError::Interrupted(_))));
    }

    #[test]
    fn an_answer_without_end_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let launcher = Launcher::unnamed(folder.path());
        let answer = launcher.at_most(4).run(["version"]);
        assert!(matches!(answer, Err(GitError::TooLarge { most: 4, .. })), "{answer:?}");
        assert!(launcher.run(["version"]).is_ok());
    }
}
