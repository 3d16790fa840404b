"""`Memory`: one agent's notes, opened once, asked by any number of threads.

It opens the index, has it kept in line with the files, asks the built-in backend, and decides what a failure
means: a provider that the user named and that fails makes the answer unavailable; one that was chosen by
itself leaves search by words, and the answer says so.
"""

import os
import threading

from memgrep._core import CoreError, Index
from memgrep.config import Places, load
from memgrep.errors import (
    IndexForeign,
    IndexLocked,
    IndexUnavailable,
    NoteRefused,
    ProviderError,
    WorkspaceUnavailable,
)
from memgrep.hits import Answer, Fallback, cites
from memgrep.printable import one_line
from memgrep.provider import Provider
from memgrep.search import CORPORA, ask, check_question, read_filter, today, unavailable
from memgrep.sync import Report, Vectors, sync_notes
from memgrep.upkeep import Upkeep, count, select
from memgrep.workspace import ONLY_READ, check, must_be_there, only_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date
    from types import TracebackType
    from typing import Any, Self

    from memgrep._core import SyncReport
    from memgrep.config import Settings
    from memgrep.embeddings import Embedder
    from memgrep.files import Page
    from memgrep.sync import Progress

__all__ = ["Memory"]


class Memory:
    """One agent's memory in one workspace.

    Settings are read from the usual files and the environment; `arguments` are dotted keys that win over
    them. With `settings` nothing is read. `embedder` replaces the configured provider. With `background`,
    what a search does not wait for (many changed notes, vectors of new ones) is done by one thread of ours;
    without, the answer is marked as stale and the next `index` does it. `clock` gives today as days since
    1970-01-01.

    Use it in a `with` block, or `close` it.
    """

    def __init__(
        self,
        workspace: str | os.PathLike[str] | None = None,
        *,
        agent: str | None = None,
        arguments: "Mapping[str, object] | None" = None,
        settings: "Settings | None" = None,
        embedder: "Embedder | None" = None,
        background: bool = True,
        clock: "Callable[[], int] | None" = None,
    ) -> None:
        self._loaded = _Loaded(workspace, agent, arguments, settings)
        self._settings = self._loaded.settings()
        self._embedder = embedder
        self._clock = clock
        self._lock = threading.RLock()
        self._index: Index | None = None
        self._process = os.getpid()
        self._closed = False
        self._provider = Provider(self._settings, embedder)
        self._upkeep = Upkeep(lambda: (self._open(), self._settings, self._provider), background=background)

    @property
    def settings(self) -> "Settings":
        """The settings in use. A file or variable that changed counts from the next call on (F090)."""
        fresh = self._loaded.settings()
        if fresh is not self._settings:
            with self._lock:
                if fresh.store != self._settings.store:
                    self._drop_index()
                self._settings = fresh
                self._provider = Provider(fresh, self._embedder)
        return self._settings

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        corpus: str | None = None,
        since: "str | date | None" = None,
        until: "str | date | None" = None,
        path: str | None = None,
        source: str | None = None,
        session: str | None = None,
    ) -> Answer:
        """The best hits for a question, best first.

        `max_results` 1..2000 and `min_score` 0..1 are the settings' unless given; `corpus` is memory (the
        default), sessions or all. `session`, the key of the chat, decides about citations when these are
        `auto`.

        Only notes that pass every filter answer: `since` and `until` are days (`2026-03-01`), both included,
        and leave out notes without a date; `path` is a folder, a note or a glob such as
        `memory/**/2026-*.md`; `source` is memory, extra or sessions.

        Raises `ValueError` for an argument out of range, `WorkspaceUnavailable` when the folder of the notes is not
        there and `IndexUnavailable` when the index cannot be read.
        """
        check_question(query, max_results, min_score, corpus, source)
        only = read_filter(since, until, path)
        settings = self.settings
        if not settings.enabled:
            return unavailable("memory search is switched off", "set memory.search.enabled to true", settings)
        sources = _sources(settings, corpus, source)
        if not sources:
            return unavailable(
                f"searching {source or corpus or 'memory'} is not enabled",
                'set memory.search.sources to ["memory", "sessions"] and experimental.sessionMemory to true',
                settings,
            )
        if not query.strip():
            return Answer(citations=settings.citations)

        must_be_there(settings.workspace)
        vectors: dict[str, bytes | None] = {}

        def asked(embedder: "Embedder | None", catch_up: bool = False) -> Answer:
            select(index, embedder)
            return ask(
                index,
                settings,
                query,
                embedder=embedder,
                vectors=vectors,
                today=self._clock() if self._clock else today(settings.time_zone),
                sources=sources,
                only=only,
                max_results=max_results,
                min_score=min_score,
                cited=cites(settings.citations, session),
                catch_up=(lambda: self._upkeep.catch_up(index, embedder, self._provider))
                if embedder is not None and catch_up and settings.sync.on_search
                else None,
            )

        try:
            index = self._open()
            notes = self._upkeep.take_over(index, settings, self._provider)
            looked = self._upkeep.look(index, settings) if settings.sync.on_search and not notes else None
            answer, stale = self._ask(asked), False
            if looked is not None:
                synced, stale, told = self._upkeep.freshen(index, settings, self._provider, looked)
                notes += told
                if synced:
                    answer = self._ask(asked)
            check(answer.hits, settings.workspace)
        except CoreError as error:
            raise _translated(error) from error
        if answer.unavailable:
            return answer
        if settings.backend == "qmd":
            notes.append("the qmd backend is not available in this version; the built-in index answered")
        if index.read_only:
            notes.insert(0, ONLY_READ)
        warning = "; ".join([*notes, *([answer.warning] if answer.warning else [])]) or None
        return answer.replace(stale=stale, warning=warning)

    def get(
        self, path: str, *, from_: int | None = None, lines: int | None = None, column: int | None = None
    ) -> "Page":
        """A page of a note, by the path a hit carries; `not_found` instead of an error when there is none.

        A citation (`memory/a.md#L3-L7`) is a path with its lines. `from_` and `column`, both counted from 1, are the
        line and the character in it that the page begins with: a line longer than a page is read on by its page's
        `next_column`.

        Raises `NoteRefused` for what is not memory, `ValueError` for numbers out of range.
        """
        from memgrep.files import read_note

        settings = self.settings
        if not settings.enabled:
            raise NoteRefused(
                str(path), "disabled", "memory is switched off; set memory.search.enabled to true"
            )
        page = read_note(
            path,
            workspace=settings.workspace,
            extra=_extra(settings),
            start=from_,
            lines=lines,
            column=column,
        )
        if page.status == "not_found":
            try:
                must_be_there(settings.workspace)
            except WorkspaceUnavailable as gone:
                raise NoteRefused(page.path, "workspace", str(gone)) from gone
        return page

    def index(
        self,
        *,
        paths: "Sequence[str] | None" = None,
        force: bool = False,
        verify: bool = False,
        embed: bool = True,
        progress: "Progress | None" = None,
        notice: "Callable[[str], None] | None" = None,
    ) -> Report:
        """Brings the index in line with the notes: words first, then vectors.

        `paths`, as a hit carries them, are all that is looked at: for callers who know what changed. Everything
        is looked at all the same when one of them is not indexed yet, is gone, or the index is another
        workspace's. One that is no note is in the report's `refused`, and the others are indexed. `verify` reads
        every note again, `force` also makes everything anew from them; vectors of unchanged text are kept.
        `progress(stage, done, total)` may return False to stop; what is done stays. `notice` is told before the
        notes of this index go for the first time to a provider that was not named.

        A provider that fails does not fail the call: the report says what is missing and why.
        """
        import time

        settings, provider = self.settings, self._provider
        begun = time.monotonic()
        must_be_there(settings.workspace)
        only, refused = _named(paths, settings)
        try:
            index = self._open()
            synced = sync_notes(index, settings, only=only, verify=verify, rebuild=force, progress=progress)
            embedder, done = None, Vectors()
            if embed:
                embedder, done = self._upkeep.embed(
                    index, provider, progress=progress, notice=notice, retry=True, force=force
                )
            index.trim_cache(settings.cache.max_entries if settings.cache.enabled else 0)
            counts = index.status()
        except CoreError as error:
            raise _translated(error) from error
        self._upkeep.last_error = str(done.error) if done.error else None
        return Report(
            files=count(counts, "files"),
            added=len(synced.added),
            changed=len(synced.changed),
            removed=len(synced.removed),
            chunks=count(counts, "chunks"),
            vectors=done.done,
            failed=count(counts, "failed") if embedder is not None else 0,
            pending=count(counts, "pending") if embedder is not None else 0,
            skipped=tuple(synced.skipped),
            ignored=synced.ignored,
            unreachable=tuple(synced.unreachable),
            refused=(*refused, *_left_out(only, synced, settings)),
            warnings=(*settings.warnings, *(one_line(f"{path}: {text}") for path, text in synced.warnings)),
            provider=embedder.provider if embedder is not None else "none",
            model=embedder.model if embedder is not None else None,
            error=_cause(done.error) if done.error else None,
            action=done.error.remedy if done.error else None,
            seconds=time.monotonic() - begun,
        )

    def notes(self) -> tuple[str, ...]:
        """The paths of all notes in the index, sorted, as hits carry them.

        Raises `IndexUnavailable` when the index cannot be read.
        """
        try:
            return tuple(sorted(path for path, _, _ in self._open().files()))
        except CoreError as error:
            raise _translated(error) from error

    def status(self, *, deep: bool = False) -> "dict[str, Any]":
        """What is indexed, what is not, and why; docs/cli.md has the fields. Only looks, whatever is wrong.

        `deep` asks the provider for one vector.
        """
        from memgrep.status import describe

        settings = self.settings
        try:
            with Index(settings.store.path, read_only=True, engine=_engine(settings)) as index:
                return describe(
                    settings, index, self._provider, deep=deep, last_error=self._upkeep.last_error
                )
        except CoreError as error:
            return describe(settings, None, self._provider, deep=deep, last_error=str(_translated(error)))

    def close(self) -> None:
        """Ends the background work and closes the index. Twice is once."""
        self._upkeep.stop()
        with self._lock:
            self._closed = True
            self._drop_index()
            self._provider.close()

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory(workspace={self._settings.workspace!r}, agent={self._settings.agent!r})"

    def _ask(self, asked: "Callable[..., Answer]") -> Answer:
        """The answer, or what there is instead when the question cannot be embedded (D2)."""
        provider = self._provider
        try:
            return asked(provider.embedder(), catch_up=True)
        except ProviderError as failed:
            provider.failed(failed)
            error = failed
        fallback = provider.fallback()
        if fallback is not None:
            try:
                answer = asked(fallback)
            except ProviderError as second:
                error = ProviderError(
                    error.provider, f"{error.cause}; fallback {_cause(second)}", error.remedy
                )
            else:
                instead = Fallback(from_=provider.requested, to=fallback.provider, reason=str(error))
                return answer.replace(fallback=instead)
        if provider.named:
            return unavailable(f"memory search is unavailable: {_cause(error)}", error.remedy, self._settings)
        answer = asked(None)
        words = f"found by words only: {error}"
        return answer.replace(warning=f"{answer.warning}; {words}" if answer.warning else words)

    def _open(self) -> Index:
        with self._lock:
            if self._closed:
                raise IndexUnavailable("this Memory is closed")
            if self._process != os.getpid():
                # After a fork the parent's connections are not ours, not even to close.
                self._index, self._process = None, os.getpid()
            if self._index is None:
                self._index = _opened(self._settings)
            return self._index

    def _drop_index(self) -> None:
        index, self._index = self._index, None
        if index is not None and self._process == os.getpid():
            index.close()


class _Loaded:
    """Where the settings come from, and whether that changed since."""

    def __init__(
        self,
        workspace: str | os.PathLike[str] | None,
        agent: str | None,
        arguments: "Mapping[str, object] | None",
        settings: "Settings | None",
    ) -> None:
        self._workspace = workspace
        self._agent = agent
        self._arguments = dict(arguments or {})
        self._given = settings is not None
        self._settings = settings
        self._seen: object = None

    def settings(self) -> "Settings":
        """The settings; the same object as long as no file and no variable changed."""
        if self._settings is None or (not self._given and self._look() != self._seen):
            self._settings = load(self._arguments, workspace=self._workspace, agent=self._agent)
            self._seen = self._look()
        return self._settings

    def _look(self) -> object:
        places = Places(os.environ)
        files = [places.openclaw_file[0], places.user_file]
        if self._settings is not None:
            files.append(os.path.join(self._settings.workspace, ".memgrep.toml"))
        # By name first: only what is ours is decoded.
        ours = {name: os.environ[name] for name in os.environ if name.startswith(_OURS)}
        return ours, [_stamp(path) for path in files]


_OURS = ("MEMGREP_", "OPENCLAW_")


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _engine(settings: "Settings") -> str:
    """The scan that is compiled in for what the settings ask for: all engines give the same hits."""
    return "vec0" if settings.store.vector.engine == "vec0" else "exact"


def _opened(settings: "Settings") -> Index:
    """The index, made if there is none; one that may not be written still answers."""
    path = settings.store.path
    return Index(path, read_only=only_read(path), engine=_engine(settings))


def _extra(settings: "Settings") -> list[tuple[str, str | None]]:
    return [(one.path, one.pattern) for one in settings.extra_paths]


def _named(
    paths: "Sequence[str] | None", settings: "Settings"
) -> tuple[list[str] | None, list[tuple[str, str]]]:
    """Paths as hits carry them, each once, and those that no note can have, with the reason."""
    if paths is None:
        return None, []
    from memgrep.files import note_path

    only: dict[str, None] = {}
    refused = []
    for path in paths:
        try:
            only[note_path(path, workspace=settings.workspace, extra=_extra(settings))] = None
        except NoteRefused as error:
            refused.append((error.path, error.reason))
    return list(only), refused


def _left_out(only: list[str] | None, synced: "SyncReport", settings: "Settings") -> list[tuple[str, str]]:
    """Which of the named notes are not in the index, and why."""
    reasons = dict(synced.skipped)
    for path in synced.unknown:
        there = os.path.lexists(os.path.join(settings.workspace, path))
        left_out = "left out by an ignore pattern, or in a folder that is not read"
        reasons.setdefault(path, left_out if there else "there is no such note")
    return [(path, reasons[path]) for path in only or () if path in reasons]


def _sources(settings: "Settings", corpus: str | None, source: str | None) -> tuple[str, ...]:
    """What a corpus, or one source, means with these settings; extra paths belong to memory."""
    allowed = {*settings.sources, *(["extra"] if "memory" in settings.sources else [])}
    asked = CORPORA[corpus or "memory"] if source is None else (source,)
    return tuple(one for one in asked if one in allowed)


def _cause(error: ProviderError) -> str:
    return f"{error.provider}: {error.cause}" if error.provider else error.cause


def _translated(error: CoreError) -> IndexUnavailable:
    """The core's error as one of ours: which layer failed, and what helps (F119)."""
    kinds = {
        "locked": (IndexLocked, "another process is writing; try again when that is done"),
        "foreign": (IndexForeign, "set memory.search.store.path to another file"),
        "interrupted": (IndexUnavailable, "what was done is kept; memgrep index goes on from there"),
        "io": (IndexUnavailable, "set memory.search.store.path to a file that you may make, read and write"),
        "read-only": (IndexUnavailable, "run as its owner, or set memory.search.store.path to another file"),
        "derived": (IndexUnavailable, "memgrep index --force makes it anew from the notes"),
    }
    kind, remedy = kinds.get(error.kind, (IndexUnavailable, ""))
    return kind(one_line(f"index: {error}; {remedy}" if remedy else f"index: {error}"))
