//! `upgrade --interactive`, on a pseudo-terminal of Python's.
#![cfg(unix)]

use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::tools::found;
use crate::support::workspace::Workspace;

const LOCK: &str = ".terraform.lock.hcl";

/// Runs a program on a terminal of 100 columns, and presses a key whenever the program has drawn something. What it drew
/// goes to standard output.
const TERMINAL: &str = r#"
import fcntl, os, pty, select, struct, sys, termios
keys = [bytes.fromhex(key) for key in sys.argv[1].split(",")]
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
drawn, unanswered = b"", b""
while True:
    try:
        quiet = not select.select([terminal], [], [], 0.3)[0]
        data = b"" if quiet else os.read(terminal, 4096)
        if not quiet and not data:
            break
    except OSError:
        break
    drawn += data
    unanswered += data
    if quiet and keys and b"[ ]" in unanswered or quiet and keys and b"[x]" in unanswered:
        unanswered = b""
        os.write(terminal, keys.pop(0))
sys.stdout.buffer.write(drawn.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

const DOWN: &str = "1b5b42";
const SPACE: &str = "20";
const ENTER: &str = "0d";
const LEAVE: &str = "71";
const CTRL_C: &str = "03";

fn registry() -> Registry {
    let mut registry = Registry::start();
    for provider in ["acme/widget", "acme/gadget"] {
        for version in ["1.0.0", "1.2.0", "2.0.0"] {
            registry = registry.release(provider, version, &["linux_amd64"]);
        }
    }
    registry
}

/// Two root modules that lock 1.0.0 of both providers; the constraint on widget allows 1.2.0, and none is on gadget.
fn outdated(registry: &Registry) -> Workspace {
    let main = |gadget: &str, widget: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    gadget = {{\n      source  = \"{{{{registry}}}}/acme/gadget\"\n      version = \
             \"{gadget}\"\n    }}\n    widget = {{\n      source  = \"{{{{registry}}}}/acme/widget\"\n      version = \"{widget}\"\n    \
             }}\n  }}\n}}\n"
        )
    };
    let workspace =
        Workspace::with_files(&[("a/main.tf", &main("1.0.0", "1.0.0")), ("b/main.tf", &main("1.0.0", "1.0.0"))]);
    workspace.tflock(registry, ["lock", "-r", "--create", "--platform", "linux_amd64"]).ended_with(0);
    for root in ["a", "b"] {
        workspace.write(&format!("{root}/main.tf"), &main(">= 1.0", "~> 1.0"));
    }
    workspace.env("NO_COLOR", "1").env("TERM", "xterm")
}

/// `None` without Python.
fn choose(workspace: &Workspace, registry: &Registry, keys: &[&str]) -> Option<Run> {
    let (keys, tflock) = (keys.join(","), env!("CARGO_BIN_EXE_tflock"));
    let args = ["-c", TERMINAL, &keys, tflock, "upgrade", "-r", "-i", "--platform", "linux_amd64"];
    Some(workspace.program(&found("python3")?, registry, args))
}

/// The locked versions of gadget and widget.
fn versions(workspace: &Workspace, root: &str) -> Vec<String> {
    let text = workspace.read(&format!("{root}/{LOCK}"));
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("version"));
    lines.map(|line| line.trim_matches([' ', '=', '"']).to_owned()).collect()
}

#[test]
#[ignore = "long"]
fn what_is_chosen_is_raised() {
    let registry = registry();
    let workspace = outdated(&registry);
    let Some(run) = choose(&workspace, &registry, &[DOWN, SPACE, ENTER]) else { return };
    let run = run.ended_with(0);
    for root in ["a", "b"] {
        assert_eq!(versions(&workspace, root), ["1.0.0", "1.2.0"], "{run}");
    }
    assert!(run.stdout.contains("acme/gadget  1.0.0 -> 2.0.0"), "{run}");
    assert!(run.stdout.contains("acme/widget  1.0.0 -> 1.2.0"), "{run}");
    assert!(run.stdout.contains("1.0.0 -> 2.0.0  rewrites") && run.stdout.contains("2 root modules"), "{run}");
    assert_eq!(run.touched(), ["a/.terraform.lock.hcl", "b/.terraform.lock.hcl"]);
}

#[test]
#[ignore = "long"]
fn a_constraint_is_rewritten_if_that_is_chosen() {
    let registry = registry();
    let workspace = outdated(&registry);
    let Some(run) = choose(&workspace, &registry, &[DOWN, DOWN, SPACE, ENTER]) else { return };
    let run = run.ended_with(0);
    for root in ["a", "b"] {
        assert_eq!(versions(&workspace, root), ["1.0.0", "2.0.0"], "{run}");
        let main = workspace.read(&format!("{root}/main.tf"));
        assert!(main.contains("\"~> 2.0\"") && main.contains("\">= 1.0\""), "{main}");
    }
    workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
}

#[test]
#[ignore = "long"]
fn nothing_changes_if_nothing_is_chosen() {
    let registry = registry();
    let workspace = outdated(&registry);
    for (keys, code) in [(&[LEAVE][..], 0), (&[ENTER], 0), (&[SPACE, CTRL_C], 130)] {
        let Some(run) = choose(&workspace, &registry, keys) else { return };
        let run = run.ended_with(code);
        assert!(run.touched().is_empty(), "{run}");
        let said = if code == 0 { "nothing was chosen, and no file was changed" } else { "interrupted" };
        assert!(run.stdout.contains(said), "{run}");
        // The cursor is shown again.
        assert!(run.stdout.rfind("\u{1b}[?25h") > run.stdout.rfind("\u{1b}[?25l"), "{run}");
    }
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let registry = registry();
    let workspace = outdated(&registry);
    let run = workspace.tflock(&registry, ["upgrade", "-r", "-i"]).ended_with(2);
    insta::assert_snapshot!(run.filtered(&run.stderr));
    let run = workspace.tflock(&registry, ["upgrade", "-r", "-i", "acme/widget@1.2.0"]).ended_with(2);
    assert!(run.stderr.contains("--interactive asks for the versions, but one is named"), "{run}");
}
