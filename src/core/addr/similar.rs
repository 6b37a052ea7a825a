//! Addresses that are easily taken for another provider's: one or two letters off a well-known one, or off one that is in
//! use. What reads alike by letters of other scripts is in `verify/entry.rs`.
//!
//! Texts that are at most two edits apart, found without comparing each with each.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use url::Url;

use super::{Hostname, ProviderAddr};
use crate::version::Version;

/// Providers that many configurations require, as both default registries have them. The one list of this program: for
/// suggestions, for names that are similar, and for types that another namespace offers.
pub fn well_known() -> impl Iterator<Item = &'static str> + Clone {
    include_str!("well_known.txt").lines()
}

/// The well-known registries, one of them by its first name too.
const REGISTRIES: [&str; 3] = ["registry.terraform.io", "registry.opentofu.org", "registry.opentf.org"];

/// The page of a well-known registry about a release, with links to its changelog and source; it needs no request.
pub fn registry_page(addr: &ProviderAddr, version: &Version) -> Option<Url> {
    let name = format!("{}/{}", addr.namespace(), addr.type_name());
    let page = match addr.host().as_ascii() {
        "registry.terraform.io" => format!("https://registry.terraform.io/providers/{name}/{version}"),
        "registry.opentofu.org" => format!("https://search.opentofu.org/provider/{name}/v{version}"),
        _ => return None,
    };
    Url::parse(&page).ok()
}

/// The addresses that are in use, for asking of many others which of these they may be mistaken for.
#[derive(Debug, Clone, Default)]
pub struct UsedNames {
    addresses: BTreeSet<ProviderAddr>,
    hosts: BTreeSet<Hostname>,
    host_names: Names,
    names: Names,
}

/// Texts, also by what is near them.
#[derive(Debug, Clone, Default)]
struct Names {
    texts: Vec<String>,
    near: Near,
    /// The addresses that they are of.
    shown: Vec<String>,
}

impl Names {
    fn of(named: impl IntoIterator<Item = (String, String)>) -> Self {
        let (texts, shown): (Vec<String>, Vec<String>) = named.into_iter().unzip();
        Self { near: Near::of(texts.iter().map(String::as_str)), texts, shown }
    }

    /// The first that is near a text, and passes.
    fn find(&self, text: &str, passes: impl Fn(&str) -> bool) -> Option<&str> {
        let mut candidates = self.near.candidates(text).into_iter();
        candidates.find(|at| passes(&self.texts[*at])).map(|at| self.shown[at].as_str())
    }

    /// The first that is this text.
    fn position(&self, text: &str) -> Option<usize> {
        self.near.candidates(text).into_iter().find(|at| self.texts[*at] == text)
    }
}

static WELL_KNOWN: LazyLock<Names> =
    LazyLock::new(|| Names::of(well_known().map(|name| (name.to_ascii_lowercase(), name.to_owned()))));

impl UsedNames {
    /// Indexes the addresses that are in use.
    pub fn of<'a>(used: impl IntoIterator<Item = &'a ProviderAddr>) -> Self {
        let used: Vec<&ProviderAddr> = used.into_iter().collect();
        let hosts: BTreeSet<Hostname> = used.iter().map(|addr| addr.host().clone()).collect();
        // Ports distinguish services on one host.
        let plain = hosts.iter().map(Hostname::as_ascii).filter(|host| !host.contains(':'));
        let host_names = REGISTRIES.into_iter().chain(plain).map(|host| (host.to_owned(), host.to_owned()));
        Self {
            host_names: Names::of(host_names),
            names: Names::of(used.iter().map(|addr| (name_of(addr), addr.to_string()))),
            addresses: used.into_iter().cloned().collect(),
            hosts,
        }
    }

    /// True if an address is in use itself.
    pub fn contains(&self, addr: &ProviderAddr) -> bool {
        self.addresses.contains(addr)
    }

    /// The address that an address may be mistaken for: a well-known one, or one of those that are in use.
    ///
    /// Only the owner of a namespace publishes there, so names of one namespace are never similar; nor are those of one
    /// provider at both default registries. What is in use itself is what is meant.
    pub fn mistaken_for(&self, addr: &ProviderAddr) -> Option<String> {
        if self.contains(addr) {
            return None;
        }
        if let Some(host) = self.mistaken_host(addr.host()) {
            return Some(format!("{host}/{}/{}", addr.namespace(), addr.type_name()));
        }
        let own = name_of(addr);
        if WELL_KNOWN.position(&own).is_some() || self.names.position(&own).is_some() {
            return None;
        }
        let exchanged = format!("{}/{}", addr.type_name(), addr.namespace());
        let is_meant = addr.namespace() != addr.type_name();
        let lists = [&self.names, &*WELL_KNOWN];
        lists.into_iter().find_map(|names| {
            let swapped = names.position(&exchanged).filter(|_| is_meant).map(|at| names.shown[at].as_str());
            names.find(&own, |other| is_near(&own, other)).or(swapped).map(str::to_owned)
        })
    }

    /// The registry that a host may be mistaken for.
    fn mistaken_host(&self, host: &Hostname) -> Option<&str> {
        let own = host.as_ascii();
        if own.contains(':') || REGISTRIES.contains(&own) || self.hosts.contains(host) {
            return None;
        }
        self.host_names.find(own, |other| strsim::osa_distance(own, other) <= 2 && other.len() >= 8)
    }
}

fn name_of(addr: &ProviderAddr) -> String {
    format!("{}/{}", addr.namespace(), addr.type_name())
}

/// The well-known provider whose type another namespace offers, as `evilcorp/aws` does.
pub fn namesake(addr: &ProviderAddr) -> Option<&'static str> {
    if is_well_known([addr.namespace(), addr.type_name()]) {
        return None;
    }
    well_known().find(|name| parts(name)[1] == addr.type_name())
}

fn is_well_known(own: [&str; 2]) -> bool {
    well_known().any(|name| parts(name) == own)
}

/// Namespace and type as addresses have them.
fn parts(name: &str) -> [String; 2] {
    let name = name.to_ascii_lowercase();
    let (namespace, kind) = name.split_once('/').unwrap_or(("", &name));
    [namespace, kind].map(str::to_owned)
}

/// True for names of two namespaces that are one or two edits apart, of which a swap is one.
fn is_near(own: &str, other: &str) -> bool {
    let namespace = |name: &str| name.split('/').next().map(str::to_owned);
    let distance = strsim::osa_distance(own, other);
    // Of names as short as that a large part would differ.
    distance <= 2 && distance * 3 <= own.len().min(other.len()) && namespace(own) != namespace(other)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test looks at files itself, and says if it skips them"
)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    fn addr(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, Dialect::Terraform).unwrap()
    }

    fn mistaken_for<'a>(addr: &ProviderAddr, used: impl IntoIterator<Item = &'a ProviderAddr>) -> Option<String> {
        UsedNames::of(used).mistaken_for(addr)
    }

    fn mistaken(text: &str) -> Option<String> {
        mistaken_for(&addr(text), [])
    }

    /// The same with one letter doubled, two swapped, one lost, and one replaced.
    fn squats(part: &str) -> Vec<String> {
        let (first, rest) = part.split_at(2);
        let swapped: String = first.chars().rev().collect();
        let doubled = format!("{first}{}", &first[1..]);
        [swapped + rest, doubled + rest, format!("{}{rest}", &first[..1]), format!("{}q{rest}", &first[..1])].into()
    }

    #[test]
    fn well_known_names_are_sorted_and_not_similar_to_each_other() {
        assert!(well_known().is_sorted());
        for name in well_known() {
            assert_eq!((mistaken(name), namesake(&addr(name))), (None, None), "{name}");
        }
        let near = |one: &str, other: &str| is_near(&one.to_ascii_lowercase(), &other.to_ascii_lowercase());
        let pairs = well_known().flat_map(|one| well_known().map(move |other| (one, other)));
        let pairs: Vec<(&str, &str)> = pairs.filter(|(one, other)| one < other && near(one, other)).collect();
        assert_eq!(pairs, []);
    }

    #[test]
    fn typical_squats_of_popular_providers_are_found() {
        for name in well_known().take(40) {
            let [namespace, kind] = parts(name);
            for squat in squats(&namespace).into_iter().filter(|squat| *squat != namespace) {
                let squat = format!("{squat}/{kind}");
                let seen = mistaken(&squat);
                assert!(seen.is_some_and(|seen| well_known().any(|name| name == seen)), "{squat}");
            }
            if namespace != kind {
                let exchanged = format!("{kind}/{namespace}");
                assert!(mistaken(&exchanged).is_some(), "{exchanged}");
            }
            for host in
                ["registry.terrafrom.io", "registry.teraform.io", "registry.opentofo.org", "regist1y.terraform.io"]
            {
                let seen = mistaken(&format!("{host}/{name}")).unwrap();
                assert!(REGISTRIES.iter().any(|registry| seen.starts_with(registry)), "{host}: {seen}");
            }
            for other in [format!("{namespace}-inc/{kind}"), format!("evilcorp/{kind}")] {
                assert!(namesake(&addr(&other)).is_some(), "{other}");
            }
        }
        assert_eq!(mistaken("hashicrop/aws").as_deref(), Some("hashicorp/aws"));
    }

    #[test]
    fn a_name_similar_to_one_in_use_is_mistaken() {
        let used = [addr("acme/widget"), addr("registry.example.com/acme/gadget")];
        let seen = |text: &str| mistaken_for(&addr(text), &used);
        assert_eq!(seen("acne/widget").as_deref(), Some("registry.terraform.io/acme/widget"));
        assert_eq!(seen("registry.examples.com/acme/x").as_deref(), Some("registry.example.com/acme/x"));
        // Its own namespace, the other registry, and what is used itself.
        for honest in
            ["acme/widgets", "registry.opentofu.org/acme/widget", "acme/widget", "hashicorp/aws", "other/thing"]
        {
            assert_eq!(seen(honest), None, "{honest}");
        }
        assert_eq!(mistaken_for(&addr("hashicrop/aws"), &[addr("hashicrop/aws")]), None);
    }

    #[test]
    fn providers_of_real_repositories_raise_no_alarm() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/realworld/locks"));
        if !folder.is_dir() {
            eprintln!("skipped: ../shared is not here");
            return;
        }
        let mut names = std::collections::BTreeSet::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read(&path).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                let labels = text.lines().filter_map(|line| line.strip_prefix("provider \"")?.split('"').next());
                names.extend(labels.filter_map(|label| ProviderAddr::parse(label, Dialect::Terraform).ok()));
            }
        }
        assert!(names.len() > 100, "only {} names are there", names.len());
        for name in &names {
            assert_eq!(mistaken_for(name, []), None, "{name}");
            let others = names.iter().filter(|other| *other != name);
            let seen = mistaken_for(name, others);
            assert_eq!(seen, None, "{name}");
        }
    }
}

/// Two edits, of which a swap of neighbours is one, touch at most four of these. So one of them is in both texts, at most two
/// places apart.
const PIECES: usize = 5;
const EDITS: usize = 2;

/// Some texts, by their pieces.
#[derive(Debug, Clone, Default)]
struct Near(HashMap<Piece, Vec<usize>>);

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Piece {
    /// How many characters the whole text has.
    length: usize,
    number: usize,
    characters: String,
}

impl Near {
    pub(super) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut pieces: HashMap<Piece, Vec<usize>> = HashMap::new();
        for (at, text) in texts.into_iter().enumerate() {
            let text: Vec<char> = text.chars().collect();
            for number in 0..PIECES {
                let characters = text[range(text.len(), number)].iter().collect();
                pieces.entry(Piece { length: text.len(), number, characters }).or_default().push(at);
            }
        }
        Self(pieces)
    }

    /// The numbers of all texts that are at most two edits away from this one, among few others.
    fn candidates(&self, text: &str) -> BTreeSet<usize> {
        let text: Vec<char> = text.chars().collect();
        let mut found = BTreeSet::new();
        for length in text.len().saturating_sub(EDITS)..=text.len() + EDITS {
            for number in 0..PIECES {
                let Range { start, end } = range(length, number);
                for from in start.saturating_sub(EDITS)..=start + EDITS {
                    let Some(part) = text.get(from..from + (end - start)) else { continue };
                    let piece = Piece { length, number, characters: part.iter().collect() };
                    found.extend(self.0.get(&piece).into_iter().flatten());
                }
            }
        }
        found
    }
}

fn range(length: usize, number: usize) -> Range<usize> {
    length * number / PIECES..length * (number + 1) / PIECES
}

#[cfg(test)]
mod near_tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_texts_are_compared() {
        let names = |word: &str| -> Vec<String> {
            (0..2_000_u64).map(|n| format!("{word}{:x}/{:x}", n * 7_919 % 65_537, n * 104_729 % 99_991)).collect()
        };
        let (old, new) = (names("acme"), names("other"));
        let near = Near::of(old.iter().map(String::as_str));
        let compared: usize = new.iter().map(|name| near.candidates(name).len()).sum();
        assert!(compared < 200_000, "{compared} of 4,000,000 pairs");
    }

    proptest! {
        #[test]
        fn what_is_near_is_a_candidate(one in "[ab/é]{0,14}", other in "[ab/é]{0,14}") {
            let is_near = strsim::osa_distance(&one, &other) <= EDITS;
            prop_assert!(!is_near || Near::of([one.as_str()]).candidates(&other).contains(&0));
        }

        #[test]
        fn what_was_edited_is_a_candidate(
            text in "[a-z/]{6,40}",
            edits in proptest::collection::vec((0..4, 0..40_usize, proptest::char::range('a', 'z')), 0..=EDITS),
        ) {
            let mut edited: Vec<char> = text.chars().collect();
            for (kind, at, character) in edits {
                let at = at % (edited.len() - 1);
                match kind {
                    0 => edited.insert(at, character),
                    1 => drop(edited.remove(at)),
                    2 => edited[at] = character,
                    _ => edited.swap(at, at + 1),
                }
            }
            let edited: String = edited.into_iter().collect();
            let is_near = strsim::osa_distance(&text, &edited) <= EDITS;
            prop_assert!(!is_near || Near::of([text.as_str()]).candidates(&edited).contains(&0));
        }
    }
}
