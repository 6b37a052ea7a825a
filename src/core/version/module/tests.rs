//! Versions of modules, their constraints and the choice among them.

use super::*;

fn allows(constraint: &str, version: &str) -> bool {
    constraint.parse::<ModuleConstraints>().unwrap().allows(&version.parse().unwrap())
}

#[test]
fn terms_mean_what_go_version_says() {
    for (constraint, version, expected) in [
        ("1.2", "1.2.0", true),
        ("= v1.2.0", "1.2", true),
        ("1.2.0+a", "1.2.0+b", true),
        ("~> 1.0", "1.9.9", true),
        ("~> 1.0", "2.0.0", false),
        ("~> 1", "9.0.0", true),
        ("~> 1.2.3", "1.2.9", true),
        ("~> 1.2.3", "1.3.0", false),
        ("~> 1.2.3.4", "1.2.3.5", true),
        ("~> 1.2.3.4", "1.2.3", false),
        (">= 1.0, != 1.5.0", "1.5.0", false),
        (">= 1.0", "1.1.0-beta", false),
        (">= 1.1.0-alpha", "1.1.0-beta", true),
        ("> 1.1.0-alpha", "1.1.0", true),
        ("~> 1.1.0-alpha", "1.1.0", false),
        ("1.1.0-beta", "1.1.0-beta", true),
        ("<= 1.1.0", "1.1.0", true),
        (">= 1.0-rc.2", "1.0-rc.10", true),
        ("1.0-", "1.0--", true),
        ("1.0-+b", "1.0-", true),
        ("1.0-.x", "1.0-", false),
        ("~> 1.0-", "1.1.0", false),
        ("1.0.0-rc1", "1.0.0.0", true),
        ("<= 1.0.0-rc1", "1.0.0.0", true),
        ("!= 1.0.0-rc1", "1.0.0.0", false),
        ("1.0.0-rc1", "1.0.0", false),
    ] {
        assert_eq!(allows(constraint, version), expected, "{constraint} {version}");
    }
}

#[test]
fn other_texts_are_refused() {
    for text in
        ["", "foo", "^1", "1..2", "=> 1", "1.0,", "1.0 2.0", "99999999999999999999", "1.0.", "1.0-1.", "1.0-a..b", "x"]
    {
        assert!(text.parse::<ModuleConstraints>().is_err(), "{text:?}");
    }
}

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
