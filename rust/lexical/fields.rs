//! What tantivy keeps of a chunk, and how it comes to our words.

use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::LexicalChunk;
use crate::text::{Term, for_each_term};

/// Raised whenever fields or their options change.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// The name under which tantivy knows our words.
pub(super) const WORDS: &str = "memgrep";

/// The fields of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) id: Field,
    source: Field,
    pub(super) text: Field,
    pub(super) context: Field,
    pub(super) path: Field,
}

impl Fields {
    pub(super) const ID: &str = "id";
    pub(super) const SOURCE: &str = "source";

    pub(super) fn new() -> (Self, Schema) {
        let mut schema = Schema::builder();
        let words = |lengths| {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer(WORDS)
                .set_index_option(IndexRecordOption::WithFreqs)
                .set_fieldnorms(lengths);
            TextOptions::default().set_indexing_options(indexing)
        };
        let fields = Self {
            id: schema.add_u64_field(Self::ID, INDEXED | FAST),
            source: schema.add_u64_field(Self::SOURCE, NumericOptions::default().set_fast()),
            text: schema.add_text_field("text", words(true)),
            context: schema.add_text_field("context", words(false)),
            path: schema.add_text_field("path", words(false)),
        };
        (fields, schema.build())
    }

    pub(super) fn document(self, chunk: &LexicalChunk<'_>) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_u64(self.id, chunk.id);
        document.add_u64(self.source, chunk.source.into());
        document.add_text(self.text, chunk.text);
        document.add_text(self.context, chunk.context);
        // Without its ending the name is one term with its last part.
        document.add_text(self.path, chunk.path.strip_suffix(".md").unwrap_or(chunk.path));
        document
    }
}

/// Our words for tantivy.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        WordStream { text, token: &mut self.token, waiting: None }
    }
}

/// The terms of one text. tantivy takes them all at once by `process`, into one reused token.
pub(super) struct WordStream<'a> {
    text: &'a str,
    token: &'a mut Token,
    /// The terms, last one first, for whoever asks one by one.
    waiting: Option<Vec<Token>>,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let waiting = self.waiting.get_or_insert_with(|| {
            let mut tokens = Vec::new();
            let mut token = Token::default();
            for_each_term(self.text, &mut |term| {
                fill(&mut token, &term);
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
        for_each_term(self.text, &mut |term| {
            fill(self.token, &term);
            sink(self.token);
        });
    }
}

/// Positions are not indexed, so they are all 0.
fn fill(token: &mut Token, term: &Term<'_>) {
    token.text.clear();
    token.text.push_str(term.text);
    token.offset_from = term.start;
    token.offset_to = term.end;
    token.position = 0;
}
