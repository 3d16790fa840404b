"""The two tools: schemas, arguments as models send them, answers instead of exceptions."""

import json

import pytest
from memgrep import tools
from memgrep.errors import IndexUnavailable


def test_the_schemas_agree_with_the_recorded_ones(shared):
    """Same tools, same argument names, types and requirements; our corpora are ours."""
    recorded = json.loads((shared / "golden/openclaw-e2e-none-schemas.json").read_text(encoding="utf-8"))
    for case in recorded["cases"]:
        theirs = case["parameters"]
        ours = tools.TOOLS[case["name"]].schema()
        names = set(theirs["properties"]) - {"corpus"}
        assert {name: ours["properties"][name]["type"] for name in names} == {
            name: theirs["properties"][name]["type"] for name in names
        }
        assert (ours["required"], ours["additionalProperties"]) == (theirs["required"], False)


def test_a_schema_says_the_range():
    search = tools.TOOLS["memory_search"].schema()["properties"]

    assert (search["maxResults"]["minimum"], search["maxResults"]["maximum"]) == (1, 2000)
    assert (search["minScore"]["minimum"], search["minScore"]["maximum"]) == (0, 1)
    assert search["corpus"]["enum"] == ["memory", "sessions", "all"]


def test_definitions_for_the_usual_endpoints():
    names = ["memory_search", "memory_get"]

    assert [tool["function"]["name"] for tool in tools.openai_tools()] == names
    assert [tool["name"] for tool in tools.anthropic_tools()] == names
    assert json.dumps([tools.openai_tools(), tools.anthropic_tools()])


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("memory_search", {}, "query is required"),
        ("memory_search", {"query": 7}, "query is required"),
        (
            "memory_search",
            {"query": "x", "maxResults": 0},
            "maxResults must be a whole number from 1 to 2000, not 0",
        ),
        ("memory_search", {"query": "x", "maxResults": 1.5}, "maxResults must be a whole number"),
        ("memory_search", {"query": "x", "maxResults": True}, "maxResults must be a whole number"),
        ("memory_search", {"query": "x", "maxResults": "many"}, "maxResults must be a whole number"),
        ("memory_search", {"query": "x", "minScore": 2}, "minScore must be a number from 0 to 1, not 2"),
        (
            "memory_search",
            {"query": "x", "minScore": "nan"},
            "minScore must be a number from 0 to 1, not nan",
        ),
        ("memory_search", {"query": "x", "corpus": "wiki"}, "corpus must be one of memory, sessions, all"),
        (
            "memory_search",
            {"query": "x", "top_k": 3},
            "memory_search has no argument 'top_k'; it has query, maxResults",
        ),
        ("memory_get", {}, "path is required"),
        ("memory_get", {"path": ""}, "path must name a note"),
        ("memory_get", {"path": "MEMORY.md", "from": 0}, "from must be a whole number ≥ 1, not 0"),
        ("memory_get", {"path": "MEMORY.md", "lines": -1}, "lines must be a whole number ≥ 1, not -1"),
        ("memory_put", {}, "there is no tool 'memory_put'; there are memory_search, memory_get"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(ws, name, arguments, said):
    with ws.memory() as memory, pytest.raises(ValueError, match=said.replace("(", r"\(")):
        tools.call(memory, name, arguments)


def test_numbers_may_come_as_text_and_nothing_as_null(ws):
    ws.write("MEMORY.md", "one\ntwo\nthree\n")
    with ws.memory() as memory:
        page = tools.call(memory, "memory_get", {"path": "MEMORY.md", "from": "2", "lines": 1.0})
        answer = tools.call(
            memory, "memory_search", {"query": "two", "maxResults": "1", "minScore": "0.1", "corpus": None}
        )

    assert (page["text"], page["nextFrom"]) == ("two", 3)
    assert [hit["path"] for hit in answer["results"]] == ["MEMORY.md"]


def test_citations_follow_the_chat(ws):
    ws.write("memory/a.md", "the lantern\n")
    with ws.memory() as memory:
        direct = tools.call(memory, "memory_search", {"query": "lantern"}, session="agent:main:main")
        group = tools.call(
            memory, "memory_search", {"query": "lantern"}, session="agent:main:discord:channel:1"
        )

    assert direct["results"][0]["citation"] == "memory/a.md#L1"
    assert direct["results"][0]["snippet"] == "the lantern\n\nSource: memory/a.md#L1"
    assert "citation" not in group["results"][0]
    assert group["results"][0]["snippet"].rstrip("\n") == "the lantern"


def test_a_broken_index_is_an_answer_with_a_cause(ws, monkeypatch):
    with ws.memory() as memory:

        def broken(*_args: object, **_options: object) -> None:
            raise IndexUnavailable("index: it is broken")

        monkeypatch.setattr(memory, "search", broken)
        answer = tools.call(memory, "memory_search", {"query": "x"})

    assert answer == {
        "results": [],
        "disabled": True,
        "unavailable": True,
        "error": "index: it is broken",
        "action": "run memgrep status to see what is wrong",
    }


def test_a_hit_opens_where_it_says(ws):
    ws.write("memory/a.md", "".join(f"line {n}\n" for n in range(200)) + "Boat: Juniper\n")
    with ws.memory() as memory:
        (hit,) = tools.call(memory, "memory_search", {"query": "Juniper"}, session="x:group")["results"]
        page = tools.call(
            memory,
            "memory_get",
            {"path": hit["path"], "from": hit["startLine"], "lines": hit["endLine"] - hit["startLine"] + 1},
        )

    assert page["text"] == hit["snippet"].rstrip("\n")
