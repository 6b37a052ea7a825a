//! The unified diff of two texts.

use std::fmt::Write;
use std::ops::Range;

use similar::DiffTag;
use similar::algorithms::{Capture, Compact, Replace, myers};

const AROUND: usize = 3;

/// The difference between two texts in the format of `patch`; empty if they are equal. `path` names the file on both
/// sides, with the prefixes `a/` and `b/`.
pub fn unified(old: &str, new: &str, path: &str) -> String {
    let [before, after] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<&str>>());
    // One algorithm directly: `TextDiff` would compile all of them, for texts of every kind.
    let mut found = Compact::new(Replace::new(Capture::new()), &before[..], &after[..]);
    // Capturing operations cannot fail, nor can writing to a string, here and below.
    let _ = myers::diff(&mut found, &before[..], 0..before.len(), &after[..], 0..after.len());
    let mut text = String::new();
    for hunk in found.into_inner().into_inner().into_grouped_ops(AROUND) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        if text.is_empty() {
            let _ = writeln!(text, "--- a/{path}\n+++ b/{path}");
        }
        let was = first.old_range().start..last.old_range().end;
        let is = first.new_range().start..last.new_range().end;
        let _ = writeln!(text, "@@ -{} +{} @@", place(&was), place(&is));
        for op in hunk {
            match op.as_tag_tuple() {
                (DiffTag::Equal, was, _) => lines(&mut text, ' ', &before[was]),
                (_, was, is) => {
                    lines(&mut text, '-', &before[was]);
                    lines(&mut text, '+', &after[is]);
                }
            }
        }
    }
    text
}

/// The first line and the number of lines; for no lines, the line before.
fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn lines(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_changed_line() {
        let diff = unified("a\nb\nc\n", "a\nB\nc\n", "x.hcl");
        assert_eq!(diff, "--- a/x.hcl\n+++ b/x.hcl\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    }

    #[test]
    fn texts_of_any_kind_as_the_crate_writes_them() {
        let many = |changed: usize| -> String {
            let line = |at: usize| (if at % changed == 5 { at * 7 } else { at }).to_string() + "\n";
            (0..40).map(line).collect()
        };
        let few = ["", "a", "a\nb\n", "b\nc"].map(str::to_owned).into_iter();
        let texts: Vec<String> = few.chain([9, 31, 40].map(many)).collect();
        for old in &texts {
            for new in &texts {
                let wanted = similar::TextDiff::from_lines(old, new);
                let wanted = wanted.unified_diff().context_radius(3).header("a/x", "b/x").to_string();
                assert_eq!(unified(old, new, "x"), wanted, "{old:?} {new:?}");
            }
        }
    }

    #[test]
    fn equal_texts_have_none() {
        assert_eq!(unified("a\n", "a\n", "x.hcl"), "");
    }
}
