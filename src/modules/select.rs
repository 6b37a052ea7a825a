//! Which version of a registry's module a call gets.
//!
//! Source: `internal/initwd/module_install.go`; `spec` of module constraints in `config/module_version.rs`.

use crate::config::{ModuleConstraints, ModuleVersion};

/// The newest of the listed versions that a call's constraint allows: a pre-release only if a term names it exactly.
///
/// Of versions that differ in metadata alone, the first listed one. What is no version does not count.
pub(super) fn select(listed: &[String], constraints: Option<&ModuleConstraints>) -> Option<ModuleVersion> {
    let versions = listed.iter().filter_map(|text| text.parse::<ModuleVersion>().ok());
    let eligible = |version: &ModuleVersion| match constraints {
        None => !version.is_prerelease(),
        Some(constraints) => constraints.allows(version) && (!version.is_prerelease() || constraints.names(version)),
    };
    newest(versions.filter(eligible))
}

/// The newest of the listed versions that is no pre-release, for messages.
pub(super) fn newest_listed(listed: &[String]) -> Option<ModuleVersion> {
    select(listed, None)
}

fn newest(versions: impl Iterator<Item = ModuleVersion>) -> Option<ModuleVersion> {
    versions.fold(None, |best: Option<ModuleVersion>, version| match best {
        Some(best) if version.precedence(&best).is_le() => Some(best),
        _ => Some(version),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(constraints: &str) -> Option<String> {
        let listed = ["1.2.0", "v1.10.0", "1.9.0", "2.0.0-rc1", "bogus", "0.1", "1.9.0+b"].map(str::to_owned);
        let constraints = (!constraints.is_empty()).then(|| constraints.parse().unwrap());
        select(&listed, constraints.as_ref()).map(|version| version.canonical())
    }

    #[test]
    fn the_newest_allowed_version() {
        for (constraints, expected) in [
            ("", Some("1.10.0")),
            (">= 1.2, != 1.10.0, < 2.0", Some("1.9.0")),
            ("2.0.0-rc1", Some("2.0.0-rc1")),
            ("= v2.0.0-rc1", Some("2.0.0-rc1")),
            (">= 2.0.0-rc1", None),
            ("~> 0.1", Some("0.1.0")),
            (">= 3", None),
        ] {
            assert_eq!(selected(constraints).as_deref(), expected, "{constraints}");
        }
    }

    #[test]
    fn metadata_alone_decides_nothing() {
        let listed = ["1.0.0+b", "1.0.0+a"].map(str::to_owned);
        assert_eq!(select(&listed, None).map(|version| version.canonical()).as_deref(), Some("1.0.0+b"));
    }
}
