//! Pull requests that bring a repository, a name or a clone with which git would answer otherwise.

use crate::support::locked::{LOCK, honest, rules};
use crate::support::proposal::{GATE, TRUST, commit, edit, gate, repository, without_last_line_with};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

/// The gate as a job of CI starts it: of one root module, of those below it, of all.
fn gates(workspace: &Workspace, registry: &Registry) -> [Run; 3] {
    let run = |before: &[&str], after: &[&str]| {
        workspace.tflock(registry, before.iter().chain(&GATE).chain(&["--offline", "--format", "json"]).chain(after))
    };
    [run(&["-C", "app"], &[]), run(&["-C", "app"], &["-r"]), run(&[], &["-r"])]
}

#[track_caller]
fn refused(workspace: &Workspace, registry: &Registry, rule: &str) {
    for run in gates(workspace, registry) {
        let run = run.ended_with(3);
        let denied = run.json().to_string();
        assert!(denied.contains(&format!("\"rule\":\"{rule}\"")), "{run}");
    }
}

/// Drops a hash, which the gate refuses, and a key of the trust file besides.
fn evil(workspace: &Workspace) {
    edit(workspace, &format!("app/{LOCK}"), |text| without_last_line_with(text, "h1:"));
}

/// The files of a repository in which the change is what the base has.
fn plant(workspace: &Workspace, directory: &str, config: &str) {
    workspace.git(["clone", "--quiet", ".", "../planted"]);
    let planted = workspace.path("../planted");
    let git = |args: &[&str]| workspace.git(["-C", planted.to_str().unwrap()].iter().chain(args));
    let folder = workspace.path(directory);
    // As if that directory were the top.
    for entry in std::fs::read_dir(&planted).unwrap().map(Result::unwrap).filter(|it| it.file_name() != ".git") {
        let path = entry.path();
        if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }
    for name in [LOCK, "main.tf"] {
        std::fs::copy(folder.join(name), planted.join(name)).unwrap();
    }
    std::fs::copy(workspace.path(TRUST), planted.join(TRUST)).unwrap();
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "evil"]);
    git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for name in ["HEAD", "index", "objects", "refs"] {
        let mut copy = std::process::Command::new("cp");
        assert!(copy.arg("-r").arg(planted.join(".git").join(name)).arg(&folder).status().unwrap().success());
    }
    workspace.write(&format!("{directory}/config"), config);
}

#[test]
#[ignore = "long"]
fn a_repository_made_of_plain_files_proves_nothing() {
    let registry = honest();
    let configs = [
        "[core]\n  bare = false\n  worktree = .\n",
        "[core]\n  bare = false\n  worktree = ..\n",
        "[core]\n  bare = true\n",
        "[core]\n  repositoryformatversion = 0\n",
    ];
    for config in configs {
        let workspace = repository(&registry);
        evil(&workspace);
        plant(&workspace, "app", config);
        commit(&workspace, "harmless");
        refused(&workspace, &registry, "hashes-dropped");
    }
}

#[cfg(unix)]
#[test]
fn nothing_that_a_repository_names_runs() {
    let registry = honest();
    let programs = "[core]\n  fsmonitor = \"touch \\\"$PWN/fsmonitor\\\"; false\"\n  hooksPath = hooks\n\
                    [filter \"x\"]\n  clean = \"env > $PWN/clean; cat\"\n  process = \"touch $PWN/process\"\n\
                    [diff \"x\"]\n  textconv = \"touch $PWN/textconv; cat\"\n  command = \"touch $PWN/diff\"\n\
                    [log]\n  showSignature = true\n[gpg]\n  program = \"touch $PWN/gpg; false\"\n";
    let loot = crate::support::tempdir();
    let programs = programs.replace("$PWN", loot.path().to_str().unwrap());
    let workspace = repository(&registry).env("TF_TOKEN_example_com", "secret");
    evil(&workspace);
    plant(&workspace, "app", &format!("[core]\n  bare = false\n  worktree = .\n{programs}"));
    workspace.write(".gitattributes", "* filter=x diff=x\n");
    workspace.write("app/.gitattributes", "* filter=x diff=x\n");
    commit(&workspace, "harmless");
    // A repository of another user: an unpacked archive, a shared checkout.
    let own = workspace.read(".git/config");
    workspace.write(".git/config", &format!("{own}{programs}"));
    workspace.write(".git/info/attributes", "* filter=x diff=x\n");
    // What git would have to read again.
    let path = format!("other/{LOCK}");
    workspace.write(&path, &workspace.read(&path));
    for args in [&["verify", "--offline", "-r", "--base", "origin/main"][..], &["verify", "--offline", "-r"]] {
        workspace.tflock(&registry, args);
        workspace.tflock(&registry, ["-C", "app"].iter().chain(args));
    }
    for args in
        [&["diff", "-r"][..], &["diff", "origin/main"], &["git", "status"], &["git", "install"], &["list", "-r"]]
    {
        workspace.tflock(&registry, args);
        workspace.tflock(&registry, ["-C", "app"].iter().chain(args));
    }
    let ran: Vec<_> = std::fs::read_dir(loot.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(ran, [""; 0]);
}

#[test]
#[ignore = "long"]
fn a_name_that_an_outsider_may_choose_is_no_base() {
    let registry = honest();
    let commit_evil = |workspace: &Workspace| {
        evil(workspace);
        commit(workspace, "evil");
    };
    let says = |workspace: &Workspace, base: &str, code: i32, part: &str| {
        let run = workspace.tflock(&registry, ["-C", "app", "verify", "--offline", "--base", base]).ended_with(code);
        assert!(run.stderr.contains(part), "{base}: {run}");
    };
    // A tag, or a branch, called as the branch at the remote.
    for place in ["refs/tags/origin/main", "refs/heads/origin/main", "refs/origin/main"] {
        let workspace = repository(&registry);
        commit_evil(&workspace);
        workspace.git(["update-ref", place, "HEAD"]);
        says(&workspace, "origin/main", 2, place);
        says(&workspace, "origin/main~0", 2, place);
        // In full there is one meaning.
        says(&workspace, "refs/remotes/origin/main", 3, "refs/remotes/origin/main");
    }
    // A tag with the name of the branch, here or at a remote only.
    let workspace = repository(&registry);
    commit_evil(&workspace);
    workspace.git(["update-ref", "-d", "refs/heads/main"]);
    workspace.git(["tag", "main"]);
    says(&workspace, "main", 2, "refs/tags/main");
    workspace.git(["update-ref", "refs/heads/main", "refs/remotes/origin/main"]);
    says(&workspace, "main", 2, "refs/tags/main");
    workspace.git(["tag", "-d", "main"]);
    says(&workspace, "main", 3, "refs/heads/main");
    // The clone has no branch of that name from the remote, so a local one is taken.
    let workspace = repository(&registry);
    commit_evil(&workspace);
    workspace.git(["remote", "add", "origin", "https://localhost/x.git"]);
    workspace.git(["update-ref", "-d", "refs/remotes/origin/main"]);
    workspace.git(["branch", "origin/main"]);
    says(&workspace, "origin/main", 2, "refs/heads/origin/main");
    // A branch called as an abbreviated object name, or as what is behind `git describe`.
    let workspace = repository(&registry);
    let main = workspace.git(["rev-parse", "HEAD"]).stdout.trim().to_owned();
    commit_evil(&workspace);
    for name in [main[..8].to_owned(), format!("v1-3-g{}", &main[..8])] {
        says(&workspace, &name, 3, "");
        workspace.git(["branch", &name]);
        says(&workspace, &name, 2, &format!("refs/heads/{name}"));
    }
    // Written out, a name means itself: neither a tag by that name, nor one if there is no such branch here.
    let workspace = repository(&registry);
    let full = "refs/remotes/origin/main";
    commit_evil(&workspace);
    for name in
        ["refs/tags/refs/remotes/origin/main", "refs/heads/refs/remotes/origin/main", "refs/refs/remotes/origin/main"]
    {
        workspace.git(["update-ref", name, "HEAD"]);
        says(&workspace, full, 3, "");
    }
    workspace.git(["update-ref", "-d", full]);
    // It is unknown, not ambiguous: a deeper clone may have it.
    says(&workspace, full, 2, "`fetch-depth: 0`");
    says(&workspace, "refs/remotes/origin/main~0", 2, "`fetch-depth: 0`");
    let workspace = repository(&registry);
    let main = workspace.git(["rev-parse", "HEAD"]).stdout.trim().to_owned();
    commit_evil(&workspace);
    // A whole one means the object.
    workspace.git(["branch", &format!("x/{main}")]);
    says(&workspace, &main, 3, &main[..10]);
}

#[test]
fn the_note_names_the_branch_in_full() {
    let registry = honest();
    let workspace = repository(&registry);
    let run = gate(&workspace, &registry, &["--offline"]).ended_with(0);
    assert!(run.stderr.contains("compared with refs/remotes/origin/main ("), "{run}");
    assert!(rules(&run, "deny").is_empty());
}

#[test]
fn what_a_partial_clone_lacks_is_not_absent() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.git(["branch", "base", "origin/main"]);
    evil(&workspace);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    commit(&workspace, "evil");
    workspace.git(["branch", "--force", "topic"]);
    workspace.git(["config", "uploadpack.allowFilter", "true"]);
    let source = format!("file://{}", workspace.path("").display());
    workspace.git(["clone", "--quiet", "--filter=blob:none", "--branch", "topic", &source, "clone"]);
    // What is missing is not fetched, and nothing runs that the repository names for that.
    let config = |key: &str, value: &str| drop(workspace.git(["-C", "clone", "config", key, value]));
    config("core.sshCommand", &format!("touch {} #", workspace.path("../loot").display()));
    config("remote.origin.url", "ssh://localhost/x.git");
    let run = workspace.tflock(&registry, ["-C", "clone/app", "verify", "--offline", "--base", "origin/base"]);
    let run = run.ended_with(2);
    assert!(run.stderr.contains("partial") && run.stderr.contains("git fetch --refetch --no-filter"), "{run}");
    workspace.tflock(&registry, ["-C", "clone/app", "diff", "origin/base"]);
    assert!(!workspace.path("../loot").exists());
    config("remote.origin.url", &source);
    workspace.git(["-C", "clone", "fetch", "--quiet", "--refetch", "--no-filter"]);
    workspace.tflock(&registry, ["-C", "clone/app", "verify", "--offline", "--base", "origin/base"]).ended_with(3);
}
