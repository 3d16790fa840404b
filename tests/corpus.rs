//! The measuring corpus is the same everywhere: recorded figures can be compared.

#[path = "../benches/corpus/mod.rs"]
#[allow(dead_code, reason = "the benches use the rest")]
mod corpus;

use std::collections::HashSet;

/// `tests/test_benches.py` holds the same digest against `benches/corpus.py`.
#[test]
fn the_corpus_never_changes() {
    assert_eq!(corpus::corpus(1_000, corpus::SEED).digest(), "ccfd65e796006f10");
}

#[test]
fn notes_have_paths_of_their_own_and_two_to_five_kilobytes() {
    let corpus = corpus::corpus(1_000, corpus::SEED);
    let paths: HashSet<&str> = corpus.notes.iter().map(|note| note.path.as_str()).collect();
    assert_eq!(paths.len(), 1_000);
    for note in &corpus.notes {
        assert!((2_000..5_200).contains(&note.text.len()), "{}: {} bytes", note.path, note.text.len());
    }
}

#[test]
fn every_question_has_a_note() {
    let corpus = corpus::corpus(1_000, corpus::SEED);
    assert!(corpus.questions.len() > 200);
    for question in &corpus.questions {
        assert!(corpus.notes.iter().any(|note| note.path == question.path), "{question:?}");
    }
}

#[test]
fn texts_that_share_words_have_near_vectors() {
    let cosine = |a: &str, b: &str| -> f32 {
        corpus::vector(a, 256).iter().zip(corpus::vector(b, 256)).map(|(a, b)| a * b).sum()
    };
    assert!(
        cosine("the router is new", "the router is old")
            > cosine("the router is new", "four other words here")
    );
}
