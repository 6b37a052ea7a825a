//! The signature document: one or more signature packets.

use sequoia_openpgp::KeyHandle;
use sequoia_openpgp::packet::signature::subpacket::{SubpacketTag, SubpacketValue};
use sequoia_openpgp::packet::{Packet, Signature};
use sequoia_openpgp::parse::{PacketParser, PacketParserResult, Parse};
use sequoia_openpgp::types::SignatureType;

use super::canonical::with_canonical_numbers;
use super::error::{SignatureError, one_line};

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
