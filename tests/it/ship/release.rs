//! What the release workflow makes of built programs: archives, checksums, the formula, what the container image holds.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::run::Run;
use crate::support::tools::found;
use crate::support::workspace::{TFLOCK, Workspace};
use crate::support::yaml::document;

const TOP: &str = env!("CARGO_MANIFEST_DIR");
pub(super) const TARGETS: [&str; 6] = [
    "aarch64-apple-darwin",
    "aarch64-pc-windows-msvc",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-unknown-linux-musl",
];

/// Programs as if built for all targets; each is the one under test.
pub(super) fn built() -> Workspace {
    let workspace = Workspace::with_files(&[("licences.txt", "texts\n")]).env("SOURCE_DATE_EPOCH", "1700000000");
    for target in TARGETS {
        let name = if target.contains("windows") { "tflock.exe" } else { "tflock" };
        let program = format!("built/built-{target}/{name}");
        workspace.write(&program, &format!("#!/bin/sh\nexec '{TFLOCK}' \"$@\"\n"));
        std::fs::set_permissions(workspace.path(&program), std::fs::Permissions::from_mode(0o644)).unwrap();
        workspace.write(&format!("built/built-{target}/tflock-{target}.cdx.json"), "{}\n");
    }
    workspace
}

pub(super) fn script(workspace: &Workspace, text: &str) -> Run {
    let text = format!("work=$PWD; cd '{TOP}'; {text}");
    workspace.program(Path::new("/usr/bin/bash"), None, ["-euc", &text]).ended_with(0)
}

pub(super) fn package(workspace: &Workspace, out: &str) -> String {
    let command = format!("bash .github/release/package.sh \"$work/built\" \"$work/licences.txt\" \"$work/{out}\"");
    script(workspace, &format!("{command}; cat \"$work/{out}/SHA256SUMS\"")).stdout
}

#[test]
#[ignore = "long"]
fn archives_formula_and_image_of_a_release() {
    let workspace = built();
    let version = env!("CARGO_PKG_VERSION");
    let sums = package(&workspace, "out");
    for target in TARGETS {
        assert!(sums.contains(&format!("  tflock-{version}-{target}.tar.gz\n")), "{sums}");
        assert!(sums.contains(&format!("  tflock-{version}-{target}.cdx.json\n")), "{sums}");
    }
    let wheels =
        "python3 -m zipfile --list \"$work\"/out/*-win_arm64.whl | cut -d ' ' -f 1; ls \"$work/out\" | grep whl";
    insta::assert_snapshot!("release_wheels", script(&workspace, wheels).stdout.replace(version, "VERSION"));
    assert_eq!(package(&workspace, "again"), sums, "the same inputs give the same archives");
    let listed = |target: &str| {
        let list = script(&workspace, &format!("tar -tvzf \"$work/out/tflock-{version}-{target}.tar.gz\""));
        let line = |line: &str| Some(format!("{} {}\n", line.split(' ').next()?, line.rsplit(' ').next()?));
        list.stdout.lines().filter_map(line).collect::<String>().replace(version, "VERSION")
    };
    insta::assert_snapshot!("release_archive", listed("x86_64-unknown-linux-musl"));
    assert!(listed("x86_64-pc-windows-msvc").contains("-rwxr-xr-x tflock-VERSION-x86_64-pc-windows-msvc/tflock.exe\n"));
    let formula = script(&workspace, "bash .github/release/formula.sh OWNER/tflock \"$work/out\"").stdout;
    let digests = sums.lines().filter_map(|line| line.split_once("  "));
    let formula = digests.fold(formula, |text, (digest, name)| text.replace(digest, &format!("<sha256 of {name}>")));
    insta::assert_snapshot!("release_formula", formula.replace(version, "VERSION"));
    let image =
        "bash .github/release/image-root.sh \"$work/out\" \"$work/image\"; cd \"$work/image\"; find . | LC_ALL=C sort";
    insta::assert_snapshot!("release_image", script(&workspace, image).stdout);
}

/// A release publishes what the changelog says of its version, with links that work on the page of releases.
#[test]
fn the_notes_of_a_release_are_its_section() {
    let workspace = Workspace::with_files(&[]);
    let version = env!("CARGO_PKG_VERSION");
    let notes = script(&workspace, &format!("bash .github/release/notes.sh OWNER/tflock {version}")).stdout;
    assert!(notes.trim_start().starts_with("First release") && !notes.contains("## "), "{notes}");
    assert!(notes.contains(&format!("](https://github.com/OWNER/tflock/blob/v{version}/docs/rules.md)")), "{notes}");
    assert!(!notes.contains("](docs/") && notes.lines().count() <= 30, "{notes}");
    script(&workspace, "! bash .github/release/notes.sh OWNER/tflock 0.0.9");
}

/// The wheel with pip, the `.deb` with dpkg, as the release workflow tries them with the program that it has built.
#[test]
#[ignore = "long"]
fn packages_install_the_program() {
    if found("pip").is_none() {
        return;
    }
    let workspace = built();
    let program = format!("built/built-{}-unknown-linux-musl/tflock", std::env::consts::ARCH);
    script(&workspace, &format!("bash .github/release/try-packages.sh \"$work/{program}\""));
}

/// The action, the recipes, `cargo binstall` and the workflow speak of the same names.
#[test]
fn names_agree() {
    let workflow = document(".github/workflows/release.yml");
    let matrix = workflow["jobs"]["build"]["strategy"]["matrix"]["include"].as_array().unwrap().clone();
    let mut targets: Vec<_> = matrix.iter().map(|row| row["target"].as_str().unwrap().to_owned()).collect();
    targets.sort();
    assert_eq!(targets, TARGETS);
    let text = |path: &str| std::fs::read_to_string(Path::new(TOP).join(path)).unwrap();
    for target in TARGETS {
        assert!(text(".github/action/install.sh").contains(&format!(" target={target} ;;")), "{target}");
        assert!(text(".github/workflows/ci.yml").contains(&format!("target: {target}\n")), "{target}");
    }
    let version = env!("CARGO_PKG_VERSION");
    for recipe in ["github-bots.yml", "gitlab.yml"] {
        let recipe = text(&format!("docs/ci/{recipe}"));
        assert!(
            recipe.contains("tflock-$VERSION-x86_64-unknown-linux-musl") || recipe.contains("tflock-$TFLOCK_VERSION-")
        );
        assert!(recipe.contains(&format!("VERSION: {version}")) || recipe.contains(&format!("VERSION: \"{version}\"")));
    }
    assert!(text("Cargo.toml").contains("download/v{ version }/tflock-{ version }-{ target }.tar.gz"));
    // Every action of others is named by its commit.
    for path in ["ci.yml", "platforms.yml", "release.yml"].map(|name| format!(".github/workflows/{name}")) {
        let text = text(&path);
        let uses = text.lines().filter_map(|line| line.trim_start().trim_start_matches("- ").strip_prefix("uses: "));
        for line in uses.filter(|line| !line.starts_with("./")) {
            let (_, revision) = line.split_once('@').unwrap();
            assert!(
                revision.len() > 42 && revision[..40].bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{path}: {line}"
            );
        }
    }
}
