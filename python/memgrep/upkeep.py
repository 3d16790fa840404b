"""When the index is brought in line: on request, before a search if that is quick, else on a thread of ours.

What is done then stands in `sync`.
"""

import threading

from memgrep._core import CoreError, Index
from memgrep.errors import MemgrepError, ProviderError
from memgrep.printable import one_line
from memgrep.sync import Vectors, changed_files, embed_missing, is_cheap, sync_notes
from memgrep.workspace import holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memgrep._core import SyncReport
    from memgrep.config import Settings
    from memgrep.embeddings import Embedder
    from memgrep.provider import Provider
    from memgrep.sync import Progress

    Notice = Callable[[str], None]

__all__ = ["Upkeep", "count", "select"]

# How long a search waits for another process that writes.
_PATIENCE_MS = 100
_IN_PROCESS = ("static", "local")
# So many new chunks a search embeds itself, with a model in this process and with the one in the core.
_FEW, _FEW_FAST = 16, 2_000
# What a chunk costs on average, for a forecast.
_TOKENS_A_CHUNK = 300


class Upkeep:
    """Keeps one memory's index in line. `current` gives the index, the settings and the provider of now."""

    def __init__(
        self, current: "Callable[[], tuple[Index, Settings, Provider]]", *, background: bool
    ) -> None:
        self._current = current
        self._background = background
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._wanted = False
        self._stopped = False
        self.last_error: str | None = None

    def take_over(self, index: Index, settings: "Settings", provider: "Provider") -> list[str]:
        """Makes an index of another workspace anew, however long that takes; what the answer should say then."""
        if holds(index, settings):
            return []
        synced = sync_notes(index, settings)
        self._embed_few(index, provider)
        return [f"the index held the notes of another workspace: {synced.files} notes were read first"]

    def look(self, index: Index, settings: "Settings") -> "Callable[[], SyncReport]":
        """Starts to look for changed notes, beside the search itself; what it gives waits for the outcome.

        Most looks find nothing, and a look and a search take about as long.
        """
        outcome: list[SyncReport | Exception] = []

        def look() -> None:
            try:
                outcome.append(sync_notes(index, settings, dry_run=True))
            except Exception as error:
                outcome.append(error)

        thread = threading.Thread(target=look, name="memgrep-look", daemon=True)
        thread.start()

        def found() -> "SyncReport":
            thread.join()
            if isinstance(outcome[0], Exception):
                raise outcome[0]
            return outcome[0]

        return found

    def freshen(
        self,
        index: Index,
        settings: "Settings",
        provider: "Provider",
        found: "Callable[[], SyncReport]",
    ) -> tuple[bool, bool, list[str]]:
        """Takes in the changed notes that a look found, if that is a matter of milliseconds.

        Gives whether it did, whether the index is behind, and what the answer should say about it.
        """
        notes: list[str] = []
        done, behind = False, 0
        try:
            look = found()
            notes += [one_line(f"{path}: {reason}") for path, reason in look.unreachable]
            behind = changed_files(look)
            if behind and is_cheap(look) and not index.read_only:
                synced = sync_notes(index, settings, wait_ms=_PATIENCE_MS)
                if synced.chunks and len(look.added) == look.files:
                    notes.append(f"the index was empty: {synced.files} notes were read first")
                done, behind = True, 0
                self._embed_few(index, provider)
        except CoreError as error:
            if error.kind not in ("io", "locked", "read-only"):
                raise
            notes.append(one_line(f"changed notes could not be taken in: {error}"))
            return done, True, notes
        if behind:
            notes.append(f"{behind} changed notes are not in the index yet")
            if self._background and not index.read_only:
                self.schedule()
        return done, bool(behind), notes

    def catch_up(self, index: Index, embedder: "Embedder", provider: "Provider") -> bool:
        """For an answer that missed vectors: makes them if that is quick; whether it made any.

        A server is not waited for, not even one on this machine (F135).
        """
        if index.read_only:
            return False
        if embedder.provider in _IN_PROCESS:
            made = self._embed_if_few(index, embedder)
            if made:
                return True
        if self._background and self._may_embed(index, provider):
            self.schedule()
        return False

    def embed(
        self,
        index: Index,
        provider: "Provider",
        *,
        progress: "Progress | None" = None,
        notice: "Notice | None" = None,
        retry: bool = False,
        force: bool = False,
    ) -> tuple["Embedder | None", Vectors]:
        """Vectors of everything that has none, with the fallback if the first provider fails.

        `retry` and `force`: see `embed_missing`.
        """
        embedder: Embedder | None = None
        try:
            embedder = provider.embedder()
            if embedder is None:
                return None, Vectors()
            select(index, embedder)
            if not _announced(index, embedder, provider, notice):
                return embedder, Vectors(remaining=index.pending_count())
            done = self._embed_with(index, embedder, progress, retry, force)
        except ProviderError as error:
            done = Vectors(error=error)
        if done.error is not None:
            provider.failed(done.error)
            fallback = provider.fallback()
            if fallback is not None:
                select(index, fallback)
                return fallback, self._embed_with(index, fallback, progress, retry, force)
        return embedder, done

    def schedule(self) -> None:
        """Has our thread bring the index in line; if it is at it, it goes round once more."""
        with self._lock:
            self._wanted = True
            if self._stopped or self._worker is not None:
                return
            # A daemon: leaving the program waits for nobody, and what is done is kept (F135).
            self._worker = threading.Thread(target=self._work, name="memgrep-sync", daemon=True)
            self._worker.start()

    def stop(self) -> None:
        """Ends the thread at its next step."""
        with self._lock:
            self._stopped = True
            worker = self._worker
        if worker is not None and worker is not threading.current_thread():
            worker.join(timeout=5)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._wanted or self._stopped:
                    self._worker = None
                    return
                self._wanted = False
            try:
                index, settings, provider = self._current()
                sync_notes(index, settings, progress=self._go_on)
                if self._may_embed(index, provider):
                    _, done = self.embed(index, provider, progress=self._go_on)
                    self.last_error = str(done.error) if done.error else None
            except (CoreError, MemgrepError) as error:
                self.last_error = str(error)

    def _go_on(self, _stage: str, _done: int, _total: int) -> bool:
        return not self._stopped

    def _may_embed(self, index: Index, provider: "Provider") -> bool:
        """Whether there is something to embed and someone to do it who may."""
        try:
            embedder = provider.embedder()
        except ProviderError:
            return False
        if embedder is None:
            return False
        select(index, embedder)
        return index.pending_count() > 0 and _announced(index, embedder, provider, None)

    def _embed_few(self, index: Index, provider: "Provider") -> None:
        """Vectors in line with notes that were just taken in, as far as a search may wait for that."""
        try:
            embedder = provider.embedder()
        except ProviderError:
            return  # the search itself will meet and report it
        if embedder is None:
            return
        select(index, embedder)
        if embedder.provider not in _IN_PROCESS or not self._embed_if_few(index, embedder):
            # Without it, every process to come would read the vectors from the store, one by one.
            index.publish(wait_ms=_PATIENCE_MS)

    def _embed_if_few(self, index: Index, embedder: "Embedder") -> bool:
        """Vectors of new chunks by a model in this process, unless they are many; whether it made any."""
        few = _FEW if getattr(embedder, "core_model", None) is None else _FEW_FAST
        return 0 < index.pending_count() <= few and self._embed_with(index, embedder).done > 0

    def _embed_with(
        self,
        index: Index,
        embedder: "Embedder",
        progress: "Progress | None" = None,
        retry: bool = False,
        force: bool = False,
    ) -> Vectors:
        model = getattr(embedder, "core_model", None)
        if model is None:
            return embed_missing(
                index,
                embedder,
                progress=progress,
                cancel=lambda: self._stopped,
                retry=retry,
                force=force,
            )
        done = index.embed_pending(model, progress=progress)
        index.publish()
        return Vectors(done=done, remaining=index.pending_count())


def select(index: Index, embedder: "Embedder | None") -> None:
    """Says whose vectors count from now on."""
    index.select_fingerprint(embedder.fingerprint if embedder is not None else None)


def count(counts: "dict[str, object]", name: str) -> int:
    """A number of the core's status."""
    value = counts.get(name)
    return value if isinstance(value, int) else 0


def _announced(index: Index, embedder: "Embedder", provider: "Provider", notice: "Notice | None") -> bool:
    """Whether the notes may go where this embedder sends them.

    A machine that the user did not name is told of once for every index, before the first notes go there.
    With nobody to tell, they stay here.
    """
    if provider.requested != "auto" or embedder.host is None:
        return True
    counts = index.status()
    if count(counts, "vectors"):
        return True
    if notice is None:
        return False
    pending = count(counts, "pending")
    if pending:
        notice(
            f"{pending:,} chunks (about {pending * _TOKENS_A_CHUNK:,} tokens) go to {embedder.host} for "
            f"{embedder.provider}/{embedder.model}, because a key for it was found; "
            "memory.search.provider names another one, or none"
        )
    return True
