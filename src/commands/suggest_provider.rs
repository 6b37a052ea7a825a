//! Suggests names for a provider that does not exist or that no root module knows.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Services, known_providers};
use crate::addr::{ProviderAddr, well_known};
use crate::config::edit::suggest;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::outcome::Outcome;
use crate::workspace::{RunSettings, directory, one_dialect};

/// Adds similar names to errors about unknown providers, as typed; and a hint to any error if a directory was typed instead.
pub fn with_near_names(
    done: Result<Outcome, Error>,
    services: &Services<'_>,
    typed: &[&str],
) -> Result<Outcome, Error> {
    let failed = |outcome: &Outcome| outcome.error.is_some() || outcome.roots.iter().any(|root| root.body.is_err());
    if typed.is_empty() || done.as_ref().is_ok_and(|outcome| !failed(outcome)) {
        return done;
    }
    let Ok(roots) = services.named_roots() else { return done };
    let dialect = done.as_ref().map_or(None, |outcome| outcome.dialect).or_else(|| one_dialect(&roots));
    let dialect = dialect.unwrap_or(Dialect::Terraform);
    let mut meant = Meant { typed, dialect, roots: &roots, known: None };
    match done {
        Ok(mut outcome) => {
            // Commands other than `add` resolve a type to the provider of the root module.
            let is_new = outcome.command == "add";
            let errors = outcome.roots.iter_mut().filter_map(|root| root.body.as_mut().err());
            for error in errors.chain(&mut outcome.error) {
                meant.add_hints(error);
                if is_new && error.kind.is_inconclusive() {
                    meant.add_namesakes(error);
                }
            }
            Ok(outcome)
        }
        Err(mut error) => {
            meant.add_hints(&mut error);
            Err(error)
        }
    }
}

struct Meant<'a> {
    typed: &'a [&'a str],
    dialect: Dialect,
    roots: &'a [RunSettings],
    /// The providers of the working tree, in short form, read on first use.
    known: Option<BTreeSet<String>>,
}

impl Meant<'_> {
    fn add_hints(&mut self, error: &mut Error) {
        error.others.iter_mut().for_each(|error| self.one(error));
        self.one(error);
        for hint in self.typed.iter().filter_map(|text| directory(text)) {
            if !error.each().any(|error| error.hints.contains(&hint)) {
                error.hints.insert(0, hint);
            }
        }
    }

    fn one(&mut self, error: &mut Error) {
        let meant = |name: &&&str| ProviderAddr::parse(name, self.dialect).ok().as_ref() == error.address.as_deref();
        let Some(name) = self.typed.iter().find(meant).copied().filter(|_| error.address.is_some()) else { return };
        let has_suggestion = error.hints.iter().any(|hint| hint.starts_with("did you mean"));
        let mut known = self.known().clone();
        if error.kind == ErrorKind::UnknownProvider {
            // The registry was queried; it has more providers than the working tree.
            known.extend(well_known().map(str::to_owned));
            error.hints.clear();
        } else if has_suggestion {
            return;
        }
        // What the name was taken for is no other provider.
        let own = error.address.as_deref().map(|addr| addr.short(self.dialect)).unwrap_or_default();
        let others = known.iter().map(String::as_str).filter(|other| other != &name && *other != own);
        let near = suggest(name, others).into_iter();
        let near = near.map(|near| format!("did you mean {near}?"));
        error.hints.splice(0..0, foreign_letters(name).into_iter().chain(near));
        if error.hints.is_empty() {
            error.hints.push("look the address up in the registry: namespace/type, or host/namespace/type".to_owned());
        }
    }

    /// Names the providers of the working tree that have a type which was typed alone.
    fn add_namesakes(&mut self, error: &mut Error) {
        let dialect = self.dialect;
        for text in self.typed.iter().filter(|text| !text.contains('/')) {
            let is_other = |short: &&String| short.rsplit('/').next() == Some(*text) && short.contains('/');
            let of_its_own = ProviderAddr::parse(text, dialect).map(|addr| addr.short(dialect)).unwrap_or_default();
            let others = self.known().iter().filter(is_other).filter(|short| **short != of_its_own);
            let hints: Vec<String> = others.map(|short| format!("did you mean {short}?")).collect();
            error.hints.splice(0..0, hints);
        }
    }

    fn known(&mut self) -> &BTreeSet<String> {
        let (roots, dialect) = (self.roots, self.dialect);
        self.known.get_or_insert_with(|| {
            let of = |root: &RunSettings| {
                let files = known_providers::of_root(root).into_iter().chain(known_providers::remembered(root));
                files.chain(known_providers::once_locked(root)).collect::<Vec<_>>()
            };
            let tops: BTreeSet<&Path> = roots.iter().map(|root| root.boundary.as_path()).collect();
            let below = tops.into_iter().flat_map(known_providers::locked_below);
            roots.iter().flat_map(of).chain(below).map(|addr| addr.short(dialect)).collect()
        })
    }
}

/// Names the characters that are not ASCII, since they may look as if they were.
fn foreign_letters(name: &str) -> Option<String> {
    let foreign: Vec<String> =
        name.chars().filter(|c| !c.is_ascii()).map(|c| format!("{c:?} (U+{:04X})", u32::from(c))).collect();
    (!foreign.is_empty()).then(|| format!("it is written with {}, which is not an ASCII letter", foreign.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(typed: &str) -> Vec<String> {
        let addr = ProviderAddr::parse(typed, Dialect::Terraform).unwrap();
        let mut error = Error::new(ErrorKind::UnknownProvider, "none of that name").about(addr).hint("look elsewhere");
        let typed = ["acme/other", typed];
        let mut meant =
            Meant { typed: &typed, dialect: Dialect::Terraform, roots: &[], known: Some(BTreeSet::default()) };
        meant.add_hints(&mut error);
        error.hints
    }

    #[test]
    fn well_known_names_are_suggested() {
        assert_eq!(hints("datadog"), ["did you mean DataDog/datadog?"]);
        assert_eq!(hints("hashicorp/nul")[0], "did you mean hashicorp/null?");
        assert_eq!(hints("hashicorp/github"), ["did you mean integrations/github?"]);
        assert_eq!(
            hints("acme/unheard-of"),
            ["look the address up in the registry: namespace/type, or host/namespace/type"]
        );
        let hints = hints("h\u{430}shicorp/null");
        assert!(hints[0].contains("'\u{430}' (U+0430)") && hints[1] == "did you mean hashicorp/null?", "{hints:?}");
    }
}
