//! What the ranking costs once the candidates are there: it must not show beside the two retrievers.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use memgrep::rank::decay::Decay;
use memgrep::rank::recency::Recency;
use memgrep::rank::{Candidate, Fusion, PathMatch, RankOptions, path_match, rank, rank_first};
use memgrep::vector::Spread;

const WORDS: usize = 130;

/// Numbers that are the same in every run (xorshift, Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// 0..1.
    fn share(&mut self) -> f32 {
        (self.roll() >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// What two retrievers propose: a few good chunks and a long tail, half of them in daily notes.
fn pool(count: u64) -> Vec<Candidate> {
    let mut dice = Dice(5);
    let one = |id: u64| Candidate {
        id,
        note: id % 28,
        first_line: 1,
        bm25: 18.0 * dice.share().powi(3),
        held: true,
        lexical_rank: Some(id as usize),
        cosine: Some(0.1 + 0.7 * dice.share().powi(2)),
        vector_rank: Some(id as usize),
        age_days: id.is_multiple_of(2).then_some(id as i64),
        nearness: 0.0,
        importance: None,
        path_match: PathMatch::None,
    };
    (0..count).map(one).collect()
}

/// Words of chunks: half of a text is made of the commonest three hundred words of a language (Zipf).
fn word_sets(count: u64) -> Vec<Vec<u64>> {
    let mut dice = Dice(9);
    let mut set = || {
        let mut words: Vec<u64> = (0..WORDS)
            .map(|_| (30_000f32.powf(dice.share()) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect();
        words.sort_unstable();
        words.dedup();
        words
    };
    (0..count).map(|_| set()).collect()
}

fn options() -> RankOptions {
    RankOptions {
        fusion: Fusion::Absolute,
        vector_weight: 0.2,
        text_weight: 0.8,
        bm25_ceiling: 20.0,
        spread: Spread { mean: 0.2, deviation: 0.1 },
        vectors: true,
        most_lift: 0.0,
        decay: Decay::Bounded { half_life_days: 30.0, floor: 0.9 },
        recency: Some(Recency::usual()),
        mmr_lambda: Some(0.7),
        mmr_floor: 0.6,
        min_score: 0.35,
    }
}

fn a_pool(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("rank");
    for count in [96, 400] {
        let (pool, sets) = (pool(count), word_sets(count));
        let words = |id: u64| Ok(sets[id as usize].clone());
        let no_threshold = RankOptions { min_score: 0.0, ..options() };
        group.bench_function(format!("{count}, all"), |bench| {
            bench.iter_batched(
                || pool.clone(),
                |pool| rank(black_box(pool), &options(), &mut { words }),
                BatchSize::SmallInput,
            );
        });
        group.bench_function(format!("{count}, the first 6"), |bench| {
            bench.iter_batched(
                || pool.clone(),
                |pool| rank_first(6, black_box(pool), &options(), &mut { words }),
                BatchSize::SmallInput,
            );
        });
        group.bench_function(format!("{count}, the first 24"), |bench| {
            bench.iter_batched(
                || pool.clone(),
                |pool| rank_first(24, black_box(pool), &options(), &mut { words }),
                BatchSize::SmallInput,
            );
        });
        group.bench_function(format!("{count}, all, no threshold"), |bench| {
            bench.iter_batched(
                || pool.clone(),
                |pool| rank(black_box(pool), &no_threshold, &mut { words }),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn a_file_name(bench: &mut Criterion) {
    let path = "memory/projects/2026-01-20-router-migration.md";
    bench.bench_function("does a question name a file", |bench| {
        bench.iter(|| path_match(black_box("how do I get into the router?"), black_box(path)));
    });
}

criterion_group!(benches, a_pool, a_file_name);
criterion_main!(benches);
