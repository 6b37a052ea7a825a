//! Columns of text under headings.

use super::Style;
use super::paint::Paint;
use super::wrap::width;

/// Lays out rows under headings: two spaces between columns, nothing at the ends of lines. A column without any text
/// in its cells is left out.
pub(super) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]], style: Style) -> String {
    let widths = widths(headings, rows);
    let mut text = style.paint(Paint::Strong, line(&headings, &widths).trim_end()).to_string();
    text.push('\n');
    for row in rows {
        let cells: [&str; N] = std::array::from_fn(|at| row[at].as_str());
        text.push_str(line(&cells, &widths).trim_end());
        text.push('\n');
    }
    text
}

/// Lays out rows without headings, each behind an indent.
pub(super) fn rows<const N: usize>(indent: &str, rows: &[[String; N]]) -> String {
    let widths = widths([""; N], rows);
    let mut text = String::new();
    for row in rows {
        let cells: [&str; N] = std::array::from_fn(|at| row[at].as_str());
        text.push_str(format!("{indent}{}", line(&cells, &widths)).trim_end());
        text.push('\n');
    }
    text
}

fn widths<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> [Option<usize>; N] {
    std::array::from_fn(|at| {
        let widest = rows.iter().map(|row| width(&row[at])).max().filter(|widest| *widest > 0)?;
        Some(widest.max(width(headings[at])))
    })
}

fn line(cells: &[&str], widths: &[Option<usize>]) -> String {
    let shown = cells.iter().zip(widths).filter_map(|(cell, width)| Some((cell, (*width)?)));
    shown.fold(String::new(), |mut line, (cell, column)| {
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', column - width(cell) + 2));
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_two_columns() {
        let cells = |row: [&str; 2]| row.map(str::to_owned);
        let text = rows("", &[cells(["日本", "1"]), cells(["Köln", "2"])]);
        assert_eq!(text, "日本  1\nKöln  2\n");
    }

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let cells = |row: [&str; 3]| row.map(str::to_owned);
        let text = table(["a", "b", "long"], &[cells(["xy", "", "1"]), cells(["z", "", ""])], Style::default());
        assert_eq!(text, "a   long\nxy  1\nz\n");
    }
}
