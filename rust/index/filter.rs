//! Which notes may answer: their source, their day, their path.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::derived::Derived;
use crate::error::{Error, Result};
use crate::lexical::{Facts, note_key};
use crate::scan::Source;
use crate::store::Store;
use crate::when::DaySpan;

const DAY_NS: i64 = 86_400_000_000_000;

/// What the caller of a search asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Bit `1 << source` for every source that may answer.
    pub sources: u8,
    /// The first day that may answer, since 1970-01-01. Notes without a day are left out then.
    pub since: Option<i64>,
    /// The last one, itself part of it. Notes without a day are left out then.
    pub until: Option<i64>,
    /// A folder, a note or a glob, from the workspace on, as in an extra path's pattern.
    pub path: Option<String>,
}

impl Default for Filter {
    /// Every note.
    fn default() -> Self {
        Self { sources: u8::MAX, since: None, until: None, path: None }
    }
}

/// The days of notes, by their keys: what stands in a name, or when a file was changed last.
pub(super) struct Days {
    /// Bits of the sources whose notes are of the day they were changed on.
    by_time: u8,
    of_notes: FxHashMap<u64, i64>,
}

impl Days {
    /// `present`: bits of the sources there are. Sessions are of the day of their last message; notes from extra paths, if
    /// these fade, of that of their last change. A file is touched without its text changing: only the store knows when.
    pub fn new(present: u8, extra_fades: bool, store: &Store) -> Result<Self> {
        let by_time = present & (bit(Source::Sessions) | if extra_fades { bit(Source::Extra) } else { 0 });
        let times = if by_time == 0 { Vec::new() } else { store.times(by_time)? };
        let of_notes =
            times.into_iter().map(|(path, time)| (note_key(&path), time.div_euclid(DAY_NS))).collect();
        Ok(Self { by_time, of_notes })
    }

    /// The day a chunk is of; `None` = evergreen.
    pub fn day(&self, note: u64, facts: Facts) -> Option<i64> {
        if self.by_time >> facts.source & 1 == 1 {
            self.of_notes.get(&note).copied()
        } else {
            facts.day.map(i64::from)
        }
    }
}

fn bit(source: Source) -> u8 {
    1 << source as u8
}

/// A filter with what the store has to say to it, asked about a chunk by its note's key and its facts.
pub(super) struct Allowed<'a> {
    sources: u8,
    span: Option<DaySpan>,
    notes: Option<Arc<FxHashSet<u64>>>,
    days: &'a Days,
    /// Nothing is left out.
    pub everything: bool,
}

impl<'a> Allowed<'a> {
    /// # Errors
    /// Days that leave nothing, or a pattern that cannot be read.
    pub fn new(
        filter: &Filter,
        (present, days): (u8, &'a Days),
        derived: &Derived,
        store: &Store,
    ) -> Result<Self> {
        let span = match (filter.since, filter.until) {
            (None, None) => None,
            (since, until) => {
                let span = DaySpan::new(since.unwrap_or(i64::MIN), until.unwrap_or(i64::MAX));
                Some(
                    span.ok_or_else(|| Error::Argument("since is a later day than until; swap them".into()))?,
                )
            }
        };
        let notes = filter.path.as_deref().map(|path| derived.notes_below(store, path)).transpose()?;
        let everything = span.is_none() && notes.is_none() && present & !filter.sources == 0;
        Ok(Self { sources: filter.sources, span, notes, days, everything })
    }

    /// Whether a chunk may answer.
    pub fn has(&self, note: u64, facts: Facts) -> bool {
        let of_span = |span: DaySpan| self.days.day(note, facts).is_some_and(|day| span.distance(day) == 0);
        self.everything
            || self.sources >> facts.source & 1 == 1
                && self.notes.as_ref().is_none_or(|notes| notes.contains(&note))
                && self.span.is_none_or(of_span)
    }
}
