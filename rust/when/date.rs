//! Dates as they are written: days, months, years, quarters, seasons.

use super::languages::{Sense, Unit};
use super::phrase::{Found, found, longest};
use super::reader::Reader;
use super::span::DaySpan;
use crate::calendar::Date;

/// The years a number may stand for, in a date and after a word like "in"; the last ones count from today.
const OLDEST_YEAR: i64 = 1000;
const OLDEST_YEAR_ALONE: i64 = 1900;
const YEARS_AHEAD: i64 = 2;

impl Reader<'_> {
    /// "March 5th, 2024", "5. März", "le 3 mars", "mayo de 2023", 2024年3月5日, "last March", "im März letzten Jahres".
    pub fn date(&self, at: usize) -> Option<Found> {
        longest([self.day_first(at), self.month_first(at), self.year_first(at)].into_iter().flatten())
    }

    fn day_first(&self, at: usize) -> Option<Found> {
        let (end, day) = self.day_of_month(at)?;
        let (end, month, weak) = self.month(self.small_words(end))?;
        let joined = self.is(end - 2, Sense::Of) || self.words[at].ordinal;
        let (end, year) = self.with_year(end);
        let sure = joined || year.is_some() || end == self.words.len() || self.introduced(at);
        (sure || !weak).then(|| found(end, self.date_of(year, month, day)))?
    }

    fn month_first(&self, at: usize) -> Option<Found> {
        if let Some(turn) = self.turn(at)
            && let Some((end, month, _)) = self.month(at + 1)
        {
            return found(end, self.yearly(Some(turn), |year| DaySpan::months(year, month, 1)));
        }
        let (end, month, weak) = self.month(at)?;
        let day = self.day_of_month(self.small_words(end)).filter(|_| !self.is(end, Sense::Of));
        if let Some((after_day, day)) = day {
            let (after, year) = self.with_year(after_day);
            let ordinal = self.words[after_day - 1].ordinal;
            let sure = ordinal || year.is_some() || after == self.words.len() || self.introduced(at);
            if let Some(span) = self.date_of(year, month, day).filter(|_| sure || !weak) {
                return found(after, Some(span));
            }
        }
        let (after, year) = self.with_year(end);
        if year.is_none()
            && let Some(turn) = self.turn_after(end)
        {
            return found(end + 1, self.yearly(Some(turn), |year| DaySpan::months(year, month, 1)));
        }
        let sure = year.is_some() || self.introduced(at);
        (sure || !weak).then(|| found(after, self.month_of(year, month)))?
    }

    /// 2024年3月5日, 去年三月, 上个月5号, "2024 March 5".
    fn year_first(&self, at: usize) -> Option<Found> {
        if let Some((end, months)) = self.relative_unit(at, Unit::Month) {
            let (end, day) = self.day_of_month(self.small_words(end))?;
            let month = self.units_from_now(Unit::Month, months)?;
            let date = Date::of(month.first);
            return found(end, self.date_of(Some(date.year), date.month, day));
        }
        let (end, year) = self.year(at)?;
        let (end, month, _) = self.month(self.small_words(end))?;
        match self.day_of_month(self.small_words(end)) {
            Some((end, day)) => found(end, self.date_of(Some(year), month, day)),
            None => found(end, self.month_of(Some(year), month)),
        }
    }

    /// 2024-03-05, 2024/3/5, 5.3.2024, 3/14/2024, 2024-03: numbers joined by one sign.
    pub fn numbers(&self, at: usize) -> Option<Found> {
        let sign = self.words.get(at + 1)?.joined?;
        let part = |place: usize| {
            let word = self.words.get(place).filter(|word| place == at || word.joined == Some(sign))?;
            Some((word.number.filter(|_| !word.ordinal)?, word.bytes.len()))
        };
        let (a, width) = part(at)?;
        let (b, b_width) = part(at + 1)?;
        let Some((c, c_width)) = part(at + 2) else {
            // Anything shorter than a year and a month of two digits is as often something else.
            let is_month = width == 4 && b_width == 2 && self.is_year(a) && matches!(sign, b'-' | b'/');
            return found(at + 2, self.month_of(Some(a), b).filter(|_| is_month));
        };
        let end = at + 3;
        let span = |year, month, day| Date::new(year, month, day).map(|date| DaySpan::day(date.days()));
        if width == 4 && self.is_year(a) && (sign != b'.' || b_width == 2 && c_width == 2) {
            return found(end, span(a, b, c).filter(|_| matches!(sign, b'-' | b'/' | b'.')));
        }
        if c_width != 4 || !self.is_year(c) {
            return None;
        }
        match sign {
            b'.' | b'-' => found(end, span(c, b, a)),
            // The day first, or the month: both where both are possible.
            b'/' => {
                let (day_first, month_first) = (span(c, b, a), span(c, a, b));
                let other = month_first.filter(|other| Some(*other) != day_first && day_first.is_some());
                Some(Found { end, span: day_first.or(month_first)?, other })
            }
            _ => None,
        }
    }

    /// A month; whether its word may also mean something else.
    fn month(&self, at: usize) -> Option<(usize, i64, bool)> {
        let named = self.find(at, |sense| match sense {
            Sense::Month(month) => Some((at + 1, month, false)),
            _ => None,
        });
        let weak = || {
            self.find(at, |sense| match sense {
                Sense::MonthOr(month) => Some((at + 1, month, true)),
                _ => None,
            })
        };
        let numbered = || {
            let month = self.number(at).filter(|month| (1..=12).contains(month))?;
            self.is(at + 1, Sense::MonthMark).then_some((at + 2, month, false))
        };
        named.or_else(weak).or_else(numbered)
    }

    fn day_of_month(&self, at: usize) -> Option<(usize, i64)> {
        let day = self.number(at).filter(|day| (1..=31).contains(day))?;
        let marked = self.is(at + 1, Sense::DayMark);
        // Spelled out, a number is a day of the month only with its sign: 五日.
        let digits = self.words[at].number.is_some();
        (marked || digits).then_some((if marked { at + 2 } else { at + 1 }, day))
    }

    /// The year said after a month or season, if any, and the word after it.
    fn with_year(&self, at: usize) -> (usize, Option<i64>) {
        match self.year(self.small_words(at)) {
            Some((end, year)) => (end, Some(year)),
            None => (at, None),
        }
    }

    /// 2023, 2023年, "year 2023", "last year", "l'année dernière", 去年.
    pub fn year(&self, at: usize) -> Option<(usize, i64)> {
        let digits = |at: usize| {
            let word = self.words.get(at).filter(|word| word.bytes.len() >= 4)?;
            word.number.filter(|&year| self.is_year(year))
        };
        let now = Date::of(self.today).year;
        if let Some(year) = digits(at) {
            let marked = self.is(at + 1, Sense::YearMark);
            return Some((if marked { at + 2 } else { at + 1 }, year));
        }
        if self.unit(at) == Some(Unit::Year)
            && let Some(year) = digits(at + 1)
        {
            return Some((at + 2, year));
        }
        self.relative_unit(at, Unit::Year).map(|(end, years)| (end, now + years))
    }

    pub fn is_year(&self, year: i64) -> bool {
        (OLDEST_YEAR..=Date::of(self.today).year + YEARS_AHEAD).contains(&year)
    }

    /// Four digits alone may be any number: they are a year after "in", "since", "the year" or before 年.
    pub fn names_a_year(&self, at: usize, year: i64) -> bool {
        let marked =
            self.is(at + 1, Sense::YearMark) || self.part_name(at + 1).is_some() && self.touches(at + 1);
        self.words[at].number.is_none() || marked || year >= OLDEST_YEAR_ALONE && self.introduced(at)
    }

    /// The day of a year, or the last one there was.
    fn date_of(&self, year: Option<i64>, month: i64, day: i64) -> Option<DaySpan> {
        let date = |year| Date::new(year, month, day).map(|date| DaySpan::day(date.days()));
        match year {
            Some(year) => date(year),
            None => self.yearly(None, date),
        }
    }

    fn month_of(&self, year: Option<i64>, month: i64) -> Option<DaySpan> {
        match year {
            Some(year) => DaySpan::months(year, month, 1).filter(|_| (1..=12).contains(&month)),
            None => self.yearly(None, |year| DaySpan::months(year, month, 1)),
        }
    }

    /// What comes once a year: the last that has begun, or the last that is over (−1), this year's (0), the next (1).
    fn yearly(&self, turn: Option<i64>, of: impl Fn(i64) -> Option<DaySpan>) -> Option<DaySpan> {
        let now = Date::of(self.today).year;
        // Eight years hold a 29 February.
        let before = |day: i64, over: bool| {
            (0..=8)
                .filter_map(|years| of(now - years))
                .find(|span| if over { span.last < day } else { span.first <= day })
        };
        match turn {
            None => before(self.today, false),
            Some(0) => of(now),
            Some(1..) => (0..=8).filter_map(|years| of(now + years)).find(|span| span.first > self.today),
            Some(turn) => (turn..0).try_fold(None, |last: Option<DaySpan>, _| {
                Some(Some(before(last.map_or(self.today, |last| last.first), true)?))
            })?,
        }
    }

    /// "last summer", "été 2023", "im Sommer", "verano pasado", 去年夏天. The seasons of the northern half.
    pub fn season(&self, at: usize) -> Option<Found> {
        let turn = self.turn(at).filter(|_| self.season_name(at + 1).is_some());
        let place = if turn.is_some() { at + 1 } else { at };
        if let Some((end, year)) = self.year(at)
            && let place = self.small_words(end)
            && let Some(season) = self.season_name(place)
        {
            return found(place + 1, season_of(year, season));
        }
        let season = self.season_name(place)?;
        if turn.is_some() {
            return found(place + 1, self.yearly(turn, |year| season_of(year, season)));
        }
        if let (end, Some(year)) = self.with_year(place + 1) {
            return found(end, season_of(year, season));
        }
        if let Some(turn) = self.turn_after(place + 1) {
            return found(place + 2, self.yearly(Some(turn), |year| season_of(year, season)));
        }
        let sure = at > 0 && self.is(at - 1, Sense::In);
        sure.then(|| found(place + 1, self.yearly(None, |year| season_of(year, season))))?
    }

    fn season_name(&self, at: usize) -> Option<i64> {
        self.find(at, |sense| if let Sense::Season(season) = sense { Some(season) } else { None })
    }

    /// "Q3", "Q1 2024", "second quarter", "3. Quartal", 2025年第一季度.
    pub fn quarter(&self, at: usize) -> Option<Found> {
        let of = |quarter| move |year| DaySpan::months(year, 3 * quarter - 2, 3);
        if let Some((end, year)) = self.year(at) {
            let (end, quarter) = self.quarter_name(self.small_words(end))?;
            return found(end, of(quarter)(year));
        }
        let (end, quarter) = self.quarter_name(at)?;
        match self.with_year(end) {
            (end, Some(year)) => found(end, of(quarter)(year)),
            (end, None) => found(end, self.yearly(None, of(quarter))),
        }
    }

    fn quarter_name(&self, at: usize) -> Option<(usize, i64)> {
        let named = self.find(at, |sense| match sense {
            Sense::Quarter(quarter) => Some((at + 1, quarter)),
            _ => None,
        });
        let counted = || {
            let ordinal = self.find(at, |sense| match sense {
                Sense::Ordinal(number) => Some(number),
                _ => None,
            });
            let number = ordinal.or_else(|| self.number(at).filter(|_| self.words[at].ordinal))?;
            ((1..=4).contains(&number) && self.has_unit(at + 1, Unit::Quarter)).then_some((at + 2, number))
        };
        named.or_else(counted)
    }
}

/// Winter begins in December.
fn season_of(year: i64, season: i64) -> Option<DaySpan> {
    DaySpan::months(year, if season == 0 { 12 } else { 3 * season }, 3)
}
