//! A server on loopback that says what a test wants it to say, byte for byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use url::Url;

use crate::net::ClientOptions;

/// A request as it came.
#[derive(Debug, Clone)]
pub(in crate::net) struct Seen {
    /// The head, in lower case except for the first line.
    lines: Vec<String>,
    /// How many requests for the same path came before.
    pub(in crate::net) earlier: usize,
}

impl Seen {
    pub(in crate::net) fn path(&self) -> &str {
        self.lines[0].split(' ').nth(1).unwrap()
    }

    pub(in crate::net) fn header(&self, name: &str) -> Option<&str> {
        self.lines[1..].iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// What is sent, and what happens then.
pub(in crate::net) struct Reply {
    bytes: Vec<u8>,
    hold: bool,
}

impl Reply {
    pub(in crate::net) fn new(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let length = body.as_ref().len().to_string();
        let mut bytes = format!("HTTP/1.1 {status} X\r\nConnection: close\r\n").into_bytes();
        let announced = headers.iter().any(|(name, _)| *name == "Content-Length");
        let own = [("Content-Length", length.as_str())];
        for (name, value) in headers.iter().chain(own.iter().filter(|_| !announced)) {
            bytes.extend(format!("{name}: {value}\r\n").bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(body.as_ref());
        Self { bytes, hold: false }
    }

    pub(in crate::net) fn json(body: &str) -> Self {
        Self::new(200, &[("Content-Type", "application/json; charset=utf-8")], body)
    }

    pub(in crate::net) fn redirect(to: &str) -> Self {
        Self::new(302, &[("Location", to)], "")
    }

    /// The same, but the connection stays open and silent behind it.
    pub(in crate::net) fn then_silence(mut self) -> Self {
        self.hold = true;
        self
    }
}

/// A server for `localhost` and `127.0.0.1`.
pub(in crate::net) struct Server {
    address: SocketAddr,
    roots: Vec<u8>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Starts on a free port and answers until the test's runtime ends.
    pub(in crate::net) async fn start(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, seen) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let (log, reply) = (Arc::clone(&seen), Arc::new(reply));
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, acceptor.clone(), Arc::clone(&log), Arc::clone(&reply)));
            }
        });
        Self { address, roots: issuer.pem().into_bytes(), seen }
    }

    pub(in crate::net) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(in crate::net) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("https://localhost:{}{path}", self.port())).unwrap()
    }

    /// All requests so far.
    pub(in crate::net) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Options that trust it and do not wait between attempts.
    pub(in crate::net) fn options(&self) -> ClientOptions {
        ClientOptions {
            roots_pem: Some(self.roots.clone()),
            system_proxy: false,
            first_delay: Duration::ZERO,
            timeout: Duration::from_secs(60),
            ..ClientOptions::default()
        }
    }
}

async fn serve(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    log: Arc<Mutex<Vec<Seen>>>,
    reply: Arc<impl Fn(&Seen) -> Reply + Send + Sync>,
) {
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let text = String::from_utf8(head).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let answer = {
        let mut log = log.lock().unwrap();
        let mut seen = Seen { lines, earlier: 0 };
        seen.earlier = log.iter().filter(|other| other.path() == seen.path()).count();
        log.push(seen.clone());
        reply(&seen)
    };
    // The client may refuse to read on, and that is what a test may be about.
    let _ = stream.write_all(&answer.bytes).await;
    let _ = stream.flush().await;
    if answer.hold {
        std::future::pending::<()>().await;
    }
    let _ = stream.shutdown().await;
}
