//! The certificate authority of a test process, and the certificate of its servers.

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Names a server of the fixture goes by; the last three behind a proxy.
const NAMES: [&str; 5] = ["localhost", "127.0.0.1", "api.github.com", "github.com", "bundles.example.com"];

struct Authority {
    pem: String,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(|| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority of the fixture");
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);

        let mut params = CertificateParams::new(NAMES.map(str::to_owned)).unwrap();
        params.distinguished_name.push(DnType::CommonName, "fixture");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().unwrap();
        let server = params.signed_by(&key, &issuer).unwrap();
        Authority { pem: certificate.pem(), chain: vec![server.der().clone()], key: key.into() }
    })
}

/// The certificate of a server under all names of the fixture and its key, for servers that read files.
pub fn server_pem() -> [String; 2] {
    let Authority { chain, key, .. } = authority();
    let block = |kind: &str, bytes: &[u8]| {
        let text = STANDARD.encode(bytes);
        let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"))
    };
    [block("CERTIFICATE", &chain[0]), block("PRIVATE KEY", key.secret_der())]
}

/// The authority's certificate, to be trusted by clients.
pub fn ca_pem() -> &'static str {
    &authority().pem
}

/// Accepts connections under all names of the fixture.
pub fn acceptor() -> TlsAcceptor {
    let Authority { chain, key, .. } = authority();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.clone(), key.clone_key())
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}
