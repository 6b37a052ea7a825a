//! Addresses against the tables, and their laws.

use proptest::prelude::*;

use super::*;
use super::{ProviderAddr, ProviderSource};
use crate::dialect::Dialect;
use crate::vectors;

#[test]
fn sources_agree_with_the_tools() {
    let rows = vectors::rows("sources.tsv");
    let mut bad = Vec::new();
    // The tools take ports that no server can listen on; here they are refused.
    let reachable = |row: &&Vec<String>| !row[0].contains(":0/") && !row[0].contains(":-5/");
    for row in rows.iter().filter(reachable) {
        // The table is of Terraform 1.11; since 1.16 it takes an underscore in a namespace.
        let namespace = row[0].rsplit('/').nth(1).unwrap_or_default();
        for (dialect, source, label) in [(Dialect::Terraform, 1, 3), (Dialect::OpenTofu, 2, 4)] {
            if dialect == Dialect::Terraform && namespace.contains('_') {
                continue;
            }
            let parsed = ProviderSource::parse(&row[0], dialect);
            let text = parsed.as_ref().map_or_else(|_| "err".to_owned(), ToString::to_string);
            if text != row[source] || row[label] != "-" && as_label(&row[0], dialect) != row[label] {
                bad.push(format!("{dialect} {row:?}: {parsed:?}"));
            }
        }
    }
    vectors::agree("sources.tsv", &bad);
}

fn as_label(text: &str, dialect: Dialect) -> &'static str {
    match ProviderSource::parse(text, dialect) {
        Err(_) => "invalid",
        Ok(ProviderSource::BuiltIn(_)) => "built-in",
        Ok(ProviderSource::Legacy(_)) => "legacy",
        Ok(ProviderSource::Provider(addr)) if addr.to_string() != text => "not-canonical",
        Ok(ProviderSource::Provider(_)) => "ok",
    }
}

proptest! {
    #[test]
    fn parsing_never_panics(text in ".{0,40}") {
        for dialect in [Dialect::Terraform, Dialect::OpenTofu] {
            let _ = ProviderSource::parse(&text, dialect);
            let _ = ProviderSource::implied(&text, dialect);
        }
    }

    #[test]
    fn canonical_text_reads_as_itself(text in "([A-Za-z0-9éß.:-]{1,6}/)?[A-Za-z0-9éß-]{1,5}/[A-Za-z0-9éßＡ-]{1,5}") {
        if let Ok(addr) = ProviderAddr::parse(&text, Dialect::Terraform) {
            prop_assert_eq!(ProviderAddr::parse(&addr.to_string(), Dialect::Terraform), Ok(addr));
        }
    }
}

#[test]
fn a_namespace_of_terraform_may_have_underscores() {
    let parse = |text: &str, dialect| ProviderAddr::parse(text, dialect).map(|addr| addr.to_string());
    let text = "app.terraform.io/my_org/foo";
    assert_eq!(parse(text, Dialect::Terraform).as_deref(), Ok(text));
    assert!(matches!(parse(text, Dialect::OpenTofu), Err(AddrError::Namespace { .. })));
    assert!(matches!(parse("my_org/my_foo", Dialect::Terraform), Err(AddrError::Type { .. })));
    assert!(matches("app.terraform.io/my_org/*", text));
    assert!(AddrPattern::parse("my_org/*", Dialect::OpenTofu).is_err());
}

fn matches(pattern: &str, addr: &str) -> bool {
    let addr = ProviderAddr::parse(addr, Dialect::Terraform).unwrap();
    AddrPattern::parse(pattern, Dialect::Terraform).unwrap().matches(&addr)
}

#[test]
fn wildcards_are_at_the_right() {
    assert!(matches("*/*/*", "example.com/a/b"));
    assert!(matches("Example.com/*/*", "example.com/a/b"));
    assert!(matches("example.com/A/*", "example.com/a/b"));
    assert!(matches("a/b", "registry.terraform.io/a/b"));
    assert!(matches("*/*", "a/b"));
    assert!(!matches("*/*", "example.com/a/b"));
    assert!(!matches("example.com/a/*", "example.com/c/b"));
    assert!(!matches("a/b", "registry.opentofu.org/a/b"));
}

#[test]
fn refusals() {
    let error = |text| AddrPattern::parse(text, Dialect::Terraform).unwrap_err();
    assert_eq!(error("aws"), PatternError::Shape("aws".to_owned()));
    assert_eq!(error("a/b/c/d"), PatternError::Shape("a/b/c/d".to_owned()));
    assert_eq!(error("*/a/*"), PatternError::HostWildcard("*/a/*".to_owned()));
    assert_eq!(error("*/*/a"), PatternError::HostWildcard("*/*/a".to_owned()));
    assert_eq!(error("h.com/*/a"), PatternError::NamespaceWildcard("h.com/*/a".to_owned()));
    assert_eq!(error("*/a"), PatternError::NamespaceWildcard("*/a".to_owned()));
    assert!(matches!(error("a/"), PatternError::Type { .. }));
    assert!(matches!(error("a*/b"), PatternError::Namespace { .. }));
    assert!(matches!(error("a..b/a/b"), PatternError::Host { .. }));
}

#[test]
fn patterns_cover_patterns() {
    let covers = |one, other| {
        let parse = |text| AddrPattern::parse(text, Dialect::Terraform).unwrap();
        parse(one).covers(&parse(other))
    };
    assert!(covers("a/*", "a/b") && covers("a/*", "a/*") && covers("*/*/*", "x.y/*/*"));
    assert!(!covers("a/b", "a/*") && !covers("a/*", "b/*") && !covers("a.b/c/*", "c/*"));
}

#[test]
fn text_is_full() {
    let text = |pattern| AddrPattern::parse(pattern, Dialect::OpenTofu).unwrap().to_string();
    assert_eq!(text("Acme/*"), "registry.opentofu.org/acme/*");
    assert_eq!(text("*/*/*"), "*/*/*");
    let addr = ProviderAddr::parse("acme/x", Dialect::OpenTofu).unwrap();
    assert!(AddrPattern::from(addr.clone()).matches(&addr));
    assert!(AddrPattern::from(addr).is_exact());
}
