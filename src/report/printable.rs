//! Text from outside made harmless for a terminal.

use std::borrow::Cow;
use std::fmt::Write;

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

/// The same text with every character escaped that a terminal would obey or hide: control characters, directions,
/// zero-width and unassigned ones. One line stays one line.
///
/// Registries, configurations and file names may hold anything; a report must show what is there.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hidden(character) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// True for a character that a terminal would obey, or not show.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_text_is_not_copied() {
        for text in ["", "a b ~ 'x'", "Köln", "日本", "a\\nb"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
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
}
