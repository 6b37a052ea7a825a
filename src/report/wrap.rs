//! Breaks text into lines at spaces.

use unicode_width::UnicodeWidthStr;

use super::Style;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
