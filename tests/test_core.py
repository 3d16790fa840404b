"""The boundary between Python and the core: types, errors, the interpreter's lock, and the stub."""

import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from memgrep import _core

INDEXING = {"tokens": 400, "overlap": 80, "max_file_bytes": 1 << 20, "ignore": ()}
TODAY = 20_454


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Facts\n\n- The router is at 192.168.10.1 <!-- importance: 8 -->\n")
    (folder / "memory" / "2025-12-30.md").write_text("# Network\n\nMoved the printer to VLAN 30.\n")
    (folder / "memory" / "coffee.md").write_text("# Coffee\n\nBeans from Kaffa, grinder at 14.\n")
    return folder


@pytest.fixture
def index(tmp_path, workspace):
    with _core.Index(str(tmp_path / "index.sqlite")) as index:
        index.sync(str(workspace), [], **INDEXING)
        yield index


def packed(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def test_a_sync_reports_what_it_found(tmp_path, workspace):
    with _core.Index(str(tmp_path / "index.sqlite")) as index:
        first = index.sync(str(workspace), [], **INDEXING)
        second = index.sync(str(workspace), [], **INDEXING)

    assert first.files == 3
    assert sorted(first.added) == ["MEMORY.md", "memory/2025-12-30.md", "memory/coffee.md"]
    assert (second.added, second.changed, second.removed) == ([], [], [])
    assert second.generation == first.generation


def test_a_hit_is_a_frozen_value_that_explains_itself(index):
    result = index.search("printer VLAN", None, today=TODAY, min_score=0.0)
    hit = result.hits[0]

    assert (hit.path, hit.source, hit.start_line) == ("memory/2025-12-30.md", "memory", 1)
    assert "VLAN 30" in hit.snippet
    assert 0 < hit.score <= 1
    assert hit.explanation.bm25 > 0
    assert hit.explanation.lexical_rank == 1
    assert hit.explanation.cosine is None
    assert not result.vectors_used
    with pytest.raises(AttributeError):
        hit.score = 1.0


def test_matches_are_character_ranges_of_the_snippet(index, workspace):
    """Bytes inside, characters outside: text before the match is not ASCII."""
    (workspace / "memory" / "zh.md").write_text(
        "# 网络\n\n路由器换成了 OPS-7714 的型号。\n", encoding="utf-8"
    )
    index.sync(str(workspace), [], **INDEXING)

    hit = index.search("OPS-7714", None, today=TODAY).hits[0]

    assert hit.path == "memory/zh.md"
    assert "OPS-7714" in " ".join(hit.snippet[start:end] for start, end in hit.matches).replace(" ", "-")


def test_vectors_travel_as_packed_floats(index):
    index.select_fingerprint("test/2")
    pending = index.pending(10)
    assert len(pending) == index.pending_count() == 3
    for hash_, text in pending:
        index.put_vectors([hash_], packed(*((1.0, 0.0) if "Kaffa" in text else (0.0, 1.0))), 2)
    index.publish()

    result = index.search("zzz", packed(1.0, 0.0), today=TODAY, min_score=0.0)

    assert result.vectors_used
    assert (result.chunks, result.vectors) == (3, 3)
    assert result.hits[0].path == "memory/coffee.md"
    assert result.hits[0].explanation.cosine == pytest.approx(1.0)


def test_progress_is_told_and_can_stop_a_sync(tmp_path, workspace):
    told = []

    def stop(stage, done, total):
        told.append((stage, done, total))
        return False

    with _core.Index(str(tmp_path / "index.sqlite")) as index:
        with pytest.raises(_core.CoreError) as caught:
            index.sync(str(workspace), [], progress=stop, **INDEXING)
        assert caught.value.kind == "interrupted"
        assert index.sync(str(workspace), [], **INDEXING).files == 3

    assert told


def test_an_error_of_the_progress_callback_comes_through(tmp_path, workspace):
    def broken(stage, done, total):
        raise LookupError("mine")

    with _core.Index(str(tmp_path / "index.sqlite")) as index, pytest.raises(LookupError, match="mine"):
        index.sync(str(workspace), [], progress=broken, **INDEXING)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fusion": "votes"}, "votes"),
        ({"decay": "sometimes"}, "sometimes"),
        ({"sources": ("memory", "dreams")}, "dreams"),
    ],
)
def test_what_an_argument_can_cause_is_a_value_error(index, arguments, message):
    with pytest.raises(ValueError, match=message):
        index.search("router", None, today=TODAY, **arguments)


def test_vectors_of_a_wrong_length_are_refused(index):
    index.select_fingerprint("test/2")
    ((hash_, _), *_) = index.pending(1)

    with pytest.raises(ValueError, match="2"):
        index.put_vectors([hash_], packed(1.0, 0.0, 0.0), 2)
    with pytest.raises(ValueError, match=r"\w"):
        index.put_vectors([hash_], b"abc", 2)


def test_a_file_that_is_not_ours_is_refused_and_left_alone(tmp_path):
    file = tmp_path / "index.sqlite"
    file.write_bytes(b"a diary, not an index" * 100)

    with pytest.raises(_core.CoreError) as caught:
        _core.Index(str(file)).status()

    assert caught.value.kind == "foreign"
    assert str(file) in str(caught.value)
    assert file.read_bytes() == b"a diary, not an index" * 100


def test_a_workspace_that_cannot_be_reached_is_said(tmp_path, index):
    gone = tmp_path / "gone"

    with pytest.raises((OSError, _core.CoreError), match="gone"):
        index.sync(str(gone), [], **INDEXING)
    assert index.search("router", None, today=TODAY).hits


def test_a_settings_error_has_its_line():
    with pytest.raises(ValueError, match="line 2"):
        _core.parse_settings("{\n  a: }", "json5")
    with pytest.raises(ValueError, match="yaml"):
        _core.parse_settings("a: 1", "yaml")


def test_settings_know_their_lines():
    assert _core.parse_settings("{\n  // why\n  a: [1, 'x'],\n}", "json5") == (
        1,
        {"a": (3, (3, [(3, 1), (3, "x")]))},
    )


def test_a_search_lets_go_of_the_interpreter(index):
    """A second thread counts while a search runs.

    The interpreter never takes its lock away here, so the other thread runs only where this one lets go of
    it: between the two looks at the counter, that is inside `search` alone.
    """
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1_000)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        moved = False
        for _ in range(2_000):
            before = counted[0]
            index.search("router printer beans", None, today=TODAY)
            if moved := counted[0] > before:
                break
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join()

    assert moved


def test_two_threads_search_one_index(index):
    failures = []

    def search():
        try:
            for _ in range(50):
                assert index.search("router", None, today=TODAY).hits[0].path == "MEMORY.md"
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []


def test_the_stub_is_the_binary():
    """Names, signatures and defaults of `_core.pyi`, `__all__` included."""
    allowed = Path(__file__).with_name("stubtest.allow")
    command = [sys.executable, "-m", "mypy.stubtest", "--allowlist", str(allowed), "memgrep._core"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr
