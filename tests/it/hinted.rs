//! What an error or a note advises is run as it stands.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::keys;
use crate::support::locked::{LOCK, honest, locked};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// An error, or a note, and one of the commands that it advises.
struct Hint {
    /// The words of the command up to what differs from case to case.
    command: &'static str,
    /// Makes the world in which it is told, from a locked one.
    world: fn(&Registry, &Workspace),
    /// The command that tells it, in which `HOST` and `KEY` may stand, and how it ends.
    raise: (&'static [&'static str], i32),
    /// What stands for words that people have to fill in.
    fill: &'static [(&'static str, &'static str)],
    /// How the advised command ends.
    code: i32,
    /// True if the first command does its work afterwards.
    mends: bool,
}

/// A command that tells more and changes nothing.
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
    Hint { command: "tflock lock", raise: (&["install"], 2), ..TELLS },
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
        let told = format!("{}\n{}", run.stderr, run.stdout);
        // Words that begin alike: the shortest is meant.
        let mut advised: Vec<&str> = commands(&told).filter(|words| words.starts_with(hint.command)).collect();
        advised.sort_by_key(|words| words.len());
        let (Some(advised), true) = (advised.first(), run.code == Some(code)) else {
            failed.push(format!("{} is not advised: {run}", hint.command));
            continue;
        };
        let filled_in = |word: &str| {
            hint.fill.iter().find(|(from, _)| *from == word).map_or(word.to_owned(), |(_, to)| (*to).to_owned())
        };
        let advised: Vec<String> = advised.split(' ').skip(1).map(filled_in).collect();
        let done = workspace.tflock(&registry, &advised);
        if done.code != Some(hint.code) {
            failed.push(format!("{words:?} advises {advised:?}: {done}"));
        }
        // What only tells more leaves the error where it is.
        let again = hint.mends.then(|| workspace.tflock(&registry, &words));
        if let Some(again) = again.filter(|again| again.code != Some(0)) {
            failed.push(format!("after {advised:?}: {again}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n----------\n"));
}

const HERE: &str = "the table above";

/// Where the program advises commands of its own, and which tests run them.
const ADVISERS: [(&str, &str); 44] = [
    ("ask/gather/choose.rs", HERE),
    ("ask/gather/copies.rs", "mirror: what is not recorded is locked as advised"),
    ("ask/gather/mod.rs", HERE),
    ("ask/gather/release.rs", "migrate: a version that both registries have is to be chosen"),
    ("ask/gather/several.rs", "sources::mirrors: the registry is asked"),
    ("ask/gather/signed.rs", "lock_trust: a registry that signs nothing is let in as the help says"),
    ("cli/args/mod.rs", HERE),
    ("cli/generated.rs", HERE),
    ("cli/usage.rs", HERE),
    ("commands/add.rs", "names: what an added provider leaves open is told"),
    ("commands/cache.rs", "cache: what is no export changes nothing"),
    ("commands/diff/inputs/form.rs", "diff: a name that is file and revision must be settled"),
    ("commands/diff/inputs/mod.rs", "diff: two files are compared without git"),
    ("commands/explain.rs", HERE),
    ("commands/get.rs", "modules::get: without a lock nothing is installed"),
    ("commands/locking.rs", "modules::locks"),
    ("commands/migrate.rs", "migrate: nothing to migrate"),
    ("commands/mirror/copy.rs", HERE),
    ("commands/resolve.rs", "merge: what git has of one side is taken"),
    ("commands/targets.rs", HERE),
    ("commands/trust/init.rs", HERE),
    ("commands/trust/mod.rs", HERE),
    ("commands/verify/gate.rs", HERE),
    ("commands/verify/proposed.rs", "rotated"),
    ("commands/why.rs", HERE),
    ("commands/witnesses.rs", "altered: the index knows what was written outside of git"),
    ("config/edit/error.rs", HERE),
    ("diff/explain.rs", "tells, and promises nothing"),
    ("disk/mirror/mod.rs", HERE),
    ("disk/mirror_writer.rs", "mirror: a document that is none is not written over"),
    ("lock/plan.rs", HERE),
    ("lockfile/content.rs", "rotated: files are named in what is advised"),
    ("modules/fetch.rs", "modules::get: a commit that is gone"),
    ("modules/wanted.rs", "modules::locks"),
    ("report/annotation.rs", "tells, and promises nothing"),
    ("report/human/explained.rs", "tells, and promises nothing"),
    ("report/markdown/review.rs", "tells, and promises nothing"),
    ("settings/error.rs", HERE),
    ("source/error.rs", HERE),
    ("trust/words.rs", "rotated: the signer of an unsigned release is no fingerprint"),
    ("verify/init.rs", "configuration: what init will change is named"),
    ("workspace/names.rs", HERE),
    ("workspace/root_module.rs", HERE),
    ("finding/rule.rs", "advised"),
];

/// The files below a folder that name a command of `tflock` in what they tell.
fn advisers(folder: &Path) -> BTreeSet<String> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for path in std::fs::read_dir(next).unwrap().map(|entry| -> PathBuf { entry.unwrap().path() }) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
            if path.extension().is_none_or(|ending| ending != "rs") || name.contains("tests") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let (code, _) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
            let is_told = |line: &str| {
                let mut after = line.split("`tflock ").skip(1);
                !line.trim_start().starts_with("//")
                    && after.any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
            };
            if code.lines().any(is_told) {
                found.insert(name);
            }
        }
    }
    found
}

#[test]
fn each_place_that_advises_a_command_is_known() {
    let found = advisers(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let known: BTreeSet<String> = ADVISERS.iter().map(|(file, _)| (*file).to_owned()).collect();
    assert_eq!(found, known);
    assert!(ADVISERS.iter().all(|(_, shown)| !shown.is_empty()));
}
