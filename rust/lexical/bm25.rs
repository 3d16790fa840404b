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

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tantivy::Term;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{SegmentId, SegmentReader};
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};

use super::fields::{PIECE_MARK, unpack};
use super::overlay::{Bits, Overlay};
use super::vocabulary::{CONTEXT, PATH, PIECE, Spot, Vocabulary};
use super::words::{self, Table};
use super::{Facts, Fields, LexicalHit, LexicalPass};
use crate::error::Result;
use crate::text::{QueryTerm, characters, has_kin, is_ideographic};

/// How soon further occurrences of a term stop counting.
const K1: f32 = 1.2;
/// How much the length of a text counts.
const B: f32 = 0.8;
/// C: what a note that holds every word of the query as a word gains (see docs/decisions on coverage).
pub(super) const COVERAGE: f32 = 0.4;
/// What an occurrence inside an identifier counts: `index` in `retry_index` is a weaker sign than the word itself.
pub(super) const PIECE_WEIGHT: f32 = 0.5;
/// What an occurrence in a heading above the text counts.
pub(super) const CONTEXT_WEIGHT: f32 = 1.0;
/// What an occurrence in the note's path counts.
pub(super) const PATH_WEIGHT: f32 = 1.0;

/// What does not change in a segment: one entry for every chunk.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) ids: Vec<u64>,
    facts: Vec<Facts>,
    /// What chunks of one note have in common.
    notes: Vec<u64>,
    /// tantivy's code of the text's length.
    pub(super) lengths: Vec<u8>,
    /// Places by ascending id.
    order: Vec<u32>,
}

impl Columns {
    fn read(reader: &SegmentReader, fields: Fields) -> tantivy::Result<Self> {
        let chunks = reader.max_doc();
        let column = |name| -> tantivy::Result<Vec<u64>> {
            let mut values = vec![0; chunks as usize];
            reader.fast_fields().u64(name)?.first_or_default_col(0).get_range(0, &mut values);
            Ok(values)
        };
        let ids = column(Fields::ID)?;
        let lengths = reader.get_fieldnorms_reader(fields.text)?;
        let mut order: Vec<u32> = (0..chunks).collect();
        order.sort_unstable_by_key(|&place| ids[place as usize]);
        Ok(Self {
            facts: column(Fields::FACTS)?.into_iter().map(unpack).collect(),
            notes: column(Fields::NOTE)?,
            lengths: (0..chunks).map(|place| lengths.fieldnorm_id(place)).collect(),
            ids,
            order,
        })
    }

    /// Adds a chunk whose id is above all others.
    pub(super) fn push(&mut self, id: u64, note: u64, facts: Facts, length: u8) {
        self.order.push(self.ids.len() as u32);
        self.ids.push(id);
        self.notes.push(note);
        self.facts.push(facts);
        self.lengths.push(length);
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
    /// Terms of their texts.
    length: u64,
    /// All chunks, deleted ones too.
    all: usize,
    /// tantivy's code of the length of every chunk.
    lengths: Vec<u8>,
    /// The note of every chunk, counted from 0.
    notes: Vec<u32>,
    /// Notes, deleted ones too.
    note_count: usize,
    vocabulary: Vocabulary,
    spare: Mutex<Vec<Rows>>,
}

/// Memory for one pass, reused.
#[derive(Default)]
struct Rows {
    /// The score of every chunk, before coverage.
    scores: Vec<f32>,
    /// What every note has of the query: the sum of the IDFs of its words, each times the kinship of the word it holds.
    covered: Vec<f32>,
    /// How often every chunk holds the word at hand, weighted; 0 between words.
    counts: Vec<f32>,
    /// The chunks where that is above 0.
    touched: Vec<u32>,
    /// What every chunk has of the term at hand, 0..1; 0 between terms.
    shares: Vec<f32>,
    /// The chunks where that is above 0.
    holding: Vec<u32>,
    /// The nearest kin of the term at hand that every note holds; 0 between terms.
    nearest: Vec<f32>,
    /// Whether every chunk holds a term, or a form of one.
    has_word: Vec<bool>,
    /// For finding words that may stand for a term.
    room: words::Room,
}

/// Chunks that are searched together: a segment and which of its chunks went since, or all that came since.
#[derive(Clone, Copy)]
enum Part<'a> {
    Disk(&'a Segment, &'a Bits),
    Memory(&'a Overlay, u32),
}

impl<'a> Part<'a> {
    fn columns(self) -> &'a Columns {
        match self {
            Self::Disk(segment, _) => &segment.columns,
            Self::Memory(overlay, _) => &overlay.columns,
        }
    }

    /// Where its chunks begin in the row of all scores.
    fn base(self) -> u32 {
        match self {
            Self::Disk(segment, _) => segment.base,
            Self::Memory(_, base) => base,
        }
    }

    fn is_live(self, place: u32) -> bool {
        match self {
            Self::Disk(segment, removed) => segment.is_live(place) && !removed.has(place),
            Self::Memory(overlay, _) => !overlay.gone.has(place),
        }
    }
}

/// What the occurrences of one word are added to.
struct Sink<'a> {
    counts: &'a mut [f32],
    touched: &'a mut Vec<u32>,
    /// What an occurrence counts.
    weight: f32,
}

impl Sink<'_> {
    #[inline]
    fn add(&mut self, place: u32, count: u32) {
        let sum = &mut self.counts[place as usize];
        if *sum == 0.0 {
            self.touched.push(place);
        }
        *sum += self.weight * count as f32;
    }

    /// Adds the live chunks of postings.
    fn segment(&mut self, segment: &Segment, removed: &Bits, mut postings: BlockSegmentPostings) {
        let whole = segment.reader.alive_bitset().is_none() && removed.is_empty();
        while postings.block_len() > 0 {
            for (&place, &count) in postings.docs().iter().zip(postings.freqs()) {
                if whole || segment.is_live(place) && !removed.has(place) {
                    self.add(segment.base + place, count);
                }
            }
            postings.advance();
        }
    }
}

/// What a gram of a script without spaces counts: it is a part of a word.
const GRAM_WEIGHT: f32 = 0.6;

/// What an occurrence counts in each kind of field ([`Entry::kind`]).
const KINDS: [f32; 4] = {
    let mut kinds = [1.0; 4];
    kinds[PIECE as usize] = PIECE_WEIGHT;
    kinds[CONTEXT as usize] = CONTEXT_WEIGHT;
    kinds[PATH as usize] = PATH_WEIGHT;
    kinds
};

impl Snapshot {
    /// The segments of a commit; what `before` has read already is taken over.
    pub(super) fn new(
        folder: &Path,
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
            all += segment.reader.max_doc();
            live += segment.reader.num_docs() as usize;
            segments.push(segment);
        }
        let lengths =
            segments.iter().flat_map(|segment: &Segment| &segment.columns.lengths).copied().collect();
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        let mut notes = Vec::with_capacity(all as usize);
        for key in segments.iter().flat_map(|segment: &Segment| &segment.columns.notes) {
            let next = places.len() as u32;
            notes.push(*places.entry(*key).or_insert(next));
        }
        let note_count = places.len();
        let readers: Vec<&SegmentReader> = segments.iter().map(|segment| &segment.reader).collect();
        let before = before.map(|before| &before.vocabulary);
        let vocabulary = Vocabulary::new(folder, &readers, fields, live, before)?;
        let (all, spare) = (all as usize, Mutex::default());
        Ok(Self { segments, fields, live, length, all, lengths, notes, note_count, vocabulary, spare })
    }

    /// No changes yet.
    pub(super) fn overlay(&self) -> Overlay {
        Overlay::new(self.segments.len(), self.note_count)
    }

    /// Takes a chunk out of what later passes find.
    pub(super) fn remove(&self, id: u64, overlay: &mut Overlay) {
        if let Some(place) = overlay.columns.place(id)
            && overlay.gone.set(place)
        {
            overlay.forget(overlay.columns.lengths[place as usize]);
        }
        for (number, segment) in self.segments.iter().enumerate() {
            if let Some(place) = segment.columns.place(id).filter(|&place| segment.is_live(place))
                && overlay.removed[number].set(place)
            {
                overlay.forget(segment.columns.lengths[place as usize]);
            }
        }
    }

    /// The note's key and the facts of a live chunk.
    pub(super) fn facts(&self, id: u64, overlay: &Overlay) -> Option<(u64, Facts)> {
        self.parts(overlay).find_map(|part| {
            let columns = part.columns();
            let place = columns.place(id).filter(|&place| part.is_live(place))? as usize;
            Some((columns.notes[place], columns.facts[place]))
        })
    }

    fn parts<'a>(&'a self, overlay: &'a Overlay) -> impl Iterator<Item = Part<'a>> {
        let disk = self.segments.iter().zip(&overlay.removed);
        let disk = disk.map(|(segment, removed)| Part::Disk(segment, removed));
        let memory = (!overlay.notes.is_empty()).then_some(Part::Memory(overlay, self.all as u32));
        disk.chain(memory)
    }

    /// Scores every chunk for `terms`.
    pub(super) fn pass<'a>(
        &'a self,
        overlay: &'a Overlay,
        terms: &[QueryTerm],
        sources: u8,
    ) -> tantivy::Result<Pass<'a>> {
        let mut rows = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let parts: Vec<Part<'a>> = self.parts(overlay).collect();
        let all = self.all + overlay.notes.len();
        rows.scores.clear();
        rows.scores.resize(all, 0.0);
        rows.covered.clear();
        rows.covered.resize(overlay.note_count, 0.0);
        rows.nearest.resize(overlay.note_count, 0.0);
        rows.counts.resize(all, 0.0);
        rows.shares.resize(all, 0.0);
        rows.has_word.clear();
        rows.has_word.resize(all, false);
        let (live, length) = (self.live as i64 + overlay.live, self.length as i64 + overlay.length);
        let average = (length as f32 / live.max(1) as f32).max(1.0);
        let norms = std::array::from_fn(|code| {
            K1 * (1.0 - B + B * FieldNormReader::id_to_fieldnorm(code as u8) as f32 / average)
        });
        let corpus = Corpus { live: live.max(0) as usize, norms };
        let (ceiling, known, words) = (0.0, 0.0, Vec::new());
        let mut pass = Pass { snapshot: self, overlay, parts, rows, sources, ceiling, known, words };
        for term in terms {
            pass.score(&corpus, term)?;
            pass.words.push(term.text.clone());
        }
        for term in characters(terms) {
            pass.score(&corpus, &term)?;
        }
        Ok(pass)
    }

    /// The note of a chunk.
    fn note(&self, overlay: &Overlay, place: u32) -> u32 {
        let place = place as usize;
        if place < self.all { self.notes[place] } else { overlay.notes[place - self.all] }
    }

    /// Adds the occurrences of `term`, as dictionaries know it.
    fn add_term(&self, overlay: &Overlay, term: &str, sink: &mut Sink<'_>) -> tantivy::Result<()> {
        let piece = format!("{PIECE_MARK}{term}");
        let share = sink.weight;
        for (kind, weight) in KINDS.into_iter().enumerate() {
            sink.weight = share * weight;
            let field = self.field(kind as u8);
            let term = Term::from_field_text(field, if kind as u8 == PIECE { &piece } else { term });
            for (segment, removed) in self.segments.iter().zip(&overlay.removed) {
                let index = segment.reader.inverted_index(field)?;
                if let Some(postings) = index.read_block_postings(&term, IndexRecordOption::WithFreqs)? {
                    sink.segment(segment, removed, postings);
                }
            }
        }
        sink.weight = share;
        self.add_followed(overlay, term, sink);
        Ok(())
    }

    /// Adds the occurrences of a word of the vocabulary.
    fn add_word(&self, overlay: &Overlay, spot: Spot, sink: &mut Sink<'_>) -> tantivy::Result<()> {
        let share = sink.weight;
        let mut outcome = Ok(());
        self.vocabulary.each_place(spot, &mut |entry| {
            sink.weight = share * KINDS[entry.kind as usize];
            let number = entry.segment as usize;
            let segment = &self.segments[number];
            let read = || {
                let index = segment.reader.inverted_index(self.field(entry.kind))?;
                let start = entry.start as usize;
                let info = TermInfo {
                    doc_freq: entry.holding,
                    postings_range: start..start + entry.length as usize,
                    positions_range: 0..0,
                };
                Ok(index.read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?)
            };
            match read() {
                Ok(postings) => sink.segment(segment, &overlay.removed[number], postings),
                Err(error) => outcome = Err(error),
            }
        });
        sink.weight = share;
        outcome
    }

    /// Adds the occurrences of a word in chunks that came since the commit.
    fn add_followed(&self, overlay: &Overlay, word: &str, sink: &mut Sink<'_>) {
        if overlay.notes.is_empty() {
            return;
        }
        let share = sink.weight;
        for (kind, weight) in KINDS.into_iter().enumerate() {
            sink.weight = share * weight;
            for &(place, count) in overlay.postings(kind as u8, word) {
                if !overlay.gone.has(place) {
                    sink.add(self.all as u32 + place, count);
                }
            }
        }
        sink.weight = share;
    }

    fn field(&self, kind: u8) -> Field {
        let Fields { text, context, path, .. } = self.fields;
        [text, text, context, path][kind as usize]
    }
}

/// What the live chunks have in common.
struct Corpus {
    live: usize,
    /// `k1 · (1 − b + b · length / average)` for each of tantivy's 256 lengths.
    norms: [f32; 256],
}

/// `ln(1 + (N − df + 0.5) / (df + 0.5))`, above 0.
fn idf(chunks: usize, holding: f32) -> f32 {
    let (chunks, holding) = (chunks as f64, f64::from(holding));
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

    fn scores(&mut self, ids: &[u64]) -> Result<Vec<LexicalHit>> {
        Ok(ids.iter().map(|&id| LexicalHit { id, bm25: 0.0, held: false }).collect())
    }

    fn words(&self) -> &[String] {
        &[]
    }

    fn ceiling(&self) -> f32 {
        self.terms as f32 * idf(0, 0.0)
    }
}

/// A pass over one snapshot.
pub(super) struct Pass<'a> {
    snapshot: &'a Snapshot,
    overlay: &'a Overlay,
    parts: Vec<Part<'a>>,
    rows: Rows,
    sources: u8,
    ceiling: f32,
    /// The sum of the weighted IDFs of the terms that occur.
    known: f32,
    words: Vec<String>,
}

impl Pass<'_> {
    /// Adds the scores of one term and its kin.
    ///
    /// A chunk's share of a term is `1 − Π (1 − kinship · tf / (tf + norm))` over the words it holds that are the term or its
    /// kin: forms of one word add up to no more than the word itself can. A chunk that only holds kin counts in the
    /// document frequency as a part of one, `kinship⁴`.
    fn score(&mut self, corpus: &Corpus, term: &QueryTerm) -> tantivy::Result<()> {
        let (snapshot, overlay) = (self.snapshot, self.overlay);
        let tables: Vec<&Table> =
            snapshot.vocabulary.tables().chain(overlay.words(&snapshot.vocabulary)).collect();
        let kin = match term.identifier {
            true => Vec::new(),
            false => words::kin(&term.text, &tables, corpus.live, &mut self.rows.room),
        };
        let mut frequency = self.add(corpus, &term.text, 1.0)?;
        self.rows.holding.iter().for_each(|&place| self.rows.has_word[place as usize] = true);
        for kin in kin {
            let word = tables[kin.table].word(kin.word);
            let before = self.rows.holding.len();
            frequency += self.add(corpus, word, kin.kinship)?;
            if kin.kinship >= words::FORM {
                let Rows { holding, has_word, .. } = &mut self.rows;
                holding[before..].iter().for_each(|&place| has_word[place as usize] = true);
                self.words.push(word.to_owned());
            }
        }
        let gram = if is_ideographic(&term.text) { GRAM_WEIGHT } else { 1.0 };
        let idf = gram * term.weight * idf(corpus.live, frequency);
        self.ceiling += idf;
        if !self.rows.holding.is_empty() {
            self.known += idf;
        }
        let Rows { scores, covered, shares, holding, nearest, .. } = &mut self.rows;
        for place in holding.drain(..) {
            scores[place as usize] += idf * std::mem::take(&mut shares[place as usize]);
            let note = snapshot.note(overlay, place) as usize;
            covered[note] += idf * std::mem::take(&mut nearest[note]).powi(2);
        }
        Ok(())
    }

    /// Adds the occurrences of one word to the shares of the term at hand; how many chunks more hold it, each counted by its
    /// kinship. Words come by falling kinship.
    fn add(&mut self, corpus: &Corpus, word: &str, kinship: f32) -> tantivy::Result<f32> {
        let (snapshot, overlay) = (self.snapshot, self.overlay);
        let Rows { counts, touched, shares, holding, nearest, .. } = &mut self.rows;
        let mut sink = Sink { counts, touched, weight: 1.0 };
        if has_kin(word) {
            snapshot.add_word(overlay, snapshot.vocabulary.find(word), &mut sink)?;
            snapshot.add_followed(overlay, word, &mut sink);
        } else {
            snapshot.add_term(overlay, word, &mut sink)?;
        }
        let before = holding.len();
        for place in touched.drain(..) {
            let at = place as usize;
            let count = std::mem::take(&mut counts[at]);
            let length = match at.checked_sub(snapshot.all) {
                None => snapshot.lengths[at],
                Some(at) => overlay.columns.lengths[at],
            };
            let share = &mut shares[at];
            if *share == 0.0 {
                holding.push(place);
            }
            *share = 1.0 - (1.0 - *share) * (1.0 - kinship * count / (count + corpus.norms[length as usize]));
            if count >= 1.0 {
                let nearest = &mut nearest[snapshot.note(overlay, place) as usize];
                *nearest = nearest.max(kinship);
            }
        }
        Ok(kinship.powi(4) * (holding.len() - before) as f32)
    }

    /// What a chunk's score is multiplied by for what its note has of the query: `1 + C · covered⁴`, where `covered` is the
    /// share of the IDFs of the terms that the note holds as words, or as kin of words by their kinship.
    ///
    /// BM25 alone puts a chunk that repeats three of four words above one whose note holds all four. The fourth power
    /// leaves notes with a part of the words among themselves as they were.
    fn coverage(&self, note: u32) -> f32 {
        if self.known <= 0.0 {
            return 1.0;
        }
        1.0 + COVERAGE * (self.rows.covered[note as usize] / self.known).min(1.0).powi(4)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        self.snapshot.spare.lock().unwrap_or_else(PoisonError::into_inner).push(rows);
    }
}

/// Chunks whose scores are looked at together.
const BLOCK: usize = 16;

impl LexicalPass for Pass<'_> {
    fn top(&mut self, limit: usize) -> Vec<LexicalHit> {
        let mut best = Best { limit, threshold: 0.0, hits: Vec::new() };
        for part in &self.parts {
            let columns = part.columns();
            let scores = &self.rows.scores[part.base() as usize..][..columns.ids.len()];
            for (block, scores) in scores.chunks(BLOCK).enumerate() {
                // Coverage lifts a score by half at most (and rounding by less than a thousandth), so most blocks are passed
                // over unweighed.
                let least = (best.threshold / (1.001 + COVERAGE)).max(f32::MIN_POSITIVE);
                if !scores.iter().fold(false, |any, &score| any | (score >= least)) {
                    continue;
                }
                for (place, &score) in (block * BLOCK..).zip(scores) {
                    if score < least {
                        continue;
                    }
                    let note = self.snapshot.note(self.overlay, part.base() + place as u32);
                    let bm25 = score * self.coverage(note);
                    if bm25 >= best.threshold
                        && self.sources.checked_shr(columns.facts[place].source.into()).unwrap_or(0) & 1 == 1
                    {
                        let held = self.rows.has_word[part.base() as usize + place];
                        best.offer(LexicalHit { id: columns.ids[place], bm25, held });
                    }
                }
            }
        }
        best.finish()
    }

    fn scores(&mut self, ids: &[u64]) -> Result<Vec<LexicalHit>> {
        let score = |&id: &u64| {
            // An id is written once, but a deleted chunk, which has no score, may still lie in another segment.
            let places = self.parts.iter().filter_map(|part| Some(part.base() + part.columns().place(id)?));
            let mut hit = LexicalHit { id, bm25: 0.0, held: false };
            for place in places {
                let score = self.rows.scores[place as usize];
                if score > 0.0 {
                    hit.bm25 = score * self.coverage(self.snapshot.note(self.overlay, place));
                    hit.held = self.rows.has_word[place as usize];
                }
            }
            hit
        };
        Ok(ids.iter().map(score).collect())
    }

    fn words(&self) -> &[String] {
        &self.words
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
