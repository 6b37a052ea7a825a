//! Which files of a package are read as programs, and which of them the tools start.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::audit::{MAIN, database, found};
use crate::support::packages::{Content, Shape};
use crate::support::proposal::commit;
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use Content::{Affected, Bare, Clean, Corpus, OldClean, Text, Universal};

type Files = &'static [(&'static str, Content)];

/// What `audit` says of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// No advisory and nothing unknown, of so many programs.
    Ok(usize),
    /// The advisories of the affected program.
    Found,
    /// Something is unknown: what the result says.
    Unknown(&'static str),
}
use Verdict::{Found, Unknown};

const SCRIPT: Content = Text("#!/bin/sh\nexec libexec/real\n");

/// The programs of the fuzzer have a module of a local directory.
const TWO: Verdict = Unknown("nothing found in what is known: 2 programs, 0 advisories");

const PACKAGES: &[(Files, Verdict)] = &[
    // `terraform` starts the first name of those that match, by bytes.
    (&[("terraform-provider-widget", Affected), ("./terraform-provider-widget_z", Clean)], Found),
    (&[("./terraform-provider-widget_z", Clean), ("terraform-provider-widget", Affected)], Found),
    (&[("././terraform-provider-widget", Affected), ("terraform-provider-widget_z", Clean)], Found),
    (&[(".//terraform-provider-widget", Affected), ("terraform-provider-widget_z", Clean)], Found),
    (&[("/terraform-provider-widget", Affected), ("terraform-provider-widget_z", Clean)], Found),
    (&[("terraform-provider-widget/.", Affected), ("terraform-provider-widget_z", Clean)], Found),
    (
        &[
            ("terraform-provider-widget_b", Clean),
            ("terraform-provider-widget_c", Clean),
            ("terraform-provider-widget_d", Clean),
            ("terraform-provider-widget_e", Clean),
            ("terraform-provider-widget_a", Affected),
        ],
        Found,
    ),
    (&[("//terraform-provider-widget.exe", Clean), ("terraform-provider-widget_z", Clean)], Verdict::Ok(2)),
    // What it starts is no program that can be read.
    (
        &[("terraform-provider-widget", SCRIPT), ("terraform-provider-widget_z", Clean)],
        Unknown("(linux_amd64): unknown: it is not an ELF, Mach-O or PE program"),
    ),
    (&[("././terraform-provider-widget", SCRIPT), ("libexec/real", Affected)], Found),
    (&[("terraform-provider-widget", SCRIPT)], Unknown("no result: the program could not be read")),
    // On other systems another file has the name: by another separator, or without regard to case.
    (&[(r".\terraform-provider-widget", SCRIPT), ("terraform-provider-widget_z", Clean)], Unknown(": unknown: ")),
    (&[("terraform-provider-widget", Clean), ("Terraform-Provider-Widget", SCRIPT)], Unknown(": unknown: ")),
    (&[("terraform-provider-widget.exe", Clean), ("terraform-provider-widget.exe.", SCRIPT)], Unknown(": unknown: ")),
    // The other programs of a package.
    (&[("terraform-provider-widget", Clean), ("libexec/real", Affected)], Found),
    (&[("terraform-provider-widget", Clean), ("terraform-provider-other", Affected)], Found),
    (&[("terraform-provider-other", Affected), ("terraform-provider-widget", Clean)], Found),
    (&[("terraform-provider-widget", Clean), ("plugin.so", Affected)], Found),
    (&[("terraform-provider-widget", Clean), ("a/b/c/d/e/f/g/h/LICENSE.txt", Affected)], Found),
    (&[("terraform-provider-widget", Universal)], Found),
    (&[("terraform-provider-widget", Clean), ("lib/fat", Universal)], Found),
    (&[("terraform-provider-widget", Clean), ("bin/elf", Corpus("elf"))], TWO),
    (&[("terraform-provider-widget", Clean), ("bin/mac", Corpus("macho"))], TWO),
    (&[("terraform-provider-widget", Clean), ("bin/win", Corpus("pe"))], TWO),
    (&[("terraform-provider-widget", Clean), ("bin/fat", Corpus("universal"))], TWO),
    (
        &[("terraform-provider-widget", Clean), ("bin/c", Bare)],
        Unknown("2.0.0 (linux_amd64): bin/c: unknown: it has no Go build information"),
    ),
    (
        &[("terraform-provider-widget", Clean), ("bin/old", OldClean)],
        Unknown("2.0.0 (linux_amd64): bin/old: unknown: it was built with Go 1.17 or older"),
    ),
    // Texts are no programs.
    (&[("terraform-provider-widget", Clean), ("run.sh", SCRIPT), ("M", Text("M")), ("E", Text(""))], Verdict::Ok(1)),
    (&[("terraform-provider-widget", Clean), ("terraform-provider-widget_z.txt", Text("x"))], Verdict::Ok(1)),
    // More than are read.
    (SEVENTEEN, Unknown("2.0.0 (linux_amd64): 1 more program not read")),
    (&[("terraform-provider-widget", Clean)], Verdict::Ok(1)),
];

const SEVENTEEN: Files = &[
    ("00", Clean),
    ("01", Clean),
    ("02", Clean),
    ("03", Clean),
    ("04", Clean),
    ("05", Clean),
    ("06", Clean),
    ("07", Clean),
    ("08", Clean),
    ("09", Clean),
    ("10", Clean),
    ("11", Clean),
    ("12", Clean),
    ("13", Clean),
    ("14", Clean),
    ("15", Clean),
    ("terraform-provider-widget", Clean),
];

/// A registry with a provider for each package, in the order of the table.
fn registry() -> Registry {
    let add = |registry: Registry, (at, (files, _)): (usize, &(Files, Verdict))| {
        let name = format!("w{at}/widget");
        registry.release(&name, "2.0.0", &["linux_amd64"]).shaped(Shape::Holding(files))
    };
    PACKAGES.iter().enumerate().fold(Registry::start(), add)
}

fn locked(registry: &Registry, at: usize) -> Workspace {
    let workspace = Workspace::with_files(&[("main.tf", &MAIN.replace("acme/widget", &format!("w{at}/widget")))]);
    workspace.tflock(registry, ["lock", "--platform=linux_amd64"]).ended_with(0);
    workspace
}

fn audit(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Run {
    let all = ["audit", "--platform=linux_amd64", "--db", database().to_str().unwrap()].map(str::to_owned);
    workspace.tflock(registry, all.into_iter().chain(args.iter().map(|word| (*word).to_owned())))
}

/// Two of the advisories of the affected program.
fn is_affected(found: &BTreeSet<String>) -> bool {
    ["GO-0000-0001", "GO-0000-0005"].iter().all(|id| found.contains(*id))
}

#[test]
#[ignore = "long"]
fn every_program_of_a_package_is_read() {
    let registry = registry();
    let mut wrong = Vec::new();
    for (at, (files, verdict)) in PACKAGES.iter().enumerate() {
        let workspace = locked(&registry, at);
        let run = audit(&workspace, &registry, &["--offline"]).ended_with(0);
        let found = found(&audit(&workspace, &registry, &["--offline", "--format=json"]).ended_with(0));
        let is_right = match verdict {
            Verdict::Ok(1) => run.stdout.starts_with("ok: 1 program, 0 advisories"),
            Verdict::Ok(count) => run.stdout.starts_with(&format!("ok: {count} programs, 0 advisories")),
            Found => is_affected(&found) && run.stdout.contains("\nadvisories found: "),
            Unknown(says) => found.is_empty() && run.stdout.contains(says) && !run.stdout.contains("ok: "),
        };
        if !is_right {
            let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
            wrong.push(format!("{at} {names:?}: {verdict:?}\n{}", run.stdout.lines().last().unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is downloaded, what is in the package store and what is installed says the same.
#[test]
#[ignore = "long"]
fn programs_are_the_same_wherever_they_are_read() {
    let registry = registry();
    for (at, (files, _)) in PACKAGES.iter().enumerate() {
        if files.iter().any(|(_, content)| *content == OldClean) {
            continue;
        }
        let workspace = locked(&registry, at);
        let cache = workspace.path("../other-cache");
        let workspace = workspace.env("TFLOCK_CACHE_DIR", cache.to_str().unwrap());
        let programs = |args: &[&str]| {
            let run = audit(&workspace, &registry, &[args, &["--format=json"]].concat()).ended_with(0);
            run.json()["audit"]["programs"].clone()
        };
        let downloaded = programs(&[]);
        workspace.tflock(&registry, ["install", "--platform=linux_amd64"]).ended_with(0);
        assert_eq!(registry.downloads(&format!("w{at}/widget")), 3);
        let forget = || std::fs::remove_dir_all(cache.join("v1/programs")).unwrap();
        forget();
        assert_eq!(programs(&["--offline"]), downloaded, "store: {files:?}");
        std::fs::remove_dir_all(cache.join("packages")).unwrap();
        forget();
        assert_eq!(programs(&["--offline"]), downloaded, "installed: {files:?}");
    }
}

/// Whichever program brings a module, and whichever had it before.
#[test]
#[ignore = "long"]
fn a_change_adds_what_no_program_had_before() {
    const BOTH: Files = &[("terraform-provider-widget", Clean), ("libexec/real", Affected)];
    const SWAPPED: Files = &[("terraform-provider-widget", Affected), ("libexec/real", Clean)];
    const ALONE: Files = &[("terraform-provider-widget", Clean)];
    for (before, now, adds, says) in [
        (ALONE, BOTH, true, "advisories found: "),
        (ALONE, SWAPPED, true, "advisories found: "),
        (BOTH, SWAPPED, false, "0 advisories"),
        (SWAPPED, BOTH, false, "0 advisories"),
        (BOTH, ALONE, false, "ok: "),
        (ALONE, SEVENTEEN, false, "1 more program not read"),
    ] {
        let release = |registry: Registry, version, files| {
            registry.release("acme/widget", version, &["linux_amd64"]).shaped(Shape::Holding(files))
        };
        let registry = release(Registry::start(), "2.0.0", before);
        let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
        workspace.tflock(&registry, ["lock", "--platform=linux_amd64"]).ended_with(0);
        workspace.git(["init", "--quiet"]);
        commit(&workspace, "base");
        let registry = release(registry, "2.0.1", now);
        workspace.tflock(&registry, ["upgrade"]).ended_with(0);
        let run = audit(&workspace, &registry, &["--base=HEAD"]).ended_with(0);
        let json = audit(&workspace, &registry, &["--base=HEAD", "--format=json"]).ended_with(0);
        assert_eq!(is_affected(&found(&json)), adds, "{before:?} {now:?}: {run}");
        assert!(run.stdout.contains(says), "{before:?} {now:?}: {run}");
    }
}

#[test]
fn an_inventory_lists_every_program_of_a_package() {
    let registry = registry();
    let at = |wanted: Files| PACKAGES.iter().position(|(files, _)| *files == wanted).unwrap();
    let workspace = locked(&registry, at(&[("terraform-provider-widget", Clean), ("libexec/real", Affected)]));
    let args = ["sbom", "--deep", "--platform=linux_amd64", "--report", "spdx=bom.spdx.json"];
    let document = workspace.tflock(&registry, args).ended_with(0).json();
    let named =
        |list: &Value, name: &str| list.as_array().unwrap().iter().find(|it| it["name"] == name).cloned().unwrap();
    let inside = named(&document["components"], "widget")["components"].clone();
    assert_eq!(named(&inside, "stdlib")["version"], "1.99.0");
    let real = named(&inside, "libexec/real");
    assert_eq!(named(&real["components"], "example.com/m01")["version"], "v1.2.0");
    assert!(real["properties"].to_string().contains("go1.21.4"), "{real:#}");
    let spdx: Value = serde_json::from_str(&workspace.read("bom.spdx.json")).unwrap();
    let id = |name: &str| named(&spdx["packages"], name)["SPDXID"].clone();
    let holds = |holder: &Value, held: &Value| {
        let all = spdx["relationships"].as_array().unwrap().iter();
        all.filter(|it| it["spdxElementId"] == *holder && it["relatedSpdxElement"] == *held).count() == 1
    };
    assert!(holds(&id("libexec/real"), &id("example.com/m01")), "{spdx:#}");

    let workspace = locked(&registry, at(SEVENTEEN));
    let document = workspace.tflock(&registry, &args[..3]).ended_with(0).json();
    let widget = named(&document["components"], "widget");
    assert_eq!(named(&widget["properties"], "tflock:unread-programs")["value"], "1");
    assert_eq!(named(&widget["properties"], "tflock:contents")["value"], "read from the program");
    // Nothing is said of a script that the tools start, and all of what it may start.
    let workspace = locked(&registry, at(&[("././terraform-provider-widget", SCRIPT), ("libexec/real", Affected)]));
    let document = workspace.tflock(&registry, &args[..3]).ended_with(0).json();
    let widget = named(&document["components"], "widget");
    let contents = named(&widget["properties"], "tflock:contents");
    assert_eq!(contents["value"], "unknown: it is not an ELF, Mach-O or PE program");
    assert!(named(&widget["components"], "libexec/real")["components"].to_string().contains("example.com/m01"));
}

/// What an earlier version kept about one program is replaced by what all programs of the package are.
#[test]
fn records_of_earlier_versions_are_made_again() {
    let registry = registry();
    let workspace = locked(&registry, 0);
    let folder = workspace.path("../cache/v1/programs");
    let files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let text = std::fs::read_to_string(file).unwrap();
    let start = text[..text.find(" linux").unwrap()].trim_start();
    let line = format!("{start} linux_amd64 {{\"go\":\"go1.99.0\",\"modules\":\"\"}}");
    std::fs::write(file, format!("{line} {:08x}\n", crc32fast::hash(line.as_bytes()))).unwrap();
    audit(&workspace, &registry, &["--offline"]).ended_with(4);
    for args in [&["--format=json"][..], &["--offline", "--format=json"]] {
        assert!(is_affected(&found(&audit(&workspace, &registry, args).ended_with(0))));
    }
}
