//! Words of scripts that are written without spaces: overlapping grams of their characters.
//!
//! Both sizes are indexed, so that a word of one character is found as well; a query asks for the longer ones, which tell
//! more, and for a run shorter than that as a whole.

use super::fold::{Class, class, ideograph, join};
use super::{Mode, Term};

/// The grams of a kind of script.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grams {
    class: Class,
    short: usize,
    long: usize,
}

/// Han, kana, Hangul: characters and bigrams.
pub(super) const IDEOGRAPHS: Grams = Grams { class: Class::Ideograph, short: 1, long: 2 };

/// Thai, Lao, Khmer, Burmese, whose letters alone say little: bigrams and trigrams.
pub(super) const SYLLABLES: Grams = Grams { class: Class::Syllable, short: 2, long: 3 };

/// The longest gram in characters.
const LONGEST: usize = 3;

/// A folded character and where it stands.
#[derive(Debug, Clone, Copy, Default)]
struct Unit {
    folded: char,
    start: usize,
    end: usize,
}

/// The run of `grams.class` that begins at `start`; returns where it ends.
pub(super) fn run<S: FnMut(Term<'_>) + ?Sized>(
    text: &str,
    start: usize,
    grams: Grams,
    mode: Mode,
    sink: &mut S,
) -> usize {
    let mut last = [Unit::default(); LONGEST];
    let mut count = 0;
    let mut at = start;
    while let Some((unit, next)) = read(text, at, grams.class) {
        at = next;
        last.rotate_left(1);
        last[LONGEST - 1] = unit;
        count += 1;
        if count >= grams.long {
            emit(text, &last[LONGEST - grams.long..], sink);
        }
        if mode == Mode::Index && count >= grams.short {
            emit(text, &last[LONGEST - grams.short..], sink);
        }
    }
    let missed = if mode == Mode::Index { grams.short } else { grams.long };
    if count > 0 && count < missed {
        emit(text, &last[LONGEST - count..], sink);
    }
    // A run that `class` began always has a first unit; this keeps the walk going whatever happens.
    at.max(start + text[start..].chars().next().map_or(0, char::len_utf8))
}

/// The character of `wanted` class at `at` with everything that belongs to it, and where the next one begins.
fn read(text: &str, at: usize, wanted: Class) -> Option<(Unit, usize)> {
    let mut chars = text[at..].chars();
    let mut first = chars.next()?;
    let mut kind = class(first);
    while kind == Class::Ignorable {
        first = chars.next()?;
        kind = class(first);
    }
    if kind != wanted {
        return None;
    }
    let end = |rest: &str| text.len() - rest.len();
    let mut unit = Unit { folded: ideograph(first), start: 0, end: end(chars.as_str()) };
    unit.start = unit.end - first.len_utf8();
    while let Some(c) = chars.next().filter(|&c| !stands_alone(c)) {
        match join(unit.folded, c) {
            Some(joined) => unit.folded = joined,
            None if class(c) == Class::Mark => {}
            None => break,
        }
        unit.end = end(chars.as_str());
    }
    Some((unit, unit.end))
}

/// Characters that never belong to the one before them, for a quick look at most of those there are.
fn stands_alone(c: char) -> bool {
    matches!(c, '\0'..='\u{2ff}' | '\u{3000}'..='\u{3096}' | '\u{30a0}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

fn emit<S: FnMut(Term<'_>) + ?Sized>(text: &str, units: &[Unit], sink: &mut S) {
    let (start, end) = (units[0].start, units[units.len() - 1].end);
    let original = &text[start..end];
    if original.chars().eq(units.iter().map(|unit| unit.folded)) {
        return sink(Term { text: original, start, end, piece: false });
    }
    let mut buffer = [0; 4 * LONGEST];
    let mut length = 0;
    for unit in units {
        length += unit.folded.encode_utf8(&mut buffer[length..]).len();
    }
    let text = std::str::from_utf8(&buffer[..length]).expect("characters were encoded one after another");
    sink(Term { text, start, end, piece: false });
}
