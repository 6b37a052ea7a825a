//! Runs what findings advise in the worlds of `levels.txt` that raise them.

use std::collections::BTreeSet;

use tflock_core::finding::Rule;
use tflock_core::step::Step;

use crate::advised::ADVICE;
use crate::levels::{Scene, book};
use crate::support::followed::words;
use crate::support::run::Run;

/// One finding and one of the commands that it advises.
pub struct Followed {
    pub rule: Rule,
    world: &'static str,
    /// The command that raises it.
    raise: &'static str,
    /// Steps of the world before the command: what users do by hand, as the text says, or what comes to pass meanwhile.
    meanwhile: &'static [&'static str],
    /// How the command of the help begins.
    pub command: &'static str,
    /// The values of placeholders that users fill in.
    fill: &'static [(&'static str, &'static str)],
    /// The exit code of the command.
    code: i32,
    /// What became of the finding.
    then: Then,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The first command no longer raises it.
    Gone,
    /// It is there, and the command printed what the help promises.
    Shown(&'static str),
    /// The advised command is the first one, and no longer denies it.
    Allowed,
}

const ONE: Followed = Followed {
    rule: Rule::NotCanonical,
    world: "",
    raise: "verify",
    meanwhile: &[],
    command: "",
    fill: &[],
    code: 0,
    then: Then::Gone,
};

const LOCK: &str = "lock --platform linux_amd64 --platform darwin_arm64";
const UPGRADE: &str = "upgrade --platform linux_amd64 --platform darwin_arm64";
const BASE: &str = "verify --base origin/main";
const MIGRATE: &str = "migrate --to tofu --platform linux_amd64 --platform darwin_arm64";
const REASON: &[(&str, &str)] = &[("TEXT", "because")];

/// A change that is approved.
const fn approved(rule: Rule, world: &'static str, code: i32) -> Followed {
    Followed { rule, world, raise: BASE, command: "verify", code, then: Then::Allowed, ..ONE }
}

pub const FOLLOWED: &[Followed] = &[
    // Some worlds have more findings, which are denied for other reasons.
    approved(Rule::RootKindChanged, "unit", 0),
    approved(Rule::PinChanged, "pins", 3),
    approved(Rule::RepublicationAccepted, "pins", 3),
    approved(Rule::LinkChanged, "links", 3),
    approved(Rule::RootModuleMovedOut, "links", 3),
    approved(Rule::DialectChanged, "other-tool", 0),
    approved(Rule::SimilarName, "similar-name", 3),
    Followed { rule: Rule::ProviderUndeclared, world: "stack", command: "add", ..ONE },
    Followed {
        rule: Rule::UnexpectedPublisher,
        world: "publisher",
        command: "trust add",
        fill: &[("TEXT", "because"), ("FINGERPRINT", "{{GOOD}}")],
        ..ONE
    },
    Followed { rule: Rule::Downgraded, world: "downgraded", raise: BASE, command: "upgrade", ..ONE },
    Followed {
        rule: Rule::RegistryWarning,
        world: "warned",
        raise: LOCK,
        command: "lock",
        then: Then::Shown(""),
        ..ONE
    },
    Followed {
        rule: Rule::ProviderVulnerable,
        world: "vulnerable",
        raise: "audit --db {{testdata}}/advisories --platform linux_amd64",
        meanwhile: &["release acme/widget 1.4.1"],
        command: "upgrade",
        ..ONE
    },
    Followed {
        rule: Rule::InstalledDiffers,
        world: "installed",
        raise: "verify --installed",
        command: "install",
        ..ONE
    },
    Followed { rule: Rule::ModuleChanged, world: "module-changed", command: "upgrade", ..ONE },
    Followed { rule: Rule::ModuleMoved, world: "module-changed", command: "upgrade", ..ONE },
    Followed { rule: Rule::ModuleMoved, world: "module-changed", command: "get", then: Then::Shown(""), ..ONE },
    Followed { rule: Rule::ModuleUnlocked, world: "module-unlocked", command: "lock", ..ONE },
    Followed { rule: Rule::ModuleStale, world: "module-unlocked", command: "lock", ..ONE },
    Followed {
        rule: Rule::NoSigningKey,
        world: "no-key",
        raise: LOCK,
        meanwhile: &["settings host \"{{registry}}\" {\\n  signature = \"never\"\\n}", "remove .tflock.trust.hcl"],
        command: "trust add",
        ..ONE
    },
    Followed { rule: Rule::IndexDiffers, world: "index", command: "cache prune", ..ONE },
    Followed {
        rule: Rule::MirrorDiffers,
        world: "mirror-differs",
        raise: "verify --net-mirror {{mirror}}",
        command: "verify",
        code: 3,
        then: Then::Shown("republished"),
        ..ONE
    },
    Followed {
        rule: Rule::MirrorDiffers,
        world: "mirror-differs",
        raise: "verify --net-mirror {{mirror}}",
        command: "lock",
        fill: REASON,
        ..ONE
    },
    Followed {
        rule: Rule::MirrorIncomplete,
        world: "mirror-incomplete",
        raise: "mirror --check m --platform linux_amd64",
        command: "mirror",
        fill: &[("DIR", "m")],
        ..ONE
    },
    Followed {
        rule: Rule::MirrorAltered,
        world: "mirror-altered",
        raise: "mirror --check m --platform linux_amd64",
        meanwhile: &["remove m/{{registry}}/acme/widget/terraform-provider-widget_1.4.0_linux_amd64.zip"],
        command: "mirror",
        fill: &[("DIR", "m")],
        ..ONE
    },
    Followed {
        rule: Rule::MirrorOnly,
        world: "mirror-only",
        raise: "lock --net-mirror {{mirror}} --platform linux_amd64 --platform darwin_arm64",
        command: "verify",
        ..ONE
    },
    Followed {
        rule: Rule::UnsignedAfterSigned,
        world: "unsigned",
        raise: LOCK,
        command: "trust rotate",
        fill: REASON,
        ..ONE
    },
    Followed {
        rule: Rule::InitChanges,
        world: "not-required",
        raise: "lock --state state.json --platform linux_amd64 --platform darwin_arm64",
        command: "lock",
        fill: &[("FILE", "state.json")],
        ..ONE
    },
    Followed {
        rule: Rule::LockedBefore,
        world: "locked-before",
        raise: "add {{registry}}/acme/extra --platform linux_amd64 --platform darwin_arm64",
        command: "add",
        ..ONE
    },
    Followed {
        rule: Rule::PlatformsDropped,
        world: "platforms-dropped",
        raise: UPGRADE,
        meanwhile: &["settings platforms = [\"linux_amd64\", \"darwin_arm64\", \"freebsd_386\"]"],
        command: "lock",
        ..ONE
    },
    Followed {
        rule: Rule::VersionsDiffer,
        world: "versions-differ",
        raise: "upgrade -r --same-versions --platform linux_amd64 --platform darwin_arm64",
        command: "why",
        then: Then::Shown("~> 2.0"),
        ..ONE
    },
    Followed {
        rule: Rule::ExplicitHost,
        world: "explicit-host",
        raise: MIGRATE,
        command: "migrate",
        fill: &[("TOOL", "tofu")],
        ..ONE
    },
    Followed {
        rule: Rule::ModuleNotInstalled,
        world: "explicit-host",
        raise: MIGRATE,
        meanwhile: &[
            "write .terraform/modules/modules.json {\"Modules\":[{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"},{\"Key\":\"net\",\"Source\":\"registry.opentofu.org/acme/net/lab\",\"Version\":\"1.0.0\",\"Dir\":\".terraform/modules/net\"}]}",
            "write .terraform/modules/net/main.tf #",
        ],
        command: "lock",
        ..ONE
    },
    Followed {
        rule: Rule::PackagesDiffer,
        world: "packages-differ-elsewhere",
        raise: "lock --platform linux_amd64",
        command: "lock",
        then: Then::Shown("new: h1 for linux_amd64"),
        ..ONE
    },
];

/// Rules whose commands are not run here, and why.
const NOT_HERE: [(Rule, &str); 5] = [
    (Rule::WitnessDiffers, "a person asks the publisher: `witnesses` tries the way on"),
    (Rule::WitnessMissing, "a person waits, or changes the settings: `witnesses` tries both"),
    (Rule::ProvenanceChanged, "its registry must serve from the repository that built: `provenance` runs the command"),
    (Rule::CoverageLost, "a person decides whether the change is right: the command approves it"),
    (Rule::InitOverridden, "a person decides whether the change is right: the command approves it"),
];

/// The help of the findings with this rule, wherever the result has them; and whether one is denied.
fn findings(run: &Run, rule: Rule) -> (Vec<String>, bool) {
    let (mut helps, mut is_denied) = (Vec::new(), false);
    let mut open = vec![run.json()];
    while let Some(value) = open.pop() {
        if value["rule"] == rule.id() {
            helps.push(value["help"].as_str().unwrap_or_default().to_owned());
            is_denied |= value["level"] == "deny";
        }
        match value {
            serde_json::Value::Array(values) => open.extend(values),
            serde_json::Value::Object(values) => open.extend(values.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    (helps, is_denied)
}

/// What is wrong with what one finding advises; `None` if it does what is promised.
fn follow(followed: &Followed) -> Option<String> {
    let Followed { rule, raise, command, .. } = followed;
    let book = book();
    let world = book.worlds.iter().find(|world| world.name == followed.world).unwrap();
    let mut scene = Scene::with_own_levels(world);
    let raised = scene.run_here(raise);
    let helps = findings(&raised, *rule).0;
    followed.meanwhile.iter().for_each(|step| scene.step(step));
    let commands = helps.iter().flat_map(|help| help.split('`').skip(1).step_by(2));
    let begins = |words: &&str| words.starts_with(&format!("tflock {command}"));
    let Some(advised) = commands.filter(begins).last() else {
        return Some(format!("{}: no `tflock {command}` in {helps:?}: {raised}", rule.id()));
    };
    let mut words = words(advised).split_off(1);
    for (open, value) in followed.fill {
        words.iter_mut().filter(|word| *word == open).for_each(|word| *word = scene.filled(value));
    }
    if followed.then == Then::Allowed {
        words.extend(raise.split(' ').skip(1).chain(["--allow-trust-change", "--format", "json"]).map(str::to_owned));
    }
    let done = scene.workspace().tflock(scene.registry(), &words);
    if done.code != Some(followed.code) {
        return Some(format!("{}: {words:?} ends with {:?}: {done}", rule.id(), done.code));
    }
    let is_right = match followed.then {
        Then::Gone => findings(&scene.run_here(raise), *rule).0.is_empty(),
        Then::Shown(text) => done.stdout.contains(text) || done.stderr.contains(text),
        Then::Allowed => !findings(&done, *rule).1,
    };
    (!is_right).then(|| format!("{}: after {words:?}: {done}", rule.id()))
}

fn check(part: usize) {
    let failed: Vec<String> = FOLLOWED.iter().skip(part).step_by(3).filter_map(follow).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n----------\n"));
}

#[test]
fn commands_in_the_worlds_of_the_book_1() {
    check(0);
}

#[test]
fn commands_in_the_worlds_of_the_book_2() {
    check(1);
}

#[test]
fn commands_in_the_worlds_of_the_book_3() {
    check(2);
}

#[test]
#[expect(clippy::print_stderr, reason = "the counts are what this test is for")]
fn each_rule_that_advises_a_command_is_in_a_table() {
    let shown: BTreeSet<Rule> =
        ADVICE.iter().map(|advice| advice.rule).chain(FOLLOWED.iter().map(|followed| followed.rule)).collect();
    let named: BTreeSet<Rule> = Rule::ALL
        .iter()
        .copied()
        .filter(|rule| Step::from(rule.help()).commands().any(|it| it.subcommand.is_some()))
        .collect();
    eprintln!(
        "{} rules name a command, and the commands of {} are run",
        named.len(),
        named.intersection(&shown).count()
    );
    let missing = named.difference(&shown).filter(|rule| !NOT_HERE.iter().any(|(other, _)| other == *rule));
    let missing: Vec<&str> = missing.map(|rule| rule.id()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
