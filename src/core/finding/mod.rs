//! Findings: problems with lock files and their surroundings.
//!
//! A finding is data. It names its rule, says what is wrong in one line, and knows the place. Errors, which mean that
//! the question could not be answered, are another thing: they travel by `Result`.

mod position;
mod rule;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

pub use position::LineIndex;
pub use rule::{Class, Level, Rule};

use crate::addr::ProviderAddr;
use crate::step::{Hole, Place, Step};
use crate::version::Version;

/// A line and a column in a text, both from 1; columns count grapheme clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Default for Position {
    fn default() -> Self {
        Self { line: 1, column: 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One bad answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken; gives id, class and help.
    pub rule: Rule,
    /// The level, which settings may change from the rule's own.
    pub level: Level,
    /// What is wrong with what: one line, lower case, no full stop.
    pub message: String,
    /// The provider it is about.
    pub address: Option<ProviderAddr>,
    /// The version of it, where what to do depends on that.
    pub version: Option<Box<Version>>,
    /// The advisory that it is about.
    pub advisory: Option<Box<AdvisoryIds>>,
    /// The file, relative to the working tree; filled in by the caller that knows it.
    pub file: Option<PathBuf>,
    /// The place in the file.
    pub position: Option<Position>,
    /// What to do about it, where that is more than the rule can know.
    pub remedy: Option<Box<Step>>,
    /// What only it knows of the help of its rule.
    pub fillings: Vec<(Hole, Box<str>)>,
    /// Where its user is.
    pub place: Option<Arc<Place>>,
    /// True if `verify --fix` repairs it.
    pub repairable: bool,
}

/// All ids of one advisory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvisoryIds(Vec<Box<str>>);

impl AdvisoryIds {
    /// True if this is one of them.
    pub fn has(&self, id: &str) -> bool {
        self.0.iter().any(|own| **own == *id)
    }
}

impl Finding {
    /// A finding at the level of its rule, without a place.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            rule,
            level: rule.level(),
            message,
            address: None,
            version: None,
            advisory: None,
            file: None,
            position: None,
            remedy: None,
            fillings: Vec::new(),
            place: None,
            repairable: false,
        }
    }

    /// The same finding about a provider.
    #[must_use]
    pub fn about(mut self, address: &ProviderAddr) -> Self {
        self.address = Some(address.clone());
        self
    }

    /// The same finding about a package of modules.
    #[must_use]
    pub fn about_module(mut self, package: &str) -> Self {
        self.remedy = Some(Box::new(Step::from(self.rule.help()).filled(Hole::ModuleSource, package)));
        self
    }

    /// The same finding with what a hole in its rule's help stands for.
    #[must_use]
    pub fn filled(mut self, hole: Hole, value: &str) -> Self {
        self.fillings.push((hole, value.into()));
        self
    }

    /// The same finding about an advisory, by all its ids.
    #[must_use]
    pub fn by_advisory<'i>(mut self, ids: impl IntoIterator<Item = &'i str>) -> Self {
        self.advisory = Some(Box::new(AdvisoryIds(ids.into_iter().map(Box::from).collect())));
        self
    }

    /// The same finding about a version of it.
    #[must_use]
    pub fn of_version(mut self, version: &Version) -> Self {
        self.version = Some(Box::new(version.clone()));
        self
    }

    /// The same finding with what to do about this very one.
    #[must_use]
    pub fn remedied_by(mut self, remedy: impl Into<Step>) -> Self {
        self.remedy = Some(Box::new(remedy.into()));
        self
    }

    /// What to do about it, for its user: its remedy, else the help of the rule, about this very provider.
    pub fn help(&self) -> Step {
        self.general_help().at(self.place.clone())
    }

    /// The help for all findings of its rule, if they are listed together.
    pub fn help_of_rule(&self) -> Step {
        let place = self.place.as_deref().map(|place| Arc::new(Place { file: None, ..place.clone() }));
        Step::from(self.rule.help()).at(place)
    }

    /// The same wherever the run was started.
    pub fn general_help(&self) -> Step {
        if let Some(remedy) = &self.remedy {
            return (**remedy).clone();
        }
        let fill = |help: Step, (hole, value): &(Hole, Box<str>)| help.filled(*hole, value);
        let mut help = self.fillings.iter().fold(Step::from(self.rule.help()), fill);
        if let Some(address) = &self.address {
            if let Some(version) = &self.version {
                help = help.filled(Hole::Release, format!("{address}@{version}"));
            }
            help = help.filled(Hole::Address, address);
        }
        help
    }

    /// The same finding at a place in its file, if it is known.
    #[must_use]
    pub fn at(mut self, position: impl Into<Option<Position>>) -> Self {
        self.position = position.into().or(self.position);
        self
    }

    /// The same finding in a file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn help_is_about_the_very_release() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let finding = Finding::new(Rule::Republished, "x");
        assert_eq!(finding.help(), Step::from(Rule::Republished.help()));
        assert_eq!(finding.clone().about(&addr).help(), Step::from(Rule::Republished.help()));
        let help = finding.about(&addr).of_version(&Version::new(1, 0, 0)).help().to_string();
        assert!(help.contains("--accept-republished registry.terraform.io/acme/widget@1.0.0 --reason"), "{help}");
        let withdrawn = Finding::new(Rule::VersionWithdrawn, "x").about(&addr).of_version(&Version::new(1, 0, 0));
        assert!(withdrawn.help().to_string().contains("`tflock upgrade registry.terraform.io/acme/widget`"));
        let help = Finding::new(Rule::SignerNotPinned, "x").about(&addr).help().to_string();
        assert!(help.contains("`tflock trust add registry.terraform.io/acme/widget FINGERPRINT`"), "{help}");
    }
}
