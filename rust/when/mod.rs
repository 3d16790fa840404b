//! The time a question is about: "last Tuesday", "im März", "il y a 3 jours", "上周", "先月", "before the move".
//!
//! Rules, no model: words are looked up in one table for English, German, French, Spanish, Chinese and Japanese
//! (`when/languages/`), and a small grammar that knows no language puts them together (`when/phrase.rs`). Words that
//! mean something else as often ("may", "second", "sun", "spring", "hier") count only beside a word that says which.
//! Inside of identifiers, paths, version numbers and times of day nothing is a date.
//!
//! What was found is a hint for the ranking, not a filter.

mod date;
mod languages;
mod phrase;
mod reader;
mod relative;
mod span;
mod words;

use std::ops::Range;

pub use span::DaySpan;

use reader::Reader;

/// Which time a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tense {
    /// It does not say, or names days that are not over.
    #[default]
    Open,
    /// A time that is over, known by its dates or not ("before the move").
    Past,
    /// Now: "currently", "latest", "still", "recently".
    Present,
}

/// What a question says about time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct When {
    /// The days it names, in its order. Those that name no year or week are the last ones that have begun.
    pub spans: Vec<DaySpan>,
    /// Past before present, where it says both.
    pub tense: Tense,
    /// The bytes of the words that name the days, in order.
    pub matched: Vec<Range<usize>>,
}

/// Reads the time out of `query`; `today` is a day since 1970-01-01 in the user's time zone. Linear in the text.
///
/// ```
/// use memgrep::calendar::iso;
/// use memgrep::when::{Tense, time_of_question};
///
/// let today = iso("2026-07-01").unwrap();
/// let when = time_of_question("what did we decide last Tuesday?", today);
/// assert_eq!((when.spans[0].first, when.tense), (today - 1, Tense::Past));
/// assert_eq!(time_of_question("may I have a second?", today).spans, []);
/// ```
pub fn time_of_question(query: &str, today: i64) -> When {
    let words = words::words(query);
    let reader = Reader::new(&words, today);
    let mut when = When::default();
    let mut others = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if let Some(found) = reader.time(at) {
            when.spans.extend(found.spans());
            when.matched.push(words[at].bytes.start..words[found.end - 1].bytes.end);
            at = found.end;
        } else {
            if reader.stands_alone(at) {
                others.push(at);
            }
            at += 1;
        }
    }
    when.tense = if when.spans.iter().any(|span| span.last < today) || reader.tells_of_the_past(&others) {
        Tense::Past
    } else if reader.asks_for_the_present(&others) {
        Tense::Present
    } else {
        Tense::Open
    };
    when
}

#[cfg(test)]
mod tests;
