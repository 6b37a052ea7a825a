//! From a request to an answer: the protocols, without any I/O.

use serde_json::{Value, json};

use super::answer::{Effect, Endpoint};
use super::modules;
use super::world::{Guard, Request, World};

/// An answer, not yet sent.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub manner: Manner,
}

/// How the body of an answer travels.
#[derive(Debug, Clone, Copy)]
pub enum Manner {
    Plainly,
    Half,
    Slowly(std::time::Duration),
    NotAtAll,
    Endlessly { announced: Option<u64> },
    Together(usize),
}

impl Reply {
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Self { status, headers, body: body.into(), manner: Manner::Plainly }
    }

    pub fn json(value: &Value) -> Self {
        Self::new(200, "application/json", value.to_string())
    }

    pub fn bytes(body: Vec<u8>) -> Self {
        Self::new(200, "application/octet-stream", body)
    }

    fn error(status: u16) -> Self {
        Self::new(status, "text/plain", format!("error {status}\n"))
    }
}

/// What a path requests.
pub struct Place<'a> {
    pub endpoint: Endpoint,
    /// `namespace/type`, or `namespace/name/system`.
    pub provider: String,
    /// Version, platform or file name, as the endpoint wants them.
    pub rest: Vec<&'a str>,
}

/// Reads a path.
pub fn place(path: &str) -> Place<'_> {
    let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    // Nexus has a prefix, and a token in the path.
    let segments = match segments[..] {
        ["repository", _, version, service, _, ref rest @ ..] => [&[version, service], rest].concat(),
        _ => segments,
    };
    let at = |endpoint, namespace: &str, kind: &str, rest: &[&'static str]| {
        (endpoint, format!("{namespace}/{kind}"), rest.to_vec())
    };
    let (endpoint, provider, rest) = match segments[..] {
        [".well-known", "terraform.json"] => (Endpoint::Discovery, String::new(), Vec::new()),
        ["v1", "providers", namespace, kind, "versions"] => at(Endpoint::Versions, namespace, kind, &[]),
        ["v1", "providers", namespace, kind, version, "download", os, arch] => {
            (Endpoint::Download, format!("{namespace}/{kind}"), vec![version, os, arch])
        }
        ["files", namespace, kind, version, file] => {
            (of_file(file), format!("{namespace}/{kind}"), vec![version, file])
        }
        [namespace, repository, "releases", "download", tag, file] => {
            let kind = repository.trim_start_matches("terraform-provider-");
            (of_file(file), format!("{namespace}/{kind}"), vec![tag.trim_start_matches('v'), file])
        }
        ["mirror", _, namespace, kind, "index.json"] => at(Endpoint::MirrorIndex, namespace, kind, &[]),
        ["mirror", _, namespace, kind, file] => (Endpoint::MirrorVersion, format!("{namespace}/{kind}"), vec![file]),
        ["v1", "modules", namespace, name, system, "versions"] => {
            (Endpoint::ModuleVersions, format!("{namespace}/{name}/{system}"), Vec::new())
        }
        ["v1", "modules", namespace, name, system, version, "download"] => {
            (Endpoint::ModuleDownload, format!("{namespace}/{name}/{system}"), vec![version])
        }
        ["modules", namespace, name, system, file] => {
            (Endpoint::ModuleArchive, format!("{namespace}/{name}/{system}"), vec![file])
        }
        ["repos", owner, repository, "attestations", _] => {
            (Endpoint::Attestations, format!("{owner}/{repository}"), Vec::new())
        }
        _ => (Endpoint::Other, String::new(), Vec::new()),
    };
    Place { endpoint, provider, rest }
}

fn of_file(name: &str) -> Endpoint {
    match name {
        _ if name.ends_with("_SHA256SUMS") => Endpoint::Sums,
        _ if name.ends_with("_SHA256SUMS.sig") => Endpoint::Signature,
        _ => Endpoint::Zip,
    }
}

/// The answer to a request, with the faults of the world.
pub fn answer(world: &mut World, request: &Request) -> Reply {
    let Request { endpoint, provider, host, path, .. } = request;
    // The other host serves the document where this one redirects, else the redirect would never end.
    let elsewhere = *host == world.other_host;
    let key = format!("{} {path}", request.method);
    let due = world.answers.iter_mut().find_map(|(at, answer)| {
        let skipped = elsewhere && matches!(answer.effect, Effect::RedirectToOtherHost);
        (at == endpoint && !skipped && answer.is_due(&key, provider)).then(|| answer.effect.clone())
    });
    match due {
        None => truth(world, request),
        Some(Effect::Status { code, retry_after }) => {
            let mut reply = Reply::error(code);
            reply.headers.extend(retry_after.map(|seconds| ("retry-after", seconds.to_string())));
            reply
        }
        Some(Effect::Refusal { code, body }) => Reply::new(code, "application/json", body),
        Some(Effect::RedirectToOtherHost) => {
            let mut reply = Reply::error(302);
            reply.headers.push(("location", format!("https://{}{path}", world.other_host)));
            reply
        }
        Some(Effect::RedirectTo(url)) => {
            let mut reply = Reply::error(302);
            reply.headers.push(("location", url));
            reply
        }
        Some(Effect::Redirects) => {
            let mut reply = Reply::error(302);
            reply.headers.push(("location", format!("https://{host}{path}?{}", world.requests.len())));
            reply
        }
        Some(Effect::Endless { announced }) => {
            Reply { manner: Manner::Endlessly { announced }, ..Reply::new(200, "application/octet-stream", "") }
        }
        Some(Effect::Text { content_type, body }) => Reply::new(200, content_type, body),
        Some(Effect::Truncated) => Reply { manner: Manner::Half, ..truth(world, request) },
        Some(Effect::Slow(pause)) => Reply { manner: Manner::Slowly(pause), ..truth(world, request) },
        Some(Effect::Together(count)) => Reply { manner: Manner::Together(count), ..truth(world, request) },
        Some(Effect::Reset) => Reply { manner: Manner::NotAtAll, ..Reply::error(500) },
    }
}

fn truth(world: &World, request: &Request) -> Reply {
    let place = place(&request.path);
    let guarded = matches!(place.endpoint, Endpoint::Versions | Endpoint::Download);
    let wanted = world.token.as_ref().filter(|_| guarded).map(|token| format!("Bearer {token}"));
    if wanted.is_some() && request.authorization != wanted {
        return Reply::error(401);
    }
    let stops = |guard: &&Guard| {
        request.path.starts_with(&guard.start) && request.authorization.as_ref() != Some(&guard.authorization)
    };
    if let Some(guard) = world.guards.iter().find(stops) {
        let mut reply = Reply::error(401);
        reply.headers.push(("www-authenticate", guard.challenge.clone()));
        return reply;
    }
    if request.method == "PUT" {
        let takes = world.shelf.as_ref().is_some_and(|start| request.path.starts_with(start));
        return Reply::error(if takes { 201 } else { 405 });
    }
    let found = match place.endpoint {
        Endpoint::Discovery => Some(discovery(world)),
        Endpoint::Versions => versions(world, &place.provider),
        Endpoint::Download => download(world, &place, &request.host),
        Endpoint::Sums | Endpoint::Signature | Endpoint::Zip => file(world, &place),
        Endpoint::MirrorIndex => mirror_index(world, &place.provider),
        Endpoint::MirrorVersion => mirror_version(world, &place),
        Endpoint::ModuleVersions => modules::versions(world, &place.provider),
        Endpoint::ModuleDownload => modules::download(world, &place),
        Endpoint::ModuleArchive => modules::archive(world, &place),
        Endpoint::Attestations | Endpoint::Other => None,
    };
    let brought = || {
        let document = world.documents.get(&request.path)?;
        Some(Reply::new(200, &document.content_type, document.body.clone()))
    };
    found.or_else(brought).unwrap_or_else(|| Reply::error(404))
}

fn discovery(world: &World) -> Reply {
    let mut services = json!({ "modules.v1": "/v1/modules/" });
    if !world.no_providers {
        services["providers.v1"] = json!("/v1/providers/");
    }
    Reply::json(&services)
}

fn versions(world: &World, provider: &str) -> Option<Reply> {
    let versions: Vec<Value> = world.releases_of(provider).map(super::Release::offer).collect();
    let mut document = json!({ "id": provider, "versions": versions });
    if !world.warnings.is_empty() {
        document["warnings"] = json!(world.warnings);
    }
    (!versions.is_empty()).then(|| Reply::json(&document))
}

fn download(world: &World, place: &Place<'_>, host: &str) -> Option<Reply> {
    let [version, os, arch] = place.rest[..] else { return None };
    let release = world.release(&place.provider, version)?;
    let folder = format!("/files/{}/{version}", place.provider);
    let files = match (world.relative, world.files_elsewhere) {
        _ if world.files_on_github => {
            let (namespace, kind) = place.provider.split_once('/')?;
            format!("https://github.com/{namespace}/terraform-provider-{kind}/releases/download/v{version}")
        }
        (true, _) => folder,
        (false, true) => format!("https://{}{folder}", world.other_host),
        (false, false) => format!("https://{host}{folder}"),
    };
    release.download(&format!("{os}_{arch}"), &files).map(|document| Reply::json(&document))
}

fn file(world: &World, place: &Place<'_>) -> Option<Reply> {
    let [version, file] = place.rest[..] else { return None };
    let release = world.release(&place.provider, version)?;
    let sums = release.sums_name();
    if file == sums {
        return Some(Reply::new(200, "text/plain", release.sums()));
    }
    if file.strip_suffix(".sig") == Some(&sums) {
        return release.signature().map(Reply::bytes);
    }
    let platform = release.platforms.iter().find(|platform| release.zip_name(platform) == file)?;
    Some(Reply::bytes(release.served_zip(platform)))
}

fn mirror_index(world: &World, provider: &str) -> Option<Reply> {
    let versions: serde_json::Map<String, Value> =
        world.releases_of(provider).map(|release| (release.version.clone(), json!({}))).collect();
    (!versions.is_empty()).then(|| Reply::json(&json!({ "versions": versions })))
}

fn mirror_version(world: &World, place: &Place<'_>) -> Option<Reply> {
    let version = place.rest.first()?.strip_suffix(".json")?;
    let release = world.release(&place.provider, version)?;
    let archives: serde_json::Map<String, Value> = release
        .platforms
        .iter()
        .map(|platform| {
            let package = release.package(platform);
            let url = format!("/files/{}/{version}/{}", place.provider, release.zip_name(platform));
            (platform.clone(), json!({ "url": url, "hashes": [package.h1, package.zh()] }))
        })
        .collect();
    Some(Reply::json(&json!({ "archives": archives })))
}
