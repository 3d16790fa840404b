//! How long a question takes: the whole query through `Index`, as a door asks it, with everything warm.

#[allow(dead_code, reason = "other benches use the rest")]
mod corpus;

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use memgrep::chunk::Chunking;
use memgrep::index::{Engine, Filter, Index, SearchOptions, SyncOptions, TemporalDecay};
use memgrep::rank::Fusion;
use memgrep::rank::hybrid::Shares;
use memgrep::scan::ScanSpec;

const DIMS: usize = 256;

/// The settings' defaults, with the day after the corpus as today.
fn options() -> SearchOptions {
    SearchOptions {
        max_results: 6,
        min_score: 0.35,
        filter: Filter { sources: 0b101, ..Filter::default() },
        today: 20_454,
        fusion: Fusion::Absolute,
        weights: None,
        shares: Shares::ENCODER,
        temporal: true,
        decay: TemporalDecay::Auto { half_life_days: 30.0, floor: None },
        extra_fades: false,
        mmr_lambda: Some(0.7),
        candidate_multiplier: 4,
        snippet_chars: 700,
    }
}

/// An index of `notes` notes with a vector for every chunk.
fn indexed(folder: &Path, corpus: &corpus::Corpus) -> Index {
    let workspace = folder.join("workspace");
    corpus.write(&workspace).expect("the corpus can be written");
    let index = Index::open(&folder.join("index.sqlite"), false, Engine::Exact).expect("a new index opens");
    let spec = ScanSpec { workspace, extra: Vec::new(), max_file_bytes: 1 << 24, ignore: Vec::new() };
    let sync = SyncOptions {
        spec,
        chunking: Chunking { tokens: 400, overlap: 80 },
        only: None,
        verify: false,
        rebuild: false,
        dry_run: false,
        wait_ms: 1_000,
        now_ns: None,
        progress: None,
    };
    index.sync(&sync).expect("the corpus can be indexed");
    index.select_fingerprint(Some("words"));
    loop {
        let pending = index.pending(1_000).expect("a page of texts");
        if pending.is_empty() {
            break;
        }
        let vectors: Vec<f32> = pending.iter().flat_map(|(_, text)| corpus::vector(text, DIMS)).collect();
        let hashes: Vec<[u8; 16]> = pending.iter().map(|(hash, _)| *hash).collect();
        index.put_vectors(&hashes, &vectors, DIMS).expect("vectors can be stored");
    }
    index.publish(1_000).expect("the index can be published");
    index
}

fn questions(bench: &mut Criterion) {
    // One round for CI (`-- --test`) needs no large corpus to show that everything still runs.
    let smoke = std::env::args().any(|argument| argument == "--test");
    let sizes: &[usize] = if smoke { &[100] } else { &[1_000, 10_000] };
    for &notes in sizes {
        let corpus = corpus::corpus(notes, corpus::SEED);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = indexed(folder.path(), &corpus);
        let options = options();
        let mut group = bench.benchmark_group(format!("search/{notes} notes"));
        for kind in ["identifier", "keywords", "natural"] {
            let asked: Vec<_> = corpus.questions.iter().filter(|question| question.kind == kind).collect();
            let vectors: Vec<_> = asked.iter().map(|question| corpus::vector(&question.text, DIMS)).collect();
            let mut turn = 0;
            group.bench_function(format!("{kind}, by word"), |b| {
                b.iter(|| {
                    turn = (turn + 1) % asked.len();
                    black_box(index.search(&asked[turn].text, None, &options).expect("an answer"))
                });
            });
            group.bench_function(format!("{kind}, hybrid"), |b| {
                b.iter(|| {
                    turn = (turn + 1) % asked.len();
                    black_box(
                        index.search(&asked[turn].text, Some(&vectors[turn]), &options).expect("an answer"),
                    )
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, questions);
criterion_main!(benches);
