//! Servers that take a connection and never say a word: each question ends within its limit.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::refusals::ModuleHosts;
use super::wanted::Wanted;
use super::{Fetcher, FetcherOptions, ModuleRegistry, Store};
use crate::config::ModuleSource;
use crate::dialect::Dialect;
use crate::disk::oci_credentials::OciCredentials;
use crate::error::ErrorKind;
use crate::net::{Client, ClientOptions, Credentials, Discovery};
use crate::source::oci::OciClient;

const SHORT: Duration = Duration::from_millis(200);

fn fetcher() -> Fetcher {
    let options = ClientOptions {
        timeout: SHORT,
        connect_timeout: SHORT,
        idle_timeout: SHORT,
        retries: 0,
        download_retries: 0,
        first_delay: Duration::from_millis(1),
        system_proxy: false,
        ..ClientOptions::default()
    };
    let client = Client::new(options);
    let credentials = Arc::new(Credentials::default());
    let discovery = Discovery::new(client.clone(), Arc::clone(&credentials), std::collections::BTreeMap::new());
    let registry = ModuleRegistry::new(client.clone(), Arc::new(discovery), credentials);
    let oci = OciClient::new(client.clone(), Arc::new(OciCredentials::default()));
    let store = Store::open(None, SystemTime::UNIX_EPOCH).unwrap();
    Fetcher::new(client, registry, store, FetcherOptions { git_limit: SHORT, ..FetcherOptions::new(oci) })
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_servers_end_within_the_limits() {
    // The system accepts connections for it; they are never read.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let fetcher = fetcher();
    let sources = [
        format!("{host}/acme/net/lab"),
        format!("https://{host}/x.zip"),
        format!("https://{host}/x"),
        format!("https://{host}/y.zip?checksum=file:https://{host}/sums"),
        format!("git::https://{host}/x.git"),
        format!("oci://{host}/x"),
    ];
    for source in sources {
        let wanted = Wanted {
            source: ModuleSource::parse(&source, false, Dialect::OpenTofu).unwrap(),
            constraints: None,
            pin: None,
            whole: false,
            fresh: false,
            dialect: Dialect::OpenTofu,
            hosts: ModuleHosts::default(),
            work_tree: None,
        };
        let error = fetcher.fetch(&wanted).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable, "{source}: {}", error.message);
        assert!(error.message.contains(&host), "{source}: {}", error.message);
    }
}
