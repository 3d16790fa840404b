//! What the time in a question means for a search: which notes rise, and how much age counts.

use super::search::SearchOptions;
use crate::rank::Fusion;
use crate::rank::decay::Decay;
use crate::rank::recency::Recency;
use crate::rank::temporal::{most_lift, nearness};
use crate::text::{QueryTerm, query_terms, token_set};
use crate::when::{DaySpan, Tense, When, time_of_question};

/// The factor that [`TemporalDecay::Auto`] never falls below where no floor is set: old facts stay findable.
const AUTO_DECAY_FLOOR: f32 = 0.98;
/// More times than these are no question: the rest do not count.
const MOST_SPANS: usize = 32;

/// How age counts, as in the setting of that name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TemporalDecay {
    /// Not at all.
    Off,
    /// The seeds' formula to the letter, whatever the question.
    Exponential {
        /// Days until a score has halved, above 0.
        half_life_days: f32,
    },
    /// Recency decides between hits that answer equally well, and a bounded factor makes up the rest; in a question about a
    /// past time age does not count.
    Auto {
        /// Days until half of the way to the floor.
        half_life_days: f32,
        /// 0..1; `None`: what measures best.
        floor: Option<f32>,
    },
}

impl TemporalDecay {
    /// The factor of age and the equals among the hits, for a question of that tense.
    fn of(self, tense: Tense, query: &str) -> (Decay, Option<Recency>) {
        match self {
            Self::Off => (Decay::Off, None),
            Self::Exponential { half_life_days } => (Decay::Exponential { half_life_days }, None),
            Self::Auto { half_life_days, floor } => {
                let bounded = Decay::Bounded { half_life_days, floor: floor.unwrap_or(AUTO_DECAY_FLOOR) };
                match tense {
                    Tense::Past => (Decay::Off, None),
                    Tense::Present => (bounded, Some(Recency::for_the_present(token_set(query)))),
                    Tense::Open => (bounded, Some(Recency::usual())),
                }
            }
        }
    }
}

/// The time a question names, and what follows from it.
pub(super) struct AskedTime {
    spans: Vec<DaySpan>,
    /// What notes of that time are lifted by.
    pub most_lift: f32,
    pub decay: Decay,
    pub recency: Option<Recency>,
}

impl AskedTime {
    /// `terms` are those of the whole query. The seeds' formula knows nothing of the time in a question.
    pub fn of(query: &str, terms: &[QueryTerm], options: &SearchOptions) -> Self {
        let counts = options.temporal && options.fusion == Fusion::Absolute;
        let mut when = if counts { time_of_question(query, options.today) } else { When::default() };
        when.spans.truncate(MOST_SPANS);
        let (decay, recency) = options.decay.of(when.tense, query);
        let most_lift = if when.spans.is_empty() { 0.0 } else { most_lift(share(query, terms, &when)) };
        Self { spans: when.spans, most_lift, decay, recency }
    }

    pub fn names_days(&self) -> bool {
        !self.spans.is_empty()
    }

    /// Whether a day lies in it.
    pub fn has(&self, day: Option<i64>) -> bool {
        day.is_some_and(|day| self.spans.iter().any(|span| span.distance(day) == 0))
    }

    /// 0..1; 0 for a note without a day.
    pub fn nearness(&self, day: Option<i64>) -> f32 {
        let Some(day) = day else { return 0.0 };
        let of = |span: &DaySpan| nearness(span.distance(day), span.days());
        self.spans.iter().map(of).fold(0.0, f32::max)
    }
}

/// The part of a query's terms, by what they count, that name its time.
fn share(query: &str, terms: &[QueryTerm], when: &When) -> f32 {
    let named: Vec<QueryTerm> =
        when.matched.iter().flat_map(|range| query_terms(&query[range.clone()])).collect();
    let names = |term: &&QueryTerm| named.iter().any(|named| named.text == term.text);
    let all: f32 = terms.iter().map(|term| term.weight).sum();
    let of_time: f32 = terms.iter().filter(names).map(|term| term.weight).sum();
    if all > 0.0 { of_time / all } else { 0.0 }
}
