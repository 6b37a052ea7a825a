//! Advisories about what providers contain.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::packages::Shape;
use crate::support::proposal::commit;
use crate::support::registry::Registry;
use crate::support::run::{Run, formats};
use crate::support::workspace::Workspace;

pub const MAIN: &str = "terraform {\n  required_providers {\n    widget = {\n      source  = \"{{registry}}/acme/widget\"\n      \
                    version = \"~> 2.0\"\n    }\n  }\n}\n";

pub fn database() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/advisories")
}

/// A provider that is the program of `testdata/advisories`.
fn registry(shape: Shape) -> Registry {
    Registry::start().release("acme/widget", "2.0.0", &["linux_amd64", "windows_386"]).shaped(shape)
}

fn locked(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    workspace.tflock(registry, ["lock", "--platform", "linux_amd64", "--platform", "windows_386"]).ended_with(0);
    workspace
}

pub fn audit(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Run {
    let database = database();
    let all = ["audit", "--db", database.to_str().unwrap(), "--platform", "linux_amd64"];
    // The last one counts.
    let all: Vec<&str> = all.into_iter().filter(|word| !args.contains(word) || !word.starts_with("--")).collect();
    workspace.tflock(registry, all.into_iter().chain(args.iter().copied()))
}

/// The ids that the database is expected to give for a platform, by its column.
fn expected(column: usize) -> BTreeSet<String> {
    let table = std::fs::read_to_string(database().join("expected.tsv")).unwrap();
    let rows = table.lines().skip(1).map(|row| row.split('\t').collect::<Vec<_>>());
    let is_found = |row: &Vec<&str>| row[column] != "-" && !row[column].starts_with("toolchain");
    rows.filter(is_found).map(|row| row[0].to_owned()).collect()
}

pub fn found(run: &Run) -> BTreeSet<String> {
    let json = run.json();
    let programs = json["audit"]["programs"].as_array().unwrap();
    let all = programs.iter().flat_map(|program| program["vulnerabilities"].as_array().unwrap());
    all.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn advisories_stand_on_the_page() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    let page = audit(&workspace, &registry, &["--offline", "--format", "html"]).ended_with(0).stdout;
    let missing: Vec<String> = expected(2).into_iter().filter(|id| !page.contains(id.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}: {page}");
    assert!(page.contains("<article id=\"rule-provider-vulnerable\">"), "{page}");
}

#[test]
fn what_a_provider_contains_is_looked_up() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    registry.forget_requests();
    // What `lock` downloaded it has read as well.
    let run = audit(&workspace, &registry, &["--offline", "--format", "json"]).ended_with(0);
    assert_eq!(found(&run), expected(2));
    let program = &run.json()["audit"]["programs"][0];
    assert_eq!((program["go"].as_str(), program["platform"].as_str()), (Some("go1.21.4"), Some("linux_amd64")));
    assert_eq!(program["not_checked"][0]["module"], "example.com/local");
    assert_eq!(run.json()["audit"]["database"]["modified"], "2099-02-01T12:00:00Z");
    let run = workspace.tflock(
        &registry,
        ["audit", "--offline", "--db", database().to_str().unwrap(), "--platform", "windows_386", "--format", "json"],
    );
    assert_eq!(found(&run.ended_with(0)), expected(3));
    let run = audit(&workspace, &registry, &["--offline", "--ignore-unfixed", "--format", "json"]).ended_with(0);
    assert!(found(&run).is_subset(&expected(2)) && found(&run).len() < expected(2).len());
    let run = audit(&workspace, &registry, &["--offline", "--toolchain", "--format", "json"]).ended_with(0);
    assert_eq!(found(&run).len(), expected(2).len() + 1);
    assert_eq!(registry.requests().len(), 0);
    let run = audit(&workspace, &registry, &["--offline"]).ended_with(0);
    insta::assert_snapshot!(run.filtered(&run.stdout).replace(database().to_str().unwrap(), "DATABASE"));
    let run = audit(&workspace, &registry, &["--offline", "--exit-code"]).ended_with(1);
    assert!(!run.stdout.contains("passed, because"), "{run}");
    let run = audit(&workspace, &registry, &["--offline", "-v"]).ended_with(0);
    for id in expected(2) {
        assert!(run.stdout.contains(&format!("https://pkg.go.dev/vuln/{id}")), "{id}: {run}");
    }
}

/// A cache that knows nothing: one package is downloaded, and only once.
#[test]
fn a_program_is_read_once() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    let cache = workspace.path("../other-cache");
    let workspace = workspace.env("TFLOCK_CACHE_DIR", cache.to_str().unwrap());
    let run = audit(&workspace, &registry, &["--offline"]).ended_with(4);
    assert!(run.stderr.contains("no earlier run read the program of"), "{run}");
    registry.forget_requests();
    for downloads in [1, 1] {
        let run = audit(&workspace, &registry, &["--format", "json"]).ended_with(0);
        assert_eq!(found(&run), expected(2));
        assert_eq!(registry.downloads("acme/widget"), downloads);
    }
}

#[test]
fn what_has_no_build_information_is_unknown() {
    for shape in [Shape::Universal, Shape::OldGo] {
        let registry = registry(shape);
        let workspace = locked(&registry);
        let run = audit(&workspace, &registry, &[]).ended_with(0);
        assert!(run.stdout.contains("(linux_amd64): unknown: it "), "{run}");
        assert!(run.stdout.contains("no result: the program could not be read"), "{run}");
    }
}

/// The note says how programs of Go 1.17 and older can be read, and that is so.
#[test]
fn packed_programs_of_old_versions_can_be_read_after_a_command() {
    let registry = registry(Shape::OldGo);
    let workspace = locked(&registry);
    for (platform, column) in [("linux_amd64", 2), ("windows_386", 3)] {
        let wanted = format!("--platform={platform}");
        let run = audit(&workspace, &registry, &[&wanted]).ended_with(0);
        let commands: Vec<&str> = run.stderr.split('`').skip(1).step_by(2).collect();
        let [install, ..] = commands[..] else { panic!("{run}") };
        assert!(run.stderr.contains("programs of Go 1.17 and older") && install.starts_with("tflock install"), "{run}");
        workspace.tflock(&registry, install.split(' ').skip(1)).ended_with(0);
        let again = commands.get(1).map_or("", |option| *option);
        assert!(again.is_empty() || again == format!("--platform {platform}"), "{run}");
        let run = audit(&workspace, &registry, &["--offline", &wanted, "--format", "json"]).ended_with(0);
        assert_eq!(found(&run), expected(column));
        assert!(!run.stderr.contains("Go 1.17"), "{run}");
    }
    let run = workspace.tflock(&registry, ["sbom", "--deep", "--platform", "linux_amd64"]).ended_with(0);
    assert!(!run.stderr.contains("Go 1.17"), "{run}");
}

/// Programs of Go 1.17 and older are read where they are unpacked.
#[test]
fn what_is_installed_is_read() {
    let registry = registry(Shape::OldGo);
    let workspace = locked(&registry);
    let package = registry.package("acme/widget", "2.0.0", "linux_amd64");
    let place = format!(".terraform/providers/{}/acme/widget/2.0.0/linux_amd64", registry.host());
    for (name, contents) in crate::support::packages::unpacked(&package.zip) {
        workspace.write_bytes(&format!("{place}/{name}"), &contents);
    }
    let run = audit(&workspace, &registry, &["--format", "json"]).ended_with(0);
    assert_eq!(found(&run), expected(2));
    workspace.write(&format!("{place}/more"), "something that is not recorded");
    let workspace = workspace.env("TFLOCK_CACHE_DIR", "");
    let run = workspace
        .tflock(&registry, ["audit", "--no-cache", "--db", database().to_str().unwrap(), "--platform", "linux_amd64"]);
    assert!(run.ended_with(0).stdout.contains("unknown"));
}

#[test]
fn settings_decide_what_is_denied() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    workspace.write(".tflock.hcl", "level \"provider-vulnerable\" {\n  is = \"deny\"\n}\n");
    audit(&workspace, &registry, &[]).ended_with(1);
    let exempt = |id: &str| {
        format!("exempt \"provider-vulnerable\" {{\n  advisory = \"{id}\"\n  reason = \"unreachable\"\n}}\n")
    };
    let deny = "level \"provider-vulnerable\" {\n  is = \"deny\"\n}\n";
    // By any of its ids.
    let all: String = expected(2).iter().map(|id| exempt(&id.replace("GO-", "CVE-"))).collect();
    workspace.write(".tflock.hcl", &(deny.to_owned() + &all));
    // One entry has no alias.
    audit(&workspace, &registry, &[]).ended_with(1);
    let all: String = expected(2).iter().map(|id| exempt(id)).collect();
    workspace.write(".tflock.hcl", &(deny.to_owned() + &all));
    let run = audit(&workspace, &registry, &[]).ended_with(0);
    assert!(run.stdout.contains("(exempt: unreachable)"), "{run}");
    workspace.write(
        ".tflock.hcl",
        "ban \"{{registry}}/acme/widget\" {\n  versions = \"2.0.0\"\n}\n"
            .replace("{{registry}}", &registry.host())
            .as_str(),
    );
    let run = audit(&workspace, &registry, &["--format", "sarif"]).ended_with(3);
    assert!(run.stdout.contains("\"banned\"") && run.stdout.contains("\"provider-vulnerable\""), "{run}");
}

#[test]
fn a_change_is_audited_for_what_it_adds() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    workspace.git(["init", "--quiet", "--initial-branch=main"]);
    commit(&workspace, "base");
    let run = audit(&workspace, &registry, &["--base", "HEAD", "--format", "json"]).ended_with(0);
    assert_eq!(found(&run).len(), 0);
    let registry = registry.release("acme/widget", "2.0.1", &["linux_amd64", "windows_386"]).shaped(Shape::Go);
    workspace.tflock(&registry, ["upgrade"]).ended_with(0);
    // The same modules in another release add nothing.
    let run = audit(&workspace, &registry, &["--base", "HEAD", "--format", "json"]).ended_with(0);
    assert_eq!((found(&run).len(), run.json()["audit"]["programs"].as_array().unwrap().len()), (0, 1));
    let run = audit(&workspace, &registry, &["--format", "json"]).ended_with(0);
    // The main module is judged as the locked version, in which one of them is fixed.
    assert_eq!(found(&run).len(), expected(2).len() - 1);
}

/// The changed document of the database, by its name; `None` if it is missing.
type Change<'a> = &'a dyn Fn(&str, String) -> Option<String>;

fn copied(change: Change) -> tempfile::TempDir {
    let copy = crate::support::tempdir();
    for folder in ["index", "ID"] {
        std::fs::create_dir(copy.path().join(folder)).unwrap();
        for file in std::fs::read_dir(database().join(folder)).unwrap().map(|file| file.unwrap().path()) {
            let name = format!("{folder}/{}", file.file_name().unwrap().to_str().unwrap());
            if let Some(text) = change(&name, std::fs::read_to_string(&file).unwrap()) {
                std::fs::write(copy.path().join(name), text).unwrap();
            }
        }
    }
    copy
}

#[test]
fn a_database_that_cannot_be_used_is_inconclusive() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    let one = "ID/GO-0000-0001.json";
    let cases: [(&str, Change); 6] = [
        ("GO-0000-0001 of the database", &|name, text| (name != one).then_some(text)),
        ("unknown field `severity`", &|name, text| {
            Some(if name == one { text.replacen("\"package\"", "\"severity\":1,\"package\"", 1) } else { text })
        }),
        ("\"x\"", &|name, text| Some(if name == one { text.replacen("\"1.3.0\"", "\"x\"", 1) } else { text })),
        ("index/modules.json of the database", &|name, text| {
            Some(if name == "index/modules.json" { "<html>".to_owned() } else { text })
        }),
        ("was last changed at 2020-01-01T00:00:00Z", &|name, text| {
            Some(if name == "index/db.json" { text.replace("2099-02-01T12", "2020-01-01T00") } else { text })
        }),
        ("cannot read index/db.json", &|name, text| (name != "index/db.json").then_some(text)),
    ];
    for (says, change) in cases {
        let copy = copied(change);
        let run = workspace.tflock(
            &registry,
            ["audit", "--offline", "--platform", "linux_amd64", "--db", copy.path().to_str().unwrap()],
        );
        let run = run.ended_with(4);
        assert!(run.stderr.contains(says), "{says}: {run}");
    }
}

/// What a database says is text from outside: bounded, and never a command to a terminal or a platform.
#[test]
#[ignore = "long"]
fn a_hostile_database_is_printed_or_refused() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    let run = |change: Change, format: &str| {
        let copy = copied(change);
        let args = ["audit", "--offline", "--platform=linux_amd64", "--format", format, "--db"];
        workspace.tflock(&registry, args.into_iter().chain([copy.path().to_str().unwrap()]))
    };
    let one = "ID/GO-0000-0001.json";
    let strange: Change = &|name, text| {
        let text = text.replacen("Made for tests", "\\u001b[2J\\u202e\\n::error::evil\\n</script><b>", 1);
        Some(if name == one { text.replacen("CVE-0000-0001", "CVE-1\\u001b\\r::error::evil", 1) } else { text })
    };
    for format in formats("audit") {
        let run = run(strange, format).ended_with(0);
        let shown = run.stdout.clone() + &run.stderr;
        assert!(shown.contains("GO-0000-0001") && !shown.contains(['\u{1b}', '\u{202e}']), "{format}: {run}");
        assert!(!shown.lines().any(|line| line.starts_with("::error::evil")), "{format}: {run}");
        assert!(format != "html" || !shown.contains("</script><b>"), "{format}: {run}");
    }
    let deep = "[".repeat(300_000);
    let listed: Vec<String> = (0..20_000).map(|n| format!("{{\"id\":\"GO-9-{n}\",\"modified\":\"x\"}}")).collect();
    let index = "index/modules.json";
    let rows: [(&str, Change); 5] = [
        ("index/modules.json of the database", &|name, text| Some(if name == index { deep.clone() } else { text })),
        ("example.com/m01", &|name, text| {
            let first = "[{\"path\":\"example.com/m01\",\"vulns\":[]},";
            Some(if name == index { text.replacen('[', first, 1) } else { text })
        }),
        ("GO-0000-0001 of the database", &|name, text| Some(if name == one { deep.clone() } else { text })),
        ("larger than 10 MiB", &|name, text| Some(if name == one { text + &" ".repeat(11 << 20) } else { text })),
        ("the advisory GO-9-0 of the database", &|name, text| {
            let first = "{\"id\":\"GO-0000-0001\"";
            Some(if name == index { text.replacen(first, &format!("{},{first}", listed.join(",")), 1) } else { text })
        }),
    ];
    for (says, change) in rows {
        let run = run(change, "human").ended_with(4);
        assert!(run.stderr.contains(says), "{says}: {run}");
        assert!(run.stderr.lines().count() < 100, "{says}: {} lines", run.stderr.lines().count());
    }
}

/// The layout of <https://vuln.go.dev> from a server: fetched once, then used without network.
#[test]
fn a_server_is_queried_once() {
    let mut registry = registry(Shape::Go);
    for folder in ["index", "ID"] {
        for file in std::fs::read_dir(database().join(folder)).unwrap().map(|file| file.unwrap().path()) {
            let path = format!("/vulndb/{folder}/{}", file.file_name().unwrap().to_str().unwrap());
            registry = registry.document(&path, "application/json", std::fs::read(&file).unwrap());
        }
    }
    let workspace = locked(&registry);
    let url = format!("https://{}/vulndb", registry.host());
    let audit = |args: &[&str]| {
        let all = ["audit", "--db", &url, "--platform", "linux_amd64", "--format", "json"];
        workspace.tflock(&registry, all.into_iter().chain(args.iter().copied()))
    };
    assert_eq!(found(&audit(&[]).ended_with(0)), expected(2));
    registry.forget_requests();
    assert_eq!(found(&audit(&[]).ended_with(0)), expected(2));
    // The index alone.
    assert_eq!(registry.requests().len(), 2);
    assert_eq!(found(&audit(&["--offline"]).ended_with(0)), expected(2));
    let down = registry.document("/vulndb/index/db.json", "application/json", "{}");
    let run =
        workspace.tflock(&down, ["audit", "--db", &url, "--platform", "linux_amd64", "--format", "json"]).ended_with(4);
    assert_eq!(found(&run), expected(2));
    assert!(run.stdout.contains("judged by the copy of 2099-02-01"), "{run}");
}

/// A database about the main module alone, which 2.0.1 fixes.
fn about_the_main_module() -> tempfile::TempDir {
    copied(&|name, text| {
        let mut modules: Vec<serde_json::Value> = match name {
            "index/modules.json" => serde_json::from_str(&text).unwrap(),
            _ => return Some(text),
        };
        modules.retain(|module| module["path"] == "example.com/terraform-provider-main");
        Some(serde_json::to_string(&modules).unwrap())
    })
}

/// The oldest release that helps is named, and no later one is downloaded.
#[test]
fn the_first_release_that_fixes_it_is_named() {
    const PLATFORMS: [&str; 2] = ["linux_amd64", "windows_386"];
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    let database = about_the_main_module();
    let audit = |registry: &Registry, args: &[&str], code| {
        let all = ["audit", "--fixed-by", "--platform", "linux_amd64", "--db", database.path().to_str().unwrap()];
        workspace.tflock(registry, all.into_iter().chain(args.iter().copied())).ended_with(code)
    };
    let run = audit(&registry, &[], 0);
    assert!(run.stdout.contains("(linux_amd64): no newer release that is allowed is without them"), "{run}");
    assert!(audit(&registry, &["--format", "json"], 0).json()["audit"]["programs"][0]["fixed_by"].is_null());
    // The first of them has no information, the next lacks the platform, and the constraints do not allow the last.
    let registry = registry.release("acme/widget", "2.0.1", &PLATFORMS);
    let registry = registry.release("acme/widget", "2.0.2", &["windows_386"]).shaped(Shape::Go);
    let registry = ["2.0.10", "2.0.3", "3.0.0"]
        .into_iter()
        .fold(registry, |registry, version| registry.release("acme/widget", version, &PLATFORMS).shaped(Shape::Go));
    assert!(audit(&registry, &["--offline"], 4).stderr.contains("which --offline forbids"));
    let run = audit(&registry, &["--max-download", "1B"], 4);
    assert!(run.stderr.contains("--max-download"), "{run}");
    registry.forget_requests();
    let run = audit(&registry, &[], 0);
    assert!(run.stdout.contains("(linux_amd64): 2.0.3 is the first release without them"), "{run}");
    assert_eq!(registry.downloads("acme/widget"), 2);
    let run = audit(&registry, &["--format", "json"], 0);
    assert_eq!(run.json()["audit"]["programs"][0]["fixed_by"], "2.0.3");
    // Both were read, and are kept.
    assert_eq!(registry.downloads("acme/widget"), 2);
    workspace.write("main.tf", &MAIN.replace("~> 2.0", "2.0.0"));
    assert!(audit(&registry, &[], 0).stdout.contains("no newer release that is allowed"));
}

/// What another machine read is used, and never called clean.
#[test]
fn what_was_imported_is_reported() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    workspace.tflock(&registry, ["cache", "export", "../index.txt"]).ended_with(0);
    let cache = workspace.path("../other-cache");
    let workspace = workspace.env("TFLOCK_CACHE_DIR", cache.to_str().unwrap());
    audit(&workspace, &registry, &["--offline"]).ended_with(4);
    workspace.tflock(&registry, ["cache", "import", "../index.txt"]).ended_with(0);
    let run = audit(&workspace, &registry, &["--offline", "--format", "json"]).ended_with(0);
    assert_eq!(found(&run), expected(2));
    assert_eq!(run.json()["audit"]["programs"][0]["reported"], true);
    let clean = copied(&|name, text| Some(if name == "index/modules.json" { "[]".to_owned() } else { text }));
    let clean = |args: &[&str]| {
        let all = ["audit", "--offline", "--platform", "linux_amd64", "--db", clean.path().to_str().unwrap()];
        workspace.tflock(&registry, all.into_iter().chain(args.iter().copied()))
    };
    let run = clean(&[]).ended_with(0);
    assert!(run.stdout.contains("only reported by an import") && !run.stdout.contains("ok: "), "{run}");
    let run = workspace.tflock(&registry, ["sbom", "--deep", "--offline", "--platform", "linux_amd64"]).ended_with(0);
    assert!(run.stdout.contains("reported by an import"), "{run}");
    // Who imported passes nothing on, and may forget it.
    workspace.tflock(&registry, ["cache", "export", "../again.txt"]).ended_with(0);
    assert!(!std::fs::read_to_string(workspace.path("../again.txt")).unwrap().contains("program "));
    workspace.tflock(&registry, ["cache", "prune", "--imported"]).ended_with(0);
    clean(&[]).ended_with(4);
}

/// What another machine read comes from a shared index, and is clean only if the settings trust that index.
#[test]
fn build_information_is_shared_through_an_index() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    let index = crate::support::tempdir();
    let url = format!("file://{}", index.path().display());
    let publish = ["lock", "--platform=linux_amd64", "--platform=windows_386", "--publish", "--index", &url];
    let run = workspace.tflock(&registry, publish).ended_with(0);
    assert!(run.stderr.contains("4 of 4 records are new"), "{run}");
    let below = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = below(index.path().join("v2/programs")).flat_map(below).collect();
    assert_eq!(files.len(), 2);
    let cache = workspace.path("../other-cache");
    let settings = |trust: &str| format!("index \"team\" {{\n  url   = \"{url}\"\n  trust = \"{trust}\"\n}}\n");
    let workspace = workspace.env("TFLOCK_CACHE_DIR", cache.to_str().unwrap());
    registry.forget_requests();
    for (trust, reported) in [("reported", true), ("verified", false)] {
        workspace.write(".tflock.hcl", &settings(trust));
        let run = audit(&workspace, &registry, &["--format", "json"]).ended_with(0);
        assert_eq!(found(&run), expected(2));
        assert_eq!(run.json()["audit"]["programs"][0]["reported"], reported, "{run}");
        // Neither is kept.
        audit(&workspace, &registry, &["--offline"]).ended_with(4);
    }
    assert_eq!(registry.downloads("acme/widget"), 0);
    // What is no record of this package counts for nothing: the package is downloaded.
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        std::fs::write(file, text.replacen(' ', "  ", 1)).unwrap();
    }
    let run = audit(&workspace, &registry, &["--format", "json"]).ended_with(0);
    assert!(run.stderr.contains("the index \"team\""), "{run}");
    assert_eq!((found(&run), registry.downloads("acme/widget")), (expected(2), 1));
    // A machine that read other modules in the package says so, and leaves the index unchanged.
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap().replacen("  ", " ", 1);
        std::fs::write(file, text.replace("go1.21.4", "go1.99.9")).unwrap();
    }
    let run = workspace.tflock(&registry, ["cache", "export", "--publish", "--index", &url]).ended_with(3);
    assert!(
        run.stderr.contains("denied[index-differs]")
            && run.stderr.contains("gives other modules for the programs of h1:")
    );
}

/// An edit of a record.
type Edit<'a> = &'a dyn Fn(&str) -> String;

/// A record of a shared index is text from outside as well.
#[test]
#[ignore = "long"]
fn hostile_build_information_is_printed_or_refused() {
    let registry = registry(Shape::Go);
    let workspace = locked(&registry);
    let index = crate::support::tempdir();
    let url = format!("file://{}", index.path().display());
    let publish = ["lock", "--platform=linux_amd64", "--publish", "--index", &url];
    workspace.tflock(&registry, publish).ended_with(0);
    let below = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = below(index.path().join("v2/programs")).flat_map(below).collect();
    let texts: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let cache = workspace.path("../other-cache");
    let workspace = workspace.env("TFLOCK_CACHE_DIR", cache.to_str().unwrap());
    workspace.write(".tflock.hcl", &format!("index \"team\" {{\n  url   = \"{url}\"\n}}\n"));
    let db = database();
    let strange = "\\u001b[2J\\u202e\\n::error::evil";
    let modules = "dep\\texample.com/x\\tv1.0.0\\n".repeat(200_000);
    let changes: [(&str, Edit<'_>); 4] = [
        ("control characters", &|text| text.replace("go1.21.4", &format!("go1.21.4{strange}"))),
        ("in a module", &|text| text.replace("example.com/m01\\t", &format!("example.com/m01{strange}\\t"))),
        ("many modules", &|text| text.replace("\\ndep\\t", &format!("\\n{modules}dep\\t"))),
        ("depth", &|text| text.replacen('{', &"{\"a\":[".repeat(100_000), 1)),
    ];
    for (what, change) in changes {
        for (file, text) in files.iter().zip(&texts) {
            let hostile = change(text);
            assert_ne!(text, &hostile, "{what}");
            std::fs::write(file, hostile).unwrap();
        }
        let db = ["--db", db.to_str().unwrap()];
        for args in [
            &["audit", "--format=human", db[0], db[1]][..],
            &["audit", "--format=github", db[0], db[1]],
            &["sbom", "--deep"],
            &["sbom", "--deep", "--format=spdx"],
        ] {
            let run = workspace.tflock(&registry, args.iter().chain(&["--platform=linux_amd64"]));
            let shown = run.stdout.clone() + &run.stderr;
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{what} {args:?}");
            assert!(!shown.lines().any(|line| line.starts_with("::error::evil")), "{what} {args:?}");
            assert!(matches!(run.code, Some(0 | 4)), "{what} {args:?}: {:?} {}", run.code, run.stderr);
            assert!(shown.len() < 1 << 20, "{what} {args:?}: {} bytes", shown.len());
        }
    }
}

/// Also those of Go 1.17 and older, which are unpacked there; each is read once for all root modules.
#[test]
fn programs_come_from_the_package_store() {
    let registry = registry(Shape::OldGo);
    let workspace = Workspace::with_files(&[("one/main.tf", MAIN), ("two/main.tf", MAIN)]);
    workspace
        .tflock(&registry, ["lock", "-r", "--create", "--platform", "linux_amd64", "--platform", "windows_386"])
        .ended_with(0);
    workspace.tflock(&registry, ["install", "-r", "--platform=linux_amd64"]).ended_with(0);
    for root in ["one", "two"] {
        std::fs::remove_dir_all(workspace.path(root).join(".terraform")).unwrap();
    }
    registry.forget_requests();
    let run = audit(&workspace, &registry, &["-r", "--offline", "--format", "json"]).ended_with(0);
    let roots = run.json()["roots"].as_array().unwrap().clone();
    assert_eq!(roots.len(), 2);
    for root in &roots {
        let all = root["audit"]["programs"][0]["vulnerabilities"].as_array().unwrap().iter();
        assert_eq!(all.map(|it| it["id"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(), expected(2));
    }
    let run = audit(&workspace, &registry, &["-r", "--offline"]).ended_with(0);
    assert!(run.stdout.contains("advisories found: 1 program,"), "{run}");
    assert_eq!(registry.requests().len(), 0);
}

/// Nothing was looked at, so nothing is fine.
#[test]
fn without_a_lock_file_there_is_nothing_to_audit() {
    let registry = registry(Shape::Go);
    let alone = Workspace::with_files(&[("main.tf", MAIN)]);
    audit(&alone, &registry, &["--offline", "--format", "json"]).failed_as("lock-file", &[]);
    // Below, as other commands report it.
    let backend = format!("{MAIN}terraform {{\n  backend \"local\" {{}}\n}}\n");
    let below = Workspace::with_files(&[("a/main.tf", &backend)]);
    let run = audit(&below, &registry, &["-r", "--offline", "--format", "json"]).ended_with(1);
    assert_eq!(run.json()["roots"][0]["findings"][0]["rule"], "lock-file-missing", "{run}");
    // A change that adds none adds no advisory.
    below.git(["init", "--quiet"]);
    commit(&below, "base");
    audit(&below, &registry, &["-r", "--offline", "--base", "HEAD"]).ended_with(0);
}
