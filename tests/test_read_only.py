"""Rights: a store that may only be read still answers, a note that may not be read is named."""

import json
import os
import subprocess
import sys

import pytest


def listing(folder):
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def let_others_read(folder):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


LEFT_IN_THE_LOG = """
import os, sys
from memgrep import Memory
memory = Memory(sys.argv[1], arguments={"provider": "none", "store.path": sys.argv[2]})
memory.index()
os._exit(0)
"""


def killed_after_indexing(ws):
    """Its write-ahead log is as the dead process left it."""
    subprocess.run([sys.executable, "-c", LEFT_IN_THE_LOG, str(ws.folder), str(ws.store)], check=True)
    assert ws.store.with_name(ws.store.name + "-wal").stat().st_size > 0


@pytest.mark.parametrize("state", ["closed", "log left", "no log index", "file writable"])
def test_a_store_that_may_only_be_read_answers_and_says_so(shared_ws, state):
    ws = shared_ws
    ws.write("memory/a.md", "lantern\n")
    ws.ran("index")
    ws.write("memory/b.md", "lantern of the second\n")
    if state == "closed" or state == "file writable":
        ws.ran("index")
    else:
        killed_after_indexing(ws)
    if state == "no log index":
        ws.store.with_name(ws.store.name + "-shm").unlink()
    let_others_read(ws.store.parent)
    if state == "file writable":
        ws.store.chmod(0o666)
    ws.write("memory/c.md", "lantern of the third\n")
    before = listing(ws.store.parent)

    (found, status, page, index) = ws.as_nobody(
        ("search", "--json", "lantern"), ("status", "--json"), ("get", "memory/a.md"), ("index", "--json")
    )

    assert listing(ws.store.parent) == before
    assert page[:2] == (0, "lantern\n"), page
    assert index[0] == 1
    assert str(ws.store) in json.loads(index[1])["error"]
    assert "memory.search.store.path" in index[2]
    if state == "no log index":
        # What the log holds is not in the file: no answer is better than an old one that is not known to be old.
        assert found[0] == 1
        assert "write-ahead log" in json.loads(found[1])["error"]
        assert "write-ahead log" in json.loads(status[1])["lastError"]
        return
    answer, seen = json.loads(found[1]), json.loads(status[1])
    assert {hit["path"] for hit in answer["results"]} == {"memory/a.md", "memory/b.md"}
    assert answer["stale"] is True
    assert answer["warning"].count("may only be read") == 1
    assert found[2].count("warning") == 1
    assert (seen["files"], seen["dirty"], seen["store"]["readOnly"]) == (2, True, True)
    assert [warning for warning in seen["warnings"] if "may only be read" in warning] == seen["warnings"]


def test_a_store_that_may_only_be_read_answers_by_meaning(shared_ws, fake, remote):
    shared_ws.write("memory/a.md", "lantern\n")
    shared_ws.ran("index", **remote)
    let_others_read(shared_ws.store.parent)

    (found,) = shared_ws.as_nobody(("search", "--json", "lantern"), **remote)

    answer = json.loads(found[1])
    assert (answer["mode"], len(answer["results"]), "stale" in answer) == ("hybrid", 1, False)
    assert "may only be read" in answer["warning"]


def test_a_store_that_may_not_be_read_is_named(shared_ws):
    shared_ws.write("memory/a.md", "lantern\n")
    shared_ws.ran("index")

    found, status = shared_ws.as_nobody(("search", "--json", "lantern"), ("status", "--json"))

    assert found[0] == 1
    assert str(shared_ws.store) in json.loads(found[1])["error"]
    assert "Permission denied" in json.loads(status[1])["lastError"]


def test_a_store_of_ones_own_is_no_warning(ws):
    ws.write("memory/a.md", "lantern\n")
    ws.ran("index")

    assert "warning" not in ws.ran("search", "lantern")
    assert ws.ran("status")["store"]["readOnly"] is False


def test_a_store_whose_folder_cannot_be_made_is_named_with_the_remedy(shared_ws):
    shared_ws.write("memory/a.md", "lantern\n")
    folder = shared_ws.store.parent

    for code, out, err in shared_ws.as_nobody(("search", "--json", "lantern"), ("index", "--json")):
        assert code == 1
        assert f"cannot make folder {folder}: Permission denied" in json.loads(out)["error"]
        assert "memory.search.store.path" in err
        assert "Traceback" not in err


@pytest.fixture
def nobodys_store(shared_ws):
    """The notes are root's, the store is nobody's."""
    shared_ws.store.parent.mkdir()
    os.chown(shared_ws.store.parent, 65534, 65534)
    return shared_ws


def test_a_note_that_may_not_be_read_is_skipped_and_nothing_is_left_to_do(nobodys_store):
    nobodys_store.write("memory/a.md", "lantern\n")
    nobodys_store.write("memory/secret.md", "lantern\n").chmod(0)

    before, index, after, found, page = nobodys_store.as_nobody(
        ("status", "--json"),
        ("index", "--json"),
        ("status", "--json"),
        ("search", "--json", "lantern"),
        ("get", "--json", "memory/secret.md"),
    )

    assert json.loads(before[1])["changes"] == {"added": 1, "changed": 0, "removed": 0}
    assert (index[0], json.loads(index[1])["files"]) == (0, 1)
    assert "memory/secret.md: unreadable: Permission denied" in index[2]
    for seen in (json.loads(before[1]), json.loads(after[1])):
        assert [(one["path"], one["reason"][:29]) for one in seen["skipped"]] == [
            ("memory/secret.md", "unreadable: Permission denied")
        ]
        assert seen["eligible"] == 1
    assert (json.loads(after[1])["dirty"], json.loads(after[1])["files"]) == (False, 1)
    assert "stale" not in json.loads(found[1])
    assert (page[0], json.loads(page[1])["code"]) == (1, "unreadable")


@pytest.mark.parametrize("closed", ["memory/sub/b.md", "memory/sub"])
def test_what_was_read_before_stays_when_it_may_not_be_read_any_more(nobodys_store, closed):
    nobodys_store.write("memory/a.md", "lantern\n")
    nobodys_store.write("memory/sub/b.md", "kettle\n")
    nobodys_store.as_nobody(("index",))
    (nobodys_store.folder / closed).chmod(0)

    status, index, found = nobodys_store.as_nobody(
        ("status", "--json"), ("index", "--json"), ("search", "--json", "kettle")
    )

    assert json.loads(status[1])["dirty"] is False
    assert [one["path"] for one in json.loads(status[1])["skipped"]] == [closed]
    assert (index[0], json.loads(index[1])["files"], json.loads(index[1])["removed"]) == (0, 2, 0)
    assert [hit["path"] for hit in json.loads(found[1])["results"]] == ["memory/sub/b.md"]
    assert "stale" not in json.loads(found[1])
