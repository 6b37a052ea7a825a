//! From the source of a module call to a directory with the module.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::address::{AddressError, Method, RemoteAddress, join_subdirs};
use super::archive::{self, ArchiveKind};
use super::git::{Extent, Repository, Resolved, refused};
use super::registry::ModuleRegistry;
use super::select::{newest_listed, select};
use super::store::{PackageRecord, Store, StoredPackage};
use super::subdir::expand;
use super::unpack::{Builder, Contents};
use crate::addr::Hostname;
use crate::config::{ModuleConstraints, ModuleSource, ModuleVersion, RegistryModule, RemoteModule};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::net::{Client, Shared};

/// How often an address may name another one.
const HOPS: usize = 3;

/// Git processes at a time.
const GIT_ABREAST: usize = 8;

/// Fetches modules; each is asked for once a run.
#[derive(Debug)]
pub struct Fetcher {
    client: Client,
    registry: ModuleRegistry,
    store: Arc<Store>,
    offline: bool,
    git_permits: Semaphore,
    versions: Shared<String, Result<Arc<Vec<String>>, Error>>,
    releases: Shared<String, Result<Arc<Placed>, Error>>,
    packages: Shared<String, Result<Arc<Placed>, Error>>,
}

/// What a call asks for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The source, which is not local.
    pub source: ModuleSource,
    /// Which versions will do.
    pub constraints: Option<ModuleConstraints>,
    /// The tool of the root module.
    pub dialect: Dialect,
    /// The hosts that modules may come from.
    pub hosts: ModuleHosts,
}

/// The hosts that modules may come from, by policy; none for any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleHosts(pub Option<BTreeSet<Hostname>>);

/// A module on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Its directory.
    pub dir: PathBuf,
    /// The top of its package, which paths of local modules must not leave.
    pub package: PathBuf,
    /// The version, where it is of a registry.
    pub version: Option<ModuleVersion>,
    /// The package, as people know it.
    pub shown: String,
}

/// A package, and where in it the module is by the word of whoever placed it there.
#[derive(Debug, Clone)]
struct Placed {
    package: StoredPackage,
    subdir: String,
    /// The hosts that said so.
    hosts: Vec<String>,
}

/// A release of a registry's module that was fetched before.
#[derive(Serialize, Deserialize)]
struct Release {
    package: String,
    subdir: String,
    hosts: Vec<String>,
}

impl Fetcher {
    /// A fetcher that keeps what it fetches in a store. Offline it fetches nothing.
    pub fn new(client: Client, registry: ModuleRegistry, store: Store, offline: bool) -> Self {
        Self {
            client,
            registry,
            store: Arc::new(store),
            offline,
            git_permits: Semaphore::new(GIT_ABREAST),
            versions: Shared::new(),
            releases: Shared::new(),
            packages: Shared::new(),
        }
    }

    /// The module that a call asks for.
    ///
    /// # Errors
    ///
    /// What cannot be known, or is refused: [`Error::kind`] says which.
    pub async fn fetch(&self, wanted: &Wanted) -> Result<Fetched, Error> {
        match &wanted.source {
            ModuleSource::Registry(module) => Box::pin(self.of_registry(module, wanted)).await,
            ModuleSource::Remote(module) => Box::pin(self.of_address(module, wanted)).await,
            ModuleSource::Local(path) => {
                Err(Error::new(ErrorKind::Configuration, format!("{path:?} is a path, and is not fetched")))
            }
        }
    }

    async fn of_registry(&self, module: &RegistryModule, wanted: &Wanted) -> Result<Fetched, Error> {
        wanted.hosts.allow(module.host.as_ascii())?;
        let package = RegistryModule { subdir: String::new(), ..module.clone() };
        let listed = self.listed(&package).await?;
        let constraints = wanted.constraints.as_ref();
        let version = select(&listed, constraints).ok_or_else(|| no_version(&package, constraints, &listed))?;
        let key = format!("release {} {package} {}", wanted.dialect.program(), version.canonical());
        let job = self.release(&package, &version, wanted, &key);
        let placed = self.releases.answer(key.clone(), Box::pin(job)).await?;
        placed.hosts.iter().try_for_each(|host| wanted.hosts.allow(host))?;
        let shown = format!("{package} {}", version.canonical());
        let subdir = join_subdirs(&placed.subdir, &module.subdir).map_err(|error| unreachable(&shown, &error))?;
        let dir = expand(&placed.package.tree, &subdir, &shown)?;
        Ok(Fetched { dir, package: placed.package.tree.clone(), version: Some(version), shown })
    }

    async fn of_address(&self, module: &RemoteModule, wanted: &Wanted) -> Result<Fetched, Error> {
        let shown = module.to_string();
        let address = RemoteAddress::of(module).map_err(|error| unfetchable(&error, wanted.dialect))?;
        let placed = self.package(&address, wanted, false).await?;
        placed.hosts.iter().try_for_each(|host| wanted.hosts.allow(host))?;
        let subdir = join_subdirs(&placed.subdir, &address.subdir).map_err(|error| unreachable(&shown, &error))?;
        let dir = expand(&placed.package.tree, &subdir, &address.package())?;
        Ok(Fetched { dir, package: placed.package.tree.clone(), version: None, shown: address.package() })
    }

    /// The versions that a registry lists.
    async fn listed(&self, module: &RegistryModule) -> Result<Arc<Vec<String>>, Error> {
        let key = format!("versions {module}");
        let job = async {
            let known = if self.offline { self.store.lasting(&key) } else { self.store.fresh(&key) };
            if let Some(listed) = known.and_then(|text| serde_json::from_str(&text).ok()) {
                return Ok(Arc::new(listed));
            }
            self.online(&module.to_string())?;
            let listed = self.registry.versions(module).await?;
            self.store.learn(&key, &serde_json::Value::from(listed.clone()).to_string());
            Ok(Arc::new(listed))
        };
        self.versions.answer(key.clone(), job).await
    }

    /// A release of a module, which stays what it was when it was first fetched.
    async fn release(
        &self,
        module: &RegistryModule,
        version: &ModuleVersion,
        wanted: &Wanted,
        key: &str,
    ) -> Result<Arc<Placed>, Error> {
        let known: Option<Release> = self.store.lasting(key).and_then(|text| serde_json::from_str(&text).ok());
        if let Some(Release { package, subdir, hosts }) = known
            && let Some(package) = self.store.package(&package)
        {
            return Ok(Arc::new(Placed { package, subdir, hosts }));
        }
        self.online(&format!("{module} {}", version.canonical()))?;
        let location = self.registry.location(module, version, wanted.dialect).await?;
        let placed = self.package(&location, wanted, true).await?;
        let placed = Placed {
            subdir: join_subdirs(&placed.subdir, &location.subdir).map_err(|error| unreachable(key, &error))?,
            ..(*placed).clone()
        };
        let release =
            Release { package: placed.package.key.clone(), subdir: placed.subdir.clone(), hosts: placed.hosts.clone() };
        self.store.learn(key, &serde_json::to_string(&release).unwrap_or_default());
        Ok(Arc::new(placed))
    }

    /// The package at an address; `lasting` if what was fetched from there before is good for ever.
    async fn package(&self, address: &RemoteAddress, wanted: &Wanted, lasting: bool) -> Result<Arc<Placed>, Error> {
        let mut hosts = Vec::new();
        let mut address = address.clone();
        let mut subdir = String::new();
        for _ in 0..HOPS {
            let host = address.host().unwrap_or_default();
            wanted.hosts.allow(&host)?;
            hosts.push(host);
            let kind = match address.method {
                Method::Git => None,
                Method::Archive => Some(archive::kind_of(&address)?),
            };
            if kind == Some(None) {
                self.online(&address.package())?;
                address = archive::forwarded(&self.client, &RemoteAddress { subdir: String::new(), ..address }).await?;
                subdir = std::mem::take(&mut address.subdir);
                continue;
            }
            let key = format!("{:?} {}", address.method, address.url);
            let job = self.stored(&address, kind.flatten(), lasting);
            let stored = self.packages.answer(key, Box::pin(job)).await?;
            return Ok(Arc::new(Placed { package: stored.package.clone(), subdir, hosts }));
        }
        let message = format!("{} leads from one address to the next", address.package());
        Err(Error::new(ErrorKind::Package, message))
    }

    async fn stored(
        &self,
        address: &RemoteAddress,
        kind: Option<ArchiveKind>,
        lasting: bool,
    ) -> Result<Arc<Placed>, Error> {
        let key = format!("package {:?} {}", address.method, address.url);
        // One run at a time, so that the others find what it fetched.
        let _alone = self.store.alone(&key).await;
        let lasting = lasting || self.offline || address.parameter("checksum").is_some();
        let known = if lasting { self.store.lasting(&key) } else { self.store.fresh(&key) };
        let found = known.and_then(|known| self.store.package(&known));
        let package = if let Some(package) = found {
            package
        } else {
            self.online(&address.package())?;
            match kind {
                Some(kind) => self.archive(address, kind).await?,
                None => self.git(address).await?,
            }
        };
        self.store.learn(&key, &package.key);
        Ok(Arc::new(Placed { package, subdir: String::new(), hosts: Vec::new() }))
    }

    async fn archive(&self, address: &RemoteAddress, kind: ArchiveKind) -> Result<StoredPackage, Error> {
        let archive = Box::pin(archive::download(&self.client, address, kind)).await?;
        let key = format!("archive {}", archive.digest);
        if let Some(package) = self.store.package(&key) {
            return Ok(package);
        }
        let (store, source) = (Arc::clone(&self.store), address.package());
        let work = move || {
            let staging = store.staging()?;
            let contents = archive.unpack(&staging.path().join("tree"))?;
            let hash = contents.hash().map(|hash| hash.to_string());
            let record = PackageRecord { source, commit: None, hash, files: contents.configuration() };
            store.keep(&key, staging, record)
        };
        blocking(work).await
    }

    async fn git(&self, address: &RemoteAddress) -> Result<StoredPackage, Error> {
        // Nobody closes the semaphore.
        let _permit = self.git_permits.acquire().await;
        let (store, address) = (Arc::clone(&self.store), address.clone());
        blocking(move || git_package(&store, &address)).await
    }

    /// Refuses to ask where that is forbidden.
    fn online(&self, what: &str) -> Result<(), Error> {
        if !self.offline {
            return Ok(());
        }
        let message = format!("the module {what} was not fetched before, and --offline forbids to ask for it");
        Err(Error::new(ErrorKind::Offline, message).hint("run once without --offline"))
    }
}

/// A package from git, with its configuration only.
fn git_package(store: &Store, address: &RemoteAddress) -> Result<StoredPackage, Error> {
    let staging = store.staging()?;
    let bare = staging.path().join("repository");
    std::fs::create_dir(&bare).map_err(|reason| Error::new(ErrorKind::Disk, reason.to_string()).in_file(&bare))?;
    let repository = Repository::open(&bare, address)?;
    let resolved: Resolved = repository.resolve(address.parameter("ref").as_deref())?;
    let key = |commit: &str| format!("git {} {commit}", address.plain_url());
    if let Some(package) = store.package(&key(&resolved.commit)) {
        return Ok(package);
    }
    let commit = repository.fetch(&resolved)?;
    let mut builder = Builder::new(&staging.path().join("tree"));
    repository.lay_out(&commit, Extent::Configuration, &mut builder)?;
    let contents: Contents = builder.finish().map_err(|error| refused(&address.package(), &error))?;
    drop(repository);
    let _ = std::fs::remove_dir_all(&bare);
    let record = PackageRecord {
        source: address.package(),
        commit: Some(commit.clone()),
        hash: None,
        files: contents.configuration(),
    };
    store.keep(&key(&commit), staging, record)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Error::new(ErrorKind::Disk, format!("fetching a module failed: {error}"))))
}

impl ModuleHosts {
    /// Refuses hosts that policy does not name.
    fn allow(&self, host: &str) -> Result<(), Error> {
        let is_host = |allowed: &Hostname| allowed.as_ascii() == host;
        match &self.0 {
            Some(allowed) if !allowed.iter().any(is_host) => {
                let message = format!("modules must not come from {host}: the settings do not name it in module_hosts");
                Err(Error::new(ErrorKind::Trust, message).hint("`policy { module_hosts = […] }` in .tflock.hcl"))
            }
            _ => Ok(()),
        }
    }
}

fn no_version(module: &RegistryModule, constraints: Option<&ModuleConstraints>, listed: &[String]) -> Error {
    let wanted = constraints.map(|constraints| format!(" that satisfies {:?}", constraints.as_str()));
    let message = format!("module {module} has no version{}", wanted.unwrap_or_default());
    let error = Error::new(ErrorKind::NotFound, message);
    match newest_listed(listed) {
        Some(newest) => error.hint(format!("the newest version is {}", newest.canonical())),
        None => error,
    }
}

fn unreachable(shown: &str, error: &AddressError) -> Error {
    Error::new(ErrorKind::Package, format!("the module of {shown} cannot be fetched: {error}"))
}

/// An address of a call that we do not follow, though a tool may.
fn unfetchable(error: &AddressError, dialect: Dialect) -> Error {
    let message = format!("the module cannot be fetched: {error}");
    match error {
        AddressError::Method(_) | AddressError::File(_) | AddressError::Unencrypted(_) => {
            Error::new(ErrorKind::Configuration, message)
                .hint(format!("install it with `{} get`; what is installed is read", dialect.program()))
        }
        _ => Error::new(ErrorKind::Configuration, message),
    }
}
