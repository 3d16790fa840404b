//! What a keyword search costs, and what it costs to keep its index in line.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use memgrep::lexical::{Facts, Lexical, LexicalChunk};
use memgrep::text::{QueryTerm, query_terms};

/// Chunks of a mid-sized memory: 35 MB of notes.
const CHUNKS: usize = 28_000;
/// Words of a chunk of 400 tokens.
const WORDS: usize = 260;

/// A repeatable row of numbers (xorshift, Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A word whose frequency falls with its rank, as in a language (Zipf).
    fn word(&mut self) -> String {
        let share = (self.roll() % 1_000_000) as f64 / 1e6;
        let mut rank = 60_000_f64.powf(share) as u64;
        let mut word = String::new();
        while rank > 0 || word.len() < 2 {
            word.push((b'a' + (rank % 23) as u8) as char);
            rank /= 23;
        }
        word
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|at| self.word() + if at % 12 == 11 { ".\n" } else { " " }).collect()
    }
}

struct Notes {
    texts: Vec<String>,
    paths: Vec<String>,
}

impl Notes {
    fn new() -> Self {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
        let texts = (0..CHUNKS).map(|_| dice.text(WORDS)).collect();
        let paths = (0..CHUNKS).map(|chunk| format!("memory/2026/note-{}.md", chunk / 8)).collect();
        Self { texts, paths }
    }

    fn chunks(&self) -> Vec<LexicalChunk<'_>> {
        (0..)
            .zip(self.texts.iter().zip(&self.paths))
            .map(|(id, (text, path))| chunk(id, text, path))
            .collect()
    }
}

fn chunk<'a>(id: u64, text: &'a str, path: &'a str) -> LexicalChunk<'a> {
    LexicalChunk { id, text, context: "Harbour > Berths", path, facts: Facts::default() }
}

fn searching(bench: &mut Criterion) {
    let notes = Notes::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut lexical = Lexical::open(folder.path()).expect("an index");
    lexical.add(&notes.chunks()).expect("added");
    lexical.commit(1).expect("committed");
    let mut dice = Dice(77);
    let questions: Vec<Vec<QueryTerm>> = (0..64).map(|_| query_terms(&dice.text(10))).collect();
    let mut turn = 0;

    let mut group = bench.benchmark_group("search");
    group.bench_function("ten words over 28,000 chunks", |bench| {
        bench.iter(|| {
            turn += 1;
            lexical.pass(&questions[turn % questions.len()]).expect("a pass").top(24, &|_, _| true)
        });
    });
    group.finish();

    let mut group = bench.benchmark_group("change");
    group.sample_size(20);
    let mut id = CHUNKS as u64;
    group.bench_function("one note of three chunks", |bench| {
        bench.iter(|| {
            let chunks: Vec<_> =
                (0..3).map(|part| chunk(id + part, &notes.texts[part as usize], "memory/today.md")).collect();
            lexical.remove(&[id - 3, id - 2, id - 1]).expect("removed");
            lexical.add(&chunks).expect("added");
            lexical.commit(id).expect("committed");
            id += 3;
        });
    });
    group.bench_function("open", |bench| bench.iter(|| Lexical::open(folder.path()).expect("an index")));
    group.finish();
}

fn indexing(bench: &mut Criterion) {
    let notes = Notes::new();
    let chunks = notes.chunks();
    let mut group = bench.benchmark_group("index");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(notes.texts.iter().map(|text| text.len() as u64).sum()));
    group.bench_function("28,000 chunks", |bench| {
        bench.iter_batched(
            || tempfile::tempdir().expect("a temporary folder"),
            |folder| {
                let mut lexical = Lexical::open(folder.path()).expect("an index");
                chunks.chunks(500).for_each(|batch| lexical.add(batch).expect("added"));
                lexical.commit(1).expect("committed");
                folder
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, searching, indexing);
criterion_main!(benches);
