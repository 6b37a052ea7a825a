//! From the source of a module call to a directory with the module.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::address::{AddressError, FetchMethod, RemoteAddress, join_subdirs};
use super::archive::{self, ArchiveKind, Web};
use super::git_package::GitAccess;
use super::refusals::allow_url;
use super::registry::{ModuleRegistry, Netrc};
use super::store::Store;
use super::wanted::{FetchKey, Placed, Wanted};
use crate::config::{ModuleSource, RegistryModule, RemoteModule, is_stand_in};
use crate::dialect::Dialect;
use crate::disk::roots::{FetchedModule, ModuleRequest, ModuleTerms};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Interrupt;
use crate::modulelock::{ModuleContent, Offered, Served, ambiguous_version};
use crate::net::{Client, Cost, RunBudget, Shared};
use crate::settings::allow_module_host;
use crate::source::oci::OciClient;
use crate::version::{ModuleConstraints, ModuleVersion, VersionList};

/// How many redirects are followed.
const HOPS: usize = 3;

/// Git processes at a time.
const GIT_ABREAST: usize = 8;

#[derive(Debug)]
pub struct Fetcher {
    client: Client,
    registry: ModuleRegistry,
    store: Arc<Store>,
    options: FetcherOptions,
    pub(super) git_permits: Semaphore,
    versions: Shared<FetchKey, Result<Arc<Vec<String>>, Error>>,
    releases: Shared<FetchKey, Result<Arc<Placed>, Error>>,
    packages: Shared<FetchKey, Result<Arc<Placed>, Error>>,
    pub(super) offers: Shared<FetchKey, Result<Offered, Error>>,
    pub(super) inquiries: Shared<FetchKey, Result<Served, Error>>,
}

#[derive(Debug, Clone)]
pub struct FetcherOptions {
    pub offline: bool,
    /// The passwords of the user for archives over https.
    pub netrc: Netrc,
    pub oci: OciClient,
    /// How long one command of git may take.
    pub git_limit: Duration,
    /// How long an archive may take, from the first request to the last byte, with all attempts.
    pub archive_limit: Duration,
    /// Ends git at work.
    pub interrupt: Interrupt,
}

impl FetcherOptions {
    /// Without passwords, and with the limits of the program.
    pub fn new(oci: OciClient) -> Self {
        let (git_limit, archive_limit) = (Duration::from_secs(180), Duration::from_secs(300));
        let interrupt = Interrupt::default();
        Self { offline: false, netrc: Netrc::default(), oci, git_limit, archive_limit, interrupt }
    }
}

/// Where an address leads to.
pub(super) struct Followed {
    pub(super) address: RemoteAddress,
    /// The kind of archive; none for git and OCI registries.
    pub(super) kind: Option<ArchiveKind>,
    subdir: String,
    hosts: Vec<String>,
}

/// A package to fetch from an address.
#[derive(Clone, Copy)]
struct PackageRequest<'a> {
    address: &'a RemoteAddress,
    kind: Option<ArchiveKind>,
    wanted: &'a Wanted,
    /// True if what was fetched from there before is good for ever.
    lasting: bool,
}

/// A release of a registry's module that was fetched before.
#[derive(Serialize, Deserialize)]
struct KeptRelease {
    package: String,
    subdir: String,
    hosts: Vec<String>,
    location: Option<String>,
}

impl Fetcher {
    /// A fetcher that keeps what it fetches in a store.
    pub fn new(client: Client, registry: ModuleRegistry, store: Store, options: FetcherOptions) -> Self {
        Self {
            client,
            registry,
            store: Arc::new(store),
            options,
            git_permits: Semaphore::new(GIT_ABREAST),
            versions: Shared::new(),
            releases: Shared::new(),
            packages: Shared::new(),
            offers: Shared::new(),
            inquiries: Shared::new(),
        }
    }

    /// What is requested, from the host that the name in its address means.
    pub(super) fn wanted(&self, terms: &ModuleTerms, request: &ModuleRequest) -> Wanted {
        let wanted = Wanted::of(terms, request);
        let ModuleSource::Registry(module) = &wanted.source else { return wanted };
        if !is_stand_in(&module.host) {
            return wanted;
        }
        let meant = terms.stand_ins.of_root(&terms.root, terms.dialect);
        let host = self.registry.discovery().asked(&module.host, meant.as_ref()).clone();
        let source = ModuleSource::Registry(RegistryModule { host, ..module.clone() });
        Wanted { source, ..wanted }
    }

    /// For archives and documents. This and the next three functions are the only doors to the network: each refuses
    /// the hosts that policy does not name.
    pub(super) fn web<'a>(&'a self, wanted: &'a Wanted) -> Web<'a> {
        Web { client: &self.client, hosts: &wanted.hosts, options: &self.options }
    }

    /// `what` is for the error with `--offline`.
    pub(super) fn registry(
        &self,
        module: &RegistryModule,
        wanted: &Wanted,
        what: &str,
    ) -> Result<&ModuleRegistry, Error> {
        allow_module_host(wanted.hosts.as_ref(), module.host.as_ascii())?;
        self.online(what).map(|()| &self.registry)
    }

    pub(super) fn artifacts(&self, address: &RemoteAddress, wanted: &Wanted) -> Result<&OciClient, Error> {
        allow_url(wanted.hosts.as_ref(), &address.url).map(|()| &self.options.oci)
    }

    pub(super) fn git_access(&self, wanted: &Wanted) -> GitAccess {
        GitAccess {
            store: self.store(),
            limit: self.options.git_limit,
            interrupt: self.options.interrupt.clone(),
            budget: Arc::clone(self.budget()),
            hosts: wanted.hosts.clone(),
            work_tree: wanted.work_tree.clone(),
        }
    }

    pub(super) fn budget(&self) -> &Arc<RunBudget> {
        self.client.budget()
    }

    pub(super) fn store(&self) -> Arc<Store> {
        Arc::clone(&self.store)
    }

    pub async fn fetch(&self, wanted: &Wanted) -> Result<FetchedModule, Error> {
        let fetched = match &wanted.source {
            ModuleSource::Registry(module) => Box::pin(self.of_registry(module, wanted)).await,
            ModuleSource::Remote(module) => Box::pin(self.of_address(module, wanted)).await,
            ModuleSource::Local(path) => {
                Err(Error::new(ErrorKind::Configuration, format!("{path:?} is a path, and is not fetched")))
            }
        };
        fetched.map_err(|error| match error.kind {
            ErrorKind::Unavailable => error.hint(WITHOUT_NETWORK),
            ErrorKind::Offline => error.hint("run once without --offline").hint(WITHOUT_NETWORK),
            _ => error,
        })
    }

    async fn of_registry(&self, module: &RegistryModule, wanted: &Wanted) -> Result<FetchedModule, Error> {
        let package = RegistryModule { subdir: String::new(), ..module.clone() };
        let constraints = wanted.constraints.as_ref();
        let (version, list) = match wanted.pin.as_ref().and_then(|pin| Some((pin.version.clone()?, &pin.content))) {
            // What is locked stays. But where it was moved from another registry, this one was never queried.
            Some((version, content)) if content.location.is_some() || self.options.offline => (version, None),
            Some((version, _)) => (version, Some(self.list(&package, wanted, true).await?)),
            None => {
                let list = self.list_with_selectable(&package, wanted).await?;
                let newest = list.selectable(constraints).newest().cloned();
                (newest.ok_or_else(|| no_version(&package, constraints, &list))?, Some(list))
            }
        };
        let ambiguity = list.and_then(|list| ambiguous_version(&version, &list, constraints));
        let shown = format!("{package} {}", version.canonical());
        let key = format!("release {} {shown}{}", wanted.dialect.program(), wanted.kind());
        let job = self.release(&package, &version, wanted, &key);
        let placed = self.releases.answer(wanted.shared(&key), Box::pin(job)).await?;
        let subdir = join_subdirs(&placed.subdir, &module.subdir).map_err(|error| unreachable(&shown, &error))?;
        let fetched = wanted.fetched(&placed, &subdir, shown)?;
        // Only locks need to know.
        let ambiguity = ambiguity.filter(|_| wanted.whole).or(fetched.ambiguity.clone());
        Ok(FetchedModule { version: Some(version), ambiguity, ..fetched })
    }

    /// The list of versions from which a call selects.
    async fn list_with_selectable(&self, package: &RegistryModule, wanted: &Wanted) -> Result<VersionList, Error> {
        // What is locked is selected from the list of today.
        let list = self.list(package, wanted, wanted.fresh || wanted.whole).await?;
        let is_known = self.options.offline || list.selectable(wanted.constraints.as_ref()).newest().is_some();
        // What was kept for a while may lack the newest.
        if is_known { Ok(list) } else { self.list(package, wanted, true).await }
    }

    async fn list(&self, package: &RegistryModule, wanted: &Wanted, fresh: bool) -> Result<VersionList, Error> {
        Ok(VersionList::new(&self.listed(package, wanted, fresh).await?, wanted.dialect))
    }

    async fn of_address(&self, module: &RemoteModule, wanted: &Wanted) -> Result<FetchedModule, Error> {
        let shown = module.to_string();
        let address = address_of(module, wanted)?;
        let placed = self.package(&address, wanted, false).await?;
        let subdir = join_subdirs(&placed.subdir, &address.subdir).map_err(|error| unreachable(&shown, &error))?;
        wanted.fetched(&placed, &subdir, address.package())
    }

    /// The versions that a registry lists.
    pub(super) async fn listed(
        &self,
        module: &RegistryModule,
        wanted: &Wanted,
        fresh: bool,
    ) -> Result<Arc<Vec<String>>, Error> {
        let key = format!("versions {module}");
        let kept = match (self.options.offline, fresh) {
            (true, _) => self.store.lasting(&key),
            (false, false) => self.store.fresh(&key),
            (false, true) => None,
        };
        if let Some(listed) = kept.and_then(|text| serde_json::from_str(&text).ok()) {
            return Ok(Arc::new(listed));
        }
        let job = async {
            let listed = self.registry(module, wanted, &module.to_string())?.versions(module).await?;
            self.store.learn(&key, &serde_json::Value::from(listed.clone()).to_string());
            Ok(Arc::new(listed))
        };
        self.versions.answer(wanted.shared(&key), job).await
    }

    /// A release of a module, which stays what it was when it was first fetched.
    async fn release(
        &self,
        module: &RegistryModule,
        version: &ModuleVersion,
        wanted: &Wanted,
        key: &str,
    ) -> Result<Arc<Placed>, Error> {
        // What is locked may have been fetched before it was.
        let before = format!("release {} {module} {} examined", wanted.dialect.program(), version.canonical());
        let keys = [Some(key), wanted.pin.as_ref().map(|_| before.as_str())];
        if let Some(placed) = keys.into_iter().flatten().find_map(|key| self.release_kept(key, wanted)) {
            return Ok(Arc::new(placed));
        }
        let registry = self.registry(module, wanted, &format!("{module} {}", version.canonical()))?;
        let location = registry.location(module, version, wanted.dialect).await?;
        let placed = self.package(&location, wanted, true).await?;
        let placed = Placed {
            subdir: join_subdirs(&placed.subdir, &location.subdir).map_err(|error| unreachable(key, &error))?,
            hosts: [&[module.host.as_ascii().to_owned()], &placed.hosts[..]].concat(),
            location: Some(location.location()),
            ..(*placed).clone()
        };
        let release = KeptRelease {
            package: placed.package.id.clone(),
            subdir: placed.subdir.clone(),
            hosts: placed.hosts.clone(),
            location: placed.location.clone(),
        };
        if placed.ambiguity.is_none() {
            self.store.learn(key, &serde_json::to_string(&release).unwrap_or_default());
        }
        Ok(Arc::new(placed))
    }

    /// A release that was fetched before, if it is what is locked.
    fn release_kept(&self, key: &str, wanted: &Wanted) -> Option<Placed> {
        let KeptRelease { package, subdir, hosts, location } = serde_json::from_str(&self.store.lasting(key)?).ok()?;
        let package = self.store.package_of(&package).filter(|package| wanted.is_content(package))?;
        Some(Placed { package, subdir, hosts, location, ambiguity: None })
    }

    /// The package at an address; `lasting` if what was fetched from there before is good for ever.
    async fn package(&self, address: &RemoteAddress, wanted: &Wanted, lasting: bool) -> Result<Arc<Placed>, Error> {
        let Followed { mut address, kind, subdir, hosts } = self.followed(address.clone(), wanted).await?;
        if let (FetchMethod::Git, Some(commit)) = (address.method, wanted.commit()) {
            address = address.at_commit(commit);
        }
        let key = format!("package {:?} {}{}", address.method, address.url, wanted.kind());
        let request = PackageRequest { address: &address, kind, wanted, lasting };
        let stored = self.packages.answer(wanted.shared(&key), Box::pin(self.stored(request, &key))).await?;
        Ok(Arc::new(Placed { subdir, hosts, ..(*stored).clone() }))
    }

    /// The address that an address without extension leads to in the end; other addresses are that themselves.
    pub(super) async fn followed(&self, mut address: RemoteAddress, wanted: &Wanted) -> Result<Followed, Error> {
        let (mut hosts, mut subdir) = (Vec::new(), String::new());
        for _ in 0..HOPS {
            hosts.extend(address.host().into_iter().chain(address.host_of_checksums()));
            let kind = match address.method {
                FetchMethod::Oci if wanted.dialect == Dialect::Terraform => {
                    return Err(unfetchable(&AddressError::Method("oci".to_owned()), wanted.dialect));
                }
                FetchMethod::Git | FetchMethod::Oci => None,
                FetchMethod::Archive => Some(archive::kind_of(&address)?),
            };
            if kind != Some(None) {
                return Ok(Followed { address, kind: kind.flatten(), subdir, hosts });
            }
            self.online(&address.package())?;
            address.subdir.clear();
            address = archive::forwarded(&self.web(wanted), &address).await?;
            subdir = std::mem::take(&mut address.subdir);
        }
        let message = format!("too many redirects from {}", address.package());
        Err(Error::new(ErrorKind::Package, message))
    }

    async fn stored(&self, request: PackageRequest<'_>, key: &str) -> Result<Arc<Placed>, Error> {
        let PackageRequest { address, kind, wanted, lasting } = request;
        self.budget().spend(Cost::Packages, 1)?;
        self.budget().spend(Cost::Unpacked, 0)?;
        // One run at a time, so the others find what it fetched.
        let _alone = self.store.alone(key).await;
        let lasting = lasting || self.options.offline || wanted.pin.is_some() || address.is_fixed();
        let known = if lasting { self.store.lasting(key) } else { self.store.fresh(key).filter(|_| !wanted.fresh) };
        let pinned = || {
            // Whatever it was fetched for: what is locked is known by its content.
            let ModuleContent { hash, commit, .. } = &wanted.pin.as_ref()?.content;
            let commit = commit.as_deref().unwrap_or_default();
            self.store.lasting(&format!("content {} {hash} {commit}", address.plain_url()))
        };
        let found = known.or_else(pinned).and_then(|known| self.store.package_of(&known));
        let (package, ambiguity) = if let Some(package) = found.filter(|package| wanted.is_content(package)) {
            (package, None)
        } else {
            self.online(&address.package())?;
            match kind {
                Some(kind) => (self.archive(address, kind, wanted).await?, None),
                None if address.method == FetchMethod::Oci => (self.artifact(address, wanted).await?, None),
                None => self.git(address, wanted.commit(), wanted).await?,
            }
        };
        wanted.held(&package)?;
        if ambiguity.is_none() {
            self.store.learn(key, &package.id);
        }
        if let Some(hash) = &package.record.hash {
            let commit = package.record.commit.as_deref().unwrap_or_default();
            self.store.learn(&format!("content {} {hash} {commit}", address.plain_url()), &package.id);
        }
        Ok(Arc::new(Placed { package, subdir: String::new(), hosts: Vec::new(), location: None, ambiguity }))
    }

    pub(super) fn online(&self, what: &str) -> Result<(), Error> {
        if !self.options.offline {
            return Ok(());
        }
        let message = format!("the module {what} was not fetched before, and --offline does not allow fetching it");
        Err(Error::new(ErrorKind::Offline, message))
    }
}

/// What helps where a module cannot be reached, now or ever.
const WITHOUT_NETWORK: &str =
    "where there is no network, install the modules (`terraform get` or `tofu get`) and pass --modules installed";

fn no_version(module: &RegistryModule, constraints: Option<&ModuleConstraints>, list: &VersionList) -> Error {
    let wanted = constraints.map(|constraints| format!(" that satisfies {:?}", constraints.as_str()));
    let message = format!("module {module} has no version{}", wanted.unwrap_or_default());
    let error = Error::new(ErrorKind::NotFound, message);
    match list.selectable(None).newest() {
        Some(newest) => error.hint(format!("the newest version is {}", newest.canonical())),
        None => error,
    }
}

fn unreachable(shown: &str, error: &AddressError) -> Error {
    Error::new(ErrorKind::Package, format!("the module of {shown} cannot be fetched: {error}"))
}

pub(super) fn address_of(module: &RemoteModule, wanted: &Wanted) -> Result<RemoteAddress, Error> {
    let address = RemoteAddress::of_call(module, wanted.work_tree.as_deref());
    address.map_err(|error| unfetchable(&error, wanted.dialect))
}

/// An address of a call that we do not follow, though a tool may.
fn unfetchable(error: &AddressError, dialect: Dialect) -> Error {
    let message = format!("the module cannot be fetched: {error}");
    match error {
        AddressError::Method(_) | AddressError::File(_) | AddressError::Unencrypted(_) => {
            Error::new(ErrorKind::Configuration, message)
                .hint(step!("install it with `{} get`; what is installed is read", dialect.program()))
        }
        _ => Error::new(ErrorKind::Configuration, message),
    }
}
