"""The read side: what a question is, what day it is, what the core is asked."""

import math
from types import SimpleNamespace

import pytest
from memgrep.config import load
from memgrep.hits import Explanation
from memgrep.search import ask, check_question, today
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


@pytest.mark.parametrize("engine", ["exact", "vec0", "auto", "usearch"])
def test_every_engine_finds_the_same(ws, engine):
    for n in range(20):
        ws.write(f"memory/n{n}.md", f"lantern oil {'kettle' if n == 7 else n}\n")

    with ws.memory(HashEmbedder(), store__vector__engine=engine) as memory:
        memory.index()
        assert memory.search("the kettle").hits[0].path == "memory/n7.md"
        assert memory.status()["store"]["engine"] == ("vec0" if engine == "vec0" else "exact")


def test_notes_of_extra_paths_fade_only_if_asked_for(ws):
    import os

    os.utime(ws.write("runbooks/r.md", "lantern oil\n"), (1.7e9, 1.7e9))
    exponential = {"query__hybrid__temporalDecay__enabled": True, "query__minScore": 0.0}

    with ws.memory(
        extraPaths=["runbooks"], query__hybrid__temporalDecay__extraPaths="mtime", **exponential
    ) as memory:
        memory.index()
        (hit,) = memory.search("lantern")

    assert hit.explanation.decay < 0.01


class Sessions:
    """An index with a transcript that answers best; it notes which sources it is asked for."""

    read_only = False

    def __init__(self) -> None:
        self.asked: list[object] = []

    def search(self, query, vector, *, sources, **_options):
        self.asked.append(sources)
        found = [hit("sessions/s.md", "sessions"), hit("memory/a.md", "memory")]
        return SimpleNamespace(
            hits=[one for one in found if sources is None or one.source in sources],
            chunks=2,
            vectors=0,
            pending=0,
            refused=0,
            vectors_used=False,
        )


def hit(path: str, source: str) -> SimpleNamespace:
    factors = dict.fromkeys(Explanation.__annotations__, 0.5) | {"lexical_rank": 1}
    return SimpleNamespace(
        path=path,
        source=source,
        start_line=1,
        end_line=1,
        score=0.5,
        snippet="x",
        importance=None,
        context="",
        matches=[],
        absolute_path=f"/{path}",
        chunk_start_line=1,
        chunk_end_line=1,
        explanation=SimpleNamespace(**factors),
    )


@pytest.mark.parametrize("sources", [("memory", "extra"), ("sessions",), ("memory", "sessions", "extra")])
def test_only_the_sources_asked_for_answer(sources):
    """Transcripts that are in the index stay out of an answer from memory."""
    index, settings = Sessions(), load({}, workspace="/notes", environ={}, files=False)

    answer = ask(index, settings, "x", embedder=None, today=0, sources=sources)

    expected = {"memory": "memory/a.md", "sessions": "sessions/s.md"}
    assert {hit.path for hit in answer} == {expected[one] for one in sources if one in expected}
