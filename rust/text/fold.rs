//! What a character is to a word, and its folded form.
//!
//! Folding is NFKC without case, without the marks that readers leave out (accents, Arabic and Hebrew vowel signs), and
//! without invisible characters. Marks that make another letter stay: Japanese ガ and カ, Hindi vowels, Russian й and и.

use std::sync::LazyLock;

use unicode_normalization::char::{compose, decompose_compatible, is_combining_mark};

/// What a character is to the words around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A letter without upper case form or in lower case.
    Lower,
    /// A letter in upper case.
    Upper,
    /// A digit or another number.
    Digit,
    /// A sign that can stand between the parts of one word; its ASCII form.
    Joiner(u8),
    /// A letter of a script without spaces whose characters carry meaning: Han, kana, Hangul.
    Ideograph,
    /// A letter or sign of a script without spaces whose characters are sounds: Thai, Lao, Khmer, Burmese.
    Syllable,
    /// Belongs to the character before it.
    Mark,
    /// Invisible: as if it were not there.
    Ignorable,
    /// Ends a word.
    Separator,
}

/// What there is to know about a character, for all that take two bytes: most of the letters of most alphabets.
struct Entry {
    class: Class,
    /// The folded form, `length` bytes of it.
    folded: [u8; 6],
    length: u8,
}

const FIRST: char = '\u{80}';
const LAST: char = '\u{7ff}';

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let entry = |c| {
        let mut text = String::new();
        decompose(c, &mut text);
        let mut folded = [0; 6];
        folded[..text.len()].copy_from_slice(text.as_bytes());
        Entry { class: find_class(c), folded, length: text.len() as u8 }
    };
    (FIRST..=LAST).map(entry).collect()
});

/// The class of `c`.
pub(crate) fn class(c: char) -> Class {
    match c {
        FIRST..=LAST => ENTRIES[c as usize - FIRST as usize].class,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{ac00}'..='\u{d7a3}' => Class::Ideograph,
        // The punctuation of East Asian text.
        '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{ff0c}' | '\u{ff1a}' | '\u{ff1b}' => {
            Class::Separator
        }
        _ => find_class(c),
    }
}

fn find_class(c: char) -> Class {
    match c {
        '-' | '_' | '.' | '/' | ':' | '@' | '#' | '+' | '\\' | '\'' => Class::Joiner(c as u8),
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Digit,
        '\0'..='\x7f' => Class::Separator,
        // Curly and full-width forms, the Catalan middle dot and the Hebrew abbreviation marks behave as an apostrophe.
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{ff07}' | '\u{b7}' | '\u{5f3}' | '\u{5f4}' => {
            Class::Joiner(b'\'')
        }
        '\u{2010}' | '\u{2011}' | '\u{ff0d}' => Class::Joiner(b'-'),
        '\u{ff3f}' => Class::Joiner(b'_'),
        '\u{ff0e}' => Class::Joiner(b'.'),
        '\u{ff0f}' => Class::Joiner(b'/'),
        '\u{ff20}' => Class::Joiner(b'@'),
        _ if is_ignorable(c) => Class::Ignorable,
        '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}' => Class::Mark,
        _ if is_ideograph(c) => Class::Ideograph,
        _ if c.is_alphanumeric() => match c {
            _ if is_syllable(c) => Class::Syllable,
            _ if c.is_numeric() => Class::Digit,
            _ if c.is_uppercase() => Class::Upper,
            // Some vowel signs are alphabetic and yet cannot begin a word.
            _ if is_combining_mark(c) => Class::Mark,
            _ => Class::Lower,
        },
        _ if is_combining_mark(c) => {
            if is_syllable(c) {
                Class::Syllable
            } else {
                Class::Mark
            }
        }
        _ => Class::Separator,
    }
}

/// Zero-width, directional and variation characters, the soft hyphen, the Arabic stretch and the Hangul fillers.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{640}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// Han, kana, Hangul, Bopomofo, Yi, with their half-width and compatibility forms.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{ac00}'..='\u{d7ff}' | '\u{3400}'..='\u{4dbf}' | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303c}' | '\u{3105}'..='\u{312f}' | '\u{3131}'..='\u{318e}'
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{1100}'..='\u{11ff}' | '\u{a000}'..='\u{a48c}'
        | '\u{a960}'..='\u{a97c}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{ffa1}'..='\u{ffdc}'
        | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

/// The blocks of Thai, Lao, Burmese and Khmer.
fn is_syllable(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aa7f}')
}

/// Marks that readers leave out: general accents, Arabic vowel signs, Hebrew points.
fn is_optional_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}'
        | '\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{8d3}'..='\u{8ff}')
}

/// Appends the folded form of a letter or digit.
pub(super) fn push_letter(c: char, folded: &mut String) {
    match c {
        '\0'..='\x7f' => folded.push(c.to_ascii_lowercase()),
        FIRST..=LAST => {
            let entry = &ENTRIES[c as usize - FIRST as usize];
            let text = std::str::from_utf8(&entry.folded[..entry.length.into()]);
            folded.push_str(text.expect("an entry holds the bytes of a string"));
        }
        _ => decompose(c, folded),
    }
}

fn decompose(c: char, folded: &mut String) {
    match c {
        // These decompose into another letter and a mark, and are letters of their own to those who write them.
        'й' | 'Й' => folded.push('й'),
        'ї' | 'Ї' => folded.push('ї'),
        'ў' | 'Ў' => folded.push('ў'),
        _ => decompose_compatible(c, |part| {
            if part.is_alphanumeric() || is_combining_mark(part) {
                part.to_lowercase()
                    .filter(|&lower| !is_optional_mark(lower) && !is_ignorable(lower))
                    .for_each(|lower| push_lower(lower, folded));
            }
        }),
    }
}

/// Lower case letters that have no decomposition and yet are typed in another way.
fn push_lower(c: char, folded: &mut String) {
    match c {
        'ß' => folded.push_str("ss"),
        'æ' => folded.push_str("ae"),
        'œ' => folded.push_str("oe"),
        'þ' => folded.push_str("th"),
        'ø' => folded.push('o'),
        'đ' | 'ð' => folded.push('d'),
        'ħ' => folded.push('h'),
        'ł' => folded.push('l'),
        'ı' => folded.push('i'),
        'ς' => folded.push('σ'),
        _ => folded.push(c),
    }
}

/// Appends a mark to the letter that `folded` ends with, or leaves it out.
pub(super) fn push_mark(mark: char, folded: &mut String) {
    let letter = match (folded.chars().next_back(), mark) {
        (Some('и'), '\u{306}') => 'й',
        (Some('у'), '\u{306}') => 'ў',
        (Some('і'), '\u{308}') => 'ї',
        _ => {
            if !is_optional_mark(mark) {
                folded.push(mark);
            }
            return;
        }
    };
    folded.pop();
    folded.push(letter);
}

/// The folded form of one character of a script without spaces.
pub(super) fn ideograph(c: char) -> char {
    match c {
        '\u{4e00}'..='\u{9fff}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{3131}'..='\u{318e}' => c,
        '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{20000}'..='\u{3ffff}' => {
            let mut form = c;
            decompose_compatible(c, |part| form = part);
            form
        }
        _ => c,
    }
}

/// `letter` and the character after it as one, where Unicode has such a letter: か and its voicing mark, the parts of a
/// Hangul syllable.
pub(super) fn join(letter: char, next: char) -> Option<char> {
    match ideograph(next) {
        next @ ('\u{3099}' | '\u{309a}' | '\u{1161}'..='\u{11ff}') => compose(letter, next),
        _ => None,
    }
}

/// `text` in folded form, word or not: for comparing names. White space and punctuation stay.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match class(c) {
            Class::Lower | Class::Upper | Class::Digit => push_letter(c, &mut folded),
            Class::Joiner(sign) => folded.push(sign as char),
            Class::Ignorable => {}
            Class::Mark | Class::Ideograph | Class::Syllable => {
                match folded.chars().next_back().and_then(|last| join(last, c)) {
                    Some(joined) => {
                        folded.pop();
                        folded.push(joined);
                    }
                    None if class(c) == Class::Mark => push_mark(c, &mut folded),
                    None => folded.push(ideograph(c)),
                }
            }
            Class::Separator => folded.push(c),
        }
    }
    folded
}
