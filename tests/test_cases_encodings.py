"""Kind F: encodings, front matter, odd files and names."""

import hashlib
import os

import pytest
from memgrep.testing import HashEmbedder


def paths(answer) -> list[str]:
    return [hit["path"] for hit in answer["results"]]


def test_f047_a_byte_order_mark_moves_no_line(ws, door):
    ws.write("memory/a.md", b"\xef\xbb\xbf# Alpha\n\nbody\n")

    hit = door.search("alpha")["results"][0]

    assert hit["startLine"] == 1
    assert door.get("memory/a.md", 1, 1)["text"] == "# Alpha"


def test_f048_a_note_that_is_not_utf8_is_read_and_named(ws, door):
    ws.write("memory/ok.md", "fine words\n")
    ws.write("memory/bad.md", b"price 5 \xa2 lantern\n")

    report = door.index()

    assert [warning for warning in report["warnings"] if "bad.md" in warning] == report["warnings"] != []
    assert paths(door.search("fine")) == ["memory/ok.md"]
    assert paths(door.search("lantern")) == ["memory/bad.md"]


def test_f049_a_nul_hides_nothing(ws, door):
    ws.write("memory/a.md", b"alpha\x00beta gamma\n")

    assert paths(door.search("gamma")) == ["memory/a.md"]


@pytest.mark.parametrize(
    "header",
    [
        "home: `D:\\bots`",
        "title: *Draft*",
        "type: null",
        "tags: 7",
        "title: [a, b]",
        "date: 2026-02-30",
        "---\n---",
    ],
)
def test_f050_f052_any_front_matter_is_text(ws, header):
    ws.write("memory/a.md", f"---\n{header}\n---\nlantern\n")

    assert paths(ws.ran("search", "lantern")) == ["memory/a.md"]
    if word := next((word for word in ("bots", "Draft") if word in header), None):
        assert paths(ws.ran("search", word)) == ["memory/a.md"]


def tree(folder) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_f051_f154_no_command_touches_a_note(ws):
    ws.write("MEMORY.md", "- lantern <!-- importance: 9 -->\n")
    ws.write("memory/a.md", "lantern\r\n")
    os.chmod(ws.write("memory/ro.md", "lantern\n"), 0o444)
    before = tree(ws.folder)

    for command in (
        ["index"],
        ["index", "--force"],
        ["index", "--verify"],
        ["search", "lantern"],
        ["get", "memory/a.md"],
        ["status", "--deep"],
        ["config", "show"],
    ):
        assert ws.run(*command).returncode == 0, command

    assert tree(ws.folder) == before


@pytest.mark.parametrize("name", ["°.md", "----.md", " .md", "ü ß.md", "my plan (v2).md", "2026_06_16.md"])
def test_f053_f127_any_legal_name_is_found_and_opened(ws, door, name):
    ws.write(f"memory/{name}", "the lantern\nsecond\n")

    (hit,) = door.search("lantern")["results"]

    assert hit["path"] == f"memory/{name}"
    first = door.get(hit["path"], hit["startLine"], 1)["text"]
    assert hit["snippet"].split("\n")[0] == first


def test_f020_names_come_back_in_their_own_form(ws, door):
    ws.write("memory/re\u0301sume\u0301.md", "de\u0301ploiement\n")

    for query in ("déploiement", "résumé"):
        (hit,) = door.search(query)["results"]
        assert hit["path"] == "memory/re\u0301sume\u0301.md"
        assert door.get(hit["path"])["text"] == "de\u0301ploiement"


def test_f054_line_ends_do_not_count(ws):
    ws.write("memory/a.md", "---\r\ntags: [ops]\r\n---\r\n# Host\r\nport 7777\r\n")
    embedder = HashEmbedder()

    with ws.memory(embedder) as memory:
        memory.index()
        dos = [(hit.path, hit.start_line, hit.end_line) for hit in memory.search("port 7777")]
        asked = embedder.inputs
        ws.write("memory/a.md", "---\ntags: [ops]\n---\n# Host\nport 7777\n")
        memory.index()
        unix = [(hit.path, hit.start_line, hit.end_line) for hit in memory.search("port 7777")]

    assert dos == unix != []
    assert embedder.inputs - asked <= 1, "only the question"
    assert ws.ran("get", "memory/a.md")["text"].split("\n")[-1] == "port 7777"


@pytest.mark.parametrize(
    "text",
    [
        b"one\rtwo lantern\rthree",
        b"one\rtwo\r\nlantern\r\n\rfour lantern\r",
        b"lantern\r\r\nkettle\r\r\nlantern",
        b"# Head\rlantern\r\r- more\n- lantern\r- kettle\n",
        "a\x0blantern\x0cb\u0085c\u2028lantern\u2029d\nlantern\n".encode(),
    ],
)
def test_a_line_ends_with_a_line_feed_for_the_index_the_snippet_and_the_page(ws, door, text):
    """A lone carriage return is a character: chunks, snippets and pages count the same lines."""
    ws.write("memory/a.md", text)
    lines = [line.rstrip("\r") for line in text.decode().removesuffix("\n").split("\n")]

    (hit,) = door.search("lantern", max_results=10, min_score=0.0)["results"]

    shown = slice(hit["startLine"] - 1, hit["endLine"])
    assert [line.rstrip("\r") for line in hit["snippet"].removesuffix("\n").split("\n")] == lines[shown]
    page = door.get(hit["path"], hit["startLine"], hit["endLine"] - hit["startLine"] + 1)
    assert page["text"].split("\n") == lines[shown]
    assert door.get("memory/a.md")["lines"] == len(lines)


def test_f021_invisible_marks_stay_in_the_snippet(ws, door):
    ws.write("memory/a.md", "data\u200bbase failover\n")

    (hit,) = door.search("database")["results"]

    assert hit["snippet"].rstrip("\n") == "data\u200bbase failover"
