//! Version constraints: one canonical text, one meaning.
//!
//! `semver::VersionReq` means something else by nearly every operator and is of no use here.
//!
//! Source: `github.com/apparentlymart/go-versions`, `versions/set.go`, and `internal/getproviders/types.go` (canonical
//! text).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::grammar::{self, ConstraintError};
use super::{Version, write_extras};

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
        if !text.split(',').all(grammar::is_go_version_term) {
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
            let (term, after) = grammar::read_term(rest)?;
            terms.push(term);
            rest = after;
        }
        Ok(terms.into_iter().collect())
    }
}
