//! Versions of providers, their constraints, and which version is chosen.
//!
//! The ordering of pre-releases and the grammar are the tools' own and not SemVer's: `1.0.0-x` is lower than
//! `1.0.0-a.b`, and `1.0.0-a..b` is a version. The `semver` crate can hold neither, so this folder does without.
//!
//! Source: `github.com/apparentlymart/go-versions` v1.0.2.

mod constraint;
mod select;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

pub use constraint::{ConstraintError, Constraints, Operator, Term};
pub use select::newest_allowed;

/// A release of a provider. Prints exactly as a lock file must hold it.
///
/// Identity covers everything, build metadata too. The order is by precedence, then by metadata bytes, so that it
/// agrees with identity; [`Version::precedence`] leaves metadata out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    pre: String,
    build: String,
}

/// Why a text is not one exact version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The empty text.
    #[error("empty specification")]
    Empty,
    /// `v1.0.0`.
    #[error("a \"v\" prefix should not be used")]
    VPrefix,
    /// `>= 1.0`.
    #[error("can't use constraint operator {0:?}; an exact version is required")]
    Operator(String),
    /// White space in front.
    #[error("extraneous spaces at start of specification")]
    LeadingSpace,
    /// White space behind.
    #[error("extraneous spaces at end of specification")]
    TrailingSpace,
    /// `1.0.0.0`.
    #[error("too many numbered portions; only three are allowed (major, minor, patch)")]
    TooManyParts,
    /// `1.x`; the part.
    #[error("can't use wildcard for {0} number; an exact version is required")]
    Wildcard(&'static str),
    /// `1.0, 2.0`.
    #[error("can't specify multiple versions; a single exact version is required")]
    Multiple,
    /// A number above 18446744073709551615.
    #[error("number {0} is too large")]
    TooLarge(String),
    /// Anything else.
    #[error("invalid specification; required format is three positive integers separated by periods")]
    Invalid,
}

impl Version {
    /// A release without pre-release part and metadata.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { major, minor, patch, pre: String::new(), build: String::new() }
    }

    /// The first number.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second number.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The third number.
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// The pre-release part without its dash, or nothing.
    pub fn pre(&self) -> &str {
        &self.pre
    }

    /// The build metadata without its plus sign, or nothing.
    pub fn build(&self) -> &str {
        &self.build
    }

    /// True if there is a pre-release part.
    pub fn is_prerelease(&self) -> bool {
        !self.pre.is_empty()
    }

    /// `0.0.0`, which the tools never select.
    pub fn is_unspecified(&self) -> bool {
        *self == Self::new(0, 0, 0)
    }

    /// Compares by precedence: numbers, then pre-release; metadata does not count.
    pub fn precedence(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| compare_prerelease(&self.pre, &other.pre))
    }
}

/// The absence of a pre-release is higher than any; one with fewer parts is lower without a look at the parts.
fn compare_prerelease(a: &str, b: &str) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut a, mut b) = (a, b);
    loop {
        match (a.split_once('.'), b.split_once('.')) {
            (None, None) => return compare_identifiers(a, b),
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some((first_a, rest_a)), Some((first_b, rest_b))) => {
                if first_a != first_b {
                    return compare_identifiers(first_a, first_b);
                }
                (a, b) = (rest_a, rest_b);
            }
        }
    }
}

/// Digits are lower than the rest and compare by length, then bytes; an empty identifier counts as digits.
fn compare_identifiers(a: &str, b: &str) -> Ordering {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match (digits(a), digits(b)) {
        (true, true) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => a.cmp(b),
    }
}

/// How constraints with one boundary are sorted by its metadata: empty first, then as identifiers.
fn compare_metadata(a: &str, b: &str) -> Ordering {
    b.is_empty().cmp(&a.is_empty()).then_with(|| compare_identifiers(a, b))
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.precedence(other).then_with(|| self.build.cmp(&other.build))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        write_extras(f, &self.pre, &self.build)
    }
}

fn write_extras(f: &mut fmt::Formatter<'_>, pre: &str, build: &str) -> fmt::Result {
    if !pre.is_empty() {
        write!(f, "-{pre}")?;
    }
    if !build.is_empty() {
        write!(f, "+{build}")?;
    }
    Ok(())
}

impl FromStr for Version {
    type Err = VersionError;

    /// Reads one exact version; missing numbers are zero.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        refuse_other_specifications(text)?;
        let spec = Spec::read(text).map_err(|error| match error {
            SpecError::TooLarge(number) => VersionError::TooLarge(number),
            SpecError::Shape => VersionError::Invalid,
        })?;
        if spec.rest.starts_with(',') {
            return Err(VersionError::Multiple);
        }
        if !spec.rest.is_empty() {
            return Err(if spec.rest.starts_with('.') { wrong_fourth(&spec) } else { VersionError::Invalid });
        }
        Ok(spec.version())
    }
}

fn wrong_fourth(spec: &Spec<'_>) -> VersionError {
    const NAMES: [&str; 3] = ["major", "minor", "patch"];
    let next = spec.rest.as_bytes().get(1);
    match (spec.numbers.get(2), next) {
        (None, Some(b'*' | b'x' | b'X')) => VersionError::Wildcard(NAMES[spec.numbers.len()]),
        (Some(_), Some(_)) => VersionError::TooManyParts,
        _ => VersionError::Invalid,
    }
}

/// Names what a text is that is not a version but something near it.
fn refuse_other_specifications(text: &str) -> Result<(), VersionError> {
    let first = text.chars().next().ok_or(VersionError::Empty)?;
    if text.starts_with(char::is_whitespace) {
        return Err(VersionError::LeadingSpace);
    }
    if text.ends_with(char::is_whitespace) {
        return Err(VersionError::TrailingSpace);
    }
    if first == 'v' && text[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return Err(VersionError::VPrefix);
    }
    if matches!(first, '*' | 'x' | 'X') && text[1..].chars().next().is_none_or(|c| c == '.') {
        return Err(VersionError::Wildcard("major"));
    }
    let operator: String = text.chars().take_while(|c| "<>=!~^".contains(*c)).collect();
    if operator.is_empty() { Ok(()) } else { Err(VersionError::Operator(operator)) }
}

/// The longest start of a text that reads as `NUM[.NUM[.NUM]][-EXTRA][+EXTRA]`, and the rest.
struct Spec<'a> {
    numbers: Vec<u64>,
    pre: &'a str,
    build: &'a str,
    rest: &'a str,
}

enum SpecError {
    TooLarge(String),
    Shape,
}

impl<'a> Spec<'a> {
    fn read(text: &'a str) -> Result<Self, SpecError> {
        let mut numbers = Vec::with_capacity(3);
        let mut rest = text;
        loop {
            let (digits, after) = split_while(rest, |c| c.is_ascii_digit());
            if digits.is_empty() {
                return Err(SpecError::Shape);
            }
            numbers.push(digits.parse().map_err(|_| SpecError::TooLarge(digits.to_owned()))?);
            rest = after;
            let more = rest.strip_prefix('.').filter(|next| next.starts_with(|c: char| c.is_ascii_digit()));
            match more {
                Some(next) if numbers.len() < 3 => rest = next,
                _ => break,
            }
        }
        let (pre, rest) = extra(rest, '-');
        let (build, rest) = extra(rest, '+');
        Ok(Self { numbers, pre, build, rest })
    }

    fn version(&self) -> Version {
        let number = |at: usize| self.numbers.get(at).copied().unwrap_or(0);
        Version {
            major: number(0),
            minor: number(1),
            patch: number(2),
            pre: self.pre.to_owned(),
            build: self.build.to_owned(),
        }
    }
}

fn extra(text: &str, sign: char) -> (&str, &str) {
    match text.strip_prefix(sign) {
        Some(rest) => split_while(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')),
        None => ("", text),
    }
}

fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !keep(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn missing_numbers_are_zero() {
        assert_eq!(version("1").to_string(), "1.0.0");
        assert_eq!(version("01.02").to_string(), "1.2.0");
        assert_eq!(version("1.2.3-a..b+01").to_string(), "1.2.3-a..b+01");
        assert_eq!(version("1.0.0-").to_string(), "1.0.0");
    }

    #[test]
    fn refusals_have_their_reason() {
        let error = |text: &str| text.parse::<Version>().unwrap_err();
        assert_eq!(error(""), VersionError::Empty);
        assert_eq!(error("v1.0.0"), VersionError::VPrefix);
        assert_eq!(error(">= 1.0"), VersionError::Operator(">=".to_owned()));
        assert_eq!(error(" 1.0"), VersionError::LeadingSpace);
        assert_eq!(error("1.0 "), VersionError::TrailingSpace);
        assert_eq!(error("1.0.0.0"), VersionError::TooManyParts);
        assert_eq!(error("1.x"), VersionError::Wildcard("minor"));
        assert_eq!(error("1.0, 2.0"), VersionError::Multiple);
        assert_eq!(error("abc"), VersionError::Invalid);
        assert!(matches!(error("99999999999999999999.0.0"), VersionError::TooLarge(_)));
    }

    #[test]
    fn prereleases_are_not_ordered_as_in_semver() {
        let order =
            ["1.0.0-9", "1.0.0-10", "1.0.0-rc", "1.0.0-x", "1.0.0-a.b", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0"];
        assert!(order.windows(2).all(|pair| version(pair[0]) < version(pair[1])));
        assert_eq!(version("1.0.0+a").precedence(&version("1.0.0+b")), Ordering::Equal);
        assert_ne!(version("1.0.0+a"), version("1.0.0+b"));
    }
}
