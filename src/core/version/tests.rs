//! Versions and constraints against the tables, and their laws.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;
use super::{ConstraintError, Constraints, Version, VersionError, newest_allowed};
use crate::vectors;

fn version(text: &str) -> Version {
    text.parse().unwrap()
}

#[test]
fn missing_numbers_are_zero() {
    assert_eq!(version("1").to_string(), "1.0.0");
    assert_eq!(version("01.02").to_string(), "1.2.0");
    assert_eq!(version("1.2.3-a..b+01").to_string(), "1.2.3-a..b+01");
    assert_eq!(version("1.0.0-").to_string(), "1.0.0");
    assert_eq!(version("1.2.").to_string(), "1.2.0");
}

#[test]
fn parts_that_exclude_each_other() {
    let excluded = |text: &str| Constraints::parse_config(text).unwrap().exclude_each_other();
    for text in ["~> 6.0, < 6.0.0", "> 1.0.0, < 1.0.1", "= 1.0.0, = 2.0.0", "= 0.0.0", ">= 2.0.0, != 2.0.0, < 2.0.1"] {
        assert!(excluded(text), "{text}");
    }
    for text in [">= 1.0.0", "> 1.0.0, < 1.0.2", "= 1.0.0-beta", ">= 1.0.0-beta, <= 1.0.0", "!= 1.0.0", "< 0.0.2"] {
        assert!(!excluded(text), "{text}");
    }
}

#[test]
fn refusals_have_their_reason() {
    let error = |text: &str| text.parse::<Version>().unwrap_err();
    assert_eq!(error(""), VersionError::Empty);
    assert_eq!(error("v1.0.0"), VersionError::VPrefix);
    assert_eq!(error(">= 1.0"), VersionError::Operator(">=".to_owned()));
    assert_eq!(error(" 1.0"), VersionError::LeadingSpace);
    assert_eq!(error("1.0 "), VersionError::TrailingSpace);
    assert_eq!(error("1.0.0.0"), VersionError::TooManyParts);
    assert_eq!(error("1.x"), VersionError::Wildcard("minor"));
    assert_eq!(error("1.0, 2.0"), VersionError::Multiple);
    assert_eq!(error("abc"), VersionError::Invalid);
    assert_eq!(error("   "), VersionError::Empty);
    assert_eq!(error("+1.0"), VersionError::Invalid);
    assert_eq!(error("1.0 || 2.0"), VersionError::Multiple);
    assert!(matches!(error("99999999999999999999.0.0"), VersionError::TooLarge(_)));
}

#[test]
fn prereleases_are_not_ordered_as_in_semver() {
    let order = ["1.0.0-9", "1.0.0-10", "1.0.0-rc", "1.0.0-x", "1.0.0-a.b", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0"];
    assert!(order.windows(2).all(|pair| version(pair[0]) < version(pair[1])));
    assert_eq!(version("1.0.0+a").precedence(&version("1.0.0+b")), Ordering::Equal);
    assert_ne!(version("1.0.0+a"), version("1.0.0+b"));
}

/// As terraform 1.11.4 writes them.
#[test]
fn metadata_is_sorted_by_dotted_parts() {
    let order = ["1.0.0", "1.0.0+9", "1.0.0+10", "1.0.0+b", "1.0.0+a.b.c", "1.0.0+build.2", "1.0.0+build.11"];
    assert!(order.windows(2).all(|pair| version(pair[0]) < version(pair[1])));
    let canonical = |text: &str| text.parse::<Constraints>().unwrap().to_string();
    assert_eq!(
        canonical("!= 1.0.0+build.11, != 1.0.0+a.b.c, != 1.0.0+build.2, != 1.0.0, != 1.0.0+b"),
        "!= 1.0.0, != 1.0.0+b, != 1.0.0+a.b.c, != 1.0.0+build.2, != 1.0.0+build.11"
    );
    let versions = ["1.0.0+build.2", "1.0.0+build.11", "1.0.0"].map(version);
    assert_eq!(newest_allowed(&versions, &Constraints::default()), Some(&versions[1]));
}

#[test]
fn the_lock_files_grammar_is_lenient() {
    let canonical = |text: &str| text.parse::<Constraints>().unwrap().to_string();
    assert_eq!(canonical("1.2.3."), "1.2.3");
    assert_eq!(canonical("~> 1.2.3."), "~> 1.2.3");
    assert_eq!(canonical("~> ,1"), "~> 0.0, 1.0.0");
    assert_eq!(canonical("!= ,!= ,"), "!= 0.0.0");
    assert_eq!(canonical(">= 1,\x0b2\u{2003}"), ">= 1.0.0, 2.0.0");
    assert_eq!(canonical("< 2, >= 1, ~> 1-rc, ~>1.2.0"), "~> 1.0-rc, >= 1.0.0, ~> 1.2.0, < 2.0.0");
}

#[test]
fn refused_constraints_have_their_reason() {
    let error = |text: &str| text.parse::<Constraints>().unwrap_err().to_string();
    assert_eq!(
        error("=> 1"),
        "invalid specification \"=> 1\": invalid constraint operator \"=>\"; did you mean \">=\"?"
    );
    assert_eq!(error("1,,2"), "invalid specification \",2\": invalid constraint operator \",\"");
    assert_eq!(
        error(">=\x0b1"),
        "invalid specification \">=\\u{b}1\": only one space is expected after the operator \">=\""
    );
    assert_eq!(
        error("> 1.x"),
        "invalid specification \"> 1.x\": can't use wildcard for minor number; omit segments that should be unconstrained"
    );
    assert_eq!(error(">= 1.0 < 2"), "missing comma after \">= 1.0\"");
    assert_eq!(error(">= 1.0, < v2.0"), "a \"v\" prefix should not be used");
    assert_eq!(error(">=v1"), "a \"v\" prefix should not be used");
    for text in [">=", "~>,", ">=.1", "beta", "1.2.3.4"] {
        assert!(error(text).starts_with("invalid specification"), "{text}");
    }
}

#[test]
fn configuration_passes_two_grammars() {
    let syntax = |text: &str| matches!(Constraints::parse_config(text), Err(ConstraintError::Syntax(_)));
    for text in ["", " ", ">= 1,", "1..2", "1.", "1.0.beta", "1+", "1 2", "9223372036854775808", "\u{a0}1", "\x0b1"] {
        assert!(syntax(text), "{text:?}");
    }
    for text in ["v1", ">=  1", "1.2.3.4", "1beta", "1~x", "1-a~"] {
        assert!(!syntax(text) && Constraints::parse_config(text).is_err(), "{text:?}");
    }
    assert!(Constraints::parse_config("\t~> 1.0 , < 2-a.b+c\n").is_ok());
}

#[test]
fn versions_agree_with_the_tools() {
    let rows = vectors::rows("versions.tsv");
    let mut bad = Vec::new();
    for row in &rows {
        let wanted = (row[1] == "ok").then(|| row[2].clone());
        let parsed = row[0].parse::<Version>();
        if parsed.as_ref().ok().map(ToString::to_string) != wanted {
            bad.push(format!("{row:?}: {parsed:?}"));
        }
    }
    vectors::agree("versions.tsv", &bad);
}

#[test]
fn constraints_agree_with_the_tools() {
    let rows = vectors::rows("constraints.tsv");
    let mut bad = Vec::new();
    for row in &rows {
        let wanted = (row[1] == "ok").then(|| row[2].clone());
        let parsed = row[0].parse::<Constraints>();
        let config = Constraints::parse_config(&row[0]);
        if parsed.as_ref().ok().map(ToString::to_string) != wanted || config.is_ok() != (row[3] == "ok") {
            bad.push(format!("{row:?}: {parsed:?} {config:?}"));
        }
    }
    vectors::agree("constraints.tsv", &bad);
}

#[test]
fn selection_agrees_with_the_tools() {
    let rows = vectors::rows("select.tsv");
    let mut bad = Vec::new();
    for row in &rows {
        let constraints: Constraints = row[0].parse().unwrap();
        let versions = list(&row[1]);
        let mut allowed: Vec<_> = versions.iter().filter(|version| constraints.allows(version)).cloned().collect();
        allowed.sort_by(Version::precedence);
        let selected = newest_allowed(&versions, &constraints);
        let tie = row[4].contains("tie-at-top");
        if allowed != list(&row[2]) || !tie && selected != list(&row[3]).first() {
            bad.push(format!("{row:?}: {allowed:?} {selected:?}"));
        }
    }
    vectors::agree("select.tsv", &bad);
}

fn list(cell: &str) -> Vec<Version> {
    cell.split(' ').filter(|text| *text != "-").map(|text| text.parse().unwrap()).collect()
}

/// Texts that are nearly constraints.
fn nearly() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "(=|!=|>|>=|<|<=|~>|=>|\\^|v)? ?",
        "[0-9]{1,3}(\\.[0-9]{1,2}){0,3}\\.?",
        "[-+][a-z0-9.-]{0,4}",
        " ?, ?",
        "[x*v é\u{a0}\t]",
        "18446744073709551615|18446744073709551616",
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn versions() -> impl Strategy<Value = Version> {
    "[0-3]\\.[0-3]\\.[0-3](-[a-c0-2.]{1,4})?(\\+[ab]{0,2})?".prop_map(|text| text.parse().unwrap())
}

/// Versions that semantic versioning knows as well.
fn strict() -> impl Strategy<Value = String> {
    const NUMBERS: &str = "(0|[1-9]|1[0-9])(\\.(0|[1-9])){2}";
    const PART: &str = "(0|[1-9][0-9]{0,3}|[0-9]{0,2}[a-zA-Z-][0-9a-zA-Z-]{0,2})";
    proptest::string::string_regex(&format!("{NUMBERS}(-{PART}(\\.{PART}){{0,2}})?(\\+{PART}(\\.{PART}){{0,2}})?"))
        .unwrap()
}

proptest! {
    /// The same texts, and the same order except for pre-releases of unequal numbers of identifiers.
    #[test]
    fn strict_versions_are_those_of_semver(a in strict(), b in strict()) {
        let (strict_a, strict_b) = (semver::Version::parse(&a).unwrap(), semver::Version::parse(&b).unwrap());
        let (a, b) = (version(&a), version(&b));
        prop_assert_eq!(a.to_string(), strict_a.to_string());
        let parts = |version: &Version| version.pre().split('.').count();
        if a.pre().is_empty() || b.pre().is_empty() || parts(&a) == parts(&b) {
            prop_assert_eq!(a.precedence(&b), strict_a.cmp_precedence(&strict_b));
        }
        prop_assert_eq!(a == b, strict_a == strict_b);
    }

    #[test]
    fn parsing_never_panics(text in ".{0,40}") {
        let _ = text.parse::<Version>();
        let _ = text.parse::<Constraints>();
        let _ = Constraints::parse_config(&text);
    }

    #[test]
    fn canonical_text_reads_as_itself(text in nearly()) {
        if let Ok(version) = text.parse::<Version>() {
            prop_assert_eq!(version.to_string().parse::<Version>(), Ok(version));
        }
        if let Ok(constraints) = text.parse::<Constraints>() {
            prop_assert_eq!(constraints.to_string().parse::<Constraints>(), Ok(constraints.clone()));
            prop_assert_eq!(constraints.and(&constraints), constraints);
        }
    }

    #[test]
    fn configuration_accepts_less_than_lock_files(text in nearly()) {
        if let Ok(constraints) = Constraints::parse_config(&text) {
            prop_assert_eq!(text.parse::<Constraints>(), Ok(constraints));
        }
    }

    #[test]
    fn precedence_is_an_order(mut versions in proptest::collection::vec(versions(), 3..6)) {
        versions.sort();
        prop_assert!(versions.windows(2).all(|pair| pair[0] <= pair[1]));
        prop_assert!(versions.iter().all(|version| versions[0] <= *version));
    }

    #[test]
    fn allowed_releases_are_in_every_term(text in nearly(), version in versions()) {
        let Ok(constraints) = text.parse::<Constraints>() else { return Ok(()) };
        let in_all = constraints.terms().iter().all(|term| term.contains(&version));
        if version.is_prerelease() || version.is_unspecified() {
            prop_assert!(in_all || !constraints.allows(&version));
        } else {
            prop_assert_eq!(constraints.allows(&version), in_all);
        }
    }

    #[test]
    fn the_newest_allowed_is_allowed(versions in proptest::collection::vec(versions(), 0..6), wanted in versions()) {
        let constraints: Constraints = format!(">= {wanted}").parse().unwrap();
        match newest_allowed(&versions, &constraints) {
            Some(newest) => prop_assert!(constraints.allows(newest)),
            None => prop_assert!(versions.iter().all(|version| !constraints.allows(version))),
        }
    }
}

#[test]
fn the_machine_stops_where_nothing_fits() {
    let parts = |text| {
        let scan = VersionScan::read(text);
        (scan.operator, scan.gap, scan.count, scan.pre, scan.build, scan.rest)
    };
    assert_eq!(parts(">=\t1.2-a.+b,2"), (">=", "\t", 2, "a.", "b", ",2"));
    assert_eq!(parts("1.2.3.4"), ("", "", 4, "", "", ""));
    assert_eq!(parts("1."), ("", "", 1, "", "", ""));
    assert_eq!(parts("1.-a"), ("", "", 1, "", "", "-a"));
    assert_eq!(parts("1-"), ("", "", 1, "", "", ""));
    assert_eq!(parts("1-+b"), ("", "", 1, "", "", "+b"));
    assert_eq!(parts("1.x.2"), ("", "", 3, "", "", ""));
    assert_eq!(parts(">= ,< 2"), (">=", " ", 0, "", "", ",< 2"));
    assert_eq!(parts("é1"), ("é", "", 1, "", "", ""));
}
