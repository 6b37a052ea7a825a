//! Days, as users write them.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

/// A day of the Gregorian calendar from year 1 on: `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that is not a day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a date: expected YYYY-MM-DD")]
pub struct DateError(pub String);

impl Date {
    /// The day of a point in time, UTC; the first of 1970 for those before.
    pub fn of(time: SystemTime) -> Self {
        let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let (mut year, mut days) = (1970, seconds / 86400);
        loop {
            let length: u64 = (1..=12).map(|month| u64::from(month_length(year, month))).sum();
            if days < length || year == u16::MAX {
                break;
            }
            days -= length;
            year += 1;
        }
        let mut month = 1;
        while month < 12 && days >= u64::from(month_length(year, month)) {
            days -= u64::from(month_length(year, month));
            month += 1;
        }
        Self { year, month, day: u8::try_from(days + 1).unwrap_or(31) }
    }

    /// The midnight in which the day begins, in seconds since 1970-01-01, UTC.
    pub fn unix_seconds(self) -> i64 {
        let year = i64::from(self.year) - 1;
        let before_year = year * 365 + year / 4 - year / 100 + year / 400;
        let before_month: i64 = (1..self.month).map(|month| i64::from(month_length(self.year, month))).sum();
        let days_before_1970 = 719_162;
        (before_year + before_month + i64::from(self.day) - 1 - days_before_1970) * 86400
    }
}

fn month_length(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u8::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let error = || DateError(text.to_owned());
        let digits = text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        if text.len() != 10 || !digits {
            return Err(error());
        }
        let number = |range: std::ops::Range<usize>| text[range].parse::<u16>().map_err(|_| error());
        let small = |range| u8::try_from(number(range)?).map_err(|_| error());
        let (year, month, day) = (number(0..4)?, small(5..7)?, small(8..10)?);
        if year < 1 || !(1..=12).contains(&month) || day < 1 || day > month_length(year, month) {
            return Err(error());
        }
        Ok(Self { year, month, day })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted() {
        let seconds = |text: &str| text.parse::<Date>().unwrap().unix_seconds();
        assert_eq!(seconds("1970-01-01"), 0);
        assert_eq!(seconds("2000-02-29"), 951_782_400);
        assert_eq!(seconds("2027-01-01"), 1_798_761_600);
        assert_eq!(seconds("2024-03-01") - seconds("2024-02-28"), 2 * 86400);
        assert_eq!("2027-01-01".parse::<Date>().unwrap().to_string(), "2027-01-01");
    }

    #[test]
    fn points_in_time_have_a_day() {
        let day = |seconds| Date::of(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds));
        for text in ["1970-01-01", "1999-12-31", "2000-02-29", "2024-12-31", "2026-11-20"] {
            let date: Date = text.parse().unwrap();
            let midnight = u64::try_from(date.unix_seconds()).unwrap();
            assert_eq!([day(midnight), day(midnight + 86399)], [date, date]);
        }
    }

    #[test]
    fn refusals() {
        for bad in [
            "",
            "2027",
            "2027-1-1",
            "2027-13-01",
            "2027-02-29",
            "0000-01-01",
            "2027/01/01",
            "20270-1-01",
            "２027-01-01",
        ] {
            assert_eq!(bad.parse::<Date>(), Err(DateError(bad.to_owned())));
        }
    }
}
