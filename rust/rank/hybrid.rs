//! Two signals become one: BM25 and cosine, each on a scale that means the same for every query.
//!
//! Scores that depend on the other candidates (min-max, z-scores, places in a list) cannot be compared with a threshold:
//! the best of a bad lot would score 1. Here a score depends on the chunk, the query and the whole index only.

use super::{Candidate, Fusion, RankOptions};
use crate::vector::Spread;

/// So many standard deviations above the mean cosine count as a perfect match.
const PERFECT_DEVIATIONS: f64 = 5.0;
/// From this cosine on only the spread says how good a match is.
const RELATED_COSINE: f64 = 0.4;

/// The signals of one candidate, each 0..1, and what they add up to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merged {
    /// BM25 on the scale 0..1.
    pub text_score: f64,
    /// Cosine on the scale 0..1; `None` for a chunk without vector or a query without one.
    pub vector_score: Option<f64>,
    /// Weighted sum.
    pub merged: f64,
    /// `merged` as it is shown, before age and importance.
    pub shown: f64,
}

/// Merges one candidate's signals: `vector_weight * vector_score + text_weight * text_score`.
///
/// A chunk without vector counts as unrelated by meaning. Without a query vector the text score is all there is.
pub fn merge(candidate: &Candidate, options: &RankOptions) -> Merged {
    let cosine = candidate.cosine.filter(|cosine| options.vectors && !cosine.is_nan());
    let (text_score, vector_score) = match options.fusion {
        Fusion::Absolute => (
            text_score(candidate.bm25, options.bm25_ceiling),
            cosine.map(|cosine| vector_score(cosine, options.spread)),
        ),
        Fusion::WeightedRank => {
            (literal_text_score(candidate.bm25), cosine.map(|cosine| f64::from(cosine).clamp(0.0, 1.0)))
        }
    };
    let (vector_weight, text_weight) = weights(options);
    let merged = vector_weight * vector_score.unwrap_or(0.0) + text_weight * text_score;
    let shown = match options.fusion {
        Fusion::Absolute => shown(merged),
        Fusion::WeightedRank => merged,
    };
    Merged { text_score, vector_score, merged, shown }
}

/// Shares of the vector score and the text score, adding up to 1.
///
/// Without a query vector the text score has all of it. Weights that cannot be meant (none above 0) are halves.
pub fn weights(options: &RankOptions) -> (f64, f64) {
    if !options.vectors {
        return (0.0, 1.0);
    }
    let usable = |weight: f32| if weight.is_finite() { f64::from(weight).max(0.0) } else { 0.0 };
    let (vector, text) = (usable(options.vector_weight), usable(options.text_weight));
    let sum = vector + text;
    if sum > 0.0 { (vector / sum, text / sum) } else { (0.5, 0.5) }
}

/// The share of the vector score where the user set none: `least` when words answer the question, `most` when they say nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    least: f64,
    most: f64,
}

impl Shares {
    /// For vectors of a model that reads a text as a whole.
    pub const ENCODER: Self = Self { least: 0.2, most: 0.5 };
    /// For vectors that are means over a table of tokens: they know little that words do not know better.
    pub const TABLE: Self = Self { least: 0.02, most: 0.5 };

    /// `least + (most - least) * (1 - best)^24`, `best` being the text score of the best chunk of the whole index.
    ///
    /// A question without a word in common with any note (another language, another wording) is left to the vectors, so that
    /// its hits can reach the usual threshold.
    pub fn vector_weight(self, best: f64) -> f64 {
        let unanswered = 1.0 - if best.is_nan() { 0.0 } else { best.clamp(0.0, 1.0) };
        self.least + (self.most - self.least) * unanswered.powi(24)
    }
}

/// The highest `bm25 / ceiling`: every term at saturation, with the coverage factor of a note that holds them all.
const MOST_SHARE: f64 = 1.4;

/// `1 - (1 - share / 1.4)^1.4` with `share = bm25 / ceiling`: the share itself while it is small, 1 where it ends.
///
/// 0 only without any query word, and rising with BM25. The ceiling is the sum of the IDFs of the query's words, as in
/// Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval" (2023), theoretical bounds. Without a
/// usable ceiling the odds `bm25 / (1 + bm25)` stand in for the share.
pub fn text_score(bm25: f32, ceiling: f32) -> f64 {
    let bm25 = f64::from(bm25);
    if bm25.is_nan() || bm25 <= 0.0 {
        return 0.0;
    }
    let ceiling = f64::from(ceiling);
    if ceiling > 0.0 && ceiling.is_finite() {
        let share = (bm25 / ceiling / MOST_SHARE).min(1.0);
        1.0 - (1.0 - share).powf(MOST_SHARE)
    } else {
        1.0 - 1.0 / (1.0 + bm25)
    }
}

/// `(cosine - mean) / (5 * deviation)` within 0..1, how far a chunk stands out of all chunks; at most
/// `(cosine / 0.4)²`.
///
/// What a cosine of 0.8 means differs from model to model; what three deviations above the mean are does not. With a
/// deviation of 0, which also says "too few chunks to tell" ([`Spread`]), the root of the cosine stands in: it keeps
/// the order, and related texts of most models (above 0.4) count for two thirds.
///
/// Some chunk always stands out, of notes that have nothing to do with the question too. So a cosine that says
/// "unrelated" in every model is low whatever the others are: below 0.2 it is no hit at the usual threshold (F027).
pub fn vector_score(cosine: f32, spread: Spread) -> f64 {
    let cosine = f64::from(cosine);
    let (mean, deviation) = (f64::from(spread.mean), f64::from(spread.deviation));
    let score = if deviation > 0.0 && deviation.is_finite() && mean.is_finite() {
        (cosine - mean) / (PERFECT_DEVIATIONS * deviation)
    } else {
        cosine.max(0.0).sqrt()
    };
    let most = (cosine.max(0.0) / RELATED_COSINE).powi(2);
    if score.is_nan() { 0.0 } else { score.min(most).clamp(0.0, 1.0) }
}

/// The merged score as people read it: its root.
///
/// A natural question has words no note answers, so good hits reach a third of the theoretical best and plain ones a
/// tenth. The root spreads that range: the usual threshold of 0.35 asks for an eighth of a perfect match, 0.5 for a
/// quarter. One map for every query, so the order stays and thresholds keep their meaning.
pub fn shown(merged: f64) -> f64 {
    merged.max(0.0).sqrt()
}

/// The seeds' `1 / (1 + max(0, rank))`, read literally: their rank is SQLite's negative BM25, so every hit gets 1.
fn literal_text_score(bm25: f32) -> f64 {
    let rank = -f64::from(bm25);
    if bm25 > 0.0 { 1.0 / (1.0 + rank.max(0.0)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, options};
    use super::*;

    #[test]
    fn a_text_score_is_the_share_of_the_ceiling() {
        // 1 - (1 - 0.25 / 1.4)^1.4 and 1 - (1 - 1 / 1.4)^1.4.
        assert!((text_score(3.0, 12.0) - 0.240_727).abs() < 1e-6);
        assert!((text_score(12.0, 12.0) - 0.826_896_9).abs() < 1e-6);
        assert_eq!(text_score(16.81, 12.0), 1.0);
        assert_eq!(text_score(19.0, 12.0), 1.0);
    }

    #[test]
    fn f024_a_text_score_rises_with_bm25_and_is_zero_only_without_a_word() {
        for ceiling in [9.0, 0.0, f32::NAN, f32::INFINITY] {
            let scores: Vec<f64> =
                [0.0, 1e-6, 0.5, 1.0, 4.0, 8.9].iter().map(|&bm25| text_score(bm25, ceiling)).collect();
            assert_eq!(scores[0], 0.0);
            assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
            assert!(scores[5] <= 1.0);
        }
    }

    #[test]
    fn five_deviations_above_the_mean_are_a_perfect_match() {
        let spread = Spread { mean: 0.25, deviation: 0.125 };
        assert_eq!(vector_score(0.25, spread), 0.0);
        assert_eq!(vector_score(0.5, spread), 0.4);
        assert_eq!(vector_score(0.875, spread), 1.0);
        assert_eq!(vector_score(-1.0, spread), 0.0);
    }

    #[test]
    fn f027_a_cosine_of_unrelated_texts_is_low_however_far_it_stands_out() {
        let least = 0.35_f64.powi(2) / Shares::ENCODER.vector_weight(0.0);
        for deviation in [0.0, 0.01, 0.05] {
            let spread = Spread { mean: 0.0, deviation };
            assert!(
                (1..=19).all(|percent| vector_score(percent as f32 / 100.0, spread) < least),
                "{deviation}"
            );
        }
        assert_eq!(vector_score(0.45, Spread { mean: 0.0, deviation: 0.05 }), 1.0);
    }

    #[test]
    fn without_a_spread_the_cosine_still_orders() {
        let scores: Vec<f64> = [-0.3, 0.0, 0.06, 0.45, 0.8, 0.9, 1.0]
            .iter()
            .map(|&cosine| vector_score(cosine, Spread { mean: 0.6, deviation: 0.0 }))
            .collect();
        assert_eq!(scores[0], 0.0);
        assert!(scores[1..].is_sorted_by(|a, b| a < b), "{scores:?}");
        assert_eq!(scores[6], 1.0);
    }

    #[test]
    fn weights_are_shares() {
        let with = |vector_weight, text_weight| RankOptions { vector_weight, text_weight, ..options() };
        assert_eq!(weights(&with(3.0, 1.0)), (0.75, 0.25));
        assert_eq!(weights(&with(0.0, 0.0)), (0.5, 0.5));
        assert_eq!(weights(&with(f32::NAN, 2.0)), (0.0, 1.0));
        assert_eq!(weights(&with(-1.0, 2.0)), (0.0, 1.0));
        assert_eq!(weights(&RankOptions { vectors: false, ..with(3.0, 1.0) }), (0.0, 1.0));
    }

    #[test]
    fn a_chunk_without_vector_is_judged_by_its_words_alone() {
        let options = RankOptions { vector_weight: 0.5, text_weight: 0.5, bm25_ceiling: 10.0, ..options() };
        let merged = merge(&candidate(1).bm25(5.0), &options);
        let words = text_score(5.0, 10.0);
        assert_eq!((merged.vector_score, merged.merged), (None, words / 2.0));
        assert_eq!(merged.shown, (words / 2.0).sqrt());
    }

    #[test]
    fn without_a_query_vector_the_merged_score_is_the_text_score() {
        let options = RankOptions { vectors: false, bm25_ceiling: 10.0, ..options() };
        let merged = merge(&candidate(1).bm25(5.0).cosine(0.9), &options);
        assert_eq!((merged.vector_score, merged.merged), (None, text_score(5.0, 10.0)));
    }

    #[test]
    fn vectors_count_more_the_less_words_say() {
        let weight = |best| Shares::ENCODER.vector_weight(best);
        assert_eq!(weight(0.0), 0.5);
        assert_eq!(weight(0.5), 0.2 + 0.3 * 0.5_f64.powi(24));
        assert_eq!(weight(1.0), 0.2);
        assert_eq!(weight(f64::NAN), 0.5);
        assert!(Shares::TABLE.vector_weight(0.4) < weight(0.4));
    }

    #[test]
    fn d3_the_seeds_formula_gives_every_keyword_hit_the_same() {
        let options = RankOptions {
            fusion: Fusion::WeightedRank,
            vector_weight: 0.7,
            text_weight: 0.3,
            bm25_ceiling: 10.0,
            ..options()
        };
        for bm25 in [0.01, 1.0, 30.0] {
            let merged = merge(&candidate(1).bm25(bm25).cosine(0.5), &options);
            assert!((merged.shown - 0.65).abs() < 1e-7, "{merged:?}");
        }
        let vector_only = merge(&candidate(1).cosine(0.5), &options);
        assert!((vector_only.shown - 0.35).abs() < 1e-7, "{vector_only:?}");
    }
}
