//! What the README says is what the program does: its tables, and what it shows of `tflock diff`.

use std::fmt::Write;

use crate::support::workspace::{TESTDATA, Workspace};

const LOCK: &str = ".terraform.lock.hcl";
const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

/// The page with what `tflock diff` shows.
const PAIRS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reading-a-change.md");

/// The pairs of `testdata/diffs` that are shown, in this order.
const SHOWN: [&str; 3] = ["hashes-replaced", "h1-exchanged", "moved-host"];

/// The page with the tables of commands and exit codes.
const COMMANDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/commands.md");

/// The page with the bundled example.
const INSTALLATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/installation.md");

/// Hashes are long, and which ones they are is not the point.
fn shortened(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines().filter(|line| !line.starts_with("index ")) {
        let line = match line.split_once("h1:").or(line.split_once("zh:")) {
            Some((before, hash)) if hash.len() > 40 => {
                format!("{before}{}{}…\",", &line[before.len()..before.len() + 3], &hash[..8])
            }
            _ => line.to_owned(),
        };
        writeln!(shown, "{line}").unwrap();
    }
    shown
}

/// One pair: what we say of it, and folded away what git says.
fn section(case: &str) -> String {
    let text = |side: &str| std::fs::read_to_string(format!("{TESTDATA}/diffs/{case}/{side}.hcl")).unwrap();
    let workspace = Workspace::with_files(&[(LOCK, &text("old"))]);
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "old"]);
    workspace.write(LOCK, &text("new"));
    let ours = workspace.tflock(None, ["diff"]).ended_with(0).stdout;
    let theirs = shortened(&workspace.git(["diff"]).stdout);
    let count = theirs.lines().filter(|line| line.starts_with(['+', '-'])).count() - 2;
    format!(
        "```console\n$ tflock diff\n{ours}```\n\n<details>\n<summary>The {count} changed lines that <code>git diff</code> \
         shows (hashes shortened)</summary>\n\n```diff\n{theirs}```\n\n</details>\n"
    )
}

#[test]
fn pairs_are_shown_as_they_are_printed() {
    shows(PAIRS, &SHOWN, section);
    // The page for newcomers has no room for what Git shows.
    shows(README, &SHOWN[..1], |case| section(case).split("\n<details>").next().unwrap().to_owned());
}

/// The page shows each of these between its two comments.
fn shows(page: &str, cases: &[&str], section: impl Fn(&str) -> String) {
    let mut readme = std::fs::read_to_string(page).unwrap();
    for case in cases {
        let (before, after) = (format!("<!-- begin {case} -->\n"), format!("<!-- end {case} -->"));
        let start = readme.find(&before).unwrap_or_else(|| panic!("no place for {case}")) + before.len();
        let end = start + readme[start..].find(&after).unwrap_or_else(|| panic!("no end of {case}"));
        let wanted = section(case);
        if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
            readme.replace_range(start..end, &wanted);
            std::fs::write(page, &readme).unwrap();
            continue;
        }
        assert_eq!(readme[start..end], wanted, "UPDATE=1 rewrites the page");
    }
}

/// The rows of the tables whose heads begin so, their cells without marks.
fn table(head: &str) -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(COMMANDS).unwrap();
    let start = format!("| {head} |");
    let tables = page.split("\n\n").filter(|block| block.starts_with(&start));
    let rows = tables.flat_map(|block| block.lines().skip(2)).filter(|line| line.starts_with('|')).map(|line| {
        let line = line.replace("\\|", "\u{0}").replace('*', "");
        let cells = line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\u{0}', "|"));
        cells.collect::<Vec<_>>()
    });
    rows.collect()
}

fn help() -> String {
    Workspace::with_files(&[]).tflock(None, ["help", "--all"]).ended_with(0).stdout
}

/// The lines below a heading of the help, up to the next empty one.
fn below<'a>(help: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.trim().is_empty()).collect()
}

#[test]
fn the_table_of_commands_names_every_command_and_no_other() {
    let help = help();
    let mut commands: Vec<&str> =
        below(&help, "Commands:").into_iter().filter_map(|line| line.split_whitespace().next()).collect();
    let rows = table("command");
    // Each command begins a piece in backticks; other pieces are options of the one before.
    let mut printed: Vec<&str> = rows
        .iter()
        .flat_map(|row| row[0].split('`').skip(1).step_by(2))
        .filter_map(|piece| piece.split([' ', '|']).next())
        .collect();
    commands.sort_unstable();
    printed.sort_unstable();
    assert_eq!(printed, commands);
}

/// What newcomers may run first, from the top of a clone, and what they see.
#[test]
fn the_example_prints_what_the_page_shows() {
    let page = std::fs::read_to_string(INSTALLATION).unwrap();
    let (_, rest) = page.split_once(" -- -C testdata/example lock ").unwrap();
    let (arguments, rest) = rest.split_once('\n').unwrap();
    let shown = rest.split_once("```text\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
    let (workspace, example) = (Workspace::with_files(&[("testdata/README.md", "")]), Workspace::from("example"));
    std::fs::rename(example.path(""), workspace.path("testdata/example")).unwrap();
    workspace.git(["init", "--quiet"]);
    let args = ["-C", "testdata/example", "lock"].into_iter().chain(arguments.split(' '));
    let run = workspace.tflock(None, args).ended_with(0);
    assert_eq!(format!("{}{}", run.stdout, run.stderr), shown);
    assert_eq!(
        workspace.read("testdata/example/.terraform.lock.hcl"),
        workspace.read("testdata/example/expected.lock.hcl")
    );
}

#[test]
fn the_readme_is_short_and_its_links_lead_somewhere() {
    let readme = std::fs::read_to_string(README).unwrap();
    assert!(readme.lines().count() <= 160, "{}", readme.lines().count());
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let outside = link.contains("://") || link.starts_with('#');
        assert!(outside || folder.join(link).exists(), "{link}");
    }
}

#[test]
fn the_table_of_exit_codes_is_that_of_the_help() {
    let help = help();
    let mut of_help: Vec<Vec<String>> = Vec::new();
    for line in below(&help, "Exit codes:") {
        match (line.trim().split_once("  "), of_help.last_mut()) {
            (Some((code, meaning)), _) => of_help.push([code, meaning].map(str::to_owned).to_vec()),
            // A long meaning goes on in the next line.
            (None, Some(row)) => row[1] = format!("{} {}", row[1], line.trim()),
            (None, None) => panic!("{line}"),
        }
    }
    let of_readme: Vec<Vec<String>> =
        table("exit code").into_iter().map(|row| row.into_iter().map(|cell| cell.replace('`', "")).collect()).collect();
    assert_eq!(of_readme, of_help);
}
