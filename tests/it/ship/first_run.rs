//! A team with 40 old root modules begins: what `docs/first-run.md` shows is what is printed.

use std::fmt::Write;

use crate::support::generated::shows;
use crate::support::keys;
use crate::support::locked::{LOCK, block, hashes};
use crate::support::registry::{Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{EMPTY_LOCK, PLATFORMS};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/first-run.md");
const HOST: &str = "registry.terraform.io";

/// Releases that root modules lock, each with its constraint and signer.
const RELEASES: [(&str, &str, &str, keys::Key); 5] = [
    ("acme/cloud", "5.80.0", "~> 5.0", keys::GOOD),
    ("acme/cloud", "4.67.0", "~> 4.0", keys::GOOD),
    ("acme/dns", "2.3.1", "~> 2.1", keys::GOOD),
    ("globex/vault", "0.9.0", "~> 0.9.0", keys::OTHER),
    ("globex/monitor", "1.9.0", "~> 1.4", keys::OTHER),
];

fn registry() -> Registry {
    RELEASES.iter().fold(Registry::start().standing_for(HOST), |registry, (provider, version, _, signer)| {
        registry.release(provider, version, PLATFORMS).signed_by(*signer)
    })
}

/// A root module as `terraform init` left it on one machine: one `h1:`, and the `zh:` of all platforms.
fn root(registry: &Registry, number: usize) -> (String, String) {
    let mut main = String::from("terraform {\n  required_providers {\n");
    let mut lock = EMPTY_LOCK.to_owned();
    let mut chosen: Vec<_> = [number, number / 7 + 2, number / 3 + 4].map(|at| RELEASES[at % RELEASES.len()]).into();
    chosen.sort_by_key(|release| release.0);
    chosen.dedup_by_key(|release| release.0);
    for (provider, version, constraint, _) in chosen {
        let name = provider.split_once('/').unwrap().1;
        writeln!(main, "    {name} = {{\n      source  = \"{provider}\"\n      version = \"{constraint}\"\n    }}")
            .unwrap();
        let head = format!("  version     = \"{version}\"\n  constraints = \"{constraint}\"\n");
        let other = registry.package(provider, version, PLATFORMS[1]).h1;
        let recorded: Vec<String> =
            hashes(registry, provider, version).into_iter().filter(|hash| *hash != other).collect();
        lock.push_str(&block(registry, provider, &head, &recorded).replace(&registry.host(), HOST));
    }
    main.push_str("  }\n}\n");
    (main, lock)
}

/// The repository of a team.
fn repository(registry: &Registry, roots: usize) -> Workspace {
    let workspace = Workspace::with_files(&[]);
    for number in 0..roots {
        let (main, lock) = root(registry, number);
        let team = ["data", "network", "payments", "web"][number % 4];
        workspace.write(&format!("{team}/root-{number:02}/main.tf"), &main);
        workspace.write(&format!("{team}/root-{number:02}/{LOCK}"), &lock);
    }
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "root modules"]);
    workspace
}

#[test]
fn forty_old_root_modules_in_two_commands() {
    let registry = registry();
    let workspace = repository(&registry, 40);
    let first = workspace.tflock(&registry, ["trust", "init", "-r"]).ended_with(0);
    assert_eq!(first.touched(), [".tflock.trust.hcl"]);
    assert_eq!(registry.count(Endpoint::Zip), 0, "no package is downloaded for it");
    workspace.git(["add", ".tflock.trust.hcl"]);
    workspace.git(["commit", "--quiet", "-m", "Remember who signs our providers"]);
    assert!(workspace.tflock(&registry, ["verify", "-r"]).ended_with(0).touched().is_empty());
}

/// A command and what it prints, as a page shows it.
fn shown(program: &str, args: &[&str], run: &Run) -> String {
    // Packages arrive in any order.
    let mut notes: Vec<&str> = run.stderr.split_inclusive('\n').collect();
    notes.sort_by_key(|line| line.strip_prefix("fetched "));
    let printed = run.filtered(&format!("{}{}", run.stdout, notes.concat()));
    let printed = printed.replace("<key GOOD>", "<key of acme>").replace("<key OTHER>", "<key of globex>");
    let args = args.iter().map(|arg| if arg.contains(' ') { format!("'{arg}'") } else { (*arg).to_owned() });
    format!("$ {program} {}\n{printed}", args.collect::<Vec<_>>().join(" "))
}

/// The first thing that a reader of the README sees.
#[test]
fn the_readme_shows_what_is_printed() {
    let registry = registry();
    let args = ["lock", "-r", "--platform", "linux_amd64", "--platform", "darwin_arm64"];
    let run = repository(&registry, 3).tflock(&registry, args).ended_with(0);
    shows(README, "lock", &format!("```console\n{}```\n", shown("tflock", &args, &run)));
}

#[test]
#[ignore = "long"]
fn the_page_shows_what_is_printed() {
    let registry = registry();
    let workspace = repository(&registry, 40);
    let mut transcript = String::new();
    let mut step = |program: &str, args: &[&str]| {
        let run = match program {
            "git" => workspace.git(args),
            _ => workspace.tflock(&registry, args).ended_with(0),
        };
        transcript.push_str(&shown(program, args, &run));
        run
    };
    step("tflock", &["setup", "--platform", "linux_amd64", "--platform", "darwin_arm64"]);
    step("tflock", &["lock", "-r"]);
    assert!(step("tflock", &["verify", "-r"]).touched().is_empty());
    step("git", &["add", "--all"]);
    step("git", &["commit", "--quiet", "-m", "Lock providers for every platform, and remember who signs them"]);
    shows(PAGE, "transcript", &format!("```console\n{transcript}```\n"));
}
