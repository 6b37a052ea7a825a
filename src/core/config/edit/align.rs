//! Equals signs and comments of adjacent lines in one column, as `terraform fmt` puts them.
//!
//! Only the white space before these two is ever touched, and only in the lines of a range.
//!
//! Source: `github.com/hashicorp/hcl/v2`, `hclwrite/format.go`, `formatCells`.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::cells::{Line, lines};
use super::splice::Splices;

/// Edits a text, then aligns the first of some ranges that was aligned before; nested ranges come from outer to inner.
///
/// What was not aligned by its author is left alone.
pub(super) fn edit_aligned(text: &str, ranges: &[Range<usize>], splices: Splices) -> String {
    let aligned = ranges.iter().find(|range| align(text, (*range).clone()) == text);
    let edited = splices.apply(text);
    match aligned {
        // Every edit is within all of the ranges.
        Some(range) => align(&edited, range.start..range.end + edited.len() - text.len()),
        None => edited,
    }
}

/// The text with the lines of a range aligned.
pub(super) fn align(text: &str, range: Range<usize>) -> String {
    let lines = lines(text, range);
    let mut splices = Splices::default();
    let mut columns: Vec<Columns> = lines.iter().map(|line| Columns::of(text, line)).collect();
    for chain in chains(&lines, |line| line.equals.is_some() && line.whole) {
        let widest = columns[chain.clone()].iter().map(|line| line.lead).max().unwrap_or(0);
        for line in &mut columns[chain] {
            line.before_equals = widest - line.lead + 1;
        }
    }
    for chain in chains(&lines, |line| line.comment.is_some()) {
        let widest = columns[chain.clone()].iter().map(Columns::code).max().unwrap_or(0);
        for line in &mut columns[chain] {
            line.before_comment = widest - line.code() + 1;
        }
    }
    for (line, columns) in lines.iter().zip(&columns) {
        for (at, spaces) in [(line.equals, columns.before_equals), (line.comment, columns.before_comment)] {
            if let Some(at) = at {
                splices.replace(text[..at].trim_end_matches([' ', '\t']).len()..at, " ".repeat(spaces));
            }
        }
    }
    splices.apply(text)
}

struct Columns {
    lead: usize,
    before_equals: usize,
    assigned: usize,
    before_comment: usize,
}

impl Columns {
    fn of(text: &str, line: &Line) -> Self {
        let end = line.comment.unwrap_or(line.range.end);
        let split = line.equals.unwrap_or(end);
        let width = |range: Range<usize>| text[range].trim_end().graphemes(true).count();
        Self { lead: width(line.range.start..split), before_equals: 1, assigned: width(split..end), before_comment: 1 }
    }

    fn code(&self) -> usize {
        if self.assigned == 0 { self.lead } else { self.lead + self.before_equals + self.assigned }
    }
}

/// Runs of adjacent lines that have something in common.
fn chains(lines: &[Line], belongs: impl Fn(&Line) -> bool) -> Vec<Range<usize>> {
    let mut chains: Vec<Range<usize>> = Vec::new();
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| belongs(line)) {
        match chains.last_mut() {
            Some(chain) if chain.end == index => chain.end += 1,
            _ => chains.push(index..index + 1),
        }
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(text: &str) -> String {
        align(text, 0..text.len())
    }

    #[test]
    fn chains_of_equals_signs() {
        assert_eq!(aligned("a = 1\nbcd   = 2\n\ne  = 3"), "a   = 1\nbcd = 2\n\ne = 3");
        assert_eq!(aligned("a = 1\nbcd   = {\n  e = 3\n}"), "a = 1\nbcd = {\n  e = 3\n}");
        assert_eq!(aligned("é = 1\nbc = 2"), "é  = 1\nbc = 2");
    }

    #[test]
    fn chains_of_comments() {
        assert_eq!(aligned("a = 1 # x\nbcd = 22 # y\ne = 4\n"), "a   = 1  # x\nbcd = 22 # y\ne   = 4\n");
        assert_eq!(aligned("a = { # x\r\n  b = 1 # y\r\n} # z"), "a = {   # x\r\n  b = 1 # y\r\n}       # z");
    }

    #[test]
    fn unaligned_lines_are_left_alone() {
        let edited = |text: &str, at| {
            let whole = std::slice::from_ref(&(0..text.len())).to_vec();
            edit_aligned(text, &whole, Splices::one(at..at, "cde = 3\n"))
        };
        assert_eq!(edited("a  = 1\nb = 2\n", 7), "a  = 1\ncde = 3\nb = 2\n");
        assert_eq!(edited("a = 1\nb = 2\n", 6), "a   = 1\ncde = 3\nb   = 2\n");
    }
}
