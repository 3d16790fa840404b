"""The write side: bring the index in line with the files, words first, vectors after them.

Words never wait for an embedding provider. Vectors are stored as they come in, a few at a time, each lot in a
transaction of its own: what is paid for is kept, whatever ends the run, and no lock is held while a provider
is asked.
"""

from memgrep.errors import ProviderError
from memgrep.records import Record
from memgrep.workspace import holds, mark, unmark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memgrep._core import Index, SyncReport
    from memgrep.config import Settings
    from memgrep.embeddings import Embedder

    Progress = Callable[[str, int, int], bool | None]

__all__ = ["Report", "Vectors", "changed_files", "embed_missing", "is_cheap", "sync_notes"]

# A search syncs first when that costs it a few milliseconds, not more.
CHEAP_FILES, CHEAP_BYTES = 16, 1_000_000
# The first sync of an empty index: worth a moment of waiting, because without it there is no answer at all.
FIRST_FILES, FIRST_BYTES = 4_000, 16_000_000

# Texts asked for at once, and vectors stored at once or after this many seconds.
_ASKED, _STORED, _SECONDS = 1024, 128, 1.0
# How the reason of a text ends that was refused twice.
_AGAIN = " (twice)"
# This many failures without a single success are the provider's fault, not the texts'.
_HOPELESS = 64


class Vectors(Record):
    """What one run of embedding did. `error`: why it ended early; `remaining`: chunks without a vector."""

    done: int = 0
    failed: int = 0
    remaining: int = 0
    error: ProviderError | None = None


class Report(Record):
    """What `index` did and what it left.

    `files` and `chunks` are in the index now, `added`, `changed` and `removed` are what differed. `vectors`
    were embedded in this run, `failed` were refused by the provider in it, `pending` have none yet. `refused` are
    paths that were asked for and are no notes, with the reason.
    """

    files: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    chunks: int = 0
    vectors: int = 0
    failed: int = 0
    pending: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    ignored: int = 0
    unreachable: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    provider: str = "none"
    model: str | None = None
    error: str | None = None
    action: str | None = None
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether nothing that should be in the index is missing (F061).

        What the built-in model knows no word of has no vector and never will: that is no failure of the run.
        """
        failed = self.failed if self.provider != "static" else 0
        return not (failed or self.pending or self.unreachable or self.refused or self.error)


def sync_notes(
    index: "Index",
    settings: "Settings",
    *,
    dry_run: bool = False,
    only: "Sequence[str] | None" = None,
    verify: bool = False,
    rebuild: bool = False,
    wait_ms: int = 10_000,
    progress: "Progress | None" = None,
) -> "SyncReport":
    """Text and keywords in line with the files; `dry_run` only looks, without a lock.

    `only` are paths as in answers, for a caller who knows what changed. An index of another workspace is made
    anew from this one, whatever else is asked for.
    """
    import time

    ours = dry_run or holds(index, settings)
    if not ours:
        unmark(settings)
    elif not dry_run:
        mark(settings)
    report = index.sync(
        settings.workspace,
        [(extra.path, extra.pattern) for extra in settings.extra_paths],
        tokens=settings.chunking.tokens,
        overlap=settings.chunking.overlap,
        max_file_bytes=settings.sync.max_file_bytes,
        ignore=settings.ignore,
        only=only,
        dry_run=dry_run,
        verify=verify,
        # Not only what differs: a note with the same text as one of the other workspace lies elsewhere.
        rebuild=rebuild or not ours,
        wait_ms=wait_ms,
        now_ns=time.time_ns(),
        progress=progress,
    )
    if not ours:
        mark(settings)
    return report


def changed_files(look: "SyncReport") -> int:
    """How many files differ from the index."""
    return len(look.added) + len(look.changed) + len(look.removed)


def is_cheap(look: "SyncReport") -> bool:
    """Whether a search may sync before it answers."""
    if len(look.added) == look.files:  # nothing of it is indexed yet
        return look.files <= FIRST_FILES and look.changed_bytes <= FIRST_BYTES
    return changed_files(look) <= CHEAP_FILES and look.changed_bytes <= CHEAP_BYTES


def embed_missing(
    index: "Index",
    embedder: "Embedder",
    *,
    progress: "Progress | None" = None,
    cancel: "Callable[[], bool] | None" = None,
    retry: bool = False,
    force: bool = False,
) -> Vectors:
    """Embeds every chunk that has no vector of the selected fingerprint yet.

    A text that the provider refuses costs itself only and is remembered. `retry` asks for such texts once more,
    but not a third time (F142); `force` always. A failure of the provider as a whole ends the run and is in the
    result. An interruption goes through, after what came in was stored.
    """
    again = (retry or force) and _retry(index, force)
    run = _Run(index, index.pending_count(), progress, _AGAIN if again else "")
    try:
        while run.error is None and not (cancel and cancel()):
            asked = [item for item in index.pending(_ASKED + len(run.refused)) if item[0] not in run.refused]
            if not asked or not run.embed(asked, embedder, cancel):
                break
    finally:
        run.store()
    if run.done:
        index.publish()
    return Vectors(done=run.done, failed=len(run.refused), remaining=index.pending_count(), error=run.error)


def _retry(index: "Index", force: bool) -> bool:
    """Makes refused texts pending again, unless all of them were asked for twice; whether it did."""
    reasons = [reason for reason, _ in index.status()["failures"]]  # type: ignore[attr-defined]  # pairs
    if reasons and (force or not all(reason.endswith(_AGAIN) for reason in reasons)):
        return index.retry_failures() > 0
    return False


class _Run:
    """One run of embedding: what came in and is not stored yet, and what was refused.

    `mark` ends the reasons of refusals.
    """

    def __init__(self, index: "Index", total: int, progress: "Progress | None", mark: str) -> None:
        self.mark = mark
        self.index = index
        self.total = total
        self.progress = progress
        self.done = 0
        self.refused: set[bytes] = set()
        self.error: ProviderError | None = None
        self.hashes: list[bytes] = []
        self.vectors: list[bytes] = []

    def embed(
        self, asked: list[tuple[bytes, str]], embedder: "Embedder", cancel: "Callable[[], bool] | None"
    ) -> bool:
        """Embeds these texts; whether anything came of it."""
        import time

        before, stored_at = self.done + len(self.refused), time.monotonic()
        try:
            results = embedder.embed_documents([text for _, text in asked], cancel=cancel)
            for (hash_, _), result in zip(asked, results, strict=False):
                if isinstance(result, bytes):
                    self.hashes.append(hash_)
                    self.vectors.append(result)
                    self.done += 1
                else:
                    self.refused.add(hash_)
                    self.index.put_failures([hash_], result.reason + self.mark)
                    if self.done == 0 and len(self.refused) >= _HOPELESS:
                        self.error = ProviderError(
                            embedder.provider, f"refused all of the first {_HOPELESS} texts: {result.reason}"
                        )
                        break
                if len(self.hashes) >= _STORED or time.monotonic() - stored_at > _SECONDS:
                    self.store()
                    stored_at = time.monotonic()
                self.tell()
        except ProviderError as error:
            self.error = error
        # What is stored is not pending any more.
        self.store()
        return self.done + len(self.refused) > before

    def store(self) -> None:
        """Writes what came in; one transaction."""
        if self.hashes:
            packed = b"".join(self.vectors)
            self.index.put_vectors(self.hashes, packed, len(self.vectors[0]) // 4)
            self.hashes, self.vectors = [], []

    def tell(self) -> None:
        if self.progress is not None:
            self.progress("embedding", self.done + len(self.refused), self.total)
