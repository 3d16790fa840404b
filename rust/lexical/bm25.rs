//! The score: BM25 over every chunk that holds a term, exactly, from tantivy's postings.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), in the form Lucene and tantivy
//! use, without the constant factor `k1 + 1`:
//!
//! ```text
//! score = Σ idf · tf / (tf + k1 · (1 − b + b · length / average length))
//! idf   = ln(1 + (N − df + 0.5) / (df + 0.5))
//! ```
//!
//! `tf` counts a term in the text, the headings above it and the path, each with its weight (BM25F). `length` counts the
//! terms of the text, rounded as tantivy stores it. N, df and the average are those of the live chunks, so that what was
//! deleted yesterday does not bend today's scores. Terms are taken one at a time into one number per chunk, which gives
//! the score of every chunk and not only of the best.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tantivy::Term;
use tantivy::fastfield::AliveBitSet;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{SegmentId, SegmentReader};
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};

use super::fields::{PIECE_MARK, unpack};
use super::{Facts, Fields, LexicalHit, LexicalPass};
use crate::error::Result;

/// How soon further occurrences of a term stop counting.
const K1: f32 = 1.2;
/// How much the length of a text counts.
const B: f32 = 0.75;
/// C: what a note that holds every word of the query as a word gains (see docs/decisions on coverage).
pub(super) const COVERAGE: f32 = 0.5;
/// What an occurrence inside an identifier counts: `index` in `retry_index` is a weaker sign than the word itself.
pub(super) const PIECE_WEIGHT: f32 = 0.5;
/// What an occurrence in a heading above the text counts.
pub(super) const CONTEXT_WEIGHT: f32 = 1.0;
/// What an occurrence in the note's path counts.
pub(super) const PATH_WEIGHT: f32 = 0.5;

/// What does not change in a segment: one entry for every chunk.
struct Columns {
    ids: Vec<u64>,
    facts: Vec<Facts>,
    /// What chunks of one note have in common.
    notes: Vec<u64>,
    /// tantivy's code of the text's length.
    lengths: Vec<u8>,
    /// Places by ascending id.
    order: Vec<u32>,
}

impl Columns {
    fn read(reader: &SegmentReader, fields: Fields) -> tantivy::Result<Self> {
        let chunks = reader.max_doc();
        let mut ids = vec![0; chunks as usize];
        reader.fast_fields().u64(Fields::ID)?.first_or_default_col(0).get_range(0, &mut ids);
        let mut facts = vec![0; chunks as usize];
        reader.fast_fields().u64(Fields::FACTS)?.first_or_default_col(0).get_range(0, &mut facts);
        let mut notes = vec![0; chunks as usize];
        reader.fast_fields().u64(Fields::NOTE)?.first_or_default_col(0).get_range(0, &mut notes);
        let lengths = reader.get_fieldnorms_reader(fields.text)?;
        let mut order: Vec<u32> = (0..chunks).collect();
        order.sort_unstable_by_key(|&place| ids[place as usize]);
        Ok(Self {
            ids,
            facts: facts.into_iter().map(unpack).collect(),
            notes,
            lengths: (0..chunks).map(|place| lengths.fieldnorm_id(place)).collect(),
            order,
        })
    }

    fn place(&self, id: u64) -> Option<u32> {
        let found = self.order.binary_search_by_key(&id, |&place| self.ids[place as usize]).ok()?;
        Some(self.order[found])
    }
}

struct Segment {
    reader: SegmentReader,
    columns: Arc<Columns>,
    /// Where its chunks begin in the row of all scores.
    base: u32,
}

impl Segment {
    /// The place after its last chunk in the row of all scores.
    fn end(&self) -> u32 {
        self.base + self.reader.max_doc()
    }

    fn is_live(&self, place: u32) -> bool {
        self.reader.alive_bitset().is_none_or(|live| live.is_alive(place))
    }
}

/// One commit as a search sees it.
pub(super) struct Snapshot {
    segments: Vec<Segment>,
    fields: Fields,
    /// Chunks that are not deleted.
    live: usize,
    /// All chunks, deleted ones too.
    all: usize,
    /// The note of every chunk, counted from 0.
    notes: Vec<u32>,
    /// Notes, deleted ones too.
    note_count: usize,
    /// `k1 · (1 − b + b · length / average)` for each of tantivy's 256 lengths.
    norms: [f32; 256],
    spare: Mutex<Vec<Rows>>,
}

/// Memory for one pass, reused.
#[derive(Default)]
struct Rows {
    /// The score of every chunk.
    scores: Vec<f32>,
    /// The terms that every note holds as words, a bit for each.
    held: Vec<u128>,
    /// The chunks with one term, segment by segment.
    found: Vec<Found>,
    /// Room for merging.
    merged: Found,
}

/// The chunks of a segment that hold a term, ascending, and its weighted count in each.
#[derive(Default)]
struct Found {
    places: Vec<u32>,
    counts: Vec<f32>,
}

impl Snapshot {
    /// The segments of a commit; what `before` has read already is taken over.
    pub(super) fn new(
        readers: Vec<SegmentReader>,
        fields: Fields,
        before: Option<&Self>,
    ) -> tantivy::Result<Self> {
        let known: FxHashMap<SegmentId, &Arc<Columns>> = before
            .iter()
            .flat_map(|before| &before.segments)
            .map(|segment| (segment.reader.segment_id(), &segment.columns))
            .collect();
        let mut segments = Vec::new();
        let (mut all, mut live, mut length) = (0, 0, 0);
        for reader in readers {
            let columns = match known.get(&reader.segment_id()) {
                Some(&columns) => Arc::clone(columns),
                None => Arc::new(Columns::read(&reader, fields)?),
            };
            let segment = Segment { reader, columns, base: all };
            length += (0..segment.reader.max_doc())
                .filter(|&place| segment.is_live(place))
                .map(|place| {
                    u64::from(FieldNormReader::id_to_fieldnorm(segment.columns.lengths[place as usize]))
                })
                .sum::<u64>();
            all = segment.end();
            live += segment.reader.num_docs() as usize;
            segments.push(segment);
        }
        let average = (length as f32 / live.max(1) as f32).max(1.0);
        let norms = std::array::from_fn(|code| {
            K1 * (1.0 - B + B * FieldNormReader::id_to_fieldnorm(code as u8) as f32 / average)
        });
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        let mut notes = Vec::with_capacity(all as usize);
        for key in segments.iter().flat_map(|segment: &Segment| &segment.columns.notes) {
            let next = places.len() as u32;
            notes.push(*places.entry(*key).or_insert(next));
        }
        let note_count = places.len();
        Ok(Self {
            segments,
            fields,
            live,
            all: all as usize,
            notes,
            note_count,
            norms,
            spare: Mutex::default(),
        })
    }

    /// The note's key and the facts of a live chunk.
    pub(super) fn facts(&self, id: u64) -> Option<(u64, Facts)> {
        self.segments.iter().find_map(|segment| {
            let place = segment.columns.place(id).filter(|&place| segment.is_live(place))?;
            Some((segment.columns.notes[place as usize], segment.columns.facts[place as usize]))
        })
    }

    /// Scores every chunk for `terms`.
    pub(super) fn pass(&self, terms: &[(String, f32)], sources: u8) -> tantivy::Result<Pass<'_>> {
        let mut rows = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        rows.scores.clear();
        rows.scores.resize(self.all, 0.0);
        rows.held.clear();
        rows.held.resize(self.note_count, 0);
        rows.found.resize_with(self.segments.len(), Found::default);
        let mut pass = Pass { snapshot: self, rows, sources, ceiling: 0.0 };
        // What occurs nowhere can be held by nobody.
        let mut weights = Vec::with_capacity(terms.len());
        for (number, (term, weight)) in terms.iter().enumerate() {
            let bit = 1_u128.checked_shl(number as u32).unwrap_or(0);
            let (idf, found) = self.score(term, *weight, bit, &mut pass.rows)?;
            pass.ceiling += idf;
            weights.push(if found { idf } else { 0.0 });
        }
        self.weigh_by_coverage(&weights, &mut pass.rows);
        Ok(pass)
    }

    /// Adds the scores of one term and returns its weighted IDF and whether any chunk holds it.
    fn score(&self, term: &str, weight: f32, bit: u128, rows: &mut Rows) -> tantivy::Result<(f32, bool)> {
        let Rows { scores, held, found, merged } = rows;
        let piece = format!("{PIECE_MARK}{term}");
        for (segment, found) in self.segments.iter().zip(found.iter_mut()) {
            found.places.clear();
            found.counts.clear();
            for (field, term, counts) in [
                (self.fields.text, term, 1.0),
                (self.fields.text, &piece, PIECE_WEIGHT),
                (self.fields.context, term, CONTEXT_WEIGHT),
                (self.fields.path, term, PATH_WEIGHT),
            ] {
                if let Some(postings) = segment.postings(field, term)? {
                    found.add(postings, counts, segment.reader.alive_bitset(), merged);
                }
            }
        }
        let holding = found.iter().map(|found| found.places.len()).sum();
        let idf = weight * idf(self.live, holding);
        for (segment, found) in self.segments.iter().zip(found) {
            let lengths = &segment.columns.lengths[..];
            let scores = &mut scores[segment.base as usize..][..lengths.len()];
            let notes = &self.notes[segment.base as usize..][..lengths.len()];
            for (&place, &count) in found.places.iter().zip(&found.counts) {
                let norm = self.norms[lengths[place as usize] as usize];
                scores[place as usize] += idf * count / (count + norm);
                if count >= 1.0 {
                    held[notes[place as usize] as usize] |= bit;
                }
            }
        }
        Ok((idf, holding > 0))
    }

    /// Adds what a note has of the query: `score · (1 + C · covered⁴)`, where `covered` is the share of the
    /// IDFs of the terms that the chunk's note holds as words.
    ///
    /// BM25 alone puts a chunk that repeats three of four words above one whose note holds all four. The fourth power
    /// leaves notes with a part of the words among themselves as they were.
    fn weigh_by_coverage(&self, weights: &[f32], rows: &mut Rows) {
        let known: f32 = weights.iter().sum();
        if known <= 0.0 {
            return;
        }
        let factors: Vec<f32> = rows
            .held
            .iter()
            .map(|&held| {
                let (mut bits, mut covered) = (held, 0.0);
                while bits != 0 {
                    covered += weights[bits.trailing_zeros() as usize];
                    bits &= bits - 1;
                }
                1.0 + COVERAGE * (covered / known).powi(4)
            })
            .collect();
        for (score, &note) in rows.scores.iter_mut().zip(&self.notes) {
            *score *= factors[note as usize];
        }
    }
}

impl Found {
    /// Adds the live chunks of a field's postings.
    fn add(
        &mut self,
        mut postings: BlockSegmentPostings,
        weight: f32,
        live: Option<&AliveBitSet>,
        merged: &mut Self,
    ) {
        let (places, counts) = (&mut merged.places, &mut merged.counts);
        places.clear();
        counts.clear();
        while postings.block_len() > 0 {
            match live {
                None => {
                    places.extend_from_slice(postings.docs());
                    counts.extend(postings.freqs().iter().map(|&frequency| weight * frequency as f32));
                }
                Some(live) => {
                    for (&place, &frequency) in postings.docs().iter().zip(postings.freqs()) {
                        if live.is_alive(place) {
                            places.push(place);
                            counts.push(weight * frequency as f32);
                        }
                    }
                }
            }
            postings.advance();
        }
        if !self.places.is_empty() {
            *merged = self.union(merged);
        }
        std::mem::swap(self, merged);
    }

    /// The chunks of either side with the sum of their counts.
    fn union(&self, other: &Self) -> Self {
        let mut both = Self::default();
        let mut others = other.places.iter().zip(&other.counts).peekable();
        let mut push = |place: u32, count: f32| {
            both.places.push(place);
            both.counts.push(count);
        };
        for (&place, &count) in self.places.iter().zip(&self.counts) {
            while let Some((&before, &count)) = others.next_if(|&(&next, _)| next < place) {
                push(before, count);
            }
            let more = others.next_if(|&(&next, _)| next == place).map_or(0.0, |(_, &count)| count);
            push(place, count + more);
        }
        others.for_each(|(&place, &count)| push(place, count));
        both
    }
}

impl Segment {
    fn postings(&self, field: Field, term: &str) -> tantivy::Result<Option<BlockSegmentPostings>> {
        let index = self.reader.inverted_index(field)?;
        Ok(index.read_block_postings(&Term::from_field_text(field, term), IndexRecordOption::WithFreqs)?)
    }
}

/// `ln(1 + (N − df + 0.5) / (df + 0.5))`, above 0.
fn idf(chunks: usize, holding: usize) -> f32 {
    let (chunks, holding) = (chunks as f64, holding as f64);
    (1.0 + (chunks - holding + 0.5) / (holding + 0.5)).ln() as f32
}

/// A pass over an index without chunks.
pub(super) struct Nothing {
    terms: usize,
}

impl Nothing {
    pub(super) fn new(terms: usize) -> Self {
        Self { terms }
    }
}

impl LexicalPass for Nothing {
    fn top(&mut self, _: usize) -> Vec<LexicalHit> {
        Vec::new()
    }

    fn scores(&mut self, ids: &[u64]) -> Result<Vec<f32>> {
        Ok(vec![0.0; ids.len()])
    }

    fn ceiling(&self) -> f32 {
        self.terms as f32 * idf(0, 0)
    }
}

/// A finished pass.
pub(super) struct Pass<'a> {
    snapshot: &'a Snapshot,
    rows: Rows,
    sources: u8,
    ceiling: f32,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        self.snapshot.spare.lock().unwrap_or_else(PoisonError::into_inner).push(rows);
    }
}

impl LexicalPass for Pass<'_> {
    fn top(&mut self, limit: usize) -> Vec<LexicalHit> {
        let mut best = Best { limit, threshold: 0.0, hits: Vec::new() };
        for segment in &self.snapshot.segments {
            let columns = &segment.columns;
            let scores = &self.rows.scores[segment.base as usize..][..columns.ids.len()];
            for (place, &bm25) in scores.iter().enumerate() {
                if bm25 > 0.0
                    && bm25 >= best.threshold
                    && self.sources.checked_shr(columns.facts[place].source.into()).unwrap_or(0) & 1 == 1
                {
                    best.offer(LexicalHit { id: columns.ids[place], bm25 });
                }
            }
        }
        best.finish()
    }

    fn scores(&mut self, ids: &[u64]) -> Result<Vec<f32>> {
        let score = |&id: &u64| {
            // An id is written once, but a deleted chunk may still lie in another segment.
            let places = self
                .snapshot
                .segments
                .iter()
                .filter_map(|segment| Some((segment, segment.columns.place(id)?)));
            places
                .map(|(segment, place)| self.rows.scores[(segment.base + place) as usize])
                .fold(0.0, f32::max)
        };
        Ok(ids.iter().map(score).collect())
    }

    fn ceiling(&self) -> f32 {
        self.ceiling
    }
}

/// The best hits so far, a few more than asked for, so that sorting them out is rare.
struct Best {
    limit: usize,
    /// The score of the last one kept when they were sorted out.
    threshold: f32,
    hits: Vec<LexicalHit>,
}

impl Best {
    fn offer(&mut self, hit: LexicalHit) {
        self.hits.push(hit);
        if self.hits.len() >= self.limit.saturating_mul(2).max(64) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.hits.len() > self.limit {
            if self.limit > 0 {
                let (_, last, _) = self.hits.select_nth_unstable_by(self.limit - 1, better);
                self.threshold = last.bm25;
            }
            self.hits.truncate(self.limit);
        }
    }

    fn finish(mut self) -> Vec<LexicalHit> {
        self.cut();
        self.hits.sort_unstable_by(better);
        self.hits
    }
}

/// Higher scores first, then lower ids.
fn better(one: &LexicalHit, other: &LexicalHit) -> std::cmp::Ordering {
    other.bm25.total_cmp(&one.bm25).then(one.id.cmp(&other.id))
}
