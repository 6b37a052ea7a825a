//! The listed keys: decoded, and copies of one key taken together.

use std::io::Read;

use sequoia_openpgp::armor::{Kind, Reader, ReaderMode};
use sequoia_openpgp::cert::{Cert, CertParser};
use sequoia_openpgp::parse::Parse;

use super::canonical::with_canonical_numbers;
use super::error::{SignatureError, one_line};

const BEGIN: &str = "-----BEGIN PGP ";

/// The listed keys in their order.
pub(super) struct Keyring(Vec<Result<Vec<Cert>, SignatureError>>);

impl Keyring {
    /// Decodes all keys; one that does not decode is kept as its error, for its turn.
    pub(super) fn decode(keys: &[&str]) -> Self {
        let decode = |(at, key): (usize, &&str)| {
            decode_key(key).map_err(|reason| SignatureError::Key { number: at + 1, reason })
        };
        let listed: Vec<_> = keys.iter().enumerate().map(decode).collect();
        let copies: Vec<Cert> = listed.iter().flatten().flatten().cloned().collect();
        Self(listed.into_iter().map(|key| key.map(|certs| with_copies(certs, &copies))).collect())
    }

    /// The keys as listed, each with all that its other copies say.
    pub(super) fn in_order(&self) -> impl Iterator<Item = Result<&[Cert], SignatureError>> {
        self.0.iter().map(|key| key.as_deref().map_err(Clone::clone))
    }
}

fn with_copies(certs: Vec<Cert>, copies: &[Cert]) -> Vec<Cert> {
    let merge = |cert: Cert| {
        let own = cert.fingerprint();
        copies.iter().filter(|copy| copy.fingerprint() == own).fold(cert, |merged, copy| {
            let before = merged.clone();
            merged.merge_public(copy.clone()).unwrap_or(before)
        })
    };
    certs.into_iter().map(merge).collect()
}

/// The keys of one armored text: those of the first block, which must decode, and of further blocks that do.
fn decode_key(text: &str) -> Result<Vec<Cert>, String> {
    let starts: Vec<usize> = text.match_indices(BEGIN).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut blocks = starts.iter().zip(ends).map(|(start, end)| decode_block(&text[*start..end]));
    let mut certs = blocks.next().unwrap_or_else(|| Err("it is not in ASCII armor".to_owned()))?;
    // The tools read no further than the first block.
    certs.extend(blocks.flatten().flatten());
    Ok(certs)
}

fn decode_block(text: &str) -> Result<Vec<Cert>, String> {
    let mut bytes = Vec::new();
    let mut reader = Reader::from_bytes(text.as_bytes(), ReaderMode::Tolerant(None));
    reader.read_to_end(&mut bytes).map_err(|error| one_line(&error))?;
    match reader.kind() {
        Some(Kind::PublicKey | Kind::SecretKey) => {}
        _ => return Err("it is armored, but not as a key".to_owned()),
    }
    let bytes = with_canonical_numbers(&bytes);
    let parser = CertParser::from_bytes(&bytes).map_err(|error| one_line(&error))?;
    let (mut certs, mut error) = (Vec::new(), None);
    for cert in parser {
        match cert {
            Ok(cert) => certs.push(cert),
            Err(reason) => error = Some(one_line(&reason)),
        }
    }
    match error {
        Some(reason) if certs.is_empty() => Err(reason),
        _ if certs.is_empty() => Err("it holds no key".to_owned()),
        _ => Ok(certs),
    }
}
