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
//! the score of every chunk and not only of the best. A term is also held, to a part, by the words that look like it
//! (`words.rs`): [`Pass::score`] has the rule.

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
use super::vocabulary::{CONTEXT, PATH, PIECE, Spot, TEXT, Vocabulary};
use super::words::{self, Entry, Table};
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
    /// Bits of the sources of all chunks.
    sources: u8,
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
        let facts: Vec<Facts> = column(Fields::FACTS)?.into_iter().map(unpack).collect();
        Ok(Self {
            sources: facts.iter().fold(0, |sources, facts| sources | 1 << facts.source),
            facts,
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
        self.sources |= 1 << facts.source;
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

    /// Calls `sink` with the live places of postings, in the row of all scores, and the count at each.
    #[inline]
    fn each(&self, removed: &Bits, mut postings: BlockSegmentPostings, sink: &mut impl FnMut(u32, u32)) {
        let whole = self.reader.alive_bitset().is_none() && removed.is_empty();
        while postings.block_len() > 0 {
            for (&place, &count) in postings.docs().iter().zip(postings.freqs()) {
                if whole || self.is_live(place) && !removed.has(place) {
                    sink(self.base + place, count);
                }
            }
            postings.advance();
        }
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
    /// The number of the last term without kin that every note was found to hold.
    stamps: Vec<u32>,
    stamp: u32,
    /// The chunks that hold a term, or a form of one.
    has_word: Bits,
    /// For finding words that may stand for a term.
    room: words::Room,
}

/// Where the chunks that hold a term without kin are noted.
struct Held<'a> {
    idf: f32,
    scores: &'a mut [f32],
    counts: &'a mut [f32],
    has_word: &'a mut Bits,
    covered: &'a mut [f32],
    stamps: &'a mut [u32],
    stamp: u32,
    last: u32,
}

impl Rows {
    /// A new term with this IDF.
    fn held(&mut self, idf: f32) -> Held<'_> {
        if self.stamp == u32::MAX {
            self.stamps.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        let Self { scores, counts, has_word, covered, stamps, stamp, .. } = self;
        Held { idf, scores, counts, has_word, covered, stamps, stamp: *stamp, last: u32::MAX }
    }
}

impl Held<'_> {
    #[inline]
    fn add(&mut self, place: u32, count: f32, norm: f32, note: impl FnOnce() -> u32) {
        self.scores[place as usize] += self.idf * count / (count + norm);
        self.has_word.set(place);
        if count >= 1.0 {
            // Chunks of one note mostly follow each other.
            let note = note();
            if note != self.last {
                self.last = note;
                if self.stamps[note as usize] != self.stamp {
                    self.stamps[note as usize] = self.stamp;
                    self.covered[note as usize] += self.idf;
                }
            }
        }
    }
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
}

/// A word in more than this share of the chunks is not expanded: it says little, and its kin is as common. Where there are few
/// chunks it costs nothing to look at all of them.
const COMMON: f32 = 0.3;
const LEAST_COMMON: usize = 512;

/// So many chunks with kin of one term are looked at: this many, or this part of all.
const MOST_KIN_CHUNKS: usize = 4096;
const KIN_SHARE: usize = 8;

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

    /// The live chunks that `keep` accepts, by first line, then id.
    pub(super) fn first(
        &self,
        overlay: &Overlay,
        limit: usize,
        keep: &dyn Fn(u64, Facts) -> bool,
    ) -> Vec<u64> {
        let mut found: Vec<(u32, u64)> = Vec::new();
        for part in self.parts(overlay) {
            let columns = part.columns();
            for (place, &facts) in columns.facts.iter().enumerate() {
                if keep(columns.notes[place], facts) && part.is_live(place as u32) {
                    found.push((facts.first_line, columns.ids[place]));
                }
            }
        }
        found.sort_unstable();
        found.truncate(limit);
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// Bits of the sources of all chunks, removed ones too.
    pub(super) fn sources(&self, overlay: &Overlay) -> u8 {
        self.parts(overlay).fold(0, |sources, part| sources | part.columns().sources)
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
    pub(super) fn pass<'a>(&'a self, overlay: &'a Overlay, terms: &[QueryTerm]) -> tantivy::Result<Pass<'a>> {
        let mut rows = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let parts: Vec<Part<'a>> = self.parts(overlay).collect();
        let all = self.all + overlay.notes.len();
        rows.scores.clear();
        rows.scores.resize(all, 0.0);
        rows.covered.clear();
        rows.covered.resize(overlay.note_count, 0.0);
        rows.nearest.resize(overlay.note_count, 0.0);
        rows.stamps.resize(overlay.note_count, 0);
        rows.counts.resize(all, 0.0);
        rows.shares.resize(all, 0.0);
        rows.has_word.clear(all);
        let (live, length) = (self.live as i64 + overlay.live, self.length as i64 + overlay.length);
        let average = (length as f32 / live.max(1) as f32).max(1.0);
        let norms = std::array::from_fn(|code| {
            K1 * (1.0 - B + B * FieldNormReader::id_to_fieldnorm(code as u8) as f32 / average)
        });
        let corpus = Corpus { live: live.max(0) as usize, norms };
        let (ceiling, known, words) = (0.0, 0.0, Vec::new());
        let mut pass = Pass { snapshot: self, overlay, parts, rows, ceiling, known, words };
        match pass.score_all(&corpus, terms) {
            Ok(()) => Ok(pass),
            Err(error) => {
                // Half of a term is in them: no later pass may find it.
                pass.rows = Rows::default();
                Err(error)
            }
        }
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
                    segment.each(removed, postings, &mut |place, count| sink.add(place, count));
                }
            }
        }
        sink.weight = share;
        self.add_followed(overlay, term, sink);
        Ok(())
    }

    /// Adds the occurrences of a word of the vocabulary in fields of `kinds`.
    fn add_word(
        &self,
        overlay: &Overlay,
        spot: Spot,
        kinds: &dyn Fn(u8) -> bool,
        sink: &mut Sink<'_>,
    ) -> tantivy::Result<()> {
        let share = sink.weight;
        let mut outcome = Ok(());
        self.vocabulary.each_place(spot, &mut |entry| {
            if !kinds(entry.kind) {
                return;
            }
            sink.weight = share * KINDS[entry.kind as usize];
            let number = entry.segment as usize;
            match self.read(entry) {
                Ok(postings) => {
                    let add = &mut |place, count| sink.add(place, count);
                    self.segments[number].each(&overlay.removed[number], postings, add);
                }
                Err(error) => outcome = Err(error),
            }
        });
        sink.weight = share;
        outcome
    }

    fn read(&self, entry: Entry) -> tantivy::Result<BlockSegmentPostings> {
        let index = self.segments[entry.segment as usize].reader.inverted_index(self.field(entry.kind))?;
        let start = entry.start as usize;
        let info = TermInfo {
            doc_freq: entry.holding,
            postings_range: start..start + entry.length as usize,
            positions_range: 0..0,
        };
        Ok(index.read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?)
    }

    /// Whether all chunks of the segment that `entry` lies in are live.
    fn is_whole(&self, entry: Entry, overlay: &Overlay) -> bool {
        let number = entry.segment as usize;
        self.segments[number].reader.alive_bitset().is_none() && overlay.removed[number].is_empty()
    }

    /// Calls `sink` with the live places of a word's postings and its count there.
    fn each_posting(
        &self,
        entry: Entry,
        overlay: &Overlay,
        sink: &mut impl FnMut(u32, u32),
    ) -> tantivy::Result<()> {
        let number = entry.segment as usize;
        self.segments[number].each(&overlay.removed[number], self.read(entry)?, sink);
        Ok(())
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

impl Corpus {
    /// Whether so many chunks with a word make it one that is not expanded.
    fn is_common(&self, holding: usize) -> bool {
        holding >= LEAST_COMMON && holding as f32 > COMMON * self.live as f32
    }

    #[inline]
    fn norm(&self, snapshot: &Snapshot, overlay: &Overlay, place: usize) -> f32 {
        let length = match place.checked_sub(snapshot.all) {
            None => snapshot.lengths[place],
            Some(place) => overlay.columns.lengths[place],
        };
        self.norms[length as usize]
    }
}

/// `ln(1 + (N − df + 0.5) / (df + 0.5))`, above 0 as long as no more hold it than there are.
pub(super) fn idf(chunks: usize, holding: f64) -> f32 {
    (1.0 + (chunks as f64 - holding + 0.5) / (holding + 0.5)).ln() as f32
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
    fn top(&mut self, _: usize, _: &dyn Fn(u64, Facts) -> bool) -> Vec<LexicalHit> {
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
    ceiling: f32,
    /// The sum of the weighted IDFs of the terms that occur.
    known: f32,
    words: Vec<String>,
}

impl Pass<'_> {
    fn score_all(&mut self, corpus: &Corpus, terms: &[QueryTerm]) -> tantivy::Result<()> {
        for term in terms {
            self.words.push(term.text.clone());
            self.score(corpus, term)?;
        }
        characters(terms).iter().try_for_each(|term| self.score(corpus, term))
    }

    /// Adds the scores of one term and its kin.
    ///
    /// A chunk's share of a term is `1 − Π (1 − kinship · tf / (tf + norm))` over the words it holds that are the term or its
    /// kin: forms of one word add up to no more than the word itself can. A chunk that only holds kin counts in the
    /// document frequency as a part of one, `kinship⁴`.
    fn score(&mut self, corpus: &Corpus, term: &QueryTerm) -> tantivy::Result<()> {
        let (snapshot, overlay) = (self.snapshot, self.overlay);
        if self.score_common(corpus, term)? {
            return Ok(());
        }
        self.occurrences(&term.text)?;
        let tables: Vec<&Table> =
            snapshot.vocabulary.tables().chain(overlay.words(&snapshot.vocabulary, corpus.live)).collect();
        let common = corpus.is_common(self.rows.touched.len());
        let kin = match term.identifier || common {
            true => Vec::new(),
            false => words::kin(&term.text, &tables, corpus.live, &mut self.rows.room),
        };
        if kin.is_empty() {
            self.score_alone(corpus, term);
            return Ok(());
        }
        let mut frequency = self.add(corpus, 1.0, true);
        // The nearest kin first, and no more chunks than that: what is left out counts least and is walked longest.
        let mut budget = MOST_KIN_CHUNKS.max(corpus.live / KIN_SHARE);
        for kin in kin {
            let word = tables[kin.table].word(kin.word);
            self.occurrences(word)?;
            budget = budget.saturating_sub(self.rows.touched.len());
            let form = words::is_form(&term.text, word, kin.kinship);
            frequency += self.add(corpus, kin.kinship, form);
            if form {
                self.words.push(word.to_owned());
            }
            if budget == 0 {
                break;
            }
        }
        let idf = self.weigh(corpus, term, frequency, !self.rows.holding.is_empty());
        let Rows { scores, covered, shares, holding, nearest, .. } = &mut self.rows;
        for place in holding.drain(..) {
            scores[place as usize] += idf * std::mem::take(&mut shares[place as usize]);
            let note = snapshot.note(overlay, place) as usize;
            covered[note] += idf * std::mem::take(&mut nearest[note]).powi(2);
        }
        Ok(())
    }

    /// The weighted IDF of a term that so many chunks hold; adds it to what can be reached.
    fn weigh(&mut self, corpus: &Corpus, term: &QueryTerm, frequency: f32, found: bool) -> f32 {
        let gram = if is_ideographic(&term.text) { GRAM_WEIGHT } else { 1.0 };
        let idf = gram * term.weight * idf(corpus.live, f64::from(frequency));
        self.ceiling += idf;
        if found {
            self.known += idf;
        }
        idf
    }

    /// Counts the occurrences of one word.
    fn occurrences(&mut self, word: &str) -> tantivy::Result<()> {
        let (snapshot, overlay) = (self.snapshot, self.overlay);
        let Rows { counts, touched, .. } = &mut self.rows;
        let mut sink = Sink { counts, touched, weight: 1.0 };
        if !has_kin(word) {
            return snapshot.add_term(overlay, word, &mut sink);
        }
        snapshot.add_word(overlay, snapshot.vocabulary.find(word), &|_| true, &mut sink)?;
        snapshot.add_followed(overlay, word, &mut sink);
        Ok(())
    }

    /// [`Pass::score`] for a term without kin whose occurrences are counted.
    fn score_alone(&mut self, corpus: &Corpus, term: &QueryTerm) {
        let (snapshot, overlay) = (self.snapshot, self.overlay);
        let frequency = self.rows.touched.len();
        let idf = self.weigh(corpus, term, frequency as f32, frequency > 0);
        let mut touched = std::mem::take(&mut self.rows.touched);
        let mut held = self.rows.held(idf);
        for place in touched.drain(..) {
            let count = std::mem::take(&mut held.counts[place as usize]);
            let norm = corpus.norm(snapshot, overlay, place as usize);
            held.add(place, count, norm, || snapshot.note(overlay, place));
        }
        self.rows.touched = touched;
    }

    /// [`Pass::score`] for a word in so many texts that it is not expanded; false, and nothing counted, if it is none. Most of a natural question's
    /// time goes into these, so their postings go straight into the scores.
    fn score_common(&mut self, corpus: &Corpus, term: &QueryTerm) -> tantivy::Result<bool> {
        let (snapshot, overlay) = (self.snapshot, self.overlay);
        if !has_kin(&term.text) {
            return Ok(false);
        }
        let (mut long, mut most) = (Vec::new(), 0);
        let spot = snapshot.vocabulary.find(&term.text);
        snapshot.vocabulary.each_place(spot, &mut |entry| {
            if entry.kind == TEXT {
                most += entry.holding as usize;
                long.push(entry);
            }
        });
        if !corpus.is_common(most) {
            return Ok(false);
        }
        // Headings, paths, identifiers and what came since hold it far less often.
        let Rows { counts, touched, .. } = &mut self.rows;
        let mut sink = Sink { counts, touched, weight: 1.0 };
        snapshot.add_word(overlay, spot, &|kind| kind != TEXT, &mut sink)?;
        snapshot.add_followed(overlay, &term.text, &mut sink);
        let mut holding = touched.len();
        let nothing_else = touched.is_empty();
        for &entry in &long {
            if nothing_else && self.snapshot.is_whole(entry, overlay) {
                holding += entry.holding as usize;
                continue;
            }
            snapshot.each_posting(entry, overlay, &mut |place, _| {
                holding += usize::from(counts[place as usize] == 0.0);
            })?;
        }
        if !corpus.is_common(holding) {
            // Too much of it was deleted.
            touched.drain(..).for_each(|place| counts[place as usize] = 0.0);
            return Ok(false);
        }
        let idf = self.weigh(corpus, term, holding as f32, true);
        let mut touched = std::mem::take(&mut self.rows.touched);
        let mut held = self.rows.held(idf);
        for &entry in &long {
            snapshot.each_posting(entry, overlay, &mut |place, frequency| {
                let at = place as usize;
                let count = frequency as f32 + std::mem::take(&mut held.counts[at]);
                held.add(place, count, corpus.norms[snapshot.lengths[at] as usize], || snapshot.notes[at]);
            })?;
        }
        for place in touched.drain(..) {
            let count = std::mem::take(&mut held.counts[place as usize]);
            if count > 0.0 {
                let norm = corpus.norm(snapshot, overlay, place as usize);
                held.add(place, count, norm, || snapshot.note(overlay, place));
            }
        }
        self.rows.touched = touched;
        Ok(true)
    }

    /// Adds the counted occurrences of a word to the shares of the term at hand; how many chunks more hold the term, each
    /// counted by its kinship. Words come by falling kinship; `form`: a chunk that holds this one holds the term.
    fn add(&mut self, corpus: &Corpus, kinship: f32, form: bool) -> f32 {
        let (snapshot, overlay) = (self.snapshot, self.overlay);
        let Rows { counts, touched, shares, holding, nearest, has_word, .. } = &mut self.rows;
        let before = holding.len();
        for place in touched.drain(..) {
            let at = place as usize;
            let count = std::mem::take(&mut counts[at]);
            let share = &mut shares[at];
            if *share == 0.0 {
                holding.push(place);
                if form {
                    has_word.set(place);
                }
            }
            *share =
                1.0 - (1.0 - *share) * (1.0 - kinship * count / (count + corpus.norm(snapshot, overlay, at)));
            if count >= 1.0 {
                let nearest = &mut nearest[snapshot.note(overlay, place) as usize];
                *nearest = nearest.max(kinship);
            }
        }
        kinship.powi(4) * (holding.len() - before) as f32
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
    fn top(&mut self, limit: usize, keep: &dyn Fn(u64, Facts) -> bool) -> Vec<LexicalHit> {
        let mut best = Best { limit, threshold: 0.0, hits: Vec::new() };
        for part in &self.parts {
            let columns = part.columns();
            let scores = &self.rows.scores[part.base() as usize..][..columns.ids.len()];
            for (block, scores) in scores.chunks(BLOCK).enumerate() {
                // Coverage lifts a score by C at most (and rounding by less than a thousandth), so most blocks are passed over
                // unweighed.
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
                    if bm25 >= best.threshold && keep(columns.notes[place], columns.facts[place]) {
                        let held = self.rows.has_word.has(part.base() + place as u32);
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
                    hit.held = self.rows.has_word.has(place);
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
