//! What is read besides the configuration itself: test files, state, missing modules.

use crate::support::locked::{LOCK, honest, rules};
use crate::support::registry::Registry;
use crate::support::run::{Run, formats};
use crate::support::workspace::Workspace;

const WIDGET: &str = "terraform {\n  required_providers {\n    widget = {\n      source  = \"{{registry}}/acme/widget\"\n      \
                      version = \"~> 1.4\"\n    }\n  }\n}\n";
const GADGET: &str =
    "terraform {\n  required_providers {\n    gadget = {\n      source = \"{{registry}}/acme/gadget\"\n    }\n  }\n}\n";

fn lock(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Run {
    let args = ["lock", "--platform", "linux_amd64"].iter().chain(args);
    workspace.tflock(registry, args)
}

/// A provider that only the module of a test's run requires.
#[test]
fn what_tests_require_is_locked_wanted_and_kept() {
    let registry = honest();
    let workspace = Workspace::with_files(&[("main.tf", WIDGET), ("setup/main.tf", GADGET)]);
    lock(&workspace, &registry, &[]).ended_with(0);
    workspace.write("tests/unit.tftest.hcl", "run \"setup\" {\n  module {\n    source = \"./setup\"\n  }\n}\n");
    let verify =
        |args: &[&str]| workspace.tflock(&registry, ["verify", "--offline", "--format", "json"].iter().chain(args));
    assert_eq!(rules(&verify(&[]).ended_with(1), "deny"), ["entry-missing".to_owned()].into());
    lock(&workspace, &registry, &["--prune"]).ended_with(0);
    let locked = workspace.lock_file();
    assert!(locked.contains("acme/gadget"), "{locked}");
    verify(&[]).ended_with(0);
    lock(&workspace, &registry, &["--prune", "--check"]).ended_with(0);
    let run = workspace.tflock(&registry, ["why", &format!("{}/acme/gadget", registry.host())]).ended_with(0);
    let line = run.stdout.lines().nth(1).unwrap();
    assert!(line.contains("setup/main.tf:3:5") && line.ends_with("  tests"), "{run}");
    workspace
        .write(".tflock.hcl", "ban \"{{registry}}/acme/gadget\" {\n  versions = \">= 2\"\n  reason   = \"worms\"\n}\n");
    assert_eq!(rules(&verify(&[]).ended_with(3), "deny"), ["banned".to_owned()].into());
}

#[test]
fn provider_blocks_of_test_files_count_for_opentofu_only() {
    let test = "provider \"gadget\" {\n}\nrun \"x\" {\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", ""), ("x.tftest.hcl", test)]);
    let why = |tool: &str| workspace.tflock(None, ["why", "--tool", tool, "--format", "json"]).ended_with(0).json();
    assert_eq!(why("terraform")["requirements"], serde_json::json!([]));
    let asked = why("tofu");
    assert_eq!(asked["requirements"][0]["address"], "registry.opentofu.org/hashicorp/gadget");
    assert_eq!(asked["requirements"][0]["origins"][0]["file"], "x.tftest.hcl");
}

/// It is not known what a module that is not there requires.
#[test]
fn modules_that_are_not_installed_leave_the_answer_open() {
    let registry = honest();
    let secret = "git::https://bob:hunter2@localhost:1/net.git?ref=v1&token=hunter2";
    let call = format!("module \"net\" {{\n  source = \"{secret}\"\n}}\n");
    let workspace = Workspace::with_files(&[("main.tf", WIDGET)]);
    lock(&workspace, &registry, &[]).ended_with(0);
    workspace.write("main.tf", &format!("{}{call}", workspace.read("main.tf")));
    for format in formats("verify") {
        let run = workspace.tflock(&registry, ["verify", "--offline", "--format", format]).ended_with(4);
        let lock = workspace.tflock(&registry, ["lock", "--offline", "--format", format]);
        assert!(![run, lock].iter().any(|run| run.to_string().contains("hunter2")), "{format}");
    }
    let run = workspace.tflock(&registry, ["why", "--modules", "installed", "--format", "json"]).ended_with(4);
    assert!(run.stdout.contains("\"kind\": \"not-installed\"") && !run.to_string().contains("hunter2"), "{run}");
    // Git names the address in its own words.
    let run = workspace.tflock(&registry, ["why", "--format", "json"]).ended_with(4);
    assert!(run.stdout.contains("\"kind\": \"unavailable\"") && !run.to_string().contains("hunter2"), "{run}");
    assert!(run.stdout.contains("acme/widget"), "{run}");
    let run = workspace.tflock(&registry, ["why", "acme/nothing"]).ended_with(4);
    assert!(!run.stderr.contains("is not required"), "{run}");
}

/// Terragrunt leaves lock files without configuration.
#[test]
fn why_passes_over_root_modules_without_configuration() {
    let workspace = Workspace::with_files(&[
        ("app/main.tf", "resource \"null_resource\" \"x\" {\n}\n"),
        (&format!("app/{LOCK}"), ""),
        (&format!("live/{LOCK}"), ""),
    ]);
    let run = workspace.tflock(None, ["why", "-r", "--format", "json"]).ended_with(0);
    let roots = run.json()["roots"].as_array().unwrap().clone();
    let counts: Vec<_> = roots.iter().map(|root| root["requirements"].as_array().map(Vec::len)).collect();
    assert_eq!(counts, [Some(1), Some(0)], "{run}");
}

#[test]
fn where_nothing_is_required_no_lock_file_is_missed() {
    let workspace = Workspace::with_files(&[("main.tf", "locals {\n  a = 1\n}\n")]);
    let run = workspace.tflock(None, ["lock", "--check"]).ended_with(0);
    assert!(!workspace.has(LOCK), "{run}");
    // Nor does `init` write one for a backend alone.
    workspace.write("main.tf", "terraform {\n  backend \"local\" {}\n}\n");
    let run = workspace.tflock(None, ["verify", "--offline"]).ended_with(2);
    assert!(run.stdout.starts_with("nothing to check"), "{run}");
    // Without --check it writes what `providers lock` does.
    let run = workspace.tflock(None, ["lock"]).ended_with(0);
    assert_eq!(workspace.read(LOCK).lines().filter(|line| !line.starts_with('#')).count(), 0, "{run}");
}

#[test]
fn what_init_will_change_is_named() {
    let registry = honest();
    let workspace = Workspace::with_files(&[("main.tf", WIDGET)]);
    // As `state pull` prints where there is no state.
    workspace.write("none.json", "");
    let run = lock(&workspace, &registry, &["--state", "none.json"]).ended_with(0);
    assert!(!run.to_string().contains("init-changes"), "{run}");
    let address = format!("{}/acme/gadget", registry.host());
    let state = format!(
        "{{\"version\": 4, \"resources\": [{{\"mode\": \"managed\", \"provider\": \"provider[\\\"{address}\\\"]\"}}]}}"
    );
    workspace.write("state.json", &state);
    let messages = |run: &Run| -> Vec<String> {
        let found = run.json()["findings"].as_array().unwrap().clone();
        let noted = found.iter().filter(|finding| finding["rule"] == "init-changes");
        noted.map(|finding| run.filtered(finding["message"].as_str().unwrap())).collect()
    };
    let json = ["--state", "state.json", "--format", "json"];
    assert_eq!(
        messages(&lock(&workspace, &registry, &json).ended_with(0)),
        [
            "the state needs localhost:PORT/acme/gadget, which the configuration does not require: `terraform init` adds it"
        ]
    );
    workspace.write(LOCK, &workspace.lock_file().replace("    \"h1:", "    \"h2:x\",\n    \"h1:"));
    let run = lock(&workspace, &registry, &["--format", "json"]).ended_with(0);
    assert_eq!(messages(&run).len(), 1, "{run}");
    assert!(messages(&run)[0].contains("whose scheme it does not know"), "{run}");
    // Settled: nothing needs the entry.
    workspace.write("main.tf", "");
    let run = lock(&workspace, &registry, &["--state", "none.json", "--format", "json"]).ended_with(0);
    assert!(messages(&run)[0].starts_with("neither the configuration nor the state needs"), "{run}");
}

/// OpenTofu 1.12 declares compatibility in a block that Terraform refuses, in the root module and in modules.
#[test]
fn the_language_block_belongs_to_opentofu() {
    let language = "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n    other    = \"1\"\n  }\n}\n";
    let json = r#"{"language": {"compatible_with": {"opentofu": ">= 1.12"}}}"#;
    let call = "module \"m\" {\n  source = \"./m\"\n}\n";
    let places: [(&[(&str, &str)], &str); 3] = [
        (&[("main.tf", language)], "main.tf:1:1"),
        (&[("main.tf.json", json)], "main.tf.json:1:2"),
        (&[("main.tf", call), ("m/main.tf", language)], "m/main.tf:1:1"),
    ];
    for (files, place) in places {
        let workspace = Workspace::with_files(files);
        workspace.tflock(None, ["why", "--tool", "tofu"]).ended_with(0);
        let run = workspace.tflock(None, ["why", "--tool", "terraform"]).ended_with(2);
        assert!(run.stderr.contains(place) && run.stderr.contains("\"language\""), "{run}");
    }
    for refused in [
        "language \"x\" {\n}\n",
        "language {\n  other {\n  }\n}\n",
        "language {\n  other = 1\n}\n",
        "language {\n  compatible_with \"x\" {\n  }\n}\n",
    ] {
        let workspace = Workspace::with_files(&[("main.tf", refused)]);
        workspace.tflock(None, ["why", "--tool", "tofu"]).ended_with(2);
    }
}

/// A directory with `.tofu` files only is one of OpenTofu, whatever its lock file says; another tool would ignore all of it.
#[test]
fn a_configuration_that_the_tool_ignores_is_never_passed_over() {
    let header = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";
    let native =
        "terraform {\n  required_providers {\n    null = {\n      source = \"hashicorp/null\"\n    }\n  }\n}\n";
    let json = r#"{"terraform": {"required_providers": {"null": {"source": "hashicorp/null"}}}}"#;
    for (name, text) in [("main.tofu", native), ("main.tofu.json", json), ("x_override.tofu", native)] {
        let workspace = Workspace::with_files(&[(&format!("app/{name}"), text), (&format!("app/{LOCK}"), header)]);
        let run_in = |args: &[&str]| workspace.tflock(None, ["-C", "app"].iter().chain(args));
        for run in [run_in(&["verify", "--offline"]), workspace.tflock(None, ["verify", "-r", "--offline"])] {
            assert!(run.ended_with(1).stdout.contains("no entry for hashicorp/null"), "{name}");
        }
        let why = run_in(&["why", "--format", "json"]).ended_with(0);
        assert!(why.stdout.contains("\"registry.opentofu.org/hashicorp/null\""), "{why}");
        for args in [&["verify", "--offline"][..], &["why"], &["lock", "--check", "--offline"]] {
            let run = run_in(&[args, &["--tool", "terraform"]].concat()).ended_with(2);
            assert!(run.stderr.contains("only OpenTofu reads") && run.stderr.contains("tflock"), "{name}: {run}");
            assert!(run.stderr.contains("rename the files to .tf"), "{name}: {run}");
            let all = workspace.tflock(None, args.iter().chain(&["-r", "--tool", "terraform"])).ended_with(2);
            assert!(all.stderr.contains("only OpenTofu reads"), "{name}: {all}");
        }
    }
    // A setting says what the option says.
    let workspace =
        Workspace::with_files(&[("main.tofu", GADGET), (LOCK, header), (".tflock.hcl", "tool = \"terraform\"\n")]);
    workspace.tflock(None, ["verify", "--offline"]).ended_with(2);
    // With a file for both, the header decides.
    let workspace = Workspace::with_files(&[("main.tofu", GADGET), ("main.tf", ""), (LOCK, header)]);
    workspace.tflock(&honest(), ["verify", "--offline"]).ended_with(0);
}

/// What `init` will change of an entry is said when the entry is written.
#[test]
fn what_opentofu_takes_over_is_said_at_once() {
    let registry = Registry::start().release("hashicorp/null", "1.0.0", &["linux_amd64"]);
    let registry = registry.standing_for("registry.terraform.io");
    let main = "terraform {\n  required_providers {\n    null = {\n      source = \"registry.terraform.io/hashicorp/null\"\n    }\n  }\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", main)]);
    for times in 0..2 {
        let run = lock(&workspace, &registry, &["--tool", "tofu"]).ended_with(0);
        assert_eq!(run.stdout.matches("note[init-changes]").count(), 1, "{times}: {run}");
        assert!(run.stdout.contains("reads the entry of registry.terraform.io/hashicorp/null"), "{run}");
    }
}

/// Without the whole configuration, `list` says why it does not know which entries are required.
#[test]
fn list_says_where_it_cannot_know_what_is_required() {
    let registry = honest();
    let workspace = Workspace::with_files(&[("a/main.tf", WIDGET)]);
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, ["-C", "a", "lock", "--platform", "linux_amd64"]).ended_with(0);
    let locked = workspace.read(&format!("a/{LOCK}"));
    let list = |args: &[&str]| workspace.tflock(None, args.iter().chain(&["list"])).ended_with(0);
    let required =
        |args: &[&str]| list(&[args, &["--format", "json"]].concat()).json()["entries"][0]["required"].clone();
    assert!(required(&["-C", "a"]) == true && !list(&["-C", "a"]).stderr.contains("unknown"));
    let call = |source: &str| format!("module \"net\" {{\n  source = \"{source}\"\n}}\n");
    for (main, says) in [
        (call("./net"), "net"),
        (call("git::https://127.0.0.1:9/net.git"), "module.net was not read"),
        ("module {".to_owned(), "a/main.tf:1:"),
    ] {
        workspace.write("a/main.tf", &main);
        let run = list(&["-C", "a"]);
        assert!(
            run.stderr.contains("unknown which entries are required") && run.stderr.contains(says),
            "{main}: {run}"
        );
        assert!(required(&["-C", "a"]).is_null(), "{main}");
    }
    // One line for many.
    for root in ["b", "c"] {
        workspace.write(&format!("{root}/main.tf"), "module {");
        workspace.write(&format!("{root}/{LOCK}"), &locked);
    }
    let run = workspace.tflock(None, ["list", "-r"]).ended_with(0);
    assert!(run.stderr.contains("unknown which entries are required in 3 root modules, such as a: "), "{run}");
    assert_eq!(run.stderr.matches("unknown").count(), 1, "{run}");
    // Without any configuration nothing is missing.
    std::fs::remove_file(workspace.path("a/main.tf")).unwrap();
    assert!(!list(&["-C", "a"]).stderr.contains("unknown"));
}

/// Nix and others make the configuration a link into their store.
#[cfg(unix)]
#[test]
fn a_configuration_outside_of_the_working_tree_is_refused_with_the_way_on() {
    let (registry, store) = (honest(), Workspace::with_files(&[("config.tf.json", "{}")]));
    let workspace = Workspace::with_files(&[]);
    let place = workspace.path("config.tf.json");
    std::os::unix::fs::symlink(store.path("config.tf.json"), &place).unwrap();
    workspace.git(["init", "--quiet"]);
    let run = lock(&workspace, &registry, &[]).ended_with(2);
    assert!(run.stderr.contains("help: no file outside the working tree is read"), "{run}");
    std::fs::remove_file(&place).unwrap();
    workspace.write("config.tf.json", &store.read("config.tf.json"));
    lock(&workspace, &registry, &[]).ended_with(0);
}

#[test]
fn a_message_names_files_from_the_top_of_the_working_tree() {
    let main = "terraform {\n  required_providers {\n    widget = {\n      source = \"acme/widget\"\n    }\n  }\n}\n";
    let workspace = Workspace::with_files(&[("r/main.tf", main), ("r/zz.tf", main)]);
    workspace.git(["init", "--quiet"]);
    let error = |args: &[&str]| {
        let run = workspace.tflock(None, args.iter().chain(&["--offline", "--format", "json"])).ended_with(2);
        run.json()["error"].clone()
    };
    let message = |error: &serde_json::Value| error["message"].as_str().unwrap().to_owned();
    let twice = error(&["-C", "r", "lock"]);
    assert!(message(&twice).contains(" r/main.tf:2:3") && twice["file"] == "r/zz.tf", "{twice}");
    let module = "variable \"size\" {\n  default = \"x\"\n}\nmodule \"a\" {\n  source = var.size\n}\n";
    workspace.write("r/zz.tf", module);
    let computed = error(&["-C", "r", "lock", "--tool", "terraform"]);
    assert!(message(&computed).contains("(r/zz.tf:1:1)") && computed["file"] == "r/zz.tf", "{computed}");
    // A file of variables that the command line names is from where the run began.
    let unread = error(&["-C", "r", "lock", "--var-file", "none.tfvars"]);
    assert!(message(&unread).contains("\"none.tfvars\""), "{unread}");
}
