//! Packages that their hash would not distinguish from others, or that a tool would read as others.

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
    let refused = workspace.tflock(&registry, LOCK_MODULES).ended_with(3);
    assert!(refused.stdout.contains("the file \"x.tf\" contains only \"#evil\""), "{refused}");
    assert!(!workspace.has(".tflock.modules.hcl"));
    workspace.tflock(&registry, LOCK).ended_with(0);
}

/// What turns into a link later, or into the second name of a file: the tools unpack both as files.
#[test]
fn what_an_archive_turns_into() {
    let guard = "output \"x\" {}\n";
    let with = |entry| tar_gz(&[("main.tf", File("# a\n")), ("#guard", File(guard)), ("guard.tf", entry)]);
    for (after, rule) in [(Link("#guard"), "[module-ambiguous]"), (HardLink("#guard"), "[module-changed]")] {
        let registry = widget().document("/a.tar.gz", "application/gzip", with(File(guard)));
        let workspace = calling(&registry);
        workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
        workspace.tflock(&registry, ["verify"]).ended_with(0);
        let registry = registry.document("/a.tar.gz", "application/gzip", with(after));
        for more in [&[][..], &["--no-cache"]] {
            let refused = workspace.tflock(&registry, ["verify"].iter().chain(more)).ended_with(3);
            assert!(refused.stdout.contains(rule) || !more.is_empty(), "{refused}");
        }
    }
}

/// The tools make a file of a link in an archive, and `get` would not: neither is locked.
#[test]
fn links_in_archives_are_not_locked() {
    for link in [Link("real.tf"), Link("nowhere"), Link("sub")] {
        let archive =
            tar_gz(&[("main.tf", File("# a\n")), ("real.tf", File("# b\n")), ("sub/x.txt", File("x\n")), ("l", link)]);
        let registry = widget().document("/a.tar.gz", "application/gzip", archive);
        let workspace = calling(&registry);
        let refused = workspace.tflock(&registry, LOCK_MODULES).ended_with(3);
        let says = "\"l\" is a link, and the tools unpack it as a file";
        assert!(refused.stdout.contains("[module-ambiguous]") && refused.stdout.contains(says), "{refused}");
        assert!(!workspace.has(".tflock.modules.hcl"));
        workspace.tflock(&registry, LOCK).ended_with(0);
    }
}

/// A link that was a file, and one that became a file, have one hash; what is installed is compared then.
#[cfg(unix)]
#[test]
#[ignore = "long"]
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
    let shown = links.map(|(folder, ..)| run.stdout.contains(&format!("module {folder} is read from a place")));
    assert_eq!(shown, [true, true, true, true, false, false], "{run}");
}
