//! The pictures of pages: what the program prints on a terminal, and as a comment on a pull request, drawn from its own output.

use std::fmt::Write;

use crate::support::workspace::{TESTDATA, Workspace};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");

/// Columns of the terminal that is drawn.
const COLUMNS: usize = 96;

/// The size of a letter, in pixels.
const CELL: (usize, usize) = (8, 18);

fn escaped(text: &str) -> String {
    // Viewers fold plain spaces, each by rules of its own.
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(' ', "\u{a0}")
}

/// The attributes of terminal codes.
fn look(codes: &str) -> &'static str {
    match codes {
        "1" => " font-weight=\"bold\"",
        "31" => " fill=\"#ff7b72\"",
        "32" => " fill=\"#7ee787\"",
        "33" => " fill=\"#e3b341\"",
        "36" => " fill=\"#79c0ff\"",
        _ => "",
    }
}

/// One line of a terminal as spans.
fn line(text: &str) -> String {
    let mut spans = String::new();
    let mut looks: Vec<&str> = Vec::new();
    for (at, piece) in text.split('\u{1b}').enumerate() {
        let plain = match piece.strip_prefix('[').and_then(|rest| rest.split_once('m')) {
            Some((codes, rest)) if at > 0 => {
                match codes {
                    "0" | "" => looks.clear(),
                    _ => looks.push(look(codes)),
                }
                rest
            }
            _ => piece,
        };
        if !plain.is_empty() {
            write!(spans, "<tspan{}>{}</tspan>", looks.concat(), escaped(plain)).unwrap();
        }
    }
    spans
}

fn picture(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (width, height) = (COLUMNS * CELL.0 + 32, lines.len() * CELL.1 + 32);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"tflock in a terminal\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"13\" \
         fill=\"#e6edf3\">\n"
    );
    for (at, text) in lines.iter().enumerate() {
        let y = 16 + 13 + at * CELL.1;
        writeln!(svg, "<text x=\"16\" y=\"{y}\">{}</text>", line(text)).unwrap();
    }
    svg + "</g>\n</svg>\n"
}

/// How wide a comment is drawn, in letters of running text.
const COMMENT: usize = 104;

/// The longest line in a cell of a table.
const CELL_WIDTH: usize = 60;

/// The lines of a text that are no longer than this, broken at spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().unwrap();
        if !last.is_empty() && last.chars().count() + word.chars().count() >= width {
            lines.push(word.to_owned());
        } else {
            let space = if last.is_empty() { "" } else { " " };
            last.extend([space, word]);
        }
    }
    lines
}

/// Markdown without its marks, and whether all of it is bold.
fn unmarked(text: &str) -> (String, bool) {
    let is_bold = text.starts_with("**") && text.ends_with("**");
    let mut plain = text
        .replace("*Next step:*", "Next step:")
        .replace("**", "")
        .replace('`', "")
        .replace("&nbsp;", " ")
        .replace('\\', "");
    while let Some((before, rest)) = plain.split_once("](").map(|(before, rest)| (before.to_owned(), rest.to_owned())) {
        let (_, after) = rest.split_once(')').unwrap();
        plain = before.replacen('[', "", 1) + after;
    }
    (plain, is_bold)
}

/// The lines of a cell, each with whether it is bold.
fn cell_lines(cell: &str) -> Vec<(String, bool)> {
    let lines = cell.trim().split("<br>").map(unmarked);
    lines.flat_map(|(line, is_bold)| wrapped(&line, CELL_WIDTH).into_iter().map(move |line| (line, is_bold))).collect()
}

fn cells(line: &str) -> Vec<Vec<(String, bool)>> {
    line.trim_matches('|').split('|').map(cell_lines).collect()
}

/// The widths of the columns of a table.
fn columns<'a>(table: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut columns: Vec<usize> = Vec::new();
    for row in table.filter(|line| !line.starts_with("|--")).map(cells) {
        columns.resize(row.len().max(columns.len()), 0);
        for (width, cell) in columns.iter_mut().zip(row) {
            let widest = cell.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
            *width = (*width).max(widest);
        }
    }
    columns
}

/// A comment as a code host shows it: headings, tables, lists, commands, and folded details by their summaries.
fn comment(markdown: &str) -> String {
    let (mut body, mut y, mut is_folded, mut is_code) = (String::new(), 20, false, false);
    let mut widths: Vec<usize> = Vec::new();
    let text = |body: &mut String, x: usize, y: usize, class: &str, text: &str| {
        writeln!(body, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(text)).unwrap();
    };
    let lines: Vec<&str> = markdown.lines().collect();
    for (at, line) in lines.iter().copied().enumerate() {
        let is_head = at == 0 || !lines[at - 1].starts_with('|');
        match line {
            "<details>" => is_folded = true,
            "</details>" => is_folded = false,
            _ if line.starts_with("<summary>") => {
                let summary = line.replace("<summary>", "").replace("</summary>", "");
                text(&mut body, 0, y, "", &format!("▸ {}", unmarked(&summary).0));
                y += 24;
            }
            _ if is_folded || line.starts_with("|--") || line.starts_with("<!--") => {}
            _ if line.starts_with("```") => is_code = !is_code,
            "" => y += 6,
            _ if is_code => {
                writeln!(body, "<rect x=\"0\" y=\"{}\" width=\"{}\" height=\"30\"/>", y - 15, COMMENT * 7).unwrap();
                text(&mut body, 10, y + 5, "code", line);
                y += 36;
            }
            _ if line.starts_with('|') => {
                if is_head {
                    widths = columns(lines[at..].iter().copied().take_while(|line| line.starts_with('|')));
                }
                let cells = cells(line);
                let height = cells.iter().map(Vec::len).max().unwrap_or(1) * 18 + 12;
                let mut x = 0;
                for (lines, width) in cells.iter().zip(&widths) {
                    let pixels = width.max(&1) * 8 + 22;
                    let top = y - 15;
                    writeln!(body, "<rect x=\"{x}\" y=\"{top}\" width=\"{pixels}\" height=\"{height}\"/>").unwrap();
                    for (at, (line, is_bold)) in lines.iter().enumerate() {
                        let class = match &**line {
                            "dangerous" | "denied" => "danger",
                            _ if *is_bold || is_head => "bold",
                            _ => "",
                        };
                        text(&mut body, x + 8, y + 4 + at * 18, class, line);
                    }
                    x += pixels;
                }
                y += height;
            }
            _ => {
                let (class, line) = match line.trim_start_matches('#') {
                    rest if line.starts_with("### ") => ("title", rest.trim_start().to_owned()),
                    rest if line.starts_with('#') => ("bold", rest.trim_start().to_owned()),
                    _ => ("", line.replacen("- ", "• ", 1)),
                };
                let (line, is_bold) = unmarked(&line);
                for line in wrapped(&line, COMMENT) {
                    text(&mut body, 0, y, if is_bold { "bold" } else { class }, &line);
                    y += 20;
                }
            }
        }
    }
    let (width, height) = (COMMENT * 7 + 40, y + 24);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"tflock's comment on a pull request\">\n<style>text{{font:13px system-ui,sans-serif;fill:#1f2328}}\
         .title{{font-size:17px;font-weight:600}}.bold{{font-weight:600}}.danger{{font-weight:600;fill:#cf222e}}.code{{font-family:ui-monospace,monospace}}\
         rect{{fill:none;stroke:#d0d7de}}#page{{fill:#fff}}@media (prefers-color-scheme:dark){{text{{fill:#e6edf3}}\
         .danger{{fill:#ff7b72}}rect{{stroke:#3d444d}}#page{{fill:#0d1117}}}}</style>\n\
         <rect id=\"page\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n<g transform=\"translate(20 18)\">\n{body}</g>\n</svg>\n",
        width - 1,
        height - 1,
    )
}

/// Compares a picture with what is printed now; draws it again if `UPDATE=1` is set.
fn assert_picture(name: &str, drawn: &str) {
    let path = format!("{DOCS}/{name}.svg");
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == drawn, "docs/{name}.svg is not what is printed: UPDATE=1 draws it again");
}

/// A lock file in a repository, and its change.
fn changed() -> Workspace {
    let text = |side: &str| std::fs::read_to_string(format!("{TESTDATA}/diffs/hashes-replaced/{side}.hcl")).unwrap();
    let changed = Workspace::with_files(&[(".terraform.lock.hcl", &text("old"))]).env("COLUMNS", &COLUMNS.to_string());
    changed.git(["init", "--quiet"]);
    changed.git(["add", "--all"]);
    changed.git(["commit", "--quiet", "--message", "old"]);
    changed.write(".terraform.lock.hcl", &text("new"));
    changed
}

#[test]
fn the_picture_of_a_terminal_shows_what_is_printed() {
    let diff = changed().tflock(None, ["--color", "always", "diff"]).ended_with(0);
    assert_picture("terminal", &picture(&format!("$ tflock diff\n{}", diff.stdout)));
}

#[test]
fn the_picture_of_a_comment_shows_what_is_printed() {
    let changed = changed();
    changed.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let args = ["verify", "--offline", "--base", "refs/remotes/origin/main", "--format", "markdown"];
    let verify = changed.tflock(None, args).ended_with(3);
    let head = changed.git(["rev-parse", "HEAD"]).stdout;
    assert_picture("comment", &comment(&verify.stdout.replace(&head[..10], "4f2a9c1b07")));
}
