//! Modules in archives: what else their addresses say.

use std::io::Write;

use super::git::needs_widget;
use crate::support::packages::sha256;
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, widget};

/// What is in an archive.
#[derive(Clone, Copy)]
pub(crate) enum Entry<'a> {
    File(&'a str),
    Link(&'a str),
    HardLink(&'a str),
}

/// A tar archive, compressed.
pub(crate) fn tar_gz(entries: &[(&str, Entry<'_>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, entry) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(0);
        match entry {
            Entry::File(text) => {
                header.set_size(text.len() as u64);
                archive.append_data(&mut header, name, text.as_bytes()).unwrap();
            }
            Entry::Link(target) => {
                header.set_entry_type(tar::EntryType::Symlink);
                archive.append_link(&mut header, name, target).unwrap();
            }
            Entry::HardLink(target) => {
                header.set_entry_type(tar::EntryType::Link);
                archive.append_link(&mut header, name, target).unwrap();
            }
        }
    }
    let mut encoder = archive.into_inner().unwrap();
    encoder.flush().unwrap();
    encoder.finish().unwrap()
}

/// A module that needs the widget, as an archive at `/a.tar.gz`, and its bytes.
fn served() -> (Registry, Vec<u8>) {
    let registry = widget();
    let archive = tar_gz(&[("top/main.tf", Entry::File(&needs_widget(&registry)))]);
    let registry = registry.document("/r/a.tar.gz", "application/gzip", archive.clone());
    (registry, archive)
}

fn call(registry: &Registry, rest: &str) -> Workspace {
    let source = format!("https://{}/r/{rest}", registry.host());
    Workspace::with_files(&[("main.tf", &format!("module \"net\" {{\n  source = {source:?}\n}}\n"))])
}

#[test]
#[ignore = "long"]
fn one_directory_may_be_named_by_a_star() {
    let (registry, archive) = served();
    let registry = registry.document("/r/tarball", "application/gzip", archive);
    for rest in ["a.tar.gz//top", "a.tar.gz//*", "tarball//*?archive=tar.gz", "a.tar.gz//t*p"] {
        let workspace = call(&registry, rest);
        workspace.tflock(&registry, LOCK).ended_with(0);
        assert!(workspace.lock_file().contains("/acme/widget\""), "{rest}");
    }
    // What the tools expand it to, `get` records; then they leave it alone.
    let workspace = call(&registry, "tarball//*?archive=tar.gz");
    workspace.tflock(&registry, LOCK.iter().chain(&["--lock-modules"])).ended_with(0);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    let list = workspace.read(".terraform/modules/modules.json");
    assert!(list.contains("\"Dir\":\".terraform/modules/net/top\""), "{list}");
    registry.forget_requests();
    if let Some(get) = workspace.terraform(&registry, ["get"]) {
        get.ended_with(0);
        assert_eq!((workspace.read(".terraform/modules/modules.json"), registry.count(Endpoint::Other)), (list, 0));
    }
    let two = tar_gz(&[("a/main.tf", Entry::File("")), ("b/main.tf", Entry::File(""))]);
    let registry = registry.document("/r/two.tar.gz", "application/gzip", two);
    let refused = call(&registry, "two.tar.gz//*").tflock(&registry, LOCK).ended_with(2);
    assert!(refused.stderr.contains("several entries that fit"), "{refused}");
}

#[test]
fn announced_checksums_are_enforced() {
    let (registry, archive) = served();
    let good = sha256(&archive);
    let bad = sha256(b"");
    let registry = registry
        .document("/r/good", "text/plain", format!("{bad}  other.tar.gz\n{good} *a.tar.gz\n"))
        .document("/r/bad", "text/plain", format!("{bad}  a.tar.gz\n"))
        .document("/r/other", "text/plain", format!("{good}  other.tar.gz\n"));
    let file = |name: &str| format!("file:https://{}/r/{name}", registry.host());
    for (checksum, code) in [
        (format!("sha256:{good}"), 0),
        (good.clone(), 0),
        (format!("sha256:{bad}"), 3),
        (format!("md5:{}", "0".repeat(32)), 3),
        (format!("sha1:{}", "0".repeat(40)), 3),
        (format!("sha512:{}", "0".repeat(128)), 3),
        ("crc:00".to_owned(), 2),
        (file("good"), 0),
        (file("bad"), 3),
        (file("other"), 2),
        ("file:/etc/passwd".to_owned(), 2),
    ] {
        let run = call(&registry, &format!("a.tar.gz//top?checksum={checksum}")).tflock(&registry, LOCK);
        assert_eq!(run.code, Some(code), "{checksum}: {run}");
        assert!(code == 0 || run.stderr.contains("checksum"), "{checksum}: {run}");
    }
}

/// A changed archive is reported, unless its address has a digest.
#[test]
fn an_archive_that_changed() {
    let (registry, archive) = served();
    let fixed = call(&registry, &format!("a.tar.gz//top?checksum=sha256:{}", sha256(&archive)));
    let open = call(&registry, "a.tar.gz//top");
    for workspace in [&fixed, &open] {
        workspace.tflock(&registry, LOCK.iter().chain(&["--lock-modules"])).ended_with(0);
        workspace.tflock(&registry, ["verify"]).ended_with(0);
    }
    let other = tar_gz(&[("top/main.tf", Entry::File(&needs_widget(&registry))), ("top/x", Entry::File("x"))]);
    let registry = registry.document("/r/a.tar.gz", "application/gzip", other);
    let changed = open.tflock(&registry, ["verify"]).ended_with(3);
    assert!(changed.stdout.contains("[module-changed]"), "{changed}");
    registry.forget_requests();
    fixed.tflock(&registry, ["verify"]).ended_with(0);
    assert_eq!(registry.count(Endpoint::Other), 0);
}

/// No hash covers names that begin with a dot; but a repository is never laid out, as its configuration names programs.
#[test]
fn an_archive_brings_no_repository() {
    let (registry, _) = served();
    let workspace = call(&registry, "a.tar.gz//top");
    workspace.tflock(&registry, LOCK.iter().chain(&["--lock-modules"])).ended_with(0);
    let main = needs_widget(&registry);
    let fsmonitor = Entry::File("[core]\n\tfsmonitor = touch planted\n");
    let archive = tar_gz(&[("top/main.tf", Entry::File(&main)), ("top/.git/config", fsmonitor)]);
    let registry = registry.document("/r/a.tar.gz", "application/gzip", archive);
    for args in [&["verify"][..], &["get", "--no-cache"]] {
        let refused = workspace.tflock(&registry, args);
        assert!(matches!(refused.code, Some(2 | 4)), "{refused}");
        assert!(refused.stderr.contains("where git looks for a repository"), "{refused}");
    }
    assert!(!workspace.has(".terraform/modules/net"));
}

/// A login page says nothing of a package, not even that it lacks a checksum.
#[test]
fn a_page_is_no_archive() {
    for (media_type, page) in [("text/html", "please log in"), ("application/gzip", "\u{feff} <html></html>")] {
        let registry = widget().document("/r/a.tar.gz", media_type, page);
        for rest in ["a.tar.gz".to_owned(), format!("a.tar.gz?checksum=sha256:{}", sha256(b"x"))] {
            let unknown = call(&registry, &rest).tflock(&registry, LOCK).ended_with(4);
            assert!(unknown.stderr.contains("the server sent a page instead of an archive"), "{unknown}");
        }
    }
}

/// As servers give archives of a commit; a secret is no part of what a package is known by.
#[test]
fn parameters_distinguish_packages() {
    let (registry, one) = served();
    let other = tar_gz(&[("top/main.tf", Entry::File("locals {}\n"))]);
    let registry = registry.document("/r/a.tar.gz?revision=one&token=s3cret-token", "application/gzip", one);
    let registry = registry.document("/r/a.tar.gz?revision=two&token=s3cret-token", "application/gzip", other);
    let source =
        |revision: &str| format!("https://{}/r/a.tar.gz//top?revision={revision}&token=s3cret-token", registry.host());
    let call = |name: &str, revision: &str| format!("module {name:?} {{\n  source = {:?}\n}}\n", source(revision));
    let workspace = Workspace::with_files(&[("main.tf", &format!("{}{}", call("a", "one"), call("b", "two")))]);
    workspace.tflock(&registry, LOCK.iter().chain(&["--lock-modules"])).ended_with(0);
    let locks = workspace.read(".tflock.modules.hcl");
    assert!(locks.matches("?revision=digest:").count() == 2 && !locks.contains("s3cret"), "{locks}");
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    // The cache has no secret either, and is removed whole.
    let cache = workspace.path("").with_file_name("cache").join("v2/modules");
    let packages = || std::fs::read_dir(cache.join("packages")).unwrap().count();
    for fact in std::fs::read_dir(cache.join("facts")).unwrap() {
        let fact = std::fs::read_to_string(fact.unwrap().path()).unwrap();
        assert!(!fact.contains("s3cret"), "{fact}");
    }
    let stats = workspace.tflock(None, ["cache", "stats"]).ended_with(0);
    assert!(stats.stdout.contains("modules    2\n") && !stats.stdout.contains(" 0 B"), "{stats}");
    workspace.tflock(None, ["cache", "prune"]).ended_with(0);
    assert_eq!(packages(), 2);
    workspace.tflock(None, ["cache", "prune", "--all"]).ended_with(0);
    assert_eq!((packages(), std::fs::read_dir(cache.join("facts")).unwrap().count()), (0, 0));
    workspace.tflock(&registry, ["verify"]).ended_with(0);
}
