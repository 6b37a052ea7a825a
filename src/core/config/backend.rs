//! Where a root module keeps its state, as far as that says whom to ask for addresses of `localterraform.com`.
//!
//! Source: `genericHostname` in `internal/cloud/backend.go` and `internal/backend/remote/backend.go` of both tools.

use crate::addr::Hostname;
use crate::dialect::Dialect;

const OF_BOTH: &str = "localterraform.com";
const OF_TOFU: &str = "localtofu.com";

/// True for a name that means the host of a `cloud` block or of the `remote` backend, and is never asked itself.
pub fn is_stand_in(host: &Hostname) -> bool {
    [OF_BOTH, OF_TOFU].contains(&host.as_ascii())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    /// A `cloud` block, with its `hostname` if it has one.
    Cloud(Option<String>),
    /// The `remote` backend with a `hostname`.
    Remote(String),
    /// Another backend, or one whose host an expression or an option of `init` may give.
    Other,
}

/// What such a name means in one root module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StandIn {
    name: &'static str,
    pub host: Hostname,
}

impl Backend {
    /// `from_environment` is the value of `TF_CLOUD_HOSTNAME`.
    pub fn stand_in(&self, dialect: Dialect, from_environment: Option<&str>) -> Option<StandIn> {
        let default = || match (from_environment, dialect) {
            (Some(host), _) => Some(host),
            (None, Dialect::Terraform) => Some("app.terraform.io"),
            (None, Dialect::OpenTofu) => None,
        };
        let (name, host) = match (self, dialect) {
            (Self::Other, _) => return None,
            (Self::Cloud(named), _) => (OF_BOTH, named.as_deref().or_else(default)?),
            (Self::Remote(host), Dialect::Terraform) => (OF_BOTH, host.as_str()),
            (Self::Remote(host), Dialect::OpenTofu) => (OF_TOFU, host.as_str()),
        };
        Some(StandIn { name, host: Hostname::parse(host).ok()? })
    }
}

impl StandIn {
    pub fn is_for(&self, host: &Hostname) -> bool {
        host.as_ascii() == self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_has_its_own_name_and_only_terraform_a_default() {
        let cloud = |host: Option<&str>| Backend::Cloud(host.map(str::to_owned));
        let remote = || Backend::Remote("b.example".into());
        for (backend, environment, terraform, tofu) in [
            (cloud(Some("A.example")), Some("e.example"), Some((OF_BOTH, "a.example")), Some((OF_BOTH, "a.example"))),
            (cloud(None), Some("e.example"), Some((OF_BOTH, "e.example")), Some((OF_BOTH, "e.example"))),
            (cloud(None), None, Some((OF_BOTH, "app.terraform.io")), None),
            (cloud(Some("no host")), None, None, None),
            (remote(), Some("e.example"), Some((OF_BOTH, "b.example")), Some((OF_TOFU, "b.example"))),
            (Backend::Other, Some("e.example"), None, None),
        ] {
            for (dialect, expected) in [(Dialect::Terraform, terraform), (Dialect::OpenTofu, tofu)] {
                let found = backend.stand_in(dialect, environment);
                assert_eq!(found.as_ref().map(|it| (it.name, it.host.as_ascii())), expected, "{backend:?} {dialect:?}");
                let name = expected.map(|(name, _)| Hostname::parse(name).unwrap());
                assert!(name.is_none_or(|name| is_stand_in(&name) && found.unwrap().is_for(&name)));
            }
        }
    }
}
