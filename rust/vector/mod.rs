//! Nearest vectors by cosine.

use crate::error::Result;

pub mod exact;
pub mod vec0;

/// A chunk the vector side proposes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorHit {
    /// Chunk id.
    pub id: u64,
    /// Cosine, -1..1.
    pub cosine: f32,
}

/// How the cosines of all chunks to one query are spread; what a single cosine means depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Mean cosine over all chunks.
    pub mean: f32,
    /// Standard deviation, 0 for fewer than two chunks.
    pub deviation: f32,
}

/// The exact vectors, wherever they are kept (the store).
pub trait Vectors {
    /// Calls `sink(position, packed little-endian f32)` for every id that has a vector, position counted in `ids`.
    fn vectors(&self, ids: &[u64], sink: &mut dyn FnMut(usize, &[u8])) -> Result<()>;
}

/// Any engine: exact scan, `vec0`, one day usearch. All give the same answer up to recall.
pub trait VectorIndex: Send {
    /// The `limit` nearest chunks that `keep` accepts, best first, ties by id, cosines exact; and the spread over all chunks.
    fn nearest(
        &self,
        query: &[f32],
        limit: usize,
        keep: &dyn Fn(u64) -> bool,
        exact: &dyn Vectors,
    ) -> Result<(Vec<VectorHit>, Spread)>;
    /// Adds or replaces chunks' vectors.
    fn add(&mut self, ids: &[u64], vectors: &[f32]) -> Result<()>;
    /// Removes chunks; unknown ids are no error.
    fn remove(&mut self, ids: &[u64]) -> Result<()>;
    /// Vectors held.
    fn len(&self) -> usize;
    /// No vectors.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Length of a vector.
    fn dims(&self) -> usize;
}
