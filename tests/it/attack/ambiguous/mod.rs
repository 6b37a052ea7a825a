//! Modules of which the tools could install something else than is locked: `module-ambiguous`.
//!
//! One root module has many calls, each in a file of its own, of a git repository inside the working tree. `lock` judges all
//! of them in one run, and the real terraform installs what may be locked.

mod files;
mod histories;
mod references;
mod submodules;

use std::collections::BTreeMap;

use crate::support::run::Run;
use crate::support::workspace::Workspace;

pub(super) const LOCK_MODULES: [&str; 4] = ["lock", "--lock-modules", "--format", "json"];
pub(super) const LOCKS: &str = ".tflock.modules.hcl";
const RULE: &str = "module-ambiguous";

/// A root module with repositories next to its files.
pub(super) struct World(pub(super) Workspace);

impl World {
    pub(super) fn new() -> Self {
        // Terraform clones from directories, as a developer's machine may.
        let settings =
            [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "protocol.file.allow"), ("GIT_CONFIG_VALUE_0", "always")];
        let workspace = Workspace::with_files(&[("main.tf", "")]);
        Self(settings.iter().fold(workspace, |workspace, (name, value)| workspace.env(name, value)))
    }

    /// A new repository with a commit.
    pub(super) fn repository(&self, name: &str) -> Repository<'_> {
        self.0.write(&format!("{name}/main.tf"), "# one\n");
        self.0.git(["init", "--quiet", "-b", "main", name]);
        let repository = Repository { world: self, name: name.to_owned() };
        repository.commit();
        repository
    }

    /// Writes a call of a repository into a file of its own.
    pub(super) fn call(&self, name: &str, repository: &str, query: &str) {
        let place = self.0.path(repository).display().to_string();
        self.0.write(
            &format!("{name}.tf"),
            &format!("module {name:?} {{\n  source = \"git::file://{place}{query}\"\n}}\n"),
        );
    }

    /// Locks and gives, by the file of the call, why a module cannot be locked.
    pub(super) fn refused(&self) -> BTreeMap<String, String> {
        let run = self.0.tflock(None, LOCK_MODULES);
        let found = ambiguous(&run);
        assert_eq!(run.code, Some(if found.is_empty() { 0 } else { 3 }), "{run}");
        // What is refused is not written.
        assert!(found.is_empty() || !self.0.has(LOCKS), "{run}");
        found
    }

    /// What the real terraform installs is what is locked.
    pub(super) fn installs_what_is_locked(&self) {
        let Some(init) = self.0.terraform(None, ["init", "-backend=false", "-input=false"]) else { return };
        init.ended_with(0);
        self.0.tflock(None, ["verify", "--installed"]).ended_with(0);
    }
}

/// The findings of the rule: the file of each without its extension, and the message with the help.
pub(super) fn ambiguous(run: &Run) -> BTreeMap<String, String> {
    let json = run.json();
    let findings = json["findings"].as_array().cloned().unwrap_or_default();
    let of_rule = findings.iter().filter(|finding| finding["rule"] == RULE);
    of_rule
        .map(|finding| {
            assert_eq!((&finding["level"], &finding["class"]), (&"deny".into(), &"trust".into()), "{run}");
            let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
            let file = text("file");
            let name = file.rsplit('/').next().unwrap_or_default().trim_end_matches(".tf").to_owned();
            (name, format!("{} / {}", text("message"), text("help")))
        })
        .collect()
}

/// A repository inside the working tree.
pub(super) struct Repository<'a> {
    world: &'a World,
    pub(super) name: String,
}

impl Repository<'_> {
    pub(super) fn git(&self, args: &[&str]) -> String {
        let args = ["-C", &self.name].into_iter().chain(args.iter().copied());
        self.world.0.git(args).stdout.trim().to_owned()
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        self.world.0.write(&format!("{}/{file}", self.name), text);
    }

    /// Commits all files and gives the commit.
    pub(super) fn commit(&self) -> String {
        self.git(&["add", "-A", "--force"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(super) fn with(&self, file: &str, text: &str) -> String {
        self.write(file, text);
        self.commit()
    }
}
