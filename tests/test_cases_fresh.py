"""Kind G: an index that is behind says so or catches up; counts are exact."""

import os
import time

import pytest
from memgrep.testing import Answer as Scripted
from memgrep.testing import HashEmbedder


def paths(answer) -> list[str]:
    return [hit["path"] for hit in answer["results"]]


def test_f055_a_note_changed_a_moment_ago_is_found(ws, door):
    ws.write("memory/a.md", "lantern\n")
    door.index()
    with (ws.folder / "memory/a.md").open("a", encoding="utf-8") as note:
        note.write("codeword KESTREL-9\n")

    answer = door.search("KESTREL-9")

    assert paths(answer) == ["memory/a.md"] or answer["stale"]


def test_f055_many_changed_notes_are_not_waited_for_but_said(ws):
    for n in range(40):
        ws.write(f"memory/n{n}.md", "lantern\n")
    with ws.memory() as memory:
        memory.index()
        for n in range(40):
            ws.write(f"memory/n{n}.md", "kettle and more\n")

        answer = memory.search("kettle")

        assert answer.stale
        assert "40 changed notes are not in the index yet" in answer.warning
        memory.index()
        fresh = memory.search("kettle")
        assert (len(fresh), fresh.stale, fresh.warning) == (6, False, None)


def test_what_a_search_does_not_wait_for_is_done_in_the_background(ws):
    for n in range(40):
        ws.write(f"memory/n{n}.md", "lantern\n")
    with ws.memory(HashEmbedder(), background=True) as memory:
        memory.index()
        for n in range(40):
            ws.write(f"memory/n{n}.md", "kettle and more\n")
        assert memory.search("kettle").stale

        answer = memory.search("kettle")
        until = time.monotonic() + 20
        while (answer.stale or answer.warning) and time.monotonic() < until:
            time.sleep(0.05)
            answer = memory.search("kettle")

        assert (answer.stale, answer.warning, answer.mode) == (False, None, "hybrid")


def test_f056_every_path_of_an_answer_exists(ws):
    ws.write("memory/a.md", "lantern oil\n")
    ws.write("memory/c.md", "kettle\n")
    with ws.memory() as memory:
        memory.index()
        (ws.folder / "memory/a.md").rename(ws.folder / "memory/b.md")
        (ws.folder / "memory/c.md").unlink()

        assert [hit.path for hit in memory.search("lantern")] == ["memory/b.md"]
        assert memory.search("kettle").hits == ()
        assert memory.status()["files"] == 1


def test_f057_dirty_is_computed_from_the_files(ws):
    note = ws.write("memory/a.md", "lantern\n")
    ws.ran("index")
    assert ws.ran("status")["dirty"] is False

    note.write_text("other words\n", encoding="utf-8")
    assert ws.ran("status")["dirty"] is True
    ws.ran("index")
    assert ws.ran("status")["dirty"] is False

    os.utime(note, ns=(10**18, 10**18))
    ws.ran("index")
    assert ws.ran("status")["dirty"] is False


def test_f058_dirty_means_that_the_two_sets_differ(ws, door):
    for n in range(10):
        ws.write(f"memory/n{n}.md", "x\n")
    door.index()
    ws.write("memory/n10.md", "x\n")

    status = door.status()

    assert (status["files"], status["eligible"], status["dirty"]) == (10, 11, True)
    assert status["changes"] == {"added": 1, "changed": 0, "removed": 0}


def test_f059_a_long_lived_reader_sees_what_another_process_indexed(ws):
    ws.write("memory/a.md", "lantern\n")
    with ws.memory(sync__onSearch=False) as memory:
        memory.index()
        assert memory.search("kettle").hits == ()
        ws.write("memory/b.md", "kettle\n")
        ws.ran("index", "--force")

        assert [hit.path for hit in memory.search("kettle")] == ["memory/b.md"]


def test_f060_another_entry_point_changes_nothing(ws, fake, remote):
    for n in range(40):
        ws.write(f"memory/n{n}.md", f"lantern {n}\n")
    with ws.memory(**remote) as memory:
        before = memory.index()
    asked = fake.inputs

    again = ws.ran("index", **remote)
    with ws.memory(**remote) as memory:
        third = memory.index()

    assert fake.inputs == asked == before.chunks == 40
    assert [
        (report["files"], report["chunks"], report["vectors"]) for report in (again, third.to_json())
    ] == [(40, 40, 0)] * 2


def test_f061_success_means_that_nothing_is_left(ws, fake, remote):
    """Every 50th text is refused: the numbers are exact, the next run does only those."""
    for n in range(400):
        ws.write(f"memory/n{n}.md", f"note number {n} {'poison' if n % 50 == 0 else ''}\n")
    fake.decide = lambda texts, body: (
        Scripted(400, {"error": {"message": "bad text"}}) if any("poison" in text for text in texts) else None
    )

    done = ws.run("index", **remote)

    assert done.returncode == 1
    assert b"392 done, 8 failed" in done.stdout
    fake.decide = None
    fake.bodies.clear()
    assert ws.run("index", **remote).returncode == 0
    assert sorted(fake.texts) == sorted(text for text in fake.texts if "poison" in text)
    assert len(fake.texts) == 8


def test_f062_what_is_removed_is_gone(ws):
    ws.write("memory/a.md", "the gate code is 7788\nthe lantern\n")
    with ws.memory(HashEmbedder()) as memory:
        memory.index()
        ws.write("memory/a.md", "the lantern\n")
        memory.index()
        for query in ("7788", "gate code", "the gate code is 7788"):
            assert "7788" not in str(memory.search(query, min_score=0.0).to_json())


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_f138_a_clean_index_is_only_read(ws, fake, remote, force):
    ws.write("memory/a.md", "lantern\n")
    ws.ran("index", *force, **remote)
    asked = fake.inputs
    before = {
        path: path.stat().st_mtime_ns
        for path in ws.store.parent.iterdir()
        if not path.name.endswith(("-shm", "-wal"))
    }

    with ws.memory(**remote) as memory:
        for _ in range(20):
            assert memory.search("lantern").mode == "hybrid"

    assert fake.inputs - asked == 20, "twenty questions, no notes"
    assert {path: path.stat().st_mtime_ns for path in before} == before
