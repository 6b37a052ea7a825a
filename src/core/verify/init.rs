//! What the tools will change of a lock file though nothing in it is wrong.

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, Rule};
use crate::hash::HashScheme;
use crate::lockfile::{LockEntry, LockFile};
use crate::requirements::state_translation;

/// What the tool of a lock file will change of an entry, or refuses the file for.
pub fn init_changes(addr: &ProviderAddr, lock: &LockFile, dialect: Dialect) -> Vec<Finding> {
    let Some(entry) = lock.get(addr) else { return Vec::new() };
    foreign_schemes(addr, entry, dialect).into_iter().chain(taken_over(addr, lock, dialect)).collect()
}

/// An entry that the configuration does not require and no state can need: OpenTofu, where it translates the addresses of
/// states, never reads this one there.
pub fn unreachable_from_state(addr: &ProviderAddr) -> Option<Finding> {
    let message = format!(
        "{addr} is not required by the configuration or by any state: tofu reads that address in a state as {}, so `tofu \
         init` removes the entry, and refuses the file with -lockfile=readonly",
        state_translation(addr)?
    );
    Some(Finding::new(Rule::InitChanges, message).about(addr))
}

/// Hashes that `init` does not keep.
fn foreign_schemes(addr: &ProviderAddr, entry: &LockEntry, dialect: Dialect) -> Option<Finding> {
    entry.hashes.of(HashScheme::Other).next()?;
    let message = format!(
        "`{} init` drops the hashes of {addr} {} whose scheme it does not know when it installs the package",
        dialect.program(),
        entry.version
    );
    let finding = Finding::new(Rule::InitChanges, message).about(addr).of_version(&entry.version);
    Some(
        finding.remedied_by(
            "Remove those lines, or commit what `init` leaves: no tool compares such hashes with packages.",
        ),
    )
}

/// An entry that `OpenTofu` takes for one of its own registry as well, since it might be that of Terraform's provider of
/// the same name.
///
/// Source: opentofu `internal/depsfile/locks.go`, `UpgradeFromPredecessorProject`: without the hashes, and only where there
/// is no such entry.
fn taken_over(addr: &ProviderAddr, lock: &LockFile, dialect: Dialect) -> Option<Finding> {
    let host = |dialect: Dialect| dialect.default_registry_host();
    let is_old = addr.host().as_ascii() == host(Dialect::Terraform) && addr.namespace() == "hashicorp";
    if dialect != Dialect::OpenTofu || !is_old {
        return None;
    }
    let own =
        ProviderAddr::parse(&format!("{}/{}/{}", host(dialect), addr.namespace(), addr.type_name()), dialect).ok()?;
    if lock.get(&own).is_some() {
        return None;
    }
    let message = format!(
        "tofu reads the entry of {addr} as one of {own} too: `tofu init -lockfile=readonly` refuses the file, and `tofu \
         providers lock` adds an entry for {own} that pins nothing"
    );
    let finding = Finding::new(Rule::InitChanges, message).about(addr);
    Some(finding.remedied_by(
        "If registry.opentofu.org has the provider, leave the host out of its source address; `tflock lock --prune` removes what `tofu providers lock` added.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const H2: &str = "h2:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

    /// What is said of the first of some entries, each with a zh: or an h2: hash.
    fn warnings(addrs: &[&str], hash: &str, dialect: Dialect) -> Vec<String> {
        let addr = |text: &str| ProviderAddr::parse(text, dialect).unwrap();
        let mut lock = LockFile::new();
        for text in addrs {
            let hashes = [hash.parse().unwrap()].into_iter().collect();
            let entry = LockEntry { version: "1.0.0".parse().unwrap(), constraints: "".parse().unwrap(), hashes };
            lock.insert(addr(text), entry);
        }
        init_changes(&addr(addrs[0]), &lock, dialect).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn tofu_takes_an_entry_of_terraform_for_its_own() {
        let old = "registry.terraform.io/hashicorp/null";
        let [message] = &warnings(&[old], "zh:a", Dialect::OpenTofu)[..] else { panic!() };
        assert!(message.contains("reads the entry of registry.terraform.io/hashicorp/null as one of registry.opentofu.org/hashicorp/null too"), "{message}");
        assert!(warnings(&[old], "zh:a", Dialect::Terraform).is_empty());
        assert!(warnings(&[old, "registry.opentofu.org/hashicorp/null"], "zh:a", Dialect::OpenTofu).is_empty());
        for other in ["registry.terraform.io/acme/null", "registry.example.com/hashicorp/null", "hashicorp/null"] {
            assert!(warnings(&[other], "zh:a", Dialect::OpenTofu).is_empty(), "{other}");
        }
    }

    #[test]
    fn hashes_of_an_unknown_scheme_are_dropped() {
        assert!(warnings(&["acme/null"], H2, Dialect::Terraform)[0].contains("`terraform init` drops the hashes"));
        assert!(warnings(&["acme/null"], "zh:a", Dialect::Terraform).is_empty());
    }
}
