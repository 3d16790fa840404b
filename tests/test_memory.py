"""`Memory` and `AsyncMemory`: lifetime, threads, forks, and status of things that are not there."""

import asyncio
import json
import os
import threading

import memgrep
import pytest
from memgrep import AsyncMemory, IndexUnavailable, tools
from memgrep.errors import WorkspaceUnavailable
from memgrep.testing import HashEmbedder


def test_the_first_search_reads_the_notes_and_says_so(ws):
    ws.write("memory/a.md", "the lantern\n")

    with ws.memory() as memory:
        first, second = memory.search("lantern"), memory.search("lantern")

    assert [hit.path for hit in first] == ["memory/a.md"]
    assert first.warning == "the index was empty: 1 notes were read first"
    assert second.warning is None


def test_a_closed_memory_says_so_and_closes_twice(ws):
    memory = ws.memory()
    memory.close()
    memory.close()

    with pytest.raises(IndexUnavailable, match="closed"):
        memory.search("lantern")


def test_threads_share_one_memory(ws):
    """Eight threads search while one indexes: no error, every answer whole."""
    for n in range(30):
        ws.write(f"memory/n{n}.md", f"lantern {n}\n")
    wrong: list[object] = []
    with ws.memory(HashEmbedder(), background=True) as memory:
        memory.index()

        def search() -> None:
            try:
                for _ in range(15):
                    if len(memory.search("lantern", max_results=5)) != 5:
                        wrong.append("short")
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=search) for _ in range(8)]
        for thread in threads:
            thread.start()
        for n in range(30):
            ws.write(f"memory/n{n}.md", f"lantern again {n}\n")
            memory.index()
        for thread in threads:
            thread.join()

    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_opens_its_own_index(ws):
    ws.write("memory/a.md", "lantern\n")
    with ws.memory() as memory:
        assert len(memory.search("lantern")) == 1
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if len(memory.search("lantern")) == 1 else 2
            finally:
                os._exit(code)

        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(memory.search("lantern")) == 1


def test_asynchronous_programs_have_the_same_names(ws):
    ws.write("memory/a.md", "the lantern\n")

    async def use() -> tuple[object, ...]:
        memory = AsyncMemory(ws.folder, arguments=ws.settings, background=False)
        async with memory:
            report = await memory.index()
            answers = await asyncio.gather(*(memory.search("lantern") for _ in range(5)))
            page = await memory.get("memory/a.md")
            notes = await memory.notes()
            status = await memory.status()
        return report.files, {len(answer) for answer in answers}, page.text, notes, status["files"]

    assert asyncio.run(use()) == (1, {1}, "the lantern", ("memory/a.md",), 1)


def test_notes_are_the_paths_that_hits_carry(ws, tmp_path):
    ws.write("memory/b.md", "lantern\n")
    ws.write("MEMORY.md", "- lantern\n")
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "a.md").write_text("lantern\n", encoding="utf-8")

    with ws.memory(extraPaths=[str(tmp_path / "extra")]) as memory:
        assert memory.notes() == ()
        memory.index()

        assert memory.notes() == tuple(sorted(hit.path for hit in memory.search("lantern")))
        assert len(memory.notes()) == 3


def test_status_of_an_index_that_is_not_there_makes_none(ws):
    ws.write("memory/a.md", "lantern\n")

    with ws.memory() as memory:
        status = memory.status()

    assert (status["files"], status["eligible"], status["dirty"]) == (0, 1, True)
    assert not ws.store.exists()


def test_status_of_a_foreign_file_is_an_error_inside(ws, door):
    ws.store.parent.mkdir(parents=True)
    ws.store.write_bytes(b"not a database, but of some length" * 40)

    status = door.status()

    assert str(ws.store) in status["lastError"]
    assert ws.store.read_bytes() == b"not a database, but of some length" * 40


def test_what_is_skipped_is_listed_with_its_reason(ws, door):
    ws.write("memory/a.md", "lantern\n")
    (ws.folder / "memory/link.md").symlink_to("a.md")
    door.index()

    status = door.status()

    assert [(one["path"], "link" in one["reason"]) for one in status["skipped"]] == [("memory/link.md", True)]


def test_a_workspace_that_is_gone_is_not_an_empty_one(ws):
    ws.write("memory/a.md", "lantern\n")
    elsewhere = ws.folder.with_name("elsewhere")
    with ws.memory() as memory:
        memory.index()
        ws.folder.rename(elsewhere)
        for asked in (lambda: memory.search("lantern"), memory.index):
            with pytest.raises(WorkspaceUnavailable, match=f"{ws.folder} does not exist; create that folder"):
                asked()
        status = memory.status()
        elsewhere.rename(ws.folder)
        report, answer = memory.index(), memory.search("lantern")

    assert status["unreachable"][0]["path"] == str(ws.folder)
    assert str(ws.folder) in status["lastError"]
    assert status["files"] == 1
    assert (report.added, report.removed, len(answer)) == (0, 0, 1)


@pytest.mark.parametrize("there", ["nothing", "a file"])
def test_a_workspace_that_is_none_is_the_same_error_in_every_command(ws, there):
    workspace = ws.folder / "none"
    if there == "a file":
        workspace.write_text("")
    ws.folder = workspace
    reason = "does not exist" if there == "nothing" else "is not a folder"

    for command in (["index"], ["index", "memory/a.md"], ["search", "lantern"], ["get", "memory/a.md"]):
        done = ws.run(*command, "--json")
        assert done.returncode == 1, command
        assert f"the workspace {workspace} {reason}; create that folder" in done.stderr.decode()
        assert str(workspace) in json.loads(done.stdout)["error"]
    status = ws.ran("status")
    assert f"{workspace} {reason}" in status["lastError"]
    assert [one["path"] for one in status["unreachable"]] == [str(workspace)]
    with ws.memory() as memory:
        assert tools.memory_get(memory, "memory/a.md")["code"] == "workspace"
        assert tools.memory_search(memory, "lantern")["unavailable"] is True


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("{root}", "it is a folder"),
        ("{root}/a file/index.sqlite", "Not a directory"),
        ("{root}/a file", "it is not an index of memgrep"),
        ("{root}/a loop/index.sqlite", "symbolic links"),
        ("/proc/nowhere/index.sqlite", "cannot make folder /proc/nowhere"),
        ("/dev/null", "it is not an index of memgrep"),
        ("{root}/" + "x" * 300, "name too long"),
    ],
)
def test_a_store_path_that_cannot_be_meant_is_named_with_the_remedy(ws, tmp_path, path, said):
    ws.write("memory/a.md", "lantern\n")
    (tmp_path / "a file").write_text("some text")
    (tmp_path / "a loop").symlink_to("a loop")
    path = path.format(root=tmp_path)
    ws.settings["store.path"] = path

    for command in (["index"], ["search", "lantern"]):
        done = ws.run(*command, "--json")
        error = json.loads(done.stdout)["error"]
        assert done.returncode == 1
        assert done.stderr.decode().startswith(f"memgrep: error: {error}")
        assert path.removesuffix("/index.sqlite") in error
        assert said in error
        assert "set memory.search.store.path to" in error
    assert ws.run("status").returncode == 0
    assert (tmp_path / "a file").read_text() == "some text"


def test_a_memory_that_is_switched_off_is_not_read_either(ws):
    ws.write("memory/a.md", "lantern\n")

    with ws.memory(enabled=False) as memory:
        assert memory.search("lantern").unavailable
        assert tools.memory_get(memory, "memory/a.md")["code"] == "disabled"


def test_an_empty_store_path_is_a_wrong_setting(ws):
    ws.settings["store.path"] = ""

    done = ws.run("search", "--json", "lantern")

    assert done.returncode == 2
    assert json.loads(done.stdout) == {
        "ok": False,
        "error": 'argument: store.path: found "", allowed: a path',
    }


def test_agents_have_stores_of_their_own(ws, machine):
    """F144, in short: one agent's index knows nothing of another's workspace."""
    from memgrep import Memory

    ws.write("memory/a.md", "lantern\n")
    other = machine / "other"
    (other / "memory").mkdir(parents=True)
    with Memory(ws.folder, agent="a", arguments={"provider": "none"}, background=False) as memory:
        memory.index()
        first = memory.settings.store.path
    with Memory(other, agent="b", arguments={"provider": "none"}, background=False) as memory:
        assert memory.search("lantern").hits == ()
        assert memory.settings.store.path != first


def test_store_files_are_private(ws):
    ws.write("memory/a.md", "lantern\n")
    with ws.memory() as memory:
        memory.index()

    modes = {
        path.name: path.stat().st_mode & 0o077 for path in [ws.store.parent, *ws.store.parent.rglob("*")]
    }
    assert {name for name, mode in modes.items() if mode} == set()


def test_every_public_name_is_there():
    assert {name: hasattr(memgrep, name) for name in memgrep.__all__} == dict.fromkeys(memgrep.__all__, True)
    assert set(memgrep.__all__) <= set(dir(memgrep))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = memgrep.Nothing


def test_a_memory_shows_no_secret(ws):
    memory = ws.memory(remote__apiKey="sk-secret")

    assert "sk-secret" not in repr(memory) + repr(memory.settings) + str(memory.status())
    memory.close()
