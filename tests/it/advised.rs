//! Runs what a finding advises, unchanged: then the finding is resolved, or the command does what the text promises. Worlds that
//! take more than a few lines are in `levels.txt`, and what they raise in `advised_worlds`.

use tflock_core::finding::Rule;

use crate::support::keys;
use crate::support::locked::{LOCK, block, hashes, honest, pinned, planted};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const ZH: &str = "zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const H1: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
const TRUST: &str = ".tflock.trust.hcl";
const PLATFORMS: &str = "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n";

/// One finding and what it advises.
pub struct Advice {
    pub rule: Rule,
    /// Makes the world in which it is raised, from a locked one.
    world: fn(&Registry, &Workspace),
    /// The command that raises it.
    raise: &'static [&'static str],
    /// The values of placeholders that users fill in.
    fill: &'static [(&'static str, &'static str)],
    /// What users do by hand before, as the text says.
    by_hand: fn(&Registry, &Workspace),
    /// The exit code of the advised command.
    code: i32,
    /// False if the finding remains, since the command only prints details.
    settles: bool,
}

const PLAIN: Advice = Advice {
    rule: Rule::NotCanonical,
    world: |_, _| {},
    raise: &["verify", "--format", "json"],
    fill: &[],
    by_hand: |_, _| {},
    code: 0,
    settles: true,
};

const REASON: (&str, &str) = ("TEXT", "because");

fn edit(workspace: &Workspace, file: &str, change: impl FnOnce(String) -> String) {
    workspace.write(file, &change(workspace.read(file)));
}

/// Takes the lines with a text out of the lock file.
fn without(workspace: &Workspace, part: &str) {
    edit(workspace, LOCK, |text| text.split_inclusive('\n').filter(|line| !line.contains(part)).collect());
}

fn constrain(workspace: &Workspace, constraint: &str) {
    edit(workspace, "main.tf", |text| text.replace("~> 1.4", constraint));
}

/// The whole world is committed, and there is a base.
fn committed(workspace: &Workspace) {
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "base"]);
}

pub const ADVICE: &[Advice] = &[
    Advice {
        rule: Rule::LockHashes,
        world: |_, it| edit(it, LOCK, |text| text.replace("\"h1:", "\"nonsense")),
        // An attribute of nothing but such values is taken out.
        by_hand: |registry, it| {
            it.write(
                LOCK,
                &block(registry, "acme/widget", "  version = \"1.4.0\"\n", &[])
                    .replace("  hashes = [\n    \"\",\n  ]\n", ""),
            );
        },
        ..PLAIN
    },
    Advice {
        rule: Rule::DuplicateProvider,
        world: |registry, it| {
            let entry =
                block(registry, "acme/widget", "  version = \"1.4.0\"\n", &hashes(registry, "acme/widget", "1.4.0"));
            edit(it, LOCK, |text| text + &entry);
        },
        by_hand: |registry, it| {
            let entry =
                block(registry, "acme/widget", "  version = \"1.4.0\"\n", &hashes(registry, "acme/widget", "1.4.0"));
            edit(it, LOCK, |text| text.replacen(&entry, "", 1));
        },
        ..PLAIN
    },
    Advice {
        rule: Rule::DuplicateHash,
        world: |registry, it| {
            let hash = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
            edit(it, LOCK, |text| planted(&text, &hash));
        },
        ..PLAIN
    },
    Advice { world: |_, it| edit(it, LOCK, |text| text.replace("  version", " version")), ..PLAIN },
    Advice {
        rule: Rule::PinsNothing,
        world: |registry, it| {
            let own = block(registry, "acme/widget", "", &hashes(registry, "acme/widget", "1.4.0"));
            let (_, list) = own.split_once("  hashes").unwrap();
            let list = format!("  hashes{}", list.trim_end_matches("}\n"));
            edit(it, LOCK, |text| text.replace(&list, ""));
        },
        ..PLAIN
    },
    Advice {
        rule: Rule::Republished,
        world: |registry, _| registry.republish("acme/widget", "1.4.0"),
        fill: &[REASON],
        ..PLAIN
    },
    Advice {
        rule: Rule::SignerChanged,
        world: |registry, it| {
            it.write(TRUST, &pinned(registry).replacen(&keys::GOOD.fingerprint(), &keys::OTHER.fingerprint(), 1));
        },
        fill: &[REASON],
        ..PLAIN
    },
    Advice {
        rule: Rule::FirstUseForbidden,
        world: |_, it| it.write(LOCK, ""),
        raise: &["lock", "--no-first-use", "--format", "json"],
        ..PLAIN
    },
    Advice {
        rule: Rule::PossiblyFromState,
        world: |_, it| {
            edit(it, "main.tf", |text| {
                text.replace("    gadget = {\n      source = \"{{registry}}/acme/gadget\"\n    }\n", "")
            });
            it.write("state.json", "{\"version\": 4, \"resources\": []}");
        },
        fill: &[("FILE", "state.json")],
        ..PLAIN
    },
    Advice {
        rule: Rule::HeldBack,
        world: |_, it| constrain(it, "1.4.0"),
        raise: &["upgrade", "--format", "json"],
        ..PLAIN
    },
    Advice { rule: Rule::LockFileMissing, world: |_, it| std::fs::remove_file(it.path(LOCK)).unwrap(), ..PLAIN },
    Advice { rule: Rule::EntryMissing, world: |_, it| it.write(LOCK, ""), ..PLAIN },
    Advice { rule: Rule::VersionNotAllowed, world: |_, it| constrain(it, "~> 1.5"), ..PLAIN },
    Advice { rule: Rule::ConstraintsStale, world: |_, it| constrain(it, ">= 1.4"), ..PLAIN },
    Advice {
        rule: Rule::PlatformUncovered,
        world: |registry, it| {
            it.write(".tflock.hcl", PLATFORMS);
            without(it, &registry.package("acme/widget", "1.4.0", "darwin_arm64").h1);
        },
        ..PLAIN
    },
    Advice {
        rule: Rule::MalformedHash,
        world: |_, it| edit(it, LOCK, |text| planted(&text, "h1:nonsense")),
        by_hand: |_, it| without(it, "h1:nonsense"),
        ..PLAIN
    },
    Advice { rule: Rule::UnattestedHash, world: |_, it| edit(it, LOCK, |text| planted(&text, H1)), ..PLAIN },
    Advice {
        rule: Rule::UnattestedHash,
        world: |_, it| edit(it, LOCK, |text| planted(&text, ZH)),
        by_hand: |_, it| without(it, ZH),
        ..PLAIN
    },
    Advice {
        rule: Rule::UnattestedHash,
        world: |_, it| {
            it.write(".tflock.hcl", PLATFORMS);
            edit(it, LOCK, |text| planted(&text, H1));
        },
        raise: &["lock", "--dry-run", "--format", "json"],
        ..PLAIN
    },
    Advice {
        rule: Rule::LockFileAltered,
        world: |registry, it| {
            committed(it);
            edit(it, LOCK, |text| text.replace(&registry.package("acme/widget", "1.4.0", "linux_amd64").zh(), ZH));
        },
        ..PLAIN
    },
    Advice {
        rule: Rule::HashReplaced,
        world: |registry, it| {
            committed(it);
            edit(it, LOCK, |text| text.replace(&registry.package("acme/widget", "1.4.0", "linux_amd64").h1, H1));
        },
        raise: &["verify", "--base", "HEAD", "--format", "json"],
        ..PLAIN
    },
    Advice {
        rule: Rule::ContradictedHash,
        world: |registry, it| {
            let other = registry.package("acme/gadget", "2.0.0", "linux_amd64").zh();
            edit(it, LOCK, |text| planted(&text, &other));
        },
        by_hand: |registry, it| {
            let other = registry.package("acme/gadget", "2.0.0", "linux_amd64").zh();
            edit(it, LOCK, |text| {
                let at = text.rfind(&other).unwrap();
                let start = text[..at].rfind('\n').unwrap();
                let end = at + text[at..].find('\n').unwrap();
                format!("{}{}", &text[..start], &text[end..])
            });
        },
        ..PLAIN
    },
    Advice {
        rule: Rule::ZhMissing,
        world: |registry, it| without(it, &registry.package("acme/widget", "1.4.0", "darwin_arm64").zh()),
        ..PLAIN
    },
    Advice { rule: Rule::H1Missing, world: |_, it| without(it, "\"h1:"), ..PLAIN },
    Advice { rule: Rule::VersionWithdrawn, world: |registry, _| registry.withdraw("acme/widget", "1.4.0"), ..PLAIN },
    Advice {
        rule: Rule::SignerNotPinned,
        world: |registry, it| it.write(TRUST, pinned(registry).split_once("\n\n").unwrap().0),
        ..PLAIN
    },
    Advice {
        rule: Rule::Banned,
        world: |_, it| {
            it.write(
                ".tflock.hcl",
                "ban \"{{registry}}/acme/widget\" {\n  versions = \"1.4.0\"\n  reason = \"broken\"\n}\n",
            );
        },
        ..PLAIN
    },
    Advice {
        rule: Rule::HashesDropped,
        world: |registry, it| {
            it.write(".tflock.hcl", PLATFORMS);
            committed(it);
            without(it, &registry.package("acme/widget", "1.4.0", "darwin_arm64").h1);
        },
        raise: &["verify", "--base", "HEAD", "--format", "json"],
        ..PLAIN
    },
    Advice {
        rule: Rule::PinRemoved,
        world: |registry, it| {
            it.write(TRUST, &pinned(registry));
            committed(it);
            it.write(TRUST, pinned(registry).split_once("\n\n").unwrap().0);
        },
        raise: &["verify", "--base", "HEAD", "--format", "json"],
        // It accepts the change; the removed signer is still reported.
        code: 3,
        settles: false,
        ..PLAIN
    },
    Advice {
        rule: Rule::PolicyWeakened,
        world: |_, it| {
            it.write(".tflock.hcl", "policy {\n  expired_key = \"deny\"\n}\n");
            committed(it);
            it.write(".tflock.hcl", "");
        },
        raise: &["verify", "--base", "HEAD", "--format", "json"],
        settles: false,
        ..PLAIN
    },
];

/// The help of the finding with this rule; `None` if there is none.
fn help(run: &Run, rule: Rule) -> Option<String> {
    let json = run.json();
    let findings = json["findings"].as_array().unwrap_or_else(|| panic!("{run}"));
    let finding = findings.iter().find(|finding| finding["rule"] == rule.id())?;
    Some(finding["help"].as_str().unwrap().to_owned())
}

/// The last command of `tflock` that a help names, as words.
fn command(help: &str, raise: &[&str]) -> Vec<String> {
    let commands = help.split('`').skip(1).step_by(2).filter_map(|text| text.strip_prefix("tflock "));
    let words = commands.last().unwrap_or_else(|| panic!("no command in {help}"));
    let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    if help.contains("with --allow-trust-change") {
        words.extend(
            raise[1..].iter().filter(|word| **word != "--format" && **word != "json").map(|it| (*it).to_owned()),
        );
        words.push("--allow-trust-change".to_owned());
    }
    words
}

fn registry() -> Registry {
    honest().release("acme/widget", "1.5.0", &["linux_amd64", "darwin_arm64"])
}

/// The command that a report names as the next one: never one that shows more where the help of the finding has a repair, and never
/// one that refuses or has nothing to do.
#[test]
fn the_next_command_is_a_repair_where_the_help_has_one() {
    const REPAIRS: [&str; 6] =
        ["tflock upgrade", "--restore-from", "--drop-unattested", "tflock install", "git checkout", "git rm"];
    let (mut named, mut ran, mut wrong) = (0, 0, Vec::new());
    for advice in ADVICE {
        let registry = registry();
        let workspace = crate::support::locked::locked(&registry);
        (advice.world)(&registry, &workspace);
        let run = workspace.tflock(&registry, advice.raise);
        let (Some(help), json) = (help(&run, advice.rule), run.json()) else { continue };
        let Some(next) = json["next"].as_str() else { continue };
        named += 1;
        let words = crate::support::followed::words(next);
        let shows = ["explain", "why"].contains(&&*words[1]);
        if shows && REPAIRS.iter().any(|repair| help.contains(repair)) {
            wrong.push(format!("{}: {next}, and the help is {help}", advice.rule.id()));
        }
        if words[0] != "tflock" {
            continue;
        }
        ran += 1;
        let then = workspace.tflock(&registry, &words[1..]);
        if then.code == Some(2) || !shows && then.stdout.contains("nothing to do") {
            wrong.push(format!("{}: {next}: {then}", advice.rule.id()));
        }
    }
    assert!(wrong.is_empty(), "{} of {named} named, {ran} run\n{}", wrong.len(), wrong.join("\n----------\n"));
    assert!(named > 20, "{named}");
}

#[test]
fn each_advised_command_does_what_is_promised() {
    let mut failed = Vec::new();
    for advice in ADVICE {
        let name = advice.rule.id();
        let registry = registry();
        let workspace = crate::support::locked::locked(&registry);
        (advice.world)(&registry, &workspace);
        let run = workspace.tflock(&registry, advice.raise);
        let Some(help) = help(&run, advice.rule) else {
            failed.push(format!("{name} is not raised: {run}"));
            continue;
        };
        (advice.by_hand)(&registry, &workspace);
        let fingerprint = keys::GOOD.fingerprint();
        let fill = advice.fill.iter().copied().chain([("FINGERPRINT", fingerprint.as_str())]);
        let words = command(&help, advice.raise);
        let words =
            words.iter().map(|word| fill.clone().find(|(from, _)| from == word).map_or(word.as_str(), |(_, to)| to));
        let words: Vec<&str> = words.collect();
        let unfilled =
            |word: &&&str| word.len() > 2 && **word != "HEAD" && word.bytes().all(|byte| byte.is_ascii_uppercase());
        if let Some(word) = words.iter().find(unfilled) {
            failed.push(format!("{name}: {word} is left to be filled in: {help}"));
            continue;
        }
        let done = workspace.tflock(&registry, &words);
        if done.code != Some(advice.code) {
            failed.push(format!("{name}: {words:?} ends with {:?}: {done}", done.code));
            continue;
        }
        let again = workspace.tflock(&registry, advice.raise);
        let is_there = self::help(&again, advice.rule).is_some();
        if is_there == advice.settles {
            failed.push(format!("{name}: after {words:?}: {again}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n----------\n"));
}
