//! From a question to hits: one read pass over one snapshot.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::derived::{Built, Derived, catch_up_lexical, facts_of};
use super::filter::{Allowed, Days, Filter};
use super::temporal::{AskedTime, TemporalDecay};
use super::{Index, unpoisoned};
use crate::error::{Error, Result};
use crate::lexical::{Facts, Lexical, note_key};
use crate::note::plain;
use crate::rank::hybrid::{Shares, text_score};
use crate::rank::{Candidate, Explanation, Fusion, PathMatch, RankOptions, Ranked};
use crate::snippet::snippet;
use crate::store::{ChunkFacts, Selected, Store, StoreVectors, stem_key};
use crate::text::query_terms;
use crate::vector::rows::RowsOr;
use crate::vector::{Spread, VectorHit, Vectors, cosine, unpack};

/// The first pool holds so many candidates of each side times the multiplier, whatever the number of results asked for:
/// a pool that grew with it would let the first hits of a longer list differ from a shorter one.
pub const POOL_UNIT: usize = 24;
/// Texts that share less of their words are no near-duplicates to MMR (docs/decisions on diversity).
pub const MMR_FLOOR: f64 = 0.6;
/// The share of the vector score in the seeds' formula.
const SEEDS_VECTOR_WEIGHT: f32 = 0.7;
/// Chunks of the asked time that join a pool, in parts of its size.
const POOL_PART: usize = 4;

/// Everything a search depends on besides the index.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOptions {
    /// Hits at most, at least 1.
    pub max_results: usize,
    /// 0..1; keyword hits below fill free places.
    pub min_score: f32,
    /// Which notes may answer.
    pub filter: Filter,
    /// Today in the user's time zone, days since 1970-01-01.
    pub today: i64,
    /// How the two scores are merged.
    pub fusion: Fusion,
    /// Shares of the vector and the text score as the user sets them; `None`: what measures best.
    pub weights: Option<(f32, f32)>,
    /// Where they are not set: how far the vectors can be trusted.
    pub shares: Shares,
    /// Whether the time a question names counts.
    pub temporal: bool,
    /// How age counts.
    pub decay: TemporalDecay,
    /// Notes from extra paths fade by their modification time (otherwise they are evergreen).
    pub extra_fades: bool,
    /// λ of MMR, `None` = off.
    pub mmr_lambda: Option<f32>,
    /// Candidates of each side in the first pool, in multiples of [`POOL_UNIT`], 1 at least.
    pub candidate_multiplier: usize,
    /// Characters of a snippet at most.
    pub snippet_chars: usize,
}

/// A ranked chunk, ready to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The note's path.
    pub path: String,
    /// Where it is opened.
    pub absolute: String,
    /// Source as a number.
    pub source: u8,
    /// Lines of the snippet, from 1.
    pub lines: (usize, usize),
    /// Lines of the chunk, from 1.
    pub chunk_lines: (usize, usize),
    /// 0..1.
    pub score: f32,
    /// The snippet.
    pub snippet: String,
    /// Byte ranges of matched words in the snippet.
    pub matches: Vec<(usize, usize)>,
    /// What the chunk stands under.
    pub context: String,
    /// 1..=10.
    pub importance: Option<u8>,
    /// Why.
    pub explanation: Explanation,
}

/// Hits and how they were found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResult {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Chunks that words could find.
    pub chunks: usize,
    /// Chunks that a vector could find.
    pub vectors: usize,
    /// Texts whose vector is still to be made; 0 if no query vector was given.
    pub pending: usize,
    /// Texts that were refused; 0 if no query vector was given.
    pub refused: usize,
    /// Generation of the snapshot.
    pub generation: u64,
    /// The query vector took part.
    pub vectors_used: bool,
    /// The keyword index is older than the store and could not be caught up now.
    pub lagging: bool,
}

impl Index {
    /// Finds the best chunks for `query`, by its words and, if given, by its vector (of the selected fingerprint).
    ///
    /// # Errors
    /// A vector of the wrong length, or a store that cannot be read. A missing store is an empty result.
    pub fn search(
        &self,
        query: &str,
        vector: Option<&[f32]>,
        options: &SearchOptions,
    ) -> Result<SearchResult> {
        let name = unpoisoned(self.fingerprint.lock()).clone();
        let found = self.read(|store| {
            let generation = store.generation()?;
            let chosen = match &name {
                Some(name) => store.fingerprint(name, false)?.map(|selected| (name.as_str(), selected)),
                None => None,
            };
            let text_generation = store.text_generation()?;
            self.bring_up(store, (generation, text_generation), chosen.filter(|_| vector.is_some()))?;
            let derived = unpoisoned(self.derived.read());
            let at = derived.lexical.as_ref().and_then(Lexical::generation);
            let lagging = at.is_none_or(|at| at < text_generation);
            let chosen = chosen.map(|(_, selected)| selected);
            Search { derived: &derived, store, options, query, chosen, lagging }.run(vector, generation)
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Makes the derived indexes current for a search, as far as that is possible without waiting for a writer.
    fn bring_up(
        &self,
        store: &Store,
        (generation, text_generation): (u64, u64),
        chosen: Option<(&str, Selected)>,
    ) -> Result<()> {
        let name = chosen.filter(|(_, selected)| selected.dims.is_some()).map(|(name, _)| name);
        if unpoisoned(self.derived.read()).is_current(generation, text_generation, name) {
            return Ok(());
        }
        let mut derived = unpoisoned(self.derived.write());
        derived.look()?;
        let behind =
            derived.lexical.as_ref().and_then(Lexical::generation).is_none_or(|at| at < text_generation);
        if behind && !derived.follow(store, text_generation)? && !self.read_only && text_generation > 0 {
            drop(derived);
            self.try_catch_up()?;
            derived = unpoisoned(self.derived.write());
            derived.look()?;
        }
        if name.is_some() {
            derived.load_vectors(store, generation, chosen)?;
        }
        Ok(())
    }

    /// Catches the lexical index up if no other process is writing.
    fn try_catch_up(&self) -> Result<()> {
        match self.write(0) {
            Ok(mut guard) => {
                let (store, lexical) = guard.parts()?;
                catch_up_lexical(store, lexical)
            }
            Err(Error::Locked { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

struct Search<'a> {
    derived: &'a Derived,
    store: &'a Store,
    options: &'a SearchOptions,
    query: &'a str,
    chosen: Option<Selected>,
    /// The lexical index is older than the store.
    lagging: bool,
}

/// What is known of a candidate while the pool is collected.
#[derive(Default, Clone, Copy)]
struct Signals {
    bm25: Option<f32>,
    held: bool,
    lexical_rank: Option<usize>,
    cosine: Option<f32>,
    vector_rank: Option<usize>,
    path_match: PathMatch,
}

impl Search<'_> {
    fn run(&self, vector: Option<&[f32]>, generation: u64) -> Result<SearchResult> {
        let Some(lexical) = self.derived.lexical.as_ref().filter(|lexical| lexical.generation().is_some())
        else {
            if self.store.has_chunks()? {
                return Err(Error::Derived {
                    path: self.derived.paths()[0].to_owned(),
                    message: "the keyword index is missing, or being built by another process; try again in a moment"
                        .into(),
                });
            }
            return Ok(SearchResult { generation, ..SearchResult::default() });
        };
        let state = self.derived.vectors.as_ref().filter(|state| vector.is_some() && state.index.len() > 0);
        if let (Some(vector), Some(state)) = (vector, state)
            && vector.len() != state.index.dims()
        {
            return Err(Error::Argument(format!(
                "the query vector has {} dimensions, the index {}; `memgrep index` embeds the notes anew",
                vector.len(),
                state.index.dims()
            )));
        }
        let weighted = query_terms(self.query);
        let mut pass = lexical.pass(&weighted)?;
        let present = lexical.sources();
        let days = Days::new(present, self.options.extra_fades, self.store)?;
        let allowed = Allowed::new(&self.options.filter, (present, &days), self.derived, self.store)?;
        let time = AskedTime::of(self.query, &weighted, self.options);
        let allow = |note: u64, facts: Facts| allowed.has(note, facts);
        let allow_asked = |note: u64, facts: Facts| allow(note, facts) && time.has(days.day(note, facts));
        let mut chosen: Vec<Ranked> = Vec::new();
        let mut taken = FxHashSet::default();
        let mut pool = POOL_UNIT * self.options.candidate_multiplier.clamp(1, 20);
        loop {
            let mut signals: FxHashMap<u64, Signals> = FxHashMap::default();
            let top = pass.top(pool, &allow);
            // The best of all chunks, whatever is asked for: the weights must not depend on the number of results.
            let best_text = top.first().map_or(0.0, |best| text_score(best.bm25, pass.ceiling()));
            for (rank, hit) in top.into_iter().enumerate() {
                let entry = signals.entry(hit.id).or_default();
                (entry.bm25, entry.held, entry.lexical_rank) = (Some(hit.bm25), hit.held, Some(rank + 1));
            }
            let mut spread = Spread::default();
            if let (Some(vector), Some(state)) = (vector, state) {
                let keep = (!allowed.everything).then_some(&allow as &dyn Fn(u64, Facts) -> bool);
                let (nearest, of_all) = self.nearest(&state.index, vector, pool, keep)?;
                spread = of_all;
                for (rank, hit) in nearest.into_iter().enumerate() {
                    let entry = signals.entry(hit.id).or_default();
                    (entry.cosine, entry.vector_rank) = (Some(hit.cosine), Some(rank + 1));
                }
            }
            self.name_matches(&mut signals, &allowed)?;
            let mut more_of_time = false;
            if time.names_days() {
                let (limit, vectors) = (pool / POOL_PART, vector.zip(state.map(|state| &state.index)));
                let asked = self.of_asked_time(lexical, pass.as_mut(), vectors, limit, &allow_asked)?;
                more_of_time = asked.len() >= limit;
                for id in asked {
                    signals.entry(id).or_default();
                }
            }
            signals.retain(|id, _| !taken.contains(id));
            self.complete(&mut signals, pass.as_mut(), vector.filter(|_| state.is_some()))?;
            let candidates = self.candidates(&signals, &days, &time)?;
            let options = self.rank_options(&time, best_text, pass.ceiling(), spread, state.is_some());
            let mut words = |id: u64| self.derived.words(self.store, id);
            // The rest of the last pool is not asked for: ordering it is most of the work.
            let last = self.options.max_results <= pool;
            let wanted =
                if last { self.options.max_results.saturating_sub(chosen.len()) } else { usize::MAX };
            for ranked in crate::rank::rank_first(wanted, candidates, &options, &mut words)? {
                taken.insert(ranked.id);
                chosen.push(ranked);
            }
            // Deeper pools only extend the list, so the first n of a longer list are the list of n. Those of the asked time are
            // a part of a pool: a short list may have more of them.
            let enough = !more_of_time || chosen.len() >= self.options.max_results;
            if signals.is_empty() || last && enough {
                break;
            }
            pool *= 4;
        }
        chosen.truncate(self.options.max_results);
        let (chunks, vectors) = (lexical.len(), state.map_or(0, |state| state.index.len()));
        let (pending, refused) = match vector {
            Some(_) if vectors < chunks => {
                self.store.pending_counts(self.chosen.unwrap_or(Selected { id: 0, dims: None }))?
            }
            _ => (0, 0),
        };
        Ok(SearchResult {
            hits: self.hits(&chosen, pass.words())?,
            chunks,
            vectors,
            pending,
            refused,
            generation,
            vectors_used: state.is_some(),
            lagging: self.lagging,
        })
    }

    /// The exact vectors of the selected fingerprint.
    fn exact(&self) -> RowsOr<'_, StoreVectors<'_>> {
        let selected = self.chosen.unwrap_or(Selected { id: -1, dims: None });
        let rows = self.derived.vectors.as_ref().and_then(|state| state.rows.as_ref());
        RowsOr { rows, rest: StoreVectors { store: self.store, selected } }
    }

    /// The nearest chunks that `keep` accepts, all of them without one, and the spread of all.
    fn nearest(
        &self,
        index: &Built,
        vector: &[f32],
        limit: usize,
        keep: Option<&dyn Fn(u64, Facts) -> bool>,
    ) -> Result<(Vec<VectorHit>, Spread)> {
        let Some(keep) = keep else { return index.nearest(vector, limit, &|_| true, &self.exact()) };
        let failure = RefCell::new(None);
        let kept = |id: u64| match self.facts(id) {
            Ok(known) => known.is_some_and(|(note, facts)| keep(note, facts)),
            Err(error) => {
                failure.replace(Some(error));
                false
            }
        };
        let found = index.nearest(vector, limit, &kept, &self.exact())?;
        failure.into_inner().map_or(Ok(found), Err)
    }

    /// The best and the nearest chunks that `keep` accepts, those of the asked time; if these are few, also some that hold
    /// no word of the question and have no vector.
    fn of_asked_time(
        &self,
        lexical: &Lexical,
        pass: &mut (dyn crate::lexical::LexicalPass + '_),
        vectors: Option<(&[f32], &Built)>,
        limit: usize,
        keep: &dyn Fn(u64, Facts) -> bool,
    ) -> Result<Vec<u64>> {
        let mut asked: Vec<u64> = pass.top(limit, keep).iter().map(|hit| hit.id).collect();
        if let Some((vector, index)) = vectors {
            let (nearest, _) = self.nearest(index, vector, limit, Some(keep))?;
            asked.extend(nearest.iter().map(|hit| hit.id));
        }
        if asked.len() < limit {
            asked.extend(lexical.first(limit, keep));
        }
        Ok(asked)
    }

    /// Adds the first chunk (or the best one already found) of every note that the query names.
    fn name_matches(&self, signals: &mut FxHashMap<u64, Signals>, allowed: &Allowed<'_>) -> Result<()> {
        let mut best: FxHashMap<i64, (u64, f32, PathMatch)> = FxHashMap::default();
        for id in self.store.chunks_of_stem(&stem_key(self.query.trim()))? {
            let Some(facts) = self.store.facts(id)? else { continue };
            let path_match = crate::rank::path_match(self.query, &facts.path);
            if path_match == PathMatch::None {
                continue;
            }
            let (note, of_chunk) = known(&facts);
            if !allowed.has(note, of_chunk) {
                continue;
            }
            let bm25 = signals.get(&id).and_then(|known| known.bm25).unwrap_or(0.0);
            let entry = best.entry(facts.note).or_insert((id, bm25, path_match));
            if bm25 > entry.1 {
                *entry = (id, bm25, path_match);
            }
        }
        for (id, _, path_match) in best.into_values() {
            signals.entry(id).or_default().path_match = path_match;
        }
        Ok(())
    }

    /// Computes the exact score of the other side for every candidate that only one side proposed.
    fn complete(
        &self,
        signals: &mut FxHashMap<u64, Signals>,
        pass: &mut (dyn crate::lexical::LexicalPass + '_),
        vector: Option<&[f32]>,
    ) -> Result<()> {
        let missing: Vec<u64> =
            signals.iter().filter(|(_, known)| known.bm25.is_none()).map(|(&id, _)| id).collect();
        for hit in pass.scores(&missing)? {
            let entry = signals.entry(hit.id).or_default();
            (entry.bm25, entry.held) = (Some(hit.bm25), hit.held);
        }
        if let Some(vector) = vector {
            let missing: Vec<u64> =
                signals.iter().filter(|(_, known)| known.cosine.is_none()).map(|(&id, _)| id).collect();
            let mut cosines = Vec::with_capacity(missing.len());
            self.exact().vectors(&missing, &mut |position, bytes| {
                if let Some(stored) = unpack(bytes).filter(|stored| stored.len() == vector.len()) {
                    cosines.push((missing[position], cosine(vector, &stored)));
                }
            })?;
            for (id, value) in cosines {
                signals.entry(id).or_default().cosine = Some(value);
            }
        }
        Ok(())
    }

    fn candidates(
        &self,
        signals: &FxHashMap<u64, Signals>,
        days: &Days,
        time: &AskedTime,
    ) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::with_capacity(signals.len());
        for (&id, known) in signals {
            // A chunk that went away since the derived index was made is dropped, never an error.
            let Some((note, facts)) = self.facts(id)? else { continue };
            let day = days.day(note, facts);
            candidates.push(Candidate {
                id,
                age_days: day.map(|day| self.options.today - day),
                nearness: time.nearness(day),
                note,
                first_line: facts.first_line as usize,
                bm25: known.bm25.unwrap_or(0.0),
                held: known.held,
                lexical_rank: known.lexical_rank,
                cosine: known.cosine,
                vector_rank: known.vector_rank,
                importance: facts.importance,
                path_match: known.path_match,
            });
        }
        Ok(candidates)
    }

    /// The note and the facts of a chunk; `None` when it is gone. The lexical index has them at hand as long as it stands where
    /// the store does.
    fn facts(&self, id: u64) -> Result<Option<(u64, Facts)>> {
        match self.derived.lexical.as_ref().filter(|_| !self.lagging).and_then(|lexical| lexical.facts(id)) {
            Some(facts) => Ok(Some(facts)),
            None => Ok(self.store.facts(id)?.as_ref().map(known)),
        }
    }

    fn rank_options(
        &self,
        time: &AskedTime,
        best_text: f64,
        bm25_ceiling: f32,
        spread: Spread,
        vectors: bool,
    ) -> RankOptions {
        let options = self.options;
        let vector_weight = match options.fusion {
            Fusion::Absolute => options.shares.vector_weight(best_text) as f32,
            Fusion::WeightedRank => SEEDS_VECTOR_WEIGHT,
        };
        let (vector_weight, text_weight) = options.weights.unwrap_or((vector_weight, 1.0 - vector_weight));
        RankOptions {
            fusion: options.fusion,
            vector_weight,
            text_weight,
            bm25_ceiling,
            spread,
            vectors,
            most_lift: time.most_lift,
            decay: time.decay,
            recency: time.recency.clone(),
            mmr_lambda: options.mmr_lambda,
            mmr_floor: MMR_FLOOR,
            min_score: options.min_score,
        }
    }

    fn hits(&self, ranked: &[Ranked], terms: &[String]) -> Result<Vec<Hit>> {
        let mut hits = Vec::with_capacity(ranked.len());
        for ranked in ranked {
            let Some(facts) = self.store.facts(ranked.id)? else { continue };
            let Some((text, context)) = self.store.text(ranked.id)? else { continue };
            // A note that is all headings has them as a context without a text.
            let source = if text.is_empty() { &context } else { &text };
            let shown = snippet(&plain(source), terms, self.options.snippet_chars);
            let first = facts.first_line + shown.first_line;
            let last = (facts.first_line + shown.last_line).min(facts.last_line.max(first));
            hits.push(Hit {
                absolute: self.store.absolute(facts.note)?,
                source: facts.source,
                lines: (first, last),
                chunk_lines: (facts.first_line, facts.last_line),
                score: ranked.score,
                snippet: shown.text,
                matches: shown.matches,
                context,
                importance: facts.importance,
                explanation: ranked.explanation,
                path: facts.path,
            });
        }
        Ok(hits)
    }
}

/// The note and the facts of a chunk as the store knows it.
fn known(facts: &ChunkFacts) -> (u64, Facts) {
    let ChunkFacts { path, source, importance, first_line, .. } = facts;
    (note_key(path), facts_of(path, *source, *importance, *first_line))
}
