//! Texts of URLs, escaped and checked as Go's `net/url` does it.

use std::fmt::Write;

/// What may stand in a path or a query as it is.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~')
}

fn escape(text: &[u8], keep: impl Fn(u8) -> bool) -> String {
    text.iter().fold(String::with_capacity(text.len()), |mut escaped, byte| {
        if is_plain(*byte) || keep(*byte) {
            escaped.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
        escaped
    })
}

/// A path with everything escaped that has another meaning, or none, in a URL.
pub(super) fn path(text: &[u8]) -> String {
    escape(text, |byte| matches!(byte, b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'@'))
}

/// A path as it is where that is legal, else escaped.
pub(super) fn legal_path(text: &str) -> Option<String> {
    let plain = unescape(text)?;
    let is_legal = |byte: u8| matches!(byte, b'!' | b'\''..=b'*' | b'[' | b']' | b'%') || path(&[byte]).len() == 1;
    Some(if text.bytes().all(is_legal) { text.to_owned() } else { path(&plain) })
}

/// The bytes that a text stands for; none if a `%` is not followed by two hexadecimal digits.
pub(super) fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut plain = Vec::with_capacity(text.len());
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'%' => u8::try_from(digit(bytes.next())? * 16 + digit(bytes.next())?).ok()?,
            other => other,
        });
    }
    Some(plain)
}

/// A query sorted by its keys, each key and value escaped again; none if it is malformed.
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
    let escaped = |text: &[u8]| escape(text, |byte| byte == b' ').replace(' ', "+");
    let pairs = pairs.iter().map(|(key, value)| format!("{}={}", escaped(key), escaped(value)));
    Some(pairs.collect::<Vec<_>>().join("&"))
}

/// True if a text is a URL with a scheme.
pub(super) fn is_url(text: &str) -> bool {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let in_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.bytes().all(in_scheme) {
        return false;
    }
    let rest = rest.split('?').next().unwrap_or_default();
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !is_authority(authority) {
                return false;
            }
            path
        }
        // Anything may stand behind a scheme without a slash.
        None if !rest.starts_with('/') => "",
        None => rest,
    };
    unescape(path).is_some() && unescape(fragment).is_some()
}

fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    let in_user = |byte: u8| is_plain(byte) || matches!(byte, b'!' | b'$'..=b',' | b':' | b';' | b'=' | b'@');
    if !user.bytes().all(in_user) || unescape(user).is_none() {
        return false;
    }
    let (host, port) = match host.rfind(']').filter(|_| host.starts_with('[')) {
        Some(end) => host.split_at(end + 1),
        None => host.split_at(host.rfind(':').unwrap_or(host.len())),
    };
    let in_host = |byte: u8| {
        let marks = matches!(byte, b'!' | b'"' | b'$'..=b',' | b':' | b';' | b'<' | b'=' | b'>' | b'[' | b']');
        is_plain(byte) || marks || !byte.is_ascii()
    };
    let is_port = port.is_empty() || port[1..].bytes().all(|byte| byte.is_ascii_digit()) && port.starts_with(':');
    is_port && host.bytes().all(in_host) && unescape(host).is_some()
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
