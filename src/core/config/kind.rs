//! Kinds of root modules: which files are the configuration of a lock file, and what differs from kind to kind.
//!
//! Names alone decide, so a tree of git is judged as a directory is. A further kind is a variant here, a row in the table
//! of traits, and a reader in `disk/roots`.
//!
//! Source: `internal/stacks/stackconfig/` of Terraform 1.13 and later, and the documentation of Terragrunt.

use super::files::{CONFIGURATION, TESTS, is_ignored, suffix};
use crate::dialect::Dialect;
use crate::requirements::{STACKS, is_of_stack};

/// What reads the configuration next to a lock file. The last kind whose files a directory has is the kind of its root
/// module.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RootKind {
    /// A module of Terraform or OpenTofu.
    #[default]
    Module,
    /// A Terraform stack.
    Stack,
    /// A unit of Terragrunt.
    Unit,
}

/// What differs from kind to kind.
#[derive(Debug, PartialEq, Eq)]
pub struct KindTraits {
    /// For users: `a Terraform stack`.
    pub phrase: &'static str,
    /// Whether the lock file has a header of Terraform Stacks; then it records no constraints.
    pub has_stacks_header: bool,
    /// Platforms that are wanted in addition to those of the settings.
    pub platforms: &'static [&'static str],
    /// Whether packages come from the origin registry alone.
    pub only_origin: bool,
    /// Whether the tool keeps entries that nothing requires.
    pub keeps_unused: bool,
    /// The file of a new requirement where there is no `required_providers`; `None` if requirements are edited by hand.
    pub new_requirement: Option<&'static str>,
    /// Why nothing can be installed next to the lock file, if so.
    pub no_install: Option<&'static str>,
    /// Why the lock file cannot become one of the other tool, if so.
    pub no_migration: Option<&'static str>,
    /// What writes the lock file, behind the name of the program.
    pub init: &'static str,
}

/// The files that name the version of a tool, as version managers read them.
pub const VERSION_FILES: [&str; 5] =
    [".terraform-version", ".opentofu-version", ".tool-versions", "mise.toml", ".mise.toml"];

/// The files of a unit; the second replaces the first.
pub const UNIT_FILES: [&str; 2] = ["terragrunt.hcl", "terragrunt.hcl.json"];

impl RootKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Module, Self::Stack, Self::Unit];

    /// The kind of the root module in a directory with files of these names; `None` without configuration.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>, dialect: Dialect) -> Option<Self> {
        names.into_iter().filter_map(|name| Self::of_file(name, dialect)).max()
    }

    /// The kind that a file makes its directory.
    fn of_file(name: &str, dialect: Dialect) -> Option<Self> {
        let is_test = dialect == Dialect::Terraform && suffix(name, &TESTS, dialect).is_some();
        if UNIT_FILES.contains(&name) {
            Some(Self::Unit)
        } else if is_ignored(name) {
            None
        } else if dialect == Dialect::Terraform && is_of_stack(name) {
            Some(Self::Stack)
        } else {
            (is_test || suffix(name, &CONFIGURATION, dialect).is_some()).then_some(Self::Module)
        }
    }

    /// The word for some root modules of this kind.
    pub fn noun(self, count: usize) -> &'static str {
        match (self, count) {
            (Self::Module, 1) => "module",
            (Self::Module, _) => "modules",
            (Self::Stack, 1) => "stack",
            (Self::Stack, _) => "stacks",
            (Self::Unit, 1) => "unit",
            (Self::Unit, _) => "units",
        }
    }

    /// True for the names of files that are configuration of a root module of this kind; test files are none.
    pub fn is_configuration(self, name: &str) -> bool {
        match self {
            Self::Module => super::is_configuration(name),
            Self::Stack => is_of_stack(name),
            Self::Unit => UNIT_FILES.contains(&name),
        }
    }

    /// What differs from kind to kind.
    pub fn traits(self) -> &'static KindTraits {
        const MODULE: KindTraits = KindTraits {
            phrase: "a module",
            has_stacks_header: false,
            platforms: &[],
            only_origin: false,
            keeps_unused: false,
            new_requirement: Some("versions.tf"),
            no_install: None,
            no_migration: None,
            init: "init",
        };
        const STACK: KindTraits = KindTraits {
            phrase: "a Terraform stack",
            has_stacks_header: true,
            // HCP Terraform runs there.
            platforms: &["linux_amd64"],
            only_origin: true,
            keeps_unused: true,
            new_requirement: Some("providers.tfcomponent.hcl"),
            no_install: Some("HCP Terraform installs its providers and modules"),
            no_migration: Some("OpenTofu has no stacks"),
            init: "stacks init",
        };
        const UNIT: KindTraits = KindTraits {
            phrase: "a Terragrunt unit",
            new_requirement: None,
            no_install: Some(
                "Terragrunt runs the tool in .terragrunt-cache; `tflock mirror -r DIR` writes a filesystem mirror for its providers",
            ),
            no_migration: Some("Terragrunt assembles its configuration, which tflock does not edit"),
            ..MODULE
        };
        match self {
            Self::Module => &MODULE,
            Self::Stack => &STACK,
            Self::Unit => &UNIT,
        }
    }
}

/// True for the names of files that are configuration of a root module of some kind; test files are none.
pub fn is_root_configuration(name: &str) -> bool {
    RootKind::ALL.into_iter().any(|kind| kind.is_configuration(name))
}

/// The ends of the names of such files.
pub fn suffixes() -> impl Iterator<Item = &'static str> {
    let of_modules = CONFIGURATION.into_iter().flat_map(|(terraform, tofu)| [terraform, tofu]);
    of_modules.chain(STACKS.into_iter().flatten()).chain(UNIT_FILES)
}

/// True for the files of a stack of Terraform up to 1.13.
pub fn is_of_old_stack(name: &str) -> bool {
    STACKS.iter().any(|[_, old]| name.ends_with(old))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_kind_of_which_there_is_a_file_counts() {
        let of = |names: &[&str], dialect| RootKind::of(names.iter().copied(), dialect);
        for (names, terraform, tofu) in [
            (&["main.tf"][..], Some(RootKind::Module), Some(RootKind::Module)),
            (&["main.tofu"], None, Some(RootKind::Module)),
            (&["a.tftest.hcl"], Some(RootKind::Module), None),
            (&["a.tfcomponent.hcl", "main.tf"], Some(RootKind::Stack), Some(RootKind::Module)),
            (&["a.tfstack.json"], Some(RootKind::Stack), None),
            (&["a.tfdeploy.hcl", ".terraform.lock.hcl", "root.hcl"], None, None),
            (&["main.tf", "a.tfcomponent.json", "terragrunt.hcl"], Some(RootKind::Unit), Some(RootKind::Unit)),
            (&["terragrunt.hcl.json"], Some(RootKind::Unit), Some(RootKind::Unit)),
            (&["x.terragrunt.hcl", "terragrunt.stack.hcl", ".#a.tfcomponent.hcl"], None, None),
        ] {
            assert_eq!([of(names, Dialect::Terraform), of(names, Dialect::OpenTofu)], [terraform, tofu], "{names:?}");
        }
    }

    #[test]
    fn configuration_of_a_kind_has_one_of_the_suffixes() {
        for name in
            ["a.tf", "a.tofu.json", "a.tfcomponent.hcl", "a.tfstack.json", "terragrunt.hcl", "a.hcl", "x.tfvars"]
        {
            let is_kind =
                RootKind::of([name], Dialect::OpenTofu).or(RootKind::of([name], Dialect::Terraform)).is_some();
            assert_eq!(is_root_configuration(name), is_kind, "{name}");
            assert_eq!(suffixes().any(|suffix| name.ends_with(suffix)), is_kind, "{name}");
        }
    }
}
