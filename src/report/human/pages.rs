//! Pages of documentation on a terminal.

use crate::report::Style;
use crate::report::table::Table;
use crate::report::wrap::wrap;

const FENCE: &str = "```";

/// A page in markdown, its paragraphs and the cells of its tables in lines as wide as the terminal; as it is without one.
/// Code keeps its lines.
pub(super) fn page(text: &'static str, style: Style) -> String {
    if style.width.is_none() {
        return text.to_owned();
    }
    let blocks = text.split("\n\n").map(|block| self::block(block.trim_end_matches('\n'), style));
    // Empty lines within code are those of the page.
    blocks.collect::<Vec<_>>().join("\n\n") + "\n"
}

/// What stands between two empty lines.
fn block(block: &'static str, style: Style) -> String {
    let rows: Vec<[&str; 2]> = block.lines().filter_map(cells).collect();
    match rows.split_first() {
        Some((headings, [_marks, rows @ ..])) if rows.len() + 2 == block.lines().count() => {
            let rows = rows.iter().map(|row| row.map(str::to_owned)).collect();
            Table { headings: *headings, rows }.text(style).trim_end().to_owned()
        }
        _ if block.contains(FENCE) || block.lines().any(|line| line.starts_with([' ', '}'])) => block.to_owned(),
        _ => wrap(&block.replace('\n', " "), style.room(), style.room()).join("\n"),
    }
}

fn cells(line: &'static str) -> Option<[&'static str; 2]> {
    let (left, right) = line.strip_prefix('|')?.strip_suffix('|')?.split_once('|')?;
    (!right.contains('|')).then(|| [left.trim(), right.trim()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_fit_into_a_terminal() {
        let style = |width| Style { width: Some(width), ..Style::default() };
        let page = "# A title\n\nSome words with\n`a command` in them.\n\n```hcl\na = 1\n\nb {\n}\n```\n\n| x | y |\n|---|---|\n| 1 \
                    | two three four five six seven eight nine |\n";
        let shown = "# A title\n\nSome words with `a command` in them.\n\n```hcl\na = 1\n\nb {\n}\n```\n\nx  y\n1  two three four \
                     five six seven eight\n   nine\n";
        assert_eq!(super::page(page, style(40)), shown);
        assert_eq!(super::page(page, Style::default()), page);
    }
}
