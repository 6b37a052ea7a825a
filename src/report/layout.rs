//! Text for users: harmless on a terminal, columns under headings, lines broken at spaces, a few colours, readable sizes.

use std::borrow::Cow;
use std::fmt::Write;

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;
use unicode_width::UnicodeWidthStr;

use crate::report::style::{Paint, Style};

/// Rows of cells under headings; columns without content are left out.
pub(super) struct Table {
    /// Empty if it has only rows.
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// What each line begins with on a terminal.
    mark: &'static str,
}

impl Table {
    /// `None` without rows.
    pub(super) fn of<const N: usize>(
        headings: [&'static str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Option<Self> {
        let table = Self { headings: headings.to_vec(), ..Self::of_rows("", rows) };
        (!table.is_empty()).then_some(table)
    }

    /// Rows without headings.
    pub(super) fn of_rows<const N: usize>(mark: &'static str, rows: impl IntoIterator<Item = [String; N]>) -> Self {
        let rows = rows.into_iter().map(|row| row.map(|cell| printable(&cell).into_owned()).to_vec());
        Self { headings: Vec::new(), rows: rows.collect(), mark }
    }

    /// For users: two spaces between columns, no trailing spaces.
    pub(super) fn text(&self, style: Style) -> String {
        let widths = self.widths();
        let line = |cells: Vec<&str>| self.line(&cells, &widths, style);
        let mut text = String::new();
        if !self.headings.is_empty() {
            text = style.paint(Paint::Strong, line(self.headings.clone())).to_string() + "\n";
        }
        for row in &self.rows {
            text.push_str(&line(row.iter().map(String::as_str).collect()));
            text.push('\n');
        }
        text
    }

    /// For code hosts, with cells escaped by `escape`; rows that do not fit are counted.
    pub(super) fn markdown(&self, room: usize, escape: impl Fn(&str) -> String) -> String {
        if self.is_empty() {
            return String::new();
        }
        let shown =
            |cells: Vec<&str>| cells.iter().fold("|".to_owned(), |line, cell| line + " " + &escape(cell) + " |");
        let columns = self.widths().iter().flatten().count();
        let headings = self.shown_headings();
        let headings = if headings.is_empty() { vec![""; columns] } else { headings };
        let mut text = format!("{}\n|{}\n", shown(headings), "---|".repeat(columns));
        for (at, row) in self.shown_rows().enumerate() {
            let row = shown(row) + "\n";
            if text.len() + row.len() > room {
                let left = self.rows.len() - at;
                return text + "\n_Left out for lack of space: " + &left.to_string() + " more rows._\n";
            }
            text.push_str(&row);
        }
        text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The headings of the columns with content.
    pub(super) fn shown_headings(&self) -> Vec<&'static str> {
        self.headings.iter().zip(self.widths()).filter_map(|(title, width)| width.map(|_| *title)).collect()
    }

    /// The rows, without the columns that have no content.
    pub(super) fn shown_rows(&self) -> impl Iterator<Item = Vec<&str>> {
        let widths = self.widths();
        let is_shown = move |at: usize| widths.get(at).is_some_and(Option::is_some);
        self.rows.iter().map(move |row| {
            row.iter().enumerate().filter(|(at, _)| is_shown(*at)).map(|(_, cell)| cell.as_str()).collect()
        })
    }

    /// The width of each column; `None` without content.
    fn widths(&self) -> Vec<Option<usize>> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widest = |at: usize| self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max();
        let heading = |at: usize| self.headings.get(at).map_or(0, |title| width(title));
        (0..columns).map(|at| Some(widest(at).filter(|widest| *widest > 0)?.max(heading(at)))).collect()
    }

    /// One row. Text that does not fit into the terminal continues below, in the last column if there is enough room.
    fn line(&self, cells: &[&str], widths: &[Option<usize>], style: Style) -> String {
        let shown = cells.iter().zip(widths).filter_map(|(cell, width)| Some((*cell, (*width)?)));
        let shown: Vec<(&str, usize)> = shown.collect();
        let Some(((last, _), head)) = shown.split_last() else { return String::new() };
        let mut line = head.iter().fold(self.mark.to_owned(), |mut line, (cell, column)| {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', column - width(cell) + 2));
            line
        });
        let (start, room) = (width(&line), style.room());
        if style.width.is_some() && width(line.trim_end()) > room {
            return self.folded(&shown, room);
        }
        if style.width.is_none() || start + width(last) <= room {
            line.push_str(last);
            return line.trim_end().to_owned();
        }
        // A column that would take more than three lines is too narrow.
        let indent = if start + narrowest(last).max(width(last) / 3) <= room { start } else { BELOW };
        let lines = wrap(last, room.saturating_sub(start), room - indent);
        (line + &lines.join(&format!("\n{}", " ".repeat(indent))))
            .lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl Table {
    /// One row whose columns do not fit next to each other: each cell that does not fit behind the one before is below it.
    fn folded(&self, cells: &[(&str, usize)], room: usize) -> String {
        let mut lines = vec![self.mark.to_owned()];
        for (cell, _) in cells.iter().filter(|(cell, _)| !cell.is_empty()) {
            let before = lines.pop().unwrap_or_default();
            if before.trim().is_empty() {
                lines.push(before + cell);
            } else if width(&before) + 2 + width(cell) <= room {
                lines.push(format!("{before}  {cell}"));
            } else {
                lines.push(before);
                let room = room.saturating_sub(BELOW);
                lines.extend(wrap(cell, room, room).iter().map(|line| format!("{:BELOW$}{line}", "")));
            }
        }
        lines.join("\n")
    }
}

/// The indent of continued text if its column has no room.
const BELOW: usize = 4;

pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Operators, which stay with the following word.
const BEFORE: [&str; 8] = ["~>", ">=", "<=", ">", "<", "=", "!=", "->"];

/// The words of a text, each with the operators before it; text between backticks is one word, so users can paste it.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut open, mut quoted) = (false, false);
    let is_paired = text.matches('`').count().is_multiple_of(2);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match words.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
        quoted ^= is_paired && !word.matches('`').count().is_multiple_of(2);
        open = quoted || BEFORE.contains(&word);
    }
    words
}

/// The least number of columns for a text: its widest word.
pub(super) fn narrowest(text: &str) -> usize {
    words(text).iter().map(|word| width(word)).max().unwrap_or(0)
}

/// Wraps a sentence that begins after `before` columns; the following lines are indented.
pub(super) fn flow(before: usize, text: &str, style: Style) -> String {
    if style.width.is_none() {
        return text.to_owned();
    }
    let room = style.room();
    wrap(text, room.saturating_sub(before), room - INDENT.len()).join(&format!("\n{INDENT}"))
}

/// The indent of the following lines of a sentence.
const INDENT: &str = "    ";

/// The lines of a text, none wider than `room` except for long words; the first line has `first` columns.
pub(super) fn wrap(text: &str, first: usize, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in &words(text) {
        let limit = if lines.len() == 1 { first } else { room };
        let count = lines.len();
        let Some(line) = lines.last_mut() else { continue };
        let needed = width(line) + usize::from(!line.is_empty()) + width(word);
        // A text that does not fit next to a label begins on the next line, even with its first word.
        if needed > limit && (!line.is_empty() || (count == 1 && first < room)) {
            lines.push(word.clone());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Escapes every character that a terminal would interpret or hide: control characters, directions, zero-width and
/// unassigned ones. One line stays one line. A backslash breaks commands of CI systems, wherever the text may appear:
/// `::` at the beginning of a word, `##[` and `##vso[` anywhere. Registries, configurations and file names may contain
/// anything, and a report must show it. Source: `ActionCommand.cs` of actions/runner, which accepts `::` after white
/// space at the beginning of a line and `##[` anywhere; `##vso[` comes from Azure Pipelines.
pub fn printable(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.contains(hidden);
    if plain && !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        if is_command(before, &text[at..]) {
            shown.push('\\');
        }
        if hidden(character) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", character.escape_default());
            before = '\\';
        } else {
            shown.push(character);
            before = character;
        }
    }
    Cow::Owned(shown)
}

/// True if a command to a CI system begins here; commands that work anywhere are broken at their second character.
fn is_command(before: char, rest: &str) -> bool {
    if before == '#' {
        let name = rest.strip_prefix('#').unwrap_or_default();
        let azure = name.get(..4).is_some_and(|name| name.eq_ignore_ascii_case("vso["));
        return name.starts_with('[') || azure;
    }
    before.is_whitespace() && rest.starts_with("::")
}

/// True for a character that a terminal would interpret or not show.
pub(super) fn hidden(character: char) -> bool {
    use GeneralCategory as Is;
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    matches!(
        CodePointMapData::<GeneralCategory>::new().get(character),
        Is::Control | Is::Format | Is::LineSeparator | Is::ParagraphSeparator | Is::PrivateUse | Is::Unassigned
    )
}

/// Formats bytes in powers of a thousand.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(mark: &'static str, rows: &[[String; 2]], style: Style) -> String {
        Table::of_rows(mark, rows.to_vec()).text(style)
    }

    #[test]
    fn wide_letters_take_two_columns() {
        let cells = |row: [&str; 2]| row.map(str::to_owned);
        let text = rows("", &[cells(["日本", "1"]), cells(["Köln", "2"])], Style::default());
        assert_eq!(text, "日本  1\nKöln  2\n");
    }

    #[test]
    fn wide_cells_continue_on_the_next_line() {
        let cells = |row: [&str; 2]| row.map(str::to_owned);
        let style = Style { width: Some(40), ..Style::default() };
        let all = [cells(["one", "a b c"]), cells(["two", "some words that are too many for one line"])];
        let text = rows("  ", &all, style);
        assert_eq!(text, "  one  a b c\n  two  some words that are too many for\n       one line\n");
        let operator = [cells(["a first column that takes most", "~> 1.0, != 1.2.0"])];
        assert_eq!(
            rows("", &operator, style),
            "a first column that takes most  ~> 1.0,\n                                != 1.2.0\n"
        );
        let long = [cells(["a first column that takes most of it", "long-word-itself and more"])];
        assert_eq!(rows("", &long, style), "a first column that takes most of it\n    long-word-itself and more\n");
    }

    #[test]
    fn columns_that_do_not_fit_are_below_each_other() {
        let cells = |row: [&str; 4]| row.map(str::to_owned);
        let style = Style { width: Some(40), ..Style::default() };
        let all = [cells(["acme/widget", "1.4.0", "HashiCorp, well-known key", "live/a and 3 more"])];
        let table = Table::of(["PROVIDER", "VERSION", "SIGNER", "ROOT MODULES"], all).unwrap();
        let wanted = "PROVIDER     VERSION  SIGNER\n    ROOT MODULES\nacme/widget  1.4.0\n    HashiCorp, well-known key\n    live/a and 3 more\n";
        assert_eq!(table.text(style), wanted);
    }

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let cells = |row: [&str; 3]| row.map(str::to_owned);
        let rows = vec![cells(["xy", "", "1"]), cells(["z", "", ""])];
        let table = Table::of(["a", "b", "long"], rows).unwrap();
        assert_eq!(table.text(Style::default()), "a   long\nxy  1\nz\n");
        assert_eq!(table.markdown(1000, str::to_uppercase), "| A | LONG |\n|---|---|\n| XY | 1 |\n| Z |  |\n");
        let cut = table.markdown(35, str::to_owned);
        assert_eq!(cut, "| a | long |\n|---|---|\n| xy | 1 |\n\n_Left out for lack of space: 1 more rows._\n");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 7, 7), ["one two", "three"]);
        assert_eq!(wrap("one  two", 3, 9), ["one", "two"]);
        assert_eq!(wrap("longest of all", 3, 10), ["", "longest of", "all"]);
        assert_eq!(wrap("日本 語", 6, 6), ["日本", "語"]);
        assert_eq!(wrap("unbreakable", 4, 4), ["unbreakable"]);
        assert_eq!(wrap("", 4, 4), [""]);
        assert_eq!(wrap("now ~> 5.0, >= 4", 9, 9), ["now", "~> 5.0,", ">= 4"]);
    }

    #[test]
    fn harmless_text_is_not_copied() {
        for text in ["", "a b ~ 'x'", "Köln", "日本", "a\\nb"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn commands_to_ci_systems_are_broken() {
        assert_eq!(printable("::set-output name=a::true"), r"\::set-output name=a::true");
        assert_eq!(printable(" \u{a0}::stop-commands::x"), " \u{a0}\\::stop-commands::x");
        assert_eq!(printable("a\n::b ::c"), r"a\n::b \::c");
        assert_eq!(printable("x##[group]"), r"x#\#[group]");
        assert_eq!(printable("###[a] ##VSO[task.x] ##vso["), r"##\#[a] #\#VSO[task.x] #\#vso[");
        for harmless in ["git::https://x", "a::b", "2001:db8::1", "## heading", "#1", "##vs"] {
            assert_eq!(printable(harmless), harmless);
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(printable("a\x1b[31mb"), r"a\u{1b}[31mb");
        assert_eq!(printable("a\r\nb\tc\0"), r"a\r\nb\tc\u{0}");
        assert_eq!(printable("a\u{9b}31m\u{7f}"), r"a\u{9b}31m\u{7f}");
        assert_eq!(printable("a\u{202e}b\u{2066}c\u{200f}"), r"a\u{202e}b\u{2066}c\u{200f}");
        assert_eq!(printable("a\u{feff}\u{200b}\u{2028}\u{e0041}"), r"a\u{feff}\u{200b}\u{2028}\u{e0041}");
    }

    #[test]
    fn sizes() {
        let cases = [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_999, "999.9 kB"), (1_000_000, "1.0 MB")];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(size(u64::MAX), "18446744.0 TB");
    }
}
