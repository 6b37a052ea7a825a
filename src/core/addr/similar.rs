//! Addresses that are easily taken for another provider's: one or two letters off a well-known one, or off one that is in
//! use. What reads alike by letters of other scripts is in `verify/entry.rs`.

use std::collections::{BTreeMap, BTreeSet};
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
    // To parse a host takes more time than all else here.
    static SITES: LazyLock<Option<[Url; 2]>> = LazyLock::new(|| {
        let site = |host: &str| Url::parse(&format!("https://{host}/")).ok();
        Some([site("registry.terraform.io")?, site("search.opentofu.org")?])
    });
    let [terraform, opentofu] = SITES.as_ref()?;
    let name = format!("{}/{}", addr.namespace(), addr.type_name());
    let (site, path) = match addr.host().as_ascii() {
        "registry.terraform.io" => (terraform, format!("/providers/{name}/{version}")),
        "registry.opentofu.org" => (opentofu, format!("/provider/{name}/v{version}")),
        _ => return None,
    };
    let mut page = site.clone();
    page.set_path(&path);
    Some(page)
}

/// The addresses that are in use, for asking of many others which of these they may be mistaken for.
#[derive(Debug, Clone, Default)]
pub struct UsedNames {
    addresses: BTreeSet<ProviderAddr>,
    /// How many addresses have each host.
    hosts: BTreeMap<Hostname, usize>,
    host_names: SimilarNames,
    names: SimilarNames,
}

/// Texts in the order of their letters, so those that begin alike are compared once.
#[derive(Debug, Clone, Default)]
struct SimilarNames(Vec<Name>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    letters: Vec<char>,
    text: String,
    /// The address that it is of.
    shown: String,
}

impl SimilarNames {
    fn of(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let lettered = |(text, shown): (String, String)| Name { letters: text.chars().collect(), text, shown };
        let mut names: Vec<Name> = texts.into_iter().map(lettered).collect();
        names.sort();
        Self(names)
    }

    /// The first that is at most two edits away from a text, and passes.
    fn find(&self, text: &str, passes: impl Fn(&str) -> bool) -> Option<&str> {
        let mut distances = Distances::to(text);
        let mut rest = &self.0[..];
        while let Some((name, others)) = rest.split_first() {
            if let Some(beginning) = distances.too_far(&name.letters) {
                let is_alike = |other: &Name| other.letters.starts_with(&name.letters[..beginning]);
                rest = &rest[rest.partition_point(is_alike)..];
                continue;
            }
            if distances.whole() <= EDITS && passes(&name.text) {
                return Some(&name.shown);
            }
            rest = others;
        }
        None
    }

    /// Those that are this text.
    fn same(&self, text: &str) -> impl Iterator<Item = &str> {
        let letters: Vec<char> = text.chars().collect();
        let start = self.0.partition_point(|name| name.letters < letters);
        self.0[start..].iter().take_while(move |name| name.letters == letters).map(|name| name.shown.as_str())
    }
}

/// How many edits lead from each beginning of a text to each beginning of another; a swap of neighbours is one.
struct Distances {
    to: Vec<char>,
    from: Vec<char>,
    /// Those from the empty beginning, from the first letter, and so on.
    rows: Vec<Vec<usize>>,
}

/// How many edits make a name similar.
const EDITS: usize = 2;

impl Distances {
    fn to(text: &str) -> Self {
        let to: Vec<char> = text.chars().collect();
        Self { rows: vec![(0..=to.len()).collect()], from: Vec::new(), to }
    }

    /// Goes on to another text. How long a beginning of it is too far from every beginning, so whatever follows is too.
    fn too_far(&mut self, from: &[char]) -> Option<usize> {
        let alike = self.from.iter().zip(from).take_while(|(one, other)| one == other).count();
        self.rows.truncate(alike + 1);
        from.clone_into(&mut self.from);
        // A swap leads two letters on.
        let is_near = |row: &Vec<usize>, edits: usize| row.iter().any(|distance| *distance <= edits);
        while self.rows.len() <= from.len() {
            self.add_row();
            let [.., before, last] = &self.rows[..] else { break };
            if !is_near(last, EDITS) && !is_near(before, EDITS - 1) {
                return Some(self.rows.len() - 1);
            }
        }
        None
    }

    fn add_row(&mut self) {
        let (at, last) = (self.rows.len(), &self.rows[self.rows.len() - 1]);
        let mut row = vec![at];
        for (to, letter) in self.to.iter().enumerate() {
            let replaced = last[to] + usize::from(self.from[at - 1] != *letter);
            let mut fewest = replaced.min(last[to + 1] + 1).min(row[to] + 1);
            if at > 1 && to > 0 && self.from[at - 1] == self.to[to - 1] && self.from[at - 2] == *letter {
                fewest = fewest.min(self.rows[at - 2][to - 1] + 1);
            }
            row.push(fewest);
        }
        self.rows.push(row);
    }

    fn whole(&self) -> usize {
        self.rows[self.from.len()][self.to.len()]
    }
}

static WELL_KNOWN: LazyLock<SimilarNames> =
    LazyLock::new(|| SimilarNames::of(well_known().map(|name| (name.to_ascii_lowercase(), name.to_owned()))));

impl UsedNames {
    /// Indexes the addresses that are in use.
    pub fn of<'a>(used: impl IntoIterator<Item = &'a ProviderAddr>) -> Self {
        let addresses: BTreeSet<ProviderAddr> = used.into_iter().cloned().collect();
        let mut hosts: BTreeMap<Hostname, usize> = BTreeMap::new();
        for addr in &addresses {
            *hosts.entry(addr.host().clone()).or_default() += 1;
        }
        // Ports distinguish services on one host.
        let plain = hosts.keys().map(Hostname::as_ascii).filter(|host| !host.contains(':'));
        let host_names = REGISTRIES.into_iter().chain(plain).map(|host| (host.to_owned(), host.to_owned()));
        Self {
            host_names: SimilarNames::of(host_names),
            names: SimilarNames::of(addresses.iter().map(|addr| (name_of(addr), addr.to_string()))),
            addresses,
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
        if self.contains(addr) { None } else { self.mistaken_for_another(addr) }
    }

    /// The same for an address whether or not it is one of these itself.
    pub fn mistaken_for_another(&self, addr: &ProviderAddr) -> Option<String> {
        if let Some(host) = self.mistaken_host(addr) {
            return Some(format!("{host}/{}/{}", addr.namespace(), addr.type_name()));
        }
        let (own, shown) = (name_of(addr), addr.to_string());
        if WELL_KNOWN.same(&own).next().is_some() || self.names.same(&own).any(|other| other != shown) {
            return None;
        }
        let exchanged = format!("{}/{}", addr.type_name(), addr.namespace());
        let is_meant = addr.namespace() != addr.type_name();
        let lists = [&self.names, &*WELL_KNOWN];
        lists.into_iter().find_map(|names| {
            let swapped = names.same(&exchanged).next().filter(|_| is_meant);
            names.find(&own, |other| is_near(&own, other)).or(swapped).map(str::to_owned)
        })
    }

    /// The registry that the host of an address may be mistaken for.
    fn mistaken_host(&self, addr: &ProviderAddr) -> Option<&str> {
        let own = addr.host().as_ascii();
        let others = self.hosts.get(addr.host()).map_or(0, |count| count - usize::from(self.contains(addr)));
        if own.contains(':') || REGISTRIES.contains(&own) || others > 0 {
            return None;
        }
        self.host_names.find(own, |other| other != own && other.len() >= 8)
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

#[cfg(test)]
mod near_tests {
    use super::*;
    use proptest::prelude::*;

    fn found(names: &[&str], text: &str) -> Vec<String> {
        let names = SimilarNames::of(names.iter().map(|name| ((*name).to_owned(), (*name).to_owned())));
        let found = std::cell::RefCell::new(Vec::new());
        let none = names.find(text, |name| {
            found.borrow_mut().push(name.to_owned());
            false
        });
        assert_eq!(none, None);
        found.into_inner()
    }

    proptest! {
        #[test]
        fn what_is_near_is_found(names in proptest::collection::btree_set("[ab/é]{0,8}", 1..20), text in "[ab/é]{0,8}") {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let near = names.iter().copied().filter(|name| strsim::osa_distance(name, &text) <= EDITS);
            prop_assert_eq!(found(&names, &text), near.collect::<Vec<_>>());
        }

        #[test]
        fn what_was_edited_is_found(
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
            prop_assert_eq!(found(&["other/name", &text], &edited).contains(&text), is_near);
        }
    }
}
