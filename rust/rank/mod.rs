//! The ranking as one function: merge, the time asked for, decay, importance, file names, recency, diversity, threshold.
//!
//! Knows nothing of where candidates come from. Deterministic: equal candidates in any order give the same list, and for
//! every n the first n of a longer list are the list of n.

pub mod decay;
pub mod hybrid;
pub mod mmr;
pub mod recency;
pub mod temporal;

use std::cmp::Ordering;

use rustc_hash::FxHashSet;
use unicode_normalization::UnicodeNormalization;

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
    /// What chunks of one note have in common (ties are broken by it, then first line, then id).
    pub note: u64,
    /// First line of the chunk.
    pub first_line: usize,
    /// Raw BM25, 0 without any query word.
    pub bm25: f32,
    /// It holds a word of the query or a form of it.
    pub held: bool,
    /// Place in the lexical list, from 1.
    pub lexical_rank: Option<usize>,
    /// Cosine; `None` when the chunk has no vector or no query vector was given.
    pub cosine: Option<f32>,
    /// Place in the vector list, from 1.
    pub vector_rank: Option<usize>,
    /// Age in whole days, negative for the future; `None` = evergreen.
    pub age_days: Option<i64>,
    /// How near its day is to the time the query names, 0..1 ([`temporal::nearness`]).
    pub nearness: f32,
    /// 1..=10.
    pub importance: Option<u8>,
    /// How the query names its file.
    pub path_match: PathMatch,
}

/// How the two scores become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fusion {
    /// Both scores on an absolute scale that means the same for every query.
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
    /// What a candidate of the time the query names is lifted by ([`temporal::most_lift`]); 0 = it names none.
    pub most_lift: f32,
    /// Fading with age.
    pub decay: decay::Decay,
    /// Which hits count as equals, so that the newest comes first; `None` = off.
    pub recency: Option<recency::Recency>,
    /// λ of MMR; `None` = off.
    pub mmr_lambda: Option<f32>,
    /// The least Jaccard similarity that MMR counts; 0: every one.
    pub mmr_floor: f64,
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
    /// The way to 1 that its day takes the shown score, 0 where no time is asked for.
    pub temporal: f32,
    /// Factor of age.
    pub decay: f32,
    /// Factor of importance.
    pub importance: f32,
    /// Factor of having traded places with an equal hit that is older or newer; 1 where it kept its own.
    pub recency: f32,
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
///
/// Hits come in this order: those the query names as a file ([`PathMatch`]), then those whose score reaches
/// `min_score`, both made diverse by MMR; then, as fillers, those below it with a query word or of the asked time, best
/// first. A chunk below that only resembles the query is left out.
pub fn rank(
    candidates: Vec<Candidate>,
    options: &RankOptions,
    words: &mut dyn FnMut(u64) -> Result<Vec<u64>>,
) -> Result<Vec<Ranked>> {
    rank_first(usize::MAX, candidates, options, words)
}

/// The first `limit` of [`rank`]'s list, without the work the rest of it would take.
///
/// Only some `limit` texts are fetched; so this is what a search calls.
pub fn rank_first(
    limit: usize,
    candidates: Vec<Candidate>,
    options: &RankOptions,
    words: &mut dyn FnMut(u64) -> Result<Vec<u64>>,
) -> Result<Vec<Ranked>> {
    let mut scored: Vec<Scored> = candidates.into_iter().map(|one| Scored::new(one, options)).collect();
    scored.sort_unstable_by(Scored::order);
    let mut seen = FxHashSet::default();
    scored.retain(|one| seen.insert(one.candidate.id));
    if let Some(recency) = &options.recency {
        scored = recency.settle(scored, words)?;
    }

    let (hits, below): (Vec<Scored>, Vec<Scored>) = scored.into_iter().partition(|one| one.is_hit(options));
    let items: Vec<mmr::Item<PathMatch>> = hits
        .iter()
        .map(|one| mmr::Item { tier: one.candidate.path_match, relevance: one.relevance })
        .collect();
    let rule = mmr::Rule { lambda: options.mmr_lambda.map_or(1.0, f64::from), floor: options.mmr_floor };
    let picks = mmr::pick(&items, rule, limit, &mut |position| words(hits[position].candidate.id))?;

    let ranked = picks.iter().map(|pick| hits[pick.position].ranked(false, pick.penalty));
    let answers = |one: &&Scored| one.candidate.held || one.lift > 0.0;
    let fillers = below.iter().filter(answers).map(|one| one.ranked(true, 0.0));
    Ok(ranked.chain(fillers).take(limit).collect())
}

/// A candidate with its factors and the score the order goes by.
struct Scored {
    candidate: Candidate,
    merged: hybrid::Merged,
    /// Shares of the vector score and the text score.
    weights: (f64, f64),
    /// The way to 1 that its day takes it.
    lift: f64,
    decay: f64,
    importance: f64,
    recency: f64,
    /// The product of all factors; above 1 for an important perfect match.
    relevance: f64,
}

impl Scored {
    fn new(candidate: Candidate, options: &RankOptions) -> Self {
        let merged = hybrid::merge(&candidate, options);
        let lift = f64::from(candidate.nearness * options.most_lift);
        let decay = options.decay.factor(candidate.age_days);
        let importance = importance_factor(candidate.importance);
        let relevance = temporal::lifted(merged.shown, lift) * decay * importance;
        let weights = hybrid::weights(options);
        Self { candidate, merged, weights, lift, decay, importance, recency: 1.0, relevance }
    }

    /// Best first; ties by note, first line, id, so that the order of the candidates does not show.
    fn order(one: &Self, other: &Self) -> Ordering {
        let (a, b) = (&one.candidate, &other.candidate);
        (b.path_match.cmp(&a.path_match))
            .then_with(|| other.relevance.total_cmp(&one.relevance))
            .then_with(|| (a.note, a.first_line, a.id).cmp(&(b.note, b.first_line, b.id)))
    }

    /// What people see; importance may lift the order above 1 but not the score.
    fn score(&self) -> f32 {
        self.relevance.min(1.0) as f32
    }

    /// A threshold that is not a number keeps nothing out.
    fn is_hit(&self, options: &RankOptions) -> bool {
        let below = self.score() < options.min_score;
        self.candidate.path_match != PathMatch::None || !below
    }

    fn ranked(&self, filler: bool, mmr_penalty: f64) -> Ranked {
        let (vector_weight, text_weight) = self.weights;
        Ranked {
            id: self.candidate.id,
            score: self.score(),
            filler,
            explanation: Explanation {
                bm25: self.candidate.bm25,
                cosine: self.candidate.cosine,
                lexical_rank: self.candidate.lexical_rank,
                vector_rank: self.candidate.vector_rank,
                text_score: self.merged.text_score as f32,
                vector_score: self.merged.vector_score.map(|score| score as f32),
                text_weight: text_weight as f32,
                vector_weight: vector_weight as f32,
                merged: self.merged.merged as f32,
                temporal: self.lift as f32,
                decay: self.decay as f32,
                importance: self.importance as f32,
                recency: self.recency as f32,
                path_match: self.candidate.path_match,
                mmr_penalty: mmr_penalty as f32,
            },
        }
    }
}

/// `0.75 + 0.05 * n`: 0.80 for 1, 1 for 5, 1.25 for 10. Absent or out of range is neutral.
pub fn importance_factor(importance: Option<u8>) -> f64 {
    match importance {
        // Whole steps of a twentieth, so that 5 is exactly 1.
        Some(stars @ 1..=10) => f64::from(15 + stars) / 20.0,
        _ => 1.0,
    }
}

/// How `query` names the file at `path` (exact path, name or stem; case and accents folded).
///
/// For many paths make one [`FileQuery`].
///
/// ```
/// use memgrep::rank::{PathMatch, path_match};
///
/// assert_eq!(path_match("Router", "memory/router.md"), PathMatch::Stem);
/// assert_eq!(path_match("router config", "memory/router.md"), PathMatch::None);
/// ```
pub fn path_match(query: &str, path: &str) -> PathMatch {
    FileQuery::new(query).names(path)
}

/// A query read as the name of a file.
#[derive(Debug, Clone)]
pub struct FileQuery {
    folded: String,
}

impl FileQuery {
    /// Spaces around it, a leading `./` and the direction of slashes do not count.
    pub fn new(query: &str) -> Self {
        let query = query.trim().replace('\\', "/");
        let mut name = query.as_str();
        while let Some(rest) = name.strip_prefix("./") {
            name = rest;
        }
        Self { folded: folded(name) }
    }

    /// How it names the file at `path`.
    pub fn names(&self, path: &str) -> PathMatch {
        if self.folded.is_empty() {
            return PathMatch::None;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        // A file like `.hidden` has no stem, and neither has one without an extension: that is its name.
        let stem = name.rfind('.').filter(|&dot| dot > 0).map(|dot| &name[..dot]);
        if self.is(path) {
            PathMatch::Path
        } else if self.is(name) {
            PathMatch::Name
        } else if stem.is_some_and(|stem| self.is(stem)) {
            PathMatch::Stem
        } else {
            PathMatch::None
        }
    }

    fn is(&self, name: &str) -> bool {
        if name.is_ascii() { name.eq_ignore_ascii_case(&self.folded) } else { folded(name) == self.folded }
    }
}

/// Lower case, compatibility forms resolved, without the accents of the Latin, Greek and Cyrillic scripts.
fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let accent = |one: &char| ('\u{300}'..='\u{36f}').contains(one);
    // Lower case first and last: some capitals only appear, and some marks only fall off, when resolved.
    let lower = name.to_lowercase();
    lower.nfkd().filter(|one| !accent(one)).collect::<String>().to_lowercase()
}

/// Short ways to say what a test is about.
#[cfg(test)]
mod testing {
    use super::*;

    pub(super) fn candidate(id: u64) -> Candidate {
        Candidate {
            id,
            note: id,
            first_line: 1,
            bm25: 0.0,
            held: false,
            lexical_rank: None,
            cosine: None,
            vector_rank: None,
            age_days: None,
            nearness: 0.0,
            importance: None,
            path_match: PathMatch::None,
        }
    }

    impl Candidate {
        pub(super) fn bm25(self, bm25: f32) -> Self {
            Self { bm25, held: bm25 > 0.0, ..self }
        }

        pub(super) fn cosine(self, cosine: f32) -> Self {
            Self { cosine: Some(cosine), ..self }
        }
    }

    /// Keyword and vector count the same, no threshold, nothing else.
    pub(super) fn options() -> RankOptions {
        RankOptions {
            fusion: Fusion::Absolute,
            vector_weight: 0.5,
            text_weight: 0.5,
            bm25_ceiling: 10.0,
            spread: crate::vector::Spread { mean: 0.0, deviation: 0.2 },
            vectors: true,
            most_lift: 0.0,
            decay: decay::Decay::Off,
            recency: None,
            mmr_lambda: None,
            mmr_floor: 0.0,
            min_score: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{candidate, options};
    use super::*;
    use proptest::prelude::*;

    fn no_words(_: u64) -> Result<Vec<u64>> {
        Ok(Vec::new())
    }

    fn ranked(candidates: Vec<Candidate>, options: &RankOptions) -> Vec<Ranked> {
        rank(candidates, options, &mut no_words).unwrap()
    }

    fn ids(ranked: &[Ranked]) -> Vec<u64> {
        ranked.iter().map(|one| one.id).collect()
    }

    #[test]
    fn every_factor_is_explained_and_multiplied() {
        let one = Candidate {
            age_days: Some(30),
            importance: Some(10),
            lexical_rank: Some(2),
            vector_rank: Some(5),
            ..candidate(1).bm25(5.0).cosine(0.5)
        };
        let options = RankOptions { decay: decay::Decay::Exponential { half_life_days: 30.0 }, ..options() };
        let hit = ranked(vec![one.clone()], &options)[0];
        let Explanation { text_score, vector_score, merged, decay, importance, .. } = hit.explanation;
        let words = hybrid::text_score(5.0, options.bm25_ceiling) as f32;
        assert_eq!((text_score, vector_score), (words, Some(0.5)));
        assert!((merged - (words + 0.5) / 2.0).abs() < 1e-6);
        assert_eq!((decay, importance), (0.5, 1.25));
        assert!((hit.score - merged.sqrt() * 0.625).abs() < 1e-6);
        assert_eq!((hit.explanation.lexical_rank, hit.explanation.vector_rank), (Some(2), Some(5)));
        assert_eq!((hit.explanation.vector_weight, hit.explanation.text_weight), (0.5, 0.5));
        assert_eq!((hit.explanation.temporal, hit.explanation.recency), (0.0, 1.0));

        let asked = Candidate { nearness: 0.5, ..one };
        let hit = ranked(vec![asked], &RankOptions { most_lift: 0.4, ..options })[0];
        let lifted = merged.sqrt() + hit.explanation.temporal * (1.0 - merged.sqrt());
        assert_eq!(hit.explanation.temporal, 0.2);
        assert!((hit.score - lifted * 0.625).abs() < 1e-6);
    }

    #[test]
    fn importance_lifts_the_order_above_one_but_not_the_score() {
        let perfect = || candidate(1).bm25(15.0).cosine(1.0);
        let important = Candidate { id: 2, note: 9, importance: Some(9), ..perfect() };
        let list = ranked(vec![perfect(), important], &options());
        assert_eq!(ids(&list), [2, 1]);
        assert_eq!((list[0].score, list[1].score), (1.0, 1.0));
    }

    #[test]
    fn f156_an_importance_out_of_range_is_neutral() {
        let factors = [None, Some(0), Some(11), Some(99), Some(255)].map(importance_factor);
        assert_eq!(factors, [1.0; 5]);
        assert_eq!([1, 5, 10].map(|stars| importance_factor(Some(stars))), [0.8, 1.0, 1.25]);
    }

    #[test]
    fn f025_a_keyword_hit_below_the_threshold_fills_a_free_place() {
        let options = RankOptions { min_score: 0.35, ..options() };
        let list = ranked(vec![candidate(1).bm25(0.1), candidate(2).bm25(9.0).cosine(0.9)], &options);
        assert_eq!(ids(&list), [2, 1]);
        assert_eq!((list[0].filler, list[1].filler), (false, true));
        assert!(list[1].score < 0.35 && list[1].score > 0.0);
    }

    #[test]
    fn f027_a_chunk_that_only_resembles_a_little_is_left_out() {
        let options = RankOptions { min_score: 0.35, ..options() };
        assert_eq!(ranked(vec![candidate(1).cosine(0.1), candidate(2).cosine(-0.2)], &options), []);
    }

    #[test]
    fn f029_a_named_file_is_first_whatever_its_text_says() {
        let options = RankOptions { min_score: 0.35, ..options() };
        let named = |id, path_match| Candidate { path_match, ..candidate(id) };
        let list = ranked(
            vec![
                candidate(1).bm25(10.0).cosine(1.0),
                named(2, PathMatch::Stem),
                named(3, PathMatch::Path),
                named(4, PathMatch::Name),
                named(5, PathMatch::Stem).bm25(1.0),
            ],
            &options,
        );
        assert_eq!(ids(&list), [3, 4, 5, 2, 1]);
        assert!(list.iter().all(|hit| !hit.filler));
        assert_eq!(list[0].score, 0.0, "its own score, whatever the place");
    }

    #[test]
    fn mmr_does_not_move_a_hit_over_a_named_file() {
        let options = RankOptions { mmr_lambda: Some(0.0), ..options() };
        let named = |id| Candidate { path_match: PathMatch::Stem, ..candidate(id).bm25(5.0) };
        let list = rank(vec![named(1), named(2), candidate(3).bm25(9.0)], &options, &mut |id| {
            Ok(if id == 3 { vec![9] } else { vec![1, 2] })
        });
        assert_eq!(ids(&list.unwrap()), [1, 2, 3]);
    }

    #[test]
    fn f019_f032_three_different_notes_come_before_a_near_copy() {
        let options = RankOptions { mmr_lambda: Some(0.7), min_score: 0.35, ..options() };
        let candidates = vec![
            candidate(1).bm25(9.0),
            candidate(2).bm25(8.9),
            candidate(3).bm25(7.5),
            candidate(4).bm25(7.4),
        ];
        let words = |id| match id {
            1 => vec![1, 2, 3, 4, 5],
            2 => vec![1, 2, 3, 4, 6],
            3 => vec![1, 10, 11, 12],
            _ => vec![1, 20, 21, 22],
        };
        let list = rank(candidates, &options, &mut |id| Ok(words(id))).unwrap();
        assert_eq!(ids(&list), [1, 3, 4, 2]);
        let penalty = list[3].explanation.mmr_penalty;
        assert!((penalty - 0.3 * 4.0 / 6.0).abs() < 1e-6);
        assert!(list[3].score > list[2].score, "diversity reorders and leaves scores alone");
    }

    #[test]
    fn a_number_that_is_none_is_nothing_and_breaks_no_order() {
        let odd = vec![
            candidate(1).bm25(f32::NAN).cosine(f32::NAN),
            candidate(2).bm25(5.0).cosine(f32::NAN),
            candidate(3).bm25(f32::NAN).cosine(0.9),
            candidate(4).bm25(f32::NEG_INFINITY).cosine(f32::NEG_INFINITY),
            candidate(5).bm25(f32::INFINITY).cosine(f32::INFINITY),
        ];
        let list = ranked(odd.clone(), &options());
        assert_eq!(ids(&list), [5, 3, 2, 1, 4]);
        assert!(list.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
        let odd_options = RankOptions {
            vector_weight: f32::NAN,
            text_weight: f32::INFINITY,
            bm25_ceiling: f32::NAN,
            spread: crate::vector::Spread { mean: f32::NAN, deviation: f32::NAN },
            decay: decay::Decay::Bounded { half_life_days: f32::NAN, floor: f32::NAN },
            mmr_lambda: Some(f32::NAN),
            min_score: f32::NAN,
            ..options()
        };
        assert_eq!(ranked(odd, &odd_options).len(), 5);
    }

    #[test]
    fn a_query_names_a_file_by_path_name_or_stem() {
        for (query, expected) in [
            ("memory/über/Straße 1.md", PathMatch::Path),
            (" ./MEMORY/Uber/straße 1.md ", PathMatch::Path),
            ("memory\\über\\straße 1.md", PathMatch::Path),
            ("STRAßE 1.md", PathMatch::Name),
            ("straße 1", PathMatch::Stem),
            ("straße", PathMatch::None),
            ("über", PathMatch::None),
            ("über/straße 1.md", PathMatch::None),
            ("", PathMatch::None),
            ("./", PathMatch::None),
        ] {
            assert_eq!(path_match(query, "memory/über/Straße 1.md"), expected, "{query}");
        }
    }

    #[test]
    fn a_name_typed_in_pieces_is_the_same_name() {
        assert_eq!(path_match("u\u{308}bung", "memory/übung.md"), PathMatch::Stem);
        assert_eq!(path_match("カフェ", "memory/ｶﾌｪ.md"), PathMatch::Stem);
        assert_eq!(path_match("がぎ", "memory/かき.md"), PathMatch::None, "voicing is no accent");
    }

    fn any_candidate() -> impl Strategy<Value = Candidate> {
        let signals = (0u64..40, -1f32..12.0, prop::option::of(-1f32..=1.0), prop::option::of(-5i64..400));
        let marks = (prop::option::of(0u8..12), 0usize..4, 0usize..3, 0f32..=1.0);
        (signals, marks).prop_map(|((id, bm25, cosine, age_days), (importance, tier, line, nearness))| {
            Candidate {
                note: id % 5,
                first_line: line,
                bm25: bm25.max(0.0),
                held: bm25 > 0.0,
                cosine,
                age_days,
                nearness,
                importance,
                path_match: [PathMatch::None, PathMatch::None, PathMatch::Stem, PathMatch::Path][tier],
                ..candidate(id)
            }
        })
    }

    fn any_pool() -> impl Strategy<Value = Vec<Candidate>> {
        prop::collection::vec(any_candidate(), 0..30).prop_map(|mut pool| {
            let mut seen = FxHashSet::default();
            pool.retain(|one| seen.insert(one.id));
            pool
        })
    }

    fn any_options() -> impl Strategy<Value = RankOptions> {
        let recency = prop_oneof![
            Just(None),
            Just(Some(recency::Recency::usual())),
            Just(Some(recency::Recency::for_the_present(vec![0, 1, 10, 20]))),
        ];
        let most_lift = prop_oneof![Just(0.0), 0f32..=1.0];
        let choices = (any::<bool>(), any::<bool>(), prop::option::of(0f32..=1.0), 0f32..0.8, 0f32..=1.0);
        (choices, most_lift, recency).prop_map(|(choices, most_lift, recency)| {
            let (seeds, vectors, mmr_lambda, min_score, vector_weight) = choices;
            RankOptions {
                fusion: if seeds { Fusion::WeightedRank } else { Fusion::Absolute },
                vectors,
                vector_weight,
                text_weight: 1.0 - vector_weight,
                most_lift,
                decay: decay::Decay::Exponential { half_life_days: 30.0 },
                recency,
                mmr_lambda,
                min_score,
                ..options()
            }
        })
    }

    fn few_words(id: u64) -> Result<Vec<u64>> {
        Ok(vec![id % 3, 10 + id % 4, 20 + id % 5])
    }

    proptest! {
        #[test]
        fn the_order_of_the_candidates_does_not_show(
            (pool, shuffled) in any_pool().prop_flat_map(|pool| (Just(pool.clone()), Just(pool).prop_shuffle())),
            options in any_options(),
        ) {
            let first = rank(pool, &options, &mut few_words).unwrap();
            prop_assert_eq!(first, rank(shuffled, &options, &mut few_words).unwrap());
        }

        #[test]
        fn a_shorter_list_is_the_beginning_of_a_longer_one(
            pool in any_pool(), options in any_options(), limit in 0usize..35,
        ) {
            let all = rank(pool.clone(), &options, &mut few_words).unwrap();
            let some = rank_first(limit, pool, &options, &mut few_words).unwrap();
            prop_assert_eq!(&all[..limit.min(all.len())], &some[..]);
        }

        #[test]
        fn nothing_is_there_twice_and_only_weak_look_alikes_are_lost(pool in any_pool(), options in any_options()) {
            let list = rank(pool.clone(), &options, &mut few_words).unwrap();
            let kept: FxHashSet<u64> = list.iter().map(|hit| hit.id).collect();
            prop_assert_eq!(kept.len(), list.len());
            let without_threshold = RankOptions { min_score: 0.0, ..options.clone() };
            let everything = rank(pool.clone(), &without_threshold, &mut few_words).unwrap();
            prop_assert_eq!(everything.len(), pool.len());
            for lost in everything.iter().filter(|hit| !kept.contains(&hit.id)) {
                prop_assert!(lost.score < options.min_score);
                prop_assert_eq!((lost.explanation.bm25, lost.explanation.temporal), (0.0, 0.0));
                prop_assert_eq!(lost.explanation.path_match, PathMatch::None);
            }
        }

        #[test]
        fn scores_stay_between_zero_and_one_and_fillers_come_last(pool in any_pool(), options in any_options()) {
            let list = rank(pool, &options, &mut few_words).unwrap();
            prop_assert!(list.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
            prop_assert!(list.is_sorted_by_key(|hit| hit.filler));
            for hit in &list {
                let named = hit.explanation.path_match != PathMatch::None;
                prop_assert_eq!(hit.filler, !named && hit.score < options.min_score);
            }
        }

        #[test]
        fn more_words_or_more_meaning_never_score_less(
            one in any_candidate(), options in any_options(), more in 0f32..3.0,
        ) {
            let score = |one: Candidate| {
                let options = RankOptions { min_score: 0.0, ..options.clone() };
                rank(vec![one], &options, &mut few_words).unwrap()[0].score
            };
            let before = score(one.clone());
            let more_words = Candidate { bm25: one.bm25 + more, ..one.clone() };
            let more_meaning = Candidate { cosine: one.cosine.map(|cosine| cosine + more), ..one };
            prop_assert!(score(more_words) >= before);
            prop_assert!(score(more_meaning) >= before);
        }
    }
}
