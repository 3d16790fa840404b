//! Which day a date is: the Gregorian calendar in days since 1970-01-01.

/// The first year that counts; there is no year 0.
const FIRST_YEAR: i64 = 1;
/// The last one that is written with four digits.
const LAST_YEAR: i64 = 9999;
/// Days from 0001-01-01 to 1970-01-01.
const EPOCH: i64 = 719_162;
/// Days of 400 years, after which the calendar repeats itself.
const CYCLE: i64 = 146_097;

/// A real date, year 1 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// 1..=9999.
    pub year: i64,
    /// 1..=12.
    pub month: i64,
    /// From 1.
    pub day: i64,
}

impl Date {
    /// `None` if there is no such date.
    pub fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let real = (FIRST_YEAR..=LAST_YEAR).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day);
        real.then_some(Self { year, month, day })
    }

    /// The date of a day; one outside of the years 1 to 9999 becomes the nearest date there is.
    ///
    /// ```
    /// use memgrep::calendar::Date;
    ///
    /// assert_eq!(Some(Date::of(30)), Date::new(1970, 1, 31));
    /// ```
    pub fn of(day: i64) -> Self {
        let first = Self { year: FIRST_YEAR, month: 1, day: 1 };
        let last = Self { year: LAST_YEAR, month: 12, day: 31 };
        let left = day.clamp(first.days(), last.days()) + EPOCH;
        // A guess that is too early by a year at most.
        let mut year = left * 400 / CYCLE;
        while year < LAST_YEAR && before_year(year + 1) <= left {
            year += 1;
        }
        let mut left = left - before_year(year);
        let mut month = 1;
        while left >= days_in_month(year, month) {
            left -= days_in_month(year, month);
            month += 1;
        }
        Self { year, month, day: left + 1 }
    }

    /// Days since 1970-01-01.
    pub fn days(self) -> i64 {
        let before_month: i64 = (1..self.month).map(|month| days_in_month(self.year, month)).sum();
        before_year(self.year) + before_month + self.day - 1 - EPOCH
    }
}

/// Days since 1970-01-01 of ten ASCII characters `YYYY-MM-DD` that are a real date.
///
/// ```
/// use memgrep::calendar::iso;
///
/// assert_eq!(iso("1970-02-01"), Some(31));
/// assert_eq!(iso("2026-02-30"), None);
/// ```
pub fn iso(text: &str) -> Option<i64> {
    let text: &[u8; 10] = text.as_bytes().try_into().ok()?;
    if text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    Date::new(number(&text[..4])?, number(&text[5..7])?, number(&text[8..])?).map(Date::days)
}

/// The value of ASCII digits; anything else, a sign too, is no number.
fn number(digits: &[u8]) -> Option<i64> {
    digits
        .iter()
        .try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))
}

/// 0 for a Monday, 6 for a Sunday.
pub fn weekday(day: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    day.saturating_add(3).rem_euclid(7)
}

/// Days of a month of 1..=12.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to the first of a year.
fn before_year(year: i64) -> i64 {
    let years = year - 1;
    years * 365 + years / 4 - years / 100 + years / 400
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(text: &str) -> i64 {
        iso(text).expect("a real date")
    }

    #[test]
    fn days_count_from_1970() {
        let days =
            ["1970-01-01", "1969-12-31", "2000-03-01", "2024-02-29", "9999-12-31", "0001-01-01"].map(day);
        assert_eq!(days, [0, -1, 11_017, 19_782, 2_932_896, -719_162]);
    }

    #[test]
    fn what_is_no_date_has_no_day() {
        for text in [
            "2026-02-30",
            "2026-13-01",
            "0000-01-01",
            "2026-00-10",
            "2026-01-00",
            "2023-02-29",
            "1900-02-29",
            "+026-02-03",
            "2026/02/03",
            "2026-2-03",
            "2026-02-3",
            "2026-02-é",
            "２026-02",
            "",
        ] {
            assert_eq!(iso(text), None, "{text}");
        }
    }

    #[test]
    fn weeks_begin_on_monday() {
        assert_eq!(["2026-06-29", "2026-07-01", "1969-12-28"].map(|text| weekday(day(text))), [0, 2, 6]);
        assert!((0..7).contains(&weekday(i64::MAX)) && (0..7).contains(&weekday(i64::MIN)));
    }

    #[test]
    fn a_day_has_one_date() {
        for day in -719_162..=2_932_896 {
            let date = Date::of(day);
            assert_eq!(date.days(), day);
            assert_eq!(Date::new(date.year, date.month, date.day), Some(date));
        }
    }

    proptest! {
        #[test]
        fn any_day_becomes_a_date(day in any::<i64>()) {
            let date = Date::of(day);
            prop_assert!(Date::new(date.year, date.month, date.day).is_some());
        }

        #[test]
        fn the_day_after_is_one_day_later(day in -719_162i64..2_932_896) {
            prop_assert!(Date::of(day) < Date::of(day + 1));
            prop_assert_eq!((weekday(day) + 1) % 7, weekday(day + 1));
        }
    }
}
