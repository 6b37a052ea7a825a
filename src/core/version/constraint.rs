//! Version constraints: one canonical text, one meaning.
//!
//! `semver::VersionReq` means something else by nearly every operator and is of no use here.
//!
//! Source: `github.com/apparentlymart/go-versions`, `versions/set.go`, and `internal/getproviders/types.go` (canonical
//! text).
//!
//! There are two grammars. The text in configuration passes two parsers in the tools, and must satisfy both; the text in a lock file passes the
//! second only.
//!
//! Source: `github.com/hashicorp/go-version` v1.9.0 (configuration) and `github.com/apparentlymart/go-versions`,
//! `versions/constraints/ruby_style.go`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{NumberError, Version, VersionScan, write_extras};

/// A set of terms that a version must all satisfy: sorted, each once. Equal when the canonical text is.
///
/// Without terms every release is allowed, but no pre-release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Constraints(Vec<Term>);

/// One operator with its boundary.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    operator: Operator,
    boundary: Version,
}

/// The operators, in the order in which terms with one boundary are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `=`, written without a sign.
    Equal,
    /// `~>` with three numbers: the last may grow.
    PessimisticPatch,
    /// `~>` with one or two numbers: the second may grow.
    PessimisticMinor,
    /// `<=`
    LessOrEqual,
    /// `<`
    Less,
    /// `!=`
    NotEqual,
}

impl Constraints {
    /// Reads a constraint of configuration, which both grammars must accept.
    pub fn parse_config(text: &str) -> Result<Self, ConstraintError> {
        if !text.split(',').all(is_go_version_term) {
            return Err(ConstraintError::Syntax(text.to_owned()));
        }
        text.parse()
    }

    /// Exactly one version, as `= V`.
    pub fn exactly(version: Version) -> Self {
        Self(vec![Term::new(Operator::Equal, version)])
    }

    /// The constraint that `add` writes for a version: `~> MAJOR.MINOR`.
    pub fn compatible_with(version: &Version) -> Self {
        let boundary = Version::new(version.major(), version.minor(), 0);
        Self(vec![Term::new(Operator::PessimisticMinor, boundary)])
    }

    /// All terms of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.0.iter().chain(&other.0).cloned().collect()
    }

    /// The terms in canonical order.
    pub fn terms(&self) -> &[Term] {
        &self.0
    }

    /// True if there are no terms.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a version may be selected.
    ///
    /// A pre-release must be named exactly, and `0.0.0` is never allowed.
    pub fn allows(&self, version: &Version) -> bool {
        if version.is_unspecified() {
            return false;
        }
        let names_it = |term: &Term| term.operator == Operator::Equal && term.boundary == *version;
        (!version.is_prerelease() || self.0.iter().any(names_it)) && self.0.iter().all(|term| term.contains(version))
    }
}

impl Constraints {
    /// True if no version at all is allowed.
    pub fn exclude_each_other(&self) -> bool {
        // The lowest allowed version is a boundary, follows one, or is the first of all.
        let near = self.0.iter().flat_map(|Term { boundary: at, .. }| {
            let numbers = |patch| Version::new(at.major, at.minor, patch);
            [at.clone(), numbers(at.patch), numbers(at.patch.saturating_add(1))]
        });
        !near.chain([Version::new(0, 0, 1)]).any(|version| self.allows(&version))
    }
}

impl FromIterator<Term> for Constraints {
    fn from_iter<I: IntoIterator<Item = Term>>(terms: I) -> Self {
        let mut terms: Vec<Term> = terms.into_iter().collect();
        terms.sort_by(Term::canonical_order);
        terms.dedup();
        Self(terms)
    }
}

impl Term {
    pub(super) fn new(operator: Operator, boundary: Version) -> Self {
        Self { operator, boundary }
    }

    /// The operator.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The boundary, missing numbers set to zero.
    pub fn boundary(&self) -> &Version {
        &self.boundary
    }

    /// True if the version is in the range of this term; pre-releases are judged by precedence here.
    pub fn contains(&self, version: &Version) -> bool {
        let against = version.precedence(&self.boundary);
        match self.operator {
            Operator::Greater => against.is_gt(),
            Operator::GreaterOrEqual => against.is_ge(),
            Operator::Equal => *version == self.boundary,
            Operator::NotEqual => *version != self.boundary,
            Operator::Less => against.is_lt(),
            Operator::LessOrEqual => against.is_le(),
            Operator::PessimisticPatch | Operator::PessimisticMinor => {
                against.is_ge() && version.precedence(&self.pessimistic_bound()).is_lt()
            }
        }
    }

    /// The first version beyond `~>`. The largest number wraps to zero, as in the tools: then nothing is allowed.
    fn pessimistic_bound(&self) -> Version {
        let low = &self.boundary;
        match self.operator {
            Operator::PessimisticPatch => Version::new(low.major(), low.minor().wrapping_add(1), 0),
            _ => Version::new(low.major().wrapping_add(1), 0, 0),
        }
    }

    fn canonical_order(&self, other: &Self) -> Ordering {
        self.boundary
            .precedence(&other.boundary)
            .then_with(|| super::compare_metadata(self.boundary.build(), other.boundary.build()))
            .then_with(|| self.operator.cmp(&other.operator))
    }
}

impl Operator {
    fn text(self) -> &'static str {
        match self {
            Operator::Greater => "> ",
            Operator::GreaterOrEqual => ">= ",
            Operator::Equal => "",
            Operator::PessimisticPatch | Operator::PessimisticMinor => "~> ",
            Operator::LessOrEqual => "<= ",
            Operator::Less => "< ",
            Operator::NotEqual => "!= ",
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operator.text())?;
        let version = &self.boundary;
        if self.operator == Operator::PessimisticMinor {
            write!(f, "{}.{}", version.major(), version.minor())?;
            return write_extras(f, version.pre(), version.build());
        }
        write!(f, "{version}")
    }
}

/// The canonical text, as in the `constraints` of a lock file.
impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{term}")?;
        }
        Ok(())
    }
}

impl FromStr for Constraints {
    type Err = ConstraintError;

    /// Reads a constraint of a lock file.
    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        let mut rest = text.trim();
        let mut terms = Vec::new();
        while !rest.is_empty() {
            let (term, after) = read_term(rest)?;
            terms.push(term);
            rest = after;
        }
        Ok(terms.into_iter().collect())
    }
}

/// Why a text is not a version constraint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// Refused by the grammar of configuration, `go-version`.
    #[error("{0:?} does not use correct version constraint syntax")]
    Syntax(String),
    /// Nothing where a version must follow.
    #[error("empty specification")]
    Empty,
    /// `v1.2.0`.
    #[error("a \"v\" prefix should not be used")]
    VPrefix,
    /// Two terms without a comma; what is before the gap.
    #[error("missing comma after {0:?}")]
    MissingComma(String),
    /// One term is refused.
    #[error("invalid specification {term:?}: {reason}")]
    Term {
        /// The term as written.
        term: String,
        /// The rule it breaks.
        reason: TermError,
    },
}

/// Why one term is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    /// An operator that there is not; perhaps one that was meant.
    #[error("invalid constraint operator {0:?}{hint}", hint = did_you_mean(*.1))]
    Operator(String, Option<&'static str>),
    /// Other than nothing or one space.
    #[error("only one space is expected after the operator {0:?}")]
    Spaces(String),
    /// `1.x`; the part.
    #[error("can't use wildcard for {0} number; omit segments that should be unconstrained")]
    Wildcard(&'static str),
    /// `1.2.3.4`.
    #[error("too many numbered portions; only three are allowed (major, minor, patch)")]
    TooManyParts,
    /// A number above 18446744073709551615.
    #[error("number {0} is too large")]
    TooLarge(String),
    /// Anything else.
    #[error("required format is up to three positive integers separated by periods")]
    Version,
}

fn did_you_mean(operator: Option<&str>) -> String {
    operator.map(|operator| format!("; did you mean {operator:?}?")).unwrap_or_default()
}

fn read_term(text: &str) -> Result<(Term, &str), ConstraintError> {
    let scan = VersionScan::read(text);
    let consumed = &text[..text.len() - scan.rest.len()];
    let term = term(&scan).map_err(|reason| ConstraintError::Term { term: consumed.to_owned(), reason });
    let rest = scan.rest.trim_start();
    match rest.strip_prefix(',') {
        // A `v` stops the scanner, so only this place sees it. It explains more than what the term lacks.
        _ if scan.count == 0 && rest.starts_with('v') => Err(ConstraintError::VPrefix),
        Some(after) => Ok((term?, after.trim_start())),
        None if rest.is_empty() => Ok((term?, rest)),
        None => term.and(Err(ConstraintError::MissingComma(consumed.to_owned()))),
    }
}

fn term(scan: &VersionScan<'_>) -> Result<Term, TermError> {
    let operator = operator(scan)?;
    if !matches!(scan.gap, "" | " ") {
        return Err(TermError::Spaces(scan.operator.to_owned()));
    }
    // With a space behind the operator the tools take nothing for zero.
    if scan.count == 0 && scan.gap.is_empty() {
        return Err(TermError::Version);
    }
    let boundary = scan.version().map_err(|error| match error {
        NumberError::TooMany => TermError::TooManyParts,
        NumberError::Wildcard(part) => TermError::Wildcard(part),
        NumberError::TooLarge(number) => TermError::TooLarge(number),
    })?;
    Ok(Term::new(operator, boundary))
}

fn operator(scan: &VersionScan<'_>) -> Result<Operator, TermError> {
    Ok(match scan.operator {
        "" | "=" => Operator::Equal,
        "!=" => Operator::NotEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        "~>" if scan.count == 3 => Operator::PessimisticPatch,
        "~>" => Operator::PessimisticMinor,
        other => {
            let meant = match other {
                "=>" => Some(">="),
                "=<" => Some("<="),
                _ => None,
            };
            return Err(TermError::Operator(other.to_owned(), meant));
        }
    })
}

/// One piece between commas, by the grammar of `go-version`: any number of numbers, an optional `v`.
fn is_go_version_term(text: &str) -> bool {
    let text = text.trim_matches(is_space);
    let operators = ["<=", ">=", "!=", "~>", "<", ">", "="];
    let version = operators.iter().find_map(|operator| text.strip_prefix(operator)).unwrap_or(text);
    is_go_version(version.trim_start_matches(is_space))
}

fn is_go_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (numbers, extra) = text.split_at(end);
    let (pre, build) = match extra.split_once('+') {
        Some((pre, build)) => (pre, Some(build)),
        None => (extra, None),
    };
    // The dash belongs to the words of the grammar, so it stays.
    numbers.split('.').all(|number| number.parse::<i64>().is_ok())
        && (pre.is_empty() || is_go_words(pre))
        && build.is_none_or(is_go_words)
}

/// Words of letters, digits, dashes and tildes between single dots.
fn is_go_words(text: &str) -> bool {
    text.split('.').all(|word| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'~'))
    })
}

/// White space as Go's regular expressions have it.
fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ')
}
