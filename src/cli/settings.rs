//! Flags, environment, settings files and CLI configuration become one value for each root module.

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;

/// What is known of a root module and its surroundings that tells which tool it is for.
#[derive(Debug, Clone, Default)]
pub(super) struct Clues {
    /// The tool whose header the lock file has.
    pub(super) header: Option<Dialect>,
    /// The providers in the lock file.
    pub(super) locked: Vec<ProviderAddr>,
    /// True if there are `.tofu` files.
    pub(super) tofu_files: bool,
    /// True if there is CLI configuration that only Terraform reads.
    pub(super) terraform_config: bool,
    /// True if there is CLI configuration that only OpenTofu reads.
    pub(super) tofu_config: bool,
}

impl Clues {
    /// The tool, by the first clue that is clear; Terraform if none is.
    pub(super) fn dialect(&self) -> Dialect {
        let config = match (self.tofu_config, self.terraform_config) {
            (true, false) => Some(Dialect::OpenTofu),
            (false, true) => Some(Dialect::Terraform),
            _ => None,
        };
        let files = self.tofu_files.then_some(Dialect::OpenTofu);
        self.header.or_else(|| self.hosts()).or(files).or(config).unwrap_or(Dialect::Terraform)
    }

    /// The tool whose own registry has providers here, unless both have.
    fn hosts(&self) -> Option<Dialect> {
        let has = |dialect: Dialect| {
            let host = dialect.default_registry_host();
            self.locked.iter().any(|addr| addr.host().as_ascii() == host)
        };
        match (has(Dialect::Terraform), has(Dialect::OpenTofu)) {
            (true, false) => Some(Dialect::Terraform),
            (false, true) => Some(Dialect::OpenTofu),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addr(host: &str) -> ProviderAddr {
        ProviderAddr::parse(&format!("{host}/acme/widget"), Dialect::Terraform).unwrap()
    }

    #[test]
    fn the_first_clear_clue_counts() {
        use Dialect::{OpenTofu, Terraform};
        let none = Clues::default();
        assert_eq!(none.dialect(), Terraform);
        let config = Clues { tofu_config: true, ..none };
        assert_eq!(config.dialect(), OpenTofu);
        assert_eq!(Clues { terraform_config: true, ..config.clone() }.dialect(), Terraform);
        let files = Clues { tofu_files: true, terraform_config: true, ..Clues::default() };
        assert_eq!(files.dialect(), OpenTofu);
        let hosts = Clues { locked: vec![addr("registry.terraform.io"), addr("example.com")], ..files };
        assert_eq!(hosts.dialect(), Terraform);
        let both =
            Clues { locked: vec![addr("registry.terraform.io"), addr("registry.opentofu.org")], ..hosts.clone() };
        assert_eq!(both.dialect(), OpenTofu);
        assert_eq!(Clues { header: Some(OpenTofu), ..hosts }.dialect(), OpenTofu);
    }
}
