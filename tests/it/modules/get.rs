//! `get`: what is locked comes where the tools look for it.

use super::git::{Repository, needs_widget, workspace};
use super::{CALL, NEEDS_WIDGET, world};
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

const LOCK_MODULES: [&str; 4] = ["lock", "--platform", "linux_amd64", "--lock-modules"];
const LIST: &str = ".terraform/modules/modules.json";

#[test]
fn without_a_lock_nothing_is_installed() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    let refused = workspace.tflock(&registry, ["get"]).ended_with(2);
    assert!(refused.stderr.contains("tflock lock --lock-modules"), "{refused}");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    workspace.write("main.tf", &format!("{CALL}{}", CALL.replace("\"net\"", "\"other\"")));
    let refused = workspace.tflock(&registry, ["get"]).ended_with(2);
    assert!(refused.stderr.contains(" module other "), "{refused}");
    assert!(!workspace.has(".terraform"));
}

/// So `get -r` can run before `init` in a repository where only some root modules call modules from elsewhere.
#[test]
fn where_no_module_comes_from_elsewhere_there_is_nothing_to_lock() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let lock = workspace.lock_file();
    for (root, main) in [("none", "locals {}\n"), ("local", "module \"here\" {\n  source = \"./here\"\n}\n")] {
        workspace.write(&format!("{root}/main.tf"), main);
        workspace.write(&format!("{root}/here/main.tf"), "locals {}\n");
        workspace.write(&format!("{root}/.terraform.lock.hcl"), &lock);
    }
    let all = workspace.tflock(&registry, ["get", "-r"]).ended_with(0);
    assert!(workspace.has(LIST) && !workspace.has("none/.terraform"));
    // Equal results once.
    assert!(all.stdout.ends_with(" in .; all match the lock\nno remote module is called: local, none\n"), "{all}");
    let list = workspace.tflock(&registry, ["list", "--modules", "-r"]).ended_with(0);
    assert!(list.stdout.starts_with("CALL") && list.stdout.contains("ROOT MODULES"), "{list}");
    assert!(list.stdout.ends_with("\nno module from elsewhere is called: local, none\n"), "{list}");
    let here = workspace.tflock(&registry, ["-C", "local", "get"]).ended_with(0);
    assert_eq!(here.stdout, "no remote module is called; nothing to do\n");
    let none = workspace.tflock(&registry, ["-C", "none", "get", "--format", "json"]).ended_with(0);
    assert_eq!(none.json()["modules"], serde_json::json!([]));
    // As `init` writes it.
    let list = workspace.read("local/.terraform/modules/modules.json");
    std::fs::remove_dir_all(workspace.path("local/.terraform")).unwrap();
    let init = ["-chdir=local", "init", "-input=false", "-backend=false"];
    let Some(init) = workspace.terraform(&registry, init) else { return };
    init.ended_with(0);
    assert_eq!(workspace.read("local/.terraform/modules/modules.json"), list);
}

/// Another version of equal files changes the list, which is not nothing.
#[test]
fn another_version_of_equal_files_is_installed() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    let states = || {
        workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
        [(); 2].map(|()| {
            let run = workspace.tflock(&registry, ["get", "--format", "json"]).ended_with(0).json();
            let [module] = &run["modules"].as_array().unwrap()[..] else { panic!("{run}") };
            serde_json::json!([module["version"], module["changed"]])
        })
    };
    assert_eq!(states(), [serde_json::json!(["1.1.0", true]), serde_json::json!(["1.1.0", false])]);
    workspace.write("main.tf", &CALL.replace("~> 1.0", "1.0.0"));
    assert_eq!(states(), [serde_json::json!(["1.0.0", true]), serde_json::json!(["1.0.0", false])]);
    assert!(workspace.read(LIST).contains("\"1.0.0\""));
}

/// A tree with modules of each kind: of a registry, of git with a directory and parameters, local ones within both.
fn tree() -> (Registry, Workspace) {
    let (registry, repository) = (widget(), Repository::new());
    let inner = [
        ("main.tf", "module \"inner\" {\n  source = \"./inner\"\n}\n"),
        ("inner/main.tf", NEEDS_WIDGET),
        (".hidden", "kept"),
    ];
    let registry = registry.module("acme/net/lab", "1.0.0", &inner).module("acme/net/lab", "1.1.0", &inner);
    repository.commit("sub/main.tf", &needs_widget(&registry));
    let registry = repository.served_by(registry);
    let git = workspace(&registry, "//sub?ref=v1");
    repository.0.git(["tag", "v1"]);
    let registry = repository.served_by(registry);
    let text = git.read("main.tf").replace("\"net\"", "\"git\"");
    git.write("main.tf", &format!("{text}{CALL}module \"here\" {{\n  source = \"./here\"\n}}\n"));
    git.write("here/main.tf", &CALL.replace("~> 1.0", "1.0.0"));
    git.tflock(&registry, LOCK_MODULES).ended_with(0);
    (registry, git)
}

#[test]
#[ignore = "long"]
fn terraform_leaves_installed_modules_unchanged() {
    let (registry, workspace) = tree();
    workspace.tflock(&registry, ["get"]).ended_with(0);
    for file in ["net/inner/main.tf", "net/.hidden", "here.net/main.tf", "git/sub/main.tf"] {
        assert!(workspace.has(&format!(".terraform/modules/{file}")), "{file}");
    }
    let before = texts(&workspace, ".terraform/modules");
    registry.forget_requests();
    let Some(init) = workspace.terraform(&registry, ["init", "-input=false", "-backend=false"]) else { return };
    init.ended_with(0);
    assert_eq!(texts(&workspace, ".terraform/modules"), before);
    for endpoint in [Endpoint::ModuleVersions, Endpoint::ModuleDownload, Endpoint::ModuleArchive] {
        assert_eq!(registry.count(endpoint), 0, "{endpoint:?}");
    }
    // And what terraform installs is what `get` would.
    std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    workspace.terraform(&registry, ["init", "-input=false", "-backend=false"]).unwrap().ended_with(0);
    let list = workspace.read(LIST);
    let again = workspace.tflock(&registry, ["get"]).ended_with(0);
    assert_eq!(workspace.read(LIST), list, "{again}");
    assert!(again.stdout.contains("nothing to do"), "{again}");
}

/// The tools cut only `.tftest.hcl` from the names of test files.
#[test]
fn modules_of_test_files_have_the_keys_of_the_tools() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", NEEDS_WIDGET)]));
    let run = |version: &str| {
        format!(
            "run \"x\" {{\n  module {{\n    source  = \"{{{{other-host}}}}/acme/net/lab\"\n    version = \"{version}\"\n  }}\n}}\n"
        )
    };
    let json = r#"{"run": {"x": {"module": {"source": "{{other-host}}/acme/net/lab", "version": "1.0.0"}}}}"#;
    workspace.write("tests/a.tftest.hcl", &run("1.0.0"));
    workspace.write("tests/b.tftest.json", json);
    workspace.write("tests/c.tofutest.hcl", &run("1.1.0"));
    workspace.write("d.tofutest.json", json);
    let tofu = |args: &[&str]| workspace.tflock(&registry, [&["--tool", "tofu"], args].concat());
    tofu(&LOCK_MODULES).ended_with(0);
    tofu(&["get"]).ended_with(0);
    let list = workspace.read(LIST);
    for key in ["tests.a.x", "tests.b.tftest.json.x", "tests.c.tofutest.hcl.x", "d.tofutest.json.x"] {
        assert!(list.contains(&format!("\"Key\":\"test.{key}\"")), "{key}: {list}");
        assert!(workspace.has(&format!(".terraform/modules/test.{key}/main.tf")), "{key}");
    }
    tofu(&["lock", "--modules", "installed", "--check", "--platform", "linux_amd64"]).ended_with(0);
    tofu(&["verify", "--installed"]).ended_with(0);
    for key in ["tests.b.tftest.json.x", "tests.c.tofutest.hcl.x", "d.tofutest.json.x"] {
        let file = format!(".terraform/modules/test.{key}/main.tf");
        let text = workspace.read(&file);
        workspace.write(&file, &format!("{text}# more\n"));
        let altered = tofu(&["verify", "--installed"]).ended_with(3);
        assert!(
            altered.stdout.contains(&format!("the installed module test.{key} is not what is locked")),
            "{altered}"
        );
        workspace.write(&file, &text);
    }
}

/// All files below a directory with their texts.
fn texts(workspace: &Workspace, below: &str) -> Vec<(String, Vec<u8>)> {
    let (mut folders, mut found) = (vec![workspace.path(below)], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// A list of modules never names what is not there whole, and a further run completes.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn a_run_that_is_killed_leaves_nothing_half() {
    let (registry, workspace) = tree();
    let began = std::time::Instant::now();
    workspace.tflock(&registry, ["get"]).ended_with(0);
    let usual = began.elapsed();
    let whole = texts(&workspace, ".terraform/modules");
    for part in 0..8 {
        std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
        let mut run = workspace.tflock_command(&registry, ["get"]).spawn().unwrap();
        std::thread::sleep(usual * part / 8);
        run.kill().unwrap();
        run.wait().unwrap();
        if workspace.has(LIST) {
            let now = texts(&workspace, ".terraform/modules");
            assert!(whole.iter().all(|file| now.contains(file)), "{part}");
        }
        workspace.tflock(&registry, ["get"]).ended_with(0);
        assert_eq!(texts(&workspace, ".terraform/modules"), whole, "{part}");
        workspace.tflock(&registry, ["verify", "--installed"]).ended_with(0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_no_list() {
    let (registry, workspace) = tree();
    let Some(small) = crate::support::small_disk::SmallDisk::mounted() else { return };
    let workspace = workspace.env("TF_DATA_DIR", small.shown());
    let run = workspace.tflock(&registry, ["get"]).ended_with(2);
    assert!(run.stderr.contains("space"), "{run}");
    assert!(!small.path().join("modules/modules.json").exists(), "{run}");
}

#[test]
fn what_is_wrong_or_old_is_replaced() {
    let (registry, workspace) = tree();
    workspace.tflock(&registry, ["get"]).ended_with(0);
    let before = texts(&workspace, ".terraform/modules");
    registry.forget_requests();
    workspace.write(".terraform/modules/net/inner/main.tf", "# doctored\n");
    workspace.write(".terraform/modules/net/more.tf", "# more\n");
    workspace.write(".terraform/modules/.tflock-left/x", "left by a run that was killed");
    std::fs::remove_dir_all(workspace.path(".terraform/modules/git")).unwrap();
    let again = workspace.tflock(&registry, ["get"]).ended_with(0);
    assert!(again.stdout.contains("installed 2 of"), "{again}");
    assert_eq!(texts(&workspace, ".terraform/modules"), before);
    // All of it came from the cache.
    assert!(registry.requests().is_empty());
}

/// What the tools installed besides stays in the list.
#[test]
fn the_list_is_merged() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let other = "{\"Key\":\"test.tests.old.it\",\"Source\":\"./old\",\"Dir\":\"old\"}";
    workspace.write(LIST, &format!("{{\"Modules\":[{{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"}},{other}]}}"));
    workspace.tflock(&registry, ["get"]).ended_with(0);
    let list = workspace.read(LIST);
    assert!(
        list.contains(other) && list.contains("\"Key\":\"net\"") && list.contains("\"Version\":\"1.1.0\""),
        "{list}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_is_not_written_through() {
    let (registry, workspace) = tree();
    let elsewhere = crate::support::tempdir();
    for link in [".terraform", ".terraform/modules"] {
        let place = workspace.path(link);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &place).unwrap();
        let refused = workspace.tflock(&registry, ["get"]).ended_with(2);
        assert!(refused.stderr.contains("is a symbolic link"), "{refused}");
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        std::fs::remove_file(&place).unwrap();
    }
}

#[test]
#[ignore = "long"]
fn a_removed_commit_is_reported() {
    let (registry, repository) = (widget(), Repository::new());
    repository.commit("main.tf", &needs_widget(&registry));
    repository.0.git(["tag", "v1"]);
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, "?ref=v1");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    // Another history under the same address.
    let other = Repository::new();
    other.commit("main.tf", "");
    other.0.git(["tag", "v1"]);
    let registry = other.served_by(registry);
    let gone = workspace.tflock(&registry, ["get", "--no-cache"]).ended_with(4);
    assert!(gone.stderr.contains("the locked commit") && gone.stderr.contains("no longer in"), "{gone}");
    assert!(!workspace.has(LIST));
    // From the cache it can still be fetched.
    workspace.tflock(&registry, ["get"]).ended_with(0);
}
