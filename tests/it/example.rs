//! `testdata/example`: what newcomers try first, kept equal to what makes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::packages::{Package, PackageName};
use crate::support::workspace::{TESTDATA, Workspace};

const RELEASES: [(&str, &str); 3] = [("dns", "2.3.1"), ("dns", "3.0.0"), ("postgres", "1.4.2")];
const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "windows_amd64"];

fn folder() -> PathBuf {
    Path::new(TESTDATA).join("example")
}

/// Compares a file with what it should be; writes it if `UPDATE=1` is set.
fn assert_file(path: &Path, wanted: &[u8]) {
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, wanted).unwrap();
    }
    let there = std::fs::read(path).unwrap_or_default();
    assert!(there == wanted, "{} is out of date: UPDATE=1 cargo test --test it example", path.display());
}

/// The packed mirror, by path below `mirror`.
fn mirror() -> BTreeMap<PathBuf, Package> {
    let mut mirror = BTreeMap::new();
    for (kind, version) in RELEASES {
        for platform in PLATFORMS {
            let path = format!("registry.example.com/acme/{kind}/terraform-provider-{kind}_{version}_{platform}.zip");
            let package = Package::make(PackageName { kind, version, platform, edition: 1 }, &[]);
            mirror.insert(path.into(), package);
        }
    }
    mirror
}

/// One test, since terraform reads what the first half may have to write.
#[test]
fn mirror_and_lock_file_are_up_to_date() {
    for (path, package) in mirror() {
        assert!(package.zip.len() < 1024, "{} is large", path.display());
        assert_file(&folder().join("mirror").join(path), &package.zip);
    }
    let workspace = Workspace::from("example");
    let Some(run) = workspace.terraform(None, ["get"]) else { return };
    run.ended_with(0);
    let args = ["providers", "lock", "-fs-mirror=mirror", "-platform=linux_amd64", "-platform=darwin_arm64"];
    workspace.terraform(None, args).unwrap().ended_with(0);
    assert_file(&folder().join("expected.lock.hcl"), workspace.lock_file().as_bytes());
    for platform in ["linux_amd64", "darwin_arm64"] {
        let package = Package::make(PackageName { kind: "dns", version: "2.3.1", platform, edition: 1 }, &[]);
        assert!(workspace.lock_file().contains(&package.h1));
    }
}
