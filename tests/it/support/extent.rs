//! How much a test does: in a short run what shows most faults within minutes, in a long one everything.
//!
//! What takes more than a second is ignored by `cargo test` (`#[ignore = "long"]`) and runs with `--include-ignored`, before a
//! release and every night. Where a table or something random takes long, a short form of the same test is there that is not ignored.
//! `TFLOCK_TEST_TIMES=N` makes N times as much of what is random, and `TFLOCK_TEST_FROM=N` begins with another seed.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Short,
    Long,
}

impl Extent {
    /// The rows of a table that are looked at: in a short run one of so many.
    pub fn of<T>(self, rows: &[T], one_of: usize) -> Vec<&T> {
        rows.iter().step_by(if self == Self::Short { one_of } else { 1 }).collect()
    }

    /// The seeds of what is random.
    pub fn seeds(self, short: u64, long: u64) -> Vec<u64> {
        seeds(if self == Self::Short { short } else { long }).collect()
    }
}

/// The seeds of something random that is made so many times, or more often if the caller wants that.
pub fn seeds(count: u64) -> Range<u64> {
    let from = number("TFLOCK_TEST_FROM", 0);
    from..from + times(count)
}

/// So many, or more if the caller wants that.
pub fn times(count: u64) -> u64 {
    count * number("TFLOCK_TEST_TIMES", 1)
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}
