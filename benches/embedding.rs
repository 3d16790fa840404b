//! How fast the built-in model embeds: the floor under an index with vectors, and a question's share of a search.
//!
//! Chunks of about 1,600 bytes are made of common words with rare ones between, in the proportion of
//! prose; the throughput is in chunks. The model is the one that is shipped.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memgrep::embed::StaticModel;

const CHUNKS: usize = 256;
const COMMON: &str = "the of and to in is that for it as was with on be by at this not are from or have an they which \
    one you were all her she there would their we him been has when who will more no if out so said what up its about \
    into than them can only other new some could time these two may then do first any my now such like our over";
const RARE: &str = "router gateway certificate migration Thursday invoice allergies rehearsal database snapshot \
    Konstanz deployment sourdough landlord telescope checksum vocabulary photography staging marathon insurance";

fn model() -> StaticModel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/memgrep/data/static.mgm");
    StaticModel::open(&path).expect("the model is part of the source tree")
}

/// English-like prose: two words of three are common ones, and every tenth has a number or a syllable of its own.
fn chunks() -> Vec<String> {
    let (common, rare): (Vec<_>, Vec<_>) = (COMMON.split(' ').collect(), RARE.split_whitespace().collect());
    let mut state = 20_260_101_u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut chunk = || {
        let mut text = String::new();
        while text.len() < 1_600 {
            match next(10) {
                0 => text.push_str(&format!("{}{}", rare[next(rare.len())], next(5_000))),
                1..4 => text.push_str(rare[next(rare.len())]),
                _ => text.push_str(common[next(common.len())]),
            }
            text.push_str(if next(12) == 0 { ".\n" } else { " " });
        }
        text
    };
    (0..CHUNKS).map(|_| chunk()).collect()
}

fn embedding(bench: &mut Criterion) {
    let model = model();
    let chunks = chunks();
    let mut vectors = Vec::with_capacity(CHUNKS * model.dims());
    let mut group = bench.benchmark_group("embed");
    group.throughput(Throughput::Elements(CHUNKS as u64));
    group.bench_function("chunks of 1,600 bytes", |bench| {
        bench.iter(|| {
            vectors.clear();
            for chunk in &chunks {
                model.embed(black_box(chunk), &mut vectors);
            }
        });
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("a question", |bench| {
        bench.iter(|| {
            vectors.clear();
            model.embed(black_box("When did we move the router to the new address?"), &mut vectors)
        });
    });
    group.bench_function("opening, and a first question", |bench| {
        bench.iter(|| {
            vectors.clear();
            self::model().embed(black_box("When did we move the router to the new address?"), &mut vectors)
        });
    });
    group.finish();
}

criterion_group!(benches, embedding);
criterion_main!(benches);
