//! What attests where a release was built: from the cache, if that suffices, else from the service.
//!
//! Each bundle is verified whenever it is read. That there is none is never kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::net::Shared;
use crate::provenance::{self, Attested, Judged, Question, Repository, TrustedRoot};
use crate::query::select::ProvenanceRule;
use crate::query::{Event, Events, cached};
use crate::release::{Release, ReleaseKey};
use crate::source::provenance::{AttestationService, MOST_REQUESTS};

/// The attestations of a run, each release asked about once.
#[derive(Debug)]
pub(super) struct Attestations {
    /// `None` if no request may be sent.
    service: Option<AttestationService>,
    cache: Arc<Cache>,
    events: Events,
    answers: Shared<(ReleaseKey, ProvenanceRule), Arc<Attested>>,
}

impl Attestations {
    pub(super) fn new(service: Option<AttestationService>, cache: Arc<Cache>, events: Events) -> Self {
        Self { service, cache, events, answers: Shared::new() }
    }

    /// Adds to a release what is known of where it was built, if the rule asks for it.
    pub(super) async fn attest(&self, release: &mut Release, rule: &ProvenanceRule) {
        let repository = match rule {
            ProvenanceRule::NotAsked => return,
            ProvenanceRule::Pinned(pin) => Some(pin.repository.clone()),
            ProvenanceRule::Learn => release.suggested.clone(),
        };
        let key = ((release.address.clone(), release.version.clone()), rule.clone());
        let attested = self
            .answers
            .answer(key, async {
                let attested = self.ask(release, rule, repository).await;
                self.show_others(release, rule, &attested);
                Arc::new(attested)
            })
            .await;
        release.attested = Some(attested);
    }

    /// Reports the attestations that an accepted release has besides.
    fn show_others(&self, release: &Release, rule: &ProvenanceRule, attested: &Attested) {
        let ProvenanceRule::Pinned(pin) = rule else { return };
        let (addr, version, archives) = (&release.address, &release.version, &release.named_archives());
        for why in provenance::others(&Question { addr, version, archives, pin }, attested) {
            let text = format!("ignored another attestation of {addr} {version}: {why}");
            self.events.emit(Event::Detail { text });
        }
    }

    async fn ask(&self, release: &Release, rule: &ProvenanceRule, repository: Option<Repository>) -> Attested {
        let archives = release.named_archives();
        let kept = cached::attested(&self.cache, release);
        if suffices(release, rule, &archives, &kept) {
            return kept;
        }
        let (mut attested, mut left, mut found) = (Attested::default(), MOST_REQUESTS, Vec::new());
        let Some(repository) = repository else { return attested };
        let Some(service) = &self.service else {
            let message = "only GitHub knows where a release was built, and --offline forbids requests";
            let error = Error::new(ErrorKind::Offline, message).hint("run the command once without --offline");
            return Attested { unanswered: Some(error), ..kept };
        };
        loop {
            let next = attested.uncovered(&archives).find(|digest| !attested.asked.contains(*digest)).copied();
            let Some(digest) = next else { break };
            let answer = match service.bundles(&repository, &digest, &mut left).await {
                Ok(answer) => answer,
                Err(error) => {
                    attested.unanswered = Some(about(error, release));
                    break;
                }
            };
            attested.asked.insert(digest);
            for bundle in &answer.bundles {
                attested.take_in(provenance::verify(TrustedRoot::in_use(), bundle, &digest), &digest);
            }
            found.push((digest, answer.bundles));
            if answer.more && !suffices(release, rule, &archives, &attested) {
                let message = format!("GitHub has more than 8 attestations of one archive of {}", release.version);
                attested.unanswered = Some(about(Error::new(ErrorKind::Unavailable, message), release));
                break;
            }
            // Nothing mends an archive that nothing attests.
            if attested.uncovered(&archives).any(|it| *it == digest) {
                break;
            }
        }
        if suffices(release, rule, &archives, &attested) {
            for (digest, bundles) in &found {
                self.cache.put_bundles(digest, bundles);
            }
        }
        attested
    }
}

/// True if nothing more is to be asked.
fn suffices(
    release: &Release,
    rule: &ProvenanceRule,
    archives: &BTreeSet<(String, Sha256Digest)>,
    attested: &Attested,
) -> bool {
    match rule {
        ProvenanceRule::NotAsked => true,
        ProvenanceRule::Pinned(pin) => {
            let (addr, version) = (&release.address, &release.version);
            let Judged { build, .. } = provenance::judge(&Question { addr, version, archives, pin }, attested);
            build.is_some()
        }
        ProvenanceRule::Learn => !attested.builds(&release.version, archives).is_empty(),
    }
}

fn about(error: Error, release: &Release) -> Error {
    let message = format!("where {} {} was built is unknown: {}", release.address, release.version, error.message);
    Error { message, ..error }.about(release.address.clone())
}
