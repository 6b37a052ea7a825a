//! Findings: problems with lock files and their surroundings.
//!
//! A finding is data. It names its rule, says what is wrong in one line, and knows the place. Errors, which mean that
//! the question could not be answered, are another thing: they travel by `Result`.

mod rule;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

pub use rule::{Class, Level, Rule};

use crate::addr::ProviderAddr;
use crate::step::{Hole, Place, Step};
use crate::version::Version;
use crate::words::shown;

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

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, relative to the root module.
    pub file: Arc<Path>,
    /// The place in it.
    pub position: Position,
}

/// `FILE:LINE:COLUMN`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", shown(&self.file), self.position)
    }
}

/// One bad answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken; gives id, class and help.
    pub rule: Rule,
    grade: Grade,
    message: String,
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
    /// What only it knows of what to do.
    pub fillings: Vec<(Hole, Box<str>)>,
    /// Where its user is.
    place: Option<Arc<Place>>,
    repairable: bool,
}

/// A level, and who has the last word on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grade {
    /// The level of the rule, or of the rule in this case; settings may state another one.
    Open(Level),
    /// Circumstances or the policy decide, whatever settings state.
    Given(Level),
    /// Settings and exemptions were applied.
    Settled(Level),
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

/// True if one of them is refused.
pub fn is_denied(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.level() == Level::Deny)
}

impl Finding {
    /// A finding at the level of its rule, without a place.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            rule,
            grade: Grade::Open(rule.level()),
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

    /// The level.
    pub fn level(&self) -> Level {
        let (Grade::Open(level) | Grade::Given(level) | Grade::Settled(level)) = self.grade;
        level
    }

    /// What is wrong with what: one line, lower case, no full stop.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same finding at a level that settings do not change: circumstances or the policy decide.
    #[must_use]
    pub fn at_level(mut self, level: Level) -> Self {
        self.grade = Grade::Given(level);
        self
    }

    /// The same finding at the level that its rule has in this case, unless settings state one for the rule.
    #[must_use]
    pub fn unless_stated(mut self, level: Level) -> Self {
        self.grade = Grade::Open(level);
        self
    }

    /// The same finding with more to say: `MESSAGE; REMARK`.
    #[must_use]
    pub fn remarked(mut self, remark: impl fmt::Display) -> Self {
        self.message = format!("{}; {remark}", self.message);
        self
    }

    /// The same finding at its final level: the one that is stated for its rule counts only where nothing else decides.
    #[must_use]
    pub(crate) fn settled(mut self, stated: Option<Level>) -> Self {
        self.grade = Grade::Settled(match self.grade {
            Grade::Open(level) => stated.unwrap_or(level),
            Grade::Given(level) | Grade::Settled(level) => level,
        });
        self
    }

    /// True once settings and exemptions were applied.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.grade, Grade::Settled(_))
    }

    /// The same finding as a note, for a reason that settings or an approval give.
    #[must_use]
    pub fn let_pass(mut self, reason: &str) -> Self {
        self.grade = Grade::Settled(Level::Note);
        self.message = format!("{} ({reason})", self.message);
        self
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

    /// True if `verify --fix` repairs it.
    pub fn is_repairable(&self) -> bool {
        self.repairable
    }

    /// The same finding, which `verify --fix` repairs or not.
    #[must_use]
    pub fn repairable(mut self, repairable: bool) -> Self {
        self.repairable = repairable;
        self
    }

    /// The same finding with what a hole in its rule's help stands for.
    #[must_use]
    pub fn filled(mut self, hole: Hole, value: &str) -> Self {
        self.fillings.push((hole, value.into()));
        self
    }

    /// What only it knows of what to do.
    pub fn filling(&self, hole: Hole) -> Option<&str> {
        self.fillings.iter().find(|(own, _)| *own == hole).map(|(_, value)| &**value)
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

    /// The same finding with the place of its user.
    #[must_use]
    pub fn for_user_at(mut self, place: Place) -> Self {
        self.place = Some(Arc::new(place));
        self
    }

    /// The help for all findings of its rule, if they are listed together.
    pub fn help_of_rule(&self) -> Step {
        let place = self.place.as_deref().map(|place| Arc::new(Place { file: None, ..place.clone() }));
        Step::from(self.rule.help()).at(place)
    }

    /// The same wherever the run was started.
    pub fn general_help(&self) -> Step {
        let of_rule = || Step::from(self.rule.help());
        let mut help = self.remedy.as_deref().cloned().unwrap_or_else(of_rule);
        for (hole, value) in &self.fillings {
            help = help.filled(*hole, value);
        }
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

/// The line starts of one text, for turning byte offsets into positions.
///
/// Lines end with `\n`. Columns count grapheme clusters from 1. A byte order mark at the start of the text does not
/// count, though offsets are those of the text with it.
///
/// What was counted is kept at intervals, so many positions are cheap on the longest line, in any order.
///
/// Source: `github.com/hashicorp/hcl/v2`, `hcl.Pos`.
#[derive(Debug, Clone)]
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// How many clusters of its line are before a cluster that begins at a byte.
    counted: RefCell<BTreeMap<usize, usize>>,
}

/// How many bytes of a line are shown at most.
const EXCERPT: usize = 200;

/// After how many bytes the count is kept.
const INTERVAL: usize = 256;

impl<'a> LineIndex<'a> {
    /// Finds the lines of a text.
    pub fn new(text: &'a str) -> Self {
        let first = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let later = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self { text, starts: std::iter::once(first).chain(later).collect(), counted: RefCell::default() }
    }

    /// The line with a byte, without blanks at its end; of a longer one 200 bytes around that byte, and `…` for what is left out.
    ///
    /// Words are not cut: half of one could be a password that is not recognized any more.
    pub fn excerpt(&self, byte_offset: usize) -> String {
        let line = self.starts.partition_point(|start| *start <= byte_offset).max(1);
        let start = self.starts[line - 1];
        let end = self.starts.get(line).copied().unwrap_or(self.text.len());
        let line = self.text[start..end].trim_end();
        if line.len() <= EXCERPT {
            return line.to_owned();
        }
        let is_between = |c: char| c.is_whitespace() || c == '"';
        let at = boundary(line, byte_offset.saturating_sub(start));
        let (before, behind) = line.split_at(at);
        let from = boundary(before, at.saturating_sub(EXCERPT / 2));
        let cut = before[from..].find(is_between).filter(|_| from > 0);
        let before = &before[if from > 0 { cut.map_or(at, |cut| from + cut) } else { 0 }..];
        let to = boundary(behind, EXCERPT - before.len());
        let is_whole = to == behind.len();
        let behind = if is_whole { behind } else { &behind[..behind[..to].rfind(is_between).map_or(0, |cut| cut + 1)] };
        let left_out = |is_left_out| if is_left_out { "…" } else { "" };
        format!("{}{before}{behind}{}", left_out(from > 0), left_out(!is_whole))
    }

    /// The position of a byte.
    ///
    /// An offset inside a grapheme cluster has the column of the cluster; one beyond the end of the text means the
    /// end.
    pub fn position(&self, byte_offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= byte_offset).max(1);
        let start = self.starts[line - 1];
        let end = byte_offset.clamp(start, self.text.len());
        let mut counted = self.counted.borrow_mut();
        let nearest = counted.range(start..=end).next_back();
        let (mut from, mut clusters) = nearest.map_or((start, 0), |(at, before)| (*at, *before));
        let mut interval = INTERVAL;
        while end - from > interval {
            let (bytes, more) = clusters_within(&self.text[from..], interval);
            if bytes == 0 {
                // A cluster may be longer.
                interval *= 2;
                continue;
            }
            from += bytes;
            clusters += more;
            counted.insert(from, clusters);
            interval = INTERVAL;
        }
        let (_, more) = clusters_within(&self.text[from..], end - from);
        Position { line, column: 1 + clusters + more }
    }
}

/// The last place between two characters that is not behind a byte.
fn boundary(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The clusters of a text that end within its first bytes: their bytes and how many they are.
fn clusters_within(text: &str, bytes: usize) -> (usize, usize) {
    // A cluster may reach over the given bytes, so the byte behind them is looked at too.
    if text.as_bytes()[..text.len().min(bytes + 1)].iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        return (bytes, bytes);
    }
    let ends = text.grapheme_indices(true).map(|(at, cluster)| at + cluster.len());
    ends.take_while(|end| *end <= bytes).fold((0, 0), |(_, count), end| (end, count + 1))
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

#[cfg(test)]
mod position_tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str, offset: usize) -> (usize, usize) {
        let position = LineIndex::new(text).position(offset);
        (position.line, position.column)
    }

    #[test]
    fn columns_of_a_long_line_are_right_in_any_order() {
        let long_cluster = "e".to_owned() + &"\u{301}".repeat(1_000);
        let text = format!("x\n{}{long_cluster}{}\ny", "ab\u{e9}🇩🇪".repeat(300), "z".repeat(2_000));
        let index = LineIndex::new(&text);
        let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let mixed = (0..offsets.len()).map(|n| offsets[n * 7_919 % offsets.len()]);
        for offset in mixed.step_by(37).chain(offsets.iter().rev().step_by(41).copied()) {
            assert_eq!(index.position(offset), LineIndex::new(&text).position(offset), "{offset}");
            let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let before =
                text[start..].grapheme_indices(true).take_while(|(at, part)| start + at + part.len() <= offset);
            assert_eq!(index.position(offset).column, 1 + before.count(), "{offset}");
        }
    }

    #[test]
    fn lines_and_columns_start_at_one() {
        assert_eq!(at("", 0), (1, 1));
        assert_eq!(at("ab\ncd", 0), (1, 1));
        assert_eq!(at("ab\ncd", 2), (1, 3));
        assert_eq!(at("ab\ncd", 3), (2, 1));
        assert_eq!(at("ab\ncd", 5), (2, 3));
        assert_eq!(at("ab\n", 3), (2, 1));
        assert_eq!(at("ab", 99), (1, 3));
        assert_eq!(at("a\r\nb", 2), (1, 2));
        assert_eq!(at("a\r\nb", 3), (2, 1));
    }

    #[test]
    fn columns_count_grapheme_clusters() {
        assert_eq!(at("é=1", 2), (1, 2));
        assert_eq!(at("e\u{301}=1", 1), (1, 1));
        assert_eq!(at("e\u{301}=1", 3), (1, 2));
        assert_eq!(at("x 👩‍👩‍👧 = 1", "x 👩‍👩‍👧 ".len()), (1, 5));
        assert_eq!(at("é", 1), (1, 1));
    }

    #[test]
    fn a_byte_order_mark_does_not_count() {
        assert_eq!(at("\u{feff}ab\nc", 0), (1, 1));
        assert_eq!(at("\u{feff}ab\nc", 3), (1, 1));
        assert_eq!(at("\u{feff}ab\nc", 4), (1, 2));
        assert_eq!(at("\u{feff}ab\nc", 6), (2, 1));
        assert_eq!(at("\u{feff}", 3), (1, 1));
    }

    proptest! {
        #[test]
        fn positions_grow_with_offsets(text in "[\u{feff}a\u{301}👩\u{200d}\r\n\t é]{0,30}") {
            let index = LineIndex::new(&text);
            let positions: Vec<_> = (0..text.len() + 2).map(|offset| index.position(offset)).collect();
            let afresh: Vec<_> =
                (0..text.len() + 2).map(|offset| LineIndex::new(&text).position(offset)).collect();
            prop_assert_eq!(&positions, &afresh);
            prop_assert!(positions.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert_eq!(positions.last().map(|last| last.line), Some(1 + text.matches('\n').count()));
        }
    }
}
