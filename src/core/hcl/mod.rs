//! HCL, the language of the files that are read: what its texts mean, whatever they are about.
//!
//! Three readers, for three kinds of text. [`scan`] finds the blocks and arguments of configuration and lock files, and
//! `hcl-edit` reads those of their values that matter; `document` reads whole files of literal values, which users write
//! for `tflock`; [`hcl1`] is the older language of the CLI configuration.
//!
//! This file has what they share: where heredocs end, what is written between quotes, and the normal form of strings.
//!
//! Source: `hclwrite/generate.go` for the escapes; strings of both tools are values of `cty`, which are in NFC.

pub mod document;
pub mod hcl1;
pub mod scan;

use std::borrow::Cow;
use std::fmt::Write as _;

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

pub use document::{Anchor, Comments, Remark};

/// True if a line, without its line feed, ends the heredoc with this marker, `<<-` or not.
///
/// White space around the marker does not count, and that is all of Unicode's: a no-break space before the marker ends a
/// heredoc as a blank does. Only a line that a line feed ends is one.
///
/// Source: `hclsyntax/scan_tokens.rl`, `heredocNewline`, which uses `bytes.TrimSpace`.
pub fn ends_heredoc(line: &str, marker: &str) -> bool {
    line.trim() == marker
}

/// The normal form in which strings are compared and written: NFC.
pub fn normal(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// The value of a quoted string that is literal: without escapes, interpolation or directive, and with nothing
/// that is written as an escape. None for any other expression.
pub fn literal(written: &str) -> Option<Cow<'_, str>> {
    let text = written.strip_prefix('"')?.strip_suffix('"')?;
    if is_plain(text) {
        return Some(Cow::Borrowed(text));
    }
    let special = text.contains(['"', '\\']) || text.contains("${") || text.contains("%{");
    Some(normal(text)).filter(|text| !special && text.chars().all(is_print))
}

/// True for a text that is literal between quotes.
pub fn is_plain(text: &str) -> bool {
    #[expect(clippy::needless_bitwise_bool, reason = "without a way out of the loop many bytes are taken at once")]
    let plain = |plain: bool, byte: u8| {
        plain & (b' '..=b'~').contains(&byte) & (byte != b'"') & (byte != b'\\') & (byte != b'$') & (byte != b'%')
    };
    text.bytes().fold(true, plain)
}

/// Writes the text between quotes that means a value, in NFC.
pub fn push_escaped(text: &mut String, value: &str) {
    if is_plain(value) {
        text.push_str(value);
        return;
    }
    let value = normal(value);
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '$' | '%' if characters.peek() == Some(&'{') => {
                text.push(character);
                text.push(character);
            }
            _ if is_print(character) => text.push(character),
            _ if u32::from(character) < 0x1_0000 => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            _ => {
                let _ = write!(text, "\\U{:08x}", u32::from(character));
            }
        }
    }
}

/// Letters, marks, numbers, punctuation, symbols and the ASCII space.
///
/// Source: `unicode.IsPrint`.
pub(crate) fn is_print(character: char) -> bool {
    use GeneralCategory as Is;
    if character.is_ascii() {
        return matches!(character, ' '..='~');
    }
    !matches!(
        CodePointMapData::<GeneralCategory>::new().get(character),
        Is::Unassigned
            | Is::Control
            | Is::Format
            | Is::PrivateUse
            | Is::Surrogate
            | Is::SpaceSeparator
            | Is::LineSeparator
            | Is::ParagraphSeparator
    )
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

    #[test]
    fn escapes() {
        let escaped = |value: &str| {
            let mut text = String::new();
            push_escaped(&mut text, value);
            text
        };
        assert_eq!(escaped("a\"b\\c\n\r\t"), r#"a\"b\\c\n\r\t"#);
        assert_eq!(escaped("${a} %{b} $a %b $$ $${c"), "$${a} %%{b} $a %b $$ $$${c");
        assert_eq!(escaped("\u{a0}\u{200b}\u{0}\u{7f}\u{e000}"), "\\u00a0\\u200b\\u0000\\u007f\\ue000");
        assert_eq!(escaped("\u{e0001}\u{1f600}é"), "\\U000e0001\u{1f600}é");
        assert_eq!(escaped("e\u{301}"), "é");
    }

    #[test]
    fn literals_are_unchanged() {
        for (written, text) in [("\"\"", ""), ("\"a $ % {}\"", "a $ % {}"), ("\"e\u{301} $$ %%\"", "é $$ %%")] {
            assert_eq!(literal(written).as_deref(), Some(text), "{written}");
        }
        for written in [
            "",
            "\"",
            "a",
            "\"a\\n\"",
            "\"${a}\"",
            "\"$${a}\"",
            "\"%%{a}\"",
            "\"a\" == \"b\"",
            "(\"a\")",
            "<<E\na\nE",
            "\"\u{a0}\"",
            "\"\t\"",
        ] {
            assert_eq!(literal(written), None, "{written}");
        }
    }
}
