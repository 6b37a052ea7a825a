//! Heredocs: where they end.

/// True if a line, without its line feed, ends the heredoc with this marker, `<<-` or not.
///
/// White space around the marker does not count, and that is all of Unicode's: a no-break space before the marker ends a
/// heredoc as a blank does. Only a line that a line feed ends is one.
///
/// Source: `hclsyntax/scan_tokens.rl`, `heredocNewline`, which uses `bytes.TrimSpace`.
pub fn ends_heredoc(line: &str, marker: &str) -> bool {
    line.trim() == marker
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_white_space_around_the_marker_is_left_out() {
        for line in
            ["EOT", " EOT\r", "\tEOT ", "\u{b}EOT", "EOT\u{85}", "\u{a0}EOT", "EOT\u{2028}", "\u{3000}EOT\u{1680}"]
        {
            assert!(ends_heredoc(line, "EOT"), "{line:?}");
        }
        for line in ["", "EOTS", "E OT", "EOT x", "\u{200b}EOT", "\u{feff}EOT", "EOT\u{180e}", "eot"] {
            assert!(!ends_heredoc(line, "EOT"), "{line:?}");
        }
    }
}
