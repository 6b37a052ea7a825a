//! ASCII armor, read as the tools read it: a key that they cannot decode stops `init`, so it must not pass here.
//!
//! Source: `armor/armor.go` of `github.com/ProtonMail/go-crypto`. The reader of `sequoia` is more tolerant.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

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
                return Err("no end follows the checksum of its armor");
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
