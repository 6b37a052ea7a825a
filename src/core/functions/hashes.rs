//! Hashes of text.
//!
//! Source: terraform `internal/lang/funcs/crypto.go`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1collisiondetection::Sha1CD;
use sha2::{Digest as _, Sha256, Sha512};

use super::{refuse, text};
use crate::hash::hex;
use crate::value::{Budget, Unevaluated, Value};

pub(super) fn md5(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(hex(&<Md5 as md5::Digest>::digest(text(arguments, 0)))))
}

pub(super) fn sha1(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(hex(&digest_sha1(text(arguments, 0).as_bytes())?)))
}

/// The SHA-1 of text that was not made to collide.
fn digest_sha1(bytes: &[u8]) -> Result<[u8; 20], Unevaluated> {
    let mut hasher = Sha1CD::default();
    hasher.update(bytes);
    let mut digest = sha1collisiondetection::Output::default();
    match hasher.finalize_into_dirty_cd(&mut digest) {
        Ok(()) => Ok(digest.into()),
        Err(_) => Err(Unevaluated::limit("the SHA-1 of text that was made to collide")),
    }
}

pub(super) fn sha256(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(hex(&Sha256::digest(text(arguments, 0)))))
}

pub(super) fn sha512(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(hex(&Sha512::digest(text(arguments, 0)))))
}

pub(super) fn base64_sha256(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(STANDARD.encode(Sha256::digest(text(arguments, 0)))))
}

pub(super) fn base64_sha512(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    Ok(Value::text(STANDARD.encode(Sha512::digest(text(arguments, 0)))))
}

/// A UUID of version 5 from a namespace, which is a name of one or a UUID, and a name.
///
/// Source: RFC 9562; `github.com/google/uuid`, `NewSHA1`.
pub(super) fn uuid_v5(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let (namespace, name) = (text(arguments, 0), text(arguments, 1));
    let well_known = |kind: u8| format!("6ba7b81{kind}9dad11d180b400c04fd430c8");
    let digits = match namespace {
        "dns" => well_known(0),
        "url" => well_known(1),
        "oid" => well_known(2),
        "x500" => well_known(4),
        _ => plain_digits(namespace).unwrap_or_default(),
    };
    let Some(mut bytes) = u128::from_str_radix(&digits, 16).ok().map(|number| number.to_be_bytes().to_vec()) else {
        return refuse(format!("the namespace {namespace:?} is neither known nor a UUID"));
    };
    bytes.extend_from_slice(name.as_bytes());
    let mut digest = digest_sha1(&bytes)?;
    digest[6] = digest[6] & 0x0f | 0x50;
    digest[8] = digest[8] & 0x3f | 0x80;
    let digits = hex(&digest[..16]);
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    Ok(Value::text(parts.join("-")))
}

/// The digits of a UUID in one of its forms.
fn plain_digits(text: &str) -> Option<String> {
    let is_braced = text.starts_with('{') && text.ends_with('}') && text.len() == 38;
    let inner = match text {
        _ if is_braced => &text[1..37],
        _ if text.len() == 45 => {
            text.get(..9).filter(|start| start.eq_ignore_ascii_case("urn:uuid:")).and(text.get(9..))?
        }
        _ => text,
    };
    let dashes: Vec<usize> = inner.match_indices('-').map(|(at, _)| at).collect();
    let is_uuid =
        inner.len() == 36 && dashes == [8, 13, 18, 23] || inner.len() == 32 && dashes.is_empty() && !is_braced;
    let digits = inner.replace('-', "");
    Some(digits).filter(|digits| is_uuid && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
