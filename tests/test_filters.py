"""Filters at every door: days, paths, sources. What passes is found however deep it lies, by words and by meaning."""

import asyncio
import os
import re
from datetime import date

import pytest
from memgrep import AsyncMemory, tools
from memgrep.testing import HashEmbedder

NOTES = {
    "MEMORY.md": "# Facts\n\n- the lantern is in the shed\n",
    "memory/2026-02-28.md": "lantern oil bought\n",
    "memory/2026-03-01.md": "lantern lit\n",
    "memory/daily/2026-03-15-trip.md": "lantern packed\n",
    "memory/2026-04-01.md": "lantern broken\n",
    "memory/projects/boat.md": "lantern at the berth\n",
    "memory/projects/old/2026-03-20.md": "lantern of the old boat\n",
}


@pytest.fixture
def notes(ws):
    for path, text in NOTES.items():
        ws.write(path, text)
    return ws


@pytest.mark.parametrize(
    ("only", "found"),
    [
        ({}, set(NOTES)),
        (
            {"since": "2026-03-01"},
            {
                "memory/2026-03-01.md",
                "memory/daily/2026-03-15-trip.md",
                "memory/2026-04-01.md",
                "memory/projects/old/2026-03-20.md",
            },
        ),
        ({"until": "2026-03-01"}, {"memory/2026-02-28.md", "memory/2026-03-01.md"}),
        ({"since": "2026-03-15", "until": "2026-03-15"}, {"memory/daily/2026-03-15-trip.md"}),
        ({"since": "2027-01-01"}, set()),
        ({"path": "memory/projects"}, {"memory/projects/boat.md", "memory/projects/old/2026-03-20.md"}),
        ({"path": "memory/projects/"}, {"memory/projects/boat.md", "memory/projects/old/2026-03-20.md"}),
        ({"path": "./MEMORY.md"}, {"MEMORY.md"}),
        ({"path": "projects"}, set()),
        (
            {"path": "memory/2026-*.md"},
            {"memory/2026-02-28.md", "memory/2026-03-01.md", "memory/2026-04-01.md"},
        ),
        (
            {"path": "memory/**/2026-03-*"},
            {
                "memory/2026-03-01.md",
                "memory/daily/2026-03-15-trip.md",
                "memory/projects/old/2026-03-20.md",
            },
        ),
        ({"path": "memory/projects", "since": "2026-03-01"}, {"memory/projects/old/2026-03-20.md"}),
        ({"source": "memory"}, set(NOTES)),
        ({"source": "extra"}, set()),
    ],
)
def test_only_what_passes_answers(notes, door, paths, only, found):
    answer = door.search("lantern", max_results=50, only=only)

    assert set(paths(answer)) == found


def test_extra_paths_are_a_source_and_have_paths(ws, tmp_path, door, paths):
    outside = tmp_path / "elsewhere" / "notes.md"
    outside.parent.mkdir()
    outside.write_text("lantern outside\n", encoding="utf-8")
    ws.write("runbooks/r.md", "lantern inside\n")
    ws.write("memory/a.md", "lantern at home\n")
    extra = {"extraPaths": ["runbooks", str(outside.parent)]}

    assert set(paths(door.search("lantern", only={"source": "extra"}, **extra))) == {
        "runbooks/r.md",
        str(outside),
    }
    assert paths(door.search("lantern", only={"path": "runbooks"}, **extra)) == ["runbooks/r.md"]
    assert paths(door.search("lantern", only={"path": str(outside.parent)}, **extra)) == [str(outside)]


def test_a_note_from_an_extra_path_has_a_day_if_it_fades(ws):
    note = ws.write("runbooks/r.md", "lantern oil\n")
    os.utime(note, (1_772_366_400, 1_772_366_400))  # 2026-03-01 12:00 UTC

    def found(rule: str, since: str) -> list[str]:
        settings = {"extraPaths": ["runbooks"], "query__hybrid__temporalDecay__extraPaths": rule}
        with ws.memory(**settings) as memory:
            memory.index()
            return [hit.path for hit in memory.search("lantern", since=since)]

    assert found("evergreen", "2026-03-01") == []
    assert found("mtime", "2026-03-01") == ["runbooks/r.md"]
    assert found("mtime", "2026-03-02") == []


@pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["keyword", "hybrid"])
@pytest.mark.parametrize(
    "only",
    [
        {"since": "2026-05-01", "until": "2026-05-01"},
        {"path": "memory/deep"},
        {"path": "memory/deep/2026-05-01.md", "since": "2026-01-01"},
    ],
)
def test_what_passes_is_found_below_hundreds_that_match_better(ws, embedder, only):
    """The filter is no sieve for the best hits of all: the pool is filled with what passes it."""
    for number in range(300):
        ws.write(f"memory/2026-04-{number % 30 + 1:02}-{number}.md", "lantern oil lantern oil lantern oil\n")
    words = "\n".join(f"something else entirely number {number}" for number in range(40))
    ws.write("memory/deep/2026-05-01.md", f"{words}\nthe lantern\n")

    with ws.memory(embedder, query__hybrid__candidateMultiplier=1, query__minScore=0) as memory:
        memory.index()
        assert [hit.path for hit in memory.search("lantern oil", **only)] == ["memory/deep/2026-05-01.md"]


def test_meaning_alone_is_filtered_too(ws):
    ws.write("memory/a/one.md", "lantern\n")
    ws.write("memory/b/two.md", "lantern\n")

    with ws.memory(HashEmbedder(), query__hybrid__enabled=False, query__minScore=0) as memory:
        memory.index()
        answer = memory.search("lantern", path="memory/b")

    assert (answer.mode, [hit.path for hit in answer]) == ("vector", ["memory/b/two.md"])


def test_a_note_that_is_named_passes_like_any_other(notes):
    with notes.memory() as memory:
        memory.index()
        in_folder = [hit.path for hit in memory.search("boat", path="memory/projects")]
        dated = [hit.path for hit in memory.search("boat", since="2026-01-01")]

    assert in_folder[0] == "memory/projects/boat.md"
    assert "memory/projects/boat.md" not in dated


def test_a_shorter_filtered_list_begins_a_longer_one(notes):
    with notes.memory() as memory:
        memory.index()
        lists = [
            [hit.path for hit in memory.search("lantern boat", max_results=n, since="2026-03-01")]
            for n in range(1, 6)
        ]

    assert all(lists[-1][: n + 1] == shorter for n, shorter in enumerate(lists))


def test_new_notes_pass_a_pattern_that_was_asked_for_before(notes):
    with notes.memory() as memory:
        memory.index()
        assert len(memory.search("lantern", path="memory/projects")) == 2
        notes.write("memory/projects/car.md", "lantern in the car\n")
        memory.index()

        assert len(memory.search("lantern", path="memory/projects")) == 3


def test_days_may_be_dates(notes):
    with notes.memory() as memory:
        memory.index()

        hits = memory.search("lantern", since=date(2026, 4, 1))

    assert [hit.path for hit in hits] == ["memory/2026-04-01.md"]


def test_the_tool_and_the_asynchronous_door_filter_too(notes):
    with notes.memory() as memory:
        memory.index()
        arguments = {"query": "lantern", "since": "2026-03-02", "until": "2026-03-31", "path": "memory/daily"}
        answer = tools.call(memory, "memory_search", {**arguments, "source": "memory"})

    async def asked():
        async with AsyncMemory(notes.folder, arguments=notes.settings, background=False) as memory:
            return await memory.search("lantern", since="2026-03-02", path="memory/daily", source="memory")

    assert [hit["path"] for hit in answer["results"]] == ["memory/daily/2026-03-15-trip.md"]
    assert [hit.path for hit in asyncio.run(asked())] == ["memory/daily/2026-03-15-trip.md"]


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ({"since": "March"}, "since must be a day such as 2026-03-01, not 'March'"),
        ({"until": "2026-02-30"}, "until must be a day such as 2026-03-01, not '2026-02-30'"),
        ({"since": "20260301"}, "since must be a day such as 2026-03-01, not '20260301'"),
        ({"since": ""}, "since must be a day"),
        (
            {"since": "2026-03-02", "until": "2026-03-01"},
            "since 2026-03-02 is later than until 2026-03-01; swap them",
        ),
        ({"path": " "}, "path must be a folder, a note or a glob such as memory/projects"),
        ({"path": "/"}, 'path "/" names nothing; write a folder'),
        ({"path": "memory/{a"}, 'path "memory/{a": pattern "/memory/{a" cannot be read'),
        ({"source": "wiki"}, "source must be one of memory, extra, sessions, not 'wiki'"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_named_with_what_is_allowed(notes, only, said):
    with notes.memory() as memory:
        memory.index()
        with pytest.raises(ValueError, match=re.escape(said)) as caught:
            memory.search("lantern", **only)
        with pytest.raises(ValueError, match=re.escape(said)) as by_tool:
            tools.call(memory, "memory_search", {"query": "lantern", **only})
    done = notes.run("search", *[f"--{name}={value}" for name, value in only.items()], "lantern")

    assert str(by_tool.value) == str(caught.value)
    assert (done.returncode, done.stdout) == (2, b"")
    assert str(caught.value) in done.stderr.decode()


def test_a_source_outside_of_the_corpus_is_said(notes):
    with notes.memory() as memory, pytest.raises(ValueError, match="source sessions is not in corpus memory"):
        memory.search("lantern", corpus="memory", source="sessions")


def test_a_source_that_is_not_enabled_is_unavailable(notes):
    with notes.memory() as memory:
        answer = memory.search("lantern", source="sessions")

    assert answer.unavailable
    assert "searching sessions is not enabled" in answer.error
