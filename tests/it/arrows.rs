//! The order of the folders, as the chart of `docs/dev/architecture.md` has it: a folder uses those below it or next to it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::style::files;

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// The folders of a part of the chart with their rows, from the top.
fn rows(chart: &str, folders: &[String]) -> BTreeMap<String, usize> {
    let rows = chart.lines().enumerate();
    let named = rows.flat_map(|(row, line)| {
        // Names come first in a column, or between dots; what follows them is prose.
        let columns = line.split("   ").flat_map(|column| column.trim().split(" · "));
        let names = columns.filter_map(|column| column.split([' ', ':']).next());
        names.filter(|name| folders.iter().any(|it| it == name)).map(move |name| (name.to_owned(), row))
    });
    named.collect()
}

/// The uses of folders above: of whom, what, and in which file.
fn upward(top: &Path, rows: &BTreeMap<String, usize>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in files(top, "rs") {
        let within = path.strip_prefix(top).unwrap();
        let folder = within.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        let is_test = within.iter().any(|part| part.to_string_lossy().contains("tests"));
        let Some(own) = rows.get(&folder).filter(|_| !is_test) else { continue };
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for used in code.split("crate::").skip(1) {
            let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if rows.get(&used).is_some_and(|row| row < own) {
                wrong.push(format!("{} uses {used}", within.display()));
            }
        }
    }
    wrong
}

fn folders(top: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(top).unwrap().map(|entry| entry.unwrap());
    let kept = entries.filter(|entry| entry.path().is_dir() || entry.path().extension().is_some_and(|end| end == "rs"));
    kept.map(|entry| entry.path().file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn folders_use_those_below_or_next_to_them() {
    let source = Path::new(TOP).join("src");
    let page = std::fs::read_to_string(Path::new(TOP).join("docs/dev/architecture.md")).unwrap();
    let chart = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let (program, core) = chart.split_once("───").unwrap();
    let not_charted = [
        "main",
        "lib",
        "core",
        "parallel",
        "interrupt",
        "documents",
        "words",
        "tests",
        "vectors",
        "proptest-regressions",
    ];
    for (top, part) in [(source.clone(), program), (source.join("core"), core)] {
        let mut folders = folders(&top);
        folders.retain(|folder| !not_charted.contains(&&folder[..]));
        let rows = rows(part, &folders);
        let missing: Vec<&String> = folders.iter().filter(|folder| !rows.contains_key(*folder)).collect();
        assert!(missing.is_empty(), "not in the chart: {missing:?}");
        assert_eq!(upward(&top, &rows), [""; 0]);
    }
    // What was moved away is not in the chart any more.
    let lists = core.lines().filter(|line| line.contains(" · "));
    let named = lists.flat_map(|line| line.split(" · ")).filter_map(|name| name.trim().split([' ', ':']).next());
    let known = folders(&source.join("core"));
    assert_eq!(named.filter(|name| !known.iter().any(|it| it == name)).collect::<Vec<_>>(), [""; 0]);
}
