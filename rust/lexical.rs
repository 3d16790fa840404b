//! BM25 over chunks: tantivy holds the postings, the score is ours.

use std::path::Path;

use crate::error::Result;

/// What is indexed of a chunk.
#[derive(Debug, Clone, Copy)]
pub struct LexicalChunk<'a> {
    /// The chunk's id in the store.
    pub id: u64,
    /// Its text without annotations.
    pub text: &'a str,
    /// Heading path and table header.
    pub context: &'a str,
    /// The note's path.
    pub path: &'a str,
    /// [`crate::scan::Source`] as a number.
    pub source: u8,
}

/// A chunk the lexical side proposes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalHit {
    /// Chunk id.
    pub id: u64,
    /// BM25, above 0.
    pub bm25: f32,
}

/// The outcome of one lexical pass; can score any chunk exactly, not only the best ones.
pub trait LexicalPass {
    /// The best `limit` chunks, best first, ties by id; only sources that `sources` names (bit `1 << source`).
    fn top(&mut self, limit: usize) -> Vec<LexicalHit>;
    /// Exact BM25 of given chunks; 0 for a chunk without any query term.
    fn scores(&mut self, ids: &[u64]) -> Result<Vec<f32>>;
    /// What a chunk that holds every query term at saturation would score: the sum of the terms' IDFs, a term that
    /// occurs nowhere counted with the highest IDF. BM25 / this is in 0..1.
    fn ceiling(&self) -> f32;
}

/// The index folder, opened for reading and (under the caller's writer lock) writing.
pub struct Lexical {}

impl Lexical {
    /// Opens the folder, or makes it. Damage (checksum, truncation, another schema or analyser) is cured by emptying it:
    /// then [`Lexical::generation`] is `None`.
    pub fn open(_folder: &Path) -> Result<Self> {
        todo!()
    }
    /// The store generation it was last committed with; `None` when empty or damaged.
    pub fn generation(&self) -> Option<u64> {
        todo!()
    }
    /// Adds chunks (ids never seen before). Visible after [`Lexical::commit`].
    pub fn add(&mut self, _chunks: &[LexicalChunk<'_>]) -> Result<()> {
        todo!()
    }
    /// Removes chunks by id. Visible after [`Lexical::commit`].
    pub fn remove(&mut self, _ids: &[u64]) -> Result<()> {
        todo!()
    }
    /// Publishes everything added and removed, stamped with the store's generation.
    pub fn commit(&mut self, _generation: u64) -> Result<()> {
        todo!()
    }
    /// Empties the index (before a rebuild).
    pub fn clear(&mut self) -> Result<()> {
        todo!()
    }
    /// Looks for a commit by another process; true if the snapshot changed.
    pub fn refresh(&mut self) -> Result<bool> {
        todo!()
    }
    /// Chunks a search sees.
    pub fn len(&self) -> usize {
        todo!()
    }
    /// No chunks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// One pass for the distinct `terms`, over chunks whose source is in `sources` (bit `1 << source`).
    pub fn pass(&self, _terms: &[String], _sources: u8) -> Result<Box<dyn LexicalPass + '_>> {
        todo!()
    }
}
