"""The figures can be trusted: the corpus is the same in both languages, made sets hold what they say."""

import datetime
import hashlib
import re
from collections import Counter
from pathlib import Path

import corpus
import latest
import pytest
import quality
from memgrep.evaluation import LabelledSet


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


# --- questions about the latest state


def digest(labelled: LabelledSet) -> str:
    parts = [*(labelled.notes or {}).items(), *map(repr, labelled.questions)]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def test_the_questions_about_the_latest_state_are_always_the_same():
    """Figures of two days can be compared; whoever changes the set says so here."""
    assert digest(latest.labelled()) == "a4b7c1aeb6d143f2"
    assert digest(latest.labelled(seed=1)) != digest(latest.labelled())


def test_every_language_asks_in_three_ways():
    asked = Counter((one.tags["language"], one.tags["ask"]) for one in latest.labelled().questions)

    assert {language for language, _ in asked} == {"en", "de", "zh"}
    assert all(
        asked[language, ask] >= 20 for language in ("en", "de", "zh") for ask in ("plain", "present", "past")
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_newest_note_about_a_fact_answers_and_an_older_one_is_asked_by_its_month(seed):
    labelled = latest.labelled(seed)
    ages = []

    for one in labelled.questions:
        (note,) = one.grades
        (span,) = one.evidence
        line = labelled.notes[note].split("\n")[span.first_line - 1]
        day = datetime.date.fromisoformat(Path(note).stem)
        ages.append((latest.NOW - day).days)
        assert note.startswith(one.scope)
        assert line.startswith("- ")
        if one.tags["ask"] == "past":
            words = latest.languages()[one.tags["language"]]
            assert words["months"][day.month - 1] in one.text

    assert min(ages) >= 10
    assert max(ages) > 180


@pytest.mark.parametrize("seed", range(5))
def test_the_last_value_is_stated_once_and_last(seed):
    dice = corpus.Dice(seed)
    for words in latest.languages().values():
        for kind in words["facts"]:
            for subject in kind["subjects"]:
                statements = latest.fact(dice, kind, subject).statements
                days = [one.day for one in statements]
                stated = [next(value for value in kind["values"] if value in one.text) for one in statements]
                assert days == sorted(set(days))
                assert stated.count(stated[-1]) == 1 < len(stated)


def test_a_set_with_every_measure_fits_into_the_table(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["quality.py", "--arm", "keyword", "latest"])

    quality.main()

    *_, row = capsys.readouterr().out.strip().splitlines()
    assert re.fullmatch(r"\| latest \| \d+ \| [01]\.\d{3}( / [01]\.\d{3}){4} \|", row)
