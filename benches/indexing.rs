//! How long it takes until a note is found: the whole sync through `Index`, from an empty index, without any change,
//! and with one changed note. Vectors are not part of it: they cost what their provider costs.

#[allow(dead_code, reason = "other benches use the rest")]
mod corpus;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use memgrep::chunk::Chunking;
use memgrep::index::{Engine, Index, SyncOptions};
use memgrep::scan::ScanSpec;

fn sync(index: &Index, workspace: &Path) -> usize {
    let options = SyncOptions {
        spec: ScanSpec {
            workspace: workspace.to_owned(),
            extra: Vec::new(),
            max_file_bytes: 1 << 24,
            ignore: Vec::new(),
        },
        chunking: Chunking { tokens: 400, overlap: 80 },
        only: None,
        verify: false,
        rebuild: false,
        dry_run: false,
        wait_ms: 1_000,
        now_ns: None,
        progress: None,
    };
    index.sync(&options).expect("the corpus can be indexed").chunks
}

fn open(folder: &Path) -> Index {
    Index::open(&folder.join("index.sqlite"), false, Engine::Exact).expect("an index opens")
}

fn syncs(bench: &mut Criterion) {
    // One round for CI (`-- --test`) needs no large corpus to show that everything still runs.
    let smoke = std::env::args().any(|argument| argument == "--test");
    let sizes: &[usize] = if smoke { &[100] } else { &[1_000, 10_000] };
    for &notes in sizes {
        let corpus = corpus::corpus(notes, corpus::SEED);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let workspace: PathBuf = folder.path().join("workspace");
        corpus.write(&workspace).expect("the corpus can be written");
        let bytes: usize = corpus.notes.iter().map(|note| note.text.len()).sum();

        let mut group = bench.benchmark_group(format!("sync/{notes} notes"));
        group.sample_size(10);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function("from empty", |b| {
            let fresh = || tempfile::tempdir().expect("a temporary folder");
            let full = |folder: tempfile::TempDir| {
                black_box(sync(&open(folder.path()), &workspace));
                folder
            };
            b.iter_batched(fresh, full, BatchSize::PerIteration);
        });

        let index = open(folder.path());
        sync(&index, &workspace);
        group.bench_function("no change", |b| b.iter(|| black_box(sync(&index, &workspace))));

        let note = workspace.join(&corpus.notes[notes / 2].path);
        let mut round = 0;
        group.bench_function("one changed note", |b| {
            b.iter(|| {
                round += 1;
                let text = format!("{}\nchange {round}\n", corpus.notes[notes / 2].text);
                fs::write(&note, text).expect("a note can be written");
                black_box(sync(&index, &workspace))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, syncs);
criterion_main!(benches);
