//! A monorepo of a thousand root modules, for who wants to time it: `cargo test --release --test it thousand -- --ignored`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const ROOTS: usize = 1000;
const PROVIDERS: usize = 10;
const PLATFORMS: [&str; 4] = ["linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64"];
const LOCK: &str = ".terraform.lock.hcl";

/// One root module: requirements of its own, and a call of a module that requires some of them too.
fn main(host: &str, number: usize) -> String {
    let mut text = String::from("terraform {\n  required_providers {\n");
    for provider in 0..PROVIDERS {
        let source = format!("{host}/acme/provider{provider}");
        writeln!(
            text,
            "    provider{provider} = {{\n      source  = \"{source}\"\n      version = \"~> 1.{provider}\"\n    }}"
        )
        .unwrap();
    }
    write!(text, "  }}\n}}\n\nmodule \"net\" {{\n  source = \"../../modules/net\"\n  number = {number}\n}}\n").unwrap();
    for provider in 0..PROVIDERS {
        write!(text, "\nresource \"provider{provider}_thing\" \"a\" {{\n  name = \"root {number}\"\n}}\n").unwrap();
    }
    text
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Leaves the world at `TFLOCK_TEST_WORLD`, or in the directory for temporary files, and says how to time a run in it.
#[test]
#[ignore = "makes a world to be timed"]
fn a_thousand_root_modules() {
    let registry = (0..PROVIDERS).fold(Registry::start(), |registry, provider| {
        registry.release(&format!("acme/provider{provider}"), &format!("1.{provider}.7"), &PLATFORMS)
    });
    let net = "variable \"number\" {}\n\nterraform {\n  required_providers {\n    provider0 = {\n      \
               source  = \"{{registry}}/acme/provider0\"\n      version = \">= 1.0\"\n    }\n  }\n}\n";
    let workspace = Workspace::with_files(&[("modules/net/main.tf", net)]);
    workspace.git(["init", "--quiet"]);
    let root = |number: usize| format!("env/root-{number:04}");
    workspace.write(&format!("{}/main.tf", root(0)), &main(&registry.host(), 0));
    let platforms = PLATFORMS.map(|platform| format!("--platform={platform}"));
    let lock = ["-C".to_owned(), root(0), "lock".to_owned()].into_iter().chain(platforms);
    workspace.tflock(&registry, lock).ended_with(0);
    workspace.write(".tflock.hcl", &format!("platforms = {PLATFORMS:?}\n"));
    let text = workspace.read(&format!("{}/{LOCK}", root(0)));
    for number in 1..ROOTS {
        workspace.write(&format!("{}/main.tf", root(number)), &main(&registry.host(), number));
        workspace.write(&format!("{}/{LOCK}", root(number)), &text);
    }
    let check = ["lock", "-r", "--check", "--offline"];
    let run = workspace.tflock(&registry, check).ended_with(0);
    assert!(run.stdout.ends_with(&format!("{ROOTS} root modules: {ROOTS} up to date\n")), "{run}");

    let world = std::env::var_os("TFLOCK_TEST_WORLD").map(PathBuf::from);
    let world = world.unwrap_or_else(|| std::env::temp_dir().join("tflock-thousand-roots"));
    let _ = std::fs::remove_dir_all(&world);
    copy(workspace.path("").parent().unwrap(), &world);
    let (work, cache) = (world.join("work"), world.join("cache"));
    let _ = std::io::Write::write_fmt(
        &mut std::io::stderr(),
        format_args!("cd {} && time TFLOCK_CACHE_DIR={} tflock {}\n", work.display(), cache.display(), check.join(" ")),
    );
}
