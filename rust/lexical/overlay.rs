//! What changed since the last commit, in memory: a commit of tantivy's costs the same ten milliseconds for one chunk as for
//! a hundred, so a few changes wait here for company, and are found at once.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use tantivy::fieldnorm::FieldNormReader;

use super::LexicalChunk;
use super::bm25::Columns;
use super::fields::{indexed_path, note_key};
use super::vocabulary::{CONTEXT, PATH, PIECE, TEXT, Vocabulary, sorted};
use super::words::{Table, Word};
use crate::text::{Term, for_each_term, has_kin};

/// A bit for each of some places.
#[derive(Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Sets a bit; false if it was set.
    pub(super) fn set(&mut self, place: u32) -> bool {
        let (word, bit) = (place as usize / 64, 1 << (place % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    pub(super) fn has(&self, place: u32) -> bool {
        self.0.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// No bit is set, and there is room for so many.
    pub(super) fn clear(&mut self, places: usize) {
        self.0.clear();
        self.0.resize(places.div_ceil(64), 0);
    }
}

/// Where a term stands: place and count, by place.
type Postings = FxHashMap<Box<str>, Vec<(u32, u32)>>;

/// Chunks that came after a commit, and those of the commit that went.
#[derive(Default)]
pub(super) struct Overlay {
    /// Chunks that came, in the order of their ids.
    pub(super) columns: Columns,
    /// The note of each, numbered on from those of the commit.
    pub(super) notes: Vec<u32>,
    pub(super) note_count: usize,
    /// Which of them went again.
    pub(super) gone: Bits,
    /// For every segment of the commit, which of its chunks went.
    pub(super) removed: Vec<Bits>,
    /// By how many live chunks the index differs from the commit, and by how many terms their texts.
    pub(super) live: i64,
    pub(super) length: i64,
    numbers: FxHashMap<u64, u32>,
    /// Postings by kind of field ([`super::words::Entry::kind`]).
    postings: [Postings; 4],
    /// The words that the commit does not know, found out when first asked for.
    words: OnceLock<Table>,
}

impl Overlay {
    /// No changes to a commit of so many segments and notes.
    pub(super) fn new(segments: usize, note_count: usize) -> Self {
        let mut overlay = Self { note_count, ..Self::default() };
        overlay.removed.resize_with(segments, Bits::default);
        overlay
    }

    /// Adds a chunk whose id is above all others.
    pub(super) fn add(&mut self, chunk: &LexicalChunk<'_>) {
        let place = self.columns.ids.len() as u32;
        let mut length = 0;
        let mut add = |kind: u8, term: Term<'_>| count(&mut self.postings[kind as usize], term.text, place);
        for_each_term(chunk.text, &mut |term| {
            length += 1;
            add(if term.piece { PIECE } else { TEXT }, term);
        });
        for_each_term(chunk.context, &mut |term| add(CONTEXT, term));
        for_each_term(indexed_path(chunk.path), &mut |term| add(PATH, term));
        self.words.take();

        let note = note_key(chunk.path);
        let next = self.note_count as u32;
        let number = *self.numbers.entry(note).or_insert(next);
        self.note_count += usize::from(number == next);
        self.notes.push(number);
        let code = FieldNormReader::fieldnorm_to_id(length);
        self.columns.push(chunk.id, note, chunk.facts, code);
        self.live += 1;
        self.length += i64::from(FieldNormReader::id_to_fieldnorm(code));
    }

    /// Takes note that a chunk of `length` (as tantivy's code) is gone.
    pub(super) fn forget(&mut self, length: u8) {
        self.live -= 1;
        self.length -= i64::from(FieldNormReader::id_to_fieldnorm(length));
    }

    /// Places and counts of a term in a kind of field.
    pub(super) fn postings(&self, kind: u8, term: &str) -> &[(u32, u32)] {
        self.postings[kind as usize].get(term).map_or(&[], Vec::as_slice)
    }

    /// The words with kin that `vocabulary` does not know, in an index of so many chunks.
    pub(super) fn words(&self, vocabulary: &Vocabulary, chunks: usize) -> Option<&Table> {
        let find = || {
            let mut words: FxHashMap<String, Word> = FxHashMap::default();
            for (word, list) in self.postings.iter().flatten() {
                if has_kin(word) && !vocabulary.knows(word) {
                    words.entry(word.to_string()).or_default().chunks += list.len() as u32;
                }
            }
            Table::new(&sorted(&words), chunks, &[], vocabulary.tables().next())
        };
        (!self.notes.is_empty()).then(|| self.words.get_or_init(find))
    }
}

fn count(postings: &mut Postings, term: &str, place: u32) {
    let list = match postings.get_mut(term) {
        Some(list) => list,
        None => postings.entry(term.into()).or_default(),
    };
    match list.last_mut() {
        Some((last, count)) if *last == place => *count += 1,
        _ => list.push((place, 1)),
    }
}
