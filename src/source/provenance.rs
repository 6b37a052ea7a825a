//! Attestations of builds, from the service of GitHub: <https://docs.github.com/rest/repos/attestations>.
//!
//! The host is fixed and comes from no file. It answers with addresses of bundles on a storage host, which gets no token. What is
//! fetched proves nothing here: `core/provenance` verifies it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use snap::raw::{Decoder, decompress_len};
use url::{Host, Url};

use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::net::{Client, DocumentKind, DocumentRequest, Fault, FetchedDocument, NetError};
use crate::provenance::{LONGEST_BUNDLE, PREDICATE_TYPE, Repository};
use crate::settings::{Secret, Variables};

const SERVICE: &str = "https://api.github.com";

/// The most bundles of one artifact that are looked at: releases are attested once, rarely twice.
const MOST_BUNDLES: usize = 8;

/// The most requests about one release: one for the list, one for each bundle, and one more for a list without the token.
pub const MOST_REQUESTS: usize = 10;

#[derive(Debug, Clone)]
pub struct AttestationService {
    client: Client,
    token: Option<Secret>,
}

/// What the service has for an artifact.
#[derive(Debug, Default)]
pub struct FoundBundles {
    pub bundles: Vec<Vec<u8>>,
    /// True if it has more than are looked at.
    pub more: bool,
}

/// A release, as GitHub describes it.
#[derive(serde::Deserialize)]
struct UploadedRelease {
    tag_name: String,
    assets: Vec<UploadedFile>,
}

#[derive(serde::Deserialize)]
struct UploadedFile {
    name: String,
    /// Computed since June 2025.
    digest: Option<String>,
}

/// The attestations that an answer lists.
fn listed(body: &[u8]) -> Result<Vec<Map<String, Value>>, serde_json::Error> {
    let mut answer: Map<String, Value> = serde_json::from_slice(body)?;
    let attestations = answer.remove("attestations").unwrap_or_default();
    serde_json::from_value(attestations)
}

/// True for a name that is not known to mean this machine.
fn is_public(url: &Url) -> bool {
    let Some(Host::Domain(name)) = url.host() else { return false };
    let name = name.trim_end_matches('.');
    name.contains('.') && !name.ends_with(".localhost")
}

impl AttestationService {
    /// With the token of the environment, unless that is for another host.
    pub fn new(client: Client, variables: &Variables) -> Self {
        let is_elsewhere = variables.get("GH_HOST").is_some_and(|host| !matches!(host, "" | "github.com"));
        let token = ["GH_TOKEN", "GITHUB_TOKEN"].iter().find_map(|name| variables.get(name).and_then(Secret::new));
        Self { client, token: token.filter(|_| !is_elsewhere) }
    }

    /// The attestations of an artifact in a repository; none if the service affirms that there are none. `left` is how many
    /// requests the release may still cost.
    pub async fn bundles(
        &self,
        repository: &Repository,
        artifact: &Sha256Digest,
        left: &mut usize,
    ) -> Result<FoundBundles, Error> {
        let name = format!("repos/{}/{}", repository.owner(), repository.name());
        let mut url = service(&format!("{name}/attestations/sha256:{}", artifact.to_hex()));
        url.query_pairs_mut().append_pair("predicate_type", PREDICATE_TYPE);
        let document = match self.get(url.clone(), left).await? {
            Ok(document) => document,
            // Nothing is attested, or the repository cannot be read.
            Err(error) if error.is_not_found() => {
                return match self.get(service(&name), left).await? {
                    Ok(_) => Ok(FoundBundles::default()),
                    Err(error) if error.is_not_found() => {
                        let message = format!("there is no repository github.com/{repository}, or it cannot be read");
                        Err(Error::new(ErrorKind::Unavailable, message).hint(self.token_hint()))
                    }
                    Err(error) => Err(self.explained(error)),
                };
            }
            Err(error) => return Err(self.explained(error)),
        };
        let malformed = |why: String| {
            let message = format!("the answer of {SERVICE} about attestations cannot be used: {why}");
            Error::new(ErrorKind::Unavailable, message).about_url(url.as_str())
        };
        let attestations = listed(&document.body).map_err(|problem| malformed(problem.to_string()))?;
        let more = attestations.len() > MOST_BUNDLES;
        let mut bundles = Vec::new();
        for entry in attestations.iter().take(MOST_BUNDLES) {
            bundles.push(match (entry.get("bundle"), entry.get("bundle_url").and_then(Value::as_str)) {
                (Some(bundle), _) if !bundle.is_null() => bundle.to_string().into_bytes(),
                (_, Some(place)) => self.download(place, left).await?,
                (_, None) => return Err(malformed("an attestation has neither bundle nor bundle_url".to_owned())),
            });
        }
        Ok(FoundBundles { bundles, more })
    }

    /// The files of a release with the digests that GitHub computed when they were uploaded; those without a digest are left out.
    pub async fn uploaded(&self, repository: &Repository, tag: &str) -> Result<BTreeMap<String, Sha256Digest>, Error> {
        let path = format!("repos/{}/{}/releases/tags/{tag}", repository.owner(), repository.name());
        let document = match self.get(service(&path), &mut 2).await? {
            Ok(document) => document,
            Err(error) if error.is_not_found() => return Ok(BTreeMap::new()),
            Err(error) => return Err(self.explained(error)),
        };
        let release: UploadedRelease = serde_json::from_slice(&document.body).map_err(|problem| {
            let message = format!("the answer of {SERVICE} about a release cannot be used: {problem}");
            Error::new(ErrorKind::Unavailable, message).about_url(document.final_url.as_str())
        })?;
        if release.tag_name != tag {
            let message = format!("{SERVICE} answered about the release {:?} instead of {tag}", release.tag_name);
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        let digest = |asset: UploadedFile| {
            let hex = asset.digest?;
            Some((asset.name, Sha256Digest::from_hex(hex.strip_prefix("sha256:")?)?))
        };
        Ok(release.assets.into_iter().filter_map(digest).collect())
    }

    /// Asks the service; without the token where that is refused or hides what everyone may read.
    async fn get(&self, url: Url, left: &mut usize) -> Result<Result<FetchedDocument, NetError>, Error> {
        let request = || {
            let request = DocumentRequest::new(url.clone(), DocumentKind::Attestations).confined();
            request.header("accept", "application/vnd.github+json").header("x-github-api-version", "2022-11-28")
        };
        spend(left)?;
        let answer = self.client.document(&request().token(self.token.clone())).await;
        match &answer {
            Err(error) if self.token.is_some() && matches!(error.status(), Some(401 | 403 | 404)) => {
                spend(left)?;
                Ok(self.client.document(&request()).await)
            }
            _ => Ok(answer),
        }
    }

    /// A bundle from where the service keeps it: JSON, as a rule packed by Snappy.
    async fn download(&self, place: &str, left: &mut usize) -> Result<Vec<u8>, Error> {
        let refused = |why: &str| {
            Error::new(ErrorKind::Unavailable, format!("{SERVICE} names a bundle that cannot be used: {why}"))
        };
        let url = Url::parse(place).map_err(|problem| refused(&problem.to_string()))?;
        if url.scheme() != "https" || !is_public(&url) || !url.username().is_empty() {
            return Err(refused("it is not at an https address of a public host").about_url(shown(&url)));
        }
        spend(left)?;
        let request = DocumentRequest::new(url.clone(), DocumentKind::Bundle).confined();
        let body = self.client.document(&request).await.map_err(unknown)?.body;
        if body.first() == Some(&b'{') {
            return Ok(body);
        }
        let length = decompress_len(&body).map_err(|problem| refused(&problem.to_string()))?;
        if length > LONGEST_BUNDLE {
            return Err(refused("unpacked it has more than 1 MiB").about_url(shown(&url)));
        }
        Decoder::new().decompress_vec(&body).map_err(|problem| refused(&problem.to_string()).about_url(shown(&url)))
    }

    fn token_hint(&self) -> &'static str {
        match self.token {
            Some(_) => "the token in GH_TOKEN or GITHUB_TOKEN was tried too",
            None => {
                "put a token into GITHUB_TOKEN: without one GitHub answers 60 requests an hour, and public repositories only"
            }
        }
    }

    fn explained(&self, error: NetError) -> Error {
        let is_refused = matches!(error.status(), Some(401 | 403 | 429));
        let is_limited = is_refused || matches!(error.fault, Fault::Wait { .. });
        let error = unknown(error);
        let error = if is_refused { Error { hints: Vec::new(), ..error } } else { error };
        if is_limited { error.hint(self.token_hint()) } else { error }
    }
}

/// After any failed request it is unknown where the release was built.
fn unknown(error: NetError) -> Error {
    let error = Error::from(error);
    let kind = if error.kind.is_inconclusive() { error.kind } else { ErrorKind::Unavailable };
    Error { kind, ..error }
}

/// The address without what a storage host signs it with.
fn shown(url: &Url) -> String {
    crate::net::ShownUrl::new(url).to_string()
}

fn service(path: &str) -> Url {
    let mut url = SERVICE.parse::<Url>().unwrap_or_else(|_| unreachable!("a constant"));
    url.set_path(path);
    url
}

fn spend(left: &mut usize) -> Result<(), Error> {
    let message = format!("{SERVICE} keeps the attestations of a release in more than {MOST_REQUESTS} places");
    *left = left.checked_sub(1).ok_or_else(|| Error::new(ErrorKind::Unavailable, message))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_come_from_public_hosts() {
        let is_public = |text: &str| is_public(&Url::parse(text).unwrap());
        for host in
            ["localhost", "localhost.", "x.localhost", "X.LOCALHOST.", "x.localhost..", "127.0.0.1", "[::1]", "x", "x."]
        {
            assert!(!Url::parse(&format!("https://{host}/b")).is_ok_and(|url| super::is_public(&url)), "{host}");
        }
        assert!(
            is_public("https://tmaproduction.blob.core.windows.net/b") && is_public("https://localhost.example./b")
        );
    }

    #[test]
    fn an_answer_without_the_expected_member_is_none() {
        for body in [
            "{}",
            "[]",
            "[[]]",
            "null",
            "{\"attestations\": null}",
            "{\"attestations\": {}}",
            "{\"attestations\": [[]]}",
        ] {
            assert!(listed(body.as_bytes()).is_err(), "{body}");
        }
        assert_eq!(listed(b"{\"attestations\": [], \"more\": 1}").unwrap().len(), 0);
    }
}
