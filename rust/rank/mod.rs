//! The ranking as one function: merge, decay, importance, file names, diversity, threshold.
//!
//! Knows nothing of where candidates come from. Deterministic: equal candidates in any order give the same list, and for
//! every n the first n of a longer list are the list of n.

pub mod decay;
pub mod hybrid;
pub mod mmr;

use crate::error::Result;

/// How a query names a file; a better match goes first whatever the text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PathMatch {
    /// The query is no file name.
    #[default]
    None,
    /// The query is the file's stem.
    Stem,
    /// The query is the file's name.
    Name,
    /// The query is the whole path.
    Path,
}

/// A chunk that a retriever proposed, with the exact signals of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Chunk id.
    pub id: u64,
    /// The note's path (ties are broken by path, then first line, then id).
    pub path: String,
    /// First line of the chunk.
    pub first_line: usize,
    /// Raw BM25, 0 without any query word.
    pub bm25: f32,
    /// Place in the lexical list, from 1.
    pub lexical_rank: Option<usize>,
    /// Cosine; `None` when the chunk has no vector or no query vector was given.
    pub cosine: Option<f32>,
    /// Place in the vector list, from 1.
    pub vector_rank: Option<usize>,
    /// Age in whole days, negative for the future; `None` = evergreen.
    pub age_days: Option<i64>,
    /// 1..=10.
    pub importance: Option<u8>,
    /// How the query names its file.
    pub path_match: PathMatch,
}

/// How the two scores become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fusion {
    /// Both scores on an absolute scale that means the same for every query (`eval.md` 3.3, "abs").
    #[default]
    Absolute,
    /// The seeds' formula, for comparison: `vectorWeight * cosine + textWeight / (1 + max(0, rank))`.
    WeightedRank,
}

/// Everything the ranking depends on besides the candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct RankOptions {
    /// The rule of merging.
    pub fusion: Fusion,
    /// Share of the vector score; the two weights are normalised to sum 1.
    pub vector_weight: f32,
    /// Share of the text score.
    pub text_weight: f32,
    /// BM25 of a chunk that holds every query term at saturation (`LexicalPass::ceiling`).
    pub bm25_ceiling: f32,
    /// Spread of the cosines of all chunks to this query.
    pub spread: crate::vector::Spread,
    /// A query vector was given: scores are hybrid, else the text score alone counts.
    pub vectors: bool,
    /// Fading with age.
    pub decay: decay::Decay,
    /// λ of MMR; `None` = off.
    pub mmr_lambda: Option<f32>,
    /// Hits below are left out, but for keyword hits that fill free places.
    pub min_score: f32,
}

/// The factors of one hit's score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Explanation {
    /// Raw BM25.
    pub bm25: f32,
    /// Cosine.
    pub cosine: Option<f32>,
    /// Place in the lexical list, from 1.
    pub lexical_rank: Option<usize>,
    /// Place in the vector list, from 1.
    pub vector_rank: Option<usize>,
    /// BM25 on the scale 0..1.
    pub text_score: f32,
    /// Cosine on the scale 0..1.
    pub vector_score: Option<f32>,
    /// Share of the text score.
    pub text_weight: f32,
    /// Share of the vector score.
    pub vector_weight: f32,
    /// The merged score, 0..1, before the factors.
    pub merged: f32,
    /// Factor of age.
    pub decay: f32,
    /// Factor of importance.
    pub importance: f32,
    /// How the query names the file.
    pub path_match: PathMatch,
    /// What MMR took off at the moment of choosing; 0 when off or first.
    pub mmr_penalty: f32,
}

/// A ranked chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Chunk id.
    pub id: u64,
    /// 0..1; may fall along the list only as far as MMR and file names reorder.
    pub score: f32,
    /// Below the threshold, kept because a query word stands in it.
    pub filler: bool,
    /// Why.
    pub explanation: Explanation,
}

/// Ranks one bounded pool of candidates. `words(id)` gives a chunk's `text::token_set`; it is asked only for chunks whose
/// place MMR cannot decide without (fetching a text is the dear part).
pub fn rank(
    _candidates: Vec<Candidate>,
    _options: &RankOptions,
    _words: &mut dyn FnMut(u64) -> Result<Vec<u64>>,
) -> Result<Vec<Ranked>> {
    todo!()
}

/// How `query` names the file at `path` (exact path, name or stem; case and accents folded).
pub fn path_match(_query: &str, _path: &str) -> PathMatch {
    todo!()
}
