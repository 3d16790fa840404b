"""Kind C: scores, thresholds, and that every door gives the same."""

import random
import struct

import pytest
from memgrep import tools
from memgrep.embeddings import vectors
from memgrep.testing import HashEmbedder


def test_f024_text_score_follows_relevance(ws, door):
    ws.write("memory/a.md", "harbour harbour harbour plan\n")
    ws.write("memory/b.md", " ".join(f"word{n}" for n in range(299)) + " harbour\n")

    scores = {hit["path"]: hit["score"] for hit in door.search("harbour", min_score=0.0)["results"]}

    assert 1 >= scores["memory/a.md"] > scores["memory/b.md"] > 0


class Orthogonal(HashEmbedder):
    """A vector of its own for every text: nothing is similar to anything."""

    def __init__(self) -> None:
        super().__init__(256)
        self._seen: dict[str, int] = {}

    def embed_query(self, text):
        return self.one(text)

    def embed_documents(self, texts, *, progress=None, cancel=None):
        self.inputs += len(texts)
        return iter([self.one(text) for text in texts])

    def one(self, text: str) -> bytes:
        place = self._seen.setdefault(text, len(self._seen) % 256)
        return struct.pack("<256f", *[float(n == place) for n in range(256)])


def test_f025_a_keyword_hit_survives_the_threshold(ws):
    ws.write("memory/a.md", "ticket ZQX-4417 closed\n")
    for n in range(20):
        ws.write(f"memory/n{n}.md", f"other matter number {n}\n")

    with ws.memory(Orthogonal()) as memory:
        memory.index()
        answer = memory.search("ZQX-4417")

    assert answer.mode == "hybrid"
    assert answer.hits[0].path == "memory/a.md"


def test_f026_many_similar_texts_crowd_no_exact_match_out(ws, paths):
    for n, team in enumerate(["amber", "birch", "cedar", "delta", "elm"]):
        ws.write(f"memory/n{n}.md", f"the {team} pump was replaced by team {team} on the north quay\n")
    for n in range(500):
        ws.write(f"logs/s{n}.md", f"the pump was replaced; delta team on the north quay talk {n}\n")

    with ws.memory(HashEmbedder(), extraPaths=["logs"]) as memory:
        memory.index()
        answer = memory.search("the delta pump was replaced by team delta on the north quay")

    assert "memory/n3.md" in paths(answer.to_json())[:2]


class Unrelated(Orthogonal):
    """Vectors at random: a cosine of 0.2 is as high as it gets."""

    def one(self, text: str) -> bytes:
        dice = random.Random(text)
        return vectors.unit([dice.gauss(0, 1) for _ in range(256)])


@pytest.mark.parametrize("embedder", [Orthogonal, Unrelated])
@pytest.mark.parametrize("notes", [10, 50, 200])
def test_f027_nothing_in_common_is_an_empty_answer(ws, embedder, notes):
    for n in range(notes):
        ws.write(f"memory/n{n}.md", f"a note about subject {n}\n")

    with ws.memory(embedder()) as memory:
        memory.index()
        assert memory.search("qwxzv plimmforth").hits == ()


def test_f028_what_was_indexed_is_found_by_another_process(ws):
    ws.write("memory/a.md", "grafana moved to port 3300\n")

    ws.ran("index")

    assert [hit["path"] for hit in ws.ran("search", "grafana")["results"]] == ["memory/a.md"]


def test_f029_a_query_that_is_a_file_name_puts_that_file_first(ws, door):
    ws.write("memory/2026-05-04-0915.md", "lunch order\n")
    for n in range(20):
        ws.write(f"memory/2026-05-{n + 5:02}-0915.md", "on 2026-05-04 at 0915 nothing happened\n")

    first = door.search("2026-05-04-0915")["results"][0]

    assert (first["path"], first["snippet"].strip()) == ("memory/2026-05-04-0915.md", "lunch order")


def test_f030_scores_are_those_of_the_order(ws):
    ws.write("memory/a.md", "copper lantern oil\n")
    ws.write("memory/b.md", "copper lantern and a long tale of other things that were seen in the harbour\n")
    ws.write("memory/c.md", "copper and a long tale of other things that were seen in the harbour at night\n")

    with ws.memory() as memory:
        memory.index()
        scores = [hit.score for hit in memory.search("copper lantern oil", min_score=0.0)]

    shown = [hit["score"] for hit in ws.ran("search", "--min-score=0", "copper lantern oil")["results"]]
    assert scores == sorted(set(scores), reverse=True)
    assert len(scores) == 3
    assert shown == scores


def test_f031_library_tool_and_command_are_one_function(ws):
    for n in range(40):
        ws.write(f"memory/n{n:02}.md", "lantern " * (n % 7 + 1) + f"and number {n}\n")

    with ws.memory() as memory:
        memory.index()
        library = memory.search("lantern", max_results=3, min_score=0.5)
        tool = tools.call(
            memory,
            "memory_search",
            {"query": "lantern", "maxResults": "3", "minScore": 0.5},
            session="a:group",
        )
    command = ws.ran("search", "--max-results=3", "--min-score=0.5", "lantern")

    assert [hit.to_json() for hit in library] == tool["results"] or tool["results"][0][
        "path"
    ] == library.hits[0].path
    assert tool["results"] == command["results"]
    assert len(command["results"]) == 3
    assert all(hit["score"] >= 0.5 for hit in command["results"])


def test_f032_the_order_computed_is_the_order_delivered(ws):
    ws.write("memory/a.md", "router vlan ten is for printers upstairs\n")
    ws.write("memory/b.md", "router vlan ten is for printers upstairs again\n")
    ws.write("memory/c.md", "router vlan list with guests cameras and phones\n")

    with ws.memory() as memory:
        memory.index()
        library = [hit.path for hit in memory.search("router vlan ten", min_score=0.0)]

    assert [hit["path"] for hit in ws.ran("search", "--min-score=0", "router vlan ten")["results"]] == library


@pytest.mark.parametrize("most", [1, 3, 7])
def test_a_shorter_list_is_the_start_of_a_longer_one(ws, most):
    for n in range(12):
        ws.write(f"memory/n{n:02}.md", "lantern " * (n + 1) + " ".join(f"w{n}x{m}" for m in range(30)) + "\n")

    with ws.memory() as memory:
        memory.index()
        longer = [hit.path for hit in memory.search("lantern", max_results=12)]
        assert [hit.path for hit in memory.search("lantern", max_results=most)] == longer[:most]
