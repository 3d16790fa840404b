"""Fixtures only: a machine of its own for every test, a workspace, and the two doors to it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

# A day far from every date in the tests' notes, so that nothing fades by accident: 2026-07-01.
TODAY = 20_635


@pytest.fixture
def shared() -> Path:
    """The folder with the recorded answers of the original."""
    place = Path(os.environ.get("MEMGREP_SHARED") or Path(__file__).parents[2] / "shared")
    if not (place / "golden").is_dir():
        pytest.skip("the recorded answers are not at hand (MEMGREP_SHARED)")
    return place


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without settings, keys and proxies."""
    home = tmp_path / "home"
    home.mkdir()
    ours, others = ("MEMGREP_", "OPENCLAW_", "XDG_"), ("_API_KEY", "_PROXY", "_proxy")
    for name in set(os.environ) - {"MEMGREP_SHARED"}:
        if name.startswith(ours) or name.endswith(others):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


class Workspace:
    """A folder of notes with a store beside it."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "ws"
        (self.folder / "memory").mkdir(parents=True)
        self.store = root / "store" / "index.sqlite"
        self.settings: dict[str, object] = {"provider": "none", "store.path": str(self.store)}

    def write(self, path: str, text: str | bytes) -> Path:
        """A note."""
        note = self.folder / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_bytes(text if isinstance(text, bytes) else text.encode())
        return note

    def memory(
        self, embedder: Any = None, *, today: int = TODAY, background: bool = False, **more: object
    ) -> Any:
        """The library's door. `more` are settings, dots written as `__`."""
        from memgrep import Memory

        arguments = {**self.settings, **{name.replace("__", "."): value for name, value in more.items()}}
        return Memory(
            self.folder, arguments=arguments, embedder=embedder, background=background, clock=lambda: today
        )

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        return {**os.environ, **(more or {})}

    def command(self, name: str, *arguments: str, **more: object) -> list[str]:
        """A command line; `more` are settings, dots written as `__`."""
        settings = {**self.settings, **{key.replace("__", "."): value for key, value in more.items()}}
        values = [
            f"--set={key}={value if isinstance(value, str) else json.dumps(value)}"
            for key, value in settings.items()
        ]
        start = [sys.executable, "-m", "memgrep", *name.split()]
        return [*start, "--workspace", str(self.folder), *values, *arguments]

    def run(
        self, name: str, *arguments: str, env: Mapping[str, str] | None = None, **more: object
    ) -> "subprocess.CompletedProcess[bytes]":
        """The command's door."""
        return subprocess.run(
            self.command(name, *arguments, **more),
            capture_output=True,
            env=self.environment(env),
            timeout=120,
        )

    def ran(self, name: str, *arguments: str, **more: object) -> Any:
        """A command that works; its JSON document."""
        done = self.run(name, "--json", *arguments, **more)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """An empty workspace."""
    return Workspace(tmp_path)


# Runs commands as a user who owns nothing. What they import is imported before, by running them on a copy: the
# interpreter's own files may be root's alone.
AS_NOBODY = """
import contextlib, io, json, os, shutil, sys, tempfile
from memgrep.cli import run

def ran(command):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(command)
    return code, out.getvalue(), err.getvalue()

root, commands = json.loads(sys.argv[1])
copy = tempfile.mkdtemp()
shutil.copytree(root, copy, dirs_exist_ok=True)
for command in commands:
    ran([word.replace(root, copy) for word in command])
shutil.rmtree(copy)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
print(json.dumps([ran(command) for command in commands]))
"""


class SharedWorkspace(Workspace):
    """A workspace that other users reach."""

    def as_nobody(self, *commands: tuple[str, ...], **more: object) -> list[tuple[int, str, str]]:
        """Runs commands as uid 65534, one after the other: exit code, output and errors of each."""
        words = [self.command(*command, **more)[3:] for command in commands]
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, json.dumps([str(self.folder.parent), words])],
            capture_output=True,
            env=self.environment({"HOME": str(self.folder.parent)}),
            timeout=120,
        )
        assert done.returncode == 0, done.stderr.decode()
        return [(code, out, err) for code, out, err in json.loads(done.stdout)]


@pytest.fixture
def shared_ws() -> Iterator[SharedWorkspace]:
    """A workspace for tests of rights, which root does not feel."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield SharedWorkspace(Path(folder))


class Library:
    """The library, asked for documents."""

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws

    def index(self, **more: object) -> Any:
        with self.ws.memory(**more) as memory:
            return memory.index().to_json()

    def search(
        self,
        query: str,
        max_results: int | None = None,
        min_score: float | None = None,
        only: Mapping[str, str] | None = None,
        **more: object,
    ) -> Any:
        with self.ws.memory(**more) as memory:
            # A group chat: not cited, as on the command line.
            options = {"max_results": max_results, "min_score": min_score, "session": "x:group"}
            return memory.search(query, **options, **(only or {})).to_json()

    def get(self, path: str, start: int | None = None, lines: int | None = None) -> Any:
        from memgrep import memory_get

        with self.ws.memory() as memory:
            return memory_get(memory, path, from_=start, lines=lines)

    def status(self, **more: object) -> Any:
        with self.ws.memory(**more) as memory:
            return memory.status()


class Command:
    """The command, asked for documents."""

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws

    def index(self, **more: object) -> Any:
        return self.ws.ran("index", **more)

    def search(
        self,
        query: str,
        max_results: int | None = None,
        min_score: float | None = None,
        only: Mapping[str, str] | None = None,
        **more: object,
    ) -> Any:
        options = [f"--{name}={value}" for name, value in (only or {}).items()]
        options += [f"--max-results={max_results}"] if max_results is not None else []
        options += [f"--min-score={min_score}"] if min_score is not None else []
        return self.ws.ran("search", *options, "--", query, **more)

    def get(self, path: str, start: int | None = None, lines: int | None = None) -> Any:
        options = [f"--from={start}"] if start is not None else []
        options += [f"--lines={lines}"] if lines is not None else []
        done = self.ws.run("get", "--json", *options, "--", path)
        return json.loads(done.stdout)

    def status(self, **more: object) -> Any:
        return self.ws.ran("status", **more)


@pytest.fixture(params=["library", "command"])
def door(request: pytest.FixtureRequest, ws: Workspace) -> Library | Command:
    """Both doors, one after the other: they must say the same."""
    return Library(ws) if request.param == "library" else Command(ws)


@pytest.fixture
def paths() -> Callable[[Any], list[str]]:
    """The paths of an answer's results, in order."""
    return lambda answer: [hit["path"] for hit in answer["results"]]


@pytest.fixture
def fake() -> Iterator[Any]:
    """A scripted embedding endpoint on loopback."""
    from memgrep.testing import FakeEmbeddings

    with FakeEmbeddings() as server:
        yield server


@pytest.fixture
def remote(fake: Any) -> dict[str, object]:
    """Settings that use the scripted endpoint."""
    return {
        "provider": "openai-compatible",
        "model": "fake",
        "remote__baseUrl": fake.url,
        "remote__apiKey": "k-1",
    }
