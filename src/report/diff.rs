//! The unified diff of two texts.

use similar::TextDiff;

/// The difference between two texts as `patch` reads it; empty if there is none.
///
/// `path` names the file on both sides, with the prefixes `a/` and `b/`.
pub fn unified(old: &str, new: &str, path: &str) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
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
    fn equal_texts_have_none() {
        assert_eq!(unified("a\n", "a\n", "x.hcl"), "");
    }
}
