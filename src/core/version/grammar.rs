//! The two grammars of constraints.
//!
//! The text in configuration passes two parsers in the tools, and must satisfy both; the text in a lock file passes the
//! second only.
//!
//! Source: `github.com/hashicorp/go-version` v1.9.0 (configuration) and `github.com/apparentlymart/go-versions`,
//! `versions/constraints/ruby_style.go`.

use super::constraint::{Operator, Term};
use super::scan::{NumberError, Scan};

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

pub(super) fn read_term(text: &str) -> Result<(Term, &str), ConstraintError> {
    let scan = Scan::read(text);
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

fn term(scan: &Scan<'_>) -> Result<Term, TermError> {
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

fn operator(scan: &Scan<'_>) -> Result<Operator, TermError> {
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
pub(super) fn is_go_version_term(text: &str) -> bool {
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
