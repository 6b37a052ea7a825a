//! Faults of the network: what an endpoint answers in place of the truth.

use std::collections::HashMap;
use std::time::Duration;

/// The kinds of documents that the fixture serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Endpoint {
    /// `/.well-known/terraform.json`.
    Discovery,
    /// The versions of a provider.
    Versions,
    /// The download document of a platform.
    Download,
    /// SHA256SUMS.
    Sums,
    /// Its signature.
    Signature,
    /// An archive.
    Zip,
    /// The versions of a module.
    ModuleVersions,
    /// Where a module is.
    ModuleDownload,
    /// The archive of a module.
    ModuleArchive,
    /// `index.json` of the network mirror.
    MirrorIndex,
    /// `VERSION.json` of the network mirror.
    MirrorVersion,
    /// What the service of attestations has about an archive.
    Attestations,
    /// A document that a test brought along, or nothing we know.
    Other,
}

/// More than ever wait.
pub(super) const HELD: usize = usize::MAX / 2;

/// An answer in place of the truth, for ever or a number of times.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(super) effect: Effect,
    times: Option<u32>,
    provider: Option<String>,
    given: HashMap<String, u32>,
}

#[derive(Debug, Clone)]
pub(super) enum Effect {
    Status { code: u16, retry_after: Option<u32> },
    Refusal { code: u16, body: String },
    RedirectToOtherHost,
    RedirectTo(String),
    Text { content_type: &'static str, body: String },
    Truncated,
    Slow(Duration),
    Reset,
    Redirects,
    Endless { announced: Option<u64> },
    Together(usize),
}

impl Answer {
    fn new(effect: Effect) -> Self {
        Self { effect, times: None, provider: None, given: HashMap::new() }
    }

    /// This status and a line of text.
    pub fn status(code: u16) -> Self {
        Self::new(Effect::Status { code, retry_after: None })
    }

    /// This status with a reason in JSON.
    pub fn refusal(code: u16, body: impl Into<String>) -> Self {
        Self::new(Effect::Refusal { code, body: body.into() })
    }

    /// 429 with `Retry-After`, in seconds.
    pub fn too_many_requests(retry_after: u32) -> Self {
        Self::new(Effect::Status { code: 429, retry_after: Some(retry_after) })
    }

    /// A redirect to the same path on [`super::Registry::other_host`], which answers it truly.
    pub fn redirect_to_other_host() -> Self {
        Self::new(Effect::RedirectToOtherHost)
    }

    /// A redirect to this address.
    pub fn redirect_to(url: &str) -> Self {
        Self::new(Effect::RedirectTo(url.to_owned()))
    }

    /// A redirect to an address that redirects, and so on.
    pub fn redirects() -> Self {
        Self::new(Effect::Redirects)
    }

    /// 200 and bytes without end; [`super::Registry::endless_bytes`] counts them.
    pub fn endless() -> Self {
        Self::new(Effect::Endless { announced: None })
    }

    /// The same, with a length in front.
    pub fn endless_of(announced: u64) -> Self {
        Self::new(Effect::Endless { announced: Some(announced) })
    }

    /// 200 and a web page, as captive portals answer.
    pub fn html() -> Self {
        let body = "<!doctype html><title>Please sign in</title>\n".to_owned();
        Self::new(Effect::Text { content_type: "text/html", body })
    }

    /// 200 and this as JSON.
    pub fn json(body: impl Into<String>) -> Self {
        Self::new(Effect::Text { content_type: "application/json", body: body.into() })
    }

    /// Half of the body that was announced, then the connection breaks.
    pub fn truncated() -> Self {
        Self::new(Effect::Truncated)
    }

    /// The true body in four pieces, with a pause before each.
    pub fn slow(pause: Duration) -> Self {
        Self::new(Effect::Slow(pause))
    }

    /// The true body, once so many of such answers are waiting; the connection breaks if that never happens.
    pub fn together(count: usize) -> Self {
        Self::new(Effect::Together(count))
    }

    /// The true body, once [`super::Registry::hold`] lets it go.
    pub fn held() -> Self {
        Self::together(HELD)
    }

    /// No answer: the connection breaks.
    pub fn reset() -> Self {
        Self::new(Effect::Reset)
    }

    /// Only so often for each address; then the truth.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// Only about this provider or module.
    #[must_use]
    pub fn only_for(mut self, provider: &str) -> Self {
        self.provider = Some(provider.to_owned());
        self
    }

    /// Whether this answer is due; counts it as given if so.
    pub(super) fn is_due(&mut self, request: &str, provider: &str) -> bool {
        if self.provider.as_deref().is_some_and(|only| only != provider) {
            return false;
        }
        let given = self.given.entry(request.to_owned()).or_default();
        let due = self.times.is_none_or(|times| *given < times);
        *given += u32::from(due);
        due
    }
}
