//! What tantivy keeps of a chunk, and how it comes to our words.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::{Facts, LexicalChunk};
use crate::text::{Term, for_each_term};

/// Raised whenever fields or their options change.
pub(super) const SCHEMA_VERSION: u32 = 4;

/// The names under which tantivy knows our terms: as they are, and with pieces marked.
const TERMS: &str = "memgrep";
const MARKED: &str = "memgrep marked";

/// Stands before a piece of an identifier, so that words and pieces are told apart within one field and one pass. No term
/// begins with it.
pub(super) const PIECE_MARK: char = '\u{1}';

/// The fields of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) id: Field,
    facts: Field,
    note: Field,
    /// Words of the text, and pieces of its identifiers behind a [`PIECE_MARK`].
    pub(super) text: Field,
    pub(super) context: Field,
    pub(super) path: Field,
}

impl Fields {
    pub(super) const ID: &str = "id";
    pub(super) const FACTS: &str = "facts";
    pub(super) const NOTE: &str = "note";

    pub(super) fn new() -> (Self, Schema) {
        let mut schema = Schema::builder();
        let terms = |tokenizer, lengths| {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer(tokenizer)
                .set_index_option(IndexRecordOption::WithFreqs)
                .set_fieldnorms(lengths);
            TextOptions::default().set_indexing_options(indexing)
        };
        let fields = Self {
            id: schema.add_u64_field(Self::ID, INDEXED | FAST),
            facts: schema.add_u64_field(Self::FACTS, NumericOptions::default().set_fast()),
            note: schema.add_u64_field(Self::NOTE, NumericOptions::default().set_fast()),
            text: schema.add_text_field("text", terms(MARKED, true)),
            context: schema.add_text_field("context", terms(TERMS, false)),
            path: schema.add_text_field("path", terms(TERMS, false)),
        };
        (fields, schema.build())
    }

    pub(super) fn document(self, chunk: &LexicalChunk<'_>) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_u64(self.id, chunk.id);
        document.add_u64(self.facts, pack(chunk.facts));
        document.add_u64(self.note, note_key(chunk.path));
        document.add_text(self.text, chunk.text);
        document.add_text(self.context, chunk.context);
        document.add_text(self.path, indexed_path(chunk.path));
        document
    }
}

/// What is indexed of a path: without its ending the name is one term with its last part.
pub(super) fn indexed_path(path: &str) -> &str {
    path.strip_suffix(".md").unwrap_or(path)
}

/// The day that stands for none.
const NO_DAY: u64 = 0;
/// Added to a day, so that every year has a place among 26 bits.
const FIRST_DAY: i64 = 1 << 25;

/// Facts as one number: source (2 bits), importance (4), day (26), first line (32).
fn pack(facts: Facts) -> u64 {
    let day = facts.day.map_or(NO_DAY, |day| (i64::from(day) + FIRST_DAY).clamp(1, 2 * FIRST_DAY - 1) as u64);
    u64::from(facts.source & 3)
        | u64::from(facts.importance.unwrap_or(0) & 15) << 2
        | day << 6
        | u64::from(facts.first_line) << 32
}

/// What was packed.
pub(super) fn unpack(packed: u64) -> Facts {
    let (importance, day) = ((packed >> 2 & 15) as u8, packed >> 6 & (2 * FIRST_DAY as u64 - 1));
    Facts {
        source: (packed & 3) as u8,
        importance: (importance > 0).then_some(importance),
        day: (day != NO_DAY).then(|| (day as i64 - FIRST_DAY) as i32),
        first_line: (packed >> 32) as u32,
    }
}

/// Tells chunks of one note from those of another.
pub fn note_key(path: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(path.as_bytes());
    hasher.finish()
}

/// Our terms for tantivy.
#[derive(Debug, Clone, Default)]
struct Terms {
    token: Token,
    marked: bool,
}

/// Tells tantivy how the fields come to their terms.
pub(super) fn register(index: &tantivy::Index) {
    index.tokenizers().register(TERMS, Terms::default());
    index.tokenizers().register(MARKED, Terms { marked: true, ..Terms::default() });
}

impl Tokenizer for Terms {
    type TokenStream<'a> = TermStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TermStream<'a> {
        TermStream { text, token: &mut self.token, marked: self.marked, waiting: None }
    }
}

/// The terms of one text. tantivy takes them all at once by `process`, into one reused token.
struct TermStream<'a> {
    text: &'a str,
    marked: bool,
    token: &'a mut Token,
    /// The terms, last one first, for whoever asks one by one.
    waiting: Option<Vec<Token>>,
}

impl TokenStream for TermStream<'_> {
    fn advance(&mut self) -> bool {
        let waiting = self.waiting.get_or_insert_with(|| {
            let mut tokens = Vec::new();
            let mut token = Token::default();
            for_each_term(self.text, &mut |term| {
                fill(&mut token, &term, self.marked);
                tokens.push(token.clone());
            });
            tokens.reverse();
            tokens
        });
        match waiting.pop() {
            Some(token) => *self.token = token,
            None => return false,
        }
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }

    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        let marked = self.marked;
        for_each_term(self.text, &mut |term| {
            fill(self.token, &term, marked);
            sink(self.token);
        });
    }
}

/// Positions are not indexed, so they are all 0.
fn fill(token: &mut Token, term: &Term<'_>, marked: bool) {
    token.text.clear();
    if marked && term.piece {
        token.text.push(PIECE_MARK);
    }
    token.text.push_str(term.text);
    token.offset_from = term.start;
    token.offset_to = term.end;
    token.position = 0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn facts_come_back_as_they_were(
            (source, importance) in (0u8..3, prop::option::of(1u8..=10)),
            // From the year 1 to 9999, as a note may be called.
            (day, first_line) in (prop::option::of(-719_162i32..=2_932_896), any::<u32>()),
        ) {
            let facts = Facts { source, importance, day, first_line };
            prop_assert_eq!(unpack(pack(facts)), facts);
        }
    }
}
