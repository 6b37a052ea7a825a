//! The two tools whose files we read and write, as far as they differ.
//!
//! A [`Dialect`] decides the header of the lock file, the host that a short source address means and which files are
//! configuration. It must not know how any of these is read.

use std::fmt;

/// Terraform or OpenTofu.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// Terraform, as of 1.17.
    Terraform,
    /// OpenTofu, as of 1.13.
    OpenTofu,
}

impl Dialect {
    /// The other tool.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Dialect::Terraform => Dialect::OpenTofu,
            Dialect::OpenTofu => Dialect::Terraform,
        }
    }

    /// The name of the program: `terraform` or `tofu`.
    pub fn program(self) -> &'static str {
        match self {
            Dialect::Terraform => "terraform",
            Dialect::OpenTofu => "tofu",
        }
    }

    /// The name of the product, for users.
    pub fn product(self) -> &'static str {
        match self {
            Dialect::Terraform => "Terraform",
            Dialect::OpenTofu => "OpenTofu",
        }
    }

    /// The registry host of source addresses that name none.
    pub fn default_registry_host(self) -> &'static str {
        match self {
            Dialect::Terraform => "registry.terraform.io",
            Dialect::OpenTofu => "registry.opentofu.org",
        }
    }

    /// The hosts whose namespace `builtin` contains providers that are part of the program and cannot be locked.
    pub fn built_in_hosts(self) -> &'static [&'static str] {
        match self {
            Dialect::Terraform => &["terraform.io"],
            Dialect::OpenTofu => &["terraform.io", "opentofu.org"],
        }
    }

    /// The prefix that a provider type must not begin with: `terraform-` for both, and `opentofu-` for OpenTofu.
    pub fn redundant_type_prefixes(self) -> &'static [&'static str] {
        match self {
            Dialect::Terraform => &["terraform-"],
            Dialect::OpenTofu => &["terraform-", "opentofu-"],
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.product())
    }
}
