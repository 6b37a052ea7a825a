//! Forty-eight root modules, twice as many as a screen has lines: where all is well, every command fits one screen; one that fails is one more line.

use std::fmt::Write;

use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const ROOTS: usize = 48;

/// The lines of a small terminal.
const SCREEN: usize = 24;

/// A module that all of them call.
pub(crate) const NET: &str = r#"terraform {
  required_providers {
    null = {
      source  = "{{registry}}/acme/null"
      version = ">= 1.0"
    }
  }
}
"#;

fn main(number: usize) -> String {
    let constraint = if number.is_multiple_of(4) { "~> 1.0" } else { ">= 1.0" };
    format!(
        r#"terraform {{
  required_providers {{
    cloud = {{
      source  = "{{{{registry}}}}/acme/cloud"
      version = "{constraint}"
    }}
  }}
}}

module "net" {{
  source = "../../modules/net"
}}
"#
    )
}

fn root(number: usize) -> String {
    format!("live/root-{number:03}")
}

fn monorepo() -> Workspace {
    let workspace = Workspace::with_files(&[
        ("modules/net/main.tf", NET),
        (".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n"),
    ]);
    (0..ROOTS).for_each(|number| workspace.write(&format!("{}/main.tf", root(number)), &main(number)));
    workspace.git(["init", "--quiet"]);
    workspace
}

fn release(registry: Registry, version: &str) -> Registry {
    let platforms = ["linux_amd64", "darwin_arm64"];
    registry.release("acme/cloud", version, &platforms).release("acme/null", version, &platforms)
}

/// What a command prints; what was fetched is sorted, for packages arrive in any order.
fn screen(run: &Run) -> String {
    let (mut fetched, other): (Vec<&str>, Vec<&str>) =
        run.stderr.split_inclusive('\n').partition(|line| line.starts_with("fetched "));
    fetched.sort_unstable();
    run.filtered(&format!("{}----- stderr\n{}{}", run.stdout, fetched.concat(), other.concat()))
}

fn commit(workspace: &Workspace) {
    workspace.git(["add", "."]);
    workspace.git(["commit", "--quiet", "--message", "lock"]);
}

#[test]
#[ignore = "long"]
fn every_command_fits_one_screen() {
    let workspace = monorepo();
    let registry = release(Registry::start(), "1.0.0");
    let (cloud, null) = (format!("{}/acme/cloud", registry.host()), format!("{}/acme/null", registry.host()));
    let (mut shown, mut long) = (String::new(), Vec::new());
    let mut tell = |registry: &Registry, code: i32, args: &[&str]| {
        let run = workspace.tflock(registry, args).ended_with(code);
        let command = run.filtered(&args.join(" "));
        writeln!(shown, "$ tflock {command}\n{}", screen(&run)).unwrap();
        if run.stdout.lines().count() + run.stderr.lines().count() > SCREEN {
            long.push(command);
        }
    };
    tell(&registry, 0, &["lock", "-r", "--create"]);
    commit(&workspace);
    let registry = release(registry, "1.1.0");
    let registry = release(registry, "2.0.0");
    for args in [
        &["lock", "-r"][..],
        &["lock", "-r", "--check", "--offline"],
        &["verify", "-r"],
        &["verify", "-r", "--offline"],
        &["verify", "-r", "--offline", "--format", "markdown"],
        &["verify", "-r", "--offline", "--format", "github"],
        &["list", "-r"],
        &["list", "-r", "--by", "root"],
        &["list", "-r", "--format", "markdown"],
        &["outdated", "-r"],
        &["why", "-r", &null],
        &["explain", "-r", &cloud],
        &["trust", "init", "-r"],
        &["trust", "list"],
        &["fmt", "-r", "--check"],
        &["diff", "-r"],
        &["upgrade", "-r", &cloud],
        &["diff", "-r"],
        &["list", "-r"],
    ] {
        tell(&registry, 0, args);
    }
    let change = |format: &str| workspace.tflock(&registry, ["diff", "-r", "--format", format]).ended_with(0).stdout;
    for (format, lines, most) in
        [("markdown", 34, 10_000), ("commit", 8, 600), ("github", 24, 4_000), ("gitlab", 60, 4_000)]
    {
        let text = change(format);
        assert!(text.lines().count() <= lines && text.len() < most, "{format}: {} bytes\n{text}", text.len());
    }
    assert!(change("markdown").contains("live/root-000/main.tf:3 and "), "{}", change("markdown"));
    insta::assert_snapshot!("monorepo", shown);
    assert_eq!(long, [""; 0], "commands whose output does not fit one screen");
}

#[test]
fn one_more_line_for_each_that_fails() {
    let workspace = monorepo();
    let registry = release(Registry::start(), "1.0.0");
    workspace.tflock(&registry, ["lock", "-r", "--create"]).ended_with(0);
    let good = workspace.tflock(&registry, ["verify", "-r", "--offline"]).ended_with(0);
    let file = format!("{}/.terraform.lock.hcl", root(7));
    let text = workspace.read(&file);
    let at = text.find("\"zh:").unwrap();
    workspace.write(&file, &format!("{}\"zh:{}{}", &text[..at], "0".repeat(8), &text[at + 12..]));
    workspace.write(&format!("{}/main.tf", root(9)), "terraform {\n");
    let bad = workspace.tflock(&registry, ["verify", "-r", "--offline"]);
    assert_eq!(bad.stdout.lines().count(), good.stdout.lines().count() + 7, "{bad}");
    insta::assert_snapshot!("monorepo_failing", screen(&bad));
}
