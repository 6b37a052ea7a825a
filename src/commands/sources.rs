//! Whom a run may ask.

use std::sync::Arc;

use super::Services;
use super::lock::Source;
use super::lock_options::Mirror;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::cli_config::CliConfig;
use crate::disk::mirror::FilesystemMirror;
use crate::engine::gather::{GatherOptions, MirrorOptions};
use crate::engine::{Event, Events};
use crate::error::Error;
use crate::net::{Client, ClientOptions, Credentials, Discovery, Doing, Watch};
use crate::source::{NetworkMirror, Registry};

/// Whom a run may ask about providers of a tool: the mirror, if one was named, else the registries, unless the run is
/// offline.
///
/// # Errors
///
/// A mirror that is none, or CLI configuration that cannot be read.
pub(super) fn source(
    services: &Services<'_>,
    dialect: Dialect,
    mirror: Option<&Mirror>,
    cache: &Arc<Cache>,
) -> Result<Source, Error> {
    let events = services.events.clone();
    if let Some(Mirror::Directory(directory)) = mirror {
        return Ok(Source::Mirror(FilesystemMirror::open(directory)?, events));
    }
    if services.scope.offline {
        return Ok(Source::Nobody);
    }
    let variables = services.variables();
    let config = CliConfig::load(variables, dialect)?;
    let client = Client::watched(ClientOptions::configured(variables, config.registry_protocols), watch(&events));
    let credentials = Arc::new(Credentials::new(variables, &config));
    if let Some(Mirror::Url(url)) = mirror {
        let (mirror, cache) = (NetworkMirror::new(client, credentials, url)?, Arc::clone(cache));
        return Ok(Source::NetworkMirror(Box::new(MirrorOptions { mirror, cache, events, dialect })));
    }
    let discovery = Discovery::new(client.clone(), Arc::clone(&credentials), config.hosts);
    Ok(Source::Registries(Box::new(GatherOptions {
        registry: Registry::new(client, discovery, credentials),
        cache: Arc::clone(cache),
        events,
        now: services.scope.environment.now,
    })))
}

/// What the client does, as events.
pub(super) fn watch(events: &Events) -> Watch {
    let events = events.clone();
    Watch::by(move |doing| {
        events.emit(match doing {
            Doing::Asking(url) => Event::Request { url: url.to_string() },
            Doing::Again(error, delay) => {
                // Our own delays are short and at random; one that a server asked for may be long.
                let wait = if delay.as_secs() < 5 { String::new() } else { format!(" in {} s", delay.as_secs()) };
                Event::Note { text: format!("{error}; asking again{wait}") }
            }
        });
    })
}
