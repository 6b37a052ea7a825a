//! What a reviewer sees of a pull request, in six worlds: one document that begins with the verdict and the next step, and one row
//! for each change.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::support::keys;
use crate::support::locked::{LOCK, hashes};
use crate::support::proposal::commit;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, PLATFORMS};

const AWS: &str = "hashicorp/aws";

/// A comment may have so many characters.
const LIMIT: usize = 65_536;

/// Five ways to require the same release; `V` is the version that a bot raises.
const CONSTRAINTS: [&str; 5] = ["~> V", ">= 5.0, ~> V", "~> V, != 5.50.0", ">= 4.57, ~> V", ">= V"];

/// The releases that all worlds begin with.
fn registry() -> Registry {
    let names = [(AWS, "5.30.0"), (AWS, "5.31.0"), ("hashicrop/aws", "5.31.0"), ("acme/widget", "1.4.0")];
    names.iter().fold(Registry::start(), |it, (name, version)| it.release(name, version, PLATFORMS))
}

fn root(number: usize) -> String {
    format!("live/{}/eu-west-1/app-{number:02}", ["prod", "staging", "dev"][number % 3])
}

fn main(registry: &Registry, aws: &str, constraint: &str) -> String {
    let requirement = |name: &str, source: &str, constraint: &str| {
        let source = format!("{}/{source}", registry.host());
        format!("    {name} = {{\n      source  = \"{source}\"\n      version = \"{constraint}\"\n    }}\n")
    };
    let both = requirement("aws", aws, constraint) + &requirement("widget", "acme/widget", "~> 1.4");
    format!("terraform {{\n  required_providers {{\n{both}  }}\n}}\n")
}

/// Root modules as `origin/main` has them.
fn repository(registry: &Registry, count: usize, constraint: impl Fn(usize) -> String) -> Workspace {
    let workspace = Workspace::with_files(&[(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n")]);
    for number in 0..count {
        workspace.write(&format!("{}/main.tf", root(number)), &main(registry, AWS, &constraint(number)));
    }
    workspace.git(["init", "--quiet"]);
    workspace.git(["remote", "add", "origin", "https://user:secret@git.example.com/acme/infrastructure.git"]);
    // What is newer is locked by the change.
    workspace.tflock(registry, LOCK_BOTH.iter().chain(&["-r", "--create"])).ended_with(0);
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

/// Replaces the version and the hashes of an entry in every lock file, as a tool that checks nothing does.
fn replace(workspace: &Workspace, count: usize, (old, was): (&str, &[String]), (new, now): (&str, &[String])) {
    let block = |hashes: &[String]| format!("  hashes = [\n    \"{}\",\n", hashes.join("\",\n    \""));
    for number in 0..count {
        let path = format!("{}/{LOCK}", root(number));
        let text = workspace.read(&path);
        assert!(text.contains(&block(was)), "{text}");
        let version = |version: &str| format!("  version     = \"{version}\"\n");
        workspace.write(&path, &text.replacen(&version(old), &version(new), 1).replacen(&block(was), &block(now), 1));
    }
}

/// What the action writes for a change, and what a terminal shows.
struct Seen {
    markdown: String,
    terminal: String,
    log: String,
    page: String,
    code: Option<i32>,
}

fn seen(workspace: &Workspace, registry: &Registry) -> Seen {
    commit(workspace, "change");
    let base = ["verify", "--recursive", "--base", "refs/remotes/origin/main"];
    let reports = ["--format", "github", "--report", "markdown=../comment.md", "--report", "html=../page.html"];
    let log = workspace.tflock(registry, base.iter().chain(&reports));
    let terminal = workspace.tflock(registry, base);
    assert_eq!(log.code, terminal.code, "{log}");
    let commits = workspace.git(["log", "--all", "--format=%H"]).stdout;
    let stable = |text: &str| {
        log.filtered(&commits.lines().fold(text.to_owned(), |text, commit| text.replace(&commit[..10], "<commit>")))
    };
    let file = |name: &str| stable(&std::fs::read_to_string(workspace.path("..").join(name)).unwrap());
    Seen {
        markdown: file("comment.md"),
        page: file("page.html"),
        terminal: stable(&terminal.stdout),
        log: stable(&log.stdout),
        code: log.code,
    }
}

/// The rows of the table of changes: what a provider is changed to.
fn rows(markdown: &str) -> Vec<&str> {
    let (_, changes) = markdown.split_once("#### Changes").unwrap_or_else(|| panic!("{markdown}"));
    let rows = changes.lines().skip_while(|line| !line.starts_with("| | Provider"));
    rows.take_while(|line| line.starts_with('|')).skip(2).collect()
}

/// What holds in every world.
fn judged(name: &str, seen: &Seen, verdict: &str, code: i32) {
    let Seen { markdown, terminal, log, page, .. } = seen;
    assert_eq!(seen.code, Some(code), "{terminal}");
    assert!(markdown.lines().next().unwrap().starts_with(&format!("### {verdict}")), "{markdown}");
    assert!(!markdown.contains("exit code") && markdown.len() < LIMIT, "{} bytes", markdown.len());
    if code != 0 {
        let [next, table] = ["Next:\n\n```sh\ntflock ", "| | "].map(|part| markdown.find(part).unwrap());
        assert!(next < table, "{markdown}");
        for text in [terminal, log] {
            assert!(text.lines().last().unwrap().starts_with("next: `tflock "), "{text}");
        }
    }
    let rows = rows(markdown);
    let unique: BTreeSet<&str> = rows.iter().map(|row| row.split('|').nth(2).unwrap()).collect();
    assert_eq!(unique.len(), rows.len(), "{markdown}");
    for identity in ["tflock verify: https://git.example.com/acme/infrastructure.git", "compared with origin/main"] {
        assert!(page.contains(identity) && !page.contains("secret"), "{identity}: {page}");
    }
    let lengths = |text: &str| format!("{} lines", text.lines().count());
    let mut text = String::new();
    writeln!(
        text,
        "----- comment, {}\n{markdown}----- terminal\n{terminal}----- log, {}",
        lengths(markdown),
        lengths(log)
    )
    .unwrap();
    insta::assert_snapshot!(name, text);
}

#[test]
#[ignore = "long"]
fn a_bot_raises_one_provider_in_sixty_root_modules() {
    let registry = registry();
    let constraint = |number: usize, version: &str| CONSTRAINTS[number % CONSTRAINTS.len()].replace('V', version);
    let workspace = repository(&registry, 60, |number| constraint(number, "5.31"));
    let registry = registry.release(AWS, "5.96.0", PLATFORMS);
    for number in 0..60 {
        let text = main(&registry, AWS, &constraint(number, "5.96"));
        workspace.write(&format!("{}/main.tf", root(number)), &text);
    }
    let address = format!("{}/{AWS}", registry.host());
    let upgraded = workspace.tflock(&registry, ["upgrade", "-r", &address]).ended_with(0);
    assert_eq!(upgraded.stdout.lines().filter(|line| line.starts_with("~ ")).count(), 1, "{upgraded}");
    assert!(upgraded.stdout.contains("constraints changed in 60 root modules; new: "), "{upgraded}");
    let seen = seen(&workspace, &registry);
    judged("comment_bot", &seen, "Passed", 0);
    assert_eq!(rows(&seen.markdown).len(), 1, "{}", seen.markdown);
    assert!(seen.markdown.contains("constraints changed in 60 root modules"), "{}", seen.markdown);
    for (format, row) in [("human", "~ "), ("markdown", "|  |"), ("commit", "- "), ("github", "::notice ")] {
        let diff = workspace.tflock(&registry, ["diff", "-r", "origin/main", "--format", format]).ended_with(0);
        let rows = diff.stdout.lines().filter(|line| line.starts_with(row) && line.contains("5.96.0")).count();
        assert_eq!(rows, 1, "{diff}");
    }
}

#[test]
fn a_name_a_letter_off_is_refused() {
    let registry = registry();
    let workspace = repository(&registry, 3, |_| "~> 5.31".to_owned());
    workspace.write(&format!("{}/main.tf", root(0)), &main(&registry, "hashicrop/aws", "~> 5.31"));
    workspace.tflock(&registry, ["-C", &root(0), "lock", "--prune"]).ended_with(0);
    let seen = seen(&workspace, &registry);
    judged("comment_squat", &seen, "Refused: 1 finding denied", 3);
    assert!(!seen.markdown.contains("checksums verified"), "{}", seen.markdown);
}

#[test]
#[ignore = "long"]
fn replaced_checksums_are_refused() {
    let registry = registry();
    let workspace = repository(&registry, 8, |_| "~> 5.31".to_owned());
    let was = hashes(&registry, AWS, "5.31.0");
    let other = |hash: &String| hash[..3].to_owned() + &hash[3..].replace(['1', '2', '3'], "4");
    let mut now: Vec<String> = was.iter().map(other).collect();
    now.sort_unstable();
    replace(&workspace, 8, ("5.31.0", &was), ("5.31.0", &now));
    judged("comment_replaced", &seen(&workspace, &registry), "Refused: ", 3);
}

#[test]
fn a_new_signer_is_refused() {
    let registry = registry();
    let workspace = repository(&registry, 8, |_| "~> 5.31".to_owned());
    let registry = registry.release(AWS, "5.96.0", PLATFORMS).signed_by(keys::OTHER);
    let [was, now] = ["5.31.0", "5.96.0"].map(|version| hashes(&registry, AWS, version));
    replace(&workspace, 8, ("5.31.0", &was), ("5.96.0", &now));
    judged("comment_signer", &seen(&workspace, &registry), "Refused: 1 finding denied", 3);
}

#[test]
fn a_downgrade_is_shown_first() {
    let registry = registry();
    let workspace = repository(&registry, 8, |_| "~> 5.30".to_owned());
    let [was, now] = ["5.31.0", "5.30.0"].map(|version| hashes(&registry, AWS, version));
    replace(&workspace, 8, ("5.31.0", &was), ("5.30.0", &now));
    let seen = seen(&workspace, &registry);
    judged("comment_downgrade", &seen, "Passed", 0);
    assert!(rows(&seen.markdown)[0].starts_with("| notable |"), "{}", seen.markdown);
}

#[test]
fn a_missing_platform_names_the_command() {
    let registry = registry();
    let workspace = repository(&registry, 8, |_| "~> 5.31".to_owned());
    let registry = registry.release(AWS, "5.96.0", PLATFORMS);
    let [was, mut now] = ["5.31.0", "5.96.0"].map(|version| hashes(&registry, AWS, version));
    let darwin = registry.package(AWS, "5.96.0", "darwin_arm64").h1;
    now.retain(|hash| *hash != darwin);
    replace(&workspace, 8, ("5.31.0", &was), ("5.96.0", &now));
    let seen = seen(&workspace, &registry);
    judged("comment_platform", &seen, "Refused: 1 finding denied", 1);
    assert!(seen.terminal.contains("refused: all 8 root modules (platform-uncovered)\n"), "{}", seen.terminal);
}

/// What a bot proposes: three upgrades, a provider that is new, and between them one `h1:` that is none of the release.
#[test]
#[ignore = "long"]
fn a_swapped_hash_among_upgrades_is_one_row_one_finding_and_one_command() {
    let old = [("acme/widget", "1.4.0"), ("globex/queue", "2.0.0"), (AWS, "5.31.0"), ("globex/db", "1.22.0")];
    let new = [
        ("acme/widget", "1.5.0"),
        ("globex/queue", "2.1.0"),
        (AWS, "5.96.0"),
        ("globex/db", "1.22.0"),
        ("acme/extra", "1.0.0"),
    ];
    let registry = old.iter().fold(Registry::start(), |it, (name, version)| it.release(name, version, PLATFORMS));
    let workspace = Workspace::with_files(&[(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n")]);
    let write = |requirements: &[(&str, &str)]| {
        let entry = |(source, version): &(&str, &str)| {
            let name = source.replace('/', "-");
            format!(
                "    {name} = {{\n      source  = \"{}/{source}\"\n      version = \"{version}\"\n    }}\n",
                registry.host()
            )
        };
        let entries: String = requirements.iter().map(entry).collect();
        let text = format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n");
        (0..3).for_each(|number| workspace.write(&format!("{}/main.tf", root(number)), &text));
    };
    write(&old);
    workspace.git(["init", "--quiet"]);
    workspace.git(["remote", "add", "origin", "https://user:secret@git.example.com/acme/infrastructure.git"]);
    workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["-r", "--create"])).ended_with(0);
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    write(&new);
    let host = registry.host();
    let registry = new.iter().fold(registry, |it, (name, version)| it.release(name, version, PLATFORMS));
    workspace.tflock(&registry, ["upgrade", "-r"]).ended_with(0);
    let sound = workspace.read(&format!("{}/{LOCK}", root(0)));
    let h1 = registry.package("globex/db", "1.22.0", "linux_amd64").h1;
    let swapped = sound.replace(&h1, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    (0..3).for_each(|number| workspace.write(&format!("{}/{LOCK}", root(number)), &swapped));
    let seen = seen(&workspace, &registry);
    judged("comment_swapped", &seen, "Refused: 1 finding denied", 3);
    let rows = rows(&seen.markdown);
    let dangerous = rows.iter().filter(|row| row.contains("dangerous")).count();
    assert_eq!((rows.len(), dangerous, rows[0].contains("globex/db")), (5, 1, true), "{}", seen.markdown);
    for text in [&seen.markdown, &seen.terminal, &seen.page, &seen.log] {
        assert!(text.contains("hash-replaced"), "{text}");
        assert!(!text.contains("platform-uncovered") && !text.contains("unattested-hash"), "{text}");
    }
    let merge_base = workspace.git(["rev-parse", "origin/main"]).stdout[..10].to_owned();
    let next = ["lock", "-r", &format!("{host}/globex/db"), "--restore-from", &merge_base];
    let line = seen.terminal.lines().last().unwrap();
    assert_eq!(
        line.replace("localhost:PORT", &host).replace("<commit>", &merge_base),
        format!("next: `tflock {}`", next.join(" "))
    );
    workspace.tflock(&registry, next).ended_with(0);
    (0..3).for_each(|number| assert_eq!(workspace.read(&format!("{}/{LOCK}", root(number))), sound));
    workspace.tflock(&registry, ["verify", "-r", "--base", "origin/main"]).ended_with(0);
}
