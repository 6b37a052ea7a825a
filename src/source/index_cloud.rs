//! Indexes in cloud stores: `s3://BUCKET/PATH`, `gs://BUCKET/PATH`, `az://CONTAINER/PATH`.
//!
//! Credentials and endpoints are those that the environment names: `AWS_…`, `GOOGLE_…`, `AZURE_…`.
//!
//! Source: the crate `object_store`, `AmazonS3ConfigKey`, `GoogleConfigKey` and `AzureConfigKey`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{HttpClient, HttpConnector};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    ClientOptions, Error as StoreError, GetOptions, ObjectStore, PutMode, PutOptions, PutPayload, RetryConfig,
};
use url::Url;

use crate::disk::cache::exchange::IndexKey;
use crate::error::{Error, ErrorKind};
use crate::net::{Client, NetError};
use crate::parallel::locked;

#[derive(Debug, Default)]
pub(super) struct Clouds {
    stores: Mutex<HashMap<Url, Arc<dyn ObjectStore>>>,
}

/// Sends the store's requests by our client: its certificates, proxies and bounds.
#[derive(Debug)]
struct Connector(Client);

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = self.0.of_stores();
        client.map(HttpClient::new).map_err(|fault| StoreError::Generic { store: "client", source: Box::new(fault) })
    }
}

impl Clouds {
    /// The text of an entry, if there is one.
    pub(super) async fn read(&self, client: &Client, url: &Url, key: &IndexKey) -> Result<Option<Vec<u8>>, Error> {
        spend(client, url)?;
        let store = self.store(client, url)?;
        let found = match store.get_opts(&object_of(url, key), GetOptions::default()).await {
            Ok(found) => found,
            Err(StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(failed(url, &error)),
        };
        if found.meta.size > key.limit() {
            let message = format!("what it has about {key} is not an entry about it");
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        let bytes = found.bytes().await.map_err(|error| failed(url, &error))?;
        Ok(Some(bytes.to_vec()))
    }

    /// Writes an entry where there is none; one that came meanwhile stays.
    pub(super) async fn write(&self, client: &Client, url: &Url, key: &IndexKey, line: String) -> Result<(), Error> {
        spend(client, url)?;
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store(client, url)?.put_opts(&object_of(url, key), PutPayload::from(line), options).await {
            Ok(_) | Err(StoreError::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(failed(url, &error)),
        }
    }

    fn store(&self, client: &Client, url: &Url) -> Result<Arc<dyn ObjectStore>, Error> {
        let mut stores = locked(&self.stores);
        if let Some(store) = stores.get(url) {
            return Ok(Arc::clone(store));
        }
        let store = build(client, url).map_err(|error| failed(url, &error))?;
        stores.insert(url.clone(), Arc::clone(&store));
        Ok(store)
    }
}

/// Takes a request from what the run may still spend; a further attempt of the store is part of it.
fn spend(client: &Client, url: &Url) -> Result<(), Error> {
    client.budget().request(url).map_err(|fault| NetError::new(url, fault).into())
}

fn build(client: &Client, url: &Url) -> object_store::Result<Arc<dyn ObjectStore>> {
    let connector = Connector(client.clone());
    // Callers stop waiting after a while, so a later attempt is not made.
    let retry = RetryConfig { max_retries: 1, retry_timeout: client.options().timeout, ..RetryConfig::default() };
    Ok(match url.scheme() {
        "s3" => {
            let store = AmazonS3Builder::from_env().with_url(url.as_str());
            Arc::new(store.with_retry(retry).with_http_connector(connector).build()?)
        }
        "gs" => {
            let store = GoogleCloudStorageBuilder::from_env().with_url(url.as_str());
            Arc::new(store.with_retry(retry).with_http_connector(connector).build()?)
        }
        _ => {
            let store = MicrosoftAzureBuilder::from_env().with_url(url.as_str());
            Arc::new(store.with_retry(retry).with_http_connector(connector).build()?)
        }
    })
}

fn object_of(url: &Url, key: &IndexKey) -> Path {
    let below = url.path().trim_matches('/');
    Path::from(if below.is_empty() { key.name() } else { format!("{below}/{}", key.name()) })
}

/// What went wrong, in our words: those of the store may quote the environment.
fn failed(url: &Url, error: &StoreError) -> Error {
    let (kind, what) = match error {
        StoreError::Unauthenticated { .. } => (ErrorKind::Unauthorized, "wants other credentials"),
        StoreError::PermissionDenied { .. } => (ErrorKind::Unauthorized, "does not allow that"),
        StoreError::NotFound { .. } => (ErrorKind::NotFound, "has no such bucket or container"),
        StoreError::InvalidPath { .. } | StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            (ErrorKind::Settings, "cannot keep an index there")
        }
        _ => (ErrorKind::Unavailable, "gave no usable answer"),
    };
    let names = match url.scheme() {
        "s3" => "AWS_",
        "gs" => "GOOGLE_",
        _ => "AZURE_",
    };
    Error::new(kind, format!("the store of {url} {what}"))
        .hint(format!("credentials, region and endpoint come from the variables that begin with {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Sha256Digest;

    #[test]
    fn objects_lie_below_the_path_of_the_url() {
        let key = IndexKey::Archive(Sha256Digest::of(b"archive"));
        let object = |url: &str| object_of(&Url::parse(url).unwrap(), &key).to_string();
        assert_eq!(object("s3://bucket"), key.name());
        assert_eq!(object("s3://bucket/"), key.name());
        assert_eq!(object("az://container/a/b/"), format!("a/b/{}", key.name()));
    }

    #[test]
    fn what_a_store_says_is_not_shown() {
        let url = Url::parse("s3://bucket/x").unwrap();
        let secret = "https://h.example/?sig=s3cr3t".into();
        let error = failed(&url, &StoreError::Generic { store: "S3", source: secret });
        assert!(!format!("{error:?}").contains("s3cr3t") && error.message.contains("s3://bucket/x"), "{error:?}");
    }
}
