//! What other places say about new releases: each place is asked once about each of them, in little time.
//!
//! An answer that cannot be had or read is no answer, never a verdict: `core/witness` compares, `core/verify` judges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::equipment::each;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::hash::{Sha256Digest, Sums};
use crate::net::{DocumentKind, Shared};
use crate::parallel::locked;
use crate::platform::Platform;
use crate::provenance::Repository;
use crate::query::{Event, Events};
use crate::release::{Release, ReleaseKey};
use crate::source::provenance::AttestationService;
use crate::source::{Miss, Registry};
use crate::witness::{Inquiry, Opinion, Testimony, WitnessPlace};
use crate::words::counted;

/// How long one place may take for one release.
const PATIENCE: Duration = Duration::from_secs(5);

/// Places that did not answer in time; they are not asked again in a run.
pub type SilentPlaces = Arc<Mutex<BTreeSet<WitnessPlace>>>;

/// Who can be asked.
#[derive(Debug)]
pub struct WitnessAccess {
    /// Asks any registry.
    pub registry: Registry,
    pub github: AttestationService,
    pub silent: SilentPlaces,
}

/// The answers of a run.
#[derive(Debug)]
pub(super) struct Inquiries {
    /// `None` if no request may be sent.
    access: Option<Arc<WitnessAccess>>,
    cache: Arc<Cache>,
    events: Events,
    answers: Shared<(ReleaseKey, WitnessPlace), Testimony>,
}

/// What was heard of a release before it was known itself.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// One for which its source has a package; `None` if no place can be asked about it.
    platform: Option<Platform>,
    testimonies: Vec<Testimony>,
}

impl Inquiries {
    pub(super) fn new(access: Option<Arc<WitnessAccess>>, cache: Arc<Cache>, events: Events) -> Self {
        Self { access, cache, events, answers: Shared::new() }
    }

    /// What some places say of a release, in this run or in an earlier one; `None` if no request may be sent.
    pub(super) async fn hear(
        self: &Arc<Self>,
        key: &ReleaseKey,
        places: &[WitnessPlace],
        platform: Platform,
    ) -> Option<Heard> {
        let access = self.access.as_ref()?;
        let shared = Arc::new((Arc::clone(access), key.clone(), platform.clone()));
        let items = places.iter().map(|place| (place.clone(), Arc::clone(&shared)));
        let testimonies = each(self, items, |inquiries, place, shared| async move {
            let (access, key, platform) = &*shared;
            match inquiries.cache.agreement(&place, key) {
                Some(files) => Testimony { place, files: Ok(files) },
                None => inquiries.ask(access, key, &place, platform).await,
            }
        });
        Some(Heard { platform: Some(platform), testimonies: testimonies.await.into_values().collect() })
    }

    /// The same once the archives are known: what agrees is kept, and what an earlier run kept of other archives is asked anew.
    pub(super) async fn settled(&self, heard: Heard, release: &Release) -> Arc<[Testimony]> {
        let Heard { platform, mut testimonies } = heard;
        let key = (release.address.clone(), release.version.clone());
        let archives = release.named_archives();
        for testimony in &mut testimonies {
            let (Ok(files), Some(access), Some(platform)) = (&testimony.files, &self.access, &platform) else {
                continue;
            };
            let agrees = |testimony: &Testimony| matches!(testimony.opinion(&archives), Opinion::Agrees(_));
            let is_kept = self.cache.agreement(&testimony.place, &key).as_ref() == Some(files);
            if is_kept && !agrees(testimony) {
                *testimony = self.ask(access, &key, &testimony.place, platform).await;
            }
            if let Ok(files) = &testimony.files
                && agrees(testimony)
                && !is_kept
            {
                self.cache.put_agreement(&testimony.place, &key, files);
            }
        }
        testimonies.into()
    }

    /// Asks a place, once in a run.
    async fn ask(
        &self,
        access: &WitnessAccess,
        key: &ReleaseKey,
        place: &WitnessPlace,
        platform: &Platform,
    ) -> Testimony {
        let request = async {
            let files = access.files_in_time(key, place, platform).await;
            let (addr, version) = key;
            let text = match &files {
                Ok(files) => format!("{place} has {} of {addr} {version}", counted(files.len(), "file")),
                Err(error) => format!("{place} says nothing of {addr} {version}: {}", error.message),
            };
            self.events.emit(Event::Detail { text });
            Testimony { place: place.clone(), files }
        };
        self.answers.answer((key.clone(), place.clone()), Box::pin(request)).await
    }
}

impl WitnessAccess {
    /// The same within the time that a place has. One that takes longer is not asked again.
    async fn files_in_time(
        &self,
        key: &ReleaseKey,
        place: &WitnessPlace,
        platform: &Platform,
    ) -> Result<BTreeMap<String, Sha256Digest>, Error> {
        if locked(&self.silent).contains(place) {
            return Err(Error::new(ErrorKind::Unavailable, "it did not answer in time before"));
        }
        tokio::time::timeout(PATIENCE, self.files(key, place, platform)).await.unwrap_or_else(|_| {
            locked(&self.silent).insert(place.clone());
            let message = format!("it did not answer within {} s", PATIENCE.as_secs());
            Err(Error::new(ErrorKind::Unavailable, message))
        })
    }

    /// The files of a release that a place knows.
    async fn files(
        &self,
        (addr, version): &ReleaseKey,
        place: &WitnessPlace,
        platform: &Platform,
    ) -> Result<BTreeMap<String, Sha256Digest>, Error> {
        match place.inquiry(addr) {
            Some(Inquiry::GitHub { owner, name }) => {
                let repository = Repository::new(&owner, &name)
                    .map_err(|problem| Error::new(ErrorKind::Unavailable, problem.to_string()))?;
                self.github.uploaded(&repository, &format!("v{version}")).await
            }
            Some(Inquiry::Registry(addr)) => {
                let Some(package) = Miss::found(self.registry.package(&addr, version, platform).await)? else {
                    return Ok(BTreeMap::new());
                };
                let sums = &package.signed.sums;
                let document =
                    Miss::found(self.registry.signed_document(&addr, version, sums, DocumentKind::Sums).await)?;
                let document = document.unwrap_or_default();
                let mut files = BTreeMap::new();
                for (name, digest) in Sums::decode(&document).lines() {
                    if files.insert(name.to_owned(), digest).is_some_and(|other| other != digest) {
                        let message = format!("its list of checksums has two digests of {name}");
                        return Err(Error::new(ErrorKind::Unavailable, message));
                    }
                }
                Ok(files)
            }
            None => Err(Error::new(ErrorKind::NotFound, "it cannot have the same archives")),
        }
    }
}
