//! The signature document: one or more signature packets.
//!
//! ASCII armor, read as the tools read it: a key that they cannot decode stops `init`, so it must not pass here.
//!
//! Source: `armor/armor.go` of `github.com/ProtonMail/go-crypto`. The reader of `sequoia` is more tolerant.
//!
//! Numbers of signatures in the one form that `sequoia` takes.
//!
//! A number (MPI) is stored behind the count of its bits. Some signers, `HashiCorp`'s among them, write the count that
//! the size of their key suggests, though the number itself begins with zero bits. Other programs do not mind; `sequoia`
//! refuses. No digest covers the numbers of a signature, so they can be rewritten before it reads them.
//!
//! Source: RFC 9580, 3.2 (numbers), 4.2 (packet headers), 5.2.3 (signatures of version 4).

use std::borrow::Cow;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};
use sequoia_openpgp::KeyHandle;
use sequoia_openpgp::packet::signature::subpacket::{SubpacketTag, SubpacketValue};
use sequoia_openpgp::packet::{Packet, Signature};
use sequoia_openpgp::parse::{PacketParser, PacketParserResult, Parse};
use sequoia_openpgp::types::SignatureType;

use super::{SignatureError, one_line};

pub(super) struct Signatures(Vec<Signature>);

impl Signatures {
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, SignatureError> {
        match bytes.first() {
            None => return Err(SignatureError::Malformed("it is empty".to_owned())),
            Some(first) if first & 0x80 == 0 => {
                let armored = bytes.trim_ascii_start().starts_with(b"-----BEGIN PGP ");
                let other = || SignatureError::Malformed("it does not begin with a packet".to_owned());
                return Err(if armored { SignatureError::Armored } else { other() });
            }
            Some(_) => {}
        }
        let malformed = |error| SignatureError::Malformed(one_line(&error));
        let mut signatures = Vec::new();
        let bytes = with_canonical_numbers(bytes);
        let mut next = PacketParser::from_bytes(&bytes).map_err(malformed)?;
        while let PacketParserResult::Some(parser) = next {
            match accept(parser.packet.clone()) {
                Ok(signature) => signatures.extend(signature),
                // The tools read as far as the signature that counts; what follows it says nothing.
                Err(_) if !signatures.is_empty() => break,
                Err(error) => return Err(error),
            }
            next = match parser.next() {
                Ok((_, after)) => after,
                Err(_) if !signatures.is_empty() => break,
                Err(error) => return Err(malformed(error)),
            };
        }
        if signatures.is_empty() {
            return Err(SignatureError::Malformed("it contains no signature".to_owned()));
        }
        Ok(Self(signatures))
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Signature> {
        self.0.iter()
    }

    /// Who made the first one, by its own word: a fingerprint or a key id.
    pub(super) fn issuer(&self) -> String {
        let issuer = self.0.first().and_then(|signature| signature.get_issuers().into_iter().next());
        issuer.map(|handle: KeyHandle| handle.to_hex()).unwrap_or_default()
    }
}

/// Lets pass what may appear in a detached signature: signatures over documents that name their issuer.
fn accept(packet: Packet) -> Result<Option<Signature>, SignatureError> {
    let malformed = |text: &str| SignatureError::Malformed(text.to_owned());
    let signature = match packet {
        Packet::Signature(signature) => signature,
        Packet::Marker(_) | Packet::Padding(_) => return Ok(None),
        Packet::Unknown(unknown) => return Err(SignatureError::Malformed(one_line(unknown.error()))),
        other => {
            return Err(SignatureError::Malformed(format!("it contains a packet of another kind: {}", other.tag())));
        }
    };
    if !matches!(signature.typ(), SignatureType::Binary | SignatureType::Text) {
        return Err(malformed("it is not a signature over a document"));
    }
    if signature.get_issuers().is_empty() {
        return Err(malformed("it does not name its signing key"));
    }
    if signature.signature_creation_time().is_none() {
        return Err(malformed("it does not say when it was made"));
    }
    match critical(&signature) {
        Some(what) => Err(SignatureError::Critical(what)),
        None => Ok(Some(signature)),
    }
}

/// A critical part of a signature that the tools do not know, so it must not be ignored.
///
/// Source: RFC 9580, 5.2.3.7; `parseSignatureSubpacket` and `checkSignatureDetails` of go-crypto.
fn critical(signature: &Signature) -> Option<String> {
    signature.hashed_area().iter().filter(|subpacket| subpacket.critical()).find_map(|subpacket| {
        match subpacket.value() {
            SubpacketValue::NotationData(notation) => Some(format!("the notation {:?}", one_line(&notation.name()))),
            _ if KNOWN.contains(&subpacket.tag()) => None,
            _ => Some(format!("the subpacket {}", one_line(&subpacket.tag()))),
        }
    })
}

/// The subpackets that the tools know.
const KNOWN: [SubpacketTag; 22] = [
    SubpacketTag::SignatureCreationTime,
    SubpacketTag::SignatureExpirationTime,
    SubpacketTag::ExportableCertification,
    SubpacketTag::TrustSignature,
    SubpacketTag::RegularExpression,
    SubpacketTag::KeyExpirationTime,
    SubpacketTag::PreferredSymmetricAlgorithms,
    SubpacketTag::Issuer,
    SubpacketTag::PreferredHashAlgorithms,
    SubpacketTag::PreferredCompressionAlgorithms,
    SubpacketTag::KeyServerPreferences,
    SubpacketTag::PreferredKeyServer,
    SubpacketTag::PrimaryUserID,
    SubpacketTag::PolicyURI,
    SubpacketTag::KeyFlags,
    SubpacketTag::SignersUserID,
    SubpacketTag::ReasonForRevocation,
    SubpacketTag::Features,
    SubpacketTag::EmbeddedSignature,
    SubpacketTag::IssuerFingerprint,
    SubpacketTag::IntendedRecipient,
    SubpacketTag::PreferredAEADCiphersuites,
];

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Lines longer than this are read in pieces, and only headers may be.
const BUFFER: usize = 100;

const LONGEST: usize = 96;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes of the first block of a text, which must contain a key. Further blocks are not read.
pub(super) fn decode_key(text: &str) -> Result<Vec<u8>, &'static str> {
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    loop {
        let kind = lines.by_ref().find_map(kind).ok_or("it is not in ASCII armor")?;
        if skip_headers(&mut lines) {
            return match kind {
                "PGP PUBLIC KEY BLOCK" | "PGP PRIVATE KEY BLOCK" => read_body(&mut lines),
                _ => Err("it is armored, but not as a key"),
            };
        }
    }
}

fn kind(line: &str) -> Option<&str> {
    let kind = line.trim().strip_prefix(BEGIN)?.get(..)?;
    // The dashes at the end are counted, not looked at.
    let end = kind.len().checked_sub(DASHES.len()).filter(|end| *end > 0 && line.len() < BUFFER)?;
    kind.get(..end)
}

/// Passes over the headers and the empty line behind them. False if something else is there, such as data: then
/// this is no block, and the search goes on behind that line.
fn skip_headers<'a>(lines: &mut impl Iterator<Item = &'a str>) -> bool {
    for line in lines {
        let start = line.as_bytes().get(..BUFFER).unwrap_or(line.as_bytes());
        if line.len() < BUFFER && line.trim().is_empty() {
            return true;
        }
        if !start.contains(&b':') {
            return false;
        }
    }
    false
}

fn read_body<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Result<Vec<u8>, &'static str> {
    let (mut data, mut checksum) = (String::new(), None);
    loop {
        let line = lines.next().ok_or("its armor has no end")?;
        if line.starts_with(END) {
            break;
        }
        if let Some(digits) = line.strip_prefix('=').filter(|digits| digits.len() == 4) {
            checksum = Some(BASE64.decode(digits).map_err(|_| "the checksum of its armor is not base64")?);
            // Later versions of the package pass over empty lines here; terraform 1.11 refuses them.
            if !lines.next().is_some_and(|line| line.starts_with(END)) {
                return Err("its armor does not end after the checksum");
            }
            break;
        }
        if line.len() > LONGEST {
            return Err("a line of its armor is longer than 96 characters");
        }
        data.extend(line.chars().filter(|character| *character != '\r'));
    }
    let bytes = BASE64.decode(&data).map_err(|_| "its armor is not base64")?;
    match checksum {
        Some(checksum) if checksum != crc24(&bytes).to_be_bytes()[1..] => Err("the checksum of its armor is wrong"),
        _ => Ok(bytes),
    }
}

/// Source: RFC 4880, 6.1.
fn crc24(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x00B7_04CE, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte) << 16, |sum, _| {
            let shifted = sum << 1;
            (if shifted & 0x0100_0000 == 0 { shifted } else { shifted ^ 0x0186_4CFB }) & 0x00FF_FFFF
        })
    })
}

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
    use super::*;
    use proptest::prelude::*;

    const DATA: &str =
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: x\n\naGVs\nbG8=\n=R/Xv\n-----END PGP PUBLIC KEY BLOCK-----\n";

    #[test]
    fn what_the_tools_decode() {
        let sum = BASE64.encode(&crc24(b"hello").to_be_bytes()[1..]);
        let good = DATA.replace("R/Xv", &sum);
        assert_eq!(crc24(b"123456789"), 0x0021_CF02);
        for text in [
            good.clone(),
            good.replace('\n', "\r\n"),
            format!("words\n  {good}words"),
            good.replace(&format!("={sum}\n"), ""),
            good.replace("\nbG8", "\n\nbG8"),
            good.replace(&format!("={sum}"), &format!("\n={sum}")),
            good.replace("\n\naG", "\n \t\naG"),
            format!("-----BEGIN PGP MESSAGE-----\nno header\n{good}"),
            good.replace("PUBLIC", "PRIVATE"),
            format!("{good}{}", good.replace("aGVs", "!!!!")),
        ] {
            assert_eq!(decode_key(&text).as_deref(), Ok(&b"hello"[..]), "{text}");
        }
    }

    #[test]
    fn what_the_tools_do_not_decode() {
        let good = DATA.replace("=R/Xv\n", "");
        for text in [
            String::new(),
            DATA.replace("R/Xv", "AAAA"),
            DATA.replace("R/Xv\n", &format!("{}\n\n", BASE64.encode(&crc24(b"hello").to_be_bytes()[1..]))),
            DATA.replace("R/Xv", "!!!!"),
            good.replace("\n\naG", "\naG"),
            good.replace("aGVs", "aG Vs"),
            good.replace('\n', "\r"),
            good.replace("aGVs", &"aGVs".repeat(25)),
            good.replace("bG8=", "bG8"),
            good.replace("-----END", ""),
            good.replace("PUBLIC KEY BLOCK", "MESSAGE"),
            good.replace("aGVs\nbG8=", "bG8=\naGVs"),
            good.replace("BEGIN PGP PUBLIC KEY BLOCK", &format!("BEGIN {}", "x".repeat(100))),
        ] {
            assert!(decode_key(&text).is_err(), "{text}");
        }
    }

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
