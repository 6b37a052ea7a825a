//! Base64 and URLs.
//!
//! Source: terraform `internal/lang/funcs/encoding.go`; opentofu `internal/lang/funcs/encoding.go`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{text, uncertain};
use crate::value::{Budget, Failure, Value};

fn utf8(bytes: Vec<u8>) -> Result<Value, Failure> {
    String::from_utf8(bytes).map_or_else(|_| uncertain("bytes that are not UTF-8"), |text| Ok(Value::text(text)))
}

pub(super) fn encode_base64(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    Ok(Value::text(STANDARD.encode(text(arguments, 0))))
}

pub(super) fn decode_base64(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    STANDARD.decode(text(arguments, 0)).map_or_else(|_| uncertain("text that is not plain base64"), utf8)
}

/// The text in a query of a URL.
pub(super) fn decode_url(arguments: &[Value], _: &Budget) -> Result<Value, Failure> {
    let input = text(arguments, 0);
    let is_escape = |(at, _): (usize, &str)| {
        input.as_bytes().get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !input.match_indices('%').all(is_escape) {
        return uncertain("an escape that is not two hexadecimal digits");
    }
    let plain = input.replace('+', " ");
    utf8(percent_encoding::percent_decode_str(&plain).collect())
}
