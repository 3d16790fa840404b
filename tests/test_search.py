"""The read side: what a question is, what day it is, what the core is asked."""

import math

import pytest
from memgrep.search import check_question, today
from memgrep.testing import HashEmbedder


@pytest.mark.parametrize("query", [None, 7, b"x", ["x"]])
def test_a_question_is_a_text(query):
    with pytest.raises(ValueError, match="query must be a text"):
        check_question(query, None, None, "memory")


@pytest.mark.parametrize("number", [0, -5, 2001, True, 1.0, "3", math.inf])
def test_max_results_has_a_range(number):
    with pytest.raises(ValueError, match="maxResults must be a whole number from 1 to 2000"):
        check_question("x", number, None, "memory")


@pytest.mark.parametrize("number", [-0.01, 1.01, True, "0.5", math.nan])
def test_min_score_has_a_range(number):
    with pytest.raises(ValueError, match="minScore must be a number from 0 to 1"):
        check_question("x", None, number, "memory")


@pytest.mark.parametrize(
    ("zone", "now", "day"),
    [
        ("UTC", 0, 0),
        ("UTC", 86_399, 0),
        ("UTC", 86_400, 1),
        ("Asia/Shanghai", 16 * 3600, 1),
        ("America/Los_Angeles", 0, -1),
        ("Pacific/Kiritimati", 20_000 * 86_400 + 10 * 3600, 20_001),
    ],
)
def test_a_day_begins_where_the_user_is(zone, now, day):
    assert today(zone, now) == day


def test_f094_as_many_results_as_asked_for(ws):
    for n in range(300):
        ws.write(f"memory/n{n}.md", f"lantern number {n}\n")

    with ws.memory() as memory:
        memory.index()
        assert len(memory.search("lantern", max_results=2000)) == 300


def test_meaning_alone_when_hybrid_is_off(ws):
    ws.write("memory/a.md", "lantern oil\n")
    ws.write("memory/b.md", "kettle\n")

    with ws.memory(HashEmbedder(), query__hybrid__enabled=False) as memory:
        memory.index()
        answer = memory.search("lantern")

    assert (answer.mode, answer.hits[0].path) == ("vector", "memory/a.md")
    assert answer.hits[0].explanation.text_weight == 0


def test_both_signals_are_in_a_hybrid_hit(ws):
    ws.write("memory/a.md", "lantern oil\n")

    with ws.memory(HashEmbedder()) as memory:
        memory.index()
        (hit,) = memory.search("lantern")

    assert hit.vector_score is not None
    assert hit.text_score is not None
    assert 0 < hit.score <= 1
    assert hit.explanation.vector_weight + hit.explanation.text_weight == pytest.approx(1)


def test_matches_are_ranges_of_the_snippet(ws):
    ws.write("memory/a.md", "Überblick 🧭 the lantern\n")

    with ws.memory() as memory:
        (hit,) = memory.search("lantern")

    assert [hit.snippet[start:end] for start, end in hit.matches] == ["lantern"]
