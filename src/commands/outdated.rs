//! `outdated`: what is selected, what could be, and what holds it back.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::engine::held;
use crate::lockfile::LockFile;
use crate::outcome::Outdated;
use crate::requirements::Requirements;
use crate::version::{Version, newest_allowed};

/// The providers that are required, all or only some, with the versions on offer; those whose versions are unknown are
/// left out. In the order of the lock file.
pub fn outdated(
    requirements: &Requirements,
    lock: &LockFile,
    offered: &BTreeMap<ProviderAddr, Vec<Version>>,
) -> Vec<Outdated> {
    let known = requirements.iter().filter_map(|(addr, requirement)| Some((addr, requirement, offered.get(addr)?)));
    known
        .map(|(addr, requirement, versions)| {
            let selected = lock.get(addr).map(|entry| entry.version.clone());
            let allowed = newest_allowed(versions, &requirement.constraints).cloned();
            let newest = versions.iter().filter(|version| !version.is_prerelease()).max().cloned();
            let holders = newest.iter().filter(|newest| allowed.as_ref() != Some(newest));
            let holders = holders.flat_map(|newest| held::holders(requirement, newest)).cloned().collect();
            Outdated { address: addr.clone(), selected, allowed, newest, holders }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::finding::Position;
    use crate::lockfile::LockEntry;
    use crate::requirements::{Origin, OriginKind};
    use crate::version::Constraints;

    #[test]
    fn the_constraint_that_holds_back_is_named() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let mut requirements = Requirements::new();
        for (module, constraint) in [("", ">= 1.0"), ("net", "~> 1.0")] {
            let origin = Origin {
                module: module.to_owned(),
                file: "main.tf".into(),
                position: Position::default(),
                kind: OriginKind::RequiredProviders,
                local_name: "widget".to_owned(),
                constraint: Some(constraint.to_owned()),
            };
            requirements.add(&addr, &constraint.parse().unwrap(), origin);
        }
        let mut lock = LockFile::new();
        let entry = LockEntry {
            version: Version::new(1, 0, 0),
            constraints: Constraints::default(),
            hashes: std::iter::empty().collect(),
        };
        lock.insert(addr.clone(), entry);
        let offer = |texts: &[&str]| {
            let versions = texts.iter().map(|text| text.parse().unwrap()).collect();
            outdated(&requirements, &lock, &BTreeMap::from([(addr.clone(), versions)])).remove(0)
        };
        let row = offer(&["1.0.0", "1.4.0", "2.0.0", "3.0.0-rc1"]);
        let text = |version: &Option<Version>| version.as_ref().map(ToString::to_string);
        assert_eq!((text(&row.allowed), text(&row.newest)), (Some("1.4.0".to_owned()), Some("2.0.0".to_owned())));
        assert_eq!(row.holders.iter().map(|origin| origin.module.as_str()).collect::<Vec<_>>(), ["net"]);
        assert!(row.is_upgradable());
        let row = offer(&["1.0.0"]);
        assert!(!row.is_upgradable() && row.holders.is_empty());
        assert_eq!(outdated(&requirements, &lock, &BTreeMap::new()), []);
    }
}
