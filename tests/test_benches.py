"""The figures can be trusted: the corpus is the same in both languages, and the measures are right."""

import math

import corpus
import pytest

pytest.importorskip("memgrep.memory", reason="the public API is not built yet")
import quality


def test_the_corpus_is_the_one_of_the_rust_benches():
    """`tests/corpus.rs` holds the same digest."""
    assert corpus.digest(*corpus.corpus(1_000)) == "ccfd65e796006f10"


def test_another_seed_makes_another_corpus():
    assert corpus.digest(*corpus.corpus(50)) != corpus.digest(*corpus.corpus(50, seed=1))


def test_every_question_has_its_note():
    notes, questions = corpus.corpus(200)
    texts = {note.path: note.text for note in notes}

    assert {question.kind for question in questions} == {"identifier", "keywords", "natural"}
    assert all(
        question.text in texts[question.path] for question in questions if question.kind == "identifier"
    )


@pytest.mark.parametrize(
    ("ranking", "grades", "measures"),
    [
        (["a", "b"], {"a": 1}, (1.0, 1.0, 1.0, 1.0)),
        (["x", "a"], {"a": 1}, (1 / math.log2(3), 1.0, 1.0, 0.5)),
        (["x"] * 1 + ["y", "z", "w", "v", "a"], {"a": 1}, (1 / math.log2(7), 0.0, 1.0, 1 / 6)),
        (["a"], {"a": 1, "b": 1}, (1 / (1 + 1 / math.log2(3)), 0.5, 0.5, 1.0)),
        (["b", "a"], {"a": 2, "b": 1}, ((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)), 1.0, 1.0, 1.0)),
        ([], {"a": 1}, (0.0, 0.0, 0.0, 0.0)),
        (list("bcdefghijka"), {"a": 1}, (0.0, 0.0, 0.0, 0.0)),
    ],
    ids=["first", "second", "sixth", "one of two", "graded", "nothing found", "eleventh"],
)
def test_measures(ranking, grades, measures):
    assert quality.measured(ranking, grades) == pytest.approx(measures)
