//! From a text to the words whose pieces are looked up.
//!
//! A word is a run of letters, of digits or of CJK characters, normalised (NFKC) and in lower case. A capital after a
//! small letter starts a new one, so `memorySearch` is two. Everything else only separates.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Stands before every word but the CJK ones, where it would depend on the sentence: a piece that starts a word is
/// another piece than the same letters inside one.
pub(super) const WORD_START: u8 = b' ';

/// A longer run is cut, so that base64 or a text without spaces costs bounded memory.
const LONGEST: usize = 128;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Other,
    Letter,
    Digit,
    Cjk,
}

/// Calls `found` with every word of `text`, in order; `word` is the buffer it is made in.
pub(super) fn for_each_word(text: &str, word: &mut Vec<u8>, mut found: impl FnMut(&[u8])) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(skipped) = bytes[at..].iter().position(|&byte| !breaks(byte)) {
        let start = at + skipped;
        let length = bytes[start..].iter().position(|&byte| breaks(byte)).unwrap_or(bytes.len() - start);
        at = start + length;
        let mut words = Words { word, found: &mut found, kind: Kind::Other, chars: 0, after_small: false };
        // ASCII never joins a character before it, so both ends are boundaries.
        let segment = &text[start..at];
        if segment.is_ascii() {
            segment.bytes().for_each(|byte| words.ascii(byte));
        } else if is_nfkc_quick(segment.chars()) == IsNormalized::Yes {
            segment.chars().for_each(|char| words.char(char));
        } else {
            segment.nfkc().for_each(|char| words.char(char));
        }
        words.finish();
    }
}

/// An ASCII character that is neither letter nor digit.
fn breaks(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric()
}

/// The word being made.
struct Words<'a, F> {
    word: &'a mut Vec<u8>,
    found: &'a mut F,
    kind: Kind,
    chars: usize,
    after_small: bool,
}

impl<F: FnMut(&[u8])> Words<'_, F> {
    fn ascii(&mut self, byte: u8) {
        let kind = match byte {
            b'0'..=b'9' => Kind::Digit,
            b'a'..=b'z' | b'A'..=b'Z' => Kind::Letter,
            _ => Kind::Other,
        };
        self.turn(kind, byte.is_ascii_uppercase());
        if kind != Kind::Other {
            self.word.push(byte.to_ascii_lowercase());
        }
        self.after_small = byte.is_ascii_lowercase();
    }

    fn char(&mut self, char: char) {
        if let Ok(byte @ 0..0x80) = u8::try_from(char) {
            return self.ascii(byte);
        }
        let kind = match kind(char) {
            // An accent or a vowel mark belongs to what it stands on.
            Kind::Letter if self.kind != Kind::Other && is_combining_mark(char) => self.kind,
            kind => kind,
        };
        if kind == Kind::Cjk {
            self.turn(kind, false);
            self.word.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            self.after_small = false;
            return; // no case to look up, and whole texts are made of these
        }
        self.turn(kind, char.is_uppercase());
        if kind != Kind::Other {
            for small in char.to_lowercase() {
                self.word.extend_from_slice(small.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        self.after_small = char.is_lowercase();
    }

    /// Ends the word if a character of `kind` cannot go on with it, and starts the next.
    fn turn(&mut self, kind: Kind, capital: bool) {
        if kind != self.kind || (capital && self.after_small) || self.chars == LONGEST {
            self.finish();
            self.kind = kind;
            if matches!(kind, Kind::Letter | Kind::Digit) {
                self.word.push(WORD_START);
            }
        }
        self.chars += 1;
    }

    fn finish(&mut self) {
        if self.kind != Kind::Other {
            (self.found)(self.word);
        }
        self.word.clear();
        self.chars = 0;
        self.kind = Kind::Other;
    }
}

fn kind(char: char) -> Kind {
    if is_cjk(char) {
        Kind::Cjk
    } else if char.is_alphabetic() || is_combining_mark(char) {
        Kind::Letter
    } else if char.is_numeric() {
        Kind::Digit
    } else {
        Kind::Other
    }
}

/// Scripts written without spaces whose pieces are looked up wherever they stand: Han and kana.
fn is_cjk(char: char) -> bool {
    matches!(char,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}
