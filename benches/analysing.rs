//! How fast words are found: the floor under every re-index, and under every snippet; and the time in a question.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memgrep::snippet::snippet;
use memgrep::text::{for_each_term, query_terms, token_estimate, token_set};
use memgrep::when::time_of_question;

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

fn a_question(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("time of a question");
    for (name, question) in [
        ("none", "where is the spare key of the bicycle shed, and who has the other one?"),
        ("english", "what did we decide about the retention plan between the end of March and last Tuesday?"),
        ("german", "Was haben wir Anfang März letzten Jahres über die Übergangsregelung beschlossen?"),
        ("chinese", "上个月底我们在图书馆决定了什么？去年三月的会议纪要在哪里？"),
    ] {
        group.bench_function(name, |bench| bench.iter(|| time_of_question(black_box(question), 20_635)));
    }
    group.finish();
}

criterion_group!(benches, finding_words, one_chunk, a_question);
criterion_main!(benches);
