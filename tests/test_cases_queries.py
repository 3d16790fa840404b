"""Kind A: what is typed is data. Each test goes through both doors."""

import pytest


def found(door, query: str) -> list[str]:
    return [hit["path"] for hit in door.search(query)["results"]]


def test_f001_a_hyphen_is_no_operator(ws, door):
    ws.write("memory/a.md", "We chose the dual-region setup.\n")

    answer = door.search("dual-region")

    assert [(hit["path"], hit["startLine"]) for hit in answer["results"]] == [("memory/a.md", 1)]
    assert found(door, "dual region") == ["memory/a.md"]


def test_f002_slashes_part_words(ws, door):
    ws.write("memory/a.md", "Throughput reached 12 GB/s after tuning configs/ingest.toml\n")

    assert found(door, "GB/s") == ["memory/a.md"]
    assert found(door, "configs/ingest.toml") == ["memory/a.md"]
    assert isinstance(found(door, "GBs"), list)


@pytest.mark.parametrize("query", ["don't restart", "don’t restart"])
def test_f003_apostrophes_hide_nothing(ws, door, query):
    ws.write("memory/a.md", "Don't restart the broker on Fridays\n")

    assert found(door, query) == ["memory/a.md"]


def test_f004_operators_are_words(ws, door):
    ws.write("memory/a.md", "status: blocked on vendor\n")

    assert found(door, "status: blocked") == ["memory/a.md"]
    assert found(door, "blocked OR") == found(door, "blocked") == ["memory/a.md"]


@pytest.mark.parametrize("query", ["(rust", 'say "rust', "rust)", '"rust'])
def test_f005_unbalanced_punctuation_is_dropped(ws, door, query):
    ws.write("memory/a.md", "Rust borrow rules\n")

    assert found(door, query) == ["memory/a.md"]


def test_f006_no_query_language_has_power(ws, door):
    ws.write("memory/x.md", "text secret plan\n")
    ws.write("memory/y.md", "other\n")

    assert found(door, "path:memory NOT secret")[0] == "memory/x.md"
    assert found(door, "NEAR(secret plan)")[0] == "memory/x.md"


def test_f007_question_mark_and_plus_are_harmless(ws, door):
    ws.write("memory/a.md", "The C++ build uses clang 18\n")

    assert found(door, "which compiler builds the C++ part?") == ["memory/a.md"]


def test_f008_words_need_not_be_neighbours(ws, door):
    ws.write("memory/a.md", "The migration of the billing database is planned for May\n")

    assert found(door, "database migration") == ["memory/a.md"]


def test_f009_a_version_number_is_matched_whole_first(ws, door):
    ws.write("memory/a.md", "Rolled back to 7.14.2 last night\n")
    ws.write("memory/b.md", "There were 14 people\n")

    assert found(door, "7.14.2")[0] == "memory/a.md"


def test_f010_compounds_are_found_whole_and_by_part(ws, door):
    ws.write("memory/a.md", "POL-B731 covers retention\n")
    ws.write("memory/b.md", "B731 spare part\n")

    assert sorted(found(door, "B731")) == ["memory/a.md", "memory/b.md"]
    assert found(door, "POL-B731")[0] == "memory/a.md"


def test_f011_camel_case_is_found_whole_and_by_part(ws, door):
    ws.write("memory/a.md", "call rebuildShadowIndex() after import\n")

    whole = door.search("rebuildShadowIndex")["results"][0]
    parts = door.search("shadow index")["results"][0]

    assert whole["path"] == parts["path"] == "memory/a.md"
    assert whole["score"] > parts["score"]


@pytest.mark.parametrize("query", ["", "   \n"])
def test_f012_blank_is_an_empty_answer_at_once(ws, fake, remote, query):
    """No embedding request, no store, no error."""
    ws.write("memory/a.md", "text\n")

    with ws.memory(**remote) as memory:
        answer = memory.search(query)

    assert (answer.hits, answer.unavailable, fake.requests) == ((), False, 0)
    assert not ws.store.exists()
    assert ws.ran("search", "--", query)["results"] == []


@pytest.mark.parametrize("query", ["天气", "x"])
def test_f013_an_empty_index_says_so(ws, door, query):
    answer = door.search(query)

    assert answer["results"] == []
    assert "index empty" in answer["warning"]


def test_f014_addresses_and_colons_are_plain_text(ws, door):
    ws.write("memory/a.md", "see https://wiki.example/setup for usb-c adapters\n")

    for query in ("https://wiki.example/setup", "setup:", 'usb-c adapters""'):
        assert found(door, query) == ["memory/a.md"], query
    assert found(door, ">>>") == []


@pytest.mark.parametrize(
    "query", ["\ud800 lantern", "lantern\x00", "lantern " * 5000, "* ? [ ] { } ^ ~ : \\ lantern"]
)
def test_nothing_that_is_typed_raises(ws, query):
    """Half a surrogate pair, NUL, very long text, everything a query language could mean."""
    ws.write("memory/a.md", "the lantern\n")

    with ws.memory() as memory:
        assert [hit.path for hit in memory.search(query)] == ["memory/a.md"]
