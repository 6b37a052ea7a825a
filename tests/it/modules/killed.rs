//! Runs that are killed while they fetch or install: nothing half done is used or kept.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::world;
use crate::support::extent::times;
use crate::support::packages::sha256;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const SIGKILL: i32 = 9;
const MODULES: usize = 12;
const LIST: &str = ".terraform/modules/modules.json";

/// Many calls of modules with a few files each, locked.
fn locked() -> (Registry, Workspace) {
    let mut registry = world();
    let other = registry.other_host();
    let call = |at| format!("module \"m{at}\" {{\n  source = \"{other}/acme/m{at}/lab\"\n}}\n");
    let calls: String = (0..MODULES).map(call).collect();
    for at in 0..MODULES {
        let text = "# text\n".repeat(400 * (at + 1));
        let files = [("main.tf", "# nothing\n"), ("a/b.txt", &text), ("a/c.txt", "c\n")];
        registry = registry.module(&format!("acme/m{at}/lab"), "1.0.0", &files);
    }
    let workspace = Workspace::with_files(&[("main.tf", &calls)]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64", "--lock-modules"]).ended_with(0);
    (registry, workspace)
}

/// Starts a run and kills it, unless it comes to its end before; true if it was killed.
fn kill_after(workspace: &Workspace, registry: &Registry, delay: Duration) -> bool {
    let mut command = workspace.tflock_command(registry, ["get"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(delay);
    let _ = child.kill();
    child.wait().unwrap().signal() == Some(SIGKILL)
}

/// All files below `.terraform` with the digests of their texts.
fn installed(workspace: &Workspace) -> Vec<(String, String)> {
    let (mut folders, mut found) = (vec![workspace.path(".terraform/modules")], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.display().to_string(), sha256(&std::fs::read(&path).unwrap())));
            }
        }
    }
    found.sort();
    found
}

#[test]
#[ignore = "long"]
fn get_is_killed_at_any_moment() {
    let (registry, workspace) = locked();
    let cache = workspace.path("").with_file_name("cache").join("v2/modules");
    let began = Instant::now();
    std::fs::remove_dir_all(&cache).unwrap();
    workspace.tflock(&registry, ["get"]).ended_with(0);
    let (usual, whole) = (began.elapsed(), installed(&workspace));
    let (mut hit, mut half) = (0, 0);
    let kills = u32::try_from(times(10)).unwrap();
    for round in 0..kills {
        std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
        if round % 2 == 0 {
            // While packages are fetched; else while they are laid out.
            std::fs::remove_dir_all(&cache).unwrap();
        }
        // Of the first it is certain that it hits.
        hit += u32::from(kill_after(&workspace, &registry, usual * round / kills));
        // What the list names is there, as it should be.
        let there = installed(&workspace);
        half += u32::from(there != whole);
        if workspace.has(LIST) {
            let list: serde_json::Value = serde_json::from_str(&workspace.read(LIST)).unwrap();
            for module in list["Modules"].as_array().unwrap().iter().filter(|module| module["Key"] != "") {
                let place = format!("/{}/", module["Dir"].as_str().unwrap());
                let of = |files: &[(String, String)]| -> Vec<(String, String)> {
                    files.iter().filter(|(path, _)| path.contains(&place)).cloned().collect()
                };
                assert_eq!(of(&there), of(&whole), "round {round}: {place}");
            }
        }
        workspace.tflock(&registry, ["get"]).ended_with(0);
        assert_eq!(installed(&workspace), whole, "round {round}");
        let left = std::fs::read_dir(cache.join("staging")).into_iter().flatten().count();
        assert!(left == 0 || round % 2 == 1, "{left} left in round {round}");
    }
    // The next run that lays out packages removes what is left.
    std::fs::remove_dir_all(cache.join("packages")).unwrap();
    workspace.tflock(&registry, ["lock", "--check", "--platform", "linux_amd64"]).ended_with(0);
    assert_eq!(std::fs::read_dir(cache.join("staging")).unwrap().count(), 0);
    let _ = std::io::Write::write_fmt(
        &mut std::io::stderr(),
        format_args!("{hit} runs were killed, {half} before they were done\n"),
    );
    assert!(hit > 0 && half > 0, "{hit} runs were killed, {half} before they were done");
}
