//! What a word is and what a token costs: one definition for BM25, MMR, file names and snippets.
//!
//! Text is cut where white space, punctuation or a change of script ends a word, so that every word of UAX #29 lies inside
//! one of ours. A word is then one term if it is plain ([`for_each_term`]'s fast path), a whole and its parts if it is an
//! identifier (`text/compound.rs`), or overlapping character grams in scripts written without spaces (`text/grams.rs`).
//! What is compared is always the folded form (`text/fold.rs`).

mod compound;
mod estimate;
mod fold;
mod grams;
mod kin;
mod question;

use std::hash::Hasher as _;

use rustc_hash::{FxHashMap, FxHasher};

use compound::Compound;
pub use estimate::token_estimate;
pub use fold::fold;
pub(crate) use fold::{Class, class};
pub use kin::{has_kin, letter_grams};

/// Raised whenever the terms of any text change; part of the index fingerprint.
pub const ANALYSER_VERSION: u32 = 2;

/// Longest term in bytes. A longer word counts by its beginning; a longer compound only by its parts.
pub const MAX_TERM_BYTES: usize = 64;

/// A longer query is cut after so many distinct terms.
pub const MAX_QUERY_TERMS: usize = 128;

/// A folded word or part of a word and where it stands in the original text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term<'a> {
    /// The folded form: what is indexed and compared. Never empty, at most [`MAX_TERM_BYTES`] long.
    pub text: &'a str,
    /// First byte in the analysed text.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    /// A piece of an identifier (`index` in `retry_index`, `rebuildIndex`, `index.toml`), not a word that stands by
    /// itself. What hyphens, slashes and apostrophes join is words.
    pub piece: bool,
}

/// Which terms of a word are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Everything that can be asked for.
    Index,
    /// What is asked for: as `Index`, but only the longest grams of a run.
    Query,
    /// Every place of the text once: parts without their wholes.
    Words,
}

/// Calls `sink` with every index term of `text`. Linear in the length of `text`.
///
/// Terms come in the order of their beginnings; a whole comes before its parts.
///
/// ```
/// use memgrep::text::for_each_term;
///
/// let mut terms = Vec::new();
/// for_each_term("Don’t call retryIndex()", &mut |term| terms.push(term.text.to_owned()));
/// assert_eq!(terms, ["dont", "call", "retryindex", "retry", "index"]);
/// ```
pub fn for_each_term(text: &str, sink: &mut dyn FnMut(Term<'_>)) {
    walk(text, Mode::Index, sink);
}

/// A term that a query asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The folded form.
    pub text: String,
    /// 1 for words and whole identifiers, a tenth for words that only ask (`when`), [`QUERY_PIECE_WEIGHT`] for what is only a piece of one. Who asks for `retry_index`
    /// means that name, and its pieces are two more chances, not two more questions.
    pub weight: f32,
    /// An identifier as a whole: nothing but itself answers for it.
    pub identifier: bool,
}

/// The distinct terms a query asks for, in query order, at most [`MAX_QUERY_TERMS`].
///
/// A single CJK character is asked for by itself only where its run is one character long; otherwise by bigrams.
/// All of them are among the index terms of the same text.
pub fn query_terms(query: &str) -> Vec<QueryTerm> {
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut terms: Vec<QueryTerm> = Vec::new();
    // The last whole, and where it ends: it comes before its pieces.
    let (mut whole, mut whole_end) = (None, 0);
    walk(query, Mode::Query, &mut |term: Term<'_>| {
        let weight = match term.piece {
            true => QUERY_PIECE_WEIGHT,
            false if question::asks(term.text) => question::WEIGHT,
            false => 1.0,
        };
        if term.piece && term.end <= whole_end {
            whole
                .and_then(|place: usize| terms.get_mut(place))
                .into_iter()
                .for_each(|one| one.identifier = true);
        }
        let place = match places.get(term.text) {
            Some(&place) => {
                terms[place].weight = weight.max(terms[place].weight);
                place
            }
            None if terms.len() < MAX_QUERY_TERMS => {
                places.insert(term.text.to_owned(), terms.len());
                terms.push(QueryTerm { text: term.text.to_owned(), weight, identifier: false });
                terms.len() - 1
            }
            None => return,
        };
        if !term.piece {
            (whole, whole_end) = (Some(place), term.end);
        }
    });
    terms
}

/// Whether a term is a gram of Han, kana or Hangul.
pub fn is_ideographic(term: &str) -> bool {
    term.chars().next().is_some_and(|c| class(c) == Class::Ideograph)
}

/// The characters of the grams among `terms` that are no terms themselves, as terms that count little: a text that writes a
/// word with another neighbour still has something of it.
pub fn characters(terms: &[QueryTerm]) -> Vec<QueryTerm> {
    let mut more: Vec<QueryTerm> = Vec::new();
    for gram in terms.iter().filter(|term| is_ideographic(&term.text)) {
        for character in gram.text.chars() {
            let text = character.to_string();
            if terms.iter().chain(&more).all(|term| term.text != text)
                && terms.len() + more.len() < MAX_QUERY_TERMS
            {
                more.push(QueryTerm { text, weight: CHARACTER_WEIGHT, identifier: false });
            }
        }
    }
    more
}

/// What a single character of a gram in a query counts.
const CHARACTER_WEIGHT: f32 = 0.2;

/// What a piece of an identifier in a query counts.
pub const QUERY_PIECE_WEIGHT: f32 = 0.25;

/// Sorted, distinct hashes of the words of `text`, for Jaccard similarity. Empty for a text without words.
pub fn token_set(text: &str) -> Vec<u64> {
    let mut hashes = Vec::with_capacity(text.len() / 6);
    walk(text, Mode::Words, &mut |term: Term<'_>| {
        let mut hasher = FxHasher::default();
        hasher.write(term.text.as_bytes());
        hashes.push(hasher.finish());
    });
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const JOINER: u8 = 8;
const WIDE: u8 = 16;
const WORD: u8 = LOWER | UPPER | DIGIT;

/// What an ASCII byte can be to a word; `WIDE` stands for every byte of a longer character, 0 for what ends a word.
const BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'-' | b'_' | b'.' | b'/' | b':' | b'@' | b'#' | b'+' | b'\\' | b'\'' => JOINER,
            128.. => WIDE,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Calls `sink` with the terms of `text` that `mode` wants.
fn walk<S: FnMut(Term<'_>) + ?Sized>(text: &str, mode: Mode, sink: &mut S) {
    let bytes = text.as_bytes();
    let mut compound = Compound::default();
    let mut at = 0;
    while at < bytes.len() {
        let first = BYTES[bytes[at] as usize];
        if first & (WORD | WIDE) == 0 {
            at += 1;
            continue;
        }
        let start = at;
        // Upper case after the first letter only matters beside lower case, and digits beside letters: `seen` and `later`
        // tell a plain word from an identifier without a second look at it.
        let (mut seen, mut later) = (first, 0);
        let mut next = first;
        while next & WORD != 0 {
            seen |= next;
            at += 1;
            next = bytes.get(at).map_or(0, |&byte| BYTES[byte as usize]);
            later |= next;
        }
        let later = later & !next;
        let mixed =
            seen & DIGIT != 0 && seen & (LOWER | UPPER) != 0 || later & UPPER != 0 && seen & LOWER != 0;
        if next & WIDE != 0 || mixed || next == JOINER && joins(bytes, at) {
            at = wide(text, start, mode, &mut compound, sink);
        } else {
            plain(&text[start..at], start, seen, sink);
        }
    }
}

/// Whether the joiner at `at` belongs to the word before it: something joinable follows, or it is the end of `C#`.
fn joins(bytes: &[u8], at: usize) -> bool {
    let next = bytes.get(at + 1).copied().unwrap_or(b' ');
    BYTES[next as usize] & (WORD | WIDE) != 0
        || matches!((bytes[at], next), (b':', b'/' | b':' | b'\\') | (b'+', b'+'))
        || bytes[at] == b'#'
}

/// A word of ASCII letters in one case (but for its first letter), or of digits.
#[inline]
fn plain<S: FnMut(Term<'_>) + ?Sized>(word: &str, start: usize, seen: u8, sink: &mut S) {
    let end = start + word.len();
    let word = &word[..word.len().min(MAX_TERM_BYTES)];
    if seen & UPPER == 0 {
        return sink(Term { text: word, start, end, piece: false });
    }
    let mut buffer = [0; MAX_TERM_BYTES];
    let lower = &mut buffer[..word.len()];
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    let text = std::str::from_utf8(lower).expect("ASCII letters stay ASCII in lower case");
    sink(Term { text, start, end, piece: false });
}

/// The run that begins at `start`, of whatever kind; returns where to go on.
fn wide<S: FnMut(Term<'_>) + ?Sized>(
    text: &str,
    start: usize,
    mode: Mode,
    compound: &mut Compound,
    sink: &mut S,
) -> usize {
    let Some(first) = text[start..].chars().next() else { return text.len() };
    match class(first) {
        Class::Ideograph => grams::run(text, start, grams::IDEOGRAPHS, mode, sink),
        Class::Syllable => grams::run(text, start, grams::SYLLABLES, mode, sink),
        Class::Lower | Class::Upper | Class::Digit => {
            let end = compound.read(text, start);
            compound.emit(mode, sink);
            end
        }
        Class::Joiner(_) | Class::Mark | Class::Ignorable | Class::Separator => start + first.len_utf8(),
    }
}

#[cfg(test)]
mod tests;
