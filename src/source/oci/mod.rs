//! The OCI distribution protocol, as far as packages are pulled with it: tags, manifests, blobs, and what a registry grants:
//! basic credentials, or a token that it names a place for.
//!
//! ```text
//! https://REGISTRY/v2/NAME/tags/list            the tags, page by page
//! https://REGISTRY/v2/NAME/manifests/REFERENCE  an index or an image manifest, by tag or digest
//! https://REGISTRY/v2/NAME/blobs/DIGEST         bytes
//! ```
//!
//! All requests use https. Content that is named by a digest is checked against it.
//!
//! Source: the OCI distribution specification 1.1, the OCI image specification 1.1, and the "Docker Registry v2 authentication" of
//! the distribution project.

mod mirror;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio::sync::Mutex;
use url::Url;
use url::form_urlencoded::Serializer;

use super::Miss;
use crate::disk::oci_credentials::{OciCredential, OciCredentials};
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::net::{Authorization, Client, DocumentKind, DocumentRequest, FetchedDocument, NetError, ShownUrl};
use crate::settings::Secret;

pub use mirror::{Descriptor, ImageTemplate, OciManifest, OciMirror, OciPackage};

/// The most pages of a list of tags: with a hundred tags a page more than any provider has.
const MAX_PAGES: usize = 200;

/// Sends requests to registries, with the credentials of its user. Cheap to clone; all clones share their tokens.
#[derive(Debug, Clone)]
pub struct OciClient {
    client: Client,
    credentials: Arc<OciCredentials>,
    granted: Arc<Mutex<HashMap<OciRepository, Authorization>>>,
}

impl OciClient {
    pub fn new(client: Client, credentials: Arc<OciCredentials>) -> Self {
        Self { client, credentials, granted: Arc::default() }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub async fn tags(&self, repository: &OciRepository) -> Result<Vec<String>, Miss> {
        let wrong = |reason: String| unusable(repository, "", &reason);
        let mut tags = Vec::new();
        let mut url = repository.url("tags/list");
        for _ in 0..MAX_PAGES {
            let document =
                self.document(repository, "", DocumentRequest::new(url.clone(), DocumentKind::Metadata)).await?;
            tags.extend(mirror::tags(&document.body).map_err(wrong)?);
            match document.header("link").and_then(next_page) {
                None => return Ok(tags),
                Some(next) => {
                    let next = url.join(next).map_err(|problem| wrong(format!("its next page is {problem}")))?;
                    if next.host() != url.host() || next.port() != url.port() || next.scheme() != url.scheme() {
                        return Err(wrong("its next page is on another host".to_owned()).into());
                    }
                    url = next;
                }
            }
        }
        Err(wrong(format!("its list of tags has more than {MAX_PAGES} pages")).into())
    }

    pub async fn tagged(&self, repository: &OciRepository, tag: &str) -> Result<OciManifest, Miss> {
        let request = DocumentRequest::new(repository.url(&format!("manifests/{tag}")), DocumentKind::Manifest);
        let what = format!(":{tag}");
        let document = self.document(repository, &what, request).await?;
        let digest = Sha256Digest::of(&document.body);
        let announced = document.header("docker-content-digest").map(str::to_owned);
        if let Some(wanted) = announced.filter(|wanted| wanted.starts_with("sha256:") && *wanted != written(&digest)) {
            return Err(altered(repository, &wanted, &digest).into());
        }
        Self::read(repository, &what, &document)
    }

    pub async fn manifest(&self, repository: &OciRepository, descriptor: &Descriptor) -> Result<OciManifest, Miss> {
        let wanted = &descriptor.digest;
        let request = DocumentRequest::new(repository.url(&format!("manifests/{wanted}")), DocumentKind::Manifest);
        let what = format!("@{wanted}");
        let document = self.document(repository, &what, request).await?;
        let got = Sha256Digest::of(&document.body);
        if *wanted != written(&got) {
            return Err(altered(repository, wanted, &got).into());
        }
        Self::read(repository, &what, &document)
    }

    fn read(repository: &OciRepository, what: &str, document: &FetchedDocument) -> Result<OciManifest, Miss> {
        let read = OciManifest::read(&document.body, document.media_type().as_deref());
        Ok(read.map_err(|reason| unusable(repository, what, &reason))?)
    }

    /// Where a blob is, and what it takes to download it.
    pub async fn blob(&self, repository: &OciRepository, digest: &Sha256Digest) -> (Url, Option<Authorization>) {
        let url = repository.url(&format!("blobs/{}", written(digest)));
        (url, self.granted.lock().await.get(repository).cloned())
    }

    /// Sends a request with the token so far; if the registry requires more, requests that first.
    async fn document(
        &self,
        repository: &OciRepository,
        what: &str,
        request: DocumentRequest,
    ) -> Result<FetchedDocument, Miss> {
        let request = mirror::MEDIA_TYPES.iter().fold(request, |request, media| request.header("Accept", *media));
        let first = self.granted.lock().await.get(repository).cloned();
        let error = match self.client.document(&request.clone().authorized(first.clone())).await {
            Ok(document) => return Ok(document),
            Err(error) => error,
        };
        let Some(challenge) = error.challenge().map(str::to_owned) else {
            return Err(refused(repository, what, first.is_some(), error));
        };
        let granted = self.authorize(repository, &challenge, first).await?;
        let sent = granted.is_some();
        let again = self.client.document(&request.authorized(granted)).await;
        again.map_err(|error| refused(repository, what, sent, error))
    }
}

fn refused(repository: &OciRepository, what: &str, sent: bool, error: NetError) -> Miss {
    match error.status() {
        Some(404) => Miss::Absent(about(repository, ErrorKind::NotFound, format!("{repository}{what}: not found"))),
        Some(401 | 403) => unauthorized(repository, sent).into(),
        _ => unanswered(repository, error).into(),
    }
}

/// The target of `<…>; rel="next"`.
fn next_page(link: &str) -> Option<&str> {
    let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
    parameters.to_ascii_lowercase().replace([' ', '"'], "").contains("rel=next").then_some(target)
}

fn written(digest: &Sha256Digest) -> String {
    format!("sha256:{digest}")
}

fn about(repository: &OciRepository, kind: ErrorKind, message: String) -> Error {
    Error::new(kind, message).about_url(ShownUrl::new(&repository.url("")).as_str())
}

/// An answer that means nothing, about `:TAG`, `@DIGEST`, or the repository itself.
pub(crate) fn unusable(repository: &OciRepository, what: &str, reason: &str) -> Error {
    let message = format!("the OCI registry's response about {repository}{what} cannot be used: {reason}");
    about(repository, ErrorKind::Unavailable, message)
}

/// Other bytes than those of the digest that was requested.
fn altered(repository: &OciRepository, wanted: &str, got: &Sha256Digest) -> Error {
    about(repository, ErrorKind::Trust, format!("{repository}@{wanted} has the checksum {}", written(got)))
}

/// 401 or 403, also from where tokens are given out.
fn unauthorized(repository: &OciRepository, sent: bool) -> Error {
    let refused = if sent { "rejected the credentials" } else { "requires credentials" };
    about(repository, ErrorKind::Unauthorized, format!("the OCI registry of {repository} {refused}"))
        .hint(step!("`docker login {}` stores credentials that are found", repository.registry()))
        .hint("or write an oci_credentials block into the CLI configuration of OpenTofu")
}

fn unanswered(repository: &OciRepository, problem: NetError) -> Error {
    let message = format!("the request to the OCI registry for {repository} failed: {problem}");
    Error { message, ..Error::from(problem) }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OciRepository {
    registry: String,
    name: String,
    base: Url,
}

impl OciRepository {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (registry, name) =
            text.split_once('/').ok_or("expected a registry and a repository with a slash between them")?;
        if !name.split('/').all(is_component) {
            return Err(format!(
                "the repository name {name:?} has parts that are not lower-case letters and digits with single separators"
            ));
        }
        // What everyone calls docker.io answers under another name.
        let host = if registry == "docker.io" { "registry-1.docker.io" } else { registry };
        let is_plain = !host.is_empty() && !host.contains(['@', '?', '#', '\\', '%']);
        let base = Url::parse(&format!("https://{host}/v2/{name}/")).ok().filter(|base| is_plain && base.has_host());
        let base = base.ok_or_else(|| format!("{registry:?} is not the host of a registry"))?;
        Ok(Self { registry: registry.to_owned(), name: name.to_owned(), base })
    }

    /// The registry: a host, with a port if it has one.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path()));
        url
    }
}

impl fmt::Display for OciRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.name)
    }
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
fn is_component(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let separators = text.split(is_word).filter(|separator| !separator.is_empty());
    let sound = |separator: &str| matches!(separator, "." | "_" | "__") || separator.chars().all(|c| c == '-');
    text.starts_with(is_word) && text.ends_with(is_word) && separators.into_iter().all(sound)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Challenge {
    Basic,
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
}

#[derive(Deserialize)]
struct Granted {
    token: Option<String>,
    access_token: Option<String>,
}

impl OciClient {
    /// The answer to a challenge, if there is one. `used` was sent and was not enough.
    async fn authorize(
        &self,
        repository: &OciRepository,
        challenge: &str,
        used: Option<Authorization>,
    ) -> Result<Option<Authorization>, Error> {
        let mut granted = self.granted.lock().await;
        let known = granted.get(repository);
        if known.is_some() && known != used.as_ref() {
            return Ok(known.cloned());
        }
        let credential = self.credential(repository).await?;
        let wanted = Challenge::parse(challenge);
        let authorization = match (wanted, credential) {
            (None, _) | (Some(Challenge::Basic), None | Some(OciCredential::RefreshToken(_))) => None,
            (Some(Challenge::Basic), Some(OciCredential::Password { user, password })) => {
                Some(Authorization::Basic(basic(&user, &password)))
            }
            (Some(_), Some(OciCredential::AccessToken(token))) => Some(Authorization::Bearer(token)),
            (Some(Challenge::Bearer { realm, service, scope }), credential) => {
                let scope = scope.unwrap_or_else(|| format!("repository:{}:pull", repository.name()));
                let fields: Vec<(&str, String)> =
                    service.map(|service| ("service", service)).into_iter().chain([("scope", scope)]).collect();
                Some(self.token(repository, &realm, &fields, credential).await?)
            }
        };
        if let Some(authorization) = &authorization {
            granted.insert(repository.clone(), authorization.clone());
        }
        Ok(authorization)
    }

    async fn credential(&self, repository: &OciRepository) -> Result<Option<OciCredential>, Error> {
        let (credentials, named) = (Arc::clone(&self.credentials), repository.clone());
        let limit = self.client.budget().helper()?;
        let found = tokio::task::spawn_blocking(move || credentials.of(named.registry(), named.name(), limit)).await;
        let failed = |reason: String| {
            let message = format!("the credentials for {repository} cannot be used: {reason}");
            about(repository, ErrorKind::Unauthorized, message)
        };
        found.map_err(|problem| failed(problem.to_string()))?.map_err(failed)
    }

    async fn token(
        &self,
        repository: &OciRepository,
        realm: &str,
        fields: &[(&str, String)],
        credential: Option<OciCredential>,
    ) -> Result<Authorization, Error> {
        let wrong = |reason: String| unusable(repository, "", &reason);
        let mut url = Url::parse(realm).ok().filter(|url| url.scheme() == "https" && url.has_host());
        let url = url.as_mut().ok_or_else(|| wrong("its token service is not reached over https".to_owned()))?;
        let sent = credential.is_some();
        let request = match credential {
            Some(OciCredential::RefreshToken(token)) => {
                let mut form = Serializer::new(String::new());
                form.append_pair("grant_type", "refresh_token").append_pair("client_id", "tflock");
                form.extend_pairs(fields).append_pair("refresh_token", token.reveal());
                DocumentRequest::new(url.clone(), DocumentKind::Metadata).posting(Secret::new(form.finish()))
            }
            credential => {
                url.query_pairs_mut().extend_pairs(fields);
                let basic = credential.and_then(|credential| match credential {
                    OciCredential::Password { user, password } => Some(Authorization::Basic(basic(&user, &password))),
                    _ => None,
                });
                DocumentRequest::new(url.clone(), DocumentKind::Metadata).authorized(basic)
            }
        };
        let document = self.client.document(&request).await.map_err(|error| match error.status() {
            Some(400 | 401 | 403) => unauthorized(repository, sent),
            _ => unanswered(repository, error),
        })?;
        let granted: Result<Granted, _> = serde_json::from_slice(&document.body);
        // What is in the answer is not shown: it may be a token.
        let granted = granted.map_err(|_| wrong("the answer of its token service is not a token".to_owned()))?;
        let token = granted.token.or(granted.access_token).and_then(Secret::new);
        let token = token.ok_or_else(|| wrong("the answer of its token service has no token".to_owned()))?;
        Ok(Authorization::Bearer(token))
    }
}

fn basic(user: &str, password: &Secret) -> Secret {
    let text = STANDARD.encode(format!("{user}:{}", password.reveal()));
    // The colon is always there.
    Secret::new(text).unwrap_or_else(|| password.clone())
}

impl Challenge {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, parameters) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        match scheme.to_ascii_lowercase().as_str() {
            "basic" => Some(Self::Basic),
            "bearer" => {
                let value = |name: &str| parameter(parameters, name);
                Some(Self::Bearer { realm: value("realm")?, service: value("service"), scope: value("scope") })
            }
            _ => None,
        }
    }
}

/// The value of `name="value"` among parameters that commas part; a comma within quotes does not.
fn parameter(text: &str, name: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let (key, after) = rest.split_once('=')?;
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        if key.trim().trim_start_matches(',').trim().eq_ignore_ascii_case(name) {
            return Some(value.trim().to_owned());
        }
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other() {
        assert_eq!(next_page("</v2/a/tags/list?last=b&n=2>; rel=\"next\""), Some("/v2/a/tags/list?last=b&n=2"));
        assert_eq!(next_page("</x>; rel=next"), Some("/x"));
        assert_eq!(next_page("</x>; rel=\"prev\""), None);
        assert_eq!(next_page("/x"), None);
    }
}

#[cfg(test)]
mod repository_tests {
    use super::*;

    #[test]
    fn repositories() {
        let url = |text: &str| OciRepository::parse(text).unwrap().url("tags/list").to_string();
        assert_eq!(url("r.example:5000/a/b-c"), "https://r.example:5000/v2/a/b-c/tags/list");
        assert_eq!(url("docker.io/library/x"), "https://registry-1.docker.io/v2/library/x/tags/list");
        let digest = OciRepository::parse("r.example/a").unwrap().url("blobs/sha256:00");
        assert_eq!(digest.as_str(), "https://r.example/v2/a/blobs/sha256:00");
        for wrong in
            ["a", "/a", "r.example/", "r.example/A", "r.example/a:1", "r.example/a@b", "r.example/a//b", "r.example/-a"]
        {
            assert!(OciRepository::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["me:pw@r.example/a", "r.example?/a", "r example/a"] {
            assert!(OciRepository::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_have_single_separators() {
        for (name, sound) in [
            ("a", true),
            ("a.b", true),
            ("a__b", true),
            ("a---b", true),
            ("a___b", false),
            ("a..b", false),
            ("a._b", false),
        ] {
            assert_eq!(is_component(name), sound, "{name}");
        }
    }
}

#[cfg(test)]
mod authorize_tests {
    use super::*;

    #[test]
    fn challenges() {
        let text =
            "Bearer realm=\"https://auth.example/token\",service=\"r.example\",scope=\"repository:a/b:pull,push\"";
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            Challenge::parse(text),
            Some(Challenge::Bearer {
                realm: "https://auth.example/token".to_owned(),
                service: some("r.example"),
                scope: some("repository:a/b:pull,push")
            })
        );
        assert_eq!(Challenge::parse("basic realm=\"x\""), Some(Challenge::Basic));
        assert_eq!(Challenge::parse("Negotiate"), None);
        assert_eq!(Challenge::parse("Bearer service=\"x\""), None);
        assert_eq!(parameter("a=b, realm=c", "realm"), some("c"));
        assert_eq!(parameter("a=\"b", "realm"), None);
    }
}
