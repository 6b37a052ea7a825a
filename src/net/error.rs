//! What can go wrong between us and a server, and URLs as they may be shown.

use std::error::Error as _;
use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use rustls::CertificateError;
use rustls::pki_types::UnixTime;
use url::Url;

use super::limit::Exhausted;
use super::reason::bounded;
use crate::error::{Error, ErrorKind};
use crate::redact;
use crate::settings::Date;

/// A request without a usable answer. Cheap to clone, so all waiters for one answer share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetError {
    /// The request, without secrets.
    pub url: ShownUrl,
    /// How many attempts were made; zero if there was none.
    pub attempts: u32,
    /// What went wrong with the last of them.
    pub fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("{}", status_text(*.status, words.as_deref()))]
    Status {
        status: u16,
        /// True if the request that was refused carried a token.
        token_sent: bool,
        /// The delay that the server demands, for 429 and 503.
        retry_after: Option<Duration>,
        /// What the server wants to be shown, for 401: `WWW-Authenticate` as it came.
        challenge: Option<String>,
        /// The reason that the server gives in the body, escaped and bounded; `None` for 401, 403, 408, 429 and 5xx.
        words: Option<String>,
    },
    #[error("{0}")]
    Connect(String),
    #[error("the certificate is not accepted: {0}")]
    Certificate(String),
    /// By the clock of this machine.
    #[error("the certificate is not accepted: {0}")]
    CertificateTime(String),
    #[error("no complete response within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    #[error("the download stalled: nothing came for {} s", .0.as_secs_f32())]
    Stalled(Duration),
    #[error("the body broke off after {received} bytes{}: {reason}", expected.map(|n| format!(" of {n}")).unwrap_or_default())]
    Broken { received: u64, expected: Option<u64>, reason: String },
    /// The body comes so slowly that it would never end.
    #[error("the answer came too slowly: {received} bytes in {} s", elapsed.as_secs())]
    TooSlow { received: u64, elapsed: Duration },
    // Without a count: requests side by side may fail at different ones, and equal errors are printed once.
    #[error("the host is unreachable: it is skipped for the rest of this run")]
    Down,
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    #[error("the answer is larger than {0} bytes")]
    TooLarge(u64),
    #[error("the server demands a wait of {} s, longer than the {} s that tflock waits", demanded.as_secs(), limit.as_secs())]
    Wait { demanded: Duration, limit: Duration },
    #[error(transparent)]
    Redirect(#[from] RedirectFault),
    /// Neither `https` nor `http`.
    #[error("{0:?} URLs are not supported")]
    Scheme(String),
    /// The token contains characters that no header can.
    #[error("its token contains characters that a header cannot carry")]
    Token,
    /// Where only a public host may answer.
    #[error("its name leads to {0}, which is no public address")]
    Private(std::net::IpAddr),
    #[error("cannot set up the HTTPS client: {0}")]
    Client(String),
}

/// Why a redirect is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectFault {
    #[error("redirected in a circle to {0}")]
    Loop(ShownUrl),
    #[error("more than {0} redirects")]
    TooMany(usize),
    /// From `https` to `http`, with a token in play.
    #[error("redirected from https to {0} although a token is in use")]
    Downgrade(ShownUrl),
    /// Where the answer must come from the host that was asked.
    #[error("redirected to another server, {0}")]
    Elsewhere(ShownUrl),
    #[error("redirected to {0}, which cannot be followed")]
    Target(ShownUrl),
}

fn status_text(status: u16, words: Option<&str>) -> String {
    let reason = reqwest::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let reason = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
    let words = words.map(|words| format!(": {words}")).unwrap_or_default();
    format!("the server answered {status}{reason}{words}")
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.url, self.fault)?;
        match self.attempts {
            0 | 1 => Ok(()),
            attempts => write!(f, " ({attempts} attempts)"),
        }
    }
}

impl std::error::Error for NetError {}

impl NetError {
    pub(crate) fn new(url: &Url, fault: impl Into<Fault>) -> Self {
        Self { url: ShownUrl::new(url), attempts: 0, fault: fault.into() }
    }

    /// The status, if the server answered with one that is not success.
    pub fn status(&self) -> Option<u16> {
        match self.fault {
            Fault::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    /// The reason that the server gives for its refusal.
    pub fn words(&self) -> Option<&str> {
        match &self.fault {
            Fault::Status { words, .. } => words.as_deref(),
            _ => None,
        }
    }

    /// What the server wants to be shown, where it answered 401 and said so.
    pub fn challenge(&self) -> Option<&str> {
        match &self.fault {
            Fault::Status { challenge, .. } => challenge.as_deref(),
            _ => None,
        }
    }

    /// True if the server says that there is no such thing: 404.
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// For 401 and 403: whether a token had been sent.
    pub fn refused_token(&self) -> Option<bool> {
        match self.fault {
            Fault::Status { status: 401 | 403, token_sent, .. } => Some(token_sent),
            _ => None,
        }
    }
}

impl Fault {
    /// True if the same is to be said of all that is wanted of the host, or of the run.
    pub(crate) fn is_of_host(&self) -> bool {
        matches!(self, Fault::Down | Fault::Exhausted(_))
    }

    /// True if the host gave no answer at all.
    pub(super) fn is_silence(&self) -> bool {
        matches!(self, Fault::Connect(_) | Fault::Timeout(_) | Fault::Stalled(_))
    }

    /// True if another attempt may help: no connection, no answer in time, 429, and 5xx but 501.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Fault::Status { status, .. } => *status == 429 || (*status >= 500 && *status != 501),
            Fault::Connect(_) | Fault::Timeout(_) | Fault::Stalled(_) | Fault::Broken { .. } => true,
            _ => false,
        }
    }

    /// What an error of the HTTP library means.
    pub(super) fn of_request(error: reqwest::Error, patience: Duration) -> Self {
        if error.is_timeout() {
            return Fault::Timeout(patience);
        }
        if error.is_builder() {
            return Fault::of_builder(error);
        }
        match certificate_fault(&error) {
            Some(fault) => fault,
            None => Fault::Connect(root_cause(&error.without_url())),
        }
    }

    /// The same of a request that went through a proxy: without a connection it may be the proxy that is not there.
    pub(super) fn through(self, proxy: Option<&ShownUrl>) -> Self {
        match (self, proxy) {
            (Fault::Connect(reason), Some(proxy)) => Fault::Connect(format!("{THROUGH}{proxy}: {reason}")),
            (fault, _) => fault,
        }
    }

    /// What it means that a certificate is refused.
    fn of_certificate(reason: &CertificateError) -> Self {
        match reason {
            CertificateError::ExpiredContext { time, not_after } => Self::CertificateTime(format!(
                "it expired on {}, and the clock of this machine says {}",
                day(*not_after),
                day(*time)
            )),
            CertificateError::NotValidYetContext { time, not_before } => Self::CertificateTime(format!(
                "it is valid from {} on, and the clock of this machine says {}",
                day(*not_before),
                day(*time)
            )),
            CertificateError::Expired => Self::CertificateTime("it has expired".to_owned()),
            CertificateError::NotValidYet => Self::CertificateTime("it is not valid yet".to_owned()),
            reason => {
                let cause = reason.to_string();
                let of_authority = cause.contains("CaUsedAsEndEntity");
                Self::Certificate(if of_authority { OF_AUTHORITY.to_owned() } else { bounded(&cause, 200) })
            }
        }
    }

    /// What an error before any request means.
    pub(super) fn of_builder(error: reqwest::Error) -> Self {
        Fault::Client(root_cause(&error.without_url()))
    }

    /// What an error in the middle of a body means.
    pub(super) fn of_body(error: reqwest::Error, received: u64, expected: Option<u64>, patience: Duration) -> Self {
        if error.is_timeout() {
            return Fault::Timeout(patience);
        }
        Fault::Broken { received, expected, reason: root_cause(&error.without_url()) }
    }
}

/// The innermost error says what happened; the outer ones that something did.
fn root_cause(error: &reqwest::Error) -> String {
    let chain = std::iter::successors(error.source(), |&error| error.source());
    let cause = chain.last().map_or_else(|| error.to_string(), ToString::to_string);
    // Some end with a page about the library that is of no use here.
    bounded(cause.split(": https://docs.rs/").next().unwrap_or(&cause), 200)
}

/// How the reason begins where a proxy is between.
const THROUGH: &str = "through the proxy ";

/// What is wrong with a certificate that may sign others, as many that are signed by themselves may.
const OF_AUTHORITY: &str = "it is the certificate of an authority (CA:TRUE), presented as that of a server";

fn certificate_fault(error: &reqwest::Error) -> Option<Fault> {
    let mut chain = std::iter::successors(error.source(), |&error| error.source());
    match chain.find_map(tls_error) {
        Some(rustls::Error::InvalidCertificate(reason)) => Some(Fault::of_certificate(reason)),
        _ => None,
    }
}

fn day(time: UnixTime) -> Date {
    Date::of(UNIX_EPOCH + Duration::from_secs(time.as_secs()))
}

/// I/O errors hide what they wrap from the chain of sources, also each other.
fn tls_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    let wrapped = || tls_error(error.downcast_ref::<std::io::Error>()?.get_ref()?);
    error.downcast_ref().or_else(wrapped)
}

impl From<NetError> for Error {
    fn from(error: NetError) -> Self {
        let kind = match &error.fault {
            Fault::Status { status: 401 | 403, .. } => ErrorKind::Unauthorized,
            Fault::Status { status: 404, .. } => ErrorKind::NotFound,
            // It read the request and says why it will not do it: a retry does not help.
            Fault::Status { status: 400, words: Some(_), .. } => ErrorKind::Package,
            Fault::Token | Fault::Client(_) => ErrorKind::Settings,
            _ => ErrorKind::Unavailable,
        };
        let shown = match &error.fault {
            // The same for all that is wanted of the host.
            Fault::Down => {
                let host = error.url.as_str().split('/').nth(2).unwrap_or(error.url.as_str());
                Error::new(kind, format!("{host}: {}", error.fault))
            }
            Fault::Exhausted(_) => Error::new(kind, error.fault.to_string()),
            _ => Error::new(kind, error.to_string()).about_url(error.url.as_str()),
        };
        match (&error.fault, hint(&error.fault)) {
            (Fault::Exhausted(exhausted), _) => shown.hint(exhausted.hint()),
            (_, Some(hint)) => shown.hint(hint),
            (_, None) => shown,
        }
    }
}

fn hint(fault: &Fault) -> Option<&'static str> {
    match fault {
        Fault::Status { status: 401 | 403, token_sent: true, .. } => Some("the token was sent and refused: renew it"),
        Fault::Status { status: 401 | 403, .. } => Some("give a token for the host in its TF_TOKEN_… variable"),
        Fault::Status { status: 429 | 500.., .. } | Fault::Wait { .. } | Fault::Broken { .. } => {
            Some("wait, then run the command again")
        }
        Fault::Status { status: 400, words: Some(_), .. } => {
            Some("a retry does not help: the operator of the server can correct what it reports")
        }
        Fault::Certificate(reason) if reason == OF_AUTHORITY => {
            Some("the server presents a CA certificate as its own: issue it one with CA:FALSE")
        }
        Fault::Certificate(_) => {
            Some("if a private authority signed it, SSL_CERT_FILE must name a file with its certificate in PEM")
        }
        Fault::CertificateTime(_) => Some(
            "correct the clock of this machine if it is wrong; else the operator of the server must renew the certificate",
        ),
        Fault::Stalled(_) | Fault::TooSlow { .. } | Fault::Down => {
            Some("check the network and proxies, then run the command again")
        }
        Fault::Timeout(_) => Some("set TF_REGISTRY_CLIENT_TIMEOUT to more seconds"),
        Fault::Connect(reason) if reason.starts_with(THROUGH) => {
            Some("check the proxy that HTTPS_PROXY names, or list the host in NO_PROXY")
        }
        Fault::Connect(_) => Some("check the host name, the network and HTTPS_PROXY"),
        _ => None,
    }
}

/// The longest URL that is shown whole, in characters.
const MAX_SHOWN: usize = 300;

/// A URL without user information, secret values and fragment, of bounded length.
///
/// Every URL in a message or a log passes this type. Query values are hidden unless their name is known to be harmless:
/// presigned addresses carry their signature there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShownUrl(String);

impl ShownUrl {
    /// The showable form of a URL.
    pub fn new(url: &Url) -> Self {
        let mut shown = url.clone();
        // Fails only for URLs that cannot have user information.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_fragment(None);
        let query = shown.query().map(redact::query);
        shown.set_query(None);
        // Before a part of it is cut off, which would leave the rest of a token.
        redact::remember_in_path(shown.path());
        let mut text = bounded(&redact::secrets(shown.as_str()), MAX_SHOWN);
        if let Some(query) = query {
            text.push('?');
            text.push_str(&bounded(&query, MAX_SHOWN));
        }
        Self(text)
    }

    /// The showable form of a text that may be a URL, such as a redirect's `Location`.
    pub fn from_text(text: &str) -> Self {
        // `user:token@host/path` is a URL of the scheme `user` for the parser, and yet contains a token.
        if let Some(url) = Url::parse(text).ok().filter(Url::has_host) {
            return Self::new(&url);
        }
        let plain = text.split(['?', '#']).next().unwrap_or_default();
        let plain = plain.rsplit_once('@').map_or(plain, |(_, behind)| behind);
        Self(bounded(plain, MAX_SHOWN))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&Url> for ShownUrl {
    fn from(url: &Url) -> Self {
        Self::new(url)
    }
}

impl fmt::Display for ShownUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_refused_by_days() {
        let time = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let [day, later] = [time(1_700_000_000), time(1_800_000_000)];
        let expired = Fault::of_certificate(&CertificateError::ExpiredContext { time: later, not_after: day });
        let early = Fault::of_certificate(&CertificateError::NotValidYetContext { time: day, not_before: later });
        for fault in [expired, early] {
            let text = fault.to_string();
            assert!(
                text.contains("2023-11-14") && text.contains("2027-01-15") && !text.contains("1700000000"),
                "{text}"
            );
            assert!(hint(&fault).is_some_and(|hint| hint.contains("clock") && !hint.contains("SSL_CERT_FILE")));
        }
        let unknown = Fault::of_certificate(&CertificateError::UnknownIssuer);
        assert!(hint(&unknown).is_some_and(|hint| hint.contains("SSL_CERT_FILE")));
    }

    fn shown(url: &str) -> String {
        ShownUrl::new(&Url::parse(url).unwrap()).to_string()
    }

    #[test]
    fn secrets_are_hidden() {
        assert_eq!(shown("https://me:pw@h.example/a?b=secret&ref=v1#tok"), "https://h.example/a?b=…&ref=v1");
        assert_eq!(
            shown("https://tok@h.example:8443/?secret&X-Amz-Signature=1"),
            "https://h.example:8443/?…&X-Amz-Signature=…"
        );
        // `lab-user:lab-name`, whole and where the text is cut.
        for before in ["", &"a".repeat(MAX_SHOWN - 40)] {
            let url = format!("https://h.example/{before}/bGFiLXVzZXI6bGFiLW5hbWU=/acme/x");
            assert!(!shown(&url).contains("bGFi") && shown(&url).contains('…'), "{}", shown(&url));
        }
        assert_eq!(ShownUrl::from_text("me:pw@host:path/x.git?k=v").as_str(), "host:path/x.git");
        assert_eq!(ShownUrl::from_text("//me:pw@host/x").as_str(), "host/x");
    }

    #[test]
    fn texts_are_bounded_and_escaped() {
        assert_eq!(bounded("a\u{1b}[31m\n\u{202e}é", 20), "a\\u{1b}[31m\\u{a}\\u{202e}é");
        assert_eq!(bounded("abcd", 3), "abc…");
        assert!(shown(&format!("https://h/{}?{}", "a".repeat(5000), "k&".repeat(5000))).chars().count() < 700);
    }
}
