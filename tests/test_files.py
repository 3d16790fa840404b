"""memory_get's reading: what may be read, and what one page is."""

import json
import os
import socket
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memgrep.errors import NoteRefused
from memgrep.files import MAX_CHARS, PAGE_LINES, Page, read_note
from memgrep.hits import cite


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("one\ntwo\nthree\n", encoding="utf-8")
    return folder


def read(notes: Path, path: str, start=None, lines=None, extra=(), column=None) -> Page:
    return read_note(path, workspace=str(notes), extra=extra, start=start, lines=lines, column=column)


def refusal(notes: Path, path: str, extra=()) -> str:
    with pytest.raises(NoteRefused) as refused:
        read(notes, path, extra=extra)
    assert refused.value.reason
    return refused.value.code


# --- pages


def test_a_page_is_the_text_without_its_last_line_break(notes):
    page = read(notes, "MEMORY.md")

    assert page.to_json() == {
        "status": "ok",
        "text": "one\ntwo\nthree",
        "path": "MEMORY.md",
        "from": 1,
        "lines": 3,
    }


@pytest.mark.parametrize(
    ("content", "count"),
    [(b"a\nb\n", 2), (b"", 0), (b"\n", 1), (b"a\n\n", 2), (b"a", 1), (b"\xef\xbb\xbf", 0)],
)
def test_lines_are_counted_as_an_editor_shows_them(notes, content, count):
    """F123: the break at the end of a file does not open another line."""
    (notes / "memory/n.md").write_bytes(content)

    page = read(notes, "memory/n.md")

    assert (page.lines, page.truncated) == (count, False)


def test_a_page_that_ends_with_the_note_has_no_more_mark(notes):
    """F123"""
    (notes / "memory/n.md").write_bytes(b"a\nb\n")

    page = read(notes, "memory/n.md", 1, 2)

    assert (page.text, page.truncated, page.next_from) == ("a\nb", False, None)


@pytest.mark.parametrize("start", [-3, 0, True, 1.5, "2"])
def test_from_counts_from_one(notes, start):
    """F124: never wrapped, never clamped in silence."""
    with pytest.raises(ValueError, match="from must be a whole number ≥ 1, not"):
        read(notes, "MEMORY.md", start)


@pytest.mark.parametrize("lines", [-1, 0])
def test_a_page_has_at_least_one_line(notes, lines):
    with pytest.raises(ValueError, match=f"lines must be a whole number ≥ 1, not {lines}"):
        read(notes, "MEMORY.md", 1, lines)


def test_a_range_is_bounded_by_the_file(notes):
    """F125"""
    assert read(notes, "MEMORY.md", 1, 2_000_000_000).text == "one\ntwo\nthree"
    assert read(notes, "MEMORY.md", 2_000_000_000).to_json() == {
        "status": "ok",
        "text": "",
        "path": "MEMORY.md",
        "from": 2_000_000_000,
        "lines": 0,
        "totalLines": 3,
    }


def test_the_line_after_the_last_is_empty_and_says_how_many_there_are(notes):
    page = read(notes, "MEMORY.md", 4)

    assert (page.text, page.lines, page.total_lines) == ("", 0, 3)


def test_a_huge_note_costs_a_page_of_memory(notes):
    """F125: a note of 40 MB, read at its start, its end and far behind it."""
    with (notes / "memory/huge.md").open("wb") as file:
        for _ in range(40):
            file.write(b"word " * 100_000 + b"\n" + b"x\n" * 250_000)
    tracemalloc.start()

    pages = [read(notes, "memory/huge.md", start, 10**9) for start in (1, 40 * 250_001, 10**9)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert [page.lines for page in pages] == [1, 1, 0]
    assert pages[0].next_from == 2
    assert pages[2].total_lines == 40 * 250_001
    assert peak < 2_000_000


def test_pages_follow_each_other_to_the_end(notes):
    lines = [f"line {number}" for number in range(1, 301)]
    (notes / "memory/a.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    seen: list[str] = []
    start: int | None = 1

    while start is not None:
        page = read(notes, "memory/a.md", start)
        seen += page.text.split("\n")
        start = page.next_from

    assert seen == lines
    assert read(notes, "memory/a.md").lines == PAGE_LINES


@given(
    st.lists(
        st.text(st.characters(blacklist_characters="\n\r\ufeff", codec="utf-8"), max_size=40), max_size=30
    ),
    st.integers(1, 9),
)
@settings(max_examples=60)
def test_no_line_is_lost_or_doubled_between_pages(tmp_path_factory, lines, size):
    folder = tmp_path_factory.mktemp("ws")
    (folder / "MEMORY.md").write_bytes("".join(line + "\n" for line in lines).encode())
    seen: list[str] = []
    start: int | None = 1

    while start is not None:
        page = read(folder, "MEMORY.md", start, size)
        assert page.lines is not None
        assert page.lines <= size
        seen += page.text.split("\n") if page.lines else []
        start = page.next_from

    assert seen == lines


def test_a_page_has_at_most_twelve_thousand_characters_of_whole_lines(notes):
    (notes / "memory/wide.md").write_text(("w" * 990 + "\n") * 30, encoding="utf-8")

    page = read(notes, "memory/wide.md")

    assert (page.lines, page.next_from) == (12, 13)
    assert len(page.text) <= MAX_CHARS


def test_a_line_longer_than_a_page_is_cut_and_the_rest_of_the_note_reachable(notes):
    (notes / "memory/long.md").write_text("🧭" * 15_000 + "\nsecond\n", encoding="utf-8")

    page = read(notes, "memory/long.md")

    assert page.text == "🧭" * MAX_CHARS
    assert (page.lines, page.truncated, page.next_from, page.next_column) == (1, True, 2, MAX_CHARS + 1)
    assert read(notes, "memory/long.md", 2).text == "second"
    rest = read(notes, "memory/long.md", 1, column=page.next_column)
    assert rest.text == "🧭" * 3_000 + "\nsecond"
    assert rest.to_json() == {
        "status": "ok",
        "text": rest.text,
        "path": "memory/long.md",
        "from": 1,
        "column": MAX_CHARS + 1,
        "lines": 2,
    }


def all_of(notes: Path, path: str, lines: int | None = None) -> str:
    """Everything that paging shows, by the rule the tool's description tells."""
    seen: list[str] = []
    start, column = 1, 1
    while True:
        page = read(notes, path, start, lines, column=column)
        glue = "" if column > 1 or not seen else "\n"
        seen.append(glue + page.text)
        if page.next_column is not None:
            start, column = page.from_, page.next_column
        elif page.next_from is not None:
            start, column = page.next_from, 1
        else:
            return "".join(seen)


def test_paging_reaches_every_character_of_a_long_line(notes):
    """Five megabytes in one line, with more than one byte to some characters, between two short ones."""
    long = "".join(f"{number} ä中🧭; " for number in range(330_000))
    text = f"first\n{long}\r\nlast"
    assert len(long.encode()) > 5_000_000
    (notes / "memory/long.md").write_bytes(text.encode())

    page = read(notes, "memory/long.md", 2, column=len(long) - 3)

    assert page.text == f"{long[-4:]}\nlast"
    (notes / "memory/shorter.md").write_bytes(f"first\n{long[:100_000]}\r\n{long[:30_000]}".encode())
    assert all_of(notes, "memory/shorter.md") == f"first\n{long[:100_000]}\n{long[:30_000]}"


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\r"])
@pytest.mark.parametrize("length", [MAX_CHARS - 1, MAX_CHARS, MAX_CHARS + 1, 2 * MAX_CHARS, 65_536])
def test_paging_knows_where_a_line_ends(notes, length, ending):
    (notes / "memory/long.md").write_bytes(b"x" * length + ending.encode())

    assert all_of(notes, "memory/long.md") == "x" * length


def test_a_long_line_that_is_not_utf8_is_read_in_one_way(notes):
    """Its first bytes decide, so that every page counts its characters alike."""
    (notes / "memory/bad.md").write_bytes(b"price \xa2 " * 7_000 + "ü".encode() * 9_000)

    assert all_of(notes, "memory/bad.md") == "price ¢ " * 7_000 + "Ã¼" * 9_000


def test_a_page_may_begin_behind_the_end_of_its_line(notes):
    assert read(notes, "MEMORY.md", 2, column=100).text == "\nthree"
    assert read(notes, "MEMORY.md", 2, 1, column=100).text == ""


@pytest.mark.parametrize("column", [0, -1, True, "2"])
def test_columns_count_from_one(notes, column):
    with pytest.raises(ValueError, match="column must be a whole number ≥ 1, not"):
        read(notes, "MEMORY.md", column=column)


def test_a_cut_line_at_the_end_is_truncated_without_a_next(notes):
    (notes / "memory/long.md").write_text("ä" * (MAX_CHARS + 1), encoding="utf-8")

    page = read(notes, "memory/long.md")

    assert (len(page.text), page.truncated, page.next_from) == (MAX_CHARS, True, None)
    assert read(notes, "memory/long.md", 1, column=page.next_column).text == "ä"


def test_carriage_returns_and_the_byte_order_mark_stay_in_the_file(notes):
    """F047, F054"""
    (notes / "memory/dos.md").write_bytes(b"\xef\xbb\xbf# Alpha\r\n\r\nport 7777\r\n")

    assert read(notes, "memory/dos.md").text == "# Alpha\n\nport 7777"


def test_a_note_that_is_not_utf8_is_still_read(notes):
    """F048: a lone byte A2 is the cent sign of Windows-1252."""
    (notes / "memory/bad.md").write_bytes(b"price 5 \xa2\n\xe4\xb8\xad\xa2 end\n")

    assert read(notes, "memory/bad.md").text == "price 5 ¢\n中\ufffd end"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_note_in_utf16_is_read_by_its_byte_order_mark(notes, encoding):
    """As the index reads it, so that a hit opens where it says."""
    text = "# Überblick\r\n" + "🧭 概要 " * 20_000 + "\nlast"
    (notes / "memory/wide.md").write_bytes(("\ufeff" + text).encode(encoding))

    assert all_of(notes, "memory/wide.md") == text.replace("\r", "")


@pytest.mark.parametrize(
    ("cited", "asked", "text", "place"),
    [
        ("MEMORY.md#L2-L3", {}, "two\nthree", (2, 2)),
        ("MEMORY.md#L2", {}, "two", (2, 1)),
        ("MEMORY.md#L1-L99", {}, "one\ntwo\nthree", (1, 3)),
        ("MEMORY.md#L1", {"lines": 2}, "one\ntwo", (1, 2)),
        ("MEMORY.md#L1-L1", {"start": 3}, "three", (3, 1)),
        ("{ws}/MEMORY.md#L3", {}, "three", (3, 1)),
    ],
)
def test_a_citation_opens_the_lines_it_names(notes, cited, asked, text, place):
    page = read(notes, cited.format(ws=notes), **asked)

    assert (page.text, (page.from_, page.lines), page.path) == (text, place, "MEMORY.md")


def test_every_citation_we_print_opens(notes):
    for name in ("a.md", "odd #L1.md", "A.MD", "x#L3-L4.md"):
        (notes / "memory" / name).write_text("one\ntwo\nthree\n", encoding="utf-8")
        for first, last in ((1, 1), (2, 3)):
            page = read(notes, cite(f"memory/{name}", first, last))
            assert page.path == f"memory/{name}"
            assert page.text == "\n".join(["one", "two", "three"][first - 1 : last])


@pytest.mark.parametrize(
    ("path", "said"),
    [("MEMORY.md#L3-L2", "before the first"), ("MEMORY.md#L0", "from must be a whole number")],
)
def test_a_citation_that_cannot_be_meant_is_a_value_error(notes, path, said):
    with pytest.raises(ValueError, match=said):
        read(notes, path)


@pytest.mark.parametrize(
    "path", ["MEMORY.md#3", "MEMORY.md#L", "MEMORY.md#Lx", "MEMORY.md#L1-", "MEMORY.md#L1-L٣"]
)
def test_what_is_no_citation_is_no_note(notes, path):
    assert refusal(notes, path) == "extension"


def test_a_cited_note_that_is_missing_is_an_empty_page(notes):
    assert read(notes, "memory/none.md#L3").to_json() == {
        "status": "not_found",
        "text": "",
        "path": "memory/none.md",
    }


def test_a_missing_note_is_an_empty_page(notes):
    """F126"""
    expected = {"status": "not_found", "text": "", "path": "memory/2026-03-05.md"}

    assert read(notes, "memory/2026-03-05.md").to_json() == expected
    assert read(notes, "memory/no/such/folder.md").status == "not_found"
    (notes / "memory/n.md").write_text("a file is no folder", encoding="utf-8")
    assert read(notes, "memory/n.md/x.md").status == "not_found"


# --- names


@pytest.mark.parametrize(
    "name",
    [
        "°.md",
        "----.md",
        " .md",
        "ü ß.md",
        "my plan (v2).md",
        "2026_06_16.md",
        "re\u0301sume\u0301.md",
        "a\nb.md",
    ],
)
def test_any_legal_name_is_read_as_it_is(notes, name):
    """F053, F020, F127"""
    (notes / "memory" / name).write_text("found\n", encoding="utf-8")

    page = read(notes, f"memory/{name}")

    assert (page.text, page.path) == ("found", f"memory/{name}")


@pytest.mark.parametrize(
    "name", ["MEMORY.md", "memory.md", "USER.md", "memory/a/b/c.md", "memory/.notes/x.md"]
)
def test_memory_files_are_read(notes, name):
    (notes / name).parent.mkdir(parents=True, exist_ok=True)
    (notes / name).write_text("yes", encoding="utf-8")

    assert read(notes, name).text == "yes"


@pytest.mark.parametrize("spelling", ["./MEMORY.md", ".//MEMORY.md", "{ws}/MEMORY.md"])
def test_another_spelling_of_a_memory_file_comes_back_as_hits_show_it(notes, spelling):
    page = read(notes, spelling.format(ws=notes))

    assert (page.text, page.path) == ("one\ntwo\nthree", "MEMORY.md")


# --- refusals


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("AGENTS.md", "not-memory"),
        ("docs/d.md", "not-memory"),
        ("memory/x.txt", "extension"),
        ("memory/md", "extension"),
        ("memory", "extension"),
        ("memory/", "folder"),
        ("memory/dir.md", "folder"),
        ("../ws/MEMORY.md", "outside"),
        ("memory/../AGENTS.md", "outside"),
        ("memory/../MEMORY.md", "outside"),
        ("./memory//..//AGENTS.md", "outside"),
        ("{ws}/AGENTS.md", "not-memory"),
        ("{ws}/../outside.md", "outside"),
        ("{ws}-other/MEMORY.md", "outside"),
        ("/etc/hostname.md", "outside"),
        ("memory/.git/x.md", "not-memory"),
        ("memory/node_modules/x.md", "not-memory"),
        ("MEMORY.md\0.txt", "not-memory"),
        ("memory%2F..%2FAGENTS.md", "not-memory"),
        ("file://MEMORY.md", "not-memory"),
        ("~/MEMORY.md", "not-memory"),
    ],
)
def test_what_is_not_memory_is_refused(notes, path, code):
    for name in ("AGENTS.md", "memory/x.txt", "memory/md", "docs/d.md", "memory/.git/x.md"):
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text("secret", encoding="utf-8")
    (notes / "memory/dir.md").mkdir()

    assert refusal(notes, path.format(ws=notes)) == code


@pytest.mark.parametrize("path", ["", "   "])
def test_a_path_is_required(notes, path):
    with pytest.raises(ValueError, match="path must name a note"):
        read(notes, path)


def test_links_are_refused_anywhere_in_the_path(notes, tmp_path):
    """F122: a link in the middle counts as much as one at the end."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "s.md").write_text("secret", encoding="utf-8")
    (notes / "memory/out").symlink_to(outside)
    (notes / "memory/deep").mkdir()
    (notes / "memory/deep/in").symlink_to(notes / "memory/deep")
    (notes / "memory/link.md").symlink_to(outside / "s.md")
    (notes / "memory/dangling.md").symlink_to(outside / "none.md")
    (notes / "USER.md").symlink_to(notes / "MEMORY.md")

    paths = ["memory/out/s.md", "memory/deep/in/x.md", "memory/link.md", "memory/dangling.md", "USER.md"]

    assert {path: refusal(notes, path) for path in paths} == dict.fromkeys(paths, "link")


def test_links_below_and_at_an_extra_path_are_refused(notes, tmp_path):
    """F122, F132"""
    outside, extra = tmp_path / "outside", tmp_path / "extra"
    outside.mkdir()
    extra.mkdir()
    (outside / "s.md").write_text("secret", encoding="utf-8")
    (extra / "out").symlink_to(outside)
    (tmp_path / "vault").symlink_to(outside)

    assert refusal(notes, f"{extra}/out/s.md", extra=[(str(extra), None)]) == "link"
    assert refusal(notes, f"{tmp_path}/vault/s.md", extra=[(f"{tmp_path}/vault", None)]) == "link"


def test_a_workspace_may_itself_be_reached_by_a_link(notes, tmp_path):
    (tmp_path / "shortcut").symlink_to(notes)

    assert read(tmp_path / "shortcut", "MEMORY.md").text == "one\ntwo\nthree"


def test_pipes_and_sockets_are_refused_without_waiting(notes):
    os.mkfifo(notes / "memory/pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(notes / "memory")  # a socket's path is limited to about a hundred bytes
        try:
            listener.bind("socket.md")
        finally:
            os.chdir(here)

        assert refusal(notes, "memory/pipe.md") == "device"
        assert refusal(notes, "memory/socket.md") == "device"


def test_a_file_swapped_for_a_link_after_the_look_is_not_followed(notes, tmp_path, monkeypatch):
    """The look and the opening are two steps; what is opened never follows a link."""
    (tmp_path / "s.md").write_text("secret", encoding="utf-8")
    look = os.stat

    def look_then_swap(name, **options):
        found = look(name, **options)
        if name == "MEMORY.md":
            (notes / "MEMORY.md").unlink()
            (notes / "MEMORY.md").symlink_to(tmp_path / "s.md")
        return found

    monkeypatch.setattr(os, "stat", look_then_swap)

    assert refusal(notes, "MEMORY.md") == "unreadable"


# --- extra paths


def test_extra_paths_are_read_by_the_name_hits_show(notes, tmp_path):
    team = tmp_path / "team"
    (team / "sub").mkdir(parents=True)
    (team / "sub/n.md").write_text("team", encoding="utf-8")
    (notes / "docs").mkdir()
    (notes / "docs/d.md").write_text("doc", encoding="utf-8")
    (notes / "one.md").write_text("single", encoding="utf-8")
    extra = [(str(team), None), (str(notes / "docs"), None), (str(notes / "one.md"), None)]

    assert read(notes, f"{team}/sub/n.md", extra=extra).path == f"{team}/sub/n.md"
    assert read(notes, "docs/d.md", extra=extra).to_json()["path"] == "docs/d.md"
    assert read(notes, f"{notes}/docs/d.md", extra=extra).path == "docs/d.md"
    assert read(notes, "one.md", extra=extra).text == "single"
    assert refusal(notes, "two.md", extra=extra) == "not-memory"
    assert refusal(notes, f"{tmp_path}/team.md", extra=extra) == "outside"
    assert refusal(notes, f"{team}/node_modules/x.md", extra=extra) == "outside"


@pytest.mark.parametrize(
    ("pattern", "read_", "refused"),
    [
        ("*.md", ["a.md", "sub/b.md"], []),
        ("sub/*.md", ["sub/b.md"], ["a.md", "sub/deep/c.md"]),
        ("sub/**/*.md", ["sub/b.md", "sub/deep/c.md"], ["a.md"]),
        ("[ab].md", ["a.md", "sub/b.md"], ["sub/deep/c.md"]),
        ("[!a].md", ["sub/b.md"], ["a.md"]),
        ("{a,c}.md", ["a.md", "sub/deep/c.md"], ["sub/b.md"]),
        ("?.md", ["a.md"], ["aa.md"]),
    ],
)
def test_a_pattern_narrows_an_extra_path(notes, tmp_path, pattern, read_, refused):
    team = tmp_path / "team"
    for name in (*read_, *refused):
        (team / name).parent.mkdir(parents=True, exist_ok=True)
        (team / name).write_text("x", encoding="utf-8")
    extra = [(str(team), pattern)]

    assert [read(notes, f"{team}/{name}", extra=extra).text for name in read_] == ["x"] * len(read_)
    assert [refusal(notes, f"{team}/{name}", extra=extra) for name in refused] == ["outside"] * len(refused)


def test_pages_agree_with_the_recorded_ones(notes, shared):
    """Where the contract agrees with the original: plain reads, pages, missing notes, refused names."""
    recorded = json.loads((shared / "golden/openclaw-read-file.json").read_text(encoding="utf-8"))
    (notes / "memory/a.md").write_text("".join(f"line {n}\n" for n in range(1, 301)), encoding="utf-8")
    (notes / "memory/sub").mkdir()
    for name, text in recorded["about"]["files"].items():
        if isinstance(text, str) and name != "outside.md":
            (notes / name).parent.mkdir(exist_ok=True)
            (notes / name).write_bytes(text.encode())
    compared = 0
    for case in recorded["cases"]:
        path, result = case["relPath"], case["result"]
        if path not in ("MEMORY.md", "USER.md", "AGENTS.md", "docs/d.md") and not path.startswith("memory/"):
            continue
        if "wide" in path or "huge" in path or "link" in path or path == "memory/":
            continue
        extra = [(str(notes / root), None) for root in case.get("extraPaths", [])]
        if "code" in result:
            refusal(notes, path, extra=extra)
        else:
            page = read(notes, path, case.get("from"), case.get("lines"), extra=extra).to_json()
            page.pop("totalLines", None)
            # The original writes a note about the next page into the text, and keeps carriage returns.
            ours = {key: value for key, value in page.items() if key != "text"}
            theirs = {key: value for key, value in result.items() if not key.startswith("text")}
            assert ours == theirs, path
            if "text" in result and not result.get("truncated"):
                assert page["text"] == result["text"].replace("\r", ""), path
        compared += 1
    assert compared > 15


@pytest.mark.parametrize("path", [5, b"MEMORY.md", None])
def test_a_path_that_is_no_text_is_a_value_error(ws, path):
    with ws.memory() as memory, pytest.raises(ValueError, match="path must name"):
        memory.get(path)


def test_half_a_surrogate_pair_names_no_file(ws):
    with ws.memory() as memory, pytest.raises(NoteRefused, match="surrogate"):
        memory.get("memory/\ud800.md")
