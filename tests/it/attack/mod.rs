//! Broken worlds: what `verify` says of each, and `lock`.
//!
//! The tables read: what is broken, the verdict and exit code of the gate, and those of the command that would write. A
//! world is a lock file that was tampered with, a registry that is not what it was when the lock file was written, or a
//! network in between. `stories` are attacks of more than one act.

#[cfg(unix)]
mod ambiguous;
mod bounds;
mod budget;
mod escapes;
#[cfg(unix)]
mod generated;
#[cfg(unix)]
mod honest;
#[cfg(unix)]
mod ignored;
#[cfg(unix)]
mod links;
mod lock_files;
mod moved;
mod neighbours;
#[cfg(unix)]
mod nested;
mod networks;
mod oversized;
mod releases;
mod repositories;
#[cfg(unix)]
mod sight;
#[cfg(unix)]
mod spellings;
mod stories;
mod unread;
mod ways;
#[cfg(unix)]
mod worktrees;

use crate::support::locked::{LOCK, honest, locked, pinned, rules, verify};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// An edit of the text of a lock file.
type Edit = fn(&str, &Registry) -> String;

/// What becomes of a registry.
type World = fn(Registry) -> Registry;

/// One broken world and what is said of it.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    lock_file: Edit,
    world: World,
    /// Further arguments of `verify`.
    args: &'static [&'static str],
    verify: Says,
    lock: Says,
}

/// The honest world; rows name what differs.
const HONEST: Row = Row {
    name: "honest",
    lock_file: |text, _| text.to_owned(),
    world: |registry| registry,
    args: &[],
    verify: PASSES,
    lock: PASSES,
};

/// An exit code, and the rules of the findings at level deny.
#[derive(Clone, Copy)]
struct Says {
    code: i32,
    denies: &'static [&'static str],
}

/// Nothing at level deny.
const PASSES: Says = Says { code: 0, denies: &[] };
/// The work cannot be done: there is no such release, or input that cannot be read.
const CANNOT: Says = Says { code: 2, denies: &[] };

/// Neither good nor bad: something stayed unknown.
const OPEN: Says = Says { code: 4, denies: &[] };

/// Findings of class other.
const fn finds(denies: &'static [&'static str]) -> Says {
    Says { code: 1, denies }
}

/// Findings of class trust or policy.
const fn refuses(denies: &'static [&'static str]) -> Says {
    Says { code: 3, denies }
}

/// The registry with the words that follow about the release that is attacked.
fn widget(registry: Registry) -> Registry {
    registry.of("acme/widget", "1.4.0")
}

/// The root module, with one attempt per request: more attempts would give the same verdict.
fn impatient(registry: &Registry) -> Workspace {
    let workspace = locked(registry).cli_config("registry_protocols {\n  retry_count = 0\n}\n");
    workspace.write(".tflock.trust.hcl", &pinned(registry));
    workspace.env("TF_PROVIDER_DOWNLOAD_RETRY", "1")
}

impl Row {
    /// Both commands, each in a world of its own.
    #[track_caller]
    fn check(&self) {
        let (registry, workspace) = self.made();
        let run = verify(&workspace, &registry, self.args);
        self.compare("verify", &run, self.verify);
        let (registry, workspace) = self.made();
        let before = workspace.lock_file();
        let platforms = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];
        let run = workspace.tflock(&registry, ["lock", "--format", "json"].iter().chain(&platforms));
        self.compare("lock", &run, self.lock);
        if run.code != Some(0) {
            assert_eq!(workspace.lock_file(), before, "{}: {run}", self.name);
        }
    }

    /// The world, its signers pinned.
    fn made(&self) -> (Registry, Workspace) {
        let registry = honest();
        let workspace = locked(&registry);
        workspace.write(".tflock.trust.hcl", &pinned(&registry));
        // Placeholders in the text are filled in first.
        workspace.tflock(&registry, ["fmt", "--check"]).ended_with(0);
        let text = (self.lock_file)(&workspace.lock_file(), &registry);
        workspace.write(LOCK, &text);
        ((self.world)(registry), workspace)
    }

    #[track_caller]
    fn compare(&self, command: &str, run: &crate::support::run::Run, says: Says) {
        let denied = rules(run, "deny");
        let wanted = says.denies.iter().map(ToString::to_string).collect();
        assert_eq!((run.code, denied), (Some(says.code), wanted), "{}, {command}: {run}", self.name);
    }
}

#[track_caller]
fn check(rows: &[Row]) {
    rows.iter().for_each(Row::check);
}

#[test]
fn the_honest_world_passes() {
    HONEST.check();
}
