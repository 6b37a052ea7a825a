//! What a registry grants: basic credentials, or a token that it names a place for.
//!
//! Source: the "Docker Registry v2 authentication" of the distribution project.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use url::Url;
use url::form_urlencoded::Serializer;

use super::{OciClient, Repository, about, unanswered, unauthorized, unusable};
use crate::disk::oci_credentials::OciCredential;
use crate::error::{Error, ErrorKind};
use crate::net::{Authorization, DocumentRequest, Kind};
use crate::settings::Secret;

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
    pub(super) async fn authorize(
        &self,
        repository: &Repository,
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
                Some(self.token(repository, (&realm, &fields), credential).await?)
            }
        };
        if let Some(authorization) = &authorization {
            granted.insert(repository.clone(), authorization.clone());
        }
        Ok(authorization)
    }

    async fn credential(&self, repository: &Repository) -> Result<Option<OciCredential>, Error> {
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
        repository: &Repository,
        (realm, fields): (&str, &[(&str, String)]),
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
                DocumentRequest::new(url.clone(), Kind::Metadata).posting(Secret::new(form.finish()))
            }
            credential => {
                url.query_pairs_mut().extend_pairs(fields);
                let basic = credential.and_then(|credential| match credential {
                    OciCredential::Password { user, password } => Some(Authorization::Basic(basic(&user, &password))),
                    _ => None,
                });
                DocumentRequest::new(url.clone(), Kind::Metadata).authorized(basic)
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
