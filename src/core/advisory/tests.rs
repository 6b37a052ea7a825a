#![expect(clippy::disallowed_methods, reason = "tests read what the library must not")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Advisory, AdvisoryIndex, Component, Components, GoVersion, TOOLCHAIN, modified};
use crate::goinfo::GoInfo;
use crate::platform::Platform;

fn top(of: &str) -> Option<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|top| top.join(of)).find(|path| path.exists())
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

/// What a file says as `go version -m` prints it.
fn program(path: &Path) -> GoInfo {
    let text = text(path);
    let (go, list) = text.split_once('\n').unwrap();
    GoInfo::new(go, list).unwrap()
}

/// The advisories about a program: id, module, version found, version that fixes it.
fn found(
    index: &AdvisoryIndex,
    read: &mut dyn FnMut(&str) -> Advisory,
    parts: &[Component],
    platform: &str,
) -> BTreeSet<[String; 4]> {
    let platform: Platform = platform.parse().unwrap();
    let mut found = BTreeSet::new();
    for part in parts {
        for listed in index.advisories(&part.module, &part.version) {
            let advisory = read(&listed.id);
            assert_eq!((&advisory.id, &advisory.modified), (&listed.id, &listed.modified));
            if let Some(fixed) = advisory.affects(part, &platform) {
                let fixed = fixed.map(|it| it.to_string()).unwrap_or_default();
                found.insert([advisory.id, part.module.clone(), part.version.to_string(), fixed]);
            }
        }
    }
    found
}

#[test]
fn each_rule_of_matching_has_an_entry() {
    let folder = top("testdata/advisories").unwrap();
    let index = AdvisoryIndex::decode(text(&folder.join("index/modules.json")).as_bytes()).unwrap();
    let mut read = |id: &str| Advisory::decode(text(&folder.join(format!("ID/{id}.json"))).as_bytes()).unwrap();
    let parts = Components::of(&program(&folder.join("program.txt")), "2.0.0", true);
    let unknown: Vec<&str> = parts.unknown.iter().map(|(module, _)| module.as_str()).collect();
    assert_eq!(unknown, ["example.com/local"]);
    let locked: Vec<&str> = parts.known.iter().filter(|it| it.is_locked_version).map(|it| it.module.as_str()).collect();
    assert_eq!(locked, ["example.com/terraform-provider-main"]);
    let [linux, windows] =
        ["linux_amd64", "windows_386"].map(|platform| found(&index, &mut read, &parts.known, platform));
    let expected = text(&folder.join("expected.tsv"));
    let rows: Vec<Vec<&str>> = expected.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() >= 40);
    for row in rows {
        let [id, rule, on_linux, on_windows] = row[..] else { panic!("{row:?}") };
        assert!(read(id).summary.ends_with(rule), "{id}");
        for (all, expected) in [(&linux, on_linux), (&windows, on_windows)] {
            let ids: Vec<String> = all
                .iter()
                .filter(|found| found[0] == id)
                .map(|[_, module, _, fixed]| match fixed.as_str() {
                    "" => "none".to_owned(),
                    fixed if module == TOOLCHAIN => format!("toolchain {fixed}"),
                    fixed => fixed.to_owned(),
                })
                .collect();
            let ids = if ids.is_empty() { "-".to_owned() } else { ids.join(" ") };
            assert_eq!(ids, expected, "{id}: {rule}");
        }
    }
    let without = Components::of(&program(&folder.join("program.txt")), "2.0.0", false);
    assert!(found(&index, &mut read, &without.known, "linux_amd64").iter().all(|found| found[1] != TOOLCHAIN));
}

/// The findings of govulncheck in real programs, with the real database.
#[test]
fn real_programs_have_the_findings_of_govulncheck() {
    let Some(folder) = top("shared/vulndb").filter(|folder| folder.join("expected.tsv").exists()) else {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: ../shared/vulndb is not here\n");
        return;
    };
    let file = std::io::BufReader::new(std::fs::File::open(folder.join("vulndb.zip")).unwrap());
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut document = |name: &str| {
        let mut bytes = Vec::new();
        std::io::copy(&mut archive.by_name(name).unwrap(), &mut bytes).unwrap();
        bytes
    };
    let index = AdvisoryIndex::decode(&document("index/modules.json")).unwrap();
    assert_eq!(modified(&document("index/db.json")).unwrap(), "2026-08-21T20:38:00Z");
    let mut entries: BTreeMap<String, Advisory> = BTreeMap::new();
    let mut read = |id: &str| {
        let entry = entries.entry(id.to_owned());
        entry.or_insert_with(|| Advisory::decode(&document(&format!("ID/{id}.json"))).unwrap()).clone()
    };
    let mut expected: BTreeMap<[String; 2], BTreeSet<[String; 4]>> = BTreeMap::new();
    for line in text(&folder.join("expected.tsv")).lines().skip(1) {
        let mut cells = line.split('\t').map(str::to_owned);
        let mut next = || cells.next().unwrap_or_default();
        let program = [next(), next()];
        expected.entry(program).or_default().insert([next(), next(), next(), next()]);
    }
    let mut count = 0;
    for ([package, program_name], expected) in expected {
        let platform = [("darwin-arm64", "darwin_arm64"), ("mips64el", "linux_mips64le"), ("win32", "windows_amd64")];
        let platform = platform.iter().find(|(part, _)| package.contains(part)).map_or("linux_amd64", |(_, it)| it);
        let info = program(&folder.join(format!("buildinfo/{package}.{program_name}.txt")));
        let mut parts = Components::of(&info, "0.0.0", false).known;
        // govulncheck knows no locked version.
        parts.retain(|part| !part.is_locked_version);
        let found = found(&index, &mut read, &parts, platform);
        count += found.len();
        assert_eq!(found, expected, "{package}");
    }
    assert_eq!(count, 491);
}

#[test]
fn versions_of_toolchains() {
    for (name, version) in [
        ("go1.22.11", Some("v1.22.11")),
        ("go1.22", Some("v1.22.0")),
        ("go1", Some("v1.0.0")),
        ("go1.22rc1", Some("v1.22.0-rc.1")),
        ("go1.21.0rc2", Some("v1.21.0-rc.2")),
        ("go1.18beta1", Some("v1.18.0-beta.1")),
        ("go1.20.3 X:boringcrypto", Some("v1.20.3")),
        ("go1.24.2 X:nocoverageredesign,boringcrypto", Some("v1.24.2")),
        ("devel go1.23-1f0e3f Thu Jan 1 00:00:00 2026 +0000", None),
        ("devel +1f0e3f", None),
        ("go1.21.5-custom", None),
        ("go1.22rc", None),
        ("go1.22rcx", None),
        ("go1.2.3.4", None),
        ("go", None),
        ("", None),
    ] {
        assert_eq!(GoVersion::of_toolchain(name).map(|it| it.to_string()).as_deref(), version, "{name}");
    }
    let info = GoInfo::new("devel go1.23-1f0e3f", "path\tp\nmod\texample.com/p\tv1.0.0\n").unwrap();
    let parts = Components::of(&info, "1.0.0", false);
    assert_eq!((parts.known.len(), parts.unknown[0].0.as_str()), (1, "stdlib"));
    let without_modules = Components::of(&GoInfo::new("go1.15", "").unwrap(), "1.0.0", false);
    assert_eq!(without_modules.unknown[0].0, "its dependencies");
}

#[test]
fn unreadable_entries_say_why() {
    let folder = top("testdata/advisories").unwrap();
    let good = text(&folder.join("ID/GO-0000-0001.json"));
    assert!(Advisory::decode(good.as_bytes()).is_ok());
    for (from, to, why) in [
        ("{\"introduced\":\"0\"}", "{\"last_affected\":\"1.0.0\"}", "unknown field `last_affected`"),
        ("{\"introduced\":\"0\"}", "{\"introduced\":\"one\"}", "the version \"one\" of a range cannot be read"),
        ("{\"introduced\":\"0\"}", "{}", "an event of a range is not one of"),
        ("\"ranges\"", "\"versions\":[],\"ranges\"", "unknown field `versions`"),
        ("\"affected\"", "\"touched\"", "missing field `affected`"),
        ("{", "<html>", "expected"),
    ] {
        let bad = Advisory::decode(good.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert!(bad.to_string().contains(why), "{bad}");
    }
    // What decides nothing may be new.
    assert!(Advisory::decode(good.replacen('{', "{\"upstream\":[],", 1).as_bytes()).is_ok());
    for (bad, why) in [
        ("[{\"path\":\"a\",\"vulns\":[{\"id\":\"../x\",\"modified\":\"\"}]}]", "is not the id of an advisory"),
        (
            "[{\"path\":\"a\",\"vulns\":[{\"id\":\"GO-1\",\"modified\":\"\",\"severity\":1}]}]",
            "unknown field `severity`",
        ),
        ("{}", "invalid type"),
        (r#"[{"path":"a","vulns":[]},{"path":"b","vulns":[]},{"path":"a","vulns":[]}]"#, "it lists the module a twice"),
    ] {
        assert!(AdvisoryIndex::decode(bad.as_bytes()).unwrap_err().to_string().contains(why), "{bad}");
    }
    assert!(modified(b"{\"modified\":\"yesterday\"}").is_err());
}
