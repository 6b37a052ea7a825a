//! `list`: the entries of the lock file, with what is known of them.

use crate::addr::ProviderAddr;
use crate::lockfile::{LockEntry, LockFile};
use crate::outcome::Listed;
use crate::platform::Platform;
use crate::requirements::Requirements;

/// What is known of an entry beside the lock file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attribution {
    /// The platforms of its hashes.
    pub platforms: Vec<Platform>,
    /// The fingerprint of its signer, or `unsigned`.
    pub signer: Option<String>,
}

/// The entries in the order of the lock file.
///
/// Without `requirements`, which is without configuration, it is not known which entries are required.
pub fn list(
    lock: &LockFile,
    requirements: Option<&Requirements>,
    attribute: &dyn Fn(&ProviderAddr, &LockEntry) -> Attribution,
) -> Vec<Listed> {
    lock.iter()
        .map(|(address, entry)| {
            let Attribution { platforms, signer } = attribute(address, entry);
            Listed {
                address: address.clone(),
                entry: entry.clone(),
                required: requirements.map(|requirements| requirements.get(address).is_some()),
                platforms,
                signer,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::version::{Constraints, Version};

    #[test]
    fn entries_are_listed_with_what_is_known() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let mut lock = LockFile::new();
        let entry = LockEntry {
            version: Version::new(1, 2, 3),
            constraints: Constraints::default(),
            hashes: std::iter::empty().collect(),
        };
        lock.insert(addr.clone(), entry);
        let attribute = |addr: &ProviderAddr, _: &LockEntry| Attribution {
            platforms: Vec::new(),
            signer: Some(addr.kind().to_uppercase()),
        };
        let listed = list(&lock, Some(&Requirements::new()), &attribute);
        assert_eq!((listed[0].required, listed[0].signer.as_deref()), (Some(false), Some("WIDGET")));
        assert_eq!(list(&lock, None, &attribute)[0].required, None);
    }
}
