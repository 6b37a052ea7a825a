//! Runs what an error or a note advises, unchanged.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::advised::ADVICE;
use crate::advised_worlds::FOLLOWED;
use crate::support::followed::words as words_of;
use crate::support::keys;
use crate::support::locked::{LOCK, honest, locked};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// An error, or a note, and one of the commands that it advises.
struct Hint {
    /// The words of the command up to what differs from case to case.
    command: &'static str,
    /// Makes the world in which it is printed, from a locked one.
    world: fn(&Registry, &Workspace),
    /// The command that prints it, which may contain `HOST` and `KEY`, and its exit code.
    raise: (&'static [&'static str], i32),
    /// The values of placeholders that users fill in.
    fill: &'static [(&'static str, &'static str)],
    /// How the advised command ends.
    code: i32,
    /// True if the first command does its work afterwards.
    mends: bool,
}

/// A command that prints details and changes nothing.
const TELLS: Hint = Hint { command: "", world: |_, _| {}, raise: (&[], 2), fill: &[], code: 0, mends: false };

/// A command after which the first one does its work.
const MENDS: Hint = Hint { mends: true, ..TELLS };

fn edit(workspace: &Workspace, file: &str, change: impl FnOnce(String) -> String) {
    workspace.write(file, &change(workspace.read(file)));
}

fn constrain(workspace: &Workspace, constraint: &str) {
    edit(workspace, "main.tf", |text| text.replace("~> 1.4", constraint));
}

fn unlocked(workspace: &Workspace) {
    std::fs::remove_file(workspace.path(LOCK)).unwrap();
}

const HINTS: &[Hint] = &[
    Hint { command: "tflock why", raise: (&["upgrade", "HOST/acme/nope"], 2), ..TELLS },
    Hint { command: "tflock why", world: |_, it| constrain(it, "~> 1.5"), raise: (&["lock"], 2), ..TELLS },
    Hint {
        command: "tflock upgrade",
        world: |_, it| constrain(it, "~> 1.5"),
        raise: (&["lock", "--platform", "linux_amd64"], 2),
        ..MENDS
    },
    Hint {
        command: "tflock upgrade --bump --precise",
        world: |_, it| constrain(it, "~> 1.4.0"),
        raise: (&["upgrade", "--precise", "1.5.0", "HOST/acme/widget"], 2),
        ..MENDS
    },
    Hint {
        command: "tflock why",
        world: |_, it| edit(it, "main.tf", |text| text.replace("acme/gadget", "acme/nope")),
        raise: (&["lock"], 2),
        ..TELLS
    },
    Hint {
        command: "tflock why",
        world: |_, it| {
            constrain(it, "> 9");
            unlocked(it);
        },
        raise: (&["lock"], 2),
        ..TELLS
    },
    Hint { command: "tflock outdated", raise: (&["upgrade", "--precise", "1.4.7", "HOST/acme/widget"], 2), ..TELLS },
    Hint {
        command: "tflock upgrade",
        world: |registry, _| registry.withdraw("acme/widget", "1.4.0"),
        raise: (&["lock", "--platform", "linux_amd64"], 2),
        ..MENDS
    },
    Hint { command: "tflock lock", world: |_, it| unlocked(it), raise: (&["list"], 2), ..MENDS },
    Hint { command: "tflock why", raise: (&["why", "nope"], 2), ..TELLS },
    Hint { command: "tflock list", raise: (&["why", "nope"], 2), ..TELLS },
    Hint { command: "tflock list -r", raise: (&["upgrade", "-r", "nope"], 2), ..TELLS },
    Hint {
        command: "tflock mirror",
        raise: (&["lock", "--platform", "linux_amd64", "--fs-mirror", "copies"], 2),
        fill: &[("DIR", "copies")],
        ..MENDS
    },
    Hint {
        command: "tflock explain",
        world: |_, it| it.write(".tflock.hcl", "level \"republishd\" {\n  is = \"warn\"\n}\n"),
        raise: (&["lock"], 2),
        ..TELLS
    },
    Hint {
        command: "tflock trust init",
        world: |_, it| it.write("pins/.keep", ""),
        raise: (&["verify", "--trust-file", "pins/trust.hcl"], 2),
        ..MENDS
    },
    Hint { command: "tflock trust init", raise: (&["verify"], 0), ..MENDS },
    Hint { command: "tflock lock", world: |_, it| unlocked(it), raise: (&["trust", "init"], 2), ..MENDS },
    Hint {
        command: "tflock upgrade",
        world: |registry, _| registry.withdraw("acme/widget", "1.4.0"),
        raise: (&["trust", "init"], 2),
        ..MENDS
    },
    Hint { command: "tflock trust add", raise: (&["trust", "rotate", "HOST/acme/widget", "KEY"], 2), ..MENDS },
    Hint {
        command: "tflock trust forget",
        world: |_, it| {
            it.tflock(None, ["trust", "deny", &keys::GOOD.fingerprint(), "--reason", "lost"]).ended_with(0);
        },
        raise: (&["trust", "add", "HOST/acme/widget", "KEY"], 2),
        ..MENDS
    },
    Hint { command: "tflock trust list", raise: (&["trust", "forget", "HOST/acme/widget"], 2), ..TELLS },
    Hint { command: "tflock trust list", raise: (&["trust", "forget", "KEY"], 2), ..TELLS },
    Hint { command: "tflock lock -r --create", world: |_, it| unlocked(it), raise: (&["list", "-r"], 2), ..MENDS },
    Hint { command: "tflock upgrade", raise: (&["add", "HOST/acme/widget@~> 1.5"], 2), ..TELLS },
    Hint { command: "tflock why", raise: (&["remove", "HOST/acme/nope"], 2), ..TELLS },
    Hint { command: "tflock mirror --check", raise: (&["mirror", "copies", "--offline"], 4), code: 2, ..TELLS },
    Hint { command: "tflock explain republished", raise: (&["explain", "republishd"], 2), ..TELLS },
    Hint { command: "tflock explain", raise: (&["explain", "nosuchthing"], 2), ..TELLS },
    Hint { command: "tflock help", raise: (&["help", "nosuchthing"], 2), ..TELLS },
    Hint { command: "tflock upgrade -r", raise: (&["add", "-r", "HOST/acme/widget"], 2), ..TELLS },
    Hint { command: "tflock lock", raise: (&["init"], 2), ..TELLS },
    Hint { command: "tflock verify", raise: (&["validate"], 2), ..TELLS },
    Hint { command: "tflock fmt --check", raise: (&["validate"], 2), ..TELLS },
    Hint { command: "tflock verify", raise: (&["check"], 2), ..TELLS },
    Hint { command: "tflock why", raise: (&["tree"], 2), ..TELLS },
    Hint { command: "tflock list", raise: (&["show"], 2), ..TELLS },
    Hint { command: "tflock upgrade", raise: (&["update"], 2), ..TELLS },
    Hint { command: "tflock lock", raise: (&["update"], 2), ..TELLS },
    Hint {
        command: "tflock add",
        world: |_, it| {
            let widget =
                "    widget = {\n      source  = \"{{registry}}/acme/widget\"\n      version = \"~> 1.4\"\n    }\n";
            edit(it, "main.tf", |text| text.replace(widget, ""));
        },
        raise: (&["add", "HOST/acme/widget@~> 1.5", "--platform", "linux_amd64"], 2),
        ..TELLS
    },
    Hint {
        command: "tflock remove --lock-only",
        raise: (&["add", "--lock-only", "HOST/acme/widget@~> 1.5", "--platform", "linux_amd64"], 2),
        ..MENDS
    },
    Hint {
        command: "tflock cache export",
        world: |_, it| it.write("kept", "nonsense"),
        raise: (&["cache", "import", "kept"], 2),
        fill: &[("FILE", "kept")],
        ..MENDS
    },
    Hint { command: "tflock completions bash", raise: (&["completions"], 2), ..TELLS },
    Hint {
        command: "tflock diff main.tf --",
        world: |_, it| {
            it.git(["init", "--quiet"]);
            it.git(["add", "--all"]);
            it.git(["commit", "--quiet", "--message", "all"]);
            it.git(["branch", "main.tf"]);
        },
        raise: (&["diff", "main.tf"], 2),
        ..TELLS
    },
    Hint {
        command: "tflock git install",
        world: |_, it| drop(it.git(["init", "--quiet"])),
        raise: (&["git", "status"], 1),
        ..MENDS
    },
    Hint {
        command: "tflock git uninstall",
        world: |_, it| drop(it.git(["init", "--quiet"])),
        raise: (&["uninstall"], 2),
        ..TELLS
    },
    Hint {
        command: "tflock merge --resolve",
        world: |_, it| edit(it, LOCK, |text| format!("<<<<<<< a\n{text}=======\n{text}>>>>>>> b\n")),
        raise: (&["lock", "--platform", "linux_amd64"], 2),
        ..MENDS
    },
    Hint { command: "tflock setup", raise: (&["status"], 0), ..MENDS },
];

/// The commands of `tflock` that a text names between backticks.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|words| words.starts_with("tflock "))
}

fn registry() -> Registry {
    honest().release("acme/widget", "1.5.0", &["linux_amd64", "darwin_arm64"])
}

#[test]
fn each_hinted_command_does_what_is_promised() {
    let mut failed = Vec::new();
    for hint in HINTS {
        let registry = registry();
        let workspace = locked(&registry);
        (hint.world)(&registry, &workspace);
        let fill = [("HOST", registry.host()), ("KEY", keys::GOOD.fingerprint())];
        let filled = |word: &str| fill.iter().fold(word.to_owned(), |word, (from, to)| word.replace(from, to));
        let (words, code) = hint.raise;
        let words: Vec<String> = words.iter().map(|word| filled(word)).collect();
        let run = workspace.tflock(&registry, &words);
        let shown = format!("{}\n{}", run.stderr, run.stdout);
        // Words that begin alike: the shortest is meant.
        let mut advised: Vec<&str> = commands(&shown).filter(|words| words.starts_with(hint.command)).collect();
        advised.sort_by_key(|words| words.len());
        let (Some(advised), true) = (advised.first(), run.code == Some(code)) else {
            failed.push(format!("{} is not advised: {run}", hint.command));
            continue;
        };
        let filled_in = |word: &str| {
            hint.fill.iter().find(|(from, _)| *from == word).map_or(word.to_owned(), |(_, to)| (*to).to_owned())
        };
        let advised: Vec<String> = words_of(advised).iter().skip(1).map(|word| filled_in(word)).collect();
        let done = workspace.tflock(&registry, &advised);
        if done.code != Some(hint.code) {
            failed.push(format!("{words:?} advises {advised:?}: {done}"));
        }
        // A command that only prints details leaves the error.
        let again = hint.mends.then(|| workspace.tflock(&registry, &words));
        if let Some(again) = again.filter(|again| again.code != Some(0)) {
            failed.push(format!("after {advised:?}: {again}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n----------\n"));
}

/// The commands that a line of the program names between backticks.
fn named(line: &str) -> impl Iterator<Item = String> {
    line.split("`tflock ").skip(1).filter_map(|rest| {
        let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let mut words = rest.split([' ', '`', '"']).take_while(is_word);
        let first = words.next()?;
        let second = words.next().filter(|_| ["cache", "git", "trust"].contains(&first));
        Some([Some(first), second].into_iter().flatten().collect::<Vec<_>>().join(" "))
    })
}

/// All commands that the program advises.
fn advised() -> BTreeSet<String> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")]);
    while let Some(next) = folders.pop() {
        for path in std::fs::read_dir(next).unwrap().map(|entry| -> PathBuf { entry.unwrap().path() }) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let (code, _) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
                let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
                found.extend(lines.flat_map(named));
            }
        }
    }
    found
}

#[test]
#[expect(clippy::print_stderr, reason = "the counts are what this test is for")]
fn each_advised_command_is_run_by_a_test() {
    let of_hints = HINTS.iter().flat_map(|hint| named(&format!("`{}", hint.command)).collect::<Vec<_>>());
    let of_rules =
        ADVICE.iter().map(|advice| advice.rule).flat_map(|rule| named(&rule.help().to_string()).collect::<Vec<_>>());
    let of_worlds = FOLLOWED.iter().flat_map(|it| named(&format!("`tflock {}", it.command)).collect::<Vec<_>>());
    let run: BTreeSet<String> = of_hints.chain(of_rules).chain(of_worlds).collect();
    let named = advised();
    eprintln!("{} commands are advised, and {} of them run", named.len(), named.intersection(&run).count());
    let open: Vec<&String> = named.difference(&run).collect();
    assert!(open.is_empty(), "{open:?}");
}

/// What comes next has the source of the command before it, and is never that command.
#[test]
fn the_next_command_keeps_the_source() {
    let registry = registry();
    let workspace = locked(&registry);
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
    let h1 = registry.package("acme/widget", "1.4.0", "darwin_arm64").h1;
    edit(&workspace, LOCK, |text| text.split_inclusive('\n').filter(|line| !line.contains(&h1)).collect());
    let mirror = format!("net:{}", registry.mirror_url());
    let run = workspace.tflock(&registry, ["verify", "--source", &mirror]);
    assert!(run.stdout.contains(&format!("help: Run `tflock lock --source {mirror}`")), "{run}");
    let next = run
        .stdout
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("next: `tflock "))
        .unwrap_or_else(|| panic!("{run}"));
    let next: Vec<&str> = next.trim_end_matches('`').split(' ').collect();
    assert_eq!(next, ["verify", "--source", &mirror, "--fix"], "{run}");
    workspace.tflock(&registry, &next).ended_with(0);
    let unreachable = workspace.tflock(&registry, ["verify", "--source", "net:https://127.0.0.1:1/"]).ended_with(4);
    assert!(!unreachable.stdout.contains("next: `tflock verify"), "{unreachable}");
}
