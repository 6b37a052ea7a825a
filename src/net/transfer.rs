//! Requests and their answers that are documents, which are read whole.

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use url::Url;

use crate::settings::Secret;

/// The kinds of document, each with its size limit, which applies after decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// `/.well-known/terraform.json`: 1 MiB.
    Discovery,
    /// Answers of registries and mirrors: 10 MiB.
    Metadata,
    /// SHA256SUMS: 1 MiB.
    Sums,
    /// A detached signature: 64 KiB.
    Signature,
    /// A manifest of an OCI registry: 4 MiB.
    Manifest,
    /// An entry of a shared index: 131 bytes.
    IndexEntry,
    /// What a shared index has about a program: 2 MiB.
    IndexProgram,
    /// A list of attestations: 4 MiB.
    Attestations,
    /// An attestation: 1 MiB.
    Bundle,
}

impl DocumentKind {
    pub fn limit(self) -> u64 {
        match self {
            DocumentKind::Discovery | DocumentKind::Sums | DocumentKind::Bundle => 1024 * 1024,
            DocumentKind::Metadata => 10 * 1024 * 1024,
            DocumentKind::Signature => 64 * 1024,
            DocumentKind::IndexEntry => crate::disk::cache::exchange::LONGEST_LINE,
            DocumentKind::IndexProgram => crate::disk::cache::exchange::LONGEST_PROGRAM,
            DocumentKind::Manifest | DocumentKind::Attestations => 4 * 1024 * 1024,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Authorization {
    Bearer(Secret),
    /// A user and a password, with a colon between, in base64.
    Basic(Secret),
}

impl Authorization {
    pub(super) fn header(&self) -> String {
        match self {
            Self::Bearer(token) => format!("Bearer {}", token.reveal()),
            Self::Basic(both) => format!("Basic {}", both.reveal()),
        }
    }
}

/// What is sent along with a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// A form, URL-encoded; by POST.
    Form(Secret),
    /// A file; by PUT.
    File(String),
}

#[derive(Debug, Clone)]
pub struct DocumentRequest {
    pub url: Url,
    pub kind: DocumentKind,
    /// The credentials for the host of `url`. Sent over `https` only, and to no other host that a redirect names.
    pub authorization: Option<Authorization>,
    /// The body. A request with a body does not follow redirects.
    pub sent: Option<Sent>,
    pub headers: Vec<(&'static str, String)>,
    /// True if no redirect leads to another host.
    pub confined: bool,
}

impl DocumentRequest {
    pub fn new(url: Url, kind: DocumentKind) -> Self {
        Self { url, kind, authorization: None, sent: None, headers: Vec::new(), confined: false }
    }

    #[must_use]
    pub fn token(self, token: Option<Secret>) -> Self {
        self.authorized(token.map(Authorization::Bearer))
    }

    #[must_use]
    pub fn authorized(mut self, authorization: Option<Authorization>) -> Self {
        self.authorization = authorization;
        self
    }

    /// Follows redirects on its own host only.
    #[must_use]
    pub fn confined(mut self) -> Self {
        self.confined = true;
        self
    }

    #[must_use]
    pub fn posting(mut self, form: Option<Secret>) -> Self {
        self.sent = form.map(Sent::Form);
        self
    }

    /// Writes a file to the address instead of reading one.
    #[must_use]
    pub fn putting(mut self, file: String) -> Self {
        self.sent = Some(Sent::File(file));
        self
    }

    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A whole answer with a status of success (2xx).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedDocument {
    pub status: u16,
    /// The URL that answered, after redirects: the base of relative URLs in the document.
    pub final_url: Url,
    /// The bytes, decompressed, within the bound of their kind.
    pub body: Vec<u8>,
    pub(super) headers: HeaderMap,
}

impl FetchedDocument {
    /// The value of a header, if it is readable text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The media type without parameters, in lower case.
    pub fn media_type(&self) -> Option<String> {
        media_type(&self.headers)
    }

    /// True if this is a page for users, as proxies and login forms give in place of a document.
    pub fn is_page(&self) -> bool {
        is_page(self.media_type().as_deref(), &self.body)
    }
}

/// The media type of an answer without parameters, in lower case; the whole header if a parameter is malformed, which the
/// tools refuse.
///
/// Source: Go `mime`, `ParseMediaType`.
pub(super) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let (kind, parameters) = value.split_once(';').unwrap_or((value, ""));
    let kind = if parameters.split(';').all(is_parameter) { kind } else { value };
    Some(kind.trim().to_ascii_lowercase())
}

/// `NAME=VALUE`, or nothing, as behind the last semicolon.
fn is_parameter(text: &str) -> bool {
    let is_token = |text: &str| !text.is_empty() && !text.contains([' ', '\t', '"', '=', ',']);
    let is_quoted = |text: &str| text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    match text.split_once('=') {
        Some((name, value)) => is_token(name.trim()) && (is_token(value.trim()) || is_quoted(value.trim())),
        None => text.trim().is_empty(),
    }
}

/// True for what is called HTML, or begins with `<` after white space.
pub(super) fn is_page(media_type: Option<&str>, start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    media_type == Some("text/html") || start.trim_ascii_start().starts_with(b"<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_parameter_is_part_of_the_type() {
        let of = |text: &str| media_type(&HeaderMap::from_iter([(CONTENT_TYPE, text.parse().unwrap())])).unwrap();
        for good in [
            "Application/JSON",
            "application/json;",
            "application/json; charset=utf-8",
            "application/json ; a=\"b c\"; d=e;",
        ] {
            assert_eq!(of(good), "application/json", "{good}");
        }
        for bad in ["application/json; foo", "application/json; =x", "application/json; a b=c", "application/json; a="]
        {
            assert_eq!(of(bad), bad);
        }
    }

    #[test]
    fn pages_for_people() {
        assert!(is_page(None, b" \r\n<!DOCTYPE html>"));
        assert!(is_page(Some("application/zip"), b"\xEF\xBB\xBF<html>"));
        assert!(is_page(Some("text/html"), b"please log in"));
        assert!(!is_page(Some("text/plain"), b"please log in"));
        assert!(!is_page(None, b"PK\x03\x04<"));
    }
}
