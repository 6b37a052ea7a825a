//! Which version of a registry's module a call gets.
//!
//! Source: `internal/initwd/module_install.go`; `spec` of module constraints in `config/module_version.rs`.

use super::{ModuleConstraints, ModuleVersion};

/// The newest of the listed versions that a call's constraint allows: a pre-release only if a term names it exactly.
///
/// Of versions that differ in metadata alone, the first listed one. What is no version does not count.
pub fn select_version(listed: &[String], constraints: Option<&ModuleConstraints>) -> Option<ModuleVersion> {
    let versions = listed.iter().filter_map(|text| text.parse::<ModuleVersion>().ok());
    let eligible = |version: &ModuleVersion| match constraints {
        None => !version.is_prerelease(),
        Some(constraints) => constraints.allows(version) && (!version.is_prerelease() || constraints.names(version)),
    };
    newest(versions.filter(eligible))
}

pub fn newest_version(listed: &[String]) -> Option<ModuleVersion> {
    select_version(listed, None)
}

/// What a `ref` or a tag says of its version: what is before it, such as `net/` or `release-`, and the version. None for
/// names that are no versions, such as those of branches and commits.
pub fn version_of_tag(tag: &str) -> Option<(&str, ModuleVersion)> {
    let starts = tag.char_indices().map(|(at, _)| at);
    let starts = starts.filter(|at| *at == 0 || tag[..*at].ends_with(['/', '-', '_', '@']));
    let read = |at: usize| {
        let (before, text) = tag.split_at(at);
        let is_version = text.contains('.') || text.starts_with('v');
        Some((before, text.parse::<ModuleVersion>().ok().filter(|_| is_version)?))
    };
    starts.into_iter().find_map(read)
}

/// The newest of the tags that differ from a `ref` in their version alone, if it is newer than that of the `ref`. A
/// pre-release counts as none.
pub fn newer_tag<'a>(reference: &str, tags: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (before, current) = version_of_tag(reference)?;
    let of_kind = |tag: &'a str| {
        let (other, version) = version_of_tag(tag)?;
        (other == before && !version.is_prerelease()).then_some((tag, version))
    };
    let newer = tags.into_iter().filter_map(of_kind).filter(|(_, version)| version.precedence(&current).is_gt());
    newer.max_by(|(_, one), (_, other)| one.precedence(other)).map(|(tag, _)| tag)
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
        select_version(&listed, constraints.as_ref()).map(|version| version.canonical())
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
        assert_eq!(select_version(&listed, None).map(|version| version.canonical()).as_deref(), Some("1.0.0+b"));
    }

    #[test]
    fn tags_of_the_same_kind_are_compared() {
        let tags = ["v1.2.0", "v1.10.0", "v2.0.0-rc1", "net/v9.0.0", "net/v1.1.0", "release-1.3.0", "main", "1.11.0"];
        for (reference, newer) in [
            ("v1.2.0", Some("1.11.0")),
            ("1.2", Some("1.11.0")),
            ("v2.0.0", None),
            ("net/v1.0.0", Some("net/v9.0.0")),
            ("release-1.0.0", Some("release-1.3.0")),
            ("main", None),
            ("1234567", None),
            ("7c1f791efd61f326ed6102d564d1a65d1eceedf0", None),
        ] {
            assert_eq!(newer_tag(reference, tags), newer, "{reference}");
        }
    }
}
