//! Diversity: a hit that says again what a hit above it said goes down.

use rustc_hash::FxHashMap;

use crate::error::Result;

/// What MMR needs to know of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item<Tier> {
    /// Items of one tier stay together, in the order the tiers come in.
    pub tier: Tier,
    /// Score, not scaled to the other candidates.
    pub relevance: f64,
}

/// How diversity is weighed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// 1: relevance only, 0: diversity only.
    pub lambda: f64,
    /// The least similarity that counts, 0..1: two texts about one thing share words, two copies share most of them.
    pub floor: f64,
}

impl From<f64> for Rule {
    /// Every similarity counts, as in the paper.
    fn from(lambda: f64) -> Self {
        Self { lambda, floor: 0.0 }
    }
}

/// A chosen item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pick {
    /// Its place in the list that was given.
    pub position: usize,
    /// What similarity took off its value: `(1 - λ) * max similarity`; 0 for the first.
    pub penalty: f64,
}

/// Picks `limit` items one after the other, each time the one with the highest
/// `λ * relevance - (1 - λ) * max similarity to the picks before it`
/// (Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", 1998).
///
/// `items` come by tier, then by falling relevance; of two equal values the earlier item wins. A pick depends only on
/// those before it, so the picks of a smaller limit are the first picks of a larger one. Scores are not scaled, so the
/// weakest of few candidates is not pushed to the end, and an item leaving the list changes nothing for the others.
///
/// `words(position)` gives sorted, distinct word hashes. It is called once for an item whose similarity is needed; an
/// item whose relevance alone cannot win any more is never looked at.
pub fn pick<Tier: PartialEq>(
    items: &[Item<Tier>],
    Rule { lambda, floor }: Rule,
    limit: usize,
    words: &mut dyn FnMut(usize) -> Result<Vec<u64>>,
) -> Result<Vec<Pick>> {
    let lambda = lambda.clamp(0.0, 1.0);
    let limit = limit.min(items.len());
    // NaN survives the clamp and lands here too.
    if lambda.is_nan() || lambda == 1.0 {
        return Ok((0..limit).map(|position| Pick { position, penalty: 0.0 }).collect());
    }
    let texts = items.iter().map(|_| None).collect();
    let mut texts = Texts { words, numbers: FxHashMap::default(), texts };
    let mut states = vec![State::default(); items.len()];
    let mut picks: Vec<Pick> = Vec::with_capacity(limit);
    let mut first = 0;
    while picks.len() < limit {
        while states[first].picked {
            first += 1;
        }
        let mut best: Option<(usize, f64)> = None;
        for position in first..items.len() {
            if items[position].tier != items[first].tier {
                break;
            }
            let state = &mut states[position];
            if state.picked {
                continue;
            }
            let most = lambda * items[position].relevance;
            let wins = |value: f64| best.is_none_or(|(_, best)| value > best);
            if !wins(most) {
                break;
            }
            let value = |state: &State| most - (1.0 - lambda) * state.nearest;
            while wins(value(state)) && state.compared < picks.len() {
                let other = picks[state.compared].position;
                let similarity = texts.similarity(position, other, state.nearest.max(floor))?;
                if similarity >= floor {
                    state.nearest = state.nearest.max(similarity);
                }
                state.compared += 1;
            }
            if wins(value(state)) {
                best = Some((position, value(state)));
            }
        }
        // `first` itself is unpicked and in its own tier, so there is always a best.
        let position = best.map_or(first, |(position, _)| position);
        states[position].picked = true;
        picks.push(Pick { position, penalty: (1.0 - lambda) * states[position].nearest });
    }
    Ok(picks)
}

/// How far an item has been compared with the picks.
#[derive(Debug, Clone, Default)]
struct State {
    picked: bool,
    /// Picks it has been compared with.
    compared: usize,
    /// Highest similarity to one of those.
    nearest: f64,
}

/// The texts of a pool, read when first needed.
///
/// Words are numbered as they come up, so that a pick can tick its own off on a list, and comparing a text with it means
/// counting ticks: less than half of the time that merging two sorted sets takes.
struct Texts<'a> {
    words: &'a mut dyn FnMut(usize) -> Result<Vec<u64>>,
    numbers: FxHashMap<u64, u32>,
    texts: Vec<Option<Text>>,
}

struct Text {
    /// Numbers of its words.
    words: Vec<u32>,
    /// Whether the word of each number is in it, as far as numbers went when it was read.
    ticks: Vec<bool>,
}

impl Texts<'_> {
    /// [`jaccard`] similarity of a text to a pick, or 0 if it cannot reach `enough`.
    fn similarity(&mut self, position: usize, pick: usize, enough: f64) -> Result<f64> {
        self.read(position)?;
        self.read(pick)?;
        let (Some(text), Some(pick)) = (&self.texts[position], &self.texts[pick]) else { return Ok(0.0) };
        let (one, other) = (text.words.len(), pick.words.len());
        if (one.min(other) as f64) < enough * one.max(other) as f64 {
            return Ok(0.0);
        }
        let ticked =
            |number: &u32| usize::from(pick.ticks.get(*number as usize).is_some_and(|&ticked| ticked));
        Ok(share(text.words.iter().map(ticked).sum(), one, other))
    }

    fn read(&mut self, position: usize) -> Result<()> {
        if self.texts[position].is_some() {
            return Ok(());
        }
        let mut words = Vec::new();
        for hash in (self.words)(position)? {
            let next = self.numbers.len() as u32;
            words.push(*self.numbers.entry(hash).or_insert(next));
        }
        let mut ticks = vec![false; self.numbers.len()];
        words.iter().for_each(|&number| ticks[number as usize] = true);
        self.texts[position] = Some(Text { words, ticks });
        Ok(())
    }
}

/// `common / (one + other - common)`; 0 without anything in common.
fn share(common: usize, one: usize, other: usize) -> f64 {
    if common == 0 { 0.0 } else { common as f64 / (one + other - common) as f64 }
}

/// `|A ∩ B| / |A ∪ B|` of two sorted sets; a set without words is similar to nothing, not even to another such set.
///
/// ```
/// use memgrep::rank::mmr::jaccard;
///
/// assert_eq!(jaccard(&[1, 2, 3], &[2, 3, 4]), 0.5);
/// assert_eq!(jaccard(&[], &[]), 0.0);
/// ```
pub fn jaccard(one: &[u64], other: &[u64]) -> f64 {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < one.len() && j < other.len() {
        let (a, b) = (one[i], other[j]);
        common += usize::from(a == b);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    share(common, one.len(), other.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn items(relevance: &[f64]) -> Vec<Item<()>> {
        relevance.iter().map(|&relevance| Item { tier: (), relevance }).collect()
    }

    fn positions(relevance: &[f64], lambda: f64, sets: &[&[u64]]) -> Vec<usize> {
        let picks =
            pick(&items(relevance), lambda.into(), usize::MAX, &mut |position| Ok(sets[position].to_vec()));
        picks.unwrap().iter().map(|pick| pick.position).collect()
    }

    /// The rule without any short cut.
    fn naive(items: &[Item<u8>], lambda: f64, sets: &[Vec<u64>]) -> Vec<usize> {
        let mut rest: Vec<usize> = (0..items.len()).collect();
        let mut chosen: Vec<usize> = Vec::new();
        while !rest.is_empty() {
            let tier = items[rest[0]].tier;
            let mut best = (0, f64::NEG_INFINITY);
            for (place, &position) in
                rest.iter().enumerate().filter(|(_, position)| items[**position].tier == tier)
            {
                let nearest =
                    chosen.iter().map(|&other| jaccard(&sets[position], &sets[other])).fold(0.0, f64::max);
                let value = lambda * items[position].relevance - (1.0 - lambda) * nearest;
                if value > best.1 {
                    best = (place, value);
                }
            }
            chosen.push(rest.remove(best.0));
        }
        chosen
    }

    #[test]
    fn a_near_copy_goes_behind_a_weaker_note_that_says_something_else() {
        let sets: [&[u64]; 3] = [&[1, 2, 3, 4], &[1, 2, 3, 5], &[7, 8, 9]];
        assert_eq!(positions(&[0.9, 0.88, 0.7], 0.7, &sets), [0, 2, 1]);
    }

    #[test]
    fn lambda_one_is_relevance_alone_and_reads_no_text() {
        let mut none = |_| -> Result<Vec<u64>> { panic!("no text is needed") };
        for lambda in [1.0, 7.0, f64::NAN] {
            let picks = pick(&items(&[0.9, 0.8, 0.7]), lambda.into(), 2, &mut none).unwrap();
            assert_eq!(picks, [Pick { position: 0, penalty: 0.0 }, Pick { position: 1, penalty: 0.0 }]);
        }
    }

    #[test]
    fn lambda_zero_is_difference_alone_after_the_best() {
        let sets: [&[u64]; 4] = [&[1, 2], &[1, 2], &[1, 3], &[4]];
        assert_eq!(positions(&[0.9, 0.8, 0.7, 0.1], 0.0, &sets), [0, 3, 2, 1]);
    }

    #[test]
    fn f019_texts_without_words_are_not_copies_of_each_other() {
        assert_eq!(positions(&[0.9, 0.8, 0.7], 0.7, &[&[], &[], &[]]), [0, 1, 2]);
        assert_eq!(positions(&[0.9, 0.8, 0.7], 0.0, &[&[], &[], &[]]), [0, 1, 2]);
    }

    #[test]
    fn the_penalty_is_what_similarity_took_off() {
        let sets: [&[u64]; 2] = [&[1, 2], &[2, 3]];
        let picks =
            pick(&items(&[0.9, 0.8]), 0.7.into(), 2, &mut |position| Ok(sets[position].to_vec())).unwrap();
        assert_eq!(picks[0].penalty, 0.0);
        assert!((picks[1].penalty - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_text_that_cannot_win_is_not_read() {
        let mut asked = Vec::new();
        let relevance: Vec<f64> = (0..50).map(|place| 1.0 - 0.018 * f64::from(place)).collect();
        let picks = pick(&items(&relevance), 0.7.into(), 3, &mut |position| {
            asked.push(position);
            Ok(vec![position as u64])
        });
        assert_eq!(picks.unwrap().len(), 3);
        asked.sort_unstable();
        assert_eq!(asked, [0, 1, 2], "each text once, and only of the picks");
    }

    #[test]
    fn an_error_while_reading_a_text_is_passed_on() {
        let failed = pick(&items(&[0.9, 0.8]), 0.7.into(), 2, &mut |_| Err(crate::error::Error::Interrupted));
        assert!(matches!(failed, Err(crate::error::Error::Interrupted)));
    }

    fn pools() -> impl Strategy<Value = (Vec<Item<u8>>, Vec<Vec<u64>>)> {
        let item = (0u8..3, 0u8..=20, prop::collection::btree_set(0u64..12, 0..8));
        prop::collection::vec(item, 0..25).prop_map(|mut pool| {
            pool.sort_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
            pool.into_iter()
                .map(|(tier, relevance, set): (u8, u8, BTreeSet<u64>)| {
                    (Item { tier, relevance: f64::from(relevance) / 20.0 }, set.into_iter().collect())
                })
                .unzip()
        })
    }

    proptest! {
        #[test]
        fn short_cuts_change_nothing((items, sets) in pools(), lambda in 0u8..=10) {
            let lambda = f64::from(lambda) / 10.0;
            let picks = pick(&items, lambda.into(), usize::MAX, &mut |position| Ok(sets[position].clone())).unwrap();
            let positions: Vec<usize> = picks.iter().map(|pick| pick.position).collect();
            prop_assert_eq!(positions, naive(&items, lambda, &sets));
        }

        #[test]
        fn the_first_picks_do_not_depend_on_how_many_are_asked_for((items, sets) in pools(), limit in 0usize..30) {
            let all = pick(&items, 0.7.into(), usize::MAX, &mut |position| Ok(sets[position].clone())).unwrap();
            let some = pick(&items, 0.7.into(), limit, &mut |position| Ok(sets[position].clone())).unwrap();
            prop_assert_eq!(&all[..limit.min(all.len())], &some[..]);
        }
    }

    #[test]
    fn only_near_duplicates_count_above_the_floor() {
        // The second shares three of four words with the first, the third half of them.
        let sets: [&[u64]; 3] = [&[1, 2, 3, 4], &[1, 2, 3], &[1, 2, 5, 6]];
        let picks = |floor| {
            let rule = Rule { lambda: 0.5, floor };
            let picks = pick(&items(&[0.9, 0.8, 0.4]), rule, 3, &mut |position| Ok(sets[position].to_vec()));
            picks.unwrap().iter().map(|pick| (pick.position, pick.penalty)).collect::<Vec<_>>()
        };
        assert_eq!(picks(0.0), [(0, 0.0), (2, 0.5 / 3.0), (1, 0.375)]);
        assert_eq!(picks(0.6), [(0, 0.0), (2, 0.0), (1, 0.375)]);
        assert_eq!(picks(0.75), [(0, 0.0), (2, 0.0), (1, 0.375)], "the floor itself counts");
        assert_eq!(picks(0.8), [(0, 0.0), (1, 0.0), (2, 0.0)]);
    }
}
