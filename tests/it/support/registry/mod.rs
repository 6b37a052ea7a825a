//! A registry over HTTPS on loopback, described by a sentence, which counts requests.
//!
//! It knows the protocols of service discovery, provider registries and network mirrors, and nothing of the product.
//! Providers have the address `localhost:PORT/NAMESPACE/TYPE`; [`Registry::standing_for`] lends it another host.

mod answer;
mod body;
mod modules;
mod release;
mod routes;
mod server;
mod tls;
mod world;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

pub use answer::{Answer, Endpoint};
use modules::Module;
pub use release::{Flaw, Release};
pub use tls::{ca_pem, server_pem};
pub use world::Request;
use world::{Document, Guard, World};

use super::keys::{Day, Key};
use super::packages::{Package, Shape, archive};

/// The fixture. Methods that take `self` describe it and may be called at any time; those about a release mean the
/// one named last, by [`Registry::release`] or [`Registry::of`].
#[derive(Debug)]
pub struct Registry {
    world: Arc<Mutex<World>>,
    server: server::Server,
    folder: tempfile::TempDir,
    /// Provider and version of the release named last.
    subject: Option<(String, String)>,
    stands_for: Vec<String>,
}

impl Registry {
    /// A registry without providers, ready for requests.
    pub fn start() -> Self {
        let world = Arc::new(Mutex::new(World::default()));
        let server = server::Server::start(&world);
        world.lock().unwrap().other_host = format!("127.0.0.1:{}", server.ports[1]);
        let folder = crate::support::tempdir();
        std::fs::write(folder.path().join("ca.pem"), ca_pem()).unwrap();
        Self { world, server, folder, subject: None, stands_for: Vec::new() }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// `localhost:PORT`, the host of provider addresses.
    pub fn host(&self) -> String {
        format!("localhost:{}", self.server.ports[0])
    }

    /// `127.0.0.1:PORT`, the same site under another name and port.
    pub fn other_host(&self) -> String {
        self.world().other_host.clone()
    }

    /// The address of the network mirror of all releases, whatever host their addresses have.
    pub fn mirror_url(&self) -> String {
        format!("https://{}/mirror/", self.host())
    }

    /// The file with the certificate authority, for `SSL_CERT_FILE`.
    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// The hosts whose provider registry this one is, for `host` blocks of the CLI configuration.
    pub fn hosts_stood_for(&self) -> &[String] {
        &self.stands_for
    }
}

/// The sentence: the registry as a whole.
impl Registry {
    /// Users' CLI configuration says that this is the provider registry of a host, such as `registry.opentofu.org`.
    #[must_use]
    pub fn standing_for(mut self, host: &str) -> Self {
        self.stands_for.push(host.to_owned());
        self
    }

    /// An endpoint answers something else than the truth. The first answer that is due is given.
    #[must_use]
    pub fn answers(self, endpoint: Endpoint, answer: Answer) -> Self {
        self.world().answers.push((endpoint, answer));
        self
    }

    /// The truth everywhere again.
    #[must_use]
    pub fn recovered(self) -> Self {
        self.world().answers.clear();
        self
    }

    /// A document at a path, such as `/v1/modules/acme/net/lab/versions`.
    #[must_use]
    pub fn document(self, path: &str, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let document = Document { content_type: content_type.to_owned(), body: body.into() };
        self.world().documents.insert(path.to_owned(), document);
        self
    }

    /// There is a module, such as `acme/net/lab`, with these files: path and text, which may contain `{{registry}}`. It replaces
    /// one of the same version.
    ///
    /// Hosts of modules need a dot in their name: write `{{other-host}}/acme/net/lab` in configurations.
    #[must_use]
    pub fn module(self, name: &str, version: &str, files: &[(&str, &str)]) -> Self {
        let files: Vec<(&str, String)> =
            files.iter().map(|(path, text)| (*path, text.replace("{{registry}}", &self.host()))).collect();
        let module = Module { name: name.to_owned(), version: version.to_owned(), zip: archive(&files) };
        let mut world = self.world();
        world.modules.retain(|it| !(it.name == name && it.version == version));
        world.modules.push(module);
        drop(world);
        self
    }

    /// Versions and download documents of providers want this bearer token, else 401.
    #[must_use]
    pub fn requiring_token(self, token: &str) -> Self {
        self.world().token = Some(token.to_owned());
        self
    }

    /// Paths that start so want this `Authorization`, else 401 with this challenge.
    #[must_use]
    pub fn guarding(self, start: &str, authorization: &str, challenge: &str) -> Self {
        let [start, authorization, challenge] = [start, authorization, challenge].map(str::to_owned);
        self.world().guards.push(Guard { start, authorization, challenge });
        self
    }

    /// Files may be put at paths that start so, and are served from then on.
    #[must_use]
    pub fn taking_files(self, start: &str) -> Self {
        self.world().shelf = Some(start.to_owned());
        self
    }

    /// Archives, sums and signatures come from [`Registry::other_host`].
    #[must_use]
    pub fn with_files_on_other_host(self) -> Self {
        self.world().files_elsewhere = true;
        self
    }

    /// Archives, sums and signatures come from the releases of `github.com/NAMESPACE/terraform-provider-TYPE`, behind a proxy.
    #[must_use]
    pub fn with_files_on_github(self) -> Self {
        self.world().files_on_github = true;
        self
    }

    /// Addresses in download documents are relative.
    #[must_use]
    pub fn with_relative_urls(self) -> Self {
        self.world().relative = true;
        self
    }

    /// Service discovery names no provider registry.
    #[must_use]
    pub fn without_providers_service(self) -> Self {
        self.world().no_providers = true;
        self
    }

    /// Lists of versions carry this warning.
    #[must_use]
    pub fn warning(self, text: &str) -> Self {
        self.world().warnings.push(text.to_owned());
        self
    }
}

/// The sentence: one release.
impl Registry {
    /// There is a release, signed by [`super::keys::GOOD`] by default. It replaces one of the same version.
    #[must_use]
    pub fn release(mut self, provider: &str, version: &str, platforms: &[&str]) -> Self {
        self.withdraw(provider, version);
        self.world().releases.push(Release::new(provider, version, platforms));
        self.subject = Some((provider.to_owned(), version.to_owned()));
        self
    }

    /// The words that follow are about this release.
    #[must_use]
    pub fn of(mut self, provider: &str, version: &str) -> Self {
        self.subject = Some((provider.to_owned(), version.to_owned()));
        self
    }

    fn with(self, change: impl FnOnce(&mut Release)) -> Self {
        let (provider, version) = self.subject.as_ref().expect("a release was named");
        change(self.world().release_mut(provider, version));
        self
    }

    /// Its SHA256SUMS are signed by this key, which is listed unless [`Registry::listing`] says otherwise.
    #[must_use]
    pub fn signed_by(self, key: Key) -> Self {
        self.with(|release| release.signer = key)
    }

    /// It was signed on this day.
    #[must_use]
    pub fn signed_on(self, day: Day) -> Self {
        self.with(|release| release.signed_on = day)
    }

    /// Its download documents list these keys, in this order.
    #[must_use]
    pub fn listing(self, keys: &[Key]) -> Self {
        self.with(|release| release.listed = Some(keys.to_vec()))
    }

    /// Its download documents list no keys. There is a signature still, by an unknown key.
    #[must_use]
    pub fn unsigned(self) -> Self {
        self.listing(&[])
    }

    /// Its archives have other names: `{type}`, `{version}` and `{platform}` are filled in.
    #[must_use]
    pub fn named(self, naming: &str) -> Self {
        self.with(|release| naming.clone_into(&mut release.naming))
    }

    /// It supports these versions of the plugin protocol, `5.0` by default.
    #[must_use]
    pub fn speaking(self, protocols: &[&str]) -> Self {
        self.with(|release| release.protocols = protocols.iter().map(ToString::to_string).collect())
    }

    /// Its download documents carry the `packages` of `OpenTofu`.
    #[must_use]
    pub fn with_packages(self) -> Self {
        self.with(|release| release.packages = true)
    }

    /// Its archives are made in another way.
    #[must_use]
    pub fn shaped(self, shape: Shape) -> Self {
        self.with(|release| release.shapes.push(shape))
    }

    /// Something is wrong with its contents.
    #[must_use]
    pub fn flawed(self, flaw: Flaw) -> Self {
        self.with(|release| release.flaws.push(flaw))
    }

    /// The packages of these platforms, and no others, were published again with other contents.
    #[must_use]
    pub fn another(self, platforms: &[&str]) -> Self {
        self.with(|release| release.again.extend(platforms.iter().map(ToString::to_string)))
    }

    /// SHA256SUMS has this line too, after those of the platforms.
    #[must_use]
    pub fn sums_line(self, line: &str) -> Self {
        self.with(|release| release.more_sums.push(line.to_owned()))
    }
}

/// What happens between two runs.
impl Registry {
    /// The same version is published again with other contents, signed as before.
    pub fn republish(&self, provider: &str, version: &str) {
        self.world().release_mut(provider, version).edition += 1;
    }

    /// A release gets a package for one more platform; its sums grow and are signed again.
    pub fn add_platform(&self, provider: &str, version: &str, platform: &str) {
        self.world().release_mut(provider, version).platforms.push(platform.to_owned());
    }

    /// Removes a version. Does nothing if there is none.
    pub fn withdraw(&self, provider: &str, version: &str) {
        self.world().releases.retain(|it| !(it.provider == provider && it.version == version));
    }

    /// Holds back the answers that are [`Answer::held`], or lets them go.
    pub fn hold(&self, held: bool) {
        self.world().waiting.store(if held { 0 } else { answer::HELD }, Ordering::SeqCst);
    }

    /// Forgets the requests so far.
    pub fn forget_requests(&self) {
        self.world().requests.clear();
    }
}

/// The requests that it got, and the truth.
impl Registry {
    /// All requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.world().requests.clone()
    }

    /// How often an endpoint got a GET request, for any provider.
    pub fn count(&self, endpoint: Endpoint) -> usize {
        self.world().requests.iter().filter(|it| it.endpoint == endpoint && it.method == "GET").count()
    }

    /// How often an archive of a provider was requested with GET.
    pub fn downloads(&self, provider: &str) -> usize {
        let world = self.world();
        let zips = world.requests.iter().filter(|it| it.endpoint == Endpoint::Zip && it.method == "GET");
        zips.filter(|it| it.provider == provider).count()
    }

    /// How many bytes were taken of bodies without end.
    pub fn endless_bytes(&self) -> u64 {
        self.world().endless.load(Ordering::Relaxed)
    }

    /// The hosts, as the requests named them, that were sent an `Authorization` header.
    pub fn hosts_that_saw_a_token(&self) -> BTreeSet<String> {
        self.world().requests.iter().filter(|it| it.authorization.is_some()).map(|it| it.host.clone()).collect()
    }

    /// What was signed of a release: SHA256SUMS, the signature over it, and the armored keys one after the other.
    pub fn signed_documents(&self, provider: &str, version: &str) -> [Vec<u8>; 3] {
        let world = self.world();
        let release = world.release(provider, version).expect("such a release");
        let keys = release.listed.clone().unwrap_or_else(|| vec![release.signer]);
        let keys: String = keys.into_iter().map(super::keys::Key::armored).collect();
        [release.sums().into_bytes(), release.signature().expect("a signature"), keys.into_bytes()]
    }

    /// The honest package of a release for a platform, with its hashes.
    pub fn package(&self, provider: &str, version: &str, platform: &str) -> Package {
        self.world().release(provider, version).expect("such a release").package(platform)
    }
}
