//! Documents: what is asked, and what comes back whole.

use reqwest::header::HeaderMap;
use url::Url;

use crate::settings::Secret;

/// The kinds of document; each has its bound, which holds after decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `/.well-known/terraform.json`: 1 MiB.
    Discovery,
    /// Answers of registries and mirrors: 10 MiB.
    Metadata,
    /// SHA256SUMS: 1 MiB.
    Sums,
    /// A detached signature: 64 KiB.
    Signature,
}

impl Kind {
    /// The most bytes of such a document.
    pub fn limit(self) -> u64 {
        match self {
            Kind::Discovery | Kind::Sums => 1024 * 1024,
            Kind::Metadata => 10 * 1024 * 1024,
            Kind::Signature => 64 * 1024,
        }
    }
}

/// A question to a server.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What to read.
    pub url: Url,
    /// What it is.
    pub kind: Kind,
    /// The bearer token of the host that the question belongs to. Sent over `https` only, and to no other host that a
    /// redirect names.
    pub token: Option<Secret>,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
}

impl Ask {
    /// A question without a token.
    pub fn new(url: Url, kind: Kind) -> Self {
        Self { url, kind, token: None, headers: Vec::new() }
    }

    /// The same question with a token, if there is one.
    #[must_use]
    pub fn token(mut self, token: Option<Secret>) -> Self {
        self.token = token;
        self
    }

    /// The same question with a further header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A whole answer with a status of success (2xx).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The status, 200 to 299.
    pub status: u16,
    /// The URL that answered, after redirects: the base of relative URLs in the document.
    pub final_url: Url,
    /// The bytes, decompressed, within the bound of their kind.
    pub body: Vec<u8>,
    pub(super) headers: HeaderMap,
}

impl Document {
    /// The value of a header, if it is readable text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The media type without parameters, in lower case.
    pub fn media_type(&self) -> Option<String> {
        let value = self.header("content-type")?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }
}
