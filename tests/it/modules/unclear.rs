//! Packages that their hash would not tell from others, or that a tool would read as others.

use super::archives::Entry::{File, HardLink, Link};
use super::archives::tar_gz;
use super::git::{Repository, needs_widget, workspace};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, widget};

const LOCK_MODULES: [&str; 4] = ["lock", "--platform", "linux_amd64", "--lock-modules"];
const INSTALLED: &str = ".terraform/modules/net";

fn calling(registry: &Registry) -> Workspace {
    let call = format!("module \"net\" {{\n  source = \"https://{}/a.tar.gz\"\n}}\n", registry.host());
    Workspace::with_files(&[("main.tf", &call)])
}

/// A file that may turn into a link without another hash is not locked; without locks it is no matter.
#[test]
fn a_file_that_could_be_a_link_is_not_locked() {
    let archive = tar_gz(&[("main.tf", File("# a\n")), ("#evil", File("output \"x\" {}\n")), ("x.tf", File("#evil"))]);
    let registry = widget().document("/a.tar.gz", "application/gzip", archive);
    let workspace = calling(&registry);
    let refused = workspace.tflock(&registry, LOCK_MODULES).ended_with(2);
    assert!(refused.stderr.contains("the file \"x.tf\" holds nothing but \"#evil\""), "{refused}");
    assert!(!workspace.has(".tflock.modules.hcl"));
    workspace.tflock(&registry, LOCK).ended_with(0);
}

/// What turns into such a file later, or into the second name of a file, which the tools unpack as an empty one.
#[test]
fn what_an_archive_turns_into() {
    let guard = "output \"x\" {}\n";
    let with = |entry| tar_gz(&[("main.tf", File("# a\n")), ("#guard", File(guard)), ("guard.tf", entry)]);
    for (before, after, code) in [(Link("#guard"), File("#guard"), 2), (File(guard), HardLink("#guard"), 3)] {
        let registry = widget().document("/a.tar.gz", "application/gzip", with(before));
        let workspace = calling(&registry);
        workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
        workspace.tflock(&registry, ["verify"]).ended_with(0);
        let registry = registry.document("/a.tar.gz", "application/gzip", with(after));
        let refused = workspace.tflock(&registry, ["verify"]).ended_with(code);
        let says = format!("{}{}", refused.stdout, refused.stderr);
        assert!(says.contains("would have the same hash") || says.contains("[module-changed]"), "{refused}");
        workspace.tflock(&registry, ["verify", "--no-cache"]).ended_with(if code == 3 { 3 } else { 2 });
    }
}

/// A link that was a file, and one that became a file, have one hash; what is installed is compared then.
#[cfg(unix)]
#[test]
fn what_is_installed_is_a_link_or_not() {
    let (registry, repository) = (widget(), Repository::new());
    repository.0.write("#real", "# real\n");
    repository.0.write("x.tf", "# x\n");
    std::os::unix::fs::symlink("#real", repository.0.path("l.tf")).unwrap();
    repository.commit("main.tf", &needs_widget(&registry));
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, "");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    workspace.tflock(&registry, ["get"]).ended_with(0);
    workspace.tflock(&registry, ["verify", "--installed"]).ended_with(0);
    let place = format!("{INSTALLED}/l.tf");
    std::fs::remove_file(workspace.path(&place)).unwrap();
    workspace.write(&place, "#real");
    let refused = workspace.tflock(&registry, ["verify", "--installed"]).ended_with(3);
    assert!(refused.stdout.contains("l.tf differs"), "{refused}");
}

/// Configuration that is reached over a name which no hash covers; other files may be.
#[cfg(unix)]
#[test]
fn links_to_hidden_configuration() {
    let (registry, repository) = (widget(), Repository::new());
    let links = [
        ("a", "main.tf", ".h/main.tf"),
        ("b", "main.tf", ".h/../real.tf"),
        ("c", "more.tofu", ".l"),
        ("d", "sub", ".real"),
        ("e", "README.md", ".h/main.tf"),
        ("f", "more.tf", "real.tf"),
    ];
    for (folder, link, target) in links {
        repository.0.write(&format!("{folder}/.h/main.tf"), "# hidden\n");
        repository.0.write(&format!("{folder}/real.tf"), "# real\n");
        std::os::unix::fs::symlink("real.tf", repository.0.path(&format!("{folder}/.l"))).unwrap();
        std::os::unix::fs::symlink(target, repository.0.path(&format!("{folder}/{link}"))).unwrap();
    }
    repository.0.write("d/real/main.tf", "# real\n");
    std::os::unix::fs::symlink("real", repository.0.path("d/.real")).unwrap();
    repository.commit("d/main.tf", "module \"inner\" {\n  source = \"./sub\"\n}\n");
    let registry = repository.served_by(registry);
    let call = |(folder, ..): &(&str, &str, &str)| {
        let source = format!("git::https://{}/net.git//{folder}", registry.host());
        format!("module \"{folder}\" {{\n  source = {source:?}\n}}\n")
    };
    let workspace = workspace(&registry, "");
    workspace.write("main.tf", &links.iter().map(call).collect::<String>());
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let run = workspace.tflock(&registry, ["verify"]).ended_with(1);
    assert!(run.stdout.contains("begins with a dot, which no hash covers"), "{run}");
    let told = links.map(|(folder, ..)| run.stdout.contains(&format!("module {folder} is read from a place")));
    assert_eq!(told, [true, true, true, true, false, false], "{run}");
}

/// With other attributes the same bytes are checked out as another text.
#[test]
fn configuration_in_another_encoding_is_refused() {
    let (registry, repository) = (widget(), Repository::new());
    repository.commit("main.tf", &needs_widget(&registry));
    repository.commit(".gitattributes", "*.ps1 working-tree-encoding=UTF-16LE\n*.tf text eol=lf\n");
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, "");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    repository.commit(".gitattributes", "*.tf working-tree-encoding=SHIFT_JIS\n");
    let registry = repository.served_by(registry);
    let says = "its .gitattributes have git write \"main.tf\" in another encoding";
    for args in [&["verify"][..], &["verify", "--no-cache"]] {
        let refused = workspace.tflock(&registry, args).ended_with(2);
        assert!(refused.stderr.contains(says), "{refused}");
    }
    let new = super::git::workspace(&registry, "");
    let refused = new.tflock(&registry, LOCK).ended_with(2);
    assert!(refused.stderr.contains(says), "{refused}");
}
