//! A directory to work in, thrown away with the test, and programs run in it.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::registry::Registry;
use super::run::{Invocation, Run};
use super::tools::found;

/// Where test data lies.
pub const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

/// A second user of this machine.
pub const NOBODY: u32 = 65534;

/// The program under test.
pub const TFLOCK: &str = env!("CARGO_BIN_EXE_tflock");

/// Files below `work`, and next to it `home`, `cache` and `tmp`.
///
/// Where a file says `{{registry}}` or `{{other-host}}`, the run puts the host of its registry.
#[derive(Debug)]
pub struct Workspace {
    sandbox: TempDir,
    environment: Vec<(String, String)>,
    cli_config: String,
    user: Option<u32>,
    /// True if `work` stays with its owner, whoever runs programs.
    is_owner_kept: bool,
}

impl Workspace {
    /// A copy of a folder of `testdata`, such as `modules/one-root`.
    pub fn from(case: &str) -> Self {
        let workspace = Self::with_files(&[]);
        let source = Path::new(TESTDATA).join(case);
        assert!(source.is_dir(), "testdata has no folder {case}");
        copy(&source, &workspace.path(""));
        // A run of the example leaves a lock file there, which git ignores and tests must not see.
        let ignored = std::fs::read_to_string(source.join(".gitignore")).unwrap_or_default();
        for name in ignored.lines().filter(|line| !line.starts_with('#')) {
            let _absent = std::fs::remove_file(workspace.path(name));
        }
        workspace
    }

    /// These files only: path and text.
    pub fn with_files(files: &[(&str, &str)]) -> Self {
        let sandbox = super::tempdir();
        for folder in ["work", "home", "cache", "tmp"] {
            std::fs::create_dir(sandbox.path().join(folder)).unwrap();
        }
        let workspace =
            Self { sandbox, environment: Vec::new(), cli_config: String::new(), user: None, is_owner_kept: false };
        for (path, text) in files {
            workspace.write(path, text);
        }
        workspace
    }

    /// The same files and cache in another place.
    pub fn copied(&self) -> Self {
        let other = Self::with_files(&[]);
        for folder in ["work", "cache"] {
            copy(&self.sandbox.path().join(folder), &other.sandbox.path().join(folder));
        }
        Self { environment: self.environment.clone(), cli_config: self.cli_config.clone(), ..other }
    }

    /// Programs see this variable. Name and value may contain `{{registry}}`.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Programs see this text in their CLI configuration, with the `host` blocks of the registry.
    #[must_use]
    pub fn cli_config(mut self, text: &str) -> Self {
        self.cli_config.push_str(text);
        self
    }

    /// Programs run as a normal user, to whom everything here belongs. None, and a line on stderr, where root cannot do that.
    #[cfg(unix)]
    pub fn by_normal_user(self) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return Some(self);
        }
        found("setpriv").map(|_| Self { user: Some(NOBODY), ..self })
    }

    /// Programs run as another user, who owns home, cache and temporary files; `work` stays with its owner. Only root can do that.
    #[cfg(unix)]
    pub fn by_another_user(self) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(self.sandbox.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        Self { user: Some(NOBODY), is_owner_kept: true, ..self }
    }

    /// The absolute path of something below `work`; `""` is `work` itself.
    pub fn path(&self, path: &str) -> PathBuf {
        let work = self.sandbox.path().join("work");
        if path.is_empty() { work } else { work.join(path) }
    }

    /// Writes a file below `work`, with its folders.
    pub fn write(&self, path: &str, text: &str) {
        self.write_bytes(path, text.as_bytes());
    }

    /// The same with contents that are no text.
    pub fn write_bytes(&self, path: &str, contents: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    /// The text of a file below `work`.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Whether there is such a file below `work`.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The text of `.terraform.lock.hcl` at the top.
    #[track_caller]
    pub fn lock_file(&self) -> String {
        self.read(".terraform.lock.hcl")
    }

    /// Runs `tflock` at the top: `tflock(&registry, ["lock"])`, `tflock(None, ["fmt"])`.
    pub fn tflock<'r, I>(&self, registry: impl Into<Option<&'r Registry>>, args: I) -> Run
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.invocation(Path::new(TFLOCK), registry.into(), args).run()
    }

    /// The same in a directory below `work`.
    pub fn tflock_in<'r, I>(&self, directory: &str, registry: impl Into<Option<&'r Registry>>, args: I) -> Run
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let invocation = self.invocation(Path::new(TFLOCK), registry.into(), args);
        Invocation { directory: self.path(directory), ..invocation }.run()
    }

    /// The same with a text on standard input.
    pub fn tflock_reading<I>(&self, input: &str, args: I) -> Run
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let invocation = self.invocation(Path::new(TFLOCK), None, args);
        Invocation { input: input.to_owned(), ..invocation }.run()
    }

    /// The process of `tflock`, not yet started, its streams piped, for tests that steer it.
    pub fn tflock_command<'r, I>(&self, registry: impl Into<Option<&'r Registry>>, args: I) -> Command
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.command(Path::new(TFLOCK), registry, args)
    }

    /// Runs `terraform` at the top. None, and a line on stderr, if it is not installed.
    pub fn terraform<'r, I>(&self, registry: impl Into<Option<&'r Registry>>, args: I) -> Option<Run>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        Some(self.invocation(&found("terraform")?, registry.into(), args).run())
    }

    /// Runs `git` at the top, with an author, and expects success.
    #[track_caller]
    pub fn git<I>(&self, args: I) -> Run
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.git_may_fail(args).ended_with(0)
    }

    /// Runs `git` at the top, with an author.
    pub fn git_may_fail<I>(&self, args: I) -> Run
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let settings = [
            "user.name=Somebody",
            "user.email=somebody@example.com",
            "init.defaultBranch=main",
            // A repository lives for one test: it needs no samples of hooks, no housekeeping and no safety from power cuts.
            "init.templateDir=",
            "maintenance.auto=false",
            "core.fsync=none",
        ];
        let settings = settings.into_iter().flat_map(|setting| ["-c".into(), setting.into()]);
        let args = settings.chain(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self.invocation(Path::new("git"), None, args).run()
    }

    /// Runs another program at the top, with the environment that `tflock` has.
    pub fn program<'r, I>(&self, program: &Path, registry: impl Into<Option<&'r Registry>>, args: I) -> Run
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.invocation(program, registry.into(), args).run()
    }

    /// The process of another program, not yet started, as [`Workspace::tflock_command`] has it.
    pub fn command<'r, I>(&self, program: &Path, registry: impl Into<Option<&'r Registry>>, args: I) -> Command
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.invocation(program, registry.into(), args).command()
    }

    fn invocation<'a, I>(&'a self, program: &Path, registry: Option<&'a Registry>, args: I) -> Invocation<'a>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let fill = |text: &str| match registry {
            Some(registry) => fill(text, registry),
            None => text.to_owned(),
        };
        if let Some(registry) = registry {
            fill_files(&self.path(""), registry);
        }
        let mut environment: Vec<_> = self.environment.iter().map(|(name, value)| (fill(name), fill(value))).collect();
        let config = fill(&self.cli_config) + &registry.map(host_blocks).unwrap_or_default();
        if !config.is_empty() {
            let path = self.sandbox.path().join("cli.tfrc");
            std::fs::write(&path, config).unwrap();
            environment.push(("TF_CLI_CONFIG_FILE".to_owned(), path.display().to_string()));
        }
        Invocation {
            program: program.to_owned(),
            args: args.into_iter().map(|arg| arg.as_ref().to_owned()).collect(),
            sandbox: self.sandbox.path(),
            directory: self.path(""),
            registry,
            environment,
            input: String::new(),
            user: self.user,
            is_owner_kept: self.is_owner_kept,
        }
    }
}

fn host_blocks(registry: &Registry) -> String {
    registry.hosts_stood_for().iter().fold(String::new(), |mut blocks, host| {
        let service = |name: &str| format!("    \"{name}.v1\" = \"https://{}/v1/{name}/\"\n", registry.host());
        let services = ["providers", "modules"].map(service).concat();
        writeln!(blocks, "host \"{host}\" {{\n  services = {{\n{services}  }}\n}}").unwrap();
        blocks
    })
}

fn fill(text: &str, registry: &Registry) -> String {
    text.replace("{{registry}}", &registry.host()).replace("{{other-host}}", &registry.other_host())
}

fn fill_files(folder: &Path, registry: &Registry) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && entry.file_name() != ".git" {
            fill_files(&entry.path(), registry);
        } else if kind.is_file() {
            // What is not text has no placeholders.
            let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
            if text.contains("{{") {
                std::fs::write(entry.path(), fill(&text, registry)).unwrap();
            }
        }
    }
}

fn copy(source: &Path, target: &Path) {
    std::fs::create_dir_all(target).unwrap();
    for entry in std::fs::read_dir(source).unwrap().map(Result::unwrap) {
        let target = target.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&entry.path(), &target);
        } else if kind.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(std::fs::read_link(entry.path()).unwrap(), target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
