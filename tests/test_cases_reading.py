"""Kind N through both doors: what memory_get reads, counts and refuses. Details: test_files.py."""

import pytest


def test_f122_links_in_the_middle_are_refused(ws, door, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/s.md").write_text("secret", encoding="utf-8")
    (ws.folder / "memory/out").symlink_to(tmp_path / "outside")

    answer = door.get("memory/out/s.md")

    assert (answer["status"], answer["code"], answer["text"]) == ("error", "link", "")
    assert "secret" not in str(answer)


def test_f123_lines_are_those_of_an_editor(ws, door):
    ws.write("memory/a.md", "a\nb\n")

    assert door.get("memory/a.md", 1, 2) == {
        "status": "ok",
        "text": "a\nb",
        "path": "memory/a.md",
        "from": 1,
        "lines": 2,
    }


@pytest.mark.parametrize("start", [-3, 0])
def test_f124_from_starts_at_one_in_the_same_words(ws, start):
    ws.write("memory/a.md", "a\n")
    with ws.memory() as memory, pytest.raises(ValueError, match="from must be a whole number ≥ 1") as refused:
        memory.get("memory/a.md", from_=start)

    done = ws.run("get", "memory/a.md", f"--from={start}")

    assert done.returncode == 2
    assert done.stderr.decode() == f"memgrep: error: {refused.value}\n"


def test_f125_a_range_is_bounded_by_the_file(ws, door):
    ws.write("memory/a.md", "a\nb\n")

    assert door.get("memory/a.md", 1, 2_000_000_000)["text"] == "a\nb"
    behind = door.get("memory/a.md", 2_000_000_000)
    assert (behind["text"], behind["lines"], behind["totalLines"]) == ("", 0, 2)


def test_f126_a_missing_note_is_an_empty_page(ws, door):
    assert door.get("memory/2026-03-05.md") == {
        "status": "not_found",
        "text": "",
        "path": "memory/2026-03-05.md",
    }


def test_reading_needs_no_index_and_makes_none(ws, door):
    ws.write("MEMORY.md", "a\n")

    assert door.get("MEMORY.md")["text"] == "a"
    assert not ws.store.exists()


@pytest.mark.parametrize(
    "path", ["AGENTS.md", "memory/../AGENTS.md", "/etc/hostname.md", "memory/x.txt", "memory/"]
)
def test_a_refusal_has_a_code_and_fails_the_command(ws, path):
    ws.write("AGENTS.md", "secret\n")

    done = ws.run("get", path)

    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"memgrep: error: ")
    assert done.stderr.count(b"\n") == 1
