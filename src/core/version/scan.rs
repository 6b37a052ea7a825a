//! The scanner under versions and constraints: one specification at the start of a text.
//!
//! Both grammars are read by one machine in the tools, so both share its leniency: a dot after the last number, a dash
//! or plus sign with nothing behind it.
//!
//! Source: `github.com/apparentlymart/go-versions`, `versions/constraints/raw_scan.rl`.

use super::Version;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scan<'a> {
    /// Anything but digits, white space, letters, dots and asterisks.
    pub(super) operator: &'a str,
    /// ASCII white space.
    pub(super) gap: &'a str,
    /// The first three numbers or wildcards; those that are missing are empty.
    pub(super) numbers: [&'a str; 3],
    /// How many numbers there are, also beyond three.
    pub(super) count: usize,
    pub(super) pre: &'a str,
    pub(super) build: &'a str,
    pub(super) rest: &'a str,
}

pub(super) enum NumberError {
    TooMany,
    Wildcard(&'static str),
    TooLarge(String),
}

impl<'a> Scan<'a> {
    /// Scans the start of a text; never fails, what does not belong is left in `rest`.
    pub(super) fn read(text: &'a str) -> Self {
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

    pub(super) fn version(&self) -> Result<Version, NumberError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_stops_where_nothing_fits() {
        let parts = |text| {
            let scan = Scan::read(text);
            (scan.operator, scan.gap, scan.count, scan.pre, scan.build, scan.rest)
        };
        assert_eq!(parts(">=\t1.2-a.+b,2"), (">=", "\t", 2, "a.", "b", ",2"));
        assert_eq!(parts("1.2.3.4"), ("", "", 4, "", "", ""));
        assert_eq!(parts("1."), ("", "", 1, "", "", ""));
        assert_eq!(parts("1.-a"), ("", "", 1, "", "", "-a"));
        assert_eq!(parts("1-"), ("", "", 1, "", "", ""));
        assert_eq!(parts("1-+b"), ("", "", 1, "", "", "+b"));
        assert_eq!(parts("1.x.2"), ("", "", 3, "", "", ""));
        assert_eq!(parts(">= ,< 2"), (">=", " ", 0, "", "", ",< 2"));
        assert_eq!(parts("é1"), ("é", "", 1, "", "", ""));
    }
}
