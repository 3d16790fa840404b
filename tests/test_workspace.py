"""One store, two workspaces: an answer holds notes of the workspace of now only."""

import os
import stat
from pathlib import Path

import pytest
from memgrep import Memory
from memgrep._core import Index
from memgrep.errors import IndexLocked, IndexUnavailable
from memgrep.testing import HashEmbedder
from memgrep.workspace import check, holds, mark


def workspace(folder: Path, **notes: str) -> Path:
    (folder / "memory").mkdir(parents=True)
    for name, text in notes.items():
        (folder / "memory" / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def two(tmp_path):
    """Two workspaces of the agent main; `b` has one note in common with `a`, word for word."""
    same = "the kettle is on the shelf\n"
    return (
        workspace(tmp_path / "a", same=same, secret="lantern of workspace a\n", clash="clash in a\n"),
        workspace(tmp_path / "b", same=same, clash="clash in b\n"),
    )


def opened(folder, embedder=None, **settings):
    arguments = {"provider": "none", **{name.replace("__", "."): value for name, value in settings.items()}}
    return Memory(folder, arguments=arguments, embedder=embedder, background=False)


@pytest.mark.parametrize("on_search", [True, False])
@pytest.mark.parametrize("embedder", [None, HashEmbedder()])
def test_another_workspace_is_read_before_it_is_answered(two, on_search, embedder):
    a, b = two
    with opened(a, embedder) as memory:
        memory.index()
        assert [hit.path for hit in memory.search("lantern", min_score=0.1)][:1] == ["memory/secret.md"]

    with opened(b, embedder, sync__onSearch=on_search) as memory:
        first = memory.search("clash kettle lantern", min_score=0)
        later = memory.search("clash kettle lantern", min_score=0)

        assert first.warning.startswith(
            "the index held the notes of another workspace: 2 notes were read first"
        )
        for answer in (first, later):
            assert {hit.absolute_path for hit in answer} == {
                str(b / "memory/same.md"),
                str(b / "memory/clash.md"),
            }
            assert not any("workspace a" in hit.snippet or "in a" in hit.snippet for hit in answer)
        assert "another workspace" not in (later.warning or "")


def test_the_first_one_is_read_anew_when_it_comes_back(two):
    a, b = two
    for folder in (a, b, a):
        with opened(folder) as memory:
            answer = memory.search("lantern clash")

    assert {hit.absolute_path for hit in answer} == {str(a / "memory/secret.md"), str(a / "memory/clash.md")}


def test_two_that_are_open_at_once_take_turns(two):
    a, b = two
    with opened(a) as first, opened(b) as second:
        for _ in range(2):
            assert [hit.snippet.strip() for hit in first.search("clash")] == ["clash in a"]
            assert [hit.snippet.strip() for hit in second.search("clash")] == ["clash in b"]


def test_indexing_some_notes_of_another_workspace_reads_all_of_it(two):
    a, b = two
    with opened(a) as memory:
        memory.index()

    with opened(b) as memory:
        report = memory.index(paths=["memory/same.md"])
        hits = memory.search("kettle lantern").hits

    assert report.files == 2
    assert [hit.absolute_path for hit in hits] == [str(b / "memory/same.md")]


def test_a_workspace_that_moved_is_found_where_it_is(two, tmp_path):
    a, _ = two
    with opened(a) as memory:
        memory.index()
    moved = a.rename(tmp_path / "moved")

    with opened(moved) as memory:
        answer = memory.search("lantern")

    assert [hit.absolute_path for hit in answer] == [str(moved / "memory/secret.md")]


def test_another_spelling_is_the_same_workspace(two, tmp_path):
    a, _ = two
    with opened(a) as memory:
        memory.index()
    (tmp_path / "link").symlink_to(a)

    for spelled in (f"{a}/", tmp_path / "link"):
        with opened(spelled) as memory:
            answer = memory.search("lantern")
        assert [hit.path for hit in answer] == ["memory/secret.md"]
        assert answer.warning is None


def test_an_index_left_halfway_is_made_anew(two):
    a, _ = two
    with opened(a) as memory:
        memory.index()
        os.unlink(memory.settings.store.path + ".workspace")

        assert "another workspace" in memory.search("lantern").warning
        assert memory.search("lantern").warning is None


def test_status_says_whose_notes_they_are(two):
    a, b = two
    with opened(a) as memory:
        memory.index()
        assert memory.status()["warnings"] == []

    with opened(b) as memory:
        assert "notes of another workspace" in memory.status()["warnings"][0]


def test_a_hit_of_another_workspace_is_refused(two):
    """Its process may have taken the index over between the look and the answer."""
    a, b = two
    with opened(a) as memory:
        hits = memory.search("lantern").hits
    assert hits

    check(hits, str(a))
    with pytest.raises(IndexLocked, match="another workspace"):
        check(hits, str(b))


def test_an_index_that_cannot_be_made_anew_does_not_answer(two, monkeypatch):
    a, b = two
    with opened(a) as memory:
        memory.index()

    def refused(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("memgrep.workspace.os.unlink", refused)
    with opened(b) as memory, pytest.raises(IndexUnavailable, match=r"store\.path"):
        memory.search("lantern")


def test_the_mark_is_private_and_an_empty_index_is_anyones(two):
    a, b = two
    with opened(a) as first, opened(b) as second:
        index = Index(first.settings.store.path)
        assert holds(index, first.settings)
        assert holds(index, second.settings)
        first.index()

        assert stat.S_IMODE(os.stat(f"{index.path}.workspace").st_mode) == 0o600
        assert holds(index, first.settings)
        assert not holds(index, second.settings)
        mark(second.settings)
        assert holds(index, second.settings)
