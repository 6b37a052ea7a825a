//! Random histories of a module repository, with the real `terraform` and git: where modules are locked and the gate passes,
//! `terraform init` installs exactly the locked files, and so does `get`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{LOCK_MODULES, LOCKS, Repository, World, ambiguous};
use crate::support::dice::Dice;
use crate::support::extent::seeds;

const NAMES: [&str; 5] = ["v1", "v2", "dev", "release/1", "main"];

const ATTRIBUTES: [&str; 8] = [
    "*.tf ident\n",
    "* text=auto\n",
    "*.txt text eol=crlf\n",
    "*.txt working-tree-encoding=ISO-8859-1\n",
    "*.tf filter=x\n",
    "sub export-ignore\n",
    "*.md -text\n[attr]keyword ident\n*.txt keyword\n",
    "",
];

const CONTENTS: [&str; 5] = ["# $Id$\n", "a\r\nb\r\n", "one; two\n", "# \"$Id:\"/*$\"\n", "main.tf"];

/// The files of a package, without those that tools leave out of second copies.
type Files = BTreeMap<String, String>;

/// One step of a history, on whatever is checked out.
fn step(dice: &mut Dice, net: &Repository<'_>, inner: &str, number: usize) {
    let (name, attributes, content) = (dice.pick(&NAMES), dice.pick(&ATTRIBUTES), dice.pick(&CONTENTS));
    match dice.below(10) {
        0 => drop(net.with("main.tf", &format!("# {number}\n"))),
        1 => drop(net.git(&["tag", "--force", name])),
        2 => drop(net.git(&["tag", "--force", "-a", "-m", "annotated", name])),
        3 => drop(net.git(&["update-ref", &format!("refs/heads/{name}"), "HEAD"])),
        4 => drop(net.with(".gitattributes", attributes)),
        5 => drop(net.with("keyword.txt", content)),
        6 => {
            let link = net.world.0.path(&net.name).join("link");
            let _there = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(dice.pick(&["main.tf", "sub", "nowhere", "sub/main.tf"]), link).unwrap();
            net.commit();
        }
        7 => {
            let update = dice.pick(&["", "", "\tupdate = none\n"]);
            net.write(".gitmodules", &format!("[submodule \"m\"]\n\tpath = m\n\turl = ../inner\n{update}"));
            net.git(&["add", ".gitmodules"]);
            net.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{inner},m")]);
            net.git(&["commit", "--quiet", "--allow-empty", "-m", "with a submodule"]);
        }
        8 => drop(net.git(&["update-ref", &format!("refs/tags/refs/heads/{name}"), "HEAD"])),
        _ => drop(net.with("sub/main.tf", &format!("# {number}\n"))),
    }
}

/// The sources of some calls: what the repository has, in several spellings.
fn queries(dice: &mut Dice, net: &Repository<'_>) -> Vec<String> {
    let references = net.git(&["for-each-ref", "--format=%(refname)"]);
    let commits = net.git(&["rev-list", "--all", "--min-parents=1"]);
    let (references, commits): (Vec<&str>, Vec<&str>) = (references.lines().collect(), commits.lines().collect());
    let query = |dice: &mut Dice| {
        let reference = dice.pick(&references);
        let short = reference.trim_start_matches("refs/heads/").trim_start_matches("refs/tags/");
        let commit = dice.pick(&commits);
        let at = match dice.below(8) {
            0 => String::new(),
            1 => format!("ref={reference}"),
            2 => format!("ref={commit}"),
            3 => format!("ref={}", &commit[..9]),
            4 => "ref=HEAD".to_owned(),
            _ => format!("ref={short}"),
        };
        let depth = dice.pick(&["", "", "depth=1", "depth=0"]);
        let query: Vec<&str> = [&at, depth].into_iter().filter(|part| !part.is_empty()).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        format!("{}{query}", dice.pick(&["", "//sub"]))
    };
    (0..5).map(|_| query(dice)).collect()
}

/// The files of a commit as git keeps them, with those of its submodules.
fn locked_files(world: &World, repository: &str, commit: &str) -> Files {
    let mut files = Files::new();
    let listed = world.0.git(["-C", repository, "ls-tree", "-r", commit]).stdout;
    for line in listed.lines() {
        let (meta, path) = line.split_once('\t').unwrap();
        let [mode, kind, id] = meta.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if kind == "commit" {
            let inner = locked_files(world, "inner", id).into_iter();
            files.extend(inner.map(|(name, text)| (format!("{path}/{name}"), text)));
            continue;
        }
        let text = world.0.git(["-C", repository, "cat-file", "blob", id]).stdout;
        let text = if mode == "120000" { format!("-> {text}") } else { text.replace("\r\n", "\n") };
        files.insert(path.to_owned(), text);
    }
    files.retain(|path, _| !path.split('/').any(|name| name.starts_with('.')));
    files
}

fn installed_files(top: &Path) -> Files {
    let (mut files, mut folders) = (Files::new(), vec![(top.to_owned(), String::new())]);
    while let Some((folder, within)) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (own, kind) = (entry.file_name().into_string().unwrap(), entry.file_type().unwrap());
            let name = format!("{within}{own}");
            if own.starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else if kind.is_symlink() {
                files.insert(name, format!("-> {}", std::fs::read_link(entry.path()).unwrap().display()));
            } else {
                let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).replace("\r\n", "\n");
                files.insert(name, text);
            }
        }
    }
    files
}

/// The commit that is locked for each call.
fn commits(locks: &str) -> BTreeMap<String, String> {
    let mut commits = BTreeMap::new();
    for block in locks.split("\nmodule ").filter(|block| block.contains("commit")) {
        let line = |name: &str| block.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
        let commit = line("commit").split('"').nth(1).unwrap_or_default();
        let calls = line("calls").split('"').skip(1).step_by(2);
        commits.extend(calls.map(|call| (call.to_owned(), commit.to_owned())));
    }
    commits
}

/// The calls whose installed files are not those that are locked.
fn differing(world: &World) -> Vec<String> {
    let commits = commits(&world.0.read(LOCKS));
    assert!(!commits.is_empty(), "{}", world.0.read(LOCKS));
    let is_other = |(call, commit): &(&String, &String)| {
        installed_files(&world.0.path(&format!(".terraform/modules/{call}"))) != locked_files(world, "net", commit)
    };
    commits.iter().filter(is_other).map(|(call, commit)| format!("{call} at {commit}")).collect()
}

/// What became of the rounds.
#[derive(Debug, Default)]
struct Counts {
    locked: usize,
    refused: usize,
    unlocked: usize,
    passed: usize,
    initialized: usize,
    installed: usize,
}

fn round(dice: &mut Dice, counts: &mut Counts, wrong: &mut Vec<String>) {
    let world = World::new();
    let inner = world.repository("inner").with("inner.tf", "# inner\n");
    let net = world.repository("net");
    net.with("sub/main.tf", "# sub\n");
    (0..3 + dice.below(6)).for_each(|number| step(dice, &net, &inner, number));
    let calls: Vec<String> = queries(dice, &net);
    calls.iter().enumerate().for_each(|(at, query)| world.call(&format!("m{at}"), "net", query));
    let refused: BTreeSet<String> = ambiguous(&world.0.tflock(None, LOCK_MODULES)).into_keys().collect();
    for name in &refused {
        std::fs::remove_file(world.0.path(&format!("{name}.tf"))).unwrap();
    }
    counts.refused += refused.len();
    counts.locked += calls.len() - refused.len();
    if refused.len() == calls.len() {
        return;
    }
    let lock = world.0.tflock(None, LOCK_MODULES);
    if lock.code != Some(0) {
        // Such as a link in a module's directory that leads nowhere.
        counts.unlocked += 1;
        return;
    }
    (0..dice.below(3)).for_each(|number| step(dice, &net, &inner, 10 + number));
    if world.0.tflock(None, ["verify"]).code == Some(0) {
        counts.passed += 1;
        let Some(init) = world.0.terraform(None, ["init", "-backend=false", "-input=false"]) else { return };
        if init.code == Some(0) {
            counts.initialized += 1;
            wrong.extend(differing(&world).into_iter().map(|call| format!("init of {calls:?}: {call}")));
            let judged = world.0.tflock(None, ["verify", "--installed"]);
            wrong.extend((judged.code != Some(0)).then(|| format!("{calls:?} are accused: {judged}")));
        }
        std::fs::remove_dir_all(world.0.path(".terraform")).unwrap();
    }
    // A commit that no reference leads to any more cannot be had.
    if world.0.tflock(None, ["get"]).code == Some(0) {
        counts.installed += 1;
        wrong.extend(differing(&world).into_iter().map(|call| format!("get of {calls:?}: {call}")));
        let judged = world.0.tflock(None, ["verify", "--installed", "--format", "json"]);
        let denied = judged.stdout.contains("installed-differs");
        wrong.extend(denied.then(|| format!("what get installed of {calls:?} is accused: {judged}")));
        let call = commits(&world.0.read(LOCKS)).into_keys().next().unwrap();
        world.0.write(&format!(".terraform/modules/{call}/more.tf"), "# more\n");
        let judged = world.0.tflock(None, ["verify", "--installed"]);
        wrong.extend((judged.code != Some(3)).then(|| format!("{call} of {calls:?} with one more file: {judged}")));
    }
}

#[test]
#[ignore = "long"]
#[expect(clippy::print_stderr, reason = "the figures are for a report")]
fn what_is_locked_is_what_terraform_installs() {
    let rounds = seeds(3);
    let (mut counts, mut wrong) = (Counts::default(), Vec::new());
    for seed in rounds.clone() {
        let before = wrong.len();
        round(&mut Dice::of(seed), &mut counts, &mut wrong);
        wrong[before..].iter_mut().for_each(|what| *what = format!("round {seed}: {what}"));
        if rounds.end - rounds.start > 100 && seed % 20 == 0 {
            eprintln!("{seed}: {counts:?}, {} wrong", wrong.len());
        }
    }
    eprintln!("{rounds:?}: {counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
