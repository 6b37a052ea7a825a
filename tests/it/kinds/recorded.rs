//! Whatever a unit or a module looks at counts for the gate, also where it cannot be read: a link that others follow, a file that is too
//! large, a directory that is gone. `verify --base` must not take such a root module for unchanged.

use std::path::Path;

use super::unread::denied;
use crate::support::each_is_right;
use crate::support::extent::Extent;
use crate::support::locked::{LOCK, MAIN, honest};
use crate::support::proposal::{GATE, commit};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

/// A way to read a file.
struct Reader {
    name: &'static str,
    /// What the unit says besides its source; `FILE` is the path of the file.
    unit: &'static str,
    /// The file, from the top.
    file: &'static str,
    /// What it says at the base, and what others read where it is replaced. At the base nothing but the module requires providers.
    texts: [&'static str; 2],
}

const SOURCE: &str = "terraform {\n  source = \"${get_repo_root()}/modules/net\"\n}\n";
const SAFE: &str = "locals {\n  p = \"widget\"\n}\n";
const EVIL: &str = "locals {\n  p = \"extra\"\n}\n";
const GENERATES: [&str; 2] = [
    "inputs = {}\n",
    "generate \"e\" {\n  path = \"e.tf\"\n  if_exists = \"overwrite\"\n  contents = \"provider \\\"extra\\\" {}\"\n}\n",
];

const READERS: &[Reader] = &[
    Reader { name: "include", unit: "include \"x\" {\n  path = \"FILE\"\n}\n", file: "shared/x.hcl", texts: GENERATES },
    Reader {
        name: "find_in_parent_folders",
        unit: "include \"x\" {\n  path = find_in_parent_folders(\"shared/x.hcl\")\n}\n",
        file: "live/shared/x.hcl",
        texts: GENERATES,
    },
    Reader {
        name: "find_in_parent_folders with a fallback",
        unit: "include \"x\" {\n  path = find_in_parent_folders(\"shared/x.hcl\", \"${get_repo_root()}/none.hcl\")\n}\n",
        file: "live/shared/x.hcl",
        texts: GENERATES,
    },
    Reader {
        name: "read_terragrunt_config",
        unit: "locals {\n  p = read_terragrunt_config(\"FILE\").locals.p\n}\n",
        file: "shared/x.hcl",
        texts: [SAFE, EVIL],
    },
    Reader {
        name: "read_terragrunt_config with a default",
        unit: "locals {\n  p = read_terragrunt_config(\"FILE\", { locals = { p = \"widget\" } }).locals.p\n}\n",
        file: "shared/x.hcl",
        texts: [SAFE, EVIL],
    },
    Reader {
        name: "read_terragrunt_config in try",
        unit: "locals {\n  p = try(read_terragrunt_config(\"FILE\").locals.p, \"widget\")\n}\n",
        file: "shared/x.hcl",
        texts: [SAFE, EVIL],
    },
    Reader {
        name: "file",
        unit: "locals {\n  p = trimspace(file(\"FILE\"))\n}\n",
        file: "shared/p.txt",
        texts: ["widget\n", "extra\n"],
    },
    Reader {
        name: "file in try",
        unit: "locals {\n  p = trimspace(try(file(\"FILE\"), \"widget\"))\n}\n",
        file: "shared/p.txt",
        texts: ["widget\n", "extra\n"],
    },
    Reader {
        name: "file in can",
        unit: "locals {\n  p = can(file(\"FILE\")) ? trimspace(file(\"FILE\")) : \"widget\"\n}\n",
        file: "shared/p.txt",
        texts: ["widget\n", "extra\n"],
    },
    Reader {
        name: "templatefile",
        unit: "locals {\n  p = trimspace(templatefile(\"FILE\", {}))\n}\n",
        file: "shared/p.tpl",
        texts: ["widget\n", "extra\n"],
    },
    Reader {
        name: "read_tfvars_file",
        unit: "locals {\n  p = jsondecode(read_tfvars_file(\"FILE\")).p\n}\n",
        file: "shared/p.tfvars",
        texts: ["p = \"widget\"\n", "p = \"extra\"\n"],
    },
    Reader {
        name: "yamldecode of a file",
        unit: "locals {\n  p = yamldecode(file(\"FILE\")).p\n}\n",
        file: "shared/p.yaml",
        texts: ["p: widget\n", "p: extra\n"],
    },
    Reader {
        name: "a file of variables of an included file",
        unit: "include \"x\" {\n  path = \"${get_repo_root()}/reads.hcl\"\n}\n",
        file: "shared/p.json",
        texts: ["{\"p\": \"\"}\n", "{\"p\": \"provider \\\"extra\\\" {}\"}\n"],
    },
    Reader { name: "a file of the unit", unit: "", file: "live/a/more.tf", texts: ["", "provider \"extra\" {\n}\n"] },
    Reader {
        name: "a file of the module",
        unit: "",
        file: "modules/net/more.tf",
        texts: ["", "provider \"extra\" {\n}\n"],
    },
    Reader {
        name: "a file of a directory of the unit over one of the module",
        unit: "",
        file: "live/a/below/main.tf",
        texts: ["", "provider \"extra\" {\n}\n"],
    },
];

/// What takes the place of a file: its name, and how it is made from the file's path and the text that others read.
type Replacement = (&'static str, fn(&Workspace, &str, &str));

const REPLACEMENTS: &[Replacement] = &[
    ("a link out of the tree and back in", |it, file, text| {
        it.write("e", text);
        let checkout = it.path("").file_name().unwrap().to_str().unwrap().to_owned();
        link(it, file, &format!("{}../{checkout}/e", up(file)));
    }),
    ("an absolute link into the tree", |it, file, text| {
        it.write("e", text);
        let target = it.path("e");
        link(it, file, target.to_str().unwrap());
    }),
    ("a link to nowhere", |it, file, _| link(it, file, "none")),
    ("a circle", |it, file, _| link(it, file, Path::new(file).file_name().unwrap().to_str().unwrap())),
    ("a link into .git", |it, file, text| {
        it.write(".git/e", text);
        link(it, file, &format!("{}.git/e", up(file)));
    }),
    ("a file out of the tree", |it, file, text| {
        std::fs::write(it.path("../e"), text).unwrap();
        link(it, file, &format!("{}../e", up(file)));
    }),
    ("a file that is too large", |it, file, text| {
        it.write(file, &format!("{text}\n{}", " \n".repeat(9 << 20)));
    }),
    ("a linked directory", |it, file, text| {
        let (directory, name) = file.rsplit_once('/').unwrap();
        it.write(&format!("e/{name}"), text);
        let checkout = it.path("").file_name().unwrap().to_str().unwrap().to_owned();
        if directory == "live/a" || directory == "modules/net" {
            it.write(&format!("{directory}/.keep"), "");
            return link(it, file, &format!("{}../{checkout}/e/{name}", up(file)));
        }
        std::fs::remove_dir_all(it.path(directory)).unwrap();
        std::os::unix::fs::symlink(format!("{}../{checkout}/e", up(directory)), it.path(directory)).unwrap();
    }),
    ("a directory", |it, file, _| {
        std::fs::remove_file(it.path(file)).unwrap();
        it.write(&format!("{file}/x"), "");
    }),
];

/// The way to the top from the directory that a file is in.
fn up(file: &str) -> String {
    "../".repeat(file.matches('/').count())
}

fn link(workspace: &Workspace, file: &str, target: &str) {
    std::fs::remove_file(workspace.path(file)).unwrap();
    std::os::unix::fs::symlink(target, workspace.path(file)).unwrap();
}

/// A unit that reads a file, locked, as `origin/main` has it.
fn repository(registry: &Registry, reader: &Reader) -> Workspace {
    let file = format!("${{get_repo_root()}}/{}", reader.file);
    let uses = reader.unit.contains(" p = ");
    let generate = if uses {
        "generate \"p\" {\n  path = \"p.tf\"\n  if_exists = \"overwrite\"\n  contents = \"provider \\\"${local.p}\\\" {}\"\n}\n"
    } else {
        ""
    };
    let unit = format!("{SOURCE}{}{generate}", reader.unit.replace("FILE", &file));
    let main = MAIN.replace("{{registry}}", &registry.host());
    let reads = "locals {\n  p = jsondecode(file(\"shared/p.json\")).p\n}\ngenerate \"r\" {\n  path = \"r.tf\"\n  if_exists = \"overwrite\"\n  contents = local.p\n}\n";
    let workspace = Workspace::with_files(&[
        ("modules/net/main.tf", &format!("{main}module \"below\" {{\n  source = \"./below\"\n}}\n")),
        ("modules/net/below/main.tf", ""),
        (".tflock.hcl", "tool = \"terraform\"\n"),
        ("none.hcl", "inputs = {}\n"),
        ("reads.hcl", reads),
        (reader.file, reader.texts[0]),
        ("live/a/terragrunt.hcl", &unit),
    ]);
    workspace.git(["init", "--quiet"]);
    workspace.write(&format!("live/a/{LOCK}"), &crate::support::locked::locked(registry).lock_file());
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace
}

fn gated(workspace: &Workspace, registry: &Registry) -> Run {
    workspace.tflock(registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]))
}

/// At the base each unit is read and passes; with a file in another place, or none, it never does.
#[cfg(unix)]
fn what_cannot_be_read_is_not_unchanged(extent: Extent) {
    let (registry, rows) = (honest(), extent.of(READERS, 8));
    each_is_right(&rows, |reader| {
        let mut passed = Vec::new();
        let base = repository(&registry, reader);
        let run = base.tflock(&registry, ["verify", "-r", "--offline", "--format", "json"]).ended_with(0);
        assert!(!run.stdout.contains("requirements-unread"), "{}: {run}", reader.name);
        for (name, replace) in REPLACEMENTS {
            let workspace = base.copied();
            replace(&workspace, reader.file, reader.texts[1]);
            commit(&workspace, name);
            let run = gated(&workspace, &registry);
            // The tools pass over a directory by the name of a file.
            let is_legitimate = *name == "a directory" && !run.stdout.contains("\"unchanged\": true");
            if run.code == Some(0) && !is_legitimate {
                passed.push(*name);
            }
        }
        if passed.is_empty() { Ok(()) } else { Err(format!("{}: {passed:?}", reader.name)) }
    });
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_not_unchanged_for_some_readers() {
    what_cannot_be_read_is_not_unchanged(Extent::Short);
}

#[cfg(unix)]
#[test]
#[ignore = "long"]
fn what_cannot_be_read_is_not_unchanged_for_any_reader() {
    what_cannot_be_read_is_not_unchanged(Extent::Long);
}

/// Units and modules before and after a change: what the change does, and the rules that are denied. Each passed as unchanged once.
type Way = (&'static str, &'static [(&'static str, &'static str)], fn(&Workspace), &'static [&'static str]);

const GENERATES_LENGTH: &str = "generate \"p\" {\n  path = \"p.tf\"\n  if_exists = \"overwrite\"\n  contents = length(fileset(\"${get_repo_root()}/d\", \"**\")) == 2 ? \"\" : \"provider \\\"extra\\\" {}\"\n}\n";

const WAYS: &[Way] = &[
    (
        "a file of the unit over one of the module goes",
        &[
            ("modules/net/below/main.tf", "provider \"extra\" {\n}\n"),
            ("live/a/below/main.tf", ""),
            ("live/a/terragrunt.hcl", SOURCE),
        ],
        |it| std::fs::remove_file(it.path("live/a/below/main.tf")).unwrap(),
        &["entry-missing"],
    ),
    (
        "a directory of a list goes",
        &[("d/x/f", ""), ("d/g", ""), ("live/a/terragrunt.hcl", GENERATES_LENGTH)],
        |it| std::fs::remove_file(it.path("d/x/f")).unwrap(),
        &["entry-missing"],
    ),
    (
        "a file of a test of the unit",
        &[("live/a/terragrunt.hcl", SOURCE), ("live/a/evil/main.tf", "provider \"extra\" {\n}\n")],
        |it| it.write("live/a/x.tftest.hcl", TEST),
        &["entry-missing"],
    ),
    (
        "a file in the directory of tests of the unit",
        &[("live/a/terragrunt.hcl", SOURCE), ("live/a/evil/main.tf", "provider \"extra\" {\n}\n")],
        |it| it.write("live/a/tests/x.tftest.hcl", TEST),
        &["entry-missing"],
    ),
    (
        "a generated test",
        &[("live/a/terragrunt.hcl", SOURCE), ("live/a/evil/main.tf", "provider \"extra\" {\n}\n")],
        |it| {
            let test = TEST.replace('\n', "\\n").replace('"', "\\\"");
            let generate = format!(
                "generate \"t\" {{\n  path = \"x.tftest.hcl\"\n  if_exists = \"overwrite\"\n  contents = \"{test}\"\n}}\n"
            );
            it.write("live/a/terragrunt.hcl", &format!("{SOURCE}{generate}"));
        },
        &["entry-missing"],
    ),
    (
        "a test that needs nothing more",
        &[("live/a/terragrunt.hcl", SOURCE)],
        |it| it.write("live/a/x.tftest.hcl", "run \"r\" {\n}\n"),
        &[],
    ),
    (
        "a comment of a text that is not read as configuration",
        &[
            ("text.hcl", "# widget\n"),
            (
                "live/a/terragrunt.hcl",
                "terraform {\n  source = \"${get_env(\"X\")}${file(\"${get_repo_root()}/text.hcl\")}\"\n}\nlocals {\n  t = file(\"${get_repo_root()}/text.hcl\")\n}\ngenerate \"p\" {\n  path = \"p.tf\"\n  if_exists = \"overwrite\"\n  contents = local.t\n}\n",
            ),
        ],
        |it| it.write("text.hcl", "# extra\n"),
        &["requirements-unread"],
    ),
    (
        "a comment of configuration",
        &[("live/a/terragrunt.hcl", "terraform {\n  source = get_env(\"X\")\n}\n")],
        |it| it.write("live/a/terragrunt.hcl", "# more\nterraform {\n  source = get_env(\"X\")\n}\n"),
        &[],
    ),
    (
        "what a link leads to that others follow",
        &[
            ("e.hcl", "inputs = {}\n"),
            ("live/a/terragrunt.hcl", "include \"x\" {\n  path = \"${get_repo_root()}/x.hcl\"\n}\n"),
            ("x.hcl", "link:../work/e.hcl"),
        ],
        |it| it.write("e.hcl", SOURCE),
        &["requirements-unread"],
    ),
    (
        "links that lead around",
        &[("live/a/terragrunt.hcl", GENERATES_LENGTH), ("d/a", ""), ("d/b", "")],
        |it| ["d/one", "d/two"].into_iter().for_each(|path| std::os::unix::fs::symlink(".", it.path(path)).unwrap()),
        &["requirements-unread"],
    ),
];

const TEST: &str = "run \"r\" {\n  module {\n    source = \"./evil\"\n  }\n}\n";

/// What is denied of a change of a repository, at the base of which nothing is.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn what_decides_counts_wherever_it_is() {
    let registry = honest();
    for (name, files, change, wanted) in WAYS {
        let main = MAIN.replace("{{registry}}", &registry.host());
        let call = "module \"below\" {\n  source = \"./below\"\n}\n";
        let workspace = Workspace::with_files(&[
            ("modules/net/main.tf", &format!("{main}{call}")),
            ("modules/net/below/main.tf", ""),
            (".tflock.hcl", "tool = \"terraform\"\n"),
        ]);
        for (path, text) in *files {
            match text.strip_prefix("link:") {
                Some(target) => std::os::unix::fs::symlink(target, workspace.path(path)).unwrap(),
                None => workspace.write(path, text),
            }
        }
        if !files.iter().any(|(path, text)| *path == "live/a/terragrunt.hcl" && text.contains("source")) {
            workspace.write("live/a/main.tf", &main);
        }
        workspace.git(["init", "--quiet"]);
        workspace.write(&format!("live/a/{LOCK}"), &crate::support::locked::locked(&registry).lock_file());
        commit(&workspace, "base");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        let run = gated(&workspace, &registry).ended_with(0);
        assert!(denied(&run).is_empty(), "{name}: {run}");
        change(&workspace);
        commit(&workspace, "change");
        let run = gated(&workspace, &registry);
        assert_eq!(denied(&run), *wanted, "{name}: {run}");
    }
}

/// What a name of bytes is shown as is the name of another unit.
#[cfg(target_os = "linux")]
#[test]
fn a_unit_is_not_read_by_another_name() {
    use std::os::unix::ffi::OsStrExt as _;
    let registry = honest();
    let workspace = Workspace::with_files(&[
        ("modules/net/main.tf", &MAIN.replace("{{registry}}", &registry.host())),
        (".tflock.hcl", "tool = \"terraform\"\n"),
        ("live/\u{fffd}/terragrunt.hcl", SOURCE),
    ]);
    let lock = crate::support::locked::locked(&registry).lock_file();
    workspace.write(&format!("live/\u{fffd}/{LOCK}"), &lock);
    workspace.git(["init", "--quiet"]);
    let run = workspace.tflock(&registry, ["verify", "-r", "--offline", "--format", "json"]).ended_with(0);
    assert!(!run.stdout.contains("requirements-unread"), "{run}");
    let twin = workspace.path("live").join(std::ffi::OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&twin).unwrap();
    std::fs::write(twin.join("terragrunt.hcl"), "terraform {\n  source = \"../../modules/other\"\n}\n").unwrap();
    std::fs::write(twin.join(LOCK), &lock).unwrap();
    workspace.tflock(&registry, ["verify", "-r", "--offline", "--format", "json"]).ended_with(2);
}
