//! What other places say a release is: witnesses of its first use.
//!
//! Trust on first use is weakest at the first use: one registry names the key, the list of checksums and the archives. A witness is
//! another place that knows these archives: the other public registry, or what GitHub computed when they were uploaded. It replaces
//! no signature, no pin and no hash. The file sends no request and knows no settings.
//!
//! ```text
//! WitnessPlace ──[inquiry]──► who is asked about what ──► Testimony ──[opinion]──► agrees, differs, silent
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::addr::{Hostname, ProviderAddr};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::hash::Sha256Digest;

/// Namespaces whose releases each public registry has of its own: `OpenTofu` builds those of `HashiCorp` again.
pub const REBUILT: [&str; 2] = ["hashicorp", "opentofu"];

/// A place that may know the archives of releases.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WitnessPlace {
    /// A provider registry.
    Registry(Hostname),
    /// The digests of files that GitHub computed when they were uploaded to a release: `github`.
    GitHub,
}

/// A text that names no such place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no witness: expected the host of a provider registry, or \"github\"")]
pub struct BadWitness(pub String);

impl FromStr for WitnessPlace {
    type Err = BadWitness;

    fn from_str(text: &str) -> Result<Self, BadWitness> {
        if text == "github" {
            return Ok(Self::GitHub);
        }
        let host = Hostname::parse(text).ok().filter(|_| text.contains(['.', ':']) || text == "localhost");
        host.map(Self::Registry).ok_or_else(|| BadWitness(text.to_owned()))
    }
}

/// As settings name it.
impl fmt::Display for WitnessPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(host) => host.fmt(f),
            Self::GitHub => f.write_str("github"),
        }
    }
}

/// What a place is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Inquiry {
    /// The provider as this registry has it.
    Registry(ProviderAddr),
    /// The release in the repository of this owner and name.
    GitHub { owner: String, name: String },
}

impl WitnessPlace {
    /// The places that can know releases of a provider of a public registry.
    pub fn of_public(addr: &ProviderAddr) -> Vec<Self> {
        let hosts = [Dialect::Terraform, Dialect::OpenTofu].map(Dialect::default_registry_host);
        if !hosts.contains(&addr.host().as_ascii()) {
            return Vec::new();
        }
        let registries = hosts.iter().filter_map(|host| Hostname::parse(host).ok()).map(Self::Registry);
        registries.chain([Self::GitHub]).filter(|place| place.inquiry(addr).is_some()).collect()
    }

    /// What the place can be asked about a provider; `None` if it cannot have the same archives.
    pub fn inquiry(&self, addr: &ProviderAddr) -> Option<Inquiry> {
        let [terraform, tofu] = [Dialect::Terraform, Dialect::OpenTofu].map(Dialect::default_registry_host);
        let host = addr.host().as_ascii();
        let is_rebuilt = REBUILT.contains(&addr.namespace());
        match self {
            Self::GitHub if host == terraform && is_rebuilt => None,
            Self::GitHub => {
                let owner = if host == tofu && is_rebuilt { "opentofu" } else { addr.namespace() };
                let name = format!("terraform-provider-{}", addr.type_name());
                Some(Inquiry::GitHub { owner: owner.to_owned(), name })
            }
            Self::Registry(other) => {
                let is_public = [terraform, tofu].contains(&host);
                let is_witness = if is_public {
                    !is_rebuilt && [terraform, tofu].contains(&other.as_ascii()) && other != addr.host()
                } else {
                    other != addr.host()
                };
                is_witness.then(|| Inquiry::Registry(addr.at(other.clone())))
            }
        }
    }
}

/// What one place said of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Testimony {
    pub place: WitnessPlace,
    /// The files that it knows, with their digests, or why there is no usable answer.
    pub files: Result<BTreeMap<String, Sha256Digest>, Error>,
}

/// What follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Opinion {
    /// It has so many of the archives, and each is the same.
    Agrees(usize),
    /// It has a different archive under the same name.
    Differs { file: String, here: Sha256Digest, there: Sha256Digest },
    /// It has no archive of the release, or gave no usable answer.
    Silent,
}

/// The opinion of one place, with the reason why it gave no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WitnessAnswer {
    pub place: WitnessPlace,
    pub opinion: Opinion,
    pub unanswered: Option<String>,
}

/// `{"place": …, "opinion": "agrees", "archives": …}`; `differs` has the file and both digests, `silent` the reason if there is one.
impl Serialize for WitnessAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("place", &self.place.to_string())?;
        match &self.opinion {
            Opinion::Agrees(archives) => {
                map.serialize_entry("opinion", "agrees")?;
                map.serialize_entry("archives", archives)?;
            }
            Opinion::Differs { file, here, there } => {
                map.serialize_entry("opinion", "differs")?;
                map.serialize_entry("file", file)?;
                map.serialize_entry("here", &here.to_hex())?;
                map.serialize_entry("there", &there.to_hex())?;
            }
            Opinion::Silent => {
                map.serialize_entry("opinion", "silent")?;
                map.serialize_entry("reason", &self.unanswered)?;
            }
        }
        map.end()
    }
}

impl Testimony {
    /// Compares with the archives that the checksums of a release name.
    pub fn opinion(&self, archives: &BTreeSet<(String, Sha256Digest)>) -> Opinion {
        let Ok(files) = &self.files else { return Opinion::Silent };
        let common = archives.iter().filter_map(|(name, here)| Some((name, here, files.get(name)?)));
        let mut same = 0;
        for (name, here, there) in common {
            if here != there {
                return Opinion::Differs { file: name.clone(), here: *here, there: *there };
            }
            same += 1;
        }
        if same == 0 { Opinion::Silent } else { Opinion::Agrees(same) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// The table of who can be a witness of whom.
    #[test]
    fn who_can_be_a_witness_of_whom() {
        let table = [
            ("registry.terraform.io/hashicorp/aws", None, None),
            ("registry.terraform.io/opentofu/aws", None, None),
            (
                "registry.terraform.io/acme/widget",
                Some("registry.opentofu.org/acme/widget"),
                Some("acme/terraform-provider-widget"),
            ),
            ("registry.opentofu.org/hashicorp/aws", None, Some("opentofu/terraform-provider-aws")),
            ("registry.opentofu.org/opentofu/aws", None, Some("opentofu/terraform-provider-aws")),
            (
                "registry.opentofu.org/acme/widget",
                Some("registry.terraform.io/acme/widget"),
                Some("acme/terraform-provider-widget"),
            ),
            (
                "registry.example.com/acme/widget",
                Some("registry.terraform.io/acme/widget"),
                Some("acme/terraform-provider-widget"),
            ),
        ];
        for (addr, registry, repository) in table {
            let addr = ProviderAddr::parse(addr, Dialect::OpenTofu).unwrap();
            let places = ["registry.terraform.io", "registry.opentofu.org", "registry.corp.example"];
            let asked = places.iter().filter_map(|place| place.parse::<WitnessPlace>().unwrap().inquiry(&addr));
            let first = asked.take(1).map(|it| match it {
                Inquiry::Registry(addr) => addr.to_string(),
                Inquiry::GitHub { .. } => panic!("{addr}"),
            });
            assert_eq!(first.collect::<Vec<_>>().first().map(String::as_str), registry, "{addr}");
            let github = WitnessPlace::GitHub.inquiry(&addr).map(|it| match it {
                Inquiry::GitHub { owner, name } => format!("{owner}/{name}"),
                Inquiry::Registry(_) => panic!("{addr}"),
            });
            assert_eq!(github.as_deref(), repository, "{addr}");
        }
    }

    #[test]
    fn places_are_hosts_or_github() {
        for text in ["registry.opentofu.org", "github", "localhost:8443", "registry.example.com"] {
            assert_eq!(text.parse::<WitnessPlace>().unwrap().to_string(), text);
        }
        for bad in ["", "git hub", "GitHub", "opentofu", "https://registry.opentofu.org"] {
            assert_eq!(bad.parse::<WitnessPlace>(), Err(BadWitness(bad.to_owned())), "{bad}");
        }
    }

    #[test]
    fn names_that_both_have_decide() {
        let digest = |byte: u8| Sha256Digest::from_hex(&format!("{byte:02x}").repeat(32)).unwrap();
        let archives: BTreeSet<_> = [("a.zip".to_owned(), digest(1)), ("b.zip".to_owned(), digest(2))].into();
        let said = |files: &[(&str, u8)]| {
            let files = files.iter().map(|(name, byte)| ((*name).to_owned(), digest(*byte))).collect();
            Testimony { place: WitnessPlace::GitHub, files: Ok(files) }.opinion(&archives)
        };
        assert_eq!(said(&[("a.zip", 1), ("b.zip", 2), ("manifest.json", 3)]), Opinion::Agrees(2));
        assert_eq!(said(&[("b.zip", 2)]), Opinion::Agrees(1));
        let differs = Opinion::Differs { file: "b.zip".to_owned(), here: digest(2), there: digest(9) };
        assert_eq!(said(&[("a.zip", 1), ("b.zip", 9)]), differs);
        assert_eq!(said(&[("c.zip", 1)]), Opinion::Silent);
        assert_eq!(said(&[]), Opinion::Silent);
        let error = Error::new(ErrorKind::Unavailable, "no answer");
        assert_eq!(Testimony { place: WitnessPlace::GitHub, files: Err(error) }.opinion(&archives), Opinion::Silent);
    }
}
