//! What a terminal shows while a registry keeps people waiting, and after they have had enough.

use super::Told;
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::terminal::Terminal;
use crate::support::workspace::{TFLOCK, Workspace};

const LOCK: &str = ".terraform.lock.hcl";
const PLATFORMS: [&str; 2] = ["linux_amd64", "linux_arm64"];

/// What Ctrl-C sends.
const INTERRUPT: &str = "\x03";

/// What is shown of packages that are on their way.
const PACKAGES: [&str; 4] = ["linux_amd64 ", "linux_arm64 ", " 0 B/623 B", "0 of 2 packages, 0 B of 1.2 kB"];

fn main(version: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    widget = {{\n      source  = \"{{{{registry}}}}/acme/widget\"\n      \
         version = \"{version}\"\n    }}\n  }}\n}}\n"
    )
}

/// Three root modules that are locked, and may be upgraded from a registry that keeps something back.
fn world(kept_back: Endpoint) -> (Registry, Workspace) {
    let registry = Registry::start().release("acme/widget", "1.0.0", &PLATFORMS);
    let workspace = Workspace::with_files(&[(".tflock.hcl", "platforms = [\"linux_amd64\", \"linux_arm64\"]\n")]);
    // However slow this machine is, the run waits for the rest.
    let workspace = workspace.env("TF_REGISTRY_CLIENT_TIMEOUT", "120");
    workspace.git(["init", "--quiet"]);
    (0..3).for_each(|number| workspace.write(&format!("{number}/main.tf"), &main(">= 1.0")));
    workspace.tflock(&registry, ["lock", "-r", "--create"]).ended_with(0);
    let registry = registry.release("acme/widget", "2.0.0", &PLATFORMS).answers(kept_back, Answer::kept_back());
    (registry, workspace)
}

/// Interrupts an upgrade once the screen shows these texts: what it shows then, and what is left of it in the end.
fn interrupted(kept_back: Endpoint, texts: &[&str]) -> Option<[String; 2]> {
    let (registry, workspace) = world(kept_back);
    let lock_files = || [0, 1, 2].map(|number| workspace.read(&format!("{number}/{LOCK}")));
    let before = lock_files();
    let mut terminal = Terminal::start(&workspace, &registry, 80, &format!("'{TFLOCK}' upgrade -r"))?;
    let meanwhile = terminal.showing(texts);
    terminal.press(INTERRUPT);
    let (code, left) = terminal.end();
    assert_eq!((code, lock_files()), (Some(130), before), "{left}");
    Some([meanwhile, left])
}

#[test]
fn nothing_is_left_of_a_run_that_was_interrupted() {
    for (kept_back, texts) in [(Endpoint::Versions, &["asking localhost"][..]), (Endpoint::Zip, &PACKAGES)] {
        let Some([meanwhile, left]) = interrupted(kept_back, texts) else { return };
        assert_eq!(left, "error: interrupted; no lock file was changed", "{meanwhile}");
    }
}

/// The same, told.
pub(super) fn waiting(told: &mut Told) {
    for (kept_back, texts) in [(Endpoint::Versions, &["asking localhost"][..]), (Endpoint::Zip, &PACKAGES)] {
        let (registry, workspace) = world(kept_back);
        let program = told.program.display().to_string();
        let line = format!("'{program}' upgrade -r");
        let Some(mut terminal) = Terminal::start(&workspace, &registry, 80, &line) else { return };
        if program != TFLOCK {
            // The earlier program is only recorded: nobody knows what it will show, if anything.
            std::thread::sleep(std::time::Duration::from_secs(3));
        }
        let shown = terminal.showing(if program == TFLOCK { texts } else { &[] });
        terminal.press(INTERRUPT);
        let (code, left) = terminal.end();
        let version = workspace.tflock(&registry, ["--version"]);
        let filtered = |text: &str| {
            let text = version.filtered(text);
            let mut lines: Vec<String> =
                text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            // Packages begin in any order.
            lines.sort_unstable();
            lines.join("\n")
        };
        told.shows(&format!("a terminal of 80 columns, {kept_back:?} awaited"), &filtered(&shown));
        let code = code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        told.shows("the same after Ctrl-C", &format!("{}\n[exit {code}]", filtered(&left)));
    }
}
