//! How words become days: a grammar that knows what words can be, but no language.

use super::languages::Sense;
use super::reader::Reader;
use super::span::DaySpan;

/// Days that were read, and the word after the last one that says so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub end: usize,
    pub span: DaySpan,
    /// The second meaning of 03/04/2024.
    pub other: Option<DaySpan>,
}

impl Found {
    pub fn spans(self) -> impl Iterator<Item = DaySpan> {
        [Some(self.span), self.other].into_iter().flatten()
    }
}

pub(super) fn found(end: usize, span: Option<DaySpan>) -> Option<Found> {
    span.map(|span| Found { end, span, other: None })
}

impl Reader<'_> {
    /// The time that begins with the word at `at`: the longest reading there is.
    pub fn time(&self, at: usize) -> Option<Found> {
        let word = &self.words[at];
        if !self.is_free(at) || word.senses.is_empty() && word.number.is_none() {
            return None;
        }
        let whole = |found: &Found| self.is_free(found.end);
        let readings = [self.range(at), self.counted_from(at), self.bounded(at), self.point(at)];
        longest(readings.into_iter().flatten().filter(whole))
    }

    /// "from March to May", "zwischen März und Mai", 3月から5月まで.
    fn range(&self, at: usize) -> Option<Found> {
        let between = self.is(at, Sense::Between);
        let opened =
            between || self.is(at, Sense::In) || self.is(at, Sense::SinceBefore) || self.is(at, Sense::Of);
        let from = if opened { self.small_words(at + 1) } else { at };
        let first = self.core(from)?;
        if !(self.is(first.end, Sense::To) || between && self.is(first.end, Sense::And)) {
            return None;
        }
        let to = self.small_words(first.end + 1);
        let last = Self { expected: Some(to), ..*self }.core(to)?;
        let end = if self.is(last.end, Sense::UntilAfter) { last.end + 1 } else { last.end };
        let whole = DaySpan::new(first.span.first, last.span.last).or_else(|| {
            // The year said last is meant for both.
            let first = Self { today: last.span.last, ..*self }.core(from)?;
            DaySpan::new(first.span.first, last.span.last)
        });
        found(end, whole)
    }

    /// "since March", "before 2023", "bis Mai", "seit drei Wochen", "after last week".
    fn bounded(&self, at: usize) -> Option<Found> {
        let inner = self.small_words(at + 1);
        if self.is(at, Sense::SinceBefore) {
            let from = if self.is(inner, Sense::AgoBefore) { inner + 1 } else { inner };
            if let Some((end, count, unit)) = self.amount(from) {
                return found(end, self.up_to_today(count, unit));
            }
            let inner = self.point(inner)?;
            return found(inner.end, DaySpan::new(inner.span.first, self.today));
        }
        let before = self.is(at, Sense::BeforeBefore);
        if before || self.is(at, Sense::UntilBefore) {
            let inner = self.point(inner)?;
            let last = if before { inner.span.first.saturating_sub(1) } else { inner.span.last };
            return found(inner.end, DaySpan::new(i64::MIN, last));
        }
        if self.is(at, Sense::AfterBefore) {
            let inner = self.point(inner)?;
            return found(inner.end, DaySpan::new(inner.span.last + 1, self.today));
        }
        None
    }

    /// One time, and in Chinese and Japanese whether the days since or before it are meant.
    fn point(&self, at: usize) -> Option<Found> {
        let core = self.core(at)?;
        if self.is(core.end, Sense::SinceAfter) {
            return found(core.end + 1, DaySpan::new(core.span.first, self.today));
        }
        if self.is(core.end, Sense::BeforeAfter) {
            return found(core.end + 1, DaySpan::new(i64::MIN, core.span.first.saturating_sub(1)));
        }
        Some(core)
    }

    /// One time, or a part of it that is named after it, as in Chinese and Japanese.
    pub fn core(&self, at: usize) -> Option<Found> {
        let year = self.year(at).filter(|&(_, year)| self.names_a_year(at, year));
        let readings = [
            self.part(at),
            self.date(at),
            self.numbers(at),
            self.weekday(at),
            self.relative(at),
            self.ago(at),
            self.season(at),
            self.quarter(at),
            year.and_then(|(end, year)| found(end, DaySpan::year(year))),
            self.day(at),
        ];
        let core = longest(readings.into_iter().flatten())?;
        let next = self.small_words(core.end);
        match self.part_name(next) {
            // Without a space: "end" and "late" belong to what comes after them.
            Some(third) if self.touches(next) && core.span.last - core.span.first > 6 => {
                found(next + 1, Some(core.span.third(third)))
            }
            _ => Some(core),
        }
    }

    /// "early March", "Ende 2023", "à la fin du mois", "beginning of last year".
    fn part(&self, at: usize) -> Option<Found> {
        let third = self.part_name(at)?;
        let inner = self.small_words(at + 1);
        let now = self.unit(inner).and_then(|unit| found(inner + 1, self.units_from_now(unit, 0)));
        let year = self.year(inner).and_then(|(end, year)| found(end, DaySpan::year(year)));
        let readings =
            [self.date(inner), self.relative(inner), self.quarter(inner), self.season(inner), year, now];
        let whole = longest(readings.into_iter().flatten())?;
        found(whole.end, Some(whole.span.third(third)))
    }

    pub fn part_name(&self, at: usize) -> Option<i64> {
        self.find(at, |sense| if let Sense::Part(third) = sense { Some(third) } else { None })
    }
}

/// The reading that says most; of equal ones the first.
pub(super) fn longest(readings: impl Iterator<Item = Found>) -> Option<Found> {
    readings.reduce(|best, next| if next.end > best.end { next } else { best })
}
