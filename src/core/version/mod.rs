//! Versions of providers, their constraints, and which version is chosen.
//!
//! The ordering of pre-releases and the grammar are the tools' own and not those of semantic versioning: `1.0.0-x` is
//! lower than `1.0.0-a.b`, and `1.0.0-a..b` is a version. The `semver` crate supports neither, so this folder does
//! without.
//!
//! Versions and constraints are scanned by one machine in the tools, so both share its leniency: a dot after the last
//! number, a dash or plus sign with nothing behind it.
//!
//! Source: `github.com/apparentlymart/go-versions` v1.0.2; its `versions/constraints/raw_scan.rl`.

mod constraint;
mod module;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

pub use constraint::{ConstraintError, Constraints, Operator, Term, TermError};
pub use module::{ModuleConstraints, ModuleVersion, ModuleVersionError, VersionList, newer_tag, version_of_tag};

/// A release of a provider. Prints exactly as in a lock file.
///
/// Identity covers everything, build metadata too. The order is by precedence, then by metadata as the tools sort it in
/// constraints, to agree with identity; [`Version::precedence`] leaves metadata out.
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

    /// The same version without build metadata.
    #[must_use]
    pub fn without_build(&self) -> Self {
        Self { build: String::new(), ..self.clone() }
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

/// The absence of a pre-release is higher than any.
fn compare_prerelease(a: &str, b: &str) -> Ordering {
    a.is_empty().cmp(&b.is_empty()).then_with(|| compare_parts(a, b))
}

/// The absence of metadata is lower than any.
///
/// Source: `VersionExtra.LessThan` of go-versions, by which the tools sort constraints with one boundary.
fn compare_metadata(a: &str, b: &str) -> Ordering {
    b.is_empty().cmp(&a.is_empty()).then_with(|| compare_parts(a, b))
}

/// Part by part between dots; fewer parts are lower without a look at the rest of them.
fn compare_parts(mut a: &str, mut b: &str) -> Ordering {
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

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.precedence(other).then_with(|| compare_metadata(&self.build, &other.build))
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
        let scan = VersionScan::read(text);
        refuse_other_specifications(text, &scan)?;
        scan.version().map_err(|error| match error {
            NumberError::TooMany => VersionError::TooManyParts,
            NumberError::Wildcard(part) => VersionError::Wildcard(part),
            NumberError::TooLarge(number) => VersionError::TooLarge(number),
        })
    }
}

/// Names what a text is that is not a version but something near it.
fn refuse_other_specifications(text: &str, scan: &VersionScan<'_>) -> Result<(), VersionError> {
    if text.trim().is_empty() {
        return Err(VersionError::Empty);
    }
    // White space beyond ASCII is scanned as an operator, and forgiven there.
    if !scan.operator.trim().is_empty() {
        let constraint = scan.operator.chars().all(|c| "<>=!~^".contains(c));
        return Err(if constraint { VersionError::Operator(scan.operator.to_owned()) } else { VersionError::Invalid });
    }
    if !scan.gap.is_empty() {
        return Err(VersionError::LeadingSpace);
    }
    match scan.rest.trim_start().chars().next() {
        None if scan.rest.is_empty() => Ok(()),
        None => Err(VersionError::TrailingSpace),
        Some('v') if text.starts_with('v') => Err(VersionError::VPrefix),
        Some(',' | '|') => Err(VersionError::Multiple),
        Some(_) => Err(VersionError::Invalid),
    }
}

#[derive(Debug, PartialEq, Eq)]
struct VersionScan<'a> {
    /// Anything but digits, white space, letters, dots and asterisks.
    operator: &'a str,
    /// ASCII white space.
    gap: &'a str,
    /// The first three numbers or wildcards; those that are missing are empty.
    numbers: [&'a str; 3],
    /// How many numbers there are, also beyond three.
    count: usize,
    pre: &'a str,
    build: &'a str,
    rest: &'a str,
}

enum NumberError {
    TooMany,
    Wildcard(&'static str),
    TooLarge(String),
}

impl<'a> VersionScan<'a> {
    /// Scans the start of a text; never fails, what does not belong is left in `rest`.
    fn read(text: &'a str) -> Self {
        let (operator, rest) = split_while(text, is_operator);
        let (gap, rest) = split_while(rest, is_gap);
        let mut scan = Self { operator, gap, numbers: [""; 3], count: 0, pre: "", build: "", rest };
        if scan.read_numbers() {
            scan.read_extras();
        }
        scan
    }

    /// True if an extra may follow: there are numbers, and no dot is behind the last.
    fn read_numbers(&mut self) -> bool {
        loop {
            let (number, rest) = split_number(self.rest);
            if number.is_empty() {
                return false;
            }
            if let Some(slot) = self.numbers.get_mut(self.count) {
                *slot = number;
            }
            self.count += 1;
            self.rest = rest;
            match rest.strip_prefix('.') {
                Some(next) => self.rest = next,
                None => return true,
            }
        }
    }

    fn read_extras(&mut self) {
        if let Some(rest) = self.rest.strip_prefix('-') {
            (self.pre, self.rest) = split_while(rest, is_extra);
            if self.pre.is_empty() {
                return;
            }
        }
        if let Some(rest) = self.rest.strip_prefix('+') {
            (self.build, self.rest) = split_while(rest, is_extra);
        }
    }

    fn version(&self) -> Result<Version, NumberError> {
        const NAMES: [&str; 3] = ["major", "minor", "patch"];
        if self.count > NAMES.len() {
            return Err(NumberError::TooMany);
        }
        let mut values = [0; 3];
        for ((text, name), value) in self.numbers.into_iter().zip(NAMES).zip(&mut values) {
            *value = match text {
                "" => 0,
                "*" | "x" | "X" => return Err(NumberError::Wildcard(name)),
                digits => digits.parse().map_err(|_| NumberError::TooLarge(digits.to_owned()))?,
            };
        }
        let [major, minor, patch] = values;
        Ok(Version { major, minor, patch, pre: self.pre.to_owned(), build: self.build.to_owned() })
    }
}

fn split_number(text: &str) -> (&str, &str) {
    if text.starts_with(['*', 'x', 'X']) { text.split_at(1) } else { split_while(text, |c| c.is_ascii_digit()) }
}

fn is_operator(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || is_gap(c) || matches!(c, '.' | '*'))
}

fn is_gap(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ')
}

fn is_extra(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-')
}

fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !keep(c)).unwrap_or(text.len()))
}

/// The newest version that the constraints allow.
///
/// Versions that differ in build metadata only have one precedence; the tools' choice among them is not defined. Here
/// the greatest metadata wins, in the order in which the tools sort constraints.
pub fn newest_allowed<'a>(
    versions: impl IntoIterator<Item = &'a Version>,
    constraints: &Constraints,
) -> Option<&'a Version> {
    versions.into_iter().filter(|version| constraints.allows(version)).max()
}
