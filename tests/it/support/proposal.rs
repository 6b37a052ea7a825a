//! A repository as its main branch has it, for tests that propose changes to it.

use super::keys;
use super::locked::{LOCK, MAIN, locked};
use super::registry::Registry;
use super::run::Run;
use super::workspace::Workspace;

/// The name of the trust file.
pub const TRUST: &str = ".tflock.trust.hcl";
/// The name of the settings file.
pub const SETTINGS: &str = ".tflock.hcl";
const POLICY: &str = "policy {\n  signature = \"always\"\n}\n";
/// The command of a gate.
pub const GATE: [&str; 3] = ["verify", "--base", "origin/main"];

/// A block of the trust file.
pub fn pin(registry: &Registry, provider: &str, signer: &str) -> String {
    format!("provider \"{}/{provider}\" {{\n  signers = [\"{signer}\"]\n}}\n", registry.host())
}

/// Commits everything.
pub fn commit(workspace: &Workspace, message: &str) {
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", message]);
}

/// Root modules in `app` and `other`, pinned and under a policy, as `origin/main` has them; HEAD is detached there.
pub fn repository(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[(SETTINGS, POLICY)]);
    let main = MAIN.replace("{{registry}}", &registry.host());
    let lock = locked(registry).lock_file();
    for root in ["app", "other"] {
        workspace.write(&format!("{root}/main.tf"), &main);
        workspace.write(&format!("{root}/{LOCK}"), &lock);
    }
    let good = keys::GOOD.fingerprint();
    let pins = ["acme/gadget", "acme/widget"].map(|provider| pin(registry, provider, &good));
    workspace.write(TRUST, &pins.join("\n"));
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.git(["checkout", "--quiet", "--detach"]);
    workspace
}

/// Changes a file.
#[track_caller]
pub fn edit(workspace: &Workspace, path: &str, change: impl FnOnce(&str) -> String) {
    let text = workspace.read(path);
    let changed = change(&text);
    assert_ne!(text, changed, "{path}");
    workspace.write(path, &changed);
}

/// Judges `app` as a change of `origin/main`, which writes nothing.
pub fn gate(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    let args = ["-C", "app"].into_iter().chain(GATE).chain(["--format", "json"]).chain(more.iter().copied());
    let run = workspace.tflock(registry, args);
    assert!(run.touched().is_empty(), "{run}");
    run
}

/// A text without the last line that holds something.
pub fn without_last_line_with(text: &str, part: &str) -> String {
    let at = text.rfind(part).unwrap();
    let start = text[..at].rfind('\n').unwrap() + 1;
    let end = at + text[at..].find('\n').unwrap() + 1;
    format!("{}{}", &text[..start], &text[end..])
}
