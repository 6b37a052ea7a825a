//! The signatures that bundles have, checked by `ring`, which the program has for TLS already.

use ring::{digest, signature};
use sigstore_verify::crypto::{CryptoProvider, Error, HashContext, Result, SigningScheme, install_default_provider};
use sigstore_verify::types::HashAlgorithm;

/// Makes `ring` the library of this process. Whoever installed another one before keeps it, which serves as well.
pub(super) fn install() {
    let _ = install_default_provider(&Ring);
}

#[derive(Debug)]
struct Ring;

struct DigestWriter(digest::Context);

impl HashContext for DigestWriter {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl CryptoProvider for Ring {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>> {
        let algorithm = match algorithm {
            HashAlgorithm::Sha2256 => &digest::SHA256,
            HashAlgorithm::Sha2384 => &digest::SHA384,
            HashAlgorithm::Sha2512 => &digest::SHA512,
            other => return Err(Error::UnsupportedAlgorithm(format!("{other} digests"))),
        };
        Ok(Box::new(DigestWriter(digest::Context::new(algorithm))))
    }

    fn verify_raw(&self, scheme: SigningScheme, key: &[u8], data: &[u8], made: &[u8]) -> Result<()> {
        let algorithm: &dyn signature::VerificationAlgorithm = match scheme {
            SigningScheme::EcdsaP256Sha256 => &signature::ECDSA_P256_SHA256_ASN1,
            SigningScheme::EcdsaP256Sha384 => &signature::ECDSA_P256_SHA384_ASN1,
            SigningScheme::EcdsaP384Sha256 => &signature::ECDSA_P384_SHA256_ASN1,
            SigningScheme::EcdsaP384Sha384 => &signature::ECDSA_P384_SHA384_ASN1,
            SigningScheme::Ed25519 => &signature::ED25519,
            SigningScheme::RsaPkcs1Sha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            SigningScheme::RsaPkcs1Sha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            SigningScheme::RsaPkcs1Sha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            SigningScheme::RsaPssSha256 => &signature::RSA_PSS_2048_8192_SHA256,
            SigningScheme::RsaPssSha384 => &signature::RSA_PSS_2048_8192_SHA384,
            SigningScheme::RsaPssSha512 => &signature::RSA_PSS_2048_8192_SHA512,
            other => return Err(Error::UnsupportedAlgorithm(format!("{other:?} signatures"))),
        };
        let verified = signature::UnparsedPublicKey::new(algorithm, key).verify(data, made);
        verified.map_err(|_| Error::Verification("the signature does not fit".to_owned()))
    }

    /// `ring` signs and checks whole messages only, and nothing here has a hash without its message.
    fn verify_prehashed(&self, scheme: SigningScheme, _: &[u8], _: &[u8], _: &[u8]) -> Result<()> {
        Err(Error::UnsupportedAlgorithm(format!("{scheme:?} over a digest")))
    }
}
