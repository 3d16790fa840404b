//! Whole days, one after the other.

use crate::calendar::{Date, days_in_month, weekday};

/// The days from `first` to `last`, both included, since 1970-01-01; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DaySpan {
    /// [`i64::MIN`] where there is no first day ("before March").
    pub first: i64,
    /// The last day, itself part of it.
    pub last: i64,
}

impl DaySpan {
    /// `None` if `last` comes before `first`.
    pub fn new(first: i64, last: i64) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// How many days it has, at least 1.
    pub fn days(self) -> i64 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }

    /// Days between `day` and the span, 0 inside.
    ///
    /// ```
    /// use memgrep::when::DaySpan;
    ///
    /// let span = DaySpan { first: 10, last: 12 };
    /// assert_eq!([8, 10, 12, 13].map(|day| span.distance(day)), [2, 0, 0, 1]);
    /// ```
    pub fn distance(self, day: i64) -> i64 {
        self.first.saturating_sub(day).max(day.saturating_sub(self.last)).max(0)
    }

    pub(super) fn day(day: i64) -> Self {
        Self { first: day, last: day }
    }

    /// `None` for a year that is not 1 to 9999.
    pub(super) fn year(year: i64) -> Option<Self> {
        Self::months(year, 1, 12)
    }

    /// `count` months from `month`, which may lie in other years than `year`.
    pub(super) fn months(year: i64, month: i64, count: i64) -> Option<Self> {
        let start = |months: i64| {
            let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
            Date::new(year, month, 1).map(Date::days)
        };
        let first = year.checked_mul(12)?.checked_add(month - 1)?;
        Self::new(start(first)?, start(first.checked_add(count)?)? - 1)
    }

    /// The week from Monday to Sunday that `day` lies in.
    pub(super) fn week(day: i64) -> Self {
        let monday = day - weekday(day);
        Self { first: monday, last: monday + 6 }
    }

    /// The beginning, the middle or the end: a third each, of a month ten days. Less than three days have no thirds.
    pub(super) fn third(self, number: i64) -> Self {
        let third = (self.last - self.first + 1) / 3;
        if third == 0 {
            return self;
        }
        let first = self.first + number * third;
        Self { first, last: if number == 2 { self.last } else { first + third - 1 } }
    }
}

/// A day so many months later or earlier; the last day of its month where that month has no such day. `None` outside of
/// the calendar.
pub(super) fn months_later(day: i64, months: i64) -> Option<i64> {
    let date = Date::of(day);
    let total = date.year * 12 + date.month - 1 + months;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    Date::new(year, month, date.day.min(days_in_month(year, month))).map(Date::days)
}
