//! What new settings let pass that the old ones did not.
//!
//! Compares the effective settings, defaults included: what is only written differently is not weaker. Which tool they name is
//! another question.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::addr::Hostname;
use crate::dialect::Dialect;
use crate::finding::{Level, Rule};
use crate::platform::Platform;
use crate::settings::decode::{EXPIRED_KEYS, LEVELS, SIGNATURES, word};
use crate::settings::{
    Ban, Exclude, Exemption, H1Rule, Index, IndexTrust, ProviderScope, Settings, SourceChoice, UNEXPLAINED_HASH,
};
use crate::version::{Constraints, Version};

/// One thing that is let pass now.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Weakening {
    /// In words.
    pub message: String,
    /// How the line begins on which the settings say it, if they say it.
    pub line: String,
    /// The providers that it is about, if it is harmless for those that are new in the change.
    pub harmless_if_new: Option<ProviderScope>,
}

/// How many of the last bans, exemptions and exclusions come from the files further out, and were compared there: settings
/// that lie over others begin with their own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outer {
    old: Lengths,
    new: Lengths,
}

#[derive(Debug, Clone, Copy, Default)]
struct Lengths {
    bans: usize,
    exemptions: usize,
    exclude: usize,
}

impl Lengths {
    fn of(settings: &Settings) -> Self {
        let (bans, exemptions) = (settings.bans.len(), settings.exemptions.len());
        Self { bans, exemptions, exclude: settings.exclude.len() }
    }
}

impl Outer {
    /// For settings that lie over these.
    pub fn of(old: &Settings, new: &Settings) -> Self {
        Self { old: Lengths::of(old), new: Lengths::of(new) }
    }
}

/// The part of a list that its own file adds.
fn own<T>(list: &[T], outer: usize) -> &[T] {
    &list[..list.len().saturating_sub(outer)]
}

/// What the new settings let pass that the old ones did not, without the bans, exemptions and exclusions that were compared
/// further out; nothing if they are as strict. Bans of nested files add up, so a ban that is still covered there is covered
/// here, and one that is not was reported there; likewise for the others.
pub fn weakenings_within(old: &Settings, new: &Settings, outer: Outer) -> Vec<Weakening> {
    let mut found = Vec::new();
    found.extend(platforms(old, new));
    found.extend(optional_platforms(old, new));
    found.extend(units(old, new));
    found.extend(hosts("hosts", &old.policy.hosts, &new.policy.hosts));
    found.extend(hosts("module_hosts", &old.policy.module_hosts, &new.policy.module_hosts));
    found.extend(signature(old, new));
    found.extend(host_signatures(old, new));
    found.extend(expired_key(old, new));
    found.extend(h1(old, new));
    found.extend(minimum_age(old, new));
    found.extend(source(old, new));
    found.extend(provenance(old, new));
    found.extend(witnesses(old, new));
    let excluded: HashSet<&Exclude> = own(&old.exclude, outer.old.exclude).iter().collect();
    let left_out = own(&new.exclude, outer.new.exclude).iter().filter(|exclude| !excluded.contains(exclude));
    found.extend(left_out.filter(|exclude| !old.exclude.contains(exclude)).map(|exclude| {
        let message =
            format!("root modules in {:?} are left out of the search; before, they were found", exclude.pattern());
        weakening("exclude", message)
    }));
    found.extend(indexes(old, new));
    // What did not change needs no comparison with each of the others.
    let kept: HashSet<(&ProviderScope, &Constraints)> =
        own(&new.bans, outer.new.bans).iter().map(|ban| (&ban.providers, &ban.versions)).collect();
    let is_lost = |ban: &&Arc<Ban>| {
        !kept.contains(&(&ban.providers, &ban.versions)) && !new.bans.iter().any(|other| is_within(ban, other))
    };
    found.extend(own(&old.bans, outer.old.bans).iter().filter(is_lost).map(|ban| unbanned(ban)));
    let known: HashSet<&Exemption> = own(&old.exemptions, outer.old.exemptions).iter().collect();
    let is_more = |exemption: &&Exemption| {
        !known.contains(exemption) && !old.exemptions.iter().any(|other| is_excused(exemption, other))
    };
    found.extend(own(&new.exemptions, outer.new.exemptions).iter().filter(is_more).map(exempted));
    let rules = Rule::ALL.iter().map(|rule| (rule.id(), rule.level())).chain([(UNEXPLAINED_HASH, Level::Warn)]);
    found.extend(rules.filter_map(|rule| level(rule, old, new)));
    found
}

fn weakening(line: impl Into<String>, message: String) -> Weakening {
    Weakening { message, line: line.into(), harmless_if_new: None }
}

/// Platforms that no lock file has to cover any more.
fn platforms(old: &Settings, new: &Settings) -> Option<Weakening> {
    let wanted = new.platforms.as_deref().unwrap_or_default();
    let lost = old.platforms.iter().flatten().filter(|platform| !wanted.contains(platform));
    let lost: Vec<String> = lost.map(ToString::to_string).collect();
    let message = format!("lock files need not cover {} any more", lost.join(", "));
    (!lost.is_empty()).then(|| weakening("platforms", message))
}

/// Wanted platforms that more providers may lack than before.
fn optional_platforms(old: &Settings, new: &Settings) -> Vec<Weakening> {
    let wanted = old.platforms.as_deref().unwrap_or_default();
    let was_optional = |providers: &ProviderScope, platform: &Platform| {
        old.optional_platforms
            .iter()
            .any(|line| line.providers.includes(providers) && line.platforms.contains(platform))
    };
    let mut found = Vec::new();
    for line in &new.optional_platforms {
        let more: Vec<String> = line
            .platforms
            .iter()
            .filter(|platform| wanted.contains(platform) && !was_optional(&line.providers, platform))
            .map(ToString::to_string)
            .collect();
        if !more.is_empty() {
            let message =
                format!("{} may lack {}; before, lock files had to cover it", line.providers, more.join(", "));
            let of_new = Some(line.providers.clone());
            found.push(Weakening { harmless_if_new: of_new, ..weakening("optional_platforms", message) });
        }
    }
    found
}

/// What is assumed of units and was not, or otherwise.
fn units(old: &Settings, new: &Settings) -> Vec<Weakening> {
    let (was, is) = (&old.unit_environment, &new.unit_environment);
    let other = is.iter().filter(|(name, value)| was.get(*name) != Some(*value));
    let of_environment = other.map(|(name, _)| {
        let before = if was.contains_key(name) { "had another value" } else { "was unknown" };
        weakening("env", format!("terragrunt.env gives {name} a value; before, it {before}"))
    });
    let assumed = [
        ("plain", &old.vouched.plain, &new.vouched.plain, "is taken for plain text"),
        ("harmless", &old.vouched.harmless, &new.vouched.harmless, "is taken for harmless"),
    ];
    let of_lists = assumed.into_iter().flat_map(|(key, was, is, what)| {
        is.difference(was).map(move |name| weakening(key, format!("{name} {what} in units; before, it was not")))
    });
    of_environment.chain(of_lists).collect()
}

type Hosts = Option<BTreeSet<Hostname>>;

fn hosts(name: &str, old: &Hosts, new: &Hosts) -> Option<Weakening> {
    let allowed = old.as_ref()?;
    let message = match new {
        None => format!("every host is allowed; before, only those of policy.{name}"),
        Some(now) => {
            let more: Vec<String> = now.difference(allowed).map(ToString::to_string).collect();
            if more.is_empty() {
                return None;
            }
            format!("policy.{name} also allows {}", more.join(", "))
        }
    };
    Some(weakening(name, message))
}

/// The policy for registries without a `host` block. The default is one for registry.opentofu.org and another for all
/// others; those with a block are compared one by one.
fn signature(old: &Settings, new: &Settings) -> Option<Weakening> {
    let any = [old, new].map(|settings| Settings { policy: settings.policy.clone(), ..Settings::default() });
    let of_host = |dialect: Dialect, [old, new]: [&Settings; 2]| {
        let host = Hostname::parse(dialect.default_registry_host()).ok()?;
        let [was, is] = [old, new].map(|settings| settings.signature_for(&host));
        (is < was).then(|| {
            let [was, is] = [was, is].map(|rule| word(&SIGNATURES, &rule).unwrap_or_default());
            weakening("signature", format!("policy.signature is {is:?}; before, {was:?}"))
        })
    };
    let of_others = of_host(Dialect::Terraform, [&any[0], &any[1]]);
    of_others.or_else(|| of_host(Dialect::OpenTofu, [old, new]))
}

fn expired_key(old: &Settings, new: &Settings) -> Option<Weakening> {
    let [was, is] = [old, new].map(|settings| settings.policy.expired_key.unwrap_or_default());
    (is < was).then(|| {
        let [was, is] = [was, is].map(|rule| word(&EXPIRED_KEYS, &rule).unwrap_or_default());
        weakening("expired_key", format!("policy.expired_key is {is:?}; before, {was:?}"))
    })
}

fn h1(old: &Settings, new: &Settings) -> Vec<Weakening> {
    let verified = |settings: &Settings| settings.policy.h1 == Some(H1Rule::Verified);
    let mut found = Vec::new();
    if verified(old) && !verified(new) {
        let message = "policy.h1 is no longer \"verified\": an h1 need not be computed from a signed archive";
        found.push(weakening("h1", message.to_owned()));
    }
    let dialects = new.dialect().map_or(vec![Dialect::Terraform, Dialect::OpenTofu], |dialect| vec![dialect]);
    let hosts: BTreeSet<&Hostname> = old.hosts.keys().chain(new.hosts.keys()).collect();
    for host in hosts {
        if dialects.iter().any(|dialect| new.h1_for(host, *dialect) < old.h1_for(host, *dialect)) {
            let message = format!("more h1 hashes that {host} reports are accepted than before");
            found.push(weakening(format!("host \"{host}\""), message));
        }
    }
    found
}

fn host_signatures(old: &Settings, new: &Settings) -> Vec<Weakening> {
    let own = |settings: &Settings, host: &Hostname| settings.hosts.get(host).is_some_and(|it| it.signature.is_some());
    let hosts: BTreeSet<&Hostname> = old.hosts.keys().chain(new.hosts.keys()).collect();
    let weaker = hosts.into_iter().filter(|host| own(old, host) || own(new, host)).filter_map(|host| {
        let [was, is] = [old, new].map(|settings| settings.signature_for(host));
        let [before, now] = [was, is].map(|rule| word(&SIGNATURES, &rule).unwrap_or_default());
        let message = format!("signature is {now:?} for {host}; before, {before:?}");
        (is < was).then(|| weakening(format!("host \"{host}\""), message))
    });
    weaker.collect()
}

fn minimum_age(old: &Settings, new: &Settings) -> Option<Weakening> {
    let [was, is] = [old, new].map(|settings| settings.policy.minimum_age.unwrap_or_default());
    (is < was).then(|| weakening("minimum_age", format!("policy.minimum_age is {is}; before, {was}")))
}

/// The source of packages is whose word counts.
fn source(old: &Settings, new: &Settings) -> Option<Weakening> {
    let [was, is] = [old, new].map(|settings| settings.source.clone().unwrap_or_default());
    let message = match &is {
        _ if is == was => return None,
        SourceChoice::Origin => return None,
        SourceChoice::Configured => {
            "source is \"configured\", so packages come from the mirrors in each user's CLI configuration".to_owned()
        }
        other => format!("source is \"{other}\", so packages come from there; before, \"{was}\""),
    };
    Some(weakening("source", message))
}

/// The places that are no longer asked, and the providers that no longer need a witness.
fn witnesses(old: &Settings, new: &Settings) -> Vec<Weakening> {
    let gone = old.witnesses.difference(&new.witnesses);
    let gone = gone.map(|place| weakening("witnesses", format!("{place} is no longer asked about new releases")));
    let mut found: Vec<Weakening> = gone.collect();
    for (host, places) in &old.host_witnesses {
        let left = new.host_witnesses.get(host);
        let gone = places.iter().filter(|place| left.is_none_or(|left| !left.contains(place)));
        found.extend(gone.map(|place| {
            let message = format!("{place} is no longer asked about new releases of {host}");
            weakening(format!("host \"{host}\""), message)
        }));
    }
    let is_lost = |scope: &&ProviderScope| !new.policy.witnessed.iter().any(|kept| kept.includes(scope));
    found.extend(
        old.policy
            .witnessed
            .iter()
            .filter(is_lost)
            .map(|scope| weakening("witnessed", format!("new releases of {scope} need no witness any more"))),
    );
    found
}

fn indexes(old: &Settings, new: &Settings) -> Vec<Weakening> {
    let verified = new.indexes.values().filter(|index| index.trust == IndexTrust::Verified);
    let more = verified.filter(|index| old.indexes.get(&index.name) != Some(*index));
    let shown = |index: &Index| {
        let message = format!("what the index {:?} says of packages counts as if it were computed here", index.name);
        weakening(format!("index \"{}\"", index.name), message)
    };
    more.map(shown).collect()
}

/// Providers whose releases need no provenance any more.
fn provenance(old: &Settings, new: &Settings) -> Vec<Weakening> {
    let is_kept = |scope: &ProviderScope| new.provenance_required.iter().any(|other| other.includes(scope));
    let lost = old.provenance_required.iter().filter(|scope| !is_kept(scope));
    let shown = |scope| weakening("required", format!("releases of {scope} no longer need provenance"));
    lost.map(shown).collect()
}

fn unbanned(ban: &Ban) -> Weakening {
    let versions = if ban.versions.is_empty() { String::new() } else { format!(" {}", ban.versions) };
    let message = format!("the ban on {}{versions} was removed or covers less", ban.providers);
    weakening(format!("ban \"{}\"", ban.providers), message)
}

fn exempted(exemption: &Exemption) -> Weakening {
    let provider = exemption.providers.as_ref().map(|scope| format!(" of {scope}")).unwrap_or_default();
    let version = exemption.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let advisory = exemption.advisory.as_ref().map(|advisory| format!(" about {advisory}")).unwrap_or_default();
    let until = exemption.until.map(|day| format!(" until {day}")).unwrap_or_default();
    let message = format!("findings of {}{provider}{version}{advisory} are allowed{until}", exemption.rule);
    weakening(format!("exempt \"{}\"", exemption.rule), message)
}

fn level((rule, default): (&str, Level), old: &Settings, new: &Settings) -> Option<Weakening> {
    let [was, is] = [old, new].map(|settings| settings.level(rule).unwrap_or(default));
    (is < was).then(|| {
        let [was, is] = [was, is].map(|level: Level| word(&LEVELS, &level).unwrap_or_default());
        weakening(format!("level \"{rule}\""), format!("{rule} is at level {is}; before, {was}"))
    })
}

fn is_within(ban: &Ban, other: &Ban) -> bool {
    other.providers.includes(&ban.providers) && is_range_within(&ban.versions, &other.versions)
}

fn is_excused(exemption: &Exemption, other: &Exemption) -> bool {
    let scope = match (&other.providers, &exemption.providers) {
        (None, _) => true,
        (Some(wide), Some(narrow)) => wide.includes(narrow),
        (Some(_), None) => false,
    };
    let until = other.until.is_none_or(|end| exemption.until.is_some_and(|day| day <= end));
    let version = other.version.is_none() || other.version == exemption.version;
    let advisory = other.advisory.is_none() || other.advisory == exemption.advisory;
    exemption.rule == other.rule && scope && version && advisory && until
}

/// True if no version is in one range and not in the other, checked with the versions around the boundaries of both.
fn is_range_within(one: &Constraints, other: &Constraints) -> bool {
    let contains = |range: &Constraints, version: &Version| range.terms().iter().all(|term| term.contains(version));
    let boundaries = one.terms().iter().chain(other.terms()).map(|term| term.boundary().clone());
    let origin = [Version::new(0, 0, 0), Version::new(u64::MAX, 0, 0)];
    let around = boundaries.chain(origin).flat_map(|boundary| neighbours(&boundary));
    around.into_iter().all(|version| !contains(one, &version) || contains(other, &version))
}

/// A version, and the first pre-release and the release of each number that follows it; behind a pre-release the next one.
fn neighbours(version: &Version) -> Vec<Version> {
    let (major, minor, patch) = (version.major(), version.minor(), version.patch());
    let next = [
        (major, minor, patch),
        (major, minor, patch.saturating_add(1)),
        (major, minor.saturating_add(1), 0),
        (major.saturating_add(1), 0, 0),
    ];
    let first = next.iter().filter_map(|(major, minor, patch)| format!("{major}.{minor}.{patch}-0").parse().ok());
    let releases = next.iter().map(|(major, minor, patch)| Version::new(*major, *minor, *patch));
    let later = following(version.pre()).and_then(|pre| format!("{major}.{minor}.{patch}-{pre}").parse().ok());
    first.chain(releases).chain([version.clone()]).chain(later).collect()
}

/// The pre-release that comes next: digits are counted, and behind other text comes the least sign that it may have.
fn following(pre: &str) -> Option<String> {
    let start = pre.rfind('.').map_or(0, |dot| dot + 1);
    let (before, last) = pre.split_at(start);
    if !last.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(format!("{pre}-"));
    }
    let next: u128 = last.parse::<u128>().ok()?.checked_add(1)?;
    Some(format!("{before}{next:0width$}", width = last.len()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::settings;

    fn settings(text: &str) -> Settings {
        settings::decode(text, Path::new("x")).unwrap()
    }

    fn weakenings(old: &Settings, new: &Settings) -> Vec<Weakening> {
        weakenings_within(old, new, Outer::default())
    }

    fn lines(old: &str, new: &str) -> Vec<String> {
        weakenings(&settings(old), &settings(new)).into_iter().map(|weakening| weakening.line).collect()
    }

    fn policy(line: &str) -> String {
        format!("policy {{\n  {line}\n}}\n")
    }

    /// The stricter settings, the laxer ones, and the line at which that is told.
    const PAIRS: &[(&str, &str, &str)] = &[
        ("", "host \"a.com\" {\n signature = \"never\"\n}", "host \"a.com\""),
        ("policy {\n hosts = [\"a.com\"]\n}", "", "hosts"),
        ("policy {\n hosts = [\"a.com\"]\n}", "policy {\n hosts = [\"a.com\", \"b.com\"]\n}", "hosts"),
        ("policy {\n module_hosts = [\"a.com\"]\n}", "", "module_hosts"),
        ("policy {\n signature = \"always\"\n}", "policy {\n signature = \"if_keys_known\"\n}", "signature"),
        ("policy {\n signature = \"if_keys_known\"\n}", "policy {\n signature = \"never\"\n}", "signature"),
        // The default is stricter than `if_keys_known` for most registries, and laxer than `always` for one.
        ("", "policy {\n signature = \"if_keys_known\"\n}", "signature"),
        ("policy {\n signature = \"always\"\n}", "", "signature"),
        ("policy {\n expired_key = \"deny\"\n}", "", "expired_key"),
        ("", "policy {\n expired_key = \"allow\"\n}", "expired_key"),
        ("policy {\n h1 = \"verified\"\n}", "policy {\n h1 = \"registry\"\n}", "h1"),
        ("policy {\n minimum_age = \"7d\"\n}", "policy {\n minimum_age = \"6d\"\n}", "minimum_age"),
        ("", "host \"a.com\" {\n h1 = \"registry\"\n}", "host \"a.com\""),
        ("host \"a.com\" {\n h1 = \"verified\"\n}", "", "host \"a.com\""),
        ("", "source = \"configured\"", "source"),
        ("witnesses = [\"github\"]", "witnesses = []", "witnesses"),
        ("host \"a.com\" {\n witnesses = [\"github\"]\n}", "", "host \"a.com\""),
        ("policy {\n witnessed = [\"a/*\"]\n}", "policy {\n witnessed = [\"a/b\"]\n}", "witnessed"),
        ("provenance {\n required = [\"a/*\"]\n}", "provenance {\n required = [\"a/b\"]\n}", "required"),
        ("provenance {\n required = [\"a/b\"]\n}", "", "required"),
        (
            "index \"t\" {\n url = \"https://a.example/\"\n trust = \"reported\"\n}",
            "index \"t\" {\n url = \"https://a.example/\"\n trust = \"verified\"\n}",
            "index \"t\"",
        ),
        ("ban \"a/b\" {\n}", "", "ban \"a/b\""),
        ("ban \"a/b\" {\n}", "ban \"a/b\" {\n versions = \"< 9.0.0\"\n}", "ban \"a/b\""),
        ("ban \"a/*\" {\n}", "ban \"a/b\" {\n}", "ban \"a/*\""),
        ("ban \"a/b\" {\n versions = \"<= 1.4.1\"\n}", "ban \"a/b\" {\n versions = \"< 1.4.1\"\n}", "ban \"a/b\""),
        ("", "exempt \"republished\" {\n}", "exempt \"republished\""),
        (
            "exempt \"banned\" {\n provider = \"a/b\"\n}",
            "exempt \"banned\" {\n provider = \"a/*\"\n}",
            "exempt \"banned\"",
        ),
        (
            "exempt \"banned\" {\n until = \"2027-01-01\"\n}",
            "exempt \"banned\" {\n until = \"2027-01-02\"\n}",
            "exempt \"banned\"",
        ),
        ("", "level \"republished\" {\n is = \"warn\"\n}", "level \"republished\""),
        ("level \"not-canonical\" {\n is = \"deny\"\n}", "", "level \"not-canonical\""),
        ("platforms = [\"linux_amd64\", \"darwin_arm64\"]", "platforms = [\"linux_amd64\"]", "platforms"),
        ("platforms = [\"linux_amd64\"]", "", "platforms"),
        (
            "platforms = [\"linux_amd64\"]\noptional_platforms = {\n \"a/b\" = [\"linux_amd64\"]\n}",
            "platforms = [\"linux_amd64\"]\noptional_platforms = {\n \"a/*\" = [\"linux_amd64\"]\n}",
            "optional_platforms",
        ),
        ("", "terragrunt {\n env = { A = null }\n}", "env"),
        ("", "terragrunt {\n plain = [\"run_cmd\"]\n}", "plain"),
        ("", "terragrunt {\n harmless = [\"terraform.x\"]\n}", "harmless"),
    ];

    #[test]
    fn an_exemption_within_a_known_one_weakens_nothing() {
        let of = |day: &str| format!("exempt \"banned\" {{\n until = \"{day}\"\n}}");
        for (new, is_weaker) in [("2026-12-31", false), ("2027-01-01", false), ("2027-01-02", true)] {
            assert_eq!(!lines(&of("2027-01-01"), &of(new)).is_empty(), is_weaker, "{new}");
        }
    }

    #[test]
    fn weakened_settings_are_reported_and_stricter_ones_are_not() {
        for (strict, lax, line) in PAIRS {
            let found = lines(strict, lax);
            assert!(found.contains(&(*line).to_owned()), "{strict:?} -> {lax:?}: {found:?}");
            // A host block and the default for signatures are not ordered in one direction only.
            if !strict.is_empty() && !lax.is_empty() {
                assert_eq!(lines(lax, strict), [""; 0], "{lax:?} -> {strict:?}");
            }
            assert!(lines(strict, strict).is_empty() && lines(lax, lax).is_empty(), "{strict:?} {lax:?}");
        }
    }

    #[test]
    fn nested_settings_repeat_nothing_of_those_around() {
        let ban = |name: &str, range: &str| settings(&format!("ban \"{name}\" {{\n versions = \"{range}\"\n}}"));
        let exempt = |provider: &str| settings(&format!("exempt \"republished\" {{\n provider = \"{provider}\"\n}}"));
        let outer = [ban("a/a", "< 2.0.0"), ban("a/a", "< 1.0.0").over(exempt("a/a"))];
        for (own, lines) in [
            ([ban("a/b", "< 2.0.0"), ban("a/b", "< 1.0.0")], vec!["ban \"a/b\""]),
            ([ban("a/b", "< 2.0.0"), ban("a/b", "< 3.0.0")], vec![]),
            ([ban("a/b", "< 2.0.0"), ban("*/*", "< 2.0.0")], vec![]),
            ([Settings::default(), exempt("a/b")], vec!["exempt \"republished\""]),
            // Its own line, though it says what the one around says.
            ([Settings::default(), exempt("a/a")], vec!["exempt \"republished\""]),
            ([exempt("a/*"), exempt("a/b")], vec![]),
        ] {
            let [old, new] = [0, 1].map(|side| own[side].clone().over(outer[side].clone()));
            let found = weakenings_within(&old, &new, Outer::of(&outer[0], &outer[1]));
            assert_eq!(found.iter().map(|it| it.line.as_str()).collect::<Vec<_>>(), lines, "{own:?}");
        }
    }

    #[test]
    fn rules_of_both_default_registries_do_not_hide_those_of_all_others() {
        let own = |host: &str| format!("host \"{host}\" {{\n signature = \"always\"\n}}\n");
        let own = own("registry.terraform.io") + &own("registry.opentofu.org");
        let [always, never] = ["always", "never"].map(|rule| own.clone() + &policy(&format!("signature = \"{rule}\"")));
        assert_eq!(lines(&own, &never), ["signature"]);
        assert_eq!(lines(&always, &never), ["signature"]);
        assert_eq!(lines(&always, &own), [""; 0]);
        assert_eq!(lines(&never, &own), [""; 0]);
    }

    #[test]
    fn what_is_only_written_differently_is_not_weaker() {
        let some =
            "platforms = [\"linux_amd64\"]\ntool = \"tofu\"\noptional_platforms = {\n \"a/b\" = [\"linux_amd64\"]\n}\n";
        assert_eq!(lines("", some), [""; 0]);
        assert_eq!(lines("tool = \"tofu\"", "tool = \"terraform\""), [""; 0]);
        let reordered = |list: &str| lines("platforms = [\"linux_amd64\", \"darwin_arm64\"]", list);
        assert_eq!(reordered("platforms = [\"darwin_arm64\", \"linux_amd64\", \"windows_amd64\"]"), [""; 0]);
        // A platform that is not wanted is no less wanted where it is optional.
        let optional = "platforms = [\"linux_amd64\"]\noptional_platforms = {\n \"a/b\" = [\"darwin_arm64\"]\n}\n";
        assert_eq!(lines("platforms = [\"linux_amd64\"]\n", optional), [""; 0]);
        assert_eq!(lines("terragrunt {\n env = { A = \"1\" }\n plain = [\"run_cmd\"]\n}", ""), [""; 0]);
        assert_eq!(
            lines("", "policy {\n expired_key = \"warn\"\n minimum_age = \"0d\"\n}\nsource = \"origin\""),
            [""; 0]
        );
        assert_eq!(lines("policy {\n minimum_age = \"7d\"\n}", "policy {\n minimum_age = \"1w\"\n}"), [""; 0]);
        assert_eq!(lines("ban \"a/b\" {\n reason = \"x\"\n}", "ban \"a/b\" {\n}"), [""; 0]);
    }

    #[test]
    fn a_wider_ban_covers_a_narrower_one() {
        let ban = |versions: &str| format!("ban \"a/b\" {{\n versions = \"{versions}\"\n}}\n");
        for (old, new) in [
            ("< 1.4.1", "< 1.4.2"),
            ("< 1.4.1", "<= 1.4.1"),
            ("= 1.4.1", ">= 1.4.0, < 1.5.0"),
            (">= 1.0.0, < 1.2.0", "~> 1.0"),
            ("1.4.1-rc1", "< 1.4.1"),
            (">= 1.0.0-beta", "> 1.0.0-alpha"),
            (">= 1.0.0-rc.12", "> 1.0.0-rc.9"),
            (">= 1.0.0-9", "> 1.0.0-1"),
        ] {
            assert_eq!(lines(&ban(old), &ban(new)), [""; 0], "{old} -> {new}");
            assert_eq!(lines(&ban(new), &ban(old)).len(), 1, "{new} -> {old}");
        }
        // Two bans that together cover it count as less: no reader is asked to add them up.
        let halves = ban("< 1.0.0") + &ban(">= 1.0.0");
        assert_eq!(lines("ban \"a/b\" {\n}", &halves).len(), 1);
        assert_eq!(lines(&halves, "ban \"a/*\" {\n}"), [""; 0]);
    }

    proptest! {
        #[test]
        fn ranges_within_ranges(one in "(<|>=|=|!=|~>) [012]\\.[012]\\.[012]", other in "(<|>|<=|~>) [012]\\.[012]\\.[012]") {
            let [one, other] = [one, other].map(|text| text.parse::<Constraints>().unwrap());
            let contains = |range: &Constraints, version: &Version| range.terms().iter().all(|term| term.contains(version));
            let mut versions = (0..64).map(|at| Version::new(at / 16, at / 4 % 4, at % 4));
            let outside = versions.any(|version| contains(&one, &version) && !contains(&other, &version));
            prop_assert!(!is_range_within(&one, &other) || !outside, "{} within {}", one, other);
        }
    }

    #[test]
    fn messages_use_the_words_of_the_settings() {
        let message = |old: &str, new: &str| weakenings(&settings(old), &settings(new))[0].message.clone();
        let shown = message(&policy("signature = \"always\""), &policy("signature = \"never\""));
        assert_eq!(shown, "policy.signature is \"never\"; before, \"always\"");
        let shown = message("", "exempt \"republished\" {\n provider = \"a/b\"\n version = \"1.0.0\"\n}\n");
        assert_eq!(shown, "findings of republished of a/b 1.0.0 are allowed");
        let shown = message("", "level \"republished\" {\n is = \"note\"\n}\n");
        assert_eq!(shown, "republished is at level note; before, deny");
    }
}
