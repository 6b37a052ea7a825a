//! Findings: problems with lock files and their surroundings.
//!
//! A finding is data. It names its rule, says what is wrong in one line, and knows the place. Errors, which mean that
//! the question could not be answered, are another thing: they travel by `Result`.

mod position;
mod rule;

use std::fmt;
use std::path::{Path, PathBuf};

pub use position::LineIndex;
pub use rule::{Class, Level, Rule};

use crate::addr::ProviderAddr;
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
    pub remedy: Option<Box<str>>,
    /// What is in the rule's help in the place of these words in capitals.
    pub fillings: Vec<(&'static str, Box<str>)>,
    /// What to do about it, where that is not what the rule says.
    pub advice: Option<Box<Advice>>,
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

/// What to do about a finding, in words for this very run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    own: String,
    of_rule: String,
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
            advice: None,
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
        let help = self.rule.help().replace(" SOURCE`", &format!(" {}`", shell_word(package)));
        self.remedy = Some(help.into());
        self
    }

    /// The same finding with what a word in capitals means in its rule's help, such as `FINGERPRINT`.
    #[must_use]
    pub fn filled(mut self, word: &'static str, value: &str) -> Self {
        self.fillings.push((word, shell_word(value).into()));
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
    pub fn remedied_by(mut self, remedy: &str) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Puts what to do about it into other words, given its file.
    pub fn advise(&mut self, words: impl Fn(&str, Option<&Path>) -> String) {
        let help = self.general_help();
        let advice = Advice { own: words(&help, self.file.as_deref()), of_rule: words(self.rule.help(), None) };
        if advice.own != help || advice.of_rule != self.rule.help() {
            self.advice = Some(Box::new(advice));
        }
    }

    /// What to do about it: its remedy, else the help of the rule, about this very provider.
    pub fn help(&self) -> String {
        if let Some(advice) = &self.advice {
            return advice.own.clone();
        }
        self.general_help()
    }

    /// The help for all findings of its rule, if they are listed together.
    pub fn help_of_rule(&self) -> &str {
        self.advice.as_ref().map_or(self.rule.help(), |advice| &advice.of_rule)
    }

    /// The same wherever the run was started.
    pub fn general_help(&self) -> String {
        if let Some(remedy) = &self.remedy {
            return remedy.to_string();
        }
        let fill =
            |help: String, (word, value): &(&str, Box<str>)| help.replace(&format!(" {word}"), &format!(" {value}"));
        let help = self.fillings.iter().fold(self.rule.help().to_owned(), fill);
        let Some(address) = &self.address else { return help };
        match &self.version {
            Some(version) => help.replace("ADDR@VERSION", &format!("{address}@{version}")),
            None if help.contains("ADDR@VERSION") => return help,
            None => help,
        }
        .replace(" ADDR", &format!(" {address}"))
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

/// A word as a shell takes it for one: in double quotes, which POSIX shells, cmd and PowerShell understand, unless a shell
/// reads something in the word even there.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%=".contains(c);
    let is_read = |c: char| "$`\"\\!%".contains(c) || c.is_control();
    if !text.is_empty() && !text.starts_with('@') && text.chars().all(is_plain) {
        text.to_owned()
    } else if !text.contains(is_read) {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn words_are_quoted_for_every_shell() {
        let rows = [
            ("envs/prod", "envs/prod"),
            ("acme/widget@1.0.0", "acme/widget@1.0.0"),
            ("a b", "\"a b\""),
            ("", "\"\""),
            ("acme/widget@~> 1.0", "\"acme/widget@~> 1.0\""),
            ("a,b", "\"a,b\""),
            ("it's", "\"it's\""),
            ("$HOME", "'$HOME'"),
            ("a\\b", "'a\\b'"),
            ("it's $x", "'it'\\''s $x'"),
        ];
        for (text, word) in rows {
            assert_eq!(shell_word(text), word);
        }
    }

    #[test]
    fn help_is_about_the_very_release() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let finding = Finding::new(Rule::Republished, "x");
        assert_eq!(finding.help(), Rule::Republished.help());
        assert_eq!(finding.clone().about(&addr).help(), Rule::Republished.help());
        let help = finding.about(&addr).of_version(&Version::new(1, 0, 0)).help();
        assert!(help.contains("--accept-republished registry.terraform.io/acme/widget@1.0.0 --reason"), "{help}");
        let withdrawn = Finding::new(Rule::VersionWithdrawn, "x").about(&addr).of_version(&Version::new(1, 0, 0));
        assert!(withdrawn.help().contains("`tflock upgrade registry.terraform.io/acme/widget`"));
        let help = Finding::new(Rule::SignerNotPinned, "x").about(&addr).help();
        assert!(help.contains("`tflock trust add registry.terraform.io/acme/widget FINGERPRINT`"), "{help}");
    }
}
