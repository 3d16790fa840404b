//! The words of a question and what each can be to a time.

use std::ops::Range;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::languages::{self, Sense};
use crate::text::{Class, class, fold};

/// A word, or several that are one in the table ("the day before yesterday", 上个月).
#[derive(Debug)]
pub(super) struct Word {
    /// What it can be; nothing for a word that says nothing of time.
    pub senses: &'static [Sense],
    /// The value of up to four digits, also with an ordinal's ending ("5th", "1er").
    pub number: Option<i64>,
    /// Such an ending, or a full stop as in German ("3. Quartal").
    pub ordinal: bool,
    /// The sign that joins it to the word before it without a space, as in an identifier or a date.
    pub joined: Option<u8>,
    /// Where it stands.
    pub bytes: Range<usize>,
}

/// A run of letters and digits, or one character of a script without spaces.
struct Token {
    /// Where its folded form stands in the buffer.
    folded: Range<usize>,
    bytes: Range<usize>,
    joined: Option<u8>,
}

/// The words of a text, in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let (buffer, tokens) = tokens(text);
    let lexicon = &*LEXICON;
    let mut words = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let first = &tokens[at];
        let longest = lexicon.longest.get(&buffer[first.folded.clone()]).copied().unwrap_or(0);
        let phrase = (1..=longest.min(tokens.len() - at)).rev().find_map(|count| {
            let last = &tokens[at + count - 1];
            let senses = lexicon.phrases.get(&buffer[first.folded.start..last.folded.end])?;
            Some((count, senses))
        });
        let (count, senses) = phrase.map_or((1, &[][..]), |(count, senses)| (count, senses));
        let bytes = first.bytes.start..tokens[at + count - 1].bytes.end;
        let (number, ending) = number(&buffer[first.folded.clone()]);
        let stop =
            text[bytes.end..].strip_prefix('.').is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        words.push(Word {
            senses,
            number: number.filter(|_| count == 1),
            ordinal: ending || number.is_some() && stop,
            joined: first.joined,
            bytes,
        });
        at += count;
    }
    words
}

/// The value of a number and whether it ends as ordinals do.
fn number(word: &str) -> (Option<i64>, bool) {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=4).contains(&digits) {
        return (None, false);
    }
    let (digits, ending) = word.split_at(digits);
    let ordinal =
        matches!(ending, "st" | "nd" | "rd" | "th" | "er" | "re" | "e" | "eme" | "o" | "a" | "ter" | "ten");
    (digits.parse().ok().filter(|_| ordinal || ending.is_empty()), ordinal)
}

/// The folded text with one space between words, none between characters of a script without spaces; and its tokens.
fn tokens(text: &str) -> (String, Vec<Token>) {
    let mut buffer = String::with_capacity(text.len());
    let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 4);
    let mut open: Option<Range<usize>> = None;
    let mut unspaced = false;
    let mut close = |open: &mut Option<Range<usize>>, unspaced: bool| {
        let Some(bytes) = open.take() else { return };
        let between = tokens.last().map(|last: &Token| &text[last.bytes.end..bytes.start]);
        if between.is_some_and(|between| !(unspaced && between.is_empty())) {
            buffer.push(' ');
        }
        let start = buffer.len();
        match &text[bytes.clone()] {
            word if word.is_ascii() => buffer.extend(word.chars().map(|c| c.to_ascii_lowercase())),
            word => buffer.push_str(&fold(word)),
        }
        let joined = between.filter(|_| !unspaced).and_then(joiner);
        tokens.push(Token { folded: start..buffer.len(), joined, bytes });
    };
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match class(c) {
            Class::Lower | Class::Upper | Class::Digit => match &mut open {
                Some(bytes) if !unspaced => bytes.end = end,
                _ => {
                    close(&mut open, unspaced);
                    (open, unspaced) = (Some(at..end), false);
                }
            },
            Class::Ideograph => {
                close(&mut open, unspaced);
                (open, unspaced) = (Some(at..end), true);
            }
            Class::Mark | Class::Ignorable => {
                if let Some(bytes) = &mut open {
                    bytes.end = end;
                }
            }
            Class::Joiner(_) | Class::Syllable | Class::Separator => close(&mut open, unspaced),
        }
    }
    close(&mut open, unspaced);
    (buffer, tokens)
}

/// The first of the signs that make one thing of two words; an apostrophe does not.
fn joiner(between: &str) -> Option<u8> {
    let sign = |c| match class(c) {
        Class::Joiner(sign) if sign != b'\'' => Some(sign),
        _ => None,
    };
    between.chars().try_fold(None, |first, c| sign(c).map(|sign| first.or(Some(sign)))).flatten()
}

/// Every phrase of every language.
struct Lexicon {
    phrases: FxHashMap<String, Vec<Sense>>,
    /// By first word: the words of the longest phrase that begins with it.
    longest: FxHashMap<String, usize>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon { phrases: FxHashMap::default(), longest: FxHashMap::default() };
    languages::each_phrase(&mut |phrase, sense| {
        let (buffer, tokens) = tokens(phrase);
        let Some(first) = tokens.first() else { return };
        let longest = lexicon.longest.entry(buffer[first.folded.clone()].to_owned()).or_default();
        *longest = tokens.len().max(*longest);
        let senses = lexicon.phrases.entry(buffer).or_default();
        if !senses.contains(&sense) {
            senses.push(sense);
        }
    });
    lexicon
});
