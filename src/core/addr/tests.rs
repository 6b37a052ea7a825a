//! Addresses against the tables, and their laws.

use proptest::prelude::*;

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
        for (dialect, source, label) in [(Dialect::Terraform, 1, 3), (Dialect::OpenTofu, 2, 4)] {
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
