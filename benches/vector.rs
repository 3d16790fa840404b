//! How long it takes to find the nearest of 30,000 vectors, with each engine, and to have them at hand.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use memgrep::error::Result;
use memgrep::vector::exact::Exact;
use memgrep::vector::vec0::Vec0;
use memgrep::vector::{VectorIndex, Vectors, pack, plain_scan};

const DIMS: usize = 256;
const CHUNKS: usize = 30_000;
/// Hits a search asks for, six and three times as many for the ranking to choose from.
const LIMIT: usize = 24;

/// Numbers from -1 to 1 that are the same in every run (xorshift, Marsaglia 2003).
fn numbers(count: usize, mut seed: u64) -> Vec<f32> {
    let mut roll = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| roll()).collect()
}

/// Packed vectors one after the other, as a store that needs no time would hand them out.
struct Packed(Vec<u8>);

impl Vectors for Packed {
    fn vectors(&self, ids: &[u64], sink: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        for (position, &id) in ids.iter().enumerate() {
            sink(position, &self.0[id as usize * DIMS * 4..][..DIMS * 4]);
        }
        Ok(())
    }
}

fn the_nearest(bench: &mut Criterion) {
    let vectors = numbers(CHUNKS * DIMS, 7);
    let query = numbers(DIMS, 11);
    let ids: Vec<u64> = (0..CHUNKS as u64).collect();
    let packed = Packed(pack(&vectors));
    let mut group = bench.benchmark_group("nearest of 30,000");
    group.throughput(Throughput::Elements(CHUNKS as u64));

    let mut exact = Exact::new(DIMS).expect("dims are possible");
    exact.add(&ids, &vectors).expect("vectors are usable");
    let nearest = |index: &dyn VectorIndex, keep: &dyn Fn(u64) -> bool| {
        index.nearest(black_box(&query), LIMIT, keep, &packed).expect("the query is usable")
    };
    group.bench_function("exact", |bench| bench.iter(|| nearest(&exact, &|_| true)));
    group.bench_function("exact, one in a hundred kept", |bench| {
        bench.iter(|| nearest(&exact, &|id| id % 100 == 0));
    });

    group.sample_size(20);
    let memory = rusqlite::Connection::open_in_memory().expect("memory can be opened");
    let mut vec0 = Vec0::open(memory, DIMS, "bench").expect("vec0 is linked");
    vec0.add(&ids, &vectors).expect("vectors are usable");
    group.bench_function("vec0", |bench| bench.iter(|| nearest(&vec0, &|_| true)));
    group.bench_function("plain scan", |bench| {
        let rows = || (0..).zip(vectors.chunks_exact(DIMS));
        bench.iter(|| plain_scan(rows(), black_box(&query), LIMIT, &|_| true));
    });
    group.finish();
}

fn having_them_at_hand(bench: &mut Criterion) {
    let vectors = numbers(CHUNKS * DIMS, 7);
    let ids: Vec<u64> = (0..CHUNKS as u64).collect();
    let empty = || Exact::new(DIMS).expect("dims are possible");
    let mut full = empty();
    full.add(&ids, &vectors).expect("vectors are usable");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    full.save(&path, "bench", 1).expect("the folder can be written");

    let mut group = bench.benchmark_group("30,000 vectors");
    group.sample_size(30);
    group.bench_function("load", |bench| {
        bench.iter(|| Exact::load(black_box(&path), "bench").expect("the file is whole"));
    });
    group.bench_function("save", |bench| {
        bench.iter(|| full.save(black_box(&path), "bench", 1).expect("the folder can be written"));
    });
    group.bench_function("add all", |bench| {
        bench.iter_batched_ref(empty, |index| index.add(&ids, &vectors), BatchSize::LargeInput);
    });
    group.finish();
}

criterion_group!(benches, the_nearest, having_them_at_hand);
criterion_main!(benches);
