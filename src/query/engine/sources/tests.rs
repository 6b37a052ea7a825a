use std::path::Path;
use std::time::SystemTime;

use super::*;
use crate::addr::AddrPattern;
use crate::dialect::Dialect;
use crate::disk::cache::{Cache, CacheOptions};
use crate::query::question::{Depth, Explain};
use crate::query::select::Criteria;
use crate::query::select::Rules;
use crate::source::{DirectoryMirror, Mirror, Source};

fn addr() -> ProviderAddr {
    ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap()
}

/// A mirror with packages that are no archives: whoever opens one finds that out.
fn mirror(top: &Path, name: &str, packages: &[&str]) -> Source {
    let directory = top.join(name).join("registry.terraform.io/acme/widget");
    std::fs::create_dir_all(&directory).unwrap();
    for package in packages {
        let path = directory.join(format!("terraform-provider-widget_{package}.zip"));
        std::io::Write::write_all(
            &mut tempfile::NamedTempFile::new_in(&directory).unwrap().persist(path).unwrap(),
            b"none",
        )
        .unwrap();
    }
    Source::Mirror(Mirror::Directory(DirectoryMirror::new(top.join(name))))
}

fn sources(sources: Vec<(Filter, Source)>) -> Arc<SourceSet> {
    let equipment = Equipment {
        attestations: None,
        witnesses: None,
        cache: Arc::new(Cache::open(CacheOptions { disabled: true, ..CacheOptions::default() })),
        events: Events::ignored(),
        budget: Arc::default(),
        threads: Arc::default(),
        now: SystemTime::UNIX_EPOCH,
        dialect: Dialect::Terraform,
    };
    Arc::new(SourceSet::new(GatherOptions { sources, equipment, unused: UnusedMirrors::default() }))
}

fn query(goal: Goal, selection: Selection) -> Query {
    let explain = Explain { depth: Depth::DOCUMENTS, ..Explain::default() };
    let locked = Query::locked(Version::new(1, 0, 0), &["linux_amd64".parse().unwrap()], Rules::default(), explain);
    Query { selection, goal, ..locked }
}

fn newest(goal: Goal) -> Query {
    query(goal, Selection::Newest(Criteria::default()))
}

async fn answer(sources: &Arc<SourceSet>, query: Query) -> Answer {
    sources.answers(&[&[(addr(), query)].into()]).await.remove(0).remove(&addr()).unwrap()
}

async fn lookup(sources: &Arc<SourceSet>, version: Version) -> Lookup {
    let key = (addr(), version.clone());
    let explain = Explain { depth: Depth::DOCUMENTS, ..Explain::default() };
    let queries = [(key.clone(), Query::locked(version, &[], Rules::default(), explain))];
    sources.lookups(queries.into()).await.remove(&key).unwrap()
}

#[tokio::test]
async fn a_version_is_selected_of_all_sources_without_opening_a_package() {
    let top = tempfile::tempdir().unwrap();
    let first = mirror(top.path(), "a", &["1.0.0_linux_amd64", "1.1.0_darwin_arm64"]);
    let second = mirror(top.path(), "b", &["1.2.0_linux_amd64"]);
    let all = sources(vec![(Filter::default(), first), (Filter::default(), second)]);
    assert_eq!(*answer(&all, newest(Goal::Version)).await.unwrap().version(), Version::new(1, 2, 0));
    let Err(Refusal::Error(opened)) = answer(&all, newest(Goal::Packages)).await else { panic!("it was opened") };
    assert!(opened.file.is_some_and(|file| file.ends_with("terraform-provider-widget_1.2.0_linux_amd64.zip")));
    let versions = all.versions([addr()].into()).await.remove(&addr()).unwrap().unwrap();
    assert_eq!(versions.len(), 3);
}

#[tokio::test]
async fn a_source_is_queried_for_providers_of_its_method_only() {
    let top = tempfile::tempdir().unwrap();
    let exclude = vec![AddrPattern::from(addr())];
    let not_ours = Filter { exclude, ..Filter::default() };
    let newer = mirror(top.path(), "a", &["2.0.0_linux_amd64"]);
    let older = mirror(top.path(), "b", &["1.0.0_linux_amd64"]);
    let all = sources(vec![(not_ours.clone(), newer), (Filter::default(), older)]);
    assert_eq!(*answer(&all, newest(Goal::Version)).await.unwrap().version(), Version::new(1, 0, 0));
    let none = sources(vec![(not_ours, mirror(top.path(), "a", &[]))]);
    let Err(Refusal::Error(error)) = answer(&none, newest(Goal::Version)).await else { panic!("it was asked") };
    assert!(error.message.ends_with("no installation method of the CLI configuration takes it"), "{error:?}");
}

#[tokio::test]
async fn what_a_mirror_has_is_known_and_what_it_lacks_is_not() {
    let top = tempfile::tempdir().unwrap();
    let all = sources(vec![(Filter::default(), mirror(top.path(), "a", &["1.0.0_linux_amd64"]))]);
    let known = lookup(&all, Version::new(1, 0, 0)).await;
    let release = known.release().expect("it is there");
    assert!(release.signer.is_none() && release.h1.is_empty() && !release.complete, "{release:?}");
    // Only a registry can say that a release is withdrawn.
    let Lookup::Inconclusive(error) = lookup(&all, Version::new(9, 0, 0)).await else { panic!("it is not there") };
    assert!(error.message.contains("the locked version 9.0.0") && error.message.contains("is not in"), "{error:?}");
    let empty = sources(vec![(Filter::default(), mirror(top.path(), "b", &[]))]);
    let Lookup::Inconclusive(error) = lookup(&empty, Version::new(1, 0, 0)).await else { panic!("it is empty") };
    let message = &error.message;
    assert!(message.ends_with(" registry.terraform.io/acme/widget") && !message.contains("1.0.0"), "{error:?}");
}
