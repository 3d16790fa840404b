"""Killed anywhere, written by many: the store opens, checks out, and nothing acknowledged is lost."""

import json
import random
import subprocess
import threading
import time

import pytest
from memgrep.testing import Answer as Scripted


def vectors_of(ws, remote) -> int:
    return ws.ran("status", **remote)["vectors"]


def check(ws) -> None:
    """The core's own look at everything it keeps."""
    with ws.memory() as memory:
        memory.index()
        assert memory._open().verify() == []


@pytest.mark.parametrize("force", [False, True], ids=["first", "force"])
def test_f075_any_kill_leaves_a_good_index(ws, fake, remote, force):
    """25 kills at random moments each: the next search answers, and vectors only ever become more."""
    for n in range(300):
        ws.write(f"memory/n{n}.md", f"# note {n}\n\nlantern number {n}\n" * 4)
    if force:
        ws.ran("index", **remote)
    chance = random.Random(7)
    acknowledged = 0
    for _ in range(25):
        arguments = ["--force"] if force else []
        process = subprocess.Popen(
            ws.command("index", *arguments, **remote),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=ws.environment(),
        )
        time.sleep(chance.uniform(0.05, 1.2))
        process.kill()
        process.wait()
        kept = vectors_of(ws, remote)
        assert kept >= acknowledged
        acknowledged = kept

    assert len(ws.ran("search", "lantern")["results"]) == 6
    done = ws.ran("index", **remote)
    assert (done["files"], done["pending"], vectors_of(ws, remote)) == (300, 0, done["chunks"])
    check(ws)


def test_f073_no_lock_is_held_while_a_provider_is_asked(ws, fake, remote):
    """One process waits for a slow answer; another indexes and a third searches meanwhile."""
    for n in range(20):
        ws.write(f"memory/n{n}.md", f"lantern {n}\n")
    slow = Scripted(200)
    slow.delay = 60
    fake.decide = lambda texts, body: slow
    process = subprocess.Popen(ws.command("index", **remote), env=ws.environment(), stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while fake.requests == 0 and time.monotonic() < until:
            time.sleep(0.05)
        ws.write("memory/new.md", "kettle\n")

        assert ws.ran("index")["added"] == 1
        assert [hit["path"] for hit in ws.ran("search", "kettle")["results"]] == ["memory/new.md"]
        assert process.poll() is None, "the first one still waits"
    finally:
        process.kill()
        process.wait()


def test_f072_f081_many_writers_and_readers(ws):
    """Four processes index new notes while four search: no error, and everything is there in the end."""
    wrong: list[str] = []

    def loop(name: str, turns: int) -> None:
        for turn in range(turns):
            ws.write(f"memory/{name}-{turn}.md", f"lantern {name} {turn}\n")
            done = ws.run("index", "--json")
            if done.returncode or not json.loads(done.stdout)["ok"]:
                wrong.append(done.stderr.decode())

    def look(turns: int) -> None:
        for _ in range(turns):
            done = ws.run("search", "--json", "lantern")
            if done.returncode:
                wrong.append(done.stderr.decode())

    threads = [threading.Thread(target=loop, args=(f"w{n}", 4)) for n in range(4)]
    threads += [threading.Thread(target=look, args=(4,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []
    status = ws.ran("status")
    assert (status["files"], status["chunks"], status["dirty"]) == (16, 16, False)
    check(ws)


def test_f080_an_open_memory_holds_no_lock(ws):
    ws.write("memory/a.md", "lantern\n")
    with ws.memory() as memory:
        memory.index()
        for turn in range(3):
            ws.write(f"memory/n{turn}.md", f"kettle {turn}\n")
            assert ws.ran("index")["files"] == turn + 2
        assert len(memory.search("kettle")) == 3
