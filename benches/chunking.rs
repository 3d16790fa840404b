//! How fast notes are cut: the floor under every re-index.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memgrep::chunk::{Chunking, chunk};

#[allow(dead_code, reason = "the other benches use the rest")]
mod corpus;

const DEFAULT: Chunking = Chunking { tokens: 400, overlap: 80 };

fn a_thousand_notes(bench: &mut Criterion) {
    let corpus = corpus::corpus(1_000, corpus::SEED);
    let bytes: usize = corpus.notes.iter().map(|note| note.text.len()).sum();
    let mut group = bench.benchmark_group("chunk");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("a thousand notes", |bench| {
        bench.iter(|| corpus.notes.iter().map(|note| chunk(&note.text, false, DEFAULT).len()).sum::<usize>());
    });
    group.finish();
}

fn odd_notes(bench: &mut Criterion) {
    const MEGABYTE: usize = 1 << 20;
    let mut group = bench.benchmark_group("chunk one megabyte");
    group.throughput(Throughput::Bytes(MEGABYTE as u64));
    let mut items: String = (0..).map(|n| format!(r#"{{"key{n}":{n}}},"#)).take(MEGABYTE / 16).collect();
    items.truncate(MEGABYTE);
    let notes = [
        ("one line", items),
        ("list entries", "- bought milk and bread\n".repeat(MEGABYTE / 24)),
        ("Chinese", "会议决定把备份时间改到凌晨三点。\n".repeat(MEGABYTE / 49)),
        ("blank lines", "\n".repeat(MEGABYTE)),
    ];
    for (name, note) in &notes {
        group.bench_function(*name, |bench| bench.iter(|| chunk(note, true, DEFAULT).len()));
    }
    group.finish();
}

criterion_group!(benches, a_thousand_notes, odd_notes);
criterion_main!(benches);
