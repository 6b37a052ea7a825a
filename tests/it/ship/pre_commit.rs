//! The hooks, run by pre-commit on a sample repository.
#![cfg(unix)]

use std::path::Path;

use tflock_core::config::{is_read, suffixes};

use crate::support::locked::{LOCK, MAIN, honest, locked};
use crate::support::proposal::{SETTINGS, TRUST, commit, edit};
use crate::support::run::Run;
use crate::support::tools::found;
use crate::support::workspace::{TFLOCK, Workspace};
use crate::support::yaml::document;

const HOOKS: &str = ".pre-commit-hooks.yaml";

/// A repository with our hooks next to `work`, as pre-commit clones it, and its revision.
fn hooks(workspace: &Workspace) -> String {
    workspace.write(
        &format!("../hooks/{HOOKS}"),
        &std::fs::read_to_string(format!("{}/{HOOKS}", env!("CARGO_MANIFEST_DIR"))).unwrap(),
    );
    workspace.git(["-C", "../hooks", "init", "--quiet"]);
    workspace.git(["-C", "../hooks", "add", "--all"]);
    workspace.git(["-C", "../hooks", "commit", "--quiet", "--message", "hooks"]);
    workspace.git(["-C", "../hooks", "rev-parse", "HEAD"]).stdout.trim().to_owned()
}

/// What becomes of the text of a file.
type Change<'c> = &'c dyn Fn(&str) -> String;

#[test]
fn hooks_complete_check_and_format() {
    let Some(program) = found("pre-commit") else { return };
    let registry = honest();
    let workspace = Workspace::with_files(&[("app/main.tf", &MAIN.replace("{{registry}}", &registry.host()))]);
    let good = locked(&registry).lock_file();
    workspace.write(&format!("app/{LOCK}"), &good);
    workspace.write(".tflock.hcl", "platforms = [\"darwin_arm64\", \"linux_amd64\"]\n");
    workspace.git(["init", "--quiet"]);
    let revision = hooks(&workspace);
    let ids = ["tflock-fmt", "tflock-lock", "tflock-verify"];
    let listed: String = ids.map(|id| format!("      - id: {id}\n")).concat();
    let repository = workspace.path("../hooks").canonicalize().unwrap().display().to_string();
    let config = format!("repos:\n  - repo: {repository}\n    rev: {revision}\n    hooks:\n{listed}");
    workspace.write(".pre-commit-config.yaml", &config);
    std::fs::create_dir(workspace.path("../bin")).unwrap();
    std::os::unix::fs::symlink(TFLOCK, workspace.path("../bin/tflock")).unwrap();
    let bin = workspace.path("../bin").canonicalize().unwrap().display().to_string();
    let workspace = workspace.env("PATH", &format!("{bin}:/usr/bin:/bin"));
    commit(&workspace, "main");
    let run = || workspace.program(&program, &registry, ["run", "--all-files", "--color", "never"]);
    let names = ["format the", "complete the", "verify the"];
    let verdicts =
        |text: &str| names.map(|name| text.lines().any(|line| line.starts_with(name) && line.ends_with("Passed")));
    // The first run remembers signers, and says so although nothing that git tracks has changed.
    let first = run().ended_with(0);
    assert!(first.stdout.contains("review and commit .tflock.trust.hcl") && workspace.has(TRUST), "{first}");
    commit(&workspace, "pins");
    assert_eq!(verdicts(&run().ended_with(0).stdout), [true; 3]);
    // Carelessly merged: formatted, completed and green again.
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replace("  version = ", "  version= "));
    let run_two = run().ended_with(1);
    assert_eq!(verdicts(&run_two.stdout), [false, true, true], "{run_two}");
    assert_eq!(workspace.read(&format!("app/{LOCK}")), good);
    // What no hook can fix is refused.
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replace("\"2.0.0\"", "\"3.0.0\""));
    let refused = run().ended_with(1);
    assert!(!verdicts(&refused.stdout)[1], "{refused}");
}

/// What each hook says of a change, in the order of the hooks: as the last word of its line.
fn outcomes(run: &Run) -> [String; 3] {
    ["format the", "complete the", "verify the"].map(|name| {
        let line = run.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{run}"));
        line.rsplit(['.', ')']).next().unwrap().to_owned()
    })
}

/// The mirror of a release: installed as pre-commit does, with no tflock on PATH and from no package index.
#[cfg(target_os = "linux")]
#[test]
fn hooks_of_the_mirror_run_for_what_is_read() {
    use super::release;
    let Some(program) = found("pre-commit") else { return };
    let release = release::built();
    release::package(&release, "out");
    let mirror = "python3 .github/release/pre-commit-mirror.py \"file://$work/out\" \"$work/out\" \"$work/mirror\"";
    release::script(&release, mirror);
    release.git(["-C", "mirror", "init", "--quiet"]);
    commit_in(&release, "mirror");
    let revision = release.git(["-C", "mirror", "rev-parse", "HEAD"]).stdout.trim().to_owned();

    let registry = honest();
    let main = MAIN.replace("{{registry}}", &registry.host());
    let good = locked(&registry).lock_file();
    let unit = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n\
        locals {\n  env = yamldecode(file(\"env.yaml\"))\n  notes = file(\"notes.txt\")\n}\n\
        terraform {\n  source = \"../../modules/net\"\n}\n";
    let workspace = Workspace::with_files(&[
        ("app/main.tf", &main),
        (&format!("app/{LOCK}"), &good),
        ("live/a/terragrunt.hcl", unit),
        ("live/a/env.yaml", "name: a\n"),
        ("live/a/notes.txt", "a\n"),
        ("live/root.hcl", "locals {\n}\n"),
        ("modules/net/main.tf", "locals {\n}\n"),
        ("stack/a.tfcomponent.hcl", "component \"a\" {\n  source = \"../modules/net\"\n}\n"),
        (SETTINGS, "platforms = [\"darwin_arm64\", \"linux_amd64\"]\n"),
        ("README.md", "# Infrastructure\n"),
    ]);
    let ids = ["tflock-fmt", "tflock-lock", "tflock-verify"].map(|id| format!("      - id: {id}\n")).concat();
    let config =
        format!("repos:\n  - repo: {}\n    rev: {revision}\n    hooks:\n{ids}", release.path("mirror").display());
    workspace.write(".pre-commit-config.yaml", &config);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "main");
    workspace.program(&program, &registry, ["run", "--all-files"]).ended_with(0);
    commit(&workspace, "signers");
    let comment = |text: &str| format!("{text}# a comment\n");
    let (passed, skipped, failed) = ("Passed", "Skipped", "Failed");
    let rows: [(&str, Change<'_>, [&str; 3]); 14] = [
        ("app/main.tf", &comment, [skipped, passed, passed]),
        ("app/main.tf", &|text| text.replace("~> 1.4", "~> 9.0"), [skipped, failed, failed]),
        ("app/prod.auto.tfvars", &|_| "a = 1\n".to_owned(), [skipped, passed, passed]),
        ("stack/a.tfcomponent.hcl", &comment, [skipped, passed, passed]),
        ("live/a/terragrunt.hcl", &comment, [skipped, passed, passed]),
        ("live/root.hcl", &comment, [skipped, passed, passed]),
        ("live/a/env.yaml", &comment, [skipped, passed, passed]),
        ("live/a/notes.txt", &comment, [skipped, skipped, passed]),
        (&format!("app/{LOCK}"), &|text| text.replace("  version = ", "  version= "), [failed, passed, passed]),
        (&format!("app/{LOCK}"), &|text| text.replace("2.0.0", "3.0.0"), [passed, failed, passed]),
        (TRUST, &comment, [skipped, passed, passed]),
        (SETTINGS, &comment, [skipped, passed, passed]),
        ("README.md", &comment, [skipped, skipped, passed]),
        ("live/root.hcl", &|_| String::new(), [skipped, skipped, passed]),
    ];
    for (path, change, expected) in rows {
        let before = if workspace.has(path) { workspace.read(path) } else { String::new() };
        let after = change(&before);
        match after.as_str() {
            "" => workspace.git(["rm", "--quiet", path]).code,
            after => {
                workspace.write(path, after);
                workspace.git(["add", path]).code
            }
        };
        let run = workspace.program(&program, &registry, ["run", "--color", "never"]);
        assert_eq!(outcomes(&run), expected, "{path}: {run}");
        workspace.git(["reset", "--quiet", "--hard"]);
    }
}

#[cfg(target_os = "linux")]
fn commit_in(workspace: &Workspace, directory: &str) {
    workspace.git(["-C", directory, "add", "--all"]);
    workspace.git(["-C", directory, "commit", "--quiet", "--message", "all"]);
}

/// A new kind of root module, or a new file of one, is a new case here.
#[test]
fn hooks_run_for_files_of_each_kind() {
    let of_kinds = suffixes().map(|end| if end.starts_with('.') { format!("a{end}") } else { end.to_owned() });
    let values = ["terraform.tfvars", "a.auto.tfvars.json", "a.tftest.hcl", "a.tofutest.json"].map(str::to_owned);
    let mut read: Vec<String> = of_kinds.chain(values).collect();
    assert!(read.iter().all(|name| is_read(name)), "{read:?}");
    let chosen = [SETTINGS, TRUST, ".opentofu-version", ".terraform-version", ".tool-versions", "mise.toml"];
    let by_units = ["root.hcl", "env.yaml", "env.yml", "env.json", "terragrunt.values.hcl"];
    read.extend(chosen.into_iter().chain(by_units).map(str::to_owned));
    let locks = [LOCK.to_owned(), ".tflock.modules.hcl".to_owned()];
    let others = ["README.md", "a.go", "LICENSE", "a.tf.md", "x.opentofu-version", "terraform.lock"].map(str::to_owned);
    let hooks = document(HOOKS);
    let matched = |id: &str, names: &[String]| {
        let hook = hooks.as_array().unwrap().iter().find(|hook| hook["id"] == id).unwrap();
        let paths = names.iter().flat_map(|name| [name.clone(), format!("live/a/{name}")]);
        let workspace = Workspace::with_files(&[("paths", &paths.map(|path| path + "\n").collect::<String>())]);
        let pattern = hook["files"].as_str().unwrap();
        let run = workspace.program(Path::new("/bin/grep"), None, ["-c", "-E", pattern, "paths"]);
        run.stdout.trim().parse::<usize>().unwrap()
    };
    assert_eq!(matched("tflock-lock", &read), 2 * read.len());
    assert_eq!(matched("tflock-lock", &locks), 4);
    assert_eq!(matched("tflock-lock", &others), 0);
    assert_eq!([&read[..], &locks, &others].map(|names| matched("tflock-fmt", names)), [0, 4, 0]);
}

#[test]
fn hooks_are_about_the_whole_repository() {
    let hooks = document(HOOKS);
    let ids: Vec<_> = hooks.as_array().unwrap().iter().map(|hook| hook["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["tflock-lock", "tflock-verify", "tflock-fmt"]);
    for hook in hooks.as_array().unwrap() {
        assert_eq!(hook["pass_filenames"], "false");
        assert_eq!(hook["require_serial"], "true");
        // What a unit may read, and that a file is gone, no pattern of names can say.
        assert_eq!(hook["id"] == "tflock-verify", hook["always_run"] == "true");
    }
}
