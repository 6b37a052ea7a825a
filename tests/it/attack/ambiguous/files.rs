//! Files that a checkout changes.

use super::{World, ambiguous};

/// The text of `.gitattributes`, the text of another file, and a part of the reason.
const CHANGES: [(&str, &str, &str, &str); 22] = [
    (".gitattributes", "*.tf ident\n", "$Id$", "changes"),
    (".gitattributes", "*.tf ident\n", "# \"$Id:\"/*$\"", "changes"),
    (".gitattributes", "* text=auto ident\n", "$Id: 1.2 $", "changes"),
    (".gitattributes", "* ident=yes\n", "$Id$", "changes"),
    (".gitattributes", "[attr]keyword ident\n*.tf keyword\n", "$Id$", "changes"),
    (".gitattributes", "[attr]a b\n[attr]b ident\n*.tf a\n", "$Id$", "changes"),
    (".gitattributes", "\"*.tf\"ident\n", "$Id$", "changes"),
    (".gitattributes", "*.md -ident\n*.tf ident\n", "$Id$", "changes"),
    ("sub/.gitattributes", "* ident\n", "$Id$", "sub/.gitattributes has ident"),
    (".hidden/.gitattributes", "* ident\n", "$Id$", "has ident"),
    (".gitattributes", "*.txt working-tree-encoding=ASCII//TRANSLIT\n", "", "working-tree-encoding=ASCII"),
    (".gitattributes", "*.ps1 working-tree-encoding=UTF-16LE eol=crlf\n", "", "working-tree-encoding"),
    (".gitattributes", "*.tf working-tree-encoding=SHIFT_JIS\n", "", "working-tree-encoding"),
    (".gitattributes", "[attr]sjis working-tree-encoding=SHIFT_JIS\n*.x sjis\n", "", "working-tree-encoding"),
    ("docs/.gitattributes", "*.txt working-tree-encoding=UTF-16\n", "", "docs/.gitattributes: working-tree-encoding"),
    (".gitattributes", "*.key filter=git-crypt diff=git-crypt\n", "", "filter=git-crypt"),
    (".gitattributes", "*.tf filter=x\n", "", "filter=x"),
    (".gitattributes", "*.bin filter=LFS\n", "", "filter=LFS"),
    (".gitattributes", "[attr]large filter=annex\n", "", "filter=annex"),
    (".gitattributes", "\"a b\"filter=x\n", "", "filter=x"),
    (".GitAttributes", "*.tf text\n", "", ".GitAttributes"),
    ("sub/GITATT~1", "*.tf text\n", "", "GITATT~1"),
];

#[test]
#[ignore = "long"]
fn what_a_checkout_changes_is_not_locked() {
    let world = World::new();
    for (at, (attributes, text, content, _)) in CHANGES.iter().enumerate() {
        let repository = world.repository(&format!("r{at}"));
        repository.write(attributes, text);
        repository.with("keyword.sh", &format!("{content}\n"));
        world.call(&format!("m{at}"), &repository.name, "");
    }
    let refused = world.refused();
    for (at, (attributes, text, _, reason)) in CHANGES.iter().enumerate() {
        let said = refused.get(&format!("m{at}")).unwrap_or_else(|| panic!("{attributes} {text} is locked"));
        assert!(
            said.contains(reason.trim_end_matches('s')) && said.contains("keep a copy of the module"),
            "{text}: {said}"
        );
    }
    // Without module locks they are read.
    world.0.tflock(None, ["lock"]).ended_with(0);
}

#[test]
#[ignore = "long"]
fn honest_attributes_are_no_matter() {
    let world = World::new();
    for (at, (file, text)) in [
        (".gitattributes", "* text=auto\n*.sh text eol=lf\n*.bat text eol=crlf\n"),
        (".gitattributes", "*.png binary\n*.jpg -text -diff\n"),
        (".gitattributes", "/docs export-ignore\n/.github export-ignore\n"),
        (".gitattributes", "*.tf linguist-language=HCL\ndocs/* linguist-documentation\n*.md linguist-generated=true\n"),
        (".gitattributes", "README.md merge=union\n.terraform.lock.hcl merge=tflock diff=tflock\n"),
        (".gitattributes", "# no ident, no filter=x, no working-tree-encoding=x\n"),
        (".gitattributes", "*.tf -ident !filter -working-tree-encoding\n"),
        (".gitattributes", "*.ps1 text working-tree-encoding=UTF-8\n"),
        ("sub/.gitattributes", "* text eol=lf\n"),
        (".gitignore", "*.tf ident filter=x\n"),
        ("docs/gitattributes", "* filter=x ident\n"),
        ("README.md", "working-tree-encoding=x filter=x ident\n"),
    ]
    .into_iter()
    .enumerate()
    {
        let repository = world.repository(&format!("r{at}"));
        // Old scripts have such a text; no attribute says that it is expanded.
        repository.write("old.sh", "# $Id: old.sh 12 2001-01-01 $\n# $Id$\n");
        repository.write("run.bat", "echo\n");
        repository.write(file, text);
        repository.commit();
        world.call(&format!("m{at}"), &repository.name, "");
    }
    // With the attribute, but without such a text.
    let ident = world.repository("ident");
    ident.with(".gitattributes", "*.tf ident\n");
    world.call("ident", "ident", "");
    // Files of this clone that are not committed do not matter.
    let own = world.repository("own");
    own.with("old.sh", "$Id$\n");
    world.0.write("own/.git/info/attributes", "* ident filter=x\n");
    world.call("own", "own", "");
    assert_eq!(world.refused(), [].into());
    world.0.tflock(None, ["verify"]).ended_with(0);
    world.installs_what_is_locked();
}

/// The attack: the blobs and their hash stay, and the tag leads to a commit with other attributes.
#[test]
#[ignore = "long"]
fn attributes_that_come_later() {
    for (file, text, rule) in [
        (".gitattributes", "*.tf ident\n", "module-ambiguous"),
        (".gitattributes", "*.txt working-tree-encoding=ASCII//TRANSLIT\n", "module-ambiguous"),
        ("sub/.gitattributes", "* filter=x\n", "module-ambiguous"),
        // By itself harmless; but it is in no hash.
        (".gitattributes", "*.tf text eol=crlf\n", "module-changed"),
        (".gitattributes", "*.bin filter=lfs\n", "module-changed"),
    ] {
        let world = World::new();
        let net = world.repository("net");
        net.with("main.tf", "locals {\n  a = [\"$Id:\"/*$\", file(\"/etc/passwd\"), \"*/]\n}\n");
        net.git(&["tag", "v1"]);
        world.call("main", "net", "?ref=v1");
        world.0.tflock(None, ["lock", "--lock-modules"]).ended_with(0);
        let locks = world.0.read(super::LOCKS);
        net.with(file, text);
        net.git(&["tag", "--force", "v1"]);
        for more in [&[][..], &["--no-cache"]] {
            let run = world.0.tflock(None, ["verify", "--format", "json"].iter().chain(more)).ended_with(3);
            assert!(run.stdout.contains(rule), "{text}: {run}");
        }
        // Other files that are in no hash do not say what others become.
        net.git(&["checkout", "--quiet", "HEAD~1"]);
        net.with(".github/x.yml", "on: push\n");
        net.git(&["tag", "--force", "v1"]);
        world.0.tflock(None, ["verify"]).ended_with(0);
        assert_eq!(world.0.read(super::LOCKS), locks);
    }
}

/// A lock that an earlier version wrote for such a package.
#[test]
fn a_lock_of_what_a_checkout_changes_is_denied() {
    let world = World::new();
    let net = world.repository("net");
    net.with("main.tf", "# $Id$\n");
    world.call("main", "net", "?ref=main");
    world.0.tflock(None, ["lock", "--lock-modules"]).ended_with(0);
    let old = net.git(&["rev-parse", "HEAD"]);
    let commit = net.with(".gitattributes", "* ident\n");
    world.0.write(super::LOCKS, &world.0.read(super::LOCKS).replace(&old, &commit));
    let run = world.0.tflock(None, ["verify", "--format", "json"]).ended_with(3);
    assert_eq!(ambiguous(&run).len(), 1, "{run}");
    // It was read before, so no server is needed.
    let run = world.0.tflock(None, ["verify", "--offline", "--format", "json"]).ended_with(3);
    assert_eq!(ambiguous(&run).len(), 1, "{run}");
}

/// The tools check out the default branch before a `ref` without `depth`, and git leaves files alone that both have.
#[test]
#[ignore = "long"]
fn attributes_of_the_default_branch() {
    for (attributes, is_denied) in
        [("* ident\n", true), ("*.sh working-tree-encoding=ISO-8859-1\n", true), ("* text=auto\n", false)]
    {
        let world = World::new();
        let net = world.repository("net");
        let commit = net.with("keyword.sh", "# $Id$\n");
        net.git(&["tag", "v1"]);
        world.call("deep", "net", "?ref=v1&depth=1");
        world.0.tflock(None, super::LOCK_MODULES).ended_with(0);
        net.with(".gitattributes", attributes);
        world.0.tflock(None, ["verify"]).ended_with(0);
        world.installs_what_is_locked();
        for query in ["?ref=v1".to_owned(), "?ref=refs/tags/v1".to_owned(), format!("?ref={commit}")] {
            let world = World::new();
            let net = world.repository("net");
            net.with("keyword.sh", "# $Id$\n");
            net.git(&["tag", "v1"]);
            let query = query.replace(&commit, &net.git(&["rev-parse", "HEAD"]));
            world.call("main", "net", &query);
            world.0.tflock(None, super::LOCK_MODULES).ended_with(0);
            net.with("more.tf", "# more\n");
            world.0.tflock(None, ["verify"]).ended_with(0);
            net.with(".gitattributes", attributes);
            let run = world.0.tflock(None, ["verify"]).ended_with(if is_denied { 3 } else { 0 });
            let says = "the tools check out the default branch first";
            assert_eq!(run.stdout.contains("[module-ambiguous]") && run.stdout.contains(says), is_denied, "{run}");
            if !is_denied {
                world.installs_what_is_locked();
            }
            // What `verify` denies is not locked in the first place.
            std::fs::remove_file(world.0.path(".tflock.modules.hcl")).unwrap();
            let again = super::LOCK_MODULES.iter().chain(&["--no-cache"]);
            let run = world.0.tflock(None, again).ended_with(if is_denied { 3 } else { 0 });
            assert_eq!((run.stdout + &run.stderr).contains(says), is_denied);
        }
    }
}
