//! Text for users: harmless on a terminal, with readable sizes.

use std::borrow::Cow;
use std::fmt::Write;

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

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
