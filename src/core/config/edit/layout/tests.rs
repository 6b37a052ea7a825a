//! Alignment, cells, splices and lines.

use super::*;
use proptest::prelude::*;

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

/// The parts of each line, `|` between them.
fn parts(text: &str) -> Vec<String> {
    let show = |line: LineTokens| {
        let mut shown = text[line.range.clone()].to_owned();
        if let Some(at) = line.comment {
            shown.insert(at - line.range.start, '|');
        }
        if let Some(at) = line.equals {
            shown.insert(at - line.range.start, if line.whole { '|' } else { '!' });
        }
        shown
    };
    lines(text, 0..text.len()).into_iter().map(show).collect()
}

#[test]
fn parts_of_lines() {
    assert_eq!(parts("a = 1 # x\nb {\r\n}"), ["a |= 1 |# x", "b {", "}"]);
    assert_eq!(parts("a = { b = 1 }"), ["a |= { b = 1 }"]);
    assert_eq!(parts("a = { # x\n} // y"), ["a != { |# x", "} |// y"]);
    assert_eq!(parts("a = \"# ${\"}\"} \\\" =\" # x"), ["a |= \"# ${\"}\"} \\\" =\" |# x"]);
    assert_eq!(parts("# a = 1\n = 2"), ["# a = 1", " = 2"]);
    assert_eq!(parts("a == b\nc >= d = 1\ne => f"), ["a == b", "c >= d |= 1", "e => f"]);
    assert_eq!(parts("/* a\n = */ b = 1\nc = 2"), ["/* a", " = */ b = 1", "c |= 2"]);
    assert_eq!(parts("a = <<-E\n b = 1 # c\n E\nd = 1"), ["a = <<-E", " b = 1 # c", " E", "d |= 1"]);
    assert_eq!(parts("a = 1 << 2 # c"), ["a |= 1 << 2 |# c"]);
}

proptest! {
    #[test]
    fn each_line_comes_once(text in "[a=<#/*\"${}\\\\\n\r é-]{0,40}") {
        let found = lines(&text, 0..text.len());
        prop_assert_eq!(found.len(), 1 + text.matches('\n').count());
    }
}

#[test]
fn all_else_is_kept() {
    let mut splices = Splices::one(4..5, "E");
    splices.insert(0, "<");
    splices.insert(0, "[");
    splices.replace(1..3, "");
    assert_eq!(splices.apply("abcdef"), "<[adEf");
}

#[test]
fn lines_have_ends_beyond_their_comments() {
    assert_eq!(line_end("a = 1 # x\nb", 5), 10);
    assert_eq!(line_end("a = 1 /* x\n y */ // z\nb", 5), 22);
    assert_eq!(line_end("a = 1", 5), 5);
    assert_eq!(line_end("a /*", 1), 4);
}

#[test]
fn comments_belong_to_what_follows_directly() {
    let above = |text: &str| comments_above(text, 0, text.find("item").unwrap());
    assert_eq!(above("# a\n# b\n  item"), 0);
    assert_eq!(above("# a\n\n# b\n  item"), 5);
    assert_eq!(above("# a\n\n  item"), 5);
    assert_eq!(above("/* a\n\n b */\n item"), 0);
    assert_eq!(above("\n/* a\n */ item"), 1);
}

#[test]
fn blank_lines() {
    assert_eq!(blank_line_at("a\n \nb", 2), Some(2..4));
    assert_eq!(blank_line_at("a\n \nb", 0), None);
    assert_eq!(blank_line_at("a", 1), None);
    assert_eq!(blank_line_before("a\n\r\nb", 4), Some(2..4));
    assert_eq!(blank_line_before("a\nb", 2), None);
}

#[test]
fn indentation() {
    assert_eq!(indent("a\n\t b", 4), "\t ");
    assert_eq!(indent("\u{feff}  a", 5), "  ");
    assert_eq!(unit("  ", "      "), "    ");
    assert_eq!(unit("\t", "\t\t"), "\t");
    assert_eq!(unit("  ", "  "), "  ");
}
