//! The words of a question, to be read one by one.

use super::languages::{Sense, Unit};
use super::words::Word;
use crate::calendar::Date;

/// Words like "of the" between the parts of a date at most.
const SMALL_WORDS: usize = 3;

/// Reads the words of a question.
pub(super) struct Reader<'a> {
    pub words: &'a [Word],
    pub today: i64,
    /// More words tell French than German.
    pub french: bool,
    /// A place where a time must stand, as after "from March to".
    pub expected: Option<usize>,
}

impl<'a> Reader<'a> {
    pub fn new(words: &'a [Word], today: i64) -> Self {
        let count = |sense| words.iter().filter(|word| word.senses.contains(&sense)).count();
        let french = count(Sense::French) > count(Sense::German);
        Self { words, today: Date::of(today).days(), french, expected: None }
    }

    pub fn find<T>(&self, at: usize, wanted: impl Fn(Sense) -> Option<T>) -> Option<T> {
        self.words.get(at)?.senses.iter().find_map(|&sense| wanted(sense))
    }

    pub fn is(&self, at: usize, sense: Sense) -> bool {
        self.words.get(at).is_some_and(|word| word.senses.contains(&sense))
    }

    pub fn number(&self, at: usize) -> Option<i64> {
        let word = self.words.get(at)?;
        word.number.or_else(|| {
            self.find(at, |sense| if let Sense::Number(number) = sense { Some(number) } else { None })
        })
    }

    pub fn unit(&self, at: usize) -> Option<Unit> {
        self.find(at, |sense| if let Sense::Unit(unit) = sense { Some(unit) } else { None })
    }

    pub fn has_unit(&self, at: usize, unit: Unit) -> bool {
        self.is(at, Sense::Unit(unit))
    }

    pub fn turn(&self, at: usize) -> Option<i64> {
        self.find(at, |sense| if let Sense::Turn(turn) = sense { Some(turn) } else { None })
    }

    pub fn turn_after(&self, at: usize) -> Option<i64> {
        self.find(at, |sense| if let Sense::TurnAfter(turn) = sense { Some(turn) } else { None })
    }

    /// Whether nothing joins a word to the one before it; the end of the text is free too.
    pub fn is_free(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|word| word.joined.is_none())
    }

    /// Whether a word is no part of an identifier.
    pub fn stands_alone(&self, at: usize) -> bool {
        self.is_free(at) && self.is_free(at + 1)
    }

    /// Whether there is nothing between a word and the one before it.
    pub fn touches(&self, at: usize) -> bool {
        (1..self.words.len()).contains(&at) && self.words[at].bytes.start == self.words[at - 1].bytes.end
    }

    /// Whether the word before `at` makes a time of it.
    pub fn introduced(&self, at: usize) -> bool {
        let introduces = |sense| {
            matches!(
                sense,
                Sense::In
                    | Sense::Of
                    | Sense::SinceBefore
                    | Sense::BeforeBefore
                    | Sense::UntilBefore
                    | Sense::AfterBefore
                    | Sense::Between
                    | Sense::Part(_)
            )
            .then_some(())
        };
        let introduced = at.checked_sub(1).and_then(|before| self.find(before, introduces)).is_some();
        introduced || self.expected == Some(at)
    }

    /// Past "of the" and the like.
    pub fn small_words(&self, at: usize) -> usize {
        self.past(at, |sense| matches!(sense, Sense::Of | Sense::The))
    }

    pub fn past(&self, at: usize, small: impl Fn(Sense) -> bool) -> usize {
        let is_small = |&place: &usize| self.find(place, |sense| small(sense).then_some(())).is_some();
        at + (at..at + SMALL_WORDS).take_while(is_small).count()
    }

    /// Whether the words at `places` are about a time that is over: "formerly", "before we moved".
    pub fn tells_of_the_past(&self, places: &[usize]) -> bool {
        let said = |sense| self.words.iter().any(|word| word.senses.contains(&sense));
        let (did, is_plan) = (said(Sense::Did), said(Sense::Does) && !said(Sense::Did));
        let before_event = |at| {
            let known = did || self.is(at + 1, Sense::Known) || self.is(at + 1, Sense::The);
            self.is(at, Sense::BeforeEvent)
                || self.is(at, Sense::BeforeBefore) && at + 1 < self.words.len() && known
        };
        places.iter().any(|&at| self.is(at, Sense::Formerly) || !is_plan && before_event(at))
    }

    /// Whether the words at `places` ask for what holds now.
    pub fn asks_for_the_present(&self, places: &[usize]) -> bool {
        places.iter().any(|&at| self.is(at, Sense::Currently) || self.is(at, Sense::Latest))
    }
}
