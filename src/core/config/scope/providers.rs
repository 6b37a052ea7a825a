//! Entries of `required_providers` whose source or version is evaluated, as Terraform 1.17 and later do.
//!
//! Source: hashicorp/terraform pull request 39153.

use super::{ModuleScope, Purpose, Surroundings};
use crate::addr::ProviderSource;
use crate::config::module::{Constraint, DynamicProvider, Location, Module, RequiredProvider};
use crate::config::{ConfigError, ConfigErrorKind};
use crate::evaluate::Expression;
use crate::redact;
use crate::value::Unevaluated;
use crate::version::Constraints;

/// Why an entry of `required_providers` has no meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderProblem {
    /// An expression without a value.
    Unevaluated {
        /// The local name of the provider.
        name: String,
        /// The argument: `source` or `version`.
        argument: &'static str,
        /// Where its expression begins.
        place: Location,
        /// Why it has none.
        reason: Unevaluated,
    },
    /// A value that is no source or no constraint.
    Invalid(Box<ConfigError>),
}

impl ModuleScope {
    /// The module with the sources and versions of its providers evaluated, and a problem for each expression without a
    /// value, or with one that means nothing. An entry whose source has none stays dynamic, and contributes nothing.
    pub fn with_providers(&self, surroundings: &Surroundings) -> (Module, Vec<ProviderProblem>) {
        let mut module = Module::clone(&self.module);
        let mut problems = Vec::new();
        for (name, required) in &mut module.required {
            let Some(mut dynamic) = required.dynamic.take() else { continue };
            problems.extend(self.provider(name, &mut dynamic, required, surroundings).err());
            required.dynamic = dynamic.source.is_some().then_some(dynamic);
        }
        (module, problems)
    }

    fn provider(
        &self,
        name: &str,
        dynamic: &mut DynamicProvider,
        required: &mut RequiredProvider,
        surroundings: &Surroundings,
    ) -> Result<(), ProviderProblem> {
        let text = |expression: &Expression, argument| {
            let value = self.evaluate(expression, Purpose::Provider, surroundings);
            let value = value.and_then(|text| text.ok_or_else(|| Unevaluated::refused("it is null")));
            value.map_err(|reason| {
                let (name, place) = (name.to_owned(), expression.place.clone());
                ProviderProblem::Unevaluated { name, argument, place, reason }
            })
        };
        if let Some(expression) = &dynamic.source {
            let source = text(expression, "source")?;
            if let Some(reason) = redact::not_sent(&source) {
                let (name, place, reason) = (name.to_owned(), expression.place.clone(), Unevaluated::limit(reason));
                return Err(ProviderProblem::Unevaluated { name, argument: "source", place, reason });
            }
            let parsed = ProviderSource::parse(&source, surroundings.dialect);
            required.source = parsed.map_err(|error| invalid(&expression.place, error.into()))?;
            required.source_text = Some(source);
            dynamic.source = None;
        }
        if let Some(expression) = &dynamic.version {
            let text = text(expression, "version")?;
            required.is_evaluated = true;
            required.version = Some(match Constraints::parse_config(&text) {
                Ok(terms) => Constraint { text, terms },
                Err(reason) => return Err(invalid(&expression.place, ConfigErrorKind::Constraint { text, reason })),
            });
        }
        Ok(())
    }
}

fn invalid(place: &Location, kind: ConfigErrorKind) -> ProviderProblem {
    let (file, position, line) = (place.file.to_path_buf(), place.position, String::new());
    ProviderProblem::Invalid(Box::new(ConfigError { file, position, line, kind }))
}
