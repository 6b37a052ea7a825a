//! `why`: which module, file and line asks for a provider, and with which constraint.

use crate::addr::ProviderAddr;
use crate::lockfile::LockFile;
use crate::outcome::Required;
use crate::requirements::Requirements;

/// The required providers, all of them or only some, with the version that the lock file selects.
///
/// In the order of the lock file. Of the providers asked for, those that are not required are not in the answer.
pub fn why(requirements: &Requirements, lock: Option<&LockFile>, only: &[ProviderAddr]) -> Vec<Required> {
    requirements
        .iter()
        .filter(|(address, _)| only.is_empty() || only.contains(address))
        .map(|(address, requirement)| Required {
            address: address.clone(),
            requirement: requirement.clone(),
            locked: lock.and_then(|lock| lock.get(address)).map(|entry| entry.version.clone()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::lockfile::LockEntry;
    use crate::requirements::{Origin, OriginKind};
    use crate::version::{Constraints, Version};

    fn addr(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, Dialect::Terraform).unwrap()
    }

    fn requirements(texts: &[&str]) -> Requirements {
        let mut requirements = Requirements::new();
        for text in texts {
            let origin = Origin {
                module: String::new(),
                file: "main.tf".into(),
                position: crate::finding::Position::default(),
                kind: OriginKind::Resource,
                local_name: (*text).to_owned(),
                constraint: None,
            };
            requirements.add(&addr(text), &Constraints::default(), origin);
        }
        requirements
    }

    #[test]
    fn the_locked_version_stands_beside_who_asks() {
        let mut lock = LockFile::new();
        let entry = LockEntry {
            version: Version::new(3, 1, 0),
            constraints: Constraints::default(),
            hashes: std::iter::empty().collect(),
        };
        lock.insert(addr("null"), entry);
        let found = why(&requirements(&["tls", "null"]), Some(&lock), &[]);
        let versions: Vec<_> =
            found.iter().map(|required| (required.address.kind(), required.locked.clone())).collect();
        assert_eq!(versions, [("null", Some(Version::new(3, 1, 0))), ("tls", None)]);
        assert_eq!(found[0].requirement.origins[0].local_name, "null");
    }

    #[test]
    fn only_what_was_asked_for_is_answered() {
        let found = why(&requirements(&["tls", "null"]), None, &[addr("tls"), addr("other")]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].address, addr("tls"));
    }
}
