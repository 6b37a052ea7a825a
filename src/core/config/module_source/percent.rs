//! Texts of URLs, escaped as Go's `net/url` does it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use url::Url;

const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

const PATH: &AsciiSet = &QUERY
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// A path with everything escaped that has another meaning, or none, in a URL.
pub(super) fn path(text: &[u8]) -> String {
    percent_encode(text, PATH).to_string()
}

/// A path unchanged if that is legal, else escaped.
pub(super) fn legal_path(text: &str) -> Option<String> {
    let plain = unescape(text)?;
    let is_legal = |byte: u8| matches!(byte, b'!' | b'\''..=b'*' | b'[' | b']' | b'%') || path(&[byte]).len() == 1;
    Some(if text.bytes().all(is_legal) { text.to_owned() } else { path(&plain) })
}

/// The bytes that a text means; `None` if a `%` is not followed by two hexadecimal digits.
pub(super) fn unescape(text: &str) -> Option<Vec<u8>> {
    let is_hex = |digits: &str| digits.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    text.split('%').skip(1).all(is_hex).then(|| percent_decode_str(text).collect())
}

/// A query sorted by its keys, each key and value escaped again; `None` if it is malformed.
pub(super) fn query(text: &str) -> Option<String> {
    let plain = |text: &str| unescape(&text.replace('+', " "));
    let mut pairs = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if pair.contains(';') {
            return None;
        }
        pairs.push((plain(key)?, plain(value)?));
    }
    // Values of one key keep their order.
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    let escaped = |text: &[u8]| percent_encode(text, QUERY).to_string().replace("%20", "+");
    let pairs = pairs.iter().map(|(key, value)| format!("{}={}", escaped(key), escaped(value)));
    Some(pairs.collect::<Vec<_>>().join("&"))
}

/// True if a text is a URL with a scheme.
pub(super) fn is_url(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control()) && Url::parse(text).is_ok() && unescape(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_sorted_and_escaped() {
        assert_eq!(query("ref=a b&x=%2f&ref=c").as_deref(), Some("ref=a+b&ref=c&x=%2F"));
        assert_eq!(query("ref=feature/x").as_deref(), Some("ref=feature%2Fx"));
        assert_eq!(query("b&a=1&&").as_deref(), Some("a=1&b="));
        assert_eq!((query("a;b=1"), query("a=%z")), (None, None));
    }

    #[test]
    fn paths_are_escaped_where_they_must_be() {
        assert_eq!(path("/o/r é?.git".as_bytes()), "/o/r%20%C3%A9%3F.git");
        assert_eq!(legal_path("/m*/%2f").as_deref(), Some("/m*/%2f"));
        assert_eq!(legal_path("/a b").as_deref(), Some("/a%20b"));
        assert_eq!(legal_path("/%zz"), None);
    }

    #[test]
    fn urls_have_a_scheme() {
        for text in
            ["https://h/x", "ssh://git@h:22/o", "localhost:8080/x", "mailto:x", "c:\\x", "https://h/a b", "file:///x"]
        {
            assert!(is_url(text), "{text}");
        }
        for text in
            ["h/x", "git@h:o/r", "ssh://git@h:o/r", "https://h x/y", "https://h/%zz", "1a:b", "://x", "a\n:b", ""]
        {
            assert!(!is_url(text), "{text}");
        }
    }
}
