//! Base64, text encodings, gzip and URLs.
//!
//! Of the text encodings of the tools UTF-8, UTF-16 and Latin 1 are here; the value in another one is unknown.
//!
//! Source: terraform `internal/lang/funcs/encoding.go`; opentofu `internal/lang/funcs/encoding.go`.

use std::fmt::Write as _;
use std::io::Read as _;

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use flate2::read::MultiGzDecoder;

use super::{refuse, text};
use crate::value::{Budget, Type, Unevaluated, Value};

/// As Go decodes it: line ends are skipped, and bits after the last byte may be set.
const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&ALPHABET, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

fn bytes(encoded: &str) -> Result<Vec<u8>, Unevaluated> {
    let encoded: String = encoded.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    LENIENT.decode(encoded).or_else(|problem| refuse(format!("it is not base64: {problem}").to_lowercase()))
}

fn utf8(bytes: Vec<u8>) -> Result<Value, Unevaluated> {
    String::from_utf8(bytes).map_or_else(|_| refuse("the decoded bytes are not UTF-8"), |text| Ok(Value::text(text)))
}

pub(super) fn encode_base64(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(STANDARD.encode(text(arguments, 0))))
}

pub(super) fn decode_base64(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    utf8(bytes(text(arguments, 0))?)
}

/// The text in a gzip stream that is base64.
pub(super) fn decompress(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let (compressed, mut unpacked) = (bytes(text(arguments, 0))?, Vec::new());
    let limit = u64::try_from(compressed.len()).unwrap_or(u64::MAX).saturating_mul(1 << 10).min(Budget::UNITS);
    let read = MultiGzDecoder::new(&compressed[..]).take(limit + 1).read_to_end(&mut unpacked);
    budget.spend_text(unpacked.len())?;
    if read.is_err() { refuse("it is not a gzip stream") } else { utf8(unpacked) }
}

/// The encodings that are known here.
#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    Utf16 { is_big: bool },
    Latin1,
}

fn encoding(name: &str) -> Result<Encoding, Unevaluated> {
    match name.to_ascii_uppercase().as_str() {
        "UTF-8" | "CSUTF8" => Ok(Encoding::Utf8),
        "UTF-16LE" | "CSUTF16LE" => Ok(Encoding::Utf16 { is_big: false }),
        "UTF-16BE" | "CSUTF16BE" => Ok(Encoding::Utf16 { is_big: true }),
        "ISO-8859-1" | "LATIN1" | "L1" => Ok(Encoding::Latin1),
        other => {
            let is_name = |byte: u8| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'(' | b')' | b'+')
            };
            let may_exist = other.bytes().all(is_name) && other.contains(|c: char| c.is_ascii_uppercase());
            if may_exist {
                Err(Unevaluated::limit(format!("the text encoding {name:?}")))
            } else {
                refuse(format!("there is no text encoding {name:?}"))
            }
        }
    }
}

/// What is a limit here is unknown; what is refused stays so.
fn unknown(reason: Unevaluated) -> Result<Value, Unevaluated> {
    if matches!(reason, Unevaluated::Limit { .. }) { Ok(Value::unknown(Type::String, reason)) } else { Err(reason) }
}

/// Text in an encoding, as base64.
pub(super) fn encode_text(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let input = text(arguments, 0);
    let encoded: Vec<u8> = match encoding(text(arguments, 1)) {
        Ok(Encoding::Utf8) => input.as_bytes().to_vec(),
        Ok(Encoding::Utf16 { is_big: true }) => input.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Ok(Encoding::Utf16 { is_big: false }) => input.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Ok(Encoding::Latin1) => match input.chars().map(|c| u8::try_from(u32::from(c))).collect() {
            Ok(encoded) => encoded,
            Err(_) => return refuse("a character has no code in this encoding"),
        },
        Err(reason) => return unknown(reason),
    };
    Ok(Value::text(STANDARD.encode(encoded)))
}

/// Text from base64 in an encoding.
pub(super) fn decode_text(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let encoding = match encoding(text(arguments, 1)) {
        Ok(encoding) => encoding,
        Err(reason) => return unknown(reason),
    };
    let encoded = bytes(text(arguments, 0))?;
    let decoded = match encoding {
        Encoding::Utf8 => String::from_utf8_lossy(&encoded).into_owned(),
        Encoding::Latin1 => encoded.iter().map(|byte| char::from(*byte)).collect(),
        Encoding::Utf16 { is_big } => {
            let unit = |pair: &[u8]| match *pair {
                [one, other] if is_big => u16::from_be_bytes([one, other]),
                [one, other] => u16::from_le_bytes([one, other]),
                // Half a unit is no character.
                _ => 0xfffd,
            };
            String::from_utf16_lossy(&encoded.chunks(2).map(unit).collect::<Vec<_>>())
        }
    };
    if decoded.contains('\u{fffd}') {
        refuse("a code has no character in this encoding")
    } else {
        Ok(Value::text(decoded))
    }
}

/// Text as part of a query of a URL.
pub(super) fn encode_url(arguments: &[Value], budget: &Budget) -> Result<Value, Unevaluated> {
    let input = text(arguments, 0);
    budget.spend_text(input.len().saturating_mul(3))?;
    let mut encoded = String::with_capacity(input.len());
    for byte in input.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(char::from(byte)),
            b' ' => encoded.push('+'),
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    Ok(Value::text(encoded))
}

/// The text in a query of a URL.
pub(super) fn decode_url(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let input = text(arguments, 0);
    let is_escape = |(at, _): (usize, &str)| {
        input.as_bytes().get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !input.match_indices('%').all(is_escape) {
        return refuse("an escape is not two hexadecimal digits");
    }
    let plain = input.replace('+', " ");
    utf8(percent_encoding::percent_decode_str(&plain).collect())
}
