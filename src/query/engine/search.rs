//! The search for the packages that recorded hashes belong to, the same for every source.
//!
//! As many packages are looked at as there are hashes left to explain, the likeliest first; or one, where one suffices to show
//! that the release is the recorded one. Each further batch is at least as large as all before it, so a release with many
//! slow packages costs the time of a few.

use std::collections::{BTreeMap, BTreeSet};

use super::equipment::LOOKED_AT;
use crate::error::{Error, ErrorKind};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::LockEntry;
use crate::parallel::spawn_all;
use crate::platform::Platform;
use crate::query::question::{Goal, PackageFacts, Query, Refusal, Selected};
use crate::release::{Release, hashes};
use crate::trust::Evidence;

#[derive(Debug, Default)]
pub(super) struct Searched {
    pub(super) passed_over: usize,
    /// What went wrong first, where packages are looked at to be recorded.
    pub(super) problem: Option<Refusal>,
}

/// Looks at packages for these platforms, the likeliest last, until the query has what it wants.
pub(super) async fn search<F>(
    known: &mut Selected,
    query: &Query,
    mut left: Vec<Platform>,
    look: impl Fn(Platform) -> F,
) -> Searched
where
    F: Future<Output = Result<PackageFacts, Refusal>> + Send + 'static,
{
    let (mut searched, mut done) = (Searched::default(), 0);
    loop {
        let batch = next_batch(&mut left, &known.release, query, done);
        if batch.is_empty() {
            return searched;
        }
        done += batch.len();
        let tasks: Vec<F> = batch.iter().map(|platform| look(platform.clone())).collect();
        let looked: BTreeMap<Platform, _> = batch.into_iter().zip(spawn_all(tasks).await).collect();
        for (platform, looked) in looked {
            searched.take_in(known, query, platform, looked);
        }
    }
}

/// The next packages to look at.
///
/// Those of which nothing is known come first; then those of which there is only a report, which must not refute a
/// recorded hash as long as the archive itself can be downloaded.
fn next_batch(left: &mut Vec<Platform>, release: &Release, query: &Query, done: usize) -> Vec<Platform> {
    let all = query.explain().is_some_and(|explain| explain.depth.download && explain.depth.all_platforms);
    let computed: BTreeSet<&Platform> = release.computed().filter_map(|(_, platform)| platform).collect();
    let attested: BTreeSet<&Platform> = release.h1.values().flat_map(|it| it.platforms.keys()).collect();
    left.retain(|platform| all || !computed.contains(platform));
    left.sort_by_key(|platform| !attested.contains(platform));
    let count = match wanted(release, query) {
        _ if all => left.len(),
        0 => 0,
        wanted => wanted.max(done).min(left.len()),
    };
    left.split_off(left.len() - count)
}

/// How many packages are worth a look at once.
fn wanted(release: &Release, query: &Query) -> usize {
    match &query.goal {
        Goal::Hashes(explain) if explain.depth.download => open(release, query).count(),
        Goal::Packages => {
            let is_open = to_show(release, query).is_some_and(|entry| !is_shown(release, entry));
            usize::from(is_open).max(unexplained(release, query))
        }
        _ => 0,
    }
}

/// How many recorded `h1:`, if unattested ones may go, no package explains that was looked at. A mirror does not show which
/// packages there are.
fn unexplained(release: &Release, query: &Query) -> usize {
    let is_wanted = query.drop_unattested && !hashes::is_mirror_only(release);
    let entry = query.recorded_as(&release.version).filter(|_| is_wanted);
    entry.map_or(0, |entry| entry.hashes.of(HashScheme::H1).filter(|hash| !release.owns(hash)).count())
}

pub(super) fn open<'a>(release: &'a Release, query: &'a Query) -> impl Iterator<Item = &'a PackageHash> {
    let unsigned = hashes::is_mirror_only(release);
    let recorded =
        query.explain().into_iter().flat_map(move |it| it.h1.iter().chain(it.zh.iter().filter(move |_| unsigned)));
    recorded.filter(|hash| !release.owns(hash))
}

/// The entry of which one hash has to be reproduced before anything is added to it: a signed list shows more than packages,
/// unless only `h1:` is recorded.
fn to_show<'q>(release: &Release, query: &'q Query) -> Option<&'q LockEntry> {
    let entry = query.recorded_as(&release.version)?;
    let has = |scheme| entry.hashes.of(scheme).next().is_some();
    let needed = if hashes::is_mirror_only(release) {
        has(HashScheme::H1) || has(HashScheme::Zh)
    } else {
        has(HashScheme::H1) && !has(HashScheme::Zh)
    };
    needed.then_some(entry)
}

fn is_shown(release: &Release, entry: &LockEntry) -> bool {
    let is_computed = |hash| release.h1.get(hash).is_some_and(|it| it.evidence == Evidence::Computed);
    entry.hashes.iter().any(|hash| is_computed(hash) || hash.scheme() == HashScheme::Zh && release.owns(hash))
}

impl Searched {
    fn take_in(
        &mut self,
        known: &mut Selected,
        query: &Query,
        platform: Platform,
        looked: Result<PackageFacts, Refusal>,
    ) {
        match looked {
            Ok(facts) => {
                if let Some(h1) = &facts.h1 {
                    // What was only reported of a package counts no more once it was looked at.
                    known.release.retract(|hash, of| *of == platform && hash != h1);
                }
                known.compute([(platform, facts)].into());
            }
            Err(refusal) if query.goal == Goal::Packages => drop(self.problem.get_or_insert(refusal)),
            Err(Refusal::Finding(finding, _)) => known.release.findings.push(*finding),
            Err(Refusal::Error(error)) => drop(known.release.inconclusive.get_or_insert(error)),
        }
    }

    /// Why nothing may be recorded: a package that is not of the release, or one that could not be downloaded while no other one
    /// shows which release is recorded.
    pub(super) fn refused(&self, release: &Release, query: &Query) -> Option<Refusal> {
        match self.problem.clone()? {
            Refusal::Error(error) => {
                let is_open = to_show(release, query).is_some_and(|entry| !is_shown(release, entry));
                (is_open && error.kind != ErrorKind::NotFound).then(|| error.into())
            }
            bad @ Refusal::Finding(..) => Some(bad),
        }
    }

    /// What is said where a release has more platforms than are looked at, and that matters.
    pub(super) fn too_many(&self, release: &Release, query: &Query) -> Option<Error> {
        let depth = query.explain()?.depth;
        let matters = depth.all_platforms || open(release, query).next().is_some();
        let message = format!(
            "{} {} has {} platforms, more than any real release; {LOOKED_AT} of them were looked at",
            release.address,
            release.version,
            self.passed_over + LOOKED_AT
        );
        let is_cut = self.passed_over > 0 && depth.download && !release.complete;
        (is_cut && matters).then(|| Error::new(ErrorKind::Unavailable, message))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::addr::ProviderAddr;
    use crate::dialect::Dialect;
    use crate::finding::{Finding, Rule};
    use crate::hash::Sha256Digest;
    use crate::query::question::{Depth, Explain};
    use crate::query::select::Rules;
    use crate::release::{Attestation, ListedLine};
    use crate::trust::pins::Signer;
    use crate::version::{Constraints, Version};

    /// The platforms of the release; the archive and the contents of each have its number.
    const PLATFORMS: [(&str, u8); 3] = [("linux_amd64", 1), ("darwin_arm64", 2), ("windows_amd64", 3)];

    fn digest(byte: u8) -> Sha256Digest {
        Sha256Digest::from_bytes([byte; 32])
    }

    fn zh(byte: u8) -> PackageHash {
        PackageHash::zh(digest(byte))
    }

    fn h1(byte: u8) -> PackageHash {
        PackageHash::h1(digest(byte))
    }

    fn version() -> Version {
        Version::new(1, 0, 0)
    }

    /// A release that a key signed.
    fn signed() -> Selected {
        let line = |(platform, number): (&str, u8)| (digest(number), ListedLine::archive([platform.parse().unwrap()]));
        let unsigned = unsigned().release;
        Selected::new(Release {
            signer: Some(Signer::Key("A".repeat(40).parse().unwrap())),
            lines: PLATFORMS.into_iter().map(line).collect(),
            ..unsigned
        })
    }

    /// The same from a mirror that has no copy of the signature.
    fn unsigned() -> Selected {
        Selected::new(Release::new(ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap(), version()))
    }

    fn verify(hashes: &[PackageHash], depth: Depth) -> Query {
        let of = |scheme| hashes.iter().filter(|hash| hash.scheme() == scheme).cloned().collect();
        let explain = Explain { h1: of(HashScheme::H1), zh: of(HashScheme::Zh), depth, ..Explain::default() };
        Query::locked(version(), &[], Rules::default(), explain)
    }

    const DOWNLOAD: Depth = Depth { download: true, ..Depth::DOCUMENTS };

    fn lock(recorded: &[PackageHash]) -> Query {
        let (constraints, hashes) = (Constraints::default(), recorded.iter().cloned().collect());
        let recorded = Some(LockEntry { version: version(), constraints, hashes });
        Query { recorded, goal: Goal::Packages, ..verify(&[], DOWNLOAD) }
    }

    fn package(platform: &Platform) -> PackageFacts {
        let number = PLATFORMS.iter().find(|(name, _)| *name == platform.as_str()).unwrap().1;
        let unread = PackageFacts::unread(Some(digest(number)), String::new());
        PackageFacts { h1: Some(h1(number)), computed: true, ..unread }
    }

    /// The platforms that were looked at, batch by batch sorted, and how the search ended; those of `failing` cannot be had.
    async fn looked(known: &mut Selected, query: &Query, failing: &[(&str, Refusal)]) -> (Vec<String>, Searched) {
        let left = PLATFORMS.iter().rev().map(|(platform, _)| platform.parse().unwrap()).collect();
        let queried = Mutex::new(Vec::new());
        let look = |platform: Platform| {
            queried.lock().unwrap().push(platform.to_string());
            let failure = failing.iter().find(|(name, _)| *name == platform.as_str());
            std::future::ready(failure.map_or_else(|| Ok(package(&platform)), |(_, why)| Err(why.clone())))
        };
        let searched = search(known, query, left, look).await;
        (queried.into_inner().unwrap(), searched)
    }

    async fn queried(mut known: Selected, query: &Query) -> Vec<String> {
        looked(&mut known, query, &[]).await.0
    }

    #[tokio::test]
    async fn as_many_packages_as_there_are_hashes_to_explain() {
        for (recorded, wanted) in [
            (&[][..], &[][..]),
            (&[h1(1)], &["linux_amd64"]),
            (&[h1(2)], &["linux_amd64", "darwin_arm64"]),
            // A batch is taken from the end of what is left.
            (&[h1(1), h1(2)], &["darwin_arm64", "linux_amd64"]),
            (&[h1(9)], &["linux_amd64", "darwin_arm64", "windows_amd64"]),
            (&[zh(9)], &[]),
        ] {
            assert_eq!(queried(signed(), &verify(recorded, DOWNLOAD)).await, wanted, "{recorded:?}");
        }
        assert_eq!(queried(signed(), &verify(&[h1(9)], Depth::DOCUMENTS)).await, [""; 0]);
        let all = Depth { all_platforms: true, ..DOWNLOAD };
        assert_eq!(queried(signed(), &verify(&[], all)).await.len(), 3);
    }

    #[tokio::test]
    async fn slow_packages_do_not_add_up() {
        let left = (0..64).map(|number| format!("os{number}_amd64").parse().unwrap()).collect();
        let events = Arc::new(Mutex::new(Vec::new()));
        let look = |_| {
            events.lock().unwrap().push("asked");
            let events = Arc::clone(&events);
            async move {
                events.lock().unwrap().push("answered");
                Ok(PackageFacts { h1: Some(h1(1)), computed: true, ..PackageFacts::unread(None, String::new()) })
            }
        };
        let query = verify(&[h1(9)], DOWNLOAD);
        search(&mut signed(), &query, left, look).await;
        let events = events.lock().unwrap();
        let batches = events.windows(2).filter(|pair| *pair == ["answered", "asked"]).count() + 1;
        assert_eq!((events.len(), batches), (128, 7));
    }

    #[tokio::test]
    async fn a_mirror_has_to_show_recorded_archives_too() {
        assert_eq!(queried(unsigned(), &verify(&[zh(2)], DOWNLOAD)).await, ["linux_amd64", "darwin_arm64"]);
    }

    #[tokio::test]
    async fn what_is_only_reported_is_looked_at_last_and_corrected() {
        let mut known = signed();
        let reported = Attestation::new(Some("linux_amd64".parse().unwrap()), Evidence::ReportedByOrigin);
        known.release.attest(h1(7), reported);
        let (queried, _) = looked(&mut known, &verify(&[h1(1)], DOWNLOAD), &[]).await;
        assert_eq!(queried, ["darwin_arm64", "windows_amd64", "linux_amd64"]);
        assert!(known.release.owns(&h1(1)) && !known.release.owns(&h1(7)));
    }

    #[tokio::test]
    async fn one_recorded_package_shows_which_release_is_recorded() {
        for (known, recorded, wanted) in [
            (signed(), &[][..], &[][..]),
            (signed(), &[zh(1), h1(9)], &[]),
            (signed(), &[h1(2)], &["linux_amd64", "darwin_arm64"]),
            (unsigned(), &[zh(1), zh(2)], &["linux_amd64"]),
            (unsigned(), &[zh(9)], &["linux_amd64", "darwin_arm64", "windows_amd64"]),
        ] {
            assert_eq!(queried(known, &lock(recorded)).await, wanted, "{recorded:?}");
        }
        let other_version = Query { recorded: None, ..lock(&[]) };
        assert_eq!(queried(signed(), &other_version).await, [""; 0]);
    }

    #[tokio::test]
    async fn what_cannot_be_had_counts_unless_another_package_shows_the_release() {
        let error = |kind| Refusal::Error(Error::new(kind, "x"));
        let bad = Refusal::from(Finding::new(Rule::WrongChecksum, "x"));
        for (recorded, failing, is_refused) in [
            (h1(2), error(ErrorKind::Unavailable), false),
            (h1(9), error(ErrorKind::Unavailable), true),
            (h1(9), error(ErrorKind::NotFound), false),
            (h1(2), bad.clone(), true),
        ] {
            let (mut known, query) = (signed(), lock(&[recorded]));
            let (_, searched) = looked(&mut known, &query, &[("linux_amd64", failing.clone())]).await;
            assert_eq!(searched.refused(&known.release, &query).is_some(), is_refused, "{failing:?}");
        }
        // A verification says what is wrong next to what it found out.
        let mut known = signed();
        let failing = [("linux_amd64", bad), ("windows_amd64", error(ErrorKind::Unavailable))];
        looked(&mut known, &verify(&[h1(2), h1(9)], DOWNLOAD), &failing).await;
        assert!(known.release.owns(&h1(2)) && known.release.inconclusive.is_some());
        assert_eq!(known.release.findings[0].rule, Rule::WrongChecksum);
    }

    #[test]
    fn more_platforms_than_are_looked_at_leave_it_open() {
        let searched = Searched { passed_over: 1, problem: None };
        let mut release = signed().release;
        assert!(searched.too_many(&release, &verify(&[h1(9)], DOWNLOAD)).unwrap().message.contains("65 platforms"));
        assert_eq!(searched.too_many(&release, &verify(&[], DOWNLOAD)), None);
        assert_eq!(searched.too_many(&release, &lock(&[h1(9)])), None);
        release.complete = true;
        assert_eq!(searched.too_many(&release, &verify(&[h1(9)], DOWNLOAD)), None);
    }
}
