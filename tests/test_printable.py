"""What is safe to print, and that every command prints nothing else."""

import json
import os
import re
import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memgrep.errors import ConfigError, NoteRefused, Problem, ProviderError
from memgrep.printable import harmless, json_line, one_line

pty = pytest.importorskip("pty", reason="this system has no terminals to open")

DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HOSTILE = "\x1b[31m\x07\x7f\x80\x85\x9b2J\x9f" + DIRECTIONS


def obeyed(text: str) -> list[str]:
    """What of a text a terminal would act on, besides line breaks and tabs."""
    return [
        sign
        for sign in text
        if (unicodedata.category(sign) == "Cc" and sign not in "\n\t") or sign in DIRECTIONS
    ]


def test_the_directions_are_all_that_unicode_has():
    found = [
        chr(code)
        for code in range(0x110000)
        if unicodedata.bidirectional(chr(code))
        in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    ]

    assert set(found) < set(DIRECTIONS)
    assert obeyed(HOSTILE) == [sign for sign in HOSTILE if sign not in "[31m2J"]


@given(st.text())
def test_no_control_code_reaches_a_terminal(text):
    """Escape sequences, C1 codes and direction marks become visible; the text keeps its length."""
    assert len(harmless(text)) == len(one_line(text)) == len(text)
    assert obeyed(harmless(text)) == []
    assert obeyed(one_line(text)) == []
    assert len(one_line(text).splitlines()) <= 1


def test_ordinary_text_is_shown_as_it_is():
    text = "Überblick – 概要 🧭 👩‍👩‍👧 كِتَابُ\n\tdata\u200bbase"

    assert harmless(text) == text


def test_a_path_is_shown_on_one_line():
    assert one_line("memory/a\n\x1b[31m.md") == "memory/a\u240a\u241b[31m.md"


@given(st.text())
def test_json_means_the_same_text_and_holds_no_control_code(text):
    line = json_line({text: [text]})

    assert json.loads(line) == {text: [text]}
    assert obeyed(line) == []
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize(
    "error",
    [
        NoteRefused("memory/a\nb\x9b.md", "outside", "no\nnote"),
        ProviderError("lab", "said\r\nno", "try\nlater"),
        ConfigError(Problem("a\nb.toml", 3, "x\ny", "wrong\u2028value")),
    ],
)
def test_an_exception_is_one_line(error):
    assert len(str(error).splitlines()) == 1
    assert obeyed(str(error)) == []


@pytest.fixture
def hostile(ws):
    """A workspace whose names and texts try everything."""
    ws.write(f"memory/{HOSTILE}\nlantern.md", f"# {HOSTILE}\n\nthe lantern {HOSTILE} needs oil\n")
    ws.write(f"memory/bad{HOSTILE}\n.md", f"lantern {HOSTILE}".encode() + b"\xa2\n")
    (ws.folder / f"memory/link{HOSTILE}\n.md").symlink_to("a.md")
    os.link(ws.write("memory/z.md", "kettle\n"), ws.folder / f"memory/a{HOSTILE}\n.md")
    ws.settings |= {"extraPaths": [f"/nowhere/{HOSTILE}\n"], "model": f"m{HOSTILE}"}
    return ws


COMMANDS = [
    ["index"],
    ["index", f"memory/none{HOSTILE}\n.md", f"docs/{HOSTILE}\n"],
    ["search", "lantern"],
    ["search", "--explain", "lantern"],
    ["search", f"--corpus={HOSTILE}\n", "x"],
    ["get", f"memory/{HOSTILE}\nlantern.md"],
    ["get", f"memory/none{HOSTILE}\n.md"],
    ["get", f"AGENTS{HOSTILE}\n.md"],
    ["status"],
    ["config", "show"],
    ["models", "list"],
    ["models", "verify", f"none{HOSTILE}\n"],
    ["models", HOSTILE],
    ["search", f"--{HOSTILE}\n"],
    ["index", f"--set={HOSTILE}\n=3"],
    ["index", f"--set=query.maxResults={HOSTILE}\n"],
    ["index", f"--workspace=/nowhere{HOSTILE}\n"],
    ["status", f"--workspace=/nowhere{HOSTILE}\n"],
    ["status", f"--set=store.path=/proc/{HOSTILE}\n/x"],
    ["search", f"--set=store.path=/proc/{HOSTILE}\n/x", "lantern"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(ascii, command)))
def test_no_command_writes_what_a_terminal_obeys(hostile, command):
    hostile.run("index")

    shown = hostile.run(*command)
    document = hostile.run(*command, "--json")

    assert (shown.returncode, document.returncode) in ((0, 0), (1, 1), (2, 2)), shown.stderr
    if command[0] != "get" or shown.returncode:
        assert obeyed(shown.stdout.decode()) == []
    assert obeyed(document.stdout.decode()) == []
    json.loads(document.stdout)
    for said in (shown.stderr, document.stderr):
        assert obeyed(said.decode()) == []
        assert [
            line for line in said.decode().splitlines() if not line.startswith(("memgrep: ", "usage: "))
        ] == []


@pytest.mark.parametrize("command", COMMANDS[:9], ids=lambda command: " ".join(map(ascii, command)))
def test_colour_is_all_that_is_for_the_terminal(hostile, command):
    hostile.run("index")
    ours, theirs = pty.openpty()

    process = subprocess.Popen(
        hostile.command(*command),
        stdout=theirs,
        stderr=theirs,
        env=hostile.environment({"TERM": "xterm"}),
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:  # how Linux tells that the other end is closed
            break
        if not block:
            break
        written += block
    os.close(ours)

    assert process.wait(timeout=60) in (0, 1, 2)
    shown = written.decode().replace("\r\n", "\n")
    assert obeyed(re.sub(r"\x1b\[[0-9;]*m|\r\x1b\[2K", "", shown)) == []


def test_json_gives_names_and_lines_back_as_they_are(hostile):
    answer = hostile.ran("search", "lantern")

    paths = {hit["path"] for hit in answer["results"]}
    assert f"memory/{HOSTILE}\nlantern.md" in paths
    assert any(f"the lantern {HOSTILE} needs oil" in hit["snippet"] for hit in answer["results"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate", "--json"],
        ["--json"],
        ["search", "--json"],
        ["search", "--json", "--frobnicate", "x"],
        ["get", "a.md", "b.md", "--json"],
        ["models", "--json", "eat"],
        ["search", "--json", "--corpus=wiki", "x"],
        ["search", "--json", "--max-results=0", "x"],
        ["get", "--json", "MEMORY.md", "--from=0"],
        ["get", "--json", ""],
        ["index", "--json", "--set=chunking.tokens=many"],
        ["index", "--json", "--set=nothing"],
        ["models", "--json", "rm"],
    ],
)
def test_asked_wrongly_is_a_document_too(ws, arguments):
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "memgrep", *arguments], capture_output=True, cwd=ws.folder, timeout=60
    )

    document = json.loads(done.stdout)
    assert done.returncode == 2
    assert document["ok"] is False
    assert document["error"] in done.stderr.decode()
    assert document.keys() <= {"ok", "error", "usage"}


def test_after_two_dashes_a_word_asks_for_nothing(ws):
    done = ws.run("get", "--", "--json", "x")

    assert (done.returncode, done.stdout) == (2, b"")
