//! Versions and version constraints of modules, whose rules are not those of providers, and which version of a registry's
//! module a call gets: any number of parts, an optional `v`, and pre-releases by their own comparison.
//!
//! Source: `github.com/hashicorp/go-version` v1.9.0, `version.go` and `constraint.go`; `internal/initwd/module_install.go`
//! of both tools.

use std::cmp::Ordering;
use std::str::FromStr;

use super::Version;
use crate::dialect::Dialect;

/// A version of a module: any number of numbers, then perhaps a pre-release; build metadata is ignored in comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleVersion {
    segments: Vec<u64>,
    /// How many of them were written.
    written: usize,
    pre: String,
    text: String,
}

/// The version constraints of a module call, with their text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleConstraints {
    terms: Vec<(ModuleOperator, ModuleVersion)>,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModuleOperator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Pessimistic,
}

/// Why a text is neither a version nor a constraint of a module.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleVersionError {
    /// The text is not a version.
    #[error("{0:?} is not a version")]
    Version(String),
    /// The text is not a list of constraints.
    #[error("{0:?} does not use correct version constraint syntax")]
    Constraint(String),
}

impl FromStr for ModuleVersion {
    type Err = ModuleVersionError;

    fn from_str(text: &str) -> Result<Self, ModuleVersionError> {
        Self::read(text).ok_or_else(|| ModuleVersionError::Version(text.to_owned()))
    }
}

impl ModuleVersion {
    /// The version as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text by which registries know it: without `v`, of at least three numbers.
    pub fn canonical(&self) -> String {
        let numbers: Vec<String> = self.segments.iter().map(u64::to_string).collect();
        let pre = if self.pre.is_empty() { String::new() } else { format!("-{}", self.pre) };
        let build = self.text.split_once('+').map(|(_, build)| format!("+{build}")).unwrap_or_default();
        format!("{}{pre}{build}", numbers.join("."))
    }

    /// True if it has a pre-release part.
    pub fn is_prerelease(&self) -> bool {
        !self.pre.is_empty()
    }

    /// Compares by numbers, then pre-release; metadata does not count. As in the tools, pre-releases only count between
    /// versions with as many numbers: `1.0.0.0` is equal to `1.0.0` and to `1.0.0-rc1`.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let order = self.compare_segments(other);
        if order.is_ne() || self.segments.len() != other.segments.len() {
            return order;
        }
        compare_prerelease(&self.pre, &other.pre)
    }

    fn read(text: &str) -> Option<Self> {
        let digits_end = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let body = text.strip_prefix('v').unwrap_or(text);
        let (numbers, rest) = body.split_at(digits_end(body));
        let mut segments = Vec::new();
        for number in numbers.split('.') {
            let number: u64 = number.parse().ok()?;
            segments.push(i64::try_from(number).ok().and(Some(number))?);
        }
        let written = segments.len();
        segments.resize(written.max(3), 0);
        let (pre, build) = rest.split_once('+').map_or((rest, None), |(pre, build)| (pre, Some(build)));
        let word = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'~'))
        };
        let words = |text: &str| text.split('.').all(word);
        let pre = match pre.strip_prefix('-') {
            Some(pre) if words(pre) => pre,
            None if pre.starts_with(|c: char| c.is_ascii_digit()) => return None,
            // A hyphen that no pre-release follows is one.
            _ => pre,
        };
        ((pre.is_empty() || words(pre)) && build.is_none_or(words)).then(|| Self {
            segments,
            written,
            pre: pre.to_owned(),
            text: text.to_owned(),
        })
    }

    fn compare_segments(&self, other: &Self) -> Ordering {
        let length = self.segments.len().max(other.segments.len());
        let segment = |version: &Self, at: usize| version.segments.get(at).copied().unwrap_or(0);
        (0..length)
            .map(|at| segment(self, at).cmp(&segment(other, at)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl FromStr for ModuleConstraints {
    type Err = ModuleVersionError;

    fn from_str(text: &str) -> Result<Self, ModuleVersionError> {
        let term = |term: &str| {
            let term = term.trim();
            let (operator, rest) = ModuleOperator::ALL
                .iter()
                .find_map(|(sign, operator)| term.strip_prefix(sign).map(|rest| (*operator, rest)))?;
            Some((operator, ModuleVersion::read(rest.trim_start())?))
        };
        let terms = text.split(',').map(term).collect::<Option<Vec<_>>>();
        let terms = terms.ok_or_else(|| ModuleVersionError::Constraint(text.to_owned()))?;
        Ok(Self { terms, text: text.to_owned() })
    }
}

impl ModuleConstraints {
    /// The constraints as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The terms one by one, each with its operator except for `=`, and one space between.
    pub fn terms(&self) -> impl Iterator<Item = String> {
        self.terms.iter().map(|(operator, version)| match operator {
            ModuleOperator::Equal => version.as_str().to_owned(),
            operator => format!("{} {}", operator.sign(), version.as_str()),
        })
    }

    /// True if the constraint is this very version and nothing else: only so is a pre-release selected. The tools read
    /// the constraint by the rules of provider versions for it, in a grammar without commas.
    pub fn names(&self, version: &ModuleVersion, dialect: Dialect) -> bool {
        let text = self.text.trim();
        let text = text.strip_prefix('=').unwrap_or(text);
        let text = if dialect == Dialect::OpenTofu { text.strip_prefix('v').unwrap_or(text) } else { text };
        match (text.parse::<Version>(), version.canonical().parse::<Version>()) {
            (Ok(named), Ok(version)) => named == version,
            _ => false,
        }
    }

    /// True if a version satisfies all of them.
    pub fn allows(&self, version: &ModuleVersion) -> bool {
        self.terms.iter().all(|(operator, boundary)| operator.holds(version, boundary))
    }
}

impl ModuleOperator {
    const ALL: [(&str, ModuleOperator); 8] = [
        ("<=", ModuleOperator::LessOrEqual),
        (">=", ModuleOperator::GreaterOrEqual),
        ("!=", ModuleOperator::NotEqual),
        ("~>", ModuleOperator::Pessimistic),
        ("<", ModuleOperator::Less),
        (">", ModuleOperator::Greater),
        ("=", ModuleOperator::Equal),
        ("", ModuleOperator::Equal),
    ];

    fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(_, operator)| *operator == self).map_or("", |(sign, _)| sign)
    }

    fn holds(self, version: &ModuleVersion, boundary: &ModuleVersion) -> bool {
        let order = version.precedence(boundary);
        match self {
            ModuleOperator::Equal => order.is_eq(),
            ModuleOperator::NotEqual => order.is_ne(),
            _ if !comparable(version, boundary) => false,
            ModuleOperator::Greater => order.is_gt(),
            ModuleOperator::GreaterOrEqual => order.is_ge(),
            ModuleOperator::Less => order.is_lt(),
            ModuleOperator::LessOrEqual => order.is_le(),
            ModuleOperator::Pessimistic => order.is_ge() && pessimistic(version, boundary),
        }
    }
}

/// A pre-release is in a range only if the boundary is one of the same numbers.
fn comparable(version: &ModuleVersion, boundary: &ModuleVersion) -> bool {
    match (boundary.is_prerelease(), version.is_prerelease()) {
        (true, true) => version.segments == boundary.segments,
        (false, true) => false,
        (_, false) => true,
    }
}

fn pessimistic(version: &ModuleVersion, boundary: &ModuleVersion) -> bool {
    let fixed = boundary.written.saturating_sub(1);
    let last = boundary.segments.len() - 1;
    (!boundary.is_prerelease() || version.is_prerelease())
        && boundary.segments.len() <= version.segments.len()
        && version.segments[..fixed] == boundary.segments[..fixed]
        && boundary.segments[last] <= version.segments[last]
}

/// A release is above its pre-releases; parts compare as numbers where both are, and numbers are below words.
fn compare_prerelease(a: &str, b: &str) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut a, mut b) = (a.split('.'), b.split('.'));
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The versions of a module, in the order of its registry, and the tool that selects from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionList {
    versions: Vec<ModuleVersion>,
    dialect: Dialect,
}

/// The versions of a list that a call may get, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selectable<'a>(Vec<&'a ModuleVersion>);

impl VersionList {
    /// The versions that a registry lists; what is no version does not count.
    pub fn new(listed: &[String], dialect: Dialect) -> Self {
        Self { versions: listed.iter().filter_map(|text| text.parse().ok()).collect(), dialect }
    }

    /// The tool that selects.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// What a constraint allows; a pre-release only if it is named exactly.
    pub fn selectable(&self, constraints: Option<&ModuleConstraints>) -> Selectable<'_> {
        let is_selectable = |version: &&ModuleVersion| match constraints {
            None => !version.is_prerelease(),
            Some(constraints) => {
                constraints.allows(version) && (!version.is_prerelease() || constraints.names(version, self.dialect))
            }
        };
        Selectable(self.versions.iter().filter(is_selectable).collect())
    }

    /// True if it has a version, in whatever spelling.
    pub fn contains(&self, wanted: &ModuleVersion) -> bool {
        let wanted = wanted.canonical();
        self.versions.iter().any(|version| version.canonical() == wanted)
    }
}

impl<'a> Selectable<'a> {
    /// The one that `init` installs: the newest, and of equal ones the first.
    pub fn newest(&self) -> Option<&'a ModuleVersion> {
        let newest = |best: &'a ModuleVersion, version| if best.precedence(version).is_lt() { version } else { best };
        self.0.iter().copied().reduce(newest)
    }

    /// The newest of those that no other one equals.
    pub fn newest_unequalled(&self) -> Option<&'a ModuleVersion> {
        let mut versions = self.0.clone();
        versions.sort_by(|one, other| other.precedence(one));
        let mut equal = versions.chunk_by(|one, other| one.precedence(other).is_eq());
        equal
            .find(|equal| equal.iter().all(|version| version.canonical() == equal[0].canonical()))
            .map(|equal| equal[0])
    }

    /// Those that compare as equal to a version, as the tools request them, each once: other spellings of one request
    /// are the same download.
    pub fn equal_to(&self, version: &ModuleVersion) -> Vec<String> {
        let mut equal = Vec::new();
        for listed in self.0.iter().filter(|listed| listed.precedence(version).is_eq()) {
            let name = listed.canonical();
            if !equal.contains(&name) {
                equal.push(name);
            }
        }
        equal
    }
}

/// What a `ref` or a tag says of its version: what is before it, such as `net/` or `release-`, and the version. None for
/// names that are no versions, such as those of branches and commits.
pub fn version_of_tag(tag: &str) -> Option<(&str, ModuleVersion)> {
    let starts = tag.char_indices().map(|(at, _)| at);
    let starts = starts.filter(|at| *at == 0 || tag[..*at].ends_with(['/', '-', '_', '@']));
    let read = |at: usize| {
        let (before, text) = tag.split_at(at);
        let is_version = text.contains('.') || text.starts_with('v');
        Some((before, text.parse::<ModuleVersion>().ok().filter(|_| is_version)?))
    };
    starts.into_iter().find_map(read)
}

/// The newest of the tags that differ from a `ref` in their version alone, if it is newer than that of the `ref`. A
/// pre-release counts as none.
pub fn newer_tag<'a>(reference: &str, tags: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (before, current) = version_of_tag(reference)?;
    let of_kind = |tag: &'a str| {
        let (other, version) = version_of_tag(tag)?;
        (other == before && !version.is_prerelease()).then_some((tag, version))
    };
    let newer = tags.into_iter().filter_map(of_kind).filter(|(_, version)| version.precedence(&current).is_gt());
    newer.max_by(|(_, one), (_, other)| one.precedence(other)).map(|(tag, _)| tag)
}

#[cfg(test)]
mod tests;
