//! Numbers of signatures in the one form that `sequoia` takes.
//!
//! A number (MPI) is stored behind the count of its bits. Some signers, `HashiCorp`'s among them, write the count that
//! the size of their key suggests, though the number itself begins with zero bits. Other programs do not mind; `sequoia`
//! refuses. No digest covers the numbers of a signature, so they can be rewritten before it reads them.
//!
//! Source: RFC 9580, 3.2 (numbers), 4.2 (packet headers), 5.2.3 (signatures of version 4).

use std::borrow::Cow;

/// The same packets, those of signatures with canonical numbers. What cannot be read is left unchanged.
pub(super) fn with_canonical_numbers(packets: &[u8]) -> Cow<'_, [u8]> {
    let mut written = Vec::new();
    let (mut rest, mut copied) = (packets, 0);
    while let Some((is_signature, header, length)) = read_header(rest) {
        let at = packets.len() - rest.len();
        let body = &rest[header..header + length];
        rest = &rest[header + length..];
        let Some(body) = is_signature.then(|| rewrite(body)).flatten() else { continue };
        let Ok(size) = u32::try_from(body.len()) else { continue };
        written.extend_from_slice(&packets[copied..at]);
        written.extend_from_slice(&[0xC2, 0xFF]);
        written.extend_from_slice(&size.to_be_bytes());
        written.extend_from_slice(&body);
        copied = packets.len() - rest.len();
    }
    if copied == 0 {
        return Cow::Borrowed(packets);
    }
    written.extend_from_slice(&packets[copied..]);
    Cow::Owned(written)
}

/// Whether the first packet is a signature, and the lengths of its header and its body, which is there in full.
fn read_header(bytes: &[u8]) -> Option<(bool, usize, usize)> {
    let first = usize::from(*bytes.first()?);
    let at = |index: usize| bytes.get(index).copied().map(usize::from);
    let number = |range: std::ops::Range<usize>| {
        bytes.get(range).map(|digits| digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit)))
    };
    let (tag, header, length): (usize, usize, usize) = match first {
        0xC0.. => match at(1)? {
            short @ ..192 => (first & 0x3F, 2, short),
            two @ 192..224 => (first & 0x3F, 3, ((two - 192) << 8) + at(2)? + 192),
            255 => (first & 0x3F, 6, number(2..6)?),
            _ => return None,
        },
        0x80.. => match first & 3 {
            0 => (first >> 2 & 0xF, 2, at(1)?),
            1 => (first >> 2 & 0xF, 3, number(1..3)?),
            2 => (first >> 2 & 0xF, 5, number(1..5)?),
            _ => return None,
        },
        _ => return None,
    };
    let fits = header.checked_add(length).is_some_and(|end| end <= bytes.len());
    fits.then_some((tag == 2, header, length))
}

/// The body of a signature of version 4 with canonical numbers; `None` if nothing has to change.
fn rewrite(body: &[u8]) -> Option<Vec<u8>> {
    const WITH_NUMBERS: [u8; 5] = [1, 3, 17, 19, 22];
    if *body.first()? != 4 || !WITH_NUMBERS.contains(body.get(2)?) {
        return None;
    }
    let length = |at: usize| Some(usize::from(u16::from_be_bytes([*body.get(at)?, *body.get(at + 1)?])));
    let unhashed = 6 + length(4)?;
    let numbers = unhashed + 2 + length(unhashed)? + 2;
    let mut rest = body.get(numbers..)?;
    let mut written = body[..numbers].to_vec();
    while let [high, low, after @ ..] = rest {
        let bits = usize::from(u16::from_be_bytes([*high, *low]));
        let (number, next) = after.split_at_checked(bits.div_ceil(8))?;
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let number = &number[zeros..];
        let empty = number.first().map_or(0, |byte| byte.leading_zeros() as usize);
        let bits = u16::try_from(number.len() * 8 - empty).ok()?;
        written.extend_from_slice(&bits.to_be_bytes());
        written.extend_from_slice(number);
        rest = next;
    }
    (rest.is_empty() && written != body).then_some(written)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A signature packet with two areas of nothing and these numbers.
    fn packet(numbers: &[u8]) -> Vec<u8> {
        let mut packet = vec![0xC2, u8::try_from(10 + numbers.len()).unwrap(), 4, 0, 1, 8, 0, 0, 0, 0, 0xAB, 0xCD];
        packet.extend_from_slice(numbers);
        packet
    }

    #[test]
    fn counts_of_bits_become_exact() {
        let rewritten = with_canonical_numbers(&packet(&[0, 16, 5, 1, 0, 24, 0, 0, 1])).into_owned();
        assert_eq!(rewritten[..6], [0xC2, 0xFF, 0, 0, 0, 17]);
        assert_eq!(rewritten[16..], [0, 11, 5, 1, 0, 1, 1]);
    }

    #[test]
    fn the_rest_stays() {
        let exact = packet(&[0, 11, 5, 1]);
        assert_eq!(with_canonical_numbers(&exact), exact);
        let cut = packet(&[0, 32, 5, 1]);
        assert_eq!(with_canonical_numbers(&cut), cut);
        let around = [&[0xCD, 1, b'x'][..], &packet(&[0, 16, 5, 1]), b"rest"].concat();
        let rewritten = with_canonical_numbers(&around).into_owned();
        assert!(rewritten.starts_with(&[0xCD, 1, b'x', 0xC2, 0xFF]) && rewritten.ends_with(b"\x00\x0b\x05\x01rest"));
    }

    proptest! {
        #[test]
        fn any_bytes_do(bytes in prop::collection::vec(any::<u8>(), 0..60), start in 0x80_u8..=0xFF) {
            let bytes = [&[start][..], &bytes].concat();
            let once = with_canonical_numbers(&bytes).into_owned();
            let twice = with_canonical_numbers(&once).into_owned();
            prop_assert_eq!(twice, once);
        }
    }
}
