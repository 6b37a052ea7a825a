//! Documents: what they link to is there, and commands that they show exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::schema::members;
use crate::support::workspace::Workspace;
use crate::support::yaml::document;

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// README and all pages of `docs/`, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = vec![Path::new(TOP).join("README.md")];
    for folder in ["docs", "docs/ci", "docs/dev", "docs/topics"] {
        let entries = std::fs::read_dir(Path::new(TOP).join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    pages.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The anchors of a page, as GitHub makes them from its headings.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.split("```").step_by(2).flat_map(str::lines).filter(|line| line.starts_with('#'));
    let kept = |c: &char| c.is_alphanumeric() || ['-', '_', ' '].contains(c);
    headings
        .map(|line| {
            line.trim_start_matches(['#', ' '])
                .to_lowercase()
                .chars()
                .filter(kept)
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut checked = 0;
    for (path, text) in pages() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if file.contains("://") {
                continue;
            }
            let found = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(found.exists(), "{}: {target}", path.display());
            let has = || anchors(&std::fs::read_to_string(&found).unwrap()).iter().any(|it| it == anchor);
            assert!(anchor.is_empty() || has(), "{}: {target}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

/// `tflock COMMAND` between backticks or at the start of a line names a command.
#[test]
fn commands_that_are_shown_exist() {
    let workspace = Workspace::with_files(&[]);
    let help = workspace.tflock(None, ["help", "--all"]).ended_with(0).stdout;
    let commands: Vec<&str> =
        help.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    let mut checked = 0;
    for (path, text) in pages() {
        let shown = text.split("`tflock ").skip(1).chain(text.split("$ tflock ").skip(1));
        for word in shown.filter_map(|rest| rest.split([' ', '`', '\n']).next()) {
            if word.starts_with(|c: char| c.is_ascii_lowercase()) {
                assert!(commands.contains(&word) || word == "providers", "{}: tflock {word}", path.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 20);
}

/// Whoever takes a page or a recipe over puts in the owner of the project once.
#[test]
fn a_page_names_the_owner_in_one_place() {
    // `uses` takes no variable, and the two jobs need the action.
    const TWICE: &str = "docs/ci/github-gate.yml";
    let recipes = std::fs::read_dir(Path::new(TOP).join("docs/ci")).unwrap().map(|entry| entry.unwrap().path());
    let recipes = recipes.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()));
    for (path, text) in pages().into_iter().chain(recipes) {
        let count = text.matches("OWNER").count() - text.matches("OWNERS").count();
        assert!(count <= if path.ends_with(TWICE) { 2 } else { 1 }, "{}: {count}", path.display());
    }
}

/// The table of JSON documents has every command and every member, and none that is not there.
#[test]
fn the_table_of_documents_is_that_of_the_schema() {
    let page = std::fs::read_to_string(Path::new(TOP).join("docs/json.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let quoted = |cell: &str| cell.split('`').map(str::to_owned).collect::<Vec<_>>();
    let (mut commands, mut named) = (BTreeSet::new(), BTreeSet::new());
    for (command, members) in rows {
        commands.extend(quoted(command).into_iter().step_by(2));
        named.extend(quoted(members).into_iter().skip(1).step_by(2).filter(|word| !word.starts_with("--")));
    }
    let help = Workspace::with_files(&[]).tflock(None, ["help", "--all"]).ended_with(0).stdout;
    let wanted = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let wanted: BTreeSet<String> = wanted.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect();
    assert_eq!(commands, wanted);
    // The keys in the rows of any command, and those that are only below `roots`.
    named.extend(["error", "file", "kind", "lock_file"].map(str::to_owned));
    assert_eq!(named, members());
}

/// What a bot leaves out is not committed.
#[test]
fn recipes_name_our_files() {
    let [lock, modules] = [".terraform.lock.hcl", ".tflock.modules.hcl"];
    for recipe in ["github-bots.yml", "renovate.json"] {
        let text = std::fs::read_to_string(Path::new(TOP).join("docs/ci").join(recipe)).unwrap();
        assert!([lock, modules].iter().all(|file| text.contains(&format!("**/{file}"))), "{recipe}");
    }
}

/// The step of the recipe that adds what changed, run where there is a module lock and where there is none.
#[cfg(unix)]
#[test]
fn the_bot_adds_what_was_completed() {
    let recipe = document("docs/ci/github-bots.yml");
    let steps = recipe["jobs"]["lock"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == "Push what was added").unwrap()["run"].as_str().unwrap();
    let add = step.split("git diff --cached").next().unwrap();
    let workspace = Workspace::with_files(&[("a/.terraform.lock.hcl", "old"), ("a/other", "old")]);
    workspace.git(["init", "--quiet"]);
    let added = |files: &[&str]| {
        workspace.git(["add", "--all"]);
        workspace.git(["commit", "--quiet", "--allow-empty", "--message", "x"]);
        for file in files {
            workspace.write(file, "new");
        }
        workspace.program(Path::new("/bin/bash"), None, ["-eo", "pipefail", "-c", add]).ended_with(0);
        workspace.git(["diff", "--cached", "--name-only"]).stdout
    };
    assert_eq!(added(&[]), "");
    assert_eq!(added(&["a/.terraform.lock.hcl", "a/other"]), "a/.terraform.lock.hcl\n");
    workspace.write("b/.tflock.modules.hcl", "old");
    assert_eq!(added(&["b/.tflock.modules.hcl"]), "b/.tflock.modules.hcl\n");
}

/// The map names folders and files of `src/`, each by its path there or from the top; `NAME` is a placeholder.
#[test]
fn the_architecture_names_what_is_there() {
    let map = std::fs::read_to_string(Path::new(TOP).join("docs/dev/architecture.md")).unwrap();
    let is_file = |it: &str| Path::new(it).extension().is_some_and(|ending| ending == "rs");
    let paths = map.split('`').skip(1).step_by(2).filter(|it| it.contains('/') || is_file(it));
    let mut checked = 0;
    for path in paths.filter(|it| !it.contains("NAME") && !it.contains(' ')) {
        let found = [Path::new(TOP).join(path), Path::new(TOP).join("src").join(path)].iter().any(|it| it.exists());
        assert!(found, "docs/dev/architecture.md: {path}");
        checked += 1;
    }
    assert!(checked > 30, "{checked}");
}

/// Each folder of `src/` has its place in the drawing.
#[test]
fn the_architecture_has_every_folder() {
    let map = std::fs::read_to_string(Path::new(TOP).join("docs/dev/architecture.md")).unwrap();
    let drawing = map.split("```").nth(1).unwrap();
    let words: Vec<&str> = drawing.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for entry in std::fs::read_dir(Path::new(TOP).join("src")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.contains('.') || words.contains(&name.as_str()), "docs/dev/architecture.md does not draw {name}");
    }
}
