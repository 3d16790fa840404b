//! What tantivy keeps of a chunk, and how it comes to our words.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::LexicalChunk;
use crate::text::{Term, for_each_term};

/// Raised whenever fields or their options change.
pub(super) const SCHEMA_VERSION: u32 = 3;

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
    source: Field,
    note: Field,
    /// Words of the text, and pieces of its identifiers behind a [`PIECE_MARK`].
    pub(super) text: Field,
    pub(super) context: Field,
    pub(super) path: Field,
}

impl Fields {
    pub(super) const ID: &str = "id";
    pub(super) const SOURCE: &str = "source";
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
            source: schema.add_u64_field(Self::SOURCE, NumericOptions::default().set_fast()),
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
        document.add_u64(self.source, chunk.source.into());
        document.add_u64(self.note, note_key(chunk.path));
        document.add_text(self.text, chunk.text);
        document.add_text(self.context, chunk.context);
        // Without its ending the name is one term with its last part.
        document.add_text(self.path, chunk.path.strip_suffix(".md").unwrap_or(chunk.path));
        document
    }
}

/// Tells chunks of one note from those of another.
fn note_key(path: &str) -> u64 {
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
