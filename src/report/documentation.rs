//! A Markdown page of the documentation as text for a terminal.

use crate::report::layout::{Table, wrap};
use crate::report::style::{Paint, Style};

/// The columns of a page that is not printed on a terminal.
const COLUMNS: usize = 80;

/// A Markdown page as text: wrapped, with headings and labels that are bold on a terminal, and indented code.
pub(super) fn page(text: &'static str, style: Style) -> String {
    let style = Style { width: style.width.or(Some(COLUMNS)), ..style };
    let parts = text.split("```").enumerate().flat_map(|(at, part)| match at % 2 {
        0 => {
            part.trim().split("\n\n").filter(|block| !block.is_empty()).map(|block| self::block(block, style)).collect()
        }
        _ => vec![code(part)],
    });
    parts.collect::<Vec<_>>().join("\n\n") + "\n"
}

/// A fenced part: the name of the language, then the code.
fn code(part: &str) -> String {
    let lines = part.trim_end().lines().skip(1);
    lines.map(|line| format!("    {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A block between two empty lines.
fn block(block: &'static str, style: Style) -> String {
    let rows: Vec<[&str; 2]> = block.lines().filter_map(cells).collect();
    if let Some((headings, [_marks, rows @ ..])) = rows.split_first()
        && rows.len() + 2 == block.lines().count()
    {
        let rows = rows.iter().map(|row| row.map(str::to_owned));
        return Table::of(*headings, rows).map_or_else(String::new, |table| table.text(style).trim_end().to_owned());
    }
    if let Some(heading) = block.strip_prefix('#') {
        return style.paint(Paint::Strong, heading.trim_start_matches(['#', ' '])).to_string();
    }
    if let Some(items) = block.strip_prefix("- ") {
        let item = |item: &str| format!("- {}", paragraph(item, style.room() - 2).join("\n  "));
        return items.split("\n- ").map(item).collect::<Vec<_>>().join("\n");
    }
    let (label, text) = block.strip_prefix("**").and_then(|rest| rest.split_once("**")).unwrap_or(("", block));
    let lines = paragraph(&format!("{label}{text}"), style.room()).join("\n");
    match lines.strip_prefix(label) {
        Some(rest) if !label.is_empty() => format!("{}{rest}", style.paint(Paint::Strong, label)),
        _ => lines,
    }
}

/// Wraps the words of some lines at `room` columns.
fn paragraph(text: &str, room: usize) -> Vec<String> {
    wrap(&text.split_whitespace().collect::<Vec<_>>().join(" ").replace("**", ""), room, room)
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
        let page = "# A title\n\nSome words with\n`a command` in them.\n\n**Next step.** Some more words, so that they break.\n\n- one\n  item\n- \
                    another item with many words in it\n\n```hcl\na = 1\n\nb {\n}\n```\n\n| x | y |\n|---|---|\n| 1 | two three four five six \
                    seven eight nine |\n";
        let shown = "A title\n\nSome words with `a command` in them.\n\nNext step. Some more words, so that they\nbreak.\n\n- one item\n- another item \
                     with many words in it\n\n    a = 1\n\n    b {\n    }\n\nx  y\n1  two three four five six seven eight\n   nine\n";
        assert_eq!(super::page(page, style(40)), shown);
        let elsewhere = super::page(page, Style::default());
        assert!(
            elsewhere.contains("\n\nNext step. Some more words, so that they break.\n\n- one item\n"),
            "{elsewhere}"
        );
    }
}
