//! Recency among equals: of hits that answer about as well as the best one, the newest comes first.
//!
//! A factor of age can do that only if it is so strong that it buries what is old. Here age moves nothing but hits whose
//! scores say that they are equally good: they trade places, and scores.

use super::Scored;
use crate::error::Result;

/// The least share of the best score with which a hit counts as equal.
const NEAR: f32 = 0.98;
/// The same for questions about the present.
const NEAR_NOW: f32 = 0.96;
/// The same for questions about the present and hits that hold the query's words which the best one holds.
const SAME_NOW: f32 = 0.92;
/// So much of these words.
const HELD: f64 = 0.8;

/// Which hits are equals.
#[derive(Debug, Clone, PartialEq)]
pub struct Recency {
    /// Share of the best score from which on a hit is one.
    near: f32,
    /// Share from which on it is one if it speaks of the same thing: holds the words of the query that the best hit holds.
    same: f32,
    /// The query's words, as `text::token_set`.
    query: Vec<u64>,
}

impl Recency {
    /// For questions that say nothing about time.
    pub fn usual() -> Self {
        Self { near: NEAR, same: NEAR, query: Vec::new() }
    }

    /// For questions about the present, by the words of the query (`text::token_set`).
    pub fn for_the_present(query: Vec<u64>) -> Self {
        Self { near: NEAR_NOW, same: SAME_NOW, query }
    }

    /// Puts the newest of the best hits first, whatever is undated staying where it is. `scored` come best first; scores stay
    /// with the places.
    pub(super) fn settle(
        &self,
        scored: Vec<Scored>,
        words: &mut dyn FnMut(u64) -> Result<Vec<u64>>,
    ) -> Result<Vec<Scored>> {
        let places = self.equals(&scored, words)?;
        let mut newest = places.clone();
        newest.sort_by_key(|&place| scored[place].candidate.age_days);
        if newest == places {
            return Ok(scored);
        }
        let relevances: Vec<f64> = places.iter().map(|&place| scored[place].relevance).collect();
        let mut taken: Vec<Option<Scored>> = scored.into_iter().map(Some).collect();
        let moved: Vec<Option<Scored>> = newest.iter().map(|&place| taken[place].take()).collect();
        for ((place, mut one), relevance) in places.into_iter().zip(moved).zip(relevances) {
            if let Some(one) = &mut one {
                one.recency = relevance / one.relevance;
                one.relevance = relevance;
            }
            taken[place] = one;
        }
        Ok(taken.into_iter().flatten().collect())
    }

    /// The places of the dated hits that answer as well as the first.
    fn equals(
        &self,
        scored: &[Scored],
        words: &mut dyn FnMut(u64) -> Result<Vec<u64>>,
    ) -> Result<Vec<usize>> {
        let Some(best) = scored.first().filter(|best| best.relevance > 0.0) else { return Ok(Vec::new()) };
        let least = |share: f32| f64::from(share) * best.relevance;
        let mut of_best = None;
        let mut places = Vec::new();
        for (place, one) in scored.iter().enumerate() {
            let same_tier = one.candidate.path_match == best.candidate.path_match;
            if !same_tier || one.relevance < least(self.same) {
                break;
            }
            if one.candidate.age_days.is_none() {
                continue;
            }
            if one.relevance < least(self.near) {
                let wanted = match &of_best {
                    Some(wanted) => wanted,
                    None => of_best.insert(common(&self.query, &words(best.candidate.id)?)),
                };
                let held = common(wanted, &words(one.candidate.id)?).len();
                if wanted.is_empty() || (held as f64) < HELD * wanted.len() as f64 {
                    continue;
                }
            }
            places.push(place);
        }
        Ok(places)
    }
}

/// What two sorted sets have in common.
fn common(one: &[u64], other: &[u64]) -> Vec<u64> {
    one.iter().copied().filter(|word| other.binary_search(word).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, options};
    use super::super::{Candidate, RankOptions, Ranked, rank};
    use super::*;

    const QUERY: [u64; 3] = [1, 2, 3];

    /// A note of so many days ago.
    fn aged(id: u64, bm25: f32, age: i64) -> Candidate {
        Candidate { age_days: Some(age), ..candidate(id).bm25(bm25) }
    }

    /// Every chunk holds the query's words, but for chunk 9.
    fn words(id: u64) -> Result<Vec<u64>> {
        Ok(if id == 9 { vec![4, 5] } else { vec![1, 2, 3, 10 + id] })
    }

    fn ranked(recency: Recency, candidates: Vec<Candidate>) -> Vec<Ranked> {
        let options = RankOptions { vectors: false, recency: Some(recency), ..options() };
        rank(candidates, &options, &mut words).unwrap()
    }

    fn ids(list: &[Ranked]) -> Vec<u64> {
        list.iter().map(|hit| hit.id).collect()
    }

    #[test]
    fn of_equal_hits_the_newest_comes_first() {
        let list = ranked(Recency::usual(), vec![aged(1, 5.0, 90), aged(2, 5.0, 10), aged(3, 5.0, 40)]);
        assert_eq!(ids(&list), [2, 3, 1]);
    }

    #[test]
    fn near_hits_trade_places_and_scores() {
        let candidates = vec![aged(1, 5.0, 90), aged(2, 4.9, 10)];
        let by_score =
            rank(candidates.clone(), &RankOptions { vectors: false, ..options() }, &mut words).unwrap();
        let list = ranked(Recency::usual(), candidates);
        assert_eq!((ids(&by_score), ids(&list)), (vec![1, 2], vec![2, 1]));
        let scores = |list: &[Ranked]| list.iter().map(|hit| hit.score).collect::<Vec<_>>();
        assert_eq!(scores(&by_score), scores(&list));
        let factor = list[0].explanation.recency;
        assert!(factor > 1.0 && (list[1].explanation.recency * factor - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_better_answer_stays_first_however_old_it_is() {
        let candidates = vec![aged(1, 8.0, 900), aged(2, 4.0, 0)];
        assert_eq!(ids(&ranked(Recency::usual(), candidates.clone())), [1, 2]);
        assert_eq!(ids(&ranked(Recency::for_the_present(QUERY.to_vec()), candidates)), [1, 2]);
    }

    #[test]
    fn a_question_about_the_present_sees_more_equals() {
        let candidates = vec![aged(1, 5.0, 90), aged(2, 4.2, 10)];
        assert_eq!(ids(&ranked(Recency::usual(), candidates.clone())), [1, 2]);
        assert_eq!(ids(&ranked(Recency::for_the_present(QUERY.to_vec()), candidates)), [2, 1]);
    }

    #[test]
    fn farther_hits_are_equal_only_if_they_speak_of_the_same_thing() {
        let now = || Recency::for_the_present(QUERY.to_vec());
        assert_eq!(ids(&ranked(now(), vec![aged(1, 5.0, 90), aged(2, 4.4, 10)])), [2, 1]);
        assert_eq!(ids(&ranked(now(), vec![aged(1, 5.0, 90), aged(9, 4.4, 10)])), [1, 9]);
        assert_eq!(
            ids(&ranked(Recency::for_the_present(Vec::new()), vec![aged(1, 5.0, 90), aged(2, 4.4, 10)])),
            [1, 2]
        );
    }

    #[test]
    fn what_has_no_day_keeps_its_place() {
        let evergreen = candidate(7).bm25(4.95);
        let list = ranked(Recency::usual(), vec![aged(1, 5.0, 90), evergreen, aged(2, 4.9, 10)]);
        assert_eq!(ids(&list), [2, 7, 1]);
    }
}
