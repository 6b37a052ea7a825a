//! URLs as they may be shown.

use std::fmt;

use url::Url;

use crate::redact;

/// The longest URL that is shown whole, in characters.
const MAX_SHOWN: usize = 300;

/// A URL without user information, secret values and fragment, of bounded length.
///
/// Every URL in a message or a log passes this type. Query values are hidden unless their name is known to be harmless:
/// presigned addresses carry their signature there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShownUrl(String);

impl ShownUrl {
    /// The showable form of a URL.
    pub fn new(url: &Url) -> Self {
        let mut shown = url.clone();
        // Fails only for URLs that cannot have user information.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_fragment(None);
        let query = shown.query().map(redact::query);
        shown.set_query(None);
        let mut text = bounded(shown.as_str(), MAX_SHOWN);
        if let Some(query) = query {
            text.push('?');
            text.push_str(&bounded(&query, MAX_SHOWN));
        }
        Self(text)
    }

    /// The showable form of a text that may be a URL, such as a redirect's `Location`.
    pub fn from_text(text: &str) -> Self {
        // `user:token@host/path` is a URL of the scheme `user` for the parser, and yet contains a token.
        if let Some(url) = Url::parse(text).ok().filter(Url::has_host) {
            return Self::new(&url);
        }
        let plain = text.split(['?', '#']).next().unwrap_or_default();
        let plain = plain.rsplit_once('@').map_or(plain, |(_, behind)| behind);
        Self(bounded(plain, MAX_SHOWN))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&Url> for ShownUrl {
    fn from(url: &Url) -> Self {
        Self::new(url)
    }
}

impl fmt::Display for ShownUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text from outside as it may appear in a message: one line, control characters escaped, of bounded length.
pub(super) fn bounded(text: &str, characters: usize) -> String {
    let mut shown: String = text.chars().take(characters).flat_map(escaped).collect();
    if text.chars().nth(characters).is_some() {
        shown.push('…');
    }
    shown
}

fn escaped(c: char) -> impl Iterator<Item = char> {
    // Marks that reorder text could make a message lie as well as control characters could.
    let reorders = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hidden = c.is_control() || reorders || matches!(c, '\u{2028}' | '\u{2029}');
    let (escape, plain) = if hidden { (Some(c.escape_unicode()), None) } else { (None, Some(c)) };
    escape.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        ShownUrl::new(&Url::parse(url).unwrap()).to_string()
    }

    #[test]
    fn secrets_are_hidden() {
        assert_eq!(shown("https://me:pw@h.example/a?b=secret&ref=v1#tok"), "https://h.example/a?b=…&ref=v1");
        assert_eq!(
            shown("https://tok@h.example:8443/?secret&X-Amz-Signature=1"),
            "https://h.example:8443/?…&X-Amz-Signature=…"
        );
        assert_eq!(ShownUrl::from_text("me:pw@host:path/x.git?k=v").as_str(), "host:path/x.git");
        assert_eq!(ShownUrl::from_text("//me:pw@host/x").as_str(), "host/x");
    }

    #[test]
    fn texts_are_bounded_and_escaped() {
        assert_eq!(bounded("a\u{1b}[31m\n\u{202e}é", 20), "a\\u{1b}[31m\\u{a}\\u{202e}é");
        assert_eq!(bounded("abcd", 3), "abc…");
        assert!(shown(&format!("https://h/{}?{}", "a".repeat(5000), "k&".repeat(5000))).chars().count() < 700);
    }
}
