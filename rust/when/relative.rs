//! Times that are counted from today: yesterday, last Tuesday, three weeks ago.

use super::languages::{Sense, Unit};
use super::phrase::{Found, found, longest};
use super::reader::Reader;
use super::span::{DaySpan, months_later};
use crate::calendar::{Date, weekday};

/// "A few" is between so many and so many.
const FEW: (i64, i64) = (2, 7);

/// How many of a unit.
#[derive(Clone, Copy)]
pub(super) enum Count {
    Exactly(i64),
    Few,
}

impl Reader<'_> {
    /// "on Tuesday", "letzten Dienstag", "mardi dernier", "Tuesday last week", 上周二, "Tuesday, March 5".
    pub fn weekday(&self, at: usize) -> Option<Found> {
        if let Some((end, weeks)) = self.relative_unit(at, Unit::Week) {
            let place = self.beside_week(end);
            let day = self.weekday_name(place).map(|(day, _)| day).or_else(|| {
                let day =
                    self.find(end, |sense| if let Sense::DayOfWeek(day) = sense { Some(day) } else { None });
                day.filter(|_| !self.is(end + 1, Sense::Counter))
            })?;
            return found(place + 1, Some(self.day_of_week(weeks, day)));
        }
        if let Some(turn) = self.turn(at)
            && let Some((day, _)) = self.weekday_name(at + 1)
        {
            return found(at + 2, Some(self.weekly(turn, day)));
        }
        let (day, weak) = self.weekday_name(at)?;
        if let Some((end, weeks)) = self.relative_unit(self.beside_week(at + 1), Unit::Week) {
            return found(end, Some(self.day_of_week(weeks, day)));
        }
        if let Some(turn) = self.turn_after(at + 1) {
            return found(at + 2, Some(self.weekly(turn, day)));
        }
        let date = self.beside_week(at + 1);
        if let Some(date) =
            self.date(date).or_else(|| self.numbers(date)).filter(|date| date.span.first == date.span.last)
        {
            return Some(date);
        }
        let habit = at > 0
            && (self.is(at - 1, Sense::Every) || self.the_habit(at - 1) || self.number(at - 1).is_some());
        let sure = !weak || at > 0 && self.introduced(at) && !self.is(at - 1, Sense::Of);
        (sure && !habit).then(|| found(at + 1, Some(self.weekly(-1, day))))?
    }

    /// A day of the week; whether naming it alone is not enough.
    fn weekday_name(&self, at: usize) -> Option<(i64, bool)> {
        self.find(at, |sense| match sense {
            Sense::Weekday(day) => Some((day, false)),
            Sense::WeekdayOr(day) => Some((day, true)),
            _ => None,
        })
    }

    /// "le mardi" is every Tuesday, "el martes" is one.
    fn the_habit(&self, at: usize) -> bool {
        self.is(at, Sense::The) && !self.is(at, Sense::In)
    }

    /// Past "of the", "in der", "am" between a day and its week.
    fn beside_week(&self, at: usize) -> usize {
        self.past(at, |sense| matches!(sense, Sense::Of | Sense::The | Sense::In))
    }

    fn day_of_week(&self, weeks: i64, day: i64) -> DaySpan {
        DaySpan::day(DaySpan::week(self.today + 7 * weeks).first + day)
    }

    /// The last such day before today (−1), this week's (0), the next after today (1).
    fn weekly(&self, turn: i64, day: i64) -> DaySpan {
        let since = (weekday(self.today) - day).rem_euclid(7);
        DaySpan::day(match turn {
            0 => return self.day_of_week(0, day),
            1.. => self.today + 7 * turn - since,
            _ => self.today - if since == 0 { 7 } else { since } + 7 * (turn + 1),
        })
    }

    /// Today, yesterday, the day after tomorrow.
    pub fn day(&self, at: usize) -> Option<Found> {
        let span = self.find(at, |sense| match sense {
            Sense::Day(days) => Some(DaySpan::day(self.today + days)),
            Sense::YesterdayInFrench if self.french => Some(DaySpan::day(self.today - 1)),
            _ => None,
        });
        found(at + 1, span)
    }

    /// "last week", "diesen Monat", "la semana pasada", "the past three weeks", 最近三天.
    pub fn relative(&self, at: usize) -> Option<Found> {
        let units = [Unit::Day, Unit::Week, Unit::Weekend, Unit::Month, Unit::Quarter, Unit::Year];
        let counted = units.into_iter().find_map(|unit| {
            let (end, count) = self.relative_unit(at, unit)?;
            found(end, self.units_from_now(unit, count))
        });
        longest([counted, self.rolling(at)].into_iter().flatten())
    }

    /// So many units up to today.
    fn rolling(&self, at: usize) -> Option<Found> {
        let opens = |at| self.is(at, Sense::Rolling) || self.turn(at) == Some(-1);
        let (end, count, unit) = if opens(at) {
            match self.amount(self.small_words(at + 1)) {
                Some(amount) => amount,
                // 这天 is that day.
                None if self.is(at, Sense::Rolling) && self.turn(at).is_none() && !self.touches(at + 1) => {
                    (at + 2, Count::Exactly(1), self.unit(at + 1)?)
                }
                None => return None,
            }
        } else {
            // "les 3 derniers jours"
            let count =
                self.number(at).map(Count::Exactly).or(self.is(at, Sense::Few).then_some(Count::Few))?;
            (at + 3, count, self.unit(at + 2).filter(|_| opens(at + 1))?)
        };
        found(end, self.up_to_today(count, unit))
    }

    pub fn up_to_today(&self, count: Count, unit: Unit) -> Option<DaySpan> {
        let count = if let Count::Exactly(count) = count { count } else { FEW.1 };
        DaySpan::new(self.later(-count, unit)?, self.today)
    }

    /// "3 weeks ago", "vor drei Wochen", "il y a 3 jours", "hace dos semanas", 3天前, "in two days", 3日後.
    pub fn ago(&self, at: usize) -> Option<Found> {
        let (ago, hence) = (self.is(at, Sense::AgoBefore), self.is(at, Sense::HenceBefore));
        let (end, count, unit, sign) = if ago || hence {
            let (end, count, unit) = self.amount(at + 1)?;
            (end, count, unit, if ago { -1 } else { 1 })
        } else {
            let (end, count, unit) = self.amount(at)?;
            let sign = match () {
                () if self.is(end, Sense::AgoAfter) => -1,
                () if self.is(end, Sense::HenceAfter) => 1,
                () => return None,
            };
            (end + 1, count, unit, sign)
        };
        found(end, self.counted(sign, count, unit))
    }

    /// "the week before March 3", "two weeks before last Tuesday", "zwei Wochen nach dem 5. Mai".
    pub fn counted_from(&self, at: usize) -> Option<Found> {
        let alone = || Some((at + 1, Count::Exactly(1), self.unit(at)?));
        let amount = self.amount(at);
        let (end, count, unit) = amount.or_else(alone)?;
        let sign = match () {
            () if self.is(end, Sense::BeforeBefore) => -1,
            () if self.is(end, Sense::AfterBefore) => 1,
            () => return None,
        };
        let from = self.core(self.small_words(end + 1))?;
        let day = if sign < 0 { from.span.first } else { from.span.last };
        let there = Self { today: day, ..*self };
        if amount.is_none() {
            // "the week before" ends the day before.
            let far = there.later(sign, unit)?;
            return found(from.end, DaySpan::new(far.min(day + 1), far.max(day - 1)));
        }
        found(from.end, there.counted(sign, count, unit))
    }

    /// So many units before (−1) or after (1) today.
    fn counted(&self, sign: i64, count: Count, unit: Unit) -> Option<DaySpan> {
        match count {
            Count::Few => {
                let (near, far) = (self.later(sign * FEW.0, unit)?, self.later(sign * FEW.1, unit)?);
                DaySpan::new(near.min(far), near.max(far))
            }
            Count::Exactly(count) => {
                let middle = self.later(sign * count, unit)?;
                // Nobody counts to the day who counts in weeks: half a unit on either side.
                let around = match unit {
                    Unit::Day => 0,
                    Unit::Week => 3,
                    Unit::Month => 15,
                    Unit::Quarter => 45,
                    Unit::Year => 182,
                    Unit::Weekend => return self.weekend(middle),
                };
                DaySpan::new(middle - around, middle + around)
            }
        }
    }

    /// "three weeks", "a few days", "a fortnight".
    pub fn amount(&self, at: usize) -> Option<(usize, Count, Unit)> {
        let one = self.find(at, |sense| match sense {
            Sense::Amount(count, unit) => Some((at + 1, Count::Exactly(count), unit)),
            _ => None,
        });
        let counted = || {
            let count = match self.number(at) {
                Some(number) => Count::Exactly(number),
                None if self.is(at, Sense::Few) => Count::Few,
                None => return None,
            };
            let unit = self.unit(at + 1)?;
            // 1997年以前 is before 1997, not so many years ago.
            let is_date =
                unit == Unit::Year && matches!(count, Count::Exactly(number) if self.is_year(number));
            (!is_date).then_some((at + 2, count, unit))
        };
        one.or_else(counted)
    }

    /// A unit so many units from the present one: "last week", "semana pasada", 上周.
    pub fn relative_unit(&self, at: usize, unit: Unit) -> Option<(usize, i64)> {
        let one = self.find(at, |sense| match sense {
            Sense::Relative(of, count) if of == unit => Some((at + 1, count)),
            _ => None,
        });
        let before = || self.turn(at).filter(|_| self.has_unit(at + 1, unit)).map(|turn| (at + 2, turn));
        let after = || self.turn_after(at + 1).filter(|_| self.has_unit(at, unit)).map(|turn| (at + 2, turn));
        one.or_else(before).or_else(after)
    }

    pub fn units_from_now(&self, unit: Unit, count: i64) -> Option<DaySpan> {
        let Date { year, month, .. } = Date::of(self.today);
        match unit {
            // The last days, as nobody says "last day" for yesterday.
            Unit::Day if count < 0 => DaySpan::new(self.today - FEW.1, self.today - 1),
            Unit::Day => Some(DaySpan::day(self.today + count)),
            Unit::Week => Some(DaySpan::week(self.today + 7 * count)),
            Unit::Weekend => self.weekend(self.today + 7 * count),
            Unit::Month => DaySpan::months(year, month + count, 1),
            Unit::Quarter => DaySpan::months(year, (month - 1) / 3 * 3 + 1 + 3 * count, 3),
            Unit::Year => DaySpan::year(year + count),
        }
    }

    fn weekend(&self, day: i64) -> Option<DaySpan> {
        let week = DaySpan::week(day);
        DaySpan::new(week.last - 1, week.last)
    }

    /// Today so many units later; `None` outside of the calendar.
    fn later(&self, count: i64, unit: Unit) -> Option<i64> {
        match unit {
            Unit::Day => Some(self.today + count),
            Unit::Week | Unit::Weekend => Some(self.today + 7 * count),
            Unit::Month => months_later(self.today, count),
            Unit::Quarter => months_later(self.today, 3 * count),
            Unit::Year => months_later(self.today, 12 * count),
        }
    }
}
