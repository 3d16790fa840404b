"""The write side: words first, vectors as they come, exact about what is missing."""

import calendar
import json
import os
import time

import pytest
from memgrep.errors import ProviderAuth, ProviderError
from memgrep.sync import Report
from memgrep.testing import HashEmbedder


@pytest.fixture
def forty(ws):
    for n in range(40):
        ws.write(f"memory/n{n:02}.md", f"note number {n}\n")
    return ws


def test_everything_gets_a_vector_once(forty):
    embedder = HashEmbedder()

    with forty.memory(embedder) as memory:
        first, second = memory.index(), memory.index()

    assert (first.added, first.chunks, first.vectors, first.pending, first.complete) == (40, 40, 40, 0, True)
    assert (second.added, second.vectors, embedder.inputs) == (0, 0, 40)


class FailsLater(HashEmbedder):
    """Gives so many vectors, then fails as a whole."""

    def __init__(self, good: int, error: BaseException) -> None:
        super().__init__()
        self.good, self.late = good, error

    def embed_documents(self, texts, *, progress=None, cancel=None):
        for result in super().embed_documents(texts):
            if self.good == 0:
                raise self.late
            self.good -= 1
            yield result


def test_what_came_before_a_failure_is_kept(forty):
    error = ProviderAuth("hash", "key rejected (401)", "set a key")

    with forty.memory(FailsLater(13, error)) as memory:
        report = memory.index()

    assert (report.vectors, report.pending, report.complete) == (13, 27, False)
    assert (report.error, report.action) == ("hash: key rejected (401)", "set a key")
    with forty.memory(embedder := HashEmbedder()) as memory:
        assert memory.index().vectors == 27
    assert embedder.inputs == 27


def test_an_interruption_keeps_what_is_paid_for(forty):
    with forty.memory(FailsLater(13, KeyboardInterrupt())) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.index()
        assert memory.status()["vectors"] == 13


def test_a_refused_text_costs_itself_only(forty):
    with forty.memory() as memory:
        memory.index()
    with forty.memory(embedder := HashEmbedder()) as memory:
        index = memory._open()
        index.select_fingerprint(embedder.fingerprint)
        embedder.refuse = {
            text for _, text in index.pending(100) if "number 7\n" in text or text.endswith("number 7")
        }
        report = memory.index()

    assert len(embedder.refuse) == 1
    assert (report.vectors, report.failed, report.pending, report.complete) == (39, 1, 0, False)


def test_a_provider_that_refuses_everything_is_at_fault_itself(ws):
    for n in range(200):
        ws.write(f"memory/n{n}.md", f"note number {n}\n")

    class Never(HashEmbedder):
        def embed_documents(self, texts, *, progress=None, cancel=None):
            from memgrep.embeddings.request import Refused

            return iter([Refused("no")] * len(texts))

    with ws.memory(Never()) as memory:
        report = memory.index()

    assert "refused all of the first 64 texts: no" in report.error
    assert (report.failed, report.pending) == (64, 136)


def test_progress_may_stop_the_work(forty):
    seen: list[tuple[str, int, int]] = []

    def look(stage: str, done: int, total: int) -> bool:
        seen.append((stage, done, total))
        return True

    with forty.memory(HashEmbedder()) as memory:
        memory.index(progress=look)

    assert seen[-1] == ("embedding", 40, 40)


@pytest.mark.parametrize(
    "missing", [{"failed": 1}, {"pending": 1}, {"error": "x"}, {"unreachable": (("/x", "gone"),)}]
)
def test_a_report_is_complete_only_if_nothing_is_missing(missing):
    assert Report().complete
    assert not Report(**missing).complete


def test_an_unreachable_extra_path_is_not_an_empty_one(ws, tmp_path):
    """The notes below it stay in the index; status names it."""
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "n.md").write_text("lantern\n", encoding="utf-8")
    with ws.memory(extraPaths=[str(extra)]) as memory:
        memory.index()
        extra.rename(tmp_path / "elsewhere")
        report = memory.index()
        status = memory.status()

    assert (report.removed, report.complete, report.files) == (0, False, 1)
    assert [one["path"] for one in status["unreachable"]] == [str(extra)]


def test_a_changed_embedder_embeds_anew_and_back_again_for_nothing(forty):
    one, other = HashEmbedder(model="one"), HashEmbedder(model="other", dims=32)
    with forty.memory(one) as memory:
        memory.index()
    with forty.memory(other) as memory:
        assert memory.search("note", max_results=1).warning.startswith("found by words only")
        memory.index()
    with forty.memory(one) as memory:
        assert memory.index().vectors == 0
        assert memory.search("note", max_results=1).mode == "hybrid"

    assert one.inputs - 1 == other.inputs - 1 == 40


def test_provider_errors_carry_who_and_why():
    error = ProviderError("hash", "503", "later")

    assert str(error) == "hash: 503; later"


def test_only_the_named_notes_are_looked_at(ws):
    """A caller who knows what changed names it; the rest waits for the next look."""
    for name in ("a", "b"):
        ws.write(f"memory/{name}.md", "lantern\n")
    with ws.memory(sync__onSearch=False) as memory:
        memory.index()
        for name in ("a", "b"):
            ws.write(f"memory/{name}.md", "kettle and more\n")

        report = memory.index(paths=["memory/a.md"])

        assert (report.files, report.changed) == (2, 1)
        assert [hit.path for hit in memory.search("kettle")] == ["memory/a.md"]
        assert memory.index().changed == 1
        assert len(memory.search("kettle")) == 2


def test_a_named_note_that_is_new_or_gone_has_everything_looked_at(ws):
    ws.write("memory/a.md", "lantern\n")
    ws.write("memory/c.md", "lantern\n")
    with ws.memory(sync__onSearch=False) as memory:
        memory.index()
        ws.write("memory/b.md", "lantern\n")
        assert memory.index(paths=["memory/b.md"]).added == 1
        (ws.folder / "memory/a.md").unlink()
        assert memory.index(paths=["memory/a.md"]).removed == 1
        assert {hit.path for hit in memory.search("lantern")} == {"memory/b.md", "memory/c.md"}


def test_a_note_changed_again_at_once_with_the_same_size_is_seen(ws):
    """Two changes in one tick of the clock leave the same time stamp."""
    note = ws.write("memory/a.md", "lantern\n")
    stamp = note.stat()
    with ws.memory() as memory:
        memory.index()
        with note.open("r+b") as file:
            file.write(b"kettles")
        os.utime(note, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

        assert [hit.path for hit in memory.search("kettles")] == ["memory/a.md"]


def test_status_tells_when_the_last_sync_was(ws, door):
    ws.write("memory/a.md", "lantern\n")
    begun = time.time()
    door.index()

    told = calendar.timegm(time.strptime(door.status()["lastSync"], "%Y-%m-%dT%H:%M:%SZ"))

    assert int(begun) <= told <= time.time()


def test_naming_notes_from_the_command(ws):
    ws.write("memory/a.md", "lantern\n")
    ws.ran("index")
    ws.write("memory/a.md", "kettle and more\n")

    assert ws.ran("index", "memory/a.md")["changed"] == 1
    assert [hit["path"] for hit in ws.ran("search", "kettle")["results"]] == ["memory/a.md"]


def test_a_path_that_is_no_note_is_an_error_and_the_others_are_indexed(ws, tmp_path):
    ws.write("memory/a.md", "lantern\n")
    ws.write("memory/.memgrepignore", "ignored.md\n")
    ws.write("memory/ignored.md", "lantern\n")
    ws.write("memory/x.txt", "lantern\n")
    (ws.folder / "memory/link.md").symlink_to("a.md")
    wrong = {
        "memory/none.md": "there is no such note",
        f"{tmp_path}/outside.md": "outside of the workspace",
        "docs/d.md": "not MEMORY.md, USER.md, below memory/",
        "memory/x.txt": "only Markdown notes",
        "memory": "only Markdown notes",
        "memory/": "this names a folder",
        "memory/../a.md": "'..' is not allowed",
        "memory/link.md": "symbolic link",
        "memory/ignored.md": "left out by an ignore pattern",
    }

    done = ws.run("index", "--json", "memory/a.md", *wrong)

    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"], report["added"]) == (1, False, 1)
    assert {path: reason[: len(wrong[path])] for path, reason in report["refused"]} == wrong
    for path, reason in wrong.items():
        assert f"memgrep: error: {path}: {reason}" in done.stderr.decode()
    assert [hit["path"] for hit in ws.ran("search", "lantern")["results"]] == ["memory/a.md"]


def test_another_spelling_names_the_same_note(ws):
    note = ws.write("memory/a.md", "lantern\n")

    for spelled in ("memory/a.md", "./memory//a.md", str(note)):
        report = ws.ran("index", spelled)
        assert report["files"] == 1
        assert report["refused"] == []


def test_nothing_but_wrong_paths_changes_nothing(ws):
    ws.write("memory/a.md", "lantern\n")

    done = ws.run("index", "memory/none.txt")

    assert done.returncode == 1
    assert ws.ran("status")["files"] == 0


def test_other_sizes_of_chunks_count_for_notes_that_were_not_named(ws):
    for name in ("a", "b"):
        ws.write(f"memory/{name}.md", "a line about the lantern\n\n" * 100)
    with ws.memory() as memory:
        memory.index()
    small = {"chunking__tokens": 50, "chunking__overlap": 0, "sync__onSearch": False}
    with ws.memory(**small) as memory:
        memory.index(paths=["memory/a.md"])
        chunks = memory.index().chunks

        assert chunks == memory.index(force=True).chunks


def test_a_note_whose_clock_is_ahead_is_not_called_changed(ws):
    note = ws.write("memory/a.md", "lantern\n")
    os.utime(note, (time.time() + 86_400, time.time() + 86_400))
    with ws.memory() as memory:
        memory.index()

        assert memory.status()["dirty"] is False
