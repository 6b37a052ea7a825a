//! Explains a provider that its registry does not have: which line requires it, and what it may have meant.

use std::collections::BTreeSet;
use std::path::Path;

use crate::addr::{ProviderAddr, well_known};
use crate::config::edit::suggest;
use crate::dialect::Dialect;
use crate::disk::roots;
use crate::error::{Error, ErrorKind};
use crate::lockfile::LockFile;
use crate::requirements::{OriginKind, Requirements};

/// Places the error at the first requirement of its provider; file names are relative to `folder`.
pub(super) fn placed(
    mut error: Error,
    (requirements, lock): (&Requirements, &LockFile),
    folder: &Path,
    dialect: Dialect,
) -> Error {
    // A provider that is being added is not in any file yet.
    let is_new = |addr: &ProviderAddr| {
        let needed = requirements.get(addr);
        needed.is_some_and(|needed| needed.origins.iter().all(|origin| origin.file.as_os_str().is_empty()))
    };
    let vain: Vec<String> = requirements
        .iter()
        .filter(|(addr, _)| is_new(addr))
        .flat_map(|(addr, _)| [addr.to_string(), addr.short(dialect)])
        .map(|name| format!("`tflock why {name}`"))
        .collect();
    error.hints.retain(|hint| !vain.iter().any(|vain| hint.starts_with(vain)));
    let others = std::mem::take(&mut error.others);
    error.others = others.into_iter().map(|error| placed(error, (requirements, lock), folder, dialect)).collect();
    let is_unplaced = error.kind == ErrorKind::UnknownProvider && error.file.is_none();
    let Some(addr) = error.address.as_deref().filter(|_| is_unplaced).cloned() else { return error };
    let origins = requirements.get(&addr).map(|requirement| &requirement.origins[..]).unwrap_or_default();
    let Some(first) = origins.iter().find(|origin| !origin.file.as_os_str().is_empty()) else { return error };
    let implied = origins.iter().all(|origin| origin.kind != OriginKind::RequiredProviders);
    let shown = addr.short(dialect);
    let known = requirements.iter().map(|(other, _)| other).chain(lock.iter().map(|(other, _)| other));
    let known: BTreeSet<String> = known.map(|other| other.short(dialect)).collect();
    let known: Vec<String> =
        known.into_iter().chain(well_known().map(str::to_owned)).filter(|other| *other != shown).collect();
    let near =
        suggest(&shown, known.iter().map(String::as_str)).into_iter().map(|near| format!("did you mean {near}?"));
    error.hints.splice(0..0, near);
    if implied {
        error.hints.insert(0, meant(&addr, &first.local_name, requirements, dialect));
    }
    error.in_file(roots::file_from(folder, &first.file)).at(first.position)
}

/// Suggests a source for a local name that has none.
fn meant(addr: &ProviderAddr, name: &str, requirements: &Requirements, dialect: Dialect) -> String {
    let shown = addr.short(dialect);
    let namesake =
        requirements.iter().filter(|(other, _)| other.type_name() == addr.type_name()).find_map(|(other, needed)| {
            let mut entries = needed.origins.iter().filter(|origin| origin.kind == OriginKind::RequiredProviders);
            entries.next().map(|entry| (other.short(dialect), &entry.local_name))
        });
    match namesake {
        Some((other, local)) => format!(
            "no entry of required_providers is named {name:?}, which therefore means {shown}; for {other} write `provider = {local}`"
        ),
        None => format!(
            "no entry of required_providers is named {name:?}, which therefore means {shown}; add one with the source that is meant"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Position;
    use crate::requirements::Origin;
    use crate::version::Constraints;

    fn addr(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, Dialect::Terraform).unwrap()
    }

    fn named(queried: &[(&str, OriginKind, &str)], unknown: &str) -> Error {
        let mut requirements = Requirements::new();
        for (line, (required, kind, local_name)) in (1..).zip(queried) {
            let origin = Origin {
                module: String::new(),
                file: "main.tf".into(),
                position: Position { line, column: 1 },
                kind: *kind,
                local_name: (*local_name).to_owned(),
                constraint: None,
                in_tests: false,
                block: None,
            };
            requirements.add(&addr(required), &Constraints::default(), origin);
        }
        let error = Error::new(ErrorKind::UnknownProvider, "none").about(addr(unknown)).hint("look");
        placed(error, (&requirements, &LockFile::new()), Path::new("prod"), Dialect::Terraform)
    }

    #[test]
    fn the_line_that_requires_it_is_named() {
        use OriginKind::{RequiredProviders, Resource};
        let error =
            named(&[("integrations/github", RequiredProviders, "gh"), ("github", Resource, "github")], "github");
        assert_eq!(error.file.as_deref(), Some(Path::new("prod/main.tf")));
        assert_eq!(error.position, Some(Position { line: 2, column: 1 }));
        assert_eq!(
            error.hints[0],
            "no entry of required_providers is named \"github\", which therefore means hashicorp/github; for \
             integrations/github write `provider = gh`"
        );
        let error = named(&[("github", Resource, "github")], "github");
        assert!(error.hints[0].ends_with("add one with the source that is meant"), "{:?}", error.hints);
        let error = named(&[("acme/x", RequiredProviders, "x")], "acme/x");
        assert_eq!((error.hints, error.position.unwrap().line), (vec!["look".to_owned()], 1));
        // What was typed is in no file.
        assert_eq!(named(&[], "acme/x").file, None);
    }
}
