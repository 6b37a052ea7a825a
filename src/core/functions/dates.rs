//! Points in time, as RFC 3339 writes them, and durations.
//!
//! Source: `cty/function/stdlib/datetime.go`; Go's `time`, `parseRFC3339`, `ParseDuration`.

use super::{refuse, text};
use crate::value::{Budget, Number, Unevaluated, Value};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const SECOND: i128 = 1_000_000_000;

/// A point in time: nanoseconds since 1970, and the offset of its clock in minutes.
struct Time {
    nanoseconds: i128,
    offset: i64,
}

/// What a clock and a calendar show.
struct Shown {
    year: i64,
    month: i64,
    day: i64,
    seconds: i64,
    weekday: usize,
}

impl Time {
    /// `2006-01-02T15:04:05Z`, with any fraction of seconds and an offset.
    fn parse(text: &str) -> Result<Self, Unevaluated> {
        Self::read(text).map_or_else(|| refuse(format!("{text:?} is not a time as in 2006-01-02T15:04:05Z")), Ok)
    }

    fn read(text: &str) -> Option<Self> {
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = text.get(from..to)?;
            if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
        };
        let is_at = |at: usize, wanted: u8| text.as_bytes().get(at) == Some(&wanted);
        let has_marks = is_at(4, b'-') && is_at(7, b'-') && is_at(10, b'T') && is_at(13, b':') && is_at(16, b':');
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        let is_right = has_marks
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        let mut rest = text.get(19..).filter(|_| is_right)?;
        let mut fraction = 0;
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            let digits = after.get(..end).filter(|digits| !digits.is_empty())?;
            fraction = format!("{digits:0<9}").get(..9)?.parse().ok()?;
            rest = &after[end..];
        }
        let offset = match rest.as_bytes() {
            [b'Z'] => 0,
            [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
                let start = text.len() - 5;
                let (hours, minutes) = (number(start, start + 2)?, number(start + 3, start + 5)?);
                if hours > 24 || minutes > 60 {
                    return None;
                }
                (hours * 60 + minutes) * if *sign == b'-' { -1 } else { 1 }
            }
            _ => return None,
        };
        let seconds = days_before(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset * 60;
        Some(Self { nanoseconds: i128::from(seconds) * SECOND + fraction, offset })
    }

    fn shown(&self) -> Shown {
        let seconds = i64::try_from(self.nanoseconds.div_euclid(SECOND)).unwrap_or(0) + self.offset * 60;
        let days = seconds.div_euclid(86400);
        let (year, month, day) = date(days);
        let weekday = usize::try_from((days + 4).rem_euclid(7)).unwrap_or(0);
        Shown { year, month, day, seconds: seconds.rem_euclid(86400), weekday }
    }

    /// The offset in one of Go's layouts.
    fn zone(&self, utc: &str, colon: &str) -> String {
        if self.offset == 0 && !utc.is_empty() {
            return utc.to_owned();
        }
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs();
        format!("{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60)
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970 to a date. Years begin in March here, so leap days come last.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (month * 153 + 2) / 5 + day
        - 719_469
}

/// The date so many days after 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let mut year = 1970 + days.div_euclid(365).min(days.div_euclid(366)) - 1;
    while days >= days_before(year + 1, 1, 1) {
        year += 1;
    }
    let mut left = days - days_before(year, 1, 1);
    let mut month = 1;
    while left >= days_in(year, month) {
        left -= days_in(year, month);
        month += 1;
    }
    (year, month, left + 1)
}

/// -1, 0 or 1.
pub(super) fn compare(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    // Here, and here only, a comma may be the point before a fraction.
    let read = |at: usize| Time::parse(&text(arguments, at).replacen(',', ".", 1));
    let (one, other) = (read(0)?, read(1)?);
    Ok(Number::from(one.nanoseconds.cmp(&other.nanoseconds) as i64).into())
}

/// A time and a duration such as `1h30m`.
pub(super) fn add(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let mut time = Time::parse(text(arguments, 0))?;
    let Some(duration) = duration(text(arguments, 1)) else {
        return refuse(format!("{:?} is not a duration as in 1h30m", text(arguments, 1)));
    };
    time.nanoseconds += duration;
    let shown = time.shown();
    let (hour, minute, second) = (shown.seconds / 3600, shown.seconds / 60 % 60, shown.seconds % 60);
    let date = format!("{:04}-{:02}-{:02}", shown.year, shown.month, shown.day);
    Ok(Value::text(format!("{date}T{hour:02}:{minute:02}:{second:02}{}", time.zone("Z", ":"))))
}

/// Nanoseconds.
fn duration(text: &str) -> Option<i128> {
    let (sign, mut rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: i128 = 0;
    while !rest.is_empty() || total == 0 && text.len() < 2 {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let unit: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            _ => return None,
        };
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let fraction = fraction.get(..fraction.len().min(15)).unwrap_or_default();
        let part = if fraction.is_empty() {
            0
        } else {
            fraction.parse::<i128>().ok()? * unit / 10i128.pow(u32::try_from(fraction.len()).ok()?)
        };
        total = total.checked_add(whole.checked_mul(unit)?)?.checked_add(part)?;
        rest = after;
    }
    // As many nanoseconds as fit into 64 bits.
    Some(sign * total).filter(|total| i64::try_from(*total).is_ok())
}

/// A time in a form of letters: `YYYY-MM-DD'T'hh:mm:ssZ`.
pub(super) fn format(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let time = Time::parse(text(arguments, 1))?;
    let (shown, mut rest, mut written) = (time.shown(), text(arguments, 0), String::new());
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            rest = push_literal(rest, &mut written)?;
        } else if first.is_ascii_alphabetic() {
            let end = rest.find(|c| c != first).unwrap_or(rest.len());
            match field(first, end, &shown, &time) {
                Some(field) => written.push_str(&field),
                None => return refuse(format!("{:?} is no part of a date", &rest[..end])),
            }
            rest = &rest[end..];
        } else {
            written.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Ok(Value::text(written))
}

/// Appends the text between quotes, in which two quotes are one; what follows it.
fn push_literal<'a>(quoted: &'a str, written: &mut String) -> Result<&'a str, Unevaluated> {
    if let Some(rest) = quoted.strip_prefix("''") {
        written.push('\'');
        return Ok(rest);
    }
    let mut rest = &quoted[1..];
    loop {
        let Some((part, after)) = rest.split_once('\'') else { return refuse("a quote does not end") };
        written.push_str(part);
        match after.strip_prefix('\'') {
            Some(after) => {
                written.push('\'');
                rest = after;
            }
            None => return Ok(after),
        }
    }
}

fn field(letter: char, count: usize, shown: &Shown, time: &Time) -> Option<String> {
    let hour = shown.seconds / 3600;
    let number = |value: i64| match count {
        1 => Some(value.to_string()),
        2 => Some(format!("{value:02}")),
        _ => None,
    };
    let name = |name: &str| match count {
        3 => name.get(..3).map(str::to_owned),
        4 => Some(name.to_owned()),
        _ => None,
    };
    match (letter, count) {
        ('Y', 2) => Some(format!("{:02}", shown.year % 100)),
        ('Y', 4) => Some(format!("{:04}", shown.year)),
        ('M', 1 | 2) => number(shown.month),
        ('M', _) => name(MONTHS.get(usize::try_from(shown.month - 1).ok()?)?),
        ('D', _) => number(shown.day),
        ('E', _) => name(DAYS.get(shown.weekday)?),
        ('h', _) => number(hour),
        ('H', _) => number((hour + 11) % 12 + 1),
        ('A', 2) => Some(if hour < 12 { "AM" } else { "PM" }.to_owned()),
        ('a', 2) => Some(if hour < 12 { "am" } else { "pm" }.to_owned()),
        ('m', _) => number(shown.seconds / 60 % 60),
        ('s', _) => number(shown.seconds % 60),
        ('Z', 1) => Some(time.zone("Z", ":")),
        ('Z', 3) => Some(time.zone("UTC", "")),
        ('Z', 4) => Some(time.zone("", "")),
        ('Z', 5) => Some(time.zone("", ":")),
        _ => None,
    }
}
