//! What the body of a refusal says of its reason, in the server's own words, and how such words are shown.
//!
//! Registries answer with `{"errors": […]}` of texts or of objects with a message, with `{"message": …}`, or with a line of text.

use serde_json::Value;

use crate::redact;

/// The longest reason that is shown, in characters.
const SHOWN: usize = 200;

/// The reason in a body, on one line, escaped; `None` for pages, and for words that say no more than the status.
pub(super) fn of_body(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    let found = match serde_json::from_str(text) {
        Ok(Value::Object(answer)) => {
            let named = ["errors", "error", "message", "detail"].iter().filter_map(|name| answer.get(*name));
            texts(named.into_iter().next()?)
        }
        Ok(_) => return None,
        Err(_) if text.starts_with(['<', '{', '[']) => return None,
        Err(_) => vec![text.to_owned()],
    };
    let words: Vec<&str> = found.iter().flat_map(|text| text.split_whitespace()).collect();
    let words = words.join(" ");
    (!says_nothing(&words)).then(|| bounded(&redact::secrets(&words), SHOWN))
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

/// The texts of errors: they themselves, or their messages.
fn texts(errors: &Value) -> Vec<String> {
    match errors {
        Value::String(text) => vec![text.clone()],
        Value::Array(several) => several.iter().flat_map(texts).collect(),
        Value::Object(error) => {
            let message = ["message", "detail", "title"].iter().find_map(|name| error.get(*name)?.as_str());
            message.map(str::to_owned).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// True for the words of a status, such as `404 page not found`.
fn says_nothing(words: &str) -> bool {
    const OF_STATUS: [&str; 9] = ["bad", "error", "found", "no", "not", "page", "request", "resource", "the"];
    let mut each = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    each.all(|word| word.parse::<u16>().is_ok() || OF_STATUS.contains(&word.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_several_forms() {
        let of = |body: &str| of_body(body.as_bytes());
        for body in [
            r#"{"errors":["signing key 6B21 not found"]}"#,
            r#"{"errors":[{"status":404,"message":"signing key 6B21 not found"}]}"#,
            r#"{"message":"signing key\n6B21 not found","path":"/v1"}"#,
            "  signing key 6B21\n not found\n",
        ] {
            assert_eq!(of(body).as_deref(), Some("signing key 6B21 not found"), "{body}");
        }
        assert_eq!(of(r#"{"errors":["a",{"detail":"b\u001b[31m"}]}"#).as_deref(), Some("a b\\u{1b}[31m"));
        assert_eq!(of(&"x".repeat(300)).unwrap().chars().count(), SHOWN + 1);
    }

    #[test]
    fn pages_and_words_of_the_status_are_no_reasons() {
        for body in [
            "",
            "{}",
            "[1]",
            "3",
            r#"{"errors":["Not Found"]}"#,
            r#"{"errors":[]}"#,
            "404 page not found",
            "Bad Request",
            "<html><body>no</body></html>",
            "{\"errors\":",
        ] {
            assert_eq!(of_body(body.as_bytes()), None, "{body}");
        }
        assert_eq!(of_body(b"\xff"), None);
    }
}
