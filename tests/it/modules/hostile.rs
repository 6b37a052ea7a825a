//! Packages that no honest publisher makes. Unit tests cover what unpacking refuses.

use super::CALL;
#[cfg(target_os = "linux")]
use super::git::{Repository, needs_widget, workspace};
use crate::support::packages::{archive, sha256};
use crate::support::registry::Endpoint;
use crate::support::workspace::Workspace;
use crate::support::worlds::{EMPTY_LOCK, LOCK, widget};

#[test]
fn an_entry_that_leads_out_is_refused() {
    for name in ["../../escaped", "/tmp/tflock-escaped"] {
        let registry = widget().module("acme/net/lab", "1.0.0", &[("main.tf", ""), (name, "x")]);
        let workspace = Workspace::with_files(&[("main.tf", CALL)]);
        let run = workspace.tflock(&registry, LOCK).ended_with(2);
        assert!(run.stderr.contains("leads out of the package"), "{run}");
        assert!(!std::path::Path::new("/tmp/tflock-escaped").exists());
    }
}

#[test]
fn a_registry_points_at_no_file() {
    for (location, code) in [
        ("file:///etc", 2),
        ("git::file:///etc", 2),
        ("git::ssh://-oProxyCommand=x/y", 4),
        ("acme/net/lab", 2),
        ("x.zip", 2),
    ] {
        let versions = "{\"modules\":[{\"versions\":[{\"version\":\"1.0.0\"}]}]}";
        let registry = widget().document("/v1/modules/acme/other/lab/versions", "application/json", versions).document(
            "/v1/modules/acme/other/lab/1.0.0/download",
            "application/json",
            format!("{{\"location\":{location:?}}}"),
        );
        let workspace = Workspace::with_files(&[("main.tf", &CALL.replace("acme/net", "acme/other"))]);
        // In the place of ssh; it would leave a file.
        let started = workspace.path("").with_file_name("home").join("started");
        let workspace = workspace.env("GIT_SSH_COMMAND", &format!("touch '{}'; false", started.display()));
        let run = workspace.tflock(&registry, LOCK);
        assert!(run.code == Some(code) && run.touched().is_empty(), "{location}: {run}");
        assert!(!started.exists(), "{location}: {run}");
    }
}

#[test]
fn what_cannot_be_fetched_is_to_be_installed() {
    for source in [
        "s3::https://s3.amazonaws.com/b/x.zip",
        "b.s3.amazonaws.com/x.zip",
        "gcs::https://www.googleapis.com/storage/v1/b/x.zip",
        "hg::https://example.com/x",
        "http://localhost/x.zip",
        "git::http://localhost/x.git",
        "git::ftp://localhost/x.git",
        "/x",
    ] {
        let registry = widget();
        let call = format!("module \"m\" {{\n  source = {source:?}\n}}\n");
        let run = Workspace::with_files(&[("main.tf", &call)]).tflock(&registry, LOCK).ended_with(2);
        assert!(run.stderr.contains("`terraform get`"), "{source}: {run}");
        assert_eq!(registry.count(Endpoint::Other), 0);
    }
}

/// A registry that policy names may place a module at hosts that policy does not name: there it is not fetched.
#[test]
fn a_location_must_satisfy_the_policy_too() {
    let policy = "policy {\n  module_hosts = [\"{{other-host}}\"]\n}\n";
    let versions = "{\"modules\":[{\"versions\":[{\"version\":\"1.0.0\"}]}]}";
    for location in ["https://{}/x.zip", "git::https://{}/x.git", "https://{}/x"] {
        let registry = widget();
        let location = location.replace("{}", &registry.host());
        let registry = registry.document("/v1/modules/acme/other/lab/versions", "application/json", versions).document(
            "/v1/modules/acme/other/lab/1.0.0/download",
            "application/json",
            format!("{{\"location\":{location:?}}}"),
        );
        let call = CALL.replace("acme/net", "acme/other");
        let workspace = Workspace::with_files(&[("main.tf", &call), (".tflock.hcl", policy)]);
        let refused = workspace.tflock(&registry, LOCK).ended_with(3);
        assert!(refused.stderr.contains("module_hosts") && refused.stderr.contains(&registry.host()), "{refused}");
        assert!(registry.requests().iter().all(|request| request.host != registry.host()), "{location}");
    }
}

/// The same package for two root modules, of which only one may contact the host of its checksums: neither takes the result of the
/// other.
#[test]
fn each_root_module_has_its_own_policy() {
    let zip = archive(&[("main.tf", String::new())]);
    let registry = widget().document("/x.zip", "application/zip", zip.clone());
    let registry = registry.document("/sums", "text/plain", format!("{}  x.zip\n", sha256(&zip)));
    let call =
        "module \"m\" {\n  source = \"https://{{other-host}}/x.zip?checksum=file:https://{{registry}}/sums\"\n}\n";
    let policy = "policy {\n  module_hosts = [\"{{other-host}}\"]\n}\n";
    for (strict, free) in [("a", "b"), ("b", "a")] {
        let [of_strict, of_free, settings] =
            [format!("{strict}/main.tf"), format!("{free}/main.tf"), format!("{strict}/.tflock.hcl")];
        let workspace = Workspace::with_files(&[(&of_strict, call), (&of_free, call), (&settings, policy)]);
        let run = workspace.tflock(&registry, ["lock", "-r", "--create"]).ended_with(3);
        assert!(run.stderr.contains(&format!("modules must not come from {}", registry.host())), "{run}");
        assert_eq!(run.stdout, format!("2 root modules: 1 up to date, 1 failed\nfailed: {strict}\n"), "{run}");
    }
}

/// Nothing leads to a host that policy does not name: not what the run fetches, and no advice to fetch it.
#[test]
fn a_module_of_a_forbidden_host_is_refused_whether_it_is_fetched_or_not() {
    let registry = widget();
    let policy = "policy {\n  module_hosts = [\"example.com\"]\n}\n";
    let workspace =
        Workspace::with_files(&[("main.tf", CALL), (".tflock.hcl", policy), (".terraform.lock.hcl", EMPTY_LOCK)]);
    for more in [&[][..], &["--modules=none"], &["--modules=installed"], &["--offline"]] {
        let run = workspace.tflock(&registry, ["verify"].iter().chain(more)).ended_with(3);
        assert!(run.stderr.contains("modules must not come from") && !run.stderr.contains("get`"), "{run}");
        assert!(run.stdout.starts_with("refused"), "{run}");
        let many = workspace.tflock(&registry, ["verify", "-r"].iter().chain(more)).ended_with(3);
        assert!(many.stdout.contains("1 root module: 1 refused"), "{many}");
    }
    assert!(registry.requests().is_empty());
}

#[test]
fn addresses_that_lead_on_and_on_end() {
    let registry = widget();
    let address = format!("https://{}/around", registry.host());
    let page = format!("<html><head><meta name=\"terraform-get\" content=\"{address}\"></head></html>");
    let registry = registry.document("/around", "text/html", page);
    let call = format!("module \"m\" {{\n  source = {address:?}\n}}\n");
    let run = Workspace::with_files(&[("main.tf", &call)]).tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("too many redirects from") && registry.requests().len() < 8, "{run}");
}

#[test]
fn a_ref_is_no_option() {
    let call = "module \"m\" {\n  source = \"git::https://{{registry}}/x.git?ref=--upload-pack=touch+escaped\"\n}\n";
    let (registry, workspace) = (widget(), Workspace::with_files(&[("main.tf", call)]));
    let run = workspace.tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("neither a branch nor a tag nor a commit"), "{run}");
    assert!(registry.requests().is_empty() && !workspace.has("escaped"));
}

/// Two names that are not UTF-8 could become one, and only one of them would be hashed.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;

    let (registry, repository) = (widget(), Repository::new());
    for name in [&b"x\xfe.tf"[..], b"x\xff.tf"] {
        std::fs::write(repository.0.path("").join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
    }
    repository.commit("main.tf", &needs_widget(&registry));
    let registry = repository.served_by(registry);
    let refused = workspace(&registry, "").tflock(&registry, LOCK).ended_with(2);
    assert!(refused.stderr.contains(".tf\" is not UTF-8") && refused.stderr.contains("the name \"x"), "{refused}");
}
