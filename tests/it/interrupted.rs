//! Ctrl-C and SIGTERM: nothing begins after the signal, no answer is waited for, and the message counts what was written.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use crate::killed::{files, is_leftover, restore};
use crate::lock_network::wait_until;
use crate::modules::git::Repository;
use crate::support::dice::Dice;
use crate::support::extent::seeds;
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::workspace::Workspace;

const ROOTS: usize = 6;
const LOCK: &str = ".terraform.lock.hcl";
const TRUST: &str = ".tflock.trust.hcl";
const BOTH: [&str; 4] = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    Interrupt,
    Terminate,
}

impl Signal {
    fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "INT",
            Self::Terminate => "TERM",
        }
    }

    fn number(self) -> i32 {
        match self {
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }

    fn send(self, process: &Child) {
        let (name, id) = (self.name(), process.id().to_string());
        let script = "kill -s \"$1\" \"$2\" 2> /dev/null";
        let sent = std::process::Command::new("/bin/sh").args(["-c", script, "sh", name, &id]).status();
        assert!(sent.is_ok());
    }
}

/// A registry for both tools, with a module that each root module calls.
fn registry() -> Registry {
    let needs = "terraform {\n  required_providers {\n    gadget = {\n      source = \"acme/gadget\"\n    }\n  }\n}\n";
    let platforms = ["linux_amd64", "darwin_arm64"];
    Registry::start()
        .standing_for("registry.terraform.io")
        .standing_for("registry.opentofu.org")
        .release("acme/widget", "1.4.0", &platforms)
        .with_packages()
        .release("acme/widget", "1.5.0", &platforms)
        .with_packages()
        .release("acme/gadget", "2.0.0", &platforms)
        .with_packages()
        .module("acme/net/lab", "1.0.0", &[("main.tf", needs)])
}

fn main_tf(constraint: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    widget = {{\n      source  = \"acme/widget\"\n      version = \"{constraint}\"\n    \
         }}\n  }}\n}}\n\nmodule \"net\" {{\n  source  = \"{{{{other-host}}}}/acme/net/lab\"\n  version = \"1.0.0\"\n}}\n"
    )
}

/// Root modules that lock widget 1.4.0, and allow 1.5.0.
fn locked(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[]);
    workspace.git(["init", "--quiet"]);
    let write = |constraint: &str| {
        let text = main_tf(constraint).replace("{{other-host}}", &registry.other_host());
        for at in 0..ROOTS {
            workspace.write(&format!("r{at}/main.tf"), &text);
        }
    };
    write("1.4.0");
    let lock = ["lock", "-r", "--create", "--tool", "terraform", "--lock-modules", "--platform", "linux_amd64"];
    workspace.tflock(registry, lock).ended_with(0);
    write("~> 1.4");
    workspace
}

fn forget(workspace: &Workspace) {
    let cache = workspace.path("").with_file_name("cache");
    std::fs::remove_dir_all(&cache).unwrap();
    std::fs::create_dir(&cache).unwrap();
}

fn start(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Child {
    workspace.tflock_command(registry, args).stdin(Stdio::null()).spawn().unwrap()
}

/// What it printed; it panics if the process goes on for a minute.
fn ended(mut process: Child) -> Output {
    wait_until(|| process.try_wait().unwrap().is_some());
    process.wait_with_output().unwrap()
}

/// The numbers of a message by what they count: `5 of 23 lock files and 1 trust file were changed`.
fn counted(message: &str) -> BTreeMap<String, usize> {
    let mut words = message.split([' ', ',', ';']).filter(|word| !word.is_empty()).peekable();
    let mut counts = BTreeMap::new();
    while let Some(word) = words.next() {
        let Ok(count) = word.parse() else { continue };
        if words.next_if_eq(&"of").is_some() {
            words.next();
        }
        let mut noun = Vec::new();
        while let Some(word) =
            words.next_if(|word| !["and", "was", "were"].contains(word) && word.parse::<u8>().is_err())
        {
            noun.push(word);
        }
        counts.insert(noun.join(" ").trim_end_matches('s').to_owned(), count);
    }
    counts
}

/// What a file counts as, and which files count together.
fn unit(path: &str) -> (&'static str, String) {
    let parts: Vec<&str> = path.split('/').collect();
    let ending = path.rsplit('.').next();
    let upto = |count: usize| parts[..parts.len().min(count)].join("/");
    match parts[..] {
        [_, ".terraform", "providers", ..] => ("package", upto(8)),
        [_, ".terraform", "modules", "modules.json"] => ("file", path.to_owned()),
        [_, ".terraform", "modules", ..] => ("module", upto(4)),
        _ if ending == Some("zip") => ("package", path.to_owned()),
        [.., LOCK] => ("lock file", path.to_owned()),
        [.., ".tflock.modules.hcl"] => ("module lock file", path.to_owned()),
        [.., TRUST] => ("trust file", path.to_owned()),
        _ if ending == Some("tf") => ("configuration file", path.to_owned()),
        _ => ("file", path.to_owned()),
    }
}

/// The files that differ, counted as a message counts them.
fn changes(old: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> BTreeMap<String, usize> {
    let names: BTreeSet<&String> = old.keys().chain(now.keys()).collect();
    let changed = names.into_iter().filter(|name| old.get(*name) != now.get(*name));
    let units: BTreeSet<(&str, String)> = changed.map(|name| unit(name)).collect();
    units.into_iter().fold(BTreeMap::new(), |mut counts, (noun, _)| {
        *counts.entry(noun.to_owned()).or_default() += 1;
        counts
    })
}

/// The files, without those that were to become one of them; a later run takes these away.
fn whole(workspace: &Workspace) -> BTreeMap<String, String> {
    let is_left = |name: &str| is_leftover(name) || name.split('/').any(|part| part.starts_with(".tflock-"));
    files(workspace).into_iter().filter(|(name, _)| !is_left(name)).collect()
}

/// Interrupts runs of a command at any moment, each begun from the same files.
fn interrupted_at_any_moment(workspace: &Workspace, registry: &Registry, args: &[&str]) {
    let rounds = seeds(2);
    let mut dice = Dice::of(rounds.start);
    let old = whole(workspace);
    forget(workspace);
    let began = Instant::now();
    workspace.tflock(registry, args).ended_with(0);
    let usual = began.elapsed();
    let new = whole(workspace);
    assert_ne!(old, new);
    let (mut hit, mut between) = (0, 0);
    for round in 0..rounds.end - rounds.start {
        restore(workspace, &old);
        forget(workspace);
        let signal = if round % 2 == 0 { Signal::Interrupt } else { Signal::Terminate };
        let process = start(workspace, registry, args);
        // Most of the time nothing is written yet.
        let percent = if round % 3 == 0 { dice.below(110) } else { 60 + dice.below(50) };
        std::thread::sleep(usual * u32::try_from(percent).unwrap() / 100);
        signal.send(&process);
        let output = ended(process);
        let now = whole(workspace);
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        for name in old.keys().chain(new.keys()) {
            let text = now.get(name);
            assert!(text == old.get(name) || text == new.get(name), "{name} is neither old nor new:\n{shown}");
        }
        if output.status.code() == Some(0) {
            assert_eq!(now, new, "{shown}");
        } else if let Some(number) = output.status.signal() {
            // It came before there was anything to tell of.
            assert_eq!((number, &now), (signal.number(), &old), "{shown}");
        } else {
            assert_eq!(output.status.code(), Some(128 + signal.number()), "{shown}");
            let message = shown.lines().find_map(|line| line.strip_prefix("error: interrupted: "));
            let message = message.unwrap_or_else(|| panic!("round {round} at {percent}%: {shown}"));
            assert_eq!(counted(message), changes(&old, &now), "{shown}");
            assert_eq!(message.contains("run the command again"), now != old, "{shown}");
            hit += 1;
            between += u32::from(now != old && now != new);
        }
        workspace.tflock(registry, args).ended_with(0);
        assert_eq!(whole(workspace), new, "round {round}");
    }
    let said = format!(
        "{}: {hit} of {} runs were interrupted, {between} between two files\n",
        args[0],
        rounds.end - rounds.start
    );
    let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
}

fn at_any_moment(args: &[&str]) {
    let registry = registry();
    interrupted_at_any_moment(&locked(&registry), &registry, args);
}

#[test]
#[ignore = "long"]
fn lock() {
    at_any_moment(&[&["lock", "-r"], &BOTH[..]].concat());
}

#[test]
#[ignore = "long"]
fn upgrade() {
    at_any_moment(&[&["upgrade", "-r"], &BOTH[..]].concat());
}

#[test]
#[ignore = "long"]
fn migrate() {
    at_any_moment(&["migrate", "-r", "--to", "tofu"]);
}

#[test]
fn install() {
    at_any_moment(&["install", "-r", "--platform", "linux_amd64"]);
}

#[test]
fn get() {
    at_any_moment(&["get", "-r"]);
}

#[test]
#[ignore = "long"]
fn mirror() {
    at_any_moment(&["mirror", "-r", "mirror"]);
}

#[test]
fn trust_init() {
    let registry = registry();
    let workspace = locked(&registry);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    interrupted_at_any_moment(&workspace, &registry, &["trust", "init", "-r"]);
}

#[test]
fn fmt() {
    let registry = registry();
    let workspace = locked(&registry);
    for at in 0..ROOTS {
        let path = format!("r{at}/{LOCK}");
        workspace.write(&path, &workspace.read(&path).replace("  hashes = [", "  hashes   = [ # ours"));
    }
    interrupted_at_any_moment(&workspace, &registry, &["fmt", "-r"]);
}

const PROVIDERS: [Endpoint; 3] = [Endpoint::Versions, Endpoint::Download, Endpoint::Zip];
const MODULES: [Endpoint; 3] = [Endpoint::ModuleVersions, Endpoint::ModuleDownload, Endpoint::ModuleArchive];

/// Signals commands that wait for such an answer of these endpoints.
fn no_answer_is_waited_for(
    (world, mut registry): (&Workspace, Registry),
    commands: &[&[&str]],
    (endpoints, answer): (&[Endpoint], &Answer),
) {
    for endpoint in endpoints {
        registry = registry.answers(*endpoint, answer.clone());
    }
    for (at, args) in commands.iter().enumerate() {
        let workspace = world.copied();
        let old = files(&workspace);
        forget(&workspace);
        registry.forget_requests();
        registry.hold(true);
        let json = [*args, &["--format", "json"]].concat();
        let mut process = start(&workspace, &registry, if at % 2 == 0 { args } else { &json });
        let is_waiting = || registry.requests().iter().any(|request| endpoints.contains(&request.endpoint));
        // A request of the run before can come late.
        let is_ready = |process: &Child| is_waiting() && catches(process, Signal::Interrupt);
        wait_until(|| is_ready(&process) || process.try_wait().unwrap().is_some());
        let signal = if at % 3 == 0 { Signal::Terminate } else { Signal::Interrupt };
        signal.send(&process);
        let output = ended(process);
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(output.status.code(), Some(128 + signal.number()), "{args:?}: {out}{err}");
        if at % 2 == 0 {
            assert_eq!((out.as_str(), err.as_str()), ("", "error: interrupted: no file was changed\n"), "{args:?}");
        } else {
            let document: serde_json::Value = serde_json::from_str(&out).unwrap();
            assert_eq!(document["error"]["kind"], "interrupted", "{args:?}: {out}");
            assert_eq!(document["error"]["message"], "interrupted: no file was changed");
        }
        assert_eq!(files(&workspace), old, "{args:?}");
        // Nor does it change them when the answer comes; and no program that it started goes on.
        registry.hold(false);
        wait_until(|| !is_named_by_a_process(&workspace));
        assert_eq!(files(&workspace), old, "{args:?}");
    }
}

/// Whether a process catches a signal; true where that cannot be seen.
fn catches(process: &Child, signal: Signal) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", process.id())) else { return true };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal.number() - 1) & 1 == 1)
}

/// Whether the command line of a process names something in the sandbox of a workspace; false where that cannot be seen.
fn is_named_by_a_process(workspace: &Workspace) -> bool {
    let sandbox = workspace.path("").parent().unwrap().display().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let line = |process: std::fs::DirEntry| std::fs::read(process.path().join("cmdline")).unwrap_or_default();
    processes.flatten().any(|process| String::from_utf8_lossy(&line(process)).contains(&sandbox))
}

/// Commands that write, over remote modules.
const WRITING: [&[&str]; 7] = [
    &["lock", "-r", "--platform", "darwin_arm64"],
    &["upgrade", "-r"],
    &["migrate", "-r", "--to", "tofu"],
    &["install", "-r", "--platform", "linux_amd64"],
    &["get", "-r"],
    &["mirror", "-r", "mirror"],
    &["trust", "init", "-r"],
];

/// However long the answer takes: it is held back until the process has ended.
#[test]
fn no_answer_is_waited_for_by_commands_that_write() {
    let registry = registry();
    let world = locked(&registry);
    no_answer_is_waited_for((&world, registry), &WRITING, (&[PROVIDERS, MODULES].concat(), &Answer::held()));
}

#[test]
fn an_answer_that_comes_soon_changes_nothing() {
    let soon = Duration::from_millis(500);
    let registry = registry();
    let world = locked(&registry);
    no_answer_is_waited_for((&world, registry), &WRITING, (&[PROVIDERS, MODULES].concat(), &Answer::slow(soon)));
}

#[test]
fn no_answer_is_waited_for_by_commands_that_read() {
    let commands: [&[&str]; 6] = [
        &["outdated", "-r"],
        &["outdated", "-r", "--modules"],
        &["verify", "-r"],
        &["verify", "-r", "--fix"],
        &["sbom", "-r", "--deep", "--platform", "linux_amd64"],
        &["why", "-r"],
    ];
    let registry = registry();
    let world = locked(&registry);
    no_answer_is_waited_for((&world, registry), &commands, (&[PROVIDERS, MODULES].concat(), &Answer::held()));
}

#[test]
#[ignore = "long"]
fn no_answer_to_git_is_waited_for() {
    let repository = Repository::new();
    repository.commit("main.tf", "output \"x\" {\n  value = 1\n}\n");
    repository.0.git(["branch", "--force", "-m", "main"]);
    let registry = repository.served_by(registry());
    let world = locked(&registry).env("GIT_SSL_CAINFO", registry.ca_file().to_str().unwrap());
    let call = format!("module \"git\" {{\n  source = \"git::https://{}/net.git?ref=main\"\n}}\n", registry.host());
    for at in 0..ROOTS {
        world.write(&format!("r{at}/git.tf"), &call);
    }
    world.tflock(&registry, ["lock", "-r", "--lock-modules", "--platform", "linux_amd64"]).ended_with(0);
    let commands: [&[&str]; 4] = [
        &["lock", "-r", "--platform", "darwin_arm64"],
        &["get", "-r"],
        &["upgrade", "-r", "--modules"],
        &["verify", "-r"],
    ];
    no_answer_is_waited_for((&world, registry), &commands, (&[Endpoint::Other], &Answer::held()));
}
