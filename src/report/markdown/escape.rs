//! Text from outside in Markdown: no markup, no mention, no link but those that we mean.

use url::Url;

use crate::finding::Rule;
use crate::report::layout::printable;
use crate::topics::url_of_rule;

/// A space of zero width, which no name contains.
const NOTHING: char = '\u{200b}';

/// Plain text: no markup, no mention, no reference to an issue, no link.
pub(in crate::report) fn escaped(text: &str) -> String {
    let text = printable(text);
    let mut shown = String::with_capacity(text.len() + 16);
    for (at, character) in text.char_indices() {
        match character {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            // Code hosts look for mentions and references in the rendered text, so an entity would not help.
            '@' | '#' => shown.extend([character, NOTHING]),
            '-' if text[..at].ends_with("GH") => shown.extend([character, NOTHING]),
            // Code hosts make links of texts with a scheme or with `www.` at the beginning.
            ':' if text[at..].starts_with("://") => shown.push_str("&#58;"),
            '.' if is_www(&text[..at]) => shown.push_str("&#46;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '|' | '!' | '~' | '$' => {
                shown.push('\\');
                shown.push(character);
            }
            _ => shown.push(character),
        }
    }
    shown
}

fn is_www(before: &str) -> bool {
    before.as_bytes().last_chunk::<3>().is_some_and(|last| last.eq_ignore_ascii_case(b"www"))
}

/// Sentences with code between backticks.
pub(in crate::report) fn sentences(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let shown = |(at, part): (usize, &&str)| match at % 2 {
        1 if !part.trim().is_empty() => code(part),
        _ => escaped(part),
    };
    parts.iter().enumerate().map(shown).collect()
}

/// Code between backticks, with more of them than the text contains.
pub(in crate::report) fn code(text: &str) -> String {
    // A pipe ends the cell of a table even in code, and is escaped in the same way.
    let text = printable(text).replace('|', "\\|");
    if !text.contains('`') {
        return format!("`{text}`");
    }
    let ticks = "`".repeat(1 + longest_run(&text, '`'));
    format!("{ticks} {text} {ticks}")
}

/// A URL as the target of a link in a cell of a table.
pub(in crate::report) fn target(url: &Url) -> String {
    let special = |character: char| !character.is_ascii_graphic() || "()<>\\|`[]\"'".contains(character);
    url.as_str().chars().fold(String::new(), |mut shown, character| {
        if special(character) {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).bytes();
            shown.extend(bytes.map(|byte| format!("%{byte:02X}")));
        } else {
            shown.push(character);
        }
        shown
    })
}

pub(in crate::report) fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(3.max(1 + longest_run(text, '`')));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|character| character != wanted).map(str::len).max().unwrap_or(0)
}

/// The id of a rule, linked to its documentation.
pub(in crate::report) fn link_of(rule: Rule) -> String {
    let id = rule.id();
    url_of_rule(id).map_or_else(|| id.to_owned(), |url| format!("[{id}]({url})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        assert_eq!(escaped("a <b> & *c* | `d`"), "a &lt;b&gt; &amp; \\*c\\* \\| \\`d\\`");
        assert_eq!(
            escaped("@me #1 [x](https://y) wWw.z new.w"),
            "@\u{200b}me #\u{200b}1 \\[x\\](https&#58;//y) wWw&#46;z new.w"
        );
        assert_eq!(escaped("~> 5.0\n"), "\\~&gt; 5.0\\\\n");
        assert_eq!(escaped("5.0"), "5.0");
        assert_eq!(escaped("a@b.com GH-1 x-1"), "a@\u{200b}b.com GH-\u{200b}1 x-1");
    }

    #[test]
    fn code_within_sentences() {
        assert_eq!(sentences("run `tflock <x>` now*"), "run `tflock <x>` now\\*");
        assert_eq!(sentences("a ` b"), "a \\` b");
        assert_eq!(sentences("a `` b"), "a  b");
    }

    #[test]
    fn targets_end_where_the_link_does() {
        let shown = |text: &str| target(&Url::parse(text).unwrap());
        assert_eq!(shown("https://x.example/a/b-c"), "https://x.example/a/b-c");
        assert_eq!(shown("https://x.example/a)|<b>_é"), "https://x.example/a%29%7C%3Cb%3E_%C3%A9");
    }

    #[test]
    fn code_keeps_its_text() {
        assert_eq!(code("a/b"), "`a/b`");
        assert_eq!(code("a`b|c"), "`` a`b\\|c ``");
        assert_eq!(fenced("diff", "+ a\n"), "```diff\n+ a\n```\n");
        assert_eq!(fenced("", "```x"), "````\n```x\n````\n");
    }
}
