//! GitHub as the program sees it: its service of attestations and its storage, behind a proxy that leads to the registry's server.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};

use serde_json::{Value, json};

use super::registry::Registry;
use super::sigstore::{Claims, attest, root};
use super::workspace::Workspace;
use super::worlds::PLATFORMS;

/// A proxy that leads to the registry's server, whatever host is asked for; returns its address.
pub fn proxy_to(registry: &Registry) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = registry.host();
    let serve = move |mut client: TcpStream, server: &str| -> std::io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let server = TcpStream::connect(server)?;
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        std::thread::spawn(move || std::io::copy(&mut from, &mut to).and(to.shutdown(Shutdown::Both)));
        let (mut from, mut to) = (server, client);
        std::io::copy(&mut from, &mut to).and(to.shutdown(Shutdown::Both))
    };
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = server.clone();
            std::thread::spawn(move || serve(client, &server));
        }
    });
    address
}

/// The program reaches this GitHub, and verifies by the keys of the test instance.
pub fn reaching(workspace: Workspace, registry: &Registry) -> Workspace {
    workspace.write("root.json", &root());
    let root = workspace.path("root.json").display().to_string();
    let workspace = workspace.env("HTTPS_PROXY", &proxy_to(registry)).env("NO_PROXY", "localhost,127.0.0.1");
    workspace.env("TFLOCK_TEST_SIGSTORE_ROOT", &root)
}

/// The repository that a provider is built from, `OWNER/NAME`.
pub fn repository(provider: &str) -> String {
    let (owner, kind) = provider.split_once('/').unwrap();
    format!("{owner}/terraform-provider-{kind}")
}

/// What is asked about an archive of a provider.
pub fn question(provider: &str, digest: &str) -> String {
    let repository = repository(provider);
    format!("/repos/{repository}/attestations/sha256:{digest}?predicate_type=https%3A%2F%2Fslsa.dev%2Fprovenance%2Fv1")
}

/// All archives of a release: names and SHA-256.
pub fn archives(registry: &Registry, provider: &str, version: &str) -> Vec<(String, String)> {
    let (_, kind) = provider.split_once('/').unwrap();
    let archive = |platform: &&str| {
        let zh = registry.package(provider, version, platform).zh();
        (format!("terraform-provider-{kind}_{version}_{platform}.zip"), zh.trim_start_matches("zh:").to_owned())
    };
    PLATFORMS.iter().map(archive).collect()
}

/// What the service answers about an archive.
pub fn answering(registry: Registry, provider: &str, digest: &str, bundles: &[Value]) -> Registry {
    let entries: Vec<Value> = bundles.iter().map(|bundle| json!({ "bundle": bundle })).collect();
    let answer = json!({ "attestations": entries }).to_string();
    registry.document(&question(provider, digest), "application/json", answer)
}

/// The service has these attestations of each archive of a release.
pub fn attested(mut registry: Registry, provider: &str, version: &str, bundles: &[Value]) -> Registry {
    for (_, digest) in archives(&registry, provider, version) {
        registry = answering(registry, provider, &digest, bundles);
    }
    registry
}

/// One attestation of all archives of a release.
pub fn built(registry: Registry, provider: &str, version: &str, claims: &Claims) -> Registry {
    let bundle = attest(claims, &archives(&registry, provider, version));
    attested(registry, provider, version, &[bundle])
}

/// The pin for releases that [`Claims::of_tag`] describes.
pub fn place(provider: &str) -> String {
    let repository = repository(provider);
    format!(
        r#"
  built_by {{
    repository    = "github.com/{repository}"
    repository_id = "123"
    owner_id      = "7"
    workflow      = ".github/workflows/release.yml"
    ref           = "refs/tags/*"
    triggers      = ["push"]
    since         = "1.0.0"
  }}
"#
    )
}

/// A trust file with a place in the block of a provider.
pub fn with_place(trust: &str, address: &str, place: &str) -> String {
    let start = trust.find(&format!("provider \"{address}\"")).unwrap_or_else(|| panic!("no {address}: {trust}"));
    let end = start + trust[start..].find("\n}").unwrap() + 1;
    format!("{}{place}{}", &trust[..end], &trust[end..])
}

/// The requests that were meant for GitHub or its storage: host, path without its query, and whether a token came along.
pub fn asked(registry: &Registry) -> Vec<(String, bool)> {
    let of_service = registry.requests().into_iter().filter(|request| !request.host.starts_with("localhost"));
    let shown = |path: &str| path.split(['?', ':']).next().unwrap_or_default().to_owned();
    of_service.map(|it| (format!("{}{}", it.host, shown(&it.path)), it.authorization.is_some())).collect()
}
