//! Lines and columns: where in a text a byte is.

use std::cell::RefCell;
use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation;

use super::Position;

/// The line starts of one text, for turning byte offsets into positions.
///
/// Lines end with `\n`. Columns count grapheme clusters from 1. A byte order mark at the start of the text does not
/// count, though offsets are those of the text with it.
///
/// What was counted is kept at intervals, so many positions are cheap on the longest line, in any order.
///
/// Source: `github.com/hashicorp/hcl/v2`, `hcl.Pos`.
#[derive(Debug, Clone)]
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// How many clusters of its line are before a cluster that begins at a byte.
    counted: RefCell<BTreeMap<usize, usize>>,
}

/// After how many bytes the count is kept.
const INTERVAL: usize = 256;

impl<'a> LineIndex<'a> {
    /// Finds the lines of a text.
    pub fn new(text: &'a str) -> Self {
        let first = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let later = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self { text, starts: std::iter::once(first).chain(later).collect(), counted: RefCell::default() }
    }

    /// The line with a byte, without its line end.
    pub fn line(&self, byte_offset: usize) -> &'a str {
        let line = self.starts.partition_point(|start| *start <= byte_offset).max(1);
        let end = self.starts.get(line).copied().unwrap_or(self.text.len());
        self.text[self.starts[line - 1]..end].trim_end_matches(['\r', '\n'])
    }

    /// The position of a byte.
    ///
    /// An offset inside a grapheme cluster has the column of the cluster; one beyond the end of the text means the
    /// end.
    pub fn position(&self, byte_offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= byte_offset).max(1);
        let start = self.starts[line - 1];
        let end = byte_offset.clamp(start, self.text.len());
        let mut counted = self.counted.borrow_mut();
        let nearest = counted.range(start..=end).next_back();
        let (mut from, mut clusters) = nearest.map_or((start, 0), |(at, before)| (*at, *before));
        let mut interval = INTERVAL;
        while end - from > interval {
            let (bytes, more) = clusters_within(&self.text[from..], interval);
            if bytes == 0 {
                // A cluster may be longer.
                interval *= 2;
                continue;
            }
            from += bytes;
            clusters += more;
            counted.insert(from, clusters);
            interval = INTERVAL;
        }
        let (_, more) = clusters_within(&self.text[from..], end - from);
        Position { line, column: 1 + clusters + more }
    }
}

/// The clusters of a text that end within its first bytes: their bytes and how many they are.
fn clusters_within(text: &str, bytes: usize) -> (usize, usize) {
    // A cluster may reach over the given bytes, so the byte behind them is looked at too.
    if text.as_bytes()[..text.len().min(bytes + 1)].iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        return (bytes, bytes);
    }
    let ends = text.grapheme_indices(true).map(|(at, cluster)| at + cluster.len());
    ends.take_while(|end| *end <= bytes).fold((0, 0), |(_, count), end| (end, count + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str, offset: usize) -> (usize, usize) {
        let position = LineIndex::new(text).position(offset);
        (position.line, position.column)
    }

    #[test]
    fn columns_of_a_long_line_are_right_in_any_order() {
        let long_cluster = "e".to_owned() + &"\u{301}".repeat(1_000);
        let text = format!("x\n{}{long_cluster}{}\ny", "ab\u{e9}🇩🇪".repeat(300), "z".repeat(2_000));
        let index = LineIndex::new(&text);
        let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let mixed = (0..offsets.len()).map(|n| offsets[n * 7_919 % offsets.len()]);
        for offset in mixed.step_by(37).chain(offsets.iter().rev().step_by(41).copied()) {
            assert_eq!(index.position(offset), LineIndex::new(&text).position(offset), "{offset}");
            let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let before =
                text[start..].grapheme_indices(true).take_while(|(at, part)| start + at + part.len() <= offset);
            assert_eq!(index.position(offset).column, 1 + before.count(), "{offset}");
        }
    }

    #[test]
    fn lines_and_columns_start_at_one() {
        assert_eq!(at("", 0), (1, 1));
        assert_eq!(at("ab\ncd", 0), (1, 1));
        assert_eq!(at("ab\ncd", 2), (1, 3));
        assert_eq!(at("ab\ncd", 3), (2, 1));
        assert_eq!(at("ab\ncd", 5), (2, 3));
        assert_eq!(at("ab\n", 3), (2, 1));
        assert_eq!(at("ab", 99), (1, 3));
        assert_eq!(at("a\r\nb", 2), (1, 2));
        assert_eq!(at("a\r\nb", 3), (2, 1));
    }

    #[test]
    fn columns_count_grapheme_clusters() {
        assert_eq!(at("é=1", 2), (1, 2));
        assert_eq!(at("e\u{301}=1", 1), (1, 1));
        assert_eq!(at("e\u{301}=1", 3), (1, 2));
        assert_eq!(at("x 👩‍👩‍👧 = 1", "x 👩‍👩‍👧 ".len()), (1, 5));
        assert_eq!(at("é", 1), (1, 1));
    }

    #[test]
    fn a_byte_order_mark_does_not_count() {
        assert_eq!(at("\u{feff}ab\nc", 0), (1, 1));
        assert_eq!(at("\u{feff}ab\nc", 3), (1, 1));
        assert_eq!(at("\u{feff}ab\nc", 4), (1, 2));
        assert_eq!(at("\u{feff}ab\nc", 6), (2, 1));
        assert_eq!(at("\u{feff}", 3), (1, 1));
    }

    proptest! {
        #[test]
        fn positions_grow_with_offsets(text in "[\u{feff}a\u{301}👩\u{200d}\r\n\t é]{0,30}") {
            let index = LineIndex::new(&text);
            let positions: Vec<_> = (0..text.len() + 2).map(|offset| index.position(offset)).collect();
            let afresh: Vec<_> =
                (0..text.len() + 2).map(|offset| LineIndex::new(&text).position(offset)).collect();
            prop_assert_eq!(&positions, &afresh);
            prop_assert!(positions.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert_eq!(positions.last().map(|last| last.line), Some(1 + text.matches('\n').count()));
        }
    }
}
