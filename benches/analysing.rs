//! How fast words are found: the floor under every re-index, and under every snippet.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memgrep::snippet::snippet;
use memgrep::text::{for_each_term, query_terms, token_estimate, token_set};

/// About 200 kB of notes in one manner of writing.
fn notes(manner: &str) -> String {
    let line = match manner {
        "english" => {
            "The broker moved to rack seven on Friday, and Anna's team wants the retention plan before the harbour review.\n"
        }
        "code" => {
            "- `memorySearch.query.hybrid` in configs/ingest.toml: set retry_index=7.14.2, see https://wiki.example/setup#GB-per-s\n"
        }
        "german" => {
            "Die Verjährungsfrist für Mängelansprüche beträgt fünf Jahre; für größere Änderungen gilt die Übergangsregelung.\n"
        }
        "russian" => {
            "Совещание перенесли на пятницу, потому что отчёт о хранилище ещё не готов и его нужно согласовать.\n"
        }
        _ => {
            "昨日は図書館で会議録を整理した。下周二在图书馆整理会议纪要。내일 도서관에서 회의록을 정리한다.\n"
        }
    };
    line.repeat(200_000 / line.len())
}

fn finding_words(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("words");
    for manner in ["english", "code", "german", "russian", "cjk"] {
        let notes = notes(manner);
        group.throughput(Throughput::Bytes(notes.len() as u64));
        group.bench_with_input(BenchmarkId::new("index terms", manner), &notes, |bench, notes| {
            bench.iter(|| {
                let mut bytes = 0;
                for_each_term(notes, &mut |term| bytes += term.text.len());
                bytes
            });
        });
    }
    let english = notes("english");
    group.throughput(Throughput::Bytes(english.len() as u64));
    group.bench_function("token estimate", |bench| bench.iter(|| token_estimate(&english)));
    group.finish();
}

fn one_chunk(bench: &mut Criterion) {
    let chunk = &notes("english")[..1600];
    let question = "when did the broker move to rack seven, and who asked for the retention plan?";
    let terms: Vec<String> = query_terms(question).into_iter().map(|term| term.text).collect();
    bench.bench_function("token set of a chunk", |bench| bench.iter(|| token_set(chunk)));
    bench.bench_function("snippet of a chunk", |bench| bench.iter(|| snippet(chunk, &terms, 700)));
}

criterion_group!(benches, finding_words, one_chunk);
criterion_main!(benches);
