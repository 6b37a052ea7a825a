//! What the newest versions of the tools accept, from the command line to the lock file.

use crate::support::locked::honest;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, PLATFORMS};

fn required(source: &str) -> String {
    format!("terraform {{\n  required_providers {{\n    x = {{\n      source = \"{source}\"\n    }}\n  }}\n}}\n")
}

/// Terraform 1.16; OpenTofu refuses such a lock file too.
#[test]
fn a_namespace_with_an_underscore_is_locked_checked_and_trusted() {
    let registry = Registry::start().release("ac_me/widget", "1.4.0", PLATFORMS);
    let address = format!("{}/ac_me/widget", registry.host());
    let workspace = Workspace::with_files(&[("main.tf", &required("{{registry}}/ac_me/widget"))]);
    let ban = "ban \"{{registry}}/ac_me/*\" {\n  versions = \">= 2\"\n  reason   = \"worms\"\n}\n";
    workspace.write(".tflock.hcl", ban);
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.tflock(&registry, ["trust", "init"]).ended_with(0);
    assert!(workspace.read(".tflock.trust.hcl").contains(&address));
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    let mirrored = workspace.tflock(&registry, ["mirror", "m", "--platform", "linux_amd64"]).ended_with(0);
    assert!(workspace.has(&format!("m/{address}")), "{mirrored}");
    workspace.tflock(None, LOCK.iter().chain(&["--fs-mirror", "m", "--check"])).ended_with(0);
    let refused = workspace.tflock(&registry, ["lock", "--tool", "tofu"]).ended_with(2);
    assert!(refused.stderr.contains("invalid provider namespace \"ac_me\""), "{refused}");
    let refused = workspace.tflock(&registry, ["verify", "--tool", "tofu", "--offline"]).ended_with(2);
    assert!(refused.stderr.contains("denied[lock-address]"), "{refused}");
}

/// `-test-directory` of Terraform 1.14.1, `-oci-mirror` of OpenTofu 1.13.
#[test]
fn options_of_the_newest_tools_are_known() {
    let registry = honest();
    let run = "run \"r\" {\n  module {\n    source = \"./m\"\n  }\n}\n";
    let workspace = Workspace::with_files(&[
        ("main.tf", ""),
        ("deep/er/a.tftest.hcl", run),
        ("m/main.tf", &required("{{registry}}/acme/widget")),
    ]);
    let lock = |more: &[&str]| workspace.tflock(&registry, LOCK.iter().chain(more));
    lock(&[]).ended_with(0);
    assert!(!workspace.lock_file().contains("acme/widget"));
    lock(&["-test-directory=deep/er"]).ended_with(0);
    assert!(workspace.lock_file().contains("acme/widget"));
    let other = lock(&["--test-directory", "none"]).ended_with(0);
    assert!(other.stderr.contains("\"none\""), "{other}");
    for outside in ["../tests", "/tests", "a/../../b"] {
        let refused = lock(&["--test-directory", outside]).ended_with(2);
        assert!(refused.stderr.contains("test files are in the root module: name a directory below it"), "{refused}");
    }
    let with = |option: &str| lock(&["--test-directory=deep/er", option]).ended_with(2).stderr;
    let [by_option, by_source] = ["-oci-mirror=h.example/${type}", "--source=oci:h.example/${type}"].map(with);
    assert!(by_option.contains("hostname") && by_option == by_source, "{by_option} {by_source}");
    let both = lock(&["--oci-mirror", "x", "--net-mirror", "https://h.example/"]).ended_with(2);
    assert!(both.stderr.contains("cannot be used with"), "{both}");
}

/// `terraform stacks providers-lock` writes lock files with a header of its own.
#[test]
fn the_header_and_the_command_of_stacks_are_known() {
    let registry = honest();
    let stack = |name: &str| {
        let entry = format!("source  = \"{{{{registry}}}}/acme/{name}\"\n    version = \">= 1.0.0\"");
        format!("required_providers {{\n  {name} = {{\n    {entry}\n  }}\n}}\n")
    };
    let workspace = Workspace::with_files(&[("main.tfcomponent.hcl", &stack("widget"))]);
    workspace.tflock(&registry, ["stacks", "providers-lock", "-platform=linux_amd64"]).ended_with(0);
    let of_stacks = workspace.lock_file();
    assert!(of_stacks.contains("terraform stacks providers-lock"), "{of_stacks}");
    workspace.tflock(None, ["fmt", "--check"]).ended_with(0);
    let verify = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(!verify.stdout.contains("not-canonical"), "{verify}");
    workspace.write("main.tfcomponent.hcl", &stack("gadget"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    let written = workspace.lock_file();
    assert!(written.contains("acme/gadget") && written.lines().next() == of_stacks.lines().next(), "{written}");
}

/// A row of the table in `docs/compatibility.md`, and the files that show it.
type Shown = (&'static str, &'static [(&'static str, &'static str)]);

const RUN: &str = "run \"r\" {\n  module {\n    source = \"./m\"\n  }\n}\n";
const CHILD: &str = "module \"m\" {\n  source = \"./m\"\n}\n";
const NEEDS: &str = "resource \"shown_x\" \"y\" {\n}\n";

/// Each requires a provider of the type `shown` where the tool counts it.
const ROWS: [Shown; 10] = [
    (
        "an underscore in a namespace, in lock files too",
        &[(
            "main.tf",
            "terraform {\n  required_providers {\n    x = {\n      source = \"ac_me/shown\"\n    }\n  }\n}\n",
        )],
    ),
    ("a directory that has nothing but test files", &[("a.tftest.hcl", RUN), ("m/main.tf", NEEDS)]),
    (
        "hidden test files and backups in the directory of tests",
        &[("main.tf", ""), ("tests/.a.tftest.hcl", RUN), ("m/main.tf", NEEDS)],
    ),
    ("`action` blocks", &[("main.tf", "action \"shown_x\" \"y\" {\n}\n")]),
    (
        "`import` blocks in child modules",
        &[("main.tf", CHILD), ("m/main.tf", "import {\n  to = shown_x.y\n  id = \"1\"\n}\n")],
    ),
    (
        "`state_store` with the provider that it declares",
        &[(
            "main.tf",
            "terraform {\n  required_providers {\n    shown = {\n      source = \"acme/shown\"\n    }\n  }\n  state_store \
             \"shown_x\" {\n    provider \"shown\" {\n    }\n  }\n}\n",
        )],
    ),
    ("`symbols` blocks", &[("main.tf", "symbols \"x\" {\n  source = \"./x\"\n}\nresource \"shown_x\" \"y\" {\n}\n")]),
    ("`language` blocks", &[("main.tf", "language {\n}\nresource \"shown_x\" \"y\" {\n}\n")]),
    ("files `*.tofu`", &[("main.tf", ""), ("x.tofu", NEEDS)]),
    ("modules from `oci://`", &[("main.tf", "module \"m\" {\n  source = \"oci://localhost:1/shown/x\"\n}\n")]),
];

/// What `why` does with files: `refused`, `ignored`, or empty where the provider, or the module, counts.
fn seen(files: &[(&str, &str)], tool: &str) -> &'static str {
    let run = Workspace::with_files(files).tflock(None, ["why", "--offline", "--tool", tool]);
    match run.code {
        Some(2) => "refused",
        _ if run.stdout.contains("shown") || run.stderr.contains("shown") => "",
        _ => "ignored",
    }
}

#[test]
#[ignore = "long"]
fn the_table_of_the_tools_is_true() {
    let page = include_str!("../../docs/compatibility.md").split("## Linux").next().unwrap();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| ")?.strip_suffix('|')?.split('|').map(str::trim).collect()))
        .collect();
    let row = |what: &str| rows.iter().find(|row| row[0] == what).unwrap_or_else(|| panic!("no row {what}"));
    let known = |cell: &str| cell.is_empty() || cell.starts_with("1.");
    for (what, files) in ROWS {
        for (cell, tool) in row(what)[1..].iter().zip(["terraform", "tofu"]) {
            let seen = seen(files, tool);
            assert!(
                *cell == seen || known(cell) && seen.is_empty(),
                "{what}, {tool}: {cell:?} in the page, {seen:?} here"
            );
        }
    }
    let registry = honest().release("acme/widget", "v1.5.0", PLATFORMS);
    let cells = row("invalid registry versions are skipped");
    for (cell, tool) in cells[1..].iter().zip(["terraform", "tofu"]) {
        let workspace = Workspace::with_files(&[("main.tf", &required("{{registry}}/acme/widget"))]);
        let run = workspace.tflock(&registry, LOCK.iter().chain(&["--tool", tool]));
        assert_eq!(run.code, Some(if known(cell) { 0 } else { 4 }), "{tool}: {run}");
        assert!(known(cell) || run.stderr.contains("invalid version string \"v1.5.0\""), "{run}");
    }
    // Every row is shown, and the code says which versions it follows.
    let shown = rows.iter().filter(|row| ROWS.iter().any(|(what, _)| *what == row[0])).count();
    assert_eq!((shown, rows.len()), (ROWS.len(), ROWS.len() + 1 + 2 + 2));
    let dialect = include_str!("../../src/core/dialect.rs");
    for (tool, version) in [("Terraform", row("Terraform")[1]), ("OpenTofu", row("OpenTofu")[1])] {
        assert!(dialect.contains(&format!("/// {tool}, as of {version}.")), "{tool} {version}");
    }
}
