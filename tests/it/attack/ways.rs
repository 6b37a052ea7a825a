//! Ways around the gate that take more than one file, or something outside of the tree.

use crate::support::locked::{LOCK, block, hashes, honest, planted, rules};
use crate::support::proposal::{GATE, SETTINGS, TRUST, commit, edit, pin, repository};
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::{Run, formats};
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;
use crate::support::{keys, locked};

/// The gate of all root modules, without requests.
fn gate(workspace: &Workspace, registry: &Registry) -> Run {
    workspace.tflock(registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]))
}

/// The tree equals the tree of main.
fn merged(workspace: &Workspace) {
    commit(workspace, "before");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
}

#[track_caller]
fn denied(run: &Run, code: i32, rule: &str) {
    let text = run.json().to_string();
    assert!(run.code == Some(code) && text.contains(&format!("\"rule\":\"{rule}\"")), "{rule}: {run}");
}

#[test]
fn what_only_the_other_tool_reads_is_judged_as_well() {
    let registry = honest();
    for (header, name, other) in [("tofu", "main.tofu", "terraform"), ("terraform", "more_override.tofu", "tofu")] {
        let workspace = repository(&registry);
        let app = format!("app/{LOCK}");
        edit(&workspace, SETTINGS, |text| {
            let policy = text.replace("policy {", &format!("policy {{\n  hosts = [\"{}\"]", registry.host()));
            format!("{policy}\nban \"{}/acme/forbidden\" {{\n}}\n", registry.host())
        });
        if header == "tofu" {
            edit(&workspace, &app, |text| text.replace("terraform init", "tofu init"));
        }
        merged(&workspace);
        let require = |source: &str| {
            format!(
                "terraform {{\n  required_providers {{\n    x = {{\n      source = \"{source}\"\n    }}\n  }}\n}}\n"
            )
        };
        let evil = |source: &str| {
            if other == "terraform" {
                workspace.git(["mv", "app/main.tf", "app/main.tofu"]);
                workspace.write("app/main.tf", &require(source));
            } else {
                workspace.write(&format!("app/{name}"), &require(source));
            }
            commit(&workspace, "harmless");
            let run = gate(&workspace, &registry);
            workspace.git(["reset", "--quiet", "--hard", "origin/main"]);
            run
        };
        denied(&evil("evil.example.com/evil/gadget"), 3, "host-not-allowed");
        denied(&evil(&format!("{}/\u{430}cme/widget", registry.host())), 3, "look-alike");
        denied(&evil(&format!("{}/acme/forbidden", registry.host())), 3, "banned");
        // What no policy forbids is reported.
        let run = evil(&format!("{}/acme/more", registry.host())).ended_with(0);
        assert!(run.stdout.contains(&format!("`{other}` reads files that require")), "{run}");
        // The same in both forms is not reported.
        let run = evil(&format!("{}/acme/widget", registry.host())).ended_with(0);
        assert!(!run.stdout.contains("reads files that require"), "{run}");
    }
}

#[test]
fn a_root_module_takes_its_rules_along() {
    let registry = honest().release("acme/widget", "1.4.2", PLATFORMS);
    let ban = format!("ban \"{}/acme/widget\" {{\n  versions = \"= 1.4.2\"\n}}\n", registry.host());
    let [old, new] = ["1.4.0", "1.4.2"].map(|version| hashes(&registry, "acme/widget", version).join("\",\n    \""));
    for (to, by_lines) in [("moved", false), ("moved", true), ("deep/er", false)] {
        let workspace = repository(&registry);
        workspace.write("other/.tflock.hcl", &ban);
        workspace.write("other/long.tf", "locals {\n  one = 1\n  two = 2\n  three = 3\n}\n");
        merged(&workspace);
        for name in ["main.tf", "long.tf", LOCK] {
            std::fs::create_dir_all(workspace.path(to)).unwrap();
            workspace.git(["mv", &format!("other/{name}"), &format!("{to}/{name}")]);
        }
        edit(&workspace, &format!("{to}/{LOCK}"), |text| {
            let text = text.replace(&old, &new).replace("\"1.4.0\"", "\"1.4.2\"");
            // Nothing that the old lock file had.
            if by_lines { text.replace("\"2.0.0\"", "\"2.0.1\"") } else { text }
        });
        commit(&workspace, "move");
        denied(&gate(&workspace, &registry), 3, "banned");
    }
}

#[test]
fn builds_of_a_banned_release_are_banned() {
    let registry = honest();
    let workspace = repository(&registry);
    let ban = format!("ban \"{}/acme/widget\" {{\n  versions = \"= 1.4.1\"\n}}\n", registry.host());
    edit(&workspace, SETTINGS, |text| format!("{text}\n{ban}"));
    merged(&workspace);
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replace("\"1.4.0\"", "\"1.4.1+1\""));
    commit(&workspace, "harmless");
    denied(&gate(&workspace, &registry), 3, "banned");
}

#[cfg(unix)]
#[test]
fn values_by_way_of_a_link_count() {
    let registry = honest();
    let workspace = repository(&registry);
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replace("terraform init", "tofu init"));
    let module = "variable \"which\" {\n  default = \"./good\"\n}\nmodule \"m\" {\n  source = var.which\n}\n";
    workspace.write("app/module.tf", module);
    workspace.write("app/good/main.tf", "locals {}\n");
    let evil =
        "terraform {\n  required_providers {\n    x = {\n      source = \"example.com/evil/gadget\"\n    }\n  }\n}\n";
    workspace.write("app/evil/main.tf", evil);
    workspace.write("values", "which = \"./good\"\n");
    std::os::unix::fs::symlink("../values", workspace.path("app/terraform.tfvars")).unwrap();
    merged(&workspace);
    gate(&workspace, &registry).ended_with(0);
    workspace.write("values", "which = \"./evil\"\n");
    commit(&workspace, "harmless");
    denied(&gate(&workspace, &registry), 1, "entry-missing");
}

#[cfg(unix)]
#[test]
fn what_an_untracked_link_of_the_tools_leads_to_is_unknown() {
    let registry = honest();
    let workspace = repository(&registry);
    let source = "git::https://git.example.com/net.git";
    workspace.write(".gitignore", ".terraform\n");
    edit(&workspace, "app/main.tf", |text| format!("{text}module \"net\" {{\n  source = \"{source}\"\n}}\n"));
    let modules = format!(
        r#"{{"Modules":[{{"Key":"","Source":"","Dir":"."}},{{"Key":"net","Source":"{source}","Dir":".terraform/modules/net"}}]}}"#
    );
    workspace.write("app/.terraform/modules/modules.json", &modules);
    workspace.write("../outside/main.tf", "locals {}\n");
    merged(&workspace);
    workspace.write("app/more.tf", "# more\n");
    commit(&workspace, "harmless");
    workspace.write("app/.terraform/modules/net/main.tf", "locals {}\n");
    gate(&workspace, &registry).ended_with(0);
    std::fs::remove_dir_all(workspace.path("app/.terraform/modules/net")).unwrap();
    std::os::unix::fs::symlink("../../../../outside", workspace.path("app/.terraform/modules/net")).unwrap();
    let run = gate(&workspace, &registry).ended_with(4);
    assert!(run.stdout.contains("by way of a symbolic link that git does not track"), "{run}");
    // Without a base the tree's own settings apply.
    workspace.tflock(&registry, ["verify", "-r", "--offline"]).ended_with(0);
}

/// A job that installs modules before the gate has contacted their hosts already; `init` will contact them again.
#[test]
fn installed_modules_of_hosts_that_are_not_allowed() {
    let registry = honest();
    let workspace = repository(&registry);
    edit(&workspace, SETTINGS, |text| text.replace("policy {", "policy {\n  module_hosts = [\"git.example.com\"]"));
    workspace.write(".gitignore", ".terraform\n");
    merged(&workspace);
    let main = workspace.read("app/main.tf");
    for (source, recorded, host) in [
        ("git::https://git.example.com/net.git", "git::https://git.example.com/net.git", None),
        ("git::https://evil.example.com/net.git", "git::https://evil.example.com/net.git", Some("evil.example.com")),
        ("git::https://git.example.com:8443/x", "git::https://git.example.com:8443/x", Some("git.example.com:8443")),
        ("github.com/acme/net", "git::https://github.com/acme/net.git", Some("github.com")),
        ("s3::https://evil.example.com/net.zip", "s3::https://evil.example.com/net.zip", Some("evil.example.com")),
        ("acme/net/lab", "registry.terraform.io/acme/net/lab", Some("registry.terraform.io")),
    ] {
        workspace.write("app/main.tf", &format!("{main}module \"net\" {{\n  source = \"{source}\"\n}}\n"));
        let modules = format!(
            r#"{{"Modules":[{{"Key":"","Source":"","Dir":"."}},{{"Key":"net","Source":"{recorded}","Version":"1.0.0","Dir":".terraform/modules/net"}}]}}"#
        );
        let version = if recorded.contains("::") { modules.replace(r#""Version":"1.0.0","#, "") } else { modules };
        workspace.write("app/.terraform/modules/modules.json", &version);
        workspace.write("app/.terraform/modules/net/main.tf", "locals {}\n");
        for base in [&["--base", "origin/main"][..], &[]] {
            let args = ["verify", "-r", "--offline", "--format", "json"].iter().chain(base);
            let run = workspace.tflock(&registry, args);
            match host {
                Some(host) => {
                    denied(&run, 3, "host-not-allowed");
                    let said = format!("does not allow the host {host} of module net");
                    assert!(run.stdout.contains(&said) && run.stdout.contains("\"file\": \"app/main.tf\""), "{run}");
                }
                None => assert_eq!(run.code, Some(0), "{run}"),
            }
        }
    }
}

#[test]
fn a_file_too_large_to_read_does_not_hide_that_configuration_goes_on() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.git(["mv", "other", "elsewhere"]);
    workspace.git(["rm", "--quiet", "-f", &format!("elsewhere/{LOCK}")]);
    workspace.write("elsewhere/large.tf", "");
    let large = std::fs::File::options().write(true).open(workspace.path("elsewhere/large.tf")).unwrap();
    large.set_len(17 << 20).unwrap();
    commit(&workspace, "harmless");
    denied(&gate(&workspace, &registry), 3, "lock-file-moved");
}

#[test]
fn a_caller_that_nothing_calls_hides_no_root_module() {
    let registry = honest();
    let workspace = repository(&registry);
    let backend = "terraform {\n  backend \"local\" {}\n}\n";
    workspace.write("prod/main.tf", &format!("{backend}{}", locked::MAIN.replace("{{registry}}", &registry.host())));
    workspace.write("unused/main.tf", "module \"prod\" {\n  source = \"../prod\"\n}\n");
    commit(&workspace, "harmless");
    denied(&gate(&workspace, &registry), 1, "lock-file-missing");
    // Called by a root module it is a module.
    edit(&workspace, "app/main.tf", |text| format!("{text}module \"prod\" {{\n  source = \"../prod\"\n}}\n"));
    gate(&workspace, &registry).ended_with(0);
}

#[test]
fn a_new_entry_without_h1_is_denied() {
    let registry = honest().release("acme/extra", "1.0.0", PLATFORMS).release("acme/widget", "1.4.1", PLATFORMS);
    let zh_only = |provider: &str, version: &str| -> Vec<String> {
        hashes(&registry, provider, version).into_iter().filter(|hash| hash.starts_with("zh:")).collect()
    };
    let workspace = repository(&registry);
    let good = keys::GOOD.fingerprint();
    edit(&workspace, TRUST, |text| format!("{}\n{text}", pin(&registry, "acme/extra", &good)));
    merged(&workspace);
    let require = format!("    more = {{\n      source = \"{}/acme/extra\"\n    }}\n  }}\n}}\n", registry.host());
    edit(&workspace, "app/main.tf", |text| text.strip_suffix("  }\n}\n").unwrap().to_owned() + &require);
    let entry = block(&registry, "acme/extra", "  version = \"1.0.0\"\n", &zh_only("acme/extra", "1.0.0"));
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replacen("\nprovider", &format!("{entry}\nprovider"), 1));
    commit(&workspace, "new");
    let args = ["-C", "app", "verify", "--format", "json"];
    let run = workspace.tflock(&registry, args.iter().chain(&["--base", "origin/main"]));
    assert!(rules(&run, "deny").contains("h1-missing") && run.code == Some(3), "{run}");
    // The tree about itself warns.
    let run = workspace.tflock(&registry, args).ended_with(0);
    assert!(rules(&run, "warn").contains("h1-missing"), "{run}");
}

#[test]
#[ignore = "long"]
fn a_token_that_is_sent_back_is_not_shown() {
    let token = "s3cr3t-t0ken-of-mine";
    let registry = honest().requiring_token(token);
    let workspace = locked::locked(&registry);
    let workspace = workspace.cli_config("credentials \"{{registry}}\" {\n  token = \"s3cr3t-t0ken-of-mine\"\n}\n");
    let versions = format!(r#"{{"versions":[{{"version":"{token}"}}]}}"#);
    let package = format!(
        r#"{{"protocols":["5.0"],"os":"{token}","arch":"{token}","filename":"{token}.zip","download_url":"https://{token}/x",
        "shasums_url":"{token}","shasums_signature_url":"{token}","shasum":"{token}","signing_keys":{{}}}}"#
    );
    for (endpoint, document) in [
        (Endpoint::Versions, versions),
        (Endpoint::Download, package),
        (
            Endpoint::Versions,
            format!(r#"{{"versions":[{{"version":"1.4.0","protocols":["{token}"]}}],"warnings":["{token}"]}}"#),
        ),
        (Endpoint::Sums, format!("{token}  {token}\n")),
    ] {
        let registry = honest().requiring_token(token).answers(endpoint, Answer::json(document));
        let workspace_here = locked::locked(&registry)
            .cli_config(&format!("credentials \"{}\" {{\n  token = \"{token}\"\n}}\n", registry.host()));
        for format in formats("verify") {
            for command in ["verify", "lock"] {
                if command == "lock" && !["human", "json"].contains(&format) {
                    continue;
                }
                let run = workspace_here.tflock(&registry, ["-v", command, "--format", format]);
                let shown = format!("{}{}", run.stdout, run.stderr);
                assert!(run.code != Some(0) && !shown.contains(token), "{endpoint:?}: {run}");
            }
        }
    }
    drop(workspace);
}

#[test]
fn no_more_is_downloaded_than_is_allowed() {
    let registry = honest();
    let workspace = locked::locked(&registry);
    workspace.write(TRUST, &locked::pinned(&registry));
    let verify = |more: &[&str]| workspace.tflock(&registry, ["verify", "--no-cache"].iter().chain(more));
    let run = verify(&["--max-download", "10"]).ended_with(4);
    assert!(run.stderr.contains("--max-download"), "{run}");
    verify(&["--max-download", "10", "--deep"]).ended_with(4);
    verify(&["--max-download", "1MiB"]).ended_with(0);
    verify(&[]).ended_with(0);
    verify(&["--max-download", "much"]).ended_with(2);
}

#[test]
fn a_release_for_more_platforms_than_there_are_ends() {
    let mut registry = honest().of("acme/widget", "1.4.0");
    for n in 0..9000 {
        registry = registry.sums_line(&format!("{n:064x}  terraform-provider-widget_1.4.0_os{n}_amd64.zip"));
    }
    let workspace = locked::locked(&registry);
    workspace.write(TRUST, &locked::pinned(&registry));
    let lock = planted(&workspace.lock_file(), "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    workspace.write(LOCK, &lock);
    let run = workspace.tflock(&registry, ["verify", "--no-cache"]).ended_with(4);
    assert!(run.stderr.contains("64 of them were looked at"), "{run}");
    assert!(registry.count(Endpoint::Download) < 200, "{} questions", registry.count(Endpoint::Download));
}

#[test]
fn a_laxer_root_module_proves_nothing_for_a_stricter_one() {
    let registry = Registry::start().release("acme/widget", "1.4.0", PLATFORMS).unsigned();
    let main = format!(
        "terraform {{\n  required_providers {{\n    widget = {{\n      source = \"{}/acme/widget\"\n    }}\n  }}\n}}\n",
        registry.host()
    );
    let lock = block(&registry, "acme/widget", "  version = \"1.4.0\"\n", &hashes(&registry, "acme/widget", "1.4.0"));
    let workspace = Workspace::with_files(&[]);
    for (root, rule) in [("dev", "never"), ("prod", "always")] {
        workspace.write(&format!("{root}/main.tf"), &main);
        workspace.write(&format!("{root}/{LOCK}"), &lock);
        workspace.write(&format!("{root}/{SETTINGS}"), &format!("policy {{\n  signature = \"{rule}\"\n}}\n"));
    }
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "main");
    workspace.tflock(&registry, ["-C", "dev", "verify"]).ended_with(0);
    let run = workspace.tflock(&registry, ["verify", "-r", "--offline", "--format", "json"]);
    assert_eq!(run.json()["roots"][1]["proven"], 0, "{run}");
}

/// Git 2.30 knows none of these, and git says so for each that it does not know.
#[cfg(unix)]
#[test]
fn an_older_git_will_do() {
    use std::os::unix::fs::PermissionsExt as _;
    let stub = "#!/bin/sh\nfor arg; do case \"$arg\" in --attr-source*|--no-lazy-fetch|--no-advice|--path-format=*|--format=%\\(object*|\
                --object-only|--batch-command*|-Z|--exclude=*|--show-ref-format|--list-cmds=*|--merge-base*|--write-tree|--orphan|\
                --end-of-options=*|--deduplicate|--resolve-undo|--sparse|--diff-merges=*|--name-only=*|--refetch|--revision=*|--bundle-uri=*) \
                echo \"error: unknown option \\`$arg'\" >&2; exit 129;; esac; done\nexec /usr/bin/git \"$@\"\n";
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("../bin/git", stub);
    let program = workspace.path("../bin/git");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let bin = program.parent().unwrap().to_str().unwrap().to_owned();
    let workspace = workspace.env("PATH", &format!("{bin}:/usr/bin:/bin"));
    edit(&workspace, &format!("app/{LOCK}"), |text| planted(text, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
    workspace.git(["mv", "other", "moved"]);
    commit(&workspace, "harmless");
    for args in [
        &["verify", "-r", "--base", "origin/main", "--offline"][..],
        &["verify", "-r", "--offline"],
        &["diff", "-r", "HEAD~"],
    ] {
        let run = workspace.tflock(&registry, args);
        assert!(!run.stderr.contains("unknown option") && run.code == Some(0), "{run}");
    }
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replacen("    \"zh:", "    \"zh:0", 1));
    let run = workspace.tflock(&registry, ["verify", "-r", "--base", "origin/main", "--offline"]).ended_with(3);
    assert!(!run.stderr.contains("unknown option"), "{run}");
    for args in [&["git", "status"][..], &["git", "install"], &["git", "uninstall"], &["explain", "acme/widget", "-r"]]
    {
        let run = workspace.tflock(&registry, args);
        assert!(!run.stderr.contains("unknown option"), "{run}");
    }
}
