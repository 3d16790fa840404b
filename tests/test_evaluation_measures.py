"""Measures and the bootstrap: pure functions, against values that can be worked out by hand."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as some
from memgrep.evaluation import measures
from memgrep.evaluation.bootstrap import difference
from memgrep.evaluation.measures import Shown, Span


@pytest.mark.parametrize(
    ("ranking", "grades", "expected"),
    [
        ("ab", {"a": 1}, (1.0, 1.0, 1.0, 1.0, 1.0)),
        ("xa", {"a": 1}, (1 / math.log2(3), 1.0, 1.0, 0.5, 0.0)),
        ("xyzwva", {"a": 1}, (1 / math.log2(7), 0.0, 1.0, 1 / 6, 0.0)),
        ("a", {"a": 1, "b": 1}, (1 / (1 + 1 / math.log2(3)), 0.5, 0.5, 1.0, 1.0)),
        ("ba", {"a": 2, "b": 1}, ((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)), 1.0, 1.0, 1.0, 1.0)),
        ("ba", {"a": 1, "b": 0}, (1 / math.log2(3), 1.0, 1.0, 0.5, 0.0)),
        ("", {"a": 1}, (0.0, 0.0, 0.0, 0.0, 0.0)),
        ("bcdefghijka", {"a": 1}, (0.0, 0.0, 0.0, 0.0, 0.0)),
    ],
    ids=[
        "first",
        "second",
        "sixth",
        "one of two",
        "graded",
        "a wrong one first",
        "nothing found",
        "eleventh",
    ],
)
def test_a_ranking(ranking, grades, expected):
    """nDCG@10, Recall@5, Recall@10, MRR@10 and hit@1."""
    notes = list(ranking)
    found = (
        measures.ndcg(notes, grades),
        measures.recall(notes, grades, 5),
        measures.recall(notes, grades, 10),
        measures.mrr(notes, grades),
        measures.hit(notes, grades),
    )

    assert found == pytest.approx(expected)


grades = some.dictionaries(some.sampled_from("abcdefghijklmnop"), some.integers(0, 3), max_size=16)


@given(some.permutations("abcdefghijklmnop"), grades)
def test_every_measure_is_between_0_and_1_and_the_best_order_is_1(ranking, grades):
    best = sorted(ranking, key=lambda note: -grades.get(note, 0))
    answered = any(grades.values())

    for value in (measures.ndcg(ranking, grades), measures.recall(ranking, grades, 5)):
        assert 0 <= value <= 1 + 1e-12
    assert measures.ndcg(best, grades) == pytest.approx(1.0 if answered else 0.0)
    assert measures.mrr(best, grades) == (1.0 if answered else 0.0)


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        ([], 0.0),
        (["the boat needs a new sail"], 0.0),
        (["the boat needs a new sail", "bread rises over night"], 0.0),
        (["the boat needs a new sail", "The boat  needs\na new sail"], 0.5),
        (["the boat needs a new sail"] * 4, 0.75),
        (
            ["小船需要一张新的帆，周六去港口边上的店里买。", "小船需要一张新的帆，周日去港口边上的店里买。"],
            0.5,
        ),
        (["ab", "ab", "cd"], 1 / 3),
        (["", ""], 0.5),
    ],
    ids=["none", "one", "two", "case and space", "all the same", "one character", "short", "blank"],
)
def test_duplicates_are_what_was_told_before(texts, share):
    assert measures.duplicates(texts) == pytest.approx(share)


def test_evidence_is_seen_when_all_its_lines_are():
    spans = (
        Span(note="a", first_line=3, last_line=4, lines=("the boat", "the sail")),
        Span(note="b", first_line=1, last_line=1, lines=("bread",)),
    )
    chunks = [
        Shown(note="b", first_line=2, last_line=9),
        Shown(note="a", first_line=1, last_line=3),
        Shown(note="a", first_line=4, last_line=6),
        Shown(note="b", first_line=1, last_line=1),
    ]

    assert [measures.evidence(spans, chunks[:k]) for k in range(5)] == [0.0, 0.0, 0.0, 0.5, 1.0]


def test_a_line_that_was_cut_was_not_seen():
    """A snippet names the line although it shows only a part of it."""
    span = Span(note="a", first_line=2, last_line=2, lines=("  a long line with the answer at its end",))
    cut = Shown(note="a", first_line=1, last_line=2, text="# boats\n  a long line with")
    whole = Shown(
        note="a", first_line=1, last_line=2, text="# boats\na long line with the answer at its end\n"
    )

    assert measures.evidence([span], [cut]) == 0.0
    assert measures.evidence([span], [whole]) == 1.0


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, 1), (0.5, 50), (0.501, 51), (0.99, 99), (0.991, 100), (1.0, 100)]
)
def test_percentiles_are_values_that_occurred(share, expected):
    values = list(range(1, 101))
    random.Random(1).shuffle(values)

    assert measures.percentile(values, share) == expected


# --- the bootstrap


def pairs(number: int, gain: float, seed: int = 1, noise: float = 0.3) -> list[tuple[float, float]]:
    """Values and the same ones, better by `gain` on average."""
    dice = random.Random(seed)
    before = [dice.random() for _ in range(number)]
    return [(value, value + gain + dice.uniform(-noise, noise)) for value in before]


def test_a_difference_is_the_mean_of_the_gains_within_its_interval():
    given_pairs = pairs(200, 0.1)

    found = difference("nDCG@10", [given_pairs])

    gains = [after - before for before, after in given_pairs]
    assert found.difference == pytest.approx(sum(gains) / 200)
    assert found.after - found.before == pytest.approx(found.difference)
    assert found.low < found.difference < found.high
    assert (found.rose, found.fell) == (sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains))


def test_the_interval_is_that_of_the_normal_approximation():
    """For many questions both agree: mean ± 1.96 standard errors, and p as of a z-test."""
    given_pairs = pairs(2_000, 0.01)
    gains = [after - before for before, after in given_pairs]
    mean = sum(gains) / len(gains)
    error = math.sqrt(sum((gain - mean) ** 2 for gain in gains)) / len(gains)

    found = difference("nDCG@10", [given_pairs])

    assert found.low == pytest.approx(mean - 1.96 * error, abs=error / 10)
    assert found.high == pytest.approx(mean + 1.96 * error, abs=error / 10)
    assert found.p == pytest.approx(math.erfc(abs(mean) / error / math.sqrt(2)), abs=0.02)


def test_luck_is_told_from_a_difference():
    assert difference("nDCG@10", [pairs(300, 0.1)]).p < 0.001
    assert difference("nDCG@10", [pairs(300, 0.0)]).p > 0.05


def test_the_same_seed_gives_the_same_figures():
    first, again, other = (difference("nDCG@10", [pairs(50, 0.02)], seed=seed) for seed in (7, 7, 8))

    assert first == again
    assert first != other


def test_a_large_set_counts_as_much_as_a_small_one():
    small, large = [(0.0, 1.0), (0.5, 1.0)], [(0.5, 0.5)] * 98

    found = difference("nDCG@10", [small, large])

    assert (found.before, found.after, found.difference) == pytest.approx((0.375, 0.75, 0.375))
    assert found.questions == 100


@pytest.mark.parametrize(("gain", "p"), [(0.0, 1.0), (0.1, 0.0)])
def test_where_every_question_changes_alike_there_is_no_doubt(gain, p):
    found = difference("nDCG@10", [[(0.3, 0.3 + gain)] * 10])

    assert (found.p, found.low, found.high) == pytest.approx((p, gain, gain))


def test_no_question_is_no_difference():
    with pytest.raises(ValueError, match="questions that both"):
        difference("nDCG@10", [[(1.0, 1.0)], []])
