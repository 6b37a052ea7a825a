//! A program in a process of its own, and what came of it. Whatever differs from run to run is filtered here only.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum;
use tflock::internals::Format;

use super::registry::Registry;
use super::{followed, keys};

/// The formats in which a command has a result.
pub fn formats(command: &str) -> Vec<&'static str> {
    let has = |format: &&Format| format.commands().is_empty() || format.commands().contains(&command);
    Format::value_variants().iter().filter(has).map(|format| &*format.name().leak()).collect()
}

/// A process to be.
#[derive(Debug)]
pub struct Invocation<'a> {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Everything the process may write to: `work`, `home`, `cache`, `tmp`.
    pub sandbox: &'a Path,
    /// The directory to run in.
    pub directory: PathBuf,
    pub registry: Option<&'a Registry>,
    /// Beyond the environment that every process has.
    pub environment: Vec<(String, String)>,
    /// What it reads on standard input.
    pub input: String,
    /// The user who runs it, if not the one who runs the tests.
    pub user: Option<u32>,
    /// True if `work` stays with its owner.
    pub is_owner_kept: bool,
}

/// What a process did.
#[derive(Debug)]
pub struct Run {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// The files below `work` that differ from before, and all lock files.
    files: BTreeMap<String, Fate>,
    filters: Vec<(String, String)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Written(String),
    Unchanged,
    Removed,
}

impl Invocation<'_> {
    /// The process to be, with standard input, output and error piped, for who wants to steer it.
    pub fn command(&self) -> Command {
        let mut command = match self.user {
            Some(user) => self.as_user(user),
            None => Command::new(&self.program),
        };
        command.args(&self.args).current_dir(&self.directory).env_clear();
        command.envs(hermetic(self.sandbox));
        if let Some(registry) = self.registry {
            command.env("SSL_CERT_FILE", registry.ca_file());
        }
        command.envs(self.environment.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The program, to be run by another user, to whom everything that it may write belongs from now on.
    fn as_user(&self, user: u32) -> Command {
        let owner = format!("{user}:{user}");
        let ca = self.registry.map(|registry| registry.ca_file().with_file_name(""));
        let own: Vec<PathBuf> = if self.is_owner_kept {
            ["home", "cache", "tmp"].map(|folder| self.sandbox.join(folder)).into()
        } else {
            vec![self.sandbox.to_owned()]
        };
        let changed = Command::new("chown").args(["-R", &owner]).args(own).args(ca).status();
        assert!(changed.unwrap().success());
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
        command.arg(&self.program);
        command
    }

    /// Runs the process to its end.
    pub fn run(self) -> Run {
        let work = self.sandbox.join("work");
        let began = today();
        let before = files_below(&work);
        let mut process = self.command().spawn().expect("the program starts");
        // Small texts only: the other pipes are not read yet. A program that does not read it has ended already.
        let _ = process.stdin.take().unwrap().write_all(self.input.as_bytes());
        let output = process.wait_with_output().expect("the program ends");
        let run = Run {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            files: fates(&before, files_below(&work)),
            filters: [began, today()]
                .map(|day| (day, "<today>".to_owned()))
                .into_iter()
                .chain(filters(self.sandbox, self.registry))
                .collect(),
        };
        if let Some(records) = std::env::var_os("TFLOCK_TEST_FOLLOW") {
            followed::follow(&self, &run, Path::new(&records));
        }
        run
    }
}

/// The environment of every process: nothing of the caller's.
fn hermetic(sandbox: &Path) -> Vec<(&'static str, OsString)> {
    let folder = |name: &str| sandbox.join(name).into_os_string();
    vec![
        ("HOME", folder("home")),
        ("TMPDIR", folder("tmp")),
        ("TFLOCK_CACHE_DIR", folder("cache")),
        ("PATH", "/usr/bin:/bin".into()),
        ("LANG", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("CHECKPOINT_DISABLE", "1".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        // Milliseconds before a request is repeated, and twice as many before the next.
        ("TFLOCK_TEST_FIRST_DELAY", "10".into()),
        ("GIT_AUTHOR_DATE", "2024-06-01T12:00:00Z".into()),
        ("GIT_COMMITTER_DATE", "2024-06-01T12:00:00Z".into()),
    ]
}

/// Texts by path. The folders of git and of the tools do not count.
fn files_below(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let entry = entry.unwrap();
            let skipped = entry.file_name() == ".git" || entry.file_name() == ".terraform";
            match entry.file_type().unwrap() {
                _ if skipped => {}
                kind if kind.is_dir() => folders.push(entry.path()),
                // Neither pipes nor links to what has no end.
                _ if !entry.path().metadata().is_ok_and(|meta| meta.is_file()) => {}
                _ => {
                    let path = entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                    files.insert(
                        path,
                        String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap_or_default()).into_owned(),
                    );
                }
            }
        }
    }
    files
}

fn fates(before: &BTreeMap<String, String>, after: BTreeMap<String, String>) -> BTreeMap<String, Fate> {
    let mut fates = BTreeMap::new();
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        fates.insert(path.clone(), Fate::Removed);
    }
    for (path, text) in after {
        if before.get(&path) != Some(&text) {
            fates.insert(path, Fate::Written(text));
        } else if path.ends_with(".terraform.lock.hcl") {
            fates.insert(path, Fate::Unchanged);
        }
    }
    fates
}

/// The day by the clock of this machine, UTC, as the trust file records it.
fn today() -> String {
    tflock_core::settings::Date::of(std::time::SystemTime::now()).to_string()
}

fn filters(sandbox: &Path, registry: Option<&Registry>) -> Vec<(String, String)> {
    let mut filters = Vec::new();
    if let Some(registry) = registry {
        filters.push((registry.host(), "localhost:PORT".to_owned()));
        filters.push((registry.other_host(), "127.0.0.1:PORT".to_owned()));
        filters.push((registry.ca_file().display().to_string(), "<ca>".to_owned()));
    }
    for key in keys::ALL {
        filters.push((key.fingerprint(), format!("<key {}>", key.name())));
        filters.push((key.id(), format!("<key {}>", key.name())));
    }
    // On some systems the directory for temporary files is a link, and messages show where it leads.
    for sandbox in [sandbox.canonicalize().unwrap(), sandbox.to_owned()] {
        filters.push((sandbox.join("work").display().to_string(), "<work>".to_owned()));
        filters.push((sandbox.display().to_string(), "<sandbox>".to_owned()));
    }
    filters
}

impl Run {
    /// The same run, if it ended with this exit code.
    ///
    /// # Panics
    ///
    /// If it did not, showing all of the run.
    #[track_caller]
    pub fn ended_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "exit code\n{self}");
        self
    }

    /// Standard output as one JSON document, of which the schema names everything.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        let json: serde_json::Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON: {error}\n{self}"));
        // Reports of other programs, and those of ours that are not outcomes, have schemas of their own.
        if json.get("format_version").is_some_and(|version| version == "1.0") && json.get("command").is_some() {
            assert_eq!(super::schema::broken(&self.stdout), [""; 0], "{self}");
        }
        json
    }

    /// The same run in JSON, if its error is of this kind and its message names all of these.
    ///
    /// # Panics
    ///
    /// If it is not, showing all of the run.
    #[track_caller]
    pub fn failed_as(self, kind: &str, named: &[&str]) -> Self {
        let json = self.json();
        let message = json["error"]["message"].as_str().unwrap_or_default();
        assert!(json["error"]["kind"] == kind && named.iter().all(|name| message.contains(name)), "{kind}: {self}");
        self
    }

    /// The paths below `work` that were written or removed.
    pub fn touched(&self) -> Vec<&str> {
        let touched = self.files.iter().filter(|(_, fate)| **fate != Fate::Unchanged);
        touched.map(|(path, _)| path.as_str()).collect()
    }

    /// A text of this run, fit for a snapshot.
    pub fn filtered(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (from, to) in &self.filters {
            text = text.replace(from, to).replace(&from.to_lowercase(), to);
        }
        without_durations(&without_ages(&text))
    }
}

impl Run {
    /// Standard error. Whether a download ends before its run is refused is a matter of luck.
    fn without_racing_lines(&self) -> String {
        let lines = self.stderr.split_inclusive('\n');
        lines.filter(|line| self.code == Some(0) || !is_progress(line)).collect()
    }
}

/// Exit code, standard output and error, and each file as written; stable from run to run.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit code: {code}")?,
            None => writeln!(f, "ended by a signal")?,
        }
        let mut section = |title: &str, text: &str| {
            let text = sorted_progress(&self.filtered(text));
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\\ no newline at end\n" };
            let separator = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            write!(f, "----- {title}\n{text}{separator}{end}")
        };
        section("stdout", &self.stdout)?;
        section("stderr", &self.without_racing_lines())?;
        for (path, fate) in &self.files {
            match fate {
                Fate::Written(text) => section(path, text)?,
                Fate::Unchanged => section(&format!("{path} (unchanged)"), "")?,
                Fate::Removed => section(&format!("{path} (removed)"), "")?,
            }
        }
        Ok(())
    }
}

/// Packages arrive in any order: adjacent lines about it are sorted.
fn sorted_progress(text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.chunk_by_mut(|a, b| is_progress(a) == is_progress(b)).for_each(|chunk| {
        if is_progress(chunk[0]) {
            chunk.sort_unstable();
        }
    });
    lines.concat()
}

/// Puts `<time>` in place of words such as `1.2s`, `340ms` and `2m`.
fn without_durations(text: &str) -> String {
    let mut filtered = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| c.is_whitespace() || "(),;:\"".contains(c)) {
        let bare = word.trim_end_matches(|c: char| c.is_whitespace() || "(),;:\"".contains(c));
        let number = bare.trim_end_matches(char::is_alphabetic);
        let is_duration = number.starts_with(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || c == '.')
            && ["ms", "s", "µs", "m"].contains(&&bare[number.len()..]);
        if is_duration {
            filtered.push_str("<time>");
            filtered.push_str(&word[bare.len()..]);
        } else {
            filtered.push_str(word);
        }
    }
    filtered
}

/// Puts `<age>` in place of the number of days since a signature.
fn without_ages(text: &str) -> String {
    let parts: Vec<&str> = text.split(" days old").collect();
    let (last, before) = parts.split_last().unwrap();
    let before =
        before.iter().map(|part| format!("{}<age> days old", part.trim_end_matches(|it: char| it.is_ascii_digit())));
    before.collect::<String>() + last
}

/// Lines about packages come in the order of their arrival.
fn is_progress(line: &str) -> bool {
    line.starts_with("fetched ") || line.starts_with("read ")
}

#[cfg(test)]
mod tests {
    use super::without_durations;

    #[test]
    fn only_durations_are_filtered() {
        assert_eq!(without_durations("done in 1.25s (340ms), 3 hashes\n"), "done in <time> (<time>), 3 hashes\n");
        for kept in ["1.4.0", "v2s", "x5", "2 s", "10s4", "minimum_age"] {
            assert_eq!(without_durations(kept), kept);
        }
    }
}
