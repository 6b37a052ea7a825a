//! `verify --installed`, and `verify --offline` of what is installed: is it what is locked, however a tool laid it out?

use super::archives::Entry::{File, HardLink};
use super::archives::tar_gz;
use super::git::{Repository, needs_widget, workspace};
use super::{CALL, world};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

const LOCK_MODULES: [&str; 4] = ["lock", "--platform", "linux_amd64", "--lock-modules"];
const INSTALLED: &str = ".terraform/modules/net";

/// Forgets what was fetched.
fn without_cache(workspace: &Workspace) {
    let _absent = std::fs::remove_dir_all(workspace.path("").with_file_name("cache").join("v2/modules"));
}

#[test]
fn what_is_installed_is_compared() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    // Nothing is installed, which is no fault.
    workspace.tflock(&registry, ["verify", "--installed"]).ended_with(0);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    workspace.tflock(&registry, ["verify", "--installed"]).ended_with(0);
    let main = format!("{INSTALLED}/main.tf");
    let text = workspace.read(&main);
    for (file, doctored) in [("main.tf", format!("{text}# more\n")), ("more.tf", "# beside\n".to_owned())] {
        workspace.write(&format!("{INSTALLED}/{file}"), &doctored);
        let refused = workspace.tflock(&registry, ["verify", "--installed"]).ended_with(3);
        assert!(refused.stdout.contains("[installed-differs]") && refused.stdout.contains(file), "{refused}");
        assert!(refused.stdout.contains("next: `tflock get`"), "{refused}");
        // By default the locked content counts and not what is installed.
        workspace.tflock(&registry, ["verify"]).ended_with(0);
        workspace.write(&main, &text);
    }
    std::fs::remove_file(workspace.path(&format!("{INSTALLED}/more.tf"))).unwrap();
    std::fs::remove_file(workspace.path(&main)).unwrap();
    let refused = workspace.tflock(&registry, ["verify", "--installed", "--offline"]).ended_with(3);
    assert!(refused.stdout.contains("main.tf differs"), "{refused}");
    workspace.tflock(&registry, ["get"]).ended_with(0);
    workspace.tflock(&registry, ["verify", "--installed", "--offline"]).ended_with(0);
    // Another version, and another source.
    let list = workspace.read(".terraform/modules/modules.json");
    for (from, to, says) in [("1.1.0", "1.0.0", "is installed in 1.0.0"), ("acme/net", "evil/net", "is installed from")]
    {
        workspace.write(".terraform/modules/modules.json", &list.replace(from, to));
        let refused = workspace.tflock(&registry, ["verify", "--installed"]).ended_with(3);
        assert!(refused.stdout.contains(says), "{refused}");
    }
}

#[test]
fn offline_what_is_installed_is_judged_where_it_was_read() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    without_cache(&workspace);
    registry.forget_requests();
    workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
    // Line ends alone may be those of a checkout.
    let main = format!("{INSTALLED}/main.tf");
    let text = workspace.read(&main);
    workspace.write(&main, &text.replace('\n', "\r\n"));
    workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
    // What else differs is not known to be wrong, and not good either.
    workspace.write(&main, &format!("{text}# more\n"));
    let unknown = workspace.tflock(&registry, ["verify", "--offline"]).ended_with(4);
    assert!(unknown.stderr.contains("do not have the locked hash"), "{unknown}");
    assert!(registry.requests().is_empty());
    assert!(unknown.stderr.contains("`tflock get` installs what is locked"), "{unknown}");
    workspace.tflock(&registry, ["get"]).ended_with(0);
    workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
}

/// Installs with `init`, and holds that to what is locked, with what was fetched and without.
fn honest(registry: &Registry, workspace: &Workspace) {
    workspace.tflock(registry, LOCK_MODULES).ended_with(0);
    let Some(init) = workspace.terraform(registry, ["get"]) else { return };
    init.ended_with(0);
    workspace.tflock(registry, ["verify", "--installed"]).ended_with(0);
    workspace.tflock(registry, ["verify", "--installed", "--offline"]).ended_with(0);
    without_cache(workspace);
    workspace.tflock(registry, ["verify", "--installed"]).ended_with(0);
}

/// What `terraform get` makes of an honest repository passes.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn checkouts_may_convert_line_ends() {
    let (registry, repository) = (widget(), Repository::new());
    let attributes = "unix.txt text eol=crlf\nleft.txt export-ignore\n";
    for (file, text) in [
        (".gitattributes", attributes),
        (".hidden/x", "x\n"),
        ("unix.txt", "one\ntwo\n"),
        ("id.txt", "$Id$ and $Id$\n"),
        ("left.txt", "left\n"),
        ("mixed.txt", "a\r\nb\n"),
        ("main.tf", &needs_widget(&registry)),
    ] {
        repository.0.write(file, text);
    }
    std::os::unix::fs::symlink("unix.txt", repository.0.path("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", repository.0.path("broken")).unwrap();
    repository.commit("more.txt", "more\n");
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, "");
    let call = workspace.read("main.tf");
    // The second copy is without what begins with a dot.
    workspace.write("main.tf", &format!("{call}{}", call.replace("\"net\"", "\"twin\"")));
    honest(&registry, &workspace);
    if workspace.has(INSTALLED) {
        assert!(workspace.read(&format!("{INSTALLED}/unix.txt")).contains("\r\n"));
        // But nothing else may differ there.
        workspace.write(&format!("{INSTALLED}/id.txt"), "$Id: x $ and more\n");
        let refused = workspace.tflock(&registry, ["verify", "--installed"]).ended_with(3);
        assert!(refused.stdout.contains("id.txt differs"), "{refused}");
    }
}

/// What is in the place of a file is neither followed nor opened, and nothing but a name is folded into `$Id$`.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn what_a_tool_never_installs() {
    let (registry, repository) = (widget(), Repository::new());
    repository.0.write("id.tf", "locals {\n  x = [\"$Id$\"]\n}\n");
    repository.commit("main.tf", &needs_widget(&registry));
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, "");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    let id = format!("{INSTALLED}/id.tf");
    let text = workspace.read(&id);
    workspace.write(&id, &text.replace("$Id$", "$Id: \", file(\"/etc/hostname\"), \" $"));
    let refused = workspace.tflock(&registry, ["verify", "--installed"]).ended_with(3);
    assert!(refused.stdout.contains("id.tf differs"), "{refused}");
    // A device that never ends.
    std::fs::remove_file(workspace.path(&id)).unwrap();
    std::os::unix::fs::symlink("/dev/zero", workspace.path(&id)).unwrap();
    let refused = workspace.tflock(&registry, ["verify", "--installed"]).ended_with(3);
    assert!(refused.stdout.contains("id.tf differs"), "{refused}");
}

/// A checkout may replace what Git LFS stores, by the object that it names.
#[test]
#[ignore = "long"]
fn an_object_of_lfs_says_what_it_is() {
    let (registry, repository) = (widget(), Repository::new());
    let object = "the object\n";
    let oid = crate::support::packages::sha256(object.as_bytes());
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 11\n");
    repository.0.write(".gitattributes", "*.bin filter=lfs\n");
    repository.0.write("large.bin", &pointer);
    repository.commit("main.tf", &needs_widget(&registry));
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, "");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    for (text, code) in [(&*pointer, 0), (object, 0), ("another object\n", 3)] {
        workspace.write(&format!("{INSTALLED}/large.bin"), text);
        workspace.tflock(&registry, ["verify", "--installed"]).ended_with(code);
    }
}

/// A second name of a file in an archive is an empty file, and what begins with a dot is left out of second copies.
#[test]
fn archives_lose_their_hard_links() {
    let registry = widget();
    let needs_widget = needs_widget(&registry);
    let archive = tar_gz(&[
        ("main.tf", File(&needs_widget)),
        ("real/x.txt", File("x\n")),
        ("second", HardLink("real/x.txt")),
        (".hidden/x", File("x\n")),
    ]);
    let registry = registry.document("/a.tar.gz", "application/gzip", archive);
    let call = format!("module \"net\" {{\n  source = \"https://{}/a.tar.gz\"\n}}\n", registry.host());
    honest(&registry, &Workspace::with_files(&[("main.tf", &call)]));
}
