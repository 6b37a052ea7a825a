//! What users read who mistyped something, or are in the wrong directory.

use crate::support::locked::{honest, locked};

const TRUST: &str = ".tflock.trust.hcl";

#[test]
#[ignore = "long"]
fn what_was_probably_meant_is_named() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write("notes.txt", "no archive\n");
    workspace.write("below/notes.txt", "");
    workspace.write("be low/notes.txt", "");
    workspace.git(["init", "--quiet", "--initial-branch", "master"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "lock"]);
    let lock = workspace.lock_file();
    let header = lock.lines().take(2).collect::<Vec<_>>().join("\n");
    let old = format!("{header}\n\nprovider \"{}/acme/old\" {{\n  version = \"1.0.0\"\n}}\n", registry.host());
    for text in [&old, &lock] {
        workspace.write(".terraform.lock.hcl", text);
        workspace.git(["commit", "--quiet", "--all", "--message", "lock"]);
    }
    workspace.tflock(&registry, ["trust", "init"]).ended_with(0);
    workspace.write(TRUST, &workspace.read(TRUST).replace("acme/gadget", "acme/random"));
    let near = |name: &str| format!("{}/acme/{name}", registry.host());
    let (wigdet, randm) = (near("wigdet"), near("randm"));
    let (widget, versioned) = (near("widget"), "`tflock add localhost:PORT/acme/widget@1.0.0` requires that version");
    let rows: [(&[&str], &str); 47] = [
        (&["upgrade", "wigdet"], "help: did you mean localhost:PORT/acme/widget?"),
        (&["upgrade", &wigdet], "help: did you mean localhost:PORT/acme/widget?"),
        (&["add", &randm], "help: did you mean localhost:PORT/acme/random?"),
        // Whatever of the repository knows the name: configuration, lock file, trust file, history.
        (&["upgrade", "randm"], "help: did you mean localhost:PORT/acme/random?"),
        (&["upgrade", "oldd"], "help: did you mean localhost:PORT/acme/old?"),
        (&["remove", "wigdet"], "help: did you mean localhost:PORT/acme/widget?"),
        (&["explain", "wigdet"], "help: did you mean localhost:PORT/acme/widget?"),
        (&["list", "wigdet"], "help: did you mean localhost:PORT/acme/widget?"),
        (&["why", "wigdet"], "help: did you mean localhost:PORT/acme/widget?"),
        (&["trust", "forget", &wigdet], "help: did you mean localhost:PORT/acme/widget?"),
        (&["lock", "below"], "help: below is a directory; to work there, pass it as -C below"),
        (&["below", "lock"], "help: below is a directory; to work there, pass it as -C below"),
        (&["lock", "be low"], "help: be low is a directory; to work there, pass it as -C \"be low\""),
        (&["fmt", "be low"], "be low is a directory, not a lock file\n  help: `tflock -C \"be low\" fmt` formats"),
        (&["mirror", "a b", "--offline"], "`tflock mirror --check \"a b\"` needs no network"),
        (&["-C", "belwo", "lock"], "help: did you mean below?"),
        (&["diff", "nope"], "help: `git branch --all` lists the branches, `git tag` the tags"),
        (&["add", "acme/x@1.x"], "error: \"1.x\" "),
        (&["lock", "--platform", "macos_arm64"], "built for macos_arm64\n  help: did you mean darwin_arm64?\n"),
        (&["mirror", "x", "--platform", "linux_amd46"], "help: did you mean linux_amd64?"),
        (&["explain", "signer-chnaged"], "did you mean `tflock explain signer-changed`?"),
        (&["explain", "refuted"], "`tflock explain` lists all rules and topics"),
        (&["explain", "revoked"], "these rules mention it: revoked-key"),
        (&["diff", "main"], "help: did you mean master?"),
        (&["diff", "-r", "main"], "help: did you mean master?"),
        (&["fmt", "main.tf"], "`terraform fmt` formats configuration"),
        (&["mirror", "notes.txt"], "notes.txt: not a directory"),
        (&["hash", "notes.txt"], "a package is a zip archive"),
        (
            &["verify", "--report", "foo=x"],
            "there is no format \"foo\": human, json, markdown, html, github, gitlab, sarif, commit",
        ),
        // What other tools have; -r is named where the command has it.
        (&["lock", "--all"], "'--all' found\n  help: -r includes all root modules below\n"),
        (&["hash", "--all"], "tip: to pass '--all' as a value"),
        (&["upgrade", "--to", "1"], "help: `tflock upgrade ADDR@VERSION` selects one version"),
        (&["diff", "--staged"], "help: `tflock diff` compares HEAD with the working tree, staged or not"),
        (&["lock", "-upgrade"], "'-upgrade' found\n  help: `tflock upgrade` selects the newest versions"),
        (&["verify", "-lockfile=readonly"], "help: `tflock verify` checks the lock file and leaves it unchanged"),
        (&["lock", "-backend=false"], "help: leave it out: tflock reads and changes no backend"),
        (&["verify", "below"], "help: `tflock -C below verify` checks that root module"),
        (&["verify", "acme/widget"], "help: `verify` checks whole lock files"),
        (&["add", &widget, "--version", "1.0.0"], versioned),
        (&["chekc"], "help: `tflock verify` checks the lock file"),
        (&["help", "setings"], "help: did you mean `tflock explain settings`?"),
        (&["lock", "--platform", "linux_x86_64"], "help: did you mean linux_amd64?"),
        (&["query"], "help: `terraform query` runs with the locked providers: `tflock install` installs them"),
        (&["stacks", "init"], "help: tflock needs no init: `tflock lock` writes the lock file"),
        (&["lock", "--oci-mirror=h.example/x", "--fs-mirror=y"], "'--oci-mirror <TEMPLATE>' cannot be used with"),
        (&["cache", "clear"], "help: `tflock cache prune` removes packages and old documents"),
        (&["verify", "--report", "json=-"], "--format json writes that format to standard output"),
    ];
    for (args, wanted) in rows {
        let run = workspace.tflock(&registry, args);
        let shown = run.filtered(&run.stderr);
        assert!(shown.contains(wanted), "{args:?}: {shown}");
        assert_eq!(shown.matches("error").count(), 1, "{args:?}: {shown}");
        assert!(!workspace.has("-"));
    }
    // Only what is required or locked here can be removed.
    let run = workspace.tflock(&registry, ["remove", "randm"]).ended_with(2);
    assert!(!run.stderr.contains("did you mean"), "{run}");
}

#[test]
fn above_root_modules_an_error_names_the_option() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write("below/a/main.tf", &workspace.read("main.tf"));
    workspace.git(["init", "--quiet"]);
    let shown = |args: &[&str]| workspace.tflock(&registry, ["-C", "below"].iter().chain(args)).ended_with(2).stderr;
    for command in ["lock", "verify", "why"] {
        let all = shown(&[command]);
        assert!(
            all.contains("`tflock -C below lock -r --create` writes a lock file for the root module below"),
            "{all}"
        );
    }
    workspace.tflock(&registry, ["-C", "below", "lock", "-r", "--create"]).ended_with(0);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "lock"]);
    let all = shown(&["lock"]);
    assert!(all.contains("1 root module is below this directory: pass -r to work in it"), "{all}");
    // What changes nothing works there.
    for args in [&["list"][..], &["why"], &["verify", "--offline"], &["diff"], &["diff", "HEAD"]] {
        let run = workspace.tflock(&registry, ["-C", "below"].iter().chain(args)).ended_with(0);
        assert!(run.stderr.contains("working in the root modules below it, as with -r"), "{args:?}: {run}");
    }
    let address = format!("{}/acme/widget", registry.host());
    assert!(shown(&["add", &address]).contains("there are root modules below") && !workspace.has("below/versions.tf"));
    std::fs::remove_file(workspace.path("below/a/.terraform.lock.hcl")).unwrap();
    let run = workspace.tflock(&registry, ["diff", "-r", "HEAD"]).ended_with(0);
    assert!(run.stdout.contains("NO LOCK FILE any more") && !run.stdout.contains("not-canonical"), "{run}");
}

#[test]
#[ignore = "long"]
fn quiet_is_silent_where_all_is_well() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.git(["init", "--quiet"]);
    let silent = |args: &[&str]| {
        let run = workspace.tflock(&registry, ["-q"].iter().chain(args)).ended_with(0);
        assert_eq!((&*run.stdout, &*run.stderr), ("", ""), "{args:?}");
    };
    let some = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];
    std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
    silent(&[&["lock"], &some[..]].concat());
    silent(&["lock"]);
    silent(&["lock", "-r"]);
    silent(&["upgrade"]);
    silent(&["trust", "init"]);
    silent(&["verify"]);
    silent(&["verify", "-r"]);
    // Requested output is printed, and so is what would change or is wrong.
    assert!(!workspace.tflock(&registry, ["-q", "list"]).ended_with(0).stdout.is_empty());
    workspace.write("main.tf", &workspace.read("main.tf").replace("~> 1.4", ">= 1.4"));
    let check = workspace.tflock(&registry, ["-q", "lock", "--check"]).ended_with(1);
    assert!(check.stdout.contains("would change"), "{check}");
    workspace.write(TRUST, &workspace.read(TRUST).replace("signers", "unsigned = true #"));
    let refused = workspace.tflock(&registry, ["-q", "verify"]).ended_with(3);
    assert!(refused.stdout.contains("refused"), "{refused}");
}

#[test]
fn a_new_key_is_printed_with_its_user_id() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.git(["init", "--quiet"]);
    let init = workspace.tflock(&registry, ["trust", "init"]).ended_with(0);
    let list = workspace.tflock(None, ["trust", "list"]).ended_with(0);
    let trust = workspace.read(TRUST);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    std::fs::remove_file(workspace.path(".terraform.lock.hcl")).unwrap();
    let lock = workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    assert_eq!(workspace.read(TRUST), trust);
    insta::assert_snapshot!(
        "a_key_says_who_it_is",
        init.filtered(&format!("{}\n{}\n{trust}\n{}", init.stdout, list.stdout, lock.stdout))
    );
}
