//! The publishers whose signing keys are known, with the pages where anyone can compare them. They publish a new key now and
//! then: a different key is no more than a reason to look.

use std::sync::LazyLock;

use super::Fingerprint;
use crate::addr::{AddrPattern, ProviderAddr};
use crate::dialect::Dialect;

/// A publisher, and the keys by which it signs the providers of a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publisher {
    /// Its name.
    pub name: &'static str,
    pub keys: Vec<PublisherKey>,
    /// True if it announces all of its keys, so a different one is unexpected.
    pub is_complete: bool,
    namespace: &'static str,
    /// The one provider that these keys sign; `None` for all of the namespace.
    type_name: Option<&'static str>,
    hosts: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublisherKey {
    /// The fingerprint of a primary key.
    pub fingerprint: &'static str,
    /// The page where anyone can compare it.
    pub source: &'static str,
    pub date: &'static str,
}

static PUBLISHERS: LazyLock<Vec<Publisher>> = LazyLock::new(|| {
    let mut publishers: Vec<Publisher> = Vec::new();
    for row in include_str!("publishers.txt").lines().filter_map(Publisher::of_row) {
        let own = |it: &&mut Publisher| {
            (it.name, it.namespace, it.type_name, &it.hosts) == (row.name, row.namespace, row.type_name, &row.hosts)
        };
        match publishers.iter_mut().find(own) {
            Some(publisher) => publisher.keys.extend(row.keys),
            None => publishers.push(row),
        }
    }
    publishers
});

impl Publisher {
    /// A row of the list, with its one key; `None` for a comment.
    fn of_row(row: &'static str) -> Option<Self> {
        let mut cells = row.split(" | ");
        let mut cell = || cells.next();
        let (provider, name, registries) = (cell().filter(|cell| !cell.starts_with('#'))?, cell()?, cell()?);
        let (fingerprint, kind, source, date) = (cell()?, cell()?, cell()?, cell()?);
        let (namespace, type_name) = match provider.split_once('/') {
            Some((namespace, type_name)) => (namespace, Some(type_name)),
            None => (provider, None),
        };
        let of = |name: &str, dialect: Dialect| {
            (registries == name || registries == "both").then(|| dialect.default_registry_host())
        };
        let hosts = [of("terraform", Dialect::Terraform), of("tofu", Dialect::OpenTofu)];
        Some(Self {
            name,
            keys: vec![PublisherKey { fingerprint, source, date }],
            is_complete: kind == "announced",
            namespace,
            type_name,
            hosts: hosts.into_iter().flatten().collect(),
        })
    }

    pub fn has(&self, key: &Fingerprint) -> bool {
        self.key(key).is_some()
    }

    pub fn key(&self, key: &Fingerprint) -> Option<&PublisherKey> {
        self.keys.iter().find(|known| known.fingerprint == key.as_str())
    }
}

/// All publishers, in the order of the list.
pub fn all() -> impl Iterator<Item = &'static Publisher> {
    PUBLISHERS.iter()
}

/// Who publishes a provider, if that is well known.
pub fn publisher(addr: &ProviderAddr) -> Option<&'static Publisher> {
    let is_of = |it: &&Publisher| {
        it.hosts.contains(&addr.host().as_ascii())
            && it.namespace == addr.namespace()
            && it.type_name.is_none_or(|name| name == addr.type_name())
    };
    all().find(is_of)
}

/// The well-known publishers of providers that a pattern covers.
pub fn publishers(pattern: &AddrPattern) -> impl Iterator<Item = &'static Publisher> {
    all().filter(|it| it.hosts.iter().any(|host| pattern.reaches(host, it.namespace)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::well_known;

    #[test]
    fn every_row_is_complete_and_sourced() {
        let rows = include_str!("publishers.txt").lines().filter(|line| !line.starts_with('#'));
        let keys: usize = all().map(|it| it.keys.len()).sum();
        assert_eq!(rows.clone().count(), keys);
        for row in rows {
            let cells: Vec<&str> = row.split(" | ").collect();
            assert!(cells.len() == 7 && cells.iter().all(|cell| !cell.is_empty() && cell.trim() == *cell), "{row}");
            assert!(["terraform", "tofu", "both"].contains(&cells[2]), "{row}");
            assert!(["announced", "listed"].contains(&cells[4]), "{row}");
            assert!(cells[3].parse::<Fingerprint>().is_ok_and(|key| key.as_str() == cells[3]), "{row}");
            assert!(cells[5].starts_with("https://") && !cells[5].contains("/main/"), "{row}");
            assert!(cells[6].parse::<crate::settings::Date>().is_ok(), "{row}");
        }
    }

    /// `UPDATE=1` rewrites the table.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test looks at the page")]
    fn the_page_has_every_key() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/publishers.md");
        let page = std::fs::read_to_string(path).unwrap();
        let (text, _) = page.split_once("|---|---|---|---|\n").unwrap();
        let row = |row: &str| {
            let cells: Vec<&str> = row.split(" | ").collect();
            let [provider, name, registries, key, kind, source, date] = cells[..] else { panic!("{row}") };
            let providers = if provider.contains('/') { provider.to_owned() } else { format!("{provider}/*") };
            let registry = match registries {
                "terraform" => " (registry.terraform.io)",
                "tofu" => " (registry.opentofu.org)",
                _ => "",
            };
            format!("| {name} | `{providers}`{registry} | `{key}` | [{kind}]({source}), {date} |\n")
        };
        let rows = include_str!("publishers.txt").lines().filter(|line| !line.starts_with('#')).map(row);
        let wanted = format!("{text}|---|---|---|---|\n{}", rows.collect::<Vec<_>>().concat());
        if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
            std::fs::write(path, wanted).unwrap();
            return;
        }
        assert!(page == wanted, "UPDATE=1 rewrites docs/publishers.md");
    }

    #[test]
    fn publishers_are_of_well_known_providers() {
        for publisher in all().filter(|it| it.namespace != "opentofu") {
            let is_of = |name: &str| {
                let name = name.to_ascii_lowercase();
                let (namespace, type_name) = name.split_once('/').unwrap();
                namespace == publisher.namespace && publisher.type_name.is_none_or(|own| own == type_name)
            };
            assert!(well_known().any(is_of), "{publisher:?}");
        }
    }

    #[test]
    fn a_key_and_an_address_have_a_publisher() {
        let addr = |text: &str| ProviderAddr::parse(text, Dialect::Terraform).unwrap();
        let hashicorp: Fingerprint = "C874011F0AB405110D02105534365D9472D7468F".parse().unwrap();
        let owner = |key: &Fingerprint| all().find(|it| it.has(key)).map(|it| it.name);
        assert_eq!(owner(&hashicorp), Some("HashiCorp"));
        assert!(publisher(&addr("hashicorp/aws")).unwrap().has(&hashicorp));
        // Each registry has its own publisher of that namespace.
        let tofu = publisher(&addr("registry.opentofu.org/hashicorp/aws")).unwrap();
        assert!(tofu.name == "OpenTofu" && !tofu.has(&hashicorp));
        assert_eq!(publisher(&addr("registry.opentofu.org/datadog/datadog")).unwrap().name, "Datadog");
        assert_eq!(publisher(&addr("azure/azapi")).unwrap().name, "Microsoft");
        let others = ["azure/alz", "acme/widget", "example.com/hashicorp/aws"];
        assert!(others.iter().all(|other| publisher(&addr(other)).is_none()));
        assert!(owner(&"A".repeat(40).parse().unwrap()).is_none());
    }
}
