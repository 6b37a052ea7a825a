//! Version constraints: two grammars, one canonical text, one meaning.
//!
//! The text in configuration passes two parsers in the tools, and must satisfy both; the text in a lock file passes the
//! second only. `semver::VersionReq` means something else by nearly every operator and is of no use here.
//!
//! Source: `github.com/hashicorp/go-version` (configuration), `github.com/apparentlymart/go-versions`
//! `versions/constraints`, `versions/set.go`, and `internal/getproviders/types.go` (canonical text).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{Spec, SpecError, Version, VersionError, split_while, write_extras};

/// A set of terms that all have to hold: sorted, each once. Equal when the canonical text is.
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

/// Why a text is not a version constraint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// Refused by the grammar of configuration, which is that of `go-version`.
    #[error("{0:?} does not use correct version constraint syntax")]
    Syntax(String),
    /// Nothing where a version must follow.
    #[error("empty specification")]
    Empty,
    /// `v1.2.0`.
    #[error("a \"v\" prefix should not be used")]
    VPrefix,
    /// Two terms without a comma; what stands before the gap.
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

impl Constraints {
    /// Reads a constraint as it stands in configuration, which both grammars must accept.
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Syntax`] from the first grammar, the others from the second.
    pub fn parse_config(text: &str) -> Result<Self, ConstraintError> {
        if !text.split(',').all(is_go_version_term) {
            return Err(ConstraintError::Syntax(text.to_owned()));
        }
        text.parse()
    }

    /// Exactly one version, as `= V`.
    pub fn exactly(version: Version) -> Self {
        Self(vec![Term { operator: Operator::Equal, boundary: version }])
    }

    /// The constraint that `add` writes for a version: `~> MAJOR.MINOR`.
    pub fn compatible_with(version: &Version) -> Self {
        let boundary = Version::new(version.major(), version.minor(), 0);
        Self(vec![Term { operator: Operator::PessimisticMinor, boundary }])
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
    /// A pre-release must be asked for exactly, and `0.0.0` is never allowed.
    pub fn allows(&self, version: &Version) -> bool {
        if version.is_unspecified() {
            return false;
        }
        let asked = |term: &Term| term.operator == Operator::Equal && term.boundary == *version;
        (!version.is_prerelease() || self.0.iter().any(asked)) && self.0.iter().all(|term| term.contains(version))
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

    /// Reads a constraint as it stands in a lock file.
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

/// Reads one term and the comma behind it, if one follows.
fn read_term(text: &str) -> Result<(Term, &str), ConstraintError> {
    todo!("{text}")
}

/// One piece between commas, by the grammar of `go-version`: any number of numbers, an optional `v`.
fn is_go_version_term(text: &str) -> bool {
    todo!("{text}")
}

#[allow(dead_code, reason = "until the parser is there")]
fn unused(spec: Spec<'_>) -> Result<Version, (SpecError, VersionError)> {
    let _ = split_while("", |_| true);
    Ok(spec.version())
}
