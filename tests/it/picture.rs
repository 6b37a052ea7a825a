//! `docs/terminal.svg`: what the program prints on a terminal, drawn from its own output.

use std::fmt::Write;

use crate::support::workspace::{TESTDATA, Workspace};

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/terminal.svg");

/// Columns of the terminal that is drawn.
const COLUMNS: usize = 96;

/// The size of a letter, in pixels.
const CELL: (usize, usize) = (8, 18);

fn escaped(text: &str) -> String {
    // Viewers fold plain spaces, each by rules of its own.
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(' ', "\u{a0}")
}

/// The attributes of what the codes of a terminal ask for.
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

#[test]
fn the_picture_shows_what_is_printed() {
    let columns = COLUMNS.to_string();
    let text = |side: &str| std::fs::read_to_string(format!("{TESTDATA}/diffs/hashes-replaced/{side}.hcl")).unwrap();
    let changed = Workspace::with_files(&[(".terraform.lock.hcl", &text("old"))]).env("COLUMNS", &columns);
    changed.git(["init", "--quiet"]);
    changed.git(["add", "--all"]);
    changed.git(["commit", "--quiet", "--message", "old"]);
    changed.write(".terraform.lock.hcl", &text("new"));
    let diff = changed.tflock(None, ["--color", "always", "diff"]).ended_with(0);
    let shown = format!("$ tflock diff\n{}", diff.stdout);
    let drawn = picture(&shown);
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(PICTURE, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(PICTURE).unwrap_or_default();
    assert!(kept == drawn, "docs/terminal.svg is not what is printed: UPDATE=1 draws it again");
}
