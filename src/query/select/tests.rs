use super::{Rules, *};
use crate::dialect::Dialect;
use crate::hash::PackageHashes;
use crate::lockfile::LockEntry;
use crate::query::cached::SameVersion;
use crate::query::question::Goal;
use crate::settings::{self, Ban, ProviderScope, Settings};
use crate::version::Constraints;

const OFFERED: [&str; 4] = ["1.0.0", "1.1.0", "2.0.0-rc1", "2.0.0"];

fn version(text: &str) -> Version {
    text.parse().unwrap()
}

fn addr() -> ProviderAddr {
    ProviderAddr::parse("h.example/acme/widget", Dialect::Terraform).unwrap()
}

fn linux() -> Platform {
    "linux_amd64".parse().unwrap()
}

/// So many days after the first one.
fn day(count: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(count * 86_400)
}

fn step(selection: Selection) -> Query {
    Query {
        constraints: Constraints::default(),
        selection,
        platforms: vec![linux()],
        recorded: None,
        moved: None,
        accept_republished: false,
        drop_unattested: false,
        is_rewritable: true,
        rules: Rules::default(),
        goal: Goal::default(),
    }
}

fn newest(constraints: &str, complete: bool) -> Query {
    let constraints = if constraints.is_empty() { Constraints::default() } else { constraints.parse().unwrap() };
    step(Selection::Newest(Criteria { complete, ..Criteria::of(constraints) }))
}

fn recording(recorded: &str, step: Query) -> Query {
    let (constraints, hashes) = (Constraints::default(), PackageHashes::new());
    Query { recorded: Some(LockEntry { version: version(recorded), constraints, hashes }), ..step }
}

/// The step, where releases signed behind a day are too young.
fn not_after(count: u64, mut step: Query) -> Query {
    step.rules.versions = step.rules.versions.not_after(Some(day(count)));
    step
}

fn banning(versions: &str, mut step: Query) -> Query {
    let providers = ProviderScope::parse("h.example/acme/widget").unwrap();
    let ban = Ban { providers, versions: versions.parse().unwrap(), reason: None };
    let settings = Settings { bans: vec![ban.into()], ..Settings::default() };
    step.rules.versions = settings.versions_of(&addr(), day(0));
    step
}

/// A source of 1.0.0, 1.1.0, 2.0.0-rc1 and 2.0.0, signed on the days 0, 1, 2 and 3, of which the last has no package for
/// linux.
struct Source {
    capabilities: Capabilities,
    place: Option<&'static str>,
}

/// Its offers name platforms, and each version can be asked for its age.
const REGISTRY: Source = Source { capabilities: Capabilities { platforms: false, age: true }, place: None };
/// Each version can be asked for its platforms.
const MIRROR: Source = Source { capabilities: Capabilities { platforms: true, age: false }, place: Some("the mirror") };
/// Both in a row.
const SEVERAL: Source =
    Source { capabilities: Capabilities { platforms: true, age: true }, place: Some("any of the methods") };

/// What is selected, what was passed over, and which versions had to be asked about.
#[derive(Debug, PartialEq)]
struct Story {
    end: Result<String, String>,
    passed_over: Vec<String>,
    queried: Vec<String>,
}

impl Source {
    fn story(&self, step: &Query) -> Story {
        let addr = addr();
        let platforms = |text: &str| {
            if text == "2.0.0" { vec!["darwin_arm64".parse().unwrap()] } else { vec![linux()] }
        };
        let offers = OFFERED.map(|text| {
            let offer = Offer::from(version(text));
            if self.capabilities.platforms { offer } else { Offer { platforms: platforms(text), ..offer } }
        });
        let (mut seen, mut queried) = (BTreeMap::new(), Vec::new());
        loop {
            let there = Candidates {
                addr: &addr,
                offers: &offers,
                probed: &seen,
                capabilities: self.capabilities,
                source: self.place,
            };
            let (end, passed_over) = match there.next(step) {
                Ok(Next::Query(version)) => {
                    let at = OFFERED.iter().position(|text| *text == version.to_string()).unwrap();
                    let facts = Probed {
                        platforms: platforms(OFFERED[at]).into_iter().collect(),
                        signed: self.capabilities.age.then(|| day(at as u64)),
                    };
                    queried.push(version.to_string());
                    assert!(seen.insert(version, facts).is_none(), "no version is queried about twice");
                    continue;
                }
                Ok(Next::Take(Choice { version, passed_over })) => (Ok(version.to_string()), passed_over),
                Err(Refusal::Error(error)) => (Err(error.message), Vec::new()),
                Err(Refusal::Finding(finding, _)) => {
                    (Err(format!("{}: {}", finding.rule.id(), finding.message())), Vec::new())
                }
            };
            let passed_over = passed_over.iter().map(|(version, why)| format!("{version}: {why}")).collect();
            return Story { end, passed_over, queried };
        }
    }

    /// What is selected, or the words against it.
    fn selects(&self, step: &Query) -> String {
        self.story(step).end.unwrap_or_else(|words| words)
    }

    fn asks(&self, step: &Query) -> Vec<String> {
        self.story(step).queried
    }
}

#[test]
fn the_number_decides_alike_for_every_source() {
    for (constraints, expected) in [
        ("", "2.0.0"),
        ("~> 1.0", "1.1.0"),
        ("~> 1.0.0", "1.0.0"),
        ("!= 2.0.0", "1.1.0"),
        // A pre-release only where it is asked for exactly.
        ("2.0.0-rc1", "2.0.0-rc1"),
        ("< 2.0.0", "1.1.0"),
    ] {
        for source in [REGISTRY, MIRROR, SEVERAL] {
            let step = newest(constraints, false);
            assert_eq!(source.selects(&step), expected, "{constraints} {:?}", source.place);
            assert!(source.asks(&step).is_empty(), "a number needs no question");
        }
    }
}

#[test]
fn platforms_are_queried_if_no_offer_names_them() {
    let step = newest("", true);
    for (source, queried) in [(REGISTRY, ""), (MIRROR, "2.0.0 1.1.0"), (SEVERAL, "2.0.0 1.1.0")] {
        let story = source.story(&step);
        assert_eq!((story.end.unwrap().as_str(), story.queried.join(" ").as_str()), ("1.1.0", queried));
        assert_eq!(story.passed_over, ["2.0.0: it has no package for linux_amd64"]);
    }
}

#[test]
fn the_age_is_queried_from_the_newest_down() {
    let story = REGISTRY.story(&not_after(1, newest("", false)));
    assert_eq!((story.end, story.queried), (Ok("1.1.0".to_owned()), vec!["2.0.0".to_owned(), "1.1.0".to_owned()]));
    assert_eq!(story.passed_over, ["2.0.0: its signature of 1970-01-04 is too recent"]);
    assert_eq!(REGISTRY.selects(&not_after(3, newest("", false))), "2.0.0");
}

#[test]
fn a_mirror_knows_no_age() {
    let step = not_after(9, newest("", false));
    assert_eq!(
        MIRROR.selects(&step),
        "a mirror does not show how old the releases of provider h.example/acme/widget are"
    );
    // But for a version of any age.
    let settings = settings::decode(
        "policy {\n minimum_age = \"7d\"\n}\nexempt \"too-young\" {\n version = \"1.0.0\"\n}",
        std::path::Path::new(""),
    );
    let settings = settings.unwrap();
    let mut step = newest("", false);
    step.rules.versions = settings.versions_of(&addr(), day(9)).enforced(&settings, |_, version| version.is_none());
    assert_eq!(MIRROR.selects(&step), "1.0.0");
}

#[test]
fn a_registry_behind_a_mirror_gives_the_age() {
    let step = not_after(1, newest("", false));
    assert_eq!((SEVERAL.selects(&step), SEVERAL.asks(&step).len()), ("1.1.0".to_owned(), 2));
}

#[test]
fn the_recorded_version_does_at_any_age_and_with_any_platforms() {
    for source in [REGISTRY, MIRROR, SEVERAL] {
        let step = not_after(0, recording("2.0.0", newest("", true)));
        assert_eq!((source.selects(&step), source.asks(&step).len()), ("2.0.0".to_owned(), 0));
    }
}

#[test]
fn a_ban_applies_before_any_query() {
    for source in [REGISTRY, MIRROR] {
        assert_eq!(source.selects(&banning("1.1.0", newest("~> 1.0", false))), "1.0.0");
        // Recorded or not.
        assert_eq!(source.selects(&banning("1.1.0", recording("1.1.0", newest("~> 1.0", false)))), "1.0.0");
        let all = source.story(&banning(">= 1.0", newest("~> 1.0", true)));
        let refused = all.end.unwrap_err();
        let words = "banned: every release of h.example/acme/widget that \"~> 1.0\" allows is banned; ";
        assert!(refused.starts_with(words) && refused.contains(" 1.1.0: ") && all.queried.is_empty(), "{refused}");
    }
}

#[test]
fn a_version_that_is_named() {
    let keep = |text: &str| recording(text, step(Selection::Keep(version(text))));
    let exactly = |text: &str| step(Selection::Exactly(version(text)));
    for (source, step, expected) in [
        // The locked version stays whatever it lacks.
        (MIRROR, keep("2.0.0"), "2.0.0"),
        (REGISTRY, not_after(0, keep("2.0.0")), "2.0.0"),
        (MIRROR, keep("1.2.0"), "the locked version 1.2.0 of h.example/acme/widget is not in the mirror"),
        (REGISTRY, keep("1.2.0"), "the locked version 1.2.0 of provider h.example/acme/widget is no longer available"),
        (REGISTRY, recording("1.0.0", exactly("1.2.0")), "provider h.example/acme/widget has no release 1.2.0"),
        (MIRROR, exactly("1.2.0"), "version 1.2.0 of h.example/acme/widget is not in the mirror"),
        (REGISTRY, exactly("2.0.0-rc1"), "2.0.0-rc1"),
        (
            REGISTRY,
            not_after(1, exactly("2.0.0")),
            "too-young: h.example/acme/widget 2.0.0 cannot be selected: its signature of 1970-01-04 is too recent",
        ),
        (
            MIRROR,
            not_after(9, exactly("2.0.0")),
            "too-young: h.example/acme/widget 2.0.0 cannot be selected: its signature date is unknown",
        ),
        (REGISTRY, not_after(0, recording("2.0.0", exactly("2.0.0"))), "2.0.0"),
    ] {
        assert_eq!(source.selects(&step), expected);
    }
}

#[test]
fn one_version_for_all_goes_before_the_newest_of_one() {
    let own = newest("", false);
    let Selection::Newest(criteria) = &own.selection else { unreachable!() };
    let together = |constraints: &str| {
        let mut same = SameVersion::default();
        same.add(criteria, own.release_criteria(false), []);
        same.add(&Criteria::of(constraints.parse().unwrap()), own.release_criteria(false), []);
        step(Selection::Newest(Criteria { same: Some(std::sync::Arc::new(same)), ..criteria.clone() }))
    };
    for source in [REGISTRY, MIRROR, SEVERAL] {
        assert_eq!(source.selects(&together("~> 1.0")), "1.1.0");
        // Where none suits all, each has its own.
        assert_eq!(source.selects(&together("~> 3.0")), "2.0.0");
    }
}

#[test]
fn nothing_that_may_be_selected() {
    let words = "no available release of provider h.example/acme/widget matches the version constraint \"~> 3.0\"";
    assert_eq!(REGISTRY.selects(&newest("~> 3.0", false)), words);
    let words = "no release of provider h.example/acme/widget in the mirror matches the version constraint \"~> 3.0\"";
    assert_eq!(MIRROR.selects(&newest("~> 3.0", false)), words);
    let words = "every matching release of provider h.example/acme/widget is excluded";
    assert_eq!(REGISTRY.selects(&newest("2.0.0", true)), words);
}
