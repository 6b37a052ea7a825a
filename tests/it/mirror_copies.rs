//! Mirrors as sources: what a closed network needs, mirrors of mirrors, and runs that are killed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::mirror::{BOTH, check, locked, mirror, package, rules, shelf};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, widget, widget_and_gadget};

/// All files below a directory, with their paths from there.
fn files(top: &Path) -> Vec<(String, Vec<u8>)> {
    let (mut files, mut folders) = (Vec::new(), vec![top.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
                files.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    files
}

/// A web server that has nothing but a mirror.
fn serving(mirror: &Path) -> Registry {
    let with = |registry: Registry, (path, body): (String, Vec<u8>)| {
        let is_json = Path::new(&path).extension().is_some_and(|end| end == "json");
        let kind = if is_json { "application/json" } else { "application/octet-stream" };
        registry.document(&format!("/served/{path}"), kind, body)
    };
    files(mirror).into_iter().fold(Registry::start(), with)
}

#[test]
#[ignore = "long"]
fn a_closed_network_works_from_the_mirror_alone() {
    let registry = widget().standing_for("registry.terraform.io");
    let source = Workspace::from("modules/default-host");
    source.tflock(&registry, LOCK_BOTH).ended_with(0);
    source.tflock(&registry, [&["mirror", "mirror"], &BOTH[..]].concat()).ended_with(0);
    let (lock, mirror): (String, PathBuf) = (source.lock_file(), source.path("mirror"));
    drop(registry);

    let server = serving(&mirror);
    let url = format!("https://{}/served/", server.host());
    let closed = || Workspace::from("modules/default-host");
    let h1 = |text: &str| text.lines().filter(|line| line.contains("\"h1:")).map(str::to_owned).collect::<Vec<_>>();
    for option in [format!("--net-mirror={url}"), format!("--fs-mirror={}", mirror.display())] {
        let workspace = closed();
        workspace.tflock(&server, [&LOCK_BOTH[..], &[&option]].concat()).ended_with(0);
        assert_eq!(h1(&workspace.lock_file()), h1(&lock), "{option}");
        let run = workspace.tflock(&server, ["verify", "--deep", &option, "--format=json"]).ended_with(0);
        assert_eq!((&run.json()["proven"], &run.json()["unknown"]), (&4.into(), &0.into()), "{run}");
        let run = workspace.tflock(&server, ["mirror", "--check", &mirror.display().to_string(), &option]);
        run.ended_with(0);
        let Some(run) = workspace.terraform(
            &server,
            ["providers", "lock", "-no-color", "-platform=linux_amd64", "-platform=darwin_arm64", &option[1..]],
        ) else {
            return;
        };
        run.ended_with(0);
        assert_eq!(h1(&workspace.lock_file()), h1(&lock), "{option}");
    }
    let methods = [
        format!("network_mirror {{\n    url = \"{url}\"\n  }}"),
        format!("filesystem_mirror {{\n    path = \"{}\"\n  }}", mirror.display()),
    ];
    for method in methods {
        let workspace = closed().cli_config(&format!("provider_installation {{\n  {method}\n}}\n"));
        workspace.write(".terraform.lock.hcl", &lock);
        let run = workspace.terraform(&server, ["init", "-no-color", "-lockfile=readonly"]).unwrap().ended_with(0);
        assert!(run.stdout.contains("Installed acme/widget v1.4.0"), "{run}");
        assert_eq!(workspace.lock_file(), lock, "{method}");
    }
}

/// The files of a mirror, by their names.
fn contents(workspace: &Workspace, mirror: &str) -> BTreeMap<String, Vec<u8>> {
    files(&workspace.path(mirror)).into_iter().collect()
}

#[test]
fn a_mirror_is_made_of_another_one() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &BOTH).ended_with(0);
    registry.forget_requests();
    let copy = |name: &str, more: &[&str]| workspace.tflock(&registry, [&["mirror", name], &BOTH[..], more].concat());
    let run = copy("second", &["--fs-mirror=mirror", "--offline"]).ended_with(0);
    assert!(run.stdout.contains("2 packages in second, 2 downloaded") && registry.requests().is_empty(), "{run}");
    assert_eq!(contents(&workspace, "second"), contents(&workspace, "mirror"));
    let run = copy("second", &["--fs-mirror=mirror", "--no-cache"]).ended_with(0);
    assert!(run.stdout.contains("all up to date") && run.touched().is_empty(), "{run}");

    let server = serving(&workspace.path("mirror"));
    let url = format!("--net-mirror=https://{}/served/", server.host());
    let third = || workspace.tflock(&server, [&["mirror", "third", &url], &BOTH[..]].concat());
    third().ended_with(0);
    assert_eq!(contents(&workspace, "third"), contents(&workspace, "mirror"));
    let zips = || server.requests().iter().filter(|it| it.path.contains(".zip")).count();
    assert_eq!(zips(), 2);
    workspace.write(&package(&registry, "linux_amd64").replace("mirror/", "third/"), "half of it");
    let run = third().ended_with(0);
    assert!(zips() == 3 && contents(&workspace, "third") == contents(&workspace, "mirror"), "{run}");
}

#[test]
fn packages_of_another_mirror_are_verified() {
    let registry = widget();
    let workspace = locked(&registry);
    mirror(&workspace, &registry, &BOTH).ended_with(0);
    let copy = |name: &str, more: &[&str]| {
        workspace.tflock(None, [&["mirror", name, "--fs-mirror=mirror"], &BOTH[..], more].concat())
    };
    let zip = package(&registry, "linux_amd64");
    let honest = std::fs::read(workspace.path(&zip)).unwrap();
    let other = std::fs::read(workspace.path(&package(&registry, "darwin_arm64"))).unwrap();
    workspace.write_bytes(&zip, &other);
    let run = copy("second", &[]).ended_with(3);
    assert!(run.stdout.contains("[wrong-checksum]") && !workspace.has(&zip.replace("mirror/", "second/")), "{run}");
    workspace.write_bytes(&zip, &honest);

    // Without copies of what was signed, what is recorded decides.
    for end in ["", ".sig", ".asc"] {
        let sums = format!("{}/terraform-provider-widget_1.4.0_SHA256SUMS{end}", shelf(&registry));
        std::fs::remove_file(workspace.path(&sums)).unwrap();
    }
    copy("third", &[]).ended_with(0);
    assert_eq!(contents(&workspace, "third"), contents(&workspace, "mirror"));
    copy("third", &["--check"]).ended_with(0);
    let run = workspace.tflock(None, ["mirror", "--check", "third", "--format=json"]).ended_with(1);
    assert_eq!(rules(&run), ["mirror-incomplete"], "{run}");
    let registry = widget();
    registry.republish("acme/widget", "1.4.0");
    workspace.write_bytes(&zip, &registry.package("acme/widget", "1.4.0", "linux_amd64").zip);
    let run = copy("fourth", &[]).ended_with(2);
    assert!(run.stderr.contains("records no hash of the package of"), "{run}");
    assert!(!workspace.has(&zip.replace("mirror/", "fourth/")), "{run}");

    std::fs::remove_file(workspace.path(&zip)).unwrap();
    let unpacked = zip.rsplit_once('/').unwrap().0.to_owned() + "/1.4.0/linux_amd64/terraform-provider-widget";
    workspace.write(&unpacked, "a program");
    let run = copy("fifth", &[]).ended_with(2);
    assert!(run.stderr.contains("is a directory in the filesystem mirror"), "{run}");
}

#[test]
#[ignore = "long"]
fn a_run_that_is_killed_leaves_nothing_half_written() {
    let registry = widget();
    let workspace = locked(&registry);
    let honest = ["linux_amd64", "darwin_arm64"].map(|platform| registry.package("acme/widget", "1.4.0", platform).zip);
    let args = || [&["mirror", "mirror"], &BOTH[..]].concat();
    for pause in 0..8 {
        let _absent = std::fs::remove_dir_all(workspace.path("mirror"));
        let mut child = workspace.tflock_command(&registry, args()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(15 * pause));
        let _ = child.kill();
        child.wait().unwrap();
        let left = if workspace.has("mirror") { contents(&workspace, "mirror") } else { BTreeMap::new() };
        for (path, bytes) in &left {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let kind = Path::new(name).extension().and_then(|end| end.to_str());
            if kind == Some("zip") {
                assert!(honest.contains(bytes), "{path}");
            } else if kind == Some("json") {
                let document: serde_json::Value = serde_json::from_slice(bytes).unwrap();
                let archives = document["archives"].as_object().into_iter().flatten();
                let named = archives.map(|(_, archive)| archive["url"].as_str().unwrap());
                let of_versions = document["versions"].as_object().into_iter().flatten();
                let versions = of_versions.map(|(version, _)| format!("{version}.json"));
                for file in named.map(str::to_owned).chain(versions) {
                    assert!(left.contains_key(&format!("{folder}/{file}")), "{path} names {file}: {:?}", left.keys());
                }
            }
        }
        workspace.tflock(&registry, args()).ended_with(0);
        check(&workspace, &[]).ended_with(0);
    }
}

/// What becomes of the bytes of a file; none if it is removed.
type Damage<'a> = &'a dyn Fn(&[u8]) -> Option<Vec<u8>>;

/// What is wrong with a package concerns the root modules that lock it, and the command that is printed repairs it, whatever
/// root modules and platforms the check was about.
#[test]
#[ignore = "long"]
fn the_remedy_of_a_check_restores_the_package() {
    let registry = widget_and_gadget().standing_for("registry.terraform.io");
    let requires = |name: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    {name} = {{\n      source = \"acme/{name}\"\n    }}\n  }}\n}}\n"
        )
    };
    let workspace =
        Workspace::with_files(&[("envs/a/main.tf", &requires("gadget")), ("envs/b/main.tf", &requires("widget"))]);
    workspace.tflock(&registry, [&LOCK_BOTH[..], &["-r", "--create"]].concat()).ended_with(0);
    workspace.tflock(&registry, [&["mirror", "-r", "my mirror"], &BOTH[..]].concat()).ended_with(0);
    let shelf = "my mirror/registry.terraform.io/acme/widget/terraform-provider-widget_1.4.0";
    let darwin = format!("{shelf}_darwin_arm64.zip");
    let damages: [(&str, Damage<'_>, i32); 4] = [
        (&darwin, &|bytes| Some([bytes, b"x"].concat()), 3),
        (&darwin, &|_| Some(b"no archive".to_vec()), 3),
        (&darwin, &|_| None, 1),
        (&format!("{shelf}_SHA256SUMS"), &|_| None, 1),
    ];
    let checks: [&[&str]; 3] = [&["-r"], &["-r", "--platform=darwin_arm64"], &["-C", "envs/b"]];
    for (file, damage, code) in damages {
        for options in checks {
            let path = workspace.path(file);
            let sound = std::fs::read(&path).unwrap();
            match damage(&sound) {
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let run = workspace.tflock(None, [&["mirror", "--check", "my mirror"], options].concat()).ended_with(code);
            assert!(!run.stdout.contains("mirror/acme/"), "{run}");
            assert!(run.stdout.contains(file) || !path.exists(), "{run}");
            assert!(!run.stdout.contains("envs/a"), "{run}");
            let command = run
                .stdout
                .split('`')
                .find(|text| text.starts_with("tflock ") && text.contains(" mirror "))
                .unwrap()
                .to_owned();
            if path.exists() {
                assert!(run.stdout.contains("remove the file"), "{run}");
                std::fs::remove_file(&path).unwrap();
            }
            let script = command.replacen("tflock", env!("CARGO_BIN_EXE_tflock"), 1);
            workspace.program(Path::new("/bin/sh"), &registry, ["-c", &script]).ended_with(0);
            assert_eq!(std::fs::read(&path).ok(), Some(sound), "{command}: {run}");
            workspace.tflock(None, ["mirror", "--check", "-r", "my mirror"]).ended_with(0);
        }
    }
    // No lock file of the run records it, so no command of the run can bring it back.
    std::fs::write(workspace.path(&darwin), "no archive").unwrap();
    let run = workspace.tflock(None, ["mirror", "--check", "my mirror", "-C", "envs/a"]).ended_with(3);
    assert!(run.stdout.contains("no lock file of this run records registry.terraform.io/acme/widget 1.4.0"), "{run}");
    assert!(run.stdout.contains(" right; 1 problem found"), "{run}");
}
