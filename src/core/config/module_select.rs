//! Which version of a registry's module a call gets.
//!
//! Source: `internal/initwd/module_install.go` of both tools; constraints in `config/module_version.rs`.

use super::{ModuleConstraints, ModuleVersion};
use crate::dialect::Dialect;

/// The versions of a module, in the order of its registry, and the tool that selects from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionList {
    versions: Vec<ModuleVersion>,
    dialect: Dialect,
}

/// The versions of a list that a call may get, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selectable<'a>(Vec<&'a ModuleVersion>);

impl VersionList {
    /// The versions that a registry lists; what is no version does not count.
    pub fn new(listed: &[String], dialect: Dialect) -> Self {
        Self { versions: listed.iter().filter_map(|text| text.parse().ok()).collect(), dialect }
    }

    /// The tool that selects.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// What a constraint allows; a pre-release only if it is named exactly.
    pub fn selectable(&self, constraints: Option<&ModuleConstraints>) -> Selectable<'_> {
        let is_selectable = |version: &&ModuleVersion| match constraints {
            None => !version.is_prerelease(),
            Some(constraints) => {
                constraints.allows(version) && (!version.is_prerelease() || constraints.names(version, self.dialect))
            }
        };
        Selectable(self.versions.iter().filter(is_selectable).collect())
    }

    /// True if it has a version, in whatever spelling.
    pub fn contains(&self, wanted: &ModuleVersion) -> bool {
        let wanted = wanted.canonical();
        self.versions.iter().any(|version| version.canonical() == wanted)
    }
}

impl<'a> Selectable<'a> {
    /// The one that `init` installs: the newest, and of equal ones the first.
    pub fn newest(&self) -> Option<&'a ModuleVersion> {
        let newest = |best: &'a ModuleVersion, version| if best.precedence(version).is_lt() { version } else { best };
        self.0.iter().copied().reduce(newest)
    }

    /// The newest of those that no other one equals.
    pub fn newest_unequalled(&self) -> Option<&'a ModuleVersion> {
        let mut versions = self.0.clone();
        versions.sort_by(|one, other| other.precedence(one));
        let mut equal = versions.chunk_by(|one, other| one.precedence(other).is_eq());
        equal
            .find(|equal| equal.iter().all(|version| version.canonical() == equal[0].canonical()))
            .map(|equal| equal[0])
    }

    /// Those that compare as equal to a version, as the tools request them, each once: other spellings of one request
    /// are the same download.
    pub fn equal_to(&self, version: &ModuleVersion) -> Vec<String> {
        let mut equal = Vec::new();
        for listed in self.0.iter().filter(|listed| listed.precedence(version).is_eq()) {
            let name = listed.canonical();
            if !equal.contains(&name) {
                equal.push(name);
            }
        }
        equal
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn list(versions: &[&str], dialect: Dialect) -> VersionList {
        let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
        VersionList::new(&versions, dialect)
    }

    fn constraints(text: &str) -> Option<ModuleConstraints> {
        (!text.is_empty()).then(|| text.parse().unwrap())
    }

    fn newest(listed: &[&str], text: &str, dialect: Dialect) -> Option<String> {
        list(listed, dialect).selectable(constraints(text).as_ref()).newest().map(ModuleVersion::canonical)
    }

    /// As terraform 1.11.4 selects.
    #[test]
    fn the_newest_allowed_version() {
        let many = &["1.2.0", "v1.10.0", "1.9.0", "2.0.0-rc1", "bogus", "0.1", "1.9.0+b"][..];
        for (listed, constraints, expected) in [
            (many, "", Some("1.10.0")),
            (many, ">= 1.2, != 1.10.0, < 2.0", Some("1.9.0")),
            (many, "2.0.0-rc1", Some("2.0.0-rc1")),
            (many, ">= 2.0.0-rc1", None),
            (many, "~> 0.1", Some("0.1.0")),
            (many, ">= 3", None),
            (&["1.0.0", "1.0.0.1"], "~> 1.0", Some("1.0.0.1")),
            (&["1.0.0"], "~> 1.0.0.0", None),
            (&["0.0.0", "0.0.0+a"], "", Some("0.0.0")),
            (&["1.0.0", "1.0.0+a"], "!= 1.0.0+b", None),
            (&["", " 1.1.0", "1.1.0 ", "9223372036854775808.0.0", "1.0.0"], "", Some("1.0.0")),
            (&["1.0.0-"], "", None),
            // Metadata decides nothing, nor do further zeros: the first of the list is installed.
            (&["1.0.0+b", "1.0.0+a", "1.0.0"], "1.0.0", Some("1.0.0+b")),
            (&["1.0.0.0", "1.0.0"], "1.0.0", Some("1.0.0.0")),
            (&["1.0.0.0", "1.0.0-rc1"], "1.0.0-rc1", Some("1.0.0.0")),
            (&["1.0.0-rc1", "1.0.0.0"], "1.0.0-rc1", Some("1.0.0-rc1")),
        ] {
            let selected = newest(listed, constraints, Dialect::Terraform);
            assert_eq!(selected.as_deref(), expected, "{listed:?} {constraints}");
        }
    }

    /// As terraform 1.11.4 selects; `OpenTofu` also takes the `v` off.
    #[test]
    fn pre_releases_are_named_by_one_exact_constraint() {
        for (listed, constraint, by_terraform, by_tofu) in [
            ("1.0.0-rc1", "1.0.0-rc1", true, true),
            ("1.0.0-rc1", " 1.0.0-rc1 ", true, true),
            ("1.0.0-rc1", "=1.0.0-rc1", true, true),
            ("1.0.0-rc1", "= 1.0.0-rc1", false, false),
            ("1.0.0-rc1", "v1.0.0-rc1", false, true),
            ("1.0.0-rc1", "=v1.0.0-rc1", false, true),
            ("1.0.0-rc1", "= v1.0.0-rc1", false, false),
            ("1.0.0-rc1", "1.0.0-rc1, >= 0.1", false, false),
            ("1.0.0-rc1", "1.0.0-rc1,1.0.0-rc1", false, false),
            ("1.0.0-rc1", ">= 1.0.0-rc1", false, false),
            ("1.0.0-rc1", "~> 1.0.0-rc1", false, false),
            ("1.0.0-rc1", "1.0-rc1", true, true),
            ("1-rc1", "1.0.0-rc1", true, true),
            ("1.0.0rc1", "1.0.0-rc1", true, true),
            ("1.0.0-rc1", "1.0.0rc1", false, false),
            ("1.0.0-rc1+a", "1.0.0-rc1", false, false),
            ("1.0.0-rc1+a", "1.0.0-rc1+a", true, true),
            ("1.0.0-~a", "1.0.0-~a", false, false),
            ("1.0.0-01", "1.0.0-1", false, false),
            ("1.0.0-01", "1.0.0-01", true, true),
            ("1.0.0.0-rc1", "1.0.0.0-rc1", false, false),
        ] {
            for (dialect, expected) in [(Dialect::Terraform, by_terraform), (Dialect::OpenTofu, by_tofu)] {
                let is_selected = newest(&[listed], constraint, dialect).is_some();
                assert_eq!(is_selected, expected, "{listed} {constraint} {dialect:?}");
            }
        }
    }

    #[test]
    fn equal_versions_are_other_downloads() {
        let equal = |listed: &[&str], text: &str, to: &str| {
            let list = list(listed, Dialect::Terraform);
            list.selectable(constraints(text).as_ref()).equal_to(&to.parse().unwrap()).join(" ")
        };
        assert_eq!(equal(&["1.0.0+b", "1.0.0", "1.0.0.0", "1.1.0"], "", "1.0.0"), "1.0.0+b 1.0.0 1.0.0.0");
        assert_eq!(equal(&["v1.0.0", "01.0", "1"], "", "1.0.0"), "1.0.0");
        assert_eq!(equal(&["1.0.0+b"], "", "1.0.0"), "1.0.0+b");
        // What the constraint does not allow is not installed.
        assert_eq!(equal(&["1.0.0", "1.0.0.0"], "~> 1.0.0.0", "1.0.0.0"), "1.0.0.0");
        assert_eq!(equal(&["1.0.0-rc1", "1.0.0-rc1+b"], "1.0.0-rc1", "1.0.0-rc1"), "1.0.0-rc1");
        let some = list(&["1.1.0", "0.9.0", "1.1.0+a", "v1.0.0", "1.0.0"], Dialect::Terraform);
        assert_eq!(some.selectable(None).newest_unequalled().map(ModuleVersion::canonical).as_deref(), Some("1.0.0"));
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
