//! Submodules that git takes and no hash covers.

use super::{Repository, World};

/// `{inner}` is the repository of the submodules. Each has a submodule at `m`.
const REFUSED: [(&str, &str); 17] = [
    (
        "[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n\tupdate = none\n[submodule \"b\"]\n\tpath = m\n\turl = {inner}\n",
        "\"m\"",
    ),
    ("[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n[submodule \"b\"]\n\tpath = m\n\turl = {inner}\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n\tupdate = none\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n\tupdate = !touch x\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n\tupdate = merge\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n\tupdate\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n\tupdate = checkout\n\tupdate = none\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n[submodule \"a\"]\n\tupdate = none\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n\turl = {inner}/other\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = other\n\tpath = m\n\turl = {inner}\n", "\"m\""),
    ("[submodule \"a\"]\n\turl = {inner}\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m\n\turl =\n", "\"m\""),
    ("", "\"m\""),
    ("[submodule \"a\"]\n\tpath = m/\n\turl = {inner}\n", "\"m\""),
    ("[submodule \"a\"]\n\tpath = M\n\turl = {inner}\n", "\"m\""),
    (
        "[submodule \"a\"]\n\tpath = m\n\turl = {inner}\n[submodule \"b\"]\n\tpath = gone\n\turl = {inner}\n",
        "\"b\" of .gitmodules is for no",
    ),
];

fn with_submodule(repository: &Repository<'_>, modules: &str, commit: &str) {
    repository.write(".gitmodules", &modules.replace("{inner}", "../inner"));
    repository.git(&["add", ".gitmodules"]);
    repository.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},m")]);
    repository.git(&["commit", "--quiet", "-m", "with a submodule"]);
}

#[test]
#[ignore = "long"]
fn what_is_not_one_section_for_each_submodule_is_not_locked() {
    let world = World::new();
    let commit = world.repository("inner").with("inner.tf", "# inner\n");
    for (at, (modules, _)) in REFUSED.iter().enumerate() {
        let repository = world.repository(&format!("r{at}"));
        with_submodule(&repository, modules, &commit);
        world.call(&format!("m{at}"), &repository.name, "");
    }
    let refused = world.refused();
    for (at, (modules, reason)) in REFUSED.iter().enumerate() {
        let said = refused.get(&format!("m{at}")).unwrap_or_else(|| panic!("{modules} is locked"));
        assert!(said.contains(reason) && said.contains("no update but checkout"), "{modules}: {said}");
    }
}

#[test]
#[ignore = "long"]
fn ordinary_submodules_are_locked_and_installed() {
    let world = World::new();
    let commit = world.repository("inner").with("inner.tf", "# inner\n");
    for (at, modules) in [
        "[submodule \"m\"]\n\tpath = m\n\turl = {inner}\n",
        "[submodule \"other name\"]\n\tpath = m\n\turl = {inner}\n\tbranch = main\n\tshallow = true\n",
        "[submodule \"m\"]\n\tpath = m\n\turl = {inner}\n\tupdate = checkout\n\tignore = dirty\n",
        "# comment\n[Submodule \"m\"]\n\tPath = m\n\tUrl = {inner}\n\tfetchRecurseSubmodules = false\n",
        "[submodule \"m\"]\n\tpath = m\n\turl = ../inner\n",
    ]
    .into_iter()
    .enumerate()
    {
        let repository = world.repository(&format!("r{at}"));
        with_submodule(&repository, modules, &commit);
        world.call(&format!("m{at}"), &repository.name, "");
    }
    // Where there is no submodule, what the file says of others is no matter.
    let none = world.repository("none");
    none.with(".gitmodules", "[submodule \"gone\"]\n\tpath = gone\n\turl = https://example.com/x\n");
    world.call("none", "none", "");
    assert_eq!(world.refused(), [].into());
    world.0.tflock(None, ["verify"]).ended_with(0);
    world.installs_what_is_locked();
}

/// Attributes of a submodule are about its own files, and those of the repository are not about the submodule.
#[test]
fn attributes_of_submodules() {
    let world = World::new();
    let inner = world.repository("inner");
    let plain = inner.with("keyword.sh", "# $Id$\n");
    let expanded = inner.with(".gitattributes", "* ident\n");
    let section = "[submodule \"m\"]\n\tpath = m\n\turl = {inner}\n";
    let outer = world.repository("outer");
    outer.write(".gitattributes", "* ident\n");
    with_submodule(&outer, section, &plain);
    outer.commit();
    world.call("outer", "outer", "");
    let both = world.repository("both");
    with_submodule(&both, section, &expanded);
    world.call("both", "both", "");
    assert_eq!(world.refused().into_keys().collect::<Vec<_>>(), ["both"]);
}

/// The attack: the section of a submodule is edited under the same tag.
#[test]
fn a_section_that_changes_later() {
    let world = World::new();
    let commit = world.repository("inner").with("inner.tf", "# inner\n");
    let net = world.repository("net");
    with_submodule(&net, "[submodule \"m\"]\n\tpath = m\n\turl = {inner}\n", &commit);
    net.git(&["tag", "v1"]);
    world.call("main", "net", "?ref=v1");
    world.0.tflock(None, ["lock", "--lock-modules"]).ended_with(0);
    let text = world.0.read("net/.gitmodules");
    for (edit, rule) in [("\tupdate = none\n", "module-ambiguous"), ("\tbranch = other\n", "module-changed")] {
        net.write(".gitmodules", &format!("{text}{edit}"));
        net.git(&["add", ".gitmodules"]);
        net.git(&["commit", "--quiet", "-m", "other"]);
        net.git(&["tag", "--force", "v1"]);
        let run = world.0.tflock(None, ["verify"]).ended_with(3);
        assert!(run.stdout.contains(rule), "{edit}: {run}");
    }
}
